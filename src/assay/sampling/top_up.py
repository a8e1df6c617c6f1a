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

from assay.errors import InputError, OptionError
from assay.sampling.designs import base_design, drawn_sizes, population_of
from assay.sampling.draw import (
    budget_size,
    importance_weights,
    own_size,
    plan_for,
    sample_rows,
)
from assay.sampling.plans.base import Draws
from assay.sampling.population import Population
from assay.stats.random import Rng, seeded
from assay.tables.sample import Design, Sample, make_sample
from assay.tables.test_set import TestSet


def top_up(
    test_set: TestSet,
    sample: Sample,
    *,
    budget: int | str,
    matched: bool | None = None,
    rng: Rng = None,
) -> Sample:
    """Enlarge a sample to a larger ``budget``; its segments stay, their probabilities grow.

    The new segments follow in ``order``. Matched samples stay matched, unless ``matched`` is
    False: then every system gets new segments of its own, and the sample is partly matched, partly
    spread. That serves each system's own score best where estimates may borrow what other
    systems' ratings say of a segment (:func:`assay.add_history`).

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> first = assay.sample(world.test_set, budget="20%", rng=7)
    >>> more = assay.top_up(world.test_set, first, budget="40%", rng=8)
    >>> set(first.frame["seg"]) <= set(more.frame["seg"]), len(more) > len(first)
    (True, True)
    """
    if matched and not sample.matched:
        raise OptionError(
            "matched", matched, "cannot be had: the sample is not matched", "leave it out"
        )
    design = base_design(sample.design)
    if sample.matched and matched is False and sample.frame["probability"].n_unique() > 1:
        raise OptionError(
            "matched", matched, "needs a design with equal probabilities",
            "top up segments or snippets, or keep the sample matched",
        )  # fmt: skip
    whole = population_of(sample.design, test_set)
    sizes = drawn_sizes(sample.design, whole)
    importance = sample.design.parameters.get("importance")
    wanted, present = (
        budget_size(whole, design, budget, importance),
        int(sample.design.parameters["n"]),
    )
    if wanted <= present:
        raise OptionError(
            "budget", budget, f"is not more than the {present} segments already drawn",
            f"give a number of segments above {present}, up to {whole.size}",
        )  # fmt: skip
    generator, seed = _later(rng, len(sizes))
    added = (
        0 if _is_simple(design, importance) else _added(whole, design, sizes, wanted, importance)
    )
    frames = []
    together = sample.matched and matched is not False
    for system in [None] if together else list(test_set.systems):
        own = whole if system is None else whole.of_system(system)
        share = [own_size(n, own, whole) for n in (*sizes, added or wanted)]
        old = sample.frame
        if not sample.matched:
            old = old.filter(pl.col("system") == system).drop("system")
        elif system is not None:  # the common part, as far as the system has it
            old = old.join(own.test_set.segments, on=list(test_set.key), how="semi")
        frame = _enlarged(own, design, share, importance, old, generator)
        frames.append(frame if system is None else frame.with_columns(system=pl.lit(system)))
    line = _line(sample.design, wanted, [*sizes, added] if added else [wanted], seed, together)
    return make_sample(pl.concat(frames, how="diagonal").with_columns(design=pl.lit(line)))


def _later(rng: Rng, part: int) -> tuple[np.random.Generator, int | None]:
    """A generator for the draw number ``part``: independent of the first, even by the same seed."""
    generator, seed = seeded(rng)
    return (generator, None) if seed is None else (np.random.default_rng([seed, part]), seed)


def _is_simple(design: Design, importance: str | None) -> bool:
    return design.name == "segments" and design.parameters["strata"] == "none" and not importance


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
    population: Population,
    design: Design,
    sizes: list[int],
    importance: str | None,
    old: pl.DataFrame,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """The larger sample; the last of the sizes is that of the draw that is added.

    For a simple random sample it is the size of the union instead.
    """
    drawn = _mask(population, old)
    weights = importance_weights(population, importance)
    plan = plan_for(population, design, sizes[-1], weights)
    if _is_simple(design, importance):
        rest = rng.permutation(np.flatnonzero(~drawn))
        chosen = rest[: max(0, sizes[-1] - int(drawn.sum()))][None, :]
        pi, new = plan.probabilities(), Draws(chosen, chosen + 1)
    else:
        if len(sizes) == 2:
            _compare(plan_for(population, design, sizes[0], weights).probabilities(), drawn, old)
        pi = _union(population, design, sizes, weights)
        new = _without(plan.draw(rng), drawn)
    return _appended(population, old, sample_rows(population, new, pi, plan, rng), pi)


def _compare(pi: np.ndarray, drawn: np.ndarray, old: pl.DataFrame) -> None:
    """Refuse scores under which the sample would have had other probabilities than it states."""
    stated = np.sort(old["probability"].to_numpy())
    if np.abs(np.sort(pi[drawn]) - stated).max(initial=0.0) > 1e-6:
        raise InputError(
            "the sample states other probabilities than these scores give; use the same scores,"
            " metrics, directions (--lower-metrics) and history as when it was drawn"
        )


def _union(
    population: Population, design: Design, sizes: list[int], weights: np.ndarray | None
) -> np.ndarray:
    """1 minus the probability that every one of several independent draws misses a segment."""
    missed = np.ones(population.size)
    for n in sizes:
        missed *= 1 - plan_for(population, design, n, weights).probabilities()
    return np.asarray(1 - missed)


def _added(
    population: Population, design: Design, sizes: list[int], wanted: int, importance: str | None
) -> int:
    """The size of a further draw whose union with the earlier ones comes closest to the target."""
    weights = importance_weights(population, importance)
    before = 1 - _union(population, design, sizes, weights)
    low, high = 1, population.size
    while low < high:
        middle = (low + high) // 2
        pi = plan_for(population, design, middle, weights).probabilities()
        enough = float((1 - before * (1 - pi)).sum()) >= wanted - 0.5
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


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
        # Numbers behind all old ones, whatever those are called.
        last = max([old["snippet"].n_unique(), *_numbers(old["snippet"])])
        shift.append((pl.col("snippet").cast(pl.Int64) + last).cast(pl.String).alias("snippet"))
    return pl.concat([kept, new.with_columns(shift)], how="diagonal")


def _numbers(labels: pl.Series) -> list[int]:
    return labels.cast(pl.Int64, strict=False).drop_nulls().to_list()
