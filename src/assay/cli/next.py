"""``assay next``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import (
    BETTER,
    COLUMNS,
    EXCLUDE,
    JSON,
    LP,
    METRICS,
    ONLY,
    SEED,
    columns_for,
    only_for,
    read_test_set,
)


def next_(
    scores: Annotated[Path, typer.Argument(help="The test set: a scores table.", metavar="SCORES")],
    ratings: Annotated[Path, typer.Argument(help="What the raters answered.", metavar="RATINGS")],
    sample: Annotated[
        Path | None, typer.Option("--sample", help="The sample to choose from.", metavar="SAMPLE")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="auto, adaptive (which systems go on), docs-incr-human or docs-incr-metrics.",
        ),
    ] = "auto",
    count: Annotated[
        int, typer.Option("--count", help="How many segments (adaptive: for each system).")
    ] = 1,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            help="adaptive: segments per system on average; default: the sample.",
            metavar="N|P%",
        ),
    ] = None,
    better: BETTER = "higher",
    columns: COLUMNS = None,
    metrics: METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    seed: SEED = None,
    json: JSON = False,
) -> None:
    """Choose which segments, or which systems, to rate next.

    Example: assay next scores.tsv ratings.tsv --sample sample.tsv --count 30
    """
    from assay.cli.output import note, print_json, print_table
    from assay.sampling.next import next_segments
    from assay.tables.answers import read_ratings
    from assay.tables.sample import read_sample

    own, theirs = columns_for(columns, ("scores", scores), ("ratings", ratings))
    test_set = read_test_set(
        scores, own, columns=columns, metrics=metrics, lower_metrics=None,
        exclude=exclude, only=only, lp=lp,
    )  # fmt: skip
    given = read_ratings(
        ratings, test_set, columns=theirs, better=better, only=only_for(only, lp, theirs, ratings)
    )
    drawn = None if sample is None else read_sample(sample, test_set)
    result = next_segments(
        test_set, given, sample=drawn, method=method, count=count, budget=budget, rng=seed
    )
    if json:
        print_json(result.to_dict())
        return
    note(*result.notes)
    if not result.segments:
        print("nothing to rate next")
        return
    rows = [
        [item.system or "all", item.doc or "", item.seg, item.reason] for item in result.segments
    ]
    print_table(f"To rate next ({result.method})", ["system", "document", "segment", "why"], rows)
    print(f"signature: {result.signature}")
