"""What a ranking says, with all its settings."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from assay.results import plain, result_dict, signature


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


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems, best first, and the pairs that were tested.

    ``unit`` is what was resampled, or what the judgments hang together by; ``calibrated`` is the
    share of resamples in a range where that was found by simulation; ``sides`` says whether ``p``
    are one-sided or two-sided; ``next`` what more judgments would bring.
    """

    systems: tuple[SystemRank, ...]
    comparisons: tuple[PairComparison, ...]
    judgments: int
    kind: str
    method: str
    ranges: str
    interval: str | None
    unit: str
    blocks: int
    ties: str | None
    level: float
    sides: int
    holm: bool
    resamples: int | None
    seed: int | None
    better: str = "higher"
    calibrated: float | None = None
    notes: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    clusters_by: str | None = None
    """From ratings: ``neighbours``, or ``all`` systems above a line against all below."""

    @property
    def pairs(self) -> int:
        """How many pairs were tested."""
        return len(self.comparisons)

    @property
    def significant_pairs(self) -> int:
        """How many of them are decided."""
        return sum(item.decided for item in self.comparisons)

    @property
    def clusters(self) -> int:
        """How many groups the systems fall into."""
        return max(item.cluster for item in self.systems)

    @property
    def signature(self) -> str:
        """How this ranking came about, in one line."""
        return signature(
            self.method,
            **{self.kind: self.judgments},
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
        return pl.DataFrame([plain(item) for item in self.systems], infer_schema_length=None)

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay rank``."""
        return result_dict(
            "ranking",
            self.signature,
            method=self.method,
            ranges=self.ranges,
            interval=self.interval,
            unit=self.unit,
            blocks=self.blocks,
            ties=self.ties,
            level=self.level,
            calibrated=self.calibrated,
            sides=self.sides,
            holm=self.holm,
            resamples=self.resamples,
            seed=self.seed,
            better=self.better,
            systems=self.systems,
            pairs=self.pairs,
            significant_pairs=self.significant_pairs,
            clusters=self.clusters,
            comparisons=self.comparisons,
            notes=self.notes,
            next=self.next,
            clusters_by=self.clusters_by,
        ) | {self.kind: self.judgments}
