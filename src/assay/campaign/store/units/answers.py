"""Answers and drafts: what a rater sends is checked, kept for good, and answered the same twice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Insert, bindparam, delete, func, insert, select, update

from assay._version import __version__
from assay.campaign.protocols.forms import check_form
from assay.campaign.records import FORMS, Answer, InvalidAnswerError
from assay.campaign.store import schema as s
from assay.campaign.store.units.base import WHICH, Record, Unit
from assay.campaign.store.units.judging import judge
from assay.campaign.store.units.tasks import choose, may_come
from assay.campaign.store.views import SENT, read_view

TIMES, COUNTS = ("opened", "first", "sent"), ("active_ms", "idle_ms", "away")
DEVICES = ("pointer", "keyboard", "both")
MOST_MS = 7 * 24 * 3_600_000
KEY = re.compile("[!-~]{1,100}")


OF_LEASE = s.sent.c.lease == bindparam("lease")
BY_KEY = select(s.sent.c.reply, s.sent.c.screen).where(OF_LEASE, s.sent.c.key == bindparam("key"))
LAST_REVISION = select(func.max(s.sent.c.revision)).where(
    OF_LEASE, s.sent.c.screen == bindparam("screen")
)
DROP_DRAFT = delete(s.draft).where(
    s.draft.c.lease == bindparam("of"), s.draft.c.screen == bindparam("on")
)
OF_RATER = update(s.rater).where(s.rater.c.id == WHICH)
ADD_TIME = OF_RATER.values(active_ms=s.rater.c.active_ms + bindparam("more"))
SET_DONE = OF_RATER.values(done=bindparam("number"))
ADD_SENT, ADD_ANSWER = insert(s.sent), insert(s.answer)
ADD_SPAN, ADD_KEYS = insert(s.span), insert(s.keylog)


def draft(unit: Unit, rater_id: int, lease_id: str, screen: int, body: object) -> None:
    """Keep what is not sent yet; the last draft of a screen counts."""
    unit.rater(rater_id)
    lease = unit.lease(rater_id, lease_id)
    _need_screen(lease, screen)
    if not isinstance(body, Mapping):
        raise InvalidAnswerError([("", "send an object")])
    unit.need_running()
    unit.db.execute(DROP_DRAFT, {"of": lease_id, "on": screen})
    unit.db.execute(insert(s.draft), {
        "lease": lease_id, "screen": screen, "body": dict(body), "at": unit.now,
    })  # fmt: skip


def send(unit: Unit, rater_id: int, lease_id: str, screen: int, body: object) -> dict[str, Any]:
    """Store the answers to a screen.

    The same key gives the same reply and stores nothing. Another key is a revision. What comes
    after its time, or while the campaign is paused, is stored and marked as late.
    """
    rater = unit.rater(rater_id)
    lease = unit.lease(rater_id, lease_id)
    _need_screen(lease, screen)
    key, timing, answers = _parts(body)
    before = unit.one(BY_KEY, lease=lease_id, key=key)
    if before is not None:
        if before.screen != screen:
            raise InvalidAnswerError([("key", "was used for another screen; draw a new one")])
        return dict(before.reply)
    paused = unit.need_running() == "paused"
    view = read_view(unit.db, lease, unit.rules)
    if view.shown.questions:
        checked = check_form(answers, view.shown)
    else:
        checked = unit.rules.protocol.check(answers, view.shown, screen)
    revision = unit.count(LAST_REVISION, lease=lease_id, screen=screen) + 1
    late = paused or _is_late(unit, lease, revision)
    lease = _progress(unit, rater, lease, timing, screen)
    reply = {"stored": len(checked), "revision": revision, "next": _next(unit, lease, rater.id)}
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
    """Append a row; its number."""
    key = unit.db.execute(statement, values).inserted_primary_key
    assert key is not None
    return int(key[0])


def _need_screen(lease: Record, screen: object) -> None:
    whole = isinstance(screen, int) and not isinstance(screen, bool)
    if not whole or not 0 <= screen < lease.screens:  # type: ignore[operator]
        raise InvalidAnswerError([("screen", f"the task has the screens 0 to {lease.screens - 1}")])


def _parts(body: object) -> tuple[str, dict[str, Any], object]:
    """Key, timing and answers of what was sent; every other key is refused."""
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
    """The client's times; they never decide anything."""
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


def _is_late(unit: Unit, lease: Record, revision: int) -> bool:
    """Whether a first answer came after its time; corrections of answers in time are in time."""
    if revision > 1:
        return False
    return bool(lease.state != "open" or lease.until < unit.now)


def _progress(
    unit: Unit, rater: Record, lease: Record, timing: dict[str, Any], screen: int
) -> Record:
    """The lease after one more screen: done with its last one, also where it came late."""
    active = timing.get("active_ms", 0)
    if active:
        unit.db.execute(ADD_TIME, {"which": rater.id, "more": active})
    if lease.state in ("done", "extra", "aside"):
        return lease
    if lease.screens > 1:
        have = {row.screen for row in unit.all(SENT, lease=lease.id)} | {screen}
        if len(have) < lease.screens:
            return lease
    number = None if lease.reason in FORMS else rater.done + 1
    copy = lease.copy if lease.state == "open" else unit.free_copy(lease.task)
    state = "done" if copy is not None else "extra"
    if number is not None:
        unit.db.execute(SET_DONE, {"which": rater.id, "number": number})
    return unit.set_lease(
        lease, f"rater {rater.id}", state=state, closed=unit.now, number=number,
        copy=lease.copy if copy is None else copy,
    )  # fmt: skip


def _next(unit: Unit, lease: Record, rater_id: int) -> str:
    if lease.state not in ("done", "extra", "aside"):
        return "screen"
    rater = unit.rater(rater_id)
    return "task" if choose(unit, rater) is not None or may_come(unit, rater) else "done"


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
