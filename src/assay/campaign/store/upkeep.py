"""Maintenance of a store: backups, checks, and rebuilding its state tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, text, update

from assay.campaign.store import schema as s
from assay.campaign.store.opening import Place, copy_file
from assay.campaign.store.unit import Unit
from assay.errors import InputError


def backup(place: Place, target: Path) -> Path:
    """Copy the whole file while raters work."""
    if place.file is None:
        raise InputError("the campaign is in PostgreSQL; copy it with pg_dump")
    if target.resolve() == place.file.resolve():
        raise InputError(f"'{target}' is the campaign itself; name another file")
    copy_file(place.file, target)
    return target


def faults(db: Connection) -> tuple[str, ...]:
    """List faults of a store."""
    found = []
    if db.dialect.name == "sqlite":
        found += [
            str(row[0]) for row in db.execute(text("PRAGMA integrity_check")) if row[0] != "ok"
        ]
        found += [
            f"table {row[0]}, row {row[1]} belongs to a row of {row[2]} that is not there"
            for row in db.execute(text("PRAGMA foreign_key_check"))
        ]
    held = _held(db)
    for task, wanted, free in db.execute(select(s.task.c.id, s.task.c.wanted, s.task.c.free)):
        if free != wanted - held[task]:
            found.append(f"task {task} has {free} free copies, not {wanted - held[task]}")
    return tuple(found)


def _held(db: Connection) -> Counter[int]:
    return Counter(db.execute(select(s.lease.c.task).where(s.HELD)).scalars())


def rebuild(unit: Unit) -> dict[str, int]:
    """Rebuild the state tables from answers and events."""
    if unit.db.dialect.name == "postgresql":
        unit.db.execute(text("LOCK TABLE task, lease, rater IN SHARE ROW EXCLUSIVE MODE"))
    events = unit.all(select(s.event).order_by(s.event.c.id))
    leases: dict[str, dict[str, Any]] = {}
    shown: list[dict[str, Any]] = []
    states: dict[int, str] = {}
    declined: Counter[int] = Counter()
    chosen: dict[int, list[int]] = {}
    resting: dict[str, int] = {}
    campaign = "draft"
    for event in events:
        if event.kind == "lease":
            body = dict(event.body)
            shown += body.pop("shown", [])
            if "chosen" in body:
                chosen[body["task"]] = body.pop("chosen")
            leases[event.subject] = body
        elif event.kind == "rater":
            states[int(event.subject)] = event.body["state"]
        elif event.kind == "declined":
            declined[int(event.subject)] += 1
        elif event.kind == "rests":
            resting[event.subject] = event.body["look"]
        elif event.kind == "not-wanted":
            unit.db.execute(
                update(s.task).where(s.task.c.id == int(event.subject)).values(wanted=0)
            )
        elif event.kind == "state":
            campaign = event.subject
    _replace(unit, leases, shown)
    for number, held_systems in chosen.items():
        own = s.task.c.id == number
        unit.db.execute(update(s.task).where(own).values(chosen=held_systems))
    for name, look in resting.items():
        unit.db.execute(update(s.system).where(s.system.c.name == name).values(rests=look))
    unit.db.execute(update(s.campaign).values(state=campaign))
    for rater, state in states.items():
        unit.db.execute(update(s.rater).where(s.rater.c.id == rater).values(
            state=state, **_work(unit, rater)
        ))  # fmt: skip
    held = _held(unit.db)
    for task in unit.all(select(s.task.c.id, s.task.c.wanted)):
        unit.db.execute(update(s.task).where(s.task.c.id == task.id).values(
            free=task.wanted - held[task.id], declined=declined[task.id]
        ))  # fmt: skip
    unit.note("server", "rebuilt", "store", leases=len(leases))
    return {"leases": len(leases), "raters": len(states)}


def _replace(unit: Unit, leases: dict[str, dict[str, Any]], shown: list[dict[str, Any]]) -> None:
    """Restore every lease and what it shows from the events."""
    known = {row.id: row.until for row in unit.all(select(s.lease.c.id, s.lease.c.until))}
    # Copies first: two leases may have held the same one after each other.
    unit.db.execute(update(s.lease).values(state="expired"))
    for number, lease in leases.items():
        if number in known:
            # Holding a task for longer is not logged.
            lease["until"] = max(lease["until"], known[number])
            unit.db.execute(update(s.lease).where(s.lease.c.id == number).values(**lease))
        else:
            unit.db.execute(insert(s.lease).values(**lease))
    unit.db.execute(delete(s.shown))
    if shown:
        unit.db.execute(insert(s.shown), shown)


def _work(unit: Unit, rater: int) -> dict[str, int]:
    """Count a rater's finished tasks and time."""
    done = select(func.max(s.lease.c.number)).where(s.lease.c.rater == rater)
    timings = select(s.sent.c.timing).join(s.lease, s.lease.c.id == s.sent.c.lease)
    own = unit.db.execute(timings.where(s.lease.c.rater == rater)).scalars()
    return {
        "done": unit.count(done), "active_ms": sum(one.get("active_ms", 0) for one in own),
    }  # fmt: skip
