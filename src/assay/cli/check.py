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

__all__ = ["check"]


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
    from assay.tables import read_scores
    from assay.tables.convert import check as run

    kinds = [kind] if scores is None else [kind, "scores"]
    own, *theirs = columns_for(columns, kinds)
    left_out = names(exclude) or ()
    test_set = None
    if scores is not None:
        test_set = read_scores(scores, columns=theirs[0], exclude=left_out)
        left_out = ()
    report = run(
        file,
        kind=kind,
        format=format,
        columns=own,
        metrics=names(metrics),
        exclude=left_out,
        range=score_range(range),
        test_set=test_set,
        options=format_options(
            lp=lp, human=human, system=system, editor=editor, weights=weights, blanks=blanks
        ),
    )
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
    print_table(
        f"{report.source}: {count} problem{'s' if count != 1 else ''}",
        ["line", "column", "value", "what is wrong, and what to do"],
        [
            [
                "" if problem.line is None else problem.line,
                problem.column or "",
                problem.value
                if problem.value is None or len(problem.value) < 40
                else problem.value[:37] + "...",
                problem.message,
            ]
            for problem in report.problems
        ],
    )
