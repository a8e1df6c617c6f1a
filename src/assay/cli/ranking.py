"""``assay rank``, ``assay next-set``, and ``assay monitor`` of judgments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Context

from assay.cli import Reading, deliver, names, progress_bars, refuse
from assay.cli.options import Better, Count, File, Text
from assay.cli.reading import (
    ANSWERS,
    is_foreign,
    kind_of,
    read_answers,
    read_foreign,
    read_judged,
    stated,
)
from assay.errors import InputError, OptionError

if TYPE_CHECKING:
    from assay.ranking.monitor import JudgmentsMonitoring
    from assay.ranking.rank import Ranking
    from assay.tables.answers import Judgments
    from assay.tables.tables import Ratings


def rank(
    context: Context, files: list[Path], *, method: Text = None,
    ranges: Literal["bootstrap", "sign", "pooled"] | None = None,
    resample: Literal["auto", "document", "segment", "set", "rater", "pair"] | None = None,
    range_kind: Literal["shortest", "equal-tailed"] | None = None,
    ties: Literal["drop", "half", "davidson"] | None = None, level: float = 0.95,
    calibrate: bool = False, sides: int = 2, holm: bool = False, resamples: Count = None,
    cluster_rule: Literal["neighbours", "all"] | None = None, rank_sum: bool = False,
    pay: Text = None, better: Better = "higher",
    read: Annotated[Reading, "columns exclude only lp format"], pairs: bool = False,
    seed: Count = None, save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Rank systems from judgments or ratings, with rank ranges and clusters.

    Methods: expected-win (default), bojar, better-or-equal, lopez, bradley-terry; from ratings:
    mean (default), z. assay convert --from wmt-rnk --to judgments turns
    WMT rankings into judgments.

    Example: assay rank judgments.tsv --ranges pooled
    """
    from assay.tables.answers import Judgments

    common = _given({
        "method": method, "range_kind": range_kind, "level": level, "sides": sides, "holm": holm,
        "resamples": resamples, "rng": seed, "pay": pay,
    })  # fmt: skip
    of_judgments = _given(
        {"ranges": ranges, "resample": resample, "ties": ties, "calibrate": calibrate or None}
    )
    of_ratings = _given({"cluster_rule": cluster_rule, "rank_sum": rank_sum or None})
    answers = _answers(files, context, read, better)
    if isinstance(answers, Judgments):
        from assay.ranking.rank import rank as run

        of_ratings["better"] = None if better == "higher" else better
        refuse(of_ratings, "is for ratings")
        with progress_bars() as progress:
            result: Ranking = run(answers, progress=progress, **common, **of_judgments)
    else:
        from assay.ranking.ratings import rank_ratings

        refuse(of_judgments, "is for judgments")
        result = rank_ratings(answers, **common, **of_ratings)
    deliver(result, save, json, _with_pairs(result) if pairs else None)


def _answers(
    files: list[Path], context: Context, read: Reading, better: Better
) -> Judgments | Ratings:
    """The judgments or ratings of one file or several; what has others' names is guessed."""
    own: InputError | None = None
    if read.format is not None or len(files) == 1:
        if len(files) > 1:
            remedy = "convert each to a table first"
            raise OptionError("format", read.format, "is for one file", remedy)
        try:
            return read_answers(files[0], *ANSWERS, read=read, better=better)
        except InputError as error:
            if read.format is not None or not is_foreign(files, read, *ANSWERS):
                raise
            own = None if is_foreign(files, read) else error
    try:
        return read_foreign(files, read, stated(context, better))[0]
    except InputError:
        if own is not None:
            raise own from None
        raise


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _with_pairs(result: Ranking) -> Callable[[], None]:
    from assay.views.ranking import ranking_section
    from assay.views.section import show

    return lambda: show(ranking_section(result, pairs_in_terminal=True))


def monitor_judged(
    judgments: Path, of_ratings: dict[str, Any], read: Reading, *, family: bool, systems: Text,
    level: float, pay: Text,
) -> JudgmentsMonitoring:  # fmt: skip
    """``assay monitor`` with one file: judgments; options that only ratings have are refused."""
    from assay.ranking.monitor import monitor_judgments
    from assay.tables.load import column_names

    if kind_of(column_names(judgments), judgments, read) == "ratings":
        raise InputError(
            f"{judgments}: ratings are monitored with their test set; name SCORES first"
        )
    refuse(of_ratings, "is for ratings")
    return monitor_judgments(
        read_judged(judgments, read), systems=_system_names(systems), family=family, level=level,
        pay=pay,
    )  # fmt: skip


def need_for_ratings(sample: Path | None, *, each_pair: bool, systems: str | None) -> Path:
    """``assay monitor`` of ratings: the sample; what is for judgments is refused."""
    refuse({"each_pair": each_pair, "systems": systems}, "is for judgments")
    if sample is None:
        raise InputError("ratings are monitored along their sample; give --sample")
    return sample


def _system_names(text: str | None) -> list[str] | None:
    """Names, where a number says nothing: verdicts and sets are about systems by name."""
    if text is not None and text.strip().isdigit():
        raise OptionError("--systems", text, "is a number, not a name", "name the systems: A,B,C")
    return names(text)


def next_set(
    judgments: Path, *, systems: Text = None, scores: File = None,
    goal: Literal["best", "order"] = "best", per_set: Count = None, count: int = 1,
    read: Annotated[Reading, "columns exclude only lp"], seed: Count = None, save: File = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Choose the systems to compare next, to find the best one (or the order) sooner.

    Finding the best system takes far fewer judgments than with random sets, finding the order
    hardly fewer. Ordinary tests do not hold for judgments chosen this way; the verdicts of assay
    monitor do.

    Example: assay next-set judgments.tsv --per-set 5 --count 20
    """
    from assay.ranking.next import next_sets
    from assay.tables.load import load
    from assay.tables.tables import read_scores

    if systems is not None and scores is not None:
        raise OptionError("--systems", systems, "contradicts --scores", "give one of them")
    compete = _system_names(systems) if scores is None else read_scores(scores).systems
    begun = load(judgments, text=lambda _: True).frame.height > 0
    table = read_judged(judgments, read) if begun else None
    result = next_sets(table, goal=goal, systems=compete, per_set=per_set, count=count, rng=seed)
    deliver(result, save, json)
