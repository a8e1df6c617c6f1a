"""Adaptive budget over systems: more ratings where two systems are close.

All systems are rated on the same snippets for the first third of the budget. Then batches go only
to systems in a close pair, one whose order is in doubt: |z| < 1, z the matched difference over its
standard error. What the clear systems save is spent on the close ones. Every system's ratings are
a beginning of one common order, so any two systems are compared on the shorter beginning.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.designs.plan import Layout
from assay.designs.snippets import cut
from assay.sampling.draw import GOLDEN

BATCH = 30
"""Segments rated between two looks."""
FIRST = 1 / 3
"""The share of the budget that all systems get."""
CLOSE = 1.0
"""A pair with |z| below this is close."""
LONGEST = 10
"""The longest snippet."""


class AdaptiveRun(NamedTuple):
    """What a run ends with: every system's mean score and number of rated segments.

    The means are made comparable: what a system was not rated on is filled in from the systems
    that were, see :func:`_final_means`.
    """

    means: np.ndarray
    counts: np.ndarray


def adaptive_run(
    scores: np.ndarray,
    layout: Layout,
    n: int,
    rng: np.random.Generator,
    *,
    batch: int = BATCH,
    first: float = FIRST,
    close: float = CLOSE,
) -> AdaptiveRun:
    """Spend n * systems ratings adaptively, on known ``scores`` (systems x segments).

    The last batch that would exceed the budget is not rated. When no pair is close any more, the
    pair with the smallest |z| is rated on, so that the budget is spent.

    >>> scores = np.random.default_rng(1).normal(size=(3, 60)) + np.array([[0.0], [0.1], [9.0]])
    >>> run = adaptive_run(scores, Layout(np.full(6, 10)), 30, np.random.default_rng(2), batch=5)
    >>> bool(run.counts[2] == run.counts.min()), bool(run.counts.sum() <= 90)
    (True, True)
    """
    starts, stops = snippet_order(layout, first * n, rng)
    marks = _marks(np.cumsum(stops - starts), first * n, batch)
    means, z = _looks(scores, starts, stops, marks)
    level = np.zeros(len(scores), dtype=np.int64)
    spent, last = int(marks[0]) * len(level), len(marks) - 1
    i, j = np.triu_indices(len(level), 1)
    while True:
        now = np.abs(z[np.minimum(level[i], level[j]), np.arange(len(i))])
        chosen = still_open(now, level, level < last, close)[0]
        cost = int((marks[np.minimum(level + 1, last)] - marks[level])[chosen].sum())
        if not cost or spent + cost > n * len(level):
            return AdaptiveRun(_final_means(means, level), marks[level])
        level[chosen] += 1
        spent += cost


def snippet_order(
    layout: Layout, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The whole test set as snippets [start, stop), in an order whose beginnings are all samples.

    Every document (long ones: every section) is cut into T snippets, T = ceil(N / share), at
    random places and put in random order. The first round takes one snippet of every document,
    the second another, and so on: after k rounds every segment has been taken with probability
    k/T. Inside a round documents follow in steps of the golden ratio along their lengths, so that
    part of a round has short and long documents alike.
    """
    parts = int(np.ceil(layout.population / max(share, 1.0)))
    whole = cut(layout, np.ceil(layout.lengths / (parts * LONGEST)).astype(np.int64))
    lengths, count = whole.lengths, len(whole.lengths)
    shift = rng.integers(0, parts, count)
    edges = (np.arange(parts + 1) * lengths[:, None] + shift[:, None]) // parts
    edges += whole.starts[:, None]
    line = np.argsort(lengths + 0.5 * rng.random(count))
    sequence = line[np.argsort((np.arange(count) * GOLDEN + rng.random()) % 1)]
    piece = np.argsort(rng.random((count, parts)), axis=1)[sequence].T.ravel()
    document = np.tile(sequence, parts)
    starts, stops = edges[document, piece], edges[document, piece + 1]
    full = stops > starts
    return starts[full], stops[full]


def _marks(ends: np.ndarray, share: float, batch: int) -> np.ndarray:
    """After how many segments to look: the first share, then every batch, at ends of snippets."""
    marks = [int(ends[np.searchsorted(ends, share - 1e-9)])]
    while marks[-1] < ends[-1]:
        marks.append(int(ends[np.searchsorted(ends, min(ends[-1], marks[-1] + batch))]))
    return np.array(marks)


def _looks(
    scores: np.ndarray, starts: np.ndarray, stops: np.ndarray, marks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """At every mark, the systems' means and every pair's z."""
    prefix = np.concatenate([np.zeros((1, len(scores))), np.cumsum(scores.T, axis=0)])
    sums, sizes = prefix[stops] - prefix[starts], (stops - starts)[:, None].astype(float)
    i, j = np.triu_indices(len(scores), 1)
    gaps = sums[:, i] - sums[:, j]
    clusters = np.searchsorted(np.cumsum(sizes), marks) + 1

    def so_far(values: np.ndarray) -> np.ndarray:
        return np.asarray(np.cumsum(values, axis=0)[clusters - 1])

    moments = (so_far(gaps), so_far(gaps**2), so_far(gaps * sizes), so_far(sizes**2))
    n = marks[:, None]
    z = _z(*moments, n, clusters[:, None], np.full((1, 1), scores.shape[1]))
    return so_far(sums) / n, z


def _z(
    gap: np.ndarray,
    gap_square: np.ndarray,
    gap_size: np.ndarray,
    size_square: np.ndarray,
    n: np.ndarray,
    clusters: np.ndarray,
    population: np.ndarray,
) -> np.ndarray:
    """Z of matched differences from sums over clusters, for the order on this test set.

    With cluster totals g_c of the difference and sizes m_c, the variance of the mean difference d
    is K/(K-1) * sum_c (g_c - m_c d)^2 / n^2 * (1 - n/N). Infinite when everything is rated; 0,
    so in doubt, where nothing can be said: one cluster, or no difference seen so far.
    """
    mean = gap / np.maximum(n, 1)
    square = gap_square - 2 * mean * gap_size + mean**2 * size_square
    square = np.where(square > 1e-12 * gap_square, square, 0.0)
    square = square * clusters / np.maximum(clusters - 1, 1) * (1 - n / population)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = mean / (np.sqrt(square) / n)
    z = np.where(square > 0, z, np.where(np.abs(gap) > 0, np.copysign(np.inf, gap), 0.0))
    return np.where(n >= population, np.inf, np.where(clusters > 1, z, 0.0))


class Step(NamedTuple):
    """What to rate next in a campaign that is under way.

    ``phase``: first (all systems), close (systems in close pairs), surest (no pair is close, the
    least sure goes on), spent (the budget is), done (nothing left that could change an order).
    ``outputs`` are the outputs in question, systems x segments; ``z`` and ``pairs`` say why.
    """

    phase: str
    outputs: np.ndarray
    z: np.ndarray
    pairs: np.ndarray


def next_step(
    scores: np.ndarray,
    present: np.ndarray,
    cluster: np.ndarray,
    population: np.ndarray,
    n: int,
    *,
    first: float = FIRST,
    close: float = CLOSE,
) -> Step:
    """The next step of :func:`adaptive_run` from the ratings so far.

    ``scores`` (NaN: not rated) and ``present`` are systems x segments in the order of rating,
    ``cluster`` numbers the snippet of every segment, ``population`` is that of :func:`pair_z`.
    """
    missing = present & np.isnan(scores)
    systems = len(scores)
    z = pair_z(scores, cluster, population)
    none = Step("done", np.zeros_like(missing), z, np.zeros(len(z), dtype=bool))
    if not missing.any():
        return none
    if (~np.isnan(scores)).sum() >= n * systems:
        return none._replace(phase="spent")
    edge = min(int(np.ceil(first * n - 1e-9)), len(cluster))
    while edge < len(cluster) and cluster[edge] == cluster[edge - 1]:
        edge += 1
    if missing[:, :edge].any():
        early = missing & (np.arange(len(cluster)) < edge)
        return none._replace(phase="first", outputs=early)
    rated = (~np.isnan(scores)).sum(axis=1)
    chosen, pairs = still_open(z, rated, missing.any(axis=1), close)
    if not chosen.any():
        return none
    phase = "close" if np.abs(z[pairs]).min() < close else "surest"
    return Step(phase, missing & chosen[:, None], z, pairs)


def pair_z(scores: np.ndarray, cluster: np.ndarray, population: np.ndarray) -> np.ndarray:
    """Z of every pair (i < j) on the segments rated for both; NaN in ``scores`` is not rated.

    ``cluster`` numbers the snippet of every segment; ``population[i, j]`` segments have a
    translation by both systems.

    >>> rated = np.array([[1.0, 2.0, 2.0, np.nan], [0.0, 0.0, 2.0, 1.0]])
    >>> pair_z(rated, np.arange(4), np.full((2, 2), 12)).round(3).tolist()
    [2.0]
    """
    found = []
    for i, j in zip(*np.triu_indices(len(scores), 1), strict=True):
        gap = scores[i] - scores[j]
        both = ~np.isnan(gap)
        sizes = np.bincount(cluster[both]).astype(float)
        totals = np.bincount(cluster[both], gap[both])
        sums = (totals.sum(), (totals**2).sum(), (totals * sizes).sum(), (sizes**2).sum())
        counts = (both.sum(), (sizes > 0).sum(), population[i, j])
        found.append(float(_z(*(np.asarray(value, dtype=float) for value in (*sums, *counts)))))
    return np.array(found)


def still_open(
    z: np.ndarray, rated: np.ndarray, left: np.ndarray, close: float
) -> tuple[np.ndarray, np.ndarray]:
    """Which systems to rate on, and because of which pairs (i < j).

    Systems in a pair with |z| < close; of two that are not rated equally far, only the one that
    is behind. Systems with nothing ``left`` cannot be rated on. If no pair is close, the pair
    with the smallest finite |z| is.
    """
    i, j = np.triu_indices(len(rated), 1)
    behind = np.where(rated[i] <= rated[j], left[i], False)
    other = np.where(rated[j] <= rated[i], left[j], False)
    size = np.where((behind | other) & np.isfinite(z), np.abs(z), np.inf)
    pairs = size < close
    if not pairs.any() and np.isfinite(size).any():
        pairs = size == size.min()
    chosen = np.zeros(len(rated), dtype=bool)
    chosen[i[pairs & behind]] = True
    chosen[j[pairs & other]] = True
    return chosen, pairs


def _final_means(means: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Means that can be compared although some systems were rated further than others.

    A system that stopped at one look is moved on by as much as the means of those that went on
    moved on average: segments that came later may have been harder, for all systems alike.
    """
    went_on = level[None, :] > np.arange(len(means) - 1)[:, None]
    moves = np.diff(means, axis=0) * went_on
    shift = moves.sum(axis=1) / np.maximum(went_on.sum(axis=1), 1)
    total = np.concatenate([[0.0], np.cumsum(shift)])
    return np.asarray(means[level, np.arange(len(level))] + total[-1] - total[level])
