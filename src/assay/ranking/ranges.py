"""Rank ranges from resampled rankings (koehn2012, section 5.1)."""

from __future__ import annotations

import numpy as np


def rank_table(ranks: np.ndarray) -> np.ndarray:
    """How often each system had each rank: (..., resamples, n) to (..., n, n).

    >>> rank_table(np.array([[1, 2], [1, 2], [2, 1]])).tolist()
    [[2, 1], [1, 2]]
    """
    n = ranks.shape[-1]
    flat = ranks.reshape(-1, ranks.shape[-2], n) - 1
    cell = (np.arange(len(flat))[:, None, None] * n + np.arange(n)) * n + flat
    table = np.bincount(cell.ravel(), minlength=len(flat) * n * n)
    return table.reshape((*ranks.shape[:-2], n, n))


def shortest_ranges(table: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The shortest range of ranks that holds ``level`` of the resamples; of equals the fullest.

    >>> low, high = shortest_ranges(np.array([[90, 8, 2], [1, 9, 90], [9, 83, 8]]), 0.9)
    >>> low.tolist(), high.tolist()
    ([1, 3, 1], [1, 3, 2])
    """
    n = table.shape[-1]
    below = _below(table)
    need = level * below[..., -1] - 1e-9
    low, high = np.ones(need.shape, dtype=np.int64), np.full(need.shape, n)
    missing = np.ones(need.shape, dtype=bool)
    for width in range(1, n + 1):
        held = below[..., width:] - below[..., :-width]
        best = held.argmax(axis=-1)
        found = missing & (held.max(axis=-1) >= need)
        low, high = np.where(found, best + 1, low), np.where(found, best + width, high)
        missing &= ~found
        if not missing.any():
            break
    return low, high


def equal_tailed_ranges(table: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """What is left when (1 - level) / 2 of the resamples are cut off at each end.

    >>> low, high = equal_tailed_ranges(np.array([[90, 8, 2], [1, 9, 90], [9, 83, 8]]), 0.9)
    >>> low.tolist(), high.tolist()
    ([1, 2, 1], [2, 3, 3])
    """
    below = _below(table)
    total = below[..., -1:]
    cut = np.floor((1 - level) / 2 * total + 1e-9)
    low = 1 + (below[..., 1:] <= cut).sum(axis=-1)
    high = (below[..., :-1] < total - cut).sum(axis=-1)
    return low, high


def _below(table: np.ndarray) -> np.ndarray:
    """Resamples with a rank of at most 0, 1, ..., n."""
    start = np.zeros((*table.shape[:-1], 1), dtype=table.dtype)
    return np.concatenate([start, np.cumsum(table, axis=-1)], axis=-1)
