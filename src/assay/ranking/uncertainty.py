"""How sure the order is: rank ranges and p values, by resampling, sign tests or the pooled test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from scipy import special

from assay.ranking.counts import Counts
from assay.ranking.methods import score
from assay.ranking.pooled import Fit, fit_check, pooled_counts, pooled_test
from assay.ranking.ranges import equal_tailed_ranges, rank_table, shortest_ranges
from assay.ranking.resampling import NUMBERS, batch_size, resampled_counts
from assay.ranking.signs import sign_test
from assay.stats.multiplicity import holm as holm_adjusted
from assay.stats.orders import competition_ranks, rank_ranges

__all__ = [
    "Uncertainty",
    "Watch",
    "bootstrap",
    "by_pooled_test",
    "by_sign_test",
    "decide",
    "ranked",
    "spread",
    "unwatched",
]

Item = TypeVar("Item")


class Watch(Protocol):
    """Passes items on and may show that they come; told how many there will be."""

    def __call__(self, items: Iterable[Item], total: int, /) -> Iterable[Item]:
        """The same items."""
        ...


def unwatched(items: Iterable[Item], total: int, /) -> Iterable[Item]:
    """Nobody looks on."""
    return items


POOR = 0.01
"""P value below which one scale is said not to fit."""


class Uncertainty(NamedTuple):
    """Rank ranges and, for every pair, the one-sided p of "i is better than j"."""

    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    notes: tuple[str, ...] = ()


def ranked(scores: np.ndarray) -> np.ndarray:
    """Ranks of scores that are equal if they differ by rounding alone."""
    rows = np.round(scores, 12).reshape(-1, scores.shape[-1])
    # Ranks come from comparing all pairs, so that only so many rows fit at a time.
    size = max(1, NUMBERS // rows.shape[1] ** 2)
    parts = [competition_ranks(rows[start : start + size]) for start in range(0, len(rows), size)]
    return np.concatenate(parts).reshape(scores.shape)


def bootstrap(
    counts: Counts, block: np.ndarray | None, *, method: str, ties: str, interval: str,
    level: float, resamples: int, rng: np.random.Generator, watch: Watch,
) -> Uncertainty:  # fmt: skip
    """Rank ranges from campaigns drawn anew; p from the spread of the differences of scores."""
    point = score(method, counts.wins, counts.ties, ties)
    blocks = len(counts.left) if block is None else int(block.max()) + 1

    def batches() -> Iterator[np.ndarray]:
        for wins, tied in resampled_counts(counts, block, resamples, rng):
            yield score(method, wins, tied, ties, resampled=True)

    size = batch_size(counts, blocks if block is not None else 1)
    scores = np.concatenate(list(watch(batches(), ceil(resamples / size))))
    return spread(point, scores, interval, level, log=method == "bradley-terry")


def spread(
    point: np.ndarray, scores: np.ndarray, interval: str, level: float, *, log: bool = False
) -> Uncertainty:
    """What resampled scores (resamples x systems) say; higher is better."""
    missing = np.isnan(scores)
    scores = np.where(missing, point, scores)  # a resample without the system is no news of it
    table = rank_table(ranked(scores))
    ranges = shortest_ranges if interval == "shortest" else equal_tailed_ranges
    low, high = ranges(table, level)
    if log:
        point, scores = np.log(point), np.log(scores)
    cover = np.atleast_2d(np.cov(scores, rowvar=False))
    own = np.diagonal(cover)
    stderr = np.sqrt(np.maximum(own[:, None] + own - 2 * cover, 0.0))
    gap = point[:, None] - point
    sure = np.where(gap > 1e-12, np.inf, np.where(gap < -1e-12, -np.inf, 0.0))
    z = np.divide(gap, stderr, out=sure, where=stderr > 1e-12)
    absent = int(missing.any(axis=1).sum())
    said = f"in {absent} of {len(scores)} resamples a system had no judgment and kept its score"
    return Uncertainty(low, high, special.ndtr(-z), (said,) if absent else ())


def by_sign_test(counts: Counts, alpha: float, *, holm: bool) -> Uncertainty:
    """Each pair by its own judgments alone."""
    p = sign_test(counts.wins)
    low, high = rank_ranges(decide(p, alpha, holm=holm))
    return Uncertainty(low, high, p)


def by_pooled_test(
    counts: Counts, block: np.ndarray | None, ties: str, alpha: float, *, holm: bool
) -> Uncertainty:
    """Each pair by all judgments, on one scale."""
    n = len(counts.systems)
    used = np.ones(len(counts.left), dtype=bool) if ties == "half" else counts.outcome != 0
    single = np.arange(len(counts.left)) if block is None else block
    data = counts.left[used], counts.right[used], counts.outcome[used], single[used]
    if block is None:
        test = pooled_counts(counts.wins, counts.ties if ties == "half" else None)
    else:
        test = pooled_test(*data, n)
    low, high = rank_ranges(decide(test.p, alpha, holm=holm))
    return Uncertainty(low, high, test.p, (_fit_note(counts.systems, fit_check(*data, n)),))


def decide(p: np.ndarray, alpha: float, *, holm: bool) -> np.ndarray:
    """Whether i is better than j, from one-sided p of every pair.

    Holm's family is the pairs, each by its smaller p.
    """
    if not holm:
        return np.asarray(p < alpha)
    i, j = np.triu_indices(len(p), 1)
    small = np.minimum(p[i, j], p[j, i])
    adjusted = np.ones_like(p)
    adjusted[i, j] = adjusted[j, i] = holm_adjusted(small)
    return np.asarray((adjusted < alpha) & (p < p.T))


def _fit_note(systems: tuple[str, ...], fit: Fit | None) -> str:
    """In plain words, whether one scale fits."""
    if fit is None:
        return "one scale was not tested: too few blocks, too many pairs, or no circle of pairs"
    tested = f"F = {fit.f:.2f}, p = {fit.p:.2g}"
    if fit.p >= POOR:
        return f"head-to-head results fit one scale ({tested})"
    i, j = np.unravel_index(np.nanargmax(fit.observed - fit.expected), fit.observed.shape)
    return (
        f"head-to-head results do not fit one scale ({tested}): win ratios depart from it by"
        f" {100 * fit.misfit:.1f} points on average beyond chance, most for {systems[i]} against"
        f" {systems[j]}, {fit.observed[i, j]:.0%} where the scale says"
        f" {min(1.0, fit.expected[i, j]):.0%}; the sign test does not need the scale"
    )
