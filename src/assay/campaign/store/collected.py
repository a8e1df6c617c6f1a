"""Everything that was answered, one row for each system that an answer counts for."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import polars as pl
from sqlalchemy import ColumnElement, Connection, Row, Select, func, select

from assay.campaign.records import FORMS, Answer, Collected, Judged, LookSeen, Span, Stored, Timing
from assay.campaign.store import schema as s

FEW_ANSWERS = 500
"""Up to so many, answers are looked up by their numbers; more are read with the whole tables."""


def read_forms(db: Connection) -> Iterator[dict[str, Any]]:
    """Read the forms that raters filled in, without those of excluded raters."""
    rows = db.execute(
        select(s.rater.c.name, s.task.c.kind, s.task.c.body, s.answer, s.sent.c.at)
        .select_from(s.answer)
        .join(s.sent, s.sent.c.id == s.answer.c.sent)
        .join(s.lease, s.lease.c.id == s.sent.c.lease)
        .join(s.task, s.task.c.id == s.lease.c.task)
        .join(s.rater, s.rater.c.id == s.lease.c.rater)
        .where(s.task.c.kind.in_(FORMS), s.rater.c.state == "active", s.sent.c.id.in_(newest()))
        .order_by(s.answer.c.id)
    )
    for row in rows:
        question = row.body["questions"][row.place]["text"]
        yield {
            "rater": row.name, "form": row.kind, "question": question, "answer": row.comment,
            "at": row.at,
        }  # fmt: skip


def read_answers(
    db: Connection, seen: LookSeen | None = None, known: KnownAnswers | None = None
) -> Collected:
    """Read the answers and inputs, without raters and events; ``known`` are not read again."""
    scores = read_artifact(db, "scores")
    assert scores is not None
    answers = tuple(stored_answers(db, seen=seen, known=known))
    return Collected(answers, (), (), scores, read_artifact(db, "sample"))


def read_artifact(db: Connection, name: str) -> pl.DataFrame | None:
    """Read a table as it came in."""
    body = db.execute(select(s.artifact.c.body).where(s.artifact.c.name == name)).scalar()
    return None if body is None else pl.read_parquet(io.BytesIO(body))


KnownAnswers = dict[int, list[tuple[tuple[str, int, int], Stored]]]
"""What was read of every answer, which never changes, with the check that it may be part of."""


def stored_answers(
    db: Connection, *, revisions: bool = False, seen: LookSeen | None = None,
    known: KnownAnswers | None = None,
) -> Iterator[Stored]:  # fmt: skip
    """Read every answer in the order received; with ``revisions`` earlier versions too.

    With ``seen``, only what a look saw, and with the raters excluded who were excluded then.
    Answers that are ``known`` are not read again, and new ones are added there.
    """
    known = {} if known is None else known
    wanted = _numbers(revisions=revisions or seen is not None)
    asked = [row for row in db.execute(wanted).all() if seen is None or row.sent in seen.sent]
    _read_into(known, db, [row.id for row in asked if row.id not in known])
    people = select(s.rater.c.id, s.rater.c.name, s.rater.c.state)
    raters = {row.id: row for row in db.execute(people)}
    passed = {(row[0], row[1], row[2]): row[3] for row in db.execute(_checks())}
    for row in asked:
        rater = raters[row.rater]
        out = rater.state != "active" if seen is None else rater.id in seen.excluded
        for check, item in known[row.id]:
            now = out, passed.get(check), rater.name
            if now != (item.excluded, item.passed, item.rater):
                yield replace(item, excluded=now[0], passed=now[1], rater=now[2])
            else:
                yield item


def _read_into(known: KnownAnswers, db: Connection, numbers: Sequence[int]) -> None:
    """Read these answers with all that belongs to them."""
    if not numbers:
        return
    few = len(numbers) <= FEW_ANSWERS
    rows = db.execute(_answers(s.answer.c.id.in_(numbers) if few else None)).all()
    tasks = s.slot.c.task.in_({row.task for row in rows}) if few else None
    slots = grouped(db.execute(slots_with_texts(tasks)), "task", "shown_as")
    shown = select(s.shown).order_by(s.shown.c.place)
    if few:
        shown = shown.where(s.shown.c.lease.in_({row.lease for row in rows}))
    screens = grouped(db.execute(shown), "lease", "screen")
    marks = read_spans(db, *([s.span.c.answer.in_(numbers)] if few else []))
    keys = {row.answer: row for row in db.execute(select(s.keylog))}
    begun = Counter(
        (row[0], row[1]) for row in db.execute(select(s.mark.c.segment, s.mark.c.system))
    )
    new = set(numbers)
    for row in rows:
        if row.id not in new:
            continue
        answer = answer_of(row, marks.get(row.id, ()), keys.get(row.id))
        held = known[row.id] = []
        for place, column in enumerate(screens[row.lease, row.screen]):
            # A comparison, which has no code, is about all outputs of its screen.
            if row.code not in (None, column.code):
                continue
            for slot in slots[row.task, column.system]:
                # A system that rested, or was in no set, gets no answer.
                held_then = row.chosen is None or slot.system in row.chosen
                if held_then and row.place in (None, slot.place):
                    before = 0 if slot.spoiled else begun[slot.segment, slot.shown_as]
                    check = row.lease, slot.system, slot.place
                    held.append((check, _stored(row, answer, column, place, slot, before)))


def read_judged(db: Connection) -> tuple[Judged, ...]:
    """Read every output that the campaign asks about, in the order of the tasks."""
    tasks = db.execute(select(s.task.c.id).where(s.task.c.kind == "rate")).scalars()
    asked = set(tasks)
    return tuple(
        Judged(
            row.task, row.place, row.name, row.shown_as, row.lp, row.doc, row.seg,
            row.source_body, row.body, row.text,
        )
        for row in db.execute(slots_with_texts())
        if row.task in asked
    )  # fmt: skip


def grouped(rows: Iterable[Row[Any]], *names: str) -> dict[Any, list[Row[Any]]]:
    """Rows by the values of these columns; no rows for values that do not occur."""
    found: dict[Any, list[Row[Any]]] = defaultdict(list)
    key = attrgetter(*names)
    for row in rows:
        found[key(row)].append(row)
    return found


def newest(lease: str | None = None) -> Select[Any]:
    """Select the last revision of every screen, of one lease or all."""
    found = select(func.max(s.sent.c.id)).group_by(s.sent.c.lease, s.sent.c.screen)
    return found if lease is None else found.where(s.sent.c.lease == lease)


def slots_with_texts(wanted: ColumnElement[bool] | None = None) -> Select[Any]:
    """Select what is judged in every wanted task, with its names and texts."""
    source = s.stored_text.alias("source_text")
    found = (
        select(
            s.slot, s.segment.c.lp, s.segment.c.doc, s.segment.c.seg, s.system.c.name,
            s.stored_text.c.body, source.c.body.label("source_body"),
        )
        .join(s.segment, s.segment.c.id == s.slot.c.segment)
        .join(s.system, s.system.c.id == s.slot.c.system)
        .join(s.stored_text, s.stored_text.c.hash == s.slot.c.text)
        .outerjoin(source, source.c.hash == s.segment.c.source)
        .order_by(s.slot.c.task, s.slot.c.place, s.slot.c.system)
    )  # fmt: skip
    return found if wanted is None else found.where(wanted)


def _checks() -> Select[Any]:
    found = s.check_result.c
    return select(found.lease, found.system, found.place, found.passed)


def _numbers(*, revisions: bool) -> Select[Any]:
    """Select the answers that count, in the order received."""
    found = (
        select(s.answer.c.id, s.answer.c.sent, s.lease.c.rater)
        .join(s.sent, s.sent.c.id == s.answer.c.sent)
        .join(s.lease, s.lease.c.id == s.sent.c.lease)
        .order_by(s.answer.c.id)
    )
    return found if revisions else found.where(s.sent.c.id.in_(newest()))


def _answers(wanted: ColumnElement[bool] | None) -> Select[Any]:
    task, lease, sent = s.task.c, s.lease.c, s.sent.c
    found = (
        select(
            s.answer, sent.lease, sent.screen, sent.revision, sent.late, sent.at, sent.timing,
            sent.version, sent.instructions, lease.task, lease.opened, lease.reason, task.chosen,
            s.rater.c.name.label("rater_name"), task.kind, task.position, task.snippet,
            task.stratum, task.probability, task.block, task.block_probability,
        )
        .join(s.sent, sent.id == s.answer.c.sent)
        .join(s.lease, lease.id == sent.lease)
        .join(s.task, task.id == lease.task)
        .join(s.rater, s.rater.c.id == lease.rater)
        .order_by(s.answer.c.id)
    )  # fmt: skip
    return found if wanted is None else found.where(wanted)


def read_spans(db: Connection, *wanted: ColumnElement[bool]) -> dict[int, list[Span]]:
    """Read the marks of the wanted answers."""
    found: dict[int, list[Span]] = defaultdict(list)
    for row in db.execute(select(s.span).where(*wanted).order_by(s.span.c.id)):
        found[row.answer].append(Span(
            row.side, row.start, row.end, row.severity, row.category, row.origin, row.missing
        ))  # fmt: skip
    return found


def answer_of(row: Row[Any], marks: Iterable[Span], keys: Row[Any] | None = None) -> Answer:
    """Return a stored answer with its marks and keys."""
    choice = row.choice or {}
    return Answer(
        code=row.code, place=row.place, scores=row.scores or {}, spans=tuple(marks),
        no_error=bool(row.no_error), asked=bool(row.asked), skipped=row.skipped,
        comment=row.comment, **choice, edited=row.edited,
        keys=keys.keys if keys is not None else {},
        pauses=keys.pauses if keys is not None else {},
        sessions=tuple(keys.sessions) if keys is not None else (),
    )  # fmt: skip


def _stored(
    row: Row[Any], answer: Answer, column: Row[Any], place: int, slot: Row[Any], begun_with: int
) -> Stored:
    return Stored(
        row.id, answer, row.rater_name, False, slot.lp, slot.doc, slot.seg,
        slot.name, column.code, column.label, place, slot.source_body, slot.body, slot.text,
        row.kind, slot.spoiled, None, slot.task, row.position + 1, row.reason, str(row.snippet),
        row.stratum, row.probability, row.block, row.block_probability, row.lease, row.screen,
        row.revision, row.late, row.opened, row.at, Timing(**row.timing), row.instructions,
        row.version, begun_with,
    )  # fmt: skip
