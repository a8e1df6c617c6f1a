"""A bootstrap for the mean of a sample from a finite population.

Drawing the sample anew with replacement, as the ordinary bootstrap does, ignores that the rated
part of the test set is known: at n = N/2 its intervals are 1.4 times too wide. Here the sample
is first blown up to a population of N, and samples are drawn from that as they were in truth.

Every resample has a population of its own: each value floor(N/n) times and a random part of the
values once more, N in all (Gross 1980, completed at random as in Booth, Butler and Hall 1994);
n of these are drawn without replacement, and their mean less that of their population is what
the error of the sample mean looks like. Deviations are scaled by sqrt(n/(n-1) (N-1)/N), so that
their variance is s^2/n (1 - n/N) and not 1/n short of it.

Coverage at 95 % and n = 30/45/60 of WMT20 MQM scores (benchmarks/bounds.py, 900 samples, their
sd .7 points): percentiles 90.8/91.9/93.9 en-de and 92.4/92.8/93.4 zh-en, studentised 93.6/94.2/94.9
and 95.3/95.7/95.8.
"""

from __future__ import annotations

import numpy as np

from assay.stats.intervals import Interval
from assay.stats.selection import simple_random

BLOCK = 200_000
"""Random keys drawn at a time: few enough for the cache."""


def finite_bootstrap(
    values: np.ndarray,
    population: int | np.ndarray,
    rng: np.random.Generator,
    resamples: int,
    level: float,
    *,
    stratum: np.ndarray | None = None,
    studentised: bool = False,
) -> Interval:
    """Bootstrap interval for a population mean from a simple random or stratified sample.

    population: N, or with ``stratum`` (numbers 0, 1, ... of the values) the size of each stratum;
    strata are resampled one by one and weighted by their size.
    studentised: deviations in units of their own standard error, in place of percentiles;
    better for skewed scores, and unstable for few ratings of few distinct values.
    Unbounded where no spread can be seen: all values equal, or a stratum of which a single
    value is known (merge it with another first).

    >>> values = np.tile([0.0, 0, 1, 5], 25)
    >>> finite_bootstrap(values, 400, np.random.default_rng(1), 2000, 0.95)
    Interval(low=1.1..., high=1.8..., level=0.95)
    """
    values = np.asarray(values, dtype=float)
    sizes = np.atleast_1d(population)
    groups = [values] if stratum is None else [values[stratum == i] for i in range(len(sizes))]
    shares = sizes / sizes.sum()
    center = float(sum(w * group.mean() for w, group in zip(shares, groups, strict=True)))
    unknown = [i for i, group in enumerate(groups) if len(group) < sizes[i]]
    if not unknown:
        return Interval(center, center, level)
    w = shares[unknown]
    squared = [_squared_stderr(groups[i][None], sizes[i])[0] for i in unknown]
    stderr = float(np.sqrt(w**2 @ squared))
    if not stderr > 0:  # NaN for a single value, 0 for equal ones
        return Interval(float("-inf"), float("inf"), level)
    drawn = [_resample(groups[i], int(sizes[i]), rng, resamples) for i in unknown]
    deviation, variance = w @ [error for error, _ in drawn], w**2 @ [stated for _, stated in drawn]
    return _interval(center, stderr, deviation, variance if studentised else None, level)


def _resample(
    values: np.ndarray, population: int, rng: np.random.Generator, resamples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Error of each resample's mean, and the squared standard error it would state."""
    n, whole = len(values), population // len(values)
    errors, squares = [], []
    block = max(1, BLOCK // population)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        extra = values[simple_random(n, population - whole * n, rng, rows)]
        copies = np.tile(values, (rows, whole))
        units = np.concatenate([copies, extra], axis=1)
        drawn = np.take_along_axis(units, simple_random(population, n, rng, rows), axis=1)
        errors.append(drawn.mean(axis=1) - units.mean(axis=1))
        squares.append(_squared_stderr(drawn, population))
    scale = n / (n - 1) * (population - 1) / population
    return np.sqrt(scale) * np.concatenate(errors), scale * np.concatenate(squares)


def _squared_stderr(rows: np.ndarray, population: int) -> np.ndarray:
    """s^2/n (1 - n/N) of every row; NaN for rows of one value."""
    n = rows.shape[1]
    if n == 1:
        return np.full(len(rows), np.nan)
    return np.asarray(np.var(rows, axis=1, ddof=1) / n * (1 - n / population))


def _interval(
    center: float, stderr: float, deviation: np.ndarray, variance: np.ndarray | None, level: float
) -> Interval:
    """Percentiles of the deviations, or with variances of the t ratios they make."""
    tails = (0.5 - level / 2, 0.5 + level / 2)
    if variance is None:
        low, high = np.quantile(deviation, tails)
        return Interval(float(center + low), float(center + high), level)
    # A resample of equal values states no error: its ratio is beyond all others.
    with np.errstate(divide="ignore"):
        ratio = np.where(deviation == 0, 0.0, deviation / np.sqrt(variance))
    low = np.quantile(ratio, tails[0], method="lower")
    high = np.quantile(ratio, tails[1], method="higher")
    return Interval(float(center - high * stderr), float(center - low * stderr), level)
