"""How many ratings it takes to tell two systems apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import polars as pl

from assay.errors import OptionError
from assay.planning.assumptions import Assumptions, assume, curve_sizes, need_positive
from assay.results import plain, result_dict, signature
from assay.tables.answers import Ratings
from assay.tables.test_set import TestSet

PAIR = 2


@dataclass(frozen=True, slots=True)
class ComparisonPoint:
    """What n segments rated for both systems bring, and what they cost."""

    n: int
    share: float
    half_width: float
    power: float
    power_with_metrics: float | None
    minutes: float | None
    money: float | None


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """How many segments to rate for both systems, and everything that was assumed to say so."""

    needed: int
    needed_with_metrics: int | None
    needed_range: tuple[int, int] | None
    everything: bool
    gap: float
    power: float
    population: int
    level: float
    difference_sd: float
    sd_interval: tuple[float, float] | None
    correlation: float | None
    features: int
    design_effect: float
    ratings_per_output: float
    seconds_per_rating: float | None
    cost_per_rating: float | None
    ratings: float
    minutes: float | None
    minutes_with_metrics: float | None
    money: float | None
    money_with_metrics: float | None
    source: str
    curve: tuple[ComparisonPoint, ...]
    notes: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return signature(
            "plan-comparison",
            self.source,
            N=self.population,
            sd=f"{self.difference_sd:.4g}",
            r=None if self.correlation is None else f"{self.correlation:.3g}",
            t=f"{self.level:g}",
            gap=f"{self.gap:g}",
            power=f"{self.power:g}",
            effect=None if self.design_effect == 1 else f"{self.design_effect:g}",
        )

    def to_frame(self) -> pl.DataFrame:
        """The curve, one row per size."""
        frame = pl.DataFrame([plain(point) for point in self.curve], infer_schema_length=None)
        return frame.with_columns(pl.all().exclude("n").cast(pl.Float64))

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay plan comparison``."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        return result_dict("plan-comparison", self.signature, **content)


def plan_comparison(
    *,
    gap: float,
    population: int | None = None,
    power: float = 0.8,
    difference_sd: float | None = None,
    correlation: float | None = None,
    features: int | None = None,
    pilot: tuple[TestSet, Ratings] | None = None,
    level: float = 0.95,
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
    given = assume(
        "difference_sd", difference_sd, population=population, correlation=correlation,
        features=features, pilot=pilot, level=level, design_effect=design_effect,
        seconds_per_rating=seconds_per_rating, cost_per_rating=cost_per_rating,
    )  # fmt: skip
    need_positive("gap", gap, "0.4")
    if not 0 < power < 1:
        raise OptionError("power", power, "is no probability", "give a number like 0.8")
    return _plan(given, gap, power, curve_sizes(sizes, given.plain.population))


def _plan(given: Assumptions, gap: float, power: float, sizes: list[int]) -> ComparisonPlan:
    base, better = given.plain, given.with_metrics
    needed = base.n_for_power(gap, power)
    cheaper = None if better is None else better.n_for_power(gap, power)
    everything = needed == base.population
    said = (f"this power needs everything: all {needed} segments",) if everything else ()
    interval = given.sd_interval
    ends = None if interval is None else [given.at_sd(x).n_for_power(gap, power) for x in interval]
    return ComparisonPlan(
        needed=needed,
        needed_with_metrics=cheaper,
        needed_range=None if ends is None else (ends[0], ends[1]),
        everything=everything,
        gap=gap,
        power=power,
        population=base.population,
        level=base.level,
        difference_sd=base.sd,
        sd_interval=interval,
        correlation=given.correlation,
        features=given.features,
        design_effect=base.effect,
        ratings_per_output=given.ratings_per_output,
        seconds_per_rating=given.seconds_per_rating,
        cost_per_rating=given.cost_per_rating,
        ratings=needed * PAIR * given.ratings_per_output,
        minutes=given.minutes(needed, PAIR),
        minutes_with_metrics=given.minutes(cheaper, PAIR),
        money=given.money(needed, PAIR),
        money_with_metrics=given.money(cheaper, PAIR),
        source=given.source,
        curve=_curve(given, gap, sizes),
        notes=(*given.notes, *said),
    )


def _curve(given: Assumptions, gap: float, sizes: list[int]) -> tuple[ComparisonPoint, ...]:
    n = np.array(sizes)
    width, power = given.plain.half_width(n), given.plain.power(n, gap)
    better = given.with_metrics
    higher = np.full(len(n), np.nan) if better is None else better.power(n, gap)
    return tuple(
        ComparisonPoint(
            n=size,
            share=size / given.plain.population,
            half_width=float(width[i]),
            power=float(power[i]),
            power_with_metrics=None if better is None else float(higher[i]),
            minutes=given.minutes(size, PAIR),
            money=given.money(size, PAIR),
        )
        for i, size in enumerate(sizes)
    )
