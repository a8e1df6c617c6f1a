"""The estimators: a mean of what was drawn, adjusted by what metrics say of the rest.

All are the weighted mean (weights 1/pi) plus slopes times the shift of the features between
sample and test set; they differ in the features. The slopes are centred and the weights are the
same for ratings and features. The ``-literal`` forms take E[XZ] in place of a covariance, as
printed in saldias2022 (eq. 3 and 4): there, several variates are worse than none on small samples.

The kernel works on many samples at once (arrays are samples x segments); one estimate is a sample
of one.

How far an answer depends on who gave it comes from outputs that several people rated. Rating more
segments takes away the error of sampling, not that of the raters: others like them would have
said otherwise. A rater's taste goes through everything done in one go, so that what two raters of a
segment differ by says too little: segments of a task are summed before they are squared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from assay.designs.base import FULL_LEVERAGE, SamplingDesign
from assay.designs.units import DesignUnits
from assay.errors import InputError, OptionError, did_you_mean, need_known
from assay.results import Note
from assay.stats.intervals import chi_squared_quantile
from assay.stats.neighbours import neighbour_predictions, sorted_neighbours, walk_neighbours
from assay.tables.tables import Ratings, Sample, TestSet

METHODS = (
    "auto", "mean", "regression", "cv-single", "cv-mean", "cv-multi", "cv-knn",
    "cv-single-literal", "cv-mean-literal", "cv-multi-literal",
)  # fmt: skip
RIDGE = 10.0
"""Penalty of the regression, in ratings' worth; frozen on WMT20."""
MIN_RATINGS_FOR_METRICS = 20
"""With fewer ratings than this, metrics are not used unless asked for."""
MOST_SLOPES, MOST_PRODUCTS = 0.5, 10_000_000
"""Slopes per rating beyond which the mean is taken; products of features held at once (80 MB)."""
MAX_NEIGHBOURS = 25
FEW_SAMPLES, MANY_SEGMENTS = 3, 6000
"""Neighbours of all segments are sorted once where that pays and fits memory."""


class Adjusted(NamedTuple):
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
    fit: Fit | None = None


def check_method(method: str, names: tuple[str, ...]) -> None:
    """Refuse a method that is not known; ``cv-single:METRIC`` names the metric to take."""
    head, sign, metric = method.partition(":")
    if head not in METHODS or (sign and not head.startswith("cv-single")):
        remedy = f"choose from {', '.join(METHODS)}"
        raise OptionError("method", method, f"is not known{did_you_mean(head, METHODS)}", remedy)
    if sign and metric not in names:
        remedy = f"the metrics are {', '.join(names) or 'none'}"
        raise OptionError("method", method, f"names no metric{did_you_mean(metric, names)}", remedy)


def adjusted_means(
    x: np.ndarray, drawn: np.ndarray, units: DesignUnits, method: str,
    predictors: Predictors | None = None,
) -> Adjusted:  # fmt: skip
    """Estimate the mean of all segments from those drawn: one estimate per row of ``drawn``.

    ``x`` are the ratings of all segments; those of segments that a sample lacks are not looked at.
    """
    plain = _plain(x, drawn, units)
    if method == "mean" or predictors is None:
        return plain
    x = np.where(drawn.any(axis=0), x, 0.0)
    enough = plain.n >= (MIN_RATINGS_FOR_METRICS if method == "auto" else 3)
    slopes = predictors.values.shape[1] if method in ("auto", "regression") else 0.0
    slopes = predictors.metrics / MOST_SLOPES if method.startswith("cv-multi") else slopes
    enough &= ~_constant(x, drawn) & (plain.n > slopes)
    if not enough.any():
        return plain
    fit = _fit(x, drawn, units, "regression" if method == "auto" else method, predictors)
    found = _wrap(fit, x, drawn, units, predictors)
    # Slopes for every other rating leave nothing to tell the error by.
    use = enough & (fit.degrees <= MOST_SLOPES * (plain.n - 1))
    if method == "auto":  # metrics that explain nothing may only add noise: then the mean stands
        use &= found.unexplained < 1
    names = ("center", "stderr", "degrees", "n", "used", "unexplained")
    chosen = {name: np.where(use, getattr(found, name), getattr(plain, name)) for name in names}
    return Adjusted(**chosen, fit=fit)


def adjusted_mean(
    x: np.ndarray, drawn: np.ndarray, units: DesignUnits, method: str, predictors: Predictors | None
) -> tuple[Adjusted, Fitted | None]:
    """One estimate, and the predictions behind it, to be summed over groups; None for the mean."""
    found = adjusted_means(x, drawn[None, :], units, method, predictors)
    fit = found.fit
    if fit is None or not found.used[0]:
        return found, None
    x = np.where(drawn, x, 0.0)
    shift = np.zeros(len(x))
    if method in ("auto", "regression"):
        shift = _shift(fit, drawn[None, :], units.pi)[0]
    return found, Fitted(x - (fit.residuals * (1 - fit.leverage))[0], fit.residuals[0], shift)


class Fitted(NamedTuple):
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
        return plain._replace(stderr=np.where(unknown, np.nan, plain.stderr))
    w = np.where(drawn, 1 / units.pi, 0.0)
    missed = np.where(drawn, x - fit.predicted, 0.0)
    center = fit.predicted.mean() + w @ missed / w.sum() + fit.shift.mean()
    around = fit.residuals - w @ np.where(drawn, fit.residuals, 0.0) / w.sum()
    variance, degrees = units.variance(around[None, :], row)
    # A handful of ratings may happen to agree inside every stratum: that proves nothing.
    stderr = np.sqrt(np.where(variance > 0, variance, np.nan))
    return plain._replace(
        center=np.array([center]), stderr=stderr, degrees=degrees, used=plain.n > 0
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
            fit = fit_ridge(x, features, weights, RIDGE)
            return fit._replace(center=fit.center + _shift(fit, drawn, units.pi).mean(axis=1))
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


def _shift(fit: Fit, drawn: np.ndarray, pi: np.ndarray) -> np.ndarray:
    """What takes from the regression estimator its bias of order 1/n, felt with skewed ratings.

    A segment's own rating must not help to predict it: 1/N sum_i (f_i + I_i/pi_i (x_i - f_i)), f_i
    the prediction from all other drawn segments, is unbiased where segments are drawn one by one.
    It differs from the usual estimator by 1/N sum over the sample of (1/pi - 1) (e_i^loo - e_i).
    """
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


def document_parts(
    x: np.ndarray, drawn: np.ndarray, fit: Fitted | None, pi: np.ndarray, document: np.ndarray,
    count: int,
) -> np.ndarray:  # fmt: skip
    """What each of ``count`` documents adds to an estimate, z_d / N.

    A test set is itself a sample: another set of documents of the same kind would give another
    score. With documents drawn independently, and segments drawn inside them, z_d = sum over its
    segments of (prediction - mean prediction) + sum over its drawn segments of (residual - mean
    residual) / pi. The z_d are independent and vary by both, the choice of documents and the draws
    inside them, so their spread is the variance of the estimate around the mean of all such
    documents: no variance of the design is added, and nothing is taken off because the test set is
    finite (the *ultimate clusters* of Sarndal, Swensson and Wretman 1992, section 4.6).
    """
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

    sqrt(k/(k-1) sum_d z_d^2) / N, with k - 1 degrees; NaN for fewer than two documents. ``parts``
    may be those of one estimate less those of another: what both have in common drops out where it
    is shared (Liang and Zeger 1986).
    """
    if k < 2:
        return float("nan"), 1.0
    found = float(np.sqrt(k / (k - 1) * (parts**2).sum()))
    return found if found > 0 else float("nan"), float(k - 1)


class Fit(NamedTuple):
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
    if few := features.size * p <= MOST_PRODUCTS:  # products once for all samples
        squares = (features[:, :, None] * features[:, None, :]).reshape(len(x), p * p)
        gram = (w @ squares).reshape(-1, p, p)
    else:
        gram = np.stack([(features * own[:, None]).T @ features for own in w])
    gram -= means[:, :, None] * means[:, None, :]
    inverse = np.linalg.pinv(gram + (ridge / n)[:, None, None] * np.eye(p), hermitian=True)
    along = w @ (features * x[:, None]) - means * x_mean[:, None]
    slopes = (inverse @ along[:, :, None])[:, :, 0]
    flat = (inverse @ means[:, :, None])[:, :, 0]
    if few:
        spread = inverse.reshape(len(inverse), -1) @ squares.T
    else:
        spread = np.stack([((features @ own) * features).sum(axis=1) for own in inverse])
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
        need_known("interval", name, INTERVALS)
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


def with_raters(found: Adjusted, part: float, degrees: float) -> Adjusted:
    """With the raters' part of the variance, and the degrees of both (Satterthwaite 1946)."""
    sampling = found.stderr**2
    total = sampling + part
    with np.errstate(invalid="ignore", divide="ignore"):
        both = total**2 / (sampling**2 / found.degrees + part**2 / degrees)
    return found._replace(stderr=np.sqrt(total), degrees=np.where(total > 0, both, found.degrees))


class Predictors(NamedTuple):
    """The features of one system or pair as segments x features.

    The first ``metrics`` columns are the single metrics ``names``. ``known`` is where the last
    feature is known, if that is not everywhere: then its mean over all segments is itself an
    estimate. ``lower`` are the metrics of which less is better.
    """

    values: np.ndarray
    metrics: int
    names: tuple[str, ...] = ()
    known: np.ndarray | None = None
    lower: frozenset[str] = frozenset()

    @property
    def directions(self) -> np.ndarray:
        """1 for every single metric, -1 where less is better, so that a mean does not cancel."""
        names = self.names[: self.metrics] or ("",) * self.metrics
        return np.array([-1.0 if name in self.lower else 1.0 for name in names])

    @property
    def everywhere(self) -> Predictors | None:
        """The features that are known of all segments; None where there are none."""
        if self.known is None:
            return self
        left = self.values[:, :-1]
        if not left.shape[1]:
            return None
        return self._replace(values=left, known=None)


MIN_DOUBLED_TASKS = 2
"""With fewer tasks rated twice, how far raters differ is taken as unknown."""


class RaterVariance(NamedTuple):
    """The variance of one segment's answer over raters, of a score and of a difference.

    A mean over N segments, each rated by k raters, has the variance v / (k N) beside that of the
    segments' sampling. ``tasks`` were rated by two or more; ``degrees`` of freedom go with both.
    ``alone`` are the same two by segments, as if every segment were a task.
    """

    scores: float
    differences: float
    degrees: float
    tasks: int
    alone: tuple[float, float]


class Answers(NamedTuple):
    """An entry for each rating of a campaign; all but the scores are numbers from 0."""

    score: np.ndarray
    system: np.ndarray
    segment: np.ndarray
    task: np.ndarray
    rater: np.ndarray


def rater_variance(given: Answers) -> RaterVariance | None:
    """The variance over raters from all outputs that several rated; None where there are none.

    With two raters and e_t the sum over the segments of task t of what the first says less what the
    second says, it is v = sum e_t^2 / 2 / segments; for differences of two systems with the
    difference by each rater, averaged over the pairs. With k raters of an output, deviations from
    their mean over sqrt(k - 1) take the place of e_t / sqrt(2).

    >>> score = np.array([1.0, 2.0, 5.0, 4.0, 0.0, 1.0, 6.0, 4.0])
    >>> number = np.arange(8)
    >>> segment = number % 4
    >>> v = rater_variance(Answers(score, 0 * number, segment, segment // 2, number // 4))
    >>> v.scores, v.tasks  # (2^2 + 1^2) / 2 / 4
    (0.625, 2)
    """
    score, system, segment, task, rater = given
    output, _ = _numbered(system, segment)
    counts = np.bincount(output)
    several = counts[output] > 1
    if not several.any():
        return None
    means = np.bincount(output, score) / counts
    deviation = ((score - means[output]) / np.sqrt(np.maximum(counts[output] - 1, 1)))[several]
    system, segment, task, rater = (part[several] for part in (system, segment, task, rater))
    rated = float((1 / counts[output[several]]).sum())
    own, _ = _numbered(system)

    def sums(group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What each rater adds up to in each group, a row, for every system; where it begins."""
        cell, first = _numbered(group, rater)
        e = np.zeros((len(first), own.max() + 1))
        np.add.at(e, (cell, own), deviation)
        return e, first

    by_task, first = sums(task)
    return RaterVariance(
        *_variances(by_task, rated), _degrees(by_task, task[first]), len(np.unique(task)),
        _variances(sums(segment)[0], rated),
    )  # fmt: skip


def _variances(e: np.ndarray, rated: float) -> tuple[float, float]:
    """Of scores, averaged over systems, and of differences, averaged over pairs of systems."""
    k, total = e.shape[1], float((e**2).sum())
    if k == 1:
        return total / rated, 2 * total / rated
    between = k * total - float((e.sum(axis=1) ** 2).sum())
    return total / rated, between / ((k - 1) / 2 * rated)


def _degrees(e: np.ndarray, task: np.ndarray) -> float:
    """Degrees of freedom of a variance averaged over pairs of systems.

    With T tasks and the covariance S of the systems' sums it is T (tr S)^2 / tr S^2: T where all
    systems move together, up to T (K - 1) where each moves by itself. The trace of the square is
    freed from its bias at few tasks; S is that of two raters' tasks, others count by their
    raters less one.
    """
    _, number = np.unique(task, return_inverse=True)
    extra = np.bincount(number) - 1.0
    degrees = float(np.maximum(extra, 0).sum())
    k = e.shape[1]
    if k < 3 or degrees < 3:
        return max(degrees, 1.0)
    centred = e - e.mean(axis=1, keepdims=True)
    s = centred.T @ centred / degrees
    trace = float(np.trace(s))
    if trace == 0:
        return degrees
    square = float((s**2).sum()) - trace**2 / degrees
    square *= degrees**2 / ((degrees - 1) * (degrees + 2))
    return float(degrees * np.clip(trace**2 / max(square, 1e-300), 1.0, k - 1))


class SeverityVariance(NamedTuple):
    """How much raters differ in what they say throughout, in all tasks alike, and its degrees."""

    variance: float
    degrees: float


class _Moment(NamedTuple):
    """An estimate of a variance, its degrees of freedom, and its own variance where it is 0."""

    variance: float
    degrees: float
    noise: float


def severity_variance(given: Answers) -> SeverityVariance | None:
    """The variance of raters' severities; None where no output has several raters.

    Doubly rated tasks tell by what their raters differ there (:func:`_severity_in_common`); so do
    the levels of what each rater did, tasks being dealt at random (:func:`_severity_apart`). The
    two are weighted by their precision, were there no severity. The result is not below 0, nor
    above what all that the raters of a task differ by may be: tasks that were not dealt at random
    must not pass for severity. Where everybody did everything it is that of the two-way analysis of
    variance, (MS_raters - MS_rest) / tasks, with R - 1 degrees.

    >>> score = np.array([1.0, 2.0, 5.0, 3.0, 4.5, 8.0])  # two raters, 2.5 apart
    >>> number = np.arange(6)
    >>> found = severity_variance(Answers(score, 0 * number, *[number % 3] * 2, number // 3))
    >>> round(found.variance, 3), found.degrees  # 2.5^2 / 2, less the variance of 2, 2.5, 3 over 6
    (3.083, 1.0)
    """
    work = _work_in_common(given)
    if work is None:
        return None
    most, one = _severity_in_common(work)
    two = _severity_apart(given)
    both = [item for item in (one, two) if item is not None]
    if not both:  # nobody did two tasks: all there is of severity is in that over tasks
        return SeverityVariance(0.0, 1.0)
    weights = np.array([1 / max(item.noise, 1e-300) for item in both])
    variance, degrees = (
        float(weights @ [item[k] for item in both] / weights.sum()) for k in range(2)
    )
    return SeverityVariance(float(np.clip(variance, 0.0, most)), max(degrees, 1.0))


class _Matrix(NamedTuple):
    """The cells of a sparse matrix; scipy's takes longer to load than a small estimation takes."""

    row: np.ndarray
    column: np.ndarray
    value: np.ndarray

    def __matmul__(self, other: _Matrix) -> _Matrix:
        order = np.argsort(other.row, kind="stable")
        rows = other.row[order]
        start, end = (np.searchsorted(rows, self.column, side) for side in ("left", "right"))
        n = end - start
        ours = np.repeat(np.arange(len(n)), n)
        theirs = order[np.arange(len(ours)) + np.repeat(start - np.cumsum(n) + n, n)]
        product = self.value[ours] * other.value[theirs]
        return _summed(self.row[ours], other.column[theirs], product)

    def transposed(self) -> _Matrix:
        return _Matrix(self.column, self.row, self.value)

    def gathered(self, group: np.ndarray) -> _Matrix:
        """The sums over groups of rows and of columns."""
        return _summed(group[self.row], group[self.column], self.value)

    def squares(self) -> float:
        """The sum of the squares of all cells."""
        return float((self.value**2).sum())


def _summed(row: np.ndarray, column: np.ndarray, value: np.ndarray) -> _Matrix:
    number, first = _numbered(row, column)
    return _Matrix(row[first], column[first], np.bincount(number, value))


class _Work(NamedTuple):
    """What raters did of tasks that others did, too: an entry for each system, task and rater.

    ``d`` is the sum over their outputs of what the rater says less the output's mean, and ``q`` the
    matrix that gives it for raters of any severities (Q in :func:`_severity_in_common`).
    """

    system: np.ndarray
    task: np.ndarray
    rater: np.ndarray
    outputs: np.ndarray
    d: np.ndarray
    q: _Matrix


def _work_in_common(given: Answers) -> _Work | None:
    score, system, segment, task, rater = given
    output, _ = _numbered(system, segment)
    counts = np.bincount(output)
    several = counts[output] > 1
    if not several.any():
        return None
    deviation = (score - (np.bincount(output, score) / counts)[output])[several]
    system, task, rater = system[several], task[several], rater[several]
    cell, first = _numbered(system, task, rater)
    each = _Matrix(output[several], cell, 1 / np.sqrt(counts[output[several]]))
    outputs = np.bincount(cell).astype(float)
    q = each.transposed() @ each
    q = q._replace(value=np.where(q.row == q.column, outputs[q.row], 0.0) - q.value)
    d = np.bincount(cell, deviation)
    return _Work(system[first], task[first], rater[first], outputs, d, q)


def _numbered(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row among those that differ, and where each of them is met first."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        key = key * (int(column.max(initial=0)) + 1) + column
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return number, first


def _severity_in_common(work: _Work) -> tuple[float, _Moment | None]:
    """The most that raters of a task differ by, and what of it goes through all their tasks.

    With d_t the deviations of the raters from the outputs' means, summed over the outputs of task
    t, raters of severities b are expected at d_t = Q_t b, and what they differ by in one task alone
    says nothing of another. So (|sum d_t|^2 - sum |d_t|^2) / (tr (sum Q_t)^2 - sum tr Q_t^2),
    numerator and denominator summed over systems, is the variance of b. Degrees of freedom are
    those of the contrasts between raters that it is made of. None where no two doubly rated tasks
    have a rater in common. The most is the upper end of the 95% interval of both together.
    """
    d, q = work.d, work.q
    own, first = _numbered(work.system, work.rater)
    total = np.bincount(own, d)
    whole = q.gathered(own)
    alone, between = q.squares(), whole.squares()
    found, left = float(d @ d) / alone, between - alone
    tasks = len(np.unique(work.task))
    extra = len(_numbered(work.task, work.rater)[1]) - tasks
    most = found * extra / chi_squared_quantile(0.05, extra)
    if left <= 1e-9 * between:
        return most, None
    one, many = (whole @ whole).gathered(work.rater[first]), (q @ q).gathered(work.rater)
    form = _summed(
        *(np.r_[a, b] for a, b in zip(one, many._replace(value=-many.value), strict=True))
    )
    degrees = float(form.value[form.row == form.column].sum()) ** 2 / form.squares()
    noise = 2 * found**2 * alone / (left * tasks)
    return most, _Moment(float(total @ total - d @ d) / left, degrees, noise)


class LastingTaste(NamedTuple):
    """How much raters differ in what they think of a system throughout, severity apart.

    ``errors`` is how many standard errors its variance is away from none.
    """

    sd: float
    errors: float


def lasting_taste(given: Answers) -> LastingTaste | None:
    """Raters' lasting preferences for systems; None where tasks in common cannot show any.

    As in :func:`severity_variance`, by the products of what a rater says of a system in two tasks,
    less what the rater says of all systems there. Without lasting taste they are as often
    negative, and the sum of their squares is the variance of their sum.
    """
    work = _work_in_common(given)
    if work is None or len(np.unique(work.system)) < 2:
        return None
    cell, _ = _numbered(work.task, work.rater)
    level = np.bincount(cell, work.d) / np.bincount(cell, work.outputs)
    d = work.d - work.outputs * level[cell]
    own, done = _numbered(work.system, work.rater)[0], _numbered(work.task)[0]
    table = _Matrix(done, own, d) if done.max() < own.max() else _Matrix(own, done, d)
    left = work.q.gathered(own).squares() - work.q.squares()
    # The squares of all products of tasks have one sum, whichever way round they are counted.
    itself = np.bincount(done, d**2)
    squares = (table @ table.transposed()).squares() - float(itself @ itself)
    if not left > 0 or not squares > 1e-9 * float(itself @ itself):
        return None
    together = float((np.bincount(own, d) ** 2).sum() - d @ d)
    systems = len(np.unique(work.system))
    variance = together / left * systems / (systems - 1)
    return LastingTaste(float(np.sqrt(max(variance, 0.0))), float(together / np.sqrt(2 * squares)))


def _severity_apart(given: Answers) -> _Moment | None:
    """The variance of raters' levels from tasks that were dealt to them at random.

    Half of what the means of two tasks differ by, squared: of two raters, less that of one rater.
    None where nobody did two tasks, or all tasks are one rater's.
    """
    score, system, _, task, rater = given
    cell, first = _numbered(system, task, rater)
    z = np.bincount(cell, score) / np.bincount(cell)
    system, task, rater = system[first], task[first], rater[first]
    z = z - (np.bincount(system, z) / np.maximum(np.bincount(system), 1))[system]
    pairs_in = []
    for columns in ((system,), (system, rater), (system, task)):
        group, _ = _numbered(*columns)
        n, total = np.bincount(group), np.bincount(group, z)
        # Half the sum of all squared differences inside groups, and the number of the pairs.
        half = n * np.bincount(group, z**2) - total**2
        pairs_in.append((float(half.sum()), float((n * (n - 1)).sum())))
    every, same, together = pairs_in
    pairs = every[1] - same[1] - together[1]
    if not pairs > 0 or not same[1] > 0:
        return None
    inside = same[0] / same[1]
    between = (every[0] - same[0] - together[0]) / pairs
    n = np.bincount(rater[_numbered(task, rater)[1]]).astype(float)
    n = n[n > 0]
    again = n * (n - 1)
    degrees = max(again.sum() ** 2 / (again**2).sum() - 1, 1.0)
    typical = (n.sum() - (n**2).sum() / n.sum()) / max(len(n) - 1, 1)
    noise = 2 * inside**2 * (1 / degrees + 1 / max(n.sum() - len(n), 1)) / typical**2
    return _Moment(between - inside, degrees, noise)


class Severities(NamedTuple):
    """What it adds to the error of a score that the raters as a whole may be strict or mild.

    One entry per rating: its system, segment, rater and 1 over the raters of its output; ``tasks``
    has one per segment.
    """

    found: SeverityVariance
    system: np.ndarray
    segment: np.ndarray
    rater: np.ndarray
    tasks: np.ndarray
    share: np.ndarray

    def part(self, i: int, weight: np.ndarray, scale: float = 1.0) -> float:
        """The variance of a system's score that is not yet in that over tasks.

        With w_rt the weight of what rater r did in task t, severities of variance s^2 add
        s^2 sum_r (sum_t w_rt)^2. The variance over tasks has s^2 sum_rt w_rt^2 of it, as if
        everybody came to every task anew, and times the ``scale`` of these ratings.
        """
        own = self.system == i
        rater, segment = self.rater[own], self.segment[own]
        w = weight[segment] * self.share[own]
        cell = rater + (rater.max(initial=0) + 1) * self.tasks[segment]
        cells = np.bincount(np.unique(cell, return_inverse=True)[1], w)
        beyond = float((np.bincount(rater, w) ** 2).sum() - scale * (cells**2).sum())
        return self.found.variance * max(beyond, 0.0)


class Overlap(NamedTuple):
    """The raters' part of an error: what is known from doubly rated outputs of one campaign.

    ``share`` is 1 over the number of raters of an output, as systems x segments. A system or pair
    whose ratings vary more than others' has raters that differ more, in proportion: the averaged
    variance is scaled by its own spread over the ``typical`` one of scores and of differences.
    """

    variance: RaterVariance
    share: np.ndarray
    typical: tuple[float, float]
    raters: int
    severities: Severities
    taste: LastingTaste | None

    def part(self, i: int, j: int, x: np.ndarray, population: int) -> float:
        """The variance of an estimate over raters that its sampling variance does not have.

        Of a score, or a difference: with n segments rated by one rater each it is v / n in all. The
        variance (1 - n/N) s^2 / n holds (1 - n/N) / n times the raters' variance of single
        segments; the rest is v/N + (1/n - 1/N) (v - that of single segments).
        """
        different, n = int(i != j), len(x)
        typical, alone = self.typical[different], self.variance.alone[different]
        if not typical > 0 or n < 2:
            return 0.0
        v = self.variance.differences if different else self.variance.scores
        v = v / population + max(v - alone, 0.0) * (1 / n - 1 / population)
        rated = ~np.isnan(self.share[i]) & ~np.isnan(self.share[j])
        once = float((self.share[i, rated] + self.share[j, rated]).mean()) / 2
        return v * float(x.var(ddof=1)) / typical * once

    def scale(self, x: np.ndarray) -> float:
        """How much more than others' these ratings of a system vary; 0 where it is not known."""
        typical = self.typical[0]
        return float(x.var(ddof=1)) / typical if typical > 0 and len(x) > 1 else 0.0


def find_overlap(
    test_set: TestSet, ratings: Ratings, scores: np.ndarray, sample: Sample | None = None
) -> Overlap | None:
    """What the outputs with several raters say; None where too few tasks were rated twice.

    ``scores`` are the ratings in use, as systems x segments. A task is what the ratings' column
    ``task`` says, else the snippet that was drawn, else the document, else the segment.
    """
    if "rater" not in ratings.genuine.columns:
        return None
    return overlap_of(test_set, ratings, scores, find_tasks(test_set, ratings.genuine, sample))


def overlap_of(
    test_set: TestSet, ratings: Ratings, scores: np.ndarray, tasks: np.ndarray
) -> Overlap | None:
    """The same where it is known to which of the ``tasks`` every segment belongs."""
    places = test_set.segments.select(test_set.key).with_row_index("_segment")
    rows = ratings.genuine.drop_nulls(["score", "rater"]).join(places, on=test_set.key)
    numbers = {name: k for k, name in enumerate(test_set.systems)}
    system = rows["system"].replace_strict(numbers, return_dtype=pl.Int64).to_numpy()
    segment = rows["_segment"].cast(pl.Int64).to_numpy()
    used = ~np.isnan(scores[system, segment])
    rater = (rows["rater"].rank("dense").cast(pl.Int64).to_numpy() - 1)[used]
    system, segment = system[used], segment[used]
    given = Answers(rows["score"].to_numpy()[used], system, segment, tasks[segment], rater)
    variance, severity = rater_variance(given), severity_variance(given)
    if variance is None or severity is None or variance.tasks < MIN_DOUBLED_TASKS:
        return None
    count = np.zeros(scores.shape)
    np.add.at(count, (system, segment), 1)
    share = np.where(count > 0, 1 / np.maximum(count, 1), np.nan)
    severities = Severities(severity, system, segment, rater, tasks, share[system, segment])
    return Overlap(
        variance, share, _typical(scores), len(np.unique(rater)), severities, lasting_taste(given)
    )


def find_tasks(test_set: TestSet, frame: pl.DataFrame, sample: Sample | None) -> np.ndarray:
    """The number of the task that each segment of the test set belongs to."""
    key = list(test_set.key)
    for name, rows in (("task", frame), ("snippet", None if sample is None else sample.frame)):
        if rows is None or name not in rows.columns or rows[name].null_count() == rows.height:
            continue
        own = rows.drop_nulls(name).unique(key, keep="first", maintain_order=True)
        task = test_set.segments.select(key).join(
            own.select(*key, name), on=key, how="left", maintain_order="left"
        )[name]
        # Snippets are numbered inside documents; a segment without a task is one by itself.
        inside = test_set.document if name == "snippet" else np.zeros(len(task), dtype=np.int64)
        alone = np.where(task.is_null().to_numpy(), np.arange(len(task)) + 1, 0)
        names = task.fill_null("").to_numpy().astype(str)
        names = np.unique(names, return_inverse=True)[1]
        return np.unique(np.stack([inside, names, alone]), axis=1, return_inverse=True)[1].ravel()
    return test_set.document if test_set.has_documents else np.arange(test_set.segments.height)


def raters_by_system(ratings: Ratings) -> list[Note]:
    """A warning where no rater compares systems: who is severe and what is bad look the same."""
    frame = ratings.genuine.drop_nulls("score")
    if "rater" not in frame.columns or frame["system"].n_unique() < 2:
        return []
    pairs = frame.select("rater", "system").n_unique()
    # Where a rater gave one rating each, what raters differ by is in the spread of ratings.
    if pairs > frame["rater"].n_unique() or frame.height < 2 * pairs:
        return []
    text = (
        "warning: every rater rated one system only, so differences of systems are also those of"
        " their raters, and no interval shows that; have every rater rate all systems"
    )
    return [Note("raters-by-system", text)]


def _typical(scores: np.ndarray) -> tuple[float, float]:
    """The mean variance of the systems' ratings, and of the differences of two systems'."""

    def mean_variance(rows: list[np.ndarray]) -> float:
        known = [row[~np.isnan(row)] for row in rows]
        spreads = [row.var(ddof=1) for row in known if len(row) > 1]
        return float(np.mean(spreads)) if spreads else 0.0

    pairs = [a - b for k, a in enumerate(scores) for b in scores[:k]]
    return mean_variance(list(scores)), mean_variance(pairs)
