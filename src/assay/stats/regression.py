"""Weighted ridge regression with leave-one-out residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Fit", "fit_ridge"]

FULL_LEVERAGE = 0.9
"""A point that decides its own prediction has no honest residual; leverages are capped here."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A regression around the weighted means, and what it leaves unexplained."""

    x_mean: float
    feature_means: np.ndarray
    slopes: np.ndarray
    residuals: np.ndarray
    degrees: float
    """Effective number of slopes, the trace of the hat matrix."""

    def predict_mean(self, features: np.ndarray) -> float:
        """The fitted value at the given features: the regression estimator of a total mean."""
        return float(self.x_mean - (self.feature_means - features) @ self.slopes)


def fit_ridge(x: np.ndarray, features: np.ndarray, weights: np.ndarray, ridge: float) -> Fit:
    """Regress x on the features (n x p), both around their weighted means.

    The penalty is ridge/n on standardised features, so that it fades as ratings come in. Residuals
    are leave-one-out: e_i / (1 - h_i), h_i the leverage.

    >>> fit = fit_ridge(np.array([1.0, 2.0, 4.0]), np.array([[0.0], [1.0], [3.0]]),
    ...                 np.ones(3), ridge=0.0)
    >>> fit.slopes.round(6).tolist(), round(fit.predict_mean(np.array([2.0])), 6)
    ([1.0], 3.0)
    """
    w = weights / weights.sum()
    feature_means, x_mean = w @ features, float(w @ x)
    centered = features - feature_means
    weighted = centered * w[:, None]
    gram = weighted.T @ centered
    inverse = np.linalg.pinv(gram + ridge / len(x) * np.eye(features.shape[1]), hermitian=True)
    slopes = inverse @ (weighted.T @ (x - x_mean))
    leverage = w + w * np.einsum("ij,jk,ik->i", centered, inverse, centered)
    raw = x - x_mean - centered @ slopes
    residuals = raw / (1 - np.minimum(leverage, FULL_LEVERAGE))
    return Fit(x_mean, feature_means, slopes, residuals, float(np.trace(inverse @ gram)))
