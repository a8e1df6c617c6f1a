"""What results read from a store and leave there: how far the order is complete, looks, results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from assay.campaign.records import LookSeen
from assay.campaign.store import schema as s
from assay.campaign.store.collected import newest
from assay.campaign.store.unit import SERVER, Unit
from assay.campaign.store.views import drop_resting
from assay.project.settings import Stop


@dataclass(frozen=True, slots=True)
class PlacedTask:
    """A task of the order: its outputs, and its segments by their places in the test set."""

    task: int
    outputs: int
    segments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TaskState:
    """How far a task is.

    ``closed`` is when the last wanted rater finished it, None while some are ``missing``. ``had``
    says whether it would be complete if no rater had been excluded since.
    """

    closed: int | None
    had: bool
    missing: int


def read_order(db: Connection) -> list[PlacedTask]:
    """Read the tasks in their order, without second showings and lessons."""
    segments: dict[int, list[int]] = defaultdict(list)
    for task, segment in db.execute(select(s.slot.c.task, s.slot.c.segment).distinct()):
        segments[task].append(segment)
    rows = db.execute(
        select(s.task.c.id, s.task.c.outputs)
        .where(s.task.c.kind == "rate")
        .order_by(s.task.c.position)
    )
    return [PlacedTask(row.id, row.outputs, tuple(sorted(segments[row.id]))) for row in rows]


def read_states(db: Connection, order: Collection[PlacedTask]) -> list[TaskState]:
    """Read how far every task is."""
    closed: dict[int, list[int]] = defaultdict(list)
    aside: dict[int, int] = defaultdict(int)
    ended = s.lease.c.state.in_(("done", "aside"))
    for row in db.execute(select(s.lease.c.task, s.lease.c.state, s.lease.c.closed).where(ended)):
        if row.state == "done":
            closed[row.task].append(row.closed)
        else:
            aside[row.task] += 1
    wanted = {row.id: row.wanted for row in db.execute(select(s.task.c.id, s.task.c.wanted))}
    return [
        TaskState(
            max(closed[one.task], default=0) if len(closed[one.task]) >= wanted[one.task] else None,
            len(closed[one.task]) + aside[one.task] >= wanted[one.task],
            max(wanted[one.task] - len(closed[one.task]), 0),
        )
        for one in order
    ]


def read_mark(db: Connection) -> str:
    """Return a mark that changes when something is sent or decided."""
    last_sent = db.execute(select(func.max(s.sent.c.id))).scalar() or 0
    return f"{last_sent}:{_decided(db)}"


def read_changes(db: Connection) -> str:
    """Return a mark that changes when an answer is revised or something is decided."""
    revised = db.execute(select(func.count()).where(s.sent.c.revision > 1)).scalar() or 0
    return f"{revised}:{_decided(db)}"


def read_state(db: Connection) -> str:
    """Read the state of the campaign: draft, open, paused or closed."""
    return str(db.execute(select(s.campaign.c.state)).scalar_one())


def read_rule(db: Connection, planned: Stop) -> Stop:
    """Read the current stopping rule: the planned one, or its last change."""
    changes = select(s.event.c.body).where(s.event.c.kind == "rule")
    last = db.execute(changes.order_by(s.event.c.id.desc()).limit(1)).scalar()
    return planned if last is None else replace(planned, goal=last["goal"], target=last["target"])


def _decided(db: Connection) -> int:
    """Return the last event that changes which answers count."""
    kinds = ("excluded", "restored", "forgotten", "look", "state", "rule")
    decided = select(func.max(s.event.c.id)).where(s.event.c.kind.in_(kinds))
    return db.execute(decided).scalar() or 0


def read_seen(db: Connection, tasks: Collection[int], until: int) -> LookSeen:
    """Read what had been sent for these tasks by then, the latest of every screen."""
    own = (
        select(s.sent.c.id, s.lease.c.task)
        .join(s.lease, s.lease.c.id == s.sent.c.lease)
        .where(s.sent.c.id.in_(newest().where(s.sent.c.at <= until)))
    )
    wanted = set(tasks)
    sent = frozenset(row.id for row in db.execute(own) if row.task in wanted)
    out = db.execute(select(s.rater.c.id).where(s.rater.c.state != "active")).scalars()
    return LookSeen(sent, frozenset(out))


def read_looks(db: Connection, after: int = 0) -> list[Row[Any]]:
    """Read the looks that took place, after a number."""
    wanted = select(s.look).where(s.look.c.number > after)
    return list(db.execute(wanted.order_by(s.look.c.number)).all())


def read_look_seen(db: Connection, number: int) -> LookSeen | None:
    """Read what a look saw; None if it has not taken place."""
    seen = db.execute(select(s.look.c.seen).where(s.look.c.number == number)).scalar()
    if seen is None:
        return None
    return LookSeen(frozenset(seen["sent"]), frozenset(seen["excluded"]))


def read_live(db: Connection) -> Row[Any] | None:
    """Read the newest result."""
    return db.execute(select(s.live)).first()


def read_live_number(db: Connection) -> int:
    """Read the number of the newest result; 0 if there is none."""
    return int(db.execute(select(s.live.c.number)).scalar() or 0)


def read_left_out(db: Connection) -> list[dict[str, Any]]:
    """Read which raters are excluded, since when, by whom and why."""
    rows = db.execute(
        select(s.exclusion, s.rater.c.name)
        .join(s.rater, s.rater.c.id == s.exclusion.c.rater)
        .where(s.exclusion.c.undone.is_(None))
        .order_by(s.exclusion.c.id)
    )
    return [
        {"rater": row.name, "at": row.at, "actor": row.actor, "reason": row.reason} for row in rows
    ]


def read_resting(db: Connection) -> dict[str, int]:
    """Read which systems rest, and since which look."""
    rows = db.execute(
        select(s.system.c.name, s.system.c.rests).where(s.system.c.rests.is_not(None))
    )
    return {row.name: row.rests for row in rows}


def store_look(unit: Unit, look: Mapping[str, Any]) -> bool:
    """Store a look and let systems rest; a look that is stored already stays as it is."""
    _one_at_a_time(unit)
    number = look["number"]
    if unit.one(select(s.look.c.number).where(s.look.c.number == number)) is not None:
        return False
    row = {name: look[name] for name in ("number", "n", "at", "result", "verdict", "seen")}
    unit.db.execute(insert(s.look).values(**row, signature=f"look|{number}|n:{look['n']}"))
    unit.note(SERVER, "look", number, n=look["n"], **look["verdict"])
    for name in look["rest"]:
        own = (s.system.c.name == name) & s.system.c.rests.is_(None)
        if unit.db.execute(update(s.system).where(own).values(rests=number)).rowcount:
            unit.note(SERVER, "rests", name, look=number, reason="every difference is decided")
    if look["rest"]:
        drop_resting(unit)
    return True


def store_live(
    unit: Unit, basis: str, result: str, sets: Sequence[Sequence[str]] | None = None
) -> int:
    """Store the newest result in place of the one before and return its number."""
    _one_at_a_time(unit)
    before = unit.one(select(s.live.c.number))
    number = 1 if before is None else before.number + 1
    values = {"number": number, "at": unit.now, "basis": basis, "result": result, "sets": sets}
    if before is None:
        unit.db.execute(insert(s.live).values(id=1, **values))
    else:
        unit.db.execute(update(s.live).values(**values))
    return number


def _one_at_a_time(unit: Unit) -> None:
    """Let one transaction at a time store a result."""
    unit.db.execute(select(s.campaign.c.id).with_for_update())
