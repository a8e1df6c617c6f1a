"""What was planned, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.project.settings import Settings

ACTS = {"draft": ("open", "close"), "open": ("pause", "close"), "paused": ("resume", "close")}
"""What an owner can do in each state."""


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
    forms = ("forms",) if settings.forms.before or settings.forms.after else ()
    return (*own, "sample", "scores", "raters", *forms, "events")
