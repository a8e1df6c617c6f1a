"""Reading a store: links, a rater's own tasks, media, the status of the campaign."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Connection, func, select

from assay.campaign.protocols.base import TIE
from assay.campaign.records import FORMS, Answer, Collected, LookSeen, NotYoursError
from assay.campaign.store import schema as s
from assay.campaign.store.clock import iso
from assay.campaign.store.collected import answer_of, newest, read_answers, read_forms, read_spans
from assay.campaign.store.people import token_hash
from assay.campaign.store.tally import HOUR_MS, Tally
from assay.campaign.store.unit import Lease, Link, Rules
from assay.campaign.store.views import task_reply, unfinished
from assay.collecting.results import CampaignStatus, RaterStatus
from assay.project.settings import Pay
from assay.results import plain

ANSWERED = (
    "scores", "spans", "no_error", "asked", "edited", "keys", "pauses", "sessions",
)  # fmt: skip
"""What protocols ask about an output."""
NOT_YOURS = "you have no such task; reload the page"


def find_link(db: Connection, token: str, now: int) -> Link | None:
    """Look up what a token gives access to, if anything."""
    digest = token_hash(token)
    row = db.execute(
        select(s.link, s.rater.c.name, s.rater.c.language)
        .outerjoin(s.rater, s.rater.c.id == s.link.c.rater)
        .where(s.link.c.token_hash == digest)
    ).first()
    if row is None or not hmac.compare_digest(row.token_hash, digest):
        return None
    if row.revoked is not None or (row.expires is not None and row.expires <= now):
        return None
    return Link(row.id, row.role, row.name, row.language, row.rater)


def mine(db: Connection, link: Link) -> list[dict[str, Any]]:
    """Read a rater's tasks of which something was sent, newest first."""
    last = func.max(s.sent.c.at)
    rows = db.execute(
        select(s.lease, last.label("at"), func.count(s.sent.c.screen.distinct()).label("have"))
        .join(s.sent, s.sent.c.lease == s.lease.c.id)
        .where(s.lease.c.rater == link.need_rater(), s.lease.c.reason.not_in(FORMS))
        .group_by(s.lease.c.id)
        .order_by(last.desc())
    ).all()
    return [
        {
            "lease": row.id, "state": "done" if row.have == row.screens else "open",
            "sent": iso(row.at), "screens": row.screens, "number": row.number,
        }
        for row in rows
    ]  # fmt: skip


def mine_one(db: Connection, rules: Rules, link: Link, lease_id: str) -> dict[str, Any]:
    """Read one of a rater's tasks with their latest answers, by screen."""
    rater = link.need_rater()
    lease = db.execute(select(s.lease).where(s.lease.c.id == lease_id)).first()
    if lease is None or lease.rater != rater:
        raise NotYoursError(NOT_YOURS)
    person = db.execute(select(s.rater).where(s.rater.c.id == rater)).one()
    reply = task_reply(db, Lease._make(lease), rules, person, unfinished(db, lease_id))
    given = db.execute(
        select(s.answer, s.sent.c.screen)
        .join(s.sent, s.sent.c.id == s.answer.c.sent)
        .where(s.sent.c.lease == lease_id, s.sent.c.id.in_(newest(lease_id)))
        .order_by(s.answer.c.id)
    ).all()
    numbers = [row.id for row in given]
    marks = read_spans(db, s.span.c.answer.in_(numbers))
    logged = db.execute(select(s.keylog).where(s.keylog.c.answer.in_(numbers)))
    keys = {row.answer: row for row in logged}
    asked = getattr(rules.protocol, "keys", ())
    found: dict[str, list[dict[str, Any]]] = {}
    for row in given:
        answer = answer_of(row, marks[row.id], keys.get(row.id))
        found.setdefault(str(row.screen), []).append(_as_sent(answer, asked))
    return reply | {"answers": found}


def _as_sent(answer: Answer, asked: Sequence[str]) -> dict[str, Any]:
    """Return an answer in the form in which it was sent."""
    said = asdict(answer)
    marks = [
        {name: value for name, value in mark.items() if value is not None and value is not False}
        for mark in said["spans"]
    ]
    given = said | {"spans": marks, "sessions": list(said["sessions"])}
    own = {name: given[name] for name in ANSWERED if given[name] and name in asked}
    place = answer.place if answer.code is not None else None
    head = {"code": answer.code, "place": place, "skipped": answer.skipped}
    head |= {"comment": answer.comment}
    head = {name: value for name, value in head.items() if value is not None}
    choice = answer.choice
    if answer.winner == TIE:
        choice["winner"] = None
    return head | own | choice


def read_links(db: Connection) -> list[dict[str, Any]]:
    """Read all links, without their tokens, which are not stored."""
    rows = db.execute(
        select(s.link, s.rater.c.name)
        .outerjoin(s.rater, s.rater.c.id == s.link.c.rater)
        .order_by(s.link.c.id)
    )
    return [
        {
            "id": row.id, "role": row.role, "rater": row.name, "created": iso(row.created),
            "revoked": None if row.revoked is None else iso(row.revoked),
        }
        for row in rows
    ]  # fmt: skip


def read_lessons(db: Connection) -> list[dict[str, Any]]:
    """Read the examples of the tutorial and the test, with the range of a good score."""
    wanted = select(s.task.c.body).where(s.task.c.kind.in_(("tutorial", "qualify")))
    return [dict(body) for body in db.execute(wanted).scalars()]


def read_consent(db: Connection) -> str | None:
    """Read what raters agree to before they begin, if anything."""
    found: str | None = db.execute(
        select(s.stored_text.c.body).join(
            s.campaign, s.campaign.c.consent_hash == s.stored_text.c.hash
        )
    ).scalar()
    return found


def read_media(db: Connection, code: str) -> tuple[bytes, str]:
    """Read a file shown with a source, and its type."""
    row = db.execute(select(s.media).where(s.media.c.code == code)).first()
    if row is None:
        raise NotYoursError("there is no such file")
    return row.body, row.type


def read_counts(db: Connection) -> dict[str, dict[str, int]]:
    """Count campaigns, raters and leases by state, and screens sent."""
    found = {
        name: {row[0]: row[1] for row in db.execute(select(state, func.count()).group_by(state))}
        for name, state in (
            ("campaigns", s.campaign.c.state), ("raters", s.rater.c.state),
            ("leases", s.lease.c.state),
        )
    }  # fmt: skip
    sent = db.execute(select(func.count()).select_from(s.sent)).scalar_one()
    return found | {"screens_sent": {"": sent}}


def read_status(db: Connection, rules: Rules, slug: str, tally: Tally) -> CampaignStatus:
    """Read the status of the campaign."""
    state = db.execute(select(s.campaign.c.state)).scalar_one()
    with tally.now(db) as counts:
        waits = _unfinished(db)
        first = min(waits.values(), default=None)
        places = counts.positions
        beginning = len(places)
        waiting = 0
        if first is not None:
            beginning = sum(place < first for place in places.values())
            waiting = sum(
                number for task, number in counts.by_task.items() if places.get(task, -1) >= first
            )
        raters = raters_status(db, rules, counts)
        answers, told = counts.answers, [k for k, kind in counts.events.items() if kind == "told"]
    return CampaignStatus(
        rules.name, slug, state, rules.protocol.name, len(places), len(places) - len(waits),
        answers, beginning, waiting, (), None, (), raters, _spent(raters),
        rules.settings.pay.currency, _told(db, told),
    )  # fmt: skip


def _unfinished(db: Connection) -> dict[int, int]:
    """Read the place in the order of every task that still wants an answer."""
    held = select(s.lease.c.task).where(s.OPEN)
    rows = db.execute(
        select(s.task.c.id, s.task.c.position).where(s.task.c.kind == "rate", s.FREE)
        .union(
            select(s.task.c.id, s.task.c.position)
            .where(s.task.c.kind == "rate", s.task.c.id.in_(held))
        )
    )  # fmt: skip
    return {row.id: row.position for row in rows}


def _spent(raters: Sequence[RaterStatus]) -> float | None:
    """Sum what all raters are owed, if work has a price."""
    due = [one.due for one in raters if one.due is not None]
    return sum(due) if due else None


def _told(db: Connection, events: Sequence[int]) -> tuple[str, ...]:
    """Read what the owner should know."""
    rows = db.execute(select(s.event).where(s.event.c.id.in_(events)).order_by(s.event.c.id))
    return tuple(f"task {row.subject}: {row.body['what']} ({row.body['reason']})" for row in rows)


def read_collected(
    db: Connection, rules: Rules, tally: Tally, seen: LookSeen | None = None
) -> Collected:
    """Read the latest answers, or those that a look saw, with raters, events and inputs."""
    found = read_answers(db, seen)
    events = tuple(
        {name: getattr(row, name) for name in ("at", "actor", "kind", "subject", "body")}
        for row in db.execute(select(s.event).order_by(s.event.c.id))
    )
    with tally.now(db) as counts:
        raters = tuple(plain(one) for one in raters_status(db, rules, counts))
    return replace(found, raters=raters, events=events, forms=tuple(read_forms(db)))


def raters_status(db: Connection, rules: Rules, counts: Tally) -> tuple[RaterStatus, ...]:
    """Read how far every rater is."""
    counted = db.execute(
        select(s.lease.c.rater, func.count())
        .where(s.lease.c.state == "open")
        .group_by(s.lease.c.rater)
    ).all()
    held: dict[int, int] = {row[0]: row[1] for row in counted}
    checks = db.execute(
        select(s.lease.c.rater, s.check_result.c.passed, func.count())
        .join(s.lease, s.lease.c.id == s.check_result.c.lease)
        .group_by(s.lease.c.rater, s.check_result.c.passed)
    ).all()
    scored = {(row[0], row[1]): row[2] for row in checks}
    return tuple(
        RaterStatus(
            row.name, row.state, row.done, held.get(row.id, 0), row.active_ms / 1000,
            scored.get((row.id, True), 0),
            scored.get((row.id, True), 0) + scored.get((row.id, False), 0),
            counts.by_rater[row.id], counts.median_seconds(row.id),
            _due(rules.settings.pay, row.done, counts.by_rater[row.id], row.active_ms),
        )
        for row in db.execute(select(s.rater).order_by(s.rater.c.id))
    )  # fmt: skip


def _due(pay: Pay, tasks: int, answers: int, active_ms: int) -> float | None:
    """Compute what a rater is owed by the plan."""
    if pay.per_rating:
        return answers * pay.per_rating
    if pay.per_hour:
        return active_ms / HOUR_MS * pay.per_hour
    return tasks * pay.per_task if pay.per_task else None
