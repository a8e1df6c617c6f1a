"""Draw a sample."""

from __future__ import annotations

import numpy as np
import polars as pl

from assay.designs.base import SamplingDesign
from assay.designs.names import choose_design
from assay.designs.plan import DrawPlan, Draws, Layout
from assay.designs.population import Population
from assay.designs.provenance import carried_columns
from assay.errors import InputError
from assay.sampling.budget import parse_budget, segments_for
from assay.sampling.forecast import with_short_pieces
from assay.stats.random import Rng, seeded
from assay.stats.selection import length_order
from assay.tables.history import history_digest
from assay.tables.tables import Design, Sample, TestSet, make_sample


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

    budget: a number of segments, a share (``"20%"``), words (``"5000 words"``) or minutes
    (``"90 min"``). design: a name, a paper's short name (SL, WD, DF, DB, docs-prop, ...) or a name
    with parameters (``"documents|stop:over"``); ``auto`` follows the ``goal``: rounds to rank
    several systems, with the longest pieces that cost no precision, or balanced to score one.
    matched: the same segments for all systems, else every system has its own sample. importance:
    a numeric column of the scores; segments are drawn in proportion to it.

    The sample carries the exact inclusion probability of every segment. A design that can never
    draw some segment is refused unless ``allow_unreachable``.

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="25%", rng=7)
    >>> drawn.design.name, drawn.frame["probability"].unique().round(2).to_list()
    ('rounds', [0.25])
    """
    whole = Population(test_set)
    chosen = choose_design(test_set, design, goal)
    generator, seed = seeded(rng)
    n = budget_size(whole, chosen, budget, importance, seconds_per_word)
    if str(design).lower() == "auto":
        chosen = with_short_pieces(chosen, whole, n)
    frames = []
    for system in [None] if matched else list(test_set.systems):
        population = whole if system is None else whole.of_system(system)
        own = population.share(n, whole)
        frame = _drawn_rows(population, chosen, own, importance, allow_unreachable, generator)
        frames.append(frame if system is None else frame.with_columns(system=pl.lit(system)))
    extra = {"n": str(n), "N": str(whole.size)}
    extra |= {} if matched else {"matched": "no"}
    extra |= {} if importance is None else {"importance": importance}
    if chosen.uses_metrics and test_set.history is not None:
        extra["history"] = str(history_digest(test_set))
    extra |= {} if seed is None else {"seed": str(seed)}
    line = str(Design(chosen.name, dict(chosen.parameters) | extra))
    return make_sample(pl.concat(frames).with_columns(design=pl.lit(line)), test_set)


def _drawn_rows(
    population: Population, design: SamplingDesign, n: int, importance: str | None,
    allow_unreachable: bool, rng: np.random.Generator,
) -> pl.DataFrame:  # fmt: skip
    """Draw one sample of n segments; refuse a design that can never draw some segments."""
    plan = design.plan(population, n, population.importance(importance))
    pi = plan.probabilities()
    never = int((pi <= 0).sum())
    if never and not allow_unreachable:
        raise InputError(
            f"the design {design} could never draw {never} of {population.size} segments, so no"
            " estimate could represent them; change its parameters (stop, limit, rounding, first,"
            " allocation smoothed) or budget, or accept it (allow_unreachable)"
        )
    drawn = plan.draw(rng)
    if not drawn.sizes[0]:
        raise InputError(f"a budget of {n} is too small for the design {design.short}; give more")
    return sample_rows(population, drawn, pi, plan, rng)


def budget_size(
    population: Population, design: SamplingDesign, budget: int | str,
    importance: str | None = None, seconds_per_word: float | None = None,
) -> int:  # fmt: skip
    """The number of segments that a budget buys under a design."""
    weights = population.importance(importance)
    return segments_for(
        parse_budget(budget), population, lambda n: design.plan(population, n, weights),
        seconds_per_word=seconds_per_word,
    )  # fmt: skip


def sample_rows(
    population: Population, drawn: Draws, pi: np.ndarray, plan: DrawPlan, rng: np.random.Generator
) -> pl.DataFrame:
    """The drawn segments as rows of a sample, in rating order."""
    windows = [
        (int(start), int(stop))
        for start, stop in zip(drawn.starts[0], drawn.stops[0], strict=True)
        if stop > start
    ]
    if plan.ordered:
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
        snippet = np.repeat(order, np.array(sizes, np.int64)) + 1
        columns.append(pl.Series("snippet", snippet).cast(pl.String))
    columns += carried_columns(plan, positions)
    return test_set.segments.select(test_set.key)[positions].with_columns(columns)


def _rating_order(
    windows: list[tuple[int, int]], layout: Layout, contiguous: bool, rng: np.random.Generator
) -> np.ndarray:
    """A rating order of which every beginning represents the sample.

    Segments are in random order, snippets in golden order of the length of their documents, so a
    campaign that ends early has covered short and long documents equally.
    """
    if not contiguous:
        return rng.permutation(len(windows))
    first = np.array([start for start, _ in windows], dtype=np.int64)
    length = layout.lengths[layout.document[first]]
    line, place = length_order(length, rng)
    return np.asarray(line[place])
