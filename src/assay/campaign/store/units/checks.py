"""Whether a rater noticed a spoiled copy, or passed the test at the beginning."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, func, insert, select

from assay.campaign.store import schema as s
from assay.campaign.store.reader import newest
from assay.campaign.store.units.base import SERVER, Lease, Record, Unit
from assay.campaign.store.units.people import exclude_rater

PASS_SHARE = 0.7
"""The share of the answers to a test that must lie where they should."""


def judge(unit: Unit, lease: Lease) -> None:
    """Judge a finished task if it is a check or the last of a test.

    A campaign with checks treats every task as one, so that the time of a reply reveals nothing.
    """
    kinds = unit.rules.kinds
    if kinds.isdisjoint(("check", "qualify")):
        return
    task = unit.one(select(s.task).where(s.task.c.id == lease.task))
    assert task is not None
    if task.kind == "qualify":
        _judge_test(unit, lease)
    elif "check" in kinds:
        _judge_check(unit, lease, task)


def _judge_check(unit: Unit, lease: Lease, task: Record) -> None:
    """A check is passed if the spoiled copy scores worse than the output itself."""
    parent = task.id if task.parent is None else task.parent
    genuine = unit.one(
        select(s.lease).where(s.lease.c.task == parent, s.lease.c.rater == lease.rater)
    )
    assert genuine is not None
    before, after = _scores(unit, genuine.id), _scores(unit, lease.id)
    sign = -1 if unit.rules.protocol.better == "lower" else 1
    spoiled = unit.all(select(s.slot).where(s.slot.c.task == task.id, s.slot.c.spoiled))
    unit.db.execute(delete(s.check_result).where(s.check_result.c.lease == lease.id))
    results = []
    for slot in spoiled:
        own = after.get((slot.shown_as, slot.place))
        other = before.get((slot.shown_as, slot.place))
        passed = None if own is None or other is None else bool(sign * own < sign * other)
        results.append({
            "lease": lease.id, "system": slot.system, "place": slot.place, "passed": passed,
            "at": unit.now,
        })  # fmt: skip
    if results:
        unit.db.execute(insert(s.check_result), results)
    _stop_careless(unit, lease.rater)


def _scores(unit: Unit, lease: str) -> dict[tuple[int | None, int], float]:
    """Return the mean score of every output of a task, from the latest revisions."""
    rows = unit.all(
        select(s.shown.c.system, s.answer.c.place, s.answer.c.scores)
        .join(s.sent, s.sent.c.id == s.answer.c.sent)
        .join(s.shown, (s.shown.c.lease == s.sent.c.lease) & (s.shown.c.code == s.answer.c.code))
        .where(s.sent.c.lease == lease, s.sent.c.id.in_(newest(lease)))
    )
    return {
        (row.system, row.place): sum(row.scores.values()) / len(row.scores)
        for row in rows
        if row.scores
    }


def _stop_careless(unit: Unit, rater: int) -> None:
    """Exclude a rater who failed as many checks as the settings allow."""
    most = unit.rules.settings.checks.block_after
    if most is None:
        return
    failed = unit.count(
        select(func.count())
        .select_from(s.check_result)
        .join(s.lease, s.lease.c.id == s.check_result.c.lease)
        .where(s.lease.c.rater == rater, s.check_result.c.passed.is_(False))
    )
    if failed >= most:
        exclude_rater(unit, rater, f"failed {failed} checks", SERVER)


def _judge_test(unit: Unit, lease: Lease) -> None:
    """Exclude a rater who fails the test."""
    left = (
        select(s.task.c.id)
        .outerjoin(s.lease, (s.lease.c.task == s.task.c.id) & (s.lease.c.rater == lease.rater))
        .where(s.task.c.kind == "qualify", s.lease.c.id.is_(None) | (s.lease.c.state != "done"))
    )
    if unit.one(left) is not None:
        return
    rows = unit.all(
        select(s.task.c.body, s.answer.c.scores)
        .join(s.lease, s.lease.c.task == s.task.c.id)
        .join(s.sent, s.sent.c.lease == s.lease.c.id)
        .join(s.answer, s.answer.c.sent == s.sent.c.id)
        .where(
            s.task.c.kind == "qualify", s.lease.c.rater == lease.rater,
            s.sent.c.id.in_(newest()),
        )
    )  # fmt: skip
    right = [_fits(row) for row in rows]
    unit.note(SERVER, "tested", lease.rater, right=sum(right), of=len(right))
    if sum(right) < PASS_SHARE * len(right):
        exclude_rater(unit, lease.rater, "did not pass the test", SERVER)


def _fits(row: Any) -> bool:
    if not row.scores:
        return False
    score = sum(row.scores.values()) / len(row.scores)
    return bool(row.body["low"] <= score <= row.body["high"])
