"""What an owner browses, a page at a time: answers with their marks, and events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, or_, select

from assay.campaign.records import GIVEN, Event, Given, GivenText, Span
from assay.campaign.store import schema as s
from assay.campaign.store.collected import read_spans, slots_with_texts
from assay.campaign.store.tally import Tally

PAGE = 25
ACTS = ("state", "rule", "excluded", "restored")
"""Kinds of events by which a person steers a campaign."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter of answers: by rater, system and document."""

    rater: str | None = None
    system: str | None = None
    doc: str | None = None


def read_answers(db: Connection, wanted: Wanted, before: int | None = None) -> list[Given]:
    """Read the newest answers that pass a filter, before a number; latest revisions only."""
    later = s.sent.alias("later")
    newer = select(later.c.id).where(
        later.c.lease == s.sent.c.lease, later.c.screen == s.sent.c.screen,
        later.c.revision > s.sent.c.revision,
    )  # fmt: skip
    statement = (
        select(
            s.answer, s.sent.c.lease, s.sent.c.screen, s.sent.c.at, s.sent.c.revision,
            s.sent.c.late, s.lease.c.task, s.rater.c.name, s.rater.c.state, s.task.c.kind,
        )
        .join(s.sent, s.sent.c.id == s.answer.c.sent)
        .join(s.lease, s.lease.c.id == s.sent.c.lease)
        .join(s.task, s.task.c.id == s.lease.c.task)
        .join(s.rater, s.rater.c.id == s.lease.c.rater)
        .where(s.task.c.kind.in_(GIVEN), ~newer.exists(), *_conditions(wanted))
        .order_by(s.answer.c.id.desc())
        .limit(PAGE)
    )  # fmt: skip
    if before is not None:
        statement = statement.where(s.answer.c.id < before)
    rows = db.execute(statement).all()
    slots, columns = (
        _slots(db, {row.task for row in rows}),
        _columns(db, {row.lease for row in rows}),
    )
    marks = read_spans(db, s.span.c.answer.in_([row.id for row in rows]))
    return [_given(row, slots[row.task], columns[row.lease], marks[row.id]) for row in rows]


def _conditions(wanted: Wanted) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.rater is not None:
        number = select(s.rater.c.id).where(s.rater.c.name == wanted.rater)
        mine = select(s.lease.c.id).where(s.lease.c.rater.in_(number))
        found.append(s.sent.c.lease.in_(mine))
    if wanted.doc is not None:
        segments = select(s.segment.c.id).where(s.segment.c.doc == wanted.doc)
        found.append(s.task.c.first.in_(segments))
    if wanted.system is not None:
        system = select(s.system.c.id).where(s.system.c.name == wanted.system).scalar_subquery()
        counts = (
            select(s.slot.c.task)
            .join(s.shown, s.shown.c.system == s.slot.c.shown_as)
            .where(
                s.shown.c.lease == s.sent.c.lease, s.slot.c.task == s.lease.c.task,
                s.slot.c.system == system,
                or_(
                    and_(s.shown.c.code == s.answer.c.code, s.slot.c.place == s.answer.c.place),
                    and_(s.answer.c.code.is_(None), s.shown.c.screen == s.sent.c.screen),
                ),
            )
            .correlate(s.sent, s.lease, s.answer)
        )  # fmt: skip
        found.append(counts.exists())
    return found


def _slots(db: Connection, tasks: Iterable[int]) -> dict[int, list[Row[Any]]]:
    """Read what was judged in these tasks, with the texts."""
    found: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in db.execute(slots_with_texts().where(s.slot.c.task.in_(sorted(tasks)))):
        found[row.task].append(row)
    return found


def _columns(db: Connection, leases: Iterable[str]) -> dict[str, list[Row[Any]]]:
    found: dict[str, list[Row[Any]]] = defaultdict(list)
    statement = select(s.shown).where(s.shown.c.lease.in_(sorted(leases))).order_by(s.shown.c.place)
    for row in db.execute(statement):
        found[row.lease].append(row)
    return found


def _given(
    row: Row[Any], slots: Sequence[Row[Any]], columns: Sequence[Row[Any]], marks: Sequence[Span]
) -> Given:
    choice = row.choice or {}
    shown = [one for one in columns if one.screen == row.screen]
    if row.code is not None:
        shown = [one for one in columns if one.code == row.code]
    texts = []
    for column in shown:
        own = [slot for slot in slots
               if slot.shown_as == column.system and row.place in (None, slot.place)]  # fmt: skip
        if own:
            texts.append(GivenText(
                column.label, tuple(slot.name for slot in own), own[0].body, own[0].spoiled,
                choice.get("winner") == column.code, choice.get("ranks", {}).get(column.code),
            ))  # fmt: skip
    first = next(slot for slot in slots if row.place in (None, slot.place))
    return Given(
        row.id, row.at, row.name, row.state != "active", first.lp, first.doc, first.seg,
        first.source_body, tuple(texts), row.kind, row.scores or {}, tuple(marks),
        bool(row.no_error), choice.get("winner"), choice.get("strength"), choice.get("reason"),
        row.edited, row.skipped, row.comment, row.revision, row.late,
    )  # fmt: skip


def read_names(db: Connection) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Read the raters, systems and documents to filter by."""
    docs = select(s.segment.c.doc).distinct().where(s.segment.c.doc.is_not(None))
    return (
        tuple(db.execute(select(s.rater.c.name).order_by(s.rater.c.id)).scalars()),
        tuple(db.execute(select(s.system.c.name).order_by(s.system.c.name)).scalars()),
        tuple(db.execute(docs.order_by(s.segment.c.doc)).scalars()),
    )


def read_events(db: Connection, tally: Tally, before: int | None = None) -> list[Event]:
    """Read events that a page lists, newest first, before a number."""
    with tally.now(db) as counts:
        numbers = [k for k in reversed(counts.events) if before is None or k < before][:PAGE]
    return _events(db, s.event.c.id.in_(numbers))[::-1]


def read_acts(db: Connection) -> list[Event]:
    """Read what owners decided, in order."""
    return _events(db, s.event.c.kind.in_(ACTS))


def _events(db: Connection, wanted: ColumnElement[bool]) -> list[Event]:
    """Events with the names of who did them to whom."""
    people = {
        f"rater {row.id}": row.name for row in db.execute(select(s.rater.c.id, s.rater.c.name))
    }
    roles = {str(row.id): row.role for row in db.execute(select(s.link.c.id, s.link.c.role))}
    known = people | roles | {"0": "owner"}  # as earlier versions named the server's own link
    return [
        Event(
            row.id, row.at, known.get(row.actor, row.actor), row.kind, row.subject,
            people.get(f"rater {row.subject}"), row.body,
        )
        for row in db.execute(select(s.event).where(wanted).order_by(s.event.c.id))
    ]  # fmt: skip
