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
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

from assay.stats.neighbours import sorted_neighbours

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
    sizes = np.bincount(stratum).astype(float)
    # For every run the segments by stratum, in random order inside each.
    queue = np.argsort(stratum + rng.random((draws, len(stratum))), axis=1)
    runs, first = np.arange(draws), np.cumsum(sizes) - sizes
    state: _StratumSums | _Predictions
    if features is None:
        state = _StratumSums(draws, len(sizes))
    else:
        state = _Predictions(x - x.mean(), stratum, features, neighbours, draws)
    taken = np.zeros((draws, len(sizes)))
    order = np.empty((draws, n_max), dtype=np.int64)
    for n in range(n_max):
        sigma = spreads_of(*state.squares(), prior)
        chosen = _largest_deficit(sigma, sizes, taken, n + 1, rng)
        order[:, n] = queue[runs, (first[chosen] + taken[runs, chosen]).astype(np.int64)]
        taken[runs, chosen] += 1
        state.add(order[:, n], chosen, x)
    return order


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
    weight = degrees + prior if prior else np.maximum(degrees, 1)
    sigma = np.sqrt((squares + prior * common) / weight)
    if not prior:
        sigma = np.where(degrees > 0, sigma, np.sqrt(common))
    return sigma if common.min() > 0 else np.where(common > 0, sigma, 1.0)


def _largest_deficit(
    sigma: np.ndarray, sizes: np.ndarray, taken: np.ndarray, total: int, rng: np.random.Generator
) -> np.ndarray:
    """For every row, the stratum whose target for the next total is most above what it has.

    The deficits of a row add up to 1, so the largest is above 0, and no full stratum has it.
    """
    deficit = _targets(sigma * sizes, sizes, float(total)) - taken
    chosen = deficit.argmax(axis=1)
    ties = deficit >= deficit[np.arange(len(deficit)), chosen][:, None] - 1e-9
    lots = rng.random(deficit.shape)
    tied = np.count_nonzero(ties, axis=1) > 1
    chosen[tied] = np.where(ties[tied], lots[tied], -1.0).argmax(axis=1)
    return np.asarray(chosen)


def _targets(
    shares: np.ndarray, caps: np.ndarray, total: float, full: np.ndarray | None = None
) -> np.ndarray:
    """:func:`assay.stats.allocation.capped_shares` for many rows of shares at once.

    All strata that are over-full are filled in one go: reallocation only ever adds to the others,
    so an over-full stratum stays over-full.
    """
    weights, rest = shares, np.full((len(shares), 1), total)
    if full is not None:
        weights = np.where(full, 0.0, shares)
        rest = total - np.where(full, caps, 0.0).sum(axis=1, keepdims=True)
    whole = weights.sum(axis=1, keepdims=True)
    if whole.min() <= 0:  # nothing varies in what is left: by size
        by_size = np.broadcast_to(caps, shares.shape) if full is None else np.where(full, 0.0, caps)
        weights = np.where(whole > 0, weights, by_size)
        whole = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    targets = rest * weights / whole
    if full is not None:
        targets = np.where(full, caps, targets)
    over = targets > caps * (1 + 1e-12)
    again = over.any(axis=1)
    if again.any():
        more = over if full is None else full | over
        targets[again] = _targets(shares[again], caps, total, more[again])
    return np.asarray(np.minimum(targets, caps))


@dataclass
class _StratumSums:
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

    A new rating changes only the predictions of segments that have it among their k nearest, ever
    fewer of them, so the sums over strata are changed rather than made anew. Runs and segments
    are numbered together, run * N + segment. An item of ``near`` has the places of the nearest
    among that segment's neighbours: 0, then k places, rising; it is moved as a whole.
    """

    def __init__(
        self, x: np.ndarray, stratum: np.ndarray, features: np.ndarray, k: int, draws: int
    ) -> None:
        self.x, self.k, self.rated = x, k, 0
        self.order, self.place = sorted_neighbours(features)
        sizes = np.bincount(stratum)
        self.count = np.tile(sizes.astype(float), (draws, 1))
        self.total, self.square = np.zeros(self.count.shape), np.zeros(self.count.shape)
        self.cell = (np.arange(draws)[:, None] * len(sizes) + stratum).ravel()
        self.sums = np.zeros(self.cell.size)  # of the ratings of the nearest
        self.free = np.ones(self.cell.size, dtype=bool)
        self.farthest = np.zeros(self.cell.size, dtype=self.place.dtype)  # the last of near
        self.near = np.zeros(self.cell.size, dtype=f"V{self.place.itemsize * (k + 1)}")

    def add(self, segment: np.ndarray, stratum: np.ndarray, x: np.ndarray) -> None:
        """Take in one more rating of every run."""
        runs = np.arange(len(segment))
        at = runs * len(self.x) + segment
        self.free[at] = False
        self.farthest[at] = 0  # no rating is nearer than that: predicted no more
        self.count[runs, stratum] -= 1
        place = self.place[segment].ravel()
        if self.rated < self.k:
            self._places(self.near)[:, self.rated + 1] = place
            self.sums += np.repeat(self.x[segment], len(self.x))
            value = np.where(self.free, self.sums, 0.0)
            self.total, self.square = self._by_stratum(self.cell, value, value**2)
        else:
            before = self.sums[at]
            self.total[runs, stratum] -= before
            self.square[runs, stratum] -= before**2
            self._replace(place, self.x[segment])
        self.rated += 1
        if self.rated == self.k:
            places = self._places(self.near)
            places.sort(axis=1)
            self.farthest = np.where(self.free, places[:, -1], 0).astype(places.dtype)

    def _replace(self, place: np.ndarray, x: np.ndarray) -> None:
        """The new rating takes the place of the farthest one, where it is nearer."""
        at = np.flatnonzero(place < self.farthest)
        run = at // len(self.x)
        near = self.near.take(at)
        places = self._places(near)
        gone = self.order.take((places[:, -1] - run) * len(self.x) + at)
        # Sorted insertion, all items as one line: a place becomes min(it, max(the one before it,
        # the new one)), and the 0 at the head of an item stays.
        line, new = places.reshape(-1), np.repeat(place.take(at), self.k + 1)
        np.maximum(new[1:], line[:-1], out=new[1:])
        np.minimum(line, new, out=line)
        self.near[at] = near
        self.farthest[at] = places[:, -1]
        before, step = self.sums.take(at), x.take(run) - self.x.take(gone)
        self.sums[at] = before + step
        changes = self._by_stratum(self.cell.take(at), step, step * (2 * before + step))
        self.total += changes[0]
        self.square += changes[1]

    def _places(self, near: np.ndarray) -> np.ndarray:
        return near.view(self.place.dtype).reshape(-1, self.k + 1)

    def _by_stratum(self, cell: np.ndarray, *values: np.ndarray) -> list[np.ndarray]:
        size, shape = self.count.size, self.count.shape
        return [np.bincount(cell, value, size).reshape(shape) for value in values]

    def squares(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums of squares of the predictions inside strata, and their degrees of freedom."""
        degrees = np.maximum(self.count - 1, 0)
        inside = self.square - self.total**2 / np.maximum(self.count, 1)
        inside[(inside <= 1e-9 * self.square) | (degrees == 0)] = 0.0
        inside /= max(1, min(self.rated, self.k)) ** 2
        return inside, degrees


class Choice(NamedTuple):
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
    sizes = np.bincount(stratum).astype(float)
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
    left = {each: [i for i in queue.tolist() if stratum[i] == each] for each in set(stratum[queue])}
    choices = []
    for total in range(int(rated.sum()) + 1, int(rated.sum()) + 1 + min(count, len(queue))):
        next_up = int(_largest_deficit(sigma, sizes, taken[None, :], total, rng)[0])
        target = float(_targets(sigma * sizes, sizes, float(total))[0, next_up])
        choices.append(Choice(left[next_up].pop(), next_up, target, int(taken[next_up]), total))
        taken[next_up] += 1
    return choices


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
