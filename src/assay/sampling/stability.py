"""Measure how often samples of a design rank systems differently from the full test set.

Automatic metrics stand in for ratings, so any number of samples is free (lo2023, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from assay.designs.base import SamplingDesign, choose_design
from assay.designs.plan import DrawPlan, Draws, Layout
from assay.designs.population import Population
from assay.engine import Workers, run
from assay.errors import InputError, OptionError, need_count
from assay.results import Note, Result, signature
from assay.sampling.budget import CONTEXT_SEGMENTS
from assay.sampling.draw import budget_size
from assay.sampling.summary import LENGTH_BINS, NUMBERS_AT_ONCE, length_bin, metric_scores
from assay.stats.clustered import (
    difference_z,
    normal_quantile,
    prefix_sums,
    safe_z,
    unit_z,
    window_sums,
)
from assay.stats.intervals import LEVEL, cluster_numbers, discordant, rank_ranges
from assay.stats.random import Rng
from assay.tables.selection import Parts
from assay.tables.tables import TestSet


@dataclass(frozen=True, slots=True)
class DesignStability:
    """The stability of rankings under a design, over all test sets and samples.

    changed: the expected number of the ``test_sets`` whose order changes, with its Monte-Carlo
    standard error changed_error. best, median, worst: those of the first ``runs`` samples, as in
    the paper. discordant_pairs: a share. significant_flips: the expected number of test sets where
    a pair that differs significantly on the full set is reversed. length_error: the root mean
    square difference of length shares to the full test set, length_bias: the absolute mean
    difference, both averaged over length bins, in points. context: context segments to read per
    segment to rate.
    """

    design: str
    matched: bool
    budget: str
    test_sets: int
    changed: float
    changed_error: float
    cluster_changed: float
    discordant_pairs: float
    discordant_error: float
    significant_flips: float
    significant_error: float
    length_error: float
    length_bias: float
    size_sd: float
    context: float
    runs: int
    best: int
    median: float
    worst: int
    held_out_changed: float | None


@dataclass(frozen=True, slots=True)
class PartStability:
    """The stability of the ranking of one test set under a design: means over samples."""

    test_set: str
    design: str
    matched: bool
    budget: str
    n: int
    population: int
    systems: int
    significant_pairs: int
    changed: float
    cluster_changed: float
    discordant_pairs: float
    significant_flips: float
    length_error: float
    context: float
    held_out_changed: float | None


@dataclass(frozen=True, slots=True)
class Stability(Result, kind="stability", listing="designs"):
    """The stability of rankings by design, and by design and test set."""

    designs: tuple[DesignStability, ...]
    parts: tuple[PartStability, ...]
    metric: str
    held_out: str | None
    draws: int
    seed: int | None
    notes: tuple[Note, ...] = ()

    @property
    def signature(self) -> str:
        """The settings behind these numbers, in one line."""
        names = "+".join(dict.fromkeys(item.design for item in self.designs))
        return signature("stability", names, metric=self.metric, draws=self.draws, seed=self.seed)


Budgets = int | str | Sequence[int | str] | Mapping[str, int | str]
"""One budget or several, or a budget for every test set."""


def stability(
    test_sets: Mapping[str, TestSet],
    *,
    designs: Sequence[str],
    budget: Budgets,
    metric: str,
    held_out: str | None = None,
    candidates: int = 1,
    draws: int = 1000,
    matched: bool | Sequence[bool] = True,
    rng: Rng = None,
    workers: Workers = 1,
) -> Iterator[StabilityRecord]:
    """Draw many samples of every design from every test set and rank the systems by a metric.

    Yields a record per test set and design, in that order; :func:`assay.summarise_stability` makes
    a table of them. ``budget`` may differ by test set (a mapping) or be a list of several;
    ``matched`` may be a list of both ways. With :func:`assay.read_parts`, only one test set at a
    time is in memory. With ``candidates`` > 1, every sample is the best of so many by the metric's
    own ranking; that makes the metric look stable, so a ``held_out`` metric is required.

    >>> import assay
    >>> world = assay.simulate(documents=30, rng=1)
    >>> records = list(stability({"en-de": world.test_set}, designs=["SL", "DB"], budget="30%",
    ...                          metric="neural", draws=50, rng=1))
    >>> [record.design for record in records], records[0].changed.shape
    (['segments', 'snippets'], (50,))
    """
    ways = [matched] if isinstance(matched, bool) else list(matched)
    _check(designs, held_out, candidates, draws, ways)

    def make(name: str, test_set: TestSet) -> Iterator[Trial]:
        for design, way, share in product(designs, ways, _budgets(budget, name)):
            chosen = choose_design(test_set, design, None)
            yield _trial(name, test_set, chosen, share, metric, held_out, way, draws, candidates)

    if isinstance(test_sets, Parts):
        sizes = [len(designs) * len(ways) * len(_budgets(budget, name)) for name in test_sets]
        return run(try_design, _Trials(test_sets, make, sum(sizes)), rng=rng, workers=workers)
    trials = [trial for name, test_set in test_sets.items() for trial in make(name, test_set)]
    return run(try_design, trials, rng=rng, workers=workers)


def _check(
    designs: Sequence[str], held_out: str | None, candidates: int, draws: int, ways: list[bool]
) -> None:
    for name, value in (("draws", draws), ("candidates", candidates)):
        need_count(name, value, "samples")
    if not designs or len(set(designs)) < len(designs):
        raise OptionError("designs", list(designs), "must be one or more, each once", "name them")
    if candidates > 1 and held_out is None:
        raise InputError(
            "choosing samples by a metric makes that metric look stable; name another one to judge"
            " the choice by (held_out)"
        )
    if candidates > 1 and not all(ways):
        raise InputError("candidates are chosen among matched samples only; leave out unmatched")


def _budgets(budget: Budgets, name: str) -> list[int | str]:
    if isinstance(budget, Mapping):
        return [budget[name]]
    return [budget] if isinstance(budget, int | str) else list(budget)


@dataclass(frozen=True, slots=True)
class _Trials:
    """The trials of a file too large to read at once, made one part after another."""

    parts: Parts
    make: Callable[[str, TestSet], Iterator[Trial]]
    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Trial]:
        for name, test_set in self.parts.items():
            for trial in self.make(name, test_set):
                yield trial._replace(notes=(*trial.notes, *test_set.notes))


def _trial(
    name: str, test_set: TestSet, design: SamplingDesign, budget: int | str, metric: str,
    held_out: str | None, matched: bool, draws: int, candidates: int,
) -> Trial:  # fmt: skip
    population = Population(test_set)
    systems, scores, notes = metric_scores(test_set, metric)
    others = None
    if held_out is not None:
        if held_out == metric:
            raise OptionError("held_out", held_out, "is the metric itself", "name another one")
        known, others, more = metric_scores(test_set, held_out)
        notes += more
        if not set(systems) <= set(known):
            fault = "does not score all systems"
            raise OptionError("held_out", held_out, fault, "choose another metric")
        others = others[[known.index(system) for system in systems]]
    n = budget_size(population, design, budget)
    return Trial(name, population, scores, others, design, str(budget), n, matched, draws,
                  candidates, tuple(notes))  # fmt: skip


def summarise_stability(
    records: Iterable[StabilityRecord],
    *,
    metric: str,
    held_out: str | None = None,
    runs: int = 13,
    seed: int | None = None,
) -> Stability:
    """One row per design from the records of :func:`stability`.

    >>> import assay
    >>> world = assay.simulate(documents=30, rng=1)
    >>> records = stability({"a": world.test_set}, designs=["DB"], budget="30%", metric="neural",
    ...                     draws=40, rng=1)
    >>> summarise_stability(records, metric="neural").designs[0].test_sets
    1
    """
    need_count("runs", runs, "samples")
    listed = list(records)
    groups: dict[tuple[str, bool, str], list[StabilityRecord]] = {}
    # Every test set may have a single budget of its own.
    pairs = {(record.name, record.budget) for record in listed}
    names, budgets = ({pair[k] for pair in pairs} for k in (0, 1))
    by_set = len(budgets) > 1 and len(names) == len(pairs)
    for record in listed:
        budget = "by test set" if by_set else record.budget
        groups.setdefault((record.design, record.matched, budget), []).append(record)
    return Stability(
        designs=tuple(_design_row(group, key[2], runs) for key, group in groups.items()),
        parts=tuple(_part_row(record) for record in listed), metric=metric, held_out=held_out,
        draws=len(listed[0].changed) if listed else 0, seed=seed,
        notes=tuple(dict.fromkeys(
            Note(note.code, f"{record.name}: {note}") for record in listed for note in record.notes
        )),
    )  # fmt: skip


def _design_row(records: list[StabilityRecord], budget: str, runs: int) -> DesignStability:
    changed = np.stack([record.changed for record in records])
    flips = np.stack([record.flips > 0 for record in records])
    wrong = np.stack([record.discordant for record in records])
    counts = changed.sum(axis=0)[:runs]
    held = [record.held_out for record in records if record.held_out is not None]
    lengths = np.array([_length_errors(record) for record in records]).mean(axis=0)
    return DesignStability(
        design=records[0].design, matched=records[0].matched, budget=budget,
        test_sets=len(records),
        changed=float(changed.mean(axis=1).sum()), changed_error=_sum_error(changed),
        cluster_changed=float(sum(record.clusters.mean() for record in records)),
        discordant_pairs=float(wrong.mean()), discordant_error=_sum_error(wrong) / len(records),
        significant_flips=float(flips.mean(axis=1).sum()), significant_error=_sum_error(flips),
        length_error=float(lengths[0]), length_bias=float(lengths[1]),
        size_sd=float(np.mean([record.sizes.std() / record.n for record in records])),
        context=float(np.mean([record.context.mean() / record.n for record in records])),
        runs=len(counts), best=int(counts.min()), median=float(np.median(counts)),
        worst=int(counts.max()),
        held_out_changed=float(sum(h.mean() for h in held)) if held else None,
    )  # fmt: skip


def _sum_error(values: np.ndarray) -> float:
    """The Monte-Carlo standard error of the sum over test sets of means over samples."""
    draws = values.shape[1]
    if draws < 2:
        return float("nan")
    return float(np.sqrt((values.var(axis=1, ddof=1) / draws).sum()))


def _length_errors(record: StabilityRecord) -> tuple[float, float]:
    """The root mean square and the absolute mean difference of length shares, in points."""
    here = record.full_lengths > 0
    gap = 100 * (record.length_shares - record.full_lengths)
    error, bias = np.sqrt((gap**2).mean(axis=0)), np.abs(gap.mean(axis=0))
    return float(error[here].mean()), float(bias[here].mean())


def _part_row(record: StabilityRecord) -> PartStability:
    return PartStability(
        test_set=record.name, design=record.design, matched=record.matched, budget=record.budget,
        n=record.n, population=record.population, systems=record.systems,
        significant_pairs=record.significant_pairs, changed=float(record.changed.mean()),
        cluster_changed=float(record.clusters.mean()),
        discordant_pairs=float(record.discordant.mean()),
        significant_flips=float((record.flips > 0).mean()), length_error=_length_errors(record)[0],
        context=float(record.context.mean()),
        held_out_changed=None if record.held_out is None else float(record.held_out.mean()),
    )  # fmt: skip


class StabilityRecord(NamedTuple):
    """The rankings by many samples of one design compared with the full ranking.

    Arrays have one value per sample. changed: the order of the systems differs. clusters: the
    clusters differ. discordant: the share of pairs in another order. flips: the number of reversed
    pairs that differ significantly on the full test set. held_out: the order under the held-out
    metric differs, if there is one.
    """

    name: str
    design: str
    matched: bool
    budget: str
    n: int
    population: int
    systems: int
    significant_pairs: int
    sizes: np.ndarray
    changed: np.ndarray
    clusters: np.ndarray
    discordant: np.ndarray
    flips: np.ndarray
    length_shares: np.ndarray
    full_lengths: np.ndarray
    context: np.ndarray
    held_out: np.ndarray | None
    notes: tuple[Note, ...] = ()


class Trial(NamedTuple):
    """One test set and one design, with all that a worker needs."""

    name: str
    population: Population
    scores: np.ndarray
    held_out: np.ndarray | None
    design: SamplingDesign
    budget: str
    n: int
    matched: bool
    draws: int
    candidates: int
    notes: tuple[Note, ...]


def try_design(trial: Trial, rng: np.random.Generator) -> StabilityRecord:
    """Draw all samples of a trial and rank the systems by each."""
    layout = trial.population.layout
    plan = trial.design.plan(trial.population, trial.n)
    prefix = prefix_sums(trial.scores)
    full = prefix[-1] / layout.population
    if len(layout.lengths) == 1:  # no clusters: every segment is one
        z = difference_z(np.diff(prefix, axis=0), np.ones(layout.population))
    else:
        sums = window_sums(prefix, layout.starts, layout.starts + layout.lengths)
        z = difference_z(sums, layout.lengths)
    i, j = np.triu_indices(len(full), 1)
    significant = np.abs(z[i, j]) > normal_quantile(LEVEL)
    clusters = _clusters(z)
    parts = [
        _block(trial, plan, prefix, full, significant, clusters, size, rng)
        for size in _blocks(trial, plan, layout)
    ]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    shares = np.bincount(length_bin(layout), minlength=len(LENGTH_BINS)) / layout.population
    return StabilityRecord(
        name=trial.name, design=trial.design.short, matched=trial.matched, budget=trial.budget,
        n=trial.n, population=layout.population, systems=len(full),
        significant_pairs=int(significant.sum()), full_lengths=shares,
        held_out=joined.pop("held_out", None), **joined, notes=trial.notes,
    )  # fmt: skip


def _blocks(trial: Trial, plan: DrawPlan, layout: Layout) -> list[int]:
    """The numbers of samples to draw at a time."""
    if plan.contiguous:
        width = 2 * len(layout.lengths) * len(trial.scores)
    else:  # masks of all segments
        width = layout.population + trial.n
    size = max(1, min(trial.draws, NUMBERS_AT_ONCE // (max(width, 1) * trial.candidates)))
    whole, rest = divmod(trial.draws, size)
    return [size] * whole + ([rest] if rest else [])


def _clusters(z: np.ndarray) -> np.ndarray:
    return cluster_numbers(*rank_ranges(z > normal_quantile(LEVEL)))


def _block(
    trial: Trial, plan: DrawPlan, prefix: np.ndarray, full: np.ndarray, significant: np.ndarray,
    clusters: np.ndarray, draws: int, rng: np.random.Generator,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Draw ``draws`` samples and compare their rankings with the full one."""
    layout = trial.population.layout
    other = None if trial.held_out is None else prefix_sums(trial.held_out)
    if trial.matched:
        drawn = plan.draw(rng, draws * trial.candidates)
        if trial.candidates > 1:
            # Keep the candidate with the fewest discordant pairs.
            wrong = discordant(_means(prefix, drawn), full).sum(axis=1)
            best = wrong.reshape(-1, trial.candidates).argmin(axis=1)
            best += np.arange(draws) * trial.candidates
            drawn = Draws(drawn.starts[best], drawn.stops[best])
        samples = [drawn]
        if plan.contiguous:
            sums = window_sums(prefix, drawn.starts, drawn.stops)
            means = sums.sum(axis=1) / np.maximum(drawn.sizes, 1)[:, None]
            z = difference_z(sums, drawn.stops - drawn.starts)
        else:
            # Weights proportional to 1/pi correct for unequal probabilities.
            pi = plan.probabilities()
            weights = np.divide(pi.mean(), pi, out=np.zeros(len(pi)), where=pi > 0)
            means, z = unit_z(drawn.masks(layout.population), trial.scores, weights)
        other_means = None if other is None else _means(other, drawn)
    else:
        samples = [plan.draw(rng, draws) for _ in full]
        means = _unmatched_means(prefix, samples)
        z = _unmatched_z(prefix, samples, means)
        other_means = None if other is None else _unmatched_means(other, samples)
    wrong = discordant(means, full)
    result = {
        "sizes": np.mean([drawn.sizes for drawn in samples], axis=0),
        "changed": wrong.any(axis=1),
        "clusters": (_clusters(z) != clusters).any(axis=1),
        "discordant": wrong.mean(axis=1),
        "flips": (wrong & significant).sum(axis=1),
        "length_shares": np.mean([_length_shares(layout, drawn) for drawn in samples], axis=0),
        "context": np.mean([_context(layout, drawn) for drawn in samples], axis=0),
    }
    if other is not None and other_means is not None:
        result["held_out"] = discordant(other_means, other[-1]).any(axis=1)
    return result


def _means(prefix: np.ndarray, drawn: Draws) -> np.ndarray:
    """The mean score of the drawn segments (samples x systems)."""
    sums = window_sums(prefix, drawn.starts, drawn.stops).sum(axis=1)
    return np.asarray(sums / np.maximum(drawn.sizes, 1)[:, None])


def _unmatched_means(prefix: np.ndarray, samples: list[Draws]) -> np.ndarray:
    """The mean scores if every system has its own samples."""
    means = [_means(prefix[:, [s]], drawn) for s, drawn in enumerate(samples)]
    return np.concatenate(means, axis=1)


def _unmatched_z(prefix: np.ndarray, samples: list[Draws], means: np.ndarray) -> np.ndarray:
    """Z of every difference if every system has its own samples: variances add up."""
    variances = np.empty_like(means)
    for s, drawn in enumerate(samples):
        sizes = drawn.stops - drawn.starts
        sums = window_sums(prefix[:, s], drawn.starts, drawn.stops)
        clusters = np.maximum((sizes > 0).sum(axis=1), 2)
        square = ((sums - sizes * means[:, [s]]) ** 2).sum(axis=1)
        variances[:, s] = square * clusters / (clusters - 1) / np.maximum(drawn.sizes, 1) ** 2
    stderr = np.sqrt(variances[:, :, None] + variances[:, None, :])
    return safe_z(means[:, :, None] - means[:, None, :], stderr)


def _length_shares(layout: Layout, drawn: Draws) -> np.ndarray:
    """The share of each length bin (samples x bins); a window lies within one document."""
    bins = length_bin(layout)[np.minimum(drawn.starts, layout.population - 1)]
    sizes = drawn.stops - drawn.starts
    shares = [np.where(bins == k, sizes, 0).sum(axis=1) for k in range(len(LENGTH_BINS))]
    return np.asarray(np.stack(shares, axis=1) / np.maximum(drawn.sizes, 1)[:, None])


def _context(layout: Layout, drawn: Draws) -> np.ndarray:
    """The number of segments to read as context, for every sample.

    Before every window they reach back ten segments, to the previous window or to the beginning of
    the document, whichever is nearest.
    """
    empty = drawn.stops == drawn.starts
    starts = np.where(empty, layout.population, drawn.starts)
    order = np.argsort(starts, axis=1)
    starts = np.take_along_axis(starts, order, axis=1)
    stops = np.take_along_axis(np.where(empty, layout.population, drawn.stops), order, axis=1)
    place = np.minimum(starts, layout.population - 1)
    back = layout.starts[layout.document[place]]
    back[:, 1:] = np.maximum(back[:, 1:], stops[:, :-1])
    gaps = np.clip(starts - back, 0, CONTEXT_SEGMENTS)
    return np.asarray(np.where(starts < layout.population, gaps, 0).sum(axis=1))
