"""A column by its name and values, and the roles that it may have in a table.

How sure that is: :data:`OWN`, by Assay's name; :data:`KNOWN`, by a known name; :data:`LIKELY`, by a
vague or near one. Values decide where a name can mean a text, a number or a name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from assay.tables.load import MISSING
from assay.tables.names import (
    AVERAGED,
    COUNTS,
    DIMENSIONS,
    FILLERS,
    MACHINES,
    METRIC,
    PEOPLE,
    PERSONAL,
    RANKS,
    SIDES,
    STANDARDISED,
    YES_OR_NO,
    headed,
    known_as,
    listed,
    nearly,
    seconds_in,
    stem_of,
    without_language,
    words_of,
)
from assay.tables.numerals import seconds_of, understood
from assay.tables.schemas import RESERVED

NEARLY_NUMBERS, SOME_NUMBERS = 0.95, 0.3
"""A text column with the first share of numbers is a metric with faults; from the second on, the
user learns that it is not used as one."""

OWN, KNOWN, LIKELY = 3, 2, 1
"""How sure a column is what it seems: by Assay's name, by a known name, by a vague or near one."""
TEXTS = ("source", "target", "reference", "mt", "edited")
NUMBERS = ("score", "seconds", "words", "start", "end", "position", "probability", "cost")
LONG_TEXT = 30
"""Characters on average from which on a column holds texts and no names."""
GENERIC = frozenset(["id", "ids", "no", "nr", "num", "number", "n", "idx", "index", "key", "uuid"])
TIME = frozenset(["time", "duration", "zeit", "dauer", "temps", "duree", "tiempo", "tempo"])
SCORED = frozenset(["score", "scores", "rating", "ratings", "points", "grade"])
"""Words in the name of any score, whatever it is of."""


@dataclass(frozen=True)
class SeenColumn:
    """A column as its name and values show it."""

    name: str
    words: list[str]
    stem: str
    values: pl.Series
    numeric: bool
    whole: bool
    text: bool
    distinct: int
    numbers: np.ndarray
    """The values of a numeric column, NaN for an empty cell."""

    @property
    def joined(self) -> str:
        """The words of the name as one."""
        return "".join(self.words)

    @property
    def unique_texts(self) -> list[str]:
        """The values, each once, as text."""
        return self.values.drop_nulls().unique().cast(pl.String).to_list()


def _numbers(values: pl.Series) -> np.ndarray:
    if values.dtype == pl.String:
        values = values.str.strip_chars().str.replace(",", ".", literal=True)
    return values.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()


def look_at(values: pl.Series) -> SeenColumn:
    """Describe a column without looking at the others."""
    words = words_of(values.name)
    numeric = values.dtype != pl.Boolean and numeric_share(values)[0] >= NEARLY_NUMBERS
    numeric = numeric and values.drop_nulls().len() > 0
    numbers = _numbers(values) if numeric else np.array([])
    if not numeric and (read := understood(values)) is not None:
        numeric, numbers = True, _numbers(read[0])
    elif not numeric and (clock := seconds_of(values)) is not None:
        numeric, numbers = True, _numbers(clock)
    known = numbers[np.isfinite(numbers)]
    text = False
    if values.dtype == pl.String and not numeric:
        length, gaps = values.str.len_chars().mean(), values.str.count_matches(" ").mean()
        text = float(length or 0) > LONG_TEXT or float(gaps or 0) >= 3  # type: ignore[arg-type]
    whole = bool(numeric and (known == known.round()).all())
    return SeenColumn(
        values.name, words, stem_of(words), values, numeric, whole, text, values.n_unique(), numbers
    )


def numeric_share(values: pl.Series) -> tuple[float, str]:
    """The share of values that are numbers (decimal commas count), and a value that is not."""
    if values.dtype.is_numeric():
        return 1.0, ""
    if values.dtype != pl.String or values.null_count() == len(values):
        return 0.0, ""
    values = values.drop_nulls().alias("word")
    for some in (values[:200], values)[len(values) <= 200 :]:  # most text ends at a glance
        word = pl.col("word").str.strip_chars()
        words = some.to_frame().lazy().select(word).filter(~word.str.to_lowercase().is_in(MISSING))
        number = word.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        found = words.select(
            number.is_not_null().mean().fill_null(0.0).alias("share"),
            word.filter(number.is_null()).first(),
        )
        share, example = found.collect().row(0)
        if share < SOME_NUMBERS:
            break
    return share, str(example)


def is_like(name: str, score: str) -> bool:
    """Whether a column is named like the score: another rater's, or the same in another form.

    >>> is_like("mqm_r2", "mqm_r1"), is_like("mqm", "mqm_r1"), is_like("mqmetric", "mqm")
    (True, True, False)
    """
    stem = re.sub(r"[ _.-]*[a-z]?\d+$", "", score.lower()) or score.lower()
    return re.fullmatch(rf"{re.escape(stem)}(?:[ _.-].*|\d*)", name.lower()) is not None


def fits(column: SeenColumn, role: str) -> bool:
    """Whether the values of a column allow this role."""
    if role in NUMBERS:
        return column.numeric
    if role in TEXTS:
        return column.values.dtype == pl.String and not column.numeric
    written = role in ("doc", "seg") and column.values.dtype == pl.String  # 1,001 is a name, too
    if column.text or (column.numeric and not column.whole and not written):
        return False
    if role == "check":
        return {value.lower() for value in column.unique_texts} <= YES_OR_NO
    if role in ("left", "right", "winner", "category", "severity"):
        return role == "winner" or not column.numeric
    # Names repeat: what differs in every row is a number of rows, or a text.
    return role in ("doc", "seg") or column.distinct < len(column.values) or column.distinct < 10


def strength(column: SeenColumn, role: str) -> int:
    """How strongly a column's name suggests this role; 0 if its values rule it out."""
    if column.name == role:
        return OWN
    if not fits(column, role):
        return 0
    if role == "score":
        return score_strength(column)
    if role in SIDES:
        return _side_strength(column, role)
    if role == "winner" and column.distinct > max(12, len(column.values) / 4):
        return 0
    if {column.joined, column.stem} & known_as(role):
        return KNOWN
    if role == "seconds" and seconds_in(column.name) != 1:
        return KNOWN if {*column.words[:-1]} & TIME or len(column.words[-1]) > 4 else 0
    if role in TEXTS and stem_of(words_of(without_language(column.name))) in known_as(role):
        return KNOWN
    if role in PERSONAL and personal(column):
        return LIKELY
    if role == "seg" and column.words and {*column.words} <= GENERIC:
        return LIKELY
    plain = all(len(word) > 1 and not word.isdigit() for word in column.words)
    near = plain and role not in NUMBERS and headed(column.joined, role)
    return LIKELY if near or (plain and nearly(column.stem, role)) else 0


def personal(column: SeenColumn) -> bool:
    """Whether a column has names of people, or of machines that do their work."""
    return bool({column.joined, column.stem} & listed(PEOPLE))


def is_metric(column: SeenColumn) -> bool:
    """Whether a column of numbers has the name of an automatic metric."""
    names = (column.name, column.joined, " ".join(column.words))
    trimmed = " ".join(word for word in column.words if word not in FILLERS)
    return column.numeric and any(METRIC.fullmatch(name) for name in (*names, trimmed))


def score_strength(column: SeenColumn) -> int:
    """How strongly the name of a column of numbers suggests the score."""
    if is_metric(column) or {*column.words} & STANDARDISED:
        return 0
    rest = [word for word in column.words if word not in FILLERS]
    said = {*column.words} & (SCORED - {"points", "grade"})
    if stem_of(rest) in known_as("score") or (said and not rest):
        return KNOWN
    if column.stem in known_as("score"):
        return KNOWN
    return LIKELY if stem_of(rest) in listed(DIMENSIONS) or (rest == [] and column.words) else 0


def names_score(column: SeenColumn) -> bool:
    """Whether a column without numbers is named like a score."""
    words = {column.stem, stem_of([word for word in column.words if word not in FILLERS])}
    return not column.numeric and bool(words & (known_as("score") | SCORED))


def _side_strength(column: SeenColumn, role: str) -> int:
    """How strongly a name suggests one of the two systems compared."""
    if column.stem in known_as(role):
        return KNOWN
    sides = [word for word in column.words if word in SIDES[role]]
    rest = stem_of([word for word in column.words if word not in SIDES[role]])
    if len(sides) == 1 and rest in known_as("system"):
        return KNOWN
    return LIKELY if len(sides) == 1 and not rest else 0


def has_role(column: SeenColumn) -> bool:
    """Whether this may be one of Assay's columns."""
    return any(strength(column, role) for role in RESERVED)


def counts(column: SeenColumn) -> bool:
    """Whether a column holds counts or numbers of something, by its name."""
    return column.whole and bool({*column.words} & COUNTS or "id" in column.words)


def side_by_side(free: Sequence[SeenColumn]) -> dict[str, dict[str, str]]:
    """Columns of numbers that may stand side by side, with their labels, by what they name."""
    found: dict[str, dict[str, str]] = {"rater": {}, "system": {}, "": {}}
    for column in free:
        averaged = {*column.words} & (AVERAGED | STANDARDISED)
        if not column.numeric or is_metric(column) or averaged or column.name in RESERVED:
            continue
        into, label = labelled(column.name, column.words)
        ranked = label != column.name and bool({*column.words} & RANKS)
        if into or ranked or not (counts(column) or has_role(column) or {*column.words} & TIME):
            found[into][column.name] = label
    return found


def labelled(name: str, words: Sequence[str]) -> tuple[str, str]:
    """Whether a column is named after a rater or a system, and the bare name."""
    scores = known_as("score") | FILLERS | RANKS
    kept = [word for word in words if word not in scores or word.isdigit()]
    said = {word for word in scores if not word.isdigit()}
    cut = [part for part in name.replace("_", " ").split() if {*words_of(part)} - said]
    label = " ".join(cut).strip(" -:/()") or name
    letters = "".join(word for word in kept if not word.isdigit())
    stem = stem_of([word for word in kept if not word.isdigit() and len(word) > 1])
    numbered = any(word.isdigit() or len(word) == 1 for word in kept)
    person = stem in known_as("rater") or stem in listed(PEOPLE)
    if kept and ((person and (numbered or len(kept) > 1)) or (letters in ("r", "a") and numbered)):
        return "rater", label
    people = [word for word in kept if word in known_as("rater")]
    if people and len(kept) > 1:
        return "rater", label
    system = stem in known_as("system") and numbered
    if system or MACHINES.fullmatch(" ".join(kept)) or MACHINES.fullmatch("".join(kept)):
        return "system", label
    return "", label
