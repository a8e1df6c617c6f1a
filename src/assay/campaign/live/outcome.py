"""What a set of answers says about the systems: the outcome, and systems and pairs in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from assay.campaign.live.plan import LivePlan, edits_of, judgments_of, ratings_of, scales_of
from assay.campaign.records import Collected
from assay.collecting.live import LivePair, LiveSystem, LookTaken, Outcome
from assay.effort.effort import effort
from assay.effort.results import Effort, EffortDifference
from assay.errors import AssayError
from assay.estimation.estimate import estimate
from assay.estimation.monitor import Monitoring, monitor
from assay.estimation.results import Difference, Estimates
from assay.ranking.monitor import JudgmentsMonitoring, monitor_judgments
from assay.ranking.rank import Ranking, rank
from assay.results import Costs, Note
from assay.stats.intervals import order_of_differences
from assay.tables.tables import Ratings

NOTHING = Outcome()


@dataclass(frozen=True, slots=True)
class Statement:
    """The outcome of some answers, or a note on why there is none."""

    outcome: Outcome = NOTHING
    answers: Estimates | None = None
    """The scores with intervals for these answers only."""
    monitoring: Monitoring | None = None
    verdicts: JudgmentsMonitoring | None = None
    used: Counter[str] | None = None
    """The number of answers for each system."""
    ratings: Ratings | None = None
    """The ratings it rests on, if ratings are collected."""
    notes: tuple[Note, ...] = ()


def costs_of(plan: LivePlan) -> Costs:
    """What an answer costs."""
    pay = plan.settings.pay
    return Costs(pay.per_rating, pay.per_task, pay.per_hour, pay.seconds_per_rating, pay.currency)


def outcome_of(plan: LivePlan, collected: Collected, seed: int) -> Statement:
    """Compute the outcome of these answers."""
    try:
        return _OUTCOMES[plan.kind](plan, collected, seed)
    except AssayError as error:
        return Statement(notes=(Note("no-outcome", f"no result yet: {error}"),))


def first_scale(plan: LivePlan) -> str | None:
    """The scale that decides, if there are several."""
    scales = scales_of(plan)
    return scales[0] if len(scales) > 1 else None


def _ratings(plan: LivePlan, collected: Collected, seed: int) -> Statement:
    ratings = ratings_of(plan, collected, first_scale(plan))
    if ratings is None:
        return Statement()
    found = estimate_of(plan, ratings)
    given = ratings.genuine.drop_nulls("score")["system"].to_list()
    answers = found if found.target == "answers" else None
    if answers is None:
        answers = replace(estimate_of(plan, ratings, "answers"), composite=None)
    return Statement(Outcome(estimates=found), answers, used=Counter(given), ratings=ratings)


def estimate_of(plan: LivePlan, ratings: Ratings, target: str | None = None) -> Estimates:
    """The scores on the whole test set, as :func:`assay.estimate` has them."""
    settings = plan.settings
    return estimate(
        plan.test_set, ratings, sample=plan.sample, method=settings.method or "auto",
        target=target or settings.target, level=settings.stop.level, pay=costs_of(plan),
    )  # fmt: skip


def monitor_of(
    plan: LivePlan, ratings: Ratings | None, before: Monitoring | None, target: float | None
) -> tuple[Monitoring | None, tuple[Note, ...]]:
    """Verdicts at the planned looks that are complete; those in ``before`` are kept.

    ``target`` is the wanted half-width; if it has changed, all looks are judged again.
    """
    if ratings is None or plan.sample is None or not plan.watched:
        return None, ()
    stop = plan.settings.stop
    goal = "score" if stop.goal == "score" else "ranking"
    if goal == "ranking" and len(plan.test_set.systems) < 2:
        return None, ()
    if before is not None and before.target != target:
        before = None
    try:
        if stop.guarantee:
            return monitor(
                plan.test_set, ratings, sample=plan.sample, goal=goal, half_width=target,
                guarantee=True, level=stop.level, pay=costs_of(plan),
            ), ()  # fmt: skip
        return monitor(
            plan.test_set, ratings, sample=plan.sample, goal=goal, half_width=target,
            looks=plan.sizes, before=before, level=stop.level, pay=costs_of(plan),
        ), ()  # fmt: skip
    except AssayError as error:
        return None, (Note("no-verdicts", f"no verdicts yet: {error}"),)


def _judgments(plan: LivePlan, collected: Collected, seed: int) -> Statement:
    judgments = judgments_of(collected)
    if judgments is None:
        return Statement()
    level, pay = plan.settings.stop.level, costs_of(plan)
    verdicts = monitor_judgments(judgments, systems=plan.test_set.systems, level=level, pay=pay)
    frame = judgments.frame
    used = Counter([*frame["left"].to_list(), *frame["right"].to_list()])
    said = Statement(verdicts=verdicts, used=used)
    try:
        return replace(
            said, outcome=Outcome(ranking=rank(judgments, level=level, pay=pay, rng=seed))
        )
    except AssayError as error:
        return replace(said, notes=(Note("no-outcome", f"no ranking yet: {error}"),))


def _edits(plan: LivePlan, collected: Collected, seed: int) -> Statement:
    edits = edits_of(collected)
    if edits is None:
        return Statement()
    pay = plan.settings.pay
    rate = None if pay.per_hour is None else f"{pay.per_hour:g} {pay.currency or 'units'}"
    found = effort(edits, rate=rate, level=plan.settings.stop.level, rng=seed)
    return Statement(Outcome(effort=found), used=Counter(edits.frame["system"].to_list()))


_OUTCOMES = {"ratings": _ratings, "judgments": _judgments, "edits": _edits}


def tested_differences(outcome: Outcome) -> Sequence[Difference | EffortDifference]:
    """The tested differences; for effort, those on the main measure."""
    if outcome.estimates is not None:
        return outcome.estimates.differences
    if outcome.effort is None:
        return ()
    followed = _followed(outcome.effort)
    return [item for item in outcome.effort.differences if item.measure == followed]


def _followed(found: Effort) -> str:
    """The measure that the verdict uses."""
    return found.measures[0] if found.verdict is None else found.verdict.measure


Won = dict[frozenset[str], tuple[str, int | None]]
"""The decided pairs: the better system, and the look that decided."""


def won_pairs(past: Sequence[LookTaken], said: Statement) -> Won:
    """All decided pairs; a pair once decided stays decided."""
    won: Won = {}
    for look in past:
        for left, right, better in _winners(look):
            won.setdefault(frozenset((left, right)), (better, look.number))
    if said.verdicts is not None:
        for pair in said.verdicts.pairs:
            if pair.better is not None:
                won.setdefault(frozenset((pair.left, pair.right)), (pair.better, None))
    return won


def _winners(look: LookTaken) -> list[tuple[str, str, str]]:
    """The pairs decided by this look."""
    if look.monitoring is not None and look.monitoring.goal == "ranking":
        names = look.outcome.found
        found = [] if names is None else [item.system for item in names.systems]
        pairs = {f"{a} - {b}": (a, b) for a in found for b in found if a != b}
        return [
            (*pairs[item.what], item.winner)
            for item in look.monitoring.items if item.winner is not None
        ]  # fmt: skip
    if look.verdicts is not None:
        return [
            (pair.left, pair.right, pair.better)
            for pair in look.verdicts.pairs if pair.better is not None
        ]  # fmt: skip
    higher = look.outcome.estimates is not None and look.outcome.estimates.better == "higher"
    return [
        (item.left, item.right, item.left if (item.difference > 0) == higher else item.right)
        for item in tested_differences(look.outcome) if item.decided
    ]  # fmt: skip


def leads_of(said: Statement) -> dict[tuple[str, str], float]:
    """By how much the first system of each pair is better."""
    if isinstance(found := said.outcome.found, Ranking):
        score = {item.system: item.score for item in found.systems}
        return {(a, b): score[a] - score[b] for a, b in combinations(score, 2)}
    higher = isinstance(found, Estimates) and found.better == "higher"
    sign = 1 if higher else -1
    return {
        (item.left, item.right): sign * item.difference for item in tested_differences(said.outcome)
    }


def live_systems(
    said: Statement, past: Sequence[LookTaken], monitoring: Monitoring | None,
    resting: Mapping[str, int],
) -> tuple[LiveSystem, ...]:  # fmt: skip
    """All systems, best first; ranks and clusters rest on verdicts only."""
    found = said.outcome.found
    if found is None:
        return ()
    names = [item.system for item in found.systems]
    place = {name: k for k, name in enumerate(names)}
    won, leads = won_pairs(past, said), leads_of(said)
    rows, lead, certain = [], [], []
    for (a, b), value in leads.items():
        better, _ = won.get(frozenset((a, b)), (None, None))
        rows.append((place[a], place[b]))
        certain.append(better is not None)
        lead.append(value if better is None else abs(value or 1.0) * (1 if better == a else -1))
    order = order_of_differences(
        len(names), np.array(rows, dtype=np.int64).reshape(-1, 2), np.array(lead, dtype=float),
        np.array(certain, dtype=bool),
    )  # fmt: skip
    used = said.used or Counter()
    shown = [
        LiveSystem(
            system=name, rank=int(order.rank[k]), low_rank=int(order.low[k]),
            high_rank=int(order.high[k]), cluster=int(order.cluster[k]), answers=used[name],
            rests_since=resting.get(name), **_score(said, name),
        )
        for k, name in enumerate(names)
    ]  # fmt: skip
    return tuple(sorted(shown, key=lambda item: (item.cluster, item.rank)))


def _score(said: Statement, name: str) -> dict[str, Any]:
    """The score of one system, with its intervals."""
    outcome = said.outcome
    if outcome.estimates is not None:
        own = next(item for item in outcome.estimates.systems if item.system == name)
        alone = None
        if said.answers is not None:
            alone = next(item for item in said.answers.systems if item.system == name)
        return {
            "estimate": own.estimate, "low": own.low, "high": own.high, "n": own.n,
            "basis": own.basis,
            "answers_low": None if alone is None else alone.low,
            "answers_high": None if alone is None else alone.high,
        }  # fmt: skip
    if outcome.ranking is not None:
        rank = next(item for item in outcome.ranking.systems if item.system == name)
        return {
            "estimate": rank.score,
            "low": None,
            "high": None,
            "n": (said.used or Counter())[name],
        }
    assert outcome.effort is not None
    edited = next(item for item in outcome.effort.systems if item.system == name)
    level = edited.measures[_followed(outcome.effort)]
    return {
        "estimate": level.mean, "low": level.low, "high": level.high, "n": edited.segments,
    }  # fmt: skip


def live_pairs(
    said: Statement, past: Sequence[LookTaken], monitoring: Monitoring | None, *, at_look: bool,
) -> tuple[LivePair, ...]:  # fmt: skip
    """All pairs with their verdicts, decided ones first."""
    won = won_pairs(past, said)
    seen = {} if monitoring is None else {item.what: item for item in monitoring.items}
    rows = []
    for (a, b), value in leads_of(said).items():
        better, look = won.get(frozenset((a, b)), (None, None))
        left, right = (a, b) if better == a or (better is None and value >= 0) else (b, a)
        own, sign = seen.get(f"{left} - {right}"), 1
        if own is None:
            own, sign = seen.get(f"{right} - {left}"), -1
        gap = low = high = None
        if own is not None:
            gap, (low, high) = sign * own.estimate, sorted((sign * own.low, sign * own.high))
        rows.append(LivePair(
            left, right, gap, low, high, decided=better is not None, look=look,
            orientation=not at_look if own is None else own.orientation,
        ))  # fmt: skip
    return tuple(sorted(rows, key=lambda item: (not item.decided, item.look or 0)))
