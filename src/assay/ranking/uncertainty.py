"""How sure the order is: rank ranges and p values, by resampling, sign tests or the pooled test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from scipy import special

from assay.ranking.counts import Counts, evidence
from assay.ranking.decisions import Rule
from assay.ranking.methods import score
from assay.ranking.pooled import Fit, fit_check, pooled_counts, pooled_test
from assay.ranking.ranges import equal_tailed_ranges, rank_table, shortest_ranges
from assay.ranking.resampling import NUMBERS, batch_size, resampled_counts
from assay.ranking.signs import sign_test
from assay.stats.orders import competition_ranks, rank_ranges

Item = TypeVar("Item")


class Watch(Protocol):
    """Passes items on and may show that they come; told how many there will be."""

    def __call__(self, items: Iterable[Item], total: int, /) -> Iterable[Item]:
        """The same items."""
        ...


def unwatched(items: Iterable[Item], total: int, /) -> Iterable[Item]:
    """Nobody looks on."""
    return items


ENOUGH = 10
"""Blocks of a system from which on drawing them anew shows what they leave open."""

POOR = 0.01
"""P value below which one scale is said not to fit."""


class Uncertainty(NamedTuple):
    """Rank ranges and, for every pair, the one-sided p of "i is better than j"."""

    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    notes: tuple[str, ...] = ()
    stderr: np.ndarray | None = None


def ranked(scores: np.ndarray) -> np.ndarray:
    """Ranks of scores that are equal if they differ by rounding alone."""
    rows = np.round(scores, 12).reshape(-1, scores.shape[-1])
    # Ranks come from comparing all pairs, so that only so many rows fit at a time.
    size = max(1, NUMBERS // rows.shape[1] ** 2)
    parts = [competition_ranks(rows[start : start + size]) for start in range(0, len(rows), size)]
    return np.concatenate(parts).reshape(scores.shape)


def bootstrap(
    counts: Counts, block: np.ndarray | None, *, method: str, ties: str, interval: str,
    level: float, rule: Rule, resamples: int, rng: np.random.Generator, watch: Watch,
) -> Uncertainty:  # fmt: skip
    """Rank ranges from campaigns drawn anew; p from the spread of the differences of scores."""
    point = score(method, counts.wins, counts.ties, ties)
    blocks = len(counts.left) if block is None else int(block.max()) + 1

    def batches() -> Iterator[np.ndarray]:
        for wins, tied in resampled_counts(counts, block, resamples, rng):
            yield score(method, wins, tied, ties, resampled=True)

    size = batch_size(counts, blocks if block is not None else 1)
    scores = np.concatenate(list(watch(batches(), ceil(resamples / size))))
    own = evidence(counts, block, "half" if method == "better-or-equal" else ties)
    steps = method in ("bradley-terry", "lopez")
    found = spread(point, scores, own, interval, level, rule, steps=steps)
    return found._replace(notes=(*found.notes, *_few(counts.systems, own)))


def spread(
    point: np.ndarray, scores: np.ndarray, own: np.ndarray, interval: str, level: float,
    rule: Rule, *, steps: bool = False,
) -> Uncertainty:  # fmt: skip
    """What resampled scores (resamples x systems) say; higher is better.

    ``own`` is how many blocks each system has. Scores whose spread has no meaning, because they
    move in ``steps`` or may have no bound, are compared by their order alone.
    """
    missing = np.isnan(scores)
    scores = np.where(missing, point, scores)  # a resample without the system is no news of it
    table = rank_table(ranked(scores))
    ranges = shortest_ranges if interval == "shortest" else equal_tailed_ranges
    low, high = ranges(table, level)
    stderr = None if steps else _stderr(scores)
    p = _by_order(scores, own) if stderr is None else _by_spread(point, stderr, own)
    # Few blocks drawn anew repeat themselves: what they leave open the tests must show.
    tested_low, tested_high = rank_ranges(rule.decide(p))
    rare = own < ENOUGH
    low = np.where(rare, np.minimum(low, tested_low), low)
    high = np.where(rare, np.maximum(high, tested_high), high)
    absent = int(missing.any(axis=1).sum())
    said = f"in {absent} of {len(scores)} resamples a system was missing and kept its score"
    return Uncertainty(low, high, p, (said,) if absent else (), stderr)


def _stderr(scores: np.ndarray) -> np.ndarray:
    """The standard deviation of every difference in the resamples."""
    cover = np.atleast_2d(np.cov(scores, rowvar=False))
    variance = np.diagonal(cover)
    return np.asarray(np.sqrt(np.maximum(variance[:, None] + variance - 2 * cover, 0.0)))


def _by_spread(point: np.ndarray, stderr: np.ndarray, own: np.ndarray) -> np.ndarray:
    """One-sided p of every difference over its standard error."""
    gap = point[:, None] - point
    sure = np.where(gap > 1e-12, np.inf, np.where(gap < -1e-12, -np.inf, 0.0))
    return sober(np.divide(gap, stderr, out=sure, where=stderr > 1e-12), own)


def _by_order(scores: np.ndarray, own: np.ndarray) -> np.ndarray:
    """One-sided p of "i is better than j": the share of resamples in the other order."""
    resamples, n = scores.shape
    p = np.empty((n, n))
    for i in range(n):
        gap = scores[:, i, None] - scores
        p[i] = ((gap < 0).sum(axis=0) + 0.5 * (gap == 0).sum(axis=0) + 0.5) / (resamples + 1)
    return _floored(p, np.minimum.outer(own, own))


def sober(z: np.ndarray, own: np.ndarray) -> np.ndarray:
    """One-sided p of z, by Student's t with the blocks of the system that has fewer.

    However well b blocks agree, a coin agrees as well with probability 2^-b: no p is smaller.

    >>> sober(np.array([[0.0, np.inf], [-np.inf, 0.0]]), np.array([2, 9])).tolist()
    [[0.5, 0.25], [0.75, 0.5]]
    """
    weaker = np.minimum.outer(own, own)
    return _floored(special.stdtr(np.maximum(weaker - 1.0, 1.0), -z), weaker)


def _floored(p: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    least = 0.5 ** np.maximum(blocks, 1.0)
    return np.asarray(np.clip(p, least, 1 - least))


def _few(systems: tuple[str, ...], own: np.ndarray) -> list[str]:
    rare = [name for name, blocks in zip(systems, own, strict=True) if blocks < ENOUGH]
    if not rare:
        return []
    named = ", ".join(rare[:5]) + (f" and {len(rare) - 5} more" if len(rare) > 5 else "")
    return [f"fewer than {ENOUGH} units say anything about {named}: ranges are widened by tests"]


def by_sign_test(counts: Counts, rule: Rule) -> Uncertainty:
    """Each pair by its own judgments alone."""
    p = sign_test(counts.wins)
    low, high = rank_ranges(rule.decide(p))
    return Uncertainty(low, high, p)


def by_pooled_test(counts: Counts, block: np.ndarray | None, ties: str, rule: Rule) -> Uncertainty:
    """Each pair by all judgments, on one scale."""
    n = len(counts.systems)
    used = np.ones(len(counts.left), dtype=bool) if ties == "half" else counts.outcome != 0
    single = np.arange(len(counts.left)) if block is None else block
    data = counts.left[used], counts.right[used], counts.outcome[used], single[used]
    if block is None:
        test = pooled_counts(counts.wins, counts.ties if ties == "half" else None)
    else:
        test = pooled_test(*data, n)
    p = sober(test.z, evidence(counts, block, ties))
    low, high = rank_ranges(rule.decide(p))
    return Uncertainty(low, high, p, (_fit_note(counts.systems, fit_check(*data, n)),))


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
