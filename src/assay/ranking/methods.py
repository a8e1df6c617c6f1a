"""The ranking methods: scores from counts of wins; higher is better.

``wins[..., i, j]`` counts how often system i was preferred to system j. Leading axes hold further
tables of counts (resamples, simulated campaigns), which are scored at once. Counts need not be
whole: a tie may be half a win for each. A system that was never compared has the score NaN.

The equations of koehn2012 are here: 1 in :func:`bojar`, 2 in :func:`violation_costs`, 3 in
:func:`order_cost`, 4 in :func:`expected_win`; 5 is the benchmark in ``papers/koehn2012``.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

from assay.errors import ConvergenceError, InputError, need_known
from assay.ranking.counts import effective_wins, listed
from assay.results import Note

METHODS = ("expected-win", "bojar", "better-or-equal", "lopez", "bradley-terry")
ALIASES = {"expected": "expected-win", "bt": "bradley-terry"}
MAX_LOG_STRENGTH = 30.0
"""Strengths are kept within exp(-30) and exp(30): a system that never loses has no finite one."""
MAX_EXACT = 20
"""The largest circle of systems that is ordered exactly; 2^20 subsets take 8 MiB."""


def find_method(name: str) -> str:
    """The method with this name or short name.

    >>> find_method("EXPECTED")
    'expected-win'
    """
    method = ALIASES.get(name.lower(), name.lower())
    need_known("method", method, METHODS)
    return method


def check_method(method: str, systems: tuple[str, ...], wins: np.ndarray) -> list[Note]:
    """Refuse counts that the method cannot rank; for lopez, note how many judgments disagree."""
    if method == "bradley-terry":
        _need_finite(systems, wins)
    if method != "lopez":
        return []
    how = (
        "the fewest possible, which other orders may share" if is_exact(wins)
        else f"by a heuristic, as more than {MAX_EXACT} systems beat each other in a circle"
    )  # fmt: skip
    cost = order_cost(wins, lopez_order(wins))
    return [Note("violations", f"net judgments against the order: {cost:g} ({how})")]


def _need_finite(systems: tuple[str, ...], wins: np.ndarray) -> None:
    """Refuse groups that never lost to the others, or never won: their strength is infinite."""
    count, group = scipy.sparse.csgraph.connected_components(
        wins > 0, directed=True, connection="strong"
    )
    if count == 1:
        return
    found = []
    for k in range(count):
        inside = group == k
        members = [systems[i] for i in np.flatnonzero(inside)]
        if not wins[~inside][:, inside].any():
            found.append((members, "never lost to"))
        if not wins[inside][:, ~inside].any():
            found.append((members, "never won against"))
    # Name the smallest group: one loser, not nineteen winners.
    members, fault = min(found, key=lambda item: len(item[0]))
    raise InputError(
        f"{listed(members)}: {fault} any of the other systems, so there is no finite Bradley-Terry"
        " strength; rank by expected-win, or exclude them"
    )


def score(
    method: str, wins: np.ndarray, ties: np.ndarray, treat: str, *, resampled: bool = False
) -> np.ndarray:
    """The scores of all systems by a method; NaN for a system without a judgment that counts.

    ``resampled`` tables may lack a finite Bradley-Terry strength.
    """
    counted = effective_wins(wins, ties, treat)
    tied = ties if treat == "davidson" else None
    if method == "better-or-equal":
        return better_or_equal(wins, ties)
    if method == "bojar":
        return bojar(counted)
    if method == "lopez":
        return _places(counted)
    if method == "bradley-terry":
        if resampled:
            return bradley_terry(counted, tied, tolerance=1e-6, limit=200, strict=False)
        return bradley_terry(counted, tied)
    return expected_win(counted)


def expected_win(wins: np.ndarray) -> np.ndarray:
    """Expected win: the mean win ratio over the opponents met (koehn2012, eq. 4).

    The paper prints 1/n; its numbers follow from 1/(n - 1). Pairs that were never compared are
    left out of the mean.

    >>> expected_win(np.array([[0, 3, 1], [1, 0, 1], [1, 1, 0]])).tolist()
    [0.625, 0.375, 0.5]
    """
    wins = np.asarray(wins, dtype=float)
    games = wins + np.swapaxes(wins, -1, -2)
    met = games > 0
    ratio = np.divide(wins, games, out=np.zeros_like(wins), where=met)
    return _ratio(ratio.sum(axis=-1), met.sum(axis=-1))


def bojar(wins: np.ndarray) -> np.ndarray:
    """Bojar's ratio: all wins over all wins and losses (koehn2012, eq. 1).

    >>> bojar(np.array([[0, 3, 1], [1, 0, 1], [1, 1, 0]])).round(3).tolist()
    [0.667, 0.333, 0.5]
    """
    won, lost = wins.sum(axis=-1), wins.sum(axis=-2)
    return _ratio(won, won + lost)


def better_or_equal(wins: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """The share of judgments won or tied, the ranking of WMT before 2012.

    >>> wins, ties = np.array([[0, 2], [1, 0]]), np.array([[0, 1], [1, 0]])
    >>> better_or_equal(wins, ties).tolist()
    [0.75, 0.5]
    """
    won, lost, tied = wins.sum(axis=-1), wins.sum(axis=-2), ties.sum(axis=-1)
    return _ratio(won + tied, won + lost + tied)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    empty = np.full(np.shape(whole), np.nan)
    return np.asarray(np.divide(part, whole, out=empty, where=np.asarray(whole) > 0))


def bradley_terry(
    wins: np.ndarray,
    ties: np.ndarray | None = None,
    *,
    tolerance: float = 1e-12,
    limit: int = 10_000,
    strict: bool = True,
) -> np.ndarray:
    """Bradley-Terry strengths (..., n) of geometric mean 1: P(i beats j) = s_i / (s_i + s_j).

    Newman's iteration (2023), s_i = sum_j w_ij s_j/(s_i + s_j) / sum_j w_ji/(s_i + s_j), one system
    after the other, until no logarithm changes by more than ``tolerance``. With ``ties`` (half of
    each also in ``wins``) these are modelled (Davidson 1970): the odds of win, loss and tie are
    s_i : s_j : nu sqrt(s_i s_j), with nu from the data. ``strict=False`` returns the strengths at
    ``limit`` even if they have not converged; some resamples have no finite maximum.

    >>> bradley_terry(np.array([[0, 4], [1, 0]])).round(6).tolist()
    [2.0, 0.5]
    """
    wins = np.asarray(wins, dtype=float)
    n = wins.shape[-1]
    tables = wins.reshape(-1, n, n)
    lost = np.ascontiguousarray(np.swapaxes(tables, 1, 2))
    tied = None if ties is None else np.asarray(ties, dtype=float).reshape(-1, n, n)
    strength, nu = np.ones(tables.shape[:2]), np.zeros((len(tables), 1))
    for _ in range(limit):
        before = np.log(strength)
        if tied is not None:
            nu = _tie_weight(tables, tied, strength, nu)
        _sweep(tables, lost, strength, nu)
        # Centre first: a common factor does not count as a change.
        log = np.log(strength)
        log = np.clip(log - log.mean(axis=1, keepdims=True), -MAX_LOG_STRENGTH, MAX_LOG_STRENGTH)
        strength = np.exp(log)
        if np.abs(log - before).max(initial=0.0) < tolerance:
            break
    else:
        if strict:
            raise ConvergenceError(
                f"the Bradley-Terry strengths did not settle in {limit} rounds; rank by"
                " expected-win, or collect judgments between the strongest and the weakest systems"
            )
    return strength.reshape(wins.shape[:-1])


def _sweep(wins: np.ndarray, lost: np.ndarray, strength: np.ndarray, nu: np.ndarray) -> None:
    """Update all strengths once, in place, in all tables; ``nu`` is 0 if ties are not modelled."""
    smallest = np.exp(-MAX_LOG_STRENGTH)
    for i in range(strength.shape[1]):
        own = strength[:, i, None]
        tie = nu * np.sqrt(own * strength)
        sums = strength + own + tie
        up = (wins[:, i] * (strength + tie / 2) / sums).sum(axis=1)
        down = (lost[:, i] * (1 + tie / (2 * own)) / sums).sum(axis=1)
        strength[:, i] = np.maximum(up, smallest) / np.maximum(down, smallest)


def _tie_weight(
    wins: np.ndarray, ties: np.ndarray, strength: np.ndarray, nu: np.ndarray
) -> np.ndarray:
    """Update Davidson's nu once, in Newman's form; ``wins`` includes half of every tie."""
    root = np.sqrt(strength[:, :, None] * strength[:, None, :])
    level = strength[:, :, None] + strength[:, None, :]
    sums = level + nu[..., None] * root
    tied = (ties * level / sums).sum(axis=(1, 2)) / 2
    won = ((wins - ties / 2) * root / sums).sum(axis=(1, 2))
    largest = np.exp(MAX_LOG_STRENGTH)
    return np.asarray(np.minimum(tied / np.maximum(won, 1 / largest), largest)[:, None])


def _places(wins: np.ndarray) -> np.ndarray:
    """The share of other systems below in the order of fewest violations; ties count half."""
    order = lopez_order(wins)
    n = wins.shape[-1]
    # Neighbours that could be exchanged at no cost share a place.
    moves = np.ones(order.shape, dtype=bool)
    moves[..., 1:] = ~tied_neighbours(wins, order)
    place = np.maximum.accumulate(np.where(moves, np.arange(n), 0), axis=-1)
    level = place[..., :, None] - place[..., None, :]
    below = (level < 0).sum(axis=-1) + ((level == 0).sum(axis=-1) - 1) / 2
    scores = np.empty(order.shape)
    np.put_along_axis(scores, order, below / max(1, n - 1), axis=-1)
    return scores


def violation_costs(wins: np.ndarray) -> np.ndarray:
    """The cost of placing j above k, max(0, win(k, j) - win(j, k)) (koehn2012, eq. 2)."""
    lead = np.swapaxes(wins, -1, -2) - wins
    return np.asarray(np.maximum(lead, 0), dtype=float)


def lopez_order(wins: np.ndarray) -> np.ndarray:
    """The order, best first, that the fewest judgments contradict (Lopez 2012; koehn2012, eq. 3).

    Up to MAX_EXACT systems that beat each other in a circle are ordered exactly, by dynamic
    programming over subsets; more by moving one system at a time, which may miss the best order.
    Ties between orders are broken by the expected win.

    >>> lopez_order(np.array([[0, 1, 4], [3, 0, 3], [1, 2, 0]])).tolist()
    [1, 0, 2]
    """
    wins = np.asarray(wins)
    n = wins.shape[-1]
    tables = wins.reshape(-1, n, n)
    likes = np.nan_to_num(expected_win(tables), nan=-1.0)
    costs = violation_costs(tables)
    orders, circles = _free_orders(costs, likes)
    for k in np.flatnonzero(circles):
        orders[k] = _order(costs[k], likes[k])
    return orders.reshape(wins.shape[:-1])


def order_cost(wins: np.ndarray, order: np.ndarray) -> float:
    """The total cost of an order (koehn2012, eq. 3; as printed, it adds up the agreement)."""
    cost = violation_costs(wins)[np.ix_(order, order)]
    return float(np.triu(cost, 1).sum())


def tied_neighbours(wins: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Whether each place but the first could be exchanged with the one before at no cost."""
    n = wins.shape[-1]
    likes = np.take_along_axis(expected_win(wins), order, axis=-1)
    flat = wins.reshape(*wins.shape[:-2], n * n)
    above, below = order[..., :-1], order[..., 1:]
    won = np.take_along_axis(flat, above * n + below, axis=-1)
    lost = np.take_along_axis(flat, below * n + above, axis=-1)
    return np.asarray((won == lost) & (np.abs(np.diff(likes, axis=-1)) < 1e-12))


def is_exact(wins: np.ndarray) -> bool:
    """Whether the best order of this table is found for certain."""
    _, circle = _circles(violation_costs(np.asarray(wins)))
    return int(np.bincount(circle).max()) <= MAX_EXACT


def _free_orders(costs: np.ndarray, likes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order without cost for every table, and whether a circle makes that impossible.

    Each place goes to the system of the highest expected win that no remaining system beats.
    """
    runs, n = likes.shape
    orders = np.empty((runs, n), dtype=np.intp)
    left = np.ones((runs, n), dtype=bool)
    circles = np.zeros(runs, dtype=bool)
    for place in range(n):
        free = left & ~((costs > 0) & left[:, None, :]).any(axis=-1)
        circles |= ~free.any(axis=-1)
        orders[:, place] = np.where(free, likes, -np.inf).argmax(axis=-1)
        left[np.arange(runs), orders[:, place]] = False
    return orders, circles


def _circles(cost: np.ndarray) -> tuple[int, np.ndarray]:
    """Group systems that beat each other in a circle; ordering the groups costs nothing."""
    count, circle = scipy.sparse.csgraph.connected_components(
        cost > 0, directed=True, connection="strong"
    )
    return int(count), np.asarray(circle)


def _order(cost: np.ndarray, like: np.ndarray) -> list[int]:
    """Order the circles by who beats whom, and the systems within each circle."""
    count, circle = _circles(cost)
    beats = np.zeros((count, count), dtype=bool)  # beats[a, b]: some system of a beats one of b
    loser, winner = np.nonzero(cost > 0)
    beats[circle[winner], circle[loser]] = True
    np.fill_diagonal(beats, False)
    members = [np.flatnonzero(circle == c) for c in range(count)]
    liked = np.array([like[inside].mean() for inside in members])
    order: list[int] = []
    left = np.ones(count, dtype=bool)
    while left.any():
        free = left & ~beats[left].any(axis=0)
        best = int(np.argmax(np.where(free, liked, -np.inf)))
        left[best] = False
        inside = members[best]
        sort = _exact if len(inside) <= MAX_EXACT else _local
        order += inside[sort(cost[np.ix_(inside, inside)], like[inside])].tolist()
    return order


def _exact(cost: np.ndarray, like: np.ndarray) -> list[int]:
    """The exact order by dynamic programming: best[S] is the least cost of the top set S.

    It follows from S without its last system. A subset is split into a high and a low half of its
    bits, each sorted by size: subsets whose halves have given sizes then form a rectangle, which is
    computed at once.
    """
    n = len(cost)
    if n <= 2:
        # Of two systems, one costs nothing to place first, so they never form a circle.
        return list(range(n))
    low, high = _halves(n // 2), _halves(n - n // 2)
    split = n // 2
    # The cost of placing each system below all of S, for the low and the high bits of S.
    low_cost = low.member @ cost[:split]
    high_cost = high.member @ cost[split:]
    low_rows, best = low_cost.T, np.zeros((len(high.member), len(low.member)))
    for size in range(1, n + 1):
        for h in range(max(0, size - split), min(n - split, size) + 1):
            rows, columns = high.layer[h], low.layer[size - h]
            if h:
                before, last = high.before[h], high.last[h]
                total = best[before, columns]
                total += low_rows[split + last, columns]
                total += high_cost[before, split + last][..., None]
                best[rows, columns] = np.minimum.reduce(total)
            if size > h:
                before, last = low.before[size - h], low.last[size - h]
                total = best[rows].take(before, axis=1)
                total += high_cost[rows].take(last, axis=1)
                total += low_cost[before, last]
                least = np.minimum.reduce(total, axis=1)
                best[rows, columns] = np.minimum(best[rows, columns], least) if h else least
    return _trace(best, low, high, cost, like)


class _Half(NamedTuple):
    """All subsets of half of the systems, smallest first."""

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
    """Trace the order from the bottom up; of equal systems, the lower expected win goes below."""
    n, split = len(cost), low.member.shape[1]
    order: list[int] = []
    rest = list(range(n))
    whole, mask = (1 << n) - 1, (1 << split) - 1
    while rest:
        without = [whole - (1 << j) for j in rest]
        rows = [high.place[subset >> split] for subset in without]
        columns = [low.place[subset & mask] for subset in without]
        total = best[rows, columns] + cost[rest].sum(axis=0)[rest]
        equal = [j for j, value in zip(rest, total, strict=True) if value <= total.min() + 1e-9]
        last = min(equal, key=lambda j: (like[j], -j))
        order.append(last)
        rest.remove(last)
        whole -= 1 << last
    return order[::-1]


def _local(cost: np.ndarray, like: np.ndarray) -> list[int]:
    """Start from the order by expected win and move single systems while that lowers the cost."""
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
