"""Draw units: selection kernels that return positions 0..N-1.

Kernels that draw many samples at once return one sample per row.
"""

from __future__ import annotations

import numpy as np

GOLDEN = (5**0.5 - 1) / 2


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
    """All units in an order in which every stretch has about its share of every group.

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


def length_order(lengths: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Units sorted by length, ties at random, and an order of places that mixes lengths.

    Places follow in steps of the golden ratio, so that every beginning has short and long units
    alike. The start is a uniform whole number, which makes every unit equally likely at every place
    (a uniform real start would favour those after large gaps).

    >>> line, place = length_order(np.array([5, 1, 9]), np.random.default_rng(1))
    >>> line.tolist(), sorted(place.tolist())
    ([1, 0, 2], [0, 1, 2])
    """
    count = len(lengths)
    line = np.argsort(lengths + 0.5 * rng.random(count))
    place = np.argsort(np.arange(count) * GOLDEN % 1)
    first = int(rng.integers(max(count, 1)))
    return line, np.concatenate([place[first:], place[:first]])
