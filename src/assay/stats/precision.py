"""How precise n ratings will be: standard errors, half-widths, power, and the least n.

A simple random sample of n of N segments, without replacement. With metrics, the regression
estimator leaves the part 1 - r^2 of the variance, and pays for its p estimated slopes with the
factor 1 + p/n and p degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assay.stats.intervals import noncentral_t_cdf, t_quantile

LEVEL = 0.95
"""The confidence level where none is stated."""

POWER = 0.8
"""The probability of finding a difference that is commonly asked for."""

CERTAIN = 500.0
"""A gap of this many standard errors is always found."""


@dataclass(frozen=True, slots=True)
class Precision:
    """What decides the precision of a mean of n out of ``population`` segments."""

    population: int
    sd: float
    level: float
    effect: float = 1.0
    correlation: float = 0.0
    features: int = 0

    def stderr(self, n: np.ndarray) -> np.ndarray:
        """Of the mean: sd sqrt(D (1 - r^2) (1 + p/n) (1 - n/N) / n), infinite without degrees."""
        n = np.asarray(n, dtype=float)
        rest = self.effect * (1 - self.correlation**2) * (1 + self.features / n)
        stderr = self.sd * np.sqrt(rest * (1 - n / self.population) / n)
        unknown = (self._degrees(n) < 1) & (n < self.population)
        return np.where(unknown, np.inf, stderr)

    def half_width(self, n: np.ndarray) -> np.ndarray:
        """Half the t interval: falls with n, and is 0 when everything is rated."""
        return np.asarray(self._quantile(n) * self.stderr(n))

    def power(self, n: np.ndarray, gap: float) -> np.ndarray:
        """The probability that the interval of a difference ``gap`` leaves out zero.

        By the noncentral t distribution, both tails; 1 when everything is rated.
        """
        with np.errstate(divide="ignore"):
            shift = np.minimum(abs(gap) / self.stderr(n), CERTAIN)
        power = power_of(shift, np.maximum(self._degrees(np.asarray(n)), 1), self.level)
        return np.where(np.isinf(self.stderr(n)), 0.0, power)

    def n_for_half_width(self, target: float) -> int:
        """The smallest n whose half-width is at most ``target``."""
        return smallest(lambda n: float(self.half_width(np.array(n))) <= target, self.population)

    def n_for_power(self, gap: float, power: float) -> int:
        """The smallest n that finds ``gap`` with at least this probability."""
        return smallest(lambda n: float(self.power(np.array(n), gap)) >= power, self.population)

    def _degrees(self, n: np.ndarray) -> np.ndarray:
        return np.asarray(n) - 1 - self.features

    def _quantile(self, n: np.ndarray) -> np.ndarray:
        degrees = np.maximum(self._degrees(np.asarray(n)), 1)
        return np.asarray(np.vectorize(t_quantile, otypes=[float])(0.5 + self.level / 2, degrees))


def power_of(shift: np.ndarray, degrees: np.ndarray, level: float) -> np.ndarray:
    """The probability that a t interval leaves out zero, the truth ``shift`` standard errors away.

    >>> round(float(power_of(np.array(2.8), np.array(1000.0), 0.95)), 2)
    0.8
    """

    def found(shift: float, degrees: float) -> float:
        t = t_quantile(0.5 + level / 2, degrees)
        inside, wrong = (noncentral_t_cdf(end, degrees, shift) for end in (t, -t))
        return min(max(1 - inside + wrong, 0.0), 1.0)

    return np.asarray(np.vectorize(found, otypes=[float])(shift, degrees))


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
    while True:  # the Illinois method: a secant that keeps both sides
        middle = (low * above - high * below) / (above - below)
        value = short(middle)
        if abs(value) < 1e-13 or high - low < 1e-12 * high:
            return middle
        if value < 0:
            low, below, above = middle, value, above / 2
        else:
            high, above, below = middle, value, below / 2


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
