"""``assay rank``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay.cli.answers import answers_kind, one_lp, without
from assay.cli.options import (
    BETTER,
    COLUMNS,
    EXCLUDE,
    JSON,
    LP,
    OUTPUT,
    SEED,
    columns_for,
    json_file,
    names,
    refuse_overwriting,
)
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.ranking import Ranking

__all__ = ["rank"]


def rank(
    table: Annotated[
        Path, typer.Argument(help="Judgments (left, right, winner) or ratings.", metavar="FILE")
    ],
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="expected-win (default), bojar, better-or-equal, lopez or bradley-terry;"
            " from ratings: mean (default) or z.",
        ),
    ] = None,
    ranges: Annotated[
        Literal["bootstrap", "sign", "pooled"] | None,
        typer.Option("--ranges", help="Rank ranges from resampling (default) or from tests."),
    ] = None,
    resample: Annotated[
        Literal["auto", "segment", "set", "rater", "pair"] | None,
        typer.Option(
            "--resample",
            help="What judgments hang together by; auto: segment, else set, else pair.",
        ),
    ] = None,
    interval: Annotated[
        Literal["shortest", "equal-tailed"],
        typer.Option("--interval", help="Which bootstrap range holds the level."),
    ] = "shortest",
    ties: Annotated[
        Literal["drop", "half"] | None,
        typer.Option("--ties", help="Ties are dropped (default) or half a win for each."),
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Confidence level.")] = 0.95,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Shorten ranges as far as simulated campaigns of this size allow."
        ),
    ] = False,
    sides: Annotated[
        int, typer.Option("--sides", help="Tests one-sided (1) or two-sided (2).", min=1, max=2)
    ] = 1,
    holm: Annotated[
        bool, typer.Option("--holm", help="Correct the tests for the number of pairs.")
    ] = False,
    resamples: Annotated[int, typer.Option("--resamples", help="How many to draw.")] = 1000,
    better: BETTER = "higher",
    columns: COLUMNS = None,
    exclude: EXCLUDE = None,
    lp: LP = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Print the table of pairs, too.")] = False,
    seed: SEED = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Rank systems from judgments or ratings, with rank ranges and clusters.

    WMT rankings become judgments with assay convert --from wmt-rnk --to judgments.

    Example: assay rank judgments.tsv --ranges pooled
    """
    from assay.cli.output import note, print_json, save_json

    refuse_overwriting(json_file(output), table)
    chosen = {"ranges": ranges, "resample": resample, "ties": ties}
    common: dict[str, Any] = {
        "interval": interval, "level": level, "sides": sides, "holm": holm,
        "resamples": resamples, "rng": seed,
    }  # fmt: skip
    common |= {} if method is None else {"method": method}
    if answers_kind(table, columns) == "judgments":
        if better != "higher":
            raise OptionError("--better", better, "is for ratings", "leave it out")
        common |= {name: value for name, value in chosen.items() if value is not None}
        common |= {"calibrate": True} if calibrate else {}
        result = _from_judgments(table, columns, exclude, lp, common)
    else:
        for name, value in chosen.items():
            if value is not None:
                raise OptionError(f"--{name}", value, "is for judgments", "leave it out")
        if calibrate:
            raise OptionError("--calibrate", True, "is for judgments", "leave it out")
        result = _from_ratings(table, columns, exclude, lp, better, common)
    if output is not None:
        save_json(result.to_dict(), output)
    if json:
        print_json(result.to_dict())
        return
    note(*result.notes)
    _show(result, pairs=pairs)
    if output is not None:
        print(f"written to {output}")


def _from_judgments(
    path: Path, columns: str | None, exclude: str | None, lp: str | None, options: dict[str, Any]
) -> Ranking:
    from assay.cli.output import track
    from assay.ranking import rank as run
    from assay.tables import Judgments, read_judgments

    (own,) = columns_for(columns, ("judgments", path))
    table = read_judgments(path, columns=own, exclude=names(exclude) or ())
    table = Judgments(one_lp(table.frame, lp), table.notes)

    return run(table, watch=lambda found, total: track(found, total, "resampling"), **options)


def _from_ratings(
    path: Path, columns: str | None, exclude: str | None, lp: str | None,
    better: Literal["higher", "lower"], options: dict[str, Any],
) -> Ranking:  # fmt: skip
    from dataclasses import replace

    from assay.ranking import rank_ratings as run
    from assay.tables import read_ratings

    (own,) = columns_for(columns, ("ratings", path))
    table = read_ratings(path, columns=own, better=better)
    frame = without(one_lp(table.frame, lp), names(exclude) or [])
    return run(replace(table, frame=frame), **options)


def _show(result: Ranking, *, pairs: bool) -> None:
    """Print the systems, best first, and what is decided between them."""
    from assay.cli.output import number, print_table

    rows = [
        [item.rank, item.system, number(item.score), _ranks(item.low_rank, item.high_rank),
         item.cluster]
        for item in result.systems
    ]  # fmt: skip
    title = f"Ranking by {result.method} of {result.judgments:,} {result.kind}"
    title += " (lower is better)" if result.better == "lower" else ""
    print_table(title, ["rank", "system", "score", f"{result.level:.0%} ranks", "cluster"], rows)
    if pairs:
        listed = [
            [c.left, c.right, *("–" if n is None else n for n in (c.wins, c.losses, c.ties)),
             f"{c.p:.4f}", c.better or "undecided"]
            for c in result.comparisons
        ]  # fmt: skip
        columns = ["left", "right", "wins", "losses", "ties", "p", "better"]
        print_table("Pairs", columns, listed)
    what = "neighbours" if result.kind == "ratings" else "pairs"
    sided = "one-sided" if result.sides == 1 else "two-sided"
    corrected = "corrected for their number (Holm)" if result.holm else "each by itself"
    print(
        f"{result.significant_pairs} of {result.pairs} {what} are decided"
        f" ({sided} {1 - result.level:.2g}, {corrected}); {result.clusters} clusters"
    )
    print(f"signature: {result.signature}")


def _ranks(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
