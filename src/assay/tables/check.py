"""From a raw table to a checked one, or to the list of everything that is wrong with it.

``SCHEMAS`` says which columns each table has and what they must hold; ``docs/tables.md`` explains
them to users. The columns of a checked table have Assay's names and types: text as strings
(``seg`` too), numbers as 64-bit floats, whole numbers as integers; columns the schema does not
know are kept behind them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from assay.errors import InputError, did_you_mean, need_known
from assay.results import Note
from assay.tables.files import MAX_LISTED, Findings, Only, Raw, Source, load, save, select

if TYPE_CHECKING:
    from assay.tables.test_set import TestSet


Columns: TypeAlias = Mapping[str, str]
"""Assay's column names to the user's own."""

MISSING = ("", "na", "n/a", "none", "null")
"""How a text file writes a missing number, in upper or lower case."""

FOREIGN_ROWS = 10
"""So many unknown segments, in most rows, are not slips: the table is of another test set."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d+(?:[.\s]\d{3})*,\d+")


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """One column: its type and the values it may hold."""

    name: str
    type: Literal["text", "number", "whole"] = "text"
    required: bool = False
    filled: bool = False
    """Whether every cell must have a value where the column exists."""
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    """Whether ``low`` itself is outside."""
    choices: tuple[str, ...] = ()
    spellings: tuple[Mapping[str, str], ...] = ()
    """Other ways to write the choices; a column uses one of them throughout."""


@dataclass(frozen=True, slots=True)
class Schema:
    """One table: its kind, its columns in order, and the columns that name a row."""

    kind: str
    columns: tuple[ColumnRule, ...]
    key: tuple[str, ...] = ()
    again: str | None = None
    """The column of those who may answer again: where it is there, a key may stand twice."""

    @property
    def names(self) -> tuple[str, ...]:
        """All column names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the columns that must be there."""
        return tuple(column.name for column in self.columns if column.required)


def _key(name: str) -> ColumnRule:
    return ColumnRule(name, required=True, filled=True)


def _part(name: str) -> ColumnRule:
    return ColumnRule(name, filled=True)


def _amount(name: str) -> ColumnRule:
    return ColumnRule(name, "number", low=0)


def _text(name: str) -> ColumnRule:
    return ColumnRule(name)


def _whole(name: str, low: int = 0) -> ColumnRule:
    return ColumnRule(name, "whole", low=low)


_SIDE = ColumnRule("side", choices=("source", "target"))
_WINNER = ColumnRule(
    "winner", required=True, filled=True, choices=("left", "right", "tie"),
    spellings=({"<": "left", ">": "right", "=": "tie"}, {"1": "left", "2": "right", "0": "tie"}),
)  # fmt: skip
_PROBABILITY = ColumnRule("probability", "number", True, True, low=0, high=1, open_low=True)

SCHEMAS = {
    schema.kind: schema
    for schema in (
        Schema("scores", (
            _key("system"), _part("doc"), _key("seg"), _text("source"), _text("target"),
            _text("reference"), _amount("words"), _amount("cost"), _text("domain"), _part("lp"),
        ), key=("lp", "system", "doc", "seg")),
        Schema("ratings", (
            _key("system"), _part("doc"), _key("seg"), _part("rater"), _text("task"),
            ColumnRule("score", "number", required=True), _amount("seconds"), _text("check"),
            _part("lp"),
        ), key=("lp", "system", "doc", "seg", "rater", "check"), again="rater"),
        Schema("errors", (
            _key("system"), _part("doc"), _key("seg"), _part("rater"), _key("category"),
            _key("severity"), _SIDE, _whole("start"), _whole("end"), _part("lp"),
        )),
        Schema("judgments", (
            _part("set"), _part("doc"), _part("seg"), _part("rater"), _key("left"), _key("right"),
            _WINNER, _part("lp"),
        )),
        Schema("edits", (
            _key("system"), _key("doc"), _key("seg"), _key("editor"), _text("source"),
            ColumnRule("mt", required=True), ColumnRule("edited", required=True),
            _amount("words"), _amount("seconds"), _whole("position", 1),
        ), key=("system", "doc", "seg", "editor")),
        Schema("sample", (
            _part("system"), _part("doc"), _key("seg"), _text("snippet"), _text("stratum"),
            _whole("stratum_start"), _whole("stratum_size", 1), ColumnRule("position", "number"),
            _whole("order", 1), _PROBABILITY, _key("design"), _part("lp"),
        ), key=("lp", "system", "doc", "seg")),
    )
}  # fmt: skip

RESERVED = frozenset(name for schema in SCHEMAS.values() for name in schema.names)
"""Names that are never metrics."""


def find_schema(kind: str) -> Schema:
    """The table of this kind, or an error that lists them."""
    if kind not in SCHEMAS:
        need_known("kind", kind, list(SCHEMAS))
    return SCHEMAS[kind]


@dataclass(frozen=True, eq=False)
class CheckedTable:
    """What all tables share; polars frames are immutable, so it never changes.

    ``notes`` says what was done to the file's content on the way in, with counts.
    """

    frame: pl.DataFrame
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return self.frame.height

    def to_frame(self) -> pl.DataFrame:
        """The rows, in the order of the file."""
        return self.frame

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the table by the path's ending (.tsv .csv .jsonl .parquet .xlsx), atomically."""
        return save(self.frame, path)


def conform(
    source: Source | Raw, kind: str, *, columns: Columns | None = None, only: Only | None = None,
    extra: Collection[str] | None = None,
) -> tuple[pl.DataFrame, Findings]:  # fmt: skip
    """Read a table of this kind: the typed frame, row for row, and what is wrong with it.

    ``only`` describes the rows that are wanted, ``extra`` the columns beside those of the schema;
    None: all. Raises at once only where nothing more could be said (no columns, no rows).
    """
    schema = SCHEMAS[kind]
    users = _mapping(columns, schema)
    rows = {users.get(name, name): value for name, value in (only or {}).items()}
    names = None if extra is None else {*schema.names, *users.values(), *extra, *rows}
    if isinstance(source, Raw):
        raw = select(source, rows, names)
    else:
        raw = load(source, text=_text_columns(schema, users), only=rows, names=names)
    findings = Findings(raw, users)
    frame = _rename(raw.frame, users, findings)
    _need_columns(frame, schema, users, findings)
    if not frame.height:
        findings.add("the table has a header but no rows; add at least one")
    if not frame.height or any(name not in frame.columns for name in schema.required):
        findings.stop()
    frame = _without_empty(frame, schema, findings)
    known = [_typed(frame, column, findings) for column in schema.columns if column.name in frame]
    rest = [frame[name] for name in frame.columns if name not in schema.names]
    frame = pl.DataFrame([*known, *rest])
    if schema.again not in frame.columns:
        _unique(frame, schema, findings)
    return frame, findings


def _without_empty(frame: pl.DataFrame, schema: Schema, findings: Findings) -> pl.DataFrame:
    """The table without optional columns in which nothing stands: they say nothing."""
    parts = [column.name for column in schema.columns if column.filled and not column.required]
    empty = [name for name in parts if name in frame and to_text(frame[name]).is_in([""]).all()]
    if empty:
        text = f"empty in every row, read as if it were not there: {', '.join(empty)}"
        findings.notes.append(Note("empty-column", text))
    return frame.drop(empty)


def _text_columns(schema: Schema, users: dict[str, str]) -> Callable[[str], bool]:
    # Unknown columns are text unless the table may have metrics, so that an id of 007 stays 007.
    numbers = {users.get(c.name, c.name) for c in schema.columns if c.type != "text"}
    texts = {users.get(c.name, c.name) for c in schema.columns if c.type == "text"}
    return lambda name: name in texts or (schema.kind != "scores" and name not in numbers)


def _mapping(columns: Columns | None, schema: Schema) -> dict[str, str]:
    users = dict(columns or {})
    for name, user in users.items():
        if name not in schema.names:
            raise InputError(
                f"`columns` ({name}={user}): a {schema.kind} table has no column"
                f" '{name}'{did_you_mean(name, schema.names)}; it has {', '.join(schema.names)}"
            )
    twice = [user for user in users.values() if list(users.values()).count(user) > 1]
    if twice:
        raise InputError(f"`columns` maps two names to '{twice[0]}'; map each column once")
    return users


def _rename(frame: pl.DataFrame, users: dict[str, str], findings: Findings) -> pl.DataFrame:
    """Give the mapped columns Assay's names; a mapping wins over a column of that name."""
    for name, user in users.items():
        if user not in frame.columns:
            hint = f"{did_you_mean(user, frame.columns)}; it has {', '.join(frame.columns)}"
            message = f"`columns` maps {name} to '{user}', which is not in the table{hint}"
            findings.header(message, name)
    mapped = {user: name for name, user in users.items() if user in frame.columns}
    unused = [name for name in mapped.values() if name in frame.columns and name not in mapped]
    if unused:
        text = f"not used, because you mapped other columns to these names: {', '.join(unused)}"
        findings.notes.append(Note("column-replaced", text))
    return frame.drop(unused).rename(mapped)


def _need_columns(
    frame: pl.DataFrame, schema: Schema, users: dict[str, str], findings: Findings
) -> None:
    for name in schema.required:
        if name in frame.columns or name in users:
            continue
        others = [column for column in frame.columns if column not in schema.names]
        message = (
            f"column '{name}' is missing{did_you_mean(name, others)}; rename yours or map it with"
            f" `columns` ({name}=YOURS)"
        )
        if schema.kind == "ratings" and name == "score" and _like_scores(frame):
            message += "; if this is the table of scores, the two files are probably swapped"
        if frame.width == 1:
            message += " (only one column was found: does the separator match the file's ending?)"
        findings.header(message, name)


def _like_scores(frame: pl.DataFrame) -> bool:
    """Whether a table without ratings has columns that only scores have."""
    only = {"source", "target", "reference", "words", "cost", "domain"}
    return "rater" not in frame.columns and not only.isdisjoint(frame.columns)


def _typed(frame: pl.DataFrame, column: ColumnRule, findings: Findings) -> pl.Series:
    """The column in its type, with every cell that does not fit reported."""
    if column.type != "text":
        return _bounded(to_number(frame[column.name], findings, column.name), column, findings)
    typed = to_text(frame[column.name])
    typed = _respelled(typed, column, findings)
    empty = typed.is_null() | (typed == "")
    if column.filled:
        findings.rows(empty, column.name, typed, "is empty; every row needs a value here")
    if column.choices:

        def message(value: str) -> str:
            hint = did_you_mean(value, column.choices)
            if column.spellings and value in ("0", "1"):
                hint = " (where there is no 2, 0 may be a tie or a loss)"
            return f"'{value}' is not one of {', '.join(column.choices)}{hint}; write one of them"

        findings.rows(~empty & ~typed.is_in(column.choices), column.name, typed, message)
    return typed


def _respelled(typed: pl.Series, column: ColumnRule, findings: Findings) -> pl.Series:
    """The column in Assay's words, where it is written throughout in others; a note says which."""
    if not column.spellings:
        return typed
    found = set(typed.drop_nulls().str.strip_chars().unique()) - {""}
    for words in column.spellings:
        # Of 0 and 1 alone nobody knows whether 0 is a tie or the other one's win.
        if found and found <= words.keys() and not ("0" in found and "2" not in found):
            read = ", ".join(f"{word} as {words[word]}" for word in words)
            text = f"{column.name}: {read} was assumed"
            if "<" in words:
                text += " (< ranks before, as in WMT's data); where < is worse, swap left and right"
            findings.notes.append(Note("values-read", text))
            return typed.str.strip_chars().replace(words)
    return typed


def to_text(values: pl.Series) -> pl.Series:
    """The column as strings; whole floats (a spreadsheet's 1.0) as whole numbers."""
    if values.dtype == pl.String:
        return values
    if values.dtype.is_float():
        # Beyond 2^53 a float is no longer an exact whole number; it is kept as it is written.
        whole = (values.abs() < 2**53) & (values == values.round())
        number = values.cast(pl.Int64, strict=False).cast(pl.String)
        return number.zip_with(whole.fill_null(False), values.cast(pl.String))
    if values.dtype.is_nested():
        words = [None if value is None else str(value) for value in values.to_list()]
        return pl.Series(values.name, words, dtype=pl.String)
    return values.cast(pl.String)


def to_number(values: pl.Series, findings: Findings, name: str) -> pl.Series:
    """The column as floats, null where the cell is empty; whatever is not a number is reported."""
    if values.dtype.is_numeric() or values.dtype == pl.Null:
        return values.cast(pl.Float64)
    if not (values.dtype == pl.String or isinstance(values.dtype, pl.Categorical | pl.Enum)):
        findings.header(f"holds {values.dtype} values instead of numbers; convert them", name)
        return pl.Series(values.name, [None] * len(values), dtype=pl.Float64)
    words = values.cast(pl.String).str.strip_chars()
    empty = words.is_null() | words.str.to_lowercase().is_in(MISSING)
    number = words.cast(pl.Float64, strict=False)
    findings.rows(~empty & number.is_null(), name, values.cast(pl.String), _not_a_number)
    return number


def _not_a_number(value: str) -> str:
    if _DECIMAL_COMMA.fullmatch(value.strip()):
        return f"'{value}' has a decimal comma; write decimals with a point (0.5, not 0,5)"
    return f"'{value}' is not a number; correct it or leave the cell empty"


def _bounded(number: pl.Series, column: ColumnRule, findings: Findings) -> pl.Series:
    name = column.name
    refuse_infinite(number, name, findings)
    if column.filled:
        findings.rows(number.is_null(), name, number, "is empty; every row needs a value here")
    finite = number.is_finite()
    if column.low is not None:
        low, high = column.low, float("inf") if column.high is None else column.high
        wrong = (number <= low if column.open_low else number < low) | (number > high)
        limits = f"{'(' if column.open_low else '['}{low:g}, {high:g}{']' if column.high else ')'}"
        findings.rows(finite & wrong, name, number, f"{{}} is outside {limits}; correct it")
    if column.type == "whole":
        wrong = (number != number.round()) | (number.abs() > 2**53)
        findings.rows(finite & wrong, name, number, "{} is not a whole number; correct it")
        return number.cast(pl.Int64, strict=False)
    return number


def refuse_infinite(number: pl.Series, name: str, findings: Findings) -> None:
    """Report every value that is not a finite number."""
    message = "{} is not a finite number; correct it or leave the cell empty"
    findings.rows(~number.is_finite(), name, number, message)


def _unique(frame: pl.DataFrame, schema: Schema, findings: Findings) -> None:
    """Report every row whose key an earlier row has, with the line of the first."""
    key = [name for name in schema.key if name in frame.columns]
    keys = frame.select(key)
    if not key or keys.n_unique() == frame.height:
        return
    if schema.kind == "scores" and (theirs := [n for n in ("rater", "score") if n in frame]):
        swapped = (
            f"outputs stand in several rows, and there is a column '{theirs[0]}': this is a table"
            " of ratings; the files of scores and ratings are probably swapped"
        )
        findings.header(swapped, theirs[0])
        return
    numbered = keys.with_row_index("row")
    first = numbered.select(pl.col("row").min().over(key)).to_series()
    repeated = first != numbered["row"]
    lines = dict.fromkeys(first.filter(repeated)[:MAX_LISTED].to_list(), 0)
    lines = dict(zip(lines, findings.raw.lines(list(lines)), strict=True))
    shown = keys.select(pl.concat_str(pl.all().fill_null(""), separator=" / ")).to_series()
    remedy = _duplicate_remedy(frame, schema)
    places = iter(first.filter(repeated).to_list())

    def message(value: str) -> str:
        return f"{', '.join(key)} '{value}' is already in line {lines[next(places)]}; {remedy}"

    findings.rows(repeated, key[-1], shown, message)


def _duplicate_remedy(frame: pl.DataFrame, schema: Schema) -> str:
    if schema.kind == "ratings" and "rater" not in frame.columns:
        return (
            "add a rater column if several raters scored it, or a doc column if seg restarts"
            " in every document"
        )
    if "doc" not in frame.columns:
        return "add a doc column if seg restarts in every document, or remove one of the rows"
    return "remove one of the rows"


def place_in(frame: pl.DataFrame, test_set: TestSet, findings: Findings) -> pl.DataFrame:
    """The rows that are about the test set, each with its full segment key; faults are reported.

    Rows of systems that the test set left out, of other language pairs, and of segments that a
    part of a table does not have, are left out and counted. A missing ``doc`` is filled in where
    ``seg`` alone names one segment.
    """
    kept = pl.Series([True] * frame.height, dtype=pl.Boolean)
    if "system" in frame.columns:
        out = frame["system"].is_in(list(test_set.excluded))
        kept = _leave_out(kept, out, "excluded-systems", "of excluded systems", findings)
    if "lp" in frame.columns and "lp" in test_set.key:
        other = ~frame["lp"].is_in(test_set.segments["lp"].unique().to_list())
        kept = _leave_out(kept, other, "other-language-pairs", "of other language pairs", findings)
    if test_set.part:
        key = [name for name in test_set.key if name in frame.columns]
        outside = ~_among(frame, test_set.segments.select(key).unique())
        what = "of segments outside the part that was read"
        kept = _leave_out(kept, outside, "outside-the-part", what, findings)
    if _foreign(frame, test_set, kept, findings):
        return frame
    if "system" in frame.columns:
        _known_systems(frame, test_set, kept, findings)
    frame = _fill_key(frame, test_set, kept, findings)
    _refuse_collapse(frame, test_set, kept, findings)
    return frame.filter(kept) if not kept.all() else frame


def _foreign(frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings) -> bool:
    """Report, once, that most rows are of segments which the test set does not have."""
    key = [name for name in test_set.key if name in frame.columns]
    unknown = kept & ~_among(frame, test_set.segments.select(key).unique())
    count, rows = int(unknown.sum()), int(kept.sum())
    if count < FOREIGN_ROWS or 2 * count <= rows:
        return False
    first = unknown.arg_true()[0]
    (line,) = findings.raw.lines([first])
    here, there = (
        ", ".join(f"{name} '{value}'" for name, value in row.items())
        for row in (frame.select(key).row(first, named=True),
                    test_set.segments.select(key).row(0, named=True))
    )  # fmt: skip
    whole = str(frame["seg"][first]).removesuffix(".0")
    known = whole != frame["seg"][first] and whole in test_set.segments["seg"]
    hint = f" (did you mean '{whole}'?)" if known else ""
    findings.add(
        f"{here}{hint} and {count - 1:,} more of {rows:,} rows are not in the test set"
        f" ({test_set.source}; its first segment is {there}): this table belongs to another test"
        f" set; give the two that belong together, or write {' and '.join(key)} alike in both",
        line, "seg", frame["seg"][first],
    )  # fmt: skip
    return True


def _among(frame: pl.DataFrame, rows: pl.DataFrame) -> pl.Series:
    """Whether each row of the frame, in the columns of ``rows``, is one of them."""
    known = rows.with_columns(_known=True)
    wanted = frame.select(rows.columns)
    joined = wanted.join(known, on=rows.columns, how="left", maintain_order="left")
    return joined["_known"].fill_null(False)


def _leave_out(
    kept: pl.Series, out: pl.Series, code: str, what: str, findings: Findings
) -> pl.Series:
    count = int((kept & out).sum())
    if count:
        findings.notes.append(Note(code, f"{count:,} rows {what} left out"))
    return kept & ~out


def _refuse_collapse(
    frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings
) -> None:
    """Report rows that differ only in a column the test set does not have."""
    extra = [name for name in ("lp", "doc") if name in frame.columns and name not in test_set.key]
    if not extra:
        return
    names = [name for name in ("system", *test_set.key, "rater") if name in frame.columns]
    several = frame.select(pl.struct(extra).n_unique().over(names) > 1).to_series()
    message = (
        f"segment '{{}}' matches several that differ in {' and '.join(extra)}, which the test set"
        f" lacks; add {' and '.join(extra)} to the scores"
    )
    findings.rows(kept & several, "seg", frame["seg"], message)


def _known_systems(
    frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings
) -> None:
    system, known = frame["system"], test_set.systems

    def message(value: str) -> str:
        hint = did_you_mean(value, known)
        return f"system '{value}' is not in the test set{hint}; it has {', '.join(known[:20])}"

    unknown = ~system.is_in(list(known)) & system.is_not_null()
    findings.rows(kept & unknown, "system", system, message)


def _fill_key(
    frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings
) -> pl.DataFrame:
    seg, key = frame["seg"], [name for name in test_set.key if name in frame.columns]
    missing = [name for name in test_set.key if name not in key]
    segments = test_set.segments.select(test_set.key)
    places = segments.group_by(key).agg(pl.len().alias("_count"), pl.col(missing).first())
    joined = frame.join(places, on=key, how="left", maintain_order="left")
    count = joined["_count"]

    def unknown(value: str) -> str:
        whole = value.removesuffix(".0")
        known = whole != value and whole in segments["seg"]
        hint = f" (did you mean '{whole}'?)" if known else ""
        where = " in this document" if "doc" in key else ""
        return f"segment '{value}' is not in the test set{where}{hint}; check {' and '.join(key)}"

    findings.rows(kept & count.is_null() & seg.is_not_null(), "seg", seg, unknown)
    message = "segment '{}' is in several documents of the test set; add " + ", ".join(missing)
    findings.rows(kept & (count > 1), "seg", seg, message)
    joined = joined.drop("_count")
    if "system" in frame.columns:
        here = _among(joined, test_set.frame.select("system", *test_set.key))
        translated = frame["system"].is_in(list(test_set.systems)) & (count == 1).fill_null(False)
        message = (
            "segment '{}' has no translation by this system in the test set; check system and seg"
        )
        findings.rows(kept & translated & ~here, "seg", seg, message)
    return joined
