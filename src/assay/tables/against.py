"""Rows checked against the test set they speak of."""

from __future__ import annotations

import polars as pl

from assay.tables.check import Findings, did_you_mean
from assay.tables.test_set import TestSet

__all__ = ["place_in"]


def place_in(
    frame: pl.DataFrame, test_set: TestSet, findings: Findings
) -> tuple[pl.DataFrame, pl.Series]:
    """Give every row the test set's full segment key, and report the rows that do not fit.

    Returns the frame and a mask of the rows to keep: those of systems that the test set left out
    are dropped. A missing ``doc`` is filled in where ``seg`` alone names one segment.
    """
    kept = pl.Series([True] * frame.height, dtype=pl.Boolean)
    if "system" in frame.columns:
        kept = ~frame["system"].is_in(list(test_set.excluded))
        _known_systems(frame, test_set, kept, findings)
    key = [name for name in test_set.key if name in frame.columns]
    frame = _fill_key(frame, test_set, key, kept, findings)
    return frame, kept


def _known_systems(
    frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings
) -> None:
    known = test_set.systems
    unknown = kept & ~frame["system"].is_in(list(known)) & frame["system"].is_not_null()
    findings.rows(
        unknown,
        "system",
        frame["system"],
        lambda value: (
            f"system '{value}' is not in the test set{did_you_mean(value, known)};"
            f" it has {', '.join(known[:20])}"
        ),
    )


def _fill_key(
    frame: pl.DataFrame, test_set: TestSet, key: list[str], kept: pl.Series, findings: Findings
) -> pl.DataFrame:
    missing = [name for name in test_set.key if name not in key]
    segments = test_set.segments.select(test_set.key)
    found = segments.group_by(key).agg(pl.len().alias("_count"), pl.col(missing).first())
    joined = frame.join(found, on=key, how="left", maintain_order="left")
    count = joined["_count"]
    findings.rows(
        kept & count.is_null() & frame["seg"].is_not_null(),
        "seg",
        frame["seg"],
        f"segment '{{}}' is not in the test set{_of_document(key)}; check {' and '.join(key)}",
    )
    findings.rows(
        kept & (count > 1),
        "seg",
        frame["seg"],
        f"segment '{{}}' stands in several documents of the test set; add {', '.join(missing)}",
    )
    joined = joined.drop("_count")
    present = test_set.frame.select("system", *test_set.key).with_columns(_here=True)
    if "system" in frame.columns:
        here = joined.join(
            present, on=["system", *test_set.key], how="left", maintain_order="left"
        )["_here"].fill_null(False)
        known = frame["system"].is_in(list(test_set.systems)) & (count == 1).fill_null(False)
        findings.rows(
            kept & known & ~here,
            "seg",
            frame["seg"],
            "segment '{}' has no translation by this system in the test set; check system and seg",
        )
    return joined


def _of_document(key: list[str]) -> str:
    return " in this document" if "doc" in key else ""
