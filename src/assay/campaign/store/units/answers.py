"""Answers and drafts: checked, stored for good, and answered the same when sent twice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Insert, bindparam, delete, insert, select, update

from assay._version import __version__
from assay.campaign.protocols.forms import check_form
from assay.campaign.records import FORMS, Answer, InvalidAnswerError
from assay.campaign.store import schema as s
from assay.campaign.store.units.base import WHICH, Lease, Link, Rater, Unit, need_running
from assay.campaign.store.units.checks import judge
from assay.campaign.store.units.tasks import choose, may_come
from assay.campaign.store.views import read_view

TIMES, COUNTS = ("opened", "first", "sent"), ("active_ms", "idle_ms", "away")
FINISHED = ("done", "extra", "aside")
"""States of a lease of which everything was sent."""
DEVICES = ("pointer", "keyboard", "both")
MOST_MS = 7 * 24 * 3_600_000
KEY = re.compile("[!-~]{1,100}")


SENT = select(s.sent.c.key, s.sent.c.screen, s.sent.c.revision, s.sent.c.reply).where(
    s.sent.c.lease == bindparam("lease")
)
DROP_DRAFT = delete(s.draft).where(
    s.draft.c.lease == bindparam("of"), s.draft.c.screen == bindparam("on")
)
CHANGE_RATER = update(s.rater).where(s.rater.c.id == WHICH)
ADD_DRAFT, ADD_SENT, ADD_ANSWER = insert(s.draft), insert(s.sent), insert(s.answer)
ADD_SPAN, ADD_KEYS = insert(s.span), insert(s.keylog)


def draft(unit: Unit, link: Link, lease_id: str, screen: int, body: object) -> None:
    """Keep the draft of a screen in place of the one before."""
    rater = unit.rater(link)
    lease = unit.lease(rater, lease_id)
    _need_screen(lease, screen)
    if not isinstance(body, Mapping):
        raise InvalidAnswerError([("", "send an object")])
    need_running(rater.campaign)
    unit.db.execute(DROP_DRAFT, {"of": lease_id, "on": screen})
    unit.db.execute(ADD_DRAFT, {
        "lease": lease_id, "screen": screen, "body": dict(body), "at": unit.now,
    })  # fmt: skip


def send(unit: Unit, link: Link, lease_id: str, screen: int, body: object) -> dict[str, Any]:
    """Store the answers to a screen.

    The same key gives the same reply and stores nothing; another key is a revision. An answer that
    comes after its lease has ended, or while the campaign is paused, is stored and marked late.
    """
    rater = unit.rater(link)
    lease = unit.lease(rater, lease_id)
    _need_screen(lease, screen)
    key, timing, answers = _parts(body)
    before = unit.all(SENT, lease=lease_id)
    for row in before:
        if row.key == key:
            if row.screen != screen:
                raise InvalidAnswerError([("key", "was used for another screen; draw a new one")])
            return dict(row.reply)
    need_running(rater.campaign)
    view = read_view(unit.db, lease, unit.rules)
    if view.shown.questions:
        checked = check_form(answers, view.shown)
    else:
        checked = unit.rules.protocol.check(answers, view.shown, screen)
    revision = max((row.revision for row in before if row.screen == screen), default=0) + 1
    # A first answer may come late; corrections of answers in time are in time.
    out = lease.state != "open" or lease.until < unit.now
    late = rater.campaign == "paused" or (revision == 1 and out)
    whole = len({row.screen for row in before} | {screen}) == lease.screens
    rater, lease = _progress(unit, rater, lease, timing.get("active_ms", 0), whole)
    reply = {"stored": len(checked), "revision": revision, "next": _next(unit, lease, rater)}
    number = append(unit, ADD_SENT, {
        "lease": lease_id, "screen": screen, "revision": revision, "key": key, "at": unit.now,
        "late": late, "timing": timing, "version": __version__,
        "instructions": unit.rules.instructions_hash, "reply": reply,
    })  # fmt: skip
    keep_answers(unit, number, view.hashes, checked)
    if lease.state != "open":
        judge(unit, lease)
    unit.db.execute(DROP_DRAFT, {"of": lease_id, "on": screen})
    return reply


def append(unit: Unit, statement: Insert, values: dict[str, Any]) -> int:
    """Append a row and return its number."""
    key = unit.db.execute(statement, values).inserted_primary_key
    assert key is not None
    return int(key[0])


def _need_screen(lease: Lease, screen: object) -> None:
    whole = isinstance(screen, int) and not isinstance(screen, bool)
    if not whole or not 0 <= screen < lease.screens:  # type: ignore[operator]
        raise InvalidAnswerError([("screen", f"the task has the screens 0 to {lease.screens - 1}")])


def _parts(body: object) -> tuple[str, dict[str, Any], object]:
    """Read key, timing and answers; refuse every other key."""
    if not isinstance(body, Mapping):
        raise InvalidAnswerError([("", "send an object with key, timing and answers")])
    faults = [
        (str(name), "is not known; send key, timing and answers")
        for name in body
        if name not in ("key", "timing", "answers")
    ]
    key = body.get("key")
    if not isinstance(key, str) or not KEY.fullmatch(key):
        faults.append(("key", "send 1 to 100 letters, digits or signs, new for every answer"))
    timing = _timing(body.get("timing", {}), faults)
    if "answers" not in body:
        faults.append(("answers", "is missing"))
    if faults:
        raise InvalidAnswerError(faults)
    return str(key), timing, body["answers"]


def _timing(given: object, faults: list[tuple[str, str]]) -> dict[str, Any]:
    """Read the client's times, which decide nothing."""
    if not isinstance(given, Mapping):
        faults.append(("timing", "send an object"))
        return {}
    for name, value in given.items():
        path = f"timing.{name}"
        if name in TIMES:
            if value is not None and not _is_time(value):
                faults.append((path, "send a time such as 2026-05-01T10:00:00Z"))
        elif name in COUNTS:
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not 0 <= value <= MOST_MS:
                faults.append((path, f"send a whole number from 0 to {MOST_MS}"))
        elif name == "device":
            if value is not None and value not in DEVICES:
                faults.append((path, f"choose from {', '.join(DEVICES)}"))
        else:
            faults.append((path, f"is not known; send {', '.join((*TIMES, *COUNTS, 'device'))}"))
    return dict(given)


def _is_time(value: object) -> bool:
    if not isinstance(value, str) or len(value) > 40:
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _progress(
    unit: Unit, rater: Rater, lease: Lease, active: int, whole: bool
) -> tuple[Rater, Lease]:
    """Rater and lease after one more screen; with its last one, even a late one, a task is done."""
    before, number = rater, None
    rater = rater._replace(active_ms=rater.active_ms + active)
    finishes = whole and lease.state not in FINISHED
    if finishes and lease.reason not in FORMS:
        number = rater.done + 1
        rater = rater._replace(done=number)
    if rater != before:
        unit.db.execute(
            CHANGE_RATER, {"which": rater.id, "active_ms": rater.active_ms, "done": rater.done}
        )
    if finishes:
        copy = lease.copy if lease.state == "open" else unit.free_copy(lease.task)
        lease = unit.set_lease(
            lease, f"rater {rater.id}", state="extra" if copy is None else "done",
            closed=unit.now, number=number, copy=lease.copy if copy is None else copy,
        )  # fmt: skip
    return rater, lease


def _next(unit: Unit, lease: Lease, rater: Rater) -> str:
    """What follows: another screen, another task, or nothing."""
    if lease.state not in FINISHED:
        return "screen"
    return "task" if may_come(unit, rater) or choose(unit, rater) is not None else "done"


def keep_answers(
    unit: Unit, sent: int, hashes: Mapping[tuple[str, int], str], answers: Sequence[Answer]
) -> None:  # fmt: skip
    """Append the answers, their marks and keys."""
    for answer in answers:
        choice = {
            name: value
            for name in ("winner", "strength", "reason", "ranks")
            if (value := getattr(answer, name)) not in (None, {})
        }
        text = hashes.get((answer.code or "", answer.place or 0))
        number = append(unit, ADD_ANSWER, {
            "sent": sent, "code": answer.code, "place": answer.place, "text": text,
            "scores": answer.scores or None, "no_error": answer.no_error, "asked": answer.asked,
            "choice": choice or None, "edited": answer.edited, "skipped": answer.skipped,
            "comment": answer.comment,
        })  # fmt: skip
        if answer.spans:
            marks = [{"answer": number, **asdict(mark)} for mark in answer.spans]
            unit.db.execute(ADD_SPAN, marks)
        if answer.keys or answer.pauses or answer.sessions:
            unit.db.execute(ADD_KEYS, {
                "answer": number, "keys": answer.keys, "pauses": answer.pauses,
                "sessions": list(answer.sessions),
            })  # fmt: skip
