"""Numbers as people write them in their own tables: 77,5 and 85% and 4/5 and "3 - fair".

A column is understood as a whole, in one way, or not at all. Assay's own tables have only plain
numbers.
"""

from __future__ import annotations

import re
from datetime import datetime

import polars as pl

from assay.tables.load import MISSING

COMMA = r"[+-]?\d+(,\d+)?"
CLOCK = r"\d+:[0-5]?\d:[0-5]?\d(\.\d+)?"
OUT_OF = r"(\d+(?:\.\d+)?)\s*/\s*(\d+)"
STARS = "★+☆*"
LABELLED = r"([+-]?\d+(?:\.\d+)?)\s*[-\u2013\u2014:=.(]\s*([^\d\s][^\d]*?)\)?"

DAY_NOUGHT, LONGEST = datetime(1899, 12, 31), 86400.0
MOST_STEPS = 12
"""Of more different texts, or of texts that hardly repeat, none is a step of a scale."""


_DECIMAL_COMMA = re.compile(r"[+-]?\d+(?:[.\s]\d{3})*,\d+")


def as_written(values: pl.Series) -> pl.Series:
    """Values of any type as strings; whole floats (a spreadsheet's 1.0) as whole numbers."""
    if values.dtype.is_float():
        # Beyond 2^53 a float is no longer an exact whole number; it is kept as it is written.
        whole = (values.abs() < 2**53) & (values == values.round())
        number = values.cast(pl.Int64, strict=False).cast(pl.String)
        return number.zip_with(whole.fill_null(False), values.cast(pl.String))
    if values.dtype.is_nested() or values.dtype in (pl.Binary, pl.Object, pl.Duration):
        words = [None if value is None else str(value) for value in values.to_list()]
        return pl.Series(values.name, words, dtype=pl.String)
    return values.cast(pl.String)


def not_a_number(value: str) -> str:
    """The message about a cell that should be a number."""
    if _DECIMAL_COMMA.fullmatch(value.strip()):
        return f"'{value}' has a decimal comma; write decimals with a point (0.5, not 0,5)"
    return f"'{value}' is not a number; correct it or leave the cell empty"


def understood(values: pl.Series) -> tuple[pl.Series, str] | None:
    """A column of text as numbers, and how it was read; None where it is not written in one way.

    >>> read, how = understood(pl.Series(["4 - good", "2 - poor"] * 2))
    >>> read.to_list(), how
    ([4.0, 2.0, 4.0, 2.0], 'the number before the word')
    >>> understood(pl.Series(["1,500", "2,250"])) is None  # thousands, or decimals?
    True
    """
    if values.dtype != pl.String:
        return None
    words = values.str.strip_chars()
    words = words.set(words.str.to_lowercase().is_in(MISSING), None)
    known = words.drop_nulls().unique()
    if not len(known):
        return None
    if known.str.ends_with("%").all():
        inner = understood(words.str.head(-1)) or (words.str.head(-1), "")
        number = inner[0].str.strip_chars() if inner[0].dtype == pl.String else inner[0]
        return _sure(number, words, "85% as 85")
    if _all(known, COMMA) and known.str.contains(r",(\d{1,2}|\d{4,})$").any():
        return _sure(words.str.replace(",", ".", literal=True), words, "0,5 as 0.5")
    if _all(known, OUT_OF) and known.str.extract(OUT_OF, 2).n_unique() == 1:
        most = known.str.extract(OUT_OF, 2)[0]
        return _sure(words.str.extract(OUT_OF, 1), words, f"a number out of {most}")
    if _all(known, STARS):
        return words.str.count_matches("★").cast(pl.Float64), "★★★☆☆ as 3"
    steps = len(known) <= MOST_STEPS and 2 * len(known) <= len(words.drop_nulls())
    if steps and _all(known, LABELLED) and _one_to_one(known):
        return _sure(words.str.extract(LABELLED, 1), words, "the number before the word")
    return None


def seconds_of(values: pl.Series) -> pl.Series | None:
    """Times of a clock, 0:01:23, as seconds; None where a column has anything else.

    1:23 is refused: it may be minutes and seconds, or hours and minutes.

    >>> seconds_of(pl.Series(["0:01:23", None])).to_list()
    [83.0, None]
    """
    if values.dtype in (pl.Time, pl.Duration):
        return values.cast(pl.Duration).dt.total_milliseconds() / 1000
    if isinstance(values.dtype, pl.Datetime):
        # A spreadsheet's times without a day are of the day before its first.
        past = (values - DAY_NOUGHT).dt.total_milliseconds() / 1000
        return past if past.is_between(0, LONGEST).all() else None
    if values.dtype != pl.String:
        return None
    words = values.str.strip_chars()
    words = words.set(words == "", None)
    if words.null_count() == len(words) or not _all(words.drop_nulls(), CLOCK):
        return None
    hours, minutes, seconds = (words.str.split(":").list.get(k).cast(pl.Float64) for k in range(3))
    return 3600 * hours + 60 * minutes + seconds


def _all(words: pl.Series, pattern: str) -> bool:
    return bool(words.str.contains(f"^(?:{pattern})$").all())


def _one_to_one(words: pl.Series) -> bool:
    """Whether numbers and words match one to one, as the steps of a scale do."""
    number = words.str.extract(LABELLED, 1)
    label = words.str.extract(LABELLED, 2).str.to_lowercase().str.replace_all(r"\s+", " ")
    pairs = pl.DataFrame({"number": number, "label": label}).unique()
    return pairs["number"].is_unique().all() and pairs["label"].is_unique().all()


def _sure(number: pl.Series, words: pl.Series, how: str) -> tuple[pl.Series, str] | None:
    """The numbers, unless some word is not a number."""
    read = number.cast(pl.Float64, strict=False)
    return None if (read.is_null() & words.is_not_null()).any() else (read, how)
