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
    """All units by nearness: column i of both tables is about unit i.

    ``order[p, i]`` is the p-th nearest of the others, ``place[j, i]`` says where j stands among
    them (i itself after all others).
    """

    order: np.ndarray
    place: np.ndarray


def sorted_neighbours(features: np.ndarray) -> Neighbours:
    """The neighbours of all units; takes memory for N^2 numbers. Those of the last are kept.

    >>> sorted_neighbours(np.array([[0.0], [1.0], [5.0]])).place.tolist()
    [[3, 0, 1], [0, 3, 0], [1, 1, 3]]
    """
    return _sorted(np.ascontiguousarray(features, dtype=float).tobytes(), features.shape)


@lru_cache(maxsize=1)
def _sorted(data: bytes, shape: tuple[int, int]) -> Neighbours:
    features = np.frombuffer(data).reshape(shape)
    size = len(features)
    kind = np.uint16 if size < 2**16 else np.uint32
    order, place = np.empty((size - 1, size), kind), np.full((size, size), size, kind)
    squares = (features**2).sum(axis=1)
    for start in range(0, size, 256):  # blocks, so that the distances fit memory
        rows = np.arange(start, min(start + 256, size))
        distance = squares - 2 * features[rows] @ features.T
        distance[rows - start, rows] = -np.inf
        nearest = np.argsort(distance, axis=1, kind="stable")[:, 1:].T
        order[:, rows] = nearest
        place[nearest, rows] = np.arange(size - 1)[:, None]
    return Neighbours(order, place)


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
    for step in range(len(order)):
        at = order[step]
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
    steps = np.zeros(known.shape, dtype=near.place.dtype)
    open_ = np.empty(known.shape, dtype=bool)
    for step in range(len(near.order)):
        np.less(count, wanted, out=open_)
        if step % 16 == 0 and not open_.any():
            break
        hit = known[near.order[step]]
        hit &= open_.view(np.uint8)
        count += hit
        steps += open_
    # einsum and not @: products this small are slower in the threads of a busy BLAS.
    total = np.stack([
        np.einsum("j,ji->i", x[row], near.place[row] < far)
        for row, far in zip(drawn, np.ascontiguousarray(steps.T), strict=True)
    ])  # fmt: skip
    return np.asarray(total / np.maximum(count.T, 1))
