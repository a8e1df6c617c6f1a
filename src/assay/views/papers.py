"""Methods tried on known data, and papers reproduced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.views.section import Section, need, needed, table


def reproduction_section(result: Mapping[str, Any]) -> Section:
    """A paper's numbers beside ours."""
    need(result, paper=str, signature=str, notes=list, counts=dict)
    cells = needed(result, "tables", table=str, row=str, column=str)
    counts = result["counts"]
    said = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
    names = dict.fromkeys(cell["table"] for cell in cells)
    shown = tuple(
        table(
            name.lower().replace(" ", "-"), name,
            {"row": ("Row", "text"), "column": ("Column", "text"), "paper": ("Paper", "number"),
             "ours": ("Ours", "number"), "error": ("±", "number"), "matches": ("Equal", "text"),
             "note": ("Note", "text")},
            [cell for cell in cells if cell["table"] == name],
        )
        for name in names
    )  # fmt: skip
    return Section(
        f"reproduction-{result['paper']}", f"Reproduction of {result['paper']}",
        f"{len(cells):,} numbers of {result['paper']}: {said}.", shown, result["signature"],
        sources=(result["paper"],), notes=tuple(result["notes"]),
    )  # fmt: skip


DICT_SECTIONS: Mapping[str, Callable[[Mapping[str, Any]], Section]] = {
    "reproduction": reproduction_section,
}
SECTIONS: Mapping[str, Callable[[Any], Section]] = {}
