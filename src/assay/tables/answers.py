"""What people answered besides scores, scores in several files, and scores without a test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from assay.errors import InputError, OptionError, need_known
from assay.results import Note, plural
from assay.tables.load import (
    MAX_LISTED,
    CheckedTable,
    Columns,
    Findings,
    Only,
    Raw,
    Source,
    conform,
)
from assay.tables.schemas import RESERVED, SCHEMAS
from assay.tables.tables import ANSWER, Ratings, TestSet, place_in, read_scores


@dataclass(frozen=True, eq=False)
class Judgments(CheckedTable):
    """Who won against whom; ``set`` joins the judgments made on one screen."""

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems compared, in the order they first appear, left before right."""
        # One column at a time: joining both columns of a million rows is slow.
        firsts = []
        for side in ("left", "right"):
            column = self.frame[side]
            rows = column.arg_unique()
            names = column.gather(rows).to_list()
            firsts += [(row, side, name) for row, name in zip(rows.to_list(), names, strict=True)]
        return tuple(dict.fromkeys(name for _, _, name in sorted(firsts)))


def read_judgments(
    source: Source | Raw,
    *,
    columns: Columns | None = None,
    exclude: Sequence[str] = (),
    only: Only | None = None,
) -> Judgments:
    """Read a judgments table; ``exclude`` leaves out every judgment of these systems.

    ``only`` reads part of the rows (``{"lp": "en-de"}``).

    >>> import polars as pl
    >>> rows = {"left": ["A", "B"], "right": ["B", "C"], "winner": ["left", "tie"]}
    >>> read_judgments(pl.DataFrame(rows)).systems
    ('A', 'B', 'C')
    """
    frame, findings = conform(source, "judgments", columns=columns, only=only)
    itself = "'{}' is compared with itself; left and right must differ"
    findings.rows(frame["left"] == frame["right"], "right", frame["right"], itself)
    findings.stop()
    notes = list(findings.notes)
    known = Judgments(frame).systems
    for name in exclude:
        need_known("exclude", name, known, "is not among the judged systems")
    if exclude:
        rows = frame.height
        out = pl.col("left").is_in(list(exclude)) | pl.col("right").is_in(list(exclude))
        frame = frame.filter(~out)
        if not frame.height:
            raise OptionError("exclude", ", ".join(exclude), "leaves no judgment", "exclude fewer")
        text = f"{rows - frame.height:,} judgments of excluded systems left out"
        notes.append(Note("excluded-systems", text))
    return Judgments(frame, tuple(notes))


def need_one_lp(frame: pl.DataFrame, what: str) -> None:
    """Refuse answers of several language pairs: systems of different pairs are not compared."""
    if "lp" in frame.columns and frame["lp"].n_unique() > 1:
        pairs = ", ".join(frame["lp"].unique(maintain_order=True)[:40])
        raise InputError(
            f"the {what} are of several language pairs ({pairs}); choose one with `only`"
            f" (lp={pairs.split(', ')[0]})"
        )


@dataclass(frozen=True, eq=False)
class Edits(CheckedTable):
    """One row per segment that an editor post-edited."""

    @cached_property
    def editors(self) -> tuple[str, ...]:
        """The editors, in the order of the file."""
        return tuple(self.frame["editor"].unique(maintain_order=True))


def read_edits(
    source: Source | Raw, *, columns: Columns | None = None, only: Only | None = None
) -> Edits:
    """Read a table of edits; an empty translation or edit is empty text, not a missing value.

    ``only`` reads part of the rows (``{"domain": "news"}``).

    >>> import polars as pl
    >>> row = {"system": "A", "doc": "d", "seg": 1, "editor": "E", "mt": "so", "edited": "so!"}
    >>> read_edits(pl.DataFrame([row])).editors
    ('E',)
    """
    return _read_edits(source, columns, only)[0]


def as_edits(edits: Edits | Source) -> Edits:
    """Edits as given, or read from a file or frame."""
    return edits if isinstance(edits, Edits) else read_edits(edits)


def join_edits(
    sources: Sequence[tuple[Source | Raw, Columns | None]], *, only: Only | None = None
) -> Edits:
    """Join tables of edits, each with its column names; a row in two of them is refused."""
    tables: list[tuple[Edits, Findings]] = []
    for source, columns in sources:
        table, findings = _read_edits(source, columns, only)
        if tables:
            from assay.tables.faults import edited_twice

            edited_twice(table.frame, findings, tables)
        tables.append((table, findings))
    notes = [
        note if len(tables) == 1 else Note(note.code, f"{findings.raw.source}: {note}")
        for table, findings in tables
        for note in table.notes
    ]
    frame = pl.concat([table.frame for table, _ in tables], how="diagonal_relaxed")
    if len(tables) > 1 and (other := _other_sources(frame)).any():
        row = frame.filter(other).row(0, named=True)
        raise InputError(
            f"document '{row['doc']}', segment '{row['seg']}' has different sources in two files;"
            " name documents and segments so that each is one text"
        )
    return Edits(frame, tuple(notes))


def _other_sources(frame: pl.DataFrame) -> pl.Series:
    """Rows whose source differs from the first of their segment in more than white space."""
    if "source" not in frame.columns:
        return pl.Series([False] * frame.height, dtype=pl.Boolean)
    text = pl.col("source").str.replace_all(r"\s+", " ").str.strip_chars()
    first = text.drop_nulls().first().over("doc", "seg")
    return frame.select((text != first).fill_null(False)).to_series()


def _read_edits(
    source: Source | Raw, columns: Columns | None, only: Only | None
) -> tuple[Edits, Findings]:
    frame, findings = conform(source, "edits", columns=columns, only=only)
    message = (
        "'{}' is not the source that this segment has in an earlier row; give every segment of a"
        " document its own seg"
    )
    if "source" in frame.columns:
        findings.rows(_other_sources(frame), "source", frame["source"], message)
    findings.stop()
    frame = frame.with_columns(pl.col("mt", "edited").fill_null(""))
    empty = frame.select(
        (pl.col("edited").str.strip_chars() == "") & (pl.col("mt").str.strip_chars() != "")
    ).to_series()
    if number := int(empty.sum()):
        (line,) = findings.raw.lines(empty.arg_true()[:1].to_list())
        text = (
            f"{number:,} edited texts are empty (first: line {line}) and count as deleted by the"
            " editor; where a segment was not edited, fill in its text or remove the row"
        )
        findings.notes.append(Note("empty-edits", text))
    return Edits(frame, tuple(findings.notes)), findings


def edit_distance(mt: str, edited: str) -> float:
    """100 x character Levenshtein distance / length of the longer text (korotaev2022).

    >>> edit_distance("the cat", "the hat"), edit_distance("", "")
    (14.285714285714285, 0.0)
    """
    from rapidfuzz.distance import Levenshtein

    return 100 * float(Levenshtein.normalized_distance(mt, edited))


@dataclass(frozen=True, eq=False)
class Errors(CheckedTable):
    """Errors that raters marked: category, severity and position.

    ``start`` and ``end`` are half-open and count code points of the text on ``side``.
    """


def read_errors(
    source: Source | Raw, test_set: TestSet | None = None, *, columns: Columns | None = None,
    only: Only | None = None,
) -> Errors:  # fmt: skip
    """Read a table of marked errors and check it against the test set it is about.

    ``only`` reads part of the rows (``{"lp": "en-de"}``).

    >>> import polars as pl
    >>> marked = pl.DataFrame({
    ...     "system": ["A", "A"], "seg": [1, 1], "category": ["accuracy", "fluency"],
    ...     "severity": ["major", "minor"],
    ... })
    >>> read_errors(marked).frame.height
    2
    """
    frame, findings = conform(source, "errors", columns=columns, only=only)
    if "start" in frame.columns and "end" in frame.columns:
        wrong = frame["end"] < frame["start"]
        findings.rows(wrong, "end", frame["end"], "{} is before start; correct it")
    if test_set is not None:
        frame = place_in(frame, test_set, findings)
    findings.stop()
    return Errors(frame, tuple(findings.notes))


MIN_COMPARED, MUCH_WIDER = 10, 4
"""From so many scores on, and where the others reach so much higher, scales are compared."""


def join_ratings(tables: Sequence[tuple[str, Ratings]]) -> Ratings:
    """Join the ratings of several files; an output that one rater rated in two files is refused.

    Each comes with the name of its file, which errors use. Where no file names raters and an output
    stands in several of them, each file is a rater.

    >>> import assay
    >>> rows = pl.DataFrame({"system": ["A", "B"], "seg": [1, 1], "score": [70, 60]})
    >>> files = [(name, assay.read_ratings(rows)) for name in ("anna.xlsx", "ben.xlsx")]
    >>> join_ratings(files).raters
    ('anna', 'ben')
    """
    tables = _with_raters(tables)
    if len(tables) == 1:
        return tables[0][1]
    seen: dict[tuple[object, ...], str] = {}
    for source, table in tables:
        findings = Findings(source)
        key = [name for name in (*ANSWER, "check") if name in table.frame.columns]
        own = dict.fromkeys(table.frame.select(key).rows(), source)
        for row in [row for row in own if row in seen][: MAX_LISTED + 1]:
            shown = ", ".join(f"{n} '{v}'" for n, v in zip(key, row, strict=True) if v is not None)
            findings.add(f"{shown} is rated in {seen[row]} too; give each rating once", None, "seg")
        findings.stop(rows=len(table))
        seen |= own
    first = tables[0][1]
    notes = [Note(n.code, f"{source}: {n}") for source, table in tables for n in table.notes]
    frames = [table.frame for _, table in tables]
    repeats = [table.repeats for _, table in tables if table.repeats.height]
    return replace(
        first,
        frame=pl.concat(frames, how="diagonal_relaxed"),
        notes=tuple(notes),
        repeats=pl.concat(repeats, how="diagonal_relaxed") if repeats else first.repeats,
    )


def _with_raters(tables: Sequence[tuple[str, Ratings]]) -> Sequence[tuple[str, Ratings]]:
    named = [source for source, table in tables if "rater" in table.frame.columns]
    if len(named) == len(tables) or len(tables) == 1:
        return tables
    if named:
        other = next(source for source, _ in tables if source not in named)
        raise InputError(
            f"{named[0]} names its raters and {other} does not; add a rater column to it"
        )
    key = [n for n in ANSWER if n in tables[0][1].frame.columns]
    outputs = pl.concat([table.frame.select(key) for _, table in tables])
    if outputs.n_unique() == outputs.height:
        return tables
    labels = [Path(source).name.partition(".")[0] for source, _ in tables]
    if len({*labels}) < len(labels):
        labels = [source for source, _ in tables]
    text = "outputs appear in several files without raters: each file was treated as one rater"
    return [
        (
            source,
            replace(
                table,
                frame=table.frame.with_columns(rater=pl.lit(label)),
                notes=(*table.notes, *([Note("rater-by-file", text)] if not k else [])),
            ),
        )
        for k, (label, (source, table)) in enumerate(zip(labels, tables, strict=True))
    ]


def rated_outputs(
    ratings: Ratings,
    *,
    metrics: Sequence[str] = (),
    lower_metrics: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> TestSet:
    """A test set made of the outputs that were rated, for ratings that come without one.

    What is found on it is about texts like these; ``metrics`` are columns of the ratings.

    >>> import assay
    >>> rows = {"system": ["A", "A", "B"], "seg": [1, 1, 1], "rater": ["x", "y", "x"]}
    >>> answers = assay.read_ratings(pl.DataFrame(rows | {"score": [70, 80, 60]}))
    >>> rated_outputs(answers).frame.rows()
    [('A', '1'), ('B', '1')]
    """
    scores = SCHEMAS["scores"]
    rows = ratings.genuine.drop_nulls("score")
    if not rows.height:
        raise InputError("no output has a score; nothing has been rated yet")
    kept = [n for n in rows.columns if n in scores.names or n not in RESERVED]
    key = [name for name in scores.key if name in kept]
    test_set = read_scores(
        rows.select(kept).unique(key, keep="first", maintain_order=True),
        metrics=metrics, lower_metrics=lower_metrics, exclude=exclude,
    )  # fmt: skip
    text = (
        f"no test set was given: the {len(test_set):,} outputs that were rated are the test set,"
        " and verdicts are for texts like these"
    )
    doubts = _scales_apart(rows)
    return replace(test_set, notes=(*doubts, Note("rated-outputs", text), *test_set.notes))


def _scales_apart(rows: pl.DataFrame) -> list[Note]:
    """Notes on raters whose scores lie far below all others', as on a shorter scale."""
    if "rater" not in rows.columns:
        return []
    doubts = []
    for who in rows["rater"].drop_nulls().unique(maintain_order=True):
        own = rows.filter(rater=who)["score"].to_numpy()
        others = rows.filter(pl.col("rater") != who)["score"].to_numpy()
        if len(own) < MIN_COMPARED or len(others) < MIN_COMPARED:
            continue
        if 0 < own.max() < np.quantile(others, 0.05) and others.max() >= MUCH_WIDER * own.max():
            text = (
                f"{who} scores from {own.min():g} to {own.max():g}, the others from"
                f" {others.min():g} to {others.max():g}: if these are two scales, convert them"
                " to one, or their mean is meaningless"
            )
            doubts.append(Note("scales-apart", text))
    return doubts


def scored_in(test_set: TestSet, ratings: Ratings) -> Ratings:
    """The ratings without outputs that have no score and are therefore not in the test set."""
    key = [name for name in ("system", *test_set.key) if name in ratings.frame.columns]
    known = test_set.frame.select(key).with_columns(_known=True)
    here = ratings.frame.join(known, on=key, how="left", nulls_equal=True, maintain_order="left")
    out = here["_known"].is_null() & here["score"].is_null()
    if not out.any():
        return ratings
    text = f"{plural(int(out.sum()), 'row')} of outputs without any score left out"
    notes = [note for note in ratings.notes if note.code != "not-rated"]  # it is counted anew
    frame = ratings.frame.filter(~out)
    return replace(ratings, frame=frame, notes=(*notes, Note("unscored", text)))
