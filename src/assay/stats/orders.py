"""Orders: ranks, rank ranges, clusters, and how two orders differ.

Rank 1 is the best. A system's rank range runs from one above the systems that are certainly
better to one below those that are certainly worse; clusters are the groups that no certain
distinction divides (koehn2012, section 3 and equation 6). All functions take one order, or many
at once along the first axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MAX_COMPARED = 4_000_000
"""Pairs of scores compared at a time."""


class Order(NamedTuple):
    """Ranks, first and last possible ranks, and clusters of systems."""

    rank: np.ndarray
    low: np.ndarray
    high: np.ndarray
    cluster: np.ndarray


def competition_ranks(scores: np.ndarray, *, digits: int | None = None) -> np.ndarray:
    """Ranks where higher is better; equal scores share the better rank (1, 2, 2, 4).

    With ``digits``, scores are equal if they are so when rounded to that many places.

    >>> competition_ranks(np.array([0.3, 0.9, 0.9, 0.1])).tolist()
    [3, 1, 1, 4]
    """
    n = scores.shape[-1]
    rows = (scores if digits is None else np.round(scores, digits)).reshape(-1, n)
    # All pairs are compared, so that only so many rows fit at a time.
    size = max(1, MAX_COMPARED // max(1, n**2))
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    ranks = [1 + (part[:, None, :] > part[:, :, None]).sum(axis=-1) for part in parts]
    return np.concatenate(ranks or [np.empty(rows.shape, dtype=np.int64)]).reshape(scores.shape)


def rank_ranges(better: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last possible rank from ``better[i, j]``: i is certainly better than j.

    >>> low, high = rank_ranges(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=bool))
    >>> low.tolist(), high.tolist()
    ([1, 2, 2], [1, 3, 3])
    """
    systems = better.shape[-1]
    return 1 + better.sum(axis=-2), systems - better.sum(axis=-1)


def cluster_numbers(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Clusters 1, 2, ... such that no rank range crosses a border (koehn2012, eq. 6).

    >>> cluster_numbers(np.array([1, 1, 3, 4]), np.array([2, 2, 4, 4])).tolist()
    [1, 1, 2, 2]
    """
    order = np.argsort(low, axis=-1, kind="stable")
    first = np.take_along_axis(low, order, axis=-1)
    reach = np.maximum.accumulate(np.take_along_axis(high, order, axis=-1), axis=-1)
    opens = np.ones(first.shape, dtype=np.int64)
    opens[..., 1:] = first[..., 1:] > reach[..., :-1]
    numbers = np.empty(first.shape, dtype=np.int64)
    np.put_along_axis(numbers, order, np.cumsum(opens, axis=-1), axis=-1)
    return numbers


def order_of_differences(
    systems: int, pairs: np.ndarray, lead: np.ndarray, decided: np.ndarray
) -> Order:
    """Where systems stand by their differences: a rank is 1 and how many systems are ahead.

    ``pairs`` are rows (i, j), ``lead`` by how much i is better than j (NaN: nothing is known), and
    ``decided`` whether that is certain.

    >>> order = order_of_differences(3, np.array([[0, 1], [0, 2], [1, 2]]),
    ...                              np.array([-1.0, 2.0, 3.0]), np.array([False, True, True]))
    >>> order.rank.tolist(), order.low.tolist(), order.high.tolist(), order.cluster.tolist()
    ([2, 1, 3], [1, 1, 3], [2, 2, 3], [1, 1, 2])
    """
    ahead, certain = np.zeros((2, systems, systems), dtype=bool)
    first = np.where(lead > 0, pairs[:, 0], pairs[:, 1])
    second = np.where(lead > 0, pairs[:, 1], pairs[:, 0])
    known = np.isfinite(lead) & (lead != 0)
    ahead[first[known], second[known]] = True
    certain[first[known], second[known]] = decided[known]
    low, high = rank_ranges(certain)
    return Order(1 + ahead.sum(axis=0), low, high, cluster_numbers(low, high))


def discordant(scores: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Pairs of systems (i < j) that stand in another order than in the reference.

    >>> discordant(np.array([[1.0, 3.0, 2.0]]), np.array([1.0, 2.0, 3.0])).tolist()
    [[False, False, True]]
    """
    i, j = np.triu_indices(scores.shape[-1], 1)
    here = np.sign(scores[..., i] - scores[..., j])
    return np.asarray(here != np.sign(reference[i] - reference[j]))


def holm(p: np.ndarray) -> np.ndarray:
    """P values such that those below alpha are wrong together with probability alpha (Holm 1979).

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    factor = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(np.asarray(p)[order] * factor))
    return adjusted
