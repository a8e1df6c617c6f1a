"""Ratings of few segments and metrics of all joined: a small-area model of the systems' scores.

Regression uses metrics inside a system; this uses what they say *between* systems (Fay and Herriot
1979). The direct estimates d of K systems have errors with covariance V; metrics predict m, known
of the whole test set. The scores are

    theta = a + c m + u,   c ~ N(SLOPE, SLOPE_SD^2),   u_k ~ N(0, tau^2),   a flat,

tau uniform on (0, TAU_TOP sd(d)), averaged over a grid. With probability MISJUDGED one system is
not what the metrics say at all, and its u is as wide as the scores differ. Only differences between
systems matter, and only these are given.

The slopes behind m come from differences *within* segments and systems: what a metric gets wrong of
a whole system cannot bend them, and they share next to no error with d. The constants were
chosen on WMT20, WMT22 and WMT23 MQM together, so figures on these are in-sample; SLOPE is above 1 because what is random in a metric makes slopes between single outputs
flatter than those between systems.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import optimize, special

SLOPE, SLOPE_SD = 1.5, 0.5
TAU_TOP, TAU_POINTS = 3.0, 41
MISJUDGED = 0.2
"""The prior probability that the metrics misjudge one system."""
RIDGE = 10.0
"""Penalty of the slopes, in outputs' worth."""
OWN_SLOPES = 4.0
"""By how much the covariance of slopes counts: what a metric is worth between systems differs from
what it is worth within them by more than the error of the slope."""
SHRINKAGE = 8.0
"""Weight of the spherical covariance, in times (K-1)/n: skewed ratings make V noisy, and small
where d happens to be small."""
ROUNDS = 20
"""Turns of removing effects of segments and systems."""
NEGLIGIBLE = 1e-4
"""Parts of the mixture that weigh less than this are left out."""


class Slopes(NamedTuple):
    """What a point of each metric is worth between two outputs of one segment, and how sure."""

    values: np.ndarray
    covariance: np.ndarray


class Mixture(NamedTuple):
    """The scores' posterior law: normal laws with weights, means and covariances over systems.

    ``noise`` is the part of each covariance that comes from V, ``misjudged`` the probability, for
    every system, that it is the one that metrics say nothing of.
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    noise: np.ndarray
    misjudged: np.ndarray


class Pairs(NamedTuple):
    """All pairs i < j of systems: theta_i - theta_j, its sd and interval, P(theta_i > theta_j)."""

    difference: np.ndarray
    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray
    probability: np.ndarray


def within_segments(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Values (systems x segments, and metrics) less the mean of the known ones of their segment.

    >>> within_segments(np.array([[1.0, 5.0], [3.0, 7.0]]), np.array([[True, True], [True, False]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    mask = known.reshape(known.shape + (1,) * (values.ndim - known.ndim))
    filled = np.where(mask, values, 0.0)
    mean = filled.sum(axis=0) / np.maximum(mask.sum(axis=0), 1)
    return np.where(mask, filled - mean, 0.0)


def _within_both(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Values less effects of segments and systems, by turns where some outputs are not known."""
    turned = (1, 0, *range(2, values.ndim))
    found = within_segments(values, known)
    for _ in range(1 if known.all() else ROUNDS):
        found = within_segments(found.transpose(turned), known.T).transpose(turned)
        found = within_segments(found, known)
    return found


def fit_slopes(x: np.ndarray, z: np.ndarray, ridge: np.ndarray | float = RIDGE) -> Slopes:
    """Slopes of ratings x (systems x segments) on metrics z, effects of both removed.

    NaN where an output has no rating. Their covariance allows for what outputs of a segment share
    (sandwich, segments as clusters).
    """
    known = np.isfinite(x)
    y, f = _within_both(x, known), _within_both(z, known)
    p = z.shape[-1]
    flat = f.reshape(-1, p)
    inverse = np.linalg.inv(flat.T @ flat + ridge * np.eye(p))
    slopes = inverse @ (flat.T @ y.ravel())
    scores = np.einsum("ksp,ks->sp", f, y - f @ slopes)
    return Slopes(slopes, inverse @ (scores.T @ scores) @ inverse)


def metric_signal(metrics: np.ndarray, slopes: Slopes) -> float:
    """How far predictions of the systems differ, squared, over what the slopes' error makes of it.

    About 1 for metrics of noise, 2 or more in a tenth of samples; metrics is systems x metrics.
    """
    z = metrics - metrics.mean(axis=0)
    noise = np.trace(z @ slopes.covariance @ z.T)
    return float(((z @ slopes.values) ** 2).sum() / max(noise, 1e-300))


def scores_of_differences(gap: np.ndarray) -> np.ndarray:
    """Scores around 0 whose differences fit those of all pairs (antisymmetric) best.

    >>> scores_of_differences(np.array([[0.0, 2.0], [-2.0, 0.0]]))
    array([ 1., -1.])
    """
    return np.asarray(gap.mean(axis=1))


def covariance_of_differences(variance: np.ndarray, n: float) -> np.ndarray:
    """The covariance over systems that gives these variances of differences (K x K), smoothed.

    -1/2 H variance H with H = I - 11'/K, shrunk towards its spherical form with the weight
    min(1, SHRINKAGE (K-1)/n), n the rated segments; what is negative after that is cut off.
    """
    k = len(variance)
    center = np.eye(k) - 1 / k
    found = -0.5 * center @ variance @ center
    weight = min(1.0, SHRINKAGE * (k - 1) / n)
    found = (1 - weight) * found + weight * np.trace(found) / (k - 1) * center
    values, vectors = np.linalg.eigh(found)
    return np.asarray((vectors * np.maximum(values, 1e-3 * values[-1])) @ vectors.T)


def composite(d: np.ndarray, v: np.ndarray, metrics: np.ndarray, slopes: Slopes) -> Mixture:
    """The law of the scores given direct estimates d, their covariance v, and means of metrics.

    ``metrics`` is systems x metrics, the means over the whole test set.
    """
    z = metrics - metrics.mean(axis=0)
    m = z @ slopes.values
    prior = SLOPE_SD**2 * np.outer(m, m) + OWN_SLOPES * z @ slopes.covariance @ z.T
    return small_area(d, v, SLOPE * m, prior, misjudged=MISJUDGED)


def small_area(
    d: np.ndarray, v: np.ndarray, m: np.ndarray, prior: np.ndarray, *, misjudged: float
) -> Mixture:
    """The law of theta = a + N(m, prior + tau^2 I), given d ~ N(theta, v): a mixture over tau.

    Each weight is the restricted likelihood of d, a integrated out. ``misjudged`` is the prior
    probability that one of the systems has a u of its own, as wide as TAU_TOP sd(d).
    """
    k, wide = len(d), (TAU_TOP * d.std(ddof=1)) ** 2
    tau2 = wide * ((np.arange(TAU_POINTS) + 0.5) / TAU_POINTS) ** 2
    cases = np.concatenate([np.zeros((1, k)), wide * np.eye(k)])[: k + 1 if misjudged else 1]
    own = prior + cases[:, :, None] * np.eye(k)
    chance = np.log(np.r_[1 - misjudged, np.full(len(cases) - 1, misjudged / k)])
    weights = _weights(d - m, own + v, tau2, chance)
    case, point = np.nonzero(weights > NEGLIGIBLE * weights.max())
    w = weights[case, point]
    p = own[case] + tau2[point][:, None, None] * np.eye(k)
    return Mixture(w / w.sum(), *_normal(d - m, m, p, v), weights[1:].sum(axis=1))


def _weights(r: np.ndarray, fixed: np.ndarray, tau2: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Posterior weights, cases x points of the grid: one eigensystem serves all tau of a case."""
    values, vectors = np.linalg.eigh(fixed)
    scale = 1 / (values[:, None, :] + tau2[:, None])
    ones = vectors.sum(axis=1)[:, None, :]
    along = (vectors.transpose(0, 2, 1) @ r)[:, None, :]
    flat = (scale * ones**2).sum(axis=2)
    left = (scale * along**2).sum(axis=2) - (scale * ones * along).sum(axis=2) ** 2 / flat
    log = chance[:, None] + 0.5 * (np.log(scale).sum(axis=2) - np.log(flat) - left)
    weights = np.exp(log - log.max())
    return np.asarray(weights / weights.sum())


def _normal(
    r: np.ndarray, m: np.ndarray, p: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, covariances, and the part of these from v, for priors p (many x systems x systems)."""
    inverse = np.linalg.inv(p + v)
    flat = inverse.sum(axis=2)
    total = flat.sum(axis=1)
    a = (flat @ r) / total
    pull = p @ inverse
    means = m + a[:, None] + (pull @ (r - a[:, None])[:, :, None])[:, :, 0]
    left = 1 - pull.sum(axis=2)
    level = left[:, :, None] * left[:, None, :] / total[:, None, None]
    return means, p - pull @ p + level, pull @ v @ pull.transpose(0, 2, 1)


def pair_differences(law: Mixture, level: float, degrees: float) -> Pairs:
    """What the mixture says of all pairs.

    The interval is the sd times Student's t with the degrees of freedom of v, widened so that it
    holds on average over systems whatever law u has (Armstrong, Kolesar and Plagborg-Moller 2022):
    normal tails are what the metrics' errors have least. The probability is that of a t law with
    this mean and sd: better calibrated than the mixture's own, and above a half just where the
    difference is above zero, so that all pairs agree with one order.
    """
    i, j = np.triu_indices(law.means.shape[1], 1)
    gap = law.means[:, i] - law.means[:, j]
    variance, noise = _between(law.covariances, i, j), _between(law.noise, i, j)
    mean = law.weights @ gap
    sd = np.sqrt(np.maximum(law.weights @ (variance + gap**2) - mean**2, 0.0))
    ratio = law.weights @ variance / np.maximum(law.weights @ noise, 1e-300) - 1
    reach = robust_factor(np.maximum(ratio, 0.0), level) * special.stdtrit(degrees, 0.5 + level / 2)
    probability = special.stdtr(degrees, mean / np.maximum(sd, 1e-300))
    return Pairs(mean, sd, mean - reach * sd, mean + reach * sd, probability)


def _between(covariance: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    return np.asarray(covariance[:, i, i] + covariance[:, j, j] - 2 * covariance[:, i, j])


def robust_factor(ratio: np.ndarray, level: float) -> np.ndarray:
    """By how much intervals of normal shrinkage estimates must be wider to hold for any law of u.

    ``ratio`` is the mean square of the bias by shrinkage over the variance of the noise.

    >>> robust_factor(np.array([0.0, 1.0]), 0.95).round(3).tolist()
    [1.0, 1.176]
    """
    grid, factors = _robust_table(level)
    return np.asarray(np.interp(ratio, grid, factors))


@lru_cache(maxsize=8)
def _robust_table(level: float) -> tuple[np.ndarray, np.ndarray]:
    grid = np.r_[0.0, np.geomspace(1e-2, 100, 40)]
    normal = special.ndtri(0.5 + level / 2)
    critical = np.array([robust_critical_value(one, level) for one in grid])
    return grid, critical / np.sqrt(1 + grid) / normal


def robust_critical_value(ratio: float, level: float) -> float:
    """The critical value cva(m2) of Armstrong, Kolesar and Plagborg-Moller (2022, eq. 5).

    An interval of so many standard errors holds in the mean over biases b of any law with
    E[b^2] = ``ratio``. The miss r(t) at t = b^2 is convex, then concave, so the worst law has
    mass at 0 and one other point, or at one point alone.
    """
    t = np.r_[0.0, np.geomspace(1e-3, 1e3, 1200)]

    def missed(chi: float) -> float:
        r = special.ndtr(-chi - np.sqrt(t)) + special.ndtr(-chi + np.sqrt(t))
        rise = (r[1:] - r[0]) / t[1:]
        top = int(rise.argmax())
        return float(r[0] + rise[top] * ratio if ratio < t[top + 1] else np.interp(ratio, t, r))

    highest = special.ndtri(0.5 + level / 2) + 1 + np.sqrt((1 + ratio) / (1 - level))
    return float(optimize.brentq(lambda chi: missed(chi) - (1 - level), 0.0, highest))
