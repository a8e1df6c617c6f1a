"""Every pair of systems: what is decided, what could be found, and what was published of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, combinations, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from scipy import special

from assay.audit.results import AuditedPair, CampaignPower, Claim, ClaimCounts
from assay.errors import InputError, OptionError, need_known
from assay.estimation.results import MAX_GAP_IN_ERRORS, Difference, Estimates
from assay.planning.judgments import JudgmentsPlan
from assay.ranking.rank import Ranking, SystemRank
from assay.results import Note, has_note
from assay.stats.intervals import POWER, holm, order_of_differences
from assay.stats.power import detectable_shifts, power_of
from assay.tables.load import Source, load

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


class Distinction(NamedTuple):
    """One system was said to be better than another."""

    better: str
    worse: str
    neighbours: bool


def read_published(source: Source, systems: Sequence[str]) -> list[Distinction]:
    """The distinctions that a small table makes between these systems.

    Columns ``better`` and ``worse``: a row is a distinction. Columns ``system`` and ``cluster``:
    systems of different clusters are distinct; ``system`` and ``rank``: those of different ranks.
    Number 1 is best; with both, clusters decide what is distinct and ranks who are neighbours.
    """
    raw = load(source, text=lambda name: name in ("system", "better", "worse"))
    frame, place = raw.frame, raw.source
    if {"better", "worse"} <= set(frame.columns):
        rows = frame.select("better", "worse").rows()
        half = [k for k, row in enumerate(rows, start=1) if None in row and any(row)]
        if half:
            raise InputError(
                f"{place}: row {half[0]} names one system only; name the other, or remove the row"
            )
        found = [
            Distinction(str(better).strip(), str(worse).strip(), True)
            for better, worse in rows
            if better is not None
        ]
    elif "system" in frame.columns and {"rank", "cluster"} & set(frame.columns):
        found = _from_places(frame, place)
    else:
        raise InputError(
            f"{place}: has no published distinctions; its columns must be system with rank or"
            f" cluster, or better and worse, not {', '.join(frame.columns)}"
        )
    if not found:
        raise InputError(f"{place}: makes no distinction between two systems; give at least one")
    return _checked(found, systems, place)


def _from_places(frame: pl.DataFrame, place: str) -> list[Distinction]:
    by = "cluster" if "cluster" in frame.columns else "rank"
    along = "rank" if "rank" in frame.columns else "cluster"
    numbers = {}
    for name in dict.fromkeys((by, along)):
        number = frame[name].cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
        if number.null_count():
            row = int(number.is_null().arg_max() or 0)
            bad = frame[name][row]
            value = "empty" if bad is None else f"'{bad}'"
            raise InputError(
                f"{place}: row {row + 1}: {name} is {value}, not a number; write 1 for the best"
            )
        numbers[name] = number.to_list()
    names = [str(name).strip() for name in frame["system"].to_list()]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"{place}: {twice[0]} is listed twice; keep one of the rows")
    for a, b in combinations(range(len(names)), 2):
        apart = (numbers[by][a] - numbers[by][b]) * (numbers[along][a] - numbers[along][b])
        if apart < 0:
            raise InputError(
                f"{place}: cluster and rank contradict each other for {names[a]} and {names[b]};"
                " correct one of them"
            )
    order = sorted(range(len(names)), key=lambda k: (numbers[by][k], numbers[along][k]))
    step = {value: k for k, value in enumerate(sorted(set(numbers[along])))}
    return [
        Distinction(names[a], names[b], step[numbers[along][b]] - step[numbers[along][a]] <= 1)
        for a, b in combinations(order, 2)
        if numbers[by][a] < numbers[by][b]
    ]


def _checked(found: list[Distinction], systems: Sequence[str], place: str) -> list[Distinction]:
    for item in found:
        for name in (item.better, item.worse):
            need_known("published", name, systems, f"of {place} has no answers")
        if item.better == item.worse:
            raise OptionError("published", item.better, "is better than itself", "name two systems")
    both = dict.fromkeys((item.better, item.worse) for item in found)
    for better, worse in both:
        if (worse, better) in both:
            raise OptionError(
                "published", f"{better}, {worse}", "are each said to be better than the other",
                "keep one of the two",
            )  # fmt: skip
    return list(dict.fromkeys(found))


def distinctions(published: Source | None, scores: Mapping[str, float]) -> list[Distinction]:
    """What was published; where nothing is given, what the order of the systems says."""
    if published is None:
        return plain_order(scores)
    return read_published(published, list(scores))


def plain_order(scores: Mapping[str, float]) -> list[Distinction]:
    """Every pair of systems whose scores differ, in the order given, best first.

    That of differences on common segments, by which systems are ranked, need not be that of scores.

    >>> [(item.better, item.worse) for item in plain_order({"B": 2.0, "A": 1.9, "C": 1.9})]
    [('B', 'A'), ('B', 'C')]
    """
    values = list(scores.values())
    rises = [0, *(a != b for a, b in pairwise(values))]
    step = dict(zip(scores, accumulate(rises), strict=True))
    return [
        Distinction(a, b, step[b] - step[a] == 1)
        for a, b in combinations(scores, 2)
        if scores[a] != scores[b]
    ]


def judge(said: Sequence[Distinction], pairs: Sequence[AuditedPair]) -> tuple[Claim, ...]:
    """Every distinction with its verdict."""
    known = {frozenset((pair.left, pair.right)): pair for pair in pairs}
    claims = []
    for item in said:
        pair = known[frozenset((item.better, item.worse))]
        decided: Literal["holds", "contradicted"]
        decided = "holds" if pair.better == item.better else "contradicted"
        verdict = decided if pair.decided else "open"
        holm = decided if pair.decided_holm else "open"
        claims.append(Claim(item.better, item.worse, item.neighbours, verdict, holm, pair.p))
    return tuple(claims)


def count_verdicts(claims: Sequence[Claim], *, given: bool) -> ClaimCounts:
    """The claims counted."""
    verdicts = [item.verdict for item in claims]
    return ClaimCounts(
        source="published" if given else "order of the scores",
        claims=len(claims),
        hold=verdicts.count("holds"),
        open=verdicts.count("open"),
        contradicted=verdicts.count("contradicted"),
        hold_holm=sum(item.verdict_holm == "holds" for item in claims),
        neighbours=sum(item.neighbours for item in claims),
        neighbours_hold=sum(item.neighbours and item.verdict == "holds" for item in claims),
    )


def unclaimed(claims: Sequence[Claim], systems: Sequence[str]) -> tuple[Note, ...]:
    """A note on systems with answers that are in no distinction."""
    named = {name for item in claims for name in (item.better, item.worse)}
    rest = ", ".join(name for name in systems if name not in named)
    return (Note("unclaimed", f"no distinction concerns {rest}"),) if rest else ()
