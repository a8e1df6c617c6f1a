"""``assay plan``: how much is needed, before anything is spent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Context
from typer.core import TyperGroup

from assay.cli import (
    Reading,
    deliver,
    note,
    numbers,
    people,
    progress_bars,
    read_rated,
    refuse,
    say,
    score_range,
)
from assay.cli.options import CONTEXT, Better, Count, File, Number, Text
from assay.cli.reading import read_judged, read_known
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.tables.tables import Ratings, TestSet


class PlanGroup(TyperGroup):
    """Plans by name; without a name it is that of the whole campaign."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name in front if there is none."""
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
    context_settings=CONTEXT,
)

OfPilot = Annotated[Reading, "columns metrics lower_metrics exclude only lp format"]


@plan.command(CAMPAIGN)
def campaign_command(
    context: Context, *, budget: Text = None, half_width: Number = None, decide: Number = None,
    pay: Text = None, scores: File = None, pilot: File = None, systems: Text = None,
    population: Count = None, protocol: Text = None, raters: Text = None, overlap: Number = None,
    per_output: Count = None, checks: Number = None, repeats: Number = None, range: Text = None,
    better: Better | None = None, read: Annotated[Reading, "columns exclude"], save: File = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Plan a campaign: what a budget finds, or what finding a difference takes.

    A project supplies systems, segments, raters, pay and a pilot, and keeps the planned number of
    segments for assay sample. Without a pilot, ratings are assumed to vary as in published
    campaigns. `assay plan` alone makes this plan; ratings, comparison, judgments and editors are
    more detailed ones.

    Example: assay plan campaign --scores scores.tsv --budget "300 EUR" --pay "0.12 EUR per rating"

    Example: assay plan campaign --systems 2 --population 1800 --decide 2

    Example: assay plan campaign --pilot ratings.xlsx --population 1800 --decide 2
    """
    from assay.planning.campaign import plan_campaign

    own = scores is not None and _is_taken(context, "scores")
    in_project = context.obj is not None and (own or scores is None)
    answers = [pilot] if pilot else _answers(context) if in_project else []
    test_set, rated = _known(scores, answers, replace(read, metrics=""), better, range)
    count = _how_many(systems)
    texts = scores is None and test_set is not None and population is None
    if test_set is not None:
        count = len(test_set.systems) if count is None else count
        if population is None:
            population = test_set.segments.height
    if count is None or population is None:
        raise InputError(
            "how much there is to rate is not known; give --scores (the test set), --pilot (the"
            " ratings so far), or --systems and --population"
        )
    shared = {"overlap": overlap, "per_output": per_output}
    options: dict[str, Any] = {name: value for name, value in shared.items() if value is not None}
    options |= {
        "budget": budget, "half_width": half_width, "decide": decide, "pay": pay,
        "protocol": protocol or "esa", "scale": score_range(range), "raters": _how_many(raters),
        "checks": (checks or 0.0) + (repeats or 0.0),
    }  # fmt: skip
    if texts:
        population = _texts_like_these(population, budget, half_width, decide)
    try:
        result = plan_campaign(count, population, pilot=rated, **options)
    except InputError as error:
        if rated is None or pilot is not None:
            raise
        result = plan_campaign(count, population, **options)  # refused, too, if it is an option
        note(f"the ratings so far are too few to plan by: {error}")
    kept = ""
    if result.needed is not None and context.obj is not None and own:
        from assay.cli.project import keep_plan

        # Before it is shown: the reader may close the pipe half-way.
        kept = keep_plan(context.obj, result, None if _is_taken(context, "pay") else pay)
    deliver(result, save, json)
    if kept:
        note(kept)
    elif result.needed is not None and scores is not None and not json:
        say(f"next: assay sample {scores} --budget {result.needed}")


def _texts_like_these(
    rated: int, budget: str | None, half_width: float | None, decide: float | None
) -> int | None:
    """How many segments there are to rate where ratings alone are known; None: any such texts."""
    if decide is None and half_width is None and (budget is None or "%" in budget):
        note(
            f"the {rated:,} rated segments are taken to be the whole test set; if there are more,"
            " give --population"
        )
        return rated
    note(
        f"the plan is for new texts like the {rated:,} rated segments; if there is a test set, give"
        " --population, its number of segments"
    )
    return None


def _is_taken(context: Context, name: str) -> bool:
    """Whether the project said it, not the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "DEFAULT_MAP"


def _answers(context: Context) -> list[Path]:
    """The ratings that the project has by now."""
    project = context.obj
    return [path for path in project.paths(project.settings.ratings) if path.exists()]


def _known(
    scores: Path | None, answers: list[Path], read: Reading, better: Better | None, range: Text
) -> tuple[TestSet | None, tuple[TestSet, Ratings] | None]:
    """The test set, and a pilot where some of it is rated; ratings alone are their own test set."""
    if scores is None and not answers:
        return None, None
    test_set, ratings, _ = read_known(scores, answers, read, better=better, range=range)
    return test_set, None if ratings is None else (test_set, ratings)


@plan.command("ratings")
def ratings_command(
    scores: File = None, ratings: File = None, *, half_width: Number = None,
    population: Count = None, sd: Number = None, correlation: Number = None, features: Count = None,
    systems: Text = None, level: float = 0.95, design_effect: float = 1.0, pay: Text = None,
    spend: Text = None, sizes: Text = None, better: Better | None = None, range: Text = None,
    read: OfPilot, save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Plan how many segments to rate for intervals of a given half-width.

    Example: assay plan ratings --population 1400 --sd 3 --correlation .4 --half-width .3

    Example: assay plan ratings scores.tsv ratings.tsv --half-width .3 --better lower

    Example: assay plan ratings scores.tsv ratings.tsv --pay "40 s per rating" --spend "40 h"
    """
    from assay.planning.ratings import plan_ratings

    pilot = _pilot(scores, ratings, read, better, range)
    count = _how_many(systems)
    if count is None:
        count = 1 if pilot is None else len(pilot[0].systems)
    result = plan_ratings(
        population=population, half_width=half_width, sd=sd, correlation=correlation,
        features=features, pilot=pilot, level=level, design_effect=design_effect, systems=count,
        pay=pay, sizes=_numbers(sizes), spend=spend,
    )  # fmt: skip
    deliver(result, save, json)


@plan.command("comparison")
def comparison_command(
    scores: File = None, ratings: File = None, *, gap: float, power: float = 0.8,
    population: Count = None, difference_sd: Number = None, correlation: Number = None,
    features: Count = None, level: float = 0.95, design_effect: float = 1.0, pay: Text = None,
    spend: Text = None, sizes: Text = None, better: Better | None = None, range: Text = None,
    read: OfPilot, save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Plan how many segments to rate for two systems to find a gap between them.

    Example: assay plan comparison --population 1400 --difference-sd 3 --gap .4 --power .8
    """
    from assay.planning.ratings import plan_comparison

    result = plan_comparison(
        gap=gap, power=power, population=population, difference_sd=difference_sd,
        correlation=correlation, features=features,
        pilot=_pilot(scores, ratings, read, better, range), level=level,
        design_effect=design_effect, pay=pay, sizes=_numbers(sizes), spend=spend,
    )  # fmt: skip
    deliver(result, save, json)


@plan.command("judgments")
def judgments_command(
    *, pilot: File = None, systems: Text = None, sigma: Number = None, significant: Number = None,
    clusters: Number = None, range_size: Number = None,
    test: Literal["sign", "pooled", "bootstrap"] | None = None, per_set: Count = None,
    level: float = 0.95, sides: int = 2, pay: Text = None, spend: Text = None,
    read: Annotated[Reading, "columns exclude only lp format"], seed: Count = None,
    save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Plan how many judgments it takes to tell systems apart.

    Example: assay plan judgments --systems 15 --sigma 10 --significant .8

    Example: assay plan judgments --pilot judgments.tsv --test pooled

    Example: assay plan judgments --systems 15 --sigma 10 --pay "20 s per judgment" --spend "40 h"
    """
    from assay.planning.judgments import plan_judgments

    if pilot is None:
        refuse(read.given, "needs a pilot", "give --pilot FILE too")
    judged = None if pilot is None else read_judged(pilot, read)
    with progress_bars() as progress:
        result = plan_judgments(
            _how_many(systems), sigma=sigma, pilot=judged, significant=significant,
            clusters=clusters, range_size=range_size, test=test, per_set=per_set, level=level,
            sides=sides,  # type: ignore[arg-type]
            pay=pay, spend=spend, rng=seed, progress=progress,
        )  # fmt: skip
    deliver(result, save, json)


@plan.command("editors")
def editors_command(
    *, gap: float, systems: Text = None, measure: str = "distance", pilot: File = None,
    cell: Number = None, residual: Number = None, segments: int = 23, place: bool = False,
    sizes: Text = "6,12,24,48,96", power: float = 0.8, level: float = 0.95, columns: Text = None,
    only: Text = None, format: Text = None, system: Text = None, editor: Text = None,
    save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Plan how many editors it takes to find a gap between systems.

    A human translation counts as a system. Editors are not paid by the answer, so there is no
    --spend; --sizes lists numbers of editors and what they can find.

    Example: assay plan editors --systems 3 --gap 3
    """
    from assay.cli.effort import read_edit_files
    from assay.effort.effort import effort
    from assay.planning.editors import plan_editors

    about_pilot = {
        "columns": columns, "only": only, "format": format, "system": system, "editor": editor,
    }  # fmt: skip
    seen = None
    if pilot is not None:
        edits = read_edit_files([pilot], **about_pilot)
        with progress_bars() as progress:
            seen = effort(edits, measures=[measure], rng=0, progress=progress)
    else:
        refuse(about_pilot, "needs a pilot", "give --pilot FILE too")
    count = _how_many(systems)
    if count is None:
        if seen is None:
            raise InputError("give --systems (how many are compared) or a --pilot")
        count = len(seen.systems)
    result = plan_editors(
        count, gap, measure=measure, pilot=seen, cell=cell, residual=residual,
        segments=segments, place=place, sizes=_numbers(sizes) or (), power=power,
        level=level,
    )  # fmt: skip
    deliver(result, save, json)


def _pilot(
    scores: Path | None, ratings: Path | None, read: Reading, better: Better | None, range: Text
) -> tuple[TestSet, Ratings] | None:
    """The two tables of a pilot, or None; options about tables are refused without them."""
    if scores is not None and ratings is not None:
        return read_rated(scores, [ratings], read, better=better or "higher", range=range)
    if scores is not None:
        raise InputError(f"{scores} was given alone; a pilot is two files, SCORES and RATINGS")
    about_pilot = {"better": better, "range": range, **read.given}
    refuse(about_pilot, "needs a pilot", "give SCORES and RATINGS too")
    return None


def _how_many(text: str | None) -> int | None:
    """``a,b,c`` or ``3`` as a number of systems; None where nothing was said."""
    known = None if text is None else people(text)
    return len(known) if isinstance(known, list) else known


def _numbers(text: str | None) -> list[int] | None:
    """``6,12`` as whole numbers; None where nothing was said."""
    if text is None:
        return None
    return numbers("--sizes", text, "is not a list of whole numbers", "write 100,200,400")
