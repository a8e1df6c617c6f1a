"""The settings in ``assay.toml``, typed: one class per table of the file, one field per key.

This is the only list of the keys: the reader refuses all others, and the documentation of the file
is generated from these docstrings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal


@dataclass(frozen=True, slots=True)
class Between:
    """The smallest and the largest number that a key takes."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Written:
    """How a text must be written: a regular expression for all of it, and an example.

    With ``number``, a number without quotes is read as the text; shares also as 0.1.
    """

    pattern: str
    example: str
    number: bool = False


_PERCENT = r"(100|\d{1,2})(\.\d+)?%"
Share = Annotated[str, Written(_PERCENT, "10%", number=True)]
Amount = Annotated[
    str, Written(rf"{_PERCENT}|[€$£]?\d[\d.,]*( ?[A-Za-z€$£]+)?", "40%", number=True)
]
Minutes = Annotated[str, Written(r"auto|\d+(\.\d+)?", "auto", number=True)]
Language = Annotated[str, Written(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", "de")]
Address = Annotated[str, Written(r"https?://\S+|[^\s:]+", "https://example.org/done")]
FileName = Annotated[str, Written(r"[^\0]*\S[^\0]*", "scores.tsv")]
Word = Annotated[str, Written(r"(?s).*\S.*", "news")]
Count = Annotated[int, Between(1, 1_000_000)]
Price = Annotated[float, Between(0, 1e9)]

Protocol = Literal["da", "sqm", "xsts", "scale", "esa", "mqm", "pairwise", "ranking", "post-edit"]
"""How outputs are judged; ``da``, ``sqm`` and ``xsts`` are scales with their usual range."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """The sample. A text instead of the table names its file."""

    file: FileName | None = None
    """Where the drawn sample is."""
    design: str = "auto"
    """How it is drawn; ``auto`` follows the goal."""
    budget: Amount | None = None
    """A number of segments, a share, or what may be spent: ``300 EUR``, ``20 hours``."""
    seed: Annotated[int, Between(0, 2**63 - 1)] | None = None
    """The seed of the draw, so that it can be repeated."""


@dataclass(frozen=True, slots=True)
class Scale:
    """One scale of a rating; several may be asked at once."""

    name: Word = "score"
    """What it is called, and the column of its ratings."""
    low: float = 0.0
    """The lowest rating."""
    high: float = 100.0
    """The highest rating."""
    step: Annotated[float, Between(1e-6, 1e6)] = 1.0
    """The distance between neighbouring ratings."""
    anchors: tuple[str, ...] = ()
    """Words for evenly spaced points of the scale, from the lowest to the highest."""


@dataclass(frozen=True, slots=True)
class Severity:
    """One severity of a marked error."""

    name: Word
    """The name that raters see."""
    weight: Annotated[float, Between(0, 1e6)]
    """What one such error costs."""


@dataclass(frozen=True, slots=True)
class Screen:
    """What one screen shows a rater."""

    outputs: Annotated[int, Between(1, 8)] = 1
    """Systems side by side, 1 to 8."""
    context: Annotated[int, Between(0, 100)] = 5
    """Segments shown before and after those that are rated."""
    merge: Literal["stretch", "segment", "no"] = "stretch"
    """Where identical outputs are shown once."""
    editing: Literal["light", "full"] = "full"
    """How much editors change: what is needed to understand the text, or to publish it."""
    sets: Literal["planned", "best", "order"] = "planned"
    """For comparisons: planned evenly in advance, or chosen by the results so far, to find the
    ``best`` system or the whole ``order`` sooner."""
    most_outputs: Count = 60
    """A task with more outputs is split into blocks of systems."""
    languages: tuple[Language, Language] | None = None
    """Source and target language (BCP 47), for the direction of writing, fonts and words."""


@dataclass(frozen=True, slots=True)
class Raters:
    """Who rates."""

    number: Annotated[int, Between(1, 10_000)] = 1
    """How many raters there are."""
    names: tuple[Word, ...] = ()
    """Code names; without them ``rater-1``, ``rater-2``, ..."""
    per_task: Annotated[int, Between(1, 20)] = 1
    """How many rate every task."""
    overlap: Share | None = None
    """The share of the tasks that goes to one additional rater; ``10%`` by default."""
    lease: Minutes = "auto"
    """Minutes after which a task that was opened goes to another rater."""
    quota: Count | None = None
    """The most tasks that one rater gets."""
    minutes: Count | None = None
    """The most minutes that one rater works; a task that was begun is finished."""


@dataclass(frozen=True, slots=True)
class Checks:
    """How attention is checked, and how raters are trained."""

    share: Share | None = None
    """The share of the outputs that are also shown as a spoiled copy."""
    repeats: Share | None = None
    """The share of the tasks that a rater gets twice."""
    qualify: FileName | None = None
    """A table of a test to pass first."""
    tutorial: FileName | None = None
    """A table of solved examples to begin with."""
    block_after: Count | None = None
    """A rater with so many failed checks cannot go on."""


@dataclass(frozen=True, slots=True)
class Forms:
    """Questions to the raters about themselves and the work."""

    before: FileName | None = None
    """A table of questions to begin with: ``question``, ``answers`` (``yes|no``), ``optional``."""
    after: FileName | None = None
    """A table of questions to end with."""


@dataclass(frozen=True, slots=True)
class Stop:
    """When collecting ends; chosen in advance."""

    goal: Literal["ranking", "score", "budget"] = "ranking"
    """What ends the collecting: a decided order, narrow enough intervals, or the last task."""
    looks: Annotated[int, Between(1, 50)] = 5
    """The number of planned looks at which it may end."""
    level: Annotated[float, Between(0.5, 0.9999)] = 0.95
    """The confidence level of the verdicts."""
    target: Annotated[float, Between(1e-6, 1e6)] | None = None
    """For the goal ``score``: the wanted half-width of every interval."""
    rest: Literal["decided", "never"] = "never"
    """Whether a system whose every difference is decided is shown no more."""
    guarantee: bool = False
    """Use any-time bounds instead of planned looks."""


@dataclass(frozen=True, slots=True)
class Pay:
    """What a rating costs: one of the three prices and, if known, the time it takes."""

    per_rating: Price | None = None
    """The price of one rating, or of one judgment."""
    per_task: Price | None = None
    """The price of one task."""
    per_hour: Price | None = None
    """The price of an hour's work."""
    seconds_per_rating: Annotated[float, Between(0.1, 86_400)] | None = None
    """How long one rating takes."""
    currency: Annotated[str, Written(r"[A-Z]{3}|[€$£¥]", "EUR")] | None = None
    """The currency of all prices."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Parameters and addresses of a crowd platform."""

    id: Word = "PROLIFIC_PID"
    """The link parameter that identifies the rater."""
    keep: tuple[Word, ...] = ()
    """Parameters that are stored with the answers."""
    done: Address | None = None
    """Where raters are sent who have finished."""
    screened_out: Address | None = None
    """Where raters are sent who failed the test."""
    full: Address | None = None
    """Where raters are sent when no task is left."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything ``assay.toml`` can say."""

    name: Word = "campaign"
    """The name in reports and on pages."""
    protocol: Protocol | None = None
    """How outputs are judged; ``da``, ``sqm`` and ``xsts`` are scales with their usual range."""
    better: Literal["higher", "lower"] | None = None
    """Which ratings are better; follows from the protocol, if one is given."""
    range: tuple[float, float] | None = None
    """The lowest and the highest rating possible; others are refused."""
    columns: dict[str, Word] = field(default_factory=dict)
    """Your column names: ``seg = "SentenceID"``."""
    metrics: tuple[Word, ...] | None = None
    """The columns of the scores that are metrics; without it, all numeric ones."""
    lower_metrics: tuple[Word, ...] = ()
    """Metrics where less is better."""
    exclude: tuple[Word, ...] = ()
    """Systems left out, such as the reference."""
    goal: Literal["ranking", "score"] | None = None
    """What the sample is for: which system is better, or how good each is."""
    method: Word | None = None
    """How scores are estimated."""
    target: Literal["raters", "texts", "answers"] | None = None
    """What intervals cover: other raters, other texts too, or these answers alone."""
    instructions: FileName | None = None
    """A text file with your instructions to the raters."""
    consent: FileName | None = None
    """A text file that raters agree to before they begin."""
    scores: FileName | None = None
    """The test set: outputs, texts and metrics. All files are relative to the folder."""
    sample: Drawing = Drawing()
    """Which segments are rated."""
    key: FileName | None = None
    """The key of blind sheets: which line belongs to which system; raters never see it."""
    returned: tuple[FileName, ...] = ()
    """Sheets that raters sent back; all are read again when more arrive."""
    ratings: tuple[FileName, ...] = ()
    """Answers that are scores, one file or several."""
    judgments: tuple[FileName, ...] = ()
    """Answers that are preferences."""
    edits: tuple[FileName, ...] = ()
    """Post-edited outputs."""
    errors: tuple[FileName, ...] = ()
    """Marked errors: answers, or marks that raters begin with."""
    scales: tuple[Scale, ...] = ()
    """The scales that raters use, instead of the protocol's own."""
    severities: tuple[Severity, ...] = ()
    """The severities of errors, instead of the protocol's own."""
    categories: tuple[Word, ...] = ()
    """Error categories, ``Accuracy/Omission`` for one below another; weights by ``weights``."""
    weights: dict[str, Annotated[float, Between(0, 1e6)]] = field(default_factory=dict)
    """``category/severity`` or ``severity`` to weight, instead of the protocol's own."""
    screen: Screen = Screen()
    """What one screen shows a rater."""
    raters: Raters = Raters()
    """Who rates."""
    checks: Checks = Checks()
    """How attention is checked, and how raters are trained."""
    forms: Forms = Forms()
    """Questions to the raters about themselves and the work."""
    stop: Stop = Stop()
    """When enough has been rated."""
    pay: Pay = Pay()
    """What a rating costs."""
    crowd: Crowd = Crowd()
    """Parameters and addresses of a crowd platform."""
