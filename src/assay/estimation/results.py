"""What this stage says, with all its settings: scores, groups, raters and trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

import polars as pl

from assay.estimation.composite import Composite, CompositeRecord
from assay.results import UNPAID, Costs, Note, Result, signature
from assay.stats.intervals import Interval
from assay.tables.tables import Design

Better = Literal["higher", "lower"]
Basis = Literal["raters", "texts", "answers"]
FORMER_TARGETS = {"test-set": "answers", "new-documents": "texts"}
"""Targets as version 0.2 called them."""


class Mean(NamedTuple):
    """An estimate, how far it can be trusted, and what it rests on."""

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
    """The part of the error that is the raters', which rating more segments leaves."""
    severity_stderr: float = 0.0
    """Of that, what raters as a whole may be stricter or milder by."""
    kind: str = "t"
    """The kind of interval."""


def noted(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Each note once."""
    return tuple(dict.fromkeys(notes))


def scored(mean: Mean) -> dict[str, Any]:
    """The fields that all estimates of a score have in common."""
    return {
        "estimate": mean.center, "low": mean.interval.low, "high": mean.interval.high,
        "stderr": mean.stderr, "n": mean.n, "population": mean.population,
    }  # fmt: skip


# --- scores -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SystemEstimate:
    """One system's score on the whole test set, and where it stands among the others."""

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
    """The raters' part of the standard error, which rating more segments leaves."""
    severity_stderr: float = 0.0
    """Of that, what other raters may be stricter or milder by as a whole: none in differences."""


@dataclass(frozen=True, slots=True)
class Difference:
    """``left`` minus ``right`` on the test set; decided if the interval excludes zero.

    ``p`` is that of the two-sided t test of no difference, with ``degrees`` of freedom; NaN where
    the standard error is not known or zero: no verdict comes from an interval of width zero.
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
    """The raters' part of the standard error, which rating more segments leaves."""
    apart: bool = False
    """Whether it is that of the two estimates: fewer than half of their segments are common."""
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
    """Two systems: their difference (``left`` minus ``right``) and what the ratings can tell.

    ``detectable`` is the smallest true difference that ratings like these find with probability
    ``power``; ``needed`` how many segments would have to be rated for both to find one as large
    as the observed with that probability; ``everything`` says that this
    would take nearly all of them.
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
    """Whether the interval holds: not where outputs without a rating differ in kind."""

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
    """One group: its segments, and how many of the differences between systems are decided."""

    group: str
    population: int
    decided: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Breakdown(Result, kind="breakdown", listing="estimates"):
    """Every system in every group, and what is decided inside each group."""

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
    """What was done to the ratings first, and every system's estimate before and after it.

    ``what`` is ``raters`` where the ratings of some ``raters`` were left out, ``severity`` where
    each rater's severity was subtracted.
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
    (``texts``) or these ``answers`` alone. Where nobody said and no output has two raters, it is
    ``answers``, and the ``basis`` of every estimate and difference says whether it holds for texts.
    ``next`` says what more ratings would bring. ``truth`` has the systems' true scores where they
    are known, as in a simulated campaign.
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
    """The order with the metrics' help, beside the direct estimates."""
    truth: dict[str, float] | None = None
    family: bool = False
    """Whether verdicts hold together (Holm), not each by itself."""
    ratings: int = 0
    """All ratings there are, by every rater."""
    hours: float | None = None
    """What they took, where the ratings say so."""
    pay: Costs = UNPAID
    """What a rating costs, as far as that was said."""
    stable: float | None = None
    """The chance that a repeat of the same size gives the same order of all systems."""

    @property
    def paid(self) -> Costs:
        """The pay, with the time that these ratings took where no other was said."""
        known = self.hours is not None and self.ratings
        return self.pay.timed(self.hours * 3600 / self.ratings if known else None)  # type: ignore[operator]

    @property
    def basis(self) -> Basis:
        """What the errors and verdicts are for: the target, or texts where any of them is."""
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


# --- raters -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RaterSummary:
    """One rater.

    ``severity`` is by how much worse than the average rater, in points of the scale; ``stderr`` its
    standard error, ``group`` the group of raters it is relative to. ``spread`` is the standard
    deviation of the ratings, ``lowest`` and ``highest`` the shares at the ends of the scale (as
    stated, or as seen), ``seconds`` the median per rating. ``correlation`` is with the mean of the
    other raters, on ``overlap`` outputs. ``skipped`` counts rows without a score, ``checks`` the
    attention checks that can be judged, ``passed`` those where the control was scored worse.
    """

    rater: str
    n: int
    mean: float
    severity: float
    stderr: float
    group: int
    spread: float
    lowest: float
    highest: float
    seconds: float
    correlation: float
    overlap: int
    skipped: int
    checks: int
    passed: int
    outlier: bool
    reasons: tuple[str, ...]
    repeats: int = 0
    """Outputs rated again, and by how much the second score differs from the first on average."""
    self_difference: float = float("nan")


@dataclass(frozen=True, slots=True)
class RaterEstimate:
    """One system's score on the whole test set by one rater alone; by all, where rater is None."""

    rater: str | None
    system: str
    estimate: float
    low: float
    high: float
    stderr: float
    n: int
    population: int


@dataclass(frozen=True, slots=True)
class RaterReport(Result, kind="raters", listing="raters"):
    """Every rater, and how far they agree.

    ``alpha`` is Krippendorff's for the interval metric, ``alpha_ordinal`` for the ordinal one, both
    on the ``overlapping`` outputs that two or more raters scored; ``mean_correlation`` is the
    mean of Pearson's r over the ``pairs`` of raters that share enough outputs. ``outliers`` are the
    raters that the ``rule`` flags. ``estimates`` are every system's scores, pooled and by
    each rater alone, where it is known how outputs were chosen and the rater rated enough of them.
    """

    raters: tuple[RaterSummary, ...]
    alpha: float
    alpha_ordinal: float
    mean_correlation: float
    pairs: int
    ratings: int
    outputs: int
    overlapping: int
    model: str
    identified: bool
    groups: tuple[tuple[str, ...], ...]
    better: Better
    rule: str
    outliers: tuple[str, ...] = ()
    estimates: tuple[RaterEstimate, ...] = ()
    notes: tuple[Note, ...] = ()
    repeats: int = 0
    """Ratings of outputs that the same rater had rated before."""
    self_alpha: float = float("nan")
    """Krippendorff's alpha of raters with themselves, on these."""

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return signature(
            "raters", f"rater+{self.model}", raters=len(self.raters), n=self.ratings,
            overlap=f"{self.overlapping}/{self.outputs}", better=self.better,
        )  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """One row per rater."""
        frame = super(RaterReport, self).to_frame()
        return frame.with_columns(pl.Series("reasons", [", ".join(r.reasons) for r in self.raters]))


# --- trials -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EvaluationRecord:
    """One method for one system at one size, over all draws.

    ``error`` is the mean absolute error, ``sd`` its standard deviation, ``bias`` the mean error;
    ``coverage`` the share of intervals that hold the truth, ``half_width`` their mean half-width.
    """

    method: str
    system: str
    size: float
    n: int
    draws: int
    error: float
    sd: float
    bias: float
    coverage: float
    half_width: float


@dataclass(frozen=True, slots=True)
class StoppingRecord:
    """One stopping rule for one system: mean share of N rated at the stop, and coverage there."""

    system: str
    method: str
    share: float
    coverage: float
    draws: int


@dataclass(frozen=True, slots=True)
class MethodEvaluation:
    """One method, averaged over systems and sizes (saldias2022, Tables 1 to 4).

    ``gain`` is the reduction of the mean absolute error against ``baseline`` in percent,
    ``gain_error`` its Monte-Carlo standard error, ``win`` the share of systems and sizes where the
    method's error is lower. ``bias`` is relative to the baseline's error, where there is one.
    ``worst_coverage`` is that of the worst system over all sizes.
    """

    method: str
    error: float
    sd: float
    gain: float | None
    gain_error: float | None
    win: float | None
    bias: float
    coverage: float
    worst_coverage: float
    half_width: float


@dataclass(frozen=True, slots=True)
class Evaluation(Result, kind="evaluation", listing="methods"):
    """The methods, and every record behind them.

    ``stopping`` has the rules that were tried until intervals had the ``half_width``, if any were.
    """

    methods: tuple[MethodEvaluation, ...]
    records: tuple[EvaluationRecord, ...]
    draws: int
    seed: int | None
    stopping: tuple[StoppingRecord, ...] = ()
    half_width: float | None = None
    metrics: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    composite: tuple[CompositeRecord, ...] = ()
    """The order with the metrics' help tried at every size."""

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        sizes = sorted({record.size for record in self.records})
        span = f"{sizes[0]:g}-{sizes[-1]:g}" if sizes else "none"
        return signature("evaluate", sizes=span, draws=self.draws, seed=self.seed)
