"""``assay evaluate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.options import (
    BACKEND,
    BETTER,
    COLUMNS,
    EXCLUDE,
    JSON,
    LOWER_METRICS,
    LP,
    METRICS,
    ONLY,
    OUTPUT,
    SCHEDULER,
    SEED,
    WORKERS,
    chosen_workers,
    json_file,
    names,
    read_rated,
    refuse_overwriting,
)
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.estimation.results import Evaluation
    from assay.estimation.stopping_evaluation import StoppingRecord


def evaluate(
    scores: Annotated[Path, typer.Argument(help="The test set: a scores table.", metavar="SCORES")],
    ratings: Annotated[Path, typer.Argument(help="Ratings of everything.", metavar="RATINGS")],
    methods: Annotated[
        str, typer.Option("--methods", help="Designs and estimators.", metavar="A,B+C")
    ] = "baseline,docs-prop,docs-prop+cv-knn,snippets+regression,balanced+regression",
    sizes: Annotated[
        str, typer.Option("--sizes", help="Shares of the segments to rate.", metavar="5%,10%")
    ] = "5%,10%,20%,30%,40%,50%",
    draws: Annotated[int, typer.Option("--draws", help="Samples per method and size.")] = 100,
    stop: Annotated[
        float | None,
        typer.Option("--stop", help="Also: how much is rated until intervals are this narrow."),
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Confidence level.")] = 0.95,
    better: BETTER = "higher",
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    seed: SEED = None,
    backend: BACKEND = None,
    workers: WORKERS = None,
    scheduler: SCHEDULER = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Try estimators on a fully rated test set: error, bias, coverage and width.

    Example: assay evaluate scores.tsv all-ratings.tsv --methods baseline,balanced+regression
    """
    from assay.cli.output import note, print_json, save_json, track
    from assay.estimation.evaluate import evaluate_estimators, summarise_evaluation
    from assay.estimation.stopping_evaluation import evaluate_stopping
    from assay.results import plain
    from assay.stats.random import seeded

    refuse_overwriting(json_file(output), scores, ratings)
    who = chosen_workers(backend, workers, scheduler)
    test_set, given = read_rated(
        scores, ratings, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
        exclude=exclude, only=only, lp=lp, better=better,
    )  # fmt: skip
    listed, shares, (_, used) = names(methods) or [], _shares(sizes), seeded(seed)
    records = evaluate_estimators(
        test_set, given, methods=listed, sizes=shares, draws=draws, level=level, rng=used,
        workers=who,
    )  # fmt: skip
    cells = len(listed) * len(shares) * len(test_set.systems)
    result = summarise_evaluation(track(records, cells, "trying estimators"), seed=used)
    content = result.to_dict()
    stops: list[StoppingRecord] = []
    if stop is not None:
        runs = evaluate_stopping(
            test_set, given, target=stop, draws=draws, level=level, rng=used, workers=who
        )
        stops = list(track(runs, 2 * len(test_set.systems), "trying to stop"))
        content["stopping"] = [plain(record) for record in stops]
    if output is not None:
        save_json(content, output)
    if json:
        print_json(content)
        return
    note(*test_set.notes, f"metrics: {', '.join(test_set.metrics) or 'none'}")
    _show(result)
    if stop is not None:
        _show_stops(stops, stop)


def _show_stops(records: Sequence[StoppingRecord], target: float) -> None:
    from assay.cli.output import print_table

    rows: list[Sequence[object]] = []
    for method in dict.fromkeys(record.method for record in records):
        own = [record for record in records if record.method == method]
        share = sum(record.share for record in own) / len(own)
        coverage = [record.coverage for record in own]
        mean = sum(coverage) / len(own)
        rows.append([method, f"{share:.1%}", f"{mean:.1%}", f"{min(coverage):.1%}"])
    columns = ["order and estimate", "rated at the stop", "coverage", "worst system"]
    print_table(f"Rated until every interval is ±{target:g}", columns, rows)


def _shares(text: str) -> list[float]:
    """``5%,10%`` as shares."""
    found = []
    for part in names(text) or []:
        try:
            found.append(float(part.removesuffix("%")) / (100 if part.endswith("%") else 1))
        except ValueError:
            raise OptionError(
                "--sizes", part, "is no share", "write shares such as 5%,10%"
            ) from None
    return found


def _share(value: float) -> str:
    return f"{value:.1%}" if value == value else "–"


def _show(result: Evaluation) -> None:
    from assay.cli.output import number, print_table

    rows: list[Sequence[object]] = [
        [
            item.method,
            number(item.error),
            number(item.sd),
            "–" if item.gain is None else f"{item.gain:.1f} ± {number(item.gain_error, 1)}",
            "–" if item.win is None else f"{item.win:.0%}",
            number(item.bias),
            _share(item.coverage),
            _share(item.worst_coverage),
            number(item.half_width),
        ]
        for item in result.methods
    ]
    columns = ["method", "|error|", "sd", "gain in %", "wins", "bias", "coverage",
               "worst system", "half-width"]  # fmt: skip
    print_table(f"Estimators over {result.draws} samples a size", columns, rows)
    print(f"signature: {result.signature}")
