"""Try one design on one test set: draw many samples at once and rank the systems by each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.designs.base import SamplingDesign
from assay.designs.plan import DrawPlan, Draws, Layout
from assay.designs.population import Population
from assay.results import Note
from assay.sampling.budget import CONTEXT_SEGMENTS
from assay.sampling.summary import LENGTH_BINS, NUMBERS_AT_ONCE, length_bin
from assay.stats.clustered import (
    difference_z,
    normal_quantile,
    prefix_sums,
    safe_z,
    unit_z,
    window_sums,
)
from assay.stats.intervals import LEVEL, cluster_numbers, discordant, rank_ranges


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
