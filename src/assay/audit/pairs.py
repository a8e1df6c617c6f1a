"""Every pair of systems of a campaign: what is decided, and what could be found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from assay.audit.results import AuditedPair, CampaignPower
from assay.estimation.results import MAX_GAP_IN_ERRORS, Difference, Estimates
from assay.planning.judgments import JudgmentsPlan
from assay.ranking.rank import Ranking, SystemRank
from assay.results import has_note
from assay.stats.intervals import POWER, holm, order_of_differences
from assay.stats.power import detectable_shifts, power_of

FROM_DIFFERENCE = ("left", "right", "n", "difference", "low", "high", "stderr", "p", "decided")
MOST_PAIRS = 2000
"""With more, a part of them tells how large a campaign must be."""
LARGEST_CAMPAIGN = 1000.0
"""Campaigns more than so many times as large are out of reach."""


def rated_pairs(estimates: Estimates) -> tuple[AuditedPair, ...]:
    """Every difference with its corrected p, its power, and the smallest that can be found."""
    sign = 1 if estimates.better == "higher" else -1
    p = np.array([item.p for item in estimates.differences])
    known = ~np.isnan(p)
    adjusted = np.full(len(p), np.nan)
    adjusted[known] = holm(p[known])
    pairs, found = [], _powers(estimates.differences, estimates.level)
    rows = zip(estimates.differences, adjusted.tolist(), *found, strict=True)
    for item, corrected, least, power in rows:
        ahead = item.left if sign * item.difference > 0 else item.right
        pairs.append(
            AuditedPair(
                basis="apart" if item.apart else "common",
                p_holm=corrected,
                decided_holm=item.decided and corrected <= 1 - estimates.level,
                better=ahead if item.decided else None,
                detectable=least,
                power=power,
                **{name: getattr(item, name) for name in FROM_DIFFERENCE},
            )
        )
    return tuple(pairs)


def _powers(pairs: Sequence[Difference], level: float) -> tuple[list[float], list[float]]:
    """The smallest difference found of every pair, and how often one as large as observed is.

    Unknown where there is no standard error: what has an interval of width zero is not tested.
    """
    gap, stderr, degrees = (
        np.array([getattr(item, name) for item in pairs], dtype=float)
        for name in ("difference", "stderr", "degrees")
    )
    least, power = np.full((2, len(pairs)), np.nan)
    some = stderr > 0
    if some.any():
        least[some] = detectable_shifts(degrees[some], level, POWER) * stderr[some]
        shift = np.minimum(np.abs(gap[some]) / stderr[some], MAX_GAP_IN_ERRORS)
        power[some] = power_of(shift, degrees[some], level)
    return least.tolist(), power.tolist()


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

    Differences are taken as large as observed, less what chance adds. For texts the standard error
    goes down with the root of their number; for this test set with sqrt((1 - n/N) / n), all but the
    raters' part of it, and a campaign can be at most ``room`` times as large.
    """
    known = [
        item for item in estimates.differences if item.stderr > 0 and np.isfinite(item.difference)
    ]
    found = sum(pair.decided for pair in pairs) / len(pairs)
    if not known:
        return CampaignPower(power=POWER, expected=0.0, found=found)
    gap, stderr, raters, degrees, n, population = (
        np.array([getattr(item, name) for item in known], dtype=float)
        for name in ("difference", "stderr", "rater_stderr", "degrees", "n", "population")
    )
    gap = np.abs(gap) * true_size(gap, stderr)
    texts = np.array([item.basis == "texts" for item in known])
    sampling = np.maximum(stderr**2 - raters**2, 0.0)

    def chances(scale: float, some: np.ndarray) -> np.ndarray:
        more = np.minimum(n * scale, population)
        here = np.maximum(1 - n / population, 1e-12)
        left = np.where(texts, 1 / scale, (1 - more / population) / here / (more / n))
        error = np.sqrt(sampling * left + raters**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = np.minimum(np.where(gap > 0, gap / error, 0.0), MAX_GAP_IN_ERRORS)
        return power_of(shift[some], np.maximum(degrees * scale, 1)[some], estimates.level)

    now = chances(1.0, np.arange(len(gap)))
    largest = LARGEST_CAMPAIGN if texts.any() else room
    # Of very many pairs, put in order by how clear they are, one in so many stands for all.
    order = np.argsort(gap / stderr)[:: 1 + len(gap) // MOST_PAIRS]
    scale = _scale(lambda size: float(chances(size, order).mean()) >= POWER, largest)
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


def judged_pairs(ranking: Ranking, alpha: float, *, family: bool) -> tuple[AuditedPair, ...]:
    """Every pair, with the standard error of the bootstrap; decided all together (``family``)."""
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
        together = item.decided and p_holm <= alpha
        decided = together if family else item.decided
        pairs.append(AuditedPair(
            left=item.left, right=item.right, basis="judgments", n=wins + losses + ties,
            wins=wins, losses=losses, ties=ties, difference=difference, stderr=error, p=item.p,
            p_holm=p_holm, decided=decided, decided_holm=together,
            better=item.better if decided else None, detectable=detectable, power=chance,
        ))  # fmt: skip
    return tuple(pairs)


def placed_by_pairs(
    systems: Sequence[SystemRank], pairs: Sequence[AuditedPair]
) -> tuple[SystemRank, ...]:
    """The systems in their order, with the rank ranges and clusters that decided pairs leave."""
    place = {item.system: k for k, item in enumerate(systems)}
    order = order_of_differences(
        len(systems),
        np.array([(place[item.left], place[item.right]) for item in pairs]),
        np.array([item.difference for item in pairs]),
        np.array([item.decided for item in pairs]),
    )
    return tuple(
        replace(item, low_rank=int(low), high_rank=int(high), cluster=int(cluster))
        for item, low, high, cluster in zip(
            systems, order.low, order.high, order.cluster, strict=True
        )
    )


def normal_detectable(stderr: np.ndarray, alpha: float) -> np.ndarray:
    """The smallest difference found with the usual probability by a one-sided normal test."""
    return np.asarray(stderr * (special.ndtri(1 - alpha) + special.ndtri(POWER)))


def judgments_power(
    pairs: Sequence[AuditedPair], ranking: Ranking, signs: Ranking, plan: JudgmentsPlan | None
) -> CampaignPower:
    """What the campaign could find, by the model of koehn2012 where it fits."""
    found = sum(pair.decided for pair in pairs) / ranking.pairs
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
