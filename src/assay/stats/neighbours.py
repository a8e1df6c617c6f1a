"""Nearest-neighbour predictions, leave-one-out for units whose value is known.

One sample asks a k-d tree. Many samples of the same units sort the neighbours of every unit once
and then walk down these lists, all samples in step, until each has met its k known ones.
"""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

__all__ = ["neighbour_order", "neighbour_predictions", "walk_neighbours"]

BLOCK = 64
"""Samples that walk together: their bookkeeping should fit the cache."""


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
    tree = scipy.spatial.KDTree(features[known])
    _, near = tree.query(features, k=k + 1)
    near = near.reshape(len(features), k + 1)
    own = np.full(len(features), -1)
    own[known] = np.arange(len(known))
    # Units with the same features may come before a known unit itself: leave it out wherever it is,
    # and otherwise the farthest.
    keep = near != own[:, None]
    keep[keep.all(axis=1), -1] = False
    return np.asarray(np.where(keep, x[near], 0.0).sum(axis=1) / keep.sum(axis=1))


def neighbour_order(features: np.ndarray) -> np.ndarray:
    """For every unit all others, nearest first: units x (units - 1) positions.

    >>> neighbour_order(np.array([[0.0], [1.0], [5.0]])).tolist()
    [[1, 2], [0, 2], [1, 0]]
    """
    size = len(features)
    order = np.empty((size, size - 1), dtype=np.int32)
    squares = (features**2).sum(axis=1)
    for start in range(0, size, 256):  # blocks, so that the distances fit memory
        rows = np.arange(start, min(start + 256, size))
        distance = squares - 2 * features[rows] @ features.T
        distance[rows - start, rows] = -np.inf
        order[rows] = np.argsort(distance, axis=1, kind="stable")[:, 1:]
    return order


def walk_neighbours(
    order: np.ndarray, drawn: np.ndarray, x: np.ndarray, k: np.ndarray
) -> np.ndarray:
    """The predictions of :func:`neighbour_predictions` for many samples: samples x units.

    ``order`` is from :func:`neighbour_order`, ``drawn`` is samples x units, ``k`` one number for
    every sample.

    >>> order = neighbour_order(np.array([[0.0], [1.0], [5.0]]))
    >>> walk_neighbours(order, np.array([[True, False, True]]), np.array([1.0, 7.0, 9.0]),
    ...                 np.array([1])).tolist()
    [[9.0, 1.0, 1.0]]
    """
    found = np.empty(drawn.shape)
    for start in range(0, len(drawn), BLOCK):
        part = slice(start, start + BLOCK)
        found[part] = _walk(order, drawn[part], x, k[part])
    return found


def _walk(order: np.ndarray, drawn: np.ndarray, x: np.ndarray, k: np.ndarray) -> np.ndarray:
    # Units x samples, so that every step copies whole rows.
    known = np.ascontiguousarray(drawn.T.astype(np.uint8))
    valued = known * x[:, None]
    wanted = np.minimum(np.maximum(k, 1), np.maximum(drawn.sum(axis=1) - 1, 1)).astype(np.uint16)
    count = np.zeros(known.shape, dtype=np.uint16)
    total = np.zeros(known.shape)
    for step in range(order.shape[1]):
        near = order[:, step]
        open_ = count < wanted
        if step % 16 == 0 and not open_.any():
            break
        count += known[near] & open_
        total += valued[near] * open_
    return np.asarray((total / np.maximum(count, 1)).T)
