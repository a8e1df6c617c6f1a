"""``assay sample``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import (
    COLUMNS,
    EXCLUDE,
    JSON,
    METRICS,
    OUTPUT,
    SEED,
    columns_for,
    names,
)

__all__ = ["sample"]


def sample(
    scores: Annotated[Path, typer.Argument(help="The test set: a scores table.", metavar="SCORES")],
    budget: Annotated[
        str, typer.Option("--budget", help="Segments to rate: a number or a share.", metavar="N|P%")
    ],
    design: Annotated[
        str, typer.Option("--design", help="How to draw: segments (SL).")
    ] = "segments",
    columns: COLUMNS = None,
    metrics: METRICS = None,
    exclude: EXCLUDE = None,
    seed: SEED = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Draw the segments to show the raters, each with its inclusion probability.

    Example: assay sample scores.tsv --budget 20% --seed 7 -o sample.tsv
    """
    from assay.cli.output import note, print_json
    from assay.sampling import sample as draw
    from assay.sampling.summary import summarise
    from assay.tables import read_scores

    (own,) = columns_for(columns, ["scores"])
    test_set = read_scores(
        scores, columns=own, metrics=names(metrics), exclude=names(exclude) or ()
    )
    drawn = draw(test_set, budget=budget, design=design, rng=seed)
    summary = summarise(test_set, drawn)
    if output is not None:
        drawn.write(output)
    if json:
        print_json(summary.to_dict())
        return
    note(*test_set.notes)
    print(
        f"{summary.n} of {summary.population} segments drawn for {len(test_set.systems)} systems"
        f" (design {summary.design}, seed {summary.seed}); every segment had probability"
        f" {summary.min_probability:.4g}"
    )
    if output is not None:
        print(f"written to {output}")
    else:
        note("not saved; give -o FILE to keep the sample, the estimate needs it")
