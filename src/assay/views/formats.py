"""Checks and conversions of files, and what a table was guessed to be, as sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.formats.catalogue import FORMATS
from assay.formats.convert import Checked, Converted
from assay.results import plural
from assay.views.section import Section, table

if TYPE_CHECKING:
    from assay.tables.guess import Guess

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


def guess_section(result: Guess) -> Section:
    """The kind and columns of a table, and what must be asked."""
    rows = [{"name": name, "own": own} for name, own in result.columns.items()]
    rows += [{"name": f"{result.into} {label}", "own": own} for own, label in result.melted.items()]
    shown = "name:text = Assay's column; own:text = the table's"
    found = table("columns", "Which column is which.", shown, rows)
    return Section(
        "guess",
        f"Guess about {result.source}",
        result.sentence,
        (*((found,) if rows else ()), *(str(question) for question in result.questions)),
        result.signature,
        stage="collect",
    )
