"""What is said about a campaign: what was made, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass

from assay.results import Result, signature


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
    """Spoiled copies."""
    seed: int
    links: Links

    @property
    def signature(self) -> str:
        """What the campaign asks of whom."""
        return signature(
            "campaign", protocol=self.protocol, tasks=self.tasks, outputs=self.outputs,
            seed=self.seed,
        )  # fmt: skip


