"""Estimate sigma, the noise of judgments in the model of koehn2012.

Judgments only reveal quality gaps in units of sigma. sigma is scaled such that the qualities look
like draws from U[0, 10]: the more alike the systems, the larger it is.

:func:`fit_sigma` is maximum likelihood with an interval. :func:`match_sigma` is the paper's way
(section 3 and Figure 2): the sigma at which the model tells as many pairs apart as the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

from assay.errors import ConvergenceError, need_level
from assay.ranking.counts import (
    Counts,
    block_numbers,
    check_per_set,
    count,
    need_connected,
    screen_size,
    winner_cells,
)
from assay.ranking.pairs import pooled_counts, pooled_test, sign_test
from assay.ranking.power import SCALE, judgments_for, sign_share
from assay.ranking.strengths import Strengths, draw_strengths
from assay.ranking.uncertainty import gap_stderr
from assay.results import Result, signature
from assay.stats.intervals import LEVEL, Interval
from assay.stats.random import Rng, seeded
from assay.tables.answers import Judgments

GRID = np.geomspace(0.3, 300.0, 100)
"""The values of sigma at which the likelihood is evaluated first."""
MIN_QUASI_VARIANCE = 0.01
"""The least quasi-variance of a system, as a share of the least variance of a difference."""
RIDGE = 1e-3
"""Precision of a normal prior of the strengths, which keeps undefeated systems finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SigmaFit(Result, kind="sigma"):
    """sigma with its interval, and the systems' qualities on the scale from 0 to 10.

    effect: the variance of a difference over that from independent judgments (without ties), taken
    over blocks of one ``unit`` (segment, set or pair). An infinite upper end means that the
    judgments are compatible with no difference at all. agreeing: all judgments agree with one
    order, so any small sigma fits; ``sigma`` is then the upper end of the interval, infinite if the
    judgments are too few to exclude any.
    """

    sigma: float
    low: float
    high: float
    level: float
    systems: tuple[str, ...]
    qualities: tuple[float, ...]
    judgments: int
    ties: int
    effect: float
    unit: str
    agreeing: bool = False

    def __post_init__(self) -> None:
        for name in ("sigma", "high"):  # JSON has no infinity, and neither is ever NaN otherwise
            if math.isnan(getattr(self, name)):
                object.__setattr__(self, name, math.inf)

    @property
    def interval(self) -> Interval:
        """The interval of sigma."""
        return Interval(self.low, self.high, self.level)

    @property
    def signature(self) -> str:
        """The settings behind the number, in one line."""
        return signature("sigma", "likelihood", n=len(self.systems), J=self.judgments, by=self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class SigmaMatch(Result, kind="sigma-curve"):
    """sigma by matching the curve of significant pairs: the ``shares`` of pairs at ``judgments``.

    ``model`` is the curve at ``sigma``, ``distance`` the root mean square gap between the curves.
    """

    sigma: float
    judgments: tuple[float, ...]
    shares: tuple[float, ...]
    model: tuple[float, ...]
    distance: float
    systems: int
    orders: int
    seed: int | None

    @property
    def signature(self) -> str:
        """The settings behind the number, in one line."""
        return signature("sigma", "curve", n=self.systems, orders=self.orders, seed=self.seed)


def fit_sigma(judgments: Judgments, *, level: float = LEVEL) -> SigmaFit:
    """Fit sigma by maximum likelihood, with the interval of the likelihood ratio.

    First, Thurstone strengths in units of sigma are estimated. The likelihood of sigma is then that
    of the strengths as draws, with their standard errors, from a uniform distribution of width
    10 / sigma anywhere on the line. Without error, n strengths with the range r have their maximum
    at 10 (n - 1) / (n r). Ties are left out; the standard errors allow for the correlation of
    judgments of one segment or one set.

    >>> from assay import simulate_judgments
    >>> fit = fit_sigma(simulate_judgments([0, 2, 4, 6, 8, 10], 20_000, rng=1))
    >>> fit.low < 10 < fit.high
    True
    """
    need_level(level)
    counts = _connected(judgments)
    strength, stderr = thurstone(counts.wins)
    unit, effect = _block_effect(judgments, counts)
    agreeing = not (np.triu(counts.wins[np.ix_(*[np.argsort(strength)] * 2)]) > 0).any()
    if agreeing:
        low, high = 0.0, _ruled_out(counts.wins, strength, effect, 1 - level)
        sigma = high
    else:
        sigma, low, high = _likelihood(strength, stderr * np.sqrt(effect), level)
    middle = (strength.min() + strength.max()) / 2
    width = sigma if np.isfinite(sigma) else 0.0  # no difference: all in the middle
    return SigmaFit(
        sigma=sigma, low=low, high=high, level=level, systems=counts.systems,
        qualities=tuple(float(q) for q in SCALE / 2 + width * (strength - middle)),
        judgments=int(counts.wins.sum()), ties=int(counts.ties.sum()) // 2, effect=effect,
        unit=unit, agreeing=agreeing,
    )  # fmt: skip


def pilot_strengths(judgments: Judgments) -> Strengths:
    """Draws of the systems' true strengths, in units of sigma, given a pilot's judgments."""
    counts = _connected(judgments)
    strength, stderr = thurstone(counts.wins)
    _, effect = _block_effect(judgments, counts)
    rng = np.random.default_rng(0)  # one answer for one table
    return draw_strengths(strength, stderr * np.sqrt(effect), rng)


def pilot_needed(fit: SigmaFit, per_set: int, alpha: float = 0.05) -> int | None:
    """The judgments needed to estimate sigma, if those of a fit show no difference at all.

    They tell half of the pairs apart if sigma is the lower end of the interval; None if that is out
    of reach. If all judgments agree with one order, they are enough to exclude that chance alone
    made them agree.
    """
    if fit.agreeing:
        least = math.log(1 - fit.level) / math.log(0.5) * fit.effect
        return math.ceil(least * (fit.judgments + fit.ties) / max(fit.judgments, 1))
    if not fit.low > 0:
        return None
    judgments = judgments_for(
        0.5, len(fit.systems), fit.low, test="pooled", per_set=per_set, level=alpha
    )
    total = fit.judgments + fit.ties
    needed = judgments * total / max(fit.judgments, 1)
    # At least twice as many as were not enough.
    return math.ceil(max(needed, 2 * total)) if math.isfinite(needed) else None


def match_sigma(
    judgments: Judgments,
    *,
    per_set: int | None = None,
    points: int = 10,
    orders: int = 20,
    rng: Rng = None,
) -> SigmaMatch:
    """Match the curve of significant pairs over the number of judgments (koehn2012, Figure 2).

    The sets are put in ``orders`` random orders and cut at ``points`` equally spaced points; the
    mean shares of significant pairs are matched by least squares. Ties count as judgments, as in
    the paper (which gives its 9 and 10 for en-cs and fr-en). With few systems the result says more
    about their gaps than about noise: 90 % of simulated campaigns with 6 systems and sigma 8 gave
    5.7 to 15; with 15 systems and sigma 10 they gave 8.4 to 12.6.

    >>> from assay import simulate_judgments
    >>> table = simulate_judgments(20, 20_000, rng=1)
    >>> 7 < match_sigma(table, orders=5, rng=1).sigma < 13
    True
    """
    from scipy import optimize  # slow to load, and only needed to fit

    counts = _connected(judgments)
    generator, seed = seeded(rng)
    block = block_numbers(judgments, "set")
    block = np.arange(len(counts.outcome)) if block is None else block
    sizes, shares = _curve(counts, block, points, orders, generator)
    n = len(counts.systems)
    k = check_per_set(screen_size(judgments) if per_set is None else per_set, n)

    def model(sigma: float) -> np.ndarray:
        return np.array([sign_share(n, sigma, size, per_set=k) for size in sizes])

    least = optimize.minimize_scalar(
        lambda log: float(np.sum((model(float(np.exp(log))) - shares) ** 2)),
        bounds=(np.log(0.5), np.log(100.0)), method="bounded", options={"xatol": 1e-3},
    )  # fmt: skip
    sigma = float(np.exp(least.x))
    curve = model(sigma)
    return SigmaMatch(
        sigma=sigma, judgments=tuple(sizes.tolist()), shares=tuple(shares.tolist()),
        model=tuple(curve.tolist()), distance=float(np.sqrt(np.mean((curve - shares) ** 2))),
        systems=n, orders=orders, seed=seed,
    )  # fmt: skip


def thurstone(wins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Strengths in units of sigma (mean 0) and standard errors, P(i beats j) = Phi(gap / sqrt 2).

    Maximum likelihood by Newton's method; the errors are :func:`quasi_errors`.

    >>> strength, _ = thurstone(np.array([[0, 760], [240, 0]]))
    >>> round(float(strength[0] - strength[1]), 3)
    0.999
    """
    n = len(wins)
    centre = np.full((n, n), 1.0 / n)
    strength = np.zeros(n)
    for _ in range(100):
        slope, information = _derivatives(strength, wins)
        step = np.linalg.solve(
            information + centre * n + RIDGE * np.eye(n), slope - RIDGE * strength
        )
        # The quadratic approximation does not hold for steps of more than one sigma.
        strength = strength + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    else:
        raise ConvergenceError(
            "the Thurstone strengths did not settle; leave out systems with few judgments"
        )
    _, information = _derivatives(strength, wins)
    cover = np.linalg.inv(information + RIDGE * np.eye(n) + centre * n) - centre / (n + RIDGE)
    return strength - strength.mean(), quasi_errors(cover)


def quasi_errors(cover: np.ndarray) -> np.ndarray:
    """Errors e_i with e_i^2 + e_j^2 near the variance of every difference of systems i and j.

    Quasi-variances (Firth and de Menezes 2004), by least squares of relative deviations. The errors
    of strengths of mean 0 are unsuitable: a single system with an uncertain strength moves the mean
    and so gives every system a large error.

    >>> quasi_errors(np.diag([1.0, 4.0, 100.0]) - 35.0).round(6).tolist()
    [1.0, 2.0, 10.0]
    """
    n = len(cover)
    square = gap_stderr(cover) ** 2
    if n == 2:
        return np.full(2, np.sqrt(square[0, 1] / 2))
    smallest = float(square[~np.eye(n, dtype=bool)].min())
    inverse = np.where(np.eye(n, dtype=bool), 0.0, 1 / np.where(square > 0, square, np.inf))
    weight = inverse**2
    variance = np.linalg.solve(np.diag(weight.sum(axis=1)) + weight, inverse.sum(axis=1))
    return np.asarray(np.sqrt(np.maximum(variance, MIN_QUASI_VARIANCE * smallest)))


def _derivatives(strength: np.ndarray, wins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradient and the observed information of the probit likelihood."""
    z = (strength[:, None] - strength[None, :]) / np.sqrt(2)
    mills = np.exp(-(z**2) / 2 - scipy.special.log_ndtr(z)) / np.sqrt(2 * np.pi)
    slope = wins * mills / np.sqrt(2)
    curvature = wins * mills * (z + mills) / 2
    both = curvature + curvature.T
    return slope.sum(axis=1) - slope.sum(axis=0), np.diag(both.sum(axis=1)) - both


def _likelihood(
    strength: np.ndarray, stderr: np.ndarray, level: float
) -> tuple[float, float, float]:
    """The most likely sigma and the ends of its interval."""
    from scipy import optimize

    def log_likelihood(sigma: float) -> float:
        return _log_likelihood(SCALE / sigma, strength, stderr)

    values = np.array([log_likelihood(sigma) for sigma in GRID])
    top = int(np.argmax(values))
    best, peak = float(GRID[top]), float(values[top])
    if top == len(GRID) - 1:  # the judgments show no difference at all
        best = float("inf")
    elif top > 0:
        least = optimize.minimize_scalar(
            lambda sigma: -log_likelihood(sigma),
            bounds=(GRID[top - 1], GRID[top + 1]), method="bounded",
        )  # fmt: skip
        best, peak = float(least.x), float(-least.fun)
    bar = peak - _drop(len(strength), level)

    def end(inner: float, outer: np.ndarray, missing: float) -> float:
        below = [sigma for sigma, value in outer if value < bar]
        if not below:
            return missing
        return float(optimize.brentq(lambda s: log_likelihood(s) - bar, inner, below[0]))

    pairs = np.column_stack([GRID, values])
    low = end(min(best, float(GRID[-1])), pairs[best > GRID][::-1], 0.0)
    return best, low, end(best, pairs[best < GRID], float("inf"))


def _ruled_out(wins: np.ndarray, strength: np.ndarray, effect: float, alpha: float) -> float:
    """The sigma at which all judgments agree with the true order with probability alpha.

    That probability is the mean, over sorted qualities from U[0, 10], of the product of
    Phi(gap / (sigma sqrt 2)) over all judgments; ``effect`` correlated judgments count as one.
    """
    from scipy import optimize

    best_first = np.argsort(-strength)
    i, j = np.nonzero(wins[np.ix_(best_first, best_first)])
    times = wins[best_first[i], best_first[j]] / effect
    rng = np.random.default_rng(0)  # one answer for one table
    draws = max(200, min(4000, 4_000_000 // len(i)))
    quality = -np.sort(-rng.uniform(0, SCALE, (draws, len(wins))), axis=1)
    gap = (quality[:, i] - quality[:, j]) / np.sqrt(2)

    def beyond(log: float) -> float:
        agree = scipy.special.log_ndtr(gap / np.exp(log)) @ times
        return float(scipy.special.logsumexp(agree) - np.log(draws * alpha))

    low, high = np.log(1e-3), np.log(1e6)
    if beyond(high) > 0:
        return math.inf
    return float(np.exp(optimize.brentq(beyond, low, high, xtol=1e-4)))


def _drop(n: int, level: float) -> float:
    """The drop of the log likelihood below its peak at the ends of the interval.

    Without error only the range r of n draws from a width w matters: u = r / w follows the
    Beta(n - 1, 2) distribution and the log likelihood is (n - 1) log u + log(1 - u). For it, this
    drop gives the interval its level exactly; the usual chi-squared drop is about 2 points short.
    """
    from scipy import optimize

    peak = (n - 1) / n

    def height(u: float) -> float:
        return float((n - 1) * np.log(u) + np.log1p(-u))

    def held(drop: float) -> float:
        bar = height(peak) - drop
        low = optimize.brentq(lambda u: height(u) - bar, 1e-12, peak)
        high = optimize.brentq(lambda u: height(u) - bar, peak, 1 - 1e-15)
        return (
            float(scipy.special.betainc(n - 1, 2, high) - scipy.special.betainc(n - 1, 2, low))
            - level
        )

    return float(optimize.brentq(held, 1e-6, 25.0))


def _log_likelihood(width: float, strength: np.ndarray, stderr: np.ndarray) -> float:
    """Log of the integral over a of the product of [Phi((a + w - s)/e) - Phi((a - s)/e)] / w."""
    edge = 6 * stderr.max() + 1e-9
    ends = sorted([strength.max() - width, strength.min()])
    a, step = np.linspace(ends[0] - edge, ends[1] + edge, 600, retstep=True)
    inside = scipy.special.ndtr((a[:, None] + width - strength) / stderr)
    inside = inside - scipy.special.ndtr((a[:, None] - strength) / stderr)
    logs = np.log(np.maximum(inside, 1e-300)).sum(axis=1)
    return float(scipy.special.logsumexp(logs) + np.log(step) - len(strength) * np.log(width))


def _block_effect(judgments: Judgments, counts: Counts) -> tuple[str, float]:
    """The largest usable unit, and the variance over its blocks relative to single judgments."""
    for unit in ("segment", "set"):
        block = block_numbers(judgments, unit)
        if block is None:
            continue
        untied = counts.outcome != 0
        _, number = np.unique(block[untied], return_inverse=True)
        if number.max() < 2 * len(counts.systems):
            continue
        arrays = counts.left[untied], counts.right[untied], counts.outcome[untied]
        blocks = pooled_test(*arrays, number, len(counts.systems)).stderr
        single = pooled_counts(counts.wins).stderr
        alone = float(np.sum(single**2))  # nothing where all judgments of a pair agree
        return unit, max(1.0, float(np.sum(blocks**2)) / alone) if alone > 0 else 1.0
    return "pair", 1.0


def _curve(
    counts: Counts, block: np.ndarray, points: int, orders: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The mean number of judgments and the mean share of significant pairs at every point."""
    n, blocks = len(counts.systems), int(block.max()) + 1
    cell = winner_cells(counts.left, counts.right, counts.outcome, n)
    untied = counts.outcome != 0
    sizes, shares = np.zeros(points), np.zeros(points)
    for _ in range(orders):
        part = (rng.permutation(blocks) * points // blocks)[block]
        wins = np.bincount((part * n * n + cell)[untied], minlength=points * n * n)
        wins = wins.reshape(points, n, n).cumsum(axis=0)
        sizes += np.bincount(part, minlength=points).cumsum()
        shares += (sign_test(wins) <= 0.05).sum(axis=(1, 2)) / (n * (n - 1) / 2)
    return sizes / orders, shares / orders


def _connected(judgments: Judgments) -> Counts:
    counts = count(judgments)
    need_connected(counts.systems, (counts.wins + counts.wins.T) > 0)
    return counts
