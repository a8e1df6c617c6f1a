"""Answers that do not simply stand in the test set: left out and counted, completed, or refused."""

from __future__ import annotations

import polars as pl

from assay.errors import did_you_mean
from assay.results import Note
from assay.tables.load import Findings
from assay.tables.tables import TestSet, rows_among

FOREIGN_ROWS = 10
"""So many unknown segments, in most rows, are not slips: the table is of another test set."""


def place_rows(frame: pl.DataFrame, test_set: TestSet, findings: Findings) -> pl.DataFrame:
    """The rows that are about the test set, each with its full segment key; faults are reported."""
    kept = _wanted(frame, test_set, findings)
    if _foreign(frame, test_set, kept, findings):
        return frame
    if "system" in frame.columns:
        system, known = frame["system"], test_set.systems

        def message(value: str) -> str:
            hint = did_you_mean(value, known)
            return f"system '{value}' is not in the test set{hint}; it has {', '.join(known[:20])}"

        unknown = ~system.is_in(list(known)) & system.is_not_null()
        findings.rows(kept & unknown, "system", system, message)
    placed = _with_key(frame, test_set, kept, findings)
    _refuse_collapse(placed, test_set, kept, findings)
    return placed.filter(kept) if not kept.all() else placed


def _wanted(frame: pl.DataFrame, test_set: TestSet, findings: Findings) -> pl.Series:
    """Which rows are about what was read of the test set; a note counts those left out."""
    kept = pl.Series([True] * frame.height, dtype=pl.Boolean)
    others: list[tuple[str, str, pl.Series]] = []
    if "system" in frame.columns:
        out = frame["system"].is_in(list(test_set.excluded))
        others.append(("excluded-systems", "of excluded systems", out))
    if "lp" in frame.columns and "lp" in test_set.key:
        out = ~frame["lp"].is_in(test_set.segments["lp"].unique().to_list())
        others.append(("other-language-pairs", "of other language pairs", out))
    if test_set.part:
        out = ~rows_among(frame, _segments(frame, test_set))
        others.append(("outside-the-part", "of segments outside the part that was read", out))
    for code, what, out in others:
        if count := int((kept & out).sum()):
            findings.notes.append(Note(code, f"{count:,} rows {what} left out"))
        kept &= ~out
    return kept


def _segments(frame: pl.DataFrame, test_set: TestSet) -> pl.DataFrame:
    """The segments of the test set by those of their names that the rows have."""
    key = [name for name in test_set.key if name in frame.columns]
    return test_set.segments.select(key).unique(maintain_order=True)


def _foreign(frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings) -> bool:
    """Report, once, that most rows are of segments which the test set does not have."""
    segments = _segments(frame, test_set)
    unknown = kept & ~rows_among(frame, segments)
    count, rows = int(unknown.sum()), int(kept.sum())
    if count < FOREIGN_ROWS or 2 * count <= rows:
        return False
    first = unknown.arg_true()[0]
    (line,) = findings.raw.lines([first])
    here, there = (
        ", ".join(f"{name} '{value}'" for name, value in row.items())
        for row in (frame.select(segments.columns).row(first, named=True),
                    segments.row(0, named=True))
    )  # fmt: skip
    seg, names = frame["seg"][first], " and ".join(segments.columns)
    findings.add(
        f"{here}{_whole_number(str(seg), test_set)} and {count - 1:,} more of {rows:,} rows are not"
        f" in the test set ({test_set.source}; its first segment is {there}): this table belongs to"
        f" another test set; give the two that belong together, or write {names} alike in both",
        line, "seg", seg,
    )  # fmt: skip
    return True


def _whole_number(seg: str, test_set: TestSet) -> str:
    """A hint for a segment that is known without its trailing .0."""
    whole = seg.removesuffix(".0")
    known = whole != seg and whole in test_set.segments["seg"]
    return f" (did you mean '{whole}'?)" if known else ""


def _with_key(
    frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings
) -> pl.DataFrame:
    """The rows with all columns that name a segment, where those they have name one alone."""
    seg, key = frame["seg"], [name for name in test_set.key if name in frame.columns]
    missing = [name for name in test_set.key if name not in key]
    segments = test_set.segments.select(test_set.key)
    places = segments.group_by(key).agg(pl.len().alias("_count"), pl.col(missing).first())
    joined = frame.join(places, on=key, how="left", maintain_order="left")
    count = joined["_count"]

    def unknown(value: str) -> str:
        where = " in this document" if "doc" in key else ""
        hint = _whole_number(value, test_set)
        return f"segment '{value}' is not in the test set{where}{hint}; check {' and '.join(key)}"

    findings.rows(kept & count.is_null() & seg.is_not_null(), "seg", seg, unknown)
    message = "segment '{}' is in several documents of the test set; add " + ", ".join(missing)
    findings.rows(kept & (count > 1), "seg", seg, message)
    joined = joined.drop("_count")
    if "system" in frame.columns:
        here = rows_among(joined, test_set.frame.select("system", *test_set.key))
        translated = frame["system"].is_in(list(test_set.systems)) & (count == 1).fill_null(False)
        message = (
            "segment '{}' has no translation by this system in the test set; check system and seg"
        )
        findings.rows(kept & translated & ~here, "seg", seg, message)
    return joined


def _refuse_collapse(
    frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings
) -> None:
    """Report rows that differ only in a column the test set does not have."""
    extra = [name for name in ("lp", "doc") if name in frame.columns and name not in test_set.key]
    if not extra:
        return
    names = [name for name in ("system", *test_set.key, "rater") if name in frame.columns]
    several = frame.select(pl.struct(extra).n_unique().over(names) > 1).to_series()
    message = (
        f"segment '{{}}' matches several that differ in {' and '.join(extra)}, which the test set"
        f" lacks; add {' and '.join(extra)} to the scores"
    )
    findings.rows(kept & several, "seg", frame["seg"], message)
