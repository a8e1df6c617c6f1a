"""Every pair of systems of a campaign: what is decided, and what could be found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from assay.audit.results import AuditedPair, CampaignPower
from assay.estimation.estimate import compare_two
from assay.estimation.results import Difference, Estimates
from assay.planning.judgments import JudgmentsPlan
from assay.ranking.rank import Ranking
from assay.results import has_note
from assay.stats.intervals import (
    MAX_GAP_IN_ERRORS,
    POWER,
    holm,
    order_of_differences,
    power_of,
    t_interval,
    t_probability,
)

FROM_DIFFERENCE = ("left", "right", "n", "difference", "low", "high", "stderr", "p", "decided")

LARGEST_CAMPAIGN = 1000.0
"""Campaigns more than so many times as large are out of reach."""


def apart_difference(
    x: np.ndarray, y: np.ndarray, document: np.ndarray
) -> tuple[float, float, float]:
    """The difference of two means over different segments, its standard error and degrees.

    With e_d the sum over a document of (x - mean x) / n_x - (y - mean y) / n_y, the variance is
    k/(k-1) times the sum of e_d^2, k the documents with a rating of either (Liang and Zeger 1986).
    What the systems have in common, segments or documents, drops out where it is shared.
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


def compare_apart(
    estimates: Estimates, scores: Mapping[str, np.ndarray], document: np.ndarray, *, sampled: bool
) -> tuple[Estimates, set[frozenset[str]]]:
    """Estimates where pairs that share too few segments are compared on the segments each has.

    Where a sample says with which probability segments were drawn (``sampled``), by the two
    systems' estimates, which are weighted by it; else by their plain means.
    """
    rated = {name: ~np.isnan(row) for name, row in scores.items()}
    differences, apart = [], set()
    for item in estimates.differences:
        left, right = rated[item.left], rated[item.right]
        n = int(min(left.sum(), right.sum()))
        if 2 * item.n >= n:
            differences.append(item)
            continue
        center, stderr, degrees = (
            _independent(item, estimates, document, left, right)
            if sampled or estimates.target == "answers"
            else apart_difference(scores[item.left], scores[item.right], document)
        )
        interval = t_interval(center, stderr, degrees, estimates.level)
        differences.append(replace(
            item, difference=center, low=interval.low, high=interval.high, stderr=stderr,
            degrees=degrees, n=n, decided=interval.low > 0 or interval.high < 0,
            p=t_probability(center, stderr, degrees),
        ))  # fmt: skip
        apart.add(frozenset((item.left, item.right)))
    return (_ranked_again(estimates, differences) if apart else estimates), apart


def _independent(
    item: Difference, estimates: Estimates, document: np.ndarray, left: np.ndarray,
    right: np.ndarray,
) -> tuple[float, float, float]:  # fmt: skip
    """Two estimates as if independent: documents that both have make it err on the safe side."""
    known = {system.system: system for system in estimates.systems}
    one, other = known[item.left], known[item.right]
    if estimates.target == "texts":
        degrees = min(len(np.unique(document[row])) for row in (left, right)) - 1
    else:
        degrees = min(one.n, other.n) - 1
    stderr = float(np.hypot(one.stderr, other.stderr))
    return one.estimate - other.estimate, stderr, float(max(degrees, 1))


def _ranked_again(estimates: Estimates, differences: Sequence[Difference]) -> Estimates:
    """Ranks, rank ranges and clusters by other differences, and these in that order."""
    place = {item.system: k for k, item in enumerate(estimates.systems)}
    sign = 1 if estimates.better == "higher" else -1
    places = order_of_differences(
        len(place),
        np.array([(place[item.left], place[item.right]) for item in differences]),
        sign * np.array([item.difference for item in differences]),
        np.array([item.decided for item in differences]),
    )
    numbers = zip(*places, strict=True)
    systems = [
        replace(item, rank=int(rank), low_rank=int(low), high_rank=int(high), cluster=int(cluster))
        for item, (rank, low, high, cluster) in zip(estimates.systems, numbers, strict=True)
    ]
    systems.sort(key=lambda item: (item.rank, -sign * item.estimate, item.system))
    order = {item.system: k for k, item in enumerate(systems)}
    ordered = [
        item if order[item.left] < order[item.right] else item.reversed for item in differences
    ]
    ordered.sort(key=lambda item: (order[item.left], order[item.right]))
    return replace(estimates, systems=tuple(systems), differences=tuple(ordered))


def rated_pairs(estimates: Estimates, apart: set[frozenset[str]]) -> tuple[AuditedPair, ...]:
    """Every difference with its corrected p, its power, and the smallest that can be found."""
    sign = 1 if estimates.better == "higher" else -1
    p = np.array([item.p for item in estimates.differences])
    known = ~np.isnan(p)
    adjusted = np.full(len(p), np.nan)
    adjusted[known] = holm(p[known])
    pairs = []
    for item, corrected in zip(estimates.differences, adjusted.tolist(), strict=True):
        ahead = item.left if sign * item.difference > 0 else item.right
        # Without any spread left (a census, for this test set) a difference is simply there.
        certain = item.decided and not item.stderr > 0
        pairs.append(
            AuditedPair(
                basis="apart" if frozenset((item.left, item.right)) in apart else "common",
                p_holm=corrected,
                decided_holm=item.decided and (certain or corrected < 1 - estimates.level),
                better=ahead if item.decided else None,
                detectable=compare_two(estimates, item.left, item.right, power=POWER).detectable,
                power=_pair_power(item, estimates.level),
                **{name: getattr(item, name) for name in FROM_DIFFERENCE},
            )
        )
    return tuple(pairs)


def _pair_power(item: Difference, level: float) -> float:
    if not item.stderr >= 0 or np.isnan(item.difference):
        return float("nan")
    if item.stderr == 0:
        return float(item.difference != 0)
    shift = min(abs(item.difference) / item.stderr, MAX_GAP_IN_ERRORS)
    return float(power_of(np.array(shift), np.array(item.degrees), level))


def true_size(difference: np.ndarray, stderr: np.ndarray) -> float:
    """By which factor observed differences exaggerate true ones: chance makes them larger.

    The mean square of observed differences is that of true ones plus the mean of their variances,
    so sqrt(1 - mean(stderr^2) / mean(difference^2)) of each is what is left; 0 where nothing is.

    >>> true_size(np.array([5.0]), np.array([3.0]))
    0.8
    """
    total = float(np.mean(difference**2))
    if not total:
        return 0.0
    return float(np.sqrt(max(0.0, 1 - float(np.mean(stderr**2)) / total)))


def ratings_power(
    pairs: Sequence[AuditedPair], estimates: Estimates, *, answers: int, room: float
) -> CampaignPower:
    """What the campaign could find.

    Differences are taken as large as observed, less what chance adds. For new documents the
    standard error goes down with the root of the number of documents; for this test set with
    sqrt((1 - n/N) / n), and a campaign can be at most ``room`` times as large.
    """
    differences = estimates.differences
    known = [item for item in differences if item.stderr >= 0 and np.isfinite(item.difference)]
    found = sum(pair.decided for pair in pairs) / len(pairs)
    if not known:
        return CampaignPower(power=POWER, expected=0.0, found=found)
    gap, stderr, degrees, n, population = (
        np.array([getattr(item, name) for item in known], dtype=float)
        for name in ("difference", "stderr", "degrees", "n", "population")
    )
    gap = np.abs(gap) * true_size(gap, stderr)
    new = estimates.target == "texts"

    def chances(scale: float) -> np.ndarray:
        if new:
            left = np.full(len(gap), 1 / scale)
        else:
            more = np.minimum(n * scale, population)
            here = np.maximum(1 - n / population, 1e-12)
            left = (1 - more / population) / here / (more / n)
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = np.where(gap > 0, gap / (stderr * np.sqrt(left)), 0.0)
        return power_of(
            np.minimum(shift, MAX_GAP_IN_ERRORS), np.maximum(degrees * scale, 1), estimates.level
        )

    now = chances(1.0)
    largest = LARGEST_CAMPAIGN if new else room
    scale = _scale(lambda size: float(chances(size).mean()) >= POWER, largest)
    return CampaignPower(
        power=POWER,
        **_detectable(pairs),
        powered=float((now >= POWER).sum() / len(pairs)),
        expected=float(now.sum() / len(pairs)),
        found=found,
        needed=None if scale is None else int(np.ceil(answers * scale)),
    )


def _detectable(pairs: Sequence[AuditedPair]) -> dict[str, Any]:
    """The median and the largest of the smallest differences that are found."""
    least = np.array([pair.detectable for pair in pairs])
    least = least[np.isfinite(least)]
    if not len(least):
        return {}
    return {"detectable": float(np.median(least)), "detectable_worst": float(least.max())}


def _scale(enough: Callable[[float], bool], largest: float) -> float | None:
    """The smallest size of a campaign, in sizes of this one, that is enough."""
    if enough(1.0):
        return 1.0
    if not enough(largest):
        return None
    low, high = 1.0, largest
    while high / low > 1.005:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def judged_pairs(ranking: Ranking, alpha: float) -> tuple[AuditedPair, ...]:
    """Every pair, with the standard error of the bootstrap."""
    score = {item.system: item.score for item in ranking.systems}
    p = np.array([item.p for item in ranking.comparisons])
    gap = np.array([score[item.left] - score[item.right] for item in ranking.comparisons])
    stderr = np.array([item.stderr or np.nan for item in ranking.comparisons])
    # The better system is not known beforehand.
    adjusted = holm(np.minimum(1.0, 2 * p / ranking.sides))
    tail = alpha / ranking.sides
    power = special.ndtr(gap / stderr - special.ndtri(1 - tail))
    columns = gap, stderr, adjusted, normal_detectable(stderr, tail), power
    rows = zip(ranking.comparisons, *(column.tolist() for column in columns), strict=True)
    pairs = []
    for item, difference, error, p_holm, detectable, chance in rows:
        wins, losses, ties = (int(x or 0) for x in (item.wins, item.losses, item.ties))
        pairs.append(AuditedPair(
            left=item.left, right=item.right, basis="judgments", n=wins + losses + ties,
            wins=wins, losses=losses, ties=ties, difference=difference, stderr=error, p=item.p,
            p_holm=p_holm, decided=item.decided, decided_holm=item.decided and p_holm < alpha,
            better=item.better, detectable=detectable, power=chance,
        ))  # fmt: skip
    return tuple(pairs)


def normal_detectable(stderr: np.ndarray, alpha: float) -> np.ndarray:
    """The smallest difference found with the usual probability by a one-sided normal test."""
    return np.asarray(stderr * (special.ndtri(1 - alpha) + special.ndtri(POWER)))


def judgments_power(
    pairs: Sequence[AuditedPair], ranking: Ranking, signs: Ranking, plan: JudgmentsPlan | None
) -> CampaignPower:
    """What the campaign could find, by the model of koehn2012 where it fits."""
    found = ranking.significant_pairs / ranking.pairs
    common: dict[str, Any] = {
        "power": POWER,
        "found": found,
        "found_by": {"sign": signs.significant_pairs / signs.pairs, "bootstrap": found},
        **_detectable(pairs),
    }
    if plan is None:
        return CampaignPower(expected=float(np.mean([pair.power for pair in pairs])), **common)
    low, high = plan.sigma_interval or (None, None)
    uneven = has_note(plan.notes, "uneven-systems")
    # By the fitted model, since observed differences are larger than true ones by chance.
    return CampaignPower(
        expected=(plan.reached or {}).get("pooled", 0.0),
        needed=plan.needed_by["pooled"],
        expected_by=plan.reached,
        needed_by=plan.needed_by,
        needed_by_curve=plan.needed_by_curve if uneven else None,
        sigma=plan.sigma,
        sigma_low=low,
        sigma_high=high,
        **common,
    )
