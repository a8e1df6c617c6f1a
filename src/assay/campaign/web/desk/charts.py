"""Drawings in shares of their width, so that SVG needs no style to take any size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.collecting.live import CampaignResults, LiveSystem
from assay.views.html import ticks

STEPS = 72
"""Points of a line, about."""
EDGE = 0.04
"""Of the width, left free at both ends of a scale."""


@dataclass(frozen=True, slots=True)
class Line:
    """Answers over time: points of an area 100 wide and 100 high, and its ends."""

    points: str
    first: int
    """Milliseconds since 1970."""
    last: int
    total: int
    hours: int
    """From the first answer to the last."""
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
    return Line(
        " ".join(points),
        first * 3_600_000,
        last * 3_600_000,
        total,
        last - first,
        recent * 24 / day,
    )


@dataclass(frozen=True, slots=True)
class Row:
    """One system drawn, in percent of the width: a dot, a wide and a narrow interval."""

    item: LiveSystem
    at: float
    wide: tuple[float, float] | None
    narrow: tuple[float, float] | None
    border: bool
    """Whether a cluster ends below it."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """All systems on one scale."""

    rows: tuple[Row, ...]
    ticks: tuple[tuple[float, str], ...]
    intervals: bool
    """Whether there are intervals at all, as judgments have none."""
    two: bool
    """Whether there are intervals for raters like these, wider than those for these answers."""
    level: float


def drawn(result: CampaignResults) -> Drawn | None:
    """The systems with their intervals, as places on a scale."""
    items = result.systems
    known = [value for item in items for value in (
        item.estimate, item.low, item.high, item.answers_low, item.answers_high
    ) if value is not None and math.isfinite(value)]  # fmt: skip
    if not known:
        return None
    low, high = min(known), max(known)
    edge = EDGE * (high - low) or 0.5
    low, high = low - edge, high + edge

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    def stretch(start: float | None, end: float | None) -> tuple[float, float] | None:
        if start is None or end is None or not math.isfinite(start) or not math.isfinite(end):
            return None
        return place(start), round(place(end) - place(start), 2)

    followers: Iterable[LiveSystem | None] = (*items[1:], None)
    rows = tuple(
        Row(
            item, place(item.estimate), stretch(item.low, item.high),
            stretch(item.answers_low, item.answers_high),
            follower is not None and follower.cluster != item.cluster,
        )
        for item, follower in zip(items, followers, strict=True)
    )  # fmt: skip
    marks = tuple((place(value), f"{value:g}") for value in ticks(low, high))
    return Drawn(
        rows,
        marks,
        any(item.low is not None for item in items),
        any(item.basis == "raters" for item in items),
        result.level,
    )
