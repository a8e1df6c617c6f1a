"""Post-editing: the corrected text and the effort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from assay.campaign.protocols.base import OutputProtocol
from assay.campaign.protocols.reading import Reader
from assay.campaign.protocols.spans import RatedText

KEYS = (
    "letter", "digit", "space", "symbol", "navigation", "erase", "copy", "cut", "paste", "undo",
)  # fmt: skip
"""Classes of keys that are counted."""
IDLE_MS = 60_000
"""Longer pauses do not count as work."""
PAUSES_MS = (300, 1000)
PAUSES = tuple(f"{unit}_{least}" for least in PAUSES_MS for unit in ("n", "ms"))
"""Number and total length of pauses of at least this many milliseconds."""
SESSION = ("opened", "closed", "active_ms", "idle_ms", "hidden_ms")
"""One stay in a segment: the client's times, and how the time was spent."""
MOST_SESSIONS = 10_000


@dataclass(frozen=True)
class PostEdit(OutputProtocol):
    """The corrected text, or a translation from scratch if a system has no output."""

    name: ClassVar[str] = "post-edit"
    kind: ClassVar = "edits"
    keys: ClassVar = ("edited", "keys", "pauses", "sessions")
    from_scratch: ClassVar = True

    editing: str = "full"

    def wire(self) -> dict[str, Any]:
        """The kind of editing, the keys that are counted, and the limits of pauses."""
        return self._wire(
            editing=self.editing, idle_ms=IDLE_MS, pauses_ms=list(PAUSES_MS), keys=list(KEYS)
        )

    def answer(
        self, reader: Reader, given: dict[str, Any], path: str, item: RatedText
    ) -> dict[str, Any]:
        """The corrected text and the effort."""
        if "edited" not in given:
            reader.fault(f"{path}.edited", "is missing")
        edited = given.get("edited")
        if edited is not None:
            edited = reader.text(edited, f"{path}.edited", filled=True)
        sessions = reader.items(given.get("sessions", []), f"{path}.sessions", MOST_SESSIONS)
        return {
            "edited": edited,
            "keys": reader.counts(given.get("keys", {}), f"{path}.keys", KEYS),
            "pauses": reader.counts(given.get("pauses", {}), f"{path}.pauses", PAUSES),
            "sessions": tuple(
                _session(reader, session, f"{path}.sessions[{number}]")
                for number, session in enumerate(sessions)
            ),
        }


def _session(reader: Reader, value: object, path: str) -> dict[str, Any]:
    given = reader.mapping(value, path, SESSION) or {}
    return {
        name: reader.text(entry, f"{path}.{name}")
        if name in SESSION[:2]
        else reader.whole(entry, f"{path}.{name}")
        for name, entry in given.items()
    }
