"""Means over clusters: system means of many samples at once, and how certain their order is."""

from __future__ import annotations

import numpy as np
from scipy import special


def prefix_sums(values: np.ndarray) -> np.ndarray:
    """Running sums over segments, (N+1) x systems: any window's sum is a difference of two rows."""
    sums = np.zeros((values.shape[1] + 1, values.shape[0]))
    np.cumsum(values.T, axis=0, out=sums[1:])
    return sums


def window_sums(prefix: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Sums over windows [start, stop): the shape of ``starts``, then systems."""
    return np.asarray(prefix[stops] - prefix[starts])


def difference_z(sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Z of every difference of two systems' means, with clustered standard errors.

    ``sums`` (..., clusters, systems) are the cluster totals of paired scores, ``sizes``
    (..., clusters) the cluster sizes. With residual totals e_c = sum_c - size_c * mean, the
    variance of a difference of means is K/(K-1) * sum_c (e_ci - e_cj)^2 / n^2, K the clusters
    that are not empty. Target: new documents like these.
    """
    n = np.maximum(sizes.sum(axis=-1), 1)  # an empty sample has mean 0
    means = sums.sum(axis=-2) / n[..., None]
    residual = sums - sizes[..., None] * means[..., None, :]
    cross = np.swapaxes(residual, -1, -2) @ residual
    return _z(means, cross, n, (sizes > 0).sum(axis=-1))


def unit_z(
    masks: np.ndarray, values: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Means and z of samples of single segments: the same, from one product of matrices.

    ``masks`` is samples x segments, ``values`` systems x segments. ``weights`` make the means
    weighted (Hajek) and their residuals w (x - mean). The cross products of a sample are sums of
    those of its segments.
    """
    systems, population = values.shape
    w = np.ones(population) if weights is None else weights
    i, j = np.triu_indices(systems)
    center = values.mean(axis=1, keepdims=True)  # keeps the differences of large sums small
    x = values - center
    parts = [w * x, w**2 * x, w**2 * x[i] * x[j], w[None, :], w[None, :] ** 2]
    totals = masks.astype(np.float64) @ np.concatenate(parts).T
    cuts = np.cumsum([systems, systems, len(i), 1])
    sums, squares, products, weight, square = np.split(totals, cuts, axis=1)
    empty = masks.sum(axis=1) == 0
    weight = np.where(empty[:, None], 1.0, weight)
    means = sums / weight
    cross = np.empty((len(masks), systems, systems))
    cross[:, i, j] = products
    cross[:, j, i] = products
    lean = squares[:, :, None] * means[:, None, :]
    cross -= lean + np.swapaxes(lean, 1, 2)
    cross += square[:, :, None] * means[:, :, None] * means[:, None, :]
    n = np.maximum(masks.sum(axis=1), 1)
    means = means + center[:, 0]
    return means, _z(means, cross, weight[:, 0], n)


def _z(means: np.ndarray, cross: np.ndarray, n: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Z of all differences from the cross products of residual totals."""
    alone = np.diagonal(cross, axis1=-2, axis2=-1)
    square = np.maximum(alone[..., :, None] + alone[..., None, :] - 2 * cross, 0.0)
    factor = clusters / np.maximum(clusters - 1, 1) / n.astype(float) ** 2
    gap = means[..., :, None] - means[..., None, :]
    return safe_z(gap, np.sqrt(square * factor[..., None, None]))


def safe_z(gap: np.ndarray, stderr: np.ndarray) -> np.ndarray:
    """Gap / stderr; infinite for a gap without any spread, 0 without a gap."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(stderr > 0, gap / stderr, np.where(gap == 0, 0.0, np.sign(gap) * np.inf))


def normal_quantile(level: float) -> float:
    """The two-sided normal quantile of a level: 1.96 for .95."""
    return float(special.ndtri(0.5 + level / 2))
