"""What a campaign says while it runs, and at its planned looks.

Numbers rest on the beginning of the order that is complete: easy tasks come back first, so what is
in is no sample. Verdicts are those of planned looks (of judgments: any-time ones, which hold
whenever one looks). Between looks everything else is provisional.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from assay.collecting.status import OpenPair
from assay.effort.results import Effort
from assay.estimation.monitor import Monitoring
from assay.estimation.raters import RaterReport, RaterSummary
from assay.estimation.results import Estimates
from assay.ranking.monitor import JudgmentsMonitoring
from assay.ranking.rank import Ranking
from assay.results import UNPAID, Costs, Note, Result, plain, signature

Answers = Literal["ratings", "judgments", "edits"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the answers say of the systems: one of these, by what is collected."""

    estimates: Estimates | None = None
    ranking: Ranking | None = None
    effort: Effort | None = None

    @property
    def found(self) -> Estimates | Ranking | Effort | None:
        """The one that there is."""
        return self.estimates or self.ranking or self.effort


@dataclass(frozen=True, slots=True)
class LookTaken:
    """A planned look that took place, on the beginning as it was when it reached ``n``.

    ``limit`` is that of |Z|, where verdicts come from planned looks. ``decided`` of the ``pairs``
    of systems were decided at this look or before it. ``met`` says that the goal of the plan was
    reached, ``excluded`` who was left out at the time.
    """

    number: int
    n: int
    at: str
    answers: int
    decided: int
    pairs: int
    limit: float | None
    met: bool
    excluded: tuple[str, ...]
    outcome: Outcome
    monitoring: Monitoring | None = None
    verdicts: JudgmentsMonitoring | None = None


@dataclass(frozen=True, slots=True)
class NextLook:
    """The look to come: at ``n``, so many tasks and answers away; what these cost, in words."""

    number: int
    n: int
    missing: int
    """Segments (or tasks) among these that still want answers."""
    tasks: int
    answers: int
    cost: str
    again: int = 0
    """How many of the missing ones were complete until a rater was excluded."""


@dataclass(frozen=True, slots=True)
class LiveSystem:
    """One system as it stands: ranks and clusters follow the verdicts alone.

    ``low`` and ``high`` are for raters like these where that is known (``basis``), ``answers_low``
    and ``answers_high`` for these answers alone. ``answers`` counts all that were used.
    """

    system: str
    estimate: float
    low: float | None
    high: float | None
    rank: int
    low_rank: int
    high_rank: int
    cluster: int
    n: int
    answers: int
    basis: str = "answers"
    answers_low: float | None = None
    answers_high: float | None = None
    rests_since: int | None = None
    """The look after which the system is shown no more."""


@dataclass(frozen=True, slots=True)
class LivePair:
    """Two systems, the better one on the left, and the verdict, if there is one.

    The interval is the one that goes with the verdicts; between looks it is for ``orientation``.
    """

    left: str
    right: str
    difference: float | None
    low: float | None
    high: float | None
    decided: bool
    look: int | None
    """The look that decided it."""
    orientation: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A rater who is left out, since when, by whom and why."""

    rater: str
    at: str
    actor: str
    reason: str
    answers: int
    summary: RaterSummary | None = None
    """This rater's own figures, against the raters who count."""


@dataclass(frozen=True, slots=True)
class OwnerAct:
    """Something that a person decided while the campaign ran, who it was, and why."""

    at: str
    actor: str
    what: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class HowCollected:
    """How the answers were collected: what was planned, and what was decided on the way.

    ``segments`` of ``population`` were drawn by the ``design``, which is said in words. Shares are
    as the plan has them; None where it says nothing. ``raters`` is who answered.
    """

    protocol: str
    state: str
    languages: tuple[str, str] | None
    design: str
    segments: int
    population: int
    documents: int | None
    systems: int
    raters: int
    per_task: int
    overlap: str | None
    checks: str | None
    repeats: str | None
    side_by_side: int
    looks: int
    target: float | None
    began: str | None
    """When the first answer came."""
    ended: str | None
    """When the last one came."""
    acts: tuple[OwnerAct, ...]
    version: str


@dataclass(frozen=True, slots=True)
class CampaignResults(Result, kind="campaign-results"):
    """What a campaign says now, ``as_of`` a time.

    ``n`` of ``total`` are in the complete beginning: segments, or tasks where judgments or edits
    are collected. ``used`` answers count, ``waiting`` ones lie behind a gap. ``planned`` are the
    sizes of all looks; ``orientation`` says that the beginning is not that of a look, so that the
    outcome decides nothing. ``everybody`` is the outcome with the answers of those who are left
    out. ``goal_met`` is the look that reached the goal of the plan.
    """

    name: str
    as_of: str
    collects: Answers
    goal: Literal["ranking", "score", "budget"]
    level: float
    tasks: int
    beginning: int
    """Tasks of the complete beginning."""
    n: int
    total: int
    used: int
    waiting: int
    planned: tuple[int, ...]
    looks: tuple[LookTaken, ...]
    next_look: NextLook | None
    orientation: bool
    outcome: Outcome
    systems: tuple[LiveSystem, ...] = ()
    pairs: tuple[LivePair, ...] = ()
    monitoring: Monitoring | None = None
    verdicts: JudgmentsMonitoring | None = None
    """Of judgments: verdicts that hold whenever one looks."""
    by_scale: dict[str, Estimates] | None = None
    """Where several scales are asked: the scores of those that looks do not go by."""
    raters: RaterReport | None = None
    """The raters who count, measured without those who are left out."""
    left_out: tuple[LeftOut, ...] = ()
    redo: int = 0
    """Segments (or tasks) of the beginning that want another rater since one was excluded."""
    everybody: Outcome | None = None
    undecided: tuple[OpenPair, ...] = ()
    """What deciding the rest takes, the cheapest first."""
    goal_met: int | None = None
    how: HowCollected | None = None
    pay: Costs = UNPAID
    next: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def unit(self) -> str:
        """What ``n`` counts."""
        return "segment" if self.collects == "ratings" else "task"

    @property
    def signature(self) -> str:
        """How the numbers came about, in one line."""
        found = self.outcome.found
        own = "" if found is None else found.signature.partition("|v:")[0]
        return signature(
            "campaign", *([own] if own else []), beginning=f"{self.n}/{self.total}",
            looks=f"{len(self.looks)}/{len(self.planned)}",
        )  # fmt: skip


def status_of(found: CampaignResults) -> dict[str, Any]:
    """Looks, the next one and systems as the status of a campaign has them.

    The systems of a look are those of its outcome, digit for digit; the others' ranks follow the
    verdicts.
    """
    standing = {item.system: plain(item) for item in found.systems}
    outcome = found.outcome.found
    rows = [] if outcome is None else [plain(item) for item in outcome.systems]
    systems = [row | standing.get(row["system"], {}) for row in rows]
    systems.sort(key=lambda row: (row["cluster"], row["rank"]))
    return {
        "looks": tuple(_look_row(look) for look in found.looks),
        "next_look": None if found.next_look is None else found.next_look.n,
        "systems": tuple(systems),
    }  # fmt: skip


def _look_row(look: LookTaken) -> dict[str, Any]:
    own = ("number", "n", "at", "answers", "decided", "pairs", "limit", "met", "excluded")
    outcome = look.outcome.found
    row: dict[str, Any] = {name: plain(getattr(look, name)) for name in own}
    if outcome is not None:
        row |= {
            "signature": outcome.signature, "systems": [plain(item) for item in outcome.systems],
        }  # fmt: skip
    if look.monitoring is not None:
        row["verdicts"] = [plain(item) for item in look.monitoring.items]
    elif look.verdicts is not None:
        row["verdicts"] = [plain(item) for item in look.verdicts.pairs]
    elif outcome is not None and hasattr(outcome, "differences"):
        row["verdicts"] = [plain(item) for item in outcome.differences]
    return row
