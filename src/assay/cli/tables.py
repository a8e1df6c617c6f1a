"""``assay check`` and ``assay convert``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from assay.cli import (
    columns_for,
    names,
    only_for,
    pairs,
    save_file,
    score_range,
)
from assay.cli.options import (
    COLUMNS,
    EDITOR,
    EXCLUDE,
    FORMAT,
    FROM_HELP,
    JSON,
    KIND,
    LP,
    METRICS,
    ONLY,
    RANGE,
    SAVE,
    SCORES_OPTION,
    SYSTEM,
)
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.cli import Command
    from assay.formats.catalogue import Options
    from assay.tables.load import Raw, Source


HUMAN_SCORES = Annotated[
    str | None,
    typer.Option("--human-scores", help="Which human scores of an mt-metrics-eval folder."),
]
WEIGHTS = Annotated[
    str | None,
    typer.Option("--weights", help="MQM weights by severity: major=5,minor=1.", metavar="A=B,..."),
]
BLANKS = Annotated[
    Literal["drop", "best"],
    typer.Option("--blanks", help="Unranked outputs in WMT rankings: drop, or count as best."),
]


def _list_formats(wanted: bool) -> None:
    if wanted:
        from assay.views.formats import formats_section
        from assay.views.section import show

        show(formats_section())
        raise typer.Exit


LIST_FORMATS = Annotated[
    bool,
    typer.Option(
        "--list-formats", callback=_list_formats, is_eager=True, help="List other tools' formats."
    ),
]


def check(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file (or folder) to check.", metavar="FILE")],
    kind: KIND = None,
    format: FORMAT = None,
    test_set: Annotated[Path | None, SCORES_OPTION] = None,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    exclude: EXCLUDE = None,
    range: RANGE = None,
    only: ONLY = None,
    lp: LP = None,
    human_scores: HUMAN_SCORES = None,
    system: SYSTEM = None,
    editor: EDITOR = None,
    weights: WEIGHTS = None,
    blanks: BLANKS = "drop",
    list_formats: LIST_FORMATS = False,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Check a file: every problem with its line, column and remedy.

    Without --kind, the kind and the columns are guessed, and the guess is shown.

    Example: assay check ratings.tsv --kind ratings --scores scores.tsv --range 0,25
    """
    from assay.cli import deliver
    from assay.errors import TableError, rename_arguments
    from assay.formats.convert import check as run
    from assay.formats.convert import refused
    from assay.formats.versions import tool_format
    from assay.tables.tables import read_scores

    save_file(save)
    format = tool_format(file) if format is None and file.is_file() else format
    options = _options(lp, human_scores, system, editor, weights, blanks)
    chosen, left_out = names(metrics), names(exclude) or ()
    what: Source | Raw = file
    if kind is None:
        what, kind, mapped, chosen = _guessed(file, format, columns, only, chosen)
    else:
        # Another tool's columns are translated by its format, so there is nothing to map.
        mapped = columns_for(columns, *([] if format else [(kind, file)]))
    every = format is not None or test_set is None
    rows = only_for(only, None, mapped[0] if mapped else {}, file, every=every)
    scores = None
    try:
        if test_set is not None:
            (theirs,) = columns_for(columns, ("scores", test_set))
            scores = read_scores(
                test_set, columns=theirs, metrics=chosen, exclude=left_out,
                only=only_for(only, None, theirs, test_set),
            )  # fmt: skip
            chosen, left_out = None, ()
        result = run(
            what, kind=kind, format=format, columns=mapped[0] if mapped else None, metrics=chosen,
            exclude=left_out, range=score_range(range), test_set=scores, options=options,
            only=rows,
        )  # fmt: skip
    except TableError as error:  # the test set itself cannot be read
        result = refused(error, "scores")
    naming = cast("Command", context.command).option
    problems = tuple(
        replace(item, message=rename_arguments(item.message, naming)) for item in result.problems
    )
    deliver(replace(result, problems=problems), save, json)
    if not result.ok:
        raise typer.Exit(2)


def _guessed(
    file: Path,
    format: str | None,
    columns: str | None,
    only: str | None,
    metrics: list[str] | None,
) -> tuple[Source | Raw, str, list[dict[str, str]], list[str] | None]:
    """What to check a file as: from where, its kind, its columns, and its metrics."""
    if format is not None:
        from assay.formats.catalogue import find_format

        reads = find_format(format).reads
        if len(reads) != 1:
            raise OptionError(
                "format", format, f"holds {' and '.join(reads) or 'no table'}", "say which: --kind"
            )
        return file, reads[0], [], metrics
    from assay.cli.guessing import guessed
    from assay.tables.answers import as_guessed

    found = guessed(file, columns, only, None)
    if metrics is None and found.table == "scores":
        metrics = list(found.metrics)
    return as_guessed(file, found), str(found.table), [dict(found.columns)], metrics


def convert(
    source: Annotated[Path, typer.Argument(help="What to read.", metavar="SRC")],
    target: Annotated[Path, typer.Argument(help="What to write.", metavar="DST")],
    origin: Annotated[str, typer.Option("--from", help=FROM_HELP)],
    to: Annotated[str, typer.Option("--to", help="Table or format of DST.")],
    sample: Annotated[
        Path | None,
        typer.Option("--sample", help="The sample: which segments, and how they were drawn."),
    ] = None,
    columns: COLUMNS = None,
    exclude: EXCLUDE = None,
    lp: LP = None,
    human_scores: HUMAN_SCORES = None,
    system: SYSTEM = None,
    editor: EDITOR = None,
    weights: WEIGHTS = None,
    blanks: BLANKS = "drop",
    list_formats: LIST_FORMATS = False,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Turn other tools' files into tables, and tables into other tools' files.

    Tables: scores, ratings, errors, judgments, edits, sample (type by the ending: .tsv .csv
    .jsonl .parquet .xlsx). Formats: --list-formats shows them.

    Scores converted to ratings with --sample make a sheet for the raters to fill in.

    Example: assay convert mqm.tsv ratings.tsv --from google-mqm --to ratings
    """
    from assay.cli import deliver
    from assay.formats.convert import convert as run
    from assay.tables.tables import read_sample

    save_file(save)
    result = run(
        source, target, origin=origin, to=to, columns=pairs("columns", columns),
        exclude=names(exclude) or (), sample=None if sample is None else read_sample(sample),
        options=_options(lp, human_scores, system, editor, weights, blanks),
    )  # fmt: skip
    deliver(result, save, json)


def _options(
    lp: str | None,
    human_scores: str | None,
    system: str | None,
    editor: str | None,
    weights: str | None,
    blanks: Literal["drop", "best"],
) -> Options:
    """What the user said about another tool's file."""
    from assay.formats.catalogue import Options
    from assay.formats.mqm import make_weights

    changes = {}
    for name, value in pairs("weights", weights).items():
        try:
            changes[name.lower()] = float(value)
        except ValueError:
            raise OptionError(
                "weights", f"{name}={value}", "is not a weight", "write SEVERITY=NUMBER"
            ) from None
    return Options(lp, human_scores, system, editor, make_weights(changes), blanks)
