"""Drawings in shares of their width, so that SVG needs no style to take any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

STEPS = 72
"""Points of a line, about."""


@dataclass(frozen=True, slots=True)
class Line:
    """Answers over time: points of an area 100 wide and 100 high, and its ends."""

    points: str
    first: int
    """Milliseconds since 1970."""
    last: int
    total: int
    per_day: float
    """In the last 24 hours of work, or since the beginning."""


def over_time(pace: Sequence[tuple[int, int]]) -> Line | None:
    """The line of answers that came in, by hours since 1970.

    >>> over_time([(10, 5), (12, 15)]).points
    '0,100 33.3,75 66.7,75 100,0'
    """
    if not pace:
        return None
    first, last = pace[0][0], pace[-1][0] + 1
    total = sum(count for _, count in pace)
    step = max(1, -(-(last - first) // STEPS))
    ends = [*range(first + step, last, step), last]
    points, known, rest = ["0,100"], 0, list(pace)
    for end in ends:
        while rest and rest[0][0] < end:
            known += rest.pop(0)[1]
        x = 100 * (end - first) / (last - first)
        points.append(f"{x:.3g},{100 - 100 * known / max(total, 1):.3g}")
    day = min(24, last - first)
    recent = sum(count for hour, count in pace if hour >= last - day)
    return Line(" ".join(points), first * 3_600_000, last * 3_600_000, total, recent * 24 / day)
