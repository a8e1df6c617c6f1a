"""Rows checked against the test set they speak of."""

from __future__ import annotations

import polars as pl

from assay.tables.check import Findings, did_you_mean
from assay.tables.test_set import TestSet


def place_in(frame: pl.DataFrame, test_set: TestSet, findings: Findings) -> pl.DataFrame:
    """The rows that are about the test set, each with its full segment key; faults are reported.

    Rows of systems that the test set left out, of other language pairs, and of segments that a
    part of a table does not have, are left out and counted. A missing ``doc`` is filled in where
    ``seg`` alone names one segment.
    """
    kept = pl.Series([True] * frame.height, dtype=pl.Boolean)
    if "system" in frame.columns:
        out = frame["system"].is_in(list(test_set.excluded))
        kept = _leave_out(kept, out, "of excluded systems", findings)
    if "lp" in frame.columns and "lp" in test_set.key:
        pairs = test_set.segments["lp"].unique().to_list()
        kept = _leave_out(kept, ~frame["lp"].is_in(pairs), "of other language pairs", findings)
    if test_set.part:
        outside = ~_is_about(frame, test_set)
        kept = _leave_out(kept, outside, "of segments outside the part that was read", findings)
    if "system" in frame.columns:
        _known_systems(frame, test_set, kept, findings)
    key = [name for name in test_set.key if name in frame.columns]
    frame = _fill_key(frame, test_set, key, kept, findings)
    _refuse_collapse(frame, test_set, kept, findings)
    return frame.filter(kept) if not kept.all() else frame


def _is_about(frame: pl.DataFrame, test_set: TestSet) -> pl.Series:
    """Whether each row names a segment of the test set."""
    key = [name for name in test_set.key if name in frame.columns]
    known = test_set.segments.select(key).unique().with_columns(_known=True)
    joined = frame.select(key).join(known, on=key, how="left", maintain_order="left")
    return joined["_known"].fill_null(False)


def _leave_out(kept: pl.Series, out: pl.Series, what: str, findings: Findings) -> pl.Series:
    count = int((kept & out).sum())
    if count:
        findings.notes.append(f"{count} rows {what} left out")
    return kept & ~out


def _refuse_collapse(
    frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings
) -> None:
    """Report rows that differ only in a column the test set does not have."""
    extra = [name for name in ("lp", "doc") if name in frame.columns and name not in test_set.key]
    if not extra:
        return
    names = [name for name in ("system", *test_set.key, "rater") if name in frame.columns]
    first = frame.select(extra).select(pl.struct(pl.all())).to_series()
    several = (
        frame.select(names)
        .with_columns(_own=first)
        .select(pl.col("_own").n_unique().over(names) > 1)
    )
    findings.rows(
        kept & several.to_series(),
        "seg",
        frame["seg"],
        f"segment '{{}}' stands for several that differ in {' and '.join(extra)}, which the test"
        f" set does not have; add {' and '.join(extra)} to the scores",
    )


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
    known = set(segments["seg"])

    def unknown(value: str) -> str:
        whole = value.removesuffix(".0")
        hint = f" (did you mean '{whole}'?)" if whole != value and whole in known else ""
        return (
            f"segment '{value}' is not in the test set{_of_document(key)}{hint};"
            f" check {' and '.join(key)}"
        )

    findings.rows(kept & count.is_null() & frame["seg"].is_not_null(), "seg", frame["seg"], unknown)
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
        translated = frame["system"].is_in(list(test_set.systems)) & (count == 1).fill_null(False)
        findings.rows(
            kept & translated & ~here,
            "seg",
            frame["seg"],
            "segment '{}' has no translation by this system in the test set; check system and seg",
        )
    return joined


def _of_document(key: list[str]) -> str:
    return " in this document" if "doc" in key else ""
