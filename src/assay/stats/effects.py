"""Additive effects of raters by least squares, and which raters can be compared.

The model is score = unit + rater + error, where a unit is what was rated. Unit effects are removed
by subtracting unit means; another factor with few levels, such as systems, may be added. Two raters
can be compared if no change of other effects could offset a difference between them: if the null
space of the normal equations has equal entries for both. With units and raters alone, that means
being connected by chains of units rated in common.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

TINY = 1e-9
MIN_DEGREES = 3
"""With fewer degrees of freedom left, residuals do not show how raters vary."""


class RaterEffects(NamedTuple):
    """Effects with weighted mean 0 inside each group of comparable raters, and standard errors.

    ``groups`` numbers the groups; effects of raters in different groups cannot be compared.
    ``covariance`` is that of the effects, where raters vary by tasks, with its ``degrees``.
    """

    effects: np.ndarray
    stderr: np.ndarray
    groups: np.ndarray
    covariance: np.ndarray
    degrees: float


def rater_effects(
    values: np.ndarray,
    units: np.ndarray,
    raters: np.ndarray,
    clusters: np.ndarray,
    *,
    beside: np.ndarray | None = None,
    tasks: np.ndarray | None = None,
) -> RaterEffects:
    """Least squares for value = unit + rater (+ ``beside``), raters weighted by their ratings.

    Standard errors allow for dependence inside ``clusters`` (outputs of one segment share its
    difficulties): the sandwich estimator with the factor G / (G - 1); NaN with one cluster. The
    covariance is that of least squares with the variance v of residuals summed over each rater's
    part of the ``tasks`` (default: clusters). A sandwich of few tasks, which the effects fit almost
    exactly, would be far too small.

    >>> fit = rater_effects(np.array([1.0, 3, 2, 4]), np.array([0, 0, 1, 1]),
    ...                     np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]))
    >>> fit.effects.round(6).tolist(), fit.stderr.round(6).tolist(), fit.groups.tolist()
    ([-1.0, 1.0], [0.0, 0.0], [0, 0])
    """
    count = int(raters.max()) + 1
    rows, ones = np.arange(len(units)), np.ones(len(units))
    member = scipy.sparse.csr_array((ones, (units, rows)))
    known = [codes for codes in (raters, beside) if codes is not None]
    dummies = [scipy.sparse.csr_array((ones, (rows, codes))) for codes in known]
    design = scipy.sparse.csr_array(scipy.sparse.hstack(dummies, format="csr"))
    totals = scipy.sparse.csr_array(member @ design)
    share = 1 / np.maximum(np.bincount(units), 1)
    means = scipy.sparse.csr_array(totals.multiply(share[:, None]))
    y = values - (np.bincount(units, values) * share)[units]
    inverse, null = _solve((design.T @ design - totals.T @ means).toarray())
    solution = inverse @ (design.T @ y)
    residual = y - design @ solution + (means @ solution)[units]
    _, cluster = np.unique(clusters, return_inverse=True)
    error = scipy.sparse.csr_array((residual, (rows, cluster)))
    scores = (design.T @ error - means.T @ (member @ error)).toarray()
    groups = _groups(null[:count])
    weight = np.bincount(raters, minlength=count).astype(float)
    same = groups[:, None] == groups[None, :]
    # Raters x raters: each less the weighted mean of its group.
    contrast = np.eye(len(groups)) - same * weight / (same @ weight)[:, None]
    spread = contrast @ inverse[:count] @ scores
    parts = spread.shape[1]
    stderr = np.full(count, np.nan)
    if parts > 1:
        stderr = np.sqrt(np.sum(spread**2, axis=1) * parts / (parts - 1))
    alone = np.bincount(groups)[groups] == 1
    v, degrees = _variance_by_tasks(
        y, residual, units, raters, cluster if tasks is None else tasks, count - groups.max() - 1
    )
    return RaterEffects(
        contrast @ solution[:count], np.where(alone, np.nan, stderr), groups.astype(int),
        v * contrast @ inverse[:count, :count] @ contrast.T, degrees,
    )  # fmt: skip


def _variance_by_tasks(
    y: np.ndarray, residual: np.ndarray, units: np.ndarray, raters: np.ndarray, tasks: np.ndarray,
    fitted: int,
) -> tuple[float, float]:  # fmt: skip
    """The variance of a rating, from residuals summed by rater and task, and its degrees.

    With e these sums, it is sum e^2 over its expectation for independent ratings of variance 1, the
    sum over units u and raters r of n_ur (1 - n_ur / n_u). Every ``fitted`` effect costs one degree
    of freedom of the contrasts within tasks. If hardly any is left, ratings less their unit means
    (``y``) replace the residuals; they contain the effects, so the variance is then too large.
    """
    count = int(raters.max()) + 1
    _, cell, together = np.unique(
        units.astype(np.int64) * count + raters, return_inverse=True, return_counts=True
    )
    size = np.bincount(units)[units]
    expected = float((1 - together[cell] / size).sum())
    shared = together[cell] < size  # units with several raters
    if not expected:
        return float("nan"), 1.0
    _, task = np.unique(tasks, return_inverse=True)
    cells, number = np.unique(task[shared] * count + raters[shared], return_inverse=True)
    contrasts = len(cells) - len(np.unique(task[shared]))
    left = contrasts - fitted
    enough = left >= MIN_DEGREES
    e = np.bincount(number, (residual if enough else y)[shared])
    v = float((e**2).sum()) / expected
    return (v * contrasts / left, float(left)) if enough else (v, float(max(contrasts, 1)))


def _solve(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pseudo-inverse of the normal equations, and a basis of their null space (columns)."""
    roots, vectors = np.linalg.eigh(normal)
    zero = roots <= TINY * max(float(roots[-1]), 1.0)
    kept = vectors[:, ~zero]
    return (kept / roots[~zero]) @ kept.T, vectors[:, zero]


def _groups(null: np.ndarray) -> np.ndarray:
    """Raters with equal rows in the null space, numbered in order of appearance."""
    groups = np.full(len(null), -1)
    for i in range(len(null)):
        if groups[i] < 0:
            near = np.abs(null - null[i]).max(axis=1, initial=0.0) < np.sqrt(TINY)
            groups[near & (groups < 0)] = groups.max() + 1
    return groups
