"""An order of the systems from few ratings that also uses what metrics say between systems.

It puts pairs in the right order more often than the direct estimates, with smaller errors; but it
is wrong where metrics misjudge a system. So it states probabilities and never decides.

The regression uses metrics within a system; :func:`composite` uses them *between* systems (Fay and
Herriot 1979). The direct estimates d of K systems have errors with covariance V, and metrics
predict m for the whole test set. The scores are

    theta = a + c m + u,   c ~ N(SLOPE, SLOPE_SD^2),   u_k ~ N(0, tau^2),   a flat,

with tau uniform on (0, TAU_TOP sd(d)), averaged over a grid. With probability PRIOR_MISJUDGED
the metrics say nothing about one of the systems, whose u is then as wide as the scores. Only
differences between systems matter.

The slopes behind m come from differences *within* segments and systems: errors of a metric about a
whole system do not bias them, and they share almost no error with d. All constants were chosen on
WMT20, WMT22 and WMT23 MQM together, so figures on these sets are in-sample. SLOPE is above 1
because noise in metrics flattens slopes between single outputs, but not those between systems.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assay.results import Note, plural
from assay.stats.intervals import normal_cdf, root_between, t_cdf, t_quantile
from assay.tables.tables import TestSet

if TYPE_CHECKING:
    from assay.estimation.results import Difference, Estimates
    from assay.estimation.study import Study
    from assay.tables.tables import Ratings

MIN_SYSTEMS, MOST_SYSTEMS = 3, 60
"""Fewer systems do not show how far scores are from the metrics' predictions."""
MIN_WORTH = 1.1
"""If the composite is worth fewer times the ratings than this, metrics hardly help."""
EVEN_WORTH = 2.0
"""A composite worth less than twice the ratings has learnt less from metrics than from ratings. On
four MQM sets, pairs that it turned round were then right in about half of the cases (.31 to .84),
and above this limit in .50 to .89."""
MAX_NOISE_SIGNAL = 2.0
"""Metrics of pure noise give a signal below this in nine of ten samples."""
MISJUDGED_FROM = 0.5
"""From this probability on, a system is reported as misjudged by the metrics."""
MAX_PROBABILITY = 0.999
"""The highest stated probability: the model itself is not more certain."""


@dataclass(frozen=True, slots=True)
class CompositeSystem:
    """One system in the composite order, with its ``score`` on the scale of the ratings.

    ``ahead`` is the probability that it is better than the next system (None for the last),
    ``misjudged`` the probability that metrics say nothing about it.
    """

    system: str
    rank: int
    score: float
    ahead: float | None
    misjudged: float


@dataclass(frozen=True, slots=True)
class CompositePair:
    """The composite's ``left`` minus ``right``, and the probability that left is better."""

    left: str
    right: str
    difference: float
    low: float
    high: float
    probability: float


@dataclass(frozen=True, slots=True)
class Composite:
    """The systems in the composite order, and every pair of them.

    ``worth`` times as many ratings would make the direct estimates as precise. ``signal`` compares
    the metrics' predictions for systems with their errors; it is 1 for noise. ``history`` says
    whether an earlier campaign helped to weigh the metrics.
    """

    systems: tuple[CompositeSystem, ...]
    pairs: tuple[CompositePair, ...]
    worth: float
    signal: float
    history: bool = False
    notes: tuple[Note, ...] = ()


def make_composite(
    study: Study, estimates: Estimates, history: tuple[TestSet, Ratings] | None = None
) -> Composite | None:
    """Join the direct estimates of all pairs with what metrics say between systems.

    None for fewer than three or very many systems, without a metric that differs between systems,
    with an unknown difference, or without any uncertainty.
    """
    names = study.test_set.systems
    layers = between_systems(study.test_set, history)
    if not MIN_SYSTEMS <= len(names) <= MOST_SYSTEMS or layers is None:
        return None
    gap, stderr = difference_matrices(names, estimates.differences)
    variance = stderr**2
    if not np.isfinite(gap).all() or not (variance > 0).any():
        return None
    degrees = float(np.median([item.degrees for item in estimates.differences]))
    found = join(gap, variance, study.rated.scores, layers, degrees, study.level)
    stated = np.nanmean(variance[np.triu_indices(len(gap), 1)])
    worth = float(stated / np.maximum((found.pairs.sd**2).mean(), 1e-300))
    center = np.mean([item.estimate for item in estimates.systems])
    rows, pairs = _rows(names, found, float(center), 1 if estimates.better == "higher" else -1)
    i, j = np.triu_indices(len(gap), 1)
    turned = int((np.sign(gap[i, j]) == -np.sign(found.pairs.difference)).sum())
    notes = _notes(rows, worth, found.signal, turned)
    return Composite(rows, pairs, worth, found.signal, history is not None, notes)


def between_systems(
    test_set: TestSet, history: tuple[TestSet, Ratings] | None = None
) -> np.ndarray | None:
    """Systems x segments x metrics: each metric less its segment's mean, with sd 1.

    The prediction of an earlier campaign is one more metric, with a larger sd. None if no metric
    differs between systems.
    """
    layers = {
        name: values
        for name in test_set.metrics
        if (values := less_segments(test_set, name)) is not None
    }  # fmt: skip
    if not layers:
        return None
    stack = [values / values.std() for values in layers.values()]
    if history is not None:
        from assay.estimation.earlier_campaign import past_prediction

        stack.append(past_prediction(layers, *history))
    return np.stack(stack, axis=-1)


def less_segments(test_set: TestSet, name: str) -> np.ndarray | None:
    """A metric less its segment's mean, 0 where missing; None if it is 0 throughout."""
    values = test_set.matrix(name)
    found = within_segments(values, np.isfinite(values) & test_set.present)
    return found if found.std() > 1e-9 * (1 + np.nanmax(np.abs(values))) else None


class Joined(NamedTuple):
    """All pairs i < j, relative scores, the probabilities of being misjudged, and the signal."""

    pairs: Pairs
    scores: np.ndarray
    misjudged: np.ndarray
    signal: float


def join(
    gap: np.ndarray, variance: np.ndarray, scores: np.ndarray, layers: np.ndarray,
    degrees: float, level: float,
) -> Joined:  # fmt: skip
    """Join direct differences and metrics.

    ``gap`` and ``variance`` are systems x systems; an unknown variance (ratings that all agree) is
    replaced by the mean of the others. ``scores`` is NaN where there is no rating.
    """
    rated = np.isfinite(scores).any(axis=0)
    off = ~np.eye(len(gap), dtype=bool)
    known = np.isfinite(variance) & off
    variance = np.where(known, variance, np.where(off, variance[known].mean(), 0.0))
    slopes = fit_slopes(scores[:, rated], layers[:, rated])
    v = covariance_of_differences(variance, int(rated.sum()))
    means = layers.mean(axis=1)
    law = composite(scores_of_differences(gap), v, means, slopes)
    return Joined(
        pair_differences(law, level, degrees), law.weights @ law.means, law.misjudged,
        metric_signal(means, slopes),
    )  # fmt: skip


def difference_matrices(
    systems: Sequence[str], differences: Iterable[Difference]
) -> tuple[np.ndarray, np.ndarray]:
    """Differences (row less column) and their standard errors, systems x systems."""
    place = {name: k for k, name in enumerate(systems)}
    gap, stderr = np.zeros((2, len(place), len(place)))
    for item in differences:
        i, j = place[item.left], place[item.right]
        gap[i, j], gap[j, i] = item.difference, -item.difference
        stderr[i, j] = stderr[j, i] = item.stderr
    return gap, stderr


def _rows(
    names: Sequence[str], found: Joined, center: float, sign: int
) -> tuple[tuple[CompositeSystem, ...], tuple[CompositePair, ...]]:
    """The systems in order, best first, and all pairs in that order."""
    size, order = len(names), np.argsort(-sign * found.scores, kind="stable")
    scores = found.scores - found.scores.mean() + center
    index = np.zeros((size, size), dtype=np.int64)
    index[np.triu_indices(size, 1)] = np.arange(len(found.pairs.sd))

    def pair(i: int, j: int) -> CompositePair:
        turn = -1 if i > j else 1
        k = index[min(i, j), max(i, j)]
        ends = sorted((turn * found.pairs.low[k], turn * found.pairs.high[k]))
        p = found.pairs.probability[k]
        better = p if turn * sign > 0 else 1 - p
        return CompositePair(
            names[i], names[j], float(turn * found.pairs.difference[k]), float(ends[0]),
            float(ends[1]), float(np.clip(better, 1 - MAX_PROBABILITY, MAX_PROBABILITY)),
        )  # fmt: skip

    pairs = {(i, j): pair(i, j) for a, i in enumerate(order) for j in order[a + 1 :]}
    rows = tuple(
        CompositeSystem(
            names[i], a + 1, float(scores[i]),
            pairs[i, order[a + 1]].probability if a + 1 < size else None,
            float(found.misjudged[i]),
        )
        for a, i in enumerate(order)
    )  # fmt: skip
    return rows, tuple(pairs.values())


def _notes(
    rows: Sequence[CompositeSystem], worth: float, signal: float, turned: int
) -> tuple[Note, ...]:
    """Notes on misjudged systems, and on metrics that help little or know less than the ratings.

    The composite reverses ``turned`` pairs of the order by the ratings alone.
    """
    text = "metrics and ratings disagree about {}, so its metrics hardly count here"
    notes = [
        Note("metrics-misjudge", text.format(row.system))
        for row in rows
        if row.misjudged > MISJUDGED_FROM
    ]
    if worth < MIN_WORTH:
        text = "the metrics add next to nothing between systems here; keep to the direct estimates"
        notes.append(Note("metrics-no-help", text))
    elif signal < MAX_NOISE_SIGNAL:
        text = (
            "these ratings do not show that the metrics tell the systems apart; trust this order no"
            " more than that of the ratings"
        )
        notes.append(Note("metrics-unproven", text))
    elif worth < EVEN_WORTH and turned:
        text = (
            f"{plural(turned, 'pair')} in another order than by the ratings alone; the ratings now"
            " say more than the metrics, so treat that as open, above all if systems were tuned to"
            " such metrics"
        )
        notes.append(Note("ratings-know-more", text))
    return tuple(notes)


SLOPE, SLOPE_SD = 1.5, 0.5
CRITICAL_ERROR = 1e-8
TAU_TOP, TAU_POINTS = 3.0, 41
PRIOR_MISJUDGED = 0.2
"""The prior probability that the metrics misjudge one system."""
RIDGE = 10.0
"""Penalty of the slopes, in outputs' worth."""
OWN_SLOPES = 4.0
"""Weight of the slopes' covariance: a metric's worth between systems differs from that within them
by more than the error of the slope."""
SHRINKAGE = 8.0
"""Weight of the spherical covariance, times (K-1)/n: with skewed ratings V is noisy, and small
where d happens to be small."""
MAX_ROUNDS = 20
"""Iterations of removing effects of segments and systems."""
MIN_RELATIVE_WEIGHT = 1e-4
"""Parts of the mixture with a smaller relative weight are left out."""


class Slopes(NamedTuple):
    """The slope of ratings on each metric between outputs of one segment, and the covariance."""

    values: np.ndarray
    covariance: np.ndarray


class Mixture(NamedTuple):
    """The posterior of the scores: a mixture of normal laws over systems.

    ``noise`` is the part of each covariance that comes from V, ``misjudged`` every system's
    probability to be the one about which metrics say nothing.
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
    """Values less effects of segments and systems, by iteration if some outputs are unknown."""
    turned = (1, 0, *range(2, values.ndim))
    found = within_segments(values, known)
    for _ in range(1 if known.all() else MAX_ROUNDS):
        found = within_segments(found.transpose(turned), known.T).transpose(turned)
        found = within_segments(found, known)
    return found


def fit_slopes(x: np.ndarray, z: np.ndarray, ridge: np.ndarray | float = RIDGE) -> Slopes:
    """Slopes of ratings x (systems x segments, NaN: unrated) on metrics z, less effects of both.

    The covariance is a sandwich estimate with segments as clusters.
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
    """The squared spread of the systems' predictions over its expectation from slope errors.

    About 1 for metrics of noise, and 2 or more in a tenth of samples. ``metrics`` is systems x
    metrics.
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
    """A covariance over systems with these variances of differences (K x K), smoothed.

    -1/2 H variance H with H = I - 11'/K, shrunk towards its spherical form with the weight
    min(1, SHRINKAGE (K-1)/n) for n rated segments; small and negative eigenvalues are raised.
    """
    k = len(variance)
    center = np.eye(k) - 1 / k
    found = -0.5 * center @ variance @ center
    weight = min(1.0, SHRINKAGE * (k - 1) / n)
    found = (1 - weight) * found + weight * np.trace(found) / (k - 1) * center
    values, vectors = np.linalg.eigh(found)
    return np.asarray((vectors * np.maximum(values, 1e-3 * values[-1])) @ vectors.T)


def composite(d: np.ndarray, v: np.ndarray, metrics: np.ndarray, slopes: Slopes) -> Mixture:
    """The posterior of the scores, given direct estimates d with covariance v.

    ``metrics`` (systems x metrics) are means over the whole test set.
    """
    z = metrics - metrics.mean(axis=0)
    m = z @ slopes.values
    prior = SLOPE_SD**2 * np.outer(m, m) + OWN_SLOPES * z @ slopes.covariance @ z.T
    return small_area(d, v, SLOPE * m, prior, misjudged=PRIOR_MISJUDGED)


def small_area(
    d: np.ndarray, v: np.ndarray, m: np.ndarray, prior: np.ndarray, *, misjudged: float
) -> Mixture:
    """The posterior of theta = a + N(m, prior + tau^2 I) given d ~ N(theta, v), a mixture over tau.

    Weights are restricted likelihoods of d, with a integrated out. ``misjudged`` is the prior
    probability that one system has its own u, as wide as TAU_TOP sd(d).
    """
    k, wide = len(d), (TAU_TOP * d.std(ddof=1)) ** 2
    tau2 = wide * ((np.arange(TAU_POINTS) + 0.5) / TAU_POINTS) ** 2
    cases = np.concatenate([np.zeros((1, k)), wide * np.eye(k)])[: k + 1 if misjudged else 1]
    own = prior + cases[:, :, None] * np.eye(k)
    chance = np.log(np.r_[1 - misjudged, np.full(len(cases) - 1, misjudged / k)])
    weights = _weights(d - m, own + v, tau2, chance)
    case, point = np.nonzero(weights > MIN_RELATIVE_WEIGHT * weights.max())
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
    """The differences of all pairs according to the mixture.

    Intervals are t intervals with the degrees of freedom of v, widened so that they hold on average
    over systems whatever the law of u (Armstrong, Kolesar and Plagborg-Moller 2022): the errors of
    metrics are not normal. Probabilities are those of a t law with this mean and sd, which are
    better calibrated than the mixture's own, and all agree with one order.
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
    """The factor by which intervals of shrinkage estimates must be wider to hold for any law of u.

    ``ratio`` is the mean squared bias from shrinkage over the variance of the noise.

    >>> robust_factor(np.array([0.0, 1.0]), 0.95).round(3).tolist()
    [1.0, 1.176]
    """
    grid = np.r_[0.0, np.geomspace(1e-2, 100, 40)]
    place = np.clip(np.searchsorted(grid, ratio), 1, len(grid) - 1)
    near = grid[np.flatnonzero(np.bincount(np.r_[place - 1, place]))]
    critical = np.array([robust_critical_value(float(one), level) for one in near])
    normal = NormalDist().inv_cdf(0.5 + level / 2)
    return np.asarray(np.interp(ratio, near, critical / np.sqrt(1 + near) / normal))


@lru_cache(maxsize=256)
def robust_critical_value(ratio: float, level: float) -> float:
    """The critical value cva(m2) of Armstrong, Kolesar and Plagborg-Moller (2022, eq. 5).

    Intervals of so many standard errors hold on average over any law of the bias b with E[b^2] =
    ``ratio``. The probability r(t) of a miss at t = b^2 is first convex, then concave, so the worst
    law has its mass at 0 and one other point, or at one point.
    """
    t = np.r_[0.0, np.geomspace(1e-3, 1e3, 1200)]

    def spared(chi: float) -> float:
        r = normal_cdf(-chi - np.sqrt(t)) + normal_cdf(-chi + np.sqrt(t))
        rise = (r[1:] - r[0]) / t[1:]
        top = int(rise.argmax())
        missed = r[0] + rise[top] * ratio if ratio < t[top + 1] else np.interp(ratio, t, r)
        return 1 - level - float(missed)

    normal = NormalDist().inv_cdf(0.5 + level / 2)
    low = max(normal, math.sqrt(ratio) + NormalDist().inv_cdf(level))  # with one bias alone
    high = normal + 1 + math.sqrt((1 + ratio) / (1 - level))
    below, above = spared(low), spared(high)
    return low if below >= 0 else root_between(spared, low, below, high, above, CRITICAL_ERROR)
