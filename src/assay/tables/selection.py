"""Part of a table: rows with certain values, columns that are needed, parts by a column."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path

import polars as pl

from assay.errors import InputError, OptionError, did_you_mean, need_known
from assay.results import Note
from assay.tables.load import (
    Columns,
    Findings,
    Only,
    Raw,
    Source,
    is_plain_parquet,
)
from assay.tables.schemas import Schema
from assay.tables.tables import NOT_A_COLUMN, TestSet, read_scores

MAX_VALUES = 20
"""How many values an error lists."""


def select(raw: Raw, only: Only | None, names: Collection[str] | None) -> Raw:
    """The rows that ``only`` describes, with their lines, and the columns in ``names``."""
    if only:
        wanted = raw.frame.select(condition(only, dict(raw.frame.schema))).to_series()
        rows = wanted.fill_null(False).arg_true()
        if not len(rows):
            raise no_rows(only, raw.frame.lazy())
        raw = raw.with_rows(rows, only_note(only, len(rows), raw.frame.height))
    if names is None:
        return raw
    left = tuple(name for name in raw.frame.columns if name not in names)
    return replace(raw, frame=raw.frame.drop(left), left=left)


def need_mapping(users: Columns, schema: Schema) -> None:
    """Refuse a mapping of columns that the table does not have, or of one column twice."""
    for name, user in users.items():
        if name not in schema.names:
            raise InputError(
                f"`columns` ({name}={user}): a {schema.kind} table has no column"
                f" '{name}'{did_you_mean(name, schema.names)}; it has {', '.join(schema.names)}"
            )
    twice = [user for user, count in Counter(users.values()).items() if count > 1]
    if twice:
        raise InputError(f"`columns` maps two names to '{twice[0]}'; map each column once")


def renamed(frame: pl.DataFrame, users: Columns, findings: Findings) -> pl.DataFrame:
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


def condition(only: Only, schema: dict[str, pl.DataType]) -> pl.Expr:
    """Whether a row has all the values; a number may be written in any way."""
    for name in only:
        need_known("only", name, list(schema), "is not a column of the table")
    equal = [_equals(name, schema[name], value) for name, value in only.items()]
    return reduce(pl.Expr.and_, equal)


def _equals(name: str, kind: pl.DataType, value: str | None) -> pl.Expr:
    column = pl.col(name)
    if value is None:
        return column.is_null()
    if kind.is_numeric():
        try:
            return column == (int(value) if kind.is_integer() else float(value))
        except ValueError:
            return pl.lit(False)
    return (column if kind == pl.String else column.cast(pl.String)) == value


def no_rows(only: Only, table: pl.LazyFrame) -> OptionError:
    """The error for values that no row has: which one is unknown, and what there is instead."""
    for name, value in only.items():
        rows = table.filter(condition({name: value}, dict(table.collect_schema())))
        if not rows.select(pl.len()).collect(engine="streaming").item():
            known = table.select(pl.col(name).cast(pl.String)).unique(maintain_order=True)
            listed = known.collect(engine="streaming").to_series().drop_nulls()
            values = [text.removesuffix(".0") for text in listed]
            more = f" and {len(values) - MAX_VALUES} more" if len(values) > MAX_VALUES else ""
            return OptionError(
                "only", f"{name}={value}", f"matches no row{did_you_mean(value or '', values)}",
                f"choose from {', '.join(values[:MAX_VALUES])}{more}",
            )  # fmt: skip
    asked = ",".join(f"{name}={value}" for name, value in only.items())
    return OptionError("only", asked, "matches no row", "leave out one of the conditions")


def only_note(only: Only, kept: int, rows: int) -> Note:
    """How much of the table was read."""
    asked = ", ".join(f"{name}={value}" for name, value in only.items())
    return Note("part-read", f"only {asked}: {kept:,} of {rows:,} rows read")


@dataclass(frozen=True, eq=False)
class Parts(Mapping[str, TestSet]):
    """The test sets of a Parquet file by their name; each is read when it is asked for.

    Nothing is kept in memory: a part that is asked for twice is read twice.
    """

    read: Callable[..., TestSet]
    """Reads the rows that its argument ``only`` describes."""
    by: str
    parts: dict[str, str | None]
    only: Only

    def renamed(self, names: Mapping[str, str]) -> Parts:
        """The same under other names."""
        return replace(self, parts={names[name]: value for name, value in self.parts.items()})

    def __getitem__(self, name: str) -> TestSet:
        part = self.read(only={**self.only, self.by: self.parts[name]})
        # That it is a part of the file goes without saying here.
        return replace(part, notes=tuple(note for note in part.notes if note.code != "part-read"))

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)


def read_parts(
    source: Source,
    by: str,
    *,
    columns: Columns | None = None,
    metrics: Sequence[str] | None = None,
    lower_metrics: Sequence[str] = (),
    exclude: Sequence[str] = (),
    only: Only | None = None,
    keep: Sequence[str] | None = None,
) -> Mapping[str, TestSet]:
    """The test sets of a scores table by the value of a column, such as ``lp``.

    A Parquet file may be larger than memory: its parts are read one by one, each when it is asked
    for. Anything else is read at once. The options are those of :func:`assay.read_scores`.

    >>> import polars as pl
    >>> rows = {"lp": ["de", "de", "fr"], "system": ["A", "B", "A"], "seg": [1, 1, 1]}
    >>> parts = read_parts(pl.DataFrame(rows), "lp")
    >>> {name: test_set.systems for name, test_set in parts.items()}
    {'de': ('A', 'B'), 'fr': ('A',)}
    """
    read = partial(
        read_scores, source, columns=columns, metrics=metrics, lower_metrics=lower_metrics,
        exclude=exclude,
    )  # fmt: skip
    if not (isinstance(source, str | os.PathLike) and is_plain_parquet(Path(source))):
        return read(only=only, keep=None if keep is None else [*keep, by]).split(by)
    from assay.tables.typed_files import parquet_columns, parquet_values

    path, users = Path(source), columns or {}
    column = users.get(by, by)
    need_known("by", column, parquet_columns(path), NOT_A_COLUMN)
    rows = {users.get(name, name): value for name, value in (only or {}).items()}
    parts = {str(value): value for value in parquet_values(path, column, rows)}
    return Parts(partial(read, keep=keep), by, parts, dict(only or {}))
