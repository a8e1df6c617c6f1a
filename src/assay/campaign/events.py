"""The events of a campaign in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay.campaign.records import Event
from assay.results import plural

CHANGED = {"open": "opened the campaign", "paused": "paused the campaign",
           "closed": "closed the campaign"}  # fmt: skip
REASONS = {
    "language": "cannot judge the language", "offensive": "offensive text",
    "broken": "broken text", "conflict": "conflict of interest", "other": "another reason",
}  # fmt: skip


def happened(event: Event) -> tuple[str, str | None]:
    """Describe an event, with the reason or message that a person gave."""
    describe = _SENTENCES.get(event.kind)
    if describe is None:
        return event.kind.replace("-", " "), None
    given = "reason" if event.kind in _WITH_REASON else "text"
    return describe(event), event.body.get(given)


def _who(event: Event) -> str:
    return event.rater or f"rater {event.subject}"


def _state(event: Event) -> str:
    if event.body.get("before") == "paused" and event.subject == "open":
        return "resumed the campaign"
    return CHANGED.get(event.subject, f"set the campaign to {event.subject}")


def _rule(event: Event) -> str:
    goal, target = event.body["goal"], event.body["target"]
    wanted = "continue to the last task" if goal == "budget" else f"the original goal, {goal}"
    if target is not None:
        wanted = f"intervals of ±{target:g}"
    return f"changed the stopping rule to {wanted}"


def _declined(event: Event) -> str:
    reason = str(event.body.get("reason"))
    return f"returned task {event.subject}: {REASONS.get(reason, reason)}"


def _refused(event: Event) -> str:
    more = event.body.get("unlisted")
    before = f", after {more:,} others not listed" if more else ""
    return f"sent a request that was refused ({event.subject}, {event.body.get('status')}){before}"


def _look(event: Event) -> str:
    body = event.body
    decided = (
        f": {body['decided']} of {plural(body['pairs'], 'pair')} decided" if body["pairs"] else ""
    )
    return f"took look {event.subject} at {body['n']:,}{decided}"


_SENTENCES: Mapping[str, Callable[[Event], str]] = {
    "state": _state,
    "created": lambda event: "created the campaign",
    "look": _look,
    "rests": lambda event: f"stopped showing {event.subject}: all its differences are decided",
    "rule": _rule,
    "excluded": lambda event: f"excluded {_who(event)}",
    "restored": lambda event: f"restored {_who(event)}",
    "raters-added": lambda event: f"added {plural(int(event.subject), 'rater')}",
    "links-revoked": lambda event: f"created a new link for {_who(event)} and revoked the old ones",
    "forgotten": lambda event: f"removed the personal data of {_who(event)}",
    "message": lambda event: f"messaged {_who(event)}",
    "message-read": lambda event: "read the message",
    "problem": lambda event: f"reported a problem with task {event.subject}",
    "declined": _declined,
    "told": lambda event: f"reported that task {event.subject} was {event.body.get('what')}",
    "finished": lambda event: "finished",
    "tested": lambda event: "took the qualification test",
    "refused": _refused,
    "rebuilt": lambda event: "rebuilt the tables of the store",
}
_WITH_REASON = ("state", "rule", "excluded")
