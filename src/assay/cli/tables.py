"""``assay check`` and ``assay convert``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

from typer import Context, Exit

from assay.cli import Reading, columns_for, deliver, names, only_for, pairs, score_range
from assay.cli.options import File, Text
from assay.cli.reading import as_guessed, guessed
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.cli import Command
    from assay.formats.catalogue import Options
    from assay.tables.load import Raw, Source


def _list_formats(wanted: bool) -> None:
    if wanted:
        from assay.views.formats import formats_section
        from assay.views.section import show

        show(formats_section())
        raise Exit


Listing = Annotated[bool, {"callback": _list_formats, "is_eager": True}]
Blanks = Literal["drop", "best"]


def check(
    context: Context, file: Path, *, kind: Text = None, format: Text = None, scores: File = None,
    columns: Text = None, metrics: Text = None, exclude: Text = None, range: Text = None,
    only: Text = None, lp: Text = None, human_scores: Text = None, system: Text = None,
    editor: Text = None, weights: Text = None, blanks: Blanks = "drop",
    list_formats: Listing = False, save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Check a file and list every problem with its line, column and remedy.

    Without --kind, Assay guesses the kind and the columns, and shows the guess.

    Example: assay check ratings.tsv --kind ratings --scores scores.tsv --range 0,25
    """
    from assay.errors import TableError, rename_arguments
    from assay.formats.bilingual import tool_format
    from assay.formats.convert import check as run
    from assay.formats.convert import refused
    from assay.tables.schemas import find_schema
    from assay.tables.tables import read_scores

    read = Reading(columns=columns, only=only)  # the language pair is the format's
    format = tool_format(file) if format is None and file.is_file() else format
    options = _options(lp, human_scores, system, editor, weights, blanks)
    chosen, left_out = names(metrics), names(exclude) or ()
    what: Source | Raw = file
    if kind is None:
        what, kind, mapped, chosen = _guessed(file, format, read, chosen)
    else:
        find_schema(kind)
        # Another tool's columns are translated by its format, so there is nothing to map.
        mapped = columns_for(columns, *([] if format else [(kind, file)]))
    own = mapped[0] if mapped else {}
    rows = only_for(read, own, file, every=format is not None or scores is None)
    test_set = None
    try:
        if scores is not None:
            (theirs,) = columns_for(columns, ("scores", scores))
            test_set = read_scores(
                scores, columns=theirs, metrics=chosen, exclude=left_out,
                only=only_for(read, theirs, scores),
            )  # fmt: skip
            chosen, left_out = None, ()
        result = run(
            what, kind=kind, format=format, columns=own, metrics=chosen, exclude=left_out,
            range=score_range(range), test_set=test_set, options=options, only=rows,
        )  # fmt: skip
    except TableError as error:  # the test set itself cannot be read
        result = refused(error, "scores")
    naming = cast("Command", context.command).option
    problems = tuple(
        replace(item, message=rename_arguments(item.message, naming)) for item in result.problems
    )
    deliver(replace(result, problems=problems), save, json)
    if not result.ok:
        raise Exit(2)


def _guessed(
    file: Path, format: str | None, read: Reading, metrics: list[str] | None
) -> tuple[Source | Raw, str, list[dict[str, str]], list[str] | None]:
    """What to check a file as: from where, its kind, its columns, and its metrics."""
    if format is not None:
        from assay.formats.catalogue import find_format

        reads = list(find_format(format).reads)
        if len(reads) != 1:
            raise OptionError(
                "format", format, f"holds {' and '.join(reads) or 'no table'}", "say which: --kind"
            )
        return file, reads[0], [], metrics
    one = as_guessed(file, guessed([file], read), read)
    if metrics is None and one.kind == "scores":
        metrics = list(one.metrics)
    return one.source, one.kind, [one.columns], metrics


def convert(
    source: Path, target: Path, *, origin: str, to: str, sample: File = None, columns: Text = None,
    exclude: Text = None, lp: Text = None, human_scores: Text = None, system: Text = None,
    editor: Text = None, weights: Text = None, blanks: Blanks = "drop",
    list_formats: Listing = False, save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Convert other tools' files to tables, and tables to other tools' files.

    Tables: scores, ratings, errors, judgments, edits, sample (type by the ending: .tsv .csv
    .jsonl .parquet .xlsx). Formats: --list-formats shows them.

    Scores converted to ratings give rows to fill in, with the systems' names. For blind sheets use
    assay collect --sheets.

    Example: assay convert mqm.tsv ratings.tsv --from google-mqm --to ratings
    """
    from assay.formats.convert import convert as run
    from assay.tables.tables import read_sample

    result = run(
        source, target, origin=origin, to=to, columns=pairs("columns", columns),
        exclude=names(exclude) or (), sample=None if sample is None else read_sample(sample),
        options=_options(lp, human_scores, system, editor, weights, blanks),
    )  # fmt: skip
    deliver(result, save, json)


def _options(
    lp: Text, human_scores: Text, system: Text, editor: Text, weights: Text, blanks: Blanks
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
