"""``assay audit``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Context

from assay.cli import (
    Located,
    Reading,
    deliver,
    locate_answers,
    progress_bars,
    read_drawn,
    read_test_set,
    refuse,
)
from assay.cli.options import Better, Count, File, Text
from assay.cli.reading import (
    ANSWERS,
    are_batches,
    is_foreign,
    judged_in,
    rated_in,
    read_foreign,
    stated,
)
from assay.errors import InputError, OptionError, need_known

if TYPE_CHECKING:
    from assay.audit.results import Audit
    from assay.tables.tables import TestSet

FOR_RATINGS = "is for ratings"


def audit(
    context: Context, tables: list[Path], *, published: File = None, sample: File = None,
    assume: Text = None, target: Text = None, family: bool = False,
    practice: Literal["mean", "z"] | None = None, better: Better = "higher", level: float = 0.95,
    pay: Text = None,
    read: Annotated[Reading, "columns metrics lower_metrics exclude only lp format"],
    pairs: bool = False, seed: Count = None, save: File = None, json: bool = False,
) -> None:  # fmt: skip
    """Audit a finished campaign: what it covered, what it could find, which distinctions hold.

    Verdicts and clusters are those that assay estimate gives for the same tables.

    Example: assay audit scores.tsv ratings.tsv --better lower --published ranking.tsv
    """
    from assay.views.audit import audit_section
    from assay.views.section import show

    chosen = sample is not None or assume is not None
    for option in ("metrics", "lower_metrics"):
        if option in read.given and not chosen:
            fault = "is for ratings with a --sample or --assume"
            raise OptionError(option, read.given[option], fault, "leave it out")
    if not chosen:
        # Where nobody says how segments were chosen metrics play no part, and none can be
        # mistaken for the answers.
        read = replace(read, metrics="")
    common = {"published": published, "family": family, "level": level, "pay": pay, "rng": seed}
    of_ratings = {"sample": sample, "assume": assume, "target": target, "practice": practice}
    of_ratings = {name: value for name, value in of_ratings.items() if value is not None}
    result = None
    if read.format is None and _need_guess(tables, read):
        try:
            result = _of_guessed(tables, context, read, better, common, of_ratings)
        except InputError:
            if len(tables) > 2 or is_foreign(tables, read):
                raise
    if result is None:
        scores = tables[0] if len(tables) == 2 else None
        found = locate_answers(tables[-1], *ANSWERS, read=read, scores=scores)
        if found.kind == "judgments":
            refuse(of_ratings | {"better": None if better == "higher" else better}, FOR_RATINGS)
            result = _of_judgments(found, scores, read, common)
        else:
            result = _of_ratings(found, scores, read, better, common | of_ratings)
    deliver(result, save, json, lambda: show(audit_section(result, pairs=pairs)))


def _need_guess(tables: list[Path], read: Reading) -> bool:
    """Whether answers stand in several files, or under others' names."""
    others = is_foreign(tables[:-1], read) or is_foreign(tables[-1:], read, *ANSWERS)
    return len(tables) > 2 or others or are_batches(tables)


def _of_guessed(
    tables: list[Path], context: Context, read: Reading, better: Better, common: dict[str, Any],
    of_ratings: dict[str, Any],
) -> Audit:  # fmt: skip
    from assay.audit.campaigns import audit_judgments, audit_ratings
    from assay.tables.answers import Judgments

    answers, test_set = read_foreign(tables, read, stated(context, better))
    if not isinstance(answers, Judgments):
        if test_set is not None and "sample" in of_ratings:
            of_ratings["sample"] = read_drawn(of_ratings["sample"], test_set)
        return audit_ratings(answers, test_set, **common, **of_ratings)
    refuse(of_ratings, FOR_RATINGS)
    with progress_bars() as progress:
        return audit_judgments(answers, progress=progress, **common)


def _of_ratings(
    found: Located, scores: Path | None, read: Reading, better: Better, options: dict[str, Any]
) -> Audit:
    from assay.audit.campaigns import audit_ratings

    if scores is None:
        if "sample" in options:
            raise OptionError(
                "--sample", options["sample"], "needs the scores it was drawn from",
                "give SCORES, then RATINGS",
            )  # fmt: skip
        return audit_ratings(rated_in(found, read, better), **options)
    test_set = read_test_set(scores, replace(read, exclude=None), found.of_scores)
    test_set = _excluding(test_set, read.excluded, found)
    table = found.ratings(test_set, better=better)
    if "sample" in options:
        options["sample"] = read_drawn(options["sample"], test_set)
    return audit_ratings(table, test_set, **options)


def _excluding(test_set: TestSet, systems: list[str], found: Located) -> TestSet:
    """The test set without systems that it, or only the ratings, have."""
    import polars as pl

    from assay.tables.load import Raw, load

    if not systems:
        return test_set
    source = found.source
    raw = source if isinstance(source, Raw) else load(source, text=lambda _: True)
    column = raw.frame[found.columns.get("system", "system")]
    rated = column.cast(pl.String).unique().to_list()
    known = list(dict.fromkeys([*test_set.systems, *rated]))
    for name in systems:
        need_known("exclude", name, known, "is not a system of these files", most=len(known))
    kept = test_set.frame.filter(~pl.col("system").is_in(systems))
    if not kept.height:
        raise OptionError("exclude", ", ".join(systems), "leaves no system", "keep at least two")
    return replace(test_set, frame=kept, excluded=tuple(systems))


def _of_judgments(
    found: Located, scores: Path | None, read: Reading, options: dict[str, Any]
) -> Audit:
    from assay.audit.campaigns import audit_judgments

    table = judged_in(found, read)
    test_set = None
    if scores is not None:
        of_texts = replace(read, exclude=None, metrics="", lower_metrics=None)
        test_set = read_test_set(scores, of_texts, found.of_scores)
    with progress_bars() as progress:
        return audit_judgments(table, test_set, progress=progress, **options)
