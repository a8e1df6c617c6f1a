"""Tests of pairs of systems: the sign test of each pair, and the pooled test of all together.

The pooled test is least squares on y = strength(left) - strength(right), where y is 1 if the left
won and -1 if the right won, so results against a third system count too. Judgments of one block (a
screen, a segment) are correlated, so the variance is a sandwich over blocks (Liang and Zeger 1986).
The test assumes one scale for all systems; :func:`fit_check` tests that assumption.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

from assay.ranking.counts import (
    Counts,
    JudgmentUnits,
    evidence,
    laplacian_of,
    normal_equations,
    solve,
)
from assay.ranking.uncertainty import (
    Rule,
    Uncertainty,
    find_unseen,
    gap_stderr,
    student_p,
    z_scores,
)
from assay.results import Note
from assay.stats.intervals import rank_ranges

MAX_DENSE = 20_000_000
"""A larger table of blocks x systems is kept sparse."""
MAX_P_OF_MISFIT = 0.01
"""With a smaller p, a note says that one scale does not fit."""
NO_SPREAD = 1e-9
"""A variance that is a smaller part of the sum of squares is rounding."""
MAX_PAIRS_CHECKED = 800
"""With more pairs the fit is not checked: their variance would need too many blocks."""


class Pooled(NamedTuple):
    """Strengths (mean 0); standard errors, z and one-sided p of differences (i minus j)."""

    strength: np.ndarray
    stderr: np.ndarray
    z: np.ndarray
    p: np.ndarray


class ScaleFit(NamedTuple):
    """How far the win ratios of pairs depart from one scale.

    ``misfit`` is the root mean square of observed minus expected win ratios over the pairs, without
    the part due to chance; ``f`` and ``p`` test whether it is 0.
    """

    f: float
    p: float
    misfit: float
    observed: np.ndarray
    expected: np.ndarray


def by_sign_test(counts: Counts, rule: Rule) -> Uncertainty:
    """Ranges and p values from the judgments of each pair alone."""
    p = sign_test(counts.wins)
    low, high = rank_ranges(rule.decide(p))
    return Uncertainty(low, high, p)


def by_pooled_test(counts: Counts, units: JudgmentUnits, ties: str, rule: Rule) -> Uncertainty:
    """Ranges and p values from all judgments, on one scale."""
    block = units.block
    z = pooled_judgments(counts, block, ties).z
    unseen = find_unseen(counts, units, "pooled", ties)
    z = z / np.sqrt(1 + unseen.taste)
    blocks = evidence(counts, block, ties)
    p = student_p(z, blocks, unseen.degrees(blocks))
    low, high = rank_ranges(rule.decide(p))
    single = np.arange(len(counts.left)) if block is None else block
    fit = fit_check(*_counted(counts, single, ties), len(counts.systems))
    return Uncertainty(low, high, p, (*unseen.notes, _fit_note(counts.systems, fit)))


def pooled_judgments(counts: Counts, block: np.ndarray | None, ties: str = "drop") -> Pooled:
    """The pooled test over blocks, or over single judgments without ``block``."""
    if block is None:
        return pooled_counts(counts.wins, counts.ties if ties == "half" else None)
    return pooled_test(*_counted(counts, block, ties), len(counts.systems))


def _counted(
    counts: Counts, block: np.ndarray, ties: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Left, right, outcome and block of the judgments that count."""
    used = np.ones(len(block), dtype=bool) if ties == "half" else counts.outcome != 0
    return counts.left[used], counts.right[used], counts.outcome[used], block[used]


def _fit_note(systems: tuple[str, ...], fit: ScaleFit | None) -> Note:
    """A note on whether one scale fits."""
    if fit is None:
        fault = "too few blocks, too many pairs, no circle of pairs, or judgments all alike"
        return Note("scale-not-tested", f"whether one scale fits was not tested: {fault}")
    tested = f"F = {fit.f:.2f}, p = {fit.p:.2g}"
    if fit.p >= MAX_P_OF_MISFIT:
        return Note("scale-fits", f"head-to-head results fit one scale ({tested})")
    i, j = np.unravel_index(np.nanargmax(fit.observed - fit.expected), fit.observed.shape)
    text = (
        f"head-to-head results do not fit one scale ({tested}): beyond chance, win ratios differ"
        f" from it by {100 * fit.misfit:.1f} points on average, most for {systems[i]} against"
        f" {systems[j]} ({fit.observed[i, j]:.0%}, predicted {min(1.0, fit.expected[i, j]):.0%});"
        " the sign test does not need the scale"
    )
    return Note("scale-does-not-fit", text)


def sign_test(wins: np.ndarray) -> np.ndarray:
    """One-sided p of the sign test: ``p[..., i, j]`` for "i is better than j".

    P(X >= win(i, j)) for X binomial with win(i, j) + win(j, i) tosses of a fair coin; ties do not
    count. 1 on the diagonal and where a pair was never compared.

    >>> sign_test(np.array([[0, 8], [2, 0]])).round(4).tolist()
    [[1.0, 0.0547], [0.9893, 1.0]]
    """
    wins = np.asarray(wins, dtype=float)
    lost = np.swapaxes(wins, -1, -2)
    # P(X >= w) = I_{1/2}(w, n - w + 1), the regularised incomplete beta function.
    p = scipy.special.betainc(np.maximum(wins, 1), lost + 1, 0.5)
    return np.asarray(np.where(wins > 0, p, 1.0))


def pooled_strengths(wins: np.ndarray, ties: np.ndarray | None = None) -> np.ndarray:
    """Least-squares strengths from counts, mean 0; a difference of 2 is a win every time.

    ``ties``, where given, are judgments with y = 0; without them ties do not count.

    >>> pooled_strengths(np.array([[0, 3], [1, 0]])).tolist()
    [0.25, -0.25]
    """
    return solve(*normal_equations(wins, ties))[0]


def pooled_counts(wins: np.ndarray, ties: np.ndarray | None = None) -> Pooled:
    """The pooled test with independent judgments, from counts alone (..., n, n)."""
    wins = np.asarray(wins, dtype=float)
    laplacian, net = normal_equations(wins, ties)
    strength, inverse = solve(laplacian, net)
    gap = strength[..., :, None] - strength[..., None, :]
    square = wins * (1 - gap) ** 2
    square = square + np.swapaxes(square, -1, -2)
    if ties is not None:
        square = square + ties * gap**2
    games = wins.sum(axis=(-1, -2))
    return _wrap(strength, inverse, laplacian_of(square), games, None)


def pooled_test(
    left: np.ndarray, right: np.ndarray, outcome: np.ndarray, block: np.ndarray, systems: int
) -> Pooled:
    """The pooled test with given blocks, for one campaign or many at once.

    ``left``, ``right`` and ``outcome`` (1: left won, -1: right won, 0: a tie that counts) are
    (..., judgments); ``block`` has numbers from 0 up, of the same shape or for the last axis only.
    A chain of judgments must connect all systems.

    >>> left, right = np.array([0, 0, 1, 0, 2, 2]), np.array([1, 2, 2, 1, 0, 1])
    >>> test = pooled_test(left, right, np.array([1, 1, 1, 1, -1, -1]), np.arange(6) // 3, 3)
    >>> bool(test.strength[0] > test.strength[1] > test.strength[2])
    True
    """
    shape = np.broadcast_shapes(left.shape, right.shape, outcome.shape)
    many = int(np.prod(shape[:-1], dtype=np.int64))
    i, j, y, b = (
        np.broadcast_to(x, shape).reshape(many, -1) for x in (left, right, outcome, block)
    )
    blocks = int(b.max(initial=-1)) + 1
    run = np.arange(many)[:, None]
    games = _scatter(run * systems**2 + i * systems + j, None, (many, systems, systems))
    laplacian = laplacian_of(games + np.swapaxes(games, 1, 2))
    net = _scatter(run * systems + i, y, (many, systems))
    net -= _scatter(run * systems + j, y, (many, systems))
    strength, inverse = solve(laplacian, net)
    residual = y - np.take_along_axis(strength, i, 1) + np.take_along_axis(strength, j, 1)
    if many == 1 and blocks * systems > MAX_DENSE:
        where = np.concatenate([b[0], b[0]]), np.concatenate([i[0], j[0]])
        values = np.concatenate([residual[0], -residual[0]])
        sums = scipy.sparse.csr_array((values, where), shape=(blocks, systems))
        meat = np.asarray((sums.T @ sums).toarray())[None]
    else:
        start = (run * blocks + b) * systems
        score = _scatter(start + i, residual, (many, blocks, systems))
        score -= _scatter(start + j, residual, (many, blocks, systems))
        meat = np.swapaxes(score, 1, 2) @ score
    used = (_scatter(run * blocks + b, None, (many, blocks)) > 0).sum(axis=1)
    test = _wrap(strength, inverse, meat, used, used - 1)
    return Pooled(*(part.reshape(shape[:-1] + part.shape[1:]) for part in test))


def fit_check(
    left: np.ndarray, right: np.ndarray, outcome: np.ndarray, block: np.ndarray, systems: int
) -> ScaleFit | None:
    """Test whether the head-to-head results fit one scale; None if that cannot be tested.

    The sums of residuals of each pair, with their variance over blocks, give a Wald statistic with
    (pairs - systems + 1) degrees of freedom, in Hotelling's form because blocks may be few.
    """
    low, high = np.minimum(left, right), np.maximum(left, right)
    cells, pair = np.unique(low * systems + high, return_inverse=True)
    if len(cells) > MAX_PAIRS_CHECKED:
        return None
    i, j = np.divmod(cells, systems)
    blocks, block = np.unique(block, return_inverse=True)
    incidence = np.zeros((len(cells), systems))
    incidence[np.arange(len(cells)), i] = 1
    incidence[np.arange(len(cells)), j] = -1
    y = np.where(left == low, outcome, -outcome).astype(float)
    games = np.bincount(pair, minlength=len(cells)).astype(float)
    laplacian = incidence.T @ (games[:, None] * incidence)
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    gap = incidence @ inverse @ incidence.T @ np.bincount(pair, y)
    free = len(cells) - np.linalg.matrix_rank(laplacian, hermitian=True)
    if not 0 < free < len(blocks) - 1:
        return None
    parts = scipy.sparse.csr_array((y - gap[pair], (block, pair)), shape=(len(blocks), len(cells)))
    clear = np.eye(len(cells)) - games[:, None] * (incidence @ inverse @ incidence.T)
    basis = scipy.linalg.null_space(incidence.T)
    cross = (parts.T @ parts).toarray()
    total = np.asarray(parts.sum(axis=0)).ravel()
    variance = clear @ cross @ clear.T - np.outer(total, total) / len(blocks)
    variance *= len(blocks) / (len(blocks) - 1)
    part, spread = basis.T @ total, basis.T @ variance @ basis
    # If all judgments of a pair agree, they have no spread by which to measure a misfit.
    if np.linalg.eigvalsh(spread)[0] <= NO_SPREAD * np.trace(cross):
        return None
    wald = part @ np.linalg.pinv(spread, hermitian=True) @ part
    f = wald * (len(blocks) - free) / (free * (len(blocks) - 1))
    mean = np.bincount(pair, y) / games
    chance = np.diagonal(variance) / games**2
    misfit = np.sqrt(max(0.0, float(((mean - gap) ** 2 - chance).mean()))) / 2
    p = float(scipy.special.fdtrc(free, len(blocks) - free, f))
    observed, expected = np.full((2, systems, systems), np.nan)
    for table, value in ((observed, mean), (expected, gap)):
        table[i, j], table[j, i] = 0.5 + value / 2, 0.5 - value / 2
    return ScaleFit(float(f), p, float(misfit), observed, expected)


def _wrap(
    strength: np.ndarray, inverse: np.ndarray, meat: np.ndarray, blocks: np.ndarray,
    degrees: np.ndarray | None,
) -> Pooled:  # fmt: skip
    """Standard errors, z and p of all differences; by Student's t if ``degrees`` are given."""
    blocks = np.asarray(blocks, dtype=float)[..., None, None]
    stderr = gap_stderr(inverse @ meat @ inverse * (blocks / np.maximum(blocks - 1, 1)))
    z = z_scores(strength, stderr)
    p = (
        scipy.special.ndtr(-z) if degrees is None
        else scipy.special.stdtr(np.maximum(degrees, 1)[..., None, None], -z)
    )  # fmt: skip
    return Pooled(strength, stderr, z, np.asarray(p))


def _scatter(index: np.ndarray, weights: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    size = int(np.prod(shape, dtype=np.int64))
    flat = None if weights is None else np.asarray(weights, dtype=float).ravel()
    return np.bincount(index.ravel(), flat, minlength=size).reshape(shape).astype(float)
