"""How many ratings a wanted precision takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import polars as pl

from assay.planning.assumptions import (
    Assumptions,
    assume,
    curve_sizes,
    need_positive,
    need_whole,
)
from assay.results import plain, result_dict, signature
from assay.tables.answers import Ratings
from assay.tables.test_set import TestSet


@dataclass(frozen=True, slots=True)
class RatingsPoint:
    """What n rated segments of each system bring, and what they cost for all systems."""

    n: int
    share: float
    half_width: float
    half_width_with_metrics: float | None
    minutes: float | None
    money: float | None


@dataclass(frozen=True, slots=True)
class RatingsPlan:
    """How many segments to rate, and everything that was assumed to say so.

    ``needed`` segments of every system reach the ``target``, ``needed_with_metrics`` with a
    regression on metrics; ``needed_range`` is ``needed`` at the ends of the pilot's interval of the
    sd. ``everything`` says that only rating the whole test set reaches the target.
    """

    needed: int | None
    needed_with_metrics: int | None
    needed_range: tuple[int, int] | None
    everything: bool
    target: float | None
    population: int
    level: float
    sd: float
    sd_interval: tuple[float, float] | None
    correlation: float | None
    features: int
    design_effect: float
    systems: int
    ratings_per_output: float
    seconds_per_rating: float | None
    cost_per_rating: float | None
    ratings: float | None
    minutes: float | None
    minutes_with_metrics: float | None
    money: float | None
    money_with_metrics: float | None
    source: str
    curve: tuple[RatingsPoint, ...]
    notes: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return signature(
            "plan-ratings",
            self.source,
            N=self.population,
            sd=f"{self.sd:.4g}",
            r=None if self.correlation is None else f"{self.correlation:.3g}",
            t=f"{self.level:g}",
            target=None if self.target is None else f"{self.target:g}",
            effect=None if self.design_effect == 1 else f"{self.design_effect:g}",
        )

    def to_frame(self) -> pl.DataFrame:
        """The curve, one row per size."""
        frame = pl.DataFrame([plain(point) for point in self.curve], infer_schema_length=None)
        return frame.with_columns(pl.all().exclude("n").cast(pl.Float64))

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay plan ratings``."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        return result_dict("plan-ratings", self.signature, **content)


def plan_ratings(
    *,
    population: int | None = None,
    target: float | None = None,
    sd: float | None = None,
    correlation: float | None = None,
    features: int | None = None,
    pilot: tuple[TestSet, Ratings] | None = None,
    level: float = 0.95,
    design_effect: float = 1.0,
    systems: int = 1,
    seconds_per_rating: float | None = None,
    cost_per_rating: float | None = None,
    sizes: Sequence[int] | None = None,
) -> RatingsPlan:
    """Plan how many segments to rate for an interval of half-width ``target``.

    The half-width of a simple random sample is t sd sqrt(D (1 - n/N) / n), t Student's quantile
    with n - 1 degrees of freedom; with metrics, (1 - r^2)(1 + p/n) more under the root and p
    fewer degrees.

    population: segments of the test set (N). sd: of the ratings of one system's segments.
    correlation: multiple correlation of ratings and metrics (r), ``features`` their number (p, 1).
    pilot: a test set and ratings of some of it, to estimate what is not given.
    design_effect: variance of the design against a simple random sample (D). systems: how many are
    rated, for minutes and money. sizes: where to show the curve.

    >>> plan = plan_ratings(population=1400, sd=3.0, correlation=0.4, target=0.3)
    >>> plan.needed, plan.needed_with_metrics
    (304, 266)
    """
    given = assume(
        "sd", sd, population=population, correlation=correlation, features=features, pilot=pilot,
        level=level, design_effect=design_effect, seconds_per_rating=seconds_per_rating,
        cost_per_rating=cost_per_rating,
    )  # fmt: skip
    need_positive("target", target, "0.3")
    need_whole("systems", systems, 1)
    return _plan(given, target, systems, curve_sizes(sizes, given.plain.population))


def _plan(given: Assumptions, target: float | None, systems: int, sizes: list[int]) -> RatingsPlan:
    base = given.plain
    needed = None if target is None else base.n_for_half_width(target)
    better = given.with_metrics
    cheaper = None if target is None or better is None else better.n_for_half_width(target)
    each = given.ratings_per_output
    return RatingsPlan(
        needed=needed,
        needed_with_metrics=cheaper,
        needed_range=_range(given, target),
        everything=needed == base.population,
        target=target,
        population=base.population,
        level=base.level,
        sd=base.sd,
        sd_interval=given.sd_interval,
        correlation=given.correlation,
        features=given.features,
        design_effect=base.effect,
        systems=systems,
        ratings_per_output=each,
        seconds_per_rating=given.seconds_per_rating,
        cost_per_rating=given.cost_per_rating,
        ratings=None if needed is None else needed * systems * each,
        minutes=given.minutes(needed, systems),
        minutes_with_metrics=given.minutes(cheaper, systems),
        money=given.money(needed, systems),
        money_with_metrics=given.money(cheaper, systems),
        source=given.source,
        curve=_curve(given, sizes, systems),
        notes=(*given.notes, *_remarks(given, needed, cheaper)),
    )


def _range(given: Assumptions, target: float | None) -> tuple[int, int] | None:
    if target is None or given.sd_interval is None:
        return None
    low, high = given.sd_interval
    return given.at_sd(low).n_for_half_width(target), given.at_sd(high).n_for_half_width(target)


def _remarks(given: Assumptions, needed: int | None, cheaper: int | None) -> list[str]:
    notes = []
    if needed == given.plain.population:
        notes.append(f"the target needs everything: all {needed} segments")
    if needed is not None and cheaper is not None and cheaper > needed:
        notes.append("metrics this weak cost more degrees of freedom than they save ratings")
    return notes


def _curve(given: Assumptions, sizes: list[int], systems: int) -> tuple[RatingsPoint, ...]:
    n = np.array(sizes)
    width = given.plain.half_width(n)
    better = given.with_metrics
    narrow = np.full(len(n), np.nan) if better is None else better.half_width(n)
    return tuple(
        RatingsPoint(
            n=size,
            share=size / given.plain.population,
            half_width=float(width[i]),
            half_width_with_metrics=None if better is None else float(narrow[i]),
            minutes=given.minutes(size, systems),
            money=given.money(size, systems),
        )
        for i, size in enumerate(sizes)
    )
