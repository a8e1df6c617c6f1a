"""Messages from the owner to a rater: sent, shown on the rater's page, read."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from assay.campaign.records import InvalidAnswerError, NotYoursError
from assay.campaign.store import schema as s
from assay.campaign.store.clock import iso
from assay.campaign.store.tally import Tally
from assay.campaign.store.units.base import Link, Unit
from assay.campaign.store.units.people import named

SENT, READ = "message", "message-read"
MAX_CHARACTERS = 2000


def send_message(unit: Unit, name: str, text: str, actor: str) -> None:
    """Send a rater a message, which their page shows until they have read it."""
    if not text.strip() or len(text) > MAX_CHARACTERS:
        raise InvalidAnswerError([("text", f"write 1 to {MAX_CHARACTERS:,} characters")])
    unit.note(actor, SENT, named(unit, name).id, text=text.strip())


def read_message(unit: Unit, link: Link, number: int) -> None:
    """Mark a message and all before it as read."""
    rater_id = link.rater_id
    own = (s.event.c.kind == SENT) & (s.event.c.subject == str(rater_id))
    if unit.one(select(s.event.c.id).where(s.event.c.id == number, own)) is None:
        raise NotYoursError("you have no such message; reload the page")
    unit.note(f"rater {rater_id}", READ, rater_id, message=number)


def unread(db: Connection, tally: Tally, rater_id: int) -> list[dict[str, Any]]:
    """Read the messages that a rater has not read yet, oldest first."""
    with tally.now(db) as counts:
        numbers = [k for k, kind in counts.events.items() if kind in (SENT, READ)]
    own = s.event.c.id.in_(numbers), s.event.c.subject == str(rater_id)
    rows = db.execute(select(s.event).where(*own).order_by(s.event.c.id)).all()
    last = max((row.body["message"] for row in rows if row.kind == READ), default=0)
    return [
        {"id": row.id, "at": iso(row.at), "text": row.body["text"]}
        for row in rows
        if row.kind == SENT and row.id > last
    ]
