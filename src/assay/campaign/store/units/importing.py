"""Answers that were given in another tool: one transaction for a whole file."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, func, select, update

from assay.campaign.assignment.leases import label
from assay.campaign.records import IMPORTED, ImportedTask, NotNowError
from assay.campaign.store import schema as s
from assay.campaign.store.units.answers import ADD_SENT, append, keep_answers
from assay.campaign.store.units.base import WHICH, Lease, Unit
from assay.campaign.store.units.holding import SLOTS
from assay.campaign.store.units.people import add_rater
from assay.campaign.store.units.tasks import add_lease
from assay.campaign.store.views import ShownColumn
from assay.errors import OptionError

OF_TASK = select(s.lease).where(
    s.lease.c.rater == bindparam("rater"), s.lease.c.task == bindparam("task")
)
COLUMNS = select(s.shown).where(s.shown.c.lease == bindparam("lease"))
LAST_REVISION = select(func.max(s.sent.c.revision)).where(
    s.sent.c.lease == bindparam("lease"), s.sent.c.screen == bindparam("screen")
)
OF_RATER = update(s.rater).where(s.rater.c.id == WHICH)
ADD_TIME = OF_RATER.values(active_ms=s.rater.c.active_ms + bindparam("more"))


def bring_in(
    unit: Unit, parts: Sequence[ImportedTask], tool: str, source: str, actor: str
) -> dict[str, Any]:  # fmt: skip
    """Store what raters said in another tool; an unknown name becomes a rater.

    Every rater and task gets a lease, so that the rater is not given the task again. It counts as
    done if all of the task was answered and a rater was wanted, else as overlap.
    """
    if unit.state == "closed":
        raise NotNowError("the campaign is closed and takes no more answers")
    raters = {row.name: row for row in unit.all(select(s.rater))}
    unknown = [name for name in dict.fromkeys(part.rater for part in parts) if name not in raters]
    for part in parts:
        if part.rater in raters and raters[part.rater].state != "active":
            fault = "is left out of this campaign"
            raise OptionError("rater", part.rater, fault, "take them in again first")
    numbers = {name: row.id for name, row in raters.items()}
    numbers |= {name: add_rater(unit, name) for name in unknown}
    whole = sum(_bring_part(unit, numbers[part.rater], part, tool) for part in parts)
    count = sum(len(column.answers) for part in parts for column in part.columns.values())
    unit.note(
        actor, IMPORTED, tool, file=source, answers=count, raters=sorted({p.rater for p in parts})
    )  # fmt: skip
    return {"new_raters": unknown, "tasks": whole}


def _bring_part(unit: Unit, rater: int, part: ImportedTask, tool: str) -> bool:
    """Store one part; whether it completes its task."""
    row = unit.one(OF_TASK, rater=rater, task=part.task)
    lease = _open(unit, rater, part) if row is None else Lease._make(row)
    if lease.reason != IMPORTED:
        raise NotNowError(
            f"{part.rater} has begun task {part.task} in the browser; finish it there, or leave"
            " their answers to it out of the file"
        )
    shown = {row.system: row for row in unit.all(COLUMNS, lease=lease.id)}
    for system, column in part.columns.items():
        code, screen = shown[system].code, shown[system].screen
        revision = unit.count(LAST_REVISION, lease=lease.id, screen=screen) + 1
        active = round(column.seconds * 1000)
        number = append(unit, ADD_SENT, {
            "lease": lease.id, "screen": screen, "revision": revision,
            "key": f"{IMPORTED}-{secrets.token_hex(8)}", "at": unit.now, "late": False,
            "timing": {"opened": column.began, "sent": column.ended, "active_ms": active},
            "version": tool, "instructions": None, "reply": {},
        })  # fmt: skip
        answers = [replace(answer, code=code) for answer in column.answers]
        hashes = {(code, place): value for place, value in column.hashes.items()}
        keep_answers(unit, number, hashes, answers)
        unit.db.execute(ADD_TIME, {"which": rater, "more": active})
    return _settle(unit, lease, rater, part)


def _open(unit: Unit, rater: int, part: ImportedTask) -> Lease:
    """A lease over a task that was never handed out: a screen for every column."""
    systems = sorted({row.shown_as for row in unit.all(SLOTS, which=part.task)})
    task = unit.one(select(s.task).where(s.task.c.id == part.task))
    assert task is not None
    spent = round(1000 * sum(column.seconds for column in part.columns.values()))
    lease = Lease(
        secrets.token_hex(16), part.task, rater, task.wanted, "expired", unit.now - spent,
        unit.now, unit.now, None, len(systems), IMPORTED, task.block_probability,
    )  # fmt: skip
    columns = [
        ShownColumn(lease.id, secrets.token_hex(6), system, place, place, label(place))
        for place, system in enumerate(systems)
    ]
    add_lease(unit, lease, columns, IMPORTED, {})
    return lease


def _settle(unit: Unit, lease: Lease, rater: int, part: ImportedTask) -> bool:
    """A task that is whole is done, or overlap where no rater was wanted any more."""
    if not part.whole or lease.state in ("done", "extra"):
        return False
    copy = unit.free_copy(part.task)
    done = unit.count(select(s.rater.c.done).where(s.rater.c.id == rater)) + 1
    unit.db.execute(OF_RATER, {"which": rater, "done": done})
    unit.set_lease(
        lease, IMPORTED, state="extra" if copy is None else "done", number=done,
        copy=lease.copy if copy is None else copy,
    )  # fmt: skip
    return True
