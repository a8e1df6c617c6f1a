"""How many judgments it takes to tell systems apart (koehn2012, section 6, and beyond)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
import polars as pl
from scipy import special

from assay.errors import InputError, OptionError
from assay.planning.assumptions import need_positive, need_whole
from assay.planning.judgment_pilot import Votes, votes
from assay.ranking.pooled import pooled_counts
from assay.ranking.sigma import fit_sigma
from assay.ranking.signs import sign_test
from assay.ranking.theory import judgments_for, pooled_share, sign_share
from assay.ranking.uncertainty import Watch, unwatched
from assay.results import plain, result_dict, signature
from assay.stats.orders import cluster_numbers, rank_ranges
from assay.stats.random import Rng, seeded
from assay.tables import Judgments
from assay.worlds.koehn import draw_qualities, win_counts

__all__ = ["JudgmentsPlan", "JudgmentsPoint", "plan_judgments"]

SHARES = (0.5, 0.7, 0.8, 0.9)
"""Shares of significant pairs that every plan shows (the columns of the paper's Table 4)."""

TESTS = ("sign", "pooled")
RUNS, BATCHES = 100, 20
"""Simulated campaigns behind a plan for clusters or range sizes, and the parts they come in."""


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

    ``needed`` reaches the ``target`` (of ``goal`` significant, clusters or range-size) by ``test``,
    ``needed_by`` by each test. ``needed_range`` is ``needed`` at the ends of the pilot's interval
    of sigma. Numbers of judgments count the ties that a pilot makes expect (``tie_share``).
    ``block_effect`` multiplies the judgments that the pooled test needs, where a pilot shows that
    judgments of one segment hang together more than those of one set do in the model.
    """

    needed: int | None
    needed_by: dict[str, int | None]
    needed_range: tuple[int | None, int | None] | None
    goal: str
    target: float
    test: str
    systems: int
    sigma: float
    sigma_interval: tuple[float, float] | None
    per_set: int
    level: float
    tie_share: float
    block_effect: float
    judged: int
    reached: dict[str, float] | None
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
            k=self.per_set, p=f"{self.level:g}", test=self.test, seed=self.seed,
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
class _Model:
    """What the numbers are computed from; judgments without ties become judgments with them."""

    systems: int
    sigma: float
    per_set: int
    level: float
    tie_share: float
    block_effect: float

    def collected(self, judgments: float, test: str) -> int | None:
        if not math.isfinite(judgments):
            return None
        effect = self.block_effect if test == "pooled" else 1.0
        return math.ceil(judgments * effect / (1 - self.tie_share))

    def untied(self, collected: float, test: str) -> float:
        effect = self.block_effect if test == "pooled" else 1.0
        return collected * (1 - self.tie_share) / effect

    def for_share(self, share: float, test: str, sigma: float | None = None) -> int | None:
        width = self.sigma if sigma is None else sigma
        if not 0 < width < math.inf:
            return None
        found = judgments_for(
            share, self.systems, width, test=test, per_set=self.per_set, level=self.level
        )
        return self.collected(found, test)


def plan_judgments(
    systems: int | None = None,
    *,
    sigma: float | None = None,
    pilot: Judgments | None = None,
    significant: float | None = None,
    clusters: float | None = None,
    range_size: float | None = None,
    test: str = "sign",
    per_set: int = 5,
    level: float = 0.05,
    seconds_per_judgment: float | None = None,
    cost_per_judgment: float | None = None,
    rng: Rng = None,
    watch: Watch = unwatched,
) -> JudgmentsPlan:
    """Plan how many judgments to collect.

    Goal, one of: the expected share of ``significant`` pairs (default .8), the number of
    ``clusters``, or the mean ``range_size`` of rank ranges. The first is computed from the model
    of koehn2012; the others are simulated (``rng``).

    systems: how many. sigma: how noisy judgments are (7 to 12 at WMT12). pilot: judgments to
    fit sigma to and count ties in. test: ``sign`` (head to head) or ``pooled`` (all judgments
    decide about every pair); the plan shows both. level: one-sided. per_set: systems on a screen.
    watch: see the simulated campaigns pass.

    >>> plan = plan_judgments(15, sigma=10, significant=0.8)
    >>> plan.needed, plan.needed_by["pooled"]
    (80381, 20517)
    """
    goal, target = _goal(significant, clusters, range_size)
    for name, value in (
        ("sigma", sigma),
        ("seconds_per_judgment", seconds_per_judgment),
        ("cost_per_judgment", cost_per_judgment),
    ):
        need_positive(name, value, "10")
    if test not in TESTS:
        raise OptionError("test", test, "is no test", "choose sign or pooled")
    if not 0 < level < 0.5:
        raise OptionError("level", level, "is no one-sided level", "give a number like 0.05")
    model, interval, judged, notes = _model(systems, sigma, pilot, per_set, level)
    _check_target(goal, target, model.systems)
    generator, seed = seeded(rng)
    if goal == "significant":
        seed = None
        by = {name: model.for_share(target, name) for name in TESTS}
    else:
        by = _simulated(model, goal, target, generator, watch)
    ends = None
    if interval is not None and goal == "significant":
        ends = (
            model.for_share(target, test, interval[0]),
            model.for_share(target, test, interval[1]),
        )
    if by[test] is None:
        notes.append("the target is out of reach of any number of judgments that was looked at")
    needed = by[test]
    return JudgmentsPlan(
        needed=needed,
        needed_by=by,
        needed_range=ends,
        goal=goal,
        target=target,
        test=test,
        systems=model.systems,
        sigma=model.sigma,
        sigma_interval=interval,
        per_set=model.per_set,
        level=level,
        tie_share=model.tie_share,
        block_effect=model.block_effect,
        judged=judged,
        reached=_reached(model, judged) if judged else None,
        votes=None if pilot is None else votes(pilot),
        seconds_per_judgment=seconds_per_judgment,
        cost_per_judgment=cost_per_judgment,
        minutes=_times(needed, seconds_per_judgment, 60.0),
        money=_times(needed, cost_per_judgment, 1.0),
        source="given" if pilot is None else "pilot",
        seed=seed,
        curve=_curve(model, judged),
        notes=tuple(notes),
    )


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
    systems: int | None, sigma: float | None, pilot: Judgments | None, per_set: int, level: float
) -> tuple[_Model, tuple[float, float] | None, int, list[str]]:
    """What was given, else what the pilot says; with sigma's interval and the judgments so far."""
    notes: list[str] = []
    if pilot is None:
        if sigma is None:
            raise InputError("neither sigma nor a pilot is given; give sigma=10 or judgments")
        if systems is None:
            raise InputError("systems is not given; say how many systems are compared")
        need_whole("systems", systems, 2)
        _check_per_set(per_set, systems)
        return _Model(systems, sigma, per_set, level, 0.0, 1.0), None, 0, notes
    fit = fit_sigma(pilot)
    n = len(fit.systems) if systems is None else systems
    need_whole("systems", n, 2)
    if per_set == 5 and n < 5:
        per_set = n
    _check_per_set(per_set, n)
    notes.append(
        f"pilot: sigma {fit.sigma:.2f}, 95% interval {fit.interval.low:.2f} to"
        f" {fit.interval.high:.2f}, from {fit.judgments} judgments and {fit.ties} ties"
    )
    total = fit.judgments + fit.ties
    effect = 1.0
    if fit.unit == "segment":
        effect = max(1.0, fit.effect / ((per_set + 1) / 3))
        notes.append(f"pilot: the pooled test needs {effect:.2f} times the judgments of the model")
    if sigma is not None:
        notes.append("pilot: the sigma given by hand is used instead of the pilot's")
    interval = None if sigma is not None else (fit.interval.low, fit.interval.high)
    own = fit.sigma if sigma is None else sigma
    return _Model(n, own, per_set, level, fit.ties / total, effect), interval, total, notes


def _check_per_set(per_set: int, n: int) -> None:
    if not 2 <= per_set <= n:
        raise OptionError(
            "per_set", per_set, "systems cannot be shown at once", f"give 2 to {n}, the systems"
        )


def _reached(model: _Model, judged: int) -> dict[str, float]:
    """The expected share of significant pairs with the judgments so far."""
    shares = {"sign": sign_share, "pooled": pooled_share}
    return {
        name: share(
            model.systems, model.sigma, model.untied(judged, name),
            per_set=model.per_set, level=model.level,
        )
        for name, share in shares.items()
    }  # fmt: skip


def _curve(model: _Model, judged: int) -> tuple[JudgmentsPoint, ...]:
    points = []
    for share in SHARES:
        sign, pooled = (model.for_share(share, name) for name in TESTS)
        more = [None if found is None else max(0, found - judged) for found in (sign, pooled)]
        points.append(JudgmentsPoint(share, sign, pooled, *more))
    return tuple(points)


def _simulated(
    model: _Model, goal: str, target: float, rng: np.random.Generator, watch: Watch
) -> dict[str, int | None]:
    """Judgments until the mean over simulated campaigns reaches the target, by each test."""
    n, k = model.systems, model.per_set
    per_screen = k * (k - 1) / 2
    sizes = np.unique(np.geomspace(20, 1e6 / per_screen, 16).astype(int))
    mu = draw_qualities(RUNS, n, rng)
    wins = np.concatenate([
        win_counts(part, sizes.tolist(), rng, sigma=model.sigma, per_set=k)
        for part in watch(np.split(mu, BATCHES), BATCHES)
    ])  # fmt: skip
    # Counts do not know their sets: ten pairs of a set of k have (k + 1) / 3 times the variance
    # of independent ones where systems are alike (the variance of ranks).
    z = pooled_counts(np.maximum(wins, 1e-9)).z / np.sqrt((k + 1) / 3)
    better = {"sign": sign_test(wins) <= model.level, "pooled": special.ndtr(-z) <= model.level}
    found: dict[str, int | None] = {}
    for name, table in better.items():
        low, high = rank_ranges(table)
        if goal == "clusters":
            value = cluster_numbers(low, high).max(axis=-1).mean(axis=0)
        else:
            value = -(high - low + 1).mean(axis=(0, 2))
        wanted = target if goal == "clusters" else -target
        rising = np.maximum.accumulate(value)
        if rising[-1] < wanted:
            found[name] = None
            continue
        log = np.interp(wanted, rising, np.log(sizes * per_screen))
        found[name] = model.collected(float(np.exp(log)), name)
    return found


def _times(needed: int | None, each: float | None, unit: float) -> float | None:
    return None if needed is None or each is None else needed * each / unit
