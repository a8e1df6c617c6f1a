"""Checks and conversions of files as sections."""

from __future__ import annotations

from assay.formats.catalogue import FORMATS
from assay.formats.convert import Checked, Converted
from assay.results import plural
from assay.views.section import Section, table

MAX_VALUE_LENGTH = 40
"""How much of a value a table shows."""


def check_section(result: Checked) -> Section:
    """Whether a table can be used, or everything that is wrong with it."""
    if result.ok:
        lead = f"{result.source}: a valid {result.table} table with {plural(result.rows, 'row')}"
        if result.table == "scores":
            lead += f"; metrics: {', '.join(result.metrics) or 'none'}"
    else:
        lead = f"{result.source}: {plural(len(result.problems), 'problem')}"
    rows = [
        {"line": p.line, "column": p.column, "value": _short(p.value), "message": p.message}
        for p in result.problems
    ]
    shown = "line:text; column:text; value:text; message:text = what is wrong, and what to do"
    problems = table("problems", "What is wrong with the file.", shown, rows)
    return Section(
        "check",
        f"Check of {result.source}",
        lead,
        (problems,) if result.problems else result.notes,
        result.signature,
        stage="collect",
    )


def _short(value: str | None) -> str | None:
    if value is None or len(value) < MAX_VALUE_LENGTH:
        return value
    return value[: MAX_VALUE_LENGTH - 3] + "..."


def convert_section(result: Converted) -> Section:
    """What was written, and where."""
    lead = f"{plural(result.rows, 'row')} written to {', '.join(result.written)}"
    return Section(
        "convert",
        f"{result.origin} as {result.to}",
        lead,
        (),
        result.signature,
        stage="collect",
        notes=result.notes,
    )


def formats_section() -> Section:
    """The formats of other tools, and what they can be read as and written from."""
    rows = [
        {"name": f.name, "reads": ", ".join(f.reads) or None, "writes": ", ".join(f.writes) or None,
         "about": f.about}
        for f in FORMATS.values()
    ]  # fmt: skip
    shown = "name:text = format; reads:text = read as; writes:text = written from"
    found = table("formats", "", f"{shown}; about:text = what it is", rows)
    return Section("formats", "Formats of other tools", "", (found,), "")
