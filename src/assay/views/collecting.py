"""Who rates what, the sheets that were written, and what came back, as sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from assay.collecting.results import Assignment, CollectedSheets, RaterLoad, WrittenSheets
from assay.results import percent, plural
from assay.views.section import Section, Table, table


def assignment_section(result: Assignment) -> Section:
    """Who rates what."""
    raters: dict[str, set[str]] = {}
    for item in result.tasks:
        raters.setdefault(item.task, set()).add(item.rater)
    shared = sum(len(who) > result.per_output for who in raters.values())
    each = "one rater" if result.per_output == 1 else f"{result.per_output} raters"
    return Section(
        "assignment", "Who rates what", stage="collect",
        lead=f"{plural(len(raters), 'task')} for {plural(len(result.raters), 'rater')}: each goes"
        f" to {each}, {shared:,} of them ({percent(round(shared / len(raters), 3))}) to one more.",
        blocks=(_loads(result.loads),), signature=result.signature, notes=result.notes,
    )  # fmt: skip


def _loads(loads: Sequence[RaterLoad]) -> Table:
    return table(
        "loads", "What every rater has to do; shared tasks are those that another rater has too.",
        {"rater": ("rater", "text"), "tasks": ("tasks", "count"), "outputs": ("outputs", "count"),
         "shared": ("shared tasks", "count"), "repeats": ("repeated tasks", "count"),
         "checks": ("checks", "count")},
        [asdict(load) for load in loads],
    )  # fmt: skip


def written_section(result: WrittenSheets) -> Section:
    """The sheets that raters get."""
    return Section(
        "sheets-written", "Sheets for raters", stage="collect",
        lead=f"{plural(len(result.loads), 'sheet')} in {result.folder}, a file for each rater. Key:"
        f" {result.key} (keep it from the raters).",
        blocks=(_loads(result.loads),), signature=result.signature, notes=result.notes,
    )  # fmt: skip


def collected_section(result: CollectedSheets) -> Section:
    """What came back from raters."""
    gaps = f", {result.unrated:,} of them without a score" if result.unrated else ""
    return Section(
        "sheets-collected", "What raters sent back", stage="collect",
        lead=f"{plural(result.rows, 'rating')} by {plural(len(result.raters), 'rater')}{gaps},"
        f" written to {result.written}.",
        blocks=(), signature=result.signature, notes=result.notes,
    )  # fmt: skip


SECTIONS: Mapping[str, Callable[[Any], Section]] = {
    "assignment": assignment_section,
    "sheets-written": written_section,
    "sheets-collected": collected_section,
}
