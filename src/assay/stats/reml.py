"""Mixed linear models with crossed random intercepts, fitted by restricted maximum likelihood.

``y = X b + sum_k Z_k u_k + e`` with ``u_k ~ N(0, s2 g_k I)`` and ``e ~ N(0, s2 I)``. Each ``Z_k``
says which level of factor k an observation has. The likelihood is profiled over ``b`` and ``s2``
(Bates et al. 2015, section 3), so only the ratios ``g_k >= 0`` are searched for. All products with
``Z`` are formed once: a design can be fitted to many responses.

The power functions are for kits, in which every editor edits one document of every system. Editor
and document effects cancel in the difference of two systems. What is left is the variance ``v`` of
one editor's mean over one document: the editor x document component plus the residual over the
segments. With E editors a difference has variance ``2 v / E``, and the analysis of editors,
documents and systems leaves ``(systems - 1)(E - 2)`` degrees of freedom, and ``(systems - 1)(E -
3)`` where the documents' places are allowed for too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load
from numpy.typing import NDArray

from assay.errors import ConvergenceError
from assay.stats.intervals import smallest

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
_CEILING = 1e6
"""The largest ratio of variances searched; beyond it the residual is practically zero."""
_EXACT = 1e-10
"""A spread below this share of the largest value is rounding."""
_STEEPEST_SLOPE = 1e-2
"""The steepest slope that a search may end on."""
_RESTARTS = 5
MOST_EDITORS = 100_000
CERTAIN_SHIFT = 500.0
"""A gap of this many standard errors is always detected."""


class MixedFit(NamedTuple):
    """A fitted model: coefficients with their covariance, and the variance components."""

    coefficients: Floats
    covariance: Floats
    components: Floats
    """Variances of the random effects, in the order of the factors."""
    residual: float
    ratios: Floats
    """``components / residual``."""
    loglik: float
    """The restricted log likelihood; infinite where the fixed part explains all."""
    loads: tuple[Floats, ...]
    """For every factor (levels x coefficients) the weight that a level has in a coefficient."""

    def contrast(self, weights: Floats) -> tuple[float, float]:
        """A combination of coefficients and its standard error."""
        variance = float(weights @ self.covariance @ weights)
        return float(weights @ self.coefficients), max(variance, 0.0) ** 0.5


class _Weighted(NamedTuple):
    """What one set of ratios gives: coefficients, ``y'Py`` and log determinants.

    ``Z'V^-1[Z X y]`` is ``Z'[Z X y] - across' [across half]``. Of ``across`` the columns of the
    first factor are ``own`` on the diagonal, and ``below``.
    """

    own: Floats
    below: Floats
    across: Floats
    half: Floats
    inverse: Floats
    beta: Floats
    rest: float
    logdet: float


class MixedDesign:
    """The fixed part and the grouping factors of a mixed model, ready for any response.

    >>> rows = np.arange(12)
    >>> design = MixedDesign(np.ones((12, 1)), [rows // 3])
    >>> fit = design.fit(np.repeat([1.0, 4.0, 2.0, 9.0], 3) + np.tile([-1.0, 0.0, 1.0], 4))
    >>> fit.coefficients.round(3), fit.components.round(3), round(fit.residual, 3)
    (array([4.]), array([12.333]), 1.0)
    """

    def __init__(self, fixed: Floats, factors: Sequence[Ints]) -> None:
        self.fixed = np.asarray(fixed, dtype=float)
        sizes = [int(codes.max()) + 1 for codes in factors]
        # The largest factor comes first: its part of the matrix is diagonal, and costs nothing.
        self._order = sorted(range(len(sizes)), key=lambda k: -sizes[k])
        self.sizes = [sizes[k] for k in self._order]
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)
        ordered = zip(self._order, starts, strict=True)
        self._codes = [factors[k] + start for k, start in ordered]
        self._zz = self._cross_counts()
        self._zx = self._sums(self.fixed)
        self._xx = self.fixed.T @ self.fixed

    def fit(self, y: Floats, *, ratios: Floats | None = None) -> MixedFit:
        """Fit to a response; ``ratios`` holds the variance ratios at given values."""
        y = np.asarray(y, dtype=float)
        # What the fixed part explains, and the unit, do not matter for the ratios; without them
        # no digits are lost where the response is large against its spread.
        start = np.linalg.lstsq(self.fixed, y, rcond=None)[0]
        rest = y - self.fixed @ start
        unit = float(rest.std())
        if unit <= _EXACT * float(np.abs(y).max()):
            rest, unit, ratios = np.zeros(len(y)), 1.0, np.zeros(len(self.sizes))
        y = rest / unit
        zxy, xy = np.hstack([self._zx, self._sums(y[:, None])]), self.fixed.T @ y
        outer = np.block([[self._xx, xy[:, None]], [xy[None, :], np.array([[y @ y]])]])
        data = zxy, outer  # Z'[X y] and [X y]'[X y]
        found = self._search(data) if ratios is None else np.asarray(ratios, float)[self._order]
        return self._solve(found, data, start, unit)

    def _cross_counts(self) -> Floats:
        total = sum(self.sizes)
        counts = np.zeros(total * total)
        for rows in self._codes:
            for columns in self._codes:
                counts += np.bincount(rows * total + columns, minlength=total * total)
        return counts.reshape(total, total)

    def _sums(self, columns: Floats) -> Floats:
        total = sum(self.sizes)
        sums = np.zeros((total, columns.shape[1]))
        for codes in self._codes:
            for number, column in enumerate(columns.T):
                sums[:, number] += np.bincount(codes, weights=column, minlength=total)
        return sums

    def _weighted(self, ratios: Floats, data: tuple[Floats, Floats]) -> _Weighted:
        """Cross products in the metric of ``V = I + sum_k g_k Z_k Z_k'``.

        The Cholesky factor of ``I + G Z'Z G`` is found in blocks: that of the first factor's
        levels is diagonal, so that only what is left of the others' is dense.
        """
        zxy, outer = data
        m = self.sizes[0]
        root = np.sqrt(np.repeat(ratios, self.sizes))
        counts, beside, rest = np.diag(self._zz)[:m], self._zz[:m, m:], self._zz[m:, m:]
        scaled = root[:m] / np.sqrt(1.0 + root[:m] ** 2 * counts)
        right = scaled[:, None] * beside
        upper = right * root[m:]
        inner = root[m:, None] * rest * root[m:] - upper.T @ upper
        inner[np.diag_indices_from(inner)] += 1.0
        lower = scipy.linalg.cholesky(inner, lower=True, check_finite=False, overwrite_a=True)
        first, own = scaled[:, None] * zxy[:m], scaled * counts
        columns = (
            root[m:, None] * zxy[m:] - upper.T @ first,
            root[m:, None] * beside.T - upper.T * own,
            root[m:, None] * rest - upper.T @ right,
        )
        solved = scipy.linalg.solve_triangular(
            lower, np.hstack(columns), lower=True, check_finite=False
        )
        last, below, dense = np.split(solved, np.cumsum([zxy.shape[1], m]), axis=1)
        half = np.vstack([first, last])
        weighted = outer - half.T @ half
        xx, xy = weighted[:-1, :-1], weighted[:-1, -1]
        inverse = np.linalg.inv(xx)
        beta = inverse @ xy
        least = max(float(weighted[-1, -1] - xy @ beta), float(np.finfo(float).tiny))
        logdet = 2.0 * float(np.log(np.diag(lower)).sum()) + float(np.linalg.slogdet(xx)[1])
        logdet += float(np.log1p(root[:m] ** 2 * counts).sum())
        return _Weighted(
            own, below, np.vstack([right, dense]), half, inverse, beta, least, logdet
        )  # fmt: skip

    def _deviance(self, ratios: Floats, data: tuple[Floats, Floats]) -> tuple[float, Floats]:
        """Minus twice the profiled restricted log likelihood (up to a constant), and its slope.

        The slope in g_k is ``tr(Z_k' P Z_k) - (n - p) |Z_k' P y|^2 / y' P y``.
        """
        part = self._weighted(ratios, data)
        n, p = self.fixed.shape
        zv = data[0] - self._crossed(part)
        zx, zy = zv[:, :-1], zv[:, -1]
        squared = [part.own**2 + (part.below**2).sum(axis=0), (part.across**2).sum(axis=0)]
        diagonal = np.diag(self._zz) - np.concatenate(squared)
        traces = diagonal - np.einsum("ij,jk,ik->i", zx, part.inverse, zx)
        squares = (zy - zx @ part.beta) ** 2
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        slope = np.add.reduceat(traces - (n - p) * squares / part.rest, starts)
        return part.logdet + (n - p) * math.log(part.rest), slope

    def _crossed(self, part: _Weighted) -> Floats:
        """``across' half``, by the columns of the first factor and those of the others."""
        m = self.sizes[0]
        own = part.own[:, None] * part.half[:m] + part.below.T @ part.half[m:]
        return np.vstack([own, part.across.T @ part.half])

    def _search(self, data: tuple[Floats, Floats]) -> Floats:
        """The ratios of largest restricted likelihood.

        A second start where the first ends at a border: it may be the foot of another hill.
        """
        best: Floats | None = None
        least = math.inf
        for start in (0.2, 2.0):
            end = self._descend(np.full(len(self.sizes), start), data)
            stopped_by_rounding = end.status == 2 and _at_rest(end)
            if (end.success or stopped_by_rounding) and end.fun < least:
                best, least = end.x, float(end.fun)
            if best is not None and np.all(best > 0):
                break
        if best is None or not math.isfinite(least):
            raise ConvergenceError(
                "the mixed model did not converge; leave out editors or documents with few"
                " segments, or measure on another scale"
            )
        return np.asarray(best)

    def _descend(self, start: Floats, data: tuple[Floats, Floats]) -> scipy.optimize.OptimizeResult:
        """Downhill from a start, and on from where the search stops for a slope too steep.

        Where ratios are large a step may gain next to nothing far from the end.
        """
        for _ in range(_RESTARTS):
            end = scipy.optimize.minimize(
                self._deviance, start, args=(data,), method="L-BFGS-B", jac=True,
                bounds=[(0.0, _CEILING)] * len(self.sizes),
                options={"ftol": 1e-13, "gtol": 1e-6, "maxiter": 300},
            )  # fmt: skip
            if not end.success or _at_rest(end):
                break
            start = end.x
        return end

    def _solve(
        self, ratios: Floats, data: tuple[Floats, Floats], start: Floats, unit: float
    ) -> MixedFit:
        part = self._weighted(ratios, data)
        n, p = self.fixed.shape
        exact = not np.any(data[0][:, -1]) and not np.any(data[1][-1])
        residual = 0.0 if exact else unit**2 * part.rest / (n - p)
        likely = math.inf if exact else -math.log(2 * math.pi * residual) - 1
        loglik = -0.5 * part.logdet + 0.5 * (n - p) * likely
        loads = (data[0] - self._crossed(part))[:, :-1] @ part.inverse
        places = np.argsort(self._order)
        by_factor = np.split(loads, np.cumsum(self.sizes)[:-1])
        return MixedFit(
            start + unit * part.beta, residual * part.inverse, residual * ratios[places], residual,
            ratios[places], loglik, tuple(by_factor[place] for place in places),
        )  # fmt: skip


def _at_rest(end: scipy.optimize.OptimizeResult) -> bool:
    """Whether the slope where a search ended leaves nothing to improve."""
    if not np.all(np.isfinite(end.jac)):
        return False
    step = end.x - np.clip(end.x - end.jac, 0.0, _CEILING)
    return bool(np.abs(step).max() <= _STEEPEST_SLOPE)


def fit_without_each(
    y: Floats, fixed: Floats, factors: Sequence[Ints], ratios: Floats
) -> tuple[Floats, Floats]:
    """Coefficients and covariances with each group left out, the variance ratios held.

    ``factors`` are the groups, a factor that crosses them, one nested in them, and perhaps more
    that cross them. Given the crossed effects groups are independent, so that each adds its own
    part to the cross products of [Z X y], and leaving it out is a subtraction.
    """
    group, crossed, nested, *more = factors
    start = np.linalg.lstsq(fixed, y, rcond=None)[0]
    p = fixed.shape[1]
    shown = [np.eye(int(codes.max()) + 1)[codes] for codes in (crossed, *more)]
    root = np.sqrt(np.repeat(np.delete(ratios, [0, 2]), [part.shape[1] for part in shown]))
    levels = len(root)
    columns = np.hstack([*shown, fixed, (y - fixed @ start)[:, None]])
    rows = [np.flatnonzero(group == number) for number in range(int(group.max()) + 1)]
    parts = [_group_part(columns[part], nested[part], ratios) for part in rows]
    total = np.sum(parts, axis=0)
    coefficients, covariances = [], []
    for group_rows, part in zip(rows, parts, strict=True):
        left = total - part
        inner = np.eye(levels) + root[:, None] * left[:levels, :levels] * root
        across = root[:, None] * left[:levels, levels:]
        rest = left[levels:, levels:] - across.T @ np.linalg.solve(inner, across)
        inverse = np.linalg.pinv(rest[:p, :p], hermitian=True)
        beta = inverse @ rest[:p, p]
        residual = max(float(rest[p, p] - rest[:p, p] @ beta), 0.0) / max(
            len(y) - len(group_rows) - p, 1
        )
        coefficients.append(start + beta)
        covariances.append(residual * inverse)
    return np.array(coefficients), np.array(covariances)


def _group_part(columns: Floats, nested: Ints, ratios: Floats) -> Floats:
    """Cross products of one group's rows in the metric of its own and its nested effects."""
    cells = np.unique(nested, return_inverse=True)[1]
    size = np.bincount(cells).astype(float)
    sums = np.zeros((len(size), columns.shape[1]))
    np.add.at(sums, cells, columns)
    shrunk = 1 + ratios[2] * size
    part = columns.T @ columns - (sums * (ratios[2] / shrunk)[:, None]).T @ sums
    whole, weight = (sums / shrunk[:, None]).sum(axis=0), float((size / shrunk).sum())
    return np.asarray(part - ratios[0] / (1 + ratios[0] * weight) * np.outer(whole, whole))


def kit_degrees(editors: int, systems: int, *, place: bool = False) -> int:
    """Degrees of freedom of the differences, as many documents as systems."""
    return (systems - 1) * (editors - (3 if place else 2))


def gap_power(
    gap: float, *, variance: float, editors: int, systems: int, level: float, place: bool = False
) -> float:
    """The chance that a two-sided t test detects a true gap.

    >>> round(gap_power(3, variance=12.2, editors=21, systems=3, level=0.95), 2)
    0.77
    """
    degrees = kit_degrees(editors, systems, place=place)
    if degrees < 1:
        return float("nan")
    if variance <= 0:
        return 1.0 if gap else 1 - level
    shift = abs(gap) / np.sqrt(2 * variance / editors)
    critical = scipy.special.stdtrit(degrees, (1 + level) / 2)
    # NaN is what the noncentral t gives for probabilities under 1e-20, and a shift this large wins.
    shift = min(shift, CERTAIN_SHIFT)
    tails = [float(scipy.special.nctdtr(degrees, shift, end)) for end in (critical, -critical)]
    inside, wrong = (0.0 if np.isnan(tail) else tail for tail in tails)
    return min(max(1 - inside + wrong, 0.0), 1.0)


def editors_needed(
    gap: float, *, variance: float, systems: int, level: float, power: float, place: bool = False
) -> int | None:
    """The fewest editors with this power, or None if even very many are too few."""
    options = {"variance": variance, "systems": systems, "level": level, "place": place}

    def enough(editors: int) -> bool:
        return gap_power(gap, editors=editors, **options) >= power  # type: ignore[arg-type]

    high = 4 if place else 3
    while not enough(high):
        high *= 2
        if high > MOST_EDITORS:
            return None
    return smallest(enough, high, max(high // 2, 2) + 1)


def detectable_gap(
    *, variance: float, editors: int, systems: int, level: float, power: float, place: bool = False
) -> float:
    """The gap that this many editors detect with this power; NaN below three editors."""
    if kit_degrees(editors, systems, place=place) < 1:
        return float("nan")
    if variance <= 0:
        return 0.0
    unit = float(np.sqrt(2 * variance / editors))

    def lack(gap: float) -> float:
        options = {"variance": variance, "level": level, "place": place}
        return power - gap_power(gap, editors=editors, systems=systems, **options)  # type: ignore[arg-type]

    return float(scipy.optimize.brentq(lack, 0.0, 200 * unit))
