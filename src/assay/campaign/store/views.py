"""A task as its rater sees it, put together from the tables; nothing in it names a system."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, select

from assay.campaign.items import moved
from assay.campaign.records import FORMS, FormQuestion, Shown, ShownOutput, ShownSegment, Span
from assay.campaign.store import schema as s
from assay.campaign.store.clock import iso
from assay.campaign.store.units.base import MOST_REMEMBERED, Record, Rules, View

TASK = select(s.task).where(s.task.c.id == bindparam("task"))
COLUMNS = select(s.shown).where(s.shown.c.lease == bindparam("lease")).order_by(s.shown.c.place)
FIRST: BindParameter[int] = bindparam("first")
LAST: BindParameter[int] = bindparam("last")
SEGMENTS = (
    select(s.segment, s.stored_text.c.body)
    .outerjoin(s.stored_text, s.stored_text.c.hash == s.segment.c.source)
    .where(s.segment.c.id.between(FIRST, LAST))
    .order_by(s.segment.c.id)
)
SLOTS = (
    select(s.slot, s.stored_text.c.body)
    .join(s.stored_text, s.stored_text.c.hash == s.slot.c.text)
    .where(s.slot.c.task == bindparam("task"), s.slot.c.system == s.slot.c.shown_as)
)
"""The displayed outputs of a task that are judged, with their texts."""
CONTEXT = (
    select(s.output.c.segment, s.output.c.system, s.stored_text.c.body)
    .join(s.stored_text, s.stored_text.c.hash == s.output.c.text)
    .where(s.output.c.segment.between(FIRST, LAST))
)
MARKS = select(s.mark).where(s.mark.c.segment.between(FIRST, LAST)).order_by(s.mark.c.id)
DRAFTS = select(s.draft).where(s.draft.c.lease == bindparam("lease"))
SENT = select(s.sent.c.screen).distinct().where(s.sent.c.lease == bindparam("lease"))


def read_view(db: Connection, lease: Record, rules: Rules) -> View:
    """What this lease shows; it never changes, so it is remembered."""
    known = rules.views.get(lease.id)
    if known is None:
        known = _build(db, lease, rules)
        if len(rules.views) >= MOST_REMEMBERED:
            rules.views.clear()
        rules.views[lease.id] = known
    return known


def _build(db: Connection, lease: Record, rules: Rules) -> View:
    task = db.execute(TASK, {"task": lease.task}).one()
    columns = db.execute(COLUMNS, {"lease": lease.id}).all()
    if task.body is not None:
        return View(_lesson(lease, task, columns), {})
    within = {"first": task.first, "last": task.last}
    segments = db.execute(SEGMENTS, within).all()
    slots = db.execute(SLOTS, {"task": task.id}).all()
    judged = {(row.segment, row.shown_as): row for row in slots}
    rated = {row.segment for row in slots}
    genuine = {(row.segment, row.system): row.body for row in db.execute(CONTEXT, within)}
    texts = {key: body for key, body in genuine.items() if key[0] not in rated}
    texts |= {key: row.body for key, row in judged.items()}
    marks = _marks(db, within) if rules.has_marks else {}
    # A spoiled copy begins with marks too: without them it would stand out.
    for key in (key for key, row in judged.items() if row.spoiled and key in marks):
        marks[key] = moved(marks[key], genuine[key], texts[key])
    hashes = {
        (column.code, place): judged[row.id, column.system].text
        for column in columns
        for place, row in enumerate(segments)
        if (row.id, column.system) in judged
    }
    shown = Shown(
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
    return View(shown, hashes)


def _screens(columns: Any) -> tuple[tuple[str, ...], ...]:
    found: dict[int, list[str]] = defaultdict(list)
    for column in columns:
        found[column.screen].append(column.code)
    return tuple(tuple(found[screen]) for screen in sorted(found))


def _lesson(lease: Record, task: Any, columns: Any) -> Shown:
    """An example of a tutorial or test, or a form, which have no systems."""
    body = task.body
    if task.kind in FORMS:
        questions = tuple(
            FormQuestion(one["text"], tuple(one["answers"]), one["optional"])
            for one in body["questions"]
        )
        return Shown(lease.id, (), (), _screens(columns), questions)
    segment = ShownSegment(0, True, body["source"])
    outputs = tuple(ShownOutput(c.code, c.label, (body["target"],), ((),)) for c in columns)
    return Shown(lease.id, (segment,), outputs, _screens(columns))


def _marks(db: Connection, within: dict[str, int]) -> dict[tuple[int, int], list[Span]]:
    found: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for row in db.execute(MARKS, within):
        found[row.segment, row.system].append(Span(**row.body))
    return found


def task_reply(db: Connection, lease: Record, rules: Rules, rater: Record) -> dict[str, Any]:
    """The reply to a rater who asked for work and has a lease."""
    shown = read_view(db, lease, rules).shown
    drafts = db.execute(DRAFTS, {"lease": lease.id}).all()
    sent = db.execute(SENT, {"lease": lease.id}).scalars()
    source, target = rules.languages
    lesson = lease.reason if lease.reason in ("tutorial", "qualify") else "rate"
    more: dict[str, Any] = {"solution": _solution(db, lease)} if lesson == "tutorial" else {}
    if shown.questions:
        lesson, more = "form", {"questions": [
            {"place": place, "text": one.text, "answers": list(one.answers),
             "optional": one.optional}
            for place, one in enumerate(shown.questions)
        ]}  # fmt: skip
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
    } | more  # fmt: skip


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
