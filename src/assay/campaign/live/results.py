"""The results of a campaign: planned looks, each taken once, and provisional numbers between."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assay._version import __version__
from assay.campaign.campaign import Campaign
from assay.campaign.live.outcome import (
    Statement,
    costs_of,
    estimate_of,
    first_scale,
    live_pairs,
    live_systems,
    monitor_of,
    outcome_of,
    tested_differences,
)
from assay.campaign.live.plan import (
    Beginning,
    LivePlan,
    beginning_of,
    how_collected,
    judgments_of,
    make_plan,
    ratings_of,
    reached_at,
    scales_of,
)
from assay.campaign.records import Collected, LookSeen
from assay.campaign.store import looking
from assay.campaign.store.clock import iso
from assay.campaign.store.collected import KnownAnswers, read_answers
from assay.campaign.store.looking import TaskState
from assay.collecting.live import CampaignResults, LeftOut, LookTaken, NextLook, Outcome
from assay.collecting.status import OpenPair
from assay.errors import AssayError
from assay.estimation.estimate import ratings_to_decide
from assay.estimation.monitor import Monitoring
from assay.estimation.raters import RaterReport, RaterSummary, rater_report
from assay.estimation.results import Difference, Estimates
from assay.project.settings import Stop
from assay.ranking.next import next_sets
from assay.results import Note, from_plain, money_text, plain, plural

SETS_READY = 64
"""Sets kept ready to be shown, one per screen."""


@dataclass(frozen=True)
class Live:
    """A campaign with its plan, for computing results repeatedly."""

    campaign: Campaign
    plan: LivePlan
    seed: int
    looks: list[LookTaken] = field(default_factory=list)
    """The looks taken, as far as they have been read."""
    answers: KnownAnswers = field(default_factory=dict)
    """Those that were read before: only new ones are read again."""


def follow_campaign(campaign: Campaign) -> Live:
    """Read what does not change during a campaign."""
    with campaign.moment() as db:
        tasks = looking.read_order(db)
        answers: KnownAnswers = {}
        plan = make_plan(read_answers(db, known=answers), tasks, campaign.settings)
    return Live(campaign, plan, campaign.rules.seed, answers=answers)


@dataclass(frozen=True, slots=True)
class DueLook:
    """A computed look that is not stored yet."""

    taken: LookTaken
    at: int
    seen: LookSeen
    rest: tuple[str, ...]

    def stored(self) -> dict[str, Any]:
        """The look in the form that is stored."""
        taken = self.taken
        return {
            "number": taken.number, "n": taken.n, "at": self.at,
            "result": plain(taken, infinite=True),
            "seen": {"sent": sorted(self.seen.sent), "excluded": sorted(self.seen.excluded)},
            "verdict": {"decided": taken.decided, "pairs": taken.pairs, "met": taken.met},
            "rest": list(self.rest),
        }  # fmt: skip


def bring_up_to_date(campaign: Campaign, live: Live | None = None) -> CampaignResults:
    """Take and store every look that is due, and the result if it has changed."""
    live = live or follow_campaign(campaign)
    while (due := next_due(live)) is not None:
        campaign.keep_look(due.stored())
    basis, known = basis_of(live), campaign.results()
    with campaign.moment() as db:
        row = looking.read_live(db)
    if known is not None and row is not None and row.basis == basis:
        return known
    found = compute(live)
    campaign.keep_results(basis, json.dumps(found.to_dict()), sets_to_show(live))
    return found


def basis_of(live: Live) -> str:
    """All that the result depends on: the beginning, its answers, and decisions of people."""
    with live.campaign.moment() as db:
        far = beginning_of(looking.read_states(db, live.plan.tasks))
        return f"{__version__}:{far.tasks}:{far.with_excluded}:{looking.read_changes(db)}"


def sets_to_show(live: Live) -> list[list[str]] | None:
    """The sets of systems to show next, if all judgments so far choose them; else None."""
    screen = live.plan.settings.screen
    if live.plan.kind != "judgments" or screen.sets == "planned":
        return None
    with live.campaign.moment() as db:
        judgments = judgments_of(read_answers(db, known=live.answers))
    size = next(iter(task.outputs for task in live.plan.tasks), 2)
    number = 0 if judgments is None else len(judgments)
    found = next_sets(
        judgments, goal=screen.sets, systems=live.plan.test_set.systems, per_set=size,
        count=SETS_READY, rng=np.random.default_rng((live.seed, number)),
    )  # fmt: skip
    return [list(names) for names in found.sets]


# --- looks ---------------------------------------------------------------------------------------


def next_due(live: Live) -> DueLook | None:
    """Compute the next planned look as of the time it was due; None if it is not due."""
    plan = live.plan
    with live.campaign.moment() as db:
        past = _past(live, db)
        if len(past) >= len(plan.sizes):
            return None
        number, n = len(past) + 1, plan.sizes[len(past)]
        tasks = plan.tasks_for(n)
        states = looking.read_states(db, plan.tasks)
        if beginning_of(states).tasks < tasks:
            return None
        at = reached_at(states, tasks)
        seen = looking.read_seen(db, [task.task for task in plan.tasks[:tasks]], at)
        collected = read_answers(db, seen, live.answers)
        out = tuple(item["rater"] for item in looking.read_left_out(db))
        rule = looking.read_rule(db, plan.settings.stop)
    said = outcome_of(plan, collected, live.seed)
    before = past[-1].monitoring if past else None
    monitoring, _ = monitor_of(plan, said.ratings, before, rule.target)
    decided, pairs, met = _verdict(plan, said, monitoring)
    met &= rule.goal != "budget" or n == plan.total
    taken = LookTaken(
        number=number, n=n, at=iso(at), answers=len(_numbers(collected)), decided=decided,
        pairs=pairs, limit=_limit(monitoring, number), met=met, excluded=out,
        outcome=said.outcome, monitoring=monitoring, verdicts=said.verdicts,
    )  # fmt: skip
    rests = plan.settings.stop.rest == "decided" and monitoring is not None and not met
    return DueLook(taken, at, seen, monitoring.rest if rests and monitoring is not None else ())


def _past(live: Live, db: Any) -> list[LookTaken]:
    """The looks taken; each is read once."""
    for row in looking.read_looks(db, after=len(live.looks)):
        live.looks.append(from_plain(row.result, LookTaken, "the look"))
    return list(live.looks)


def _numbers(collected: Collected) -> set[int]:
    """The numbers of the answers that count."""
    return {item.number for item in collected.answers if not item.excluded}


def _limit(monitoring: Monitoring | None, number: int) -> float | None:
    if monitoring is None or len(monitoring.limits) < number:
        return None
    return monitoring.limits[number - 1]


def _verdict(
    plan: LivePlan, said: Statement, monitoring: Monitoring | None
) -> tuple[int, int, bool]:
    """How many pairs (or scores) are decided, of how many, and whether that meets the goal."""
    if monitoring is not None:
        reached = sum(item.reached is not None for item in monitoring.items)
        return reached, len(monitoring.items), reached == len(monitoring.items)
    systems = len(plan.test_set.systems)
    pairs = systems * (systems - 1) // 2
    if said.verdicts is not None:
        return said.verdicts.decided, pairs, said.verdicts.stop
    decided = sum(item.decided for item in tested_differences(said.outcome))
    return decided, pairs, bool(pairs) and decided == pairs


# --- the newest result ---------------------------------------------------------------------------


def compute(live: Live) -> CampaignResults:
    """Compute the current result."""
    plan = live.plan
    with live.campaign.moment() as db:
        now = live.campaign.clock.now()
        states = looking.read_states(db, plan.tasks)
        past, resting = _past(live, db), looking.read_resting(db)
        left_out = looking.read_left_out(db)
        collected = read_answers(db, known=live.answers)
        rule = looking.read_rule(db, plan.settings.stop)
        how = how_collected(plan, rule, db, collected)
    far = beginning_of(states)
    n = int(plan.ends[far.with_excluded])
    inside = {task.task for task in plan.tasks[: far.with_excluded]}
    ours = [item for item in collected.answers if item.task in inside and item.kind == "rate"]
    used = replace(collected, answers=tuple(ours))
    said = outcome_of(plan, used, live.seed)
    at_look = bool(past) and past[-1].n == n and far.tasks == far.with_excluded
    monitoring, notes = _watched(plan, past, far, used, said, rule.target)
    met = _goal_met(past, rule, plan.total)
    later = tuple(
        item for item in collected.answers if item.kind == "rate" and item.task not in inside
    )
    waiting = _numbers(replace(collected, answers=later))
    found = CampaignResults(
        name=plan.settings.name, as_of=iso(now), collects=plan.kind, goal=rule.goal,
        level=rule.level, tasks=len(plan.tasks), beginning=far.with_excluded, n=n,
        total=plan.total, used=len(_numbers(used)), waiting=len(waiting), planned=plan.sizes,
        looks=tuple(past), next_look=_next_look(plan, met, len(past), states),
        redo=_unfinished(plan, states[: far.with_excluded])[1], orientation=not at_look,
        outcome=said.outcome,
        systems=live_systems(said, past, monitoring, resting),
        pairs=live_pairs(said, past, monitoring, at_look=at_look), monitoring=monitoring,
        verdicts=said.verdicts, by_scale=_other_scales(plan, used),
        raters=_raters(plan, collected),
        left_out=_left_out(plan, left_out, collected),
        everybody=_with_everybody(live, used) if left_out else None,
        goal_met=met, how=how,
        pay=costs_of(plan), notes=(*notes, *said.notes),
    )  # fmt: skip
    return _with_prices(found)


def _goal_met(past: Sequence[LookTaken], rule: Stop, total: int) -> int | None:
    """The number of the look that reached the goal of the current rule."""
    found = [look for look in past if look.met and (rule.goal != "budget" or look.n == total)]
    return found[0].number if found else None


def _watched(
    plan: LivePlan, past: Sequence[LookTaken], far: Beginning, used: Collected, said: Statement,
    target: float | None,
) -> tuple[Monitoring | None, tuple[Note, ...]]:  # fmt: skip
    """The monitoring now, or that of the last look if the beginning has become shorter since."""
    before, ratings = past[-1].monitoring if past else None, said.ratings
    if past and far.tasks < plan.tasks_for(past[-1].n):
        return before, ()
    if far.tasks < far.with_excluded:
        inside = {task.task for task in plan.tasks[: far.tasks]}
        kept = tuple(item for item in used.answers if item.task in inside)
        ratings = ratings_of(plan, replace(used, answers=kept), first_scale(plan))
    return monitor_of(plan, ratings, before, target)


def _next_look(
    plan: LivePlan, met: int | None, past: int, states: Sequence[TaskState]
) -> NextLook | None:
    """The next look, and what is missing for it."""
    if past >= len(plan.sizes) or met is not None:
        return None
    n = plan.sizes[past]
    missing = [state.missing for state in states[: plan.tasks_for(n)]]
    # A comparison is one answer, however many outputs are compared.
    outputs = [1 if plan.kind == "judgments" else task.outputs for task in plan.tasks]
    tasks, answers = sum(missing), sum(a * b for a, b in zip(missing, outputs, strict=False))
    pay = costs_of(plan)
    cost = pay.cost(answers)
    if pay.per_task is not None:
        cost = money_text(pay.per_task * tasks, pay.currency)
    open_, lost = _unfinished(plan, states[: plan.tasks_for(n)])
    return NextLook(past + 1, n, open_, tasks, answers, cost, lost)


def _unfinished(plan: LivePlan, states: Sequence[TaskState]) -> tuple[int, int]:
    """Segments (or tasks) that want answers, and those of them that had all until an exclusion."""
    tasks = [pair for pair in zip(plan.tasks, states, strict=False) if pair[1].closed is None]
    if plan.kind != "ratings" or plan.sample is None:
        return len(tasks), sum(state.had for _, state in tasks)
    open_ = {segment for task, _ in tasks for segment in task.segments}
    never = {segment for task, state in tasks if not state.had for segment in task.segments}
    return len(open_), len(open_ - never)


def _other_scales(plan: LivePlan, used: Collected) -> dict[str, Estimates] | None:
    """The scores on the scales that looks do not use."""
    found = {}
    for scale in scales_of(plan)[1:]:
        ratings = ratings_of(plan, used, scale)
        if ratings is not None:
            try:
                found[scale] = estimate_of(plan, ratings)
            except AssayError:
                continue
    return found or None


def _raters(plan: LivePlan, collected: Collected) -> RaterReport | None:
    """The raters who count; excluded ones would distort the agreement and the others' figures."""
    if plan.kind != "ratings":
        return None
    ratings = ratings_of(plan, collected, first_scale(plan))
    if ratings is None or ratings.genuine["score"].null_count() == ratings.genuine.height:
        return None
    try:
        return rater_report(plan.test_set, ratings)
    except AssayError:
        return None


def _left_out(
    plan: LivePlan, rows: Sequence[Mapping[str, Any]], collected: Collected
) -> tuple[LeftOut, ...]:
    counted = Counter({item.number: item.rater for item in collected.answers}.values())
    return tuple(
        LeftOut(
            row["rater"], iso(row["at"]), row["actor"], row["reason"], counted[row["rater"]],
            _summary_of(plan, collected, row["rater"]),
        )
        for row in rows
    )  # fmt: skip


def _summary_of(plan: LivePlan, collected: Collected, rater: str) -> RaterSummary | None:
    """An excluded rater measured against those who count."""
    report = _raters(plan, _including(collected, {rater}))
    found = () if report is None else report.raters
    return next((item for item in found if item.rater == rater), None)


def _with_everybody(live: Live, used: Collected) -> Outcome:
    """The outcome with the answers of excluded raters too."""
    everybody = {item.rater for item in used.answers}
    return outcome_of(live.plan, _including(used, everybody), live.seed).outcome


def _including(collected: Collected, raters: Collection[str]) -> Collected:
    """The answers with these raters counted, even if they are excluded."""
    return replace(collected, answers=tuple(
        replace(item, excluded=False) if item.excluded and item.rater in raters else item
        for item in collected.answers
    ))  # fmt: skip


def _needed(item: Difference, estimates: Estimates, found: CampaignResults) -> int | None:
    """The ratings that decide a pair; only a look can, so at least those until the next one."""
    needed, look = ratings_to_decide(item, estimates), found.next_look
    if needed is None or not found.planned or found.verdicts is not None:
        return needed
    return None if look is None else max(needed, look.answers)


def _with_prices(found: CampaignResults) -> CampaignResults:
    """Add the next steps, and the cost of deciding the open pairs."""
    pay, lines = found.pay, []
    undecided: tuple[OpenPair, ...] = ()
    if (estimates := found.outcome.estimates) is not None:
        pay = pay.timed(estimates.paid.seconds_per_rating)
        won = {frozenset((pair.left, pair.right)) for pair in found.pairs if pair.decided}
        open_ = [
            OpenPair(item.left, item.right, item.difference, _needed(item, estimates, found))
            for item in estimates.differences
            if frozenset((item.left, item.right)) not in won
        ]
        open_.sort(key=lambda pair: (pair.ratings is None, pair.ratings or 0))
        undecided = tuple(open_)
    look = found.next_look
    if found.goal_met is not None:
        lines.append(
            f"the goal was reached at look {found.goal_met}: close the campaign, or give a reason"
            " to continue"
        )
    elif look is not None:
        cost = f" ({look.cost})" if look.cost else ""
        lines.append(
            f"look {look.number} of {len(found.planned)} is due at {plural(look.n, found.unit)}:"
            f" {plural(look.answers, 'answer')} in {plural(look.tasks, 'task')} to go{cost}"
        )
    known = [pair.ratings for pair in undecided if pair.ratings]
    if known:
        lines.append(
            "to decide the other pairs that this test set can decide: about"
            f" {pay.counted(max(known))}, for 80% power on each pair"
        )
    return replace(found, undecided=undecided, pay=pay, next=tuple(lines))
