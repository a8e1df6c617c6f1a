"""Links, raters in and out, messages to them, and the state of the campaign."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import count, islice
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from assay.campaign.records import InvalidAnswerError, NotNowError, NotYoursError
from assay.campaign.store import schema as s
from assay.campaign.store.clock import iso
from assay.campaign.store.tally import Tally
from assay.campaign.store.tasks import choose
from assay.campaign.store.unit import Lease, Link, Record, Role, Unit
from assay.errors import OptionError

TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
OUTSIDE = re.compile("[!-~]{1,200}")
STATES: dict[str, tuple[str, ...]] = {
    "open": ("draft", "paused", "open"),
    "paused": ("open", "paused"),
    "closed": ("draft", "open", "paused", "closed"),
}
"""The states from which a campaign may enter each state."""
SEAT_MS = 3_600_000
"""How long a place is kept for a rater who joined and has not asked for a task."""
FREE_COPIES = select(func.sum(s.task.c.free)).where(s.task.c.kind == "rate", s.FREE)
NOT_BEGUN = select(func.count()).where(
    s.rater.c.consented > bindparam("since"),
    ~select(s.lease.c.id).where(s.lease.c.rater == s.rater.c.id).exists(),
)
"""Raters who joined lately and have had no task."""


def token_hash(token: str) -> str:
    """Hash a token; only the hash is stored."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def new_link(unit: Unit, role: Role, rater: int | None = None) -> str:
    """Make a link and return its token, which is stored nowhere."""
    token = secrets.token_hex(16)  # never begins with a dash, unlike other alphabets
    unit.db.execute(insert(s.link).values(
        role=role, rater=rater, token_hash=token_hash(token), created=unit.now
    ))  # fmt: skip
    unit.note("server", "link", rater if rater is not None else role, role=role)
    return token


def add_rater(unit: Unit, name: str, **more: Any) -> int:
    """Add a rater and return their number."""
    values = {
        "name": name, "state": "active", "completion": secrets.token_hex(4).upper(),
        "quota": unit.rules.settings.raters.quota, **more,
    }  # fmt: skip
    row = unit.db.execute(insert(s.rater).values(**values))
    assert row.inserted_primary_key is not None
    number = int(row.inserted_primary_key[0])
    unit.note("server", "rater", number, state="active")
    return number


def add_raters(
    unit: Unit, raters: int | Sequence[str], actor: str = "owner"
) -> list[dict[str, str]]:
    """Add raters, by number or by name, each with a link."""
    known = set(unit.db.execute(select(s.rater.c.name)).scalars())
    if isinstance(raters, int):
        free = (f"rater-{k}" for k in count(1) if f"rater-{k}" not in known)
        names = list(islice(free, raters))
    else:
        names = [name.strip() for name in raters]
    for name in names:
        if not name or name in known or names.count(name) > 1:
            fault = "is there already" if name in known else "is not a new name"
            raise OptionError("raters", repr(name), fault, "give every rater a name of their own")
    unit.note(actor, "raters-added", len(names))
    return [
        {"rater": name, "token": new_link(unit, "rater", add_rater(unit, name))} for name in names
    ]


def renew_link(unit: Unit, rater: str, actor: str = "owner") -> str:
    """Make a new link for a rater and revoke the earlier ones."""
    found = named(unit, rater)
    own = (s.link.c.rater == found.id) & s.link.c.revoked.is_(None)
    unit.db.execute(update(s.link).where(own).values(revoked=unit.now))
    unit.note(actor, "links-revoked", found.id)
    return new_link(unit, "rater", found.id)


def join(unit: Unit, parameters: Mapping[str, str], consent: bool) -> str:
    """Add a rater; the same outside id is the same rater."""
    if unit.state != "open":
        raise NotNowError("the campaign takes nobody in at the moment; come back later")
    agreed = unit.one(select(s.campaign.c.consent_hash))
    if agreed is not None and agreed.consent_hash is not None and consent is not True:
        raise InvalidAnswerError([("consent", "agree first, or leave")])
    crowd = unit.rules.settings.crowd
    outside = _outside(parameters.get(crowd.id), crowd.id)
    known = None
    if outside is not None:
        wanted = select(s.rater).where(s.rater.c.outside == outside).with_for_update()
        known = unit.one(wanted)
    if known is not None:
        unit.need_active(known.state)
        return new_link(unit, "rater", known.id)
    free = unit.count(FREE_COPIES)
    if not free:
        raise NotNowError("there are no more tasks; thank you for your interest", crowd.full)
    if unit.count(NOT_BEGUN, since=unit.now - SEAT_MS) >= free:
        raise NotNowError("all places are taken at the moment; come back in an hour", crowd.full)
    kept = {name: str(parameters[name])[:200] for name in crowd.keep if name in parameters}
    [one] = add_raters(unit, 1, "join")
    unit.db.execute(
        update(s.rater)
        .where(s.rater.c.name == one["rater"])
        .values(outside=outside, kept=kept or None, consented=unit.now if consent else None)
    )
    return one["token"]


def _outside(value: object, name: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not OUTSIDE.fullmatch(value):
        raise InvalidAnswerError([(f"params.{name}", "send 1 to 200 letters, digits or signs")])
    return value


def finish(unit: Unit, link: Link) -> dict[str, str]:
    """Return the completion code or the return address, once no task is left."""
    rater = unit.rater(link)
    own = select(s.lease.c.id).where(s.lease.c.rater == rater.id, s.lease.c.state == "open")
    left = unit.one(own) is not None or choose(unit, rater) is not None
    if rater.campaign != "closed" and left:
        raise NotNowError("there are tasks left for you; the code comes after the last one")
    unit.note(f"rater {rater.id}", "finished", rater.id)
    address = unit.rules.settings.crowd.done
    return {"address": address} if address else {"code": rater.completion}


def forget(unit: Unit, rater: str, actor: str = "owner") -> str:
    """Remove what names a person, keep the answers, and return the new code name."""
    found = named(unit, rater)
    known = set(unit.db.execute(select(s.rater.c.name)).scalars())
    other = next(one for k in count(found.id) if (one := f"forgotten-{k}") not in known)
    unit.db.execute(
        update(s.rater).where(s.rater.c.id == found.id).values(name=other, outside=None, kept=None)
    )
    own = s.link.c.rater == found.id
    unit.db.execute(update(s.link).where(own).values(revoked=unit.now))
    unit.note(actor, "forgotten", found.id)
    return other


def set_state(unit: Unit, state: str, actor: str, reason: str | None = None) -> None:
    """Open, pause or close the campaign."""
    before = unit.state
    if before not in STATES[state]:
        what = {"open": "opened", "paused": "paused", "closed": "closed"}[state]
        raise NotNowError(f"the campaign is {before} and cannot be {what}")
    if before != state:
        unit.db.execute(update(s.campaign).values(state=state))
        unit.note(actor, "state", state, before=before, reason=reason)


def change_rule(
    unit: Unit, goal: str, target: float | None, reason: str, actor: str = "owner"
) -> None:
    """Change the stopping rule; looks that took place stay.

    Only changes that keep the error rates of the verdicts are allowed: continuing to the last
    task, returning from that to the planned goal, and another target for the intervals of scores.
    """
    planned = unit.rules.settings.stop
    if unit.state == "closed":
        raise NotNowError("the campaign is closed; its rule stays as it was")
    _need_reason(reason)
    if goal not in (planned.goal, "budget"):
        fault = f"is neither the planned goal ({planned.goal}) nor budget"
        raise OptionError("goal", goal, fault, "plan another campaign for another goal")
    if (goal == "score") != (target is not None):
        fault = "is missing" if target is None else f"does not go with the goal {goal}"
        raise OptionError("target", target, fault, "give it with the goal score alone")
    if target is not None and not 0 < target < float("inf"):
        raise OptionError("target", target, "is not a half-width", "give a number above 0")
    unit.note(actor, "rule", goal, goal=goal, target=target, reason=reason)


def _need_reason(reason: str) -> None:
    if not reason.strip():
        raise OptionError("reason", "''", "is empty", "say why, for the report")


def named(unit: Unit, name: str) -> Record:
    """Return a rater by name, locked."""
    found = unit.one(select(s.rater).where(s.rater.c.name == name).with_for_update())
    if found is None:
        raise OptionError("rater", name, "is not a rater of this campaign", "look at its links")
    return found


def exclude(unit: Unit, rater: str, reason: str, actor: str) -> None:
    """Exclude a rater: their tasks go out again, and nothing they sent is deleted."""
    _need_reason(reason)
    exclude_rater(unit, named(unit, rater).id, reason, actor)


def exclude_rater(unit: Unit, number: int, reason: str, actor: str) -> None:
    """Exclude a rater by number."""
    rater = unit.one(select(s.rater).where(s.rater.c.id == number))
    assert rater is not None
    if rater.state != "active":
        return
    _set_rater(unit, rater, actor, "excluded")
    unit.db.execute(insert(s.exclusion).values(
        rater=rater.id, actor=actor, at=unit.now, reason=reason
    ))  # fmt: skip
    unit.note(actor, "excluded", rater.id, reason=reason)
    held = select(s.lease).where(s.lease.c.rater == rater.id, s.HELD).with_for_update()
    for row in unit.all(held):
        state = "aside" if row.state == "done" else "returned"
        unit.set_lease(Lease._make(row), actor, state=state)


def restore(unit: Unit, rater: str, actor: str) -> None:
    """Restore a rater; if another did their task since, both answers are kept."""
    found = named(unit, rater)
    if found.state == "active":
        return
    _set_rater(unit, found, actor, "active")
    unit.db.execute(
        update(s.exclusion)
        .where(s.exclusion.c.rater == found.id, s.exclusion.c.undone.is_(None))
        .values(undone=unit.now, undone_by=actor)
    )
    unit.note(actor, "restored", found.id)
    states = ("aside", "returned")
    mine = select(s.lease).where(s.lease.c.rater == found.id, s.lease.c.state.in_(states))
    for row in unit.all(mine.with_for_update()):
        lease = Lease._make(row)
        if lease.state == "returned":
            unit.set_lease(lease, actor, state="expired")
            continue
        unit.count_lease(lease, actor)


def _set_rater(unit: Unit, rater: Record, actor: str, state: str) -> None:
    unit.db.execute(update(s.rater).where(s.rater.c.id == rater.id).values(state=state))
    unit.note(actor, "rater", rater.id, state=state)


def set_language(unit: Unit, link: Link, tag: str) -> None:
    """Store the language that a rater chose for the page."""
    rater = link.need_rater()
    if not isinstance(tag, str) or not TAG.fullmatch(tag):
        raise InvalidAnswerError([("language", "send a tag such as de or zh-Hant")])
    unit.db.execute(update(s.rater).where(s.rater.c.id == rater).values(language=tag))


SENT, READ = "message", "message-read"
MAX_CHARACTERS = 2000


def send_message(unit: Unit, rater: str, text: str, actor: str = "owner") -> None:
    """Send a rater a message, which their page shows until they have read it."""
    if not text.strip() or len(text) > MAX_CHARACTERS:
        raise InvalidAnswerError([("text", f"write 1 to {MAX_CHARACTERS:,} characters")])
    unit.note(actor, SENT, named(unit, rater).id, text=text.strip())


def read_message(unit: Unit, link: Link, number: int) -> None:
    """Mark a message and all before it as read."""
    rater_id = link.need_rater()
    own = (s.event.c.kind == SENT) & (s.event.c.subject == str(rater_id))
    if unit.one(select(s.event.c.id).where(s.event.c.id == number, own)) is None:
        raise NotYoursError("you have no such message; reload the page")
    unit.note(f"rater {rater_id}", READ, rater_id, message=number)


def unread(db: Connection, tally: Tally, link: Link) -> list[dict[str, Any]]:
    """Read the messages that a rater has not read yet, oldest first."""
    rater_id = link.need_rater()
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
