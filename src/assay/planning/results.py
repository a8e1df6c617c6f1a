"""Plans of ratings: how many segments, ratings, hours and how much money."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from assay.planning.spread import RaterPart, Split
from assay.results import UNPAID, Costs, Note, Result, signature

PAIR = 2


@dataclass(frozen=True, slots=True)
class Plan(Result):
    """How much is ``needed``; None where no goal was set, or where it is out of reach.

    ``source`` says where the spread comes from: given by hand, a pilot, or published
    campaigns.
    """

    needed: int | None
    level: float
    source: Literal["given", "pilot", "typical", "korotaev2022"]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class PlanPoint:
    """What n rated segments of each system bring, and what they cost for all systems.

    ``power`` is that of finding the gap, None where there is none to be found. ``stable_order`` is
    the chance that two such campaigns put all of a pilot's systems in the same order,
    ``stable_pairs`` any two of them.
    """

    n: int
    share: float
    half_width: float
    half_width_with_metrics: float | None
    power: float | None
    power_with_metrics: float | None
    minutes: float | None
    money: float | None
    ratings: float | None = None
    stable_order: float | None = None
    stable_pairs: float | None = None


@dataclass(frozen=True, slots=True)
class Widest:
    """The system, or pair of systems, whose scores spread most in the pilot, and what it needs."""

    name: str
    sd: float
    needed: int | None


@dataclass(frozen=True, slots=True)
class PrecisionPlan(Plan, listing="curve"):
    """How many segments to rate, and everything that was assumed to say so.

    ``needed`` segments of every system reach the goal (None: no number does, or no goal was set),
    ``needed_with_metrics`` with a regression on metrics; ``needed_range`` is ``needed`` at the ends
    of the pilot's interval of the sd, ``widest`` the system or pair that needs most.
    ``everything`` says that only rating the whole test set reaches the goal. ``raters`` is what
    raters differ by, None where nothing tells; ``opinions`` the mean number of raters of an
    output. ``splits`` share out as many ratings as are needed (or can be paid: ``spend``) among
    segments and second opinions; ``bought`` is what ``spend`` brings.
    """

    needed_with_metrics: int | None
    needed_range: tuple[int | None, int | None] | None
    everything: bool
    population: int
    sd_interval: tuple[float, float] | None
    correlation: float | None
    features: int
    design_effect: float
    ratings_per_output: float
    ratings: float | None
    minutes: float | None
    minutes_with_metrics: float | None
    money: float | None
    money_with_metrics: float | None
    curve: tuple[PlanPoint, ...]
    raters: RaterPart | None = field(default=None, kw_only=True)
    opinions: float = field(default=1.0, kw_only=True)
    widest: Widest | None = field(default=None, kw_only=True)
    splits: tuple[Split, ...] = field(default=(), kw_only=True)
    spend: str | None = field(default=None, kw_only=True)
    pay: Costs = field(default=UNPAID, kw_only=True)
    """What a rating costs, and how long it takes."""
    bought: PlanPoint | None = field(default=None, kw_only=True)

    @property
    def systems_rated(self) -> int:
        """How many systems the ratings are shared out among; a comparison has two."""
        return int(getattr(self, "systems", PAIR))

    def ratings_for(self, segments: int) -> float:
        """Ratings of so many segments of all systems."""
        return segments * self.systems_rated * self.ratings_per_output

    def _signature(self, sd: float, **goal: str | None) -> str:
        return signature(
            self.kind, self.source, N=self.population, sd=f"{sd:.4g}",
            r=None if self.correlation is None else f"{self.correlation:.3g}",
            raters=None if self.raters is None else f"{self.raters.variance:.3g}",
            t=f"{self.level:g}", **goal, spend=self.spend,
            effect=None if self.design_effect == 1 else f"{self.design_effect:g}",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RatingsPlan(PrecisionPlan, kind="plan-ratings"):
    """A plan whose goal is the ``half_width`` of intervals; None where only the curve is asked for.

    ``sd`` is that of single ratings of one system's segments.
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
