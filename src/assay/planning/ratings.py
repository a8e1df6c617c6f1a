"""How many ratings a wanted precision takes, or finding a gap between two systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from assay.errors import InputError, OptionError, need_positive, need_share, need_whole
from assay.pay import parse_amount, pay_of, ratings_for
from assay.planning.pilot import Pilot, PilotOrder, read_pilot
from assay.planning.results import PAIR, ComparisonPlan, PlanPoint, RatingsPlan, Widest
from assay.planning.spread import TELLING_OVERLAP, Spread, segments_for, share_out
from assay.results import UNPAID, Costs, Note, plural
from assay.stats.intervals import LEVEL, POWER
from assay.stats.power import expected_stability
from assay.tables.tables import Ratings, TestSet

SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0)
"""Sizes of a curve where the user names none."""
USUAL_SHARE = 0.2
"""Of the test set: what is shared out among segments and raters where nothing else is said."""


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
    pay: Costs | str | None = None,
    sizes: Sequence[int] | None = None,
    spend: str | None = None,
) -> RatingsPlan:
    """Plan how many segments to rate for an interval of a wanted half-width.

    The variance of a mean is D sd^2 (1 - n/N) / n, with metrics (1 - r^2)(1 + p/n) times as much,
    and the raters' part beside it, v / (k N) when everything is rated; the half-width is its root
    times Student's t. v is what raters differ by, and k how many rate an output. v comes from a
    pilot in which some outputs are rated twice; without it, the error beyond one half of the test
    set is that for texts like these, as in :func:`assay.estimate`, and promises nothing.

    population: segments of the test set (N). sd: of single ratings of one system's segments.
    correlation: multiple correlation of ratings and metrics (r), ``features`` their number (p, 1).
    pilot: a test set and ratings of some of it, to estimate what is not given.
    design_effect: variance of the design against a simple random sample (D). systems: how many are
    rated, for time and money. pay: what a rating costs, such as "0.12 EUR per rating" or "18 EUR
    per hour, 40 seconds per rating". sizes: where to show the curve. spend: what there is to spend
    ("40 h", "2000 EUR", "5000 ratings"); the plan then says what that brings.

    >>> plan = plan_ratings(population=1400, sd=3.0, correlation=0.4, half_width=0.3)
    >>> plan.needed, plan.needed_with_metrics
    (304, 266)
    """
    given = _assume(
        "sd", sd, pilot, population=population, correlation=correlation, features=features,
        level=level, design_effect=design_effect, pay=pay,
    )  # fmt: skip
    need_positive("half_width", half_width, "0.3")
    need_whole("systems", systems, 1)

    goal = _Goal(half_width=half_width)
    common = _common(given, goal, systems, sizes, spend)
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
    pay: Costs | str | None = None,
    sizes: Sequence[int] | None = None,
    spend: str | None = None,
) -> ComparisonPlan:
    """Plan how many segments to rate for both of two systems so that a gap is found.

    Found means that the interval of the difference leaves out zero. With a true difference
    ``gap``, the t of n matched segments is noncentral with gap / (standard error of
    :func:`plan_ratings`); the plan is the smallest n for which it is significant with probability
    ``power``.

    difference_sd: of the differences of the two systems' ratings of a segment, or from a pilot with
    two systems or more (pooled over pairs). correlation: of these differences with differences
    of metrics. The other arguments are those of :func:`plan_ratings`.

    >>> plan = plan_comparison(gap=0.4, difference_sd=3.0, population=2000, power=0.8)
    >>> plan.needed, round(plan.curve[3].power, 2)
    (364, 0.84)
    """
    given = _assume(
        "difference_sd", difference_sd, pilot, population=population, correlation=correlation,
        features=features, level=level, design_effect=design_effect, pay=pay,
    )  # fmt: skip
    need_positive("gap", gap, "0.4")
    need_share("power", power, "0.8")
    common = _common(given, _Goal(gap=gap, power=power), PAIR, sizes, spend)
    return ComparisonPlan(**common, gap=gap, power=power, difference_sd=given.plain.sd)


class _Assumptions(NamedTuple):
    """Precision without and with metrics, and what a rated output costs."""

    plain: Spread
    with_metrics: Spread | None
    sd_interval: tuple[float, float] | None
    ratings_per_output: float
    pay: Costs
    widest: tuple[str, float] | None
    order: PilotOrder | None
    source: Literal["given", "pilot"]
    notes: tuple[Note, ...]


class _Goal(NamedTuple):
    """A half-width, a gap to be found with some power, or nothing."""

    half_width: float | None = None
    gap: float | None = None
    power: float = POWER

    def needed(self, spread: Spread) -> int | None:
        """The segments that reach it; None where no number does, or nothing is wanted."""
        if not self.wanted:
            return None
        n = spread.precision(spread.population).smallest(lambda n: self.reached(spread, n))
        return n if self.reached(spread, n) else None

    def reached(self, spread: Spread, n: int) -> bool:
        """Whether n segments do."""
        if self.half_width is not None:
            return spread.half_width(n) <= self.half_width
        return self.gap is not None and spread.power(n, self.gap) >= self.power

    @property
    def wanted(self) -> bool:
        """Whether there is one."""
        return self.half_width is not None or self.gap is not None

    def best(self, spread: Spread) -> str:
        """What rating everything brings, in words."""
        if self.gap is not None:
            return f"the gap is detected in {spread.power(spread.population, self.gap):.0%}"
        return f"±{spread.half_width(spread.population):.3g} remains"


def _assume(
    argument: Literal["sd", "difference_sd"], sd: float | None,
    pilot: tuple[TestSet, Ratings] | None, *, population: int | None, correlation: float | None,
    features: int | None, level: float, design_effect: float, pay: Costs | str | None,
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
    ):
        need_positive(name, value, example)
    paid = UNPAID if pay is None else pay_of(pay)
    if pilot is not None:
        known = read_pilot(pilot, level, differences=argument == "difference_sd")
        return _from_pilot(known, sd, population, correlation, features, level, design_effect, paid)
    if sd is None:
        raise InputError(
            f"neither `{argument}` nor a pilot is given; give the standard deviation, such as 3,"
            " or a pilot to estimate it from"
        )
    if population is None:
        raise InputError("`population` is not given; give the number of segments of the test set")
    spread = Spread(population, sd, level, design_effect)
    better = None
    if correlation is not None:
        better = spread._replace(correlation=correlation, features=features or 1)
    return _Assumptions(spread, better, None, 1.0, paid, None, None, "given", ())


def _from_pilot(
    pilot: Pilot, sd: float | None, population: int | None, correlation: float | None,
    features: int | None, level: float, design_effect: float, pay: Costs,
) -> _Assumptions:  # fmt: skip
    """What was given, else what the pilot says."""
    notes = [*pilot.notes]
    if sd is not None or correlation is not None:
        notes.append(Note("given-by-hand", "pilot: the given values replace the pilot's"))
    if pilot.ratings_per_output > 1.005:
        notes.append(Note(
            "ratings-per-output",
            f"outputs have {pilot.ratings_per_output:.3g} ratings each in the pilot; the plan"
            " assumes as many, and takes their mean as the score",
        ))  # fmt: skip
    r, p = (correlation, 1) if correlation is not None else (pilot.correlation, pilot.features)
    spread = Spread(
        pilot.population if population is None else population,
        pilot.sd if sd is None else sd, level, design_effect, raters=pilot.raters,
        opinions=pilot.opinions, alike=pilot.alike, documents=pilot.documents,
    )  # fmt: skip
    return _Assumptions(
        plain=spread,
        with_metrics=None if r is None else spread._replace(
            correlation=r, features=features or p
        ),
        sd_interval=(pilot.low, pilot.high) if sd is None else None,
        ratings_per_output=pilot.ratings_per_output,
        pay=pay.timed(pilot.seconds),
        widest=pilot.widest if sd is None else None,
        order=pilot.order if sd is None and correlation is None else None,
        source="pilot",
        notes=tuple(notes),
    )  # fmt: skip


def _common(
    given: _Assumptions, goal: _Goal, systems: int, sizes: Sequence[int] | None, spend: str | None
) -> dict[str, Any]:
    """The fields that both plans share."""
    base, better, pay = given.plain, given.with_metrics, given.pay
    needed = goal.needed(base)
    fewer = None if better is None else goal.needed(better)
    ends = [goal.needed(base._replace(sd=sd)) for sd in given.sd_interval or ()]
    each = systems * given.ratings_per_output
    ratings, ratings_with_metrics = (None if n is None else n * each for n in (needed, fewer))
    widest = None
    if given.widest is not None:
        name, sd = given.widest
        widest = Widest(name, sd, goal.needed(base._replace(sd=sd)))
    paid = None
    if spend is not None:
        paid = ratings_for(pay, parse_amount(spend, argument="spend"), argument="spend")
    shared_out = paid or ratings or USUAL_SHARE * base.population * systems
    return {
        "needed": needed, "level": base.level, "source": given.source,
        "notes": (*given.notes, *_remarks(given, goal, needed, fewer, systems)),
        "needed_with_metrics": fewer,
        "needed_range": None if needed is None or not ends else tuple(ends),
        "everything": needed == base.population, "population": base.population,
        "sd_interval": given.sd_interval,
        "correlation": None if better is None else better.correlation,
        "features": 0 if better is None else better.features, "design_effect": base.effect,
        "ratings_per_output": given.ratings_per_output, "pay": pay, "ratings": ratings,
        "minutes": pay.minutes(ratings), "minutes_with_metrics": pay.minutes(ratings_with_metrics),
        "money": pay.money(ratings), "money_with_metrics": pay.money(ratings_with_metrics),
        "curve": _curve(given, _sizes(sizes, base.population), systems, goal.gap),
        "raters": base.raters, "opinions": base.opinions, "widest": widest,
        "splits": share_out(shared_out, base, systems, pay, gap=goal.gap), "spend": spend,
        "bought": None if paid is None else _bought(given, paid, systems, goal.gap, spend),
    }  # fmt: skip


def _bought(
    given: _Assumptions, ratings: float, systems: int, gap: float | None, spend: str | None
) -> PlanPoint:
    """What the ratings that can be paid bring."""
    each = systems * given.ratings_per_output
    n = segments_for(ratings, each, given.plain.population)
    if n < 2:
        fault = f"buys {ratings:,.0f} ratings, not two segments of all systems"
        raise OptionError("spend", spend, fault, f"give enough for {2 * each:,.0f} ratings")
    return _curve(given, [n], systems, gap)[0]


def _remarks(
    given: _Assumptions, goal: _Goal, needed: int | None, fewer: int | None, systems: int
) -> list[Note]:
    base = given.plain
    notes = []
    if needed == base.population:
        text = f"only rating all {needed:,} segments reaches the goal"
        notes.append(Note("everything-needed", text))
    if needed is not None and fewer is not None and fewer > needed:
        text = (
            "metrics this weak do not help: they cost more in degrees of freedom than they save in"
            " ratings"
        )
        notes.append(Note("weak-metrics", text))
    if base.raters is None:
        notes.append(_unknown_raters(needed, base.population, systems))
    if goal.wanted and needed is None:
        text = f"out of reach: if everything is rated, {goal.best(base)}"
        if base.raters is not None:
            more = base.rated_by(base.opinions + 1)
            text += f"; with one more rater per output {goal.best(more)}"
        notes.append(Note("out-of-reach", text))
    return notes


def _unknown_raters(needed: int | None, population: int, systems: int) -> Note:
    n = round(USUAL_SHARE * population) if needed is None else needed
    which = f"{USUAL_SHARE:.0%} of the test set" if needed is None else "those needed"
    twice = max(1, round(TELLING_OVERLAP * n))
    return Note(
        "raters-unknown",
        "how much raters differ is unknown, as no output is rated twice. So beyond half of the test"
        f" set more ratings promise nothing; a second opinion on {TELLING_OVERLAP:.0%} of"
        f" {plural(n, 'segment')} ({which}), {plural(twice * systems, 'rating')} more, would show"
        " how much",
    )


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
    unknown = [None] * len(sizes)
    pay, base = given.pay, given.plain
    ratings = [size * systems * given.ratings_per_output for size in sizes]

    def widths(spread: Spread | None) -> Sequence[float | None]:
        return unknown if spread is None else [spread.half_width(n) for n in sizes]

    def powers(spread: Spread | None) -> Sequence[float | None]:
        if spread is None or gap is None:
            return unknown
        return [spread.power(n, gap) for n in sizes]

    order = given.order if gap is None else None
    stable: list[tuple[float | None, float | None]] = [(None, None)] * len(sizes)
    if order is not None:
        now = order.errors(order.n)
        stable = [expected_stability(order.means, now, order.errors(size)) for size in sizes]
    columns = (
        sizes, [n / base.population for n in sizes], widths(base), widths(given.with_metrics),
        powers(base), powers(given.with_metrics),
        [pay.minutes(number) for number in ratings], [pay.money(number) for number in ratings],
        ratings, [order for order, _ in stable], [pairs for _, pairs in stable],
    )  # fmt: skip
    return tuple(PlanPoint(*row) for row in zip(*columns, strict=True))
