"""How commands read their tables: the columns, metrics, systems and rows that the user chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from assay.cli import names, pairs, score_range
from assay.cli.options import Better, Text
from assay.errors import InputError, OptionError, did_you_mean, need_known

if TYPE_CHECKING:
    import polars as pl

    from assay.tables.load import Raw, Source
    from assay.tables.tables import Judgments, Ratings, Sample, TestSet


@dataclass(frozen=True, slots=True)
class Reading:
    """What of its tables a command reads; each field is the option of its name."""

    columns: Text = None
    metrics: Text = None
    lower_metrics: Text = None
    exclude: Text = None
    only: Text = None
    lp: Text = None
    format: Text = None

    @property
    def given(self) -> dict[str, str]:
        """What was said, by the option."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in said.items() if value is not None}

    @property
    def excluded(self) -> list[str]:
        """The systems to leave out."""
        return names(self.exclude) or []

    @property
    def mapped(self) -> dict[str, str]:
        """Assay's column names to the user's."""
        return pairs("columns", self.columns)


def columns_for(text: str | None, *tables: tuple[str, Source]) -> list[dict[str, str]]:
    """The part of ``--columns`` that concerns each table (kind and file) a command reads.

    One mapping serves all commands: an entry goes to every table of these that has both Assay's
    column by its kind and the user's by its file. An entry that fits none of the files is refused.
    """
    from assay.tables.load import RESERVED, find_schema
    from assay.tables.selection import column_names

    schemas = [find_schema(kind) for kind, _ in tables]
    mapping = pairs("columns", text)
    if not mapping:
        return [{} for _ in tables]
    known = list(dict.fromkeys(name for schema in schemas for name in schema.names))
    for name, user in mapping.items():
        if name not in RESERVED:
            raise OptionError(
                "columns", f"{name}={user}",
                f"is not one of Assay's columns{did_you_mean(name, known)}",
                f"write Assay's name first, yours second; its columns here are {', '.join(known)}",
            )  # fmt: skip
    present = [column_names(path) for _, path in tables]
    everything = list(dict.fromkeys(name for listed in present for name in listed))
    for user in mapping.values():
        if user not in everything:
            raise OptionError(
                "columns", user, f"is not a column of these files{did_you_mean(user, everything)}",
                f"the columns are {', '.join(everything)}",
            )  # fmt: skip
    return [
        {name: user for name, user in mapping.items() if name in schema.names and user in listed}
        for schema, listed in zip(schemas, present, strict=True)
    ]


def only_for(
    read: Reading, own: dict[str, str], source: Source, *, every: bool = False
) -> dict[str, str]:
    """The rows of ``--only`` and ``--lp`` in one table; with ``every``, it must have all columns.

    Like ``--columns``, one choice serves all tables of a command: those that have the column.
    """
    wanted, lp = pairs("only", read.only), read.lp
    if lp is not None:
        if wanted.get("lp", lp) != lp:
            raise OptionError("lp", lp, f"contradicts --only lp={wanted['lp']}", "give one of them")
        wanted["lp"] = lp
    if not wanted or every:
        return wanted
    from assay.tables.selection import column_names

    present = column_names(source)
    return {name: value for name, value in wanted.items() if own.get(name, name) in present}


def read_test_set(
    path: Path, read: Reading, own: dict[str, str] | None = None, *, keep: Sequence[Text] = ()
) -> TestSet:
    """The scores table of a command, or the rows of it that the user wants.

    A column that is called like the user's score is not a metric. Where the metrics are named,
    columns that are neither Assay's nor in ``keep`` are not loaded.
    """
    from assay.results import Note
    from assay.tables.tables import is_like, read_scores

    own = columns_for(read.columns, ("scores", path))[0] if own is None else own
    test_set = read_scores(
        path,
        columns=own,
        metrics=names(read.metrics),
        lower_metrics=names(read.lower_metrics) or (),
        exclude=read.excluded,
        only=only_for(read, own, path, every=True),
        keep=None if read.metrics is None else [name for name in keep if name is not None],
    )
    answer = read.mapped.get("score")
    if answer is None or test_set.named:
        return test_set
    like = [name for name in test_set.metrics if is_like(name, answer)]
    rest = tuple(name for name in test_set.metrics if name not in like)
    text = f"named like the score '{answer}', not metrics: {', '.join(like)}"
    notes = (*test_set.notes, Note("ratings-not-metrics", text)) if like else test_set.notes
    return replace(test_set, metrics=rest, notes=notes)


def read_drawn(sample: Path | None, test_set: TestSet) -> Sample | None:
    """The sample of a command, where there is one."""
    from assay.tables.tables import read_sample

    return None if sample is None else read_sample(sample, test_set)


class Located(NamedTuple):
    """How a table of answers is read: from where, by which columns, and which of its rows."""

    kind: str
    source: Source | Raw
    columns: dict[str, str]
    only: dict[str, str]
    of_scores: dict[str, str]
    """The columns of the scores that the answers are about."""


def locate_answers(
    path: Path, *kinds: str, read: Reading, scores: Path | None = None
) -> Located:  # fmt: skip
    """Where the answers of a command are, one of these kinds; of a format: as it reads them.

    Another tool's columns are translated by its format, so that there is nothing to map in it.
    """
    beside: list[tuple[str, Source]] = [] if scores is None else [("scores", scores)]
    if read.format is not None:
        kind, raw, chosen = _of_format(path, kinds, read.format, read.lp)
        (of_scores,) = columns_for(read.columns, *beside) or ({},)
        rows_by = replace(read, lp=None) if chosen else read
        rows = only_for(rows_by, {}, raw.frame, every=scores is None or kind == "judgments")
        return Located(kind, raw, {}, rows, of_scores)
    source: Source | Raw = path
    kind = kinds[0]
    if len(kinds) > 1:
        from assay.tables.selection import peek

        present, source = peek(path)
        kind = _kind_of(present, path, read)
    own, of_scores, *_ = *columns_for(read.columns, (kind, path), *beside), {}
    rows = only_for(read, own, path, every=scores is None or kind == "judgments")
    return Located(kind, source, own, rows, of_scores)


def _of_format(
    path: Path, kinds: Sequence[str], format: str, lp: str | None
) -> tuple[str, Raw, bool]:
    """The kind of table in another tool's file, the table, and whether ``lp`` chose its rows."""
    from assay.formats.catalogue import FORMATS, Options, find_format, load_format

    item = find_format(format)
    held = [kind for kind in item.reads if kind in kinds]
    if not held:
        known = [name for name, other in FORMATS.items() if {*other.reads} & {*kinds}]
        what = f"holds no {' or '.join(kinds)}"
        raise OptionError("format", format, what, f"choose from {', '.join(known)}")
    chosen = lp is not None and "lp" in item.reading(held[0]).options
    return held[0], load_format(path, format, held[0], Options(lp=lp if chosen else None)), chosen


def with_history(test_set: TestSet, path: Path | None, better: Better) -> TestSet:
    """The test set with what the ratings of a file say of its segments."""
    from assay.tables.history import add_history
    from assay.tables.selection import column_names
    from assay.tables.tables import read_ratings

    if path is None:
        return test_set
    ratings = read_ratings(path, better=better, only=_own_pair(test_set, column_names(path)))
    return add_history(test_set, ratings)


def read_history(
    test_set: TestSet, path: Path | None, better: Better
) -> tuple[TestSet, tuple[TestSet, Ratings] | None]:
    """The test set with what a file says of its segments, and the file as an earlier campaign.

    Ratings of other systems of these segments say how hard segments are. Where the file has some
    of the metrics, it also says what these are worth, and may be about other segments.
    """
    from assay.tables.selection import column_names
    from assay.tables.tables import read_ratings, read_scores

    if path is None:
        return test_set, None
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
    """The language pair to read of a file that may have several; None where all is meant."""
    pairs = test_set.segments["lp"].unique().to_list() if "lp" in test_set.key else []
    one = test_set.part and len(pairs) == 1 and "lp" in columns
    return {"lp": pairs[0]} if one else None


def read_rated(
    scores: Path, ratings: Sequence[Path], read: Reading, *, better: Better, range: Text = None,
    keep: Sequence[Text] = (),
) -> tuple[TestSet, Ratings]:  # fmt: skip
    """The test set and its ratings, from one file or several, both as the user chose them."""
    from assay.tables.tables import read_ratings

    found = [locate_answers(path, "ratings", read=read, scores=scores) for path in ratings]
    test_set = read_test_set(scores, read, found[0].of_scores, keep=keep)
    tables = [
        read_ratings(
            one.source, test_set, columns=one.columns, better=better, range=score_range(range),
            only=one.only,
        )
        for one in found
    ]  # fmt: skip
    if len(tables) == 1:
        return test_set, tables[0]
    from assay.tables.answers import join_ratings

    return test_set, join_ratings([*zip(map(str, ratings), tables, strict=True)])


def read_answers(
    path: Path, *kinds: str, read: Reading, better: Better = "higher"
) -> Judgments | Ratings:
    """The judgments or ratings of a file, whichever of the kinds it has; it is read once."""
    from assay.tables.tables import read_judgments, read_ratings

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
    from assay.tables.selection import column_names

    return _kind_of(column_names(path), path, read)


def _kind_of(present: Sequence[str], path: Path, read: Reading) -> Literal["judgments", "ratings"]:
    from assay.tables.load import SCHEMAS

    here = {*present, *read.mapped}
    missing = {
        kind: [name for name in SCHEMAS[kind].required if name not in here]
        for kind in ("judgments", "ratings")
    }
    if not missing["judgments"] and not missing["ratings"]:
        raise InputError(
            f"{path}: has the columns of judgments and of ratings; keep those of one of them"
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
