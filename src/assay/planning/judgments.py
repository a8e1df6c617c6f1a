"""How many judgments it takes to tell systems apart (koehn2012, section 6, and beyond)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from assay.errors import InputError, OptionError, need_positive, need_share
from assay.pay import parse_amount, pay_of, ratings_for
from assay.planning.model import (
    MOST_JUDGMENTS,
    TESTS,
    JudgmentsModel,
    JudgmentsPilot,
    Votes,
    make_model,
    simulated_needs,
    votes,
)
from assay.planning.results import Plan
from assay.results import UNPAID, Costs, Note, signature
from assay.stats.intervals import LEVEL, POWER
from assay.stats.progress import Progress, silent
from assay.stats.random import Rng, seeded
from assay.tables.answers import Judgments

SHARES = (0.5, 0.7, 0.8, 0.9)
"""Shares of significant pairs that every plan shows (the columns of the paper's Table 4)."""
MOST_MISFIT = 0.05
"""Expected and observed shares of significant pairs further apart than this are warned of."""


@dataclass(frozen=True, slots=True)
class JudgmentsPoint:
    """Judgments for a share of significant pairs by each test, None where out of reach.

    ``more_sign`` and ``more_pooled`` are what a pilot leaves to collect.
    """

    share: float
    sign: int | None
    pooled: int | None
    more_sign: int | None
    more_pooled: int | None


@dataclass(frozen=True, slots=True)
class JudgmentsPlan(Plan, kind="plan-judgments", listing="curve"):
    """How many judgments to collect, and everything that was assumed to say so.

    ``needed`` reaches the ``target`` (of ``goal`` significant, clusters or range_size) by ``test``,
    ``needed_by`` by each test; ``more`` is what a pilot leaves of it to collect, and minutes and
    money are for that. ``needed_range`` is ``needed`` at the ends of the pilot's interval of sigma.
    Numbers of judgments include ties, as many as the pilot has (``tie_share``). ``block_effect``
    multiplies the judgments that the pooled test needs, where a pilot shows that judgments of one
    segment are correlated more than those of one set are in the model. ``reached`` is the share of
    significant pairs that the model expects of the pilot, ``observed`` what the pilot shows; where
    they differ, the systems are not spread evenly, and ``sigma_by_curve`` (which matches what is
    observed) with ``needed_by_curve`` is the safer plan. ``bought`` is how many judgments ``spend``
    pays for, ``brings`` the share of pairs decided with them and the pilot's, by each test.
    """

    needed_by: dict[str, int | None]
    more: int | None
    needed_range: tuple[int | None, int | None] | None
    goal: Literal["significant", "clusters", "range_size"]
    target: float
    test: Literal["sign", "pooled", "bootstrap"]
    systems: int
    sigma: float
    sigma_interval: tuple[float, float] | None
    sigma_by_curve: float | None
    needed_by_curve: int | None
    per_set: int
    tie_share: float
    block_effect: float
    judged: int
    reached: dict[str, float] | None
    observed: dict[str, float] | None
    votes: Votes | None
    minutes: float | None
    money: float | None
    seed: int | None
    curve: tuple[JudgmentsPoint, ...]
    sides: Literal[1, 2] = 1
    spend: str | None = None
    bought: int | None = None
    brings: dict[str, float] | None = None
    pay: Costs = UNPAID
    """What a judgment costs, and how long it takes."""

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return signature(
            self.kind, self.source, n=self.systems, sigma=f"{self.sigma:.4g}",
            k=self.per_set, level=f"{self.level:g}", test=self.test,
            sides=self.sides, spend=self.spend, seed=self.seed,
            **{self.goal: f"{self.target:g}"},
        )  # fmt: skip


def plan_judgments(
    systems: int | None = None,
    *,
    sigma: float | None = None,
    pilot: Judgments | None = None,
    significant: float | None = None,
    clusters: float | None = None,
    range_size: float | None = None,
    test: Literal["sign", "pooled", "bootstrap"] | None = None,
    per_set: int | None = None,
    level: float = LEVEL,
    sides: Literal[1, 2] = 2,
    pay: Costs | str | None = None,
    spend: str | None = None,
    rng: Rng = None,
    progress: Progress = silent,
) -> JudgmentsPlan:
    """Plan how many judgments to collect.

    Goal, one of: the expected share of ``significant`` pairs (default .8), the number of
    ``clusters``, or the mean ``range_size`` of rank ranges. The first is computed from the model
    of koehn2012; the others are simulated (``rng``), and planned for up to a million judgments.

    systems: how many. sigma: how noisy judgments are (7 to 12 at WMT12). pilot: judgments to
    fit sigma to, count ties in, and compare the plan with. test: ``sign`` (head to head) or
    ``pooled`` (all judgments decide about every pair); for clusters and range sizes also
    ``bootstrap``, the default there and in :func:`assay.rank`. The plan shows all.
    level: of the tests. sides: two-sided, as :func:`assay.rank` tests, or one-sided in either
    direction, as in the paper. per_set: systems on a screen; default 5, or as in the
    pilot. pay: what a judgment costs ("0.25 EUR per judgment"). spend: what there is to spend
    ("40 h", "2000 EUR", "5000 judgments"); the plan then says what share that decides.

    >>> plan = plan_judgments(15, sigma=10, significant=0.8)
    >>> plan.needed, plan.needed_by["pooled"]
    (114012, 29508)
    """
    goal, target = _goal(significant, clusters, range_size)
    test = _check(goal, test, level, sigma)
    paid = UNPAID if pay is None else pay_of(pay)
    if sides not in (1, 2):
        raise OptionError("sides", sides, "is not known", "choose from 1, 2")
    model, known = make_model(systems, sigma, pilot, per_set, round((1 - level) / sides, 12))
    _check_target(goal, target, model.systems)
    generator, seed = seeded(rng)
    if goal == "significant":
        seed = None
        by = {name: model.for_share(target, name) for name in TESTS}
    else:
        by = simulated_needs(model, goal, target, generator, progress)
    needed = by[test]
    judged = 0 if known is None else known.judged
    more = None if needed is None else max(0, needed - judged)
    bought = _bought(spend, paid, model)
    notes: list[Note] = []
    by_curve = None
    if known is not None:
        notes += known.notes
        if goal == "significant" and needed is not None:
            by_curve = model.for_share(target, test, known.curve_sigma)
        if needed is not None:
            notes += _uneven(model, known, test, by_curve)
    if needed is None and math.isfinite(model.sigma):
        most = "a billion" if goal == "significant" else f"{MOST_JUDGMENTS:,}"
        notes.append(Note("out-of-reach", f"the goal is out of reach of {most} judgments"))
    return JudgmentsPlan(
        needed=needed, level=level, source="given" if known is None else "pilot",
        notes=tuple(notes),
        needed_by=by, more=more, needed_range=_ends(model, known, goal, target, test),
        goal=goal, target=target, test=test, systems=model.systems, sigma=model.sigma,
        sigma_interval=None if known is None else known.sigma_interval,
        sigma_by_curve=None if known is None else known.curve_sigma, needed_by_curve=by_curve,
        per_set=model.per_set, tie_share=model.tie_share, block_effect=model.block_effect,
        judged=judged, reached=None if known is None else model.expected(judged),
        observed=None if known is None else known.observed,
        votes=None if pilot is None else votes(pilot),
        pay=paid, minutes=paid.minutes(more), money=paid.money(more), seed=seed,
        curve=_curve(model, judged),
        sides=sides, spend=spend, bought=bought,
        brings=None if bought is None else model.expected(judged + bought),
    )  # fmt: skip


def _bought(spend: str | None, pay: Costs, model: JudgmentsModel) -> int | None:
    """How many judgments can be paid; fewer than one screen's are none."""
    if spend is None:
        return None
    amount = parse_amount(spend, argument="spend", one="judgment")
    bought = int(ratings_for(pay, amount, argument="spend") + 1e-9)
    if bought < model.per_screen:
        fault = f"buys {bought} judgments, and a screen has {model.per_screen}"
        raise OptionError("spend", spend, fault, "give enough for a screen or more")
    return bought


def _check(
    goal: str, test: Literal["sign", "pooled", "bootstrap"] | None, level: float,
    sigma: float | None,
) -> Literal["sign", "pooled", "bootstrap"]:  # fmt: skip
    """The test to plan for; refuses numbers that make no sense."""
    need_positive("sigma", sigma, "10")
    need_share("level", level, "0.95", above=0.5)
    if goal == "significant":
        if test not in (None, *TESTS):
            raise OptionError("test", test, "is not a test of pairs", "choose sign or pooled")
        return test or "sign"
    if test not in (None, "bootstrap", *TESTS):
        raise OptionError("test", test, "is not known", "choose bootstrap, sign or pooled")
    return test or "bootstrap"


def _goal(
    significant: float | None, clusters: float | None, range_size: float | None
) -> tuple[Literal["significant", "clusters", "range_size"], float]:
    given = {"significant": significant, "clusters": clusters, "range_size": range_size}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InputError(f"{' and '.join(named)} are given together; give one goal")
    if clusters is not None:
        return "clusters", clusters
    if range_size is not None:
        return "range_size", range_size
    return "significant", POWER if significant is None else significant


def _check_target(goal: str, target: float, systems: int) -> None:
    if goal == "significant":
        need_share(goal, target, "0.8")
    elif not 1 <= target <= systems:
        fault = f"is not between 1 and {systems}, the systems"
        raise OptionError(goal, target, fault, "give a number like 3")


def _ends(
    model: JudgmentsModel, known: JudgmentsPilot | None, goal: str, target: float, test: str
) -> tuple[int | None, int | None] | None:
    """What is needed at the ends of the pilot's interval of sigma."""
    if known is None or known.sigma_interval is None or goal != "significant":
        return None
    ends = known.sigma_interval if model.strengths is None else model.strengths.ends(target)
    low, high = (model.for_share(target, test, end) for end in ends)
    return low, high


def _uneven(
    model: JudgmentsModel, known: JudgmentsPilot, test: str, by_curve: int | None
) -> tuple[Note, ...]:
    """A warning where the model does not fit the pilot."""
    if known.sigma_interval is None or known.agreeing:
        return ()
    expected, observed = model.expected(known.judged)["sign"], known.observed["sign"]
    if abs(expected - observed) <= MOST_MISFIT:
        return ()
    takes = "" if by_curve is None else f" and needs {by_curve:,} judgments by {test} test"
    return (Note(
        "uneven-systems",
        f"warning: with sigma {model.sigma:.3g}, {expected:.0%} of the pairs should be"
        f" significant by sign test, but {observed:.0%} are in the pilot: the systems are not"
        f" evenly spread (is one far from the rest?). Sigma {known.curve_sigma:.3g} matches the"
        f" pilot's significant pairs{takes}; plan with that",
    ),)  # fmt: skip


def _curve(model: JudgmentsModel, judged: int) -> tuple[JudgmentsPoint, ...]:
    points = []
    for share in SHARES:
        sign, pooled = (model.for_share(share, name) for name in TESTS)
        more = [None if total is None else max(0, total - judged) for total in (sign, pooled)]
        points.append(JudgmentsPoint(share, sign, pooled, *more))
    return tuple(points)
