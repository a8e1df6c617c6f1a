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

from assay.designs.base import SamplingDesign
from assay.designs.units import DesignUnits
from assay.errors import InputError, OptionError, did_you_mean
from assay.estimation.frame import Predictors
from assay.stats.betting import betting_interval
from assay.stats.bounds import bernstein_bound, hoeffding_bound
from assay.stats.intervals import Interval
from assay.stats.neighbours import neighbour_predictions, sorted_neighbours, walk_neighbours
from assay.stats.variances import FULL_LEVERAGE

METHODS = (
    "auto", "mean", "regression", "cv-single", "cv-mean", "cv-multi", "cv-knn",
    "cv-single-literal", "cv-mean-literal", "cv-multi-literal",
)  # fmt: skip
RIDGE = 10.0
"""Penalty of the regression, in ratings' worth; frozen on WMT20."""
MIN_RATINGS_FOR_METRICS = 20
"""With fewer ratings than this, metrics are not used unless asked for."""
MAX_NEIGHBOURS = 25
FEW_SAMPLES, MANY_SEGMENTS = 3, 6000
"""Neighbours of all segments are sorted once where that pays and fits memory."""


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


def adjusted_means(
    x: np.ndarray,
    drawn: np.ndarray,
    units: DesignUnits,
    method: str,
    predictors: Predictors | None = None,
) -> Adjusted:
    """Estimate the mean of all segments from those drawn: one estimate per row of ``drawn``.

    ``x`` are the ratings of all segments; those of segments that a sample lacks are not looked at.
    """
    return _adjusted(x, drawn, units, method, predictors)[0]


def adjusted_mean(
    x: np.ndarray,
    drawn: np.ndarray,
    units: DesignUnits,
    method: str,
    predictors: Predictors | None = None,
) -> tuple[Adjusted, Fitted | None]:
    """One estimate, and the predictions behind it, to be summed over groups; None for the mean."""
    found, fit = _adjusted(x, drawn[None, :], units, method, predictors)
    if fit is None or not found.used[0]:
        return found, None
    x = np.where(drawn, x, 0.0)
    shift = np.zeros(len(x))
    if method in ("auto", "regression"):
        shift = _shift(fit, drawn[None, :], units.pi)[0]
    return found, Fitted(x - (fit.residuals * (1 - fit.leverage))[0], fit.residuals[0], shift)


def _adjusted(
    x: np.ndarray, drawn: np.ndarray, units: DesignUnits, method: str, predictors: Predictors | None
) -> tuple[Adjusted, Fit | None]:
    plain = _plain(x, drawn, units)
    if method == "mean" or predictors is None:
        return plain, None
    x = np.where(drawn.any(axis=0), x, 0.0)
    enough = plain.n >= (MIN_RATINGS_FOR_METRICS if method == "auto" else 3)
    enough &= ~_constant(x, drawn)
    if not enough.any():
        return plain, None
    fit = _fit(x, drawn, units, "regression" if method == "auto" else method, predictors)
    found = _wrap(fit, x, drawn, units, predictors)
    # Metrics that explain nothing may only add noise: then the mean stands.
    use = enough & (found.unexplained < 1) if method == "auto" else enough
    names = ("center", "stderr", "degrees", "n", "used", "unexplained")
    chosen = (np.where(use, getattr(found, name), getattr(plain, name)) for name in names)
    return Adjusted(*chosen), fit


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What metrics predict for all segments, and the leave-one-out residuals of the rated ones."""

    predicted: np.ndarray
    residuals: np.ndarray
    shift: np.ndarray
    """What each rated segment adds to the sum of estimates, so that they are unbiased."""

    def part(self, inside: np.ndarray) -> Fitted:
        """The same of some segments."""
        return Fitted(self.predicted[inside], self.residuals[inside], self.shift[inside])


def group_mean(
    x: np.ndarray, drawn: np.ndarray, fit: Fitted | None, units: DesignUnits
) -> Adjusted:
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
    center = fit.predicted.mean() + w @ missed / w.sum() + fit.shift.mean()
    around = fit.residuals - w @ np.where(drawn, fit.residuals, 0.0) / w.sum()
    variance, degrees = units.variance(around[None, :], row)
    # A handful of ratings may happen to agree inside every stratum: that proves nothing.
    stderr = np.sqrt(np.where(variance > 0, variance, np.nan))
    return replace(
        plain, center=np.array([center]), stderr=stderr, degrees=degrees, used=plain.n > 0
    )


def _constant(x: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    high = np.where(drawn, x, -np.inf).max(axis=1, initial=-np.inf)
    return np.asarray(high <= np.where(drawn, x, np.inf).min(axis=1, initial=np.inf))


def _plain(x: np.ndarray, drawn: np.ndarray, units: DesignUnits) -> Adjusted:
    w = drawn / units.pi
    n = drawn.sum(axis=1)
    center = w @ np.where(drawn.any(axis=0), x, 0.0) / w.sum(axis=1)
    variance, degrees = units.variance(x - center[:, None], drawn)
    stderr = np.sqrt(np.where(_constant(x, drawn), np.nan, variance))
    stderr = np.where(n == drawn.shape[1], 0.0, stderr)
    flat = np.ones(len(drawn))
    return Adjusted(center, stderr, degrees, n, flat < 1, flat)


def _fit(
    x: np.ndarray, drawn: np.ndarray, units: DesignUnits, method: str, predictors: Predictors
) -> Fit:
    """The regression of a method."""
    weights = drawn / units.pi
    features, single = predictors.values, predictors.values[:, : predictors.metrics]
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
            z = (single * predictors.directions).mean(axis=1)
        case _ if metric:
            z = single[:, predictors.names.index(metric)]
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
    return replace(fit, center=fit.center + _shift(fit, drawn, pi).mean(axis=1))


def _shift(fit: Fit, drawn: np.ndarray, pi: np.ndarray) -> np.ndarray:
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
    k = np.minimum(MAX_NEIGHBOURS, np.maximum(1, drawn.sum(axis=1) // 3))
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


def _wrap(
    fit: Fit, x: np.ndarray, drawn: np.ndarray, units: DesignUnits, predictors: Predictors
) -> Adjusted:
    n = drawn.sum(axis=1)
    inside = np.where(drawn, x, 0.0)
    means = inside.sum(axis=1) / np.maximum(n, 1)
    spread = ((inside - means[:, None]) ** 2 * drawn).sum(axis=1)
    left = np.where(drawn, fit.residuals**2, 0.0).sum(axis=1)
    unexplained = np.where(spread > 0, left / np.where(spread > 0, spread, 1.0), 1.0)
    variance, degrees = units.variance(fit.residuals, drawn)
    variance = variance + _second_phase(fit, predictors)
    stderr = np.where(n == drawn.shape[1], 0.0, np.sqrt(variance))
    degrees = np.maximum(1.0, degrees - fit.degrees)
    return Adjusted(fit.center, stderr, degrees, n, n > 0, unexplained)


def _second_phase(fit: Fit, predictors: Predictors) -> np.ndarray | float:
    """What a feature adds that is known for K of N segments: slope^2 var (1/K - 1/N).

    Regression in two phases (Cochran 1977, section 12.6): where it is known for no more segments
    than were rated, it explains nothing that helps.
    """
    if predictors.known is None or fit.slopes.shape[1] < predictors.values.shape[1]:
        return 0.0  # it is known everywhere, or the method does not use it
    inside = predictors.values[predictors.known, -1]
    if len(inside) < 2:
        return 0.0
    left = 1 / len(inside) - 1 / len(predictors.known)
    return np.asarray(fit.slopes[:, -1] ** 2 * inside.var(ddof=1) * left)


def document_stderr(
    x: np.ndarray, drawn: np.ndarray, fit: Fitted | None, pi: np.ndarray, document: np.ndarray
) -> tuple[float, float]:
    """The standard error of an estimate around the mean of all such documents, and its degrees.

    A test set is itself a sample: another set of documents of the same kind would give another
    score. With documents drawn independently, and segments drawn inside them, what each document
    adds to the estimate is z_d = sum over its segments of (prediction - mean prediction) + sum over
    its drawn segments of (residual - mean residual) / pi. The z_d are independent and vary by both,
    the choice of documents and the draws inside them, so their spread is the variance of the
    estimate around the mean of all such documents: no variance of the design is added, and nothing
    is taken off because the test set is finite (the *ultimate clusters* of Sarndal, Swensson and
    Wretman 1992, section 4.6).

    sqrt(k/(k-1) sum_d z_d^2) / N, with k - 1 degrees, k the documents that have ratings. NaN for
    fewer than two.
    """
    parts = document_parts(x, drawn, fit, pi, document, int(document.max()) + 1)
    return documents_error(parts, len(np.unique(document[drawn])))


def document_parts(
    x: np.ndarray,
    drawn: np.ndarray,
    fit: Fitted | None,
    pi: np.ndarray,
    document: np.ndarray,
    count: int,
) -> np.ndarray:
    """What each of ``count`` documents adds to an estimate: z_d / N of :func:`document_stderr`."""
    w = np.where(drawn, 1 / pi, 0.0)
    w = w / w.sum()
    if fit is None or drawn.all():
        z = w * np.where(drawn, x - w @ np.where(drawn, x, 0.0), 0.0)
    else:
        e = np.where(drawn, fit.residuals, 0.0)
        z = (fit.predicted - fit.predicted.mean()) / len(x) + w * (e - w @ e)
    return np.bincount(document, z, minlength=count)


def documents_error(parts: np.ndarray, k: int) -> tuple[float, float]:
    """The standard error of a sum over documents, k of which have ratings, and its degrees.

    ``parts`` may be those of one estimate less those of another: what both have in common drops
    out where it is shared (Liang and Zeger 1986).
    """
    if k < 2:
        return float("nan"), 1.0
    found = float(np.sqrt(k / (k - 1) * (parts**2).sum()))
    return found if found > 0 else float("nan"), float(k - 1)


@dataclass(frozen=True, slots=True)
class Fit:
    """Regressions around the weighted means, one per sample, and what they leave unexplained.

    ``center`` is the fitted value at the mean of the features over all units: the regression
    estimator of the mean. ``residuals`` is samples x units, leave-one-out: e_i / (1 - h_i), h_i the
    ``leverage``; for units outside the sample they say nothing. ``degrees`` is the effective number
    of slopes, the trace of the hat matrix.
    """

    center: np.ndarray
    slopes: np.ndarray
    residuals: np.ndarray
    leverage: np.ndarray
    degrees: np.ndarray


def fit_ridge(x: np.ndarray, features: np.ndarray, weights: np.ndarray, ridge: float) -> Fit:
    """Regress x on the features (units x p), both around their weighted means.

    The penalty is ridge/n on standardised features, so that it fades as ratings come in.

    >>> x, z = np.array([1.0, 2.0, 4.0, 0.0]), np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> fit = fit_ridge(x, z, np.array([[1.0, 1.0, 1.0, 0.0]]), ridge=0.0)
    >>> fit.slopes.round(6).tolist(), fit.center.round(6).tolist()
    ([[1.0]], [3.0])
    """
    p = features.shape[1]
    n = (weights > 0).sum(axis=1)
    w = weights / weights.sum(axis=1, keepdims=True)
    means, x_mean = w @ features, w @ x
    # Products of features once for all samples; then each Gram matrix is a row of a product.
    squares = (features[:, :, None] * features[:, None, :]).reshape(len(x), p * p)
    gram = (w @ squares).reshape(-1, p, p) - means[:, :, None] * means[:, None, :]
    inverse = np.linalg.pinv(gram + (ridge / n)[:, None, None] * np.eye(p), hermitian=True)
    along = w @ (features * x[:, None]) - means * x_mean[:, None]
    slopes = (inverse @ along[:, :, None])[:, :, 0]
    flat = (inverse @ means[:, :, None])[:, :, 0]
    spread = inverse.reshape(-1, p * p) @ squares.T
    spread += (means * flat).sum(axis=1)[:, None] - 2 * flat @ features.T
    level = x_mean - (means * slopes).sum(axis=1)
    raw = x - level[:, None] - slopes @ features.T
    leverage = np.minimum(w * (1 + spread), FULL_LEVERAGE)
    degrees = np.einsum("dij,dji->d", inverse, gram)
    center = level + slopes @ features.mean(axis=0)
    return Fit(center, slopes, raw / (1 - leverage), leverage, degrees)


def fit_slope(x: np.ndarray, z: np.ndarray, weights: np.ndarray) -> Fit:
    """Regress x on one feature, z as samples x units; without slope where z does not vary.

    >>> fit = fit_slope(np.array([1.0, 3.0, 0.0]), np.array([[0.0, 1.0, 2.0]]),
    ...                 np.array([[1.0, 1.0, 0.0]]))
    >>> fit.slopes.tolist(), fit.center.tolist()
    ([[2.0]], [3.0])
    """
    w = weights / weights.sum(axis=1, keepdims=True)
    centered = z - (w * z).sum(axis=1, keepdims=True)
    x_mean = w @ x
    square = (w * centered**2).sum(axis=1)
    flat = square <= 1e-12 * np.maximum(1.0, (w * z**2).sum(axis=1))
    inverse = np.where(flat, 0.0, 1 / np.where(flat, 1.0, square))
    slope = ((w * centered) @ x) * inverse
    raw = x - x_mean[:, None] - slope[:, None] * centered
    leverage = np.minimum(w * (1 + centered**2 * inverse[:, None]), FULL_LEVERAGE)
    center = x_mean + slope * centered.mean(axis=1)
    return Fit(center, slope[:, None], raw / (1 - leverage), leverage, (~flat).astype(float))


GUARANTEED = ("betting", "hoeffding", "bernstein")
INTERVALS = ("auto", "t", "skew-t", *GUARANTEED)
SKEW_METHODS = ("auto", "mean", "regression")
"""The methods for which the correction for skewness was found to help."""


def check_interval(
    name: str, *, method: str, design: SamplingDesign, limits: tuple[float, float] | None
) -> None:
    """Refuse an interval that does not go with the method, the design or what is known."""
    if name == "bootstrap":
        raise OptionError(
            "interval", name, "is no longer available: it was slower than skew-t and no better",
            "use skew-t, which also works with regression, snippets and balanced samples",
        )  # fmt: skip
    if name not in INTERVALS:
        raise OptionError(
            "interval", name, f"is not known{did_you_mean(name, INTERVALS)}",
            f"choose from {', '.join(INTERVALS)}",
        )  # fmt: skip
    if name in ("auto", "t"):
        return
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
    if name == "betting":
        return betting_interval(x, population, low, high, level)
    if name == "hoeffding":
        margin = hoeffding_bound(n, population, high - low, level)
    else:
        margin = bernstein_bound(x, population, high - low, level)
    return Interval(max(low, center - margin), min(high, center + margin), level)


def with_raters(found: Adjusted, part: float, degrees: float) -> Adjusted:
    """With the raters' part of the variance, and the degrees of both (Satterthwaite 1946)."""
    sampling = found.stderr**2
    total = sampling + part
    with np.errstate(invalid="ignore", divide="ignore"):
        both = total**2 / (sampling**2 / found.degrees + part**2 / degrees)
    return replace(found, stderr=np.sqrt(total), degrees=np.where(total > 0, both, found.degrees))
