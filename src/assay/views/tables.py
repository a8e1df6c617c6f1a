"""What a table was guessed to be, as a section."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.tables.guess import Guess
from assay.views.section import Section, Show, table


def guess_section(result: Guess) -> Section:
    """The kind and columns of a table, and what must be asked."""
    rows = [{"name": name, "own": own} for name, own in result.columns.items()]
    rows += [{"name": f"{result.into} {label}", "own": own} for own, label in result.melted.items()]
    columns: dict[str, tuple[str, Show]] = {
        "name": ("Assay's column", "text"),
        "own": ("the table's", "text"),
    }
    found = table("columns", "Which column is which.", columns, rows)
    return Section(
        "guess",
        f"Guess about {result.source}",
        result.sentence,
        (*((found,) if rows else ()), *(str(question) for question in result.questions)),
        result.signature,
        stage="collect",
    )


SECTIONS: Mapping[str, Callable[[Any], Section]] = {"guess": guess_section}
