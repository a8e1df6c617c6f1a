"""What a budget finds, or what finding a difference takes: the plan of a whole campaign."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from assay.collecting.assign import USUAL_OVERLAP
from assay.errors import OptionError, need_count, need_level, need_positive, need_share, need_whole
from assay.pay import parse_amount, pay_of, ratings_for
from assay.planning.pilot import read_pilot
from assay.planning.results import Plan
from assay.planning.spread import Spread, opinions_of, raters_beside, segments_for, typical_spread
from assay.results import UNPAID, Costs, Note, plural, signature
from assay.stats.intervals import LEVEL, POWER, smallest
from assay.stats.power import detectable_shift
from assay.tables.tables import Ratings, TestSet

Goal = Literal["budget", "half-width", "decide", "shares"]
SHARES = (0.1, 0.25, 0.5, 1.0)
"""Of the test set: what is shown where no goal is given."""
NO_END = 10**9
"""The segments to choose from where any text may be taken."""


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """One way to spend ratings, and what it finds.

    ``segments`` of every system are rated by ``opinions`` raters on average. ``finds`` is the
    smallest true difference of two systems that is detected with the plan's probability,
    ``half_width`` half the interval of a system's score.
    """

    what: Literal["plan", "half", "second-opinions", "share"]
    segments: int
    opinions: float
    ratings: int
    finds: float
    half_width: float
    minutes: float | None
    money: float | None


@dataclass(frozen=True, slots=True)
class CampaignPlan(Plan, kind="plan-campaign", listing="choices"):
    """How many segments of every system to rate; ``choices`` has the plan first, then others.

    ``needed`` is that number of segments; None where the goal is out of reach, or none was set.
    ``overlap`` is the share of the tasks that one rater more does. ``checks`` is the share of
    the work that checks the raters: it costs as much as other work and is not among ``ratings``.
    """

    goal: Goal
    budget: str | None
    half_width: float | None
    decide: float | None
    systems: int
    population: int | None
    """The segments there are; None where texts like those of the pilot are meant."""
    per_output: int
    overlap: float
    power: float
    choices: tuple[PlanChoice, ...]
    protocol: str | None = None
    pay: Costs = UNPAID
    """What a rating costs, and how long it takes."""
    checks: float = 0.0

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        goals = {"decide": self.decide, "half_width": self.half_width}
        return signature(
            "plan", self.source, *filter(None, (self.protocol,)), N=self.population,
            systems=self.systems, budget=self.budget,
            **{name: None if value is None else f"{value:g}" for name, value in goals.items()},
            per_output=self.per_output, overlap=f"{self.overlap:g}",
            checks=f"{self.checks:g}" if self.checks else None, t=f"{self.level:g}",
            power=f"{self.power:g}",
        )  # fmt: skip


def plan_campaign(
    systems: int,
    segments: int | None,
    *,
    budget: str | None = None,
    half_width: float | None = None,
    decide: float | None = None,
    pay: Costs | str | None = None,
    pilot: tuple[TestSet, Ratings] | None = None,
    protocol: str = "esa",
    scale: tuple[float, float] | None = None,
    raters: int | None = None,
    per_output: int = 1,
    overlap: float = USUAL_OVERLAP,
    checks: float = 0.0,
    level: float = LEVEL,
    power: float = POWER,
) -> CampaignPlan:
    """Plan a campaign in which the same segments are rated for all systems.

    ``segments`` is how many the test set has, or None: then what is found holds for texts like
    these, rated by these raters. Give one of: a ``budget`` ("300 EUR", "15000 ratings",
    "20 hours"; a number of segments, or a share such as "20%"), the ``half_width`` that scores
    shall have, or the true difference to ``decide``. Without any of them, several shares of the
    test set are compared.

    How scores and raters vary is taken from a ``pilot``, else from published campaigns with the
    ``protocol``, for a rating ``scale``. ``raters`` is how many there are, ``per_output`` how many
    rate every output, ``overlap`` the share of the tasks that one more does. ``checks`` is the
    share of the tasks that come again to check the raters, spoiled or repeated: the budget pays
    for them, too. ``pay`` says what a rating costs.

    >>> plan = plan_campaign(2, 1814, budget="300 EUR", pay="0.12 EUR per rating")
    >>> plan.needed, plan.choices[0].ratings
    (1136, 2499)
    """
    need_whole("systems", systems, 1)
    if segments is not None:
        need_whole("segments", segments, 2)
    need_count("per_output", per_output, "raters")
    need_level(level)
    need_share("power", power, "0.8")
    goal = _goal(budget, half_width, decide)
    need_positive("half_width", half_width, "1")
    need_positive("decide", decide, "2")
    overlap, notes = _shared(overlap, per_output, raters)
    known = NO_END if segments is None else segments
    if segments is None and (goal == "shares" or _is_plain(budget or "")):
        raise OptionError(
            "budget", budget or "none", "is not in ratings or money",
            "write it like '15000 ratings', or say how many segments there are",
        )  # fmt: skip
    spreads = _spreads(pilot, protocol, scale, segments, level)
    paid = (UNPAID if pay is None else pay_of(pay)).timed(spreads.seconds)
    if not 0 <= checks < 1:
        raise OptionError("checks", checks, "is not a share", "give a number from 0 to 1")
    campaign = _CampaignSize(systems, known, per_output, overlap, checks, power, spreads, paid)
    main, wanted = _planned(campaign, goal, budget, half_width, decide)
    choices = [campaign.choice("plan", main, overlap)] if main else []
    if goal == "shares":
        sizes = [max(2, round(share * known)) for share in SHARES]
        choices = [campaign.choice("share", n, overlap) for n in dict.fromkeys(sizes)]
    elif main:
        choices[:] = campaign.compared(main, wanted)
    if choices and goal != "shares":
        overlap = round(choices[0].opinions - per_output, 6)
        left = int(wanted) - choices[0].ratings
        if left > 2 * systems:
            text = f"the budget has {left:,} more ratings than it takes to rate everything"
            notes.append(Note("budget-left", text))
    elif goal != "shares":
        notes.append(campaign.out_of_reach(half_width, decide))
    return CampaignPlan(
        needed=main, level=level, source="typical" if pilot is None else "pilot",
        notes=(*notes, *spreads.notes), goal=goal, budget=budget, half_width=half_width,
        decide=decide, systems=systems, population=segments, per_output=per_output,
        overlap=overlap, power=power, choices=tuple(choices),
        protocol=protocol if pilot is None else None, pay=paid, checks=checks,
    )  # fmt: skip


def _goal(budget: str | None, half_width: float | None, decide: float | None) -> Goal:
    given = {"budget": budget, "half_width": half_width, "decide": decide}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise OptionError(named[1], given[named[1]], f"is a second goal next to `{named[0]}`",
                          "give one of them")  # fmt: skip
    goals: dict[str, Goal] = {"budget": "budget", "half_width": "half-width", "decide": "decide"}
    return goals[named[0]] if named else "shares"


def _shared(overlap: float, per_output: int, raters: int | None) -> tuple[float, list[Note]]:
    """The overlap that so many raters can have."""
    if not 0 <= overlap <= 1:
        raise OptionError("overlap", overlap, "is not a share", "give a number from 0 to 1")
    if raters is None or raters > per_output:
        return overlap, []
    if raters < per_output:
        raise OptionError("per_output", per_output, f"exceeds the {raters} raters", "give fewer")
    if per_output > 1 or not overlap:
        return 0.0, []
    text = (
        "one rater cannot show how much raters differ: results hold for this rater, and others may"
        " disagree; a second rater for 10% of the tasks would show how much"
    )
    return 0.0, [Note("no-overlap", text)]


class _Spreads(NamedTuple):
    """How single ratings vary: within a system, and between two on the same segment."""

    scores: Spread
    differences: Spread | None
    seconds: float | None
    notes: tuple[Note, ...]


def _spreads(
    pilot: tuple[TestSet, Ratings] | None, protocol: str, scale: tuple[float, float] | None,
    segments: int | None, level: float,
) -> _Spreads:  # fmt: skip
    known_segments = NO_END if segments is None else segments
    if pilot is None:
        typical = typical_spread(protocol, scale)
        made = [
            Spread(known_segments, sd, level, raters=part)
            for sd, part in ((typical.sd, typical.raters), (typical.pair_sd, typical.pair_raters))
        ]
        return _Spreads(made[0], made[1], None, (typical.note,))
    several = len(pilot[0].systems) > 1
    notes: list[Note] = []
    found: list[Spread] = []
    seconds = None
    for differences in (False, True)[: 1 + several]:
        known = read_pilot(pilot, level, differences=differences)
        raters, seconds = known.raters, known.seconds
        if raters is None:
            raters = raters_beside(known.sd)
        if segments is None:  # verdicts are for texts then, and not for other raters
            raters = replace(raters, pool=0.0)
        found.append(Spread(
            known_segments, known.sd, level, raters=raters, alike=known.alike,
            documents=known.documents,
        ))  # fmt: skip
        notes += [note for note in known.notes if note.code in ("pilot-random", "pilot-raters")]
        if known.raters is None:
            notes.append(Note(
                "raters-typical",
                "no output of the pilot is rated twice, so differences between raters are taken"
                " from published campaigns",
            ))  # fmt: skip
    return _Spreads(
        found[0], found[1] if several else None, seconds, tuple(dict.fromkeys(notes)),
    )  # fmt: skip


class _CampaignSize(NamedTuple):
    """What numbers of segments find and cost."""

    systems: int
    population: int
    per_output: int
    overlap: float
    checks: float
    power: float
    spreads: _Spreads
    pay: Costs

    def each(self, overlap: float) -> float:
        """Ratings of a segment."""
        return self.systems * (self.per_output + overlap)

    def size(self, ratings: float) -> int:
        """The segments that so many ratings are enough for."""
        return segments_for(ratings, self.each(self.overlap), self.population)

    def finds(self, segments: int, overlap: float) -> float:
        """The smallest true difference that is detected."""
        spread = self.spreads.differences
        if spread is None or self.systems < 2:
            return math.nan
        precision = self.rated(spread, overlap).precision(segments)
        n = np.array(segments)
        degrees = float(precision.degrees(n))
        return detectable_shift(degrees, precision.level, self.power) * float(precision.stderr(n))

    def half_width(self, segments: int, overlap: float) -> float:
        """Half the interval of a score."""
        return self.rated(self.spreads.scores, overlap).half_width(segments)

    def rated(self, spread: Spread, overlap: float) -> Spread:
        """The spread where so many rate every output."""
        return spread.rated_by(opinions_of(self.per_output - 1 + overlap))

    def choice(
        self, what: Literal["plan", "half", "second-opinions", "share"], n: int, overlap: float
    ) -> PlanChoice:
        """One way to spend."""
        ratings = round(n * self.each(overlap))
        paid = ratings * (1 + self.checks)
        return PlanChoice(
            what, n, self.per_output + overlap, ratings, self.finds(n, overlap),
            self.half_width(n, overlap), self.pay.minutes(paid), self.pay.money(paid),
        )  # fmt: skip

    def compared(self, n: int, ratings: float) -> list[PlanChoice]:
        """The plan, half of it, and a second opinion on everything for the same ratings."""
        overlap = self.overlap
        if n == self.population and ratings > n * self.each(overlap) + 0.5:
            # More than once is paid for: what is left buys second opinions.
            overlap = min(1.0, ratings / (n * self.systems) - self.per_output)
        found = [self.choice("plan", n, overlap)]
        half = self.size(n * self.each(overlap) / 2)
        if half >= 2:
            found.append(self.choice("half", half, self.overlap))
        twice = segments_for(ratings, self.each(1.0), self.population)
        if 2 <= twice < n and self.overlap:
            found.append(self.choice("second-opinions", twice, 1.0))
        return found

    def smallest(self, reached: Callable[[int], bool]) -> int | None:
        """The fewest segments that reach a goal; None where all do not."""
        return smallest(reached, self.population) if reached(self.population) else None

    def out_of_reach(self, half_width: float | None, decide: float | None) -> Note:
        """What everything rated would bring."""
        all_ = self.choice("plan", self.population, self.overlap)
        twice = self.choice("plan", self.population, 1.0)
        brings = (
            f"scores get intervals of ±{all_.half_width:.3g} (±{twice.half_width:.3g} with two"
            " raters for each output)"
            if decide is None
            else f"a difference of {all_.finds:.3g} is detected ({twice.finds:.3g} with two raters"
            " for each output)"
        )
        goal = f"±{half_width:g}" if decide is None else f"a difference of {decide:g}"
        whole = f"all {plural(self.population, 'segment')} rated"
        return Note("out-of-reach", f"{goal} is out of reach: with {whole}, {brings}")


def _planned(
    campaign: _CampaignSize, goal: Goal, budget: str | None, half_width: float | None,
    decide: float | None,
) -> tuple[int | None, float]:  # fmt: skip
    """The segments of the plan, and the ratings that they or the budget come to."""
    if goal == "budget":
        ratings = _ratings(campaign, str(budget))
        n = campaign.size(ratings)
        if n < 2:
            fault = f"buys {plural(int(ratings), 'rating')}, not two segments of all systems"
            least = math.ceil(2 * campaign.each(campaign.overlap) * (1 + campaign.checks))
            raise OptionError("budget", budget, fault, f"give enough for {least:,} ratings")
        return n, ratings
    if goal == "shares":
        return None, 0.0
    if goal == "decide" and campaign.spreads.differences is None:
        raise OptionError("decide", decide, "needs two systems, and the pilot has one",
                          "give `half_width` or `budget`")  # fmt: skip
    reached = (
        (lambda n: campaign.half_width(n, campaign.overlap) <= float(half_width or 0))
        if goal == "half-width"
        else (lambda n: campaign.finds(n, campaign.overlap) <= float(decide or 0))
    )
    found = campaign.smallest(reached)
    return found, 0.0 if found is None else found * campaign.each(campaign.overlap)


def _is_plain(budget: str) -> bool:
    """Whether a budget is a number of segments, or a share of them."""
    return budget.strip().removesuffix("%").strip().replace(".", "", 1).isdecimal()


def _ratings(campaign: _CampaignSize, budget: str) -> float:
    """How many ratings the budget is; of segments or a share, what they take."""
    text = budget.strip()
    if _is_plain(text):
        amount = float(text.removesuffix("%"))
        n = amount / 100 * campaign.population if text.endswith("%") else amount
        if n > campaign.population:
            raise OptionError(
                "budget", budget, f"exceeds the {campaign.population:,} segments of the test set",
                "give fewer, or ratings, as in '15000 ratings'",
            )  # fmt: skip
        return round(n) * campaign.each(campaign.overlap)
    return ratings_for(campaign.pay, parse_amount(budget)) / (1 + campaign.checks)
