"""Edits: machine translations that editors made right, and what it took."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from assay.tables.check import Columns, conform
from assay.tables.raw import Raw, Source
from assay.tables.table import Table

__all__ = ["Edits", "read_edits"]


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
    frame, findings = conform(source, "edits", columns=columns)
    findings.stop()
    frame = frame.with_columns(pl.col("mt", "edited").fill_null(""))
    return Edits(frame, tuple(findings.notes))
