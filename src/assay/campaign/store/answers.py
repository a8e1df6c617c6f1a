"""Answers and drafts: checked, stored for good and judged; answers of another tool among them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Insert, bindparam, delete, func, insert, select, update

from assay._version import __version__
from assay.campaign.protocols.reading import check_form
from assay.campaign.records import (
    FORMS,
    IMPORTED,
    Answer,
    ImportedTask,
    InvalidAnswerError,
    NotNowError,
)
from assay.campaign.store import schema as s
from assay.campaign.store.collected import newest
from assay.campaign.store.people import add_rater, exclude_rater
from assay.campaign.store.tasks import add_lease, choose, may_come
from assay.campaign.store.unit import SERVER, WHICH, Lease, Link, Rater, Record, Unit, need_running
from assay.campaign.store.views import MEMBERS, read_view
from assay.errors import OptionError

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
        lease = unit.count_lease(lease, f"rater {rater.id}", closed=unit.now, number=number)
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
        text = hashes.get((answer.code or "", answer.place or 0))
        number = append(unit, ADD_ANSWER, {
            "sent": sent, "code": answer.code, "place": answer.place, "text": text,
            "scores": answer.scores or None, "no_error": answer.no_error, "asked": answer.asked,
            "choice": answer.choice or None, "edited": answer.edited, "skipped": answer.skipped,
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


PASS_SHARE = 0.7
"""The share of the answers to a test that must lie where they should."""


def judge(unit: Unit, lease: Lease) -> None:
    """Judge a finished task if it is a check or the last of a test.

    A campaign with checks treats every task as one, so that the time of a reply reveals nothing.
    """
    kinds = unit.rules.kinds
    if kinds.isdisjoint(("check", "qualify")):
        return
    task = unit.one(select(s.task).where(s.task.c.id == lease.task))
    assert task is not None
    if task.kind == "qualify":
        _judge_test(unit, lease)
    elif "check" in kinds:
        _judge_check(unit, lease, task)


def _judge_check(unit: Unit, lease: Lease, task: Record) -> None:
    """A check is passed if the spoiled copy scores worse than the output itself."""
    parent = task.id if task.parent is None else task.parent
    genuine = unit.one(
        select(s.lease).where(s.lease.c.task == parent, s.lease.c.rater == lease.rater)
    )
    assert genuine is not None
    before, after = _scores(unit, genuine.id), _scores(unit, lease.id)
    sign = -1 if unit.rules.protocol.better == "lower" else 1
    spoiled = unit.all(select(s.slot).where(s.slot.c.task == task.id, s.slot.c.spoiled))
    unit.db.execute(delete(s.check_result).where(s.check_result.c.lease == lease.id))
    results = []
    for slot in spoiled:
        own = after.get((slot.shown_as, slot.place))
        other = before.get((slot.shown_as, slot.place))
        passed = None if own is None or other is None else bool(sign * own < sign * other)
        results.append({
            "lease": lease.id, "system": slot.system, "place": slot.place, "passed": passed,
            "at": unit.now,
        })  # fmt: skip
    if results:
        unit.db.execute(insert(s.check_result), results)
    _stop_careless(unit, lease.rater)


def _scores(unit: Unit, lease: str) -> dict[tuple[int | None, int], float]:
    """Return the mean score of every output of a task, from the latest revisions."""
    rows = unit.all(
        select(s.shown.c.system, s.answer.c.place, s.answer.c.scores)
        .join(s.sent, s.sent.c.id == s.answer.c.sent)
        .join(s.shown, (s.shown.c.lease == s.sent.c.lease) & (s.shown.c.code == s.answer.c.code))
        .where(s.sent.c.lease == lease, s.sent.c.id.in_(newest(lease)))
    )
    return {
        (row.system, row.place): sum(row.scores.values()) / len(row.scores)
        for row in rows
        if row.scores
    }


def _stop_careless(unit: Unit, rater: int) -> None:
    """Exclude a rater who failed as many checks as the settings allow."""
    most = unit.rules.settings.checks.block_after
    if most is None:
        return
    failed = unit.count(
        select(func.count())
        .select_from(s.check_result)
        .join(s.lease, s.lease.c.id == s.check_result.c.lease)
        .where(s.lease.c.rater == rater, s.check_result.c.passed.is_(False))
    )
    if failed >= most:
        exclude_rater(unit, rater, f"failed {failed} checks", SERVER)


def _judge_test(unit: Unit, lease: Lease) -> None:
    """Exclude a rater who fails the test."""
    left = (
        select(s.task.c.id)
        .outerjoin(s.lease, (s.lease.c.task == s.task.c.id) & (s.lease.c.rater == lease.rater))
        .where(s.task.c.kind == "qualify", s.lease.c.id.is_(None) | (s.lease.c.state != "done"))
    )
    if unit.one(left) is not None:
        return
    rows = unit.all(
        select(s.task.c.body, s.answer.c.scores)
        .join(s.lease, s.lease.c.task == s.task.c.id)
        .join(s.sent, s.sent.c.lease == s.lease.c.id)
        .join(s.answer, s.answer.c.sent == s.sent.c.id)
        .where(
            s.task.c.kind == "qualify", s.lease.c.rater == lease.rater,
            s.sent.c.id.in_(newest()),
        )
    )  # fmt: skip
    right = [_fits(row) for row in rows]
    unit.note(SERVER, "tested", lease.rater, right=sum(right), of=len(right))
    if sum(right) < PASS_SHARE * len(right):
        exclude_rater(unit, lease.rater, "did not pass the test", SERVER)


def _fits(row: Any) -> bool:
    if not row.scores:
        return False
    score = sum(row.scores.values()) / len(row.scores)
    return bool(row.body["low"] <= score <= row.body["high"])


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
    systems = sorted({row.shown_as for row in unit.all(MEMBERS, which=part.task)})
    task = unit.one(select(s.task).where(s.task.c.id == part.task))
    assert task is not None
    spent = round(1000 * sum(column.seconds for column in part.columns.values()))
    lease = Lease(
        secrets.token_hex(16), part.task, rater, task.wanted, "expired", unit.now - spent,
        unit.now, unit.now, None, len(systems), IMPORTED, task.block_probability,
    )  # fmt: skip
    add_lease(unit, lease, [[system] for system in systems], IMPORTED)
    return lease


def _settle(unit: Unit, lease: Lease, rater: int, part: ImportedTask) -> bool:
    """A task that is whole is done, or overlap where no rater was wanted any more."""
    if not part.whole or lease.state in ("done", "extra"):
        return False
    done = unit.count(select(s.rater.c.done).where(s.rater.c.id == rater)) + 1
    unit.db.execute(OF_RATER, {"which": rater, "done": done})
    unit.count_lease(lease, IMPORTED, number=done)
    return True
