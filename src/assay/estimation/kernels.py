"""The estimators: the weighted mean of the drawn ratings, adjusted by what metrics say of the rest.

All add slopes times the shift of the features between sample and test set to the mean with weights
1/pi; they differ in the features. For the regression these are the system's standardised metrics,
the square of their consensus, and the document mean of the consensus; last, a history where there
is one. The control variates of saldias2022 are in :mod:`assay.estimation.variates`.

Kernels work on many samples at once (arrays are samples x segments); an estimate is one sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.designs.base import DesignUnits
from assay.errors import OptionError, did_you_mean
from assay.results import Note
from assay.tables.tables import TestSet

METHODS = (
    "auto", "mean", "regression", "cv-single", "cv-mean", "cv-multi", "cv-knn",
    "cv-single-literal", "cv-mean-literal", "cv-multi-literal",
)  # fmt: skip
RIDGE = 10.0
"""Penalty of the regression, in ratings; chosen on WMT20."""
MIN_RATINGS_FOR_METRICS = 20
"""With fewer ratings, metrics are used only on request."""
MOST_SLOPES, MOST_PRODUCTS = 0.5, 10_000_000
"""The mean replaces a regression with more slopes per rating; products of features in memory."""


class Adjusted(NamedTuple):
    """Estimates, one per sample, with their errors.

    ``used`` says whether metrics were; ``unexplained`` is 1 - R^2, the variance of the
    leave-one-out residuals over that of the ratings.
    """

    center: np.ndarray
    stderr: np.ndarray
    degrees: np.ndarray
    n: np.ndarray
    used: np.ndarray
    unexplained: np.ndarray
    fit: Fit | None = None


def check_method(method: str, names: tuple[str, ...]) -> None:
    """Refuse an unknown method; ``cv-single:METRIC`` names its metric."""
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
    """Estimate the mean of all segments from the drawn ones: one estimate per row of ``drawn``.

    ``x`` are the ratings of all segments; those of segments that are not drawn are ignored.
    """
    plain = plain_mean(x, drawn, units)
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
    # With a slope for every other rating, residuals do not show the error.
    use = enough & (fit.degrees <= MOST_SLOPES * (plain.n - 1))
    if method == "auto":  # metrics that explain nothing only add noise
        use &= found.unexplained < 1
    names = ("center", "stderr", "degrees", "n", "used", "unexplained")
    chosen = {name: np.where(use, getattr(found, name), getattr(plain, name)) for name in names}
    return Adjusted(**chosen, fit=fit)


def adjusted_mean(
    x: np.ndarray, drawn: np.ndarray, units: DesignUnits, method: str, predictors: Predictors | None
) -> tuple[Adjusted, Fitted | None]:
    """One estimate and the predictions behind it (None for the mean)."""
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
    """Predictions for all segments, and the leave-one-out residuals of the rated ones.

    ``shift`` is each rated segment's part of the correction for bias (:func:`_shift`).
    """

    predicted: np.ndarray
    residuals: np.ndarray
    shift: np.ndarray

    def part(self, inside: np.ndarray) -> Fitted:
        """Those of some segments."""
        return Fitted(self.predicted[inside], self.residuals[inside], self.shift[inside])


def _constant(x: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    high = np.where(drawn, x, -np.inf).max(axis=1, initial=-np.inf)
    return np.asarray(high <= np.where(drawn, x, np.inf).min(axis=1, initial=np.inf))


def plain_mean(x: np.ndarray, drawn: np.ndarray, units: DesignUnits) -> Adjusted:
    """The weighted mean without metrics, with the design's standard error."""
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
    """The regression that belongs to a method."""
    if method == "regression":
        fit = fit_ridge(x, predictors.values, drawn / units.pi, RIDGE)
        return fit._replace(center=fit.center + _shift(fit, drawn, units.pi).mean(axis=1))
    from assay.estimation.variates import fit_variates

    return fit_variates(x, drawn, drawn / units.pi, method, predictors)


def _shift(fit: Fit, drawn: np.ndarray, pi: np.ndarray) -> np.ndarray:
    """The correction for the regression estimator's bias of order 1/n, which skewed ratings show.

    With f_i the prediction from all other drawn segments, 1/N sum_i (f_i + I_i/pi_i (x_i - f_i)) is
    unbiased where segments are drawn singly. The usual estimator uses each rating to predict itself
    as well; the two differ by 1/N sum over the sample of (1/pi - 1) (e_i^loo - e_i).
    """
    return np.where(drawn, (1 / pi - 1) * fit.residuals * fit.leverage, 0.0)


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
    """The variance from a last feature that is known for K of N segments: slope^2 var (1/K - 1/N).

    This is regression in two phases (Cochran 1977, section 12.6).
    """
    if predictors.known is None or fit.slopes.shape[1] < predictors.values.shape[1]:
        return 0.0  # known everywhere, or not used by the method
    inside = predictors.values[predictors.known, -1]
    if len(inside) < 2:
        return 0.0
    left = 1 / len(inside) - 1 / len(predictors.known)
    return np.asarray(fit.slopes[:, -1] ** 2 * inside.var(ddof=1) * left)


class Fit(NamedTuple):
    """Regressions around the weighted means, one per sample.

    ``center`` is the regression estimator of the mean: the fitted value at the mean features of all
    units. ``residuals`` (samples x units) are leave-one-out, e_i / (1 - h_i) with the ``leverage``
    h_i; they are meaningless outside the sample. ``degrees`` is the effective number of slopes, the
    trace of the hat matrix.
    """

    center: np.ndarray
    slopes: np.ndarray
    residuals: np.ndarray
    leverage: np.ndarray
    degrees: np.ndarray


def fit_ridge(x: np.ndarray, features: np.ndarray, weights: np.ndarray, ridge: float) -> Fit:
    """Regress x on the features (units x p), both around their weighted means.

    The penalty on standardised features is ridge/n, so it fades as ratings come in.

    >>> x, z = np.array([1.0, 2.0, 4.0, 0.0]), np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> fit = fit_ridge(x, z, np.array([[1.0, 1.0, 1.0, 0.0]]), ridge=0.0)
    >>> fit.slopes.round(6).tolist(), fit.center.round(6).tolist()
    ([[1.0]], [3.0])
    """
    p = features.shape[1]
    n = (weights > 0).sum(axis=1)
    w = weights / weights.sum(axis=1, keepdims=True)
    means, x_mean = w @ features, w @ x
    if few := features.size * p <= MOST_PRODUCTS:
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


def with_raters(found: Adjusted, part: float, degrees: float) -> Adjusted:
    """An estimate with a part added to its variance, and joint degrees (Satterthwaite 1946)."""
    sampling = found.stderr**2
    total = sampling + part
    with np.errstate(invalid="ignore", divide="ignore"):
        both = total**2 / (sampling**2 / found.degrees + part**2 / degrees)
    return found._replace(stderr=np.sqrt(total), degrees=np.where(total > 0, both, found.degrees))


class Predictors(NamedTuple):
    """The features of one system or pair as segments x features.

    The first ``metrics`` columns are the single metrics ``names``. ``known`` marks where the last
    feature is known; None: everywhere. ``lower`` are the metrics for which lower is better.
    """

    values: np.ndarray
    metrics: int
    names: tuple[str, ...] = ()
    known: np.ndarray | None = None
    lower: frozenset[str] = frozenset()

    @property
    def directions(self) -> np.ndarray:
        """1 for every single metric, -1 where lower is better."""
        names = self.names[: self.metrics] or ("",) * self.metrics
        return np.array([-1.0 if name in self.lower else 1.0 for name in names])

    @property
    def everywhere(self) -> Predictors | None:
        """The features that are known for all segments; None if there are none."""
        if self.known is None:
            return self
        left = self.values[:, :-1]
        if not left.shape[1]:
            return None
        return self._replace(values=left, known=None)


FULL_LEVERAGE = 0.9
"""Leverages are capped: a point that decides its own prediction has no honest residual."""


class Features(NamedTuple):
    """The features of all systems as systems x segments x features, and their names.

    The first ``metrics`` of them are single metrics. With a ``history`` the last one is what the
    ratings of other systems say, ``known`` (systems x segments) where; None means everywhere.
    ``lower`` are the metrics for which lower is better.
    """

    values: np.ndarray
    consensus: np.ndarray
    names: tuple[str, ...]
    metrics: int
    notes: tuple[Note, ...]
    history: bool = False
    known: np.ndarray | None = None
    lower: frozenset[str] = frozenset()

    def between(self, i: int, j: int, present: np.ndarray) -> Predictors | None:
        """The features of a system (``i`` is ``j``), or of the difference of two.

        Differences leave out the history, which holds each system's ratings for the other; None if
        no feature is left.
        """
        if i == j:
            known = None if self.known is None else self.known[i, present]
            own = self.values[i, present]
            return Predictors(own, self.metrics, self.names, known, self.lower)
        last = self.values.shape[-1] - self.history
        if not last:
            return None
        gap = self.values[i, present, :last] - self.values[j, present, :last]
        return Predictors(gap, self.metrics, self.names, lower=self.lower)


def make_features(test_set: TestSet) -> Features | None:
    """The features of every system; None without a metric that varies, or a history."""
    layers, names, notes = [], [], []
    for name in test_set.metrics:
        values, missing = _standardised(test_set.matrix(name), test_set.present)
        if values is None:
            notes.append(Note("metric-unused", f"{name} is constant or missing: not used"))
            continue
        if missing:
            text = f"{name}: {missing:,} missing values count as average"
            notes.append(Note("metric-missing", text))
        layers.append(values)
        names.append(name)
    history = known = None
    if test_set.history is not None:
        past = test_set.matrix(test_set.history)
        history, _ = _standardised(past, test_set.present)
        everywhere = (np.isfinite(past) | ~test_set.present).all()
        known = None if everywhere else np.isfinite(past)
    if not layers and history is None:
        return None
    parts, consensus = list(layers), np.zeros(test_set.present.shape)
    if layers:
        consensus = _consensus(np.stack(layers, axis=-1))
        parts.append(_scaled(consensus**2, test_set.present))
        names.append("consensus squared")
        if test_set.has_documents and test_set.documents.height > 1:
            own, sizes = test_set.document, np.bincount(test_set.document)
            means = [np.bincount(own, row)[own] / sizes[own] for row in consensus]
            parts.append(_scaled(np.stack(means), test_set.present))
            names.append("consensus of the document")
    if history is not None:
        parts.append(history)
        names.append("history")
    values = np.stack(parts, axis=-1)
    return Features(
        values, consensus, tuple(names), len(layers), tuple(notes), history is not None,
        known if history is not None else None, frozenset(test_set.lower_metrics),
    )  # fmt: skip


def _standardised(values: np.ndarray, present: np.ndarray) -> tuple[np.ndarray | None, int]:
    """Every system's values with mean 0 and sd 1, missing ones 0; and how many are missing."""
    known = np.isfinite(values) & present
    missing = int((present & ~known).sum())
    filled = np.where(known, values, 0.0)
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    mean = filled.sum(axis=1, keepdims=True) / count
    gap = np.where(known, values - mean, 0.0)
    spread = np.sqrt((gap**2).sum(axis=1, keepdims=True) / count)
    tiny = spread <= 1e-12 * (1 + np.abs(mean))
    if tiny.all():
        return None, missing
    return np.where(tiny, 0.0, gap / np.where(tiny, 1.0, spread)), missing


def _consensus(stack: np.ndarray) -> np.ndarray:
    """The mean of the metrics, each signed to agree with their first principal component.

    Its sign is arbitrary: the regression squares it or finds its slope. (The badness by which
    samples are drawn needs a direction, and so trusts stated directions and majorities.)
    """
    flat = stack.reshape(-1, stack.shape[-1])
    _, vectors = np.linalg.eigh(flat.T @ flat)
    signs = np.sign(vectors[:, -1])
    signs = np.where(signs == 0, 1.0, signs)
    mean = stack @ signs / len(signs)
    spread = mean.std(axis=1, keepdims=True)
    return np.asarray(np.divide(mean, spread, out=np.zeros_like(mean), where=spread > 0))


def _scaled(values: np.ndarray, present: np.ndarray) -> np.ndarray:
    scaled, _ = _standardised(values, present)
    return np.zeros_like(values) if scaled is None else scaled
