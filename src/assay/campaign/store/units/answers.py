"""Answers and drafts: what a rater sends is checked, kept for good, and answered the same twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from assay._version import __version__
from assay.campaign.records import Answer, InvalidAnswerError, NotNowError, Shown
from assay.campaign.store import schema as s
from assay.campaign.store.units.base import Record, Unit
from assay.campaign.store.units.judging import judge
from assay.campaign.store.units.tasks import choose
from assay.campaign.store.views import read_shown

TIMES, COUNTS = ("opened", "first", "sent"), ("active_ms", "idle_ms", "away")
DEVICES = ("pointer", "keyboard", "both")
MOST_MS = 7 * 24 * 3_600_000
MOST_KEY = 100


def draft(unit: Unit, rater_id: int, lease_id: str, screen: int, body: object) -> None:
    """Keep what is not sent yet; the last draft of a screen counts."""
    unit.rater(rater_id)
    lease = unit.lease(rater_id, lease_id)
    _need_screen(lease, screen)
    if not isinstance(body, Mapping):
        raise InvalidAnswerError([("", "send an object")])
    _need_open_campaign(unit)
    key = (s.draft.c.lease == lease_id) & (s.draft.c.screen == screen)
    unit.db.execute(delete(s.draft).where(key))
    unit.db.execute(insert(s.draft).values(
        lease=lease_id, screen=screen, body=dict(body), at=unit.now
    ))  # fmt: skip


def send(unit: Unit, rater_id: int, lease_id: str, screen: int, body: object) -> dict[str, Any]:
    """Store the answers to a screen.

    The same key gives the same reply and stores nothing. Another key is a revision. What comes
    after its time, or while the campaign is paused, is stored and marked as late.
    """
    rater = unit.rater(rater_id)
    lease = unit.lease(rater_id, lease_id)
    _need_screen(lease, screen)
    key, timing, answers = _parts(body)
    before = unit.one(
        select(s.sent.c.reply, s.sent.c.screen).where(
            s.sent.c.lease == lease_id, s.sent.c.key == key
        )
    )
    if before is not None:
        if before.screen != screen:
            raise InvalidAnswerError([("key", "was used for another screen; draw a new one")])
        return dict(before.reply)
    _need_open_campaign(unit)
    shown = read_shown(unit.db, lease, unit.rules)
    checked = unit.rules.protocol.check(answers, shown, screen)
    last = select(func.max(s.sent.c.revision)).where(
        s.sent.c.lease == lease_id, s.sent.c.screen == screen
    )
    revision = unit.count(last) + 1
    late = _is_late(unit, lease, revision)
    lease = _progress(unit, rater, lease, timing, screen)
    reply = {"stored": len(checked), "revision": revision, "next": _next(unit, lease, rater.id)}
    stored = unit.db.execute(insert(s.sent).values(
        lease=lease_id, screen=screen, revision=revision, key=key, at=unit.now, late=late,
        timing=timing, version=__version__, instructions=unit.rules.instructions_hash, reply=reply,
    ))  # fmt: skip
    number = stored.inserted_primary_key
    assert number is not None
    _keep(unit, int(number[0]), lease, shown, checked)
    if lease.state != "open":
        judge(unit, lease)
    key_of_draft = (s.draft.c.lease == lease_id) & (s.draft.c.screen == screen)
    unit.db.execute(delete(s.draft).where(key_of_draft))
    return reply


def _need_screen(lease: Record, screen: object) -> None:
    whole = isinstance(screen, int) and not isinstance(screen, bool)
    if not whole or not 0 <= screen < lease.screens:  # type: ignore[operator]
        raise InvalidAnswerError([("screen", f"the task has the screens 0 to {lease.screens - 1}")])


def _need_open_campaign(unit: Unit) -> None:
    state = unit.state
    if state == "closed":
        raise NotNowError("the campaign is closed and takes no more answers; keep your text")
    if state == "draft":
        raise NotNowError("the campaign has not begun yet; try again later")


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
    if not isinstance(key, str) or not 0 < len(key) <= MOST_KEY or "\0" in key:
        faults.append(("key", f"send a text of 1 to {MOST_KEY} characters, new for every answer"))
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
    if unit.state == "paused":
        return True
    if revision > 1:
        return False
    return bool(lease.state != "open" or lease.until < unit.now)


def _progress(
    unit: Unit, rater: Record, lease: Record, timing: dict[str, Any], screen: int
) -> Record:
    """The lease after one more screen: done with its last one, also where it came late."""
    active = timing.get("active_ms", 0)
    if active:
        total = s.rater.c.active_ms + active
        unit.db.execute(update(s.rater).where(s.rater.c.id == rater.id).values(active_ms=total))
    if lease.state in ("done", "extra", "aside"):
        return lease
    sent = select(s.sent.c.screen).distinct().where(s.sent.c.lease == lease.id)
    have = set(unit.db.execute(sent).scalars()) | {screen}
    if len(have) < lease.screens:
        return lease
    number = rater.done + 1
    copy = lease.copy if lease.state == "open" else unit.free_copy(lease.task)
    state = "done" if copy is not None else "extra"
    unit.set_lease(
        lease, f"rater {rater.id}", state=state, closed=unit.now, number=number,
        copy=lease.copy if copy is None else copy,
    )  # fmt: skip
    unit.db.execute(update(s.rater).where(s.rater.c.id == rater.id).values(done=number))
    return unit.lease(rater.id, lease.id)


def _next(unit: Unit, lease: Record, rater_id: int) -> str:
    if lease.state not in ("done", "extra", "aside"):
        return "screen"
    task, _ = choose(unit, unit.rater(rater_id))
    return "done" if task is None else "task"


def _keep(unit: Unit, sent: int, lease: Record, shown: Shown, answers: tuple[Answer, ...]) -> None:
    """Append the answers, their marks and keys."""
    hashes = _hashes(unit, lease, shown)
    for answer in answers:
        choice = {
            name: value
            for name in ("winner", "strength", "reason", "ranks")
            if (value := getattr(answer, name)) not in (None, {})
        }
        row = unit.db.execute(insert(s.answer).values(
            sent=sent, code=answer.code, place=answer.place,
            text=hashes.get((answer.code, answer.place)), scores=answer.scores or None,
            no_error=answer.no_error, asked=answer.asked, choice=choice or None,
            edited=answer.edited, skipped=answer.skipped, comment=answer.comment,
        ))  # fmt: skip
        assert row.inserted_primary_key is not None
        number = int(row.inserted_primary_key[0])
        if answer.spans:
            marks = [{"answer": number, **asdict(mark)} for mark in answer.spans]
            unit.db.execute(insert(s.span), marks)
        if answer.keys or answer.pauses or answer.sessions:
            unit.db.execute(insert(s.keylog).values(
                answer=number, keys=answer.keys, pauses=answer.pauses,
                sessions=list(answer.sessions),
            ))  # fmt: skip


def _hashes(unit: Unit, lease: Record, shown: Shown) -> dict[tuple[str | None, int | None], str]:
    """Which text every output that is judged showed."""
    rows = unit.all(
        select(s.shown.c.code, s.slot.c.segment, s.slot.c.text, s.task.c.first)
        .join(s.lease, s.lease.c.id == s.shown.c.lease)
        .join(s.task, s.task.c.id == s.lease.c.task)
        .join(s.slot, (s.slot.c.task == s.task.c.id) & (s.slot.c.system == s.shown.c.system)
              & (s.slot.c.shown_as == s.shown.c.system))
        .where(s.shown.c.lease == lease.id)
    )  # fmt: skip
    return {(row.code, row.segment - row.first): row.text for row in rows}
