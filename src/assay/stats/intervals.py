"""Intervals for a mean, Student's t distribution and the orders that intervals decide.

A test set is finite: its N segments are all there is, and what a sample of n of them leaves
unknown shrinks to nothing as n reaches N. Hence the finite-population correction (1 - n/N).

The parts of scipy that hold the t distribution take a quarter of a second to load, which is most of
what a small estimation takes, so it is here. The tests compare it with scipy.

Rank 1 is the best. A system's rank range runs from one above the systems that are certainly
better to one below those that are certainly worse; clusters are the groups that no certain
distinction divides (koehn2012, section 3 and equation 6). Functions on orders take one order, or
many at once along the first axes.

Differences that are seen are larger than those that are, and the
largest most of all, so for :func:`stable_ranking` and :func:`shrunk_gap` the truth is shrunk:
theta_k = mu + u_k, mu anywhere, u_k ~ N(0, tau^2), and tau unknown (half-Cauchy with twice the root
mean square error as its scale). Contrasts between systems are turned so that their errors are
independent, with variances ``error``; then everything is a product of normal distributions for each
tau, averaged over a grid of tau.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

TINY = 1e-300
"""What stands for zero in a continued fraction."""
CORNISH_FISHER = (
    (4, (1, 0, 1, 0)),
    (96, (5, 0, 16, 0, 3, 0)),
    (384, (3, 0, 19, 0, 17, 0, -15, 0)),
    (92160, (79, 0, 776, 0, 1482, 0, -1920, 0, -945, 0)),
)
"""Divisor and polynomial in z of the terms in 1/degrees, 1/degrees^2, ..."""
MANY_DEGREES = 2000
"""From here on the expansion alone is right to ten digits."""
LEVEL = 0.95
"""The confidence level where none is stated."""
POWER = 0.8
"""The probability of finding a difference that is commonly asked for."""
MANY_POWERS, POWER_POINTS, SURELY_FOUND = 4096, 60, 40.0
"""More are read off a grid of so many points each way; beyond so many errors nothing is missed."""
POWER_DEGREES = 100
"""Points at which what can be found is computed."""
MAX_GAP_IN_ERRORS = 500.0
"""A gap of this many standard errors is always found."""
UNKNOWN_REACH = 0.5
"""Where nothing tells what raters differ by, an error is that for texts like these beyond this
share of the test set. More ratings than one half then promise nothing: the error for texts with
everything rated is no smaller than that of these answers at one half."""
MAX_COMPARED = 4_000_000
"""Pairs of scores compared at a time."""
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


def mean_stderr(values: np.ndarray, population: int) -> float:
    """Standard error of the mean of a simple random sample without replacement.

    s / sqrt(n) * sqrt(1 - n/N), the baseline variance of saldias2022 section 2 with the sample
    variance in place of the population's (Cochran 1977, theorem 2.2). NaN where no spread can be
    seen, for a single value or equal ones: that the rest is like them is not known. 0 when
    everything was rated.

    >>> round(mean_stderr(np.array([1.0, 2.0, 3.0]), population=6), 4)
    0.4082
    """
    n = len(values)
    if n == population:
        return 0.0
    if n < 2 or np.ptp(values) == 0:
        return float("nan")
    return float(np.sqrt(np.var(values, ddof=1) / n * (1 - n / population)))


def t_interval(center: float, stderr: float, degrees: float, level: float) -> Interval:
    """Student's t interval; unbounded where the standard error is unknown (NaN).

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
    """P value of the two-sided t test that the true value is 0; NaN without a standard error.

    So is an error of zero: an interval of width zero tests nothing.

    >>> round(t_probability(1.0, 0.5, 10), 4)
    0.0734
    """
    if not stderr > 0:
        return float("nan")
    return 2 * t_cdf(-abs(center) / stderr, degrees)


def normal_cdf(x: np.ndarray) -> np.ndarray:
    """P(X <= x) of the standard normal distribution, right to 1.2e-7 of itself or of 1 - itself.

    By a Chebyshev fit of the complementary error function (Press et al. 1992, section 6.2).

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

    By the expansion of Cornish and Fisher (Abramowitz and Stegun 1964, 26.7.5) and, with few
    degrees, Newton's method from there, kept between bounds.

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
        # On the scale of the logarithm, where the tail is nearly straight.
        step = tail * math.log(tail / wanted) / density
        if abs(step) < 1e-9 * t:  # each step squares the error of the one before
            return math.copysign(t + step, p - 0.5)
        t = t + step if low < t + step < high else min((low + high) / 2, 2 * t)


def chi_squared_quantile(p: float, degrees: float) -> float:
    """The x with P(X <= x) = p where X is chi-squared.

    By the series of the incomplete gamma function and Newton's method on the scale of both
    logarithms, where the distribution is concave, from the cube of Wilson and Hilferty (1931).

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


def noncentral_t_cdf(t: float, degrees: float, shift: float) -> float:
    """P(T <= t) where T = (Z + shift) / S, Z standard normal and S^2 chi-squared over its degrees.

    The integral of Phi(t s - shift) over the density of S, which is split where Phi rises.

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


class Precision(NamedTuple):
    """What decides the precision of a mean of n out of ``population`` segments."""

    population: int
    sd: float
    level: float
    effect: float = 1.0
    correlation: float = 0.0
    features: int = 0
    floor: float = 0.0
    """The part of the standard error that more segments do not take away: the raters'."""
    floor_degrees: float = math.inf
    reach: float = 1.0
    """The share of the segments beyond which the error is that for texts like these."""
    alike: float = 0.0
    """The correlation of two segments of the test set: that inside documents, by chance met."""
    documents: int | None = None

    def stderr(self, n: np.ndarray) -> np.ndarray:
        """Of the mean: sd sqrt(D (1 - r^2) (1 + p/n) (1 - n/N) / n), infinite without degrees.

        For texts, without (1 - n/N), and r^2 / N and what documents have in common are added. Its
        square and that of the floor add up.
        """
        n = np.asarray(n, dtype=float)
        rest = self.effect * (1 - self.correlation**2) * (1 + self.features / n)
        here = rest * (1 - n / self.population) / n
        there = rest / n + self.correlation**2 / self.population + self.alike
        sampling = self.sd * np.sqrt(np.where(self._of_texts(n), there, here))
        unknown = (n - 1 - self.features < 1) & (n < self.population)
        return np.where(unknown, np.inf, np.hypot(sampling, self.floor))

    def _of_texts(self, n: np.ndarray) -> np.ndarray:
        beyond = np.asarray(n > self.reach * self.population)
        return beyond if self.reach < 1 else np.zeros_like(beyond)

    def degrees(self, n: np.ndarray) -> np.ndarray:
        """Of the interval: n - 1 - p, joined with those of the floor (Satterthwaite).

        For texts, one less than documents, or segments where there are none.
        """
        n = np.asarray(n, dtype=float)
        texts = n if self.documents is None else np.full_like(n, self.documents)
        own = np.where(self._of_texts(n), texts - 1, n - 1 - self.features)
        own = np.maximum(own, 1.0)
        if not (self.floor > 0 and math.isfinite(self.floor_degrees)):
            return np.asarray(own)
        share = np.minimum((self.floor / self.stderr(n)) ** 2, 1.0)
        return np.asarray(1 / ((1 - share) ** 2 / own + share**2 / self.floor_degrees))

    def half_width(self, n: np.ndarray) -> np.ndarray:
        """Half the t interval: falls with n, down to the floor's when everything is rated."""
        quantile = np.vectorize(t_quantile, otypes=[float])
        return np.asarray(quantile(0.5 + self.level / 2, self.degrees(n)) * self.stderr(n))

    def power(self, n: np.ndarray, gap: float) -> np.ndarray:
        """The probability that the interval of a difference ``gap`` leaves out zero.

        By the noncentral t distribution, both tails; 1 when everything is rated and there is
        no floor.
        """
        with np.errstate(divide="ignore"):
            shift = np.minimum(abs(gap) / self.stderr(n), MAX_GAP_IN_ERRORS)
        power = power_of(shift, self.degrees(n), self.level)
        return np.where(np.isinf(self.stderr(n)), 0.0, power)

    def n_for_half_width(self, target: float) -> int:
        """The smallest n whose half-width is at most ``target``."""
        return self.smallest(lambda n: float(self.half_width(np.array(n))) <= target)

    def n_for_power(self, gap: float, power: float) -> int:
        """The smallest n that finds ``gap`` with at least this probability."""
        return self.smallest(lambda n: float(self.power(np.array(n), gap)) >= power)

    def smallest(self, holds: Callable[[int], bool], low: int = 2) -> int:
        """The smallest n from ``low`` on that is precise enough; all segments where none is.

        Where the error becomes that for texts it leaps up, so n is sought on either side of it.
        """
        half = math.floor(self.reach * self.population)
        found = smallest(holds, max(half, low), low)
        if half >= self.population or holds(found):
            return found
        return smallest(holds, self.population, max(half + 1, low))


def power_of(shift: np.ndarray, degrees: np.ndarray, level: float) -> np.ndarray:
    """The probability that a t interval leaves out zero, the truth ``shift`` standard errors away.

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
    """The same of very many, between points of a grid; right to about .001."""
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
    """:func:`detectable_shift` of many degrees; of very many by a line between points."""
    points, place = np.unique(1 / degrees, return_inverse=True)
    grid = points
    if len(points) > POWER_DEGREES:
        grid = np.linspace(points[0], points[-1], POWER_DEGREES)
    exact = np.array([detectable_shift(1 / point, level, power) for point in grid.tolist()])
    return np.asarray(np.interp(points, grid, exact)[place])


def detectable_shift(degrees: float, level: float, power: float) -> float:
    """The truth, in standard errors, that a t interval finds with this probability; NaN: none.

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


def root_between(
    rising: Callable[[float], float], low: float, below: float, high: float, above: float,
    tolerance: float,
) -> float:  # fmt: skip
    """Where a function is zero, ``below`` at ``low`` and ``above`` at ``high``, by Illinois.

    Loading scipy's root finders takes longer than a small estimation. It is the value within the
    ``tolerance`` of zero that is found.

    >>> round(root_between(lambda x: x * x - 2, 1.0, -1.0, 2.0, 2.0, 1e-12), 6)
    1.414214
    """
    side = 0.0
    while True:  # a secant that keeps both sides
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
    """The smallest whole number from ``low`` to ``high`` for which a rising condition holds.

    By bisection; ``high`` where it holds for nothing below.

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
    """Where systems stand by their differences: a rank is 1 and how many systems are ahead.

    ``pairs`` are rows (i, j), ``lead`` by how much i is better than j (NaN: nothing is known), and
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


def discordant(scores: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Pairs of systems (i < j) that stand in another order than in the reference.

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


GRID = 60
"""Values of tau, at equal steps of its prior probability."""
PRIOR_SCALE = 2.0
"""Scale of the half-Cauchy law of tau, in errors. With 1 or 2 and 5 the stated chances of pairs
agreed as well with those of repeats where the true spread was between 1/2 and 10 errors."""
DRAWS = 20_000
"""Repeats drawn for the chance of the whole order: it is right to .0035."""
PLANNED_DRAWS = 4_000
"""The same for campaigns to come, which are shown for several sizes."""


class _Truth(NamedTuple):
    """The truth given the estimates, for each tau: ``weight``, and ``kept`` of each contrast.

    A contrast with the estimate z and the error variance l has the truth N(k z, k l), k = tau^2 /
    (tau^2 + l) what is ``kept`` of it. ``back`` turns contrasts into systems.
    """

    weight: np.ndarray
    kept: np.ndarray
    error: np.ndarray
    seen: np.ndarray
    back: np.ndarray


def stable_ranking(means: np.ndarray, covariance: np.ndarray) -> tuple[float, np.ndarray]:
    """The chance that a repeat of the same size puts all systems, and every two, in this order.

    ``covariance`` is that of the errors which the repeat would make anew (other raters, other
    texts, another sample); only differences count, so :func:`contrast_covariance` will do. A
    repeat has the same errors around the truth as these estimates have: it is N(k z, (1 + k) l) for
    each contrast (Riley et al. 2024 count such repeats). The chances of pairs are a symmetric
    matrix with ones on its diagonal; they are exact, the chance of the whole order is simulated.

    >>> whole, pairs = stable_ranking(np.array([3.0, 1.0, 0.9]), 0.1 * np.eye(3))
    >>> round(whole, 2), pairs.round(2).tolist()
    (0.56, [[1.0, 1.0, 1.0], [1.0, 1.0, 0.56], [1.0, 0.56, 1.0]])
    """
    truth = _truth(means, covariance)
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
    """A uniform number, which chooses tau, and standard normal errors for every repeat.

    Always the same: one answer for one set of estimates.
    """
    random = np.random.default_rng(0)
    return random.random(DRAWS), random.standard_normal((DRAWS, contrasts))


def expected_stability(
    means: np.ndarray, covariance: np.ndarray, later: np.ndarray
) -> tuple[float, float]:
    """The chances that two campaigns to come agree on the whole order, and on a pair on average.

    ``means`` with ``covariance`` is what a pilot says of the truth, ``later`` the covariance that
    each of the two campaigns will have.

    >>> pilot = np.array([3.0, 1.0, 0.9]), 0.1 * np.eye(3)
    >>> [round(chance, 2) for chance in expected_stability(*pilot, 0.01 * np.eye(3))]
    [0.86, 0.95]
    """
    truth, random = _truth(means, covariance), np.random.default_rng(0)
    k = truth.kept[random.choice(len(truth.kept), PLANNED_DRAWS, p=truth.weight)]
    noise = random.standard_normal(k.shape)
    scores = (k * truth.seen + np.sqrt(k * truth.error) * noise) @ truth.back.T
    errors = random.multivariate_normal(np.zeros(len(means)), later, (2, PLANNED_DRAWS))
    left, right = np.triu_indices(len(means), 1)
    one, other = (scores + error for error in errors)
    same = (one[:, left] > one[:, right]) == (other[:, left] > other[:, right])
    return float(same.all(axis=1).mean()), float(same.mean())


def shrunk_gap(means: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The difference of every two systems as it probably is, and its standard deviation.

    Matrices: row less column. Because all systems are looked at together this holds for the pair
    that was picked as the closest or the largest, too.

    >>> gap, sd = shrunk_gap(np.array([1.0, 0.0]), 0.125 * np.eye(2))
    >>> round(float(gap[0, 1]), 2), round(float(sd[0, 1]), 2)  # seen: 1 with an error of 0.5
    (0.66, 0.5)
    """
    truth = _truth(means, covariance)
    across = truth.back[:, None] - truth.back
    center = np.einsum("tc,ijc->tij", truth.kept * truth.seen, across)
    within = np.einsum("tc,ijc->tij", truth.kept * truth.error, across**2)
    gap = np.einsum("t,tij->ij", truth.weight, center)
    variance = np.einsum("t,tij->ij", truth.weight, within + (center - gap) ** 2)
    return gap, np.sqrt(variance)


def contrast_covariance(stderr: np.ndarray) -> np.ndarray:
    """A covariance of systems that gives their differences these standard errors.

    ``stderr`` is a symmetric matrix. -1/2 of the squares with the means of rows and columns taken
    out; where that is not a covariance, because errors come from different segments, the nearest.

    >>> errors = contrast_covariance(np.array([[0.0, 2.0], [2.0, 0.0]]))
    >>> round(float(errors[0, 0] + errors[1, 1] - 2 * errors[0, 1]), 9)
    4.0
    """
    centre = np.eye(len(stderr)) - 1 / len(stderr)
    values, vectors = np.linalg.eigh(-0.5 * centre @ np.square(stderr) @ centre)
    return np.asarray(vectors * np.maximum(values, 0.0) @ vectors.T)


def _truth(means: np.ndarray, covariance: np.ndarray) -> _Truth:
    systems = len(means)
    start = np.column_stack([np.ones(systems), np.eye(systems)[:, 1:]])
    contrasts = np.linalg.qr(start)[0][:, 1:]
    error, turn = np.linalg.eigh(contrasts.T @ covariance @ contrasts)
    back = contrasts @ turn
    z = back.T @ means
    # No error at all would leave nothing to divide by.
    error = np.maximum(error, 1e-12 * (error.max() + (z**2).max()) + 1e-300)
    share = (np.arange(GRID) + 0.5) / GRID
    tau = PRIOR_SCALE * np.sqrt(error.mean()) * np.tan(np.pi / 2 * share)
    total = tau[:, None] ** 2 + error
    fit = -0.5 * (np.log(total) + z**2 / total).sum(axis=1)
    weight = np.exp(fit - fit.max())
    return _Truth(weight / weight.sum(), tau[:, None] ** 2 / total, error, z, back)


def chance_to_decide(
    difference: float, stderr: float, later: float, *, gap: float, sd: float, level: float,
    degrees: float,
) -> float:  # fmt: skip
    """The chance that more ratings make the interval of a difference leave out zero.

    ``difference`` with ``stderr`` is what is seen, ``later`` the standard error that more ratings
    will give it (``degrees`` then), ``gap`` with ``sd`` the truth as it probably is
    (:func:`shrunk_gap`). What is seen stays part of the later estimate: with r = later^2 / stderr^2
    that is N((1 - r) gap + r difference, (1 - r)^2 sd^2 + (1 - r) later^2).

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


def segments_to_decide(
    precision: Precision, n: int, difference: float, *, gap: float, sd: float, power: float
) -> int | None:
    """Segments in all that decide a difference with probability ``power``; None: no number does.

    ``n`` are rated; ``precision`` is that of the difference, ``gap`` and ``sd`` as in
    :func:`chance_to_decide`.

    >>> precision = Precision(2000, 6.0, 0.95)
    >>> segments_to_decide(precision, 100, 1.0, gap=0.8, sd=0.5, power=0.8)
    536
    """
    stderr = float(precision.stderr(np.array(n)))

    def decided(size: int) -> float:
        later = float(precision.stderr(np.array(size)))
        degrees = float(precision.degrees(np.array(size)))
        return chance_to_decide(
            difference, stderr, later, gap=gap, sd=sd, level=precision.level, degrees=degrees
        )

    needed = precision.smallest(lambda size: decided(size) >= power, low=n)
    return needed if decided(needed) >= power else None
