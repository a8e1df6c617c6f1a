"""A task as its rater sees it, put together from the tables; nothing in it names a system."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sqlalchemy import Connection, Select, and_, select

from assay.campaign.records import Shown, ShownOutput, ShownSegment, Span
from assay.campaign.store import schema as s
from assay.campaign.store.clock import iso
from assay.campaign.store.units.base import MOST_REMEMBERED, Record, Rules

Texts = dict[tuple[int, int], str]
"""Segment and system to text."""


def read_shown(db: Connection, lease: Record, rules: Rules) -> Shown:
    """What this lease shows; it never changes, so it is remembered."""
    known = rules.views.get(lease.id)
    if known is None:
        known = _build(db, lease, rules)
        if len(rules.views) >= MOST_REMEMBERED:
            rules.views.clear()
        rules.views[lease.id] = known
    return known


def _build(db: Connection, lease: Record, rules: Rules) -> Shown:
    task = db.execute(select(s.task).where(s.task.c.id == lease.task)).one()
    columns = db.execute(
        select(s.shown).where(s.shown.c.lease == lease.id).order_by(s.shown.c.place)
    ).all()
    if task.body is not None:
        return _lesson(lease, task, columns)
    source = select(s.segment, s.stored_text.c.body).outerjoin(
        s.stored_text, s.stored_text.c.hash == s.segment.c.source
    )
    segments = db.execute(
        source.where(s.segment.c.id.between(task.first, task.last)).order_by(s.segment.c.id)
    ).all()
    slots = db.execute(_slots(task.id)).all()
    rated = {row.segment for row in slots}
    texts = _context(db, task, [column.system for column in columns])
    for segment in rated:
        for column in columns:
            texts.pop((segment, column.system), None)
    texts |= {(row.segment, row.shown_as): row.body for row in slots}
    marks = _marks(db, task) if rules.has_marks and task.kind == "rate" else {}
    return Shown(
        lease.id,
        tuple(
            ShownSegment(place, row.id in rated, row.body, tuple(row.media or ()))
            for place, row in enumerate(segments)
        ),
        tuple(
            ShownOutput(
                column.code, column.label,
                tuple(texts.get((row.id, column.system)) for row in segments),
                tuple(tuple(marks.get((row.id, column.system), ())) for row in segments),
            )
            for column in columns
        ),
        _screens(columns),
    )  # fmt: skip


def _screens(columns: Any) -> tuple[tuple[str, ...], ...]:
    found: dict[int, list[str]] = defaultdict(list)
    for column in columns:
        found[column.screen].append(column.code)
    return tuple(tuple(found[screen]) for screen in sorted(found))


def _lesson(lease: Record, task: Any, columns: Any) -> Shown:
    """An example of a tutorial or test, which has no systems."""
    body = task.body
    segment = ShownSegment(0, True, body["source"])
    outputs = tuple(ShownOutput(c.code, c.label, (body["target"],), ((),)) for c in columns)
    return Shown(lease.id, (segment,), outputs, _screens(columns))


def _slots(task: int) -> Select[Any]:
    """The displayed outputs of a task that are judged, with their texts."""
    return (
        select(s.slot, s.stored_text.c.body)
        .join(s.stored_text, s.stored_text.c.hash == s.slot.c.text)
        .where(s.slot.c.task == task, s.slot.c.system == s.slot.c.shown_as)
    )


def _context(db: Connection, task: Any, systems: list[int]) -> Texts:
    rows = db.execute(
        select(s.output.c.segment, s.output.c.system, s.stored_text.c.body)
        .join(s.stored_text, s.stored_text.c.hash == s.output.c.text)
        .where(
            and_(s.output.c.segment.between(task.first, task.last), s.output.c.system.in_(systems))
        )
    )
    return {(row.segment, row.system): row.body for row in rows}


def _marks(db: Connection, task: Any) -> dict[tuple[int, int], list[Span]]:
    found: dict[tuple[int, int], list[Span]] = defaultdict(list)
    wanted = select(s.mark).where(s.mark.c.segment.between(task.first, task.last))
    for row in db.execute(wanted.order_by(s.mark.c.id)):
        found[row.segment, row.system].append(Span(**row.body))
    return found


def task_reply(db: Connection, lease: Record, rules: Rules, rater: Record) -> dict[str, Any]:
    """The reply to a rater who asked for work and has a lease."""
    shown = read_shown(db, lease, rules)
    drafts = db.execute(select(s.draft).where(s.draft.c.lease == lease.id)).all()
    sent = db.execute(
        select(s.sent.c.screen).distinct().where(s.sent.c.lease == lease.id)
    ).scalars()
    source, target = rules.languages
    lesson = lease.reason if lease.reason in ("tutorial", "qualify") else "rate"
    solved = {"solution": _solution(db, lease)} if lesson == "tutorial" else {}
    return {
        "state": "task", "campaign": rules.name, "lease": lease.id, "until": iso(lease.until),
        "kind": lesson, **rules.protocol.wire(),
        "languages": {"source": source, "target": target},
        "instructions": rules.instructions,
        "segments": [
            {"place": one.place, "rate": one.rate, "source": one.source, "media": list(one.media)}
            for one in shown.segments
        ],
        "outputs": [
            {
                "code": one.code, "label": one.label, "texts": list(one.texts),
                "spans": [[_span(mark) for mark in marks] for marks in one.spans],
            }
            for one in shown.outputs
        ],
        "screens": [list(codes) for codes in shown.screens],
        "sent": sorted(sent),
        "drafts": {str(row.screen): row.body for row in drafts},
        "progress": progress(rater),
    } | solved  # fmt: skip


def _solution(db: Connection, lease: Record) -> dict[str, Any]:
    """Of an example in the tutorial: where a good score lies, and why."""
    body = db.execute(select(s.task.c.body).where(s.task.c.id == lease.task)).scalar_one()
    return {name: body[name] for name in ("low", "high", "explanation")}


def _span(mark: Span) -> dict[str, Any]:
    return {
        "side": mark.side, "start": mark.start, "end": mark.end, "severity": mark.severity,
        "category": mark.category, "missing": mark.missing,
    }  # fmt: skip


def progress(rater: Record) -> dict[str, Any]:
    """How far a rater is: tasks done, and minutes of work."""
    return {"done": rater.done, "minutes": rater.active_ms // 60_000}
