"""Intervals around a mean, by name.

``t`` goes with every design and method. ``skew-t`` repairs part of what skewed scores cost at small
n, also for regression and for snippets and balanced samples, by the skewness of the leave-one-out
residuals. The others are for a simple random sample and its mean: ``bootstrap`` resamples a finite
population, ``betting``, ``hoeffding`` and ``bernstein`` are guaranteed in a stated range.
"""

from __future__ import annotations

import numpy as np

from assay.errors import InputError, OptionError, did_you_mean
from assay.stats.betting import betting_interval
from assay.stats.bounds import bernstein_bound, hoeffding_bound
from assay.stats.finite_bootstrap import finite_bootstrap
from assay.stats.intervals import Interval, mean_stderr

INTERVALS = ("t", "skew-t", "bootstrap", "betting", "hoeffding", "bernstein")
GUARANTEED = ("betting", "hoeffding", "bernstein")
RESAMPLES = 2000
SIMPLE = ("segments", "census", "assumed-random")
SKEWED = (("auto", "mean", "regression"), (*SIMPLE, "snippets", "balanced"))
"""The methods and designs for which the correction for skewness was found to help."""


def check_interval(
    name: str, *, method: str, design: str, limits: tuple[float, float] | None
) -> None:
    """Refuse an interval that does not go with the method, the design or what is known."""
    if name not in INTERVALS:
        raise OptionError(
            "interval", name, f"is not known{did_you_mean(name, INTERVALS)}",
            f"choose from {', '.join(INTERVALS)}",
        )  # fmt: skip
    if name == "t" or (name == "skew-t" and method in SKEWED[0] and design in SKEWED[1]):
        return
    if method not in (SKEWED[0] if name == "skew-t" else ("auto", "mean")):
        what = _for(name, "the mean", "the mean and regression")
        raise InputError(
            f"the interval {name} is {what}; leave out --method {method} or take --interval t"
        )
    if design not in SIMPLE:
        what = _for(name, "a simple random sample", "random, snippet and balanced samples")
        raise InputError(
            f"the interval {name} is {what}, not for the design {design}; take --interval t"
        )
    if name in GUARANTEED and limits is None:
        raise InputError(
            f"the interval {name} holds for scores in a stated range; state it (--range LOW,HIGH)"
        )


def _for(name: str, usual: str, skewed: str) -> str:
    return f"for {skewed if name == 'skew-t' else usual}"


def mean_interval(
    name: str,
    values: np.ndarray,
    population: int,
    limits: tuple[float, float],
    level: float,
    rng: np.random.Generator,
) -> Interval:
    """An interval for the mean of all from a simple random sample of values.

    The values are put in random order first, which betting depends on.
    """
    x = rng.permutation(values)
    center, n = float(x.mean()), len(x)
    if n == population:
        return Interval(center, center, level)
    low, high = limits
    match name:
        case "betting":
            return betting_interval(x, population, low, high, level)
        case "hoeffding" | "bernstein":
            width = high - low
            t = (
                hoeffding_bound(n, population, width, level)
                if name == "hoeffding"
                else bernstein_bound(x, population, width, level)
            )
            return Interval(max(low, center - t), min(high, center + t), level)
        case _:
            if np.isnan(mean_stderr(x, population)):
                return Interval(float("-inf"), float("inf"), level)
            return finite_bootstrap(x, population, rng, RESAMPLES, level, studentised=True)
