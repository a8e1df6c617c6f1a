"""The closest kits: sets of m points whose largest distance is smallest.

Pairs are added by increasing distance until one of them closes a clique of m points: the set with
the smallest diameter, since any other has a longer pair that is still to come. Its points are
taken away and the search goes on, so that further kits are disjoint, each the best of what is left.
The paper's way is here too: clusters by DBSCAN, with a radius from the knee of a curve.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, count, product
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Pair: TypeAlias = tuple[int, int, float]
Points: TypeAlias = NDArray[np.float64]
Block: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], Points]
MOST_POINTS_AT_ONCE = 3_000
"""With at most this many points, all pairs are made at once."""
MANY_PAIRS = 1_000_000
"""With more pairs than this, the radius grows more slowly."""
KNEE_DEGREE = 7
"""The degree of the polynomial that smooths the curve before the search for its knee."""


class _TermChecks(Protocol):
    needed: int

    def accepting(self, left: int, right: int) -> int:
        """The methods that accept a pair, as bits."""


class Found(NamedTuple):
    """A kit, and the next best set that could have been chosen instead."""

    members: tuple[int, ...]
    diameter: float
    runner_up: tuple[int, ...] = ()
    runner_up_diameter: float | None = None


class PointPairs:
    """All pairs of points in sorted blocks, made on demand and then kept."""

    def __init__(self, points: Points) -> None:
        self.unique, number = np.unique(points, axis=0, return_inverse=True)
        self.members: list[NDArray[np.int64]] | None = None
        """The points at each place, where some places have several."""
        if len(self.unique) == len(points):
            self.unique = points
        else:
            order = np.argsort(number.ravel(), kind="stable")
            self.members = np.split(order, np.cumsum(np.bincount(number.ravel()))[:-1])
        self._made: list[Block] = []
        self._more = _by_distance(self.unique)

    def blocks(self) -> Iterator[Block]:
        """Yield pairs of different places by increasing distance."""
        for number in count():
            if number == len(self._made):
                block = next(self._more, None)
                if block is None:
                    return
                self._made.append(block)
            yield self._made[number]


@dataclass
class PairStream:
    """Admissible pairs of points by increasing distance.

    ``lengths`` may differ at most ``ratio``-fold; ``groups`` numbers the cluster of every point
    (negative: none) and keeps pairs within one. ``refused`` counts the pairs refused for length.
    """

    near: PointPairs
    lengths: Points | None = None
    ratio: float = np.inf
    groups: NDArray[np.int64] | None = None
    refused: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[Pair]:
        """Yield the pairs, equal points first."""
        members = self.near.members
        for group in members or ():
            # Ordered by the later point: equal points complete a kit after few of their pairs.
            same = ((int(a), int(b)) for place, b in enumerate(group) for a in group[:place])
            yield from self._one_by_one(same, 0.0)
        for left, right, distance in self.near.blocks():
            if members is None:
                yield from self._block(left, right, distance)
                continue
            for a, b, d in zip(left.tolist(), right.tolist(), distance.tolist(), strict=True):
                yield from self._one_by_one(product(members[a].tolist(), members[b].tolist()), d)

    def _block(
        self, left: NDArray[np.int64], right: NDArray[np.int64], distance: Points
    ) -> Iterator[Pair]:
        if self.groups is not None:
            own = (self.groups[left] == self.groups[right]) & (self.groups[left] >= 0)
            left, right, distance = left[own], right[own], distance[own]
        if self.lengths is not None and self.ratio < np.inf:
            a, b = self.lengths[left], self.lengths[right]
            fits = np.maximum(a, b) <= self.ratio * np.minimum(a, b)
            self.refused += int(len(fits) - fits.sum())
            left, right, distance = left[fits], right[fits], distance[fits]
        yield from zip(left.tolist(), right.tolist(), distance.tolist(), strict=True)

    def _one_by_one(self, pairs: Iterable[tuple[int, int]], distance: float) -> Iterator[Pair]:
        for left, right in pairs:
            if self.groups is not None and not self.groups[left] == self.groups[right] >= 0:
                continue
            if self.lengths is not None:
                short, long = sorted((self.lengths[left], self.lengths[right]))
                if long > self.ratio * short:
                    self.refused += 1
                    continue
            yield left, right, distance


def _by_distance(points: Points) -> Iterator[Block]:
    """Yield sorted blocks of pairs within a radius that grows from block to block."""
    number, size = points.shape
    if number < 2:
        return
    if number <= MOST_POINTS_AT_ONCE:
        left, right = np.triu_indices(number, 1)
        yield _sorted(left, right, np.linalg.norm(points[left] - points[right], axis=1))
        return
    tree = _tree(points)
    near, _ = tree.query(points[:: max(1, number // 1000)], k=2)
    largest = float(np.linalg.norm(np.ptp(points, axis=0)))
    inner, outer = -1.0, float(np.median(near[:, 1])) or largest / number
    while inner < largest:
        # The tree rounds differently: ask for slightly more and cut by our own distances.
        pairs = tree.query_pairs(outer * (1 + 1e-9), output_type="ndarray").astype(np.int64)
        left, right = pairs[:, 0], pairs[:, 1]
        distance = np.linalg.norm(points[left] - points[right], axis=1)
        new = (distance > inner) & (distance <= outer)
        made = len(pairs)
        del pairs
        yield _sorted(left[new], right[new], distance[new])
        # The number of pairs grows with a power of the radius: aim for half more, or fourfold.
        inner, outer = outer, outer * (1.5 if made > MANY_PAIRS else 4.0) ** (1 / size)


def _sorted(left: NDArray[np.int64], right: NDArray[np.int64], distance: Points) -> Block:
    order = np.lexsort((right, left, distance))
    return left[order], right[order], distance[order]


class _Graph:
    """The graph of the pairs added so far, in which kits are cliques of accepted pairs."""

    def __init__(self, size: int, checks: _TermChecks | None) -> None:
        self.size = size
        self.checks = checks
        self.near: defaultdict[int, set[int]] = defaultdict(set)
        self.bits: dict[tuple[int, int], int] = {}

    def add(self, left: int, right: int) -> None:
        self.near[left].add(right)
        self.near[right].add(left)

    def closed_by(
        self, left: int, right: int, free: Callable[[int], bool]
    ) -> Iterator[tuple[int, ...]]:
        """Yield the accepted sets of free points that contain this pair."""
        common = self.near[left] & self.near[right]
        if len(common) < self.size - 2:
            return
        candidates = sorted(filter(free, common))
        if len(candidates) < self.size - 2:
            return
        bits = self._bits(left, right)
        if self._enough(bits):
            for rest in self._cliques((left, right), candidates, bits):
                yield tuple(sorted(rest))

    def _cliques(
        self, members: tuple[int, ...], candidates: list[int], bits: int
    ) -> Iterator[tuple[int, ...]]:
        missing = self.size - len(members)
        if not missing:
            yield members
            return
        for place in range(len(candidates) - missing + 1):
            point = candidates[place]
            near = self.near[point]
            further = [other for other in candidates[place + 1 :] if other in near]
            # Terms are extracted only here, where the set could be completed.
            if len(further) >= missing - 1:
                still = bits
                for member in members:
                    still &= self._bits(member, point)
                if self._enough(still):
                    yield from self._cliques((*members, point), further, still)

    def _bits(self, left: int, right: int) -> int:
        """The methods that accept the pair; a pair that too few accept leaves the graph."""
        if self.checks is None:
            return -1
        pair = (left, right) if left < right else (right, left)
        if pair not in self.bits:
            self.bits[pair] = self.checks.accepting(*pair)
            if not self._enough(self.bits[pair]):
                self.near[left].discard(right)
                self.near[right].discard(left)
        return self.bits[pair]

    def _enough(self, bits: int) -> bool:
        return self.checks is None or bits.bit_count() >= self.checks.needed


def closest_kits(
    pairs: Iterator[Pair],
    *,
    size: int,
    kits: int = 1,
    checks: _TermChecks | None = None,
    runner_up: bool = True,
) -> list[Found]:
    """Find up to ``kits`` disjoint sets of ``size`` points, the one of least diameter first."""
    graph = _Graph(size, checks)
    taken: dict[int, int] = {}
    found: list[Found] = []
    waiting: list[int] = []

    def untaken(point: int) -> bool:
        return point not in taken

    for left, right, distance in pairs:
        graph.add(left, right)
        if len(found) < kits and left not in taken and right not in taken:
            members = next(graph.closed_by(left, right, untaken), None)
            if members is not None:
                taken.update(dict.fromkeys(members, len(found)))
                waiting.append(len(found))
                found.append(Found(members, distance))
        for kit in list(waiting) if runner_up else ():
            second = _instead(graph, left, right, taken, kit, found[kit].members)
            if second is not None:
                found[kit] = Found(found[kit].members, found[kit].diameter, second, distance)
                waiting.remove(kit)
        if len(found) == kits and not (runner_up and waiting):
            break
    return found


def _instead(
    graph: _Graph, left: int, right: int, taken: dict[int, int], kit: int, members: tuple[int, ...]
) -> tuple[int, ...] | None:
    """Another set completed by this pair whose points were free when the kit was chosen."""

    def free(point: int) -> bool:
        return taken.get(point, kit) >= kit

    if not (free(left) and free(right)):
        return None
    return next((other for other in graph.closed_by(left, right, free) if other != members), None)


def diameters(points: Points, sets: NDArray[np.int64]) -> Points:
    """The largest distance within each set (a row of ``sets``)."""
    largest = np.zeros(len(sets))
    for a, b in combinations(range(sets.shape[1]), 2):
        distance = np.linalg.norm(points[sets[:, a]] - points[sets[:, b]], axis=1)
        np.maximum(largest, distance, out=largest)
    return largest


def nearest_distances(points: Points) -> Points:
    """The distance of every point to its nearest neighbour, sorted."""
    if len(points) < 2:
        return np.zeros(0)
    tree = _tree(points)
    # Querying in the order of the tree is faster.
    return np.sort(tree.query(points[tree.indices], k=2)[0][:, 1])


def knee_place(values: Points) -> int | None:
    """The position of the knee of a sorted convex curve (Kneedle, Satopää et al. 2011), or None.

    The curve is smoothed by a polynomial, scaled to the unit square and mirrored, so that the knee
    becomes a bulge above the diagonal. A local maximum of the bulge is a knee if the bulge falls by
    more than one step of the x axis before it rises again. The leftmost knee of the curve counts.

    >>> knee_place(np.array([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 4.0, 7.0, 10.0, 13.0, 16.0]))
    5
    """
    count = len(values)
    if count < 4 or values[0] == values[-1]:
        return None
    x = np.arange(count)
    smooth = np.polynomial.Polynomial.fit(x, values, min(KNEE_DEGREE, count - 2))(x)
    scaled = (smooth - smooth.min()) / np.ptp(smooth)
    bulge = np.flip(1 - scaled) - x / (count - 1)
    padded = np.concatenate(([bulge[0]], bulge, [bulge[-1]]))
    tops = np.flatnonzero((bulge >= padded[:-2]) & (bulge >= padded[2:]))
    bottoms = np.flatnonzero((bulge <= padded[:-2]) & (bulge <= padded[2:]))
    knee = None
    for top in tops:
        after = bottoms[bottoms > top]
        if after.size and bulge[top] - bulge[after[0]] > 1 / (count - 1):
            knee = count - 1 - int(top)
    return knee


def dbscan(points: Points, radius: float, fewest: int) -> NDArray[np.int64]:
    """The DBSCAN cluster of every point, counted from 0, or -1 for none (Ester et al. 1996).

    A point with at least ``fewest`` points within the radius, including itself, is a core. A
    cluster is a chain of cores within the radius of each other, with all points within their
    radius.
    """
    tree = _tree(points)
    core = tree.query_ball_point(points, radius, return_length=True) >= fewest
    labels = np.full(len(points), -1)
    cluster = 0
    for start in np.flatnonzero(core):
        if labels[start] >= 0:
            continue
        labels[start] = cluster
        stack = [int(start)]
        while stack:
            near = np.asarray(tree.query_ball_point(points[stack.pop()], radius), dtype=np.int64)
            new = near[labels[near] < 0]
            labels[new] = cluster
            stack.extend(new[core[new]].tolist())
        cluster += 1
    return labels


def _tree(points: Points) -> Any:
    from scipy.spatial import KDTree  # slow to load

    return KDTree(points)
