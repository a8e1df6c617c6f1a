"""Results about campaigns: creation, status, export, import, simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from assay.results import Note, Result, signature

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
