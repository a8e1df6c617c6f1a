"""Results of collecting with sheets: the assignment, the sheets written, the sheets returned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import polars as pl

from assay.results import UNPAID, Costs, Note, Result, signature

Reason: TypeAlias = Literal["order", "overlap", "repeat"]
"""Why a rater has a task: by assignment, as an additional rater, or a second time."""


@dataclass(frozen=True, slots=True)
class AssignedSegment:
    """One segment as one rater sees it."""

    lp: str | None
    doc: str | None
    seg: str
    systems: tuple[str, ...]
    """In the order shown."""
    checks: tuple[int, ...] = ()
    """The positions, from 1, of spoiled copies."""


@dataclass(frozen=True, slots=True)
class AssignedTask:
    """One task of one rater; ``place`` counts the rater's tasks in the order of work."""

    rater: str
    place: int
    task: str
    reason: Reason
    segments: tuple[AssignedSegment, ...]

    @property
    def outputs(self) -> int:
        """The number of outputs to rate, spoiled copies included."""
        return sum(len(segment.systems) for segment in self.segments)


@dataclass(frozen=True, slots=True)
class RaterLoad:
    """The load of one rater; ``outputs`` includes spoiled copies."""

    rater: str
    tasks: int
    outputs: int
    shared: int
    """Tasks shared with another rater."""
    repeats: int
    checks: int


@dataclass(frozen=True, slots=True)
class Assignment(Result, kind="assignment"):
    """Who rates what, in which order."""

    tasks: tuple[AssignedTask, ...]
    """Rater by rater, in the order of work."""
    raters: tuple[str, ...]
    systems: tuple[str, ...]
    overlap: float
    per_output: int
    checks: float
    repeats: float
    seed: int | None
    notes: tuple[Note, ...]

    @property
    def signature(self) -> str:
        """How the tasks were assigned."""
        return signature(
            "assignment", tasks=len({item.task for item in self.tasks}), raters=len(self.raters),
            systems=len(self.systems), per_output=self.per_output, overlap=f"{self.overlap:g}",
            checks=f"{self.checks:g}" if self.checks else None,
            repeats=f"{self.repeats:g}" if self.repeats else None, seed=self.seed,
        )  # fmt: skip

    @property
    def loads(self) -> tuple[RaterLoad, ...]:
        """The load of each rater."""
        raters: dict[str, set[str]] = {}
        for item in self.tasks:
            raters.setdefault(item.task, set()).add(item.rater)
        loads = []
        for rater in self.raters:
            own = [item for item in self.tasks if item.rater == rater]
            first = [item for item in own if item.reason != "repeat"]
            loads.append(RaterLoad(
                rater, len(own), sum(item.outputs for item in own),
                sum(len(raters[item.task]) > 1 for item in first), len(own) - len(first),
                sum(len(segment.checks) for item in own for segment in item.segments),
            ))  # fmt: skip
        return tuple(loads)

    def outputs(self) -> Iterator[tuple[AssignedTask, AssignedSegment, int, str, bool]]:
        """Every output to rate: task, segment, position, system, whether it is spoiled."""
        for item in self.tasks:
            for segment in item.segments:
                for place, system in enumerate(segment.systems, start=1):
                    yield item, segment, place, system, place in segment.checks

    def to_frame(self) -> pl.DataFrame:
        """A row for each rater and output, in the order of work.

        ``place`` counts the rater's tasks, ``position`` the outputs of a segment; ``reason`` is
        order, overlap or repeat; ``check`` marks spoiled copies.
        """
        names = ["rater", "place", "task", "reason", "lp", "doc", "seg", "position", "system"]
        text = dict.fromkeys(names, pl.String) | {"place": pl.Int64, "position": pl.Int64}
        rows = [
            (item.rater, item.place, item.task, item.reason, segment.lp, segment.doc, segment.seg,
             position, system, spoiled)
            for item, segment, position, system, spoiled in self.outputs()
        ]  # fmt: skip
        frame = pl.DataFrame(rows, schema=text | {"check": pl.Boolean}, orient="row")
        return frame.drop([name for name in ("lp", "doc") if frame[name].null_count() == len(rows)])


@dataclass(frozen=True, slots=True)
class WrittenSheets(Result, kind="sheets-written"):
    """The files written: a sheet per rater, the instructions, the key."""

    folder: Path
    key: Path
    files: tuple[Path, ...]
    loads: tuple[RaterLoad, ...]
    format: str
    range: tuple[float, float]
    seed: int | None
    notes: tuple[Note, ...]
    pay: Costs = UNPAID
    """The cost and time of a rating."""

    @property
    def signature(self) -> str:
        """The format and number of sheets."""
        low, high = self.range
        return signature(
            "sheets", self.format, raters=len(self.loads), range=f"{low:g}-{high:g}",
            seed=self.seed,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class CollectedSheets(Result, kind="sheets-collected"):
    """Returned sheets, checked against the key and written as a table of ratings."""

    rows: int
    unrated: int
    raters: tuple[str, ...]
    written: Path
    notes: tuple[Note, ...]

    @property
    def signature(self) -> str:
        """The number of raters and rows."""
        return signature("sheets-collected", raters=len(self.raters), rows=self.rows)
