"""What passes between the rooms of a campaign: what was shown, what was answered, what is refused.

The page sends JSON, a protocol checks it against what was shown and returns :class:`Answer`, the
store keeps that, and the exchange makes tables of :class:`Stored`. Nothing here knows SQL or HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from assay.errors import AssayError

if TYPE_CHECKING:
    import polars as pl

Side = Literal["source", "target"]
IMPORTED = "imported"
"""Why a rater had a task that was never open here: it was answered in another tool."""


@dataclass(frozen=True, slots=True)
class Span:
    """A marked stretch: code points, half open; a missing mark has ``start == end``."""

    side: Side
    start: int
    end: int
    severity: str
    category: str | None = None
    origin: str | None = None
    """``None`` where the rater made it; else ``kept`` or ``changed`` of a mark shown before."""
    missing: bool = False


@dataclass(frozen=True, slots=True)
class ShownSegment:
    """A segment of a task: its place, whether it is rated or context, its source."""

    place: int
    rate: bool
    source: str | None
    media: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownOutput:
    """One system's outputs of all segments of a task, under a code that means nothing."""

    code: str
    label: str
    texts: tuple[str | None, ...]
    """One per segment; None where the system has none."""
    spans: tuple[tuple[Span, ...], ...] = ()
    """Marks that the rater begins with, one tuple per segment."""


FORMS = ("before", "after")
"""Kinds of tasks that ask about the rater, and when."""


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A question to the rater; with ``answers`` one of them is chosen."""

    text: str
    answers: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A task as one rater sees it under one lease."""

    lease: str
    segments: tuple[ShownSegment, ...]
    outputs: tuple[ShownOutput, ...]
    screens: tuple[tuple[str, ...], ...]
    """The codes of every screen."""
    questions: tuple[FormQuestion, ...] = ()
    """Of a form, whose answers have the place of their question."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One checked answer: about one output of one segment, or about a comparison of several."""

    code: str | None = None
    """The output; None for a comparison."""
    place: int | None = None
    scores: dict[str, float] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    no_error: bool = False
    """The rater said that there is no error."""
    asked: bool = False
    """A low score without a mark was asked about, and stayed."""
    skipped: str | None = None
    """The reason why it was left out."""
    comment: str | None = None
    winner: str | None = None
    """Of a comparison of two: a code, or ``tie``."""
    strength: int | None = None
    reason: str | None = None
    ranks: dict[str, int] = field(default_factory=dict)
    """Of a comparison: code to rank, 1 the best; equal ranks are ties."""
    edited: str | None = None
    keys: dict[str, int] = field(default_factory=dict)
    pauses: dict[str, int] = field(default_factory=dict)
    sessions: tuple[dict[str, Any], ...] = ()
    """Of an edit: times from focus to focus, with active and idle milliseconds."""

    @property
    def choice(self) -> dict[str, Any]:
        """What was said of a comparison."""
        names = ("winner", "strength", "reason", "ranks")
        said = {name: getattr(self, name) for name in names}
        return {name: value for name, value in said.items() if value not in (None, {})}


@dataclass(frozen=True, slots=True)
class Timing:
    """When and for how long a screen was worked on; the client's clock, kept apart from ours."""

    opened: str | None = None
    first: str | None = None
    sent: str | None = None
    active_ms: int = 0
    idle_ms: int = 0
    away: int = 0
    """How often the page was left."""
    device: Literal["pointer", "keyboard", "both"] | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer with who gave it and to what; one for every system that it counts for.

    Identical outputs share a code, so one answer may count for several systems. An answer to a
    comparison is here once for each system compared, with the code under which that was shown.
    """

    number: int
    """The answer; the same in all rows of one answer."""
    answer: Answer
    rater: str
    excluded: bool
    """Whether the rater is left out at the moment."""
    lp: str | None
    doc: str | None
    seg: str
    system: str
    code: str
    """Under which the system was shown to this rater."""
    label: str
    column: int
    """Where on the screen the output stood, from 0."""
    source: str | None
    text: str | None
    """What was shown; of a check, the spoiled copy."""
    text_hash: str | None
    kind: str
    """Why the rater had the task: ``rate``, ``check``, ``repeat``, ``tutorial`` or ``qualify``."""
    spoiled: bool
    passed: bool | None
    """Of a check: whether it was found out."""
    task: int
    order: int
    """The task's place in the order."""
    reason: str
    """Why the rater got the task then: ``order``, ``expired``, ``overlap``, ..."""
    snippet: str | None
    stratum: str | None
    probability: float | None
    block: int | None
    block_probability: float | None
    lease: str
    screen: int
    revision: int
    late: bool
    opened: int
    """When the task was given out: milliseconds since 1970, the server's clock."""
    received: int
    timing: Timing
    instructions: str | None
    """The hash of the instructions as they were."""
    version: str
    """The software that took the answer."""
    begun_with: int = 0
    """Marks that the rater began with."""


GIVEN = ("rate", "check", "repeat")
"""Tasks of the campaign itself; tutorials and tests are about other texts."""


@dataclass(frozen=True, slots=True)
class GivenText:
    """An output that an answer is about, as the rater saw it."""

    label: str
    systems: tuple[str, ...]
    """All that have this very text."""
    text: str
    spoiled: bool
    won: bool
    rank: int | None


@dataclass(frozen=True, slots=True)
class Given:
    """One answer with what it is about, to be read by the owner."""

    number: int
    at: int
    rater: str
    excluded: bool
    lp: str | None
    doc: str | None
    seg: str
    source: str | None
    texts: tuple[GivenText, ...]
    kind: str
    answer: Answer
    revision: int
    late: bool


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was done, or that the owner should know."""

    number: int
    at: int
    actor: str
    kind: str
    subject: str
    rater: str | None
    """The name of the rater with the number of the subject."""
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class LookSeen:
    """What a look was about: the numbers of what had been sent, and who was left out then."""

    sent: frozenset[int]
    excluded: frozenset[int]


@dataclass(frozen=True, slots=True)
class Collected:
    """Everything that a campaign has gathered, for export."""

    answers: tuple[Stored, ...]
    """The latest revision of every answer, in the order received."""
    raters: tuple[Mapping[str, Any], ...]
    """One per rater: ``rater``, ``state``, ``tasks``, ``seconds``, ..."""
    events: tuple[Mapping[str, Any], ...]
    """One per event: ``at``, ``actor``, ``kind``, ``subject``, ``body``."""
    scores: pl.DataFrame
    """The test set as it came in."""
    sample: pl.DataFrame | None = None
    forms: tuple[Mapping[str, Any], ...] = ()
    """What raters said of themselves: ``rater``, ``form``, ``question``, ``answer``, ``at``."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An output that a campaign asks about, and the task that it is in."""

    task: int
    place: int
    """The segment's place in the task."""
    system: str
    shown_as: int
    """The number of the system that it is shown as; identical outputs share one."""
    lp: str | None
    doc: str | None
    seg: str
    source: str | None
    text: str
    text_hash: str


@dataclass(frozen=True, slots=True)
class ImportedColumn:
    """One rater's answers to one column of a task, which were given in another tool."""

    answers: tuple[Answer, ...]
    hashes: Mapping[int, str]
    """Place to the hash of the text."""
    seconds: float
    began: str | None
    ended: str | None
    """By the other tool's clock."""


@dataclass(frozen=True, slots=True)
class ImportedTask:
    """What one rater said of one task in another tool."""

    rater: str
    task: int
    whole: bool
    """Whether every output of the task has an answer."""
    columns: Mapping[int, ImportedColumn]
    """By the number of the system that a column shows."""


class CampaignError(AssayError):
    """A request that a campaign does not carry out; ``status`` is the HTTP status it becomes."""

    status = 409


class EndedLinkError(CampaignError):
    """The link of a request was replaced or has expired."""

    status = 401


class NotYoursError(CampaignError):
    """Nothing of this rater's has that name: not theirs and not there look the same."""

    status = 404


class NotNowError(CampaignError):
    """The campaign is closed or paused, or the rater is left out; the sentence says what to do.

    ``address`` is where a crowd platform wants its raters back.
    """

    status = 409

    def __init__(self, message: str, address: str | None = None) -> None:
        super().__init__(message)
        self.address = address


class UnavailableError(CampaignError):
    """Nothing can be written now, such as on a full disk; the same request may be sent again."""

    status = 503


MOST_FAULTS, MOST_WORDS = 100, 500
"""Faults that are told, and the characters of one: a refusal is never longer than what was sent."""


class InvalidAnswerError(CampaignError):
    """An answer that does not fit what was shown; every fault with its path.

    Of a great many the first are told, and how many there are.
    """

    status = 422

    def __init__(self, faults: list[tuple[str, str]]) -> None:
        told = faults[:MOST_FAULTS]
        if more := len(faults) - len(told):
            told.append((faults[-1][0], f"is wrong too, like {more - 1:,} more; mend these first"))
        self.faults = [(path[:MOST_WORDS], message[:MOST_WORDS]) for path, message in told]
        super().__init__("; ".join(f"{path}: {message}" for path, message in self.faults))
