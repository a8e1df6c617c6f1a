"""The probability that a unit is drawn when units come in random order until a budget is met.

Give every unit an arrival time t ~ U(0, 1). Given its own t, every other unit comes before it
independently with probability t, so that

    pi_d = integral over t of P(sum of the others' sizes that arrived before t <= limit_d) dt.

The sum S of all sizes before t has mean t * total and a standard deviation of order sqrt(total), so
the integrand is 1 well below t = limit / total and 0 well above; only the band between is
integrated, by Gauss-Legendre quadrature with as many nodes as its smoothness asks for. The law of S
comes from its characteristic function, the product over units of 1 - t + t exp(i w size), by one
Fourier transform for each t; leaving a unit out of it is a short series (:func:`_without`).
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

TOLERANCE = 1e-10
NEGLIGIBLE_LOG = 35.0
"""Probabilities below exp(-35) = 6e-16 are ignored."""


@cache
def leggauss(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss-Legendre quadrature, which take longer to find than to use."""
    return np.polynomial.legendre.leggauss(nodes)


def arrival_probabilities(sizes: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """P(the sizes before d in random order sum to at most limits[d]), for every d; cached.

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
    times, weights = leggauss(_nodes(len(sizes), low, high))
    middle, half = (high + low) / 2, (high - low) / 2
    found = low + _quadrature(values, counts, kinds, middle + half * times, half * weights)
    return np.asarray(np.clip(found, 0.0, 1.0)[which.ravel()])


def _reach(values: np.ndarray, counts: np.ndarray, t: np.ndarray | float) -> np.ndarray:
    """How far S may be from its mean, but for what is negligible (Bernstein's inequality)."""
    drift = NEGLIGIBLE_LOG * values.max() / 3
    square = (values**2 * counts).sum()
    return np.asarray(drift + np.sqrt(drift**2 + 2 * NEGLIGIBLE_LOG * square * t * (1 - t)))


def _band(values: np.ndarray, counts: np.ndarray, limits: np.ndarray) -> tuple[float, float]:
    """Times outside which every sum is certainly below, or above, every limit."""
    t = np.linspace(0.0, 1.0, 4097)
    mean, reach = t * (values * counts).sum(), _reach(values, counts, t)
    below = np.flatnonzero(mean + reach < limits.min())
    above = np.flatnonzero(mean - reach > limits.max() + values.max())
    low = t[below[-1]] if len(below) else 0.0
    return float(low), float(t[above[0]] if len(above) else 1.0)


def _nodes(units: int, low: float, high: float) -> int:
    """How many nodes integrate to TOLERANCE.

    The integrand is a polynomial of degree units - 1, for which units / 2 are exact. Fewer do where
    it is smooth: at a complex time z it is at most (|1 - z| + |z|)^(units - 1), and on the ellipse
    rho around the band that bounds the error by 64/15 M rho^(-2 nodes) / (1 - rho^-2)
    (Trefethen 2013, theorem 19.3).
    """
    rho = np.geomspace(1.02, 20.0, 60)[:, None]
    edge = rho * np.exp(1j * np.linspace(0, np.pi, 40))
    z = (low + high) / 2 + (high - low) / 4 * (edge + 1 / edge)
    largest = (units - 1) * np.log(np.abs(1 - z) + np.abs(z)).max(axis=1)
    needed = (largest + np.log(64 / 15 / TOLERANCE / (1 - rho[:, 0] ** -2))) / np.log(rho[:, 0]) / 2
    return int(min(np.ceil(needed.min()), units // 2 + 1))


def _quadrature(
    values: np.ndarray, counts: np.ndarray, kinds: np.ndarray, times: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """The integral for every kind (size, limit); ``values`` are the sizes, ``counts`` of each."""
    from scipy import fft  # slow to load, and only needed here

    total = int((values * counts).sum())
    spread = int(_reach(values, counts, times).max()) + 1
    length = fft.next_fast_len(min(total, 2 * spread) + 1, real=True)
    turns = (np.arange(length // 2 + 1) * values[:, None]) % length
    angle = 2 * np.pi * np.arange(length) / length
    sine, drop = np.sin(angle), 1 - np.cos(angle)
    # Those who arrive after t are those before 1 - t when time runs backwards: t <= 1/2 will do.
    late = total - kinds[0] - kinds[1] - 1
    found = np.zeros(kinds.shape[1])
    for t, weight in zip(times, weights, strict=True):
        early = min(t, 1 - t)
        # log(1 - t + t exp(-i angle)); numpy's complex logarithm takes ten times as long.
        size = 0.5 * np.log(np.maximum(1 - 2 * early * (1 - early) * drop, 1e-300))
        logs = size - 1j * np.arctan2(early * sine, 1 - early * drop)
        law = np.exp(counts @ logs[turns])
        first = max(0, min(int(early * total) - spread, total + 1 - length))
        chances = np.roll(fft.irfft(law, length), -(first % length))
        below = np.append(0.0, np.cumsum(chances))
        limits = (kinds[1] if t <= 0.5 else late) - first
        share = _without(kinds[0], limits, below, early)
        found += weight * (share if t <= 0.5 else 1 - share)
    return found


def _without(sizes: np.ndarray, limits: np.ndarray, below: np.ndarray, t: float) -> np.ndarray:
    """P(S <= limit) without a unit of this size, from ``below[k]`` = P(S < k) with it, t <= 1/2.

    P(S <= s) = (1 - t) G(s) + t G(s - size), so that G(s) is the sum over j of
    (-t / (1 - t))^j P(S <= s - j size), over 1 - t.
    """
    ratio = t / (1 - t)
    longest = max(int((limits // sizes).max()) + 1, 1)
    if ratio < 1:
        # At the end of time, where everybody has arrived, the ratio is 0.
        longest = min(longest, int(-NEGLIGIBLE_LOG / np.log(max(ratio, 1e-300))) + 2)
    step = np.arange(longest)
    places = np.clip(limits + 1 - step[:, None] * sizes, 0, len(below) - 1)
    return np.asarray((-ratio) ** step @ below[places] / (1 - t))
