"""``assay convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import (
    BLANKS,
    COLUMNS,
    EDITOR,
    EXCLUDE,
    HUMAN,
    JSON,
    LP,
    SYSTEM,
    WEIGHTS,
    format_options,
    names,
    pairs,
)


def convert(
    source: Annotated[Path, typer.Argument(help="What to read.", metavar="SRC")],
    target: Annotated[Path, typer.Argument(help="What to write.", metavar="DST")],
    origin: Annotated[
        str, typer.Option("--from", help="Table or format of SRC: ratings, google-mqm, ...")
    ],
    to: Annotated[str, typer.Option("--to", help="Table or format of DST.")],
    sample: Annotated[
        Path | None, typer.Option("--sample", help="Only the segments of this sample (scores).")
    ] = None,
    columns: COLUMNS = None,
    exclude: EXCLUDE = None,
    lp: LP = None,
    human: HUMAN = None,
    system: SYSTEM = None,
    editor: EDITOR = None,
    weights: WEIGHTS = None,
    blanks: BLANKS = "drop",
    json: JSON = False,
) -> None:
    """Turn other tools' files into tables, and tables into other tools' files.

    Tables: scores, ratings, errors, judgments, edits, sample (type by the ending: .tsv .csv
    .jsonl .parquet .xlsx). Formats: mt-metrics-eval, wmt-seg-scores, google-mqm, avg-seg-scores,
    wmt-rnk, wmt15-rnk, evalica, pearmut, pearmut-campaign, appraise, appraise-batches,
    label-studio, xliff, mxliff, sdlxliff, xliff2.

    Scores converted to ratings with --sample make a sheet for the raters to fill in.

    Example: assay convert mqm.tsv ratings.tsv --from google-mqm --to ratings
    """
    from assay.cli.output import note, print_json
    from assay.tables.convert import convert as run
    from assay.tables.sample import read_sample

    done = run(
        source,
        target,
        origin=origin,
        to=to,
        columns=pairs("--columns", columns),
        exclude=names(exclude) or (),
        sample=None if sample is None else read_sample(sample),
        options=format_options(
            lp=lp, human=human, system=system, editor=editor, weights=weights, blanks=blanks
        ),
    )
    if json:
        print_json(done.to_dict())
        return
    note(*done.notes)
    print(f"{done.rows} rows written to {', '.join(done.written)}")
