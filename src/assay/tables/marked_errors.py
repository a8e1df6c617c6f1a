"""Errors that raters marked in outputs: category, severity and position."""

from __future__ import annotations

from dataclasses import dataclass

from assay.tables.load import CheckedTable, Columns, Only, Raw, Source, conform
from assay.tables.tables import TestSet, place_in


@dataclass(frozen=True, eq=False)
class Errors(CheckedTable):
    """Errors that raters marked: category, severity and position.

    ``start`` and ``end`` are half-open and count code points of the text on ``side``.
    """


def read_errors(
    source: Source | Raw, test_set: TestSet | None = None, *, columns: Columns | None = None,
    only: Only | None = None,
) -> Errors:  # fmt: skip
    """Read a table of marked errors and check it against the test set it is about.

    ``only`` reads part of the rows (``{"lp": "en-de"}``).

    >>> import polars as pl
    >>> marked = pl.DataFrame({
    ...     "system": ["A", "A"], "seg": [1, 1], "category": ["accuracy", "fluency"],
    ...     "severity": ["major", "minor"],
    ... })
    >>> read_errors(marked).frame.height
    2
    """
    frame, findings = conform(source, "errors", columns=columns, only=only)
    if "start" in frame.columns and "end" in frame.columns:
        wrong = frame["end"] < frame["start"]
        findings.rows(wrong, "end", frame["end"], "{} is before start; correct it")
    if test_set is not None:
        frame = place_in(frame, test_set, findings)
    findings.stop()
    return Errors(frame, tuple(findings.notes))
