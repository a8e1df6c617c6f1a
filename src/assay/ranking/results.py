"""What a ranking says, what sigma is, and what to judge next: results with all their settings."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Literal

import polars as pl

from assay.results import Note, Result, signature
from assay.stats.intervals import Interval


@dataclass(frozen=True, slots=True)
class SystemRank:
    """Where one system stands: rank 1 is best, and equal scores share a rank."""

    system: str
    rank: int
    score: float
    low_rank: int
    high_rank: int
    cluster: int


@dataclass(frozen=True, slots=True)
class PairComparison:
    """``left`` against ``right``, the one that stands higher first.

    ``wins`` and ``losses`` are those of the left, and None in a ranking from ratings. ``better``
    names the system that is decidedly better. ``stderr`` is that of the difference of the scores,
    where these were resampled and have one.
    """

    left: str
    right: str
    wins: int | None
    losses: int | None
    ties: int | None
    p: float
    decided: bool
    better: str | None
    stderr: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(Result, kind="ranking"):
    """Systems, best first, and the pairs that were tested.

    Either ``judgments`` or ``ratings`` is how many there were. ``unit`` is what was resampled, or
    what correlated judgments have in common; ``calibrated`` is the share of resamples in a range
    where that was found by simulation; ``sides`` says whether ``p`` are one-sided or two-sided;
    ``next`` what more judgments would bring. ``clusters_by`` is for ratings: ``neighbours``, or
    ``all`` systems above a line against all below.
    """

    method: str
    judgments: int | None = None
    ratings: int | None = None
    ranges: Literal["bootstrap", "sign", "pooled"]
    interval: Literal["shortest", "equal-tailed"] | None
    unit: str
    blocks: int
    ties: str | None
    level: float
    calibrated: float | None = None
    sides: Literal[1, 2]
    holm: bool
    resamples: int | None
    seed: int | None
    better: Literal["higher", "lower"] = "higher"
    systems: tuple[SystemRank, ...]
    pairs: int
    significant_pairs: int
    clusters: int
    clusters_by: Literal["neighbours", "all"] | None = None
    comparisons: tuple[PairComparison, ...]
    notes: tuple[Note, ...] = ()
    next: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """What was ranked from: judgments or ratings."""
        return "ratings" if self.judgments is None else "judgments"

    @property
    def signature(self) -> str:
        """How this ranking came about, in one line."""
        return signature(
            self.method,
            judgments=self.judgments,
            ratings=self.ratings,
            ties=self.ties,
            ranges="-".join(filter(None, (self.ranges, self.interval))),
            unit=f"{self.unit}-{self.blocks}",
            level=f"{self.level:g}",
            calibrated=None if self.calibrated is None else f"{self.calibrated:.4g}",
            sides=self.sides,
            holm="yes" if self.holm else "no",
            clusters="all" if self.clusters_by == "all" else None,
            better="lower" if self.better == "lower" else None,
            resamples=self.resamples,
            seed=self.seed,
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per system."""
        return pl.DataFrame([asdict(item) for item in self.systems], infer_schema_length=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SigmaFit(Result, kind="sigma"):
    """sigma with its interval, and the systems' qualities in units where U[0, 10] is their range.

    ``effect`` is how much larger the variance of a difference is than if the ``judgments`` (ties
    not counted) were independent, taken over blocks of one ``unit`` (segment, set or pair). An
    endless upper end means that the judgments agree with no difference at all.
    """

    sigma: float
    low: float
    high: float
    level: float
    systems: tuple[str, ...]
    qualities: tuple[float, ...]
    judgments: int
    ties: int
    effect: float
    unit: str

    def __post_init__(self) -> None:
        for name in ("sigma", "high"):  # JSON has no infinity, and neither is ever unknown
            if math.isnan(getattr(self, name)):
                object.__setattr__(self, name, math.inf)

    @property
    def interval(self) -> Interval:
        """The interval of sigma."""
        return Interval(self.low, self.high, self.level)

    @property
    def signature(self) -> str:
        """How the number came about."""
        return signature("sigma", "likelihood", n=len(self.systems), J=self.judgments, by=self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class SigmaMatch(Result, kind="sigma-curve"):
    """sigma by matching the curve of significant pairs: ``shares`` of pairs at ``judgments``.

    ``model`` is the curve at ``sigma``, ``distance`` the root mean square between the two.
    """

    sigma: float
    judgments: tuple[float, ...]
    shares: tuple[float, ...]
    model: tuple[float, ...]
    distance: float
    systems: int
    orders: int
    seed: int | None

    @property
    def signature(self) -> str:
        """How the number came about."""
        return signature("sigma", "curve", n=self.systems, orders=self.orders, seed=self.seed)


@dataclass(frozen=True, slots=True)
class SystemChance:
    """How likely a system is to be the ``best``."""

    system: str
    best: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NextSets(Result, kind="next-sets"):
    """Sets of systems to show next, the best system so far, and how likely each is to be the best.

    The chances are those of a normal posterior of the pooled strengths.
    """

    sets: tuple[tuple[str, ...], ...]
    goal: Literal["best", "order"]
    best: str
    systems: tuple[SystemChance, ...]
    judgments: int
    per_set: int
    seed: int | None

    @property
    def signature(self) -> str:
        """How the sets were chosen."""
        return signature(
            "next-sets", self.goal, n=len(self.systems), J=self.judgments, k=self.per_set,
            seed=self.seed,
        )  # fmt: skip

    def to_frame(self) -> pl.DataFrame:
        """One row per system of each set."""
        rows = [(k + 1, name) for k, names in enumerate(self.sets) for name in names]
        return pl.DataFrame(rows, schema={"set": pl.Int64, "system": pl.String}, orient="row")
