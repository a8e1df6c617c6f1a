"""Edits: what editors made of machine translations, a row per segment and editor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from assay.errors import InputError
from assay.results import Note
from assay.tables.load import CheckedTable, Columns, Findings, Only, Raw, Source, conform


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
