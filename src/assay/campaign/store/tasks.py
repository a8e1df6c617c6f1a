"""Handing out tasks: which one a rater gets, holding it, giving it back."""

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

from assay.campaign.assignment import SECONDS_PER_OUTPUT, label, lease_minutes, screens, share_of
from assay.campaign.records import InvalidAnswerError, NotNowError
from assay.campaign.store import schema as s
from assay.campaign.store.clock import iso
from assay.campaign.store.unit import (
    CHANGE_FREE,
    CHANGE_LEASE,
    HELD,
    WHICH,
    Lease,
    Link,
    Rater,
    Record,
    Unit,
    need_running,
)
from assay.campaign.store.views import (
    SLOTS,
    ShownColumn,
    held_systems,
    make_view,
    progress,
    task_reply,
    unfinished,
)

MOST_SAID = 5000
"""Characters of a reason or a problem report."""
DECLINES_TOLD = 2
"""Declines of one task after which the owner is told."""
RECENT, REFRESH_MS = 50, 60_000
MINUTE_MS = 60_000
GAP_AT_END = 2
"""The gap before a second showing when no other task is left."""


def _seen_before() -> ColumnElement[bool]:
    """Whether the rater has had the task."""
    had = s.lease.alias("had")
    own = select(had.c.id).where(had.c.rater == RATER_ID, had.c.task == s.task.c.id)
    return own.exists()


def _first(condition: ColumnElement[bool]) -> Select[Any]:
    """The first task with a free copy, locked until the transaction ends."""
    return (
        select(s.task)
        .where(s.FREE, ~_seen_before(), condition)
        .order_by(s.task.c.position)
        .limit(1)
        .with_for_update(skip_locked=True, of=s.task)
    )


def _seen_text() -> ColumnElement[bool]:
    """Whether the rater has had the same text, from any system."""
    other, had = s.task.alias("other"), s.lease.alias("had_text")
    return (
        select(had.c.id)
        .join(other, other.c.id == had.c.task)
        .where(had.c.rater == RATER_ID, other.c.snippet == s.task.c.snippet)
        .exists()
    )


def _again(gap: Any) -> Select[Any]:
    """A check or repeat that is due: its first showing is far enough back."""
    first = s.lease.alias("first")
    shown = select(first.c.id).where(
        first.c.rater == RATER_ID, first.c.task == s.task.c.parent, first.c.state == "done",
        first.c.number + gap <= bindparam("done"),
    )  # fmt: skip
    return _first(and_(s.task.c.kind.in_(bindparam("kinds", expanding=True)), shown.exists()))


def _later(condition: ColumnElement[bool]) -> tuple[Select[Any], Select[Any]]:
    """A task with a free copy, and one that another rater holds and may give back."""
    wanted = select(s.task.c.id).where(~_seen_before(), condition).limit(1)
    held = wanted.join(s.lease, s.lease.c.task == s.task.c.id).where(s.OPEN)
    return wanted.where(s.FREE).order_by(s.task.c.position), held


AGAIN = ("check", "repeat")
RATER_ID: BindParameter[int] = bindparam("rater")
OF_KIND = and_(
    s.task.c.kind == bindparam("kind"), or_(s.task.c.rater.is_(None), s.task.c.rater == RATER_ID)
)
FREE = _first(OF_KIND)
FREE_TEXT = _first(and_(OF_KIND, ~_seen_text()))
AGAIN_NOW, AGAIN_AT_END = _again(s.task.c.gap), _again(GAP_AT_END)
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
"""The open lease of a rater, else the last one that expired."""
OVERDUE = (
    select(s.lease)
    .where(s.OPEN, s.lease.c.until < bindparam("now"))
    .with_for_update(skip_locked=True)
)
OUTPUTS = select(s.task.c.outputs).where(s.task.c.id == WHICH)
TAKEN = select(s.lease.c.state, s.lease.c.copy).where(s.lease.c.task == WHICH)
ADD_LEASE, ADD_SHOWN = insert(s.lease), insert(s.shown)
LATER, LATER_TEXT = _later(OF_KIND), _later(and_(OF_KIND, ~_seen_text()))
NOTHING: dict[str, Any] = {"sent": [], "drafts": {}}
"""Done so far of a task that a rater has just got."""


def next_task(unit: Unit, link: Link) -> dict[str, Any]:
    """Return a rater's open task, else the first task of the order that they may have."""
    rater = unit.rater(link)
    if (waiting := _not_running(unit, rater)) is not None:
        return waiting
    lease, begun = _own(unit, rater), NOTHING
    if lease is None:
        expire(unit)
        task = choose(unit, rater)
        if task is None:
            return _nothing(unit, rater)
        lease = _open(unit, rater, task)
    else:
        begun = unfinished(unit.db, lease.id)
    return task_reply(unit.db, lease, unit.rules, rater, begun)


def _not_running(unit: Unit, rater: Rater) -> dict[str, Any] | None:
    if rater.campaign == "closed":
        return _reply(unit, rater, "done", "The campaign is closed. Thank you for your work.")
    if rater.campaign == "paused":
        return _reply(unit, rater, "paused", "The organisers have paused the campaign.")
    if rater.campaign == "draft":
        return _reply(unit, rater, "paused", "The campaign has not begun yet.")
    return None


def _reply(unit: Unit, rater: Rater, state: str, message: str) -> dict[str, Any]:
    return {
        "state": state, "campaign": unit.rules.name, "message": message,
        "progress": progress(rater),
    }  # fmt: skip


def _own(unit: Unit, rater: Rater) -> Lease | None:
    """The lease a rater already has, unless its copy went to another rater."""
    row = unit.one(MINE, rater=rater.id)
    if row is None:
        return None
    lease = Lease._make(row)
    if lease.state == "open":
        return _hold(unit, lease)
    copy = unit.free_copy(lease.task)
    if copy is None:
        return None
    return unit.set_lease(_hold(unit, lease), "server", state="open", copy=copy)


def _hold(unit: Unit, lease: Lease) -> Lease:
    """Keep a task for as long again."""
    until = unit.now + _minutes(unit, unit.count(OUTPUTS, which=lease.task))
    unit.db.execute(CHANGE_LEASE, {"which": lease.id, "until": until})
    return lease._replace(until=until)


def expire(unit: Unit) -> int:
    """Expire leases that were held too long; their tasks go out again, whole."""
    rows = unit.all(OVERDUE, now=unit.now)
    for row in rows:
        unit.set_lease(Lease._make(row), "server", state="expired")
    return len(rows)


def choose(unit: Unit, rater: Rater) -> Record | None:
    """Choose the next task for a rater."""
    kinds, who = unit.rules.kinds, {"rater": rater.id}
    if _has_enough(unit, rater):
        return unit.one(FREE, kind="after", **who) if "after" in kinds else None
    for kind in ("before", "tutorial", "qualify"):
        found = unit.one(FREE, kind=kind, **who) if kind in kinds else None
        if found is not None:
            return found
    # The same statements run whatever comes next, so that the time of a reply reveals nothing.
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


def _has_enough(unit: Unit, rater: Rater) -> bool:
    """Whether a rater has reached the limit of tasks or of minutes."""
    minutes = unit.rules.settings.raters.minutes
    by_time = minutes is not None and rater.active_ms >= minutes * MINUTE_MS
    return by_time or (rater.quota is not None and rater.done >= rater.quota)


def _check_due(unit: Unit, rater: Rater) -> bool:
    """Whether a rater has had fewer checks than their share; when the first comes is random."""
    share = share_of("checks.share", unit.rules.settings.checks.share, 0.0)
    ahead = np.random.default_rng(int(rater.completion, 16)).uniform(0.5, 1.0)
    return bool(unit.count(CHECKS_HAD, rater=rater.id) + 1 <= share * rater.done + ahead)


def _reason(unit: Unit, task: Record, states: set[str]) -> str:
    """Why a task is given out now, from the states of its earlier leases."""
    if task.kind != "rate":
        return str(task.kind)
    if states & {"open", "done", "aside"}:
        return "overlap"
    if states:
        return "expired"
    return "order" if unit.rules.settings.screen.sets == "planned" else "adaptive"


def _open(unit: Unit, rater: Rater, task: Record) -> Lease:
    """Give a copy of a task to a rater, with a new order and new codes."""
    taken, slots = unit.all(TAKEN, which=task.id), []
    held = {row.copy for row in taken if row.state in HELD}
    copy = next(number for number in range(task.wanted) if number not in held)
    parts: Sequence[Sequence[int | None]] = [[None]]
    chosen = None
    if task.body is None:
        rng, slots = unforeseen(), unit.all(SLOTS, which=task.id)
        systems, chosen = held_systems(unit, task, slots, rng)
        parts = screens(
            systems, unit.rules.settings.screen.outputs, rng,
            together=unit.rules.protocol.kind == "judgments",
        )  # fmt: skip
    lease = Lease(
        secrets.token_hex(16), task.id, rater.id, copy, "open", unit.now,
        unit.now + _minutes(unit, task.outputs), None, None, len(parts),
        _reason(unit, task, {row.state for row in taken}), task.block_probability,
    )  # fmt: skip
    more = {} if chosen is None else {"chosen": chosen}
    columns = add_lease(unit, lease, parts, f"rater {rater.id}", **more)
    unit.db.execute(CHANGE_FREE, {"which": task.id, "more": -1})
    make_view(unit.db, lease, task, columns, slots, unit.rules)
    return lease


def add_lease(
    unit: Unit, lease: Lease, parts: Sequence[Sequence[int | None]], actor: str, **more: object
) -> list[ShownColumn]:
    """Store a lease and what its screens show, under new codes, and log both."""
    columns = [
        ShownColumn(lease.id, secrets.token_hex(6), system, screen, place, label(place))
        for place, (screen, system) in enumerate(
            (screen, system) for screen, part in enumerate(parts) for system in part
        )
    ]
    shown = [column._asdict() for column in columns]
    unit.db.execute(ADD_LEASE, lease._asdict())
    unit.db.execute(ADD_SHOWN, shown)
    unit.log_lease(lease, actor, shown=shown, **more)
    return columns


def unforeseen() -> np.random.Generator:
    """Return a generator without a known seed, which would reveal every system."""
    return np.random.default_rng(secrets.randbits(128))


def _minutes(unit: Unit, outputs: int) -> int:
    """Milliseconds for which a task of so many outputs may be held."""
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
        usual = unit.rules.settings.pay.seconds_per_rating or SECONDS_PER_OUTPUT
        seconds = median(times) if times else usual
        unit.rules.minutes = (unit.now, seconds)
    return round(lease_minutes(lease, outputs, seconds) * MINUTE_MS)


def may_come(unit: Unit, rater: Rater) -> bool:
    """Whether there is a task for a rater, or there may be when another rater gives one back."""
    if _has_enough(unit, rater):
        return False
    wanted = LATER_TEXT if unit.rules.protocol.kind == "edits" else LATER
    who = {"kind": "rate", "rater": rater.id}
    return any(unit.one(one, **who) is not None for one in wanted)


def _nothing(unit: Unit, rater: Rater) -> dict[str, Any]:
    """Say why a rater gets no task now: others still hold some, or all are done."""
    if _has_enough(unit, rater):
        return _reply(unit, rater, "done", "You have done all the tasks that were planned for you.")
    if may_come(unit, rater):
        return _reply(
            unit, rater, "wait",
            "All tasks are taken at the moment. One may come back: ask again in a few minutes.",
        )  # fmt: skip
    return _reply(unit, rater, "done", "There are no more tasks for you. Thank you for your work.")


def beat(unit: Unit, link: Link, lease_id: str) -> dict[str, Any]:
    """Hold an open task for longer: its rater is working on it."""
    rater = unit.rater(link)
    lease = unit.lease(rater, lease_id)
    need_running(rater.campaign)
    if lease.state == "open":
        lease = _hold(unit, lease)
    return {"until": iso(lease.until), "state": lease.state}


def decline(unit: Unit, link: Link, lease_id: str, reason: str) -> None:
    """Give a task back with a reason; another rater gets it."""
    rater = unit.rater(link)
    lease, actor = unit.lease(rater, lease_id), f"rater {rater.id}"
    need_running(rater.campaign)
    _need_words("reason", reason)
    if lease.state == "declined":
        return
    if lease.state != "open":
        raise NotNowError("this task is not open any more; reload the page")
    unit.set_lease(lease, actor, state="declined", closed=unit.now)
    unit.db.execute(delete(s.draft).where(s.draft.c.lease == lease_id))
    count = s.task.c.declined + 1
    unit.db.execute(update(s.task).where(s.task.c.id == lease.task).values(declined=count))
    unit.note(actor, "declined", lease.task, lease=lease_id, reason=reason)
    declined = unit.count(select(s.task.c.declined).where(s.task.c.id == lease.task))
    if declined == DECLINES_TOLD:
        unit.note("server", "told", lease.task, what="declined by two raters", reason=reason)


def problem(unit: Unit, link: Link, lease_id: str, text: str) -> None:
    """Something is wrong with what is shown; the owner reads it."""
    rater = unit.rater(link)
    lease = unit.lease(rater, lease_id)
    need_running(rater.campaign)
    _need_words("text", text)
    unit.note(f"rater {rater.id}", "problem", lease.task, lease=lease_id, text=text)


def _need_words(name: str, text: object) -> None:
    if not isinstance(text, str) or not text.strip() or len(text) > MOST_SAID:
        raise InvalidAnswerError([(name, f"say what is wrong in 1 to {MOST_SAID} characters")])
