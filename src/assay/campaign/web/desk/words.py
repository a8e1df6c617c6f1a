"""What happened and what was planned, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.campaign.records import Event
from assay.project.settings import Settings
from assay.results import percent, plural

STATES = {"draft": "not begun", "open": "running", "paused": "paused", "closed": "closed"}
PROTOCOLS = {
    "da": "direct assessment", "sqm": "SQM", "xsts": "XSTS", "scale": "own scales", "esa": "ESA",
    "mqm": "MQM", "pairwise": "pairs", "ranking": "ranking", "post-edit": "post-editing",
}  # fmt: skip
ACTS = {"draft": ("open", "close"), "open": ("pause", "close"), "paused": ("resume", "close")}
"""What an owner can do in each state."""
CHANGED = {"open": "opened the campaign", "paused": "paused the campaign",
           "closed": "closed the campaign"}  # fmt: skip
REASONS = {
    "language": "cannot judge the language", "offensive": "offensive text",
    "broken": "broken text", "conflict": "conflict of interest", "other": "another reason",
}  # fmt: skip


def rule(settings: Settings) -> str:
    """The rule that ends the collecting, as it was chosen beforehand."""
    stop = settings.stop
    looks = f"{plural(stop.looks, 'look')}, {percent(stop.level)}"
    if stop.goal == "budget":
        return f"until the last task, {looks}"
    if stop.goal == "score":
        wanted = "" if stop.target is None else f" to ±{stop.target:g}"
        return f"scores{wanted}, {looks}"
    return f"ranking, {looks}"


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


def _added(event: Event) -> str:
    return f"added {plural(int(event.subject), 'rater')}"


def _declined(event: Event) -> str:
    reason = str(event.body.get("reason"))
    return f"gave task {event.subject} back: {REASONS.get(reason, reason)}"


def _refused(event: Event) -> str:
    return f"sent something that was refused ({event.subject}, {event.body.get('status')})"


_SAID: Mapping[str, Callable[[Event], str]] = {
    "state": _state,
    "created": lambda event: "made the campaign",
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
_WITH_REASON = ("state", "excluded")


def settled(settings: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The settings that were chosen, by group; a group without a name comes first."""
    plain = [(key, _text(value)) for key, value in settings.items() if not isinstance(value, dict)]
    groups = [("", plain)]
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            groups.append((key, [(name, _text(inner)) for name, inner in value.items()]))
    kept = [(name, [(key, text) for key, text in rows if text]) for name, rows in groups]
    return [(name, rows) for name, rows in kept if rows]


def _text(value: Any) -> str:
    if value is None or value in ((), [], {}, ""):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(_text(part) for part in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(part)}" for key, part in value.items() if part is not None)
    return f"{value:g}" if isinstance(value, float) else str(value)


def table_names(settings: Settings) -> tuple[str, ...]:
    """The tables that a campaign may have, of which some may be empty so far."""
    kinds = {"pairwise": ("judgments",), "ranking": ("judgments",), "post-edit": ("edits",)}
    scales = [f"ratings-{scale.name}" for scale in settings.scales]
    rated = tuple(scales) if len(scales) > 1 else ("ratings",)
    marked = ("errors",) if settings.protocol in ("esa", "mqm") else ()
    own = kinds.get(settings.protocol or "", rated + marked)
    return (*own, "sample", "scores", "raters", "events")
