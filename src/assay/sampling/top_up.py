"""Enlarge a sample: it keeps its segments, and the union is a probability sample again.

A simple random sample grows by a simple random sample of the rest, which gives one of the larger
size. Any other design draws once more, independently: a segment is in the union unless both draws
miss it, so pi = 1 - (1 - pi_1)(1 - pi_2) exactly, with pi_1 known from the design in the sample
file. The size of the second draw is chosen such that the union has the wanted size on average.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from assay.designs.base import TOLERANCE, SamplingDesign, by_system, design_of
from assay.designs.plan import Draws
from assay.designs.population import Population
from assay.designs.provenance import (
    carried_columns,
    complete,
    first_plan,
    known_population,
    known_table,
    union_probabilities,
)
from assay.errors import InputError, OptionError
from assay.sampling.draw import budget_size, sample_rows
from assay.stats.intervals import smallest
from assay.stats.random import Rng, seeded
from assay.tables.tables import Design, Sample, TestSet, make_sample, places_in


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
    wanted, added = _sizes(design, whole, budget)
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
    line = _line(sample.design, wanted, parts, seed, together)
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


def _sizes(design: SamplingDesign, whole: Population, budget: int | str) -> tuple[int, int]:
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


def _line(design: Design, wanted: int, parts: list[int], seed: int | None, together: bool) -> str:
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
