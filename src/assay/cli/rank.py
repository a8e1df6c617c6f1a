"""``assay rank``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay.cli.options import (
    BETTER,
    COLUMNS,
    EXCLUDE,
    JSON,
    LP,
    ONLY,
    OUTPUT,
    SEED,
    answers_kind,
    columns_for,
    json_file,
    names,
    only_for,
    read_judged,
    refuse_overwriting,
    without,
)
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.ranking.results import Ranking


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
        Literal["auto", "document", "segment", "set", "rater", "pair"] | None,
        typer.Option(
            "--resample",
            help="What judgments hang together by; auto: segment, else set, else pair.",
        ),
    ] = None,
    interval: Annotated[
        Literal["shortest", "equal-tailed"] | None,
        typer.Option("--interval", help="Which bootstrap range holds the level (shortest)."),
    ] = None,
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
    resamples: Annotated[
        int | None, typer.Option("--resamples", help="How many to draw (1000).")
    ] = None,
    clusters: Annotated[
        Literal["neighbours", "all"] | None,
        typer.Option(
            "--clusters",
            help="From ratings: a line where neighbours differ (default), or where all above it"
            " differ from all below, as WMT has it.",
        ),
    ] = None,
    better: BETTER = "higher",
    columns: COLUMNS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
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
    from assay.cli.output import deliver

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
        if clusters is not None:
            raise OptionError("--clusters", clusters, "is for ratings", "leave it out")
        result = _from_judgments(table, columns, exclude, only, lp, common)
    else:
        for name, value in chosen.items():
            if value is not None:
                raise OptionError(f"--{name}", value, "is for judgments", "leave it out")
        if calibrate:
            raise OptionError("--calibrate", True, "is for judgments", "leave it out")
        common |= {} if clusters is None else {"clusters": clusters}
        result = _from_ratings(table, columns, exclude, only, lp, better, common)
    deliver(result.to_dict(), output, json, lambda: _show(result, pairs=pairs))


def _from_judgments(
    path: Path, columns: str | None, exclude: str | None, only: str | None, lp: str | None,
    options: dict[str, Any],
) -> Ranking:  # fmt: skip
    from assay.cli.output import track
    from assay.ranking.rank import rank as run

    table = read_judged(path, columns, exclude, only, lp)
    return run(table, watch=lambda items, total, /: track(items, total, "simulating"), **options)


def _from_ratings(
    path: Path, columns: str | None, exclude: str | None, only: str | None, lp: str | None,
    better: Literal["higher", "lower"], options: dict[str, Any],
) -> Ranking:  # fmt: skip
    from dataclasses import replace

    from assay.ranking.ratings import rank_ratings as run
    from assay.tables.answers import read_ratings

    (own,) = columns_for(columns, ("ratings", path))
    rows = only_for(only, lp, own, path, every=True)
    table = read_ratings(path, columns=own, better=better, only=rows)
    frame = without(table.frame, names(exclude) or [])
    return run(replace(table, frame=frame), **options)


def _show(result: Ranking, *, pairs: bool) -> None:
    """Print the systems, best first, and what is decided between them."""
    from assay.cli.output import note, number, print_table

    note(*result.notes)
    rows = [
        [item.rank, item.system, number(item.score), _ranks(item.low_rank, item.high_rank),
         item.cluster]
        for item in result.systems
    ]  # fmt: skip
    title = f"Ranking by {result.method} of {result.judgments:,} {result.kind}"
    title += f" ({result.better} is better)" if result.kind == "ratings" else ""
    print_table(title, ["rank", "system", "score", f"{result.level:.0%} ranks", "cluster"], rows)
    if pairs:
        _show_pairs(result)
    what = "neighbours" if result.pairs == len(result.systems) - 1 > 1 else "pairs"
    clusters = "1 cluster" if result.clusters == 1 else f"{result.clusters} clusters"
    print(
        f"{result.significant_pairs:,} of {result.pairs:,} {what} are decided ({_tested(result)});"
        f" {clusters}"
    )
    print(f"signature: {result.signature}")
    for line in result.next:
        print(f"next: {line}")


def _show_pairs(result: Ranking) -> None:
    from assay.cli.output import print_table

    counted = result.kind == "judgments"
    rows = [
        [c.left, c.right, *((c.wins, c.losses, c.ties) if counted else ()),
         f"{c.p:.4f}" if c.p >= 1e-4 else "< 0.0001", c.better or "undecided"]
        for c in result.comparisons
    ]  # fmt: skip
    heads = ["left", "right", *(("wins", "losses", "ties") if counted else ()), "p", "better"]
    print_table("Pairs" if counted else "Pairs by rank-sum test", heads, rows)


def _tested(result: Ranking) -> str:
    """The level, and how many equal pairs it would call different."""
    alpha = 1 - result.level
    if result.holm:
        return f"at {alpha:.2g} for all of them together (Holm)"
    if result.sides == 2:
        return f"two-sided {alpha:.2g}, each by itself"
    either = f", so {2 * alpha:.0%} of equal pairs would be" if result.kind == "judgments" else ""
    return f"one-sided {alpha:.2g}, each by itself{either}"


def _ranks(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
