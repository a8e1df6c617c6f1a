"""What a plan rests on: arguments checked, the rest taken from a pilot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral

from assay.errors import InputError, OptionError
from assay.planning.pilot import Pilot, read_pilot
from assay.stats.precision import Precision
from assay.tables.answers import Ratings
from assay.tables.test_set import TestSet

SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0)
"""Sizes of a curve where the user names none."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Precision without and with metrics, and what a rated output costs."""

    plain: Precision
    with_metrics: Precision | None
    sd_interval: tuple[float, float] | None
    ratings_per_output: float
    seconds_per_rating: float | None
    cost_per_rating: float | None
    source: str
    notes: tuple[str, ...]

    @property
    def correlation(self) -> float | None:
        """That of ratings and metrics, None where nothing is known of metrics."""
        return None if self.with_metrics is None else self.with_metrics.correlation

    @property
    def features(self) -> int:
        """The number of metrics behind the correlation."""
        return 0 if self.with_metrics is None else self.with_metrics.features

    def minutes(self, n: int | None, systems: int) -> float | None:
        """Time for n segments of all systems."""
        if n is None or self.seconds_per_rating is None:
            return None
        return n * systems * self.ratings_per_output * self.seconds_per_rating / 60

    def money(self, n: int | None, systems: int) -> float | None:
        """Cost of n segments of all systems."""
        if n is None or self.cost_per_rating is None:
            return None
        return n * systems * self.ratings_per_output * self.cost_per_rating

    def at_sd(self, sd: float) -> Precision:
        """The precision if the standard deviation were this one."""
        return replace(self.plain, sd=sd)


def assume(
    argument: str,
    sd: float | None,
    *,
    population: int | None,
    correlation: float | None,
    features: int | None,
    pilot: tuple[TestSet, Ratings] | None,
    level: float,
    design_effect: float,
    seconds_per_rating: float | None,
    cost_per_rating: float | None,
) -> Assumptions:
    """Check the arguments that plans share, and fill in from the pilot what they leave open.

    ``argument`` is the name of the standard deviation: that of ratings or of differences.
    """
    _check(population, level, correlation, features)
    for name, value, example in (
        (argument, sd, "3"),
        ("design_effect", design_effect, "1 (a simple random sample) or 1.5"),
        ("seconds_per_rating", seconds_per_rating, "30"),
        ("cost_per_rating", cost_per_rating, "0.25"),
    ):
        need_positive(name, value, example)
    if pilot is None:
        known = None
        if sd is None:
            raise InputError(
                f"neither {argument} nor a pilot is given; give the standard deviation"
                f" ({argument}=3) or the ratings of a pilot to estimate it from"
            )
        if population is None:
            raise InputError("population is not given; give the number of segments of the test set")
    else:
        known = read_pilot(pilot, level, differences=argument == "difference_sd")
    return _joined(
        known, sd, population, correlation, features, level, design_effect,
        seconds_per_rating, cost_per_rating,
    )  # fmt: skip


def _joined(
    known: Pilot | None,
    sd: float | None,
    population: int | None,
    correlation: float | None,
    features: int | None,
    level: float,
    design_effect: float,
    seconds: float | None,
    cost: float | None,
) -> Assumptions:
    """What the user gave, else what the pilot says."""
    notes = () if known is None else known.notes
    r, p = correlation, features or 1
    if known is not None and correlation is None:
        r, p = known.correlation, features or known.features
    if known is not None and (sd is not None or correlation is not None):
        notes += ("pilot: values given by hand are used instead of the pilot's",)
    if known is not None and known.ratings_per_output > 1.005:
        notes += (
            f"an output has {known.ratings_per_output:.3g} ratings in the pilot; the plan takes"
            " their mean as the score, and counts as many for minutes and money",
        )
    total = population if population is not None else known.population if known else 0
    width = sd if sd is not None else known.sd if known else 0.0
    plain = Precision(total, width, level, design_effect)
    return Assumptions(
        plain=plain,
        with_metrics=None if r is None else replace(plain, correlation=r, features=p),
        sd_interval=None if known is None or sd is not None else (known.low, known.high),
        ratings_per_output=1.0 if known is None else known.ratings_per_output,
        seconds_per_rating=known.seconds if known and seconds is None else seconds,
        cost_per_rating=cost,
        source="given" if known is None else "pilot",
        notes=notes,
    )


def _check(
    population: int | None, level: float, correlation: float | None, features: int | None
) -> None:
    if population is not None:
        need_whole("population", population, 2)
    if not 0 < level < 1:
        raise OptionError("level", level, "is no confidence level", "give a number like 0.95")
    if correlation is not None and not abs(correlation) < 1:
        raise OptionError(
            "correlation", correlation, "is not between -1 and 1",
            "give that of ratings and metrics, like 0.4",
        )  # fmt: skip
    if features is not None:
        need_whole("features", features, 1)


def need_positive(argument: str, value: float | None, example: str) -> None:
    """Refuse a number that is not positive and finite; None is no number at all."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise OptionError(argument, value, "is not a positive number", f"give one like {example}")


def need_whole(argument: str, value: int, least: int) -> None:
    """Refuse what is no whole number from ``least`` on."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise OptionError(
            argument, value, f"is not a whole number from {least} on", f"give at least {least}"
        )


def curve_sizes(sizes: Sequence[int] | None, population: int) -> list[int]:
    """The sizes of a curve, rising; by default round shares of the test set."""
    if sizes is None:
        return sorted({min(population, max(2, round(share * population))) for share in SHARES})
    for size in sizes:
        need_whole("sizes", size, 2)
        if size > population:
            raise OptionError(
                "sizes", size, f"exceeds the {population} segments", f"give at most {population}"
            )
    return sorted({int(size) for size in sizes})
