"""Enlarge a sample: what was rated stays in, and the union is a probability sample again.

A simple random sample grows by a simple random sample of the rest: the union is one of the larger
size. Any other design draws once more, independently: a segment is in the union unless both draws
miss it, so pi = 1 - (1 - pi_1)(1 - pi_2), exactly, with pi_1 known from the design that the
sample file names. The second draw's size is chosen such that the union has the wanted size on
average.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from assay.errors import OptionError
from assay.sampling.budget import parse_budget, segments_for
from assay.sampling.designs import base_design, drawn_sizes
from assay.sampling.draw import importance_weights, plan_for, sample_rows
from assay.sampling.plans import Draws, Plan
from assay.sampling.population import Population
from assay.stats.random import Rng, seeded
from assay.tables import Design, Sample, TestSet
from assay.tables.sample import make_sample

__all__ = ["top_up"]


def top_up(test_set: TestSet, sample: Sample, *, budget: int | str, rng: Rng = None) -> Sample:
    """Enlarge a sample to a larger ``budget``; its segments stay, their probabilities grow.

    The new segments follow in ``order``. Matched samples stay matched.

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> first = assay.sample(world.test_set, budget="20%", rng=7)
    >>> more = assay.top_up(world.test_set, first, budget="40%", rng=8)
    >>> set(first.frame["seg"]) <= set(more.frame["seg"]), len(more) > len(first)
    (True, True)
    """
    design = base_design(sample.design)
    population = Population(test_set)
    sizes = drawn_sizes(sample.design, population)
    wanted = segments_for(parse_budget(budget), population, lambda _: 0.0)
    if wanted <= sizes[0]:
        raise OptionError(
            "budget", budget, f"is not more than the {sizes[0]} segments already drawn",
            f"give a number of segments above {sizes[0]}, up to {population.size}",
        )  # fmt: skip
    generator, seed = seeded(rng)
    frames = []
    systems = [None] if sample.matched else list(test_set.systems)
    for system in systems:
        own = Population(test_set, system)
        weights = importance_weights(own, sample.design.parameters.get("importance"))
        old = sample.frame
        old = old if system is None else old.filter(pl.col("system") == system).drop("system")
        frame, added = _enlarged(own, design, sizes, wanted, weights, old, generator)
        frames.append(frame if system is None else frame.with_columns(system=pl.lit(system)))
    line = _line(sample.design, wanted, [*sizes, added] if added else [wanted], seed)
    joined = pl.concat(frames, how="diagonal").with_columns(design=pl.lit(line))
    return make_sample(joined)


def _line(design: Design, wanted: int, parts: list[int], seed: int | None) -> str:
    settings = dict(design.parameters) | {"n": str(wanted)}
    settings.pop("seed", None)
    settings.pop("parts", None)
    if len(parts) > 1:
        settings["parts"] = "+".join(str(part) for part in parts)
    if seed is not None:
        settings["seed"] = str(seed)
    return str(Design(design.name, settings))


def _enlarged(
    population: Population,
    design: Design,
    sizes: list[int],
    wanted: int,
    weights: np.ndarray | None,
    old: pl.DataFrame,
    rng: np.random.Generator,
) -> tuple[pl.DataFrame, int]:
    """The larger sample and the size of the draw that was added (0: simple random sampling)."""
    drawn = _mask(population, old)
    simple = design.name == "segments" and design.parameters["strata"] == "none"
    if simple and weights is None:
        rest = np.flatnonzero(~drawn)
        chosen = rng.permutation(rest)[: wanted - int(drawn.sum())][None, :]
        pi = np.full(population.size, wanted / population.size)
        plan = plan_for(population, design, wanted, None)
        added, new = 0, Draws(chosen, chosen + 1)
    else:
        before = 1 - np.prod(
            [1 - plan_for(population, design, n, weights).probabilities() for n in sizes], axis=0
        )
        added, plan = _second_plan(population, design, before, wanted, weights)
        pi = 1 - (1 - before) * (1 - plan.probabilities())
        new = _without(plan.draw(rng), drawn)
    rows = sample_rows(population, new, pi, plan, rng)
    return _appended(population, old, rows, pi), added


def _second_plan(
    population: Population,
    design: Design,
    before: np.ndarray,
    wanted: int,
    weights: np.ndarray | None,
) -> tuple[int, Plan]:
    """The plan whose union with what was drawn before comes closest to the wanted size."""
    low, high = 1, population.size
    while low < high:
        middle = (low + high) // 2
        pi = plan_for(population, design, middle, weights).probabilities()
        enough = float((1 - (1 - before) * (1 - pi)).sum()) >= wanted - 0.5
        low, high = (low, middle) if enough else (middle + 1, high)
    return low, plan_for(population, design, low, weights)


def _mask(population: Population, old: pl.DataFrame) -> np.ndarray:
    key = list(population.test_set.key)
    here = population.test_set.segments.select(key).join(
        old.select(key).with_columns(_drawn=True), on=key, how="left", maintain_order="left"
    )
    return here["_drawn"].fill_null(False).to_numpy()


def _without(drawn: Draws, taken: np.ndarray) -> Draws:
    """The windows cut down to what was not drawn before, one window per stretch."""
    mask = drawn.masks(len(taken))[0] & ~taken
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return Draws(np.flatnonzero(edges == 1)[None, :], np.flatnonzero(edges == -1)[None, :])


def _appended(
    population: Population, old: pl.DataFrame, new: pl.DataFrame, pi: np.ndarray
) -> pl.DataFrame:
    """Old rows first, with their new probabilities; new ones follow in order and numbering."""
    key = list(population.test_set.key)
    place = population.test_set.segments.select(key).with_columns(probability=pl.Series(pi))
    kept = old.drop("probability", "design").join(place, on=key, how="left", maintain_order="left")
    shift = [(pl.col("order") + len(old)).alias("order")]
    if "snippet" in new.columns and "snippet" in old.columns:
        last = int(old["snippet"].cast(pl.Int64).max())  # type: ignore[arg-type]
        shift.append((pl.col("snippet").cast(pl.Int64) + last).cast(pl.String).alias("snippet"))
    return pl.concat([kept, new.with_columns(shift).select(kept.columns)])
