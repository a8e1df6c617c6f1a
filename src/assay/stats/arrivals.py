"""Units that arrive in random order until a budget is met: who is among them.

Give every unit an arrival time t ~ U(0, 1). Given its own t, every other unit stands before it
independently with probability t, so that

    pi_d = integral over t of P(sum of the others' sizes that arrived before t <= limit_d) dt.

The sum S has mean t * total and a standard deviation of order sqrt(total), so the integrand is 1
well below t = limit / total and 0 well above; only a band of ten standard deviations is
integrated, by Gauss-Legendre quadrature. There S lies within a window of the same kind, and its
distribution comes from its characteristic function, the product over the others of
1 - t + t exp(i w size), at the roots of unity of the window's width.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from assay.errors import ConvergenceError

TOLERANCE, BAND_SDS = 1e-9, 11.0
NEGLIGIBLE_LOG = 46.0
"""Factors below exp(-46) = 1e-20 count for nothing."""


@cache
def leggauss(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss-Legendre quadrature, which take longer to find than to use."""
    return np.polynomial.legendre.leggauss(nodes)


def arrival_probabilities(sizes: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """P(the sizes that stand before d in random order sum to at most limits[d]), for every d.

    Those of the last few questions are remembered: many samples are drawn by one plan.

    >>> arrival_probabilities(np.array([1, 1, 2]), np.array([1, 1, 1])).round(6).tolist()
    [0.5, 0.5, 0.666667]
    """
    return _remembered(tuple(sizes.tolist()), tuple(limits.tolist())).copy()


@lru_cache(maxsize=32)
def _remembered(own: tuple[int, ...], most: tuple[int, ...]) -> np.ndarray:
    sizes, limits = np.array(own), np.array(most)
    kinds, which = np.unique(np.stack([sizes, limits]), axis=1, return_inverse=True)
    values, counts = np.unique(sizes, return_counts=True)
    low, high = _band(values, counts, kinds[1])
    previous = np.full(kinds.shape[1], np.inf)
    exact = len(sizes) // 2 + 1  # the integrand is a polynomial of degree len(sizes) - 1
    for nodes in (min(exact, 128), 256, 512):
        times, weights = leggauss(nodes)
        middle, half = (high + low) / 2, (high - low) / 2
        found = low + _quadrature(values, counts, kinds, middle + half * times, half * weights)
        found = np.clip(found, 0.0, 1.0)
        settled = np.abs(found - previous).max() <= TOLERANCE * max(float(found.max()), 1e-3)
        if nodes >= exact or settled:
            return np.asarray(found[which.ravel()])
        previous = found
    raise ConvergenceError("the inclusion probabilities of documents did not converge")


def _band(values: np.ndarray, counts: np.ndarray, limits: np.ndarray) -> tuple[float, float]:
    """Times outside which every sum is certainly below, or above, every limit."""
    total, square = float((values * counts).sum()), float((values**2 * counts).sum())
    low = _edge(float(limits.min()) - float(values.max()), total, square, -1)
    high = _edge(float(limits.max()) + float(values.max()), total, square, +1)
    return low, high


def _edge(limit: float, total: float, square: float, side: int) -> float:
    """Where t * total +- BAND_SDS standard deviations meets the limit, found by bisection."""
    near, far = (0.0, 1.0) if side < 0 else (1.0, 0.0)
    for _ in range(60):
        t = (near + far) / 2
        # For few units the normal spread is too small a reach; the largest sizes make up for it.
        spread = BAND_SDS * np.sqrt(square * t * (1 - t)) + BAND_SDS * BAND_SDS * square / total
        clear = t * total + spread < limit if side < 0 else t * total - spread > limit
        near, far = (t, far) if clear else (near, t)
    return near


def _quadrature(
    values: np.ndarray,
    counts: np.ndarray,
    kinds: np.ndarray,
    times: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    """The integral for every kind (size, limit); ``values`` are the sizes, ``counts`` of each."""
    total, square = int((values * counts).sum()), float((values**2 * counts).sum())
    widest = np.sqrt(square * (times * (1 - times)).max())
    spread = int(2 * BAND_SDS * widest + 2 * BAND_SDS**2 * square / total) + 1
    length = min(total, 2 * spread) + 1
    angle = 2 * np.pi * ((np.arange(length // 2 + 1)[None, :] * values[:, None]) % length) / length
    drop = 1 - np.cos(angle)
    roots = np.exp(-2j * np.pi * np.arange(length) / length)
    found = np.zeros(kinds.shape[1])
    place = np.searchsorted(values, kinds[0])
    for t, weight in zip(times, weights, strict=True):
        first = min(max(0, int(t * total) - spread), total + 1 - length)
        # log |1 - t + t exp(i angle)|, from which most frequencies are seen to contribute nothing.
        size = 0.5 * np.log(np.maximum(1 - 2 * t * (1 - t) * drop, 1e-300))
        here = np.flatnonzero(counts @ size - size.min(axis=0) > -NEGLIGIBLE_LOG)
        logs = size[:, here] + 1j * np.angle(1 - t + t * np.exp(1j * angle[:, here]))
        others = np.exp(counts @ logs - logs)[place]
        tail = _tail(first, kinds[1], here, roots)
        found += weight * (others * tail).real.sum(axis=1)
    return found


def _tail(first: int, limits: np.ndarray, half: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """What a characteristic function is multiplied with to give P(first <= sum <= limit).

    The sum over s = first..limit of exp(-i w s), for the first half of the roots of unity; the
    others are conjugates, so these count twice. One row per limit.
    """
    length = len(roots)
    count = np.clip(limits - first + 1, 0, length)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = (1 - roots[half * count % length]) / (1 - roots[half])
    sums = np.where(half == 0, count.astype(float), sums)
    share = np.where((half == 0) | (2 * half == length), 1.0, 2.0) / length
    return np.asarray(sums * share * roots[half * first % length])
