"""Other tools' files: text, CSV and JSON, the rows found in them, and documents for their tasks.

Everything comes back with the line it stands on, so that a fault found later still points to its
line; an empty field is null. What is written is written whole or not at all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeGuard

import polars as pl

from assay.errors import OptionError, did_you_mean, need_known
from assay.formats.mqm import NO_CATEGORY, NO_ERROR, NO_SEVERITY
from assay.results import Note
from assay.tables.irregular_text import read_by_rows
from assay.tables.load import (
    Findings,
    Raw,
    clean_header,
    conform,
    decode_utf8,
    lines_at,
    read_bytes,
    read_header,
    refuse,
    write_bytes,
)
from assay.tables.schemas import SCHEMAS
from assay.tables.tables import TestSet, read_scores
from assay.tables.typed_files import JsonError, as_text, json_column, json_lines, parse_json

BREAKS = r"[\n\r]"
"""What ends a line, for most readers of text files."""


def text_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, blank ones too, without their ends."""
    content = read_text(path)
    lines = content.split("\n") if "\n" in content else content.split("\r")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def read_text(path: Path, *, expected: str | None = None) -> str:
    """The content of a UTF-8 file; a blank one is refused where something is ``expected``."""
    text = decode_utf8(read_bytes(path), str(path))
    if expected is not None and not text.strip():
        raise refuse(path, f"the file is empty; expected {expected}")
    return text


def numbered(path: Path, *, expected: str, loose: bool = False) -> pl.DataFrame:
    """The lines that are not blank, as ``text``, with their numbers, as ``line``.

    ``expected`` says what belongs in the file, for the error where there is nothing. In a
    ``loose`` file any space separates fields; it comes back as a tab.
    """
    lines = pl.Series("text", text_lines(path), dtype=pl.String)
    frame = pl.DataFrame([lines]).with_row_index("line", offset=1)
    frame = frame.filter(pl.col("text").str.strip_chars() != "")
    if not frame.height:
        raise refuse(path, f"the file is empty; expected {expected}")
    tabs = pl.col("text").str.strip_chars().str.replace_all(r"\s+", "\t")
    return frame.with_columns(tabs) if loose else frame


def split_tabs(
    rows: pl.DataFrame, names: Sequence[str], path: Path, *, at_least: int | None = None
) -> Raw:
    """Numbered lines as a table of text, split at tabs; nothing is quoted.

    Every line has as many fields as ``names``, or ``at_least`` so many where the last ones may be
    left off; all lines that have not are reported.
    """
    least, most = at_least or len(names), len(names)
    counts = rows["text"].str.count_matches("\t", literal=True).cast(pl.Int64) + 1
    wrong = (counts < least) | (counts > most)
    wanted = f"{most}" if least == most else f"{least} to {most}"
    findings = Findings(path)
    for line, text, count in rows.with_columns(count=counts).filter(wrong).rows():
        message = f"{count} fields where {wanted} are expected ({', '.join(names)})"
        findings.add(message, line, None, text[:80])
    findings.stop(rows=rows.height)
    fields = rows["text"].str.split_exact("\t", most - 1).struct.unnest()
    fields.columns = list(names)
    fields = fields.with_columns(pl.all().replace("", None))
    return Raw(fields, str(path), lines_at(rows["line"].to_list()))


def read_csv(path: Path, *, expected: str) -> Raw:
    """A comma-separated file with a header, whatever its name ends in, all as text."""
    data = read_text(path, expected=expected).encode()
    header = clean_header(read_header(data, ",", path))
    return read_by_rows(data, ",", header, str(path))


def need_columns(
    found: Sequence[str], wanted: Sequence[str], source: str | Path, line: int = 1
) -> None:
    """Refuse a header that lacks some of the columns the format has."""
    findings = Findings(source)
    lists = f"expected {', '.join(wanted)}, found {', '.join(found)[:200]}"
    for name in wanted:
        if name not in found:
            message = f"the header has no '{name}'{did_you_mean(name, found)}; {lists}"
            findings.add(message, line, name)
    findings.stop()


def choose_lp(raw: Raw, lp: str | None) -> Raw:
    """The rows of one language pair; a table without the column gets it."""
    if lp is None:
        return raw
    if "lp" not in raw.frame.columns:
        return replace(raw, frame=raw.frame.with_columns(pl.lit(lp).alias("lp")))
    here = raw.frame["lp"] == lp
    if not here.any():
        pairs = raw.frame["lp"].drop_nulls().unique(maintain_order=True).to_list()
        need_known("lp", lp, pairs, f"is not in {raw.source}")
    return raw.with_rows(here.fill_null(False).arg_true())


def refuse_pattern(findings: Findings, values: pl.Series, pattern: str, message: str) -> None:
    """Report every row of a table to be written that holds what the format cannot."""
    for row in values.str.contains(pattern).fill_null(False).arg_true().to_list():
        findings.add(message, row + 1, values.name, str(values[row])[:80])


def write_text(path: Path, content: str) -> list[Path]:
    """Write a text file, whole or not at all; packed where its name ends in .gz."""
    return [write_bytes(path, content.encode())]


def read_json(path: Path) -> Any:
    """A file with one JSON value."""
    text = read_text(path, expected="one JSON value")
    try:
        return parse_json(text, "expected one JSON value")
    except JsonError as error:
        raise refuse(path, str(error), line=error.line) from None


def read_json_lines(path: Path) -> list[tuple[int, Any]]:
    """The JSON values of a file with one per line, with their lines; blank lines are skipped."""
    findings = Findings(path)
    text = read_text(path, expected="a JSON object per line")
    values = list(json_lines(text, findings, "expected one object"))
    findings.stop(rows=len(values))
    return values


def write_json(value: Any, path: Path) -> Path:
    """Write one JSON value, readable for people too, atomically."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return write_bytes(path, text.encode())


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
