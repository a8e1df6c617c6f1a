"""The newest result of a campaign, laid out and drawn for its page.

Drawings are in shares of their width, so that SVG needs no style to take any size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from assay.collecting.live import CampaignResults, LiveSystem
from assay.views.estimation import COMPOSITE_LIMITS
from assay.views.html import ticks
from assay.views.live import order_explained, verdicts_explained
from assay.views.section import Section, Table, section_of

LARGE_SCORE = 20
"""Scores from here on are shown with one decimal, smaller ones with two."""
MOST_BEHIND = 100
"""Rows of a folded table."""


@dataclass(frozen=True, slots=True)
class Behind:
    """A folded table."""

    name: str
    title: str
    lead: str
    table: Table
    open: bool = False


@dataclass(frozen=True, slots=True)
class PageResults:
    """The newest result with its words and drawing."""

    found: CampaignResults
    headline: str
    lead: str
    verdicts: str
    order: str
    measure: str
    digits: int
    drawn: Drawn | None

    behind: tuple[Behind, ...]

    @property
    def as_of(self) -> str:
        """When it was computed."""
        return self.found.as_of


_LAST: dict[str, PageResults] = {}


def page_results(slug: str, found: CampaignResults) -> PageResults:
    """Lay out a result; the layout of a campaign's newest result is kept."""
    known = _LAST.get(slug)
    if known is None or known.found is not found:
        known = _LAST[slug] = _laid_out(found)
    return known


def _laid_out(found: CampaignResults) -> PageResults:
    section = section_of(found)
    values = [abs(item.estimate) for item in found.systems]
    return PageResults(
        found, section.headline, section.lead, verdicts_explained(found), order_explained(found),
        _measure(found), 1 if max(values, default=0) >= LARGE_SCORE else 2, draw(found),
        tuple(_behind(found, section)),
    )  # fmt: skip


def _measure(found: CampaignResults) -> str:
    """What the numbers measure, with the unit of effort."""
    effort = found.outcome.effort
    if effort is None:
        return "Score"
    measure = effort.measures[0] if effort.verdict is None else effort.verdict.measure
    unit = effort.units.get(measure, "")
    return f"{measure.capitalize()} ({unit})" if unit else measure.capitalize()


def _behind(found: CampaignResults, section: Section) -> Iterator[Behind]:
    """The folded tables below the result."""
    own = {part.name: part for part in section.all}
    if found.outcome.effort is not None and "effort" in own:
        for name, title in (("costs", "Price"), ("parity", "Parity")):
            if (table := _table(own["effort"], name)) is not None:
                place = {item.system: number for number, item in enumerate(found.systems)}
                rows = sorted(table.rows, key=lambda row: place.get(str(row[0]), len(place)))
                yield Behind(name, title, table.caption, replace(table, rows=tuple(rows)), True)
    if (table := _table(section, "pairs")) is not None:
        yield Behind("pairs", "Pairs", table.caption, table)
    if "composite" in own and (table := _table(own["composite"], "composite")) is not None:
        part = own["composite"]
        yield Behind("composite", part.title, f"{part.lead} {COMPOSITE_LIMITS}", table)


def _table(section: Section, name: str) -> Table | None:
    """The table of a section with this name."""
    for block in section.blocks:
        if isinstance(block, Table) and block.name == name:
            return replace(block, rows=block.rows[:MOST_BEHIND])
    return None


LINE_POINTS = 72
"""Approximate number of points of a line."""
FREE_EDGE = 0.04
"""Share of the width left free at each end of a scale."""


@dataclass(frozen=True, slots=True)
class Line:
    """Answers over time, as points of an area 100 wide and 100 high."""

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
    """The line of answers from ``pace``: hours since 1970, and answers in each.

    >>> over_time([(10, 5), (12, 15)]).points
    '0,100 33.3,75 66.7,75 100,0'
    """
    if not pace:
        return None
    first, last = pace[0][0], pace[-1][0] + 1
    total = sum(count for _, count in pace)
    step = max(1, -(-(last - first) // LINE_POINTS))
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
    """A system's dot, wide and narrow interval, in percent of the width."""

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
    """Whether there are intervals; judgments have none."""
    two: bool
    """Whether there are intervals for raters like these, besides those for these answers."""
    level: float


def draw(result: CampaignResults) -> Drawn | None:
    """The systems and their intervals as positions on a scale."""
    items = result.systems
    known = [value for item in items for value in (
        item.estimate, item.low, item.high, item.answers_low, item.answers_high
    ) if value is not None and math.isfinite(value)]  # fmt: skip
    if not known:
        return None
    low, high = min(known), max(known)
    edge = FREE_EDGE * (high - low) or 0.5
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
