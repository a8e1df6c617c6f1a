"""Systems dealt into sets, so that every two of them meet equally often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

TRIES = 60


class Dealer:
    """Deal sets of systems one after the other and count which systems have met."""

    def __init__(self, systems: int, rng: np.random.Generator) -> None:
        self.met = np.zeros((systems, systems))
        self._rng = rng

    def deal(self, systems: Sequence[int], sizes: Sequence[int]) -> list[tuple[int, ...]]:
        """Return disjoint sets of these sizes, from the draw that evens out meetings most.

        >>> dealer = Dealer(4, np.random.default_rng(1))
        >>> sorted(sorted(one) for one in dealer.deal(range(4), [2, 2]))
        [[0, 1], [2, 3]]
        """
        own, edges = np.asarray(systems), np.cumsum(sizes)[:-1]
        best, least = None, np.inf
        for _ in range(TRIES):
            sets = np.split(self._rng.permutation(own)[: sum(sizes)], edges)
            cost = sum(((self.met[np.ix_(one, one)] + 1) ** 2).sum() for one in sets)
            if cost < least:
                best, least = sets, cost
        assert best is not None
        for one in best:
            self.met[np.ix_(one, one)] += 1
        return [tuple(one.tolist()) for one in best]


def block_sizes(systems: int, segments: int, most: int) -> list[int]:
    """Return the block sizes of a task, which may show at most so many outputs at once.

    >>> block_sizes(6, 20, 60), block_sizes(6, 10, 60), block_sizes(7, 20, 60)
    ([3, 3], [6], [3, 2, 2])
    """
    size = min(systems, max(2, most // segments))
    count = -(-systems // size)
    while count > 1 and systems // count < 2:
        count -= 1
    return [systems // count + (k < systems % count) for k in range(count)]
