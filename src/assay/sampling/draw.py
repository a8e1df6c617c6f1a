"""Draw a sample."""

from __future__ import annotations

import numpy as np
import polars as pl

from assay.errors import InputError, OptionError
from assay.sampling.budget import parse_budget, segments_for
from assay.sampling.designs import find_design, make_plan, short_design, uses_metrics
from assay.sampling.plans.base import Draws, Layout, Plan
from assay.sampling.plans.grouped import GroupedPlan
from assay.sampling.population import Population
from assay.stats.allocation import capped_shares, systematic_counts
from assay.stats.random import Rng, seeded
from assay.tables.check import did_you_mean
from assay.tables.history import history_digest
from assay.tables.sample import Design, Sample, make_sample
from assay.tables.test_set import TestSet

GOALS = {"ranking": "snippets", "score": "balanced"}
GOLDEN = (5**0.5 - 1) / 2
MOST_LEVELS = 10
"""Groups of documents with budgets of their own; more would leave too little for each."""


def sample(
    test_set: TestSet,
    *,
    budget: int | str,
    design: str | Design = "auto",
    goal: str | None = None,
    matched: bool = True,
    importance: str | None = None,
    seconds_per_word: float | None = None,
    allow_unreachable: bool = False,
    rng: Rng = None,
) -> Sample:
    """Draw the segments to show the raters.

    ``budget`` is a number of segments, a share (``"20%"``), words (``"5000 words"``) or minutes
    (``"90 min"``). ``design`` is a name, a paper's short name (SL, WD, DF, DB, docs-prop, ...) or
    a name with parameters (``"documents|stop:over"``); ``auto`` follows the ``goal``: snippets
    to rank several systems, balanced to score one. Unless ``matched``, every system gets a
    sample of its own. ``importance`` names a numeric column of the scores: segments are drawn in
    proportion to it.

    Every design states the exact inclusion probability of every segment, which the sample
    carries. A design that can never draw some segment is refused unless ``allow_unreachable``.

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="25%", rng=7)
    >>> drawn.design.name, drawn.frame["probability"].unique().round(2).to_list()
    ('snippets', [0.25])
    """
    whole = Population(test_set)
    chosen = choose_design(test_set, design, goal)
    generator, seed = seeded(rng)
    n = budget_size(whole, chosen, budget, importance, seconds_per_word)
    frames = []
    for system in [None] if matched else list(test_set.systems):
        population = whole if system is None else whole.of_system(system)
        own = own_size(n, population, whole)
        frame = _drawn_rows(population, chosen, own, importance, allow_unreachable, generator)
        frames.append(frame if system is None else frame.with_columns(system=pl.lit(system)))
    extra = {"n": str(n), "N": str(whole.size)}
    extra |= {} if matched else {"matched": "no"}
    extra |= {} if importance is None else {"importance": importance}
    if uses_metrics(chosen) and test_set.history is not None:
        extra["history"] = str(history_digest(test_set))
    extra |= {} if seed is None else {"seed": str(seed)}
    line = str(Design(chosen.name, dict(chosen.parameters) | extra))
    return make_sample(pl.concat(frames).with_columns(design=pl.lit(line)))


def own_size(n: int, population: Population, whole: Population) -> int:
    """The share of a budget of n segments for a system that lacks some of them."""
    return max(1, round(n * population.size / whole.size))


def _drawn_rows(
    population: Population,
    design: Design,
    n: int,
    importance: str | None,
    allow_unreachable: bool,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """One sample of n segments, or a refusal where some segments could never be drawn."""
    plan = plan_for(population, design, n, importance_weights(population, importance))
    pi = plan.probabilities()
    if not allow_unreachable:
        _refuse_unreachable(population, design, pi)
    drawn = plan.draw(rng)
    if not drawn.sizes[0]:
        raise InputError(
            f"the budget of {n} segments drew nothing with the design {short_design(design)};"
            " give more"
        )
    return sample_rows(population, drawn, pi, plan, rng)


def choose_design(test_set: TestSet, design: str | Design, goal: str | None) -> Design:
    """The design that is meant, fully spelt out; ``auto`` follows the goal and the table."""
    if goal is not None and goal not in GOALS:
        raise OptionError("goal", goal, "is not known", f"choose from {', '.join(GOALS)}")
    if str(design).lower() != "auto":
        if goal is not None:
            raise OptionError(
                "goal", goal, "is for the design auto", "leave it out, or leave the design to it"
            )
        return find_design(design)
    wanted = GOALS[goal or ("ranking" if len(test_set.systems) > 1 else "score")]
    # Without documents or metrics the wanted design cannot be drawn; segments always can.
    if wanted == "snippets" and not test_set.has_documents:
        wanted = "segments"
    if wanted == "balanced" and not test_set.metrics and test_set.history is None:
        wanted = "snippets" if test_set.has_documents else "segments"
    return find_design(wanted)


def plan_for(
    population: Population, design: Design, n: int, weights: np.ndarray | None = None
) -> Plan:
    """The plan of a design, with importance weights where there are any.

    Designs that draw by documents take weights that are the same for all of a document: documents
    of one weight form a group with a budget of its own.
    """
    if weights is None or design.name in ("segments", "balanced"):
        return make_plan(population, design, n, weights)
    layout = population.layout
    first = weights[layout.starts]
    if not np.allclose(weights, np.repeat(first, layout.lengths)):
        raise InputError(
            f"the importance differs inside documents, which the design {design.name} draws as"
            " pieces; use --design segments or balanced, or one importance per document"
        )
    levels, group = np.unique(first, return_inverse=True)
    if len(levels) > MOST_LEVELS:
        raise InputError(
            f"the importance has {len(levels)} different values and the design {design.name} draws"
            f" each by itself; use at most {MOST_LEVELS}, or --design segments or balanced"
        )
    sizes = np.bincount(group, layout.lengths).astype(np.int64)
    budgets = capped_shares(levels * sizes, sizes.astype(float), float(n))
    counts = systematic_counts(budgets, np.array([0.5]))[0]
    plans = []
    for number, count in enumerate(counts.tolist()):
        own = _Part(population, Layout(layout.lengths[group == number]))
        plans.append(make_plan(own, design, count) if count else None)
    return GroupedPlan(layout, group, plans)


class _Part(Population):
    """Some documents of a test set, for a plan of their own."""

    def __init__(self, population: Population, layout: Layout) -> None:
        super().__init__(population.test_set)
        self.__dict__["layout"] = layout

    @property
    def size(self) -> int:
        return self.layout.population


def budget_size(
    population: Population,
    design: Design,
    budget: int | str,
    importance: str | None = None,
    seconds_per_word: float | None = None,
) -> int:
    """How many segments a budget buys under a design."""
    weights = importance_weights(population, importance)
    return segments_for(
        parse_budget(budget),
        population,
        lambda n: plan_for(population, design, n, weights),
        seconds_per_word=seconds_per_word,
    )


def importance_weights(population: Population, name: str | None) -> np.ndarray | None:
    """The weight of every segment, from a column of the scores; None where none is named."""
    if name is None:
        return None
    frame = population.test_set.frame
    if name not in frame.columns:
        raise OptionError(
            "importance", name, f"is no column of the scores{did_you_mean(name, frame.columns)}",
            f"choose one of {', '.join(frame.columns)}",
        )  # fmt: skip
    if not frame[name].dtype.is_numeric():
        raise OptionError("importance", name, "is not numeric", "name a column of numbers")
    values = population.test_set.matrix(name)
    known = np.isfinite(values)
    weights = np.where(known, values, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    if not known.any(axis=0).all() or not (weights > 0).all():
        raise OptionError(
            "importance", name, "must be above 0 for every segment",
            "give parts that do not matter a small weight, or leave them out of the scores",
        )  # fmt: skip
    return np.asarray(weights)


def _refuse_unreachable(population: Population, design: Design, pi: np.ndarray) -> None:
    """A segment that can never be drawn is one the result cannot speak for."""
    never = int((pi <= 0).sum())
    if never:
        raise InputError(
            f"the design {design} could never draw {never} of {population.size} segments, so no"
            " estimate could speak for them; change its parameters (stop, limit, rounding, first,"
            " allocation smoothed) or budget, or accept it with --allow-unreachable"
        )


def sample_rows(
    population: Population, drawn: Draws, pi: np.ndarray, plan: Plan, rng: np.random.Generator
) -> pl.DataFrame:
    """The drawn segments as rows of a sample, in an order in which they can be rated."""
    windows = [
        (int(start), int(stop))
        for start, stop in zip(drawn.starts[0], drawn.stops[0], strict=True)
        if stop > start
    ]
    if getattr(plan, "ordered", False):
        order = np.arange(len(windows))
    else:
        windows.sort()
        order = _rating_order(windows, population.layout, plan.contiguous, rng)
    sizes = [windows[k][1] - windows[k][0] for k in order]
    positions = np.concatenate([np.empty(0, np.int64), *(np.arange(*windows[k]) for k in order)])
    test_set = population.test_set
    columns = [
        pl.Series("order", np.arange(1, len(positions) + 1)),
        pl.Series("probability", pi[positions]),
    ]
    if plan.contiguous:
        columns.append(
            pl.Series("snippet", np.repeat(order, np.array(sizes, np.int64)) + 1).cast(pl.String)
        )
    columns += carried_columns(plan, positions)
    return test_set.segments.select(test_set.key)[positions].with_columns(columns)


def carried_columns(plan: Plan, positions: np.ndarray) -> list[pl.Series]:
    """What the variance needs to know of drawn segments: strata with their sizes, positions."""
    stratum, position = getattr(plan, "stratum", None), getattr(plan, "position", None)
    columns = []
    if stratum is not None:
        sizes = np.bincount(stratum)
        own = stratum[positions]
        columns += [
            pl.Series("stratum", own + 1).cast(pl.String),
            pl.Series("stratum_start", (np.cumsum(sizes) - sizes)[own]),
            pl.Series("stratum_size", sizes[own]),
        ]
    if position is not None:
        columns.append(pl.Series("position", position[positions]))
    return columns


def _rating_order(
    windows: list[tuple[int, int]], layout: Layout, contiguous: bool, rng: np.random.Generator
) -> np.ndarray:
    """The order in which to rate, such that every beginning of it is a fair part of the sample.

    Segments come in random order. Snippets are lined up by the length of their documents (ties
    at random) and taken in steps of the golden ratio from a random start: a campaign that ends
    early has seen short and long documents alike.
    """
    if not contiguous:
        return rng.permutation(len(windows))
    first = np.array([start for start, _ in windows], dtype=np.int64)
    length = layout.lengths[layout.document[first]]
    line = np.argsort(length + 0.5 * rng.random(len(windows)))
    step = (np.arange(len(windows)) * GOLDEN + rng.random()) % 1
    return np.asarray(line[np.argsort(step)])
