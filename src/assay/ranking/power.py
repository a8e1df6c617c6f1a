"""The expected share of significant pairs of a campaign, computed without simulation.

The model is that of koehn2012, section 3: qualities mu ~ U[0, 10], sets of k of the n systems,
outputs q ~ N(mu, sigma^2). In a pair with the gap d the better system wins a judgment with the
probability p = Phi(d / (sigma sqrt 2)). A set contains a given pair with the probability
c = k (k - 1) / (n (n - 1)), so m sets compare it Bin(m, c) times.

As in the paper, the share counts pairs that are significant at the one-sided level in either
direction, including the few in the wrong direction.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load
from numpy.typing import NDArray

from assay.ranking.strengths import Strengths

SCALE = 10.0
"""Qualities range from 0 to this."""
MAX_SD_EXACT = 9.0
"""The exact sum is used if the standard deviation of a pair's number of judgments is smaller: it is
then short, and the normal approximation would be off by more than 1 % of the judgments."""
MAX_SDS = 6.5
"""The exact sum covers this many standard deviations; the rest has a probability of 1e-10."""
MAX_TABLED = 4096
"""Critical wins are tabled for fewer judgments of a pair than this."""
MAX_LOG_ERROR = 0.4
"""The exact number is first looked for within this distance of the quick one, as a logarithm."""
MAX_JUDGMENTS = 1e9
"""More judgments than this are out of reach."""
Floats = NDArray[np.float64]
Noise = float | Strengths
"""sigma, for systems drawn from U[0, 10], or the strengths of the systems of a pilot."""


def sign_share_exact(
    systems: int, sigma: Noise, judgments: float, *, per_set: int = 5, level: float = 0.05
) -> float:
    """The expected share of significant pairs by the sign test, exact up to quadrature.

    Sums over the number N of judgments of a pair the binomial tail at the critical value for N,
    with Gauss-Legendre quadrature over the gap d, whose density is 2 (1 - d/10) / 10.

    >>> round(sign_share_exact(15, 10.0, 80_000), 3)
    0.8
    """
    m, c = _sets(systems, judgments, per_set)
    whole = round(m)
    mean, sd = whole * c, np.sqrt(whole * c * (1 - c))
    first = max(0, int(mean - MAX_SDS * sd) - 1)
    N = np.arange(first, min(whole, int(mean + MAX_SDS * sd) + 2) + 1)
    x = _critical_table(level)[N] if N[-1] < MAX_TABLED else critical_wins(N, level)
    p, weight = _win_probabilities(sigma)
    beats = scipy.special.betainc(x, np.maximum(N - x + 1, 1e-9), p[:, None])
    loses = scipy.special.betainc(x, np.maximum(N - x + 1, 1e-9), 1 - p[:, None])
    rejects = np.where(x <= N, beats + loses, 0.0)
    return float(weight @ (rejects @ _binomial(N, whole, c)))


def sign_share(
    systems: int, sigma: Noise, judgments: float, *, per_set: int = 5, level: float = 0.05
) -> float:
    """The expected share of significant pairs by the sign test in under a millisecond.

    Uses normal tails, averaged over N by Gauss-Hermite quadrature. The critical number of wins is
    an integer; on average over N it is half a win above N/2 + z sqrt(N)/2 (continuity-corrected).
    For few judgments per pair it is the exact sum.

    >>> round(sign_share(15, 10.0, 80_000), 3)
    0.8
    """
    m, c = _sets(systems, judgments, per_set)
    if np.sqrt(m * c * (1 - c)) < MAX_SD_EXACT:
        return sign_share_exact(systems, sigma, judgments, per_set=per_set, level=level)
    return _normal_share(systems, sigma, judgments, per_set=per_set, level=level)


def _normal_share(
    systems: int, sigma: Noise, judgments: float, *, per_set: int, level: float
) -> float:
    m, c = _sets(systems, judgments, per_set)
    mean, sd = m * c, np.sqrt(m * c * (1 - c))
    t, spread = _hermite(5)
    N = np.maximum(mean + sd * t, 1e-9)
    p, weight = _win_probabilities(sigma)
    lead = N * (p[:, None] - 0.5)
    bar = -scipy.special.ndtri(level) * np.sqrt(N) / 2 + 0.5
    # If the better system always wins, there is no noise to divide by.
    noise = np.sqrt(N * np.maximum(p * (1 - p), 1e-30)[:, None])
    rejects = scipy.special.ndtr((lead - bar) / noise) + scipy.special.ndtr((-lead - bar) / noise)
    return float(weight @ (rejects @ spread))


def pooled_share(
    systems: int, sigma: Noise, judgments: float, *, per_set: int = 5, level: float = 0.05
) -> float:
    """The expected share of significant pairs by the pooled test with sets as blocks.

    With a win as 1 and a loss as -1, least squares gives a system the mean of (2 p - 1) over all
    systems. The sandwich sums, over m sets, the variance v of a system's residual sum on a screen;
    the residuals of a screen sum to 0, so two systems on it have the covariance -v / (k - 1). The
    other systems' qualities shift a gap slightly, which widens the normal tail.

    >>> round(pooled_share(15, 10.0, 20_000), 2)
    0.8
    """
    n, k = systems, per_set
    m, c = _sets(n, judgments, k)
    if isinstance(sigma, Strengths):
        return sigma.pooled_share(m, c, k, level)
    weight, direct, mean, spread, v = _pooled_parts(sigma, k)
    signal = (2 * direct + (n - 2) * mean) / n
    shift = (n - 2) * spread / n**2
    stderr = np.sqrt(2 * m * v * (k / n + c / (k - 1))) / (m * c * n)
    width = np.sqrt(stderr**2 + shift)
    bar = -scipy.special.ndtri(level) * stderr
    rejects = scipy.special.ndtr((signal - bar) / width) + scipy.special.ndtr(
        (-signal - bar) / width
    )
    return float(np.sum(weight * rejects))


@lru_cache(maxsize=1024)
def judgments_for(
    share: float, systems: int, sigma: Noise, *, test: str = "sign", per_set: int = 5,
    level: float = 0.05,
) -> float:  # fmt: skip
    """The number of judgments at which the expected share of significant pairs reaches ``share``.

    ``test`` is ``sign`` or ``pooled``. If the share jumps (few sets, all systems on every screen),
    this is one of several crossings.

    >>> [round(judgments_for(0.8, 15, 10.0, test=test), -3) for test in ("sign", "pooled")]
    [80000.0, 21000.0]
    """
    least, most = np.log(per_set * (per_set - 1) / 2), np.log(MAX_JUDGMENTS)

    def short(log: float, reached: Callable[..., float]) -> float:
        return reached(systems, sigma, float(np.exp(log)), per_set=per_set, level=level) - share

    if test == "pooled":
        return _crossing(partial(short, reached=pooled_share), least, most)
    # The quick normal form first; the exact sum is needed only near its result.
    rough = _crossing(partial(short, reached=_normal_share), least, most)
    at = min(max(np.log(rough), least), most)
    exact = partial(short, reached=sign_share)
    low, high = max(at - MAX_LOG_ERROR, least), min(at + MAX_LOG_ERROR, most)
    if exact(low) >= 0:
        low, high = least, low
    elif exact(high) < 0:
        low, high = high, most
    return _crossing(exact, low, high)


def _crossing(short: Callable[[float], float], low: float, high: float) -> float:
    """The judgments at which a share is reached, given its shortfall by their logarithm."""
    from scipy import optimize  # slow to load

    if short(low) >= 0:
        return float(np.exp(low))
    if short(high) < 0:
        return float("inf")
    return float(np.exp(optimize.brentq(short, low, high, xtol=1e-5)))


def critical_wins(N: NDArray[np.int64], level: float = 0.05) -> NDArray[np.int64]:
    """The fewest wins out of N that are significant, one-sided; N + 1 if none are.

    >>> critical_wins(np.array([4, 5, 10, 100])).tolist()
    [5, 5, 9, 59]
    """
    N = np.asarray(N)
    x = np.floor(N / 2 - scipy.special.ndtri(level) * np.sqrt(N) / 2).astype(np.int64)
    # The normal value is off by at most two; step to the exact one.
    for _ in range(6):
        x = np.where(_tail(x, N) > level, x + 1, x)
    for _ in range(6):
        x = np.where(_tail(x - 1, N) <= level, x - 1, x)
    return np.asarray(np.minimum(x, N + 1))


@lru_cache(maxsize=8)
def _critical_table(level: float) -> NDArray[np.int64]:
    return critical_wins(np.arange(MAX_TABLED), level)


def _tail(x: NDArray[np.int64], N: NDArray[np.int64]) -> Floats:
    """P(X >= x) for N tosses of a fair coin."""
    inside = (x >= 1) & (x <= N)
    tail = scipy.special.betainc(np.where(inside, x, 1), np.where(inside, N - x + 1, 1), 0.5)
    return np.asarray(np.where(inside, tail, np.where(x > N, 0.0, 1.0)))


def _sets(n: int, judgments: float, k: int) -> tuple[float, float]:
    """The number of sets, and the probability that a set contains a given pair."""
    return judgments / (k * (k - 1) / 2), k * (k - 1) / (n * (n - 1))


def _binomial(N: NDArray[np.int64], m: int, c: float) -> Floats:
    if c >= 1:
        return np.asarray(np.equal(N, m), dtype=float)
    ways = (
        scipy.special.gammaln(m + 1)
        - scipy.special.gammaln(N + 1)
        - scipy.special.gammaln(m - N + 1)
    )
    return np.asarray(np.exp(ways + N * np.log(c) + (m - N) * np.log1p(-c)))


def _win_probabilities(sigma: Noise) -> tuple[Floats, Floats]:
    """Nodes and weights of p over the triangular distribution of gaps, or over a pilot's gaps."""
    if isinstance(sigma, Strengths):
        return sigma.nodes
    u, w = _legendre()
    # Gaps as cubes: with very many judgments only tiny gaps are undecided.
    t = u**3
    return scipy.special.ndtr(SCALE * t / (sigma * np.sqrt(2))), 2 * (1 - t) * 3 * u**2 * w


def _lead(gap: Floats, sigma: float) -> Floats:
    """2 p - 1 at a gap in units of the scale."""
    return np.asarray(scipy.special.erf(SCALE * gap / (2 * sigma)))


def _screen_variance(x: Floats, k: int, sigma: float) -> Floats:
    """The variance of the residual sum of a system at x against k - 1 others on one screen.

    It has (k - 1) squares and (k - 1)(k - 2) products, which covary through the system's quality.
    """
    t, w = _legendre()
    h, spread = _hermite(24)
    q = SCALE * x[..., None] / sigma + h
    given = (2 * scipy.special.ndtr(q[..., None] - SCALE * t / sigma) - 1) @ w
    strength = _lead(x[..., None] - t, sigma) @ w
    fit = strength[..., None] - _lead(t[:, None] - t, sigma) @ w
    square = (1 - 2 * _lead(x[..., None] - t, sigma) * fit + fit**2) @ w
    level = fit @ w
    product = (given**2) @ spread - 2 * level * (given @ spread) + level**2
    return np.asarray((k - 1) * square + (k - 1) * (k - 2) * product)


@lru_cache(maxsize=16)
def _pooled_parts(sigma: float, k: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Weights over pairs of qualities, and values that do not depend on the number of judgments.

    These are the better system's lead over the other, the mean and the variance (over a third
    system) of the difference of their leads over it, and the mean variance of their residuals on a
    screen.
    """
    t, w = _legendre()
    # The better system at x, the other at y = x (1 - u^3): a smooth integrand over y < x, with
    # more nodes at tiny gaps, which are the undecided ones with many judgments.
    x, y = np.broadcast_arrays(t[:, None], t[:, None] * (1 - t**3))
    lead = _lead(x[..., None] - t, sigma) - _lead(y[..., None] - t, sigma)
    mean = lead @ w
    v = (_screen_variance(x, k, sigma) + _screen_variance(y, k, sigma)) / 2
    weight = 2 * x * w[:, None] * (3 * t**2 * w)
    return weight, _lead(x - y, sigma), mean, lead**2 @ w - mean**2, v


@lru_cache(maxsize=1)
def _legendre() -> tuple[Floats, Floats]:
    """Gauss-Legendre on [0, 1]."""
    t, w = np.polynomial.legendre.leggauss(20)
    return (t + 1) / 2, w / 2


@lru_cache(maxsize=4)
def _hermite(count: int) -> tuple[Floats, Floats]:
    """Gauss-Hermite for a standard normal variable."""
    t, w = np.polynomial.hermite_e.hermegauss(count)
    return t, w / w.sum()
