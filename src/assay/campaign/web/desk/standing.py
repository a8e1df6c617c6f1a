"""The newest result as its page shows it, laid out once and kept until there is another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.campaign.web.desk import charts
from assay.collecting.live import CampaignResults
from assay.views.estimation import COMPOSITE_LIMITS
from assay.views.live import order_explained, verdicts_explained
from assay.views.section import Section, Table, section_of

LARGE = 20
"""Scores from this on are shown with one digit behind the point, others with two."""
MOST_BEHIND = 100
"""Rows of a folded table."""


@dataclass(frozen=True, slots=True)
class Behind:
    """A table behind its title."""

    name: str
    title: str
    lead: str
    table: Table
    open: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """The newest result, in words too."""

    found: CampaignResults
    headline: str
    lead: str
    verdicts: str
    order: str
    measure: str
    digits: int
    drawn: charts.Drawn | None

    behind: tuple[Behind, ...]

    @property
    def as_of(self) -> str:
        """When it was computed."""
        return self.found.as_of


_LAST: dict[str, Standing] = {}


def standing_of(slug: str, found: CampaignResults) -> Standing:
    """The result laid out; the same again as long as it is the same result."""
    known = _LAST.get(slug)
    if known is None or known.found is not found:
        known = _LAST[slug] = _laid_out(found)
    return known


def _laid_out(found: CampaignResults) -> Standing:
    section = section_of(found)
    values = [abs(item.estimate) for item in found.systems]
    return Standing(
        found, section.headline, section.lead, verdicts_explained(found), order_explained(found),
        _measure(found), 1 if max(values, default=0) >= LARGE else 2, charts.drawn(found),
        tuple(_behind(found, section)),
    )  # fmt: skip


def _measure(found: CampaignResults) -> str:
    """What the numbers are, with their unit where they are effort."""
    effort = found.outcome.effort
    if effort is None:
        return "Score"
    measure = effort.measures[0] if effort.verdict is None else effort.verdict.measure
    unit = effort.units.get(measure, "")
    return f"{measure.capitalize()} ({unit})" if unit else measure.capitalize()


def _behind(found: CampaignResults, section: Section) -> Iterator[Behind]:
    """What belongs to the result and is not seen at once."""
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
    """A table of a section, by its name."""
    for block in section.blocks:
        if isinstance(block, Table) and block.name == name:
            return replace(block, rows=block.rows[:MOST_BEHIND])
    return None
