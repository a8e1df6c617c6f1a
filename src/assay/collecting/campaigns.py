"""What is said about a campaign: what was made, how it stands, what was written."""

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
    """The tokens of all links of a new campaign; they are shown once and never stored."""

    owner: str
    viewer: str
    join: str
    raters: tuple[RaterLink, ...]


@dataclass(frozen=True, slots=True)
class Created(Result, kind="campaign-created"):
    """What a new campaign holds."""

    dir: str
    protocol: str
    tasks: int
    outputs: int
    """Outputs to be judged, by one rater each; second showings not counted."""
    merged: int
    """Outputs that are shown as another system's, which they equal."""
    checks: int
    """Spoiled copies that raters meet, about."""
    seed: int
    links: Links

    @property
    def signature(self) -> str:
        """What the campaign asks of whom."""
        return signature(
            "campaign", protocol=self.protocol, tasks=self.tasks, outputs=self.outputs,
            seed=self.seed,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RaterStatus:
    """How far one rater is."""

    rater: str
    state: str
    done: int
    open: int
    seconds: float
    """Of active work, as their page measured it."""
    checks_passed: int
    checks: int
    answers: int = 0
    """In their latest revision, second showings among them."""
    median_seconds: float | None = None
    """Of active work on one answer."""
    due: float | None = None
    """What they are owed, where the plan has a price."""


@dataclass(frozen=True, slots=True)
class CampaignStatus(Result, kind="campaign-status"):
    """How a campaign stands."""

    name: str
    slug: str
    state: str
    """``draft``, ``open``, ``paused`` or ``closed``."""
    protocol: str
    tasks: int
    done: int
    """Tasks that have all their raters."""
    answers: int
    """Answers in their latest revision, second showings among them."""
    beginning: int
    """Tasks from the first on without a gap; only these are a sample."""
    waiting: int
    """Answers that wait behind a gap."""
    looks: tuple[dict[str, Any], ...]
    next_look: int | None
    systems: tuple[dict[str, Any], ...]
    raters: tuple[RaterStatus, ...]
    spent: float | None
    currency: str | None
    told: tuple[str, ...]
    """What the owner should look at."""

    @property
    def signature(self) -> str:
        """Where it stands."""
        return signature(
            "campaign", self.state, protocol=self.protocol, tasks=f"{self.done}/{self.tasks}",
            answers=self.answers,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exported(Result, kind="campaign-export"):
    """The files that a campaign was written to."""

    written: tuple[str, ...]
    rows: int
    """Of all files together."""
    tables: Mapping[str, int]
    """The rows of every file."""
    project: str | None = None
    """The `assay.toml` that was written with them."""

    @property
    def signature(self) -> str:
        """What was written."""
        return signature("export", **self.tables)


@dataclass(frozen=True, slots=True)
class Imported(Result, kind="campaign-import"):
    """Answers of another tool that were brought into a campaign."""

    file: str
    format: str
    answers: int
    """New ones."""
    same: int
    """Those that were there already."""
    changed: int
    """Those that had been imported with another content."""
    tasks: int
    """Tasks that are whole by these answers."""
    raters: tuple[str, ...]
    new_raters: tuple[str, ...]
    """Those of them that the campaign did not have."""
    notes: tuple[Note, ...]

    @property
    def signature(self) -> str:
        """What came in."""
        return signature(
            "import", self.format, answers=self.answers, raters=len(self.raters), tasks=self.tasks
        )


@dataclass(frozen=True, slots=True)
class SimulatedRater:
    """What one simulated rater did."""

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
    """The raters whom checks and agreement give away."""
    seed: int | None

    @property
    def signature(self) -> str:
        """Who worked."""
        return signature(
            "simulation", raters=len(self.raters), tasks=self.tasks, answers=self.answers,
            seed=self.seed,
        )  # fmt: skip
