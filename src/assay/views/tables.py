"""What a table was guessed to be, as a section."""

from __future__ import annotations

from assay.tables.guess import Guess
from assay.views.section import Section, table


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
