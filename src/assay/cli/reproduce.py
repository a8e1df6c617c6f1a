"""``assay reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import BACKEND, JSON, OUTPUT, SCHEDULER, WORKERS, chosen_workers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from assay.papers.cells import Cell, Reproduction


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            help="The paper: koehn2012, korotaev2022, lo2023 or saldias2022.", metavar="PAPER"
        ),
    ],
    data: Annotated[
        Path, typer.Option("--data", help="Folder with the paper's data.", metavar="DIR")
    ],
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws",
            help="Samples or campaigns simulated (koehn2012 and korotaev2022: 200, lo2023: 1000,"
            " saldias2022: 100).",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", help="Seed of the random choice; the output repeats it.")
    ] = 13,
    backend: BACKEND = None,
    workers: WORKERS = None,
    scheduler: SCHEDULER = None,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", help="Folder for the figures (SVG and PNG).", metavar="DIR"),
    ] = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Reproduce a paper's tables: ours beside the paper's, with Monte-Carlo error.

    Example: assay reproduce lo2023 --data wmt --workers 0
    """
    from assay.cli.output import note, print_json, save_json, track
    from assay.papers import find_paper

    study = find_paper(paper).start(
        data, draws=draws, rng=seed, workers=chosen_workers(backend, workers, scheduler),
        figures=figures is not None,
    )  # fmt: skip
    result = study.finish(track(study.run(), study.steps, paper))
    written = [] if figures is None else _save_figures(study.draw(result), figures)
    if output is not None:
        save_json(result.to_dict(), output)
        written.append(output)
    note(*result.notes)
    if json:
        print_json(result.to_dict())
        return
    show_reproduction(result)
    for path in written:
        print(f"written to {path}")


def _save_figures(figures: dict[str, Figure], folder: Path) -> list[Path]:
    from assay.errors import OptionError
    from assay.views.figures import save_figure

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(
            "--figures", folder, f"cannot be made ({error.strerror})", "name a folder"
        ) from None
    return [
        save_figure(figure, folder / f"{name}{ending}")
        for name, figure in figures.items()
        for ending in (".svg", ".png")
    ]


def show_reproduction(result: Reproduction) -> None:
    """Print one table per table of the paper, then how the cells compare."""
    from assay.cli.output import print_table

    columns = ["row", "column", "paper", "ours", "± error", "matches", "note"]
    words = {True: "yes", False: "no", None: "–"}
    for name, cells in result.tables.items():
        rows = [
            [
                cell.row,
                cell.column,
                _value(cell.paper, cell.paper_of, _digits(cell, printed=True)),
                _value(cell.ours, cell.ours_of, _digits(cell)),
                _value(cell.error, None, 2 if cell.digits is None else cell.digits + 1),
                words[cell.matches],
                cell.note,
            ]
            for cell in cells
        ]
        print_table(f"{result.paper}, {name}", columns, rows)
    counts = (f"{count} {name}" for name, count in result.counts().items() if count)
    print(f"cells: {', '.join(counts)}")
    print(f"signature: {result.signature}")


def _digits(cell: Cell, *, printed: bool = False) -> int:
    """Counts of single runs are whole; coverage and means have decimals."""
    if cell.digits is not None:
        return cell.digits
    if cell.column == "coverage":
        return 2
    if printed:
        return 0
    if cell.table == "beyond" or cell.row.endswith("mean"):
        return 2
    return 0 if cell.ours_of is not None else 1


def _value(value: float | None, of: int | None, digits: int) -> str:
    from assay.cli.output import number

    return number(value, digits) + ("" if of is None or value is None else f"/{of}")
