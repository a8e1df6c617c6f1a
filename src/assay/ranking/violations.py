"""The ranking that the fewest judgments contradict (Lopez 2012; koehn2012, eq. 2 and 3).

Placing system j above k costs max(0, win(k, j) - win(j, k)). (As printed, equation 3 adds up the
agreement instead.) The best order is found exactly for up to EXACT systems that beat each other
in a circle, by dynamic programming over subsets; beyond that by moving one system at a time,
which may stop short of the best order.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from assay.ranking.wins import expected_win

EXACT = 20
"""The largest circle of systems that is ordered exactly; 2^20 subsets take 8 MiB."""


def violation_costs(wins: np.ndarray) -> np.ndarray:
    """``cost[..., j, k]``: what it costs to place j above k."""
    lead = np.swapaxes(wins, -1, -2) - wins
    return np.asarray(np.maximum(lead, 0), dtype=float)


def lopez_order(wins: np.ndarray) -> np.ndarray:
    """The systems, best first, in an order of least cost; the shape of ``wins`` less one axis.

    Of several best orders, one that agrees with the expected win where it can.

    >>> lopez_order(np.array([[0, 1, 4], [3, 0, 3], [1, 2, 0]])).tolist()
    [1, 0, 2]
    """
    wins = np.asarray(wins)
    n = wins.shape[-1]
    tables = wins.reshape(-1, n, n)
    likes = np.nan_to_num(expected_win(tables), nan=-1.0)
    orders = [_order(cost, like) for cost, like in zip(violation_costs(tables), likes, strict=True)]
    return np.array(orders, dtype=np.intp).reshape(wins.shape[:-1])


def order_cost(wins: np.ndarray, order: np.ndarray) -> float:
    """The weight of the violations of an order (eq. 3)."""
    cost = violation_costs(wins)[np.ix_(order, order)]
    return float(np.triu(cost, 1).sum())


def tied_neighbours(wins: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Whether each place of an order but the first could as well change with the one before."""
    likes = expected_win(wins)[order]
    even = wins[order[:-1], order[1:]] == wins[order[1:], order[:-1]]
    return np.asarray(even & (np.abs(np.diff(likes)) < 1e-12))


def is_exact(wins: np.ndarray) -> bool:
    """Whether the best order of this table is certain to be found."""
    _, circle = _circles(violation_costs(np.asarray(wins)))
    return int(np.bincount(circle).max()) <= EXACT


def _circles(cost: np.ndarray) -> tuple[int, np.ndarray]:
    """Systems that beat each other in a circle; between circles an order costs nothing."""
    count, circle = connected_components(cost > 0, directed=True, connection="strong")
    return int(count), np.asarray(circle)


def _order(cost: np.ndarray, like: np.ndarray) -> list[int]:
    """Circles in the order of who beats whom, each ordered by itself."""
    count, circle = _circles(cost)
    beats = np.zeros((count, count), dtype=bool)  # beats[a, b]: some system of a beats one of b
    loser, winner = np.nonzero(cost > 0)
    beats[circle[winner], circle[loser]] = True
    np.fill_diagonal(beats, False)
    members = [np.flatnonzero(circle == c) for c in range(count)]
    liked = np.array([like[own].mean() for own in members])
    order: list[int] = []
    left = np.ones(count, dtype=bool)
    while left.any():
        free = left & ~beats[left].any(axis=0)
        best = int(np.argmax(np.where(free, liked, -np.inf)))
        left[best] = False
        own = members[best]
        sort = _exact if len(own) <= EXACT else _local
        order += own[sort(cost[np.ix_(own, own)], like[own])].tolist()
    return order


def _exact(cost: np.ndarray, like: np.ndarray) -> list[int]:
    """Best[S], the least cost of ordering the subset S at the top, from S less its last system.

    A subset is (high, low), two halves of its bits, each sorted by size: then the subsets whose
    halves have given sizes are a rectangle, all of it computed at once.
    """
    n = len(cost)
    if n <= 2:
        # Two systems in one circle cannot be: one of them costs nothing to place first.
        return list(range(n))
    low, high = _halves(n // 2), _halves(n - n // 2)
    split = n // 2
    # below[j][S]: what it costs to place j below all of S, for the low and the high bits of S.
    low_cost = low.member @ cost[:split]
    high_cost = high.member @ cost[split:]
    low_rows, best = low_cost.T, np.zeros((len(high.member), len(low.member)))
    for size in range(1, n + 1):
        for h in range(max(0, size - split), min(n - split, size) + 1):
            rows, columns = high.layer[h], low.layer[size - h]
            if h:
                before, last = high.before[h], high.last[h]
                found = best[before, columns]
                found += low_rows[split + last, columns]
                found += high_cost[before, split + last][..., None]
                best[rows, columns] = np.minimum.reduce(found)
            if size > h:
                before, last = low.before[size - h], low.last[size - h]
                found = best[rows].take(before, axis=1)
                found += high_cost[rows].take(last, axis=1)
                found += low_cost[before, last]
                least = np.minimum.reduce(found, axis=1)
                best[rows, columns] = np.minimum(best[rows, columns], least) if h else least
    return _trace(best, low, high, cost, like)


class _Half(NamedTuple):
    """All subsets of a few systems, smallest first."""

    member: np.ndarray  # subsets x systems, 0 or 1
    layer: tuple[slice, ...]  # the subsets of each size
    before: tuple[np.ndarray, ...]  # by size: removed x subsets, the place of the rest
    last: tuple[np.ndarray, ...]  # by size: removed x subsets, which system was removed
    place: dict[int, int]  # bits to place


@lru_cache(maxsize=32)
def _halves(n: int) -> _Half:
    sizes = [list(combinations(range(n), size)) for size in range(n + 1)]
    subsets = [subset for layer in sizes for subset in layer]
    place = {sum(1 << i for i in subset): k for k, subset in enumerate(subsets)}
    member = np.zeros((len(subsets), n))
    for k, subset in enumerate(subsets):
        member[k, list(subset)] = 1
    layers, before, last, start = [], [], [], 0
    for layer in sizes:
        layers.append(slice(start, start + len(layer)))
        start += len(layer)
        rest = [[place[sum(1 << i for i in s) - (1 << j)] for j in s] for s in layer]
        before.append(np.array(rest, dtype=np.intp).reshape(len(layer), -1).T)
        last.append(np.array(layer, dtype=np.intp).reshape(len(layer), -1).T)
    return _Half(member, tuple(layers), tuple(before), tuple(last), place)


def _trace(
    best: np.ndarray, low: _Half, high: _Half, cost: np.ndarray, like: np.ndarray
) -> list[int]:
    """The order behind the last cell, from the bottom up; the least liked of equals goes below."""
    n, split = len(cost), low.member.shape[1]
    order: list[int] = []
    rest = list(range(n))
    whole, mask = (1 << n) - 1, (1 << split) - 1
    while rest:
        without = [whole - (1 << j) for j in rest]
        rows = [high.place[subset >> split] for subset in without]
        columns = [low.place[subset & mask] for subset in without]
        found = best[rows, columns] + cost[rest].sum(axis=0)[rest]
        equal = [j for j, value in zip(rest, found, strict=True) if value <= found.min() + 1e-9]
        last = min(equal, key=lambda j: (like[j], -j))
        order.append(last)
        rest.remove(last)
        whole -= 1 << last
    return order[::-1]


def _local(cost: np.ndarray, like: np.ndarray) -> list[int]:
    """From the order by expected win, move single systems while that lowers the cost."""
    order = list(np.argsort(-like, kind="stable"))
    improved = True
    while improved:
        improved = False
        for system in list(order):
            at = order.index(system)
            rest = np.array(order[:at] + order[at + 1 :])
            # Cost of standing at each place: above all that follow, below all before.
            above = np.append(np.cumsum(cost[system, rest][::-1])[::-1], 0.0)
            below = np.insert(np.cumsum(cost[rest, system]), 0, 0.0)
            place = int(np.argmin(above + below))
            if (above + below)[place] < (above + below)[at] - 1e-9:
                order = [*rest[:place].tolist(), system, *rest[place:].tolist()]
                improved = True
    return [int(system) for system in order]
