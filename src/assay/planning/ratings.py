"""How many ratings a wanted precision takes, or finding a gap between two systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from assay.errors import InputError, OptionError, need_positive, need_share, need_whole
from assay.planning.pilot import Pilot, read_pilot
from assay.planning.plan import Plan
from assay.results import Note, plain, signature
from assay.stats.intervals import LEVEL, POWER, Precision
from assay.tables.answers import Ratings
from assay.tables.test_set import TestSet

SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0)
"""Sizes of a curve where the user names none."""

PAIR = 2


@dataclass(frozen=True, slots=True)
class PlanPoint:
    """What n rated segments of each system bring, and what they cost for all systems.

    ``power`` is that of finding the gap, None where there is none to be found.
    """

    n: int
    share: float
    half_width: float
    half_width_with_metrics: float | None
    power: float | None
    power_with_metrics: float | None
    minutes: float | None
    money: float | None


@dataclass(frozen=True, slots=True)
class PrecisionPlan(Plan):
    """How many segments to rate, and everything that was assumed to say so.

    ``needed`` segments of every system reach the goal, ``needed_with_metrics`` with a
    regression on metrics; ``needed_range`` is ``needed`` at the ends of the pilot's interval of
    the sd. ``everything`` says that only rating the whole test set reaches the goal.
    """

    needed_with_metrics: int | None
    needed_range: tuple[int, int] | None
    everything: bool
    population: int
    sd_interval: tuple[float, float] | None
    correlation: float | None
    features: int
    design_effect: float
    ratings_per_output: float
    seconds_per_rating: float | None
    cost_per_rating: float | None
    ratings: float | None
    minutes: float | None
    minutes_with_metrics: float | None
    money: float | None
    money_with_metrics: float | None
    curve: tuple[PlanPoint, ...]

    def to_frame(self) -> pl.DataFrame:
        """The curve, one row per size."""
        frame = pl.DataFrame([plain(point) for point in self.curve], infer_schema_length=None)
        return frame.with_columns(pl.all().exclude("n").cast(pl.Float64))

    def _signature(self, sd: float, **goal: str | None) -> str:
        return signature(
            self.kind, self.source, N=self.population, sd=f"{sd:.4g}",
            r=None if self.correlation is None else f"{self.correlation:.3g}",
            t=f"{self.level:g}", **goal,
            effect=None if self.design_effect == 1 else f"{self.design_effect:g}",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RatingsPlan(PrecisionPlan, kind="plan-ratings"):
    """A plan whose goal is the ``half_width`` of intervals; None where only the curve is asked for.

    ``sd`` is that of the ratings of one system's segments.
    """

    half_width: float | None
    sd: float
    systems: int

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        goal = None if self.half_width is None else f"{self.half_width:g}"
        return self._signature(self.sd, half_width=goal)


@dataclass(frozen=True, slots=True)
class ComparisonPlan(PrecisionPlan, kind="plan-comparison"):
    """A plan whose goal is to find a ``gap`` between two systems with probability ``power``.

    Both are rated on the same segments; ``difference_sd`` is the sd of the paired differences.
    """

    gap: float
    power: float
    difference_sd: float

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return self._signature(self.difference_sd, gap=f"{self.gap:g}", power=f"{self.power:g}")


def plan_ratings(
    *,
    population: int | None = None,
    half_width: float | None = None,
    sd: float | None = None,
    correlation: float | None = None,
    features: int | None = None,
    pilot: tuple[TestSet, Ratings] | None = None,
    level: float = LEVEL,
    design_effect: float = 1.0,
    systems: int = 1,
    seconds_per_rating: float | None = None,
    cost_per_rating: float | None = None,
    sizes: Sequence[int] | None = None,
) -> RatingsPlan:
    """Plan how many segments to rate for an interval of a wanted half-width.

    The half-width of a simple random sample is t sd sqrt(D (1 - n/N) / n), t Student's quantile
    with n - 1 degrees of freedom; with metrics, (1 - r^2)(1 + p/n) more under the root and p
    fewer degrees.

    population: segments of the test set (N). sd: of the ratings of one system's segments.
    correlation: multiple correlation of ratings and metrics (r), ``features`` their number (p, 1).
    pilot: a test set and ratings of some of it, to estimate what is not given.
    design_effect: variance of the design against a simple random sample (D). systems: how many are
    rated, for minutes and money. sizes: where to show the curve.

    >>> plan = plan_ratings(population=1400, sd=3.0, correlation=0.4, half_width=0.3)
    >>> plan.needed, plan.needed_with_metrics
    (304, 266)
    """
    given = _assume(
        "sd", sd, pilot, population=population, correlation=correlation, features=features,
        level=level, design_effect=design_effect, seconds=seconds_per_rating, cost=cost_per_rating,
    )  # fmt: skip
    need_positive("half_width", half_width, "0.3")
    need_whole("systems", systems, 1)

    def needed(precision: Precision) -> int | None:
        return None if half_width is None else precision.n_for_half_width(half_width)

    common = _common(given, needed, systems, sizes, gap=None)
    return RatingsPlan(**common, half_width=half_width, sd=given.plain.sd, systems=systems)


def plan_comparison(
    *,
    gap: float,
    population: int | None = None,
    power: float = POWER,
    difference_sd: float | None = None,
    correlation: float | None = None,
    features: int | None = None,
    pilot: tuple[TestSet, Ratings] | None = None,
    level: float = LEVEL,
    design_effect: float = 1.0,
    seconds_per_rating: float | None = None,
    cost_per_rating: float | None = None,
    sizes: Sequence[int] | None = None,
) -> ComparisonPlan:
    """Plan how many segments to rate for both of two systems so that a gap is found.

    Found means that the interval of the difference leaves out zero. With a true difference
    ``gap``, the t of n matched segments is noncentral with gap / (sd sqrt(D (1 - n/N) / n)); the
    plan is the smallest n for which it is significant with probability ``power``.

    difference_sd: of the differences of the two systems' ratings of a segment, or from a pilot with
    two systems or more (pooled over pairs). correlation: of these differences with differences
    of metrics. The other arguments are those of :func:`plan_ratings`.

    >>> plan = plan_comparison(gap=0.4, difference_sd=3.0, population=2000, power=0.8)
    >>> plan.needed, round(plan.curve[3].power, 2)
    (364, 0.84)
    """
    given = _assume(
        "difference_sd", difference_sd, pilot, population=population, correlation=correlation,
        features=features, level=level, design_effect=design_effect, seconds=seconds_per_rating,
        cost=cost_per_rating,
    )  # fmt: skip
    need_positive("gap", gap, "0.4")
    need_share("power", power, "0.8")
    common = _common(given, lambda spread: spread.n_for_power(gap, power), PAIR, sizes, gap=gap)
    return ComparisonPlan(**common, gap=gap, power=power, difference_sd=given.plain.sd)


@dataclass(frozen=True, slots=True)
class _Assumptions:
    """Precision without and with metrics, and what a rated output costs."""

    plain: Precision
    with_metrics: Precision | None
    sd_interval: tuple[float, float] | None
    ratings_per_output: float
    seconds_per_rating: float | None
    cost_per_rating: float | None
    source: Literal["given", "pilot"]
    notes: tuple[Note, ...]

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


def _assume(
    argument: Literal["sd", "difference_sd"], sd: float | None,
    pilot: tuple[TestSet, Ratings] | None, *, population: int | None, correlation: float | None,
    features: int | None, level: float, design_effect: float, seconds: float | None,
    cost: float | None,
) -> _Assumptions:  # fmt: skip
    """Check the arguments that both plans share, and take from the pilot what they leave open."""
    if population is not None:
        need_whole("population", population, 2)
    need_share("level", level, "0.95")
    if correlation is not None and not abs(correlation) < 1:
        remedy = "give that of ratings and metrics, like 0.4"
        raise OptionError("correlation", correlation, "is not between -1 and 1", remedy)
    if features is not None:
        need_whole("features", features, 1)
    for name, value, example in (
        (argument, sd, "3"),
        ("design_effect", design_effect, "1 (a simple random sample) or 1.5"),
        ("seconds_per_rating", seconds, "30"),
        ("cost_per_rating", cost, "0.25"),
    ):
        need_positive(name, value, example)
    if pilot is not None:
        known = read_pilot(pilot, level, differences=argument == "difference_sd")
        return _from_pilot(
            known, sd, population, correlation, features, level, design_effect, seconds, cost
        )
    if sd is None:
        raise InputError(
            f"neither `{argument}` nor a pilot is given; give the standard deviation, such as 3,"
            " or a pilot to estimate it from"
        )
    if population is None:
        raise InputError("`population` is not given; give the number of segments of the test set")
    precision = Precision(population, sd, level, design_effect)
    better = None if correlation is None else replace(
        precision, correlation=correlation, features=features or 1
    )  # fmt: skip
    return _Assumptions(precision, better, None, 1.0, seconds, cost, "given", ())


def _from_pilot(
    pilot: Pilot, sd: float | None, population: int | None, correlation: float | None,
    features: int | None, level: float, design_effect: float, seconds: float | None,
    cost: float | None,
) -> _Assumptions:  # fmt: skip
    """What was given, else what the pilot says."""
    notes = [*pilot.notes]
    if sd is not None or correlation is not None:
        notes.append(Note("given-by-hand", "pilot: values given by hand replace the pilot's"))
    if pilot.ratings_per_output > 1.005:
        notes.append(Note(
            "ratings-per-output",
            f"outputs have {pilot.ratings_per_output:.3g} ratings each in the pilot; the plan"
            " takes their mean as the score, and counts that many for time and cost",
        ))  # fmt: skip
    r, p = (correlation, 1) if correlation is not None else (pilot.correlation, pilot.features)
    precision = Precision(
        pilot.population if population is None else population,
        pilot.sd if sd is None else sd, level, design_effect,
    )  # fmt: skip
    return _Assumptions(
        plain=precision,
        with_metrics=None if r is None else replace(
            precision, correlation=r, features=features or p
        ),
        sd_interval=(pilot.low, pilot.high) if sd is None else None,
        ratings_per_output=pilot.ratings_per_output,
        seconds_per_rating=pilot.seconds if seconds is None else seconds,
        cost_per_rating=cost,
        source="pilot",
        notes=tuple(notes),
    )  # fmt: skip


def _common(
    given: _Assumptions, needed_for: Callable[[Precision], int | None], systems: int,
    sizes: Sequence[int] | None, *, gap: float | None,
) -> dict[str, Any]:  # fmt: skip
    """The fields that both plans share."""
    base, better = given.plain, given.with_metrics
    needed = needed_for(base)
    fewer = None if better is None else needed_for(better)
    ends = [needed_for(replace(base, sd=sd)) for sd in given.sd_interval or ()]
    return {
        "needed": needed,
        "level": base.level,
        "source": given.source,
        "notes": (*given.notes, *_remarks(base, needed, fewer)),
        "needed_with_metrics": fewer,
        "needed_range": None if needed is None or not ends else tuple(ends),
        "everything": needed == base.population,
        "population": base.population,
        "sd_interval": given.sd_interval,
        "correlation": None if better is None else better.correlation,
        "features": 0 if better is None else better.features,
        "design_effect": base.effect,
        "ratings_per_output": given.ratings_per_output,
        "seconds_per_rating": given.seconds_per_rating,
        "cost_per_rating": given.cost_per_rating,
        "ratings": None if needed is None else needed * systems * given.ratings_per_output,
        "minutes": given.minutes(needed, systems),
        "minutes_with_metrics": given.minutes(fewer, systems),
        "money": given.money(needed, systems),
        "money_with_metrics": given.money(fewer, systems),
        "curve": _curve(given, _sizes(sizes, base.population), systems, gap),
    }


def _remarks(base: Precision, needed: int | None, fewer: int | None) -> list[Note]:
    notes = []
    if needed == base.population:
        text = f"only rating all {needed:,} segments reaches the goal"
        notes.append(Note("everything-needed", text))
    if needed is not None and fewer is not None and fewer > needed:
        text = (
            "metrics this weak do not help: they cost more degrees of freedom than they save"
            " in ratings"
        )
        notes.append(Note("weak-metrics", text))
    return notes


def _sizes(sizes: Sequence[int] | None, population: int) -> list[int]:
    """The sizes of a curve, rising; by default round shares of the test set."""
    if sizes is None:
        return sorted({min(population, max(2, round(share * population))) for share in SHARES})
    for size in sizes:
        need_whole("sizes", size, 2)
        if size > population:
            fault = f"exceeds the {population:,} segments"
            raise OptionError("sizes", size, fault, f"give at most {population:,}")
    return sorted({int(size) for size in sizes})


def _curve(
    given: _Assumptions, sizes: list[int], systems: int, gap: float | None
) -> tuple[PlanPoint, ...]:
    n = np.array(sizes)
    unknown = [None] * len(sizes)

    def widths(spread: Precision | None) -> Sequence[float | None]:
        return unknown if spread is None else spread.half_width(n).tolist()

    def powers(spread: Precision | None) -> Sequence[float | None]:
        return unknown if spread is None or gap is None else spread.power(n, gap).tolist()

    columns = (
        sizes, (n / given.plain.population).tolist(), given.plain.half_width(n).tolist(),
        widths(given.with_metrics), powers(given.plain), powers(given.with_metrics),
        [given.minutes(size, systems) for size in sizes],
        [given.money(size, systems) for size in sizes],
    )  # fmt: skip
    return tuple(PlanPoint(*row) for row in zip(*columns, strict=True))
