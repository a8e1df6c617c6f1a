"""Part of a table: the rows with certain values, and the columns that are needed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import reduce

import polars as pl

from assay.errors import OptionError, did_you_mean, need_known
from assay.results import Note
from assay.tables.files import Only, Raw

SHOWN = 20
"""How many values an error lists."""


def keep_rows(raw: Raw, only: Only) -> Raw:
    """The rows that ``only`` describes, with the lines they stand on in the whole table."""
    if not only:
        return raw
    wanted = raw.frame.select(condition(only, dict(raw.frame.schema))).to_series()
    rows = wanted.fill_null(False).arg_true()
    if not len(rows):
        raise no_rows(only, raw.frame.lazy())
    note = only_note(only, len(rows), raw.frame.height)

    def lines(kept: Sequence[int]) -> list[int]:
        return raw.lines([rows[row] for row in kept])

    return replace(raw, frame=raw.frame[rows], lines=lines, notes=(*raw.notes, note))


def keep_columns(raw: Raw, names: Collection[str] | None) -> Raw:
    """The columns that are needed; None: all."""
    if names is None:
        return raw
    kept = [name for name in raw.frame.columns if name in names]
    left = tuple(name for name in raw.frame.columns if name not in names)
    return replace(raw, frame=raw.frame.select(kept), left=left)


def condition(only: Only, schema: dict[str, pl.DataType]) -> pl.Expr:
    """Whether a row has all the values; a number may be written in any way."""
    for name in only:
        need_known("only", name, list(schema), "is not a column of the table")
    return reduce(
        pl.Expr.and_, (_equals(name, schema[name], value) for name, value in only.items())
    )


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
            more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
            return OptionError(
                "only", f"{name}={value}", f"is in no row{did_you_mean(value or '', values)}",
                f"choose from {', '.join(values[:SHOWN])}{more}",
            )  # fmt: skip
    asked = ",".join(f"{name}={value}" for name, value in only.items())
    return OptionError("only", asked, "describes no row", "leave one of them out")


def only_note(only: Only, kept: int, rows: int) -> Note:
    """How much of the table was read."""
    asked = ", ".join(f"{name}={value}" for name, value in only.items())
    return Note("part-read", f"only {asked}: {kept} of {rows} rows")
