"""Results of collecting: assignments and sheets; campaigns made, exported, imported, simulated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

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


Manner: TypeAlias = Literal["quick", "slow", "careless", "leaving"]
"""How a simulated rater works."""


@dataclass(frozen=True, slots=True)
class RaterLink:
    """A rater and the token of their link."""

    rater: str
    token: str


@dataclass(frozen=True, slots=True)
class Links:
    """The tokens of all links of a new campaign; they are shown once and not stored."""

    owner: str
    viewer: str
    join: str
    raters: tuple[RaterLink, ...]


@dataclass(frozen=True, slots=True)
class Created(Result, kind="campaign-created"):
    """The contents of a new campaign."""

    dir: str
    protocol: str
    tasks: int
    outputs: int
    """Outputs to judge once each, without repeats."""
    merged: int
    """Outputs shown as another system's identical output."""
    checks: int
    """Approximate number of spoiled copies."""
    seed: int
    links: Links

    @property
    def signature(self) -> str:
        """The protocol and size."""
        return signature(
            "campaign", protocol=self.protocol, tasks=self.tasks, outputs=self.outputs,
            seed=self.seed,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RaterStatus:
    """The progress of one rater."""

    rater: str
    state: str
    done: int
    open: int
    seconds: float
    """Active time, as measured by the page."""
    checks_passed: int
    checks: int
    answers: int = 0
    """In their latest revision, repeats included."""
    median_seconds: float | None = None
    """Median active time for one answer."""
    due: float | None = None
    """Pay due, if the plan has a price."""


@dataclass(frozen=True, slots=True)
class CampaignStatus(Result, kind="campaign-status"):
    """The status of a campaign."""

    name: str
    slug: str
    state: str
    """``draft``, ``open``, ``paused`` or ``closed``."""
    protocol: str
    tasks: int
    done: int
    """Tasks that are completely answered."""
    answers: int
    """Answers in their latest revision, repeats included."""
    beginning: int
    """Tasks in the complete beginning of the order; only these are a sample."""
    waiting: int
    """Answers to later tasks, which do not count yet."""
    looks: tuple[dict[str, Any], ...]
    next_look: int | None
    systems: tuple[dict[str, Any], ...]
    raters: tuple[RaterStatus, ...]
    spent: float | None
    currency: str | None
    told: tuple[str, ...]
    """What needs the owner's attention."""

    @property
    def signature(self) -> str:
        """State and progress."""
        return signature(
            "campaign", self.state, protocol=self.protocol, tasks=f"{self.done}/{self.tasks}",
            answers=self.answers,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exported(Result, kind="campaign-export"):
    """The files of an export."""

    written: tuple[str, ...]
    rows: int
    """In all files together."""
    tables: Mapping[str, int]
    """The rows of each file."""
    project: str | None = None
    """The `assay.toml` that was written with them."""

    @property
    def signature(self) -> str:
        """The rows of each file."""
        return signature("export", **self.tables)


@dataclass(frozen=True, slots=True)
class Imported(Result, kind="campaign-import"):
    """Answers imported from another tool."""

    file: str
    format: str
    answers: int
    """New answers."""
    same: int
    """Answers that the campaign already had."""
    changed: int
    """Answers imported before with different content."""
    tasks: int
    """Tasks that these answers completed."""
    raters: tuple[str, ...]
    new_raters: tuple[str, ...]
    """Raters that the campaign did not have."""
    notes: tuple[Note, ...]

    @property
    def signature(self) -> str:
        """The number of answers, raters and tasks."""
        return signature(
            "import", self.format, answers=self.answers, raters=len(self.raters), tasks=self.tasks
        )


@dataclass(frozen=True, slots=True)
class SimulatedRater:
    """The work of one simulated rater."""

    rater: str
    manner: Manner
    tasks: int
    answers: int
    hours: float


@dataclass(frozen=True, slots=True)
class Simulation(Result, kind="campaign-simulation"):
    """A campaign worked through by simulated raters."""

    raters: tuple[SimulatedRater, ...]
    tasks: int
    answers: int
    hours: float
    """From the first task to the last answer, by the campaign's clock."""
    named: tuple[str, ...]
    """The raters exposed by checks and agreement."""
    seed: int | None

    @property
    def signature(self) -> str:
        """The number of raters, tasks and answers."""
        return signature(
            "simulation", raters=len(self.raters), tasks=self.tasks, answers=self.answers,
            seed=self.seed,
        )  # fmt: skip
