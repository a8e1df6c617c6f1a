"""What is read from a store: links, a rater's own tasks, media, how the campaign stands."""

from __future__ import annotations

import hmac
from collections import Counter
from typing import Any

from sqlalchemy import Connection, func, select

from assay.campaign.records import NotYoursError
from assay.campaign.store import schema as s
from assay.campaign.store.clock import iso
from assay.campaign.store.units.base import Rules
from assay.campaign.store.units.people import Link, token_hash
from assay.campaign.store.views import task_reply
from assay.collecting.campaigns import CampaignStatus, RaterStatus

NOT_YOURS = "you have no such task; reload the page"


def find_link(db: Connection, token: str, now: int) -> Link | None:
    """What a token gives access to, if anything."""
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


def mine(db: Connection, rater: int) -> list[dict[str, Any]]:
    """A rater's own tasks with something sent, newest first."""
    last = func.max(s.sent.c.at)
    rows = db.execute(
        select(s.lease, last.label("at"), func.count(s.sent.c.screen.distinct()).label("have"))
        .join(s.sent, s.sent.c.lease == s.lease.c.id)
        .where(s.lease.c.rater == rater)
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


def mine_one(db: Connection, rules: Rules, rater: int, lease_id: str) -> dict[str, Any]:
    """One of a rater's own tasks with the answers given, latest revision, by screen."""
    lease = db.execute(select(s.lease).where(s.lease.c.id == lease_id)).first()
    if lease is None or lease.rater != rater:
        raise NotYoursError(NOT_YOURS)
    person = db.execute(select(s.rater).where(s.rater.c.id == rater)).one()
    reply = task_reply(db, lease, rules, person)
    found: dict[str, list[dict[str, Any]]] = {}
    for row in latest(db, lease_id):
        answer = wire_answer(db, row)
        found.setdefault(str(row.screen), []).append(answer)
    return reply | {"answers": found}


def latest(db: Connection, lease_id: str) -> list[Any]:
    """The answers of a lease in their latest revision, with their screen."""
    newest = (
        select(s.sent.c.screen, func.max(s.sent.c.revision).label("revision"))
        .where(s.sent.c.lease == lease_id)
        .group_by(s.sent.c.screen)
        .subquery()
    )
    return list(
        db.execute(
            select(s.answer, s.sent.c.screen)
            .join(s.sent, s.sent.c.id == s.answer.c.sent)
            .join(
                newest,
                (newest.c.screen == s.sent.c.screen) & (newest.c.revision == s.sent.c.revision),
            )
            .where(s.sent.c.lease == lease_id)
            .order_by(s.answer.c.id)
        ).all()
    )


def wire_answer(db: Connection, row: Any) -> dict[str, Any]:
    """A stored answer in the form in which it was sent."""
    spans = db.execute(select(s.span).where(s.span.c.answer == row.id).order_by(s.span.c.id)).all()
    marks = [
        {
            name: getattr(mark, name)
            for name in ("side", "start", "end", "severity", "category", "origin", "missing")
            if getattr(mark, name) is not None and getattr(mark, name) is not False
        }
        for mark in spans
    ]
    given = {
        "code": row.code, "place": row.place, "scores": row.scores, "spans": marks or None,
        "no_error": row.no_error or None, "edited": row.edited, "skipped": row.skipped,
        "comment": row.comment, **(row.choice or {}),
    }  # fmt: skip
    return {name: value for name, value in given.items() if value is not None}


def read_media(db: Connection, code: str) -> tuple[bytes, str]:
    """A file shown with a source, and its type."""
    row = db.execute(select(s.media).where(s.media.c.code == code)).first()
    if row is None:
        raise NotYoursError("there is no such file")
    return row.body, row.type


def read_status(db: Connection, rules: Rules, slug: str) -> CampaignStatus:
    """How the campaign stands."""
    row = db.execute(select(s.campaign.c.state)).one()
    tasks = db.execute(
        select(s.task.c.id, s.task.c.wanted, s.task.c.outputs)
        .where(s.task.c.kind == "rate")
        .order_by(s.task.c.position)
    ).all()
    done = Counter(db.execute(select(s.lease.c.task).where(s.lease.c.state == "done")).scalars())
    full = [done[task.id] >= task.wanted for task in tasks]
    beginning = full.index(False) if False in full else len(full)
    behind = {task.id for task in tasks[beginning:]}
    raters = raters_status(db)
    latest_sent = (
        select(s.sent.c.lease, s.sent.c.screen, func.max(s.sent.c.id).label("id"))
        .group_by(s.sent.c.lease, s.sent.c.screen)
        .subquery()
    )
    counted = db.execute(
        select(s.lease.c.task, func.count())
        .select_from(s.answer)
        .join(latest_sent, latest_sent.c.id == s.answer.c.sent)
        .join(s.lease, s.lease.c.id == latest_sent.c.lease)
        .group_by(s.lease.c.task)
    ).all()
    answers = sum(count for _, count in counted)
    waiting = sum(count for task, count in counted if task in behind)
    pay = rules.settings.pay
    finished = sum(rater.done for rater in raters)
    spent = finished * pay.per_task if pay.per_task else None
    if pay.per_rating:
        spent = answers * pay.per_rating
    elif pay.per_hour:
        spent = sum(rater.seconds for rater in raters) / 3600 * pay.per_hour
    return CampaignStatus(
        rules.name, slug, row.state, rules.protocol.name, len(tasks), sum(full), answers,
        beginning, waiting, (), None, (), raters, spent, pay.currency, _told(db),
    )  # fmt: skip


def _told(db: Connection) -> tuple[str, ...]:
    """What the owner should know."""
    rows = db.execute(select(s.event).where(s.event.c.kind == "told").order_by(s.event.c.id))
    return tuple(f"task {row.subject}: {row.body['what']} ({row.body['reason']})" for row in rows)


def raters_status(db: Connection) -> tuple[RaterStatus, ...]:
    """How far every rater is."""
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
        )
        for row in db.execute(select(s.rater).order_by(s.rater.c.id))
    )  # fmt: skip
