"""How many judgments it takes to tell systems apart (koehn2012, section 6, and beyond)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import polars as pl

from assay.errors import InputError, OptionError
from assay.planning.assumptions import need_positive, need_whole
from assay.planning.judgment_model import MOST, TESTS, Model, simulated_needs
from assay.planning.judgment_pilot import Votes, found_share, votes
from assay.ranking.counts import check_per_set, screen_size, set_effect
from assay.ranking.power import pooled_share, sign_share
from assay.ranking.sigma import fit_sigma, match_sigma
from assay.results import plain, result_dict, signature
from assay.stats.progress import Progress, silent
from assay.stats.random import Rng, seeded
from assay.tables.answers import Judgments

SHARES = (0.5, 0.7, 0.8, 0.9)
"""Shares of significant pairs that every plan shows (the columns of the paper's Table 4)."""

FAR = 0.05
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
class JudgmentsPlan:
    """How many judgments to collect, and everything that was assumed to say so.

    ``needed`` reaches the ``target`` (of ``goal`` significant, clusters or range_size) by ``test``,
    ``needed_by`` by each test; ``more`` is what a pilot leaves of it to collect, and minutes and
    money are for that. ``needed_range`` is ``needed`` at the ends of the pilot's interval of sigma.
    Numbers of judgments count the ties that a pilot makes expect (``tie_share``). ``block_effect``
    multiplies the judgments that the pooled test needs, where a pilot shows that judgments of one
    segment hang together more than those of one set do in the model. ``reached`` is the share of
    significant pairs that the model expects of the pilot, ``observed`` what the pilot shows; where
    they differ, the systems are not spread evenly, and ``sigma_by_curve`` (which matches what is
    observed) with ``needed_by_curve`` is the safer plan.
    """

    needed: int | None
    needed_by: dict[str, int | None]
    more: int | None
    needed_range: tuple[int | None, int | None] | None
    goal: str
    target: float
    test: str
    systems: int
    sigma: float
    sigma_interval: tuple[float, float] | None
    sigma_by_curve: float | None
    needed_by_curve: int | None
    per_set: int
    level: float
    tie_share: float
    block_effect: float
    judged: int
    reached: dict[str, float] | None
    observed: dict[str, float] | None
    votes: Votes | None
    seconds_per_judgment: float | None
    cost_per_judgment: float | None
    minutes: float | None
    money: float | None
    source: str
    seed: int | None
    curve: tuple[JudgmentsPoint, ...]
    notes: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return signature(
            "plan-judgments", self.source, n=self.systems, sigma=f"{self.sigma:.4g}",
            k=self.per_set, level=f"{self.level:g}", test=self.test, seed=self.seed,
            **{self.goal: f"{self.target:g}"},
        )  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """Judgments by share of significant pairs."""
        return pl.DataFrame([plain(point) for point in self.curve], infer_schema_length=None)

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay plan judgments``."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        return result_dict("plan-judgments", self.signature, **content)


@dataclass(frozen=True, slots=True)
class _Pilot:
    """What a pilot says beyond the model's settings."""

    judged: int
    interval: tuple[float, float] | None
    curve_sigma: float
    observed: dict[str, float]
    notes: list[str]


def plan_judgments(
    systems: int | None = None,
    *,
    sigma: float | None = None,
    pilot: Judgments | None = None,
    significant: float | None = None,
    clusters: float | None = None,
    range_size: float | None = None,
    test: str | None = None,
    per_set: int | None = None,
    level: float = 0.95,
    seconds_per_judgment: float | None = None,
    cost_per_judgment: float | None = None,
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
    ``bootstrap``, which is what :func:`assay.rank` does if nothing is said and the default there.
    The plan shows all. level: of one-sided tests. per_set: systems on a screen; default 5, or as in
    the pilot.

    >>> plan = plan_judgments(15, sigma=10, significant=0.8)
    >>> plan.needed, plan.needed_by["pooled"]
    (80381, 20517)
    """
    goal, target = _goal(significant, clusters, range_size)
    test = _check(goal, test, level, sigma, seconds_per_judgment, cost_per_judgment)
    model, known = _model(systems, sigma, pilot, per_set, round(1 - level, 12))
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
    curve_sigma, by_curve, notes = _by_curve(model, known, goal, target, test)
    if needed is None:
        far = "a billion" if goal == "significant" else f"{MOST:,}"
        notes.append(f"the target is out of reach of {far} judgments")
    return JudgmentsPlan(
        needed=needed,
        needed_by=by,
        more=more,
        needed_range=_ends(model, known, goal, target, test),
        goal=goal,
        target=target,
        test=test,
        systems=model.systems,
        sigma=model.sigma,
        sigma_interval=None if known is None else known.interval,
        sigma_by_curve=curve_sigma,
        needed_by_curve=by_curve,
        per_set=model.per_set,
        level=level,
        tie_share=model.tie_share,
        block_effect=model.block_effect,
        judged=judged,
        reached=None if known is None else _reached(model, judged),
        observed=None if known is None else known.observed,
        votes=None if pilot is None else votes(pilot),
        seconds_per_judgment=seconds_per_judgment,
        cost_per_judgment=cost_per_judgment,
        minutes=_times(more, seconds_per_judgment, 60.0),
        money=_times(more, cost_per_judgment, 1.0),
        source="given" if known is None else "pilot",
        seed=seed,
        curve=_curve(model, judged),
        notes=tuple(notes),
    )


def _check(
    goal: str, test: str | None, level: float, sigma: float | None, seconds: float | None,
    cost: float | None,
) -> str:  # fmt: skip
    """The test to plan for; refuses numbers that make no sense."""
    for name, value in (
        ("sigma", sigma), ("seconds_per_judgment", seconds), ("cost_per_judgment", cost),
    ):  # fmt: skip
        need_positive(name, value, "10")
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 < level < 1:
        raise OptionError("level", level, "is no level of a test", "give a number like 0.95")
    if goal == "significant":
        if test not in (None, *TESTS):
            raise OptionError("test", test, "is no test", "choose sign or pooled")
        return test or "sign"
    if test not in (None, "bootstrap", *TESTS):
        raise OptionError("test", test, "is no test", "choose bootstrap, sign or pooled")
    return test or "bootstrap"


def _goal(
    significant: float | None, clusters: float | None, range_size: float | None
) -> tuple[str, float]:
    given = [
        (name, value)
        for name, value in (
            ("significant", significant), ("clusters", clusters), ("range_size", range_size),
        )
        if value is not None
    ]  # fmt: skip
    if len(given) > 1:
        named = " and ".join(name for name, _ in given)
        raise InputError(f"{named} are given together; a plan has one goal")
    return given[0] if given else ("significant", 0.8)


def _check_target(goal: str, target: float, n: int) -> None:
    if goal == "significant":
        if not 0 < target < 1:
            raise OptionError(goal, target, "is no share of pairs", "give a number like 0.8")
    elif not 1 <= target <= n:
        raise OptionError(goal, target, "cannot be", f"give a number from 1 to {n}, the systems")


def _model(
    systems: int | None, sigma: float | None, pilot: Judgments | None, per_set: int | None,
    alpha: float,
) -> tuple[Model, _Pilot | None]:  # fmt: skip
    """What was given, else what the pilot says."""
    if pilot is None:
        if sigma is None:
            raise InputError(
                "neither sigma nor a pilot is given; give sigma=10 (--sigma 10), or pilot="
                "judgments (--pilot FILE)"
            )
        if systems is None:
            raise InputError("systems is not given; say how many systems are compared")
        need_whole("systems", systems, 2)
        return Model(systems, sigma, check_per_set(per_set, systems), alpha), None
    fit = fit_sigma(pilot)
    n = len(fit.systems) if systems is None else systems
    need_whole("systems", n, 2)
    size = check_per_set(min(screen_size(pilot), n) if per_set is None else per_set, n)
    notes = [
        f"pilot: sigma {fit.sigma:.2f}, 95% interval {fit.interval.low:.2f} to"
        f" {fit.interval.high:.2f}, from {fit.judgments:,} judgments and {fit.ties:,} ties"
    ]
    if not math.isfinite(fit.sigma):
        notes.append("pilot: the judgments show no difference between the systems")
    effect = 1.0
    if fit.unit == "segment":
        effect = max(1.0, fit.effect / set_effect(size))
        notes.append(f"pilot: the pooled test needs {effect:.2f} times the judgments of the model")
    if sigma is not None:
        notes.append("pilot: the sigma given by hand is used instead of the pilot's")
    total = fit.judgments + fit.ties
    model = Model(n, fit.sigma if sigma is None else sigma, size, alpha, fit.ties / total, effect)
    known = _Pilot(
        judged=total,
        interval=None if sigma is not None else (fit.interval.low, fit.interval.high),
        curve_sigma=match_sigma(pilot, per_set=min(size, len(fit.systems)), rng=0).sigma,
        observed={
            name: found_share(pilot, name, alpha=alpha) for name in TESTS
        },
        notes=notes,
    )  # fmt: skip
    return model, known


def _ends(
    model: Model, known: _Pilot | None, goal: str, target: float, test: str
) -> tuple[int | None, int | None] | None:
    """What is needed at the ends of the pilot's interval of sigma."""
    if known is None or known.interval is None or goal != "significant":
        return None
    low, high = (model.for_share(target, test, sigma) for sigma in known.interval)
    return low, high


def _by_curve(
    model: Model, known: _Pilot | None, goal: str, target: float, test: str
) -> tuple[float | None, int | None, list[str]]:
    """The sigma that matches the pilot, what it needs, and a warning where that differs."""
    if known is None:
        return None, None, []
    notes = list(known.notes)
    needed = model.for_share(target, test, known.curve_sigma) if goal == "significant" else None
    expected = _reached(model, known.judged)["sign"]
    if abs(expected - known.observed["sign"]) > FAR and known.interval is not None:
        takes = "" if needed is None else f" and {needed:,} judgments by {test} test are needed"
        notes.append(
            f"warning: the pilot tells {known.observed['sign']:.0%} of the pairs apart by sign"
            f" test, where sigma {model.sigma:.3g} makes expect {expected:.0%}: the systems are"
            f" not spread evenly (one far from the rest?). By the curve of significant pairs sigma"
            f" is {known.curve_sigma:.3g}{takes}: plan with that"
        )
    return known.curve_sigma, needed, notes


def _reached(model: Model, judged: int) -> dict[str, float]:
    """The expected share of significant pairs with the judgments so far."""
    if not math.isfinite(model.sigma):
        return dict.fromkeys(TESTS, 2 * model.alpha)
    shares = {"sign": sign_share, "pooled": pooled_share}
    return {
        name: share(
            model.systems, model.sigma, model.untied(judged, name),
            per_set=model.per_set, level=model.alpha,
        )
        for name, share in shares.items()
    }  # fmt: skip


def _curve(model: Model, judged: int) -> tuple[JudgmentsPoint, ...]:
    points = []
    for share in SHARES:
        sign, pooled = (model.for_share(share, name) for name in TESTS)
        more = [None if found is None else max(0, found - judged) for found in (sign, pooled)]
        points.append(JudgmentsPoint(share, sign, pooled, *more))
    return tuple(points)


def _times(needed: int | None, each: float | None, unit: float) -> float | None:
    return None if needed is None or each is None else needed * each / unit
