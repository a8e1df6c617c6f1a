"""Results of estimation: scores, differences, ranks, groups, and the precision of more ratings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from assay.estimation.composite import Composite
from assay.results import UNPAID, Costs, Note, Result, signature
from assay.stats.intervals import (
    Interval,
    chance_to_decide,
    holm,
    order_of_differences,
    smallest,
    t_quantile,
)
from assay.tables.tables import Design

Better = Literal["higher", "lower"]
Basis = Literal["raters", "texts", "answers"]
FORMER_TARGETS = {"test-set": "answers", "new-documents": "texts"}
"""The names of targets in version 0.2."""


class Mean(NamedTuple):
    """An estimated mean with its error, its interval and what it rests on."""

    center: float
    stderr: float
    degrees: float
    interval: Interval
    n: int
    population: int
    method: str
    unexplained: float
    basis: Basis = "answers"
    """What the error is for: raters, texts or answers."""
    rater_stderr: float = 0.0
    """The raters' part of the error, which rating more segments does not reduce."""
    severity_stderr: float = 0.0
    """The part of that because the raters as a whole may be strict or mild."""
    kind: str = "t"
    """The kind of interval."""


def noted(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Each note once."""
    return tuple(dict.fromkeys(notes))


def scored(mean: Mean) -> dict[str, Any]:
    """The fields shared by all estimates of a score."""
    return {
        "estimate": mean.center, "low": mean.interval.low, "high": mean.interval.high,
        "stderr": mean.stderr, "n": mean.n, "population": mean.population,
    }  # fmt: skip


# --- scores -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SystemEstimate:
    """One system's score on the whole test set, with its rank, rank range and cluster."""

    system: str
    estimate: float
    low: float
    high: float
    stderr: float
    n: int
    population: int
    method: str
    interval: str
    rank: int
    low_rank: int
    high_rank: int
    cluster: int
    basis: Basis = "answers"
    rater_stderr: float = 0.0
    """The raters' part of the standard error, which rating more segments does not reduce."""
    severity_stderr: float = 0.0
    """The part of that because other raters may be stricter or milder; 0 in differences."""


@dataclass(frozen=True, slots=True)
class Difference:
    """``left`` minus ``right`` on the test set; decided if the interval excludes zero.

    ``p`` is that of the two-sided t test of no difference, with ``degrees`` of freedom; NaN if the
    standard error is unknown or zero.
    """

    left: str
    right: str
    difference: float
    low: float
    high: float
    stderr: float
    n: int
    decided: bool
    p: float
    degrees: float
    population: int
    basis: Basis = "answers"
    """What the interval, p and the verdict hold for."""
    rater_stderr: float = 0.0
    """The raters' part of the standard error, which rating more segments does not reduce."""
    apart: bool = False
    """Whether it is the difference of the two scores, because few segments are common."""
    stable: float | None = None
    """The chance that a repeat of the same size puts the two in this order."""

    @property
    def reversed(self) -> Difference:
        """The same difference the other way round."""
        return replace(
            self, left=self.right, right=self.left, difference=-self.difference, low=-self.high,
            high=-self.low,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison(Result, kind="comparison"):
    """Two systems: their difference (``left`` minus ``right``) and the power of the ratings.

    ``detectable`` is the smallest true difference that such ratings find with probability
    ``power``. ``needed`` segments, rated for both, would find a difference as large as the observed
    one with that probability; ``everything`` says that this takes nearly all segments.
    """

    left: str
    right: str
    difference: float
    low: float
    high: float
    stderr: float
    p: float
    n: int
    population: int
    decided: bool
    detectable: float
    needed: int | None
    everything: bool
    power: float
    level: float
    design: str
    better: Better
    holds: bool = True
    """False if skipped outputs differ in kind from rated ones, so that the interval is wrong."""

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return signature(
            self.design, "two", n=f"{self.n}/{self.population}", t=f"{self.level:g}",
            power=f"{self.power:g}", better=self.better,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class GroupEstimate:
    """One system's score on the segments of one group: n of them rated, population in all."""

    group: str
    system: str
    estimate: float
    low: float
    high: float
    stderr: float
    n: int
    population: int
    method: str


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """One group: its segments, and how many differences between systems are decided in it."""

    group: str
    population: int
    decided: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Breakdown(Result, kind="breakdown", listing="estimates"):
    """The scores of all systems in all groups, and what is decided inside each group."""

    renamed: ClassVar[Mapping[str, Mapping[str, str]]] = {"target": FORMER_TARGETS}

    by: str
    groups: tuple[GroupSummary, ...]
    estimates: tuple[GroupEstimate, ...]
    intervals: int
    better: Better
    level: float
    design: str
    seed: int | None
    target: Basis = "answers"
    notes: tuple[Note, ...] = ()

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return signature(
            self.design, f"by-{self.by}", f"for-{self.target}", groups=len(self.groups),
            t=f"{self.level:g}", better=self.better, seed=self.seed,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RatingsChange:
    """A change of the ratings, with every system's estimate before and after.

    ``what`` is ``raters`` if the ratings of some ``raters`` were left out, ``severity`` if each
    rater's severity was subtracted.
    """

    what: Literal["raters", "severity"]
    raters: tuple[str, ...]
    before: dict[str, float]
    after: dict[str, float]

    @property
    def brief(self) -> str:
        """The change as a part of a signature."""
        return f"raters:-{len(self.raters)}" if self.what == "raters" else "severity:removed"


@dataclass(frozen=True, slots=True)
class Estimates(Result, kind="estimates", listing="systems"):
    """Systems, best first, and every difference between two of them.

    ``target`` says what the intervals are for: raters like these (``raters``), texts like these
    (``texts``) or these ``answers`` alone. With ``answers`` by default, the ``basis`` of every
    estimate and difference says whether it is for texts after all. ``next`` says what more ratings
    would bring. ``truth`` has the true scores of a simulated campaign.
    """

    renamed: ClassVar[Mapping[str, Mapping[str, str]]] = {"target": FORMER_TARGETS}

    systems: tuple[SystemEstimate, ...]
    differences: tuple[Difference, ...]
    better: Better
    level: float
    method: str
    interval: str
    design: str
    seed: int | None
    target: Basis = "answers"
    metrics: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    next: tuple[str, ...] = ()
    drawn: str | None = None
    """The design of the sample with all its parameters."""
    changed: tuple[str, ...] = ()
    """The changes in brief, such as ``severity:removed``."""
    changes: tuple[RatingsChange, ...] = ()
    comparison: Comparison | None = None
    breakdown: Breakdown | None = None
    composite: Composite | None = None
    """The order that also uses what metrics say between systems."""
    truth: dict[str, float] | None = None
    family: bool = False
    """Whether all verdicts hold together (Holm), not only each on its own."""
    ratings: int = 0
    """The number of ratings, by all raters."""
    hours: float | None = None
    """The hours they took, if the ratings state them."""
    pay: Costs = UNPAID
    """The stated costs of a rating."""
    stable: float | None = None
    """The chance that a repeat of the same size gives the same order of all systems."""

    @property
    def paid(self) -> Costs:
        """The pay, with the time that these ratings took unless another was stated."""
        known = self.hours is not None and self.ratings
        return self.pay.timed(self.hours * 3600 / self.ratings if known else None)  # type: ignore[operator]

    @property
    def basis(self) -> Basis:
        """What errors and verdicts are for: the target, or texts if any of them is."""
        used = [item.basis for item in self.systems] + [item.basis for item in self.differences]
        return "texts" if "texts" in used else self.target

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        sizes = sorted({f"{item.n}/{item.population}" for item in self.systems})
        return signature(
            self.design if self.drawn is None else Design.parse(self.drawn).brief,
            self.method,
            *self.changed,
            *(("history",) if "history" in self.metrics else ()),
            f"for-{self.basis}",
            *(("family",) if self.family else ()),
            n=sizes[0] if len(sizes) == 1 else "varied",
            **{self.interval: f"{self.level:g}"},
            better=self.better,
            seed=self.seed,
        )


def by_rank(
    differences: tuple[Difference, ...], systems: tuple[SystemEstimate, ...]
) -> tuple[Difference, ...]:
    """The differences in the order of the systems, the better-ranked one on the left."""
    place = {item.system: k for k, item in enumerate(systems)}
    ordered = [
        item if place[item.left] < place[item.right] else item.reversed for item in differences
    ]
    return tuple(sorted(ordered, key=lambda item: (place[item.left], place[item.right])))


def ranked(
    names: Sequence[str], means: Sequence[Mean], differences: Sequence[Difference], better: str
) -> tuple[SystemEstimate, ...]:
    """The systems with ranks, rank ranges and clusters, best first."""
    sign = 1 if better == "higher" else -1
    pairs = np.array(list(combinations(range(len(means)), 2)), dtype=np.int64).reshape(-1, 2)
    # By paired differences, as the rank ranges: so the two agree where segments differ.
    order = order_of_differences(
        len(means), pairs, np.array([sign * item.difference for item in differences]),
        np.array([item.decided for item in differences], dtype=bool),
    )  # fmt: skip
    rows = [
        SystemEstimate(
            system=system,
            **scored(mean),
            method=mean.method,
            interval=mean.kind,
            rank=int(order.rank[i]),
            low_rank=int(order.low[i]),
            high_rank=int(order.high[i]),
            cluster=int(order.cluster[i]),
            basis=mean.basis,
            rater_stderr=mean.rater_stderr,
            severity_stderr=mean.severity_stderr,
        )
        for i, (system, mean) in enumerate(zip(names, means, strict=True))
    ]
    return tuple(sorted(rows, key=lambda row: (row.rank, sign * -row.estimate, row.system)))


def decided_together(pairs: tuple[Difference, ...], level: float) -> tuple[Difference, ...]:
    """Verdicts that are right together, by p values adjusted for their number (Holm 1979)."""
    p = np.array([item.p for item in pairs])
    known = np.isfinite(p)
    p[known] = holm(p[known])
    return tuple(
        replace(item, decided=item.decided and bool(adjusted <= 1 - level))
        for item, adjusted in zip(pairs, p, strict=True)
    )


def order_notes(
    systems: tuple[SystemEstimate, ...], differences: tuple[Difference, ...], better: str
) -> list[Note]:
    """Notes on pairs rated apart, and on ranks that differ from the order of the estimates."""
    notes = []
    apart = sum(item.apart for item in differences)
    if apart:
        text = (
            f"{apart} of {len(differences)} pairs have less than half of their segments in common"
            " and are compared by the scores on the segments that each system has"
        )
        notes.append(Note("compared-apart", text))
    sign = 1 if better == "higher" else -1
    turned = [
        f"{one.system} before {two.system}"
        for one, two in combinations(systems, 2)
        if one.rank < two.rank and sign * (two.estimate - one.estimate) > 0
    ]
    if turned:
        more = f" and {len(turned) - 3} more" if len(turned) > 3 else ""
        text = (
            "ranks follow the differences on the segments rated for both systems, which here put"
            f" systems in another order than the estimates: {', '.join(turned[:3])}{more}"
        )
        notes.append(Note("order-by-differences", text))
    return notes


UNKNOWN_REACH = 0.5
"""Where the differences between raters are unknown, errors beyond this share of the test set are
those for texts like these. Rating more than half then promises nothing: with everything rated, the
error for texts is no smaller than that for these answers at one half."""
MAX_GAP_IN_ERRORS = 500.0
"""A difference of this many standard errors is always found."""


class Precision(NamedTuple):
    """What decides the precision of a mean of n out of ``population`` segments."""

    population: int
    sd: float
    level: float
    effect: float = 1.0
    correlation: float = 0.0
    features: int = 0
    floor: float = 0.0
    """The raters' part of the standard error, which more segments do not reduce."""
    floor_degrees: float = math.inf
    reach: float = 1.0
    """The share of the segments beyond which the error is that for texts like these."""
    alike: float = 0.0
    """The mean correlation of two segments of the test set, because some share a document."""
    documents: int | None = None

    def stderr(self, n: np.ndarray) -> np.ndarray:
        """Of the mean: sd sqrt(D (1 - r^2) (1 + p/n) (1 - n/N) / n), joined with the floor.

        For texts there is no (1 - n/N), and r^2 / N and the correlation ``alike`` are added.
        Infinite where no degrees of freedom are left.
        """
        n = np.asarray(n, dtype=float)
        rest = self.effect * (1 - self.correlation**2) * (1 + self.features / n)
        here = rest * (1 - n / self.population) / n
        there = rest / n + self.correlation**2 / self.population + self.alike
        sampling = self.sd * np.sqrt(np.where(self._of_texts(n), there, here))
        unknown = (n - 1 - self.features < 1) & (n < self.population)
        return np.where(unknown, np.inf, np.hypot(sampling, self.floor))

    def _of_texts(self, n: np.ndarray) -> np.ndarray:
        beyond = np.asarray(n > self.reach * self.population)
        return beyond if self.reach < 1 else np.zeros_like(beyond)

    def degrees(self, n: np.ndarray) -> np.ndarray:
        """Degrees of freedom, n - 1 - p, joined with those of the floor (Satterthwaite).

        For texts: the number of documents (or segments, without documents) less one.
        """
        n = np.asarray(n, dtype=float)
        texts = n if self.documents is None else np.full_like(n, self.documents)
        own = np.where(self._of_texts(n), texts - 1, n - 1 - self.features)
        own = np.maximum(own, 1.0)
        if not (self.floor > 0 and math.isfinite(self.floor_degrees)):
            return np.asarray(own)
        share = np.minimum((self.floor / self.stderr(n)) ** 2, 1.0)
        return np.asarray(1 / ((1 - share) ** 2 / own + share**2 / self.floor_degrees))

    def half_width(self, n: np.ndarray) -> np.ndarray:
        """Half the width of the t interval; when everything is rated, that of the floor."""
        quantile = np.vectorize(t_quantile, otypes=[float])
        return np.asarray(quantile(0.5 + self.level / 2, self.degrees(n)) * self.stderr(n))

    def power(self, n: np.ndarray, gap: float) -> np.ndarray:
        """The probability that the interval of a true difference ``gap`` excludes zero.

        From both tails of the noncentral t; 1 when everything is rated and there is no floor.
        """
        from assay.stats.power import power_of  # an estimate does not need it

        with np.errstate(divide="ignore"):
            shift = np.minimum(abs(gap) / self.stderr(n), MAX_GAP_IN_ERRORS)
        power = power_of(shift, self.degrees(n), self.level)
        return np.where(np.isinf(self.stderr(n)), 0.0, power)

    def n_for_half_width(self, target: float) -> int:
        """The smallest n whose half-width is at most ``target``."""
        return self.smallest(lambda n: float(self.half_width(np.array(n))) <= target)

    def n_for_power(self, gap: float, power: float) -> int:
        """The smallest n that finds ``gap`` with at least this probability."""
        return self.smallest(lambda n: float(self.power(np.array(n), gap)) >= power)

    def smallest(self, holds: Callable[[int], bool], low: int = 2) -> int:
        """The smallest n from ``low`` on that is precise enough; all segments if none is.

        The error jumps up at the ``reach``, so both sides of it are searched.
        """
        half = math.floor(self.reach * self.population)
        found = smallest(holds, max(half, low), low)
        if half >= self.population or holds(found):
            return found
        return smallest(holds, self.population, max(half + 1, low))


def segments_to_decide(
    precision: Precision, n: int, difference: float, *, gap: float, sd: float, power: float
) -> int | None:
    """How many rated segments decide a difference with probability ``power``; None: no number.

    ``n`` are rated so far; ``gap`` and ``sd`` are as in :func:`chance_to_decide`.

    >>> precision = Precision(2000, 6.0, 0.95)
    >>> segments_to_decide(precision, 100, 1.0, gap=0.8, sd=0.5, power=0.8)
    536
    """
    stderr = float(precision.stderr(np.array(n)))

    def decided(size: int) -> float:
        later = float(precision.stderr(np.array(size)))
        degrees = float(precision.degrees(np.array(size)))
        return chance_to_decide(
            difference, stderr, later, gap=gap, sd=sd, level=precision.level, degrees=degrees
        )

    needed = precision.smallest(lambda size: decided(size) >= power, low=n)
    return needed if decided(needed) >= power else None
