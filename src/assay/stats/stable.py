"""What would come out again: the order of systems in a repeat, and the truth behind a gap.

Estimates d of K systems have errors with covariance V: d ~ N(theta, V). Differences that are seen
are larger than those that are, and the largest most of all, so the truth is shrunk: theta_k =
mu + u_k, u_k ~ N(0, tau^2), mu anywhere, and tau unknown (half-Cauchy with twice the root mean
square error as its scale). Only contrasts between systems matter. They are turned so that their
errors are independent, with variances ``error``; then everything is a product of normal
distributions for each tau, averaged over a grid of tau.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from assay.stats.intervals import Precision, smallest, t_quantile
from assay.stats.random import Rng, as_rng

GRID = 60
"""Values of tau, at equal steps of its prior probability."""
PRIOR_SCALE = 2.0
"""Scale of the half-Cauchy law of tau, in errors. With 1 or 2 and 5 the stated chances of pairs
agreed as well with those of repeats where the true spread was between 1/2 and 10 errors."""
DRAWS = 20_000
"""Repeats drawn for the chance of the whole order: it is right to .0035."""

PLANNED_DRAWS = 4_000
"""The same for campaigns to come, which are shown for several sizes."""


class _Truth(NamedTuple):
    """The truth given the estimates, for each tau: ``weight``, and ``kept`` of each contrast.

    A contrast with the estimate z and the error variance l has the truth N(k z, k l), k = tau^2 /
    (tau^2 + l) what is ``kept`` of it. ``back`` turns contrasts into systems.
    """

    weight: np.ndarray
    kept: np.ndarray
    error: np.ndarray
    seen: np.ndarray
    back: np.ndarray


def stable_ranking(
    means: np.ndarray, covariance: np.ndarray, *, rng: Rng = 0
) -> tuple[float, np.ndarray]:
    """The chance that a repeat of the same size puts all systems, and every two, in this order.

    ``covariance`` is that of the errors which the repeat would make anew (other raters, other
    texts, another sample); only differences count, so :func:`contrast_covariance` will do. A
    repeat has the same errors around the truth as these estimates have: it is N(k z, (1 + k) l) for
    each contrast (Riley et al. 2024 count such repeats). The chances of pairs are a symmetric
    matrix with ones on its diagonal; they are exact, the chance of the whole order is simulated.

    >>> whole, pairs = stable_ranking(np.array([3.0, 1.0, 0.9]), 0.1 * np.eye(3))
    >>> round(whole, 2), pairs.round(2).tolist()
    (0.56, [[1.0, 1.0, 1.0], [1.0, 1.0, 0.56], [1.0, 0.56, 1.0]])
    """
    truth = _truth(means, covariance)
    k, systems = truth.kept, len(means)
    left, right = np.triu_indices(systems, 1)
    across = truth.back[left] - truth.back[right]
    center = (k * truth.seen) @ across.T * np.where(means[left] >= means[right], 1, -1)
    spread = np.sqrt(((1 + k) * truth.error) @ (across**2).T)
    pairs = np.eye(systems)
    pairs[left, right] = pairs[right, left] = truth.weight @ special.ndtr(center / spread)
    random = as_rng(rng)
    k = k[random.choice(len(k), DRAWS, p=truth.weight)]
    noise = random.standard_normal(k.shape)
    repeats = (k * truth.seen + np.sqrt((1 + k) * truth.error) * noise) @ truth.back.T
    order = np.argsort(-means, kind="stable")
    return float((np.diff(repeats[:, order], axis=1) < 0).all(axis=1).mean()), pairs


def expected_stability(
    means: np.ndarray, covariance: np.ndarray, later: np.ndarray, *, rng: Rng = 0
) -> tuple[float, float]:
    """The chances that two campaigns to come agree on the whole order, and on a pair on average.

    ``means`` with ``covariance`` is what a pilot says of the truth, ``later`` the covariance that
    each of the two campaigns will have.

    >>> pilot = np.array([3.0, 1.0, 0.9]), 0.1 * np.eye(3)
    >>> [round(chance, 2) for chance in expected_stability(*pilot, 0.01 * np.eye(3))]
    [0.86, 0.95]
    """
    truth, random = _truth(means, covariance), as_rng(rng)
    k = truth.kept[random.choice(len(truth.kept), PLANNED_DRAWS, p=truth.weight)]
    noise = random.standard_normal(k.shape)
    scores = (k * truth.seen + np.sqrt(k * truth.error) * noise) @ truth.back.T
    errors = random.multivariate_normal(np.zeros(len(means)), later, (2, PLANNED_DRAWS))
    left, right = np.triu_indices(len(means), 1)
    one, other = (scores + error for error in errors)
    same = (one[:, left] > one[:, right]) == (other[:, left] > other[:, right])
    return float(same.all(axis=1).mean()), float(same.mean())


def shrunk_gap(means: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The difference of every two systems as it probably is, and its standard deviation.

    Matrices: row less column. Because all systems are looked at together this holds for the pair
    that was picked as the closest or the largest, too.

    >>> gap, sd = shrunk_gap(np.array([1.0, 0.0]), 0.125 * np.eye(2))
    >>> round(float(gap[0, 1]), 2), round(float(sd[0, 1]), 2)  # seen: 1 with an error of 0.5
    (0.66, 0.5)
    """
    truth = _truth(means, covariance)
    across = truth.back[:, None] - truth.back
    center = np.einsum("tc,ijc->tij", truth.kept * truth.seen, across)
    within = np.einsum("tc,ijc->tij", truth.kept * truth.error, across**2)
    gap = np.einsum("t,tij->ij", truth.weight, center)
    variance = np.einsum("t,tij->ij", truth.weight, within + (center - gap) ** 2)
    return gap, np.sqrt(variance)


def contrast_covariance(stderr: np.ndarray) -> np.ndarray:
    """A covariance of systems that gives their differences these standard errors.

    ``stderr`` is a symmetric matrix. -1/2 of the squares with the means of rows and columns taken
    out; where that is no covariance, because errors come from different segments, the nearest.

    >>> errors = contrast_covariance(np.array([[0.0, 2.0], [2.0, 0.0]]))
    >>> round(float(errors[0, 0] + errors[1, 1] - 2 * errors[0, 1]), 9)
    4.0
    """
    centre = np.eye(len(stderr)) - 1 / len(stderr)
    values, vectors = np.linalg.eigh(-0.5 * centre @ np.square(stderr) @ centre)
    return np.asarray(vectors * np.maximum(values, 0.0) @ vectors.T)


def _truth(means: np.ndarray, covariance: np.ndarray) -> _Truth:
    systems = len(means)
    start = np.column_stack([np.ones(systems), np.eye(systems)[:, 1:]])
    contrasts = np.linalg.qr(start)[0][:, 1:]
    error, turn = np.linalg.eigh(contrasts.T @ covariance @ contrasts)
    back = contrasts @ turn
    z = back.T @ means
    # No error at all would leave nothing to divide by.
    error = np.maximum(error, 1e-12 * (error.max() + (z**2).max()) + 1e-300)
    share = (np.arange(GRID) + 0.5) / GRID
    tau = PRIOR_SCALE * np.sqrt(error.mean()) * np.tan(np.pi / 2 * share)
    total = tau[:, None] ** 2 + error
    fit = -0.5 * (np.log(total) + z**2 / total).sum(axis=1)
    weight = np.exp(fit - fit.max())
    return _Truth(weight / weight.sum(), tau[:, None] ** 2 / total, error, z, back)


def chance_to_decide(
    difference: float, stderr: float, later: float, *, gap: float, sd: float, level: float,
    degrees: float,
) -> float:  # fmt: skip
    """The chance that more ratings make the interval of a difference leave out zero.

    ``difference`` with ``stderr`` is what is seen, ``later`` the standard error that more ratings
    will give it (``degrees`` then), ``gap`` with ``sd`` the truth as it probably is
    (:func:`shrunk_gap`). What is seen stays part of the later estimate: with r = later^2 / stderr^2
    that is N((1 - r) gap + r difference, (1 - r)^2 sd^2 + (1 - r) later^2).

    >>> round(chance_to_decide(1.0, 0.6, 0.3, gap=0.8, sd=0.5, level=0.95, degrees=400), 2)
    0.72
    """
    r = min(1.0, (later / stderr) ** 2)
    center = (1 - r) * gap + r * difference
    spread = np.sqrt((1 - r) ** 2 * sd**2 + (1 - r) * later**2)
    limit = t_quantile(0.5 + level / 2, degrees) * later
    if spread == 0:
        return float(abs(center) > limit)
    return float(special.ndtr((center - limit) / spread) + special.ndtr((-center - limit) / spread))


def segments_to_decide(
    precision: Precision, n: int, difference: float, *, gap: float, sd: float, power: float
) -> int | None:
    """Segments in all that decide a difference with probability ``power``; None: no number does.

    ``n`` are rated; ``precision`` is that of the difference, ``gap`` and ``sd`` as in
    :func:`chance_to_decide`.

    >>> precision = Precision(2000, 6.0, 0.95)
    >>> segments_to_decide(precision, 100, 1.0, gap=0.8, sd=0.5, power=0.8)
    536
    """
    stderr = float(precision.stderr(np.array(n)))

    def decided(size: int) -> float:
        later = float(precision.stderr(np.array(size)))
        degrees = float(precision.degrees(np.array(size)))
        return chance_to_decide(
            difference, stderr, later, gap=gap, sd=sd, level=precision.level, degrees=degrees
        )

    needed = smallest(lambda size: decided(size) >= power, precision.population, low=n)
    return needed if decided(needed) >= power else None
