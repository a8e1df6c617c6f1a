"""``assay check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import (
    BLANKS,
    COLUMNS,
    EDITOR,
    EXCLUDE,
    HUMAN,
    JSON,
    LP,
    METRICS,
    RANGE,
    SYSTEM,
    WEIGHTS,
    columns_for,
    format_options,
    names,
    score_range,
)

if TYPE_CHECKING:
    from assay.tables.convert import Checked


SHOWN = 50
"""How many problems are printed; a file with more has usually one fault many times."""


def check(
    file: Annotated[Path, typer.Argument(help="The file (or folder) to check.", metavar="FILE")],
    kind: Annotated[
        str, typer.Option("--kind", help="scores, ratings, errors, judgments, edits or sample.")
    ],
    format: Annotated[
        str | None, typer.Option("--format", help="Another tool's format, such as google-mqm.")
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option("--scores", help="The test set that ratings, errors or a sample are about."),
    ] = None,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    exclude: EXCLUDE = None,
    range: RANGE = None,
    lp: LP = None,
    human: HUMAN = None,
    system: SYSTEM = None,
    editor: EDITOR = None,
    weights: WEIGHTS = None,
    blanks: BLANKS = "drop",
    json: JSON = False,
) -> None:
    """Check a file: every problem with its line, column and remedy.

    Example: assay check ratings.tsv --kind ratings --scores scores.tsv --range 0,25
    """
    from assay.cli.output import print_json
    from assay.errors import TableError
    from assay.tables.convert import Checked
    from assay.tables.convert import check as run
    from assay.tables.test_set import read_scores

    options = format_options(
        lp=lp, human=human, system=system, editor=editor, weights=weights, blanks=blanks
    )
    chosen, left_out = names(metrics), names(exclude) or ()
    # Another tool's columns are translated by its format, so there is nothing to map.
    mapped = columns_for(columns, *([] if format else [(kind, file)]))
    test_set = None
    try:
        if scores is not None:
            (theirs,) = columns_for(columns, ("scores", scores))
            test_set = read_scores(scores, columns=theirs, metrics=chosen, exclude=left_out)
            chosen, left_out = None, ()
        report = run(
            file,
            kind=kind,
            format=format,
            columns=mapped[0] if mapped else None,
            metrics=chosen,
            exclude=left_out,
            range=score_range(range),
            test_set=test_set,
            options=options,
        )
    except TableError as error:  # the test set itself cannot be read
        report = Checked(error.source, "scores", error.rows, error.problems, ())
    if json:
        print_json(report.to_dict())
    else:
        _show(report)
    if not report.ok:
        raise typer.Exit(2)


def _show(report: Checked) -> None:
    from assay.cli.output import print_table

    if report.ok:
        print(f"{report.source}: a good {report.table} table of {report.rows} rows")
        if report.table == "scores":
            print(f"  metrics: {', '.join(report.metrics) or 'none'}")
        for line in report.notes:
            print(f"  {line}")
        return
    count = len(report.problems)
    shown = report.problems[:SHOWN]
    print_table(
        f"{report.source}: {count} problem{'s' if count != 1 else ''}",
        ["line", "column", "value", "what is wrong, and what to do"],
        [
            [
                "" if problem.line is None else problem.line,
                problem.column or "",
                _short(problem.value or ""),
                problem.message,
            ]
            for problem in shown
        ],
    )
    if count > len(shown):
        print(f"... and {count - len(shown)} more; --json lists them all")


def _short(value: str) -> str:
    return value if len(value) < 40 else value[:37] + "..."
