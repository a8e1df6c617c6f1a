"""When to stop rating: the interval watched while ratings come in.

Looking again and again favours moments at which the spread is underestimated, and skewed scores
make it worse: stopping at the first look that meets the target covers about a point less than it
says. Hence two things, both from the theory of fixed-width intervals (Chow and Robbins 1965): the
interval that is stated at the stop is the target itself, never a narrower one, and the target must
be met at two looks in a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import polars as pl

from assay.designs.base import design_of
from assay.errors import InputError, OptionError
from assay.estimation.frame import Study, make_study
from assay.estimation.results import _frame, noted
from assay.results import Note, Result, signature
from assay.stats.betting import betting_sequence
from assay.stats.intervals import LEVEL
from assay.tables.answers import Ratings
from assay.tables.test_set import Sample, TestSet

FIRST_LOOK, STEP, IN_A_ROW = 60, 0.01, 2
"""Looks begin at so many ratings, come every 1 % of N, and must agree so many times in a row."""
GOALS = ("score", "ranking")


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the first n ratings showed of one system or pair."""

    what: str
    n: int
    estimate: float
    half_width: float
    met: bool


@dataclass(frozen=True, slots=True)
class Monitored:
    """One system, or one pair ``A - B``: its latest interval and whether it is precise enough.

    ``reached`` is the number of ratings at which the target was first reached, or None, and
    ``more`` how many more are expected (0 once reached; None where nothing can be said).
    """

    what: str
    estimate: float
    low: float
    high: float
    n: int
    reached: int | None
    more: int | None


@dataclass(frozen=True, slots=True)
class Monitoring(Result, kind="monitoring"):
    """The verdict on a campaign so far, and every look behind it.

    ``target`` is the half-width wanted, which must be met at ``in_a_row`` looks in a row.
    """

    stop: bool
    items: tuple[Monitored, ...]
    looks: tuple[Look, ...]
    n: int
    population: int
    target: float
    goal: str
    guarantee: bool
    level: float
    design: str
    seed: int | None
    in_a_row: int = 2
    notes: tuple[Note, ...] = ()

    @property
    def signature(self) -> str:
        """How this verdict came about, in one line."""
        return signature(
            self.design,
            "betting" if self.guarantee else f"t:{self.in_a_row} looks",
            n=f"{self.n}/{self.population}",
            target=f"{self.target:g}",
            goal=self.goal,
            level=f"{self.level:g}",
            seed=self.seed,
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per system or pair and look."""
        return _frame(self.looks)


def monitor(
    test_set: TestSet,
    ratings: Ratings,
    *,
    sample: Sample,
    half_width: float,
    goal: str = "score",
    guarantee: bool = False,
    level: float = LEVEL,
) -> Monitoring:
    """Say whether enough has been rated for intervals of this half-width.

    The sample must be one whose beginnings are samples, ``interleaved`` or simple ``segments``,
    rated in its order; what is rated beyond the first gap is not used, and counted. ``goal``
    ``score`` wants every system's interval that narrow, ``ranking`` every difference decided or
    that narrow. With ``guarantee`` the interval is the any-time betting sequence, which holds
    however often one looks, for simple random samples and ratings with a stated range.

    >>> import assay
    >>> world = assay.simulate(documents=40, systems=2, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="100%", design="interleaved", rng=7)
    >>> result = assay.monitor(world.test_set, world.rate(), sample=drawn, half_width=0.8)
    >>> result.stop, result.items[0].reached < result.population
    (True, True)
    """
    _check(half_width, goal, level)
    study = make_study(
        test_set,
        ratings,
        sample=sample,
        assume=None,
        method="auto",
        interval="t",
        level=level,
        target="answers",
    )
    ratings, rated = study.ratings, study.rated
    sample = sample.placed_in(test_set)
    _need_sequence(sample, guarantee, ratings)
    order = sample.order(test_set)
    n, notes = _prefix(test_set, rated.scores, order)
    look = _betting_looks if guarantee else _t_looks
    looks = tuple(look(study, order[:n], half_width, goal))
    row = 1 if guarantee else IN_A_ROW
    items = tuple(
        _verdict(part, half_width, rated.scores.shape[1], row, goal) for part in _by_item(looks)
    )
    return Monitoring(
        stop=bool(items) and all(item.reached is not None for item in items),
        items=items,
        looks=looks,
        n=n,
        population=test_set.segments.height,
        target=half_width,
        goal=goal,
        guarantee=guarantee,
        level=level,
        design=rated.design.name,
        seed=rated.design.seed,
        in_a_row=row,
        notes=noted((*study.notes, *notes, *_caveats(items, goal, guarantee, n))),
    )


def _by_item(looks: Sequence[Look]) -> list[list[Look]]:
    """The looks at each system or pair, in their order."""
    parts: dict[str, list[Look]] = {}
    for look in looks:
        parts.setdefault(look.what, []).append(look)
    return list(parts.values())


def look_sizes(population: int, n: int) -> list[int]:
    """The numbers of ratings at which to look: every 1 % of N, after at least 60.

    >>> look_sizes(1000, 85)
    [60, 70, 80]
    """
    looks = list(range(min(FIRST_LOOK, population), n + 1, max(1, round(STEP * population))))
    return looks if n < population or n in looks else [*looks, n]


def check_half_width(half_width: float) -> None:
    """Refuse what cannot be a half-width."""
    if not 0 < half_width < float("inf"):
        raise OptionError("half_width", half_width, "is not a half-width", "give a number above 0")


def _check(half_width: float, goal: str, level: float) -> None:
    check_half_width(half_width)
    if goal not in GOALS:
        raise OptionError("goal", goal, "is not known", f"choose from {', '.join(GOALS)}")
    if not 0 < level < 1:
        raise OptionError("level", level, "is not a confidence level", "give a number like 0.95")


def _need_sequence(sample: Sample, guarantee: bool, ratings: Ratings) -> None:
    """Refuse a sample whose beginnings are not samples."""
    design = design_of(sample.design)
    whole = sample.matched and "order" in sample.frame.columns
    if not whole or not design.is_sample(len(sample)):
        raise InputError(
            f"the first segments of a sample of the design '{sample.design}' are not a sample, so"
            " its ratings cannot be monitored; draw a matched sample of the design 'interleaved',"
            " do not top it up, and keep its order column"
        )
    if guarantee and not design.simple:
        raise InputError(
            "the guarantee holds for simple random samples, whose order is random throughout;"
            " draw with the design 'segments', or leave the guarantee out"
        )
    if guarantee and ratings.range is None:
        raise InputError("the guarantee needs the range of the ratings; state it (range)")


def _prefix(test_set: TestSet, scores: np.ndarray, order: np.ndarray) -> tuple[int, list[Note]]:
    """How many of the first segments are rated for every system that has them."""
    done = (~np.isnan(scores) | ~test_set.present)[:, order].all(axis=0)
    n = len(order) if done.all() else int(done.argmin())
    later = int((~np.isnan(scores[:, order[n:]])).sum())
    if not later:
        return n, []
    key = test_set.segments.select(test_set.key).row(int(order[n]))
    return n, [
        Note(
            "ratings-after-gap",
            f"{later} ratings come after a gap and are not used: segment"
            f" {'/'.join(map(str, key))}, number {n + 1} in order, is not rated for every system;"
            " have it rated, or estimate instead, which allows for skipped outputs",
        )
    ]


def _t_looks(study: Study, order: np.ndarray, target: float, goal: str) -> Iterator[Look]:
    for n in look_sizes(study.rated.scores.shape[1], len(order)):
        part = replace(study, rated=study.rated.beginning(order[:n]))
        names, count = study.test_set.systems, len(study.rated.scores)
        if goal == "score":
            for i in range(count):
                mean = part.mean(i)
                half = mean.interval.half_width
                yield Look(names[i], n, mean.center, half, half <= target)
            continue
        for i, j in combinations(range(count), 2):
            gap = part.difference(i, j)
            half = (gap.high - gap.low) / 2
            met = gap.decided or half <= target
            yield Look(f"{gap.left} - {gap.right}", n, gap.difference, half, met)


def _betting_looks(study: Study, order: np.ndarray, target: float, goal: str) -> Iterator[Look]:
    low, high = study.ratings.range or (0.0, 0.0)
    names, scores = study.test_set.systems, study.rated.scores
    rows = [(name, scores[i], study.test_set.present[i], low, high) for i, name in enumerate(names)]
    if goal == "ranking":
        width = high - low
        rows = [
            (f"{names[i]} - {names[j]}", scores[i] - scores[j],
             study.test_set.present[i] & study.test_set.present[j], -width, width)
            for i, j in combinations(range(len(names)), 2)
        ]  # fmt: skip
    for name, values, present, least, most in rows:
        rated = order[present[order]]
        if not len(rated):
            continue
        ends = betting_sequence(values[rated], int(present.sum()), least, most, study.level)
        for n in look_sizes(scores.shape[1], len(order)):
            count = int(present[order[:n]].sum())
            if not count:
                continue
            first, last = float(ends[0][count - 1]), float(ends[1][count - 1])
            half = (last - first) / 2
            decided = goal == "ranking" and (first > 0 or last < 0)
            yield Look(name, n, (first + last) / 2, half, decided or half <= target)


def _verdict(looks: list[Look], target: float, population: int, row: int, goal: str) -> Monitored:
    """The latest look, or the one at which the target was reached, which is what is stated."""
    streak, reached = 0, None
    for look in looks:
        streak = streak + 1 if look.met else 0
        if streak >= row or (look.met and look.n == population):
            reached = look
            break
    last = reached or looks[-1]
    # A fixed-width interval at the stop: narrower ones cover less than they say.
    half = max(last.half_width, target) if reached and row > 1 and goal == "score" else (
        last.half_width
    )  # fmt: skip
    more = 0 if reached else _more(last, target, population, row)
    return Monitored(
        last.what, last.estimate, last.estimate - half, last.estimate + half, last.n,
        reached.n if reached else None, more,
    )  # fmt: skip


def _more(last: Look, target: float, population: int, row: int) -> int | None:
    """Half-widths shrink as sqrt(1/n - 1/N): how many ratings until the target, if that goes on."""
    known = np.isfinite(last.half_width) and last.n < population
    if not known:
        return None
    unit = last.half_width**2 / (1 / last.n - 1 / population)
    needed = 1 / (1 / population + target**2 / unit) if unit > 0 else last.n
    step = max(1, round(STEP * population)) * (row - 1)
    return min(population, max(last.n, int(np.ceil(needed))) + step) - last.n


def _caveats(items: tuple[Monitored, ...], goal: str, guarantee: bool, n: int) -> list[Note]:
    if not items:
        return [Note("too-few", f"{n} segments are rated in order; looks begin at {FIRST_LOOK}")]
    if guarantee:
        return [Note("guaranteed", "guaranteed for each system or pair by itself, however often"
                     " one looks")]  # fmt: skip
    lines = [Note("not-guaranteed", f"no guarantee: that intervals hold at the stop, after"
                  f" {IN_A_ROW} looks in a row, is measured, not proved")]  # fmt: skip
    if goal == "ranking":
        lines.append(
            Note("many-looks", "differences are tested at every look, so more of them than stated"
                 " come out decided by chance; use the guarantee where that matters")
        )  # fmt: skip
    return lines
