"""Limits for a test at several planned looks.

Testing at 5 % at each of five looks is wrong in 14 % of cases. Lan and DeMets (1983) spend the 5 %
as information comes in: alpha(t) by the time a share t of it has come in. The function here is of
the type of O'Brien and Fleming (1979), which spends next to nothing early and nearly everything at
the end, so the last look loses hardly any power.

Estimates at the looks are jointly normal with independent increments: sqrt(t) Z_t is a Brownian
motion at the times t. Its density, given that no limit was passed, is carried from look to look by
numerical integration (Armitage, McPherson and Rowe 1969).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

GRID_STEP = 0.02
"""Distance of integration points, on the scale of the Brownian motion."""
LEAST_GRID_STEP = 0.002
MAX_LIMIT = 9.0
"""The bound of integration, in standard errors, and the largest limit."""


def information(n: np.ndarray | float, population: int, raters: float = 0.0) -> np.ndarray:
    """The information of n of N segments on the mean of all: 1 / (1/n - 1/N), infinite at n = N.

    With the share ``raters`` of the variance that belongs to raters: 1 / (1/n - (1 - raters)/N).

    >>> information(np.array([200.0, 400.0]), 1000)
    array([250.        , 666.66666667])
    """
    n = np.asarray(n, dtype=float)
    left = 1 / n - (1 - raters) / population
    return np.asarray(np.divide(1.0, left, out=np.full_like(n, np.inf), where=left > 0))


def planned_sizes(total: int, looks: int) -> tuple[int, ...]:
    """The sizes of so many looks, in equal steps to the whole sample.

    >>> planned_sizes(441, 5)
    (89, 177, 265, 353, 441)
    """
    return tuple(sorted({-(-total * k // looks) for k in range(1, looks + 1)}))


def spent(share: float, level: float) -> float:
    """The probability that may be spent on each side by this share of the information.

    2 (1 - Phi(z_{alpha/4} / sqrt(t))), which is alpha/2 at t = 1.

    >>> round(spent(1.0, 0.95), 4), round(spent(0.5, 0.95), 5)
    (0.025, 0.00153)
    """
    z = -NormalDist().inv_cdf((1 - level) / 4)
    return 2 * normal_tail(z / share**0.5)


def normal_tail(z: float) -> float:
    """P(Z > z), also far out, where 1 - Phi(z) has no digits left.

    >>> normal_tail(9.0)
    1.12858...e-19
    """
    return math.erfc(z / math.sqrt(2)) / 2


@lru_cache(maxsize=256)
def look_limits(shares: tuple[float, ...], level: float) -> tuple[float, ...]:
    """The two-sided limits of |Z| at looks with these shares of the information.

    Shares rise, to 1 at the last planned look; later looks do not change earlier limits.

    >>> [round(limit, 2) for limit in look_limits((0.2, 0.4, 0.6, 0.8, 1.0), 0.95)]
    [4.88, 3.36, 2.68, 2.29, 2.03]
    """
    if not shares or not shares[0] > 0 or any(np.diff(shares) <= 0) or shares[-1] > 1 + 1e-12:
        raise ValueError(f"shares of the information rise from above 0 to 1 at most: {shares}")
    limits: list[float] = []
    points, mass = np.zeros(1), np.ones(1)
    before, used = 0.0, 0.0
    for share, following in zip(shares, (*shares[1:], None), strict=True):
        total = spent(min(share, 1.0), level)
        limit = _limit(points, mass, share, share - before, total - used)
        limits.append(limit)
        if following is None:
            break
        points, mass = _carried(points, mass, share, share - before, limit, following - share)
        before, used = share, total
    return tuple(limits)


def _limit(
    points: np.ndarray, mass: np.ndarray, share: float, passed: float, wanted: float
) -> float:
    """The limit beyond which the motion is, on one side, with the wanted probability."""
    from scipy.optimize import brentq
    from scipy.special import ndtr

    def beyond(limit: float) -> float:
        return float(mass @ ndtr((points - limit * share**0.5) / passed**0.5)) - wanted

    if beyond(MAX_LIMIT) >= 0:
        return MAX_LIMIT
    return float(brentq(beyond, 0.0, MAX_LIMIT, xtol=1e-10))


def _carried(
    points: np.ndarray, mass: np.ndarray, share: float, passed: float, limit: float, coming: float
) -> tuple[np.ndarray, np.ndarray]:
    """Points between the limits at this look, and the density there times Simpson's weights."""
    edge = min(limit, MAX_LIMIT) * share**0.5
    step = max(
        min(GRID_STEP, coming**0.5 / 4), LEAST_GRID_STEP
    )  # short ways to the next look need more
    halves = max(2, int(np.ceil(edge / step)))
    grid = np.linspace(-edge, edge, 2 * halves + 1)
    gaps = (grid[:, None] - points[None, :]) / passed**0.5
    density = np.exp(-(gaps**2) / 2) @ mass / (2 * np.pi * passed) ** 0.5
    weights = np.ones(len(grid))
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    return grid, density * weights * (grid[1] - grid[0]) / 3


def shares_of(sizes: Sequence[int], population: int, raters: float = 0.0) -> tuple[float, ...]:
    """The information at these looks as a share of the last finite one.

    A last look with everything rated, and raters assumed to agree, has infinite information and no
    share.

    >>> [round(share, 3) for share in shares_of((200, 400), 800)]
    [0.333, 1.0]
    >>> [round(share, 3) for share in shares_of((200, 400, 800), 800)]
    [0.333, 1.0]
    """
    known = information(np.array(sizes), population, raters)
    known = known[np.isfinite(known)]
    return tuple((known / known[-1]).tolist()) if len(known) else ()
