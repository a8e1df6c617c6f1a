"""Nearest-neighbour predictions, leave-one-out for units whose value is known.

One sample asks a k-d tree. Many samples of the same units sort the neighbours of every unit once
and then walk down these lists, all samples in step, until each has met its k known ones.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

BLOCK, FEW_BLOCK = 64, 256
"""Samples that walk together: their bookkeeping should fit the cache."""
SPARSE = 0.22
"""Where a smaller share is drawn, walks are long and sums are made afterwards."""


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


class Neighbours(NamedTuple):
    """All units by nearness.

    ``order[i]`` has the others from near to far, ``place[j, i]`` says where in it j stands (the
    number of units for i itself).
    """

    order: np.ndarray
    place: np.ndarray


@lru_cache(maxsize=1)
def _sorted(features: bytes, shape: tuple[int, int]) -> Neighbours:
    order = _order(np.frombuffer(features).reshape(shape))
    size = len(order)
    place = np.full((size, size), size, dtype=np.uint16)
    ranks = np.broadcast_to(np.arange(size - 1, dtype=np.uint16), order.shape)
    np.put_along_axis(place, order, ranks, axis=1)
    return Neighbours(order, np.ascontiguousarray(place.T))


def sorted_neighbours(features: np.ndarray) -> Neighbours:
    """The neighbours of all units, fewer than 65,536; those of the last features are kept.

    >>> sorted_neighbours(np.array([[0.0], [1.0], [5.0]])).place.tolist()
    [[3, 0, 1], [0, 3, 0], [1, 1, 3]]
    """
    return _sorted(np.ascontiguousarray(features, dtype=float).tobytes(), features.shape)


def _order(features: np.ndarray) -> np.ndarray:
    """For every unit all others, nearest first."""
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
    near: Neighbours, drawn: np.ndarray, x: np.ndarray, k: np.ndarray
) -> np.ndarray:
    """The predictions of :func:`neighbour_predictions` for many samples: samples x units.

    ``drawn`` is samples x units, ``k`` one number for every sample, below 256.

    >>> near = sorted_neighbours(np.array([[0.0], [1.0], [5.0]]))
    >>> walk_neighbours(near, np.array([[True, False, True]]), np.array([1.0, 7.0, 9.0]),
    ...                 np.array([1])).tolist()
    [[9.0, 1.0, 1.0]]
    """
    found = np.empty(drawn.shape)
    sparse = drawn.mean() < SPARSE
    block = FEW_BLOCK if sparse else BLOCK
    wanted = np.minimum(np.maximum(k, 1), np.maximum(drawn.sum(axis=1) - 1, 1)).astype(np.uint8)
    for start in range(0, len(drawn), block):
        part = slice(start, start + block)
        if sparse:
            found[part] = _reach(near, drawn[part], x, wanted[part])
        else:
            found[part] = _walk(near.order, drawn[part], x, wanted[part])
    return found


def _walk(order: np.ndarray, drawn: np.ndarray, x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Sum up on the way: the walk is short where many are drawn."""
    # Units x samples, so that every step copies whole rows, and of single bytes only.
    known = np.ascontiguousarray(drawn.T.astype(np.uint8))
    count = np.zeros(known.shape, dtype=np.uint8)
    total, added = np.zeros(known.shape), np.empty(known.shape)
    for step in range(order.shape[1]):
        at = order[:, step]
        open_ = count < wanted
        if step % 16 == 0 and not open_.any():
            break
        hit = known[at] & open_
        count += hit
        total += np.multiply(hit, x[at, None], out=added)
    return np.asarray((total / np.maximum(count, 1)).T)


def _reach(near: Neighbours, drawn: np.ndarray, x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Find how far each walk goes, in bytes; then sum over the few that are drawn."""
    known = np.ascontiguousarray(drawn.T.astype(np.uint8))
    count = np.zeros(known.shape, dtype=np.uint8)
    steps = np.zeros(known.shape, dtype=np.uint16)
    open_ = np.empty(known.shape, dtype=bool)
    for step in range(near.order.shape[1]):
        np.less(count, wanted, out=open_)
        if step % 16 == 0 and not open_.any():
            break
        hit = known[near.order[:, step]]
        hit &= open_.view(np.uint8)
        count += hit
        steps += open_
    reach = np.ascontiguousarray(steps.T)
    total = np.stack([
        x[row] @ (near.place[row] < far) for row, far in zip(drawn, reach, strict=True)
    ])  # fmt: skip
    return np.asarray(total / np.maximum(count.T, 1))
