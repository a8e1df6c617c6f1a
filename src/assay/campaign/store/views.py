"""What a task shows: the systems that it holds, and all of it as its rater sees it, without names.

A system whose every difference is decided rests: tasks that begin later leave it out. Where sets
are chosen by the results so far, a task has every system and shows some. The choice is made once,
so that a second rater of the task judges the same outputs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import BindParameter, Connection, bindparam, select, update

from assay.campaign.items import moved
from assay.campaign.records import FORMS, FormQuestion, Shown, ShownOutput, ShownSegment, Span
from assay.campaign.store import schema as s
from assay.campaign.store.clock import iso
from assay.campaign.store.unit import WHICH, Lease, Rater, Record, Rules, Unit, View

MEMBERS = select(s.slot.c.system, s.slot.c.shown_as).distinct().where(s.slot.c.task == WHICH)
RESTING = select(s.system.c.id).where(s.system.c.rests.is_not(None))
BEGUN = select(s.lease.c.id).where(s.lease.c.task == WHICH).limit(1)
PARENT = select(s.task.c.chosen).where(s.task.c.id == WHICH)
CHOOSE = update(s.task).where(s.task.c.id == WHICH).values(chosen=bindparam("held"))
SETS, NAMES = select(s.live.c.sets), select(s.system.c.id, s.system.c.name)


def held_systems(
    unit: Unit, task: Record, slots: Sequence[Record], rng: np.random.Generator
) -> tuple[list[int], list[int] | None]:
    """Return the systems to show, and those the task holds if not all."""
    chosen = task.chosen
    stop, screen = unit.rules.settings.stop, unit.rules.settings.screen
    choosing = stop.rest == "decided" or screen.sets != "planned"
    if choosing and chosen is None and unit.one(BEGUN, which=task.id) is None:
        leaders = {row.system: row.shown_as for row in slots}
        chosen = _choose(unit, task, leaders, rng)
        if chosen is not None:
            unit.db.execute(CHOOSE, {"which": task.id, "held": chosen})
    shown = {row.shown_as for row in slots if chosen is None or row.system in chosen}
    return sorted(shown), chosen


def _choose(
    unit: Unit, task: Record, leaders: Mapping[int, int], rng: np.random.Generator
) -> list[int] | None:
    """Choose the systems of a task that begins now; None for all of them."""
    if task.parent is not None:
        held = unit.db.execute(PARENT, {"which": task.parent}).scalar()
        if held is None:
            return None
        # A check has the displayed outputs alone.
        shown = {row.shown_as for row in unit.all(MEMBERS, which=task.parent) if row.system in held}
        return sorted(name for name in leaders if name in held or name in shown)
    if unit.rules.protocol.kind == "judgments":
        if unit.rules.settings.screen.sets == "planned":
            return None
        return _members(leaders, _set(unit, task, leaders, rng))
    resting = {row.id for row in unit.all(RESTING)}
    held = sorted(name for name in leaders if name not in resting)
    return held if held and len(held) < len(leaders) else None


def _members(leaders: Mapping[int, int], shown: Iterable[int]) -> list[int]:
    """All systems whose outputs are shown, under their own or another system's code."""
    wanted = set(shown)
    return sorted(name for name, leader in leaders.items() if leader in wanted)


def _set(
    unit: Unit, task: Record, leaders: Mapping[int, int], rng: np.random.Generator
) -> list[int]:
    """Draw one of the sets that the newest result asks for, filled up at random if it is short."""
    sets = unit.db.execute(SETS).scalar() or []
    wanted: Sequence[str] = sets[int(rng.integers(len(sets)))] if sets else ()
    numbers = {row.name: row.id for row in unit.all(NAMES)} if wanted else {}
    others = rng.permutation(sorted(set(leaders.values()))).tolist()
    own = [leaders[numbers[name]] for name in wanted if numbers[name] in leaders]
    return list(dict.fromkeys([*own, *others]))[: task.outputs]


def drop_resting(unit: Unit) -> None:
    """Withdraw tasks that no rater has begun and whose systems all rest."""
    kept = (
        select(s.slot.c.task)
        .join(s.system, s.system.c.id == s.slot.c.system)
        .where(s.system.c.rests.is_(None))
    )
    idle = (
        s.task.c.kind.in_(("rate", "check", "repeat")),
        s.task.c.id.not_in(kept), s.task.c.id.not_in(select(s.lease.c.task)),
        s.task.c.wanted > 0,
    )  # fmt: skip
    dropped = [row.id for row in unit.all(select(s.task.c.id).where(*idle))]
    for task in dropped:
        free = s.task.c.free - s.task.c.wanted  # below 0 if another transaction just gave it out
        unit.db.execute(update(s.task).where(s.task.c.id == task).values(wanted=0, free=free))
        unit.note("server", "not-wanted", task, reason="its systems rest")


MOST_REMEMBERED = 2000
"""Leases whose contents are kept in memory."""

TASK = select(s.task).where(s.task.c.id == WHICH)
COLUMNS = select(s.shown).where(s.shown.c.lease == bindparam("lease")).order_by(s.shown.c.place)
FIRST: BindParameter[int] = bindparam("first")
LAST: BindParameter[int] = bindparam("last")
SEGMENTS = (
    select(s.segment.c.id, s.segment.c.media, s.stored_text.c.body)
    .outerjoin(s.stored_text, s.stored_text.c.hash == s.segment.c.source)
    .where(s.segment.c.id.between(FIRST, LAST))
    .order_by(s.segment.c.id)
)
SLOTS = (
    select(
        s.slot.c.segment,
        s.slot.c.system,
        s.slot.c.shown_as,
        s.slot.c.text,
        s.slot.c.spoiled,
        s.stored_text.c.body,
    )
    .join(s.stored_text, s.stored_text.c.hash == s.slot.c.text)
    .where(s.slot.c.task == WHICH)
)
"""The outputs of a task that are judged, with their texts."""
OUTPUTS = (
    select(s.output.c.segment, s.output.c.system, s.stored_text.c.body)
    .join(s.stored_text, s.stored_text.c.hash == s.output.c.text)
    .where(s.output.c.segment.between(FIRST, LAST))
)
"""The outputs of a stretch as they came in, context among them."""
MARKS = select(s.mark).where(s.mark.c.segment.between(FIRST, LAST)).order_by(s.mark.c.id)
DRAFTS = select(s.draft.c.screen, s.draft.c.body).where(s.draft.c.lease == bindparam("lease"))
SENT = select(s.sent.c.screen).distinct().where(s.sent.c.lease == bindparam("lease"))


class ShownColumn(NamedTuple):
    """An output as a lease shows it: a row of the table ``shown``."""

    lease: str
    code: str
    system: int | None
    screen: int
    place: int
    label: str


def read_view(db: Connection, lease: Lease, rules: Rules) -> View:
    """Return what a lease shows, which never changes and is remembered."""
    known = rules.views.get(lease.id)
    if known is not None:
        return known
    task = db.execute(TASK, {"which": lease.task}).one()
    columns = [ShownColumn(*row) for row in db.execute(COLUMNS, {"lease": lease.id})]
    slots: list[Record] = list(db.execute(SLOTS, {"which": lease.task}))
    return make_view(db, lease, task, columns, slots, rules)


def make_view(
    db: Connection, lease: Lease, task: Record, columns: Sequence[ShownColumn],
    slots: Sequence[Record], rules: Rules,
) -> View:  # fmt: skip
    """Put together what a lease shows, and remember it."""
    if task.body is not None:
        view = View(_lesson(lease, task, columns), {})
    else:
        view = _view(db, lease, task, columns, slots, rules)
    if len(rules.views) >= MOST_REMEMBERED:
        rules.views.clear()
    rules.views[lease.id] = view
    return view


def _view(
    db: Connection, lease: Lease, task: Record, columns: Sequence[ShownColumn],
    slots: Sequence[Record], rules: Rules,
) -> View:  # fmt: skip
    within = {"first": task.first, "last": task.last}
    segments = db.execute(SEGMENTS, within).all()
    judged = {(row.segment, row.system): row for row in slots if row.system == row.shown_as}
    rated = {row.segment for row in slots}
    genuine: dict[tuple[int, int | None], str] = {}
    marks: dict[tuple[int, int | None], list[Span]] = {}
    if rules.has_marks or len(rated) < len(segments):
        genuine = {(row.segment, row.system): row.body for row in db.execute(OUTPUTS, within)}
    if rules.has_marks:
        marks = _marks(db, within)
    texts = {key: body for key, body in genuine.items() if key[0] not in rated}
    texts |= {key: row.body for key, row in judged.items()}
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


def _screens(columns: Sequence[ShownColumn]) -> tuple[tuple[str, ...], ...]:
    found: dict[int, list[str]] = defaultdict(list)
    for column in columns:
        found[column.screen].append(column.code)
    return tuple(tuple(found[screen]) for screen in sorted(found))


def _lesson(lease: Lease, task: Record, columns: Sequence[ShownColumn]) -> Shown:
    """Return an example of a tutorial or test, or a form, which have no systems."""
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


def _marks(db: Connection, within: dict[str, int]) -> dict[tuple[int, int | None], list[Span]]:
    found: dict[tuple[int, int | None], list[Span]] = defaultdict(list)
    for row in db.execute(MARKS, within):
        found[row.segment, row.system].append(Span(**row.body))
    return found


def unfinished(db: Connection, lease: str) -> dict[str, Any]:
    """What a rater has already sent of a task, and what was kept of the rest."""
    drafts = db.execute(DRAFTS, {"lease": lease})
    return {
        "sent": sorted(db.execute(SENT, {"lease": lease}).scalars()),
        "drafts": {str(row.screen): row.body for row in drafts},
    }


def task_reply(
    db: Connection, lease: Lease, rules: Rules, rater: Rater | Record, begun: dict[str, Any]
) -> dict[str, Any]:  # fmt: skip
    """The reply to a rater who asked for work and has a lease; ``begun`` is what they did of it."""
    shown = read_view(db, lease, rules).shown
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
        **begun, "progress": progress(rater), **more,
    }  # fmt: skip


def _solution(db: Connection, lease: Lease) -> dict[str, Any]:
    """Return the range of a good score for a tutorial example, and why."""
    body = db.execute(select(s.task.c.body).where(s.task.c.id == lease.task)).scalar_one()
    return {name: body[name] for name in ("low", "high", "explanation")}


def _span(mark: Span) -> dict[str, Any]:
    return {
        "side": mark.side, "start": mark.start, "end": mark.end, "severity": mark.severity,
        "category": mark.category, "missing": mark.missing,
    }  # fmt: skip


def progress(rater: Rater | Record) -> dict[str, Any]:
    """Return how far a rater is: tasks done and minutes of work."""
    return {"done": rater.done, "minutes": rater.active_ms // 60_000}
