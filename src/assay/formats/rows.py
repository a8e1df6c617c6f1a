"""Rows collected from files that are not tables, and scores as documents for other tools."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeGuard

import polars as pl

from assay.errors import OptionError
from assay.formats.mqm import NO_CATEGORY, NO_ERROR, NO_SEVERITY
from assay.results import Note
from assay.tables.json_text import as_text, json_column
from assay.tables.load import Findings, Raw, conform, lines_at, refuse
from assay.tables.schemas import SCHEMAS
from assay.tables.tables import TestSet, read_scores

SOURCE = "scores"
"""What a table is called that is to be written."""

MAX_CHARACTERS_SHOWN = 60
"""How much of a value an error message shows."""


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a JSON value is a whole number (true and false are not)."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether a JSON value is a number that fits a float."""
    if isinstance(value, float):
        return math.isfinite(value)
    return is_whole(value) and abs(value) < 1 << 1000


def shown(value: object) -> str:
    """A value as an error message shows it, cut short.

    >>> shown({"a": None}), shown("word")
    ('{"a": null}', '"word"')
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_CHARACTERS_SHOWN else text[: MAX_CHARACTERS_SHOWN - 3] + "..."


class FileRows:
    """The rows of one file, and its faults, as a reader finds them.

    ``kind`` is the kind of table; columns that stay empty are left out of the result.
    """

    def __init__(self, path: Path, kind: str) -> None:
        self.findings = Findings(path)
        self._schema = SCHEMAS[kind]
        self._rows: list[Mapping[str, Any]] = []
        self._lines: list[int] = []
        self._counts: dict[str, tuple[str, int]] = {}
        self._reported: set[str] = set()

    def add(self, line: int, row: Mapping[str, Any]) -> None:
        """Add a row and the line it stands on."""
        self._rows.append(row)
        self._lines.append(line)

    def add_error(
        self, line: int, place: Mapping[str, Any], category: Any, severity: Any, start: int | None,
        end: int | None,
    ) -> None:  # fmt: skip
        """Add an error in a target; one without a place marks something that is missing."""
        category = category or ("missing" if end is None else NO_CATEGORY)
        error = {"category": category, "severity": severity or NO_SEVERITY, "side": "target"}
        self.add(line, {**place, **error, "start": start, "end": end})

    def add_no_error(self, line: int, place: Mapping[str, Any]) -> None:
        """Add an output that was looked at and has no errors."""
        self.add(line, {**place, "category": NO_ERROR, "severity": NO_ERROR})

    def fault(
        self, message: str, line: int | None, column: str | None = None, value: object = None
    ) -> None:
        """Report a fault; reading goes on, to find the rest."""
        self.findings.add(message, line, column, None if value is None else shown(value))

    def fault_once(self, message: str, line: int, column: str) -> None:
        """Report a fault of the whole file, once, where it was first noticed."""
        if message not in self._reported:
            self._reported.add(message)
            self.fault(message, line, column)

    def count(self, code: str, what: str, number: int = 1) -> None:
        """Count what was left out on purpose; a note with this code says how often."""
        if number:
            self._counts[code] = (what, self._counts.get(code, (what, 0))[1] + number)

    def stop(self) -> None:
        """Raise if there were faults."""
        self.findings.stop(rows=len(self._rows))

    def take(self) -> list[Mapping[str, Any]]:
        """Take out the rows so far."""
        rows, self._rows, self._lines = self._rows, [], []
        return rows

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was left out on purpose, and how often."""
        return tuple(Note(code, f"{what}: {n}") for code, (what, n) in self._counts.items())

    def raw(self, *, nothing: str, notes: Sequence[Note] = ()) -> Raw:
        """The table; ``nothing`` is the message if it has no rows."""
        self.stop()
        source = self.findings.raw.source
        if not self._rows:
            raise refuse(source, nothing + (f" ({'; '.join(self.notes)})" if self.notes else ""))
        columns = []
        for column in self._schema.columns:
            values = [row.get(column.name) for row in self._rows]
            if not column.required and all(value is None for value in values):
                continue
            if column.type == "text":
                values = [as_text(value) for value in values]
            columns.append(json_column(column.name, values))
        return Raw(pl.DataFrame(columns), source, lines_at(self._lines), (*notes, *self.notes))


@dataclass(frozen=True, slots=True)
class Mark:
    """An error that a rater marked; without ``start`` and ``end`` it has no place in the target."""

    category: str | None
    severity: str | None
    start: int | None = None
    end: int | None = None
    side: str = "target"

    def units(self, target: list[int]) -> list[int]:
        """The units of the target inside; ``target`` is what :func:`code_points` gives."""
        if self.start is None or self.end is None or self.side != "target":
            return []
        return [k for k, place in enumerate(target) if self.start <= place < self.end]


Again: TypeAlias = Literal["spoiled", "repeat"] | None
"""Whether it was shown a second time, spoiled or as it is."""


@dataclass(frozen=True, slots=True)
class Said:
    """Everything that a rater said about one output."""

    line: int
    """Where it stands in its file."""
    rater: str
    system: str
    doc: str | None
    seg: str
    score: float | None
    marks: tuple[Mark, ...] = ()
    source: str | None = None
    target: str | None = None
    """The texts shown, where the tool keeps them."""
    seconds: float | None = None
    ended: float | None = None
    """When, in seconds since 1970."""
    comment: str | None = None
    again: Again = None
    """Why it was shown, if not for itself."""
    part: str = ""
    """What was sent at once has the same."""
    lp: str | None = None


def said_of(rows: FileRows, marks: FileRows, line: int, **known: Any) -> Said:
    """Take out the last rows of ratings and errors and combine them."""
    own, errors = rows.take(), marks.take()
    row: Mapping[str, Any] = own[0] if own else {}
    score: Any = row.get("score")
    if isinstance(score, str):
        try:
            score = float(score)
        except ValueError:
            rows.fault(f"{shown(score)} is not a number", line, "score", score)
            score = None
    found = tuple(
        Mark(
            error["category"], error["severity"], error.get("start"), error.get("end"),
            error.get("side") or "target",
        )
        for error in errors
        if error["category"] != NO_ERROR
    )  # fmt: skip
    texts = {name: value for name, value in known.items() if value not in (None, "")}
    for name in ("source", "target", "comment"):
        if name in texts and not isinstance(texts[name], str):
            rows.fault(f"expected a text, found {shown(texts[name])}", line, name)
    place = {name: as_text(row.get(name)) for name in ("system", "doc", "seg", "rater")}
    for name in ("system", "seg", "rater"):
        if own and place[name] is None:
            rows.fault(f"{name} is missing", line, name)
    return Said(
        line, str(place["rater"]), str(place["system"]), place["doc"], str(place["seg"]),
        score, found, seconds=row.get("seconds"), **texts,
    )  # fmt: skip


def checked(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """The frame with its columns in their types, or everything that is wrong with it."""
    typed_frame, findings = conform(frame, kind)
    findings.stop()
    return typed_frame


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment with its source and, by system, its translations."""

    doc: str | None
    seg: str
    source: str
    reference: str | None
    targets: dict[str, str]


def one_pair(frame: pl.DataFrame, lp: str | None, tool: str) -> tuple[TestSet, str | None]:
    """The scores of one language pair, checked, and the pair where it is known."""
    if "lp" in frame.columns and frame.height:
        pairs = [str(pair) for pair in frame["lp"].unique(maintain_order=True)]
        if lp is None and len(pairs) > 1:
            fault = f"but the table has {', '.join(pairs)}"
            raise OptionError("lp", "not given", fault, f"{tool} takes one")
        lp = lp or pairs[0]
        if lp not in pairs:
            remedy = f"choose from {', '.join(pairs)}"
            raise OptionError("lp", lp, "is not in the scores table", remedy)
        frame = frame.filter(pl.col("lp").cast(pl.String) == lp)
    return read_scores(frame, metrics=()), lp


def documents(test_set: TestSet, tool: str) -> Iterator[list[Segment]]:
    """The documents in order; without a ``doc`` column every segment is its own document.

    Every segment needs a source and every row a target.
    """
    frame, segments = test_set.frame, test_set.segments
    missing = [name for name in ("source", "target") if name not in frame.columns]
    if missing:
        raise refuse(
            SOURCE,
            f"there is no {' and no '.join(missing)} column, and {tool} shows raters the texts;"
            " add it or map yours with `columns`",
        )
    _need_texts(test_set, tool)
    targets: list[dict[str, str]] = [{} for _ in range(segments.height)]
    for system, place, target in zip(*test_set.positions, frame["target"], strict=True):
        targets[place][test_set.systems[system]] = target
    rows = zip(segments.iter_rows(named=True), targets, strict=True)
    listed = (
        Segment(row.get("doc"), row["seg"], row["source"], row.get("reference"), translations)
        for row, translations in rows
    )
    for doc, together in groupby(listed, key=lambda segment: segment.doc):
        if doc is None:
            yield from ([segment] for segment in together)
        else:
            yield list(together)


def _need_texts(test_set: TestSet, tool: str) -> None:
    findings = Findings(SOURCE)
    for row in test_set.frame["target"].is_null().arg_true():
        findings.add(f"has no text; {tool} needs a target in every row", row + 1, "target")
    for seg in test_set.segments.filter(pl.col("source").is_null())["seg"]:
        message = f"segment '{seg}' has no text in any row; {tool} needs one"
        findings.add(message, None, "source")
    findings.stop(rows=test_set.frame.height)
