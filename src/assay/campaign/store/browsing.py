"""What an owner browses, a page at a time: answers with their marks, and events in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, or_, select

from assay.campaign.records import GIVEN, Event, Given, GivenText, Span
from assay.campaign.store import schema as s
from assay.campaign.store.collected import answer_of, grouped, read_spans, slots_with_texts
from assay.campaign.store.tally import Tally
from assay.results import plural

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
    tasks, leases = sorted({row.task for row in rows}), sorted({row.lease for row in rows})
    slots = grouped(db.execute(slots_with_texts(s.slot.c.task.in_(tasks))), "task")
    shown = select(s.shown).where(s.shown.c.lease.in_(leases)).order_by(s.shown.c.place)
    columns = grouped(db.execute(shown), "lease")
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


def _given(
    row: Row[Any], slots: Sequence[Row[Any]], columns: Sequence[Row[Any]], marks: Sequence[Span]
) -> Given:
    answer = answer_of(row, marks)
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
                answer.winner == column.code, answer.ranks.get(column.code),
            ))  # fmt: skip
    first = next(slot for slot in slots if row.place in (None, slot.place))
    return Given(
        row.id, row.at, row.name, row.state != "active", first.lp, first.doc, first.seg,
        first.source_body, tuple(texts), row.kind, answer, row.revision, row.late,
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


CHANGED = {"open": "opened the campaign", "paused": "paused the campaign",
           "closed": "closed the campaign"}  # fmt: skip
REASONS = {
    "language": "cannot judge the language", "offensive": "offensive text",
    "broken": "broken text", "conflict": "conflict of interest", "other": "another reason",
}  # fmt: skip


def happened(event: Event) -> tuple[str, str | None]:
    """Describe an event, with the reason or message that a person gave."""
    describe = _SENTENCES.get(event.kind)
    if describe is None:
        return event.kind.replace("-", " "), None
    given = "reason" if event.kind in _WITH_REASON else "text"
    return describe(event), event.body.get(given)


def _who(event: Event) -> str:
    return event.rater or f"rater {event.subject}"


def _state(event: Event) -> str:
    if event.body.get("before") == "paused" and event.subject == "open":
        return "resumed the campaign"
    return CHANGED.get(event.subject, f"set the campaign to {event.subject}")


def _rule(event: Event) -> str:
    goal, target = event.body["goal"], event.body["target"]
    wanted = "continue to the last task" if goal == "budget" else f"the original goal, {goal}"
    if target is not None:
        wanted = f"intervals of ±{target:g}"
    return f"changed the stopping rule to {wanted}"


def _declined(event: Event) -> str:
    reason = str(event.body.get("reason"))
    return f"returned task {event.subject}: {REASONS.get(reason, reason)}"


def _refused(event: Event) -> str:
    more = event.body.get("unlisted")
    before = f", after {more:,} others not listed" if more else ""
    return f"sent a request that was refused ({event.subject}, {event.body.get('status')}){before}"


def _look(event: Event) -> str:
    body = event.body
    decided = (
        f": {body['decided']} of {plural(body['pairs'], 'pair')} decided" if body["pairs"] else ""
    )
    return f"took look {event.subject} at {body['n']:,}{decided}"


_SENTENCES: Mapping[str, Callable[[Event], str]] = {
    "state": _state,
    "created": lambda event: "created the campaign",
    "look": _look,
    "rests": lambda event: f"stopped showing {event.subject}: all its differences are decided",
    "rule": _rule,
    "excluded": lambda event: f"excluded {_who(event)}",
    "restored": lambda event: f"restored {_who(event)}",
    "raters-added": lambda event: f"added {plural(int(event.subject), 'rater')}",
    "links-revoked": lambda event: f"created a new link for {_who(event)} and revoked the old ones",
    "forgotten": lambda event: f"removed the personal data of {_who(event)}",
    "message": lambda event: f"messaged {_who(event)}",
    "message-read": lambda event: "read the message",
    "problem": lambda event: f"reported a problem with task {event.subject}",
    "declined": _declined,
    "told": lambda event: f"reported that task {event.subject} was {event.body.get('what')}",
    "finished": lambda event: "finished",
    "tested": lambda event: "took the qualification test",
    "refused": _refused,
    "rebuilt": lambda event: "rebuilt the tables of the store",
}
_WITH_REASON = ("state", "rule", "excluded")
