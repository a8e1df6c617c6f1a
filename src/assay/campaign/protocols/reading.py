"""Strict reading of JSON from a browser: every fault is collected with its path."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import regex

from assay.campaign.records import InvalidAnswerError
from assay.errors import did_you_mean

MOST_TEXT = 50_000
"""Most characters of a comment or translation."""
MOST_COUNT = 10**9
MOST_NAMED = 20
"""Most unknown keys or choices that a message names."""
MOST_FAULTS = 5000
"""Reading stops after this many faults."""
UNSAFE = regex.compile("[\x00\ud800-\udfff]")
"""Characters that cannot be stored: null, and half of a surrogate pair."""


class Reader:
    """Reads JSON values strictly; a faulty value is read as None."""

    def __init__(self) -> None:
        self.faults: list[tuple[str, str]] = []

    def fault(self, path: str, message: str) -> None:
        """Record a fault at ``path``."""
        self.faults.append((path, message))
        if len(self.faults) >= MOST_FAULTS:
            self.stop()

    def stop(self) -> None:
        """Raise if there were faults."""
        if self.faults:
            raise InvalidAnswerError(self.faults)

    def mapping(
        self, value: object, path: str, keys: Collection[str], *, nullable: str = ""
    ) -> dict[str, Any] | None:
        """An object with no other keys; a null value counts as absent, except for ``nullable``."""
        if not isinstance(value, dict):
            self._unfit(value, path, "an object")
            return None
        unknown = [key for key in value if key not in keys]
        for key in unknown[:MOST_NAMED]:
            name = key if key.isascii() and key.isidentifier() else shown(key)
            hint = did_you_mean(key, list(keys))
            self.fault(f"{path}.{name}", f"is not a known key{hint}; leave it out")
        if len(unknown) > MOST_NAMED:
            self.fault(path, f"has {len(unknown)} unknown keys; leave them out")
        there = (key for key in keys if key in value)
        return {key: value[key] for key in there if value[key] is not None or key == nullable}

    def items(self, value: object, path: str, most: int) -> list[Any]:
        """A list of at most ``most`` entries."""
        if not isinstance(value, list):
            self._unfit(value, path, "a list")
            return []
        if len(value) > most:
            self.fault(path, f"has {len(value)} entries; send at most {most}")
            return []
        return value

    def text(self, value: object, path: str, *, filled: bool = False) -> str | None:
        """A text that can be stored."""
        if not isinstance(value, str):
            self._unfit(value, path, "a text")
            return None
        if len(value) > MOST_TEXT:
            self.fault(path, f"has {len(value)} characters; write at most {MOST_TEXT}")
        elif UNSAFE.search(value):
            self.fault(path, "contains a character that cannot be stored; delete it")
        elif filled and not value.strip():
            self.fault(path, "is empty; write something")
        else:
            return value
        return None

    def choice(self, value: object, path: str, known: Collection[str]) -> str | None:
        """One of these words."""
        if isinstance(value, str) and value in known:
            return value
        hint = did_you_mean(value, list(known)) if isinstance(value, str) else ""
        wanted = ", ".join(list(known)[:MOST_NAMED])
        self.fault(path, f"is {shown(value)}{hint}; choose from {wanted}")
        return None

    def flag(self, value: object, path: str) -> bool | None:
        """True or false."""
        if isinstance(value, bool):
            return value
        self._unfit(value, path, "true or false")
        return None

    def number(
        self, value: object, path: str, low: float, high: float, step: float = 0.0
    ) -> float | None:
        """A number from ``low`` to ``high``, on a step of the scale if it has steps."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._unfit(value, path, "a number")
            return None
        if not low <= value <= high:
            self.fault(path, f"is {shown(value)}; give a number from {low:g} to {high:g}")
            return None
        steps = (value - low) / step if step else 0.0
        if not math.isclose(steps, round(steps), abs_tol=1e-6):
            self.fault(path, f"is {shown(value)}; the scale goes in steps of {step:g}")
            return None
        return float(value)

    def whole(self, value: object, path: str, low: int = 0, high: int = MOST_COUNT) -> int | None:
        """A whole number from ``low`` to ``high``."""
        if isinstance(value, bool) or not isinstance(value, int):
            self._unfit(value, path, "a whole number")
            return None
        if not low <= value <= high:
            self.fault(path, f"is {shown(value)}; give a whole number from {low} to {high}")
            return None
        return value

    def counts(self, value: object, path: str, names: Collection[str]) -> dict[str, int]:
        """Counts by name."""
        given = self.mapping(value, path, names) or {}
        read = {name: self.whole(number, f"{path}.{name}") for name, number in given.items()}
        return {name: number for name, number in read.items() if number is not None}

    def _unfit(self, value: object, path: str, wanted: str) -> None:
        self.fault(path, f"is {shown(value)}, not {wanted}")


def shown(value: object) -> str:
    """The beginning of a value, safe to write in a message.

    >>> shown("seventy"), shown(10**40), shown(None)
    ("'seventy'", '1e+40', 'null')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) > MOST_COUNT:
        return f"{value:.0e}" if abs(value) < 10**300 else "a very large number"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = ascii(value) if not isinstance(value, str) else repr(UNSAFE.sub("?", value[:40]))
    return text if len(text) < 44 else f"{text[:40]}..."
