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
    from assay.tables.answers import Judgments
    from assay.tables.tables import Ratings, TestSet

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
    from assay.audit.campaigns import audit_judgments, audit_ratings
    from assay.tables.answers import Judgments
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
    common: dict[str, Any] = {
        "published": published, "family": family, "level": level, "pay": pay, "rng": seed,
    }  # fmt: skip
    given = {"sample": sample, "assume": assume, "target": target, "practice": practice}
    of_ratings: dict[str, Any] = {k: value for k, value in given.items() if value is not None}
    answers, test_set = _read(tables, context, read, better, of_ratings)
    if isinstance(answers, Judgments):
        refuse(of_ratings, FOR_RATINGS)
        with progress_bars() as progress:
            result = audit_judgments(answers, test_set, progress=progress, **common)
    else:
        if test_set is not None and sample is not None:
            of_ratings["sample"] = read_drawn(sample, test_set)
        result = audit_ratings(answers, test_set, **common, **of_ratings)
    deliver(result, save, json, lambda: show(audit_section(result, pairs=pairs)))


def _read(
    tables: list[Path], context: Context, read: Reading, better: Better, of_ratings: dict[str, Any]
) -> tuple[Judgments | Ratings, TestSet | None]:
    """The answers, and the test set where there is one; what has others' names is guessed."""
    if read.format is None and _need_guess(tables, read):
        try:
            return read_foreign(tables, read, stated(context, better))
        except InputError:
            if len(tables) > 2 or is_foreign(tables, read):
                raise
    scores = tables[0] if len(tables) == 2 else None
    found = locate_answers(tables[-1], *ANSWERS, read=read, scores=scores)
    if found.kind == "judgments":
        refuse(of_ratings | {"better": None if better == "higher" else better}, FOR_RATINGS)
        judged = judged_in(found, read)
        if scores is None:
            return judged, None
        of_texts = replace(read, exclude=None, metrics="", lower_metrics=None)
        return judged, read_test_set(scores, of_texts, found.of_scores)
    if scores is None:
        if "sample" in of_ratings:
            raise OptionError(
                "--sample", of_ratings["sample"], "needs the scores it was drawn from",
                "give SCORES, then RATINGS",
            )  # fmt: skip
        return rated_in(found, read, better), None
    test_set = read_test_set(scores, replace(read, exclude=None), found.of_scores)
    test_set = _excluding(test_set, read.excluded, found)
    return found.ratings(test_set, better=better), test_set


def _need_guess(tables: list[Path], read: Reading) -> bool:
    """Whether answers stand in several files, or under others' names."""
    others = is_foreign(tables[:-1], read) or is_foreign(tables[-1:], read, *ANSWERS)
    return len(tables) > 2 or others or are_batches(tables)


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
