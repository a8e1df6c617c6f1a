"""How noisy judgments are: sigma of the model of koehn2012, from judgments.

Only quality gaps in units of sigma leave traces in judgments. sigma is what makes the qualities
look like draws from U[0, 10]: the more alike the systems, the larger it is.

:func:`fit_sigma` is maximum likelihood with an interval. :func:`match_sigma` is the paper's way
(section 3 and Figure 2): the sigma at which the model tells apart as many pairs as the data do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from assay.errors import ConvergenceError, InputError, OptionError
from assay.ranking.counts import (
    Counts,
    block_numbers,
    check_per_set,
    components,
    count,
    screen_size,
)
from assay.ranking.pooled import pooled_counts, pooled_test
from assay.ranking.signs import sign_test
from assay.ranking.theory import SCALE, sign_share
from assay.results import result_dict, signature
from assay.stats.intervals import Interval
from assay.stats.random import Rng, seeded
from assay.tables.judgments import Judgments

GRID = np.geomspace(0.3, 300.0, 100)
"""Values of sigma at which the likelihood is looked at first."""

RIDGE = 1e-3
"""Precision of a normal prior of the strengths: keeps whoever never lost at a finite distance."""


@dataclass(frozen=True, slots=True)
class SigmaFit:
    """sigma with its interval, and the systems' qualities in units where U[0, 10] is their range.

    ``effect`` is how much larger the variance of a difference is than if the ``judgments`` (ties
    not counted) were independent, taken over blocks of one ``unit`` (segment, set or pair). An
    endless upper end means that the judgments agree with no difference at all.
    """

    sigma: float
    interval: Interval
    systems: tuple[str, ...]
    qualities: tuple[float, ...]
    judgments: int
    ties: int
    effect: float
    unit: str

    @property
    def signature(self) -> str:
        """How the number came about."""
        return signature("sigma", "likelihood", n=len(self.systems), J=self.judgments, by=self.unit)

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return result_dict(
            "sigma", self.signature, sigma=self.sigma, low=self.interval.low,
            high=self.interval.high, level=self.interval.level, systems=self.systems,
            qualities=self.qualities, judgments=self.judgments, ties=self.ties,
            effect=self.effect, unit=self.unit,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SigmaMatch:
    """sigma by matching the curve of significant pairs: ``shares`` of pairs at ``judgments``.

    ``model`` is the curve at ``sigma``, ``distance`` the root mean square between the two.
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
        """How the number came about."""
        return signature("sigma", "curve", n=self.systems, orders=self.orders, seed=self.seed)


def fit_sigma(judgments: Judgments, *, level: float = 0.95) -> SigmaFit:
    """Fit sigma by maximum likelihood, with the interval of the likelihood ratio.

    Thurstone strengths in units of sigma are estimated first; then the likelihood of sigma is that
    of the strengths as draws, seen with their standard errors, from a uniform distribution of
    width 10 / sigma anywhere on the line. Without error and with the range r of n strengths its
    maximum is at 10 (n - 1) / (n r). Ties are left out; the standard errors know that judgments of
    one segment, or of one set, hang together.

    >>> from assay.worlds.judgments import simulate_judgments
    >>> found = fit_sigma(simulate_judgments([0, 2, 4, 6, 8, 10], 20_000, rng=1))
    >>> found.interval.low < 10 < found.interval.high
    True
    """
    if not 0 < level < 1:
        raise OptionError("level", level, "is no confidence level", "give a number like 0.95")
    counts = _connected(judgments)
    strength, stderr = thurstone(counts.wins)
    unit, effect = _block_effect(judgments, counts)
    sigma, low, high = _likelihood(strength, stderr * np.sqrt(effect), level)
    middle = (strength.min() + strength.max()) / 2
    width = sigma if np.isfinite(sigma) else 0.0  # no difference: all stand in the middle
    return SigmaFit(
        sigma=sigma,
        interval=Interval(low, high, level),
        systems=counts.systems,
        qualities=tuple(float(q) for q in SCALE / 2 + width * (strength - middle)),
        judgments=int(counts.wins.sum()),
        ties=int(counts.ties.sum()) // 2,
        effect=effect,
        unit=unit,
    )


def match_sigma(
    judgments: Judgments,
    *,
    per_set: int | None = None,
    points: int = 10,
    orders: int = 20,
    rng: Rng = None,
) -> SigmaMatch:
    """Match the curve of significant pairs over the number of judgments (koehn2012, Figure 2).

    The sets are put in ``orders`` random orders and cut at ``points`` even places; mean shares of
    significant pairs are matched by least squares. Ties count as judgments, since the paper's
    numbers of judgments count them (and its 9 and 10 for en-cs and fr-en come out so). With few
    systems it says more about their gaps than about noise: 90 % of simulated campaigns with 6
    systems and sigma 8 gave 5.7 to 15, with 15 systems and sigma 10 8.4 to 12.6.

    >>> from assay.worlds.judgments import simulate_judgments
    >>> table = simulate_judgments(20, 20_000, rng=1)
    >>> 7 < match_sigma(table, orders=5, rng=1).sigma < 13
    True
    """
    counts = _connected(judgments)
    generator, seed = seeded(rng)
    block = block_numbers(judgments, "set")
    if block is None:
        block = np.arange(len(counts.outcome))
    sizes, shares = _curve(counts, block, points, orders, generator)
    n = len(counts.systems)
    k = check_per_set(screen_size(judgments) if per_set is None else per_set, n)

    def model(sigma: float) -> np.ndarray:
        return np.array([sign_share(n, sigma, size, per_set=k) for size in sizes])

    found = optimize.minimize_scalar(
        lambda log: float(np.sum((model(float(np.exp(log))) - shares) ** 2)),
        bounds=(np.log(0.5), np.log(100.0)), method="bounded", options={"xatol": 1e-3},
    )  # fmt: skip
    sigma = float(np.exp(found.x))
    curve = model(sigma)
    distance = float(np.sqrt(np.mean((curve - shares) ** 2)))
    return SigmaMatch(
        sigma=sigma,
        judgments=tuple(sizes.tolist()),
        shares=tuple(shares.tolist()),
        model=tuple(curve.tolist()),
        distance=distance,
        systems=n,
        orders=orders,
        seed=seed,
    )


def thurstone(wins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Strengths in units of sigma (mean 0) and standard errors, P(i beats j) = Phi(gap / sqrt 2).

    Maximum likelihood by Newton's method. The errors are those of independent systems that give
    differences the right variance on average: sqrt of the diagonal of the inverse information
    times n / (n - 1).

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
        # A step of more than one sigma is beyond what the curvature is good for.
        strength = strength + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    else:
        raise ConvergenceError(
            "the Thurstone strengths did not settle; leave out systems with few judgments"
        )
    _, information = _derivatives(strength, wins)
    cover = np.linalg.inv(information + RIDGE * np.eye(n) + centre * n) - centre / (n + RIDGE)
    strength = strength - strength.mean()
    return strength, np.sqrt(np.maximum(np.diagonal(cover), 0) * n / (n - 1))


def _derivatives(strength: np.ndarray, wins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope and (observed) information of the probit likelihood."""
    z = (strength[:, None] - strength[None, :]) / np.sqrt(2)
    mills = np.exp(-(z**2) / 2 - special.log_ndtr(z)) / np.sqrt(2 * np.pi)
    pull = wins * mills / np.sqrt(2)
    bend = wins * mills * (z + mills) / 2
    both = bend + bend.T
    return pull.sum(axis=1) - pull.sum(axis=0), np.diag(both.sum(axis=1)) - both


def _likelihood(
    strength: np.ndarray, stderr: np.ndarray, level: float
) -> tuple[float, float, float]:
    """The most likely sigma and the ends of its interval."""

    def log_likelihood(sigma: float) -> float:
        return _log_likelihood(SCALE / sigma, strength, stderr)

    values = np.array([log_likelihood(sigma) for sigma in GRID])
    top = int(np.argmax(values))
    best, peak = float(GRID[top]), float(values[top])
    if top == len(GRID) - 1:  # the judgments show no difference at all
        best = float("inf")
    elif top > 0:
        found = optimize.minimize_scalar(
            lambda sigma: -log_likelihood(sigma),
            bounds=(GRID[top - 1], GRID[top + 1]), method="bounded",
        )  # fmt: skip
        best, peak = float(found.x), float(-found.fun)
    bar = peak - _drop(len(strength), level)

    def end(inner: float, outer: np.ndarray, missing: float) -> float:
        below = [sigma for sigma, value in outer if value < bar]
        if not below:
            return missing
        return float(optimize.brentq(lambda s: log_likelihood(s) - bar, inner, below[0]))

    pairs = np.column_stack([GRID, values])
    low = end(min(best, float(GRID[-1])), pairs[best > GRID][::-1], 0.0)
    return best, low, end(best, pairs[best < GRID], float("inf"))


def _drop(n: int, level: float) -> float:
    """How far below its peak the log likelihood may fall inside the interval.

    Without error the range r of n draws from a width w is all that matters: u = r / w follows the
    Beta(n - 1, 2) distribution and the log likelihood is (n - 1) log u + log(1 - u). The drop gives
    the interval its level exactly then; the usual chi-squared one falls short by some 2 points.
    """
    peak = (n - 1) / n

    def height(u: float) -> float:
        return float((n - 1) * np.log(u) + np.log1p(-u))

    def held(drop: float) -> float:
        bar = height(peak) - drop
        low = optimize.brentq(lambda u: height(u) - bar, 1e-12, peak)
        high = optimize.brentq(lambda u: height(u) - bar, peak, 1 - 1e-15)
        return float(special.betainc(n - 1, 2, high) - special.betainc(n - 1, 2, low)) - level

    return float(optimize.brentq(held, 1e-6, 25.0))


def _log_likelihood(width: float, strength: np.ndarray, stderr: np.ndarray) -> float:
    """Log of the integral over a of the product of [Phi((a + w - s)/e) - Phi((a - s)/e)] / w."""
    edge = 6 * stderr.max() + 1e-9
    ends = sorted([strength.max() - width, strength.min()])
    a, step = np.linspace(ends[0] - edge, ends[1] + edge, 600, retstep=True)
    inside = special.ndtr((a[:, None] + width - strength) / stderr)
    inside = inside - special.ndtr((a[:, None] - strength) / stderr)
    logs = np.log(np.maximum(inside, 1e-300)).sum(axis=1)
    return float(special.logsumexp(logs) + np.log(step) - len(strength) * np.log(width))


def _block_effect(judgments: Judgments, counts: Counts) -> tuple[str, float]:
    """The largest unit the table names, and the variance over its blocks against single pairs."""
    for unit in ("segment", "set"):
        block = block_numbers(judgments, unit)
        if block is None:
            continue
        told = counts.outcome != 0
        _, number = np.unique(block[told], return_inverse=True)
        if number.max() < 2 * len(counts.systems):
            continue
        arrays = counts.left[told], counts.right[told], counts.outcome[told]
        blocks = pooled_test(*arrays, number, len(counts.systems)).stderr
        single = pooled_counts(counts.wins).stderr
        return unit, max(1.0, float(np.sum(blocks**2) / np.sum(single**2)))
    return "pair", 1.0


def _curve(
    counts: Counts, block: np.ndarray, points: int, orders: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Mean number of judgments and mean share of significant pairs at every point."""
    n, blocks = len(counts.systems), int(block.max()) + 1
    lost = counts.outcome < 0
    cell = np.where(lost, counts.right * n + counts.left, counts.left * n + counts.right)
    told = counts.outcome != 0
    sizes, shares = np.zeros(points), np.zeros(points)
    for _ in range(orders):
        part = (rng.permutation(blocks) * points // blocks)[block]
        wins = np.bincount((part * n * n + cell)[told], minlength=points * n * n)
        wins = wins.reshape(points, n, n).cumsum(axis=0)
        sizes += np.bincount(part, minlength=points).cumsum()
        shares += (sign_test(wins) <= 0.05).sum(axis=(1, 2)) / (n * (n - 1) / 2)
    return sizes / orders, shares / orders


def _connected(judgments: Judgments) -> Counts:
    counts = count(judgments)
    groups = components((counts.wins + counts.wins.T) > 0)
    if len(groups) > 1:
        named = "; ".join(", ".join(counts.systems[i] for i in group) for group in groups)
        raise InputError(
            f"the untied judgments do not connect all systems ({named}); without a comparison"
            " between these groups sigma cannot be fitted: judge some, or leave a group out"
        )
    return counts
