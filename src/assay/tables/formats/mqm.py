"""MQM weights: how marked errors become one score per output.

The weights of Freitag et al. (2021), as published with the data: non-translation 25, major 5,
minor 1, minor punctuation 0.1; the sum of an output is capped at 25, and 0 is perfect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import polars as pl

__all__ = ["GOOGLE_WEIGHTS", "Weights", "mqm_scores"]


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

    def __post_init__(self) -> None:
        for name in ("severities", "categories"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

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


def mqm_scores(errors: pl.DataFrame, weights: Weights = GOOGLE_WEIGHTS) -> pl.DataFrame:
    """Ratings from errors: one row per system, segment and rater that the errors name.

    An output without errors needs a ``No-error`` row to be known as rated. Severities without a
    weight give a null ``score``, which the caller reports.
    """
    key = [name for name in ("lp", "system", "doc", "seg", "rater") if name in errors.columns]
    kinds = errors.select("category", "severity").unique()
    weight = [weights.of(category, severity) for category, severity in kinds.rows()]
    priced = errors.join(
        kinds.with_columns(pl.Series("_weight", weight, dtype=pl.Float64)),
        on=["category", "severity"], how="left", maintain_order="left",
    )  # fmt: skip
    total = pl.col("_weight").sum()
    if weights.cap is not None:
        total = total.clip(upper_bound=weights.cap)
    unknown = pl.col("_weight").is_null().any()
    return priced.group_by(key, maintain_order=True).agg(
        pl.when(unknown).then(None).otherwise(total.round(6)).alias("score")
    )
