"""``assay audit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay.cli import Located, locate_answers, names, read_test_set, save_file, without
from assay.cli.options import (
    ASSUME,
    BETTER,
    COLUMNS,
    EXCLUDE,
    FAMILY,
    FORMAT,
    JSON,
    LEVEL,
    LOWER_METRICS,
    LP,
    METRICS,
    ONLY,
    PAY,
    SAMPLE,
    SAVE,
    SEED,
    TARGET,
)
from assay.errors import InputError, OptionError

if TYPE_CHECKING:
    from assay.audit.results import Audit
    from assay.tables.tables import TestSet

ANSWERS = ("judgments", "ratings")


def audit(
    context: typer.Context,
    tables: Annotated[
        list[Path],
        typer.Argument(
            help="The test set (if there is a scores table), then ratings or judgments, in one or"
            " more files.",
            metavar="[SCORES] RATINGS|JUDGMENTS...",
        ),
    ],
    published: Annotated[
        Path | None,
        typer.Option(
            "--published",
            help="What was claimed: a table of system and cluster or rank, or better and worse.",
        ),
    ] = None,
    sample: SAMPLE = None,
    assume: ASSUME = None,
    target: TARGET = None,
    family: FAMILY = False,
    practice: Annotated[
        Literal["mean", "z"] | None,
        typer.Option("--practice", help="WMT practice ranks by the mean (default) or z scores."),
    ] = None,
    better: BETTER = "higher",
    level: LEVEL = 0.95,
    pay: PAY = None,
    columns: COLUMNS = None,
    metrics: METRICS = None,
    lower_metrics: LOWER_METRICS = None,
    exclude: EXCLUDE = None,
    only: ONLY = None,
    lp: LP = None,
    format: FORMAT = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Print the table of pairs, too.")] = False,
    seed: SEED = None,
    save: SAVE = None,
    json: JSON = False,
) -> None:
    """Audit a finished campaign: what it covered, what it could find, which distinctions hold.

    Verdicts and clusters are those of assay estimate on the same tables.

    Example: assay audit scores.tsv ratings.tsv --better lower --published ranking.tsv
    """
    from assay.cli import deliver
    from assay.views.audit import audit_section
    from assay.views.section import show

    answers, scores = tables[-1], tables[0] if len(tables) == 2 else None
    save_file(save)
    for option, given in (("--metrics", metrics), ("--lower-metrics", lower_metrics)):
        if given is not None and sample is None and assume is None:
            raise OptionError(
                option, given, "is for ratings with a --sample or --assume", "leave it out"
            )
    common = {"published": published, "family": family, "level": level, "pay": pay, "rng": seed}
    of_ratings = {"sample": sample, "assume": assume, "target": target, "practice": practice}
    of_ratings = {name: value for name, value in of_ratings.items() if value is not None}
    if format is None and _need_guess(tables, columns):
        from assay.cli.guessing import is_foreign

        try:
            result = _of_guessed(
                tables, context, columns, exclude, only, lp, better, common, of_ratings
            )
            deliver(result, save, json, lambda: show(audit_section(result, pairs=pairs)))
            return
        except InputError:
            if len(tables) > 2 or is_foreign(tables, columns):
                raise
    found = locate_answers(
        answers, *ANSWERS, columns=columns, only=only, lp=lp, format=format,
        scores=scores,
    )  # fmt: skip
    if found.kind == "judgments":
        of_ratings |= {} if better == "higher" else {"better": better}
        for name, value in of_ratings.items():
            raise OptionError(f"--{name}", value, "is for ratings", "leave it out")
        result = _of_judgments(found, scores, columns, exclude, only, lp, common)
    else:
        # Where nobody says how segments were chosen metrics play no part, and none can be
        # mistaken for the answers.
        chosen = sample is not None or assume is not None
        used = (metrics, lower_metrics) if chosen else ("", None)
        result = _of_ratings(
            found, scores, columns, exclude, only, lp, better, used, common | of_ratings
        )
    deliver(result, save, json, lambda: show(audit_section(result, pairs=pairs)))


def _need_guess(tables: list[Path], columns: str | None) -> bool:
    """Whether answers stand in several files, or under others' names."""
    from assay.cli.guessing import are_batches, is_foreign

    others = is_foreign(tables[:-1], columns) or is_foreign(tables[-1:], columns, *ANSWERS)
    return len(tables) > 2 or others or are_batches(tables)


def _of_guessed(
    tables: list[Path], context: typer.Context, columns: str | None, exclude: str | None,
    only: str | None, lp: str | None, better: Literal["higher", "lower"],
    common: dict[str, Any], of_ratings: dict[str, Any],
) -> Audit:  # fmt: skip
    from assay.audit.campaigns import audit_judgments, audit_ratings
    from assay.cli import progress_bars, read_drawn
    from assay.cli.guessing import read_foreign, stated
    from assay.tables.tables import Judgments

    answers, test_set = read_foreign(
        tables, columns=columns, exclude=exclude, only=only, lp=lp, better=stated(context, better)
    )
    if not isinstance(answers, Judgments):
        if test_set is not None and "sample" in of_ratings:
            of_ratings["sample"] = read_drawn(of_ratings["sample"], test_set)
        return audit_ratings(answers, test_set, **common, **of_ratings)
    for name, value in of_ratings.items():
        raise OptionError(f"--{name}", value, "is for ratings", "leave it out")
    with progress_bars() as progress:
        return audit_judgments(answers, progress=progress, **common)


def _of_ratings(
    found: Located, scores: Path | None, columns: str | None, exclude: str | None, only: str | None,
    lp: str | None, better: Literal["higher", "lower"], metrics: tuple[str | None, str | None],
    options: dict[str, Any],
) -> Audit:  # fmt: skip
    from dataclasses import replace

    from assay.audit.campaigns import audit_ratings
    from assay.tables.tables import read_ratings, read_sample

    if scores is None:
        if "sample" in options:
            raise OptionError(
                "--sample", options["sample"], "needs the scores it was drawn from",
                "give SCORES, then RATINGS",
            )  # fmt: skip
        table = read_ratings(found.source, columns=found.columns, better=better, only=found.only)
        frame = without(table.frame, names(exclude) or [])
        return audit_ratings(replace(table, frame=frame), **options)
    test_set = read_test_set(
        scores, found.of_scores, columns=columns, metrics=metrics[0], lower_metrics=metrics[1],
        exclude=None, only=only, lp=lp,
    )  # fmt: skip
    test_set = _excluding(test_set, names(exclude) or [], found)
    table = read_ratings(
        found.source, test_set, columns=found.columns, better=better, only=found.only
    )
    if "sample" in options:
        options["sample"] = read_sample(options["sample"], test_set)
    return audit_ratings(table, test_set, **options)


def _excluding(test_set: TestSet, systems: list[str], found: Located) -> TestSet:
    """The test set without systems that it, or only the ratings, have."""
    from dataclasses import replace

    import polars as pl

    from assay.errors import did_you_mean
    from assay.tables.load import Raw, load

    if not systems:
        return test_set
    source = found.source
    raw = source if isinstance(source, Raw) else load(source, text=lambda _: True)
    column = raw.frame[found.columns.get("system", "system")]
    rated = column.cast(pl.String).unique().to_list()
    known = list(dict.fromkeys([*test_set.systems, *rated]))
    for name in systems:
        if name not in known:
            raise OptionError(
                "exclude", name, f"is not a system of these files{did_you_mean(name, known)}",
                f"choose from {', '.join(known)}",
            )  # fmt: skip
    kept = test_set.frame.filter(~pl.col("system").is_in(systems))
    if not kept.height:
        raise OptionError("exclude", ", ".join(systems), "leaves no system", "keep at least two")
    return replace(test_set, frame=kept, excluded=tuple(systems))


def _of_judgments(
    found: Located, scores: Path | None, columns: str | None, exclude: str | None, only: str | None,
    lp: str | None, options: dict[str, Any],
) -> Audit:  # fmt: skip
    from assay.audit.campaigns import audit_judgments
    from assay.cli import progress_bars
    from assay.tables.tables import read_judgments

    table = read_judgments(
        found.source, columns=found.columns, exclude=names(exclude) or (), only=found.only
    )
    test_set = None
    if scores is not None:
        test_set = read_test_set(
            scores, found.of_scores, columns=columns, metrics="", lower_metrics=None, exclude=None,
            only=only, lp=lp,
        )  # fmt: skip
    with progress_bars() as progress:
        return audit_judgments(table, test_set, progress=progress, **options)
