"""``assay next-set``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli.options import (
    COLUMNS,
    EXCLUDE,
    JSON,
    LP,
    ONLY,
    OUTPUT,
    SEED,
    json_file,
    names,
    read_judged,
    refuse_overwriting,
)

if TYPE_CHECKING:
    from assay.ranking.best import NextSets


def next_set(
    judgments: Annotated[Path, typer.Argument(help="Judgments so far.", metavar="JUDGMENTS")],
    systems: Annotated[
        str | None,
        typer.Option("--systems", help="All that compete; default: the judged.", metavar="A,B"),
    ] = None,
    goal: Annotated[
        Literal["best", "order"],
        typer.Option("--goal", help="Find the best system, or put all in order."),
    ] = "best",
    per_set: Annotated[
        int | None,
        typer.Option("--per-set", help="Systems shown at once; default: as many as so far."),
    ] = None,
    count: Annotated[int, typer.Option("--count", help="How many sets.")] = 1,
    columns: COLUMNS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    seed: SEED = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Choose the systems to show next: to find the best one soon, or the order.

    Judgments chosen this way must not be tested for significance. Towards the best system they
    take far fewer judgments than random sets, towards the order hardly fewer.

    Example: assay next-set judgments.tsv --per-set 5 --count 20
    """
    from assay.cli.output import deliver
    from assay.ranking.best import next_sets

    refuse_overwriting(json_file(output), judgments)
    table = read_judged(judgments, columns, exclude, only, lp)
    result = next_sets(
        table, goal=goal, systems=names(systems), per_set=per_set, count=count, rng=seed
    )
    deliver(result.to_dict(), output, json, lambda: _show(result))


def _show(result: NextSets) -> None:
    from assay.cli.output import number, print_table

    rows = [[k + 1, ", ".join(own)] for k, own in enumerate(result.sets)]
    print_table("Show next", ["set", "systems"], rows)
    likely = sorted(zip(result.chances, result.systems, strict=True), reverse=True)[:5]
    print_table("Chance to be the best", ["system", "chance"], [[s, number(c)] for c, s in likely])
    print("no significance may be claimed from judgments chosen this way")
    print(f"signature: {result.signature}")
