"""Intervals for a mean.

A test set is finite: its N segments are all there is, and what a sample of n of them leaves
unknown shrinks to nothing as n reaches N. Hence the finite-population correction (1 - n/N).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.stats.student import t_cdf, t_quantile


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


def t_probability(center: float, stderr: float, degrees: float) -> float:
    """P value of the two-sided t test that the true value is 0; NaN without a standard error.

    >>> round(t_probability(1.0, 0.5, 10), 4)
    0.0734
    """
    if np.isnan(stderr):
        return float("nan")
    if stderr == 0:
        return 1.0 if center == 0 else 0.0
    return 2 * t_cdf(-abs(center) / stderr, degrees)
