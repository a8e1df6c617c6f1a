"""Intervals other than Student's t: corrected for skewness, guaranteed, or within the scale."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from assay.designs.base import DesignUnits, SamplingDesign
from assay.errors import InputError, OptionError, need_known
from assay.estimation.kernels import Fitted
from assay.estimation.results import Mean
from assay.estimation.study import GUARANTEED, SKEW_METHODS
from assay.stats.bounds import mean_interval, skew_t_interval, skew_terms
from assay.stats.intervals import interval_within

if TYPE_CHECKING:
    from assay.estimation.study import Study

INTERVALS = ("auto", "t", "skew-t", *GUARANTEED)


def check_interval(
    name: str, *, method: str, design: SamplingDesign, limits: tuple[float, float] | None
) -> None:
    """Refuse an interval that does not suit the method, the design or what is known."""
    if name == "bootstrap":
        raise OptionError(
            "interval", name, "is no longer available: it was slower than skew-t and no better",
            "use skew-t, which also works with regression, snippets and balanced samples",
        )  # fmt: skip
    need_known("interval", name, INTERVALS)
    skewed = name == "skew-t"
    if method not in (SKEW_METHODS if skewed else ("auto", "mean")):
        what = "the mean and regression" if skewed else "the mean"
        raise InputError(
            f"the {name} interval is for {what}, not for the method {method}; use the t interval"
        )
    if not (design.skew_correction if skewed else design.simple):
        what = "random, snippet and balanced samples" if skewed else "a simple random sample"
        raise InputError(
            f"the {name} interval is for {what}, not for the design {design.short}; use the t"
            " interval"
        )
    if not skewed and limits is None:
        raise InputError(f"the {name} interval needs the range of the ratings; give `range`")


def with_skew_interval(
    mean: Mean, x: np.ndarray, drawn: np.ndarray, fit: Fitted | None, units: DesignUnits,
    level: float,
) -> Mean:  # fmt: skip
    """Hall's interval, by the skewness of what each rating adds to the estimate."""
    left = x[drawn] - mean.center if fit is None else fit.residuals[drawn]
    terms = skew_terms(left / units.pi[drawn], len(x))
    interval = skew_t_interval(mean.center, mean.stderr, *terms, mean.degrees, level)
    return mean._replace(interval=interval, kind="skew-t")


def with_guarantee(
    mean: Mean, study: Study, limits: tuple[float, float], ratings: np.ndarray, pi: np.ndarray
) -> Mean:
    """The interval of a simple random sample that is guaranteed for any scores in the range."""
    if np.ptp(pi) > 1e-9:
        raise InputError(
            f"the {study.interval} interval is for ratings of equal weight, and these have"
            " unequal weights (importance, or skipped outputs); use the t interval"
        )
    # The order must not depend on the ratings; the sample's own seed repeats it.
    rng = np.random.default_rng([study.rated.design.seed or 0, 1])
    interval = mean_interval(study.interval, ratings, mean.population, limits, study.level, rng)
    return mean._replace(interval=interval, kind=study.interval)


def within_scale(found: Mean, limits: tuple[float, float]) -> Mean:
    """An interval that leaves the scale, moved inside it.

    What is cut off on one side is added on the other, unless that was the longer one already.
    """
    (low, high), ends = limits, found.interval
    kept = interval_within(found.center, found.stderr, found.degrees, ends.level, low, high)
    first = kept.low if ends.low < low else min(ends.low, kept.low)
    last = kept.high if ends.high > high else max(ends.high, kept.high)
    return found._replace(interval=replace(ends, low=first, high=last))
