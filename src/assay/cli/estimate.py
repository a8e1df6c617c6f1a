"""``assay estimate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import (
    BETTER,
    COLUMNS,
    EXCLUDE,
    JSON,
    LOWER_METRICS,
    LP,
    METRICS,
    OUTPUT,
    RANGE,
    columns_for,
    json_file,
    read_test_set,
    refuse_overwriting,
    score_range,
)

if TYPE_CHECKING:
    from assay.estimation import Estimates

__all__ = ["estimate", "show_estimates"]


def estimate(
    scores: Annotated[Path, typer.Argument(help="The test set: a scores table.", metavar="SCORES")],
    ratings: Annotated[Path, typer.Argument(help="What the raters answered.", metavar="RATINGS")],
    sample: Annotated[
        Path | None, typer.Option("--sample", help="The sample the ratings were drawn with.")
    ] = None,
    assume: Annotated[
        str | None,
        typer.Option(
            "--assume", help="Without a sample file: random or documents (shown in the result)."
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method", help="auto, mean, regression, cv-single, cv-mean, cv-multi or cv-knn."
        ),
    ] = "auto",
    interval: Annotated[
        str,
        typer.Option("--interval", help="t, skew-t, bootstrap, betting, hoeffding or bernstein."),
    ] = "t",
    better: BETTER = "higher",
    range: RANGE = None,
    level: Annotated[float, typer.Option("--level", help="Confidence level.")] = 0.95,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    lp: LP = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Estimate each system's score on the whole test set, with intervals and rank ranges.

    Example: assay estimate scores.tsv ratings.tsv --sample sample.tsv --better lower
    """
    from assay.cli.output import note, print_json, save_json
    from assay.estimation import estimate as run
    from assay.tables import read_ratings, read_sample

    refuse_overwriting(json_file(output), scores, ratings, sample)
    own, theirs = columns_for(columns, ("scores", scores), ("ratings", ratings))
    test_set = read_test_set(
        scores, own, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
        exclude=exclude, lp=lp,
    )  # fmt: skip
    given = read_ratings(ratings, test_set, columns=theirs, better=better, range=score_range(range))
    drawn = None if sample is None else read_sample(sample, test_set)
    result = run(
        test_set, given, sample=drawn, assume=assume, method=method, interval=interval, level=level
    )
    if output is not None:
        save_json(result.to_dict(), output)
    if json:
        print_json(result.to_dict())
        return
    note(*result.notes, f"metrics used: {', '.join(result.metrics) or 'none'}")
    show_estimates(result)
    if output is not None:
        print(f"written to {output}; assay report {output} makes a page of it")


def show_estimates(result: Estimates, truth: dict[str, float] | None = None) -> None:
    """Print the systems, best first, and what is decided between them."""
    from assay.cli.output import number, print_table

    columns = ["system", "estimate", f"{result.level:.0%} interval", "rated", "ranks", "cluster"]
    if truth:
        columns.insert(3, "truth")
    rows = []
    for item in result.systems:
        row: list[object] = [
            item.system,
            number(item.estimate),
            _interval(item.low, item.high),
            f"{item.n}/{item.population}",
            _ranks(item.low_rank, item.high_rank),
            item.cluster,
        ]
        if truth:
            row.insert(3, number(truth[item.system]))
        rows.append(row)
    print_table(f"Scores on the whole test set ({result.better} is better)", columns, rows)
    decided = sum(item.decided for item in result.differences)
    if result.differences:
        print(f"{decided} of {len(result.differences)} differences between systems are decided")
    print(f"signature: {result.signature}")


def _interval(low: float, high: float) -> str:
    from assay.cli.output import number

    known = low == low and abs(low) < float("inf")
    return f"{number(low)} – {number(high)}" if known else "unknown"


def _ranks(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
