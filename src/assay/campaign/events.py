"""What happened in a campaign, in plain words."""

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
    """An event as a sentence, and the words that somebody gave with it."""
    tell = _SAID.get(event.kind)
    if tell is None:
        return event.kind.replace("-", " "), None
    said = tell(event)
    return said, event.body.get("reason") if event.kind in _WITH_REASON else event.body.get("text")


def _who(event: Event) -> str:
    return event.rater or f"rater {event.subject}"


def _state(event: Event) -> str:
    if event.body.get("before") == "paused" and event.subject == "open":
        return "resumed the campaign"
    return CHANGED.get(event.subject, f"set the campaign to {event.subject}")


def _rule(event: Event) -> str:
    goal, target = event.body["goal"], event.body["target"]
    wanted = "to go on to the last task" if goal == "budget" else f"back to the goal {goal}"
    if target is not None:
        wanted = f"to intervals of ±{target:g}"
    return f"changed the rule {wanted}"


def _added(event: Event) -> str:
    return f"added {plural(int(event.subject), 'rater')}"


def _declined(event: Event) -> str:
    reason = str(event.body.get("reason"))
    return f"gave task {event.subject} back: {REASONS.get(reason, reason)}"


def _refused(event: Event) -> str:
    more = event.body.get("unlisted")
    before = f", and before that {more:,} times more" if more else ""
    return f"sent something that was refused ({event.subject}, {event.body.get('status')}){before}"


def _look(event: Event) -> str:
    body = event.body
    decided = (
        f": {body['decided']} of {plural(body['pairs'], 'pair')} decided" if body["pairs"] else ""
    )
    return f"took look {event.subject}, at {body['n']:,}{decided}"


_SAID: Mapping[str, Callable[[Event], str]] = {
    "state": _state,
    "created": lambda event: "made the campaign",
    "look": _look,
    "rests": lambda event: f"lets {event.subject} rest: every difference is decided",
    "rule": _rule,
    "excluded": lambda event: f"left {_who(event)} out",
    "restored": lambda event: f"took {_who(event)} in again",
    "raters-added": _added,
    "links-revoked": lambda event: f"made a new link for {_who(event)}; earlier ones have ended",
    "forgotten": lambda event: f"removed what names {_who(event)}",
    "message": lambda event: f"wrote to {_who(event)}",
    "message-read": lambda event: "read the message",
    "problem": lambda event: f"reported a problem with task {event.subject}",
    "declined": _declined,
    "told": lambda event: f"noticed: task {event.subject} was {event.body.get('what')}",
    "finished": lambda event: "finished",
    "tested": lambda event: "took the test",
    "refused": _refused,
    "rebuilt": lambda event: "made the tables of the store anew",
}
_WITH_REASON = ("state", "rule", "excluded")
