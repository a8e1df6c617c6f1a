"""Every pair of systems in a campaign of ratings: what the ratings decide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.audit.results import AuditedPair
from assay.estimation.power import compare_two
from assay.estimation.results import Difference, Estimates
from assay.stats.intervals import t_interval, t_probability
from assay.stats.multiplicity import holm
from assay.stats.orders import standings
from assay.stats.precision import CERTAIN, power_of

POWER = 0.8
"""The probability of a find that is commonly asked for."""


def apart_difference(
    x: np.ndarray, y: np.ndarray, document: np.ndarray
) -> tuple[float, float, float]:
    """The difference of two means over segments of their own, its standard error and degrees.

    With e_d the sum over a document of (x - mean x) / n_x - (y - mean y) / n_y, the variance is
    k/(k-1) times the sum of e_d^2, k the documents with a rating of either (Liang and Zeger 1986).
    What the systems have in common, segments or documents, drops out as far as it is shared.
    """
    total = np.zeros(int(document.max()) + 1)
    for values, sign in ((x, 1.0), (y, -1.0)):
        here = ~np.isnan(values)
        rest = sign * (values[here] - values[here].mean()) / here.sum()
        total += np.bincount(document[here], rest, minlength=len(total))
    some = ~np.isnan(x) | ~np.isnan(y)
    k = len(np.unique(document[some]))
    difference = float(np.nanmean(x) - np.nanmean(y))
    if k < 2:
        return difference, float("nan"), 1.0
    return difference, float(np.sqrt(k / (k - 1) * np.sum(total**2))), float(k - 1)


def with_apart(
    estimates: Estimates, scores: dict[str, np.ndarray], document: np.ndarray, *, sampled: bool
) -> tuple[Estimates, set[frozenset[str]]]:
    """The estimates with pairs that share too few segments compared on each system's own.

    Where a sample says with which probability segments were drawn (``sampled``), by the two
    systems' estimates, which are weighted by it; else by their plain means.
    """
    rated = {name: ~np.isnan(row) for name, row in scores.items()}
    found, apart = [], set()
    for item in estimates.differences:
        left, right = rated[item.left], rated[item.right]
        if 2 * item.n >= min(left.sum(), right.sum()):
            found.append(item)
            continue
        own = (
            _estimates_apart(item, estimates, document, left, right)
            if sampled or estimates.target == "test-set"
            else apart_difference(scores[item.left], scores[item.right], document)
        )
        n = int(min(left.sum(), right.sum()))
        found.append(_replaced(item, *own, n, estimates.level))
        apart.add(frozenset((item.left, item.right)))
    return replace(estimates, differences=tuple(found)), apart


def _estimates_apart(
    item: Difference, estimates: Estimates, document: np.ndarray, left: np.ndarray,
    right: np.ndarray,
) -> tuple[float, float, float]:  # fmt: skip
    """Two estimates as if independent: documents that both have make it err on the safe side."""
    known = {own.system: own for own in estimates.systems}
    one, other = known[item.left], known[item.right]
    if estimates.target == "new-documents":
        degrees = min(len(np.unique(document[row])) for row in (left, right)) - 1
    else:
        degrees = min(one.n, other.n) - 1
    stderr = float(np.hypot(one.stderr, other.stderr))
    return one.estimate - other.estimate, stderr, float(max(degrees, 1))


def _replaced(
    item: Difference, center: float, stderr: float, degrees: float, n: int, level: float
) -> Difference:
    interval = t_interval(center, stderr, degrees, level)
    return replace(
        item,
        difference=center,
        low=interval.low,
        high=interval.high,
        stderr=stderr,
        degrees=degrees,
        n=n,
        decided=interval.low > 0 or interval.high < 0,
        p=t_probability(center, stderr, degrees),
    )


class Order:
    """Where systems stand by their differences: ranks, rank ranges, clusters."""

    def __init__(self, estimates: Estimates) -> None:
        names = [item.system for item in estimates.systems]
        place = {name: k for k, name in enumerate(names)}
        sign = 1 if estimates.better == "higher" else -1
        pairs = estimates.differences
        places = standings(
            len(names),
            np.array([place[item.left] for item in pairs], dtype=np.intp),
            np.array([place[item.right] for item in pairs], dtype=np.intp),
            np.array([sign * item.difference for item in pairs]),
            np.array([item.decided for item in pairs], dtype=bool),
        )
        self.rank, self.low, self.high, self.cluster = (
            dict(zip(names, part.tolist(), strict=True)) for part in places
        )


def in_order(estimates: Estimates, order: Order) -> Estimates:
    """The differences with the system that stands higher on the left, top pairs first."""
    turned = [
        item if order.rank[item.left] <= order.rank[item.right] else item.turned
        for item in estimates.differences
    ]
    rank = order.rank
    turned.sort(key=lambda item: (rank[item.left], rank[item.right], item.left, item.right))
    return replace(estimates, differences=tuple(turned))


def audited_pairs(
    estimates: Estimates, apart: set[frozenset[str]], level: float
) -> tuple[AuditedPair, ...]:
    """Every difference with its corrected p, its power, and the smallest that can be found."""
    sign = 1 if estimates.better == "higher" else -1
    p = np.array([item.p for item in estimates.differences])
    known = ~np.isnan(p)
    adjusted = np.full(len(p), np.nan)
    adjusted[known] = holm(p[known])
    found = []
    for item, corrected in zip(estimates.differences, adjusted.tolist(), strict=True):
        ahead = item.left if sign * item.difference > 0 else item.right
        # Without any spread left (a census, for this test set) a difference is simply there.
        certain = item.decided and not item.stderr > 0
        found.append(
            AuditedPair(
                left=item.left,
                right=item.right,
                basis="apart" if frozenset((item.left, item.right)) in apart else "common",
                n=item.n,
                wins=None,
                losses=None,
                ties=None,
                difference=item.difference,
                low=item.low,
                high=item.high,
                stderr=item.stderr,
                p=item.p,
                p_holm=corrected,
                decided=item.decided,
                decided_holm=item.decided and (certain or corrected < 1 - level),
                better=ahead if item.decided else None,
                detectable=compare_two(estimates, item.left, item.right, power=POWER).detectable,
                power=_power(item, level),
            )
        )
    return tuple(found)


def _power(item: Difference, level: float) -> float:
    if not item.stderr >= 0 or np.isnan(item.difference):
        return float("nan")
    if item.stderr == 0:
        return float(item.difference != 0)
    shift = min(abs(item.difference) / item.stderr, CERTAIN)
    return float(power_of(np.array(shift), np.array(item.degrees), level))
