"""Nearest-neighbour predictions, leave-one-out for units whose value is known.

For one sample by a k-d tree. For many samples of the same units, the neighbours of every unit are
sorted once, and all samples walk down these lists in step until each has met k known units.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

SAMPLES_AT_ONCE = 256
"""Samples that walk together: their bookkeeping should fit the cache."""
SPARSE_SHARE = 0.12
"""Where a smaller share is drawn, sums over the drawn units are quicker than along the walks."""


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
    itself = np.full(len(features), -1)
    itself[known] = np.arange(len(known))
    # Units with the same features may come before a known unit itself: leave it out wherever it is,
    # and otherwise the farthest.
    keep = near != itself[:, None]
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
        nearest = _stable_order(distance)[:, 1:].T
        order[:, rows] = nearest
        place[nearest, rows] = np.arange(size - 1)[:, None]
    return Neighbours(order, place)


def _stable_order(values: np.ndarray) -> np.ndarray:
    """A stable argsort of every row; without ties the unstable one, twice as fast, is as good."""
    order = np.argsort(values, axis=1)
    line = np.take_along_axis(values, order, axis=1)
    tied = (line[:, 1:] == line[:, :-1]).any(axis=1)
    order[tied] = np.argsort(values[tied], axis=1, kind="stable")
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
    means = np.empty(drawn.shape)
    wanted = np.minimum(np.maximum(k, 1), np.maximum(drawn.sum(axis=1) - 1, 1)).astype(np.uint8)
    summed = _sums_by_sample if drawn.mean() < SPARSE_SHARE else _sums_by_unit
    for start in range(0, len(drawn), SAMPLES_AT_ONCE):
        part = slice(start, start + SAMPLES_AT_ONCE)
        # Units x samples, so that every step copies whole rows, and of single bytes only.
        known = np.ascontiguousarray(drawn[part].T)
        count, length = _walk(near, known, wanted[part])
        means[part] = summed(near, known, x, length) / np.maximum(count.T, 1)
    return means


def _walk(near: Neighbours, known: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many known units every walk meets, and after how many steps: units x samples."""
    count = np.zeros(known.shape, dtype=np.uint8)
    length = np.zeros(known.shape, dtype=near.place.dtype)
    going, met = np.empty_like(known), np.empty_like(known)
    for step, nearest in enumerate(near.order):
        np.less(count, wanted, out=going)
        if step % 16 == 0 and not going.any():
            break
        np.take(known, nearest, axis=0, out=met, mode="clip")
        met &= going
        count += met
        length += going
    return count, length


def _sums_by_sample(
    near: Neighbours, known: np.ndarray, x: np.ndarray, length: np.ndarray
) -> np.ndarray:
    """Sums of x over what the walks met, samples x units; quick where few units are known."""
    # einsum and not @: products this small are slower in the threads of a busy BLAS.
    return np.stack([
        np.einsum("j,ji->i", x[row], near.place[row] < far)
        for row, far in zip(known.T, np.ascontiguousarray(length.T), strict=True)
    ])  # fmt: skip


def _sums_by_unit(
    near: Neighbours, known: np.ndarray, x: np.ndarray, length: np.ndarray
) -> np.ndarray:
    """The same; quick where the walks are short."""
    longest = length.max(axis=1)
    order = np.ascontiguousarray(near.order[: longest.max()].T)
    step = np.arange(len(order[0]), dtype=length.dtype)[:, None]
    sums = np.empty(known.shape)
    for i, last in enumerate(longest.tolist()):
        met = known[order[i, :last]]
        met &= step[:last] < length[i]
        np.einsum("j,ji->i", x[order[i, :last]], met, out=sums[i])
    return sums.T
