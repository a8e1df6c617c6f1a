"""Raters who fill in their sheets."""

from __future__ import annotations

from pathlib import Path

import polars as pl


def rate_sheet(sheet: Path, answer: Path) -> None:
    """A sheet as a rater sends it back."""
    answer.parent.mkdir(exist_ok=True)
    frame = pl.read_excel(sheet, infer_schema_length=None)
    points = 40 + pl.col("output").str.len_chars() % 50
    frame.with_columns(score=pl.when(pl.col("code") != "(context)").then(points)).write_excel(
        answer
    )
