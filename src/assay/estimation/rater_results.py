"""What is said about raters, with all its settings."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from assay.results import plain, result_dict, signature


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
class RaterReport:
    """Every rater, and how far they agree.

    ``alpha`` is Krippendorff's for the interval metric, ``alpha_ordinal`` for the ordinal one, both
    on the ``overlapping`` outputs that two or more raters scored; ``mean_correlation`` is the
    mean of Pearson's r over the ``pairs`` of raters that share enough outputs. ``estimates`` are
    every system's scores, pooled and by each rater alone, where it is known how outputs were
    chosen and the rater rated enough of them.
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
    better: str
    rule: str
    estimates: tuple[RaterEstimate, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def outliers(self) -> tuple[str, ...]:
        """The names of the raters who stand apart."""
        return tuple(item.rater for item in self.raters if item.outlier)

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return signature(
            "raters",
            f"rater+{self.model}",
            raters=len(self.raters),
            n=self.ratings,
            overlap=f"{self.overlapping}/{self.outputs}",
            better=self.better,
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per rater."""
        rows = [plain(item) | {"reasons": ", ".join(item.reasons)} for item in self.raters]
        numbers = ("mean", "severity", "stderr", "spread", "seconds", "correlation")
        frame = pl.DataFrame(rows, infer_schema_length=None)
        return frame.with_columns(pl.col(numbers).cast(pl.Float64))

    def to_dict(self) -> dict[str, object]:
        """The plain form of the report."""
        return result_dict(
            "raters",
            self.signature,
            alpha=self.alpha,
            alpha_ordinal=self.alpha_ordinal,
            mean_correlation=self.mean_correlation,
            pairs=self.pairs,
            ratings=self.ratings,
            outputs=self.outputs,
            overlapping=self.overlapping,
            model=self.model,
            identified=self.identified,
            groups=self.groups,
            better=self.better,
            rule=self.rule,
            outliers=self.outliers,
            raters=self.raters,
            estimates=self.estimates,
            notes=self.notes,
        )
