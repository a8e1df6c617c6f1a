"""The systems together: an order with the metrics' help, and what would come out again.

*Small-area model.* Regression uses metrics inside a system; :func:`composite` uses what they say
*between* systems (Fay and Herriot 1979). The direct estimates d of K systems have errors with
covariance V; metrics predict m, known of the whole test set. The scores are

    theta = a + c m + u,   c ~ N(SLOPE, SLOPE_SD^2),   u_k ~ N(0, tau^2),   a flat,

tau uniform on (0, TAU_TOP sd(d)), averaged over a grid. With probability MISJUDGED one system is
not what the metrics say at all, and its u is as wide as the scores differ. Only differences between
systems matter, and only these are given.

The slopes behind m come from differences *within* segments and systems: what a metric gets wrong of
a whole system cannot bend them, and they share next to no error with d. The constants were chosen
on WMT20, WMT22 and WMT23 MQM together, so figures on these are in-sample. SLOPE is above 1: what
is random in a metric makes slopes between single outputs flatter than those between systems.

*What would come out again.* Differences that are seen are larger than those that are, and the
largest most of all, so for :func:`stable_ranking` and :func:`shrunk_gap` the truth is shrunk:
theta_k = mu + u_k, mu anywhere, u_k ~ N(0, tau^2), and tau unknown (half-Cauchy with twice the root
mean square error as its scale). Contrasts between systems are turned so that their errors are
independent, with variances ``error``; then everything is a product of normal distributions for each
tau, averaged over a grid of tau.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from assay.stats.intervals import Precision, normal_cdf, smallest, t_cdf, t_quantile

SLOPE, SLOPE_SD = 1.5, 0.5
CRITICAL_VALUE_ERROR = 1e-6
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
GRID = 60
"""Values of tau, at equal steps of its prior probability."""
PRIOR_SCALE = 2.0
"""Scale of the half-Cauchy law of tau, in errors. With 1 or 2 and 5 the stated chances of pairs
agreed as well with those of repeats where the true spread was between 1/2 and 10 errors."""
DRAWS = 20_000
"""Repeats drawn for the chance of the whole order: it is right to .0035."""
PLANNED_DRAWS = 4_000
"""The same for campaigns to come, which are shown for several sizes."""


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
    quantile = np.vectorize(t_quantile, otypes=[float])(0.5 + level / 2, degrees)
    reach = robust_factor(np.maximum(ratio, 0.0), level) * quantile
    probability = np.vectorize(t_cdf, otypes=[float])(mean / np.maximum(sd, 1e-300), degrees)
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
    normal = NormalDist().inv_cdf(0.5 + level / 2)
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
        r = normal_cdf(-chi - np.sqrt(t)) + normal_cdf(-chi + np.sqrt(t))
        rise = (r[1:] - r[0]) / t[1:]
        top = int(rise.argmax())
        return float(r[0] + rise[top] * ratio if ratio < t[top + 1] else np.interp(ratio, t, r))

    normal = NormalDist().inv_cdf(0.5 + level / 2)
    low, high = 0.0, normal + 1 + math.sqrt((1 + ratio) / (1 - level))
    while high - low > CRITICAL_VALUE_ERROR:  # loading scipy's root finders takes longer
        middle = (low + high) / 2
        low, high = (middle, high) if missed(middle) > 1 - level else (low, middle)
    return (low + high) / 2


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


def stable_ranking(means: np.ndarray, covariance: np.ndarray) -> tuple[float, np.ndarray]:
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
    pairs[left, right] = pairs[right, left] = truth.weight @ normal_cdf(center / spread)
    uniform, noise = _repeats(systems - 1)
    edges = truth.weight.cumsum()
    drawn = (edges / edges[-1]).searchsorted(uniform, side="right")
    expected, error = k * truth.seen, np.sqrt((1 + k) * truth.error)
    repeats = (expected[drawn] + error[drawn] * noise) @ truth.back.T
    order = np.argsort(-means, kind="stable")
    return float((np.diff(repeats[:, order], axis=1) < 0).all(axis=1).mean()), pairs


@lru_cache(maxsize=8)
def _repeats(contrasts: int) -> tuple[np.ndarray, np.ndarray]:
    """A uniform number, which chooses tau, and standard normal errors for every repeat.

    Always the same: one answer for one set of estimates.
    """
    random = np.random.default_rng(0)
    return random.random(DRAWS), random.standard_normal((DRAWS, contrasts))


def expected_stability(
    means: np.ndarray, covariance: np.ndarray, later: np.ndarray
) -> tuple[float, float]:
    """The chances that two campaigns to come agree on the whole order, and on a pair on average.

    ``means`` with ``covariance`` is what a pilot says of the truth, ``later`` the covariance that
    each of the two campaigns will have.

    >>> pilot = np.array([3.0, 1.0, 0.9]), 0.1 * np.eye(3)
    >>> [round(chance, 2) for chance in expected_stability(*pilot, 0.01 * np.eye(3))]
    [0.86, 0.95]
    """
    truth, random = _truth(means, covariance), np.random.default_rng(0)
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
    out; where that is not a covariance, because errors come from different segments, the nearest.

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
    return float(normal_cdf((center - limit) / spread) + normal_cdf((-center - limit) / spread))


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
