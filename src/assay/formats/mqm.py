"""Marked errors: how they become one score per output, what they are called, where they stand.

The weights of Freitag et al. (2021), as published with the data: non-translation 25, major 5,
minor 1, minor punctuation 0.1; the sum of an output is capped at 25, and 0 is perfect.

Offsets of spans count code points in Assay and UTF-16 units in browsers; a character beyond U+FFFF
(most emoji) is one code point and two UTF-16 units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from types import MappingProxyType

import polars as pl

from assay.errors import OptionError, need_known

NO_ERROR = "No-error"
"""Category and severity of an output that was looked at and has no errors."""

NO_CATEGORY = "unspecified"
"""The category of an error where the tool asks for none."""

NO_SEVERITY = "undecided"
"""The severity of an error where none was given."""


@dataclass(frozen=True)
class Weights:
    """What an error costs: by severity, unless its category begins with a name in ``categories``.

    Names are compared in lower case, without a trailing ``!``. ``categories`` maps a beginning of
    the category, or ``beginning:severity``, to a weight and is looked at first, longest first.
    """

    severities: Mapping[str, float] = field(
        default_factory=lambda: {
            "critical": 5.0, "major": 5.0, "minor": 1.0, "neutral": 0.0,
            "no-error": 0.0, "no error": 0.0,
        }
    )  # fmt: skip
    categories: Mapping[str, float] = field(
        default_factory=lambda: {
            "non-translation": 25.0, "no-error": 0.0, "no error": 0.0,
            "fluency/punctuation:minor": 0.1,
        }
    )  # fmt: skip
    cap: float | None = 25.0
    changed: tuple[str, ...] = ()
    """The severities whose weight the user set: each must be known, or stand in the file."""

    def __post_init__(self) -> None:
        for name in ("severities", "categories"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __str__(self) -> str:
        return ", ".join(f"{name}={self.severities[name]:g}" for name in self.changed) or "own"

    def of(self, category: str, severity: str) -> float | None:
        """The weight of one error; None where the severity is not known.

        >>> GOOGLE_WEIGHTS.of("Fluency/Punctuation", "Minor"), GOOGLE_WEIGHTS.of("Style", "huge")
        (0.1, None)
        """
        words, grade = category.lower().rstrip("!"), severity.lower()
        for beginning in sorted(self.categories, key=len, reverse=True):
            prefix, _, wanted = beginning.partition(":")
            if words.startswith(prefix) and wanted in ("", grade):
                return self.categories[beginning]
        return self.severities.get(grade)


GOOGLE_WEIGHTS = Weights()


def make_weights(changes: Mapping[str, float]) -> Weights:
    """Google's weights with those of some severities changed, or of others added.

    >>> make_weights({"Major": 10}).of("Style", "major")
    10.0
    """
    changed = {name.strip().lower(): float(weight) for name, weight in changes.items()}
    for name, weight in changed.items():
        shown = f"{name}={weight:g}"
        if not (isfinite(weight) and weight >= 0):
            fault = "is not a weight: weights are 0 or more"
            raise OptionError("weights", shown, fault, "write it without a sign, as in major=5")
        if GOOGLE_WEIGHTS.categories.get(name) == 0 and weight:
            fault = "gives a weight to what is not an error"
            raise OptionError("weights", shown, fault, "leave it out")
    severities = {**GOOGLE_WEIGHTS.severities, **changed}
    return replace(GOOGLE_WEIGHTS, severities=severities, changed=tuple(changed))


def unknown_changes(errors: pl.DataFrame, weights: Weights) -> list[str]:
    """The changed severities that are neither known nor among the errors: most likely slips."""
    return [name for name in weights.changed if name not in _known(errors)]


def _known(errors: pl.DataFrame) -> list[str]:
    here = errors["severity"].drop_nulls().unique(maintain_order=True).str.to_lowercase()
    return list(dict.fromkeys([*GOOGLE_WEIGHTS.severities, *here]))


def mqm_scores(errors: pl.DataFrame, weights: Weights = GOOGLE_WEIGHTS) -> pl.DataFrame:
    """Ratings from errors: one row per system, segment and rater that the errors name.

    An output without errors needs a ``No-error`` row to be known as rated. Severities without a
    weight give a null ``score``, which the caller reports. Weights of severities that are neither
    known nor among the errors are refused.
    """
    for name in unknown_changes(errors, weights):
        fault = "names a severity that is neither known nor in the file"
        need_known("weights", name, _known(errors), fault)
    key = [name for name in ("lp", "system", "doc", "seg", "rater") if name in errors.columns]
    total = pl.col("_weight").sum()
    if weights.cap is not None:
        total = total.clip(upper_bound=weights.cap)
    unknown = pl.col("_weight").is_null().any()
    priced = errors.with_columns(error_weights(errors, weights))
    return priced.group_by(key, maintain_order=True).agg(
        pl.when(unknown).then(None).otherwise(total.round(6)).alias("score")
    )


def error_weights(errors: pl.DataFrame, weights: Weights) -> pl.Series:
    """The weight of every error, as ``_weight``; null where the severity has none."""
    kinds = errors.select("category", "severity").unique()
    values = pl.Series("_weight", [weights.of(*kind) for kind in kinds.rows()], dtype=pl.Float64)
    priced, on = kinds.with_columns(values), ["category", "severity"]
    return errors.select(on).join(priced, on=on, how="left", maintain_order="left")["_weight"]


def code_points(text: str, *, skip: str = "") -> list[int]:
    r"""For every UTF-16 unit of the text, the code point it belongs to.

    Characters in ``skip`` are passed over: some editors do not count line breaks.

    >>> code_points("a😀b"), code_points("a\nb", skip="\n")
    ([0, 1, 1, 2], [0, 2])
    """
    return [
        position
        for position, sign in enumerate(text)
        if sign not in skip
        for _ in range(2 if sign > "\uffff" else 1)
    ]


def from_inclusive(units: list[int], first: int, last: int) -> tuple[int, int] | None:
    """Half-open code points of the UTF-16 units ``first`` to ``last``, both included.

    ``units`` is what :func:`code_points` gives; None where the span is not inside the text.

    >>> from_inclusive(code_points("a😀b"), 1, 2)
    (1, 2)
    """
    if not 0 <= first <= last < len(units):
        return None
    return units[first], units[last] + 1


def from_utf16(text: str, offset: int) -> int | None:
    """The code-point offset of a UTF-16 offset; None outside the text or inside a character.

    >>> from_utf16("a😀b", 3), from_utf16("a😀b", 2)
    (2, None)
    """
    units = [*code_points(text), len(text)]
    if not 0 <= offset < len(units) or (offset and units[offset] == units[offset - 1]):
        return None
    return units[offset]
