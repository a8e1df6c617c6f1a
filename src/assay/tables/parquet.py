"""Parquet files."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import polars as pl

from assay.tables.raw import Raw, from_one, refuse

__all__ = ["parquet_bytes", "read_parquet"]


def read_parquet(data: bytes, path: Path, text: Callable[[str], bool]) -> Raw:
    """Read Parquet; types are the file's own, so ``text`` changes nothing here."""
    if data[:4] != b"PAR1":
        raise refuse(
            str(path), "is not a Parquet file (it does not begin with PAR1); check its ending"
        )
    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except BaseException as error:
        # A damaged file can make the Rust reader panic, which is not an Exception.
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise refuse(
            str(path), f"the Parquet file is damaged or cut off ({reason}); fetch it again"
        ) from None
    return Raw(frame, str(path), from_one)


def parquet_bytes(frame: pl.DataFrame, path: Path) -> bytes:
    """The frame as Parquet."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
