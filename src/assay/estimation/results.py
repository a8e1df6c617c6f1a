"""What an estimation says, with all its settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from assay.results import plain, result_dict, signature
from assay.tables.sample import Design


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


@dataclass(frozen=True, slots=True)
class Difference:
    """``left`` minus ``right`` on the test set; decided if the interval leaves out zero.

    ``p`` is that of the two-sided t test of no difference, with ``degrees`` of freedom; NaN where
    the standard error is not known.
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

    @property
    def turned(self) -> Difference:
        """The same difference the other way round."""
        return replace(
            self,
            left=self.right,
            right=self.left,
            difference=-self.difference,
            low=-self.high,
            high=-self.low,
        )


@dataclass(frozen=True, slots=True)
class Estimates:
    """Systems, best first, and every difference between two of them.

    ``target`` says what the intervals are for: this ``test-set``, or ``new-documents`` like its.
    ``next`` says what more ratings would bring.
    """

    systems: tuple[SystemEstimate, ...]
    differences: tuple[Difference, ...]
    better: str
    level: float
    method: str
    interval: str
    design: str
    seed: int | None
    target: str = "test-set"
    metrics: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    drawn: str | None = None
    """The design of the sample with all its parameters."""
    changed: tuple[str, ...] = ()
    """What was done to the ratings beforehand, such as ``severity:removed``."""

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        sizes = sorted({f"{item.n}/{item.population}" for item in self.systems})
        return signature(
            self.design if self.drawn is None else Design.parse(self.drawn).brief,
            self.method,
            *self.changed,
            *(("history",) if "history" in self.metrics else ()),
            *(() if self.target == "test-set" else (self.target,)),
            n=sizes[0] if len(sizes) == 1 else "varied",
            **{self.interval: f"{self.level:g}"},
            better=self.better,
            seed=self.seed,
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per system."""
        return pl.DataFrame([plain(item) for item in self.systems], infer_schema_length=None)

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay estimate``."""
        return result_dict(
            "estimates",
            self.signature,
            design=self.design,
            method=self.method,
            interval=self.interval,
            level=self.level,
            better=self.better,
            seed=self.seed,
            target=self.target,
            metrics=self.metrics,
            systems=self.systems,
            differences=self.differences,
            notes=self.notes,
            next=self.next,
            drawn=self.drawn,
            changed=self.changed,
        )
