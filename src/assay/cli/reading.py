"""Reading other tools' answers, judgments or ratings, and histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.cli import Reading, locate_answers
from assay.cli.options import Better
from assay.errors import InputError, OptionError, need_known

if TYPE_CHECKING:
    import polars as pl

    from assay.tables.judgments import Judgments
    from assay.tables.load import Raw
    from assay.tables.tables import Ratings, TestSet


def of_format(
    path: Path, kinds: Sequence[str], format: str, lp: str | None
) -> tuple[str, Raw, bool]:
    """Return the kind of table in another tool's file, the table, and whether ``lp`` chose rows."""
    from assay.formats.catalogue import FORMATS, Options, find_format, load_format

    item = find_format(format)
    held = [kind for kind in item.reads if kind in kinds]
    if not held:
        known = [name for name, other in FORMATS.items() if {*other.reads} & {*kinds}]
        what = f"holds no {' or '.join(kinds)}"
        raise OptionError("format", format, what, f"choose from {', '.join(known)}")
    chosen = lp is not None and "lp" in item.reads[held[0]]
    return held[0], load_format(path, format, held[0], Options(lp=lp if chosen else None)), chosen


def with_history(test_set: TestSet, path: Path, better: Better) -> TestSet:
    """Return the test set with what a file's ratings say about its segments."""
    from assay.tables.history import add_history
    from assay.tables.load import column_names
    from assay.tables.tables import read_ratings

    ratings = read_ratings(path, better=better, only=_own_pair(test_set, column_names(path)))
    return add_history(test_set, ratings)


def read_history(
    test_set: TestSet, path: Path, better: Better
) -> tuple[TestSet, tuple[TestSet, Ratings] | None]:
    """Return the test set with what a file says about its segments, and any earlier campaign.

    Ratings of other systems on these segments show how hard the segments are. A file with some of
    the metrics also shows what these are worth, and may be about other segments.
    """
    from assay.tables.load import column_names
    from assay.tables.tables import read_ratings, read_scores

    columns = column_names(path)
    shared = [name for name in test_set.metrics if name in columns]
    if not shared:
        return with_history(test_set, path, better), None
    only = _own_pair(test_set, columns)
    past = read_scores(path, metrics=shared, only=only)
    ratings = read_ratings(path, past, better=better, only=only)
    key = [name for name in test_set.key if name in past.segments.columns]
    here = past.segments.join(test_set.segments, on=key, how="semi").height
    same = with_history(test_set, path, better) if here else test_set
    return same, (past, ratings)


def _own_pair(test_set: TestSet, columns: Sequence[str]) -> dict[str, str] | None:
    """The language pair to read from a file that may have several; None means all."""
    pairs = test_set.segments["lp"].unique().to_list() if "lp" in test_set.key else []
    one = test_set.part and len(pairs) == 1 and "lp" in columns
    return {"lp": pairs[0]} if one else None


def read_answers(
    path: Path, *kinds: str, read: Reading, better: Better = "higher"
) -> Judgments | Ratings:
    """Read the judgments or ratings of a file, whichever it has, in one pass."""
    from assay.tables.judgments import read_judgments
    from assay.tables.tables import read_ratings

    kind, source, own, rows, _ = locate_answers(path, *kinds, read=read)
    if kind == "judgments":
        return read_judgments(source, columns=own, exclude=read.excluded, only=rows)
    table = read_ratings(source, columns=own, better=better, only=rows)
    return replace(table, frame=without(table.frame, read.excluded))


def read_judged(path: Path, read: Reading) -> Judgments:
    """The judgments that the user chose, without the systems to be left out."""
    return read_answers(path, "judgments", read=read)  # type: ignore[return-value]


def answers_kind(path: Path, read: Reading) -> Literal["judgments", "ratings"]:
    """Whether the file has judgments or ratings, by its columns."""
    from assay.tables.load import column_names

    return kind_of(column_names(path), path, read)


def kind_of(present: Sequence[str], path: Path, read: Reading) -> Literal["judgments", "ratings"]:
    """Whether a table with these columns has judgments or ratings."""
    from assay.tables.schemas import SCHEMAS

    here = {*present, *read.mapped}
    missing = {
        kind: [name for name in SCHEMAS[kind].required if name not in here]
        for kind in ("judgments", "ratings")
    }
    if not missing["judgments"] and not missing["ratings"]:
        raise InputError(
            f"{path}: has the columns of judgments and of ratings; keep one of the two sets"
        )
    if all(missing.values()):
        raise InputError(
            f"{path}: is neither a table of judgments (no {', '.join(missing['judgments'])}) nor"
            f" of ratings (no {', '.join(missing['ratings'])}); map your names with --columns"
        )
    return "ratings" if missing["judgments"] else "judgments"


def without(frame: pl.DataFrame, systems: list[str]) -> pl.DataFrame:
    """The rows of a table of ratings that are not of these systems."""
    import polars as pl

    known = frame["system"].unique(maintain_order=True).to_list() if systems else []
    for name in systems:
        need_known("exclude", name, known, "is not among the rated systems")
    return frame.filter(~pl.col("system").is_in(systems)) if systems else frame


def named_in(path: Path, systems: Sequence[str], columns: Mapping[str, str]) -> set[str]:
    """The systems that a table names; all of them, if it has no column of systems."""
    import polars as pl

    from assay.tables.load import load

    if not path.exists():
        return set()
    frame = load(path, text=lambda _: True).frame
    own = {columns.get(name, name) for name in ("system", "left", "right")}
    held = [frame[name].cast(pl.String).unique() for name in frame.columns if name in own]
    return set(systems) & {name for values in held for name in values} if held else set(systems)
