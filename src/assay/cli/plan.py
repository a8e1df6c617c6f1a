"""``assay plan``: how much is needed, before anything is spent."""

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
    ONLY,
    OUTPUT,
    RANGE,
    columns_for,
    json_file,
    names,
    only_for,
    read_test_set,
    refuse_overwriting,
    score_range,
)
from assay.cli.plan_editors import editors_command
from assay.cli.plan_judgments import judgments_command
from assay.errors import InputError, OptionError

if TYPE_CHECKING:
    from assay.planning.comparison import ComparisonPlan, ComparisonPoint
    from assay.planning.ratings import RatingsPlan, RatingsPoint
    from assay.tables.answers import Ratings
    from assay.tables.test_set import TestSet


plan = typer.Typer(
    help="Plan how much to rate, before anything is spent.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SCORES = Annotated[
    Path | None,
    typer.Argument(help="A pilot: its test set.", metavar="SCORES", show_default=False),
]
RATINGS = Annotated[
    Path | None,
    typer.Argument(help="A pilot: what raters answered.", metavar="RATINGS", show_default=False),
]
POPULATION = Annotated[
    int | None, typer.Option("--population", help="Segments of the test set; default: the pilot's.")
]
CORRELATION = Annotated[
    float | None, typer.Option("--correlation", help="Correlation of ratings and metrics.")
]
FEATURES = Annotated[
    int | None, typer.Option("--features", help="How many metrics are behind it; default: 1.")
]
LEVEL = Annotated[float, typer.Option("--level", help="Confidence level.")]
EFFECT = Annotated[
    float,
    typer.Option("--design-effect", help="Variance against that of a simple random sample."),
]
SECONDS = Annotated[float | None, typer.Option("--seconds", help="Seconds one rating takes.")]
COST = Annotated[float | None, typer.Option("--cost", help="What one rating costs.")]
SIZES = Annotated[
    str | None, typer.Option("--sizes", help="Segments to show the curve at.", metavar="N,...")
]


@plan.callback()
def _plan() -> None:
    """Plan how much to rate, before anything is spent."""


plan.command("judgments")(judgments_command)
plan.command("editors")(editors_command)


@plan.command("ratings")
def ratings_command(
    scores: SCORES = None,
    ratings: RATINGS = None,
    target: Annotated[
        float | None, typer.Option("--target", help="Half-width wanted, in points of the scale.")
    ] = None,
    population: POPULATION = None,
    sd: Annotated[
        float | None, typer.Option("--sd", help="Standard deviation of one system's ratings.")
    ] = None,
    correlation: CORRELATION = None,
    features: FEATURES = None,
    systems: Annotated[
        int | None, typer.Option("--systems", help="Systems to rate; default: the pilot's, or 1.")
    ] = None,
    level: LEVEL = 0.95,
    design_effect: EFFECT = 1.0,
    seconds: SECONDS = None,
    cost: COST = None,
    sizes: SIZES = None,
    better: BETTER = "higher",
    range: RANGE = None,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Plan how many segments to rate for an interval of a wanted half-width.

    Example: assay plan ratings --population 1400 --sd 3 --correlation .4 --target .3

    Example: assay plan ratings scores.tsv ratings.tsv --target .3 --better lower
    """
    from assay.planning.ratings import plan_ratings

    refuse_overwriting(json_file(output), scores, ratings)
    pilot = _pilot(
        scores, ratings, better, range, columns, metrics, lower_metrics, exclude, only, lp
    )
    result = plan_ratings(
        population=population, target=target, sd=sd, correlation=correlation, features=features,
        pilot=pilot, level=level, design_effect=design_effect,
        systems=systems if systems is not None else len(pilot[0].systems) if pilot else 1,
        seconds_per_rating=seconds, cost_per_rating=cost, sizes=_sizes(sizes),
    )  # fmt: skip
    _finish(result, output, json)


@plan.command("comparison")
def comparison_command(
    gap: Annotated[
        float, typer.Option("--gap", help="Difference that should be found, in points.")
    ],
    scores: SCORES = None,
    ratings: RATINGS = None,
    power: Annotated[float, typer.Option("--power", help="Probability of finding it.")] = 0.8,
    population: POPULATION = None,
    difference_sd: Annotated[
        float | None,
        typer.Option("--difference-sd", help="Standard deviation of the paired differences."),
    ] = None,
    correlation: CORRELATION = None,
    features: FEATURES = None,
    level: LEVEL = 0.95,
    design_effect: EFFECT = 1.0,
    seconds: SECONDS = None,
    cost: COST = None,
    sizes: SIZES = None,
    better: BETTER = "higher",
    range: RANGE = None,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    output: OUTPUT = None,
    json: JSON = False,
) -> None:
    """Plan how many segments to rate for both of two systems so that a gap is found.

    Example: assay plan comparison --population 1400 --difference-sd 3 --gap .4 --power .8
    """
    from assay.planning.comparison import plan_comparison

    refuse_overwriting(json_file(output), scores, ratings)
    result = plan_comparison(
        gap=gap, power=power, population=population, difference_sd=difference_sd,
        correlation=correlation, features=features,
        pilot=_pilot(scores, ratings, better, range, columns, metrics, lower_metrics, exclude,
                     only, lp),
        level=level, design_effect=design_effect, seconds_per_rating=seconds,
        cost_per_rating=cost, sizes=_sizes(sizes),
    )  # fmt: skip
    _finish(result, output, json)


def _pilot(
    scores: Path | None,
    ratings: Path | None,
    better: BETTER,
    range: str | None,
    columns: str | None,
    metrics: str | None,
    lower_metrics: str | None,
    exclude: str | None,
    only: str | None,
    lp: str | None,
) -> tuple[TestSet, Ratings] | None:
    """The two tables of a pilot, or None; options about tables are refused without them."""
    from assay.tables.answers import read_ratings

    if scores is None or ratings is None:
        if scores is not None:
            raise InputError(f"{scores} stands alone; a pilot is two files, SCORES and RATINGS")
        for name, value in (
            ("--range", range), ("--columns", columns), ("--metrics", metrics),
            ("--lower-metrics", lower_metrics), ("--exclude", exclude), ("--only", only),
            ("--lp", lp),
        ):  # fmt: skip
            if value is not None:
                raise OptionError(name, value, "is about a pilot", "give SCORES and RATINGS too")
        return None
    own, theirs = columns_for(columns, ("scores", scores), ("ratings", ratings))
    test_set = read_test_set(
        scores, own, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
        exclude=exclude, only=only, lp=lp,
    )  # fmt: skip
    limits = score_range(range)
    return test_set, read_ratings(
        ratings,
        test_set,
        columns=theirs,
        better=better,
        range=limits,
        only=only_for(only, lp, theirs, ratings),
    )


def _sizes(text: str | None) -> list[int] | None:
    try:
        return None if text is None else [int(part) for part in names(text) or []]
    except ValueError:
        raise OptionError("--sizes", text, "are no whole numbers", "write 100,200,400") from None


def _finish(result: RatingsPlan | ComparisonPlan, output: Path | None, json: bool) -> None:
    from assay.cli.output import deliver, note
    from assay.planning.ratings import RatingsPlan

    def show() -> None:
        note(*result.notes)
        if isinstance(result, RatingsPlan):
            _show_ratings(result)
        else:
            _show_comparison(result)
        print(f"signature: {result.signature}")

    deliver(result.to_dict(), output, json, show)


def _show_ratings(result: RatingsPlan) -> None:
    from assay.cli.output import number

    heads = ["half-width", "with metrics"]
    cells = [[number(p.half_width), number(p.half_width_with_metrics)] for p in result.curve]
    _table(f"Half-width of {result.level:.0%} intervals", heads, cells, result)
    if result.target is not None:
        _answer(f"for a half-width of {result.target:g}", result)


def _show_comparison(result: ComparisonPlan) -> None:
    from assay.cli.output import number

    heads = ["half-width", "power", "with metrics"]
    cells = [
        [number(p.half_width), number(p.power), number(p.power_with_metrics)] for p in result.curve
    ]
    _table(f"Power to find a gap of {result.gap:g}, {result.level:.0%} level", heads, cells, result)
    _answer(f"to find a gap of {result.gap:g} with probability {result.power:g}", result)


def _table(
    title: str, heads: list[str], cells: list[list[str]], result: RatingsPlan | ComparisonPlan
) -> None:
    """The curve, with minutes and money where they are known."""
    from assay.cli.output import number, print_table

    points: list[RatingsPoint | ComparisonPoint] = list(result.curve)
    timed, priced = result.seconds_per_rating is not None, result.cost_per_rating is not None
    tail = ["minutes"] * timed + ["money"] * priced
    rows = [
        [point.n, f"{point.share:.0%}", *row]
        + [number(point.minutes, 0)] * timed
        + [number(point.money, 2)] * priced
        for point, row in zip(points, cells, strict=True)
    ]
    print_table(title, ["segments", "share", *heads, *tail], rows)


def _answer(purpose: str, result: RatingsPlan | ComparisonPlan) -> None:
    """The one line a planner is after, and how sure it is."""
    line = f"needed {purpose}: {result.needed} of {result.population} segments"
    if result.needed_with_metrics is not None:
        line += (
            f", {result.needed_with_metrics} with metrics (correlation {result.correlation:.2f})"
        )
    print(line)
    if result.needed_range is not None:
        low, high = result.needed_range
        print(f"the pilot leaves the sd uncertain: {low} to {high} segments")
