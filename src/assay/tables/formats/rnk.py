"""What the CSV files of the WMT ranking task share, whichever year they are from.

Column names are compared in lower case (``judgeId``, ``judgeID``). Rank 1 is best, equal ranks are
ties, and -1 is an output the judge left unranked. Documents and segments may be -1, too, where
the task did not use them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from assay.tables.check import Findings
from assay.tables.formats.lines import choose_lp, need_columns, need_distinct
from assay.tables.raw import Raw

if TYPE_CHECKING:
    from assay.tables.formats import Options


BLANK = -1
UNUSED = "-1"


def clean_header(raw: Raw, needed: Sequence[str]) -> Raw:
    """The table with lower-case names, refused where a column is missing or stands twice."""
    names = [name.lower() for name in raw.frame.columns]
    need_distinct(names, raw.source)
    need_columns(names, needed, raw.source)
    frame = raw.frame.rename(dict(zip(raw.frame.columns, names, strict=True)))
    return Raw(frame, raw.source, raw.lines, raw.notes)


def ranks(raw: Raw, systems: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """The rank columns as whole numbers, -1 where nothing was ranked; all else is reported."""
    findings = Findings(raw)
    typed = []
    for system, column in zip(systems, columns, strict=True):
        words = raw.frame[column].str.strip_chars()
        number = words.cast(pl.Int64, strict=False)
        wrong = words.is_not_null() & ((number < 1) & (number != BLANK) | number.is_null())
        message = "'{}' is no rank; expected a whole number from 1, or -1 for none"
        findings.rows(wrong, column, raw.frame[column], message)
        nameless = raw.frame[system].is_null() & (number >= 1)
        findings.rows(nameless, system, raw.frame[system], "is empty, but has a rank; name it")
        typed.append(number.fill_null(BLANK).alias(column))
    findings.stop()
    return pl.DataFrame(typed)


def winner(left: str, right: str) -> pl.Expr:
    """Who won, by the ranks in two columns; the lower rank is better."""
    first, second = pl.col(left), pl.col(right)
    won = pl.when(first < second).then(pl.lit("left")).when(first > second).then(pl.lit("right"))
    return won.otherwise(pl.lit("tie")).alias("winner")


def about(frame: pl.DataFrame, *, numbered: bool) -> list[pl.Series]:
    """What every line says of its judgments: language pair, screen, document, segment, judge.

    Where the file has no numbers of screens, every line is one, if ``numbered``. The index in the
    test set is kept beside a segment name that differs from it.
    """
    index = _used(frame, "srcindex")
    segment = _used(frame, "segmentid").fill_null(index)
    index = index.fill_null(segment)
    found = {
        "lp": _pair(frame),
        "set": _screens(frame, numbered=numbered),
        "doc": _used(frame, "documentid"),
        "seg": segment,
        "rater": _used(frame, "judgeid"),
    }
    if (index != segment).any():
        found["srcIndex"] = index
    named = [values.alias(name) for name, values in found.items()]
    return [values for values in named if values.null_count() < len(values)]


def _pair(frame: pl.DataFrame) -> pl.Series:
    parts = frame.select(pl.col("srclang", "trglang").replace("", None))
    return parts.select(
        pl.concat_str("srclang", "trglang", separator="-", ignore_nulls=True).replace("", None)
    ).to_series()


def _screens(frame: pl.DataFrame, *, numbered: bool) -> pl.Series:
    given = _used(frame, "rankingid")
    if given.null_count() < len(given) or not numbered:
        return given
    return pl.Series(range(1, frame.height + 1), dtype=pl.Int64).cast(pl.String)


def _used(frame: pl.DataFrame, name: str) -> pl.Series:
    if name not in frame.columns:
        return pl.Series([None] * frame.height, dtype=pl.String)
    return frame[name].replace(UNUSED, None)


def judgments(pairs: pl.DataFrame, raw: Raw, blanks: int, options: Options) -> Raw:
    """The table of pairs, each with the ``_row`` of the file it comes from, without blank ranks.

    ``_blank`` says which pairs have an output that was left unranked; ``blanks`` counts these
    outputs.
    """
    notes = list(raw.notes)
    dropped = int(pairs["_blank"].sum())
    if blanks and options.blanks == "best":
        notes.append(f"{blanks} outputs were left unranked and count as ranked best")
    elif blanks:
        pairs = pairs.filter(~pl.col("_blank"))
        notes.append(f"{blanks} outputs were left unranked; their {dropped} pairs are left out")
    rows = pairs["_row"].to_list()
    table = pairs.drop("_row", "_blank")

    def lines(wanted: Sequence[int]) -> list[int]:
        return raw.lines([rows[row] for row in wanted])

    return choose_lp(Raw(table, raw.source, lines, tuple(notes)), options.lp)
