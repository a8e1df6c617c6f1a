"""The designs by name, the papers' short names included."""

from __future__ import annotations

from assay.errors import OptionError
from assay.tables.check import did_you_mean

__all__ = ["DESIGNS", "design_name"]

DESIGNS = ("segments",)
SHORT_NAMES = {"sl": "segments"}


def design_name(name: str) -> str:
    """The design's full name.

    >>> design_name("SL")
    'segments'
    """
    lowered = str(name).lower()
    found = SHORT_NAMES.get(lowered, lowered)
    if found not in DESIGNS:
        raise OptionError(
            "design", name, f"is not known{did_you_mean(lowered, DESIGNS)}",
            f"choose from {', '.join(DESIGNS)}",
        )  # fmt: skip
    return found
