"""``assay plan``: how much is needed, before anything is spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from assay.cli import columns_for, names, read_judged, read_rated, save_file
from assay.cli.options import (
    BETTER_IF_RATED,
    BUDGET_OPTION,
    COLUMNS,
    EDITOR,
    EXCLUDE,
    FORMAT,
    HALF_WIDTH_OPTION,
    JSON,
    LEVEL,
    LOWER_METRICS,
    LP,
    METRICS,
    ONLY,
    OVERLAP,
    PAY,
    PER_OUTPUT_OPTION,
    RANGE,
    RATERS,
    SAVE,
    SCORES_OPTION,
    SEED,
    SIDES,
    SYSTEM,
    SYSTEMS,
)
from assay.errors import InputError, OptionError

if TYPE_CHECKING:
    from assay.tables.tables import Ratings, TestSet


class PlanGroup(TyperGroup):
    """Plans by name; without a name it is that of the whole campaign."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name in front where there is none."""
        named = bool(args) and args[0] in self.commands
        unknown = bool(args) and not args[0].startswith("-")
        if unknown and not named and Path(args[0]).is_file():
            raise InputError(
                f"{args[0]}: give a file by its option: --pilot for answers that are in already,"
                " --scores for the test set"
            )
        whole = named or unknown or ctx.resilient_parsing
        return super().parse_args(ctx, args if whole else [CAMPAIGN, *args])


CAMPAIGN = "campaign"

plan = typer.Typer(
    cls=PlanGroup,
    help="Plan how much to rate, before anything is spent.",
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
POWER = Annotated[float, typer.Option("--power", help="Probability of finding the gap.")]
GAP = Annotated[
    float, typer.Option("--gap", help="The difference to be found, in the unit of the scores.")
]
SIZES = Annotated[
    str | None, typer.Option("--sizes", help="Sizes to show results for.", metavar="N,...")
]
SPEND = Annotated[
    str | None,
    typer.Option(
        "--spend", help="What there is to spend: '40 h', '2000 EUR', '5000 ratings' or judgments.",
        metavar="AMOUNT",
    ),
]  # fmt: skip
PILOT = Annotated[
    Path | None, typer.Option("--pilot", help="Answers collected so far.", metavar="FILE")
]
POPULATION = Annotated[
    int | None, typer.Option("--population", help="Segments of the test set; default: the pilot's.")
]
CORRELATION = Annotated[
    float | None, typer.Option("--correlation", help="Correlation of ratings and metrics.")
]
FEATURES = Annotated[
    int | None,
    typer.Option("--features", help="How many metrics the correlation is with; default: 1."),
]
EFFECT = Annotated[
    float,
    typer.Option("--design-effect", help="Variance relative to that of a simple random sample."),
]


@plan.command(CAMPAIGN)
def campaign_command(
    context: typer.Context,
    budget: Annotated[str | None, BUDGET_OPTION] = None,
    half_width: Annotated[float | None, HALF_WIDTH_OPTION] = None,
    decide: Annotated[
        float | None,
        typer.Option("--decide", help="The true difference of two systems that shall be found."),
    ] = None,
    pay: PAY = None,
    scores: Annotated[Path | None, SCORES_OPTION] = None,
    pilot: PILOT = None,
    systems: SYSTEMS = None,
    population: POPULATION = None,
    protocol: Annotated[
        str | None,
        typer.Option("--protocol", help="How outputs are judged."),
    ] = None,
    raters: RATERS = None,
    overlap: OVERLAP = None,
    per_output: Annotated[int | None, PER_OUTPUT_OPTION] = None,
    range: RANGE = None,
    better: BETTER_IF_RATED = None,
    columns: COLUMNS = None,
    exclude: EXCLUDE = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Plan a campaign: what a budget finds, or what finding a difference takes.

    In a project, systems, segments, raters, pay and a pilot come from there, and it keeps the
    number of segments for assay sample. Without a pilot, ratings are taken to vary as in
    published campaigns. `assay plan` alone means this plan; ratings, comparison, judgments and
    editors are more detailed ones.

    Example: assay plan campaign --scores scores.tsv --budget "300 EUR" --pay "0.12 EUR per rating"

    Example: assay plan campaign --systems 2 --population 1800 --decide 2

    Example: assay plan campaign --pilot ratings.xlsx --population 1800 --decide 2
    """
    from assay.cli import deliver, note, say, score_range
    from assay.planning.campaign import plan_campaign

    save_file(save)
    own = scores is not None and _is_taken(context, "scores")
    in_project = context.obj is not None and (own or scores is None)
    answers = [pilot] if pilot else _answers(context) if in_project else []
    test_set, rated = _known(scores, answers, better, range, columns, exclude)
    count = _how_many(systems)
    if test_set is not None:
        count = len(test_set.systems) if count is None else count
        if population is None:
            population = test_set.segments.height
            if scores is None:
                note(
                    f"the {population:,} segments that are rated are taken for the test set;"
                    " --population says how many there are"
                )
    if count is None or population is None:
        raise InputError(
            "how much there is to rate is not known; give --scores, the test set, or --pilot, the"
            " ratings so far, or --systems and --population"
        )
    shared = {"overlap": overlap, "per_output": per_output}
    options: dict[str, Any] = {name: value for name, value in shared.items() if value is not None}
    options |= {
        "budget": budget, "half_width": half_width, "decide": decide, "pay": pay,
        "protocol": protocol or "esa", "scale": score_range(range), "raters": _how_many(raters),
    }  # fmt: skip
    try:
        result = plan_campaign(count, population, pilot=rated, **options)
    except InputError as error:
        if rated is None or pilot is not None:
            raise
        note(f"these ratings are too few to plan by: {error}")
        result = plan_campaign(count, population, **options)
    deliver(result, save, json)
    if result.needed is None:
        return
    if context.obj is not None and own:
        from assay.cli.project import keep_plan

        typed = None if _is_taken(context, "pay") else pay
        note(keep_plan(context.obj, result, typed))
    elif scores is not None and not json:
        say(f"next: assay sample {scores} --budget {result.needed}")


def _is_taken(context: typer.Context, name: str) -> bool:
    """Whether the project said it, not the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "DEFAULT_MAP"


def _answers(context: typer.Context) -> list[Path]:
    """The ratings that the project has by now."""
    project = context.obj
    return [path for path in project.paths(project.settings.ratings) if path.exists()]


def _known(
    scores: Path | None, answers: list[Path], better: Literal["higher", "lower"] | None,
    range: str | None, columns: str | None, exclude: str | None,
) -> tuple[TestSet | None, tuple[TestSet, Ratings] | None]:  # fmt: skip
    """The test set, and a pilot where some of it is rated."""
    from assay.cli import read_test_set

    if scores is None:
        return (None, None) if not answers else _alone(answers, better, range, columns, exclude)
    read: dict[str, Any] = {
        "columns": columns, "metrics": "", "lower_metrics": None, "exclude": exclude,
    }  # fmt: skip
    if answers:
        rated = read_rated(
            scores, answers, only=None, lp=None, better=better or "higher", range=range, **read
        )
        return rated[0], rated
    (own,) = columns_for(columns, ("scores", scores))
    return read_test_set(scores, own, **read), None


def _alone(
    answers: list[Path], better: Literal["higher", "lower"] | None, range: str | None,
    columns: str | None, exclude: str | None,
) -> tuple[TestSet, tuple[TestSet, Ratings]]:  # fmt: skip
    """Ratings without a test set: what they are of is one."""
    from assay.cli.guessing import read_alone

    test_set, ratings, _ = read_alone(
        answers, columns=columns, metrics="", lower_metrics=None, exclude=exclude, only=None,
        lp=None, better=better, range=range,
    )  # fmt: skip
    return test_set, (test_set, ratings)


@plan.command("ratings")
def ratings_command(
    scores: SCORES = None,
    ratings: RATINGS = None,
    half_width: Annotated[
        float | None,
        typer.Option("--half-width", help="The wanted half-width of the intervals."),
    ] = None,
    population: POPULATION = None,
    sd: Annotated[
        float | None, typer.Option("--sd", help="Standard deviation of one system's ratings.")
    ] = None,
    correlation: CORRELATION = None,
    features: FEATURES = None,
    systems: SYSTEMS = None,
    level: LEVEL = 0.95,
    design_effect: EFFECT = 1.0,
    pay: PAY = None,
    spend: SPEND = None,
    sizes: SIZES = None,
    better: BETTER_IF_RATED = None,
    range: RANGE = None,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    format: FORMAT = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Plan how many segments to rate for an interval of a wanted half-width.

    Example: assay plan ratings --population 1400 --sd 3 --correlation .4 --half-width .3

    Example: assay plan ratings scores.tsv ratings.tsv --half-width .3 --better lower

    Example: assay plan ratings scores.tsv ratings.tsv --pay "40 s per rating" --spend "40 h"
    """
    from assay.cli import deliver
    from assay.planning.ratings import plan_ratings

    save_file(save)
    pilot = _pilot(
        scores, ratings, better, range, columns, metrics, lower_metrics, exclude, only, lp, format
    )
    count = _how_many(systems)
    if count is None:
        count = 1 if pilot is None else len(pilot[0].systems)
    result = plan_ratings(
        population=population, half_width=half_width, sd=sd, correlation=correlation,
        features=features, pilot=pilot, level=level, design_effect=design_effect, systems=count,
        pay=pay, sizes=_numbers(sizes),
        spend=spend,
    )  # fmt: skip
    deliver(result, save, json)


@plan.command("comparison")
def comparison_command(
    gap: GAP,
    scores: SCORES = None,
    ratings: RATINGS = None,
    power: POWER = 0.8,
    population: POPULATION = None,
    difference_sd: Annotated[
        float | None,
        typer.Option("--difference-sd", help="Standard deviation of the paired differences."),
    ] = None,
    correlation: CORRELATION = None,
    features: FEATURES = None,
    level: LEVEL = 0.95,
    design_effect: EFFECT = 1.0,
    pay: PAY = None,
    spend: SPEND = None,
    sizes: SIZES = None,
    better: BETTER_IF_RATED = None,
    range: RANGE = None,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    format: FORMAT = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Plan how many segments to rate for both of two systems so that a gap is found.

    Example: assay plan comparison --population 1400 --difference-sd 3 --gap .4 --power .8
    """
    from assay.cli import deliver
    from assay.planning.ratings import plan_comparison

    save_file(save)
    pilot = _pilot(
        scores, ratings, better, range, columns, metrics, lower_metrics, exclude, only, lp, format
    )
    result = plan_comparison(
        gap=gap, power=power, population=population, difference_sd=difference_sd,
        correlation=correlation, features=features, pilot=pilot, level=level,
        design_effect=design_effect, pay=pay,
        sizes=_numbers(sizes), spend=spend,
    )  # fmt: skip
    deliver(result, save, json)


@plan.command("judgments")
def judgments_command(
    pilot: PILOT = None,
    systems: SYSTEMS = None,
    sigma: Annotated[
        float | None,
        typer.Option("--sigma", help="Noise on a scale of 10; WMT12: 7 to 12. Default: fitted."),
    ] = None,
    significant: Annotated[
        float | None,
        typer.Option("--significant", help="Goal: share of significant pairs; default: .8."),
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
        typer.Option("--per-set", help="Systems shown at once; default: as many as so far."),
    ] = None,
    level: LEVEL = 0.95,
    sides: SIDES = 2,
    pay: PAY = None,
    spend: SPEND = None,
    columns: COLUMNS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    format: FORMAT = None,
    seed: SEED = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Plan how many judgments to collect to tell systems apart.

    Example: assay plan judgments --systems 15 --sigma 10 --significant .8

    Example: assay plan judgments --pilot judgments.tsv --test pooled

    Example: assay plan judgments --systems 15 --sigma 10 --pay "20 s per judgment" --spend "40 h"
    """
    from assay.cli import deliver, progress_bars
    from assay.planning.judgments import plan_judgments

    save_file(save)
    if pilot is None:
        about_pilot = {
            "--columns": columns, "--exclude": exclude, "--only": only, "--lp": lp,
            "--format": format,
        }  # fmt: skip
        _refuse_without_pilot(about_pilot, "give --pilot FILE too")
    judged = None if pilot is None else read_judged(pilot, columns, exclude, only, lp, format)
    with progress_bars() as progress:
        result = plan_judgments(
            _how_many(systems), sigma=sigma, pilot=judged, significant=significant,
            clusters=clusters, range_size=range_size, test=test, per_set=per_set, level=level,
            sides=sides,  # type: ignore[arg-type]
            pay=pay, spend=spend, rng=seed,
            progress=progress,
        )  # fmt: skip
    deliver(result, save, json)


@plan.command("editors")
def editors_command(
    gap: GAP,
    systems: SYSTEMS = None,
    measure: Annotated[
        str, typer.Option("--measure", help="distance, time or changed.")
    ] = "distance",
    pilot: PILOT = None,
    cell: Annotated[
        float | None, typer.Option("--cell", help="Variance of editor x document.")
    ] = None,
    residual: Annotated[
        float | None, typer.Option("--residual", help="Variance of segments within it.")
    ] = None,
    segments: Annotated[int, typer.Option("--segments", help="Segments of a document.")] = 23,
    place: Annotated[
        bool, typer.Option("--place", help="The documents' order is rotated and allowed for.")
    ] = False,
    sizes: SIZES = "6,12,24,48,96",
    power: POWER = 0.8,
    level: LEVEL = 0.95,
    columns: COLUMNS = None,
    only: ONLY = None,
    format: FORMAT = None,
    system: SYSTEM = None,
    editor: EDITOR = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Plan how many editors find a gap between systems, the human translation counted as one.

    Editors are not paid by the answer, so there is nothing to --spend: --sizes says what numbers of
    editors can find.

    Example: assay plan editors --systems 3 --gap 3
    """
    from assay.cli import deliver, progress_bars
    from assay.cli.effort import read_edit_files
    from assay.effort.effort import effort
    from assay.planning.editors import plan_editors

    save_file(save)
    seen = None
    if pilot is not None:
        edits = read_edit_files(
            [pilot], columns=columns, only=only, format=format, system=system, editor=editor
        )
        with progress_bars() as progress:
            seen = effort(edits, measures=[measure], rng=0, progress=progress)
    else:
        about_pilot = {
            "--columns": columns, "--only": only, "--format": format, "--system": system,
            "--editor": editor,
        }  # fmt: skip
        _refuse_without_pilot(about_pilot, "give --pilot FILE too")
    count = _how_many(systems)
    if count is None:
        if seen is None:
            raise InputError("give --systems, how many are compared, or a pilot")
        count = len(seen.systems)
    result = plan_editors(
        count, gap, measure=measure, pilot=seen, cell=cell, residual=residual,
        segments=segments, place=place, sizes=_numbers(sizes) or (), power=power,
        level=level,
    )  # fmt: skip
    deliver(result, save, json)


def _pilot(
    scores: Path | None, ratings: Path | None, better: Literal["higher", "lower"] | None,
    range: str | None, columns: str | None, metrics: str | None, lower_metrics: str | None,
    exclude: str | None, only: str | None, lp: str | None, format: str | None,
) -> tuple[TestSet, Ratings] | None:  # fmt: skip
    """The two tables of a pilot, or None; options about tables are refused without them."""
    if scores is not None and ratings is not None:
        return read_rated(
            scores, ratings, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
            exclude=exclude, only=only, lp=lp, better=better or "higher", range=range,
            format=format,
        )  # fmt: skip
    if scores is not None:
        raise InputError(f"{scores} was given alone; a pilot is two files, SCORES and RATINGS")
    _refuse_without_pilot(
        {"--better": better, "--range": range, "--columns": columns, "--metrics": metrics,
         "--lower-metrics": lower_metrics, "--exclude": exclude, "--only": only, "--lp": lp,
         "--format": format},
        "give SCORES and RATINGS too",
    )  # fmt: skip
    return None


def _refuse_without_pilot(options: dict[str, str | None], remedy: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise OptionError(name, value, "is about a pilot", remedy)


def _how_many(text: str | None) -> int | None:
    """``a,b,c`` or ``3`` as a number of systems; None where nothing was said."""
    listed = names(text)
    if listed is None:
        return None
    single = listed[0] if len(listed) == 1 else ""
    return int(single) if single.isdecimal() else len(listed)


def _numbers(text: str | None) -> list[int] | None:
    """``6,12`` as whole numbers; None where nothing was said."""
    try:
        return None if text is None else [int(part) for part in names(text) or []]
    except ValueError:
        raise OptionError(
            "--sizes", text, "is not a list of whole numbers", "write 100,200,400"
        ) from None
