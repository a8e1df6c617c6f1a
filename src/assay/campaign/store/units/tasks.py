"""Handing out work: which task a rater gets, keeping it, giving it back."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from assay.campaign.assignment.leases import SECONDS_PER_OUTPUT, label, lease_minutes, screens
from assay.campaign.assignment.order import share_of
from assay.campaign.records import InvalidAnswerError, NotNowError
from assay.campaign.store import schema as s
from assay.campaign.store.clock import iso
from assay.campaign.store.units.base import LEASE, WHICH, Record, Unit
from assay.campaign.store.units.holding import held_systems
from assay.campaign.store.views import progress, task_reply

MOST_SAID = 5000
"""Characters of a reason, or of what is wrong."""
TOLD_AFTER = 2
"""So many raters declined a task: the owner is told."""
RECENT, REFRESH_MS = 50, 60_000
MINUTE = 60_000
AT_END = 2
"""Least distance of a second showing when nothing else is left."""


def _seen_before() -> ColumnElement[bool]:
    """Whether a rater has had the task."""
    had = s.lease.alias("had")
    own = select(had.c.id).where(had.c.rater == RATER_ID, had.c.task == s.task.c.id)
    return own.exists()


def _first(condition: ColumnElement[bool]) -> Select[Any]:
    """The first task with a free copy; nobody else gets it until the transaction ends."""
    return (
        select(s.task)
        .where(s.FREE, ~_seen_before(), condition)
        .order_by(s.task.c.position)
        .limit(1)
        .with_for_update(skip_locked=True, of=s.task)
    )


def _seen_text() -> ColumnElement[bool]:
    """Whether a rater has had the same text, from whichever system."""
    other, had = s.task.alias("other"), s.lease.alias("had_text")
    return (
        select(had.c.id)
        .join(other, other.c.id == had.c.task)
        .where(had.c.rater == RATER_ID, other.c.snippet == s.task.c.snippet)
        .exists()
    )


def _again(gap: Any) -> Select[Any]:
    """A check or repeat whose time has come: its first showing is far enough back."""
    first = s.lease.alias("first")
    shown = select(first.c.id).where(
        first.c.rater == RATER_ID, first.c.task == s.task.c.parent, first.c.state == "done",
        first.c.number + gap <= bindparam("done"),
    )  # fmt: skip
    return _first(and_(s.task.c.kind.in_(bindparam("kinds", expanding=True)), shown.exists()))


def _later(condition: ColumnElement[bool]) -> Select[Any]:
    """A task that somebody else holds, or that another transaction is about to give out."""
    held = select(s.lease.c.id).where(s.OPEN, s.lease.c.task == s.task.c.id).exists()
    return select(s.task.c.id).where(~_seen_before(), or_(s.FREE, held), condition).limit(1)


AGAIN = ("check", "repeat")
RATER_ID: BindParameter[int] = bindparam("rater")
OF_KIND = and_(
    s.task.c.kind == bindparam("kind"), or_(s.task.c.rater.is_(None), s.task.c.rater == RATER_ID)
)
FREE = _first(OF_KIND)
FREE_TEXT = _first(and_(OF_KIND, ~_seen_text()))
AGAIN_NOW, AGAIN_AT_END = _again(s.task.c.gap), _again(AT_END)
CHECKS_HAD = (
    select(func.count())
    .select_from(s.lease)
    .join(s.task, s.task.c.id == s.lease.c.task)
    .where(s.lease.c.rater == RATER_ID, s.task.c.kind == "check")
)
MINE = (
    select(s.lease)
    .where(s.lease.c.rater == RATER_ID, s.lease.c.state.in_(("open", "expired")))
    .order_by(s.lease.c.state.desc(), s.lease.c.until.desc())
    .limit(1)
    .with_for_update()
)
"""The open task of a rater, else the last that was taken back from them."""
OVERDUE = (
    select(s.lease)
    .where(s.OPEN, s.lease.c.until < bindparam("now"))
    .with_for_update(skip_locked=True)
)
OUTPUTS = select(s.task.c.outputs).where(s.task.c.id == WHICH)
TAKEN = select(s.lease.c.state, s.lease.c.copy).where(s.lease.c.task == WHICH)
HOLD = update(s.lease).where(s.lease.c.id == WHICH).values(until=bindparam("later"))
ADD_LEASE, ADD_SHOWN = insert(s.lease), insert(s.shown)
MAY_COME, MAY_COME_TEXT = _later(OF_KIND), _later(and_(OF_KIND, ~_seen_text()))


def next_task(unit: Unit, rater_id: int) -> dict[str, Any]:
    """What a rater does next: their open task, else the first one of the order for them."""
    rater = unit.rater(rater_id)
    if (waiting := _not_running(unit, rater)) is not None:
        return waiting
    lease = _own(unit, rater_id)
    if lease is None:
        expire(unit)
        task = choose(unit, rater)
        if task is None:
            return _nothing(unit, rater)
        lease = _open(unit, rater, task)
    return task_reply(unit.db, lease, unit.rules, rater)


def _not_running(unit: Unit, rater: Record) -> dict[str, Any] | None:
    state = unit.state
    if state == "closed":
        return _reply(unit, rater, "done", "The campaign is closed. Thank you for your work.")
    if state == "paused":
        return _reply(unit, rater, "paused", "The organisers have paused the campaign.")
    if state == "draft":
        return _reply(unit, rater, "paused", "The campaign has not begun yet.")
    return None


def _reply(unit: Unit, rater: Record, state: str, message: str) -> dict[str, Any]:
    return {
        "state": state, "campaign": unit.rules.name, "message": message,
        "progress": progress(rater),
    }  # fmt: skip


def _own(unit: Unit, rater: int) -> Record | None:
    """The lease a rater already has, for as long as nobody else took its copy."""
    found = unit.one(MINE, rater=rater)
    if found is None:
        return None
    if found.state == "open":
        _hold(unit, found)
        return unit.one(LEASE, which=found.id)
    copy = unit.free_copy(found.task)
    if copy is None:
        return None
    _hold(unit, found)
    return unit.set_lease(found, "server", state="open", copy=copy)


def _hold(unit: Unit, lease: Record) -> int:
    """Keep a task for as long again; until when."""
    later = unit.now + _minutes(unit, unit.count(OUTPUTS, which=lease.task))
    unit.db.execute(HOLD, {"which": lease.id, "later": later})
    return later


def expire(unit: Unit) -> int:
    """Take back what was held for too long; the task goes out again, whole."""
    rows = unit.all(OVERDUE, now=unit.now)
    for row in rows:
        unit.set_lease(row, "server", state="expired")
    return len(rows)


def choose(unit: Unit, rater: Record) -> Record | None:
    """The task that a rater gets."""
    kinds, who = unit.rules.kinds, {"rater": rater.id}
    if _has_enough(unit, rater):
        return unit.one(FREE, kind="after", **who) if "after" in kinds else None
    for kind in ("before", "tutorial", "qualify"):
        found = unit.one(FREE, kind=kind, **who) if kind in kinds else None
        if found is not None:
            return found
    # The same is asked whatever comes next, so that the time of a reply does not tell.
    again, due = None, []
    if not kinds.isdisjoint(AGAIN):
        due = [kind for kind in AGAIN if kind != "check" or _check_due(unit, rater)]
        again = unit.one(AGAIN_NOW, done=rater.done, kinds=due, **who)
    wanted = FREE_TEXT if unit.rules.protocol.kind == "edits" else FREE
    new = unit.one(wanted, kind="rate", **who)
    found = again if again is not None else new
    if found is None and due:
        found = unit.one(AGAIN_AT_END, done=rater.done, kinds=due, **who)
    if found is None and "after" in kinds and not may_come(unit, rater):
        found = unit.one(FREE, kind="after", **who)
    return found


def _has_enough(unit: Unit, rater: Record) -> bool:
    """Whether a rater has done as many tasks, or worked as long, as one may."""
    minutes = unit.rules.settings.raters.minutes
    by_time = minutes is not None and rater.active_ms >= minutes * MINUTE
    return by_time or (rater.quota is not None and rater.done >= rater.quota)


def _check_due(unit: Unit, rater: Record) -> bool:
    """Whether a rater has met fewer checks than their share; how soon the first comes is drawn."""
    share = share_of("checks.share", unit.rules.settings.checks.share, 0.0)
    ahead = np.random.default_rng(int(rater.completion, 16)).uniform(0.5, 1.0)
    return bool(unit.count(CHECKS_HAD, rater=rater.id) + 1 <= share * rater.done + ahead)


def _reason(unit: Unit, task: Record, states: set[str]) -> str:
    """Why a task is given out now, by the states of the leases that it has had."""
    if task.kind != "rate":
        return str(task.kind)
    if states & {"open", "done", "aside"}:
        return "overlap"
    if states:
        return "expired"
    return "order" if unit.rules.settings.screen.sets == "planned" else "adaptive"


def _open(unit: Unit, rater: Record, task: Record) -> Record:
    """Give a copy of a task to a rater, with an order and codes of its own."""
    taken = unit.all(TAKEN, which=task.id)
    held = {row.copy for row in taken if row.state in ("open", "done")}
    copy = next(number for number in range(task.wanted) if number not in held)
    lease = secrets.token_hex(16)
    reason = _reason(unit, task, {row.state for row in taken})
    parts: Sequence[Sequence[int | None]] = [[None]]
    chosen = None
    if task.body is None:
        rng = unforeseen()
        systems, chosen = held_systems(unit, task, rng)
        parts = screens(
            systems, unit.rules.settings.screen.outputs, rng,
            together=unit.rules.protocol.kind == "judgments",
        )  # fmt: skip
    unit.db.execute(ADD_LEASE, {
        "id": lease, "task": task.id, "rater": rater.id, "copy": copy, "state": "open",
        "opened": unit.now, "until": unit.now + _minutes(unit, task.outputs),
        "screens": len(parts), "reason": reason, "probability": task.block_probability,
    })  # fmt: skip
    columns = [
        {"lease": lease, "code": code, "system": system, "screen": screen}
        for screen, part in enumerate(parts)
        for code, system in zip(_codes(len(part)), part, strict=True)
    ]
    for place, column in enumerate(columns):
        column |= {"place": place, "label": label(place)}
    unit.db.execute(ADD_SHOWN, columns)
    more = {} if chosen is None else {"chosen": chosen}
    return unit.log_lease(lease, f"rater {rater.id}", shown=columns, **more)


def unforeseen() -> np.random.Generator:
    """Random numbers without a seed: who learned or guessed it would know every system."""
    return np.random.default_rng(secrets.randbits(128))


def _codes(count: int) -> list[str]:
    return [secrets.token_hex(6) for _ in range(count)]


def _minutes(unit: Unit, outputs: int) -> int:
    """Milliseconds that a task of so many outputs may be held."""
    computed, seconds = unit.rules.minutes
    lease = unit.rules.settings.raters.lease
    if lease == "auto" and (not seconds or unit.now - computed > REFRESH_MS):
        done = (
            select(s.lease.c.opened, s.lease.c.closed, s.task.c.outputs)
            .join(s.task, s.task.c.id == s.lease.c.task)
            .where(s.lease.c.state == "done")
            .order_by(s.lease.c.closed.desc())
            .limit(RECENT)
        )
        times = [(row.closed - row.opened) / 1000 / row.outputs for row in unit.all(done)]
        seconds = median(times) if times else _expected_seconds(unit)
        unit.rules.minutes = (unit.now, seconds)
    return round(lease_minutes(lease, outputs, seconds) * MINUTE)


def _expected_seconds(unit: Unit) -> float:
    return unit.rules.settings.pay.seconds_per_rating or SECONDS_PER_OUTPUT


def may_come(unit: Unit, rater: Record) -> bool:
    """Whether a rater for whom there is nothing now may get something later."""
    if _has_enough(unit, rater):
        return False
    wanted = MAY_COME_TEXT if unit.rules.protocol.kind == "edits" else MAY_COME
    return unit.one(wanted, kind="rate", rater=rater.id) is not None


def _nothing(unit: Unit, rater: Record) -> dict[str, Any]:
    """Why there is nothing for a rater now: others still work, or all is done."""
    if _has_enough(unit, rater):
        return _reply(unit, rater, "done", "You have done all the tasks that were planned for you.")
    if may_come(unit, rater):
        return _reply(
            unit, rater, "wait",
            "All tasks are taken at the moment. One may come back: ask again in a few minutes.",
        )  # fmt: skip
    return _reply(unit, rater, "done", "There are no more tasks for you. Thank you for your work.")


def beat(unit: Unit, rater_id: int, lease_id: str) -> dict[str, Any]:
    """Hold an open task for longer: somebody is working on it."""
    unit.rater(rater_id)
    lease = unit.lease(rater_id, lease_id)
    unit.need_running()
    until = lease.until
    if lease.state == "open":
        until = _hold(unit, lease)
    return {"until": iso(until), "state": lease.state}


def decline(unit: Unit, rater_id: int, lease_id: str, reason: str) -> None:
    """Give a task back with a reason; somebody else gets it."""
    unit.rater(rater_id)
    lease = unit.lease(rater_id, lease_id)
    unit.need_running()
    _need_words("reason", reason)
    if lease.state == "declined":
        return
    if lease.state != "open":
        raise NotNowError("this task is not open any more; reload the page")
    unit.set_lease(lease, f"rater {rater_id}", state="declined", closed=unit.now)
    unit.db.execute(delete(s.draft).where(s.draft.c.lease == lease_id))
    count = s.task.c.declined + 1
    unit.db.execute(update(s.task).where(s.task.c.id == lease.task).values(declined=count))
    unit.note(f"rater {rater_id}", "declined", lease.task, lease=lease_id, reason=reason)
    declined = unit.count(select(s.task.c.declined).where(s.task.c.id == lease.task))
    if declined == TOLD_AFTER:
        unit.note("server", "told", lease.task, what="declined by two raters", reason=reason)


def problem(unit: Unit, rater_id: int, lease_id: str, text: str) -> None:
    """Something is wrong with what is shown; the owner reads it."""
    unit.rater(rater_id)
    lease = unit.lease(rater_id, lease_id)
    unit.need_running()
    _need_words("text", text)
    unit.note(f"rater {rater_id}", "problem", lease.task, lease=lease_id, text=text)


def _need_words(name: str, text: object) -> None:
    if not isinstance(text, str) or not text.strip() or len(text) > MOST_SAID:
        raise InvalidAnswerError([(name, f"say what is wrong in 1 to {MOST_SAID} characters")])
