"""Looks at one system or pair: at planned sizes, or at will with an any-time interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from assay.errors import OptionError
from assay.estimation.overlap import find_overlap
from assay.estimation.rated_order import Item, RatedOrder
from assay.estimation.results import Basis
from assay.estimation.study import NO_WIDTH, Study
from assay.stats.betting import betting_sequence
from assay.stats.intervals import Interval, t_quantile
from assay.stats.looks import look_limits, normal_tail, planned_sizes, shares_of
from assay.tables.tables import Sample

LOOKS = {"ranking": 5, "score": 10}
"""The default number of looks for a goal."""
RATERS_SHARE = 0.3
"""The raters' assumed share of the variance in plans for more than half of a test set. If it is 10,
30 or 60 %, such looks are wrong in 4.5 to 5.7 % of cases (2,000 campaigns each)."""
FIRST_LOOK, STEP_SHARE = 60, 0.01
"""The first look at scores, and at will, is at so many segments; at will then every 1 %."""


@dataclass(frozen=True, slots=True)
class Look:
    """A look at the first n segments of one system or pair.

    The interval is ``estimate`` plus or minus ``half_width``, ``limit`` times ``stderr``; for pairs
    it is a repeated confidence interval, valid at all looks together. ``skipped`` segments have no
    rating. ``low`` and ``high`` are given if the interval of a score is kept inside its range.
    """

    what: str
    n: int
    estimate: float
    half_width: float
    met: bool
    stderr: float = math.nan
    limit: float = math.nan
    decided: bool = False
    skipped: int = 0
    low: float | None = None
    high: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The interval."""
        if self.low is None or self.high is None:
            return self.estimate - self.half_width, self.estimate + self.half_width
        return self.low, self.high


class LookPlan(NamedTuple):
    """The sizes of the looks (none: at will), the limits of |Z| (pairs only) and the half-width."""

    sizes: tuple[int, ...]
    limits: tuple[float, ...]
    target: float | None


def usual_sizes(total: int, goal: str) -> tuple[int, ...]:
    """The sizes of the looks planned by default; those at scores start at FIRST_LOOK segments.

    >>> usual_sizes(441, "ranking"), usual_sizes(100, "score")
    ((89, 177, 265, 353, 441), (60, 70, 80, 90, 100))
    """
    sizes = planned_sizes(total, LOOKS[goal])
    return tuple(n for n in sizes if goal == "ranking" or n >= min(FIRST_LOOK, total))


def make_plan(
    watched: Watched, looks: int | Sequence[int] | None, goal: str, target: float | None
) -> LookPlan:
    """The plan: each look is at the first beginning of its size or more that is a sample."""
    total, population = len(watched.progress.order), watched.population
    if looks is None:
        sizes = usual_sizes(total, goal)
    else:
        sizes = planned_sizes(total, looks) if isinstance(looks, int) else tuple(looks)
    if sizes[-1] > total:
        raise OptionError(
            "looks", sizes[-1], f"is beyond the {total} segments of the sample",
            f"plan the last look at {total} or before",
        )  # fmt: skip
    following = np.searchsorted(watched.ends, sizes).clip(max=len(watched.ends) - 1)
    sizes = tuple(dict.fromkeys(watched.ends[following].tolist()))
    if goal != "ranking":
        return LookPlan(sizes, (), target)
    shares = shares_of(sizes, population, RATERS_SHARE if 2 * sizes[-1] > population else 0.0)
    return LookPlan(sizes, look_limits(shares, watched.study.level), target)


@dataclass(frozen=True, eq=False)
class Watched:
    """A campaign, its progress, and the sizes of the beginnings that are samples (``ends``).

    ``parts`` caches the studies of beginnings, which all pairs share.
    """

    study: Study
    sample: Sample
    progress: RatedOrder
    ends: np.ndarray
    parts: dict[int, Study] = field(default_factory=dict)

    @property
    def population(self) -> int:
        """All segments of the test set."""
        return int(self.study.rated.scores.shape[1])

    def beginning(self, n: int) -> Study:
        """The study of the first n segments alone, with its own differences between raters."""
        if n not in self.parts:
            whole, places = self.study, self.progress.order[:n]
            begun = np.zeros_like(whole.rated.drawn)
            begun[:, places] = True
            pi = np.where(begun & whole.rated.present, n / self.population, np.nan)
            scores = np.where(begun, whole.rated.scores, np.nan)
            rated = whole.rated._replace(scores=scores, pi=pi, drawn=begun)
            overlap = find_overlap(whole.test_set, whole.ratings, rated.scores, self.sample)
            basis: Basis = "answers" if overlap is None else "raters"
            self.parts[n] = replace(
                whole, rated=rated, target=basis, overlap=overlap, cautious=overlap is None
            )
        return self.parts[n]

    def latest(self, item: Item) -> int:
        """The size of the longest complete beginning that is a sample."""
        place = int(np.searchsorted(self.ends, self.progress.unbroken(item), side="right"))
        return int(self.ends[place - 1]) if place else 0

    def seen(self, item: Item, n: int, tail: float | None = None) -> Look:
        """A look at the first n segments, with this tail probability on either side."""
        if not n:
            return Look(item.what, 0, math.nan, math.nan, met=False)
        part = self.beginning(n)
        if not item.pair:
            mean = part.mean(item.i)
            found = self._look(item, n, mean.center, mean.stderr, mean.degrees, None)
            return _inside(found, mean.interval, self.study.ratings.range)
        gap = part.difference(item.i, item.j)
        stderr = gap.stderr or math.nan  # no verdict comes from an interval of no width
        return self._look(item, n, gap.difference, stderr, gap.degrees, tail)

    def _look(
        self, item: Item, n: int, center: float, stderr: float, degrees: float, tail: float | None
    ) -> Look:
        part, places = self.beginning(n), self.progress.order[:n]
        rated = ~np.isnan(part.rated.scores[[item.i, item.j]][:, places]).any(axis=0)
        tail = (1 - self.study.level) / 2 if tail is None else tail
        limit = -t_quantile(tail, degrees)
        return Look(
            item.what, n, center, limit * stderr, met=False, stderr=stderr, limit=limit,
            skipped=n - int(rated.sum()),
        )  # fmt: skip


def _inside(look: Look, interval: Interval, limits: tuple[float, float] | None) -> Look:
    """A look at a score with the estimate's interval if its own would leave the range."""
    low, high = look.ends
    if limits is None or not look.half_width > 0 or (limits[0] <= low and high <= limits[1]):
        return look
    half = (interval.high - interval.low) / 2
    return replace(look, half_width=half, low=interval.low, high=interval.high)


class Followed(NamedTuple):
    """All looks at one system or pair, and its complete beginning ``now``."""

    item: Item
    looks: tuple[Look, ...]
    now: Look
    sizes: tuple[int, ...]

    @property
    def reached(self) -> Look | None:
        """The look that met the goal."""
        return next((look for look in self.looks if look.met), None)

    @property
    def following(self) -> int | None:
        """The size of the next look; None if the goal is met or no look is left."""
        if self.reached is not None:
            return None
        last = self.looks[-1].n if self.looks else 0
        return next((n for n in self.sizes if n > last), None)


def follow(watched: Watched, plan: LookPlan, item: Item, past: Mapping[int, Look]) -> Followed:
    """The planned looks at one system or pair; ``past`` ones are kept."""
    complete = plan.sizes[: watched.progress.complete(item, plan.sizes)]
    looks: tuple[Look, ...] = ()
    for k, n in enumerate(plan.sizes):
        if (n not in past and n not in complete) or (looks and looks[-1].met):
            break
        looks += (past[n] if n in past else _judged(watched, plan, item, n, k),)
    n = max([watched.latest(item), *complete, *(look.n for look in looks)])
    if looks and n == looks[-1].n:
        return Followed(item, looks, looks[-1], plan.sizes)
    return Followed(item, looks, watched.seen(item, n), plan.sizes)


def _judged(watched: Watched, plan: LookPlan, item: Item, n: int, k: int) -> Look:
    """The k-th look, with its verdict: beyond the limit, or narrow enough."""
    tail = normal_tail(plan.limits[k]) if plan.limits else None
    look = watched.seen(item, n, tail)
    decided = item.pair and abs(look.estimate) > look.half_width > 0
    narrow = plan.target is not None and look.half_width <= plan.target
    return replace(look, met=decided or narrow, decided=decided)


def look_sizes(population: int, n: int) -> list[int]:
    """The numbers of segments at which looks at will are taken: every 1 % of N from FIRST_LOOK.

    >>> look_sizes(1000, 85)
    [60, 70, 80]
    """
    looks = list(range(min(FIRST_LOOK, population), n + 1, max(1, round(STEP_SHARE * population))))
    return looks if n < population or n in looks else [*looks, n]


def follow_at_will(watched: Watched, plan: LookPlan, item: Item) -> Followed:
    """Looks at one system or pair with intervals that are right at all times together."""
    looks = tuple(_betting_looks(watched, plan, item))
    now = looks[-1] if looks else watched.seen(item, watched.latest(item))
    return Followed(item, looks, now, ())


def _betting_looks(watched: Watched, plan: LookPlan, item: Item) -> Iterator[Look]:
    study, (low, high) = watched.study, watched.study.ratings.range or (0.0, 0.0)
    values, present = study.rated.scores[item.i], study.test_set.present[item.i]
    if item.pair:
        low, high = low - high, high - low
        values = values - study.rated.scores[item.j]
        present = present & study.test_set.present[item.j]
    order = watched.progress.order[: watched.latest(item)]
    rated = order[present[order]]
    if not len(rated):
        return
    ends = betting_sequence(values[rated], int(present.sum()), low, high, study.level)
    for n in look_sizes(watched.population, len(order)):
        count = int(present[order[:n]].sum())
        if not count:
            continue
        first, last = float(ends[0][count - 1]), float(ends[1][count - 1])
        half = (last - first) / 2
        # Once everything is rated, the width is rounding error, which decides no pair.
        wide = half > NO_WIDTH * (high - low)
        decided = item.pair and wide and (first > 0 or last < 0)
        narrow = plan.target is not None and half <= plan.target and (wide or not item.pair)
        met = decided or narrow
        yield Look(item.what, n, (first + last) / 2, half, met, decided=decided)
