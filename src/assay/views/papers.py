"""Papers reproduced: what became of every printed number, first by table, then one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import OptionError
from assay.papers.compare import OUTCOMES, PrintedCell, Reproduction
from assay.results import plural
from assay.views.section import Section, Table, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def reproduction_section(result: Reproduction) -> Section:
    """The table of outcomes, then a paper's numbers beside ours."""
    names = dict.fromkeys(cell.table for cell in result.tables)
    return Section(
        f"reproduction-{result.paper}",
        f"{result.paper}: printed numbers by table and outcome",
        _lead(result),
        (_outcomes(result), *(_cells(result, name) for name in names)),
        result.signature,
        stage="research",
        sources=(result.paper,),
        notes=tuple(result.notes),
    )


def _lead(result: Reproduction) -> str:
    total = sum(result.counts.values())
    computed = total - result.counts["no data"]
    if not computed:
        return f"None of the {plural(total, 'printed number')} of {result.paper} has data."
    parts = ", ".join(f"{result.counts[name]} {name}" for name in OUTCOMES if result.counts[name])
    return f"{plural(total, 'printed number')} of {result.paper}: {parts}."


def _outcomes(result: Reproduction) -> Table:
    total = {name.replace(" ", "_"): count for name, count in result.counts.items()}
    rows = [*(asdict(item) for item in result.outcomes), {"table": "all"} | total]
    columns = {"table": ("table", "text")} | {
        name.replace(" ", "_"): (name, "count") for name in OUTCOMES
    }
    lines = frozenset({len(result.outcomes) - 1})
    return table("outcomes", "printed numbers by table and outcome", columns, rows, lines)  # type: ignore[arg-type]


def _cells(result: Reproduction, name: str) -> Table:
    cells = result.table(name)
    made = table(
        name.lower().replace(" ", "-"), f"{result.paper}, {name}",
        "row:text; column:text; paper; ours; error = ±; outcome:text; reason:text; note:text",
        [_shown(cell) for cell in cells],
    )  # fmt: skip
    return replace(made, page=len(cells))  # none is left out


def _shown(cell: PrintedCell) -> dict[str, object]:
    """A cell with its numbers in the digits that are worth showing."""
    digits = 3 if cell.digits is None else cell.digits
    return {
        "row": cell.row,
        "column": cell.column,
        "paper": _number(cell.paper, digits, cell.paper_of),
        "ours": _number(cell.ours, digits + (1 if cell.number and not cell.ours_of else 0),
                        cell.ours_of),
        "error": _number(cell.error, digits + 1, None),
        "outcome": "" if cell.outcome == "beside" else cell.outcome,
        "reason": cell.reason or None,
        "note": cell.note or None,
    }  # fmt: skip


def _number(value: float | None, digits: int, of: int | None) -> str | None:
    if value is None:
        return None
    whole = 0 if of is not None and float(value).is_integer() else digits
    return f"{value:.{whole}f}" + ("" if of is None else f"/{of}")


def draw_reproduction(result: Reproduction) -> dict[str, Drawing]:
    """The figures of a paper by name, of a reproduction that was made with ``figures=True``."""
    return {f"{result.paper}_{name}": drawing for name, drawing in DRAWN[result.paper](result)}


def save_figures(result: Reproduction, folder: Path) -> tuple[Path, ...]:
    """Write the figures of a paper as SVG and PNG."""
    from assay.views.figures import save_figure

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(
            "figures", folder, f"cannot be made ({error.strerror})", "name a folder"
        ) from None
    return tuple(
        save_figure(figure, folder / f"{name}{ending}")
        for name, figure in draw_reproduction(result).items()
        for ending in (".svg", ".png")
    )


def _draw_koehn2012(result: Reproduction) -> Iterator[tuple[str, Drawing]]:
    from assay.views.charts import draw_curves, draw_error_curves, draw_win_ratios

    ratios = [
        {"pair": cell.row, "system": cell.column, "ratio": cell.ours}
        for cell in result.table("win ratios")
    ]
    if ratios:
        yield "figure1", draw_win_ratios(ratios)
    curves = [
        {"pair": cell.row, "what": what, "judgments": float(size), "share": cell.ours}
        for cell in result.table("curves")
        for what, _, size in [cell.column.partition(" at ")]
    ]
    if curves:
        matched = [cell for cell in result.table("Figure 2") if cell.column == "sigma by curve"]
        yield "figure2", draw_curves(curves, {cell.row: cell.ours for cell in matched})
    errors = [
        {"sigma": sigma, "method": cell.row, "judgments": float(cell.column.replace(",", "")),
         "error": cell.ours, "paper": cell.paper}
        for sigma, name in ((20, "Figure 3"), (10, "Figure 3, sigma 10"))
        for cell in sorted(result.table(name), key=lambda cell: cell.column)
        if cell.ours is not None
    ]  # fmt: skip
    if errors:
        yield "figure3", draw_error_curves(errors)


def _draw_korotaev2022(result: Reproduction) -> Iterator[tuple[str, Drawing]]:
    from assay.views.charts import draw_aggregate, draw_averages, draw_by_editor

    for name, source in (("figure1", "Table 2"), ("figure3", "Table 3")):
        parts: dict[str, dict[str, float | None]] = {}
        for cell in result.table(source):
            parts.setdefault(cell.row, {})[cell.column] = cell.ours
        if result.table("Figure 4"):
            yield name, draw_aggregate(parts)
    if result.table("Figure 4"):
        averages: dict[str, list[float]] = {}
        for cell in result.table("Figure 2")[:-1]:
            averages.setdefault(cell.row, []).append(cell.ours or 0.0)
        yield "figure2", draw_averages(averages, interval="83% interval")
        rows = [
            {"editor": editor, "document": document, "system": system, "total": cell.ours or 0.0}
            for cell in result.table("Figure 4")
            for editor, document, system in [cell.row.rsplit(", ", 2)]
        ]
        totals = "distance and segments over the editor's mean,\nplus mean speed over speed"
        yield "figure4", draw_by_editor(rows, y=totals)
    if result.table("pieces"):
        yield "pieces", _draw_pieces(result)


def _draw_pieces(result: Reproduction) -> Drawing:
    """The cells of pieces as a figure."""
    from assay.views.kits import draw_pieces

    places: dict[str, list[float]] = {}
    for cell in result.table("pieces"):
        places.setdefault(cell.row, []).append(cell.ours or 0.0)
    chosen = [int(cell.row) for cell in result.table("pieces") if cell.note == "kit"]
    knee = next(cell.ours for cell in result.table("section 3.2") if cell.column == "knee")
    return draw_pieces(
        [(first, second) for first, second in places.values()],
        [list(dict.fromkeys(chosen))] if chosen else [],
        [cell.ours or 0.0 for cell in result.table("distances")], {"knee": knee},
    )  # fmt: skip


def _draw_lo2023(result: Reproduction) -> Iterator[tuple[str, Drawing]]:
    from assay.views.charts import draw_lengths, draw_stability

    lengths = [
        {"pair": lp, "sample": sample, "length": cell.column, "share": cell.ours}
        for cell in result.table("Table 4")
        for lp, _, sample in [cell.row.partition(" ")]
        if cell.ours is not None
    ]
    if lengths:
        yield "lengths", draw_lengths(lengths)
    changes = [
        {"design": cell.row, "budget": float(cell.column.rstrip("%")), "changed": cell.ours,
         "error": cell.error}
        for cell in result.table("budgets")
    ]  # fmt: skip
    if changes:
        yield "stability", draw_stability(changes)


def _draw_saldias2022(result: Reproduction) -> Iterator[tuple[str, Drawing]]:
    from assay.views.charts import draw_errors, draw_scatter

    for number in (2, 3, 4, 5):
        rows = [_point(cell) for cell in result.table(f"Figure {number}")]
        if rows:
            yield f"figure{number}", draw_errors(rows)
    if result.panels:
        yield "figure6", draw_scatter([asdict(panel) for panel in result.panels])


def _point(cell: PrintedCell) -> dict[str, object]:
    """A cell of a curve as a row for drawing."""
    *pair, method = cell.row.split(" ")
    what, _, size = cell.column.partition(" at ")
    return {"pair": " ".join(pair), "method": method, "what": what,
            "size": float(size.rstrip("%")), "value": cell.ours, "error": cell.error}  # fmt: skip


DRAWN: Mapping[str, Callable[[Reproduction], Iterator[tuple[str, Any]]]] = {
    "koehn2012": _draw_koehn2012,
    "korotaev2022": _draw_korotaev2022,
    "lo2023": _draw_lo2023,
    "saldias2022": _draw_saldias2022,
}
