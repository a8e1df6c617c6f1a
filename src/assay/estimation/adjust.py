"""The estimators: a mean of what was drawn, adjusted by what metrics say of the rest.

All are the weighted mean (weights 1/pi) plus slopes times the shift of the features between
sample and test set; they differ in the features. The slopes are centred and the weights are the
same for ratings and features: E[XZ] in place of a covariance, as printed in saldias2022 (eq. 3
and 4), makes several variates worse than none on small samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.stats.design_variance import (
    cluster_variance,
    collapsed_variance,
    neighbour_variance,
    simple_variance,
    weighted_variance,
)
from assay.stats.neighbours import neighbour_predictions
from assay.stats.regression import Fit, fit_ridge

__all__ = [
    "METHODS",
    "RIDGE",
    "Adjusted",
    "Drawn",
    "Fitted",
    "adjusted_mean",
    "fitted",
    "group_mean",
]

METHODS = ("auto", "mean", "regression", "cv-single", "cv-mean", "cv-multi", "cv-knn")
RIDGE = 10.0
"""Penalty of the regression, in ratings' worth; frozen on WMT20."""
FEWEST = 20
"""With fewer ratings than this, metrics are not used unless asked for."""
NEIGHBOURS = 25


@dataclass(frozen=True, slots=True)
class Drawn:
    """The drawn and rated segments of one system or pair, as their variance needs to know them.

    ``position`` and ``document`` are those the sample was spread over; ``stratum`` and
    ``stratum_sizes`` are there for stratified samples.
    """

    where: np.ndarray
    pi: np.ndarray
    population: int
    kind: str
    document: np.ndarray
    position: np.ndarray | None = None
    stratum: np.ndarray | None = None
    stratum_sizes: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Adjusted:
    """An estimate, its standard error, and what metrics contributed to it."""

    center: float
    stderr: float
    degrees: float
    n: int
    method: str
    unexplained: float
    """Variance of the leave-one-out residuals relative to that of the ratings, 1 - R^2."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What metrics predict for all segments, and the leave-one-out residuals of the rated ones."""

    predicted: np.ndarray
    residuals: np.ndarray
    method: str

    def part(self, inside: np.ndarray, chosen: np.ndarray) -> Fitted:
        """The same of some segments (a mask of all) and their ratings (a mask of the rated)."""
        return Fitted(self.predicted[inside], self.residuals[chosen], self.method)


def adjusted_mean(
    x: np.ndarray, features: np.ndarray | None, metrics: int, drawn: Drawn, method: str
) -> Adjusted:
    """Estimate the mean of all segments from the ratings ``x`` of the drawn ones.

    ``features`` is segments x features for all of them, the first ``metrics`` columns being
    single metrics; None where there is none.
    """
    made = _fit(x, features, metrics, drawn, method)
    if made is None:
        return _plain(x, drawn)
    fit, variates, chosen = made
    return _wrap(fit, variates.mean(axis=0), x, drawn, chosen)


def fitted(
    x: np.ndarray, features: np.ndarray | None, metrics: int, drawn: Drawn, method: str
) -> Fitted | None:
    """The predictions behind ``adjusted_mean``, to be summed over groups; None for the mean."""
    made = _fit(x, features, metrics, drawn, method)
    if made is None:
        return None
    fit, variates, chosen = made
    return Fitted(fit.x_mean + (variates - fit.feature_means) @ fit.slopes, fit.residuals, chosen)


def group_mean(x: np.ndarray, fit: Fitted | None, drawn: Drawn) -> Adjusted:
    """Estimate the mean of a group of segments from its own ratings and everybody's slopes.

    The mean prediction of the group's segments plus the weighted mean of what the prediction
    misses in its ratings (Sarndal, Swensson and Wretman 1992, section 10.6); the variance is the
    design's, given how many ratings fell into the group. For a group of all segments this is
    ``adjusted_mean``, up to the degrees of freedom spent on slopes.
    """
    n = len(x)
    if n == drawn.population:
        return Adjusted(float(x.mean()), 0.0, 1.0, n, "mean", 1.0)
    if fit is None or n < 2 or np.ptp(x) == 0:
        found = _plain(x, drawn)
        return replace(found, stderr=float("nan")) if found.stderr == 0 else found
    w = 1 / drawn.pi
    center = fit.predicted.mean() + w @ (x - fit.predicted[drawn.where]) / w.sum()
    variance, degrees = _variance(fit.residuals - w @ fit.residuals / w.sum(), drawn)
    # A handful of ratings may happen to agree inside every stratum: that is no certainty.
    stderr = float(np.sqrt(variance)) if variance > 0 else float("nan")
    return Adjusted(float(center), stderr, max(1.0, degrees), n, fit.method, 1.0)


def _fit(
    x: np.ndarray, features: np.ndarray | None, metrics: int, drawn: Drawn, method: str
) -> tuple[Fit, np.ndarray, str] | None:
    """The regression of a method, its variates, and its name; None where the mean is used."""
    chosen = method
    if method == "auto":
        chosen = "mean" if features is None or len(x) < FEWEST else "regression"
    if chosen == "mean" or features is None or len(x) < 3 or np.ptp(x) == 0:
        return None
    variates, ridge = _variates(x, features, metrics, drawn, chosen)
    fit = fit_ridge(x, variates[drawn.where], 1 / drawn.pi, ridge)
    # Metrics that explain nothing may only add noise: then the mean stands.
    return None if method == "auto" and _unexplained(fit, x) >= 1 else (fit, variates, chosen)


def _unexplained(fit: Fit, x: np.ndarray) -> float:
    spread = float(np.var(x))
    return float(np.mean(fit.residuals**2)) / spread if spread > 0 else 1.0


def _plain(x: np.ndarray, drawn: Drawn) -> Adjusted:
    w = 1 / drawn.pi
    center = float(w @ x / w.sum())
    if len(x) == drawn.population:
        return Adjusted(center, 0.0, 1.0, len(x), "mean", 1.0)
    if len(x) < 2 or np.ptp(x) == 0:
        return Adjusted(center, float("nan"), 1.0, len(x), "mean", 1.0)
    variance, degrees = _variance(x - center, drawn)
    return Adjusted(center, float(np.sqrt(variance)), degrees, len(x), "mean", 1.0)


def _variates(
    x: np.ndarray, features: np.ndarray, metrics: int, drawn: Drawn, method: str
) -> tuple[np.ndarray, float]:
    """The features a method uses and its penalty."""
    match method:
        case "regression":
            return features, RIDGE
        case "cv-multi":
            return features[:, :metrics], 0.0
        case "cv-knn":
            k = min(NEIGHBOURS, max(1, len(x) // 3))
            found = neighbour_predictions(features[:, :metrics], drawn.where, x, k)
            return found[:, None], 0.0
        case "cv-mean":
            return features[:, :metrics].mean(axis=1, keepdims=True), 0.0
        case _:  # cv-single: the metric that goes with the ratings best
            inside = features[drawn.where, :metrics]
            r = [_correlation(inside[:, k], x) for k in range(metrics)]
            return features[:, [int(np.argmax(np.abs(r)))]], 0.0


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _wrap(fit: Fit, means: np.ndarray, x: np.ndarray, drawn: Drawn, method: str) -> Adjusted:
    center = fit.predict_mean(means)
    unexplained = _unexplained(fit, x)
    if len(x) == drawn.population:
        return Adjusted(center, 0.0, 1.0, len(x), method, unexplained)
    variance, degrees = _variance(fit.residuals, drawn)
    degrees = max(1.0, degrees - fit.degrees)
    return Adjusted(center, float(np.sqrt(variance)), degrees, len(x), method, unexplained)


def _variance(e: np.ndarray, drawn: Drawn) -> tuple[float, float]:
    """The variance that goes with the design, and its degrees of freedom."""
    n, share = len(e), len(e) / drawn.population
    if drawn.kind == "balanced" and drawn.position is not None:
        found = neighbour_variance(e, drawn.pi, drawn.position, drawn.document)
        return found, n - 1.0
    if drawn.kind == "strata" and drawn.stratum is not None and drawn.stratum_sizes is not None:
        return collapsed_variance(e, drawn.stratum, drawn.stratum_sizes), n - 1.0
    if drawn.kind == "clusters":
        found = cluster_variance(e, drawn.document, 1 / drawn.pi, share)
        return found, max(1.0, len(np.unique(drawn.document)) - 1.0)
    if np.ptp(drawn.pi) > 1e-12:  # skipped outputs, importance: weights differ
        return weighted_variance(e, 1 / drawn.pi, drawn.population), n - 1.0
    return simple_variance(e, drawn.population), n - 1.0
