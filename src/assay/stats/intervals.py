"""Student's t, the precision of a mean, and what differences say about the order of systems.

A test set is finite: once all of its N segments are rated, nothing about it is unknown. Hence the
finite-population correction (1 - n/N).

The t and normal distributions are computed here because loading those of scipy takes longer than
a small estimation; the tests compare the two.

Rank 1 is the best. The rank range of a system runs from one more than the number of systems that
are certainly better to the rank that leaves room for those that are certainly worse. Clusters are
the groups between which every pair is certain (koehn2012, section 3 and equation 6). Functions on
orders take one order, or many along the first axes.

Estimated differences exaggerate the true ones, the largest most. :func:`stable_ranking` and
:func:`shrunk_gap` therefore shrink them: theta_k = mu + u_k with a flat prior on mu, u_k ~ N(0,
tau^2), and a half-Cauchy prior on tau with twice the root mean square error as its scale. In
contrasts with independent errors everything is normal given tau; tau is averaged over a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

TINY = 1e-300
"""Replaces zero in a continued fraction."""
CORNISH_FISHER = (
    (4, (1, 0, 1, 0)),
    (96, (5, 0, 16, 0, 3, 0)),
    (384, (3, 0, 19, 0, 17, 0, -15, 0)),
    (92160, (79, 0, 776, 0, 1482, 0, -1920, 0, -945, 0)),
)
"""Divisor and polynomial in z of the terms in 1/degrees, 1/degrees^2, ..."""
MANY_DEGREES = 2000
"""From here on the expansion alone is exact to ten digits."""
LEVEL = 0.95
"""The default confidence level."""
POWER = 0.8
"""The usual power."""
ERFC_FIT = (
    0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418,
    0.37409196, 1.00002368, -1.26551223,
)  # fmt: skip
"""Coefficients of log(erfc(z) exp(z^2) / s) in s = 1/(1 + z/2), the highest power first."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A range that holds the unknown value with probability ``level`` over repeated samples."""

    low: float
    high: float
    level: float

    @property
    def half_width(self) -> float:
        """Half the distance between the ends."""
        return (self.high - self.low) / 2

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def t_interval(center: float, stderr: float, degrees: float, level: float) -> Interval:
    """Student's t interval; unbounded if the standard error is unknown (NaN).

    >>> t_interval(1.0, 0.5, 10, 0.95)
    Interval(low=-0.114..., high=2.114..., level=0.95)
    """
    if np.isnan(stderr):
        return Interval(float("-inf"), float("inf"), level)
    if stderr == 0:
        return Interval(center, center, level)
    margin = t_quantile(0.5 + level / 2, degrees) * stderr
    return Interval(center - margin, center + margin, level)


def interval_within(
    center: float, stderr: float, degrees: float, level: float, low: float, high: float
) -> Interval:
    """Student's t interval of a value that must lie within ``low`` and ``high`` (infinite: open).

    The values v with (center - v)^2 <= t^2 stderr^2 V(v) / V(r), where V(v) = (v - low)(high - v):
    the nearer a value is to a limit, the less it can vary. For a share this is Wilson's interval
    with the number of cases that ``stderr`` amounts to (Franco et al. 2019); where the limits are
    far off it is the t interval. r is the center, kept t stderr / 2 away from the limits, so that a
    center at a limit has an interval too. The whole range where the standard error is unknown.

    >>> interval_within(0.1, 0.0949, 1e9, 0.95, 0.0, 1.0)
    Interval(low=0.0178..., high=0.404..., level=0.95)
    """
    if np.isnan(center) or np.isnan(stderr):
        return Interval(low, high, level)
    if stderr == 0:
        return Interval(center, center, level)
    if math.isinf(low) and not math.isinf(high):
        turned = interval_within(-center, stderr, degrees, level, -high, math.inf)
        return Interval(-turned.high, -turned.low, level)
    if math.isinf(low):
        return t_interval(center, stderr, degrees, level)
    margin = t_quantile(0.5 + level / 2, degrees) * stderr
    width = high - low
    x = min(max(center - low, 0.0), width)
    if math.isinf(width):
        k = margin**2 / max(x, margin / 2)
        upper = (2 * x + k + math.sqrt(k * (4 * x + k))) / 2
        return Interval(low + x**2 / upper, low + upper, level)
    r = min(max(x, margin / 2), width - margin / 2) if margin < width else width / 2
    k = margin**2 / (r * (width - r))
    upper = 2 * x + k * width + math.sqrt(k * (4 * x * (width - x) + k * width**2))
    upper /= 2 * (1 + k)
    # Rounding must not leave the range.
    return Interval(low + x**2 / (1 + k) / upper, min(low + upper, high), level)


def t_probability(center: float, stderr: float, degrees: float) -> float:
    """P value of the two-sided t test of the value 0; NaN if the error is zero or unknown.

    >>> round(t_probability(1.0, 0.5, 10), 4)
    0.0734
    """
    if not stderr > 0:
        return float("nan")
    return 2 * t_cdf(-abs(center) / stderr, degrees)


def normal_cdf(x: np.ndarray) -> np.ndarray:
    """P(X <= x) of the standard normal distribution, to a relative 1.2e-7 in either tail.

    A Chebyshev fit of the complementary error function (Press et al. 1992, section 6.2).

    >>> normal_cdf(np.array([0.0, 1.6449, -1.96])).round(4).tolist()
    [0.5, 0.95, 0.025]
    """
    z = np.abs(x) / math.sqrt(2)
    s = 1 / (1 + 0.5 * z)
    fit = np.polyval(ERFC_FIT, s)
    tail = 0.5 * s * np.exp(-z * z + fit)
    return np.asarray(np.where(x > 0, 1 - tail, tail))


def t_cdf(t: float, degrees: float) -> float:
    """P(T <= t).

    >>> round(t_cdf(-2.0, 10), 6)
    0.036694
    """
    tail = _tail(abs(t), degrees)
    return tail if t < 0 else 1 - tail


@lru_cache(maxsize=1024)
def t_quantile(p: float, degrees: float) -> float:
    """The t with P(T <= t) = p.

    The expansion of Cornish and Fisher (Abramowitz and Stegun 1964, 26.7.5); with few degrees it is
    the start of Newton's method between bounds.

    >>> round(t_quantile(0.975, 10), 6)
    2.228139
    """
    degrees = float(degrees)
    if not (0 < p < 1 and degrees > 0):
        return math.nan
    if math.isinf(degrees) or p == 0.5:
        return NormalDist().inv_cdf(p)
    wanted = min(p, 1 - p)
    z = -NormalDist().inv_cdf(wanted)
    t = z + sum(
        float(np.polyval(series, z)) / (divisor * degrees**power)
        for power, (divisor, series) in enumerate(CORNISH_FISHER, start=1)
    )
    if degrees > MANY_DEGREES:
        return math.copysign(t, p - 0.5)
    low, high = 0.0, math.inf
    front = _gamma_ratio(degrees / 2) / math.sqrt(degrees * math.pi)
    while True:
        tail = _tail(t, degrees)
        low, high = (t, high) if tail > wanted else (low, t)
        density = front * math.exp(-(degrees + 1) / 2 * math.log1p(t * t / degrees))
        # The logarithm of the tail is nearly linear.
        step = tail * math.log(tail / wanted) / density
        if abs(step) < 1e-9 * t:  # each step squares the error of the one before
            return math.copysign(t + step, p - 0.5)
        t = t + step if low < t + step < high else min((low + high) / 2, 2 * t)


def chi_squared_quantile(p: float, degrees: float) -> float:
    """The x with P(X <= x) = p for a chi-squared X.

    The series of the incomplete gamma function, solved by Newton's method on the logarithms (where
    the distribution is concave), from the approximation of Wilson and Hilferty (1931).

    >>> round(chi_squared_quantile(0.05, 10), 6)
    3.940299
    """
    a, spread = degrees / 2, 2 / (9 * degrees)
    root = 1 - spread + NormalDist().inv_cdf(p) * math.sqrt(spread)
    x = a * max(root, 0.01) ** 3
    step = math.inf
    while abs(step) > 1e-10:
        series = term = n = 1.0
        while term > 1e-17 * series:
            term *= x / (a + n)
            series, n = series + term, n + 1
        logarithm = a * math.log(x) - x - math.lgamma(a + 1) + math.log(series)
        step = (math.log(p) - logarithm) * series / a
        x *= math.exp(step)
    return 2 * x


def _tail(t: float, degrees: float) -> float:
    """P(T > t) for t >= 0: half of the incomplete beta function I_x(degrees/2, 1/2)."""
    x = degrees / (degrees + t * t)
    a = degrees / 2
    if t == 0:
        return 0.5
    # x^a (1-x)^(1/2) / B(a, 1/2), without the difference of large logarithms.
    front = math.exp(-a * math.log1p(t * t / degrees)) * t / math.sqrt(degrees + t * t)
    front *= _gamma_ratio(a) / math.sqrt(math.pi)
    if x < (a + 1) / (a + 2.5):
        return 0.5 * front * _beta_fraction(x, a, 0.5) / a
    return 0.5 - front * _beta_fraction(t * t / (degrees + t * t), 0.5, a)


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 100_000):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + factor * d) or TINY)
            c = (1 + factor / c) or TINY
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return value


def _gamma_ratio(a: float) -> float:
    """Gamma(a + 1/2) / Gamma(a)."""
    if a < 60:
        return math.gamma(a + 0.5) / math.gamma(a)
    series = 1 - 1 / (8 * a) + 1 / (128 * a**2) + 5 / (1024 * a**3) - 21 / (32768 * a**4)
    return math.sqrt(a) * (series - 399 / (262144 * a**5))


def root_between(
    rising: Callable[[float], float], low: float, below: float, high: float, above: float,
    tolerance: float,
) -> float:  # fmt: skip
    """The zero of a rising function between ``low`` and ``high``, by the Illinois algorithm.

    ``below`` and ``above`` are the function's values there. Stops at a value within the
    ``tolerance`` of zero. (Loading scipy's root finders takes longer than a small estimation.)

    >>> round(root_between(lambda x: x * x - 2, 1.0, -1.0, 2.0, 2.0, 1e-12), 6)
    1.414214
    """
    side = 0.0
    while True:
        middle = (low * above - high * below) / (above - below)
        value = rising(middle)
        if abs(value) < tolerance or high - low < 1e-12 * high:
            return middle
        again, side = value * side > 0, value
        if value < 0:
            low, below, above = middle, value, above / 2 if again else above
        else:
            high, above, below = middle, value, below / 2 if again else below


def smallest(holds: Callable[[int], bool], high: int, low: int = 2) -> int:
    """The smallest number from ``low`` for which a monotone condition holds; at most ``high``.

    >>> smallest(lambda n: n * n >= 50, 100)
    8
    """
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


class Order(NamedTuple):
    """Ranks, first and last possible ranks, and clusters of systems."""

    rank: np.ndarray
    low: np.ndarray
    high: np.ndarray
    cluster: np.ndarray


MAX_COMPARED = 4_000_000
"""Pairs of scores compared at a time."""


def competition_ranks(scores: np.ndarray, *, digits: int | None = None) -> np.ndarray:
    """Ranks where higher is better; equal scores share the better rank (1, 2, 2, 4).

    With ``digits``, scores are equal if they are so when rounded to that many places.

    >>> competition_ranks(np.array([0.3, 0.9, 0.9, 0.1])).tolist()
    [3, 1, 1, 4]
    """
    n = scores.shape[-1]
    rows = (scores if digits is None else np.round(scores, digits)).reshape(-1, n)
    # All pairs are compared, so that only so many rows fit at a time.
    size = max(1, MAX_COMPARED // max(1, n**2))
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    ranks = [1 + (part[:, None, :] > part[:, :, None]).sum(axis=-1) for part in parts]
    return np.concatenate(ranks or [np.empty(rows.shape, dtype=np.int64)]).reshape(scores.shape)


def discordant(scores: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Pairs of systems (i < j) whose order differs from the reference.

    >>> discordant(np.array([[1.0, 3.0, 2.0]]), np.array([1.0, 2.0, 3.0])).tolist()
    [[False, False, True]]
    """
    i, j = np.triu_indices(scores.shape[-1], 1)
    here = np.sign(scores[..., i] - scores[..., j])
    return np.asarray(here != np.sign(reference[i] - reference[j]))


def holm(p: np.ndarray) -> np.ndarray:
    """P values such that those below alpha are wrong together with probability alpha (Holm 1979).

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    factor = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(np.asarray(p)[order] * factor))
    return adjusted


def rank_ranges(better: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and last possible rank from ``better[i, j]``: i is certainly better than j.

    >>> low, high = rank_ranges(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=bool))
    >>> low.tolist(), high.tolist()
    ([1, 2, 2], [1, 3, 3])
    """
    systems = better.shape[-1]
    return 1 + better.sum(axis=-2), systems - better.sum(axis=-1)


def cluster_numbers(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Clusters 1, 2, ... such that no rank range crosses a border (koehn2012, eq. 6).

    >>> cluster_numbers(np.array([1, 1, 3, 4]), np.array([2, 2, 4, 4])).tolist()
    [1, 1, 2, 2]
    """
    order = np.argsort(low, axis=-1, kind="stable")
    first = np.take_along_axis(low, order, axis=-1)
    reach = np.maximum.accumulate(np.take_along_axis(high, order, axis=-1), axis=-1)
    opens = np.ones(first.shape, dtype=np.int64)
    opens[..., 1:] = first[..., 1:] > reach[..., :-1]
    numbers = np.empty(first.shape, dtype=np.int64)
    np.put_along_axis(numbers, order, np.cumsum(opens, axis=-1), axis=-1)
    return numbers


def order_of_differences(
    systems: int, pairs: np.ndarray, lead: np.ndarray, decided: np.ndarray
) -> Order:
    """Ranks by differences: 1 plus the number of systems ahead; with rank ranges and clusters.

    ``pairs`` are rows (i, j), ``lead`` by how much i is better than j (NaN: unknown), and
    ``decided`` whether that is certain.

    >>> order = order_of_differences(3, np.array([[0, 1], [0, 2], [1, 2]]),
    ...                              np.array([-1.0, 2.0, 3.0]), np.array([False, True, True]))
    >>> order.rank.tolist(), order.low.tolist(), order.high.tolist(), order.cluster.tolist()
    ([2, 1, 3], [1, 1, 3], [2, 2, 3], [1, 1, 2])
    """
    ahead, certain = np.zeros((2, systems, systems), dtype=bool)
    first = np.where(lead > 0, pairs[:, 0], pairs[:, 1])
    second = np.where(lead > 0, pairs[:, 1], pairs[:, 0])
    known = np.isfinite(lead) & (lead != 0)
    ahead[first[known], second[known]] = True
    certain[first[known], second[known]] = decided[known]
    low, high = rank_ranges(certain)
    return Order(1 + ahead.sum(axis=0), low, high, cluster_numbers(low, high))


TAU_POINTS = 60
"""Values of tau, at equal steps of its prior probability."""
PRIOR_SCALE = 2.0
"""Scale of the half-Cauchy prior of tau, in errors. Scales of 1 and 5 were as well calibrated where
the true spread was between 1/2 and 10 errors."""
ORDER_DRAWS = 20_000
"""Simulated repeats behind the chance of the whole order: a standard error of .0035."""


class Posterior(NamedTuple):
    """The posterior of independent contrasts: the ``weight`` of each tau, and its normal laws.

    A contrast estimated (``seen``) as z with the ``error`` variance l is N(k z, k l), where k =
    tau^2 / (tau^2 + l) is ``kept``. ``back`` turns contrasts into systems.
    """

    weight: np.ndarray
    kept: np.ndarray
    error: np.ndarray
    seen: np.ndarray
    back: np.ndarray


def stable_ranking(means: np.ndarray, covariance: np.ndarray) -> tuple[float, np.ndarray]:
    """The chance that a repeat of the same size puts all systems, and every pair, in this order.

    ``covariance`` is that of the estimates' errors; only differences count, so
    :func:`contrast_covariance` will do. A repeat has the same errors around the truth, so each of
    its contrasts is N(k z, (1 + k) l) (Riley et al. 2024 count such repeats). The chances of pairs
    are exact, in a symmetric matrix with ones on its diagonal; that of the whole is simulated.

    >>> whole, pairs = stable_ranking(np.array([3.0, 1.0, 0.9]), 0.1 * np.eye(3))
    >>> round(whole, 2), pairs.round(2).tolist()
    (0.56, [[1.0, 1.0, 1.0], [1.0, 1.0, 0.56], [1.0, 0.56, 1.0]])
    """
    truth = posterior(means, covariance)
    k, systems = truth.kept, len(means)
    left, right = np.triu_indices(systems, 1)
    across = truth.back[left] - truth.back[right]
    center = (k * truth.seen) @ across.T * np.where(means[left] >= means[right], 1, -1)
    spread = np.sqrt(((1 + k) * truth.error) @ (across**2).T)
    pairs = np.eye(systems)
    pairs[left, right] = pairs[right, left] = truth.weight @ normal_cdf(center / spread)
    uniform, noise = _repeats(systems - 1)
    edges = truth.weight.cumsum()
    drawn = (edges / edges[-1]).searchsorted(uniform, side="right")
    expected, error = k * truth.seen, np.sqrt((1 + k) * truth.error)
    repeats = (expected[drawn] + error[drawn] * noise) @ truth.back.T
    order = np.argsort(-means, kind="stable")
    return float((np.diff(repeats[:, order], axis=1) < 0).all(axis=1).mean()), pairs


@lru_cache(maxsize=8)
def _repeats(contrasts: int) -> tuple[np.ndarray, np.ndarray]:
    """For every repeat a uniform number, which chooses tau, and normal errors; always the same."""
    random = np.random.default_rng(0)
    return random.random(ORDER_DRAWS), random.standard_normal((ORDER_DRAWS, contrasts))


def shrunk_gap(means: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Posterior mean and sd of the difference of every two systems: matrices, row less column.

    All systems are shrunk together, so this also holds for the closest or the largest difference.

    >>> gap, sd = shrunk_gap(np.array([1.0, 0.0]), 0.125 * np.eye(2))
    >>> round(float(gap[0, 1]), 2), round(float(sd[0, 1]), 2)  # seen: 1 with an error of 0.5
    (0.66, 0.5)
    """
    truth = posterior(means, covariance)
    across = truth.back[:, None] - truth.back
    center = np.einsum("tc,ijc->tij", truth.kept * truth.seen, across)
    within = np.einsum("tc,ijc->tij", truth.kept * truth.error, across**2)
    gap = np.einsum("t,tij->ij", truth.weight, center)
    variance = np.einsum("t,tij->ij", truth.weight, within + (center - gap) ** 2)
    return gap, np.sqrt(variance)


def contrast_covariance(stderr: np.ndarray) -> np.ndarray:
    """A covariance of systems that gives their differences these standard errors (a matrix).

    -1/2 H stderr^2 H with H = I - 11'/K; negative eigenvalues, which occur where the errors come
    from different segments, are set to 0.

    >>> errors = contrast_covariance(np.array([[0.0, 2.0], [2.0, 0.0]]))
    >>> round(float(errors[0, 0] + errors[1, 1] - 2 * errors[0, 1]), 9)
    4.0
    """
    centre = np.eye(len(stderr)) - 1 / len(stderr)
    values, vectors = np.linalg.eigh(-0.5 * centre @ np.square(stderr) @ centre)
    return np.asarray(vectors * np.maximum(values, 0.0) @ vectors.T)


def posterior(means: np.ndarray, covariance: np.ndarray) -> Posterior:
    """The law of the true contrasts given estimates with this covariance of their errors."""
    systems = len(means)
    start = np.column_stack([np.ones(systems), np.eye(systems)[:, 1:]])
    contrasts = np.linalg.qr(start)[0][:, 1:]
    error, turn = np.linalg.eigh(contrasts.T @ covariance @ contrasts)
    back = contrasts @ turn
    z = back.T @ means
    # Errors of 0 would be divided by.
    error = np.maximum(error, 1e-12 * (error.max() + (z**2).max()) + 1e-300)
    share = (np.arange(TAU_POINTS) + 0.5) / TAU_POINTS
    tau = PRIOR_SCALE * np.sqrt(error.mean()) * np.tan(np.pi / 2 * share)
    total = tau[:, None] ** 2 + error
    fit = -0.5 * (np.log(total) + z**2 / total).sum(axis=1)
    weight = np.exp(fit - fit.max())
    return Posterior(weight / weight.sum(), tau[:, None] ** 2 / total, error, z, back)


def chance_to_decide(
    difference: float, stderr: float, later: float, *, gap: float, sd: float, level: float,
    degrees: float,
) -> float:  # fmt: skip
    """The chance that more ratings make the interval of a difference exclude zero.

    The estimate is ``difference`` with ``stderr``, the truth is N(``gap``, ``sd``^2)
    (:func:`shrunk_gap`), and more ratings give the standard error ``later`` with ``degrees``. They
    include those so far: with r = later^2 / stderr^2 the later estimate is N((1 - r) gap + r
    difference, (1 - r)^2 sd^2 + (1 - r) later^2).

    >>> round(chance_to_decide(1.0, 0.6, 0.3, gap=0.8, sd=0.5, level=0.95, degrees=400), 2)
    0.72
    """
    r = min(1.0, (later / stderr) ** 2)
    center = (1 - r) * gap + r * difference
    spread = np.sqrt((1 - r) ** 2 * sd**2 + (1 - r) * later**2)
    limit = t_quantile(0.5 + level / 2, degrees) * later
    if spread == 0:
        return float(abs(center) > limit)
    return float(normal_cdf((center - limit) / spread) + normal_cdf((-center - limit) / spread))
