"""Plan ahead: the power of a t interval, the difference it can detect, and stable rankings."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from assay.stats.intervals import posterior, root_between, t_quantile

MANY_POWERS, POWER_POINTS, SURELY_FOUND = 4096, 60, 40.0
"""Beyond MANY_POWERS values, interpolate on a grid of POWER_POINTS squared; from SURELY_FOUND
standard errors on, a difference is always found."""
POWER_DEGREES = 100
"""Grid points in the degrees of freedom for :func:`detectable_shifts`."""
PLANNED_DRAWS = 4_000
"""Pairs of simulated campaigns."""


def power_of(shift: np.ndarray, degrees: np.ndarray, level: float) -> np.ndarray:
    """The probability that a t interval excludes zero when the truth is ``shift`` errors from it.

    >>> round(float(power_of(np.array(2.8), np.array(1000.0), 0.95)), 2)
    0.8
    """
    # With a million degrees t is normal to all digits that count.
    shift, degrees = np.broadcast_arrays(shift, np.minimum(degrees, 1e6))
    if shift.size > MANY_POWERS:
        return _interpolated_power(shift, degrees, level)

    def found(shift: float, degrees: float) -> float:
        t = t_quantile(0.5 + level / 2, degrees)
        inside, wrong = (noncentral_t_cdf(end, degrees, shift) for end in (t, -t))
        return min(max(1 - inside + wrong, 0.0), 1.0)

    return np.asarray(np.vectorize(found, otypes=[float])(shift, degrees))


def _interpolated_power(shift: np.ndarray, degrees: np.ndarray, level: float) -> np.ndarray:
    """The power by interpolation on a grid, with errors of about .001."""
    # Power rises within a few errors and then no more: the points are close where it does.
    rising, flat = np.linspace(0, 6, POWER_POINTS), np.geomspace(6, SURELY_FOUND, POWER_POINTS)
    places = np.linspace((1 / degrees).min(), (1 / degrees).max(), POWER_POINTS // 2)
    grid = [np.unique(np.r_[rising, flat]), np.unique(places)]
    table = power_of(grid[0][:, None], 1 / grid[1][None, :], level)
    place = [
        np.interp(values, points, np.arange(len(points)))
        for values, points in zip((shift, 1 / degrees), grid, strict=True)
    ]
    i, j = (own.astype(int) for own in place)
    a, b = place[0] - i, place[1] - j
    table = np.pad(table, (0, 1), mode="edge")
    upper, lower = ((1 - b) * table[k, j] + b * table[k, j + 1] for k in (i, i + 1))
    return np.asarray((1 - a) * upper + a * lower)


def detectable_shifts(degrees: np.ndarray, level: float, power: float) -> np.ndarray:
    """:func:`detectable_shift` for many degrees; for very many by linear interpolation."""
    points, place = np.unique(1 / degrees, return_inverse=True)
    grid = points
    if len(points) > POWER_DEGREES:
        grid = np.linspace(points[0], points[-1], POWER_DEGREES)
    exact = np.array([detectable_shift(1 / point, level, power) for point in grid.tolist()])
    return np.asarray(np.interp(points, grid, exact)[place])


def detectable_shift(degrees: float, level: float, power: float) -> float:
    """The true value, in standard errors, that a t interval detects with this power; NaN: none.

    >>> round(detectable_shift(1000.0, 0.95, 0.8), 2)
    2.8
    """

    def short(shift: float) -> float:
        return float(power_of(np.array(shift), np.array(degrees), level)) - power

    low, high = 0.0, 100.0
    below, above = short(low), short(high)
    if below >= 0:  # chance alone finds as often as asked
        return 0.0
    if above < 0:
        return float("nan")
    normal = t_quantile(0.5 + level / 2, degrees) + NormalDist().inv_cdf(min(power, 0.999))
    for near in (0.98 * normal, 1.1 * normal, 2 * normal):  # where it lies but for few degrees
        if low < near < high:
            value = short(near)
            low, below, high, above = (
                (near, value, high, above) if value < 0 else (low, below, near, value)
            )
    return root_between(short, low, below, high, above, 1e-13)


def noncentral_t_cdf(t: float, degrees: float, shift: float) -> float:
    """P(T <= t) where T = (Z + shift) / S, Z standard normal and S^2 chi-squared over its degrees.

    The integral of Phi(t s - shift) over the density of S, split where Phi rises.

    >>> round(noncentral_t_cdf(2.0, 20, 3.0), 6)
    0.164101
    """
    width = 10 / math.sqrt(2 * degrees)
    ends = [max(0.0, 1 - width), 1 + width]
    if t != 0:
        rises = (shift / t + 9 / t, shift / t - 9 / t)
        ends += [cut for cut in rises if ends[0] < cut < ends[1]]
    ends.sort()
    nodes, weights = _gauss_legendre(80)
    total = 0.0
    for low, high in pairwise(end**0.25 for end in ends):
        # By the fourth root, as the density may rise from 0 as steeply as a root does.
        v = low + (high - low) * (1 + nodes) / 2
        s = v**4
        away = (shift - t * s) / math.sqrt(2)
        below = 0.5 * np.array([math.erfc(x) for x in away.tolist()])
        values = below * _scale_density(s, degrees) * 4 * v**3
        total += (high - low) / 2 * float(weights @ values)
    return min(max(total, 0.0), 1.0)


def _scale_density(s: np.ndarray, degrees: float) -> np.ndarray:
    """The density of the root of a chi-squared variable over its degrees.

    2 a^a / Gamma(a) s^(2a-1) exp(-a s^2), a = degrees/2; at s = 1 by Stirling's series, from there
    by the logarithm of s, so that nothing large is subtracted.
    """
    a = degrees / 2
    if a < 60:
        at_one = 2 * a**a / math.gamma(a) * math.exp(-a)
    else:
        series = 1 / (12 * a) - 1 / (360 * a**3) + 1 / (1260 * a**5)
        at_one = 2 * math.sqrt(a / (2 * math.pi)) * math.exp(-series)
    with np.errstate(divide="ignore"):
        away = (2 * a - 1) * np.log(s) - a * (s - 1) * (s + 1)
    return np.asarray(at_one * np.exp(away))


@cache
def _gauss_legendre(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [-1, 1]: the zeros of the Legendre polynomial, by Newton's method."""
    x = np.cos(np.pi * (np.arange(n, 0, -1) - 0.25) / (n + 0.5))
    for _ in range(6):
        before, value = np.ones(n), x
        for k in range(2, n + 1):
            before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
        slope = n * (x * value - before) / (x * x - 1)
        x = x - value / slope
    return x, 2 / ((1 - x * x) * slope**2)


def expected_stability(
    means: np.ndarray, covariance: np.ndarray, later: np.ndarray
) -> tuple[float, float]:
    """The chances that two future campaigns agree on the whole order, and on an average pair.

    A pilot estimates ``means`` with ``covariance``; each campaign will have the covariance
    ``later``.

    >>> pilot = np.array([3.0, 1.0, 0.9]), 0.1 * np.eye(3)
    >>> [round(chance, 2) for chance in expected_stability(*pilot, 0.01 * np.eye(3))]
    [0.86, 0.95]
    """
    truth, random = posterior(means, covariance), np.random.default_rng(0)
    k = truth.kept[random.choice(len(truth.kept), PLANNED_DRAWS, p=truth.weight)]
    noise = random.standard_normal(k.shape)
    scores = (k * truth.seen + np.sqrt(k * truth.error) * noise) @ truth.back.T
    errors = random.multivariate_normal(np.zeros(len(means)), later, (2, PLANNED_DRAWS))
    left, right = np.triu_indices(len(means), 1)
    one, other = (scores + error for error in errors)
    same = (one[:, left] > one[:, right]) == (other[:, left] > other[:, right])
    return float(same.all(axis=1).mean()), float(same.mean())
