"""What is read from a store: links, a rater's own tasks, media, how the campaign stands."""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, func, select

from assay.campaign.protocols.base import TIE
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
    given = (
        select(s.answer, s.sent.c.screen)
        .join(s.sent, s.sent.c.id == s.answer.c.sent)
        .where(s.sent.c.lease == lease_id, s.sent.c.id.in_(newest(lease_id)))
        .order_by(s.answer.c.id)
    )
    asked = getattr(rules.protocol, "keys", ())
    for row in db.execute(given):
        found.setdefault(str(row.screen), []).append(_as_sent(db, row, asked))
    return reply | {"answers": found}


def newest(lease: str | None = None) -> Select[Any]:
    """The last revision of every screen, of one lease or all."""
    found = select(func.max(s.sent.c.id)).group_by(s.sent.c.lease, s.sent.c.screen)
    return found if lease is None else found.where(s.sent.c.lease == lease)


def _as_sent(db: Connection, row: Any, asked: Sequence[str]) -> dict[str, Any]:
    """A stored answer in the form in which it was sent."""
    marks = [
        {
            name: value
            for name in ("side", "start", "end", "severity", "category", "origin", "missing")
            if (value := getattr(mark, name)) is not None and value is not False
        }
        for mark in db.execute(
            select(s.span).where(s.span.c.answer == row.id).order_by(s.span.c.id)
        )
    ]
    keys = db.execute(select(s.keylog).where(s.keylog.c.answer == row.id)).first()
    logged = keys._asdict() if keys is not None else {}
    given = {
        "scores": row.scores, "spans": marks, "no_error": row.no_error, "asked": row.asked,
        "edited": row.edited,
        **{name: logged.get(name) for name in ("keys", "pauses", "sessions")},
    }  # fmt: skip
    own = {name: value for name, value in given.items() if value and name in asked}
    place = row.place if row.code is not None else None
    head = {"code": row.code, "place": place, "skipped": row.skipped, "comment": row.comment}
    head = {name: value for name, value in head.items() if value is not None}
    choice = dict(row.choice or {})
    if choice.get("winner") == TIE:
        choice["winner"] = None
    return head | own | choice


def read_links(db: Connection) -> list[dict[str, Any]]:
    """All links; their tokens are known to those who have them alone."""
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


def read_consent(db: Connection) -> str | None:
    """What raters agree to before they begin, if anything."""
    found: str | None = db.execute(
        select(s.stored_text.c.body).join(
            s.campaign, s.campaign.c.consent_hash == s.stored_text.c.hash
        )
    ).scalar()
    return found


def read_media(db: Connection, code: str) -> tuple[bytes, str]:
    """A file shown with a source, and its type."""
    row = db.execute(select(s.media).where(s.media.c.code == code)).first()
    if row is None:
        raise NotYoursError("there is no such file")
    return row.body, row.type


def read_counts(db: Connection) -> dict[str, dict[str, int]]:
    """How many there are of what, by state; what has none is one number."""
    found = {
        name: {row[0]: row[1] for row in db.execute(select(state, func.count()).group_by(state))}
        for name, state in (
            ("campaigns", s.campaign.c.state), ("raters", s.rater.c.state),
            ("leases", s.lease.c.state),
        )
    }  # fmt: skip
    sent = db.execute(select(func.count()).select_from(s.sent)).scalar_one()
    return found | {"screens_sent": {"": sent}}


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
    counted = db.execute(
        select(s.lease.c.task, func.count())
        .select_from(s.answer)
        .join(s.sent, s.sent.c.id == s.answer.c.sent)
        .join(s.lease, s.lease.c.id == s.sent.c.lease)
        .where(s.sent.c.id.in_(newest()))
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
