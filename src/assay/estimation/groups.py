"""Estimates for groups of segments, by the rule of a study."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from assay.designs.base import DesignUnits
from assay.estimation.kernels import Adjusted, Fitted, adjusted_mean, plain_mean
from assay.estimation.results import Difference, Mean
from assay.estimation.study import Study, Target


def group_means(study: Study, i: int, group: np.ndarray, count: int) -> list[Mean]:
    """One system's score in each group; ``group`` has a number per segment, -1 for no group."""
    return _grouped(study, study.score(i), group, count)


def group_differences(
    study: Study, i: int, j: int, group: np.ndarray, count: int
) -> list[Difference]:
    """Two systems' difference in each group."""
    return [study.named(item, i, j) for item in _grouped(study, study.gap(i, j), group, count)]


def _grouped(study: Study, target: Target, group: np.ndarray, count: int) -> list[Mean]:
    places, x, units, predictors = study.laid_out(target)
    drawn, fit = ~np.isnan(x), None
    if drawn.any():
        # The error of a history that is known in part would not show in groups.
        everywhere = None if predictors is None else predictors.everywhere
        fit = adjusted_mean(x, drawn, units, study.method, everywhere)[1]
    means = []
    for inside in members(group[places], count):
        if not drawn[inside].any():
            means.append(study.nothing(len(inside)))
            continue
        own = None if fit is None else fit.part(inside)
        part = units.part(inside, drawn)
        found = group_mean(x[inside], drawn[inside], own, part)
        means.append(study.with_error(found, target, x[inside], places[inside], own, part))
    return means


def group_mean(
    x: np.ndarray, drawn: np.ndarray, fit: Fitted | None, units: DesignUnits
) -> Adjusted:
    """Estimate the mean of a group from its own ratings, with slopes fitted on all ratings.

    The mean prediction for the group's segments plus the weighted mean error of the predictions
    (Sarndal, Swensson and Wretman 1992, section 10.6); the variance is the design's, given the
    number of ratings in the group. A group of all segments gets the estimate of the whole, up to
    the degrees of freedom spent on slopes.
    """
    row = drawn[None, :]
    plain = plain_mean(x, row, units)
    if fit is None or np.isnan(plain.stderr[0]) or drawn.all():
        unknown = (plain.stderr == 0) & (plain.n < len(drawn))
        return plain._replace(stderr=np.where(unknown, np.nan, plain.stderr))
    w = np.where(drawn, 1 / units.pi, 0.0)
    missed = np.where(drawn, x - fit.predicted, 0.0)
    center = fit.predicted.mean() + w @ missed / w.sum() + fit.shift.mean()
    around = fit.residuals - w @ np.where(drawn, fit.residuals, 0.0) / w.sum()
    variance, degrees = units.variance(around[None, :], row)
    # A few ratings may agree by chance inside every stratum.
    stderr = np.sqrt(np.where(variance > 0, variance, np.nan))
    return plain._replace(
        center=np.array([center]), stderr=stderr, degrees=degrees, used=plain.n > 0
    )


def members(group: np.ndarray, count: int) -> list[np.ndarray]:
    """The places of the members of each of ``count`` groups; -1 means no group.

    >>> [found.tolist() for found in members(np.array([1, 0, -1, 1]), 3)]
    [[1], [0, 3], []]
    """
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(count + 1))
    return [order[first:last] for first, last in pairwise(ends.tolist())]
