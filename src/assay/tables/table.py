"""What all tables share: a polars frame that nobody changes, and notes on how it was read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from assay.tables.raw import save


@dataclass(frozen=True, eq=False)
class Table:
    """A checked table; polars frames are immutable, so it never changes.

    ``notes`` says what was done to the file's content on the way in, with counts.
    """

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.frame.height

    def to_frame(self) -> pl.DataFrame:
        """The rows, in the order of the file."""
        return self.frame

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the table by the path's ending (.tsv .csv .jsonl .parquet .xlsx), atomically."""
        return save(self.frame, path)
