"""The settings in ``assay.toml``, typed: one class per table of the file, one field per key.

This is the only list of the keys: the reader refuses all others, and the documentation of the file
is generated from these docstrings. Below them stand the settings that contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from assay.errors import did_you_mean


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


SCALES = ("da", "sqm", "xsts", "scale")
MARKED = ("esa", "mqm")
"""The protocols whose answers are ratings alone, and those with marked errors."""

PRESETS = {"da": (0.0, 100.0), "sqm": (0.0, 6.0), "xsts": (1.0, 5.0), "esa": (0.0, 100.0)}
"""The usual range of a protocol's scores."""

Fault = tuple[str, object, str]
"""The key, its value, and what is wrong with it."""


def contradictions(settings: Settings, said: Mapping[str, Any]) -> Iterator[Fault]:
    """The settings that contradict others; ``said`` is what the file itself says."""
    yield from _of_columns(settings)
    yield from _of_protocol(settings)
    yield from _of_raters(settings, said)
    yield from _of_stop(settings, said)
    prices = [
        f"pay.{name}"
        for name in ("per_rating", "per_task", "per_hour")
        if getattr(settings.pay, name) is not None
    ]
    for other in prices[1:]:
        price = getattr(settings.pay, other.removeprefix("pay."))
        yield other, price, f"and {prices[0]} are two prices; keep one of them"


def _of_columns(settings: Settings) -> Iterator[Fault]:
    from assay.tables.schemas import RESERVED

    for name, user in settings.columns.items():
        if name not in RESERVED:
            close = did_you_mean(name, sorted(RESERVED))
            remedy = "write Assay's name first, yours second"
            yield f"columns.{name}", user, f"is not one of Assay's columns{close}; {remedy}"
    metrics = settings.metrics
    for place, name in enumerate(settings.lower_metrics):
        if metrics is not None and name not in metrics:
            close = did_you_mean(name, metrics)
            yield f"lower_metrics[{place}]", name, f"is not among the metrics{close}; name it there"
    if settings.range is not None and settings.range[0] >= settings.range[1]:
        yield "range", settings.range, "is empty; write the lowest rating first"


def _of_protocol(settings: Settings) -> Iterator[Fault]:
    protocol = settings.protocol
    for place, scale in enumerate(settings.scales):
        key = f"scales[{place}]"
        if scale.low >= scale.high:
            yield f"{key}.low", scale.low, f"is not below high ({scale.high:g}); swap them"
        elif scale.step > scale.high - scale.low:
            yield f"{key}.step", scale.step, "is longer than the scale; make it smaller"
    yield from _twice("scales", [scale.name for scale in settings.scales])
    yield from _twice("severities", [severity.name for severity in settings.severities])
    yield from _twice("categories", list(settings.categories))
    if protocol is None:
        return
    if settings.scales and protocol not in SCALES:
        yield "scales", len(settings.scales), _without("scales", protocol, "scale")
    for name in ("severities", "categories", "weights"):
        value = getattr(settings, name)
        if value and protocol not in MARKED:
            yield name, len(value), _without(name, protocol, "mqm")
    for name in ("share", "repeats", "qualify", "tutorial", "block_after"):
        value = getattr(settings.checks, name)
        if value is not None and protocol not in (*SCALES, *MARKED):
            fault = f'needs scores, and protocol "{protocol}" asks for none; leave it out'
            yield f"checks.{name}", value, fault
    if settings.screen.outputs > 1 and protocol == "post-edit":
        fault = "shows several outputs, and one is edited at a time; leave it out"
        yield "screen.outputs", settings.screen.outputs, fault


def _without(name: str, protocol: str, other: str) -> str:
    return f'has no effect with protocol = "{protocol}"; leave it out, or write "{other}" there'


def _twice(key: str, names: list[str]) -> Iterator[Fault]:
    for place, name in enumerate(names):
        if name in names[:place]:
            yield f"{key}[{place}]", name, "is listed twice; name each once"


def _of_raters(settings: Settings, said: Mapping[str, Any]) -> Iterator[Fault]:
    raters = settings.raters
    yield from _twice("raters.names", list(raters.names))
    if raters.names and "number" in said["raters"] and raters.number != len(raters.names):
        fault = f"contradicts the {len(raters.names)} names; leave it out"
        yield "raters.number", raters.number, fault
    people = len(raters.names) or raters.number
    if raters.per_task > people and "raters" in said:
        fault = f"is more than the {people} raters; give fewer, or name more raters"
        yield "raters.per_task", raters.per_task, fault


def _of_stop(settings: Settings, said: Mapping[str, Any]) -> Iterator[Fault]:
    stop = settings.stop
    if stop.goal == "score" and stop.target is None:
        fault = "needs the half-width that is wanted; give stop.target such as 1.5"
        yield "stop.goal", stop.goal, fault
    if stop.goal != "score" and stop.target is not None:
        fault = f'is for the goal "score", and stop.goal is "{stop.goal}"; leave one out'
        yield "stop.target", stop.target, fault
    if stop.rest == "decided" and stop.goal != "ranking":
        fault = f'is for the goal "ranking", and stop.goal is "{stop.goal}"; leave one out'
        yield "stop.rest", stop.rest, fault
    if stop.guarantee and "looks" in said["stop"]:
        yield "stop.looks", stop.looks, "plans looks, and stop.guarantee needs none; keep one"


def better_of(settings: Settings) -> Literal["higher", "lower"] | None:
    """Which scores are better: as said, else by the protocol; errors are counted in MQM."""
    if settings.better is None and settings.protocol in (*SCALES, *MARKED):
        return "lower" if settings.protocol == "mqm" else "higher"
    return settings.better


def range_of(settings: Settings) -> tuple[float, float] | None:
    """The scale of the scores: as said, else by the only scale or by the protocol."""
    if settings.range is None and len(settings.scales) == 1:
        return settings.scales[0].low, settings.scales[0].high
    return settings.range or PRESETS.get(settings.protocol or "")
