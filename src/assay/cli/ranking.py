"""``assay rank``, ``assay next-set``, and ``assay monitor`` of judgments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay.cli import has_rows, names, read_judged, save_file
from assay.cli.options import (
    BETTER,
    COLUMNS,
    EXCLUDE,
    FORMAT,
    JSON,
    LP,
    ONLY,
    PAY,
    SAVE,
    SCORES_OPTION,
    SEED,
    SIDES,
)
from assay.errors import InputError, OptionError

if TYPE_CHECKING:
    from assay.ranking.rank import Ranking
    from assay.tables.tables import Judgments, Ratings

ANSWERS = ("judgments", "ratings")


def rank(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Judgments (left, right, winner) or ratings, in one or more files.",
            metavar="FILE...",
        ),
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
        Literal["drop", "half", "davidson"] | None,
        typer.Option(
            "--ties",
            help="Ties are dropped (default), half a win for each, or modelled (Bradley-Terry).",
        ),
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Confidence level.")] = 0.95,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Shorten ranges, checked by simulating campaigns of this size."
        ),
    ] = False,
    sides: SIDES = 2,
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
    rank_sum: Annotated[
        bool,
        typer.Option(
            "--rank-sum", help="From ratings: test single outputs, as WMT does, not documents."
        ),
    ] = False,
    pay: PAY = None,
    better: BETTER = "higher",
    columns: COLUMNS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    format: FORMAT = None,
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
    from assay.cli import deliver, progress_bars
    from assay.tables.tables import Judgments

    save_file(save)
    common = _given({
        "method": method, "range_kind": range_kind, "level": level, "sides": sides, "holm": holm,
        "resamples": resamples, "rng": seed, "pay": pay,
    })  # fmt: skip
    of_judgments = _given(
        {"ranges": ranges, "resample": resample, "ties": ties, "calibrate": calibrate or None}
    )
    of_ratings = _given({"cluster_rule": cluster_rule, "rank_sum": rank_sum or None})
    answers = _answers(
        files, context, columns=columns, exclude=exclude, only=only, lp=lp, better=better,
        format=format,
    )  # fmt: skip
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


def _answers(
    files: list[Path], context: typer.Context, *, columns: str | None, exclude: str | None,
    only: str | None, lp: str | None, better: Literal["higher", "lower"], format: str | None,
) -> Judgments | Ratings:  # fmt: skip
    """The judgments or ratings of one file or several; what has others' names is guessed."""
    from assay.cli import read_answers

    own: InputError | None = None
    if format is not None or len(files) == 1:
        if len(files) > 1:
            raise OptionError("format", format, "is for one file", "convert each to a table first")
        try:
            return read_answers(
                files[0], columns=columns, exclude=exclude, only=only, lp=lp, better=better,
                format=format,
            )  # fmt: skip
        except InputError as error:
            from assay.cli.guessing import is_foreign

            if format is not None or not is_foreign(files, columns, *ANSWERS):
                raise
            own = None if is_foreign(files, columns) else error
    from assay.cli.guessing import read_foreign, stated

    try:
        return read_foreign(
            files, columns=columns, exclude=exclude, only=only, lp=lp,
            better=stated(context, better),
        )[0]  # fmt: skip
    except InputError:
        if own is not None:
            raise own from None
        raise


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


def monitor_judged(
    judgments: Path, of_ratings: dict[str, Any], *, family: bool,
    systems: str | None, level: float, pay: str | None, columns: str | None,
    exclude: str | None, only: str | None, lp: str | None, save: Path | None, json: bool,
) -> None:  # fmt: skip
    """``assay monitor`` with one file: judgments; options that only ratings have are refused."""
    from assay.cli import answers_kind, deliver
    from assay.ranking.monitor import monitor_judgments

    if answers_kind(judgments, columns) == "ratings":
        raise InputError(f"{judgments}: ratings are watched with their test set; name SCORES first")
    _refuse("ratings", _given(of_ratings))
    save_file(save)
    table = read_judged(judgments, columns, exclude, only, lp)
    result = monitor_judgments(
        table, systems=_system_names(systems), family=family, level=level, pay=pay
    )
    deliver(result, save, json)


def need_for_ratings(sample: Path | None, *, each_pair: bool, systems: str | None) -> Path:
    """``assay monitor`` of ratings: the sample; what is for judgments is refused."""
    _refuse("judgments", _given({"each_pair": each_pair or None, "systems": systems}))
    if sample is None:
        raise InputError("ratings are watched along their sample; give --sample")
    return sample


def _system_names(text: str | None) -> list[str] | None:
    """Names, where a number says nothing: verdicts and sets are about systems by name."""
    if text is not None and text.strip().isdigit():
        raise OptionError("--systems", text, "is a number, no name", "name the systems, as A,B,C")
    return names(text)


def _systems_of(scores: Path) -> list[str]:
    from assay.tables.tables import read_scores

    return list(read_scores(scores).systems)


def next_set(
    judgments: Annotated[
        Path,
        typer.Argument(help="Judgments so far; at first a header line.", metavar="JUDGMENTS"),
    ],
    systems: Annotated[
        str | None,
        typer.Option(
            "--systems", help="The systems compared: their names, or how many.", metavar="A,B"
        ),
    ] = None,
    scores: Annotated[Path | None, SCORES_OPTION] = None,
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

    Ordinary tests do not hold for judgments chosen this way; assay monitor's verdicts do. Towards
    the best system they take far fewer judgments than random sets, towards the order hardly fewer.

    Example: assay next-set judgments.tsv --per-set 5 --count 20
    """
    from assay.cli import deliver
    from assay.ranking.best import next_sets

    save_file(save)
    if systems is not None and scores is not None:
        raise OptionError("--systems", systems, "and --scores name them twice", "give one of them")
    compete = _system_names(systems) if scores is None else _systems_of(scores)
    empty = not has_rows(judgments)
    table = None if empty else read_judged(judgments, columns, exclude, only, lp)
    result = next_sets(table, goal=goal, systems=compete, per_set=per_set, count=count, rng=seed)
    deliver(result, save, json)
