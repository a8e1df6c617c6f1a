"""Draw a sample, or enlarge one: it keeps its segments, and the union is a sample again.

A simple random sample grows by a simple random sample of the rest, which gives one of the larger
size. Any other design draws once more, independently: a segment is in the union unless both draws
miss it, so pi = 1 - (1 - pi_1)(1 - pi_2) exactly, with pi_1 known from the design in the sample
file. The size of the second draw is chosen such that the union has the wanted size on average.

How long the pieces are that the design auto draws depends on a prediction, before anything is
rated, of their effect on the variance of differences. It needs the correlation of ratings within a
document. The ratings of other systems or of an earlier campaign tell it best
(:func:`assay.add_history`). Otherwise it is the average of the metrics' correlation and the usual
one of ratings: a rater takes a document in one go, which makes ratings more alike than metrics.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from assay.designs.base import (
    TOLERANCE,
    SamplingDesign,
    by_system,
    choose_design,
    design_of,
    find_design,
)
from assay.designs.plan import DrawPlan, Draws, Layout
from assay.designs.population import Population
from assay.designs.provenance import (
    carried_columns,
    complete,
    first_plan,
    known_population,
    known_table,
    union_probabilities,
)
from assay.designs.rounds import LEAST_EFFECT, PieceDesign, likeness, usual_likeness
from assay.errors import InputError, OptionError
from assay.sampling.budget import parse_budget, segments_for
from assay.stats.intervals import smallest
from assay.stats.random import Rng, seeded
from assay.stats.selection import length_order
from assay.tables.history import history_digest
from assay.tables.tables import Design, Sample, TestSet, make_sample, places_in


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


PIECES = (10, 5, 3, 2, 1)
"""The maximum lengths of pieces to try; longer ones give raters more context."""
GOOD_ENOUGH = 0.97
"""A predicted design effect up to this is good enough; frozen on seven MQM sets."""


def expected_likeness(test_set: TestSet) -> np.ndarray:
    """The persistent and the fading correlation of system differences along documents."""
    usual = usual_likeness(test_set.document)
    if test_set.history is not None:
        values = test_set.matrix(test_set.history)
        # Systems without earlier ratings share one history, and its differences are zero.
        found = [_likeness(rows, test_set.document) for rows in (np.diff(values, axis=0), values)]
        return next((part for part in found if part is not None), usual)
    gaps = [np.diff(test_set.matrix(name), axis=0) for name in test_set.metrics]
    parts = [_likeness(rows, test_set.document) for rows in gaps]
    known = [part for part in parts if part is not None]
    return np.asarray((usual + np.mean(known, axis=0)) / 2) if known else usual


def _likeness(rows: np.ndarray, document: np.ndarray) -> np.ndarray | None:
    """The mean correlation over rows of segments (NaN: unknown); None if no row varies."""
    drawn = np.isfinite(rows)
    counts = np.maximum(drawn.sum(axis=1, keepdims=True), 1)
    e = np.where(drawn, rows, 0.0)
    e = np.where(drawn, e - e.sum(axis=1, keepdims=True) / counts, 0.0)
    vary = (e**2).sum(axis=1) > 1e-9 * counts[:, 0]
    if not vary.any():
        return None
    return np.asarray(likeness(e[vary], drawn[vary], document).parts.mean(axis=0))


def expected_effect(
    design: PieceDesign, population: Population, n: int, parts: np.ndarray
) -> float:
    """The variance of differences relative to a simple random sample of the same size.

    ``parts`` is the expected correlation within documents.
    """
    f = float(design.plan(population, n).probabilities()[0])
    lever = design.lever(population.layout.lengths, f)
    return float(max(1 + lever @ parts, LEAST_EFFECT))


def with_short_pieces(design: SamplingDesign, population: Population, n: int) -> SamplingDesign:
    """The design with the longest pieces whose predicted design effect is good enough."""
    if not isinstance(design, PieceDesign):
        return design
    parts = expected_likeness(population.test_set)
    chosen: SamplingDesign = design
    for longest in PIECES:
        chosen = find_design(f"{design.name}|max:{longest}")
        assert isinstance(chosen, PieceDesign)
        if expected_effect(chosen, population, n, parts) <= GOOD_ENOUGH:
            break
    return chosen


def top_up(
    test_set: TestSet,
    sample: Sample,
    *,
    budget: int | str,
    matched: bool | None = None,
    rng: Rng = None,
) -> Sample:
    """Enlarge a sample to a larger ``budget``; its segments stay, their probabilities grow.

    The new segments follow in ``order``. Matched samples stay matched unless ``matched`` is False:
    then every system gets its own new segments, and the sample is only partly matched. That is best
    for each system's score if estimates can use other systems' ratings of a segment
    (:func:`assay.add_history`).

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> first = assay.sample(world.test_set, budget="20%", rng=7)
    >>> more = assay.top_up(world.test_set, first, budget="40%", rng=8)
    >>> set(first.frame["seg"]) <= set(more.frame["seg"]), len(more) > len(first)
    (True, True)
    """
    _check_matched(sample, matched)
    design_of(sample.design).need_size(test_set)
    sample, _ = complete(sample.placed_in(test_set), test_set)
    design = design_of(sample.design)
    whole = Population(known_table(design, test_set))
    known = {
        system: known_population(sample, rows, test_set, system)
        for system, rows in by_system(sample)
    }
    absent = [] if sample.matched else [name for name in test_set.systems if name not in known]
    if absent:
        raise InputError(
            f"the sample has no segments for {', '.join(absent)}; leave these systems out of the"
            " scores"
        )
    wanted, added = _enlarged_sizes(design, whole, budget)
    generator, seed = seeded(rng)
    if seed is not None:  # independent of the first draw, even by the same seed
        generator = np.random.default_rng([seed, len(design.sizes)])
    together = sample.matched and matched is not False
    frames = []
    for system in [None] if together else list(test_set.systems):
        population, old = _part(sample, whole, known, system)
        sizes = [population.share(n, whole) for n in (*design.sizes, added or wanted)]
        frame = _enlarged(population, design, sizes, old, generator)
        frames.append(frame if system is None else frame.with_columns(system=pl.lit(system)))
    parts = [*design.sizes, added] if added else [wanted]
    line = _enlarged_line(sample.design, wanted, parts, seed, together)
    rows = pl.concat(frames, how="diagonal").with_columns(design=pl.lit(line))
    return make_sample(rows, test_set)


def _check_matched(sample: Sample, matched: bool | None) -> None:
    if matched and not sample.matched:
        raise OptionError(
            "matched", matched, "cannot be had: the sample is not matched", "leave it out"
        )
    unequal = bool(np.ptp(sample.frame["probability"].to_numpy()) > TOLERANCE)
    if sample.matched and matched is False and unequal:
        raise OptionError(
            "matched", matched, "needs a design with equal probabilities",
            "top up segments or snippets, or keep the sample matched",
        )  # fmt: skip


def _part(
    sample: Sample, whole: Population, known: dict[str | None, Population], system: str | None
) -> tuple[Population, pl.DataFrame]:
    """The population to draw from and the rows already drawn, for one system or all together."""
    if not sample.matched:
        rows = sample.frame.filter(pl.col("system") == system).drop("system")
        return known[system], rows
    if system is None:
        return whole, sample.frame
    own = whole.of_system(system, common=True)  # the common part, where the system has it
    key = list(own.test_set.key)
    return own, sample.frame.join(own.test_set.segments, on=key, how="semi")


def _enlarged_sizes(
    design: SamplingDesign, whole: Population, budget: int | str
) -> tuple[int, int]:
    """The wanted number of segments, and the size of the second draw.

    The latter is 0 for a simple random sample, which grows by a part of the rest.
    """
    present = int(design.parameters["n"])
    wanted = budget_size(whole, design, budget, design.importance)
    if wanted <= present:
        raise OptionError(
            "budget", budget, f"is not more than the {present} segments already drawn",
            f"give a number of segments above {present}, up to {whole.size}",
        )  # fmt: skip
    return wanted, 0 if _is_simple(design) else _added(whole, design, wanted)


def _is_simple(design: SamplingDesign) -> bool:
    return design.simple and design.equal


def _enlarged_line(
    design: Design, wanted: int, parts: list[int], seed: int | None, together: bool
) -> str:
    settings = dict(design.parameters) | {"n": str(wanted)}
    settings |= {} if together else {"matched": "no"}
    seeds = [settings.pop("seed", "?"), "?" if seed is None else str(seed)]
    settings.pop("parts", None)
    if len(parts) > 1:
        settings["parts"] = "+".join(str(part) for part in parts)
    settings["seed"] = "+".join(seeds)
    return str(Design(design.name, settings))


def _enlarged(
    population: Population, design: SamplingDesign, sizes: list[int], old: pl.DataFrame,
    rng: np.random.Generator,
) -> pl.DataFrame:  # fmt: skip
    """The larger sample; the last of the sizes is that of the second draw.

    For a simple random sample it is the size of the union instead.
    """
    places = places_in(old, population.test_set)
    drawn = np.isin(np.arange(population.size), places)
    plan = first_plan(population, design, sizes[-1:])
    if _is_simple(design):
        rest = rng.permutation(np.flatnonzero(~drawn))
        chosen = rest[: max(0, sizes[-1] - int(drawn.sum()))][None, :]
        pi, new = plan.probabilities(), Draws(chosen, chosen + 1)
    else:
        pi = union_probabilities(population, design, sizes)
        new = _without(plan.draw(rng), drawn)
    old = old.with_columns(pl.Series("probability", pi[places]), *carried_columns(plan, places))
    return _appended(old, sample_rows(population, new, pi, plan, rng))


def _added(population: Population, design: SamplingDesign, wanted: int) -> int:
    """The size of a further draw whose union with the earlier ones is nearest to the target."""
    before = 1 - union_probabilities(population, design, list(design.sizes))

    def enough(n: int) -> bool:
        pi = union_probabilities(population, design, [n])
        return float((1 - before * (1 - pi)).sum()) >= wanted - 0.5

    return smallest(enough, population.size, low=1)


def _without(drawn: Draws, taken: np.ndarray) -> Draws:
    """The windows without the segments drawn before, one window per stretch."""
    mask = drawn.masks(len(taken))[0] & ~taken
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return Draws(np.flatnonzero(edges == 1)[None, :], np.flatnonzero(edges == -1)[None, :])


def _appended(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """The old rows, then the new ones, numbered after them."""
    shift = [(pl.col("order") + len(old)).alias("order")]
    if "snippet" in new.columns and "snippet" in old.columns:
        # Numbers behind all old ones, whatever those are called.
        numbers = old["snippet"].cast(pl.Int64, strict=False).drop_nulls().to_list()
        last = max([old["snippet"].n_unique(), *numbers])
        shift.append((pl.col("snippet").cast(pl.Int64) + last).cast(pl.String).alias("snippet"))
    return pl.concat([old.drop("design"), new.with_columns(shift)], how="diagonal")
