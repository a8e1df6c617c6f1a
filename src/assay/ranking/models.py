"""Bradley-Terry strengths: P(i beats j) = s_i / (s_i + s_j), by maximum likelihood."""

from __future__ import annotations

import numpy as np

from assay.errors import ConvergenceError

FARTHEST = 30.0
"""Strengths are kept within exp(-30) and exp(30): whoever never loses has no finite one."""


def bradley_terry(
    wins: np.ndarray, *, tolerance: float = 1e-12, limit: int = 10_000, strict: bool = True
) -> np.ndarray:
    """Strengths (..., n) of geometric mean 1, from counts of wins (..., n, n).

    Newman's iteration (2023), s_i = sum_j w_ij s_j/(s_i + s_j) / sum_j w_ji/(s_i + s_j), one system
    after the other, until no logarithm changes by more than ``tolerance``. Half a tie may count as
    half a win. ``strict=False`` is for resamples, some of which have no finite maximum: what has
    been reached at ``limit`` is returned.

    >>> bradley_terry(np.array([[0, 4], [1, 0]])).round(6).tolist()
    [2.0, 0.5]
    """
    wins = np.asarray(wins, dtype=float)
    n = wins.shape[-1]
    tables = wins.reshape(-1, n, n)
    lost = np.ascontiguousarray(np.swapaxes(tables, 1, 2))
    strength = np.ones(tables.shape[:2])
    for _ in range(limit):
        before = np.log(strength)
        _sweep(tables, lost, strength)
        # Mean first: a common factor is no change.
        log = np.log(strength)
        log = np.clip(log - log.mean(axis=1, keepdims=True), -FARTHEST, FARTHEST)
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


def _sweep(wins: np.ndarray, lost: np.ndarray, strength: np.ndarray) -> None:
    """One round of updates in place, all tables at once."""
    smallest = np.exp(-FARTHEST)
    for i in range(strength.shape[1]):
        sums = strength + strength[:, i, None]
        up = (wins[:, i] * strength / sums).sum(axis=1)
        down = (lost[:, i] / sums).sum(axis=1)
        strength[:, i] = np.maximum(up, smallest) / np.maximum(down, smallest)
