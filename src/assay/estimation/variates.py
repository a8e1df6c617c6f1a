"""The control variates of saldias2022 (equations 3 and 4), as methods of estimation.

Slopes are centred, and ratings and features have the same weights. The ``-literal`` methods take
E[XZ] in place of a covariance, as printed; with several variates that is worse than no variate in
small samples.
"""

from __future__ import annotations

import numpy as np

from assay.estimation.kernels import FULL_LEVERAGE, Fit, Predictors, fit_ridge
from assay.stats.neighbours import neighbour_predictions, sorted_neighbours, walk_neighbours

MAX_NEIGHBOURS = 25
FEW_SAMPLES, MANY_SEGMENTS = 3, 6000
"""For more samples of fewer segments, the neighbours of all segments are sorted once."""


def fit_variates(
    x: np.ndarray, drawn: np.ndarray, weights: np.ndarray, method: str, predictors: Predictors
) -> Fit:
    """The regression on the variates of a method."""
    single = predictors.values[:, : predictors.metrics]
    head, _, metric = method.partition(":")
    match head:
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
        case _:  # cv-single: the metric that correlates best with the ratings
            best = np.abs(_correlations(x, single, weights)).argmax(axis=1)
            if head == "cv-single":
                return fit_slope(x, single.T[best], weights)
            z = single[:, np.bincount(best).argmax()]
    if head.endswith("-literal"):
        return _literal(x, z[:, None], weights)
    return fit_slope(x, np.broadcast_to(z, drawn.shape), weights)


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
    """Equations 3 and 4 as printed: slopes E[ZZ']^-1 E[XZ], E[ZZ'] over the test set.

    The slopes are not centred, so they contain mean(X) mean(Z); residuals are not leave-one-out.
    """
    w = weights / weights.sum(axis=1, keepdims=True)
    inverse = np.linalg.pinv(features.T @ features / len(features), hermitian=True)
    slopes = w @ (features * x[:, None]) @ inverse
    residuals = x - (w @ x)[:, None] - slopes @ features.T
    residuals += (slopes * (w @ features)).sum(axis=1)[:, None]
    center = w @ x - (slopes * (w @ features)).sum(axis=1) + slopes @ features.mean(axis=0)
    return Fit(center, slopes, residuals, w * 0, np.full(len(w), float(features.shape[1])))


def fit_slope(x: np.ndarray, z: np.ndarray, weights: np.ndarray) -> Fit:
    """Regress x on one feature, z (samples x units); the slope is 0 where z does not vary.

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
