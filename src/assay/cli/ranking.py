"""``assay rank`` and ``assay next-set``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay.cli.files import names, read_judged, save_file
from assay.cli.options import BETTER, COLUMNS, EXCLUDE, JSON, LP, ONLY, SAVE, SEED
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.ranking.rank import Ranking


def rank(
    table: Annotated[
        Path, typer.Argument(help="Judgments (left, right, winner) or ratings.", metavar="FILE")
    ],
    method: Annotated[
        str | None,
        typer.Option("--method", help="The method, by name (listed above)."),
    ] = None,
    ranges: Annotated[
        Literal["bootstrap", "sign", "pooled"] | None,
        typer.Option("--ranges", help="Rank ranges from resampling (default) or from tests."),
    ] = None,
    resample: Annotated[
        Literal["auto", "document", "segment", "set", "rater", "pair"] | None,
        typer.Option(
            "--resample",
            help="The unit whose judgments are correlated; auto: segment, else set, else pair.",
        ),
    ] = None,
    range_kind: Annotated[
        Literal["shortest", "equal-tailed"] | None,
        typer.Option("--range-kind", help="Which bootstrap range holds the level (shortest)."),
    ] = None,
    ties: Annotated[
        Literal["drop", "half"] | None,
        typer.Option("--ties", help="Ties are dropped (default) or half a win for each."),
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Confidence level.")] = 0.95,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Shorten ranges, checked by simulating campaigns of this size."
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
    cluster_rule: Annotated[
        Literal["neighbours", "all"] | None,
        typer.Option(
            "--cluster-rule",
            help="From ratings: a cluster ends where neighbours differ (default), or where all"
            " above differ from all below, as WMT has it.",
        ),
    ] = None,
    better: BETTER = "higher",
    columns: COLUMNS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Print the table of pairs, too.")] = False,
    seed: SEED = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Rank systems from judgments or ratings, with rank ranges and clusters.

    Methods: expected-win (default), bojar, better-or-equal, lopez, bradley-terry; from ratings:
    mean (default), z. WMT rankings become judgments with
    assay convert --from wmt-rnk --to judgments.

    Example: assay rank judgments.tsv --ranges pooled
    """
    from assay.cli import progress_bars
    from assay.cli.files import deliver, read_answers
    from assay.tables.answers import Judgments

    save_file(save, table)
    common = _given({
        "method": method, "range_kind": range_kind, "level": level, "sides": sides, "holm": holm,
        "resamples": resamples, "rng": seed,
    })  # fmt: skip
    of_judgments = _given(
        {"ranges": ranges, "resample": resample, "ties": ties, "calibrate": calibrate or None}
    )
    of_ratings = _given({"cluster_rule": cluster_rule})
    answers = read_answers(table, columns=columns, exclude=exclude, only=only, lp=lp, better=better)
    if isinstance(answers, Judgments):
        from assay.ranking.rank import rank as run

        _refuse("ratings", of_ratings | ({} if better == "higher" else {"better": better}))
        with progress_bars() as progress:
            result: Ranking = run(answers, progress=progress, **common, **of_judgments)
    else:
        from assay.ranking.ratings import rank_ratings

        _refuse("judgments", of_judgments)
        result = rank_ratings(answers, **common, **of_ratings)
    deliver(result, save, json, _with_pairs(result) if pairs else None)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _refuse(kind: str, options: dict[str, Any]) -> None:
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        raise OptionError(option, value, f"is for {kind}", "leave it out")


def _with_pairs(result: Ranking) -> Callable[[], None]:
    from assay.views.ranking import ranking_section
    from assay.views.section import show

    return lambda: show(ranking_section(result, pairs_in_terminal=True))


def next_set(
    judgments: Annotated[Path, typer.Argument(help="Judgments so far.", metavar="JUDGMENTS")],
    systems: Annotated[
        str | None,
        typer.Option(
            "--systems", help="The systems compared: their names, or how many.", metavar="A,B"
        ),
    ] = None,
    goal: Annotated[
        Literal["best", "order"],
        typer.Option("--goal", help="What to aim for."),
    ] = "best",
    per_set: Annotated[
        int | None,
        typer.Option("--per-set", help="Systems shown at once; default: as many as so far."),
    ] = None,
    count: Annotated[int, typer.Option("--count", help="How many to choose.")] = 1,
    columns: COLUMNS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    seed: SEED = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Choose the systems to show next: to find the best one soon, or the order.

    Judgments chosen this way must not be tested for significance. Towards the best system they
    take far fewer judgments than random sets, towards the order hardly fewer.

    Example: assay next-set judgments.tsv --per-set 5 --count 20
    """
    from assay.cli.files import deliver
    from assay.ranking.best import next_sets

    save_file(save, judgments)
    table = read_judged(judgments, columns, exclude, only, lp)
    result = next_sets(
        table, goal=goal, systems=names(systems), per_set=per_set, count=count, rng=seed
    )
    deliver(result, save, json)
