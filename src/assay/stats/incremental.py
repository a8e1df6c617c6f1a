"""Incremental sampling over documents (saldias2022, sections 2.1 and 4.1), with priors.

After each rating the next segment is chosen by optimal allocation (eq. 2) over the documents,
the strata l: n_l proportional to sigma_l N_l. ``docs-incr-human`` takes sigma_l from the ratings
so far in the document, ``docs-incr-metrics`` from predictions for the segments not yet rated,
each the mean rating of the k = 25 nearest rated segments by standardised metrics.

Taken literally, a document whose first two ratings agree has sigma_l = 0 and is never visited
again. So every document starts with ``prior`` = 2 pseudo-ratings that vary as ratings do inside
the other documents,

    sigma_l^2 = (SS_l + prior * s^2) / (df_l + prior),

SS_l the sum of squares inside document l with df_l = n_l - 1 degrees of freedom, s^2 = sum SS_l /
sum df_l. ``prior=0`` is the literal form; there documents with fewer than two ratings get s^2.

Which segments come next depends on the ratings before: such a sample has no known inclusion
probabilities. Its stratified mean (eq. 1) can be reported, an interval with a stated coverage not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

PRIOR = 2.0
"""Pseudo-ratings per document."""
NEIGHBOURS = 25
"""k of the nearest-neighbour predictions (saldias2022, section 4.1)."""


def incremental_order(
    x: np.ndarray,
    stratum: np.ndarray,
    n_max: int,
    rng: np.random.Generator,
    *,
    features: np.ndarray | None = None,
    prior: float = PRIOR,
    neighbours: int = NEIGHBOURS,
    draws: int = 1,
) -> np.ndarray:
    """Whole incremental runs on known ratings ``x``: draws x n_max positions, as they are drawn.

    Without ``features`` (segments x metrics, standardised) it is docs-incr-human, with them
    docs-incr-metrics; the first n of a run is the sample of size n. Neighbours are sorted once,
    which takes memory for N^2 numbers, and all runs go on together.

    >>> x, document = np.array([0.0, 0.0, 0.0, 1.0, 9.0, 5.0]), np.array([0, 0, 0, 1, 1, 1])
    >>> order = incremental_order(x, document, 5, np.random.default_rng(1), draws=200)
    >>> bool((document[order] == 1).sum(axis=1).mean() > 2.5)
    True
    """
    sizes = np.bincount(stratum)
    rows, queue = _queues(stratum, rng, draws)
    first = np.cumsum(sizes) - sizes
    state: _Ratings | _Predictions
    if features is None:
        state = _Ratings(draws, len(sizes))
    else:
        state = _Predictions(x - x.mean(), stratum, features, neighbours, draws)
    taken = np.zeros((draws, len(sizes)), dtype=np.int64)
    order = np.empty((draws, n_max), dtype=np.int64)
    for n in range(n_max):
        sigma = spreads_of(*state.squares(), prior)
        chosen = _largest_deficit(sigma, sizes, taken, n + 1, rng)
        order[:, n] = queue[rows, first[chosen] + taken[rows, chosen]]
        taken[rows, chosen] += 1
        state.add(order[:, n], chosen, x)
    return order


def _queues(
    stratum: np.ndarray, rng: np.random.Generator, draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers, and for every run the segments by stratum, in random order inside each."""
    key = stratum + rng.random((draws, len(stratum)))
    return np.arange(draws), np.argsort(key, axis=1)


def spreads_of(squares: np.ndarray, degrees: np.ndarray, prior: float) -> np.ndarray:
    """sigma_l from sums of squares inside strata, shrunk towards the common one by the prior.

    The last axis runs over strata. Where nothing varies yet, all are 1, so that allocation is
    proportional to size.

    >>> spreads_of(np.array([0.0, 8.0, 0.0]), np.array([1, 1, 0]), 2.0).round(3).tolist()
    [1.633, 2.309, 2.0]
    >>> spreads_of(np.array([0.0, 8.0, 0.0]), np.array([1, 1, 0]), 0.0).round(3).tolist()
    [0.0, 2.828, 2.0]
    """
    total = degrees.sum(axis=-1, keepdims=True)
    common = squares.sum(axis=-1, keepdims=True) / np.maximum(total, 1)
    weight = np.where(degrees > 0, degrees + prior, 1.0)
    square = np.where(degrees > 0, (squares + prior * common) / weight, common)
    return np.asarray(np.where(common > 0, np.sqrt(square), 1.0))


def _largest_deficit(
    sigma: np.ndarray,
    sizes: np.ndarray,
    taken: np.ndarray,
    total: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """For every row, the stratum whose target for the next total is most above what it has."""
    deficit = _targets(sigma * sizes, sizes.astype(float), float(total)) - taken
    deficit = np.where(taken < sizes, deficit, -np.inf)
    ties = deficit >= deficit.max(axis=-1, keepdims=True) - 1e-9
    return np.asarray(np.where(ties, rng.random(deficit.shape), -1.0).argmax(axis=-1))


def _targets(shares: np.ndarray, caps: np.ndarray, total: float) -> np.ndarray:
    """:func:`assay.stats.allocation.capped_shares` for many rows of shares at once.

    All strata that are over-full are filled in one go: reallocation only ever adds to the others,
    so whoever is over-full stays so.
    """
    found = np.zeros(shares.shape)
    full = np.zeros(shares.shape, dtype=bool)
    for _ in range(shares.shape[-1] + 1):
        weights = np.where(full, 0.0, shares)
        empty = weights.sum(axis=-1, keepdims=True) <= 0
        weights = np.where(empty, np.where(full, 0.0, caps), weights)
        rest = total - np.where(full, caps, 0.0).sum(axis=-1, keepdims=True)
        whole = np.maximum(weights.sum(axis=-1, keepdims=True), 1e-300)
        found = np.where(full, caps, rest * weights / whole)
        over = ~full & (found > caps * (1 + 1e-12))
        if not over.any():
            break
        full |= over
    return np.asarray(np.minimum(found, caps))


@dataclass
class _Ratings:
    """Sums over the ratings so far, draws x strata."""

    draws: int
    strata: int
    count: np.ndarray = field(init=False)
    mean: np.ndarray = field(init=False)
    square: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        shape = (self.draws, self.strata)
        self.count, self.mean, self.square = np.zeros(shape), np.zeros(shape), np.zeros(shape)

    def add(self, segment: np.ndarray, stratum: np.ndarray, x: np.ndarray) -> None:
        """Welford's update, exact zero for equal ratings."""
        at = np.arange(self.draws), stratum
        self.count[at] += 1
        step = x[segment] - self.mean[at]
        self.mean[at] += step / self.count[at]
        self.square[at] += step * (x[segment] - self.mean[at])

    def squares(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums of squares inside strata, and their degrees of freedom."""
        return self.square, np.maximum(self.count - 1, 0)


class _Predictions:
    """For every run and segment the k nearest rated segments, kept up to date one by one.

    ``rank[j, i]`` says how many segments are nearer to i than j is. A new rating of j changes
    only the predictions of segments that have it among their k nearest, ever fewer of them, so
    the sums over strata are changed rather than made anew.
    """

    def __init__(
        self, x: np.ndarray, stratum: np.ndarray, features: np.ndarray, k: int, draws: int
    ) -> None:
        self.x, self.stratum, self.k, self.rated = x, stratum, k, 0
        self.nearest, self.rank = sorted_neighbours(features)
        self.sums = np.zeros((draws, len(x)))  # of the ratings of the nearest
        self.free = np.ones((draws, len(x)), dtype=bool)
        small = self.rank.dtype  # less memory to move
        self.near = np.full((draws, len(x), k), -1, dtype=small)
        self.worst = np.zeros((draws, len(x)), dtype=small)
        self.count = np.tile(np.bincount(stratum).astype(float), (draws, 1))
        self.total = np.zeros(self.count.shape)
        self.square = np.zeros(self.count.shape)

    def add(self, segment: np.ndarray, stratum: np.ndarray, x: np.ndarray) -> None:
        """Take in one more rating of every run."""
        runs = np.arange(len(segment))
        self.free[runs, segment] = False
        self.worst[runs, segment] = -1  # no rating is nearer than that: predicted no more
        self.count[runs, stratum] -= 1
        if self.rated < self.k:
            self.near[:, :, self.rated] = self.rank[segment]
            self.sums += self.x[segment][:, None]
            self._sum_up()
        else:
            self._change(runs, segment, -self.sums[runs, segment])
            self._replace(segment)
        self.rated += 1
        if self.rated == self.k:
            self.worst = np.where(self.free, self.near.max(axis=2), -1).astype(self.near.dtype)

    def _replace(self, segment: np.ndarray) -> None:
        """The new rating takes the place of the farthest one, where it is nearer."""
        rank = self.rank[segment]
        run, i = np.nonzero(rank < self.worst)
        own, line = self.near[run, i], np.arange(len(i))
        slot = own.argmax(axis=1)
        gone = self.nearest[i, own[line, slot]]
        own[line, slot] = rank[run, i]
        self.near[run, i] = own
        self.worst[run, i] = own.max(axis=1)
        self._change(run, i, self.x[segment[run]] - self.x[gone])

    def _change(self, run: np.ndarray, i: np.ndarray, step: np.ndarray) -> None:
        place = run * self.count.shape[1] + self.stratum[i]
        before = self.sums[run, i]
        self.sums[run, i] = before + step
        for sums, change in ((self.total, step), (self.square, step * (2 * before + step))):
            sums += np.bincount(place, change, sums.size).reshape(sums.shape)

    def _sum_up(self) -> None:
        run, i = np.nonzero(self.free)
        place = run * self.count.shape[1] + self.stratum[i]
        value, size = self.sums[run, i], self.count.size
        self.total[:] = np.bincount(place, value, size).reshape(self.count.shape)
        self.square[:] = np.bincount(place, value**2, size).reshape(self.count.shape)

    def squares(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums of squares of the predictions inside strata, and their degrees of freedom."""
        inside = self.square - self.total**2 / np.maximum(self.count, 1)
        inside = np.where((inside > 1e-9 * self.square) & (self.count > 1), inside, 0.0)
        nearest = max(1, min(self.rated, self.k))
        return inside / nearest**2, np.maximum(self.count - 1, 0)


def sorted_neighbours(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``nearest[i]``, all segments from near to far, and ``rank[j, i]``, the place of j in it."""
    square = (features**2).sum(axis=1)
    distance = square[:, None] + square[None, :] - 2 * features @ features.T
    nearest = np.argsort(distance, axis=1, kind="stable").astype(np.int32)
    rank = np.empty_like(nearest)
    place = np.broadcast_to(np.arange(len(features), dtype=np.int32), nearest.shape)
    np.put_along_axis(rank, nearest, place, axis=1)
    small = np.int16 if len(features) < 2**15 else np.int32
    return nearest, np.ascontiguousarray(rank.T.astype(small))


@dataclass(frozen=True, slots=True)
class Choice:
    """One segment to rate next: why its stratum is its turn."""

    segment: int
    stratum: int
    target: float
    rated: int
    total: int


def choose_next(
    x: np.ndarray,
    stratum: np.ndarray,
    count: int,
    rng: np.random.Generator,
    *,
    features: np.ndarray | None = None,
    prior: float = PRIOR,
    neighbours: int = NEIGHBOURS,
) -> list[Choice]:
    """The next ``count`` segments, given the ratings ``x`` so far (NaN: not rated).

    Fewer if there are not as many left.
    """
    rated = ~np.isnan(x)
    sizes = np.bincount(stratum)
    values = x
    if features is not None:
        values = _predicted(x, features, neighbours) if rated.any() else np.where(rated, np.nan, 0)
    known = ~np.isnan(values)
    n = np.bincount(stratum[known], minlength=len(sizes))
    means = np.bincount(stratum[known], values[known], len(sizes)) / np.maximum(n, 1)
    squares = np.bincount(stratum[known], (values - means[stratum])[known] ** 2, len(sizes))
    sigma = spreads_of(squares, np.maximum(n - 1, 0), prior)[None, :]
    taken = np.bincount(stratum[rated], minlength=len(sizes))
    queue = rng.permutation(np.flatnonzero(~rated))
    left = {own: [i for i in queue.tolist() if stratum[i] == own] for own in set(stratum[queue])}
    found = []
    for total in range(int(rated.sum()) + 1, int(rated.sum()) + 1 + min(count, len(queue))):
        own = int(_largest_deficit(sigma, sizes, taken[None, :], total, rng)[0])
        target = _targets(sigma * sizes, sizes.astype(float), float(total))[0, own]
        found.append(Choice(left[own].pop(), own, float(target), int(taken[own]), total))
        taken[own] += 1
    return found


def _predicted(x: np.ndarray, features: np.ndarray, k: int) -> np.ndarray:
    """Predictions for the segments not rated; NaN for the others."""
    rated = ~np.isnan(x)
    k = min(k, int(rated.sum()))
    values = np.full(len(x), np.nan)
    if not rated.all():
        tree = scipy.spatial.KDTree(features[rated])
        _, nearest = tree.query(features[~rated], k=list(range(1, k + 1)))
        values[~rated] = x[rated][nearest].mean(axis=1)
    return values
