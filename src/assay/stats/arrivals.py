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

import numpy as np

from assay.errors import ConvergenceError

TOLERANCE, BAND_SDS = 1e-9, 11.0
NEGLIGIBLE_LOG = 46.0
"""Factors below exp(-46) = 1e-20 count for nothing."""


def arrival_probabilities(sizes: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """P(the sizes that stand before d in random order sum to at most limits[d]), for every d.

    >>> arrival_probabilities(np.array([1, 1, 2]), np.array([1, 1, 1])).round(6).tolist()
    [0.5, 0.5, 0.666667]
    """
    kinds, which = np.unique(np.stack([sizes, limits]), axis=1, return_inverse=True)
    values, counts = np.unique(sizes, return_counts=True)
    low, high = _band(values, counts, kinds[1])
    previous = np.full(kinds.shape[1], np.inf)
    for nodes in (32, 64, 128, 256, 512):
        times, weights = np.polynomial.legendre.leggauss(nodes)
        middle, half = (high + low) / 2, (high - low) / 2
        found = low + _quadrature(values, counts, kinds, middle + half * times, half * weights)
        found = np.clip(found, 0.0, 1.0)
        if np.abs(found - previous).max() <= TOLERANCE * max(float(found.max()), 1e-3):
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
    found = np.zeros(kinds.shape[1])
    place = np.searchsorted(values, kinds[0])
    for t, weight in zip(times, weights, strict=True):
        first = min(max(0, int(t * total) - spread), total + 1 - length)
        # log |1 - t + t exp(i angle)|, from which most frequencies are seen to contribute nothing.
        size = 0.5 * np.log(np.maximum(1 - 2 * t * (1 - t) * drop, 1e-300))
        here = np.flatnonzero(counts @ size - size.min(axis=0) > -NEGLIGIBLE_LOG)
        logs = size[:, here] + 1j * np.angle(1 - t + t * np.exp(1j * angle[:, here]))
        others = np.exp(counts @ logs - logs)
        for kind, limit in enumerate(kinds[1]):
            tail = _tail(first, int(limit), here, length)
            found[kind] += weight * float((others[place[kind]] * tail).real.sum())
    return found


def _tail(first: int, limit: int, half: np.ndarray, length: int) -> np.ndarray:
    """What a characteristic function is multiplied with to give P(first <= sum <= limit).

    The sum over s = first..limit of exp(-i w s), for the first half of the roots of unity; the
    others are conjugates, so these count twice.
    """
    count = min(max(limit - first + 1, 0), length)
    if count == 0:
        return np.zeros(len(half), dtype=complex)
    base = np.exp(-2j * np.pi * half / length)
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = (1 - np.exp(-2j * np.pi * (half * count % length) / length)) / (1 - base)
    sums = np.where(half == 0, float(count), sums)
    share = np.where((half == 0) | (2 * half == length), 1.0, 2.0) / length
    return np.asarray(sums * share * np.exp(-2j * np.pi * (half * first % length) / length))
