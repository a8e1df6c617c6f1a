"""Methods tried on known data, and papers reproduced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.report.document import Section, Table
from assay.report.parts import need, needed, table

__all__ = ["evaluation_section", "reproduction_section"]


def evaluation_section(result: Mapping[str, Any]) -> Section:
    """Estimators on a fully rated test set."""
    need(result, draws=int, signature=str)
    rows = needed(result, "methods", method=str, error=float)
    best = min(rows, key=lambda row: row["error"])
    gain = best.get("gain")
    more = f", {gain:.1f} % below the plain mean of a random sample" if gain else ""
    shown = table(
        "methods", "Mean absolute error over samples, systems and sizes; gain against the plain"
        " mean in percent; coverage of the intervals.",
        {"method": ("Method", "text"), "error": ("Error", "number"), "sd": ("sd", "number"),
         "gain": ("Gain %", "number"), "gain_error": ("±", "number"), "win": ("Wins", "percent"),
         "bias": ("Bias", "number"), "coverage": ("Coverage", "percent"),
         "worst_coverage": ("worst", "percent"), "half_width": ("Half-width", "number")},
        rows,
    )  # fmt: skip
    lead = (
        f"Over {result['draws']:,} samples of each size, {best['method']} has the smallest error,"
        f" {best['error']:.3f}{more}."
    )
    blocks = (shown, _stops(result)) if result.get("stopping") else (shown,)
    return Section("evaluation", "Estimators tried", lead, blocks, result["signature"],
                   sources=("saldias2022",))  # fmt: skip


def _stops(result: Mapping[str, Any]) -> Table:
    return table(
        "stopping", "Where rating would have stopped, and how often the interval then held the"
        " truth.",
        {"method": ("Method", "text"), "system": ("System", "text"), "share": ("Rated", "percent"),
         "coverage": ("Coverage", "percent")},
        needed(result, "stopping", method=str),
    )  # fmt: skip


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
