"""From a raw table to a checked one, or to the list of everything that is wrong with it.

The columns of the result have Assay's names and types: text as strings (``seg`` too), numbers as
64-bit floats, whole numbers as integers; columns the schema does not know are kept behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeAlias

import polars as pl

from assay.errors import InputError, Problem, TableError
from assay.tables.only import keep_columns, keep_rows
from assay.tables.raw import LISTED, Only, Raw, Source, load
from assay.tables.schema import SCHEMAS, Column, Schema

Columns: TypeAlias = Mapping[str, str]
"""Assay's column names to the user's own."""

MISSING = ("", "na", "n/a", "none", "null")
"""What stands for a missing number in a text file, in any case."""

_DECIMAL_COMMA = r"^[+-]?\d+(?:[.\s]\d{3})*,\d+$"


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A hint at the closest known word, or nothing.

    >>> did_you_mean("sytem", ["system", "seg"])
    " (did you mean 'system'?)"
    """
    lowered = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), list(lowered), n=1, cutoff=0.6)
    return f" (did you mean '{lowered[close[0]]}'?)" if close else ""


class Findings:
    """The problems of one table as they are found, in the user's own column names."""

    def __init__(self, raw: Raw, columns: Columns | None = None) -> None:
        self.raw = raw
        self.problems: list[Problem] = []
        self.notes: list[str] = list(raw.notes)
        self._own = dict(columns or {})

    def add(self, message: str, *, column: str | None = None, value: object = None) -> None:
        """A problem of the table as a whole, or of one column."""
        own = self._own.get(column, column) if column is not None else None
        line = 1 if column is not None and self.raw.source != "frame" else None
        self.problems.append(Problem(message, line, own, None if value is None else str(value)))

    def rows(
        self, wrong: pl.Series, column: str, values: pl.Series, message: str | Callable[[str], str]
    ) -> None:
        """A problem in every row where ``wrong`` is true; ``{}`` in the message is the value."""
        found = wrong.fill_null(False).arg_true()
        if not len(found):
            return
        own = self._own.get(column, column)
        listed = found[:LISTED].to_list()
        for row, line in zip(listed, self.raw.lines(listed), strict=True):
            value = values[row]
            text = "" if value is None else str(value)
            said = message(text) if callable(message) else message.replace("{}", text)
            self.problems.append(Problem(said, line, own, text))
        if len(found) > LISTED:
            self.problems.append(
                Problem(f"{len(found) - LISTED} more rows have the last problem", None, own)
            )

    def stop(self) -> None:
        """Raise if anything was found, in the order of the lines."""
        if self.problems:
            ordered = sorted(self.problems, key=lambda p: (p.line is None, p.line or 0))
            raise TableError(self.raw.source, ordered, rows=self.raw.frame.height)


def conform(
    source: Source | Raw,
    kind: str,
    *,
    columns: Columns | None = None,
    only: Only | None = None,
    extra: Collection[str] | None = None,
) -> tuple[pl.DataFrame, Findings]:
    """Read a table of this kind: the typed frame, row for row, and what is wrong with it.

    ``only`` describes the rows that are wanted, ``extra`` the columns beside those of the schema;
    None: all. Raises at once only where nothing more could be said (no columns, no rows).
    """
    schema = SCHEMAS[kind]
    own = _mapping(columns, schema)
    rows = {own.get(name, name): value for name, value in (only or {}).items()}
    names = None if extra is None else {*schema.names, *own.values(), *extra, *rows}
    if isinstance(source, Raw):
        raw = keep_columns(keep_rows(source, rows), names)
    else:
        raw = load(source, text=_text_columns(schema, own), only=rows, names=names)
    findings = Findings(raw, own)
    frame = _rename(raw.frame, own, findings)
    _need_columns(frame, schema, own, findings)
    if not frame.height:
        findings.add("the table has a header but no rows; add at least one")
    if not frame.height or any(name not in frame.columns for name in schema.required):
        findings.stop()
    known = [_typed(frame, column, findings) for column in schema.columns if column.name in frame]
    rest = [frame[name] for name in frame.columns if name not in schema.names]
    frame = pl.DataFrame([*known, *rest])
    _unique(frame, schema, findings)
    return frame, findings


def _text_columns(schema: Schema, own: dict[str, str]) -> Callable[[str], bool]:
    """Which columns of a file are text: what the schema says, and unknown ones unless the table
    may have metrics, so that an id of 007 stays 007.
    """
    numbers = {own.get(c.name, c.name) for c in schema.columns if c.type != "text"}
    texts = {own.get(c.name, c.name) for c in schema.columns if c.type == "text"}
    return lambda name: name in texts or (schema.kind != "scores" and name not in numbers)


def _mapping(columns: Columns | None, schema: Schema) -> dict[str, str]:
    for name in columns or {}:
        if name not in schema.names:
            known = ", ".join(schema.names)
            raise InputError(
                f"columns ({name}={(columns or {})[name]}) names no column of a {schema.kind} table"
                f"{did_you_mean(name, schema.names)}; it has {known}"
            )
    users = list((columns or {}).values())
    twice = [user for user in users if users.count(user) > 1]
    if twice:
        raise InputError(f"columns maps two names to '{twice[0]}'; a column is one thing")
    return dict(columns or {})


def _rename(frame: pl.DataFrame, own: dict[str, str], findings: Findings) -> pl.DataFrame:
    """Give the mapped columns Assay's names; a mapping wins over a column of that name."""
    for name, user in own.items():
        if user in frame.columns:
            continue
        findings.problems.append(
            Problem(
                f"columns maps {name} to '{user}', which the table does not have"
                f"{did_you_mean(user, frame.columns)}; it has {', '.join(frame.columns)}",
                1 if findings.raw.source != "frame" else None,
                user,
            )
        )
    found = {user: name for name, user in own.items() if user in frame.columns}
    hidden = [name for user, name in found.items() if name != user and name in frame.columns]
    unused = [name for name in hidden if name not in found]
    if unused:
        findings.notes.append(f"not used, because columns maps another: {', '.join(unused)}")
    return frame.drop(unused).rename(found)


def _need_columns(
    frame: pl.DataFrame, schema: Schema, own: dict[str, str], findings: Findings
) -> None:
    for name in schema.required:
        if name in frame.columns or name in own:
            continue
        others = [column for column in frame.columns if column not in schema.names]
        message = (
            f"column '{name}' is missing{did_you_mean(name, others)};"
            f" rename yours or map it with --columns {name}=YOURS"
        )
        if frame.width == 1:
            message += " (only one column was found: is the separator right for the file's ending?)"
        findings.add(message, column=name)


def _typed(frame: pl.DataFrame, column: Column, findings: Findings) -> pl.Series:
    """The column in its type, with every cell that does not fit reported."""
    values = frame[column.name]
    if column.type == "text":
        typed = to_text(values)
        if column.filled:
            empty = typed.is_null() | (typed == "")
            findings.rows(empty, column.name, typed, "is empty; every row needs a value here")
        if column.choices:
            known = ", ".join(column.choices)
            wrong = typed.is_not_null() & (typed != "") & ~typed.is_in(column.choices)
            findings.rows(
                wrong,
                column.name,
                typed,
                lambda value: (
                    f"'{value}' is not one of {known}{did_you_mean(value, column.choices)};"
                    " write one of them"
                ),
            )
        return typed
    typed = to_number(values, findings, column.name)
    return _bounded(typed, column, findings)


def to_text(values: pl.Series) -> pl.Series:
    """The column as strings; whole floats (a spreadsheet's 1.0) as whole numbers."""
    if values.dtype == pl.String:
        return values
    if values.dtype.is_float():
        # Beyond 2^53 a float is no longer an exact whole number; it is kept as it is written.
        whole = (values.abs() < 2**53) & (values == values.round())
        return (
            pl.select(
                pl.when(whole)
                .then(values.cast(pl.Int64, strict=False).cast(pl.String))
                .otherwise(values.cast(pl.String))
            )
            .to_series()
            .alias(values.name)
        )
    if values.dtype.is_nested():
        words = [None if value is None else str(value) for value in values.to_list()]
        return pl.Series(values.name, words, dtype=pl.String)
    return values.cast(pl.String)


def to_number(values: pl.Series, findings: Findings, name: str) -> pl.Series:
    """The column as floats, null where nothing stands; whatever is no number is reported."""
    if values.dtype.is_numeric():
        number = values.cast(pl.Float64)
    elif values.dtype == pl.Null:
        return values.cast(pl.Float64)
    elif values.dtype == pl.String or isinstance(values.dtype, pl.Categorical | pl.Enum):
        words = values.cast(pl.String).str.strip_chars()
        empty = words.is_null() | words.str.to_lowercase().is_in(MISSING)
        number = words.cast(pl.Float64, strict=False)
        findings.rows(~empty & number.is_null(), name, values.cast(pl.String), _not_a_number)
    else:
        findings.add(f"holds {values.dtype} values where numbers belong", column=name)
        return pl.Series(values.name, [None] * len(values), dtype=pl.Float64)
    return number


def _not_a_number(value: str) -> str:
    import re

    if re.match(_DECIMAL_COMMA, value.strip()):
        return f"'{value}' has a decimal comma; write decimals with a point (0.5, not 0,5)"
    return f"'{value}' is not a number; correct it or leave the cell empty"


def _bounded(number: pl.Series, column: Column, findings: Findings) -> pl.Series:
    name = column.name
    findings.rows(
        ~number.is_finite(), name, number, "{} is not a finite number; correct it or leave it empty"
    )
    if column.filled:
        findings.rows(number.is_null(), name, number, "is empty; every row needs a value here")
    finite = number.is_finite()
    if column.low is not None:
        wrong = number <= column.low if column.open_low else number < column.low
        if column.high is not None:
            wrong = wrong | (number > column.high)
        findings.rows(
            finite & wrong, name, number, f"{{}} is outside {_limits(column)}; correct it"
        )
    if column.type == "whole":
        findings.rows(
            finite & ((number != number.round()) | (number.abs() > 2**53)),
            name,
            number,
            "{} is not a whole number; correct it",
        )
        return number.cast(pl.Int64, strict=False)
    return number


def _limits(column: Column) -> str:
    low = f"{'(' if column.open_low else '['}{column.low:g}"
    high = "inf)" if column.high is None else f"{column.high:g}]"
    return f"{low}, {high}"


def _unique(frame: pl.DataFrame, schema: Schema, findings: Findings) -> None:
    """Report every row whose key an earlier row has, with the line of the first."""
    key = [name for name in schema.key if name in frame.columns]
    if not key:
        return
    keys = frame.select(key)
    if keys.n_unique() == frame.height:
        return
    numbered = keys.with_row_index("row")
    first = numbered.select(pl.col("row").min().over(key)).to_series()
    repeated = first != numbered["row"]
    lines = dict.fromkeys(first.filter(repeated)[:LISTED].to_list(), 0)
    lines = dict(zip(lines, findings.raw.lines(list(lines)), strict=True))
    shown = keys.select(pl.concat_str(pl.all().fill_null(""), separator=" / ")).to_series()
    remedy = _duplicate_remedy(frame, schema)
    places = iter(first.filter(repeated).to_list())

    def message(value: str) -> str:
        return f"{', '.join(key)} '{value}' stands in line {lines[next(places)]} already; {remedy}"

    findings.rows(repeated, key[-1], shown, message)


def _duplicate_remedy(frame: pl.DataFrame, schema: Schema) -> str:
    if schema.kind == "ratings" and "rater" not in frame.columns:
        return "add a rater column if several raters scored it, a doc column if seg restarts"
    if "doc" not in frame.columns:
        return "add a doc column if seg restarts in every document, or remove one of the rows"
    return "remove one of the rows"


def need_one_lp(frame: pl.DataFrame, what: str) -> None:
    """Refuse answers of several language pairs: systems of different pairs are not compared."""
    if "lp" in frame.columns and frame["lp"].n_unique() > 1:
        found = ", ".join(frame["lp"].unique(maintain_order=True)[:40])
        raise InputError(
            f"the {what} are of several language pairs ({found}); choose one with --lp"
        )
