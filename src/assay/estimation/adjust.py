"""The estimators: a mean of what was drawn, adjusted by what metrics say of the rest.

All are the weighted mean (weights 1/pi) plus slopes times the shift of the features between
sample and test set; they differ in the features. The slopes are centred and the weights are the
same for ratings and features. The ``-literal`` forms take E[XZ] in place of a covariance, as
printed in saldias2022 (eq. 3 and 4): there, several variates are worse than none on small samples.

The kernel works on many samples at once (arrays are samples x segments); one estimate is a sample
of one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.errors import OptionError
from assay.stats.design_variance import (
    Strata,
    cluster_variance,
    collapsed_variance,
    neighbour_variance,
    simple_variance,
)
from assay.stats.neighbours import neighbour_predictions, sorted_neighbours, walk_neighbours
from assay.stats.regression import Fit, fit_ridge, fit_slope
from assay.tables.check import did_you_mean

METHODS = (
    "auto", "mean", "regression", "cv-single", "cv-mean", "cv-multi", "cv-knn",
    "cv-single-literal", "cv-mean-literal", "cv-multi-literal",
)  # fmt: skip
RIDGE = 10.0
"""Penalty of the regression, in ratings' worth; frozen on WMT20."""
FEWEST = 20
"""With fewer ratings than this, metrics are not used unless asked for."""
NEIGHBOURS = 25
FEW_SAMPLES, MANY_SEGMENTS = 3, 6000
"""Neighbours of all segments are sorted once where that pays and fits memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The segments of one system or pair, as estimators and variances need to know them.

    ``features`` is segments x features, the first ``metrics`` columns being the single metrics
    ``names``; None where there is none. ``pi`` are inclusion probabilities; ``kind`` the variance
    that goes with the design, which may need ``document``, ``position`` or ``strata``. ``known``
    is where the last feature is known, if that is not everywhere: then its mean over all segments
    is itself an estimate.
    """

    pi: np.ndarray
    kind: str
    document: np.ndarray
    position: np.ndarray | None = None
    strata: Strata | None = None
    features: np.ndarray | None = None
    metrics: int = 0
    names: tuple[str, ...] = ()
    known: np.ndarray | None = None

    def part(self, inside: np.ndarray, drawn: np.ndarray) -> Units:
        """Some of the segments, as a mask says, without their features; of all, some are drawn."""
        return Units(
            self.pi[inside], self.kind, self.document[inside],
            None if self.position is None else self.position[inside],
            None if self.strata is None else self.strata.part(inside, drawn),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Adjusted:
    """Estimates, one per sample, their standard errors, and what metrics contributed to them.

    ``unexplained`` is the variance of the leave-one-out residuals relative to that of the ratings,
    1 - R^2; ``used`` says where metrics were used at all.
    """

    center: np.ndarray
    stderr: np.ndarray
    degrees: np.ndarray
    n: np.ndarray
    used: np.ndarray
    unexplained: np.ndarray


def check_method(method: str, names: tuple[str, ...] | None = None) -> str:
    """Refuse a method that is not known; ``cv-single:METRIC`` names the metric to take."""
    head, sign, metric = method.partition(":")
    if head not in METHODS or (sign and not head.startswith("cv-single")):
        raise OptionError(
            "method", method, f"is not known{did_you_mean(head, METHODS)}",
            f"choose from {', '.join(METHODS)}",
        )  # fmt: skip
    if sign and names is not None and metric not in names:
        raise OptionError(
            "method", method, f"names no metric{did_you_mean(metric, names)}",
            f"the metrics are {', '.join(names) or 'none'}",
        )  # fmt: skip
    return method


def adjusted_means(x: np.ndarray, drawn: np.ndarray, units: Units, method: str) -> Adjusted:
    """Estimate the mean of all segments from those drawn: one estimate per row of ``drawn``.

    ``x`` are the ratings of all segments; those of segments that a sample lacks are not looked at.
    """
    plain = _plain(x, drawn, units)
    if method == "mean" or units.features is None:
        return plain
    x = np.where(drawn.any(axis=0), x, 0.0)
    enough = (plain.n >= (FEWEST if method == "auto" else 3)) & ~_constant(x, drawn)
    if not enough.any():
        return plain
    fit = _fit(x, drawn, units, "regression" if method == "auto" else method)
    found = _wrap(fit, x, drawn, units)
    # Metrics that explain nothing may only add noise: then the mean stands.
    use = enough & (found.unexplained < 1) if method == "auto" else enough
    return Adjusted(
        *(
            np.where(use, getattr(found, name), getattr(plain, name))
            for name in ("center", "stderr", "degrees", "n", "used", "unexplained")
        )
    )


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What metrics predict for all segments, and the leave-one-out residuals of the rated ones."""

    predicted: np.ndarray
    residuals: np.ndarray
    pull: np.ndarray
    """What each rated segment adds to the sum of estimates, so that they are unbiased."""

    def part(self, inside: np.ndarray) -> Fitted:
        """The same of some segments."""
        return Fitted(self.predicted[inside], self.residuals[inside], self.pull[inside])


def fitted(x: np.ndarray, drawn: np.ndarray, units: Units, method: str) -> Fitted | None:
    """The predictions behind one estimate, to be summed over groups; None for the mean."""
    if not adjusted_means(x, drawn[None, :], units, method).used[0]:
        return None
    x = np.where(drawn, x, 0.0)
    chosen = "regression" if method == "auto" else method
    fit = _fit(x, drawn[None, :], units, chosen)
    pull = _pull(fit, drawn[None, :], units.pi)[0] if chosen == "regression" else np.zeros(len(x))
    return Fitted(x - (fit.residuals * (1 - fit.leverage))[0], fit.residuals[0], pull)


def group_mean(x: np.ndarray, drawn: np.ndarray, fit: Fitted | None, units: Units) -> Adjusted:
    """Estimate the mean of a group of segments from its own ratings and everybody's slopes.

    The mean prediction of the group's segments plus the weighted mean of what the prediction
    misses in its ratings (Sarndal, Swensson and Wretman 1992, section 10.6); the variance is the
    design's, given how many ratings fell into the group. For a group of all segments this is the
    estimate of all, up to the degrees of freedom spent on slopes.
    """
    row = drawn[None, :]
    plain = _plain(x, row, units)
    if fit is None or np.isnan(plain.stderr[0]) or drawn.all():
        unknown = (plain.stderr == 0) & (plain.n < len(drawn))
        return replace(plain, stderr=np.where(unknown, np.nan, plain.stderr))
    w = np.where(drawn, 1 / units.pi, 0.0)
    missed = np.where(drawn, x - fit.predicted, 0.0)
    center = fit.predicted.mean() + w @ missed / w.sum() + fit.pull.mean()
    around = fit.residuals - w @ np.where(drawn, fit.residuals, 0.0) / w.sum()
    variance, degrees = _variance(around[None, :], row, units)
    # A handful of ratings may happen to agree inside every stratum: that is no certainty.
    stderr = np.sqrt(np.where(variance > 0, variance, np.nan))
    return replace(
        plain, center=np.array([center]), stderr=stderr, degrees=degrees, used=plain.n > 0
    )


def _constant(x: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    high = np.where(drawn, x, -np.inf).max(axis=1, initial=-np.inf)
    return np.asarray(high <= np.where(drawn, x, np.inf).min(axis=1, initial=np.inf))


def _plain(x: np.ndarray, drawn: np.ndarray, units: Units) -> Adjusted:
    w = drawn / units.pi
    n = drawn.sum(axis=1)
    center = w @ np.where(drawn.any(axis=0), x, 0.0) / w.sum(axis=1)
    variance, degrees = _variance(x - center[:, None], drawn, units)
    stderr = np.sqrt(np.where(_constant(x, drawn), np.nan, variance))
    stderr = np.where(n == drawn.shape[1], 0.0, stderr)
    flat = np.ones(len(drawn))
    return Adjusted(center, stderr, degrees, n, flat < 1, flat)


def _fit(x: np.ndarray, drawn: np.ndarray, units: Units, method: str) -> Fit:
    """The regression of a method."""
    weights = drawn / units.pi
    assert units.features is not None
    features, single = units.features, units.features[:, : units.metrics]
    head, _, metric = method.partition(":")
    match head:
        case "regression":
            return _unbiased(fit_ridge(x, features, weights, RIDGE), drawn, units.pi)
        case "cv-multi":
            return fit_ridge(x, single, weights, 0.0)
        case "cv-multi-literal":
            return _literal(x, single, weights)
        case "cv-knn":
            return fit_slope(x, _predictions(x, drawn, single), weights)
        case "cv-mean" | "cv-mean-literal":
            z = single.mean(axis=1)
        case _ if metric:
            z = single[:, units.names.index(metric)]
        case _:  # cv-single: the metric that goes with the ratings best
            best = np.abs(_correlations(x, single, weights)).argmax(axis=1)
            if head == "cv-single":
                return fit_slope(x, single.T[best], weights)
            z = single[:, np.bincount(best).argmax()]
    if head.endswith("-literal"):
        return _literal(x, z[:, None], weights)
    return fit_slope(x, np.broadcast_to(z, drawn.shape), weights)


def _unbiased(fit: Fit, drawn: np.ndarray, pi: np.ndarray) -> Fit:
    """The regression estimator without its bias of order 1/n, which skewed ratings make felt.

    A segment's own rating must not help to predict it: 1/N sum_i (f_i + I_i/pi_i (x_i - f_i)), f_i
    the prediction from all other drawn segments, is unbiased where segments are drawn one by one.
    It differs from the usual estimator by 1/N sum over the sample of (1/pi - 1) (e_i^loo - e_i).
    """
    return replace(fit, center=fit.center + _pull(fit, drawn, pi).mean(axis=1))


def _pull(fit: Fit, drawn: np.ndarray, pi: np.ndarray) -> np.ndarray:
    return np.where(drawn, (1 / pi - 1) * fit.residuals * fit.leverage, 0.0)


def _correlations(x: np.ndarray, features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted correlations with every feature: samples x features, 0 where one is constant."""
    w = weights / weights.sum(axis=1, keepdims=True)
    means = w @ features
    along = w @ (features * x[:, None]) - means * (w @ x)[:, None]
    spread = np.sqrt(np.maximum(w @ features**2 - means**2, 0.0))
    return np.where(spread > 1e-9, along / np.maximum(spread, 1e-9), 0.0)


def _predictions(x: np.ndarray, drawn: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Predictions by the nearest rated segments: samples x segments."""
    k = np.minimum(NEIGHBOURS, np.maximum(1, drawn.sum(axis=1) // 3))
    if len(drawn) > FEW_SAMPLES and len(features) <= MANY_SEGMENTS:
        return walk_neighbours(sorted_neighbours(features), drawn, x, k)
    known = [np.flatnonzero(row) for row in drawn]
    return np.stack([
        neighbour_predictions(features, where, x[where], int(own))
        for where, own in zip(known, k, strict=True)
    ])  # fmt: skip


def _literal(x: np.ndarray, features: np.ndarray, weights: np.ndarray) -> Fit:
    """Eq. 3 and 4 as printed: slopes E[ZZ']^-1 E[XZ], the first over the test set, Z standardised.

    Uncentred, the slopes take in mean(X) * mean(Z); residuals are not leave-one-out.
    """
    w = weights / weights.sum(axis=1, keepdims=True)
    inverse = np.linalg.pinv(features.T @ features / len(features), hermitian=True)
    slopes = w @ (features * x[:, None]) @ inverse
    residuals = x - (w @ x)[:, None] - slopes @ features.T
    residuals += (slopes * (w @ features)).sum(axis=1)[:, None]
    center = w @ x - (slopes * (w @ features)).sum(axis=1) + slopes @ features.mean(axis=0)
    return Fit(center, slopes, residuals, w * 0, np.full(len(w), float(features.shape[1])))


def _wrap(fit: Fit, x: np.ndarray, drawn: np.ndarray, units: Units) -> Adjusted:
    n = drawn.sum(axis=1)
    inside = np.where(drawn, x, 0.0)
    means = inside.sum(axis=1) / np.maximum(n, 1)
    spread = ((inside - means[:, None]) ** 2 * drawn).sum(axis=1)
    left = np.where(drawn, fit.residuals**2, 0.0).sum(axis=1)
    unexplained = np.where(spread > 0, left / np.where(spread > 0, spread, 1.0), 1.0)
    variance, degrees = _variance(fit.residuals, drawn, units)
    variance = variance + _second_phase(fit, units)
    stderr = np.where(n == drawn.shape[1], 0.0, np.sqrt(variance))
    degrees = np.maximum(1.0, degrees - fit.degrees)
    return Adjusted(fit.center, stderr, degrees, n, n > 0, unexplained)


def _second_phase(fit: Fit, units: Units) -> np.ndarray | float:
    """What a feature adds that is known for K of N segments: slope^2 var (1/K - 1/N).

    Regression in two phases (Cochran 1977, section 12.6): where it is known for no more segments
    than were rated, it explains nothing that helps.
    """
    if units.known is None or units.features is None:
        return 0.0
    if fit.slopes.shape[1] < units.features.shape[1]:
        return 0.0  # the method does not use it
    inside = units.features[units.known, -1]
    if len(inside) < 2:
        return 0.0
    left = 1 / len(inside) - 1 / len(units.known)
    return np.asarray(fit.slopes[:, -1] ** 2 * inside.var(ddof=1) * left)


def _variance(e: np.ndarray, drawn: np.ndarray, units: Units) -> tuple[np.ndarray, np.ndarray]:
    """The variance that goes with the design, and its degrees of freedom."""
    degrees = np.maximum(drawn.sum(axis=1) - 1.0, 1.0)
    if units.kind == "balanced" and units.position is not None:
        found = neighbour_variance(e, drawn, units.pi, units.position, units.document)
        return found, degrees
    if units.kind == "strata" and units.strata is not None:
        return collapsed_variance(e, drawn, units.strata), degrees
    if units.kind == "clusters":
        found = cluster_variance(e, drawn, units.document, 1 / units.pi)
        held = np.stack([np.bincount(units.document[row]).astype(bool).sum() for row in drawn])
        return found, np.maximum(held - 1.0, 1.0)
    return simple_variance(e, drawn, 1 / units.pi), degrees
