"""What a benchmark claims: one printed line each, recorded where a run of all of them looks."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["RECORD", "Claim", "claim", "number", "skipped"]

RECORD = "ASSAY_BENCH_RECORD"
"""The environment variable that names the file to record in; without it lines are only printed."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One measured number beside its goal; ``peer`` says what it was compared with, and how."""

    what: str
    measured: float
    goal: float | None
    at_most: bool
    unit: str
    peer: str

    @property
    def kept(self) -> bool | None:
        """Whether the goal is met, None where there is none. What is not a number is not met."""
        if self.goal is None:
            return None
        return self.measured <= self.goal if self.at_most else self.measured >= self.goal

    @property
    def verdict(self) -> str:
        """Yes, no, or a dash where nothing was promised."""
        return {True: "yes", False: "**no**", None: "–"}[self.kept]

    @property
    def goal_text(self) -> str:
        """The goal with its direction and unit."""
        if self.goal is None:
            return "–"
        return f"{'at most' if self.at_most else 'at least'} {number(self.goal, self.unit)}"

    def __str__(self) -> str:
        """The line that is printed."""
        goal = "" if self.goal is None else f" (goal: {self.goal_text})"
        kept = {True: "  kept", False: "  NOT KEPT", None: ""}[self.kept]
        peer = f"; {self.peer}" if self.peer else ""
        return f"CLAIM {self.what}: {number(self.measured, self.unit)}{goal}{kept}{peer}"


def number(value: float, unit: str) -> str:
    """A number with three digits that matter, and its unit.

    >>> number(1234.5, "s"), number(0.0123, "s"), number(349.7, "times"), number(5.0, "%")
    ('1,234 s', '0.0123 s', '350 times', '5 %')
    """
    rounded = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{rounded} {unit}".strip()


def claim(
    what: str,
    measured: float,
    *,
    goal: float | None = None,
    at_most: bool = True,
    unit: str = "",
    peer: str = "",
) -> Claim:
    """Print and record one claim."""
    found = Claim(what, float(measured), goal, at_most, unit, peer)
    print(found, flush=True)
    _record({"claim": asdict(found)})
    return found


def skipped(reason: str) -> None:
    """Say loudly what could not be measured, and record it."""
    print(f"SKIPPED: {reason}", flush=True)
    _record({"skipped": reason})


def _record(line: dict[str, object]) -> None:
    if path := os.environ.get(RECORD):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
