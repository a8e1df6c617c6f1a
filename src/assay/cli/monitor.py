"""``assay monitor``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli.options import (
    BETTER,
    COLUMNS,
    EXCLUDE,
    JSON,
    LOWER_METRICS,
    LP,
    METRICS,
    ONLY,
    OUTPUT,
    RANGE,
    json_file,
    read_rated,
    refuse_overwriting,
)

if TYPE_CHECKING:
    from assay.estimation.stopping import Monitoring


def monitor(
    scores: Annotated[Path, typer.Argument(help="The test set: a scores table.", metavar="SCORES")],
    ratings: Annotated[Path, typer.Argument(help="What the raters answered.", metavar="RATINGS")],
    sample: Annotated[
        Path, typer.Option("--sample", help="The interleaved sample, rated in its order.")
    ],
    half_width: Annotated[
        float, typer.Option("--half-width", help="Stop when intervals are this narrow.")
    ],
    goal: Annotated[
        Literal["score", "ranking"],
        typer.Option("--goal", help="Every score, or every difference decided or as narrow."),
    ] = "score",
    guarantee: Annotated[
        bool,
        typer.Option("--guarantee", help="Valid however often you look; needs --range."),
    ] = False,
    better: BETTER = "higher",
    range: RANGE = None,
    level: Annotated[float, typer.Option("--level", help="Confidence level.")] = 0.95,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Say whether enough has been rated, while ratings come in.

    Example: assay monitor scores.tsv ratings.tsv --sample sample.tsv --half-width 0.3
    """
    from assay.cli.output import deliver
    from assay.estimation.stopping import monitor as run
    from assay.tables.sample import read_sample

    refuse_overwriting(json_file(output), scores, ratings, sample)
    test_set, given = read_rated(
        scores, ratings, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
        exclude=exclude, only=only, lp=lp, better=better, range=range,
    )  # fmt: skip
    result = run(
        test_set, given, sample=read_sample(sample, test_set), target=half_width, goal=goal,
        guarantee=guarantee, level=level,
    )  # fmt: skip
    deliver(result.to_dict(), output, json, lambda: _show(result))


def _show(result: Monitoring) -> None:
    from assay.cli.output import note, number, print_table

    note(*result.notes)
    rows = [
        [item.what, number(item.estimate), f"{number(item.low)} – {number(item.high)}",
         item.n, "yes" if item.reached else "no", "–" if item.more is None else item.more]
        for item in result.items
    ]  # fmt: skip
    columns_shown = ["what", "estimate", f"{result.level:.0%} interval", "rated", "reached", "more"]
    print_table(f"{result.n} of {result.population} segments rated", columns_shown, rows)
    print("stop: the target is reached" if result.stop else "go on: the target is not reached yet")
    print(f"signature: {result.signature}")
