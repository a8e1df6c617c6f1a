"""Writes a file of every kind, again and again, until it is killed: a short one, then a long one.

``python -m tests.attacks.writing FOLDER`` says when it has written everything once.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl

import assay
from assay.cli import save_json
from assay.results import Result
from assay.tables.typed_files import save
from assay.views.figures import draw_pairs, save_figure
from assay.views.page import write_report

TABLES = ("t.tsv", "t.csv", "t.jsonl", "t.parquet", "t.xlsx", "t.tsv.gz")
FIGURES = ("f.svg", "f.pdf", "f.png")
REPORTS = ("r.html", "r.md", "r.tex")
SIZES = (3, 400)


def writers(folder: Path) -> dict[str, Callable[[int], object]]:
    """By file, what writes it; the number says whether it is the short or the long one."""
    plans: list[Result] = [
        assay.plan_ratings(population=500, half_width=width, sd=1.0) for width in (0.1, 0.2)
    ]
    frames = [pl.DataFrame({"system": ["a"] * size, "n": range(size)}) for size in SIZES]
    names = [[{"system": str(k)} for k in range(size)] for size in (2, 6)]
    found: dict[str, Callable[[int], object]] = {
        "r.json": lambda n: save_json(plans[n].to_dict(), folder / "r.json")
    }
    for table in TABLES:
        found[table] = lambda n, name=table: save(frames[n], folder / name)  # type: ignore[misc]
    for figure in FIGURES:
        found[figure] = lambda n, name=figure: save_figure(  # type: ignore[misc]
            draw_pairs(names[n], []), folder / name
        )
    for report in REPORTS:
        found[report] = lambda n, name=report: write_report(  # type: ignore[misc]
            plans[n], folder / name
        )
    return found


def main() -> None:
    """Write on and on."""
    for round_ in itertools.count():
        for write in writers(Path(sys.argv[1])).values():
            write(round_ % 2)
        if round_ == 0:
            print("all written", flush=True)


if __name__ == "__main__":
    main()
