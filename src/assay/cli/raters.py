"""``assay raters``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import (
    BETTER,
    COLUMNS,
    EXCLUDE,
    JSON,
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
    from assay.estimation.rater_results import RaterEstimate, RaterReport


def raters(
    scores: Annotated[Path, typer.Argument(help="The test set: a scores table.", metavar="SCORES")],
    ratings: Annotated[Path, typer.Argument(help="What the raters answered.", metavar="RATINGS")],
    sample: Annotated[
        Path | None,
        typer.Option("--sample", help="The sample: adds each rater's scores of the systems."),
    ] = None,
    assume: Annotated[
        str | None,
        typer.Option("--assume", help="Without a sample file: random or documents."),
    ] = None,
    better: BETTER = "higher",
    range: RANGE = None,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Describe the raters: severity, agreement, attention checks, outliers, and their scores.

    Example: assay raters scores.tsv ratings.tsv --sample sample.tsv --better lower
    """
    from assay.cli.output import deliver
    from assay.estimation.raters import rater_report
    from assay.tables.sample import read_sample

    refuse_overwriting(json_file(output), scores, ratings, sample)
    test_set, given = read_rated(
        scores, ratings, columns=columns, metrics=metrics, exclude=exclude, only=only, lp=lp,
        better=better, range=range,
    )  # fmt: skip
    drawn = None if sample is None else read_sample(sample, test_set)
    report = rater_report(test_set, given, sample=drawn, assume=assume)
    deliver(report.to_dict(), output, json, lambda: _show(report))


def _show(report: RaterReport) -> None:
    from assay.cli.output import note

    note(*report.notes)
    _show_raters(report)
    if report.estimates:
        _show_estimates(report)
    print(f"signature: {report.signature}")


def _show_raters(report: RaterReport) -> None:
    from assay.cli.output import number, print_table

    checked = any(item.checks for item in report.raters)
    timed = any(item.seconds == item.seconds for item in report.raters)
    rows = []
    for item in report.raters:
        row: list[object] = [
            item.rater,
            item.n,
            item.skipped,
            number(item.mean),
            f"{number(item.severity)} ± {number(item.stderr)}",
            number(item.spread),
            number(item.correlation, 2),
            item.overlap,
        ]
        row += [number(item.seconds, 1)] if timed else []
        row += [f"{item.passed}/{item.checks}"] if checked else []
        rows.append(row)
    columns = ["rater", "rated", "skipped", "mean", "severity ± se", "sd", "r", "on"]
    columns += ["seconds"] if timed else []
    columns += ["checks"] if checked else []
    print_table(
        f"Raters ({report.better} is better; severity: worse than the average)", columns, rows
    )
    print(
        f"agreement on {report.overlapping} of {report.outputs} outputs: Krippendorff's alpha"
        f" {number(report.alpha, 2)} (ordinal {number(report.alpha_ordinal, 2)}), mean r"
        f" {number(report.mean_correlation, 2)} over {report.pairs} pairs of raters"
    )
    apart = [f"{item.rater} ({', '.join(item.reasons)})" for item in report.raters if item.outlier]
    print(f"outliers: {'; '.join(apart) or 'none'}")
    print(report.rule)


def _show_estimates(report: RaterReport) -> None:
    """Systems down, raters across, what each of them alone says."""
    from assay.cli.output import print_table

    found = {(item.rater, item.system): item for item in report.estimates}
    everybody = dict.fromkeys(item.rater for item in report.estimates)
    systems = dict.fromkeys(item.system for item in report.estimates)
    rows = [
        [system, *(_cell(found.get((rater, system))) for rater in everybody)] for system in systems
    ]
    print()
    print_table(
        "Scores on the whole test set by each rater alone (95% interval)",
        ["system", *(rater or "all" for rater in everybody)],
        rows,
    )


def _cell(item: RaterEstimate | None) -> str:
    from assay.cli.output import number

    if item is None:
        return "–"
    return f"{number(item.estimate, 2)} ({number(item.low, 2)} to {number(item.high, 2)})"
