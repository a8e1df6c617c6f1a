"""``assay next-set``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import COLUMNS, EXCLUDE, JSON, SEED, columns_for, names

__all__ = ["next_set"]


def next_set(
    judgments: Annotated[Path, typer.Argument(help="Judgments so far.", metavar="JUDGMENTS")],
    systems: Annotated[
        str | None,
        typer.Option("--systems", help="All that compete; default: the judged.", metavar="A,B"),
    ] = None,
    per_set: Annotated[int, typer.Option("--per-set", help="Systems shown at once.")] = 5,
    count: Annotated[int, typer.Option("--count", help="How many sets.")] = 1,
    columns: COLUMNS = None,
    exclude: EXCLUDE = None,
    seed: SEED = None,
    json: JSON = False,
) -> None:
    """Choose the systems to show next, where only the best one is sought.

    Judgments chosen this way find the best system soon, but must not be tested for significance.

    Example: assay next-set judgments.tsv --per-set 5 --count 20
    """
    from assay.cli.output import number, print_json, print_table
    from assay.ranking.best import next_sets
    from assay.tables import read_judgments

    (own,) = columns_for(columns, ("judgments", judgments))
    table = read_judgments(judgments, columns=own, exclude=names(exclude) or ())
    result = next_sets(table, systems=names(systems), per_set=per_set, count=count, rng=seed)
    if json:
        print_json(result.to_dict())
        return
    rows = [[k + 1, ", ".join(own)] for k, own in enumerate(result.sets)]
    print_table("Show next", ["set", "systems"], rows)
    likely = sorted(zip(result.chances, result.systems, strict=True), reverse=True)[:5]
    print_table("Chance to be the best", ["system", "chance"], [[s, number(c)] for c, s in likely])
    print("no significance may be claimed from judgments chosen this way")
    print(f"signature: {result.signature}")
