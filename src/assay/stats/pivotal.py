"""The local pivotal method: samples that mirror the population in position and group.

There are two versions: a plain loop for one sample, and one that draws many samples in step, which
is 30 times slower for one sample of 2,000 units and 3 times faster for 500 samples.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

DECIDED_WITHIN = 1e-9
"""Probabilities this close to 0 or 1 are decided."""
MIN_DRAWS_IN_STEP, MAX_DRAWS_AT_ONCE = 30, 500
"""This many samples or more are drawn in step, and at most so many at a time, to save memory."""


def pivotal(
    probabilities: np.ndarray,
    position: np.ndarray,
    group: np.ndarray,
    rng: np.random.Generator,
    draws: int = 1,
) -> np.ndarray:
    """The local pivotal method (LPM2 of Grafström et al. 2012): samples spread evenly.

    Repeatedly, a random undecided unit meets its nearest undecided neighbour, and one of the two is
    decided such that both keep their inclusion probability on average. Neighbours are seldom drawn
    together, so the sample mirrors the population in ``position`` and ``group``.
    The squared distance is (difference in position)^2, plus 1 if the groups differ; with one
    position per unit the nearest neighbour is found in two sorted lists, in constant time.
    Returns one boolean row per sample, with as many units as the probabilities sum to, if that is
    a whole number. All samples are drawn in step.

    >>> drawn = pivotal(np.full(4, 0.5), np.arange(4.0), np.zeros(4, int),
    ...                 np.random.default_rng(0), draws=3)
    >>> drawn.sum(axis=1).tolist()
    [2, 2, 2]
    """
    if draws < MIN_DRAWS_IN_STEP:
        rows = [_one(probabilities, position, group, rng) for _ in range(draws)]
        return np.stack(rows)
    blocks = [
        _in_step(probabilities, position, group, rng, min(MAX_DRAWS_AT_ONCE, draws - start))
        for start in range(0, draws, MAX_DRAWS_AT_ONCE)
    ]
    return np.concatenate(blocks)


def _one(
    probabilities: np.ndarray, position: np.ndarray, group: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    p, x = (np.asarray(values, dtype=float).tolist() for values in (probabilities, position))
    everywhere = _Ring(np.lexsort((np.arange(len(p)), position)), len(p))
    inside = _Ring(np.lexsort((np.arange(len(p)), position, group)), len(p), group)
    undecided = [i for i in range(len(p)) if DECIDED_WITHIN < p[i] < 1 - DECIDED_WITHIN]
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
            if not DECIDED_WITHIN < p[unit] < 1 - DECIDED_WITHIN:
                p[unit] = round(p[unit])
                everywhere.remove(unit)
                inside.remove(unit)
                last = undecided.pop()
                if last != unit:
                    undecided[place[unit]] = last
                    place[last] = place[unit]
    for unit in undecided:
        p[unit] = float(next(random) < p[unit])
    return np.array(p) > 0.5


class _Ring:
    """Units in a sorted, doubly linked list that shrinks; groups end where ``group`` changes."""

    def __init__(self, order: np.ndarray, size: int, group: np.ndarray | None = None) -> None:
        self.before = [-1] * size
        self.after = [-1] * size
        groups = [0] * size if group is None else group.tolist()
        for left, right in pairwise(order.tolist()):
            if groups[left] == groups[right]:
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


def _in_step(
    probabilities: np.ndarray, position: np.ndarray, group: np.ndarray, rng: np.random.Generator,
    draws: int,
) -> np.ndarray:  # fmt: skip
    size = len(probabilities)
    p = np.tile(np.append(probabilities.astype(float), 0.0), (draws, 1))
    open_ = np.flatnonzero((probabilities > DECIDED_WITHIN) & (probabilities < 1 - DECIDED_WITHIN))
    everywhere = _Lists(open_[np.argsort(position[open_], kind="stable")], size, draws)
    inside = _Lists(
        open_[np.lexsort((position[open_], group[open_]))], size, draws, np.append(group, -1)
    )
    # Infinitely far: the place of a missing neighbour.
    x = np.append(position.astype(float), np.inf)
    undecided = np.tile(np.append(open_, size), (draws, 1))
    place = np.zeros((draws, size + 1), dtype=np.int64)
    place[:, open_] = np.arange(len(open_))
    count = np.full(draws, len(open_))
    rows = np.arange(draws)
    while len(rows):
        coins = rng.random((3, len(rows)))
        i = undecided[rows, (coins[0] * count[rows]).astype(np.int64)]
        j = _nearest_of_each(rows, i, x, everywhere, inside, coins[1] < 0.5)
        _meet_each(p, rows, i, j, coins[2])
        for unit in (i, j):
            value = p[rows, unit]
            done = (value <= DECIDED_WITHIN) | (value >= 1 - DECIDED_WITHIN)
            own, gone = rows[done], unit[done]
            p[own, gone] = np.round(value[done])
            everywhere.remove(own, gone)
            inside.remove(own, gone)
            count[own] -= 1
            last = undecided[own, count[own]]
            undecided[own, place[own, gone]] = last
            place[own, last] = place[own, gone]
        rows = rows[count[rows] > 1]
    left = np.flatnonzero(count)
    unit = undecided[left, 0]
    p[left, unit] = rng.random(len(left)) < p[left, unit]
    return np.asarray(p[:, :size] > 0.5)


class _Lists:
    """Units in sorted, doubly linked lists that shrink, one list per sample.

    The number ``size`` means no unit; lists end where ``group`` changes.
    """

    def __init__(
        self, order: np.ndarray, size: int, draws: int, group: np.ndarray | None = None
    ) -> None:
        before, after = np.full(size + 1, size), np.full(size + 1, size)
        left, right = order[:-1], order[1:]
        if group is not None:
            same = group[left] == group[right]
            left, right = left[same], right[same]
        after[left], before[right] = right, left
        self.before, self.after = np.tile(before, (draws, 1)), np.tile(after, (draws, 1))

    def remove(self, rows: np.ndarray, unit: np.ndarray) -> None:
        left, right = self.before[rows, unit], self.after[rows, unit]
        self.after[rows, left] = right
        self.before[rows, right] = left


def _nearest_of_each(
    rows: np.ndarray, i: np.ndarray, x: np.ndarray, everywhere: _Lists, inside: _Lists,
    leftmost: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """The nearest undecided unit of each row; ties go left or right as ``leftmost`` says."""
    best = np.full(len(rows), np.inf)
    found = np.full(len(rows), len(x) - 1)
    for lists, extra in ((inside, 0.0), (everywhere, 1.0)):
        left, right = lists.before[rows, i], lists.after[rows, i]
        for j in (np.where(leftmost, left, right), np.where(leftmost, right, left)):
            # A neighbour from the whole list may be of the same group: then the first list has it
            # or a nearer one, so charging it too much changes nothing.
            distance = (x[i] - x[j]) ** 2 + extra
            closer = distance < best
            best = np.where(closer, distance, best)
            found = np.where(closer, j, found)
    return found


def _meet_each(
    p: np.ndarray, rows: np.ndarray, i: np.ndarray, j: np.ndarray, coin: np.ndarray
) -> None:
    """Decide at least one of two units, keeping both probabilities on average."""
    a, b = p[rows, i], p[rows, j]
    total = a + b
    small = total < 1
    # Below 1, one gives up its whole probability to the other; from 1 on, one is drawn for certain
    # and the other keeps the rest.
    first = np.where(small, coin * total < a, coin * (2 - total) < 1 - b)
    rich, poor = np.where(small, total, 1.0), np.where(small, 0.0, total - 1)
    p[rows, i] = np.where(first, rich, poor)
    p[rows, j] = np.where(first, poor, rich)
