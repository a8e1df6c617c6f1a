"""Parquet files, searched where they lie: only the rows and columns asked for are loaded."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from assay.errors import AssayError
from assay.tables.only import condition, no_rows, only_note
from assay.tables.raw import Only, Raw, from_one, refuse

ROW = "_assay_row"


def read_parquet(
    source: bytes | Path,
    path: Path,
    *,
    only: Only | None = None,
    names: Collection[str] | None = None,
) -> Raw:
    """Read Parquet from its bytes or where it lies; types are the file's own."""
    if isinstance(source, bytes) and source[:4] != b"PAR1":
        raise refuse(
            str(path), "is not a Parquet file (it does not begin with PAR1); check its ending"
        )
    with _undamaged(path):
        table = _scan(source)
        schema = dict(table.collect_schema())
        kept = [name for name in schema if names is None or name in names]
        left = tuple(name for name in schema if name not in kept)
        if not only:
            return Raw(table.select(kept).collect(), str(path), from_one, left=left)
        wanted = condition(only, schema)
        frame = table.with_row_index(ROW).filter(wanted).select(ROW, *kept).collect()
        if not frame.height:
            raise no_rows(only, table)
        rows = frame[ROW]
        note = only_note(only, frame.height, table.select(pl.len()).collect().item())

    def lines(found: Sequence[int]) -> list[int]:
        return [rows[row] + 1 for row in found]

    return Raw(frame.drop(ROW), str(path), lines, (note,), left)


def parquet_columns(path: Path) -> list[str]:
    """The columns of a file, by its footer."""
    with _undamaged(path):
        return list(_scan(path).collect_schema())


def parquet_values(path: Path, column: str, only: Only) -> list[str | None]:
    """The values of one column in the rows ``only`` describes, as text, in order of appearance."""
    with _undamaged(path):
        table = _scan(path)
        if only:
            table = table.filter(condition(only, dict(table.collect_schema())))
        # Where a value stands first: cheaper than keeping the order of all rows.
        values = (
            table.select(pl.col(column).cast(pl.String).alias("value"))
            .with_row_index(ROW)
            .group_by("value")
            .agg(pl.col(ROW).min())
            .sort(ROW)
            .collect(engine="streaming")["value"]
            .to_list()
        )
    if not values:
        raise no_rows(only, _scan(path))
    return values


def _scan(source: bytes | Path) -> pl.LazyFrame:
    if isinstance(source, bytes):
        return pl.scan_parquet(io.BytesIO(source))
    # A name is a name: signs like * in it mean nothing, and neither does a folder called lp=en-de.
    return pl.scan_parquet(source, glob=False, hive_partitioning=False)


@contextmanager
def _undamaged(path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        # A damaged file can make the Rust reader panic, which is not an Exception.
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError | AssayError):
            raise
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise refuse(
            str(path), f"the Parquet file is damaged or cut off ({reason}); fetch it again"
        ) from None


def parquet_bytes(frame: pl.DataFrame, path: Path) -> bytes:
    """The frame as Parquet."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
