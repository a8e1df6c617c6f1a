"""Ratings (a number per output) and errors (marked spans)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from assay.errors import OptionError
from assay.tables.against import place_in
from assay.tables.check import Columns, Findings, conform
from assay.tables.raw import Only, Raw, Source
from assay.tables.table import Table
from assay.tables.test_set import TestSet

Better = Literal["higher", "lower"]

GENUINE = ("", "0", "false", "no")
"""What the column ``check`` says, in any case, of a row that is no control; so does no value."""

ANSWER, FEWEST = 0.95, 10
"""A column correlated with the ratings beyond the first, on at least so many outputs, is them."""


@dataclass(frozen=True, eq=False)
class Ratings(Table):
    """Scores that raters gave. A row without a score is an output that was not rated.

    A row with a ``check`` is a control: a spoiled copy of the output, shown to see whether the
    rater pays attention. It says nothing about the system, and only reports on raters use it.
    ``better`` says which end of the scale is good; ``range`` is the scale, where it was stated.
    """

    better: Better = "higher"
    range: tuple[float, float] | None = None
    checked: TestSet | None = field(default=None, repr=False)
    """The test set that they were checked against."""

    @cached_property
    def genuine(self) -> pl.DataFrame:
        """The rows that are about the systems' own outputs."""
        return self.frame.filter(~self._control) if self._control.any() else self.frame

    @cached_property
    def controls(self) -> pl.DataFrame:
        """The rows that check the raters' attention."""
        return self.frame.filter(self._control)

    @cached_property
    def _control(self) -> pl.Series:
        if "check" not in self.frame.columns:
            return pl.Series([False] * self.frame.height, dtype=pl.Boolean)
        return ~_genuine_words(self.frame["check"])

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """The raters, in the order of the file; empty where the table does not name them."""
        if "rater" not in self.frame.columns:
            return ()
        return tuple(self.frame["rater"].unique(maintain_order=True))

    @cached_property
    def unrated(self) -> int:
        """How many rows have no score."""
        return self.frame["score"].null_count()

    def placed_in(self, test_set: TestSet) -> Ratings:
        """The ratings that are about this test set, checked against it."""
        if self.checked is test_set:
            return self
        placed = read_ratings(self.frame, test_set, better=self.better, range=self.range)
        return replace(placed, notes=tuple(dict.fromkeys((*self.notes, *placed.notes))))

    def matrix(self, test_set: TestSet, *, rater: str | None = None) -> np.ndarray:
        """Systems x segments of the test set: the score, the mean where several raters gave one.

        NaN where nothing was rated. ``rater`` restricts it to one of them.
        """
        frame = self.genuine if rater is None else self.genuine.filter(pl.col("rater") == rater)
        key = ["system", *test_set.key]
        means = frame.drop_nulls("score").group_by(key).agg(pl.col("score").mean())
        rows = test_set.frame.select(key).join(means, on=key, how="left", maintain_order="left")
        values = np.full((len(test_set.systems), test_set.segments.height), np.nan)
        values[test_set.positions] = rows["score"].to_numpy()
        return values


@dataclass(frozen=True, eq=False)
class Errors(Table):
    """Errors that raters marked: category, severity, and where they stand.

    ``start`` and ``end`` are half-open and count code points of the text on ``side``.
    """


def read_ratings(
    source: Source | Raw,
    test_set: TestSet | None = None,
    *,
    columns: Columns | None = None,
    better: Better = "higher",
    range: tuple[float, float] | None = None,
    only: Only | None = None,
) -> Ratings:
    """Read a ratings table and check it against the test set it is about.

    ``better`` says whether higher or lower scores are good (MQM: lower); ``range`` is the scale,
    and scores outside it are refused. Ratings of systems the test set excludes are left out.
    ``only`` reads part of the rows (``{"lp": "en-de"}``).

    >>> import polars as pl
    >>> ratings = read_ratings(pl.DataFrame({"system": ["A"], "seg": ["1"], "score": [3.5]}))
    >>> len(ratings), ratings.better
    (1, 'higher')
    """
    check_direction(better)
    frame, findings = conform(source, "ratings", columns=columns, only=only)
    if range is not None:
        _check_range(frame, range, findings)
    if test_set is not None:
        frame = place_in(frame, test_set, findings)
    if "check" in frame.columns:
        _repeated_genuine(frame, findings)
    findings.stop()
    notes = findings.notes
    unrated = frame["score"].null_count()
    if unrated:
        notes.append(f"{unrated} of {frame.height} rows have no score: not rated")
    ratings = Ratings(frame, tuple(notes), better, range, test_set)
    if len(ratings.controls):
        note = f"{len(ratings.controls)} attention checks are left out of all estimates"
        ratings = replace(ratings, notes=(*ratings.notes, note))
    if test_set is not None and not test_set.named:
        _refuse_answers(test_set, ratings)
    return ratings


def read_errors(
    source: Source | Raw, test_set: TestSet | None = None, *, columns: Columns | None = None
) -> Errors:
    """Read a table of marked errors and check it against the test set it is about.

    >>> import polars as pl
    >>> marked = pl.DataFrame({
    ...     "system": ["A", "A"], "seg": [1, 1], "category": ["accuracy", "fluency"],
    ...     "severity": ["major", "minor"],
    ... })
    >>> read_errors(marked).frame.height
    2
    """
    frame, findings = conform(source, "errors", columns=columns)
    if "start" in frame.columns and "end" in frame.columns:
        findings.rows(
            frame["end"] < frame["start"], "end", frame["end"], "{} lies before start; correct it"
        )
    if test_set is not None:
        frame = place_in(frame, test_set, findings)
    findings.stop()
    return Errors(frame, tuple(findings.notes))


def _refuse_answers(test_set: TestSet, ratings: Ratings) -> None:
    """Refuse a column that all but equals the ratings: it is the answer, not a metric."""
    scores = ratings.matrix(test_set)
    for name in test_set.metrics:
        values = test_set.matrix(name)
        both = ~np.isnan(scores) & ~np.isnan(values)
        if both.sum() < FEWEST or np.ptp(scores[both]) == 0 or np.ptp(values[both]) == 0:
            continue
        r = float(np.corrcoef(scores[both], values[both])[0, 1])
        if abs(r) > ANSWER:
            raise OptionError(
                "metrics", name, f"all but equals the ratings (r = {r:.2f}): the answer, no metric",
                "choose the metrics with --metrics; if this really is one, name it there",
            )  # fmt: skip


def _genuine_words(check: pl.Series) -> pl.Series:
    words = check.fill_null("").str.strip_chars().str.to_lowercase()
    return words.is_in(list(GENUINE))


def _repeated_genuine(frame: pl.DataFrame, findings: Findings) -> None:
    """Report outputs rated twice by one rater whose ``check`` says in two ways that it is none."""
    key = [name for name in ("lp", "system", "doc", "seg", "rater") if name in frame.columns]
    genuine = _genuine_words(frame["check"])
    words = frame["check"].fill_null("")
    marked = frame.select(key).with_columns(_genuine=genuine, _words=words)
    several = marked.select(pl.col("_words").n_unique().over([*key, "_genuine"]) > 1).to_series()
    findings.rows(
        genuine & several, "check", frame["seg"],
        "segment '{}' is rated twice here; mark the row that is a check, or remove one of the rows",
    )  # fmt: skip


def check_direction(better: str) -> None:
    """Refuse a direction that is neither of the two."""
    if better not in ("higher", "lower"):
        raise OptionError("better", better, "is no direction", "give higher or lower")


def _check_range(frame: pl.DataFrame, limits: tuple[float, float], findings: Findings) -> None:
    low, high = limits
    if not low < high:
        raise OptionError("range", f"{low:g},{high:g}", "is empty", "give LOW,HIGH with LOW < HIGH")
    score = frame["score"]
    findings.rows(
        score.is_finite() & ((score < low) | (score > high)),
        "score",
        score,
        f"{{}} is outside the stated range {low:g} to {high:g}; correct it or the range",
    )
