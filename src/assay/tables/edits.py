"""Edits: machine translations that editors made right, and what it took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from assay.tables.check import Columns, Findings, conform
from assay.tables.raw import LISTED, Raw, Source
from assay.tables.schema import SCHEMAS
from assay.tables.table import Table


@dataclass(frozen=True, eq=False)
class Edits(Table):
    """One row per segment that an editor post-edited."""

    @cached_property
    def editors(self) -> tuple[str, ...]:
        """The editors, in the order of the file."""
        return tuple(self.frame["editor"].unique(maintain_order=True))


def read_edits(source: Source | Raw, *, columns: Columns | None = None) -> Edits:
    """Read a table of edits; an empty translation or edit is empty text, not a missing value.

    >>> import polars as pl
    >>> row = {"system": "A", "doc": "d", "seg": 1, "editor": "E", "mt": "so", "edited": "so!"}
    >>> read_edits(pl.DataFrame([row])).editors
    ('E',)
    """
    return _read(source, columns)[0]


def as_edits(edits: Edits | Source) -> Edits:
    """Edits as they are, or read from where they stand."""
    return edits if isinstance(edits, Edits) else read_edits(edits)


def join_edits(sources: Sequence[tuple[Source | Raw, Columns | None]]) -> Edits:
    """One table of several, each with its column names; a row that two of them have is refused."""
    tables: list[Edits] = []
    places: list[tuple[pl.DataFrame, Findings]] = []
    for source, columns in sources:
        table, findings = _read(source, columns)
        _refuse_repeated(table.frame, findings, places)
        tables.append(table)
        places.append((table.frame, findings))
    notes = [
        note if len(tables) == 1 else f"{findings.raw.source}: {note}"
        for table, (_, findings) in zip(tables, places, strict=True)
        for note in table.notes
    ]
    frame = pl.concat([table.frame for table in tables], how="diagonal_relaxed")
    return Edits(frame, tuple(notes))


def _read(source: Source | Raw, columns: Columns | None) -> tuple[Edits, Findings]:
    frame, findings = conform(source, "edits", columns=columns)
    findings.stop()
    frame = frame.with_columns(pl.col("mt", "edited").fill_null(""))
    empty = frame.select(
        (pl.col("edited").str.strip_chars() == "") & (pl.col("mt").str.strip_chars() != "")
    ).to_series()
    if number := int(empty.sum()):
        (line,) = findings.raw.lines(empty.arg_true()[:1].to_list())
        findings.notes.append(
            f"{number} edited texts are empty (first: line {line}): each counts as a text that the"
            " editor deleted; if it was left out, fill it in or take the row out"
        )
    return Edits(frame, tuple(findings.notes)), findings


def _refuse_repeated(
    frame: pl.DataFrame, findings: Findings, before: Sequence[tuple[pl.DataFrame, Findings]]
) -> None:
    """Refuse rows that a table before has too, with the places of both."""
    key = list(SCHEMAS["edits"].key)
    for other, theirs in before:
        rows = other.select(key).with_row_index("_row")
        place = frame.select(key).join(rows, on=key, how="left", maintain_order="left")["_row"]
        repeated = place.is_not_null()
        if not repeated.any():
            continue
        lines = iter(theirs.raw.lines(place.filter(repeated)[:LISTED].to_list()))
        shown = frame.select(pl.concat_str(key, separator=" / ")).to_series()
        source = theirs.raw.source

        def message(value: str, lines: Iterator[int] = lines, source: str = source) -> str:
            return (
                f"{', '.join(key)} '{value}' stands in {source}, line {next(lines)} already; give"
                " each edit once"
            )

        findings.rows(repeated, key[-1], shown, message)
    findings.stop()


def edit_distance(mt: str, edited: str) -> float:
    """100 x character Levenshtein distance / length of the longer text (korotaev2022).

    >>> edit_distance("the cat", "the hat"), edit_distance("", "")
    (14.285714285714285, 0.0)
    """
    from rapidfuzz.distance import Levenshtein

    return 100 * float(Levenshtein.normalized_distance(mt, edited))
