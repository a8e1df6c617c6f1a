"""Weighted regression with leave-one-out residuals, for many samples at once.

``weights`` is samples x units, zero for units that a sample does not hold. The features are the
same for all samples, but for :func:`fit_slope`, where each sample may have its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FULL_LEVERAGE = 0.9
"""A point that decides its own prediction has no honest residual; leverages are capped here."""


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
