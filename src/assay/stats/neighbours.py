"""Nearest-neighbour predictions, leave-one-out for units whose value is known."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

__all__ = ["neighbour_predictions"]


def neighbour_predictions(
    features: np.ndarray, known: np.ndarray, x: np.ndarray, k: int
) -> np.ndarray:
    """Predict every unit by the mean of its k nearest known ones, itself left out.

    ``features`` is units x p, ``known`` the positions with known values ``x``. The paper takes
    k = 25 (saldias2022, section 4.1).

    >>> neighbour_predictions(np.array([[0.0], [1.0], [5.0]]), np.array([0, 2]),
    ...                       np.array([1.0, 9.0]), 1).tolist()
    [9.0, 1.0, 1.0]
    """
    k = max(1, min(k, len(known) - 1))
    tree = KDTree(features[known])
    _, near = tree.query(features, k=k + 1)
    near = near.reshape(len(features), k + 1)
    own = np.full(len(features), -1)
    own[known] = np.arange(len(known))
    # Units with the same features may come before a known unit itself: leave it out wherever it is,
    # and otherwise the farthest.
    keep = near != own[:, None]
    keep[keep.all(axis=1), -1] = False
    return np.asarray(np.where(keep, x[near], 0.0).sum(axis=1) / keep.sum(axis=1))
