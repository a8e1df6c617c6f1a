"""What a set of answers says about the systems, computed by Assay's public functions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from assay.campaign.live.plan import (
    LivePlan,
    edits_of,
    judgments_of,
    ratings_of,
    scales_of,
)
from assay.campaign.records import Collected
from assay.collecting.live import Outcome
from assay.effort.effort import effort
from assay.errors import AssayError
from assay.estimation.estimate import estimate
from assay.estimation.monitor import Monitoring, monitor
from assay.estimation.results import Estimates
from assay.ranking.monitor import JudgmentsMonitoring, monitor_judgments
from assay.ranking.rank import rank
from assay.results import Costs, Note
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
