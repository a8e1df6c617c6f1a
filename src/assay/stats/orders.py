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


class Standings(NamedTuple):
    """Where each system stands: its rank, its rank range, and its cluster."""

    rank: np.ndarray
    low: np.ndarray
    high: np.ndarray
    cluster: np.ndarray


def standings(
    systems: int, left: np.ndarray, right: np.ndarray, lead: np.ndarray, decided: np.ndarray
) -> Standings:
    """Ranks from differences: pairs of systems, by how much the left one leads, and whether surely.

    A rank counts the systems ahead, as the ranges do, so that the two agree also where pairs were
    compared on different segments. A lead of 0 or NaN puts neither ahead.

    >>> pairs = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> places = standings(3, *pairs, np.array([1.0, -1, -3]), np.array([False, False, True]))
    >>> [part.tolist() for part in places]
    [[2, 3, 1], [1, 2, 1], [3, 3, 2], [1, 1, 1]]
    """
    known = np.isfinite(lead) & (lead != 0)
    first, second = np.where(lead > 0, left, right), np.where(lead > 0, right, left)
    ahead, better = np.zeros((2, systems, systems), dtype=bool)
    ahead[first, second] = known
    better[first, second] = known & decided
    low, high = rank_ranges(better)
    return Standings(1 + ahead.sum(axis=0), low, high, cluster_numbers(low, high))


def discordant(scores: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Pairs of systems (i < j) that stand in another order than in the reference.

    >>> discordant(np.array([[1.0, 3.0, 2.0]]), np.array([1.0, 2.0, 3.0])).tolist()
    [[False, False, True]]
    """
    i, j = np.triu_indices(scores.shape[-1], 1)
    here = np.sign(scores[..., i] - scores[..., j])
    return np.asarray(here != np.sign(reference[i] - reference[j]))
