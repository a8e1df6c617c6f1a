"""``assay plan judgments``."""

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
    read_judged,
    refuse_overwriting,
)
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.planning.judgments import JudgmentsPlan
    from assay.tables.answers import Judgments


def judgments_command(
    pilot: Annotated[
        Path | None,
        typer.Option("--pilot", help="Judgments made so far.", metavar="JUDGMENTS"),
    ] = None,
    systems: Annotated[
        int | None, typer.Option("--systems", help="Systems to compare; default: the pilot's.")
    ] = None,
    sigma: Annotated[
        float | None,
        typer.Option("--sigma", help="Noise on a scale of 10; WMT12: 7 to 12. Default: fitted."),
    ] = None,
    significant: Annotated[
        float | None,
        typer.Option("--significant", help="Goal: share of pairs told apart; default: .8."),
    ] = None,
    clusters: Annotated[
        float | None, typer.Option("--clusters", help="Goal: mean number of clusters.")
    ] = None,
    range_size: Annotated[
        float | None, typer.Option("--range-size", help="Goal: mean size of rank ranges.")
    ] = None,
    test: Annotated[
        Literal["sign", "pooled", "bootstrap"] | None,
        typer.Option(
            "--test",
            help="Head to head (default for pairs), all judgments for every pair, or, for clusters"
            " and ranges, the default of assay rank.",
        ),
    ] = None,
    per_set: Annotated[
        int | None,
        typer.Option("--per-set", help="Systems shown at once; default: 5, or as in the pilot."),
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Level of one-sided tests.")] = 0.95,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Seconds one judgment takes.")
    ] = None,
    cost: Annotated[float | None, typer.Option("--cost", help="What one judgment costs.")] = None,
    columns: COLUMNS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    seed: SEED = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Plan how many judgments to collect until systems are told apart.

    Example: assay plan judgments --systems 15 --sigma 10 --significant .8

    Example: assay plan judgments --pilot judgments.tsv --test pooled
    """
    from assay.cli.output import deliver, progress_bars
    from assay.planning.judgments import plan_judgments

    refuse_overwriting(json_file(output), pilot)
    with progress_bars() as progress:
        result = plan_judgments(
            systems, sigma=sigma, pilot=_pilot(pilot, columns, exclude, only, lp),
            significant=significant, clusters=clusters, range_size=range_size, test=test,
            per_set=per_set, level=level, seconds_per_judgment=seconds, cost_per_judgment=cost,
            rng=seed, progress=progress,
        )  # fmt: skip
    deliver(result.to_dict(), output, json, lambda: _show(result))


def _pilot(
    path: Path | None, columns: str | None, exclude: str | None, only: str | None, lp: str | None
) -> Judgments | None:
    if path is None:
        for name, value in (
            ("--columns", columns),
            ("--exclude", exclude),
            ("--only", only),
            ("--lp", lp),
        ):
            if value is not None:
                raise OptionError(name, value, "is about a pilot", "give --pilot JUDGMENTS too")
        return None
    return read_judged(path, columns, exclude, only, lp)


def _show(result: JudgmentsPlan) -> None:
    from assay.cli.output import note, print_table

    note(*result.notes)
    heads = ["pairs told apart", "sign test", "pooled test"]
    heads += ["still, sign", "still, pooled"] if result.judged else []
    rows = []
    for point in result.curve:
        cells = [point.sign, point.pooled]
        cells += [point.more_sign, point.more_pooled] if result.judged else []
        rows.append([f"{point.share:.0%}", *("–" if n is None else f"{n:,}" for n in cells)])
    print_table(f"Judgments of {result.systems} systems, sigma {result.sigma:.3g}", heads, rows)
    if result.reached is not None:
        sign, pooled = result.reached["sign"], result.reached["pooled"]
        print(
            f"the {result.judged:,} judgments so far: {sign:.0%} of pairs by sign test,"
            f" {pooled:.0%} by pooled test expected{_observed(result)}"
        )
    goal = {
        "significant": f"{result.target:.0%} of pairs",
        "clusters": f"{result.target:g} clusters",
        "range_size": f"rank ranges of {result.target:g}",
    }[result.goal]
    by = ", ".join(
        f"{'out of reach' if found is None else f'{found:,}'} by {test}"
        f"{'' if test == 'bootstrap' else ' test'}"
        for test, found in result.needed_by.items()
    )
    print(f"needed for {goal}: {by}")
    if result.judged and result.more is not None:
        print(f"still to collect by {result.test}: {result.more:,}")
    if result.needed_range is not None:
        low, high = ("–" if end is None else f"{end:,}" for end in result.needed_range)
        print(f"the pilot leaves sigma uncertain: {low} to {high} by {result.test} test")
    if result.minutes is not None or result.money is not None:
        parts = [] if result.minutes is None else [f"{result.minutes:,.0f} minutes"]
        parts += [] if result.money is None else [f"{result.money:,.2f} of money"]
        print(f"by {result.test}: {', '.join(parts)}{' still' if result.judged else ''}")
    if result.votes is not None:
        print(
            f"one more set on every segment is worth {result.votes.worth:.2f} of as many sets on"
            f" new segments (segments have {result.votes.per_segment:.1f} sets)"
        )
    print(f"signature: {result.signature}")


def _observed(result: JudgmentsPlan) -> str:
    if result.observed is None:
        return ""
    sign, pooled = result.observed["sign"], result.observed["pooled"]
    return f"; found: {sign:.0%} and {pooled:.0%}"
