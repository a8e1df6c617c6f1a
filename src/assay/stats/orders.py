"""Orders: ranks, rank ranges and clusters.

Rank 1 is the best. A system's rank range runs from one above the systems that are certainly
better to one below those that are certainly worse; clusters are the groups that no certain
distinction divides (koehn2012, section 3 and equation 6).
"""

from __future__ import annotations

import numpy as np

__all__ = ["cluster_numbers", "competition_ranks", "rank_ranges"]


def competition_ranks(scores: np.ndarray) -> np.ndarray:
    """Ranks where higher is better; equal scores share the better rank (1, 2, 2, 4).

    >>> competition_ranks(np.array([0.3, 0.9, 0.9, 0.1])).tolist()
    [3, 1, 1, 4]
    """
    return np.asarray(1 + (scores[None, :] > scores[:, None]).sum(axis=1))


def rank_ranges(better: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last possible rank from ``better[i, j]``: i is certainly better than j.

    >>> low, high = rank_ranges(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=bool))
    >>> low.tolist(), high.tolist()
    ([1, 2, 2], [1, 3, 3])
    """
    systems = len(better)
    return 1 + better.sum(axis=0), systems - better.sum(axis=1)


def cluster_numbers(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Clusters 1, 2, ... such that no rank range crosses a border (koehn2012, eq. 6).

    >>> cluster_numbers(np.array([1, 1, 3, 4]), np.array([2, 2, 4, 4])).tolist()
    [1, 1, 2, 2]
    """
    numbers = np.zeros(len(low), dtype=np.int64)
    order = np.lexsort((high, low))
    cluster, reach = 0, 0
    for i in order:
        if low[i] > reach:
            cluster += 1
        reach = max(reach, int(high[i]))
        numbers[i] = cluster
    return numbers
