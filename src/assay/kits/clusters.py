"""The paper's way: clusters of pieces by DBSCAN, with a radius from the knee of a curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

DEGREE = 7
"""Of the polynomial that smooths the curve before its knee is looked for."""


def nearest_distances(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distance of every point to its nearest neighbour, sorted."""
    if len(points) < 2:
        return np.zeros(0)
    tree = KDTree(points)
    # In the order of the tree, neighbours are asked for one after the other, which is faster.
    return np.sort(tree.query(points[tree.indices], k=2)[0][:, 1])


def knee_place(values: NDArray[np.float64]) -> int | None:
    """Where a sorted curve that grows ever faster has its knee (Satopää et al. 2011, Kneedle).

    The curve is smoothed by a polynomial, scaled to the unit square and mirrored so that the knee
    becomes a bulge over the diagonal. A local maximum of that bulge is a knee if the bulge falls
    by more than one step of the x axis before it rises again; the last knee counts, which is the
    leftmost of the curve. None: there is no knee.

    >>> knee_place(np.array([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 4.0, 7.0, 10.0, 13.0, 16.0]))
    5
    """
    count = len(values)
    if count < 4 or values[0] == values[-1]:
        return None
    x = np.arange(count)
    smooth = np.polynomial.Polynomial.fit(x, values, min(DEGREE, count - 2))(x)
    scaled = (smooth - smooth.min()) / np.ptp(smooth)
    bulge = np.flip(1 - scaled) - x / (count - 1)
    padded = np.concatenate(([bulge[0]], bulge, [bulge[-1]]))
    tops = np.flatnonzero((bulge >= padded[:-2]) & (bulge >= padded[2:]))
    bottoms = np.flatnonzero((bulge <= padded[:-2]) & (bulge <= padded[2:]))
    knee = None
    for top in tops:
        after = bottoms[bottoms > top]
        if after.size and bulge[top] - bulge[after[0]] > 1 / (count - 1):
            knee = count - 1 - int(top)
    return knee


def dbscan(points: NDArray[np.float64], radius: float, fewest: int) -> NDArray[np.int64]:
    """The cluster of every point, counted from 0; -1: in none (Ester et al. 1996).

    A point with ``fewest`` points within the radius, itself among them, is a core; clusters are
    cores in reach of one another and what is in reach of them.
    """
    tree = KDTree(points)
    core = tree.query_ball_point(points, radius, return_length=True) >= fewest
    labels = np.full(len(points), -1)
    cluster = 0
    for start in np.flatnonzero(core):
        if labels[start] >= 0:
            continue
        labels[start] = cluster
        stack = [int(start)]
        while stack:
            near = np.asarray(tree.query_ball_point(points[stack.pop()], radius), dtype=np.int64)
            new = near[labels[near] < 0]
            labels[new] = cluster
            stack.extend(new[core[new]].tolist())
        cluster += 1
    return labels
