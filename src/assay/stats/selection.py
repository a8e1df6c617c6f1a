"""Which units are drawn: selection kernels that return positions 0..N-1.

Kernels that draw many samples at once return one sample per row.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

__all__ = ["interleaved_order", "pivotal", "simple_random", "within_strata"]


def simple_random(population: int, n: int, rng: np.random.Generator, draws: int = 1) -> np.ndarray:
    """Simple random samples of n out of N without replacement; a single one in random order.

    Every unit has inclusion probability n/N, every pair n(n-1) / (N(N-1)).

    >>> simple_random(10, 4, np.random.default_rng(1), draws=3).shape
    (3, 4)
    """
    if draws == 1:
        return rng.permutation(population)[None, :n]
    if n == population:
        return np.tile(np.arange(population), (draws, 1))
    return np.argpartition(rng.random((draws, population)), n, axis=1)[:, :n]


def within_strata(stratum: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One boolean row per row of ``counts``: a simple random sample inside every stratum.

    ``stratum`` numbers the strata 0, 1, ...; ``counts[r, l]`` units are drawn from stratum l.

    >>> drawn = within_strata(np.array([0, 0, 1]), np.array([[1, 1], [2, 0]]),
    ...                       np.random.default_rng(1))
    >>> drawn.sum(axis=1).tolist(), drawn[1].tolist()
    ([2, 2], [True, True, False])
    """
    draws, population = len(counts), len(stratum)
    # Sorting by stratum and a random key puts every stratum in random order behind the last.
    order = np.argsort(stratum[None, :] + rng.random((draws, population)), axis=1)
    sizes = np.bincount(stratum, minlength=counts.shape[1])
    place = np.arange(population) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = place[None, :] < counts[:, np.sort(stratum)]
    drawn = np.zeros((draws, population), dtype=bool)
    np.put_along_axis(drawn, order, chosen, axis=1)
    return drawn


def interleaved_order(group: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All units in an order whose every stretch has about its share of every group.

    The units of a group, in random order, stand at (rank + u) / size on a circle, u uniform for
    each group; the order starts at a random unit and goes once round. The random start alone makes
    every unit equally likely at every place, so the first n are a sample with pi = n/N.

    >>> order = interleaved_order(np.repeat([0, 1], 4), np.random.default_rng(1))
    >>> sorted(order.tolist()) == list(range(8)), sorted(np.repeat([0, 1], 4)[order[:2]].tolist())
    (True, [0, 1])
    """
    size = np.bincount(group)
    order = np.lexsort((rng.random(len(group)), group))
    rank = np.empty(len(group))
    rank[order] = np.arange(len(group)) - (np.cumsum(size) - size)[group[order]]
    circle = np.argsort((rank + rng.random(len(size))[group]) / size[group])
    return np.asarray(np.roll(circle, -int(rng.integers(len(group)))))


def pivotal(
    probabilities: np.ndarray, position: np.ndarray, group: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The local pivotal method (LPM2 of Grafström et al. 2012): a sample spread evenly.

    Again and again a random undecided unit meets its nearest undecided neighbour, and one of the
    two is decided such that both keep their inclusion probability on average. Neighbours
    seldom get drawn together, so the sample mirrors the population in ``position`` and ``group``.
    The squared distance is (difference in position)^2, plus 1 if the groups differ; with one
    position per unit the nearest neighbour is found in two sorted lists, in constant time.
    Returns the drawn positions; as many as the probabilities sum to, if that is a whole number.

    >>> pivotal(np.full(4, 0.5), np.arange(4.0), np.zeros(4, int), np.random.default_rng(0)).size
    2
    """
    p = [float(value) for value in probabilities]
    x = [float(value) for value in position]
    everywhere = _Ring(np.lexsort((np.arange(len(p)), position)), len(p))
    inside = _Ring(np.lexsort((np.arange(len(p)), position, group)), len(p), group)
    undecided = [i for i in range(len(p)) if 1e-9 < p[i] < 1 - 1e-9]
    for i in set(range(len(p))) - set(undecided):
        everywhere.remove(i)
        inside.remove(i)
    place = {unit: k for k, unit in enumerate(undecided)}
    random = _stream(rng)
    while len(undecided) > 1:
        i = undecided[int(next(random) * len(undecided))]
        j = _nearest(i, x, everywhere, inside, next(random))
        _meet(p, i, j, next(random))
        for unit in (i, j):
            if not 1e-9 < p[unit] < 1 - 1e-9:
                p[unit] = round(p[unit])
                everywhere.remove(unit)
                inside.remove(unit)
                last = undecided.pop()
                if last != unit:
                    undecided[place[unit]] = last
                    place[last] = place[unit]
    for unit in undecided:
        p[unit] = float(next(random) < p[unit])
    return np.flatnonzero(np.array(p) > 0.5)


class _Ring:
    """Units in a sorted, doubly linked list that shrinks; groups end where ``group`` changes."""

    def __init__(self, order: np.ndarray, size: int, group: np.ndarray | None = None) -> None:
        self.before = [-1] * size
        self.after = [-1] * size
        units = order.tolist()
        for left, right in pairwise(units):
            if group is None or group[left] == group[right]:
                self.after[left], self.before[right] = right, left

    def remove(self, unit: int) -> None:
        left, right = self.before[unit], self.after[unit]
        if left >= 0:
            self.after[left] = right
        if right >= 0:
            self.before[right] = left


def _nearest(i: int, x: list[float], everywhere: _Ring, inside: _Ring, coin: float) -> int:
    """The nearest undecided unit; ties are broken by the coin."""
    best, found = float("inf"), -1
    for ring, extra in ((inside, 0.0), (everywhere, 1.0)):
        left, right = ring.before[i], ring.after[i]
        for j in (left, right) if coin < 0.5 else (right, left):
            if j >= 0:
                # A neighbour from the whole list may be of the same group: then the first list
                # has it or a nearer one, so charging it too much changes nothing.
                distance = (x[i] - x[j]) ** 2 + extra
                if distance < best:
                    best, found = distance, j
    return found


def _meet(p: list[float], i: int, j: int, coin: float) -> None:
    """Decide at least one of two units, keeping both probabilities on average."""
    total = p[i] + p[j]
    if total < 1:
        # One gives up its whole probability to the other.
        p[i], p[j] = (total, 0.0) if coin * total < p[i] else (0.0, total)
    else:
        # One is drawn for certain, the other keeps the rest.
        p[i], p[j] = (1.0, total - 1) if coin * (2 - total) < 1 - p[j] else (total - 1, 1.0)


def _stream(rng: np.random.Generator):  # type: ignore[no-untyped-def]
    """Uniform numbers one by one, drawn in blocks because single calls are slow."""
    while True:
        yield from rng.random(4096).tolist()
