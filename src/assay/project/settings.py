"""What ``assay.toml`` says, typed: one class per table of the file, one field per key.

This is the only list of the keys. The reader refuses every other one, and the documentation of
the file is made from the docstrings here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Protocol = Literal["da", "sqm", "xsts", "scale", "esa", "mqm", "pairwise", "ranking", "post-edit"]
"""How outputs are judged; ``da``, ``sqm`` and ``xsts`` are scales with their usual range."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """The sample. A string in place of the table names the file alone."""

    file: str | None = None
    """Where the drawn sample is."""

    design: str = "auto"
    """How it is drawn; ``auto`` follows the goal."""
    budget: str | None = None
    """A number of segments, or a share such as ``40%``."""
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """One scale of a rating; several may be asked at once."""

    name: str = "score"
    low: float = 0.0
    high: float = 100.0
    step: float = 1.0
    anchors: tuple[str, ...] = ()
    """Words for evenly spaced points of the scale, from the lowest to the highest."""


@dataclass(frozen=True, slots=True)
class Severity:
    """One severity of a marked error."""

    name: str
    weight: float


@dataclass(frozen=True, slots=True)
class Screen:
    """What a rater sees at once."""

    outputs: int = 1
    """Systems side by side, 1 to 8."""
    context: int = 5
    """Segments shown before and after those that are rated."""
    merge: Literal["stretch", "segment", "no"] = "stretch"
    """Where identical outputs are shown once."""
    most_outputs: int = 60
    """A task with more is dealt in blocks of systems."""
    languages: tuple[str, str] | None = None
    """Source and target language (BCP 47), for the direction of writing, fonts and words."""


@dataclass(frozen=True, slots=True)
class Raters:
    """Who rates."""

    number: int = 1
    names: tuple[str, ...] = ()
    """Code names; without them ``rater-1``, ``rater-2``, ..."""
    per_task: int = 1
    overlap: str | None = None
    """The share of the tasks that goes to one rater more, ``10%`` unless said."""
    lease: str = "auto"
    """Minutes after which a task that was opened goes to somebody else."""
    quota: int | None = None
    """Most tasks of one rater."""


@dataclass(frozen=True, slots=True)
class Checks:
    """How attention is watched, and how raters are taught."""

    share: str | None = None
    """The share of the outputs with a spoiled copy beside them."""
    repeats: str | None = None
    """The share of the tasks that a rater gets twice."""
    qualify: str | None = None
    """A table of a test to pass first."""
    tutorial: str | None = None
    """A table of solved examples to begin with."""
    block_after: int | None = None
    """So many failed checks end a rater's work."""


@dataclass(frozen=True, slots=True)
class Stop:
    """When enough has been rated; chosen beforehand."""

    goal: Literal["ranking", "score", "budget"] = "ranking"
    looks: int = 5
    level: float = 0.95
    target: float | None = None
    """For the goal ``score``: the wanted half-width of every interval."""
    rest: Literal["decided", "never"] = "never"
    """Whether a system whose every difference is decided is shown no more."""
    guarantee: bool = False
    """Any-time bounds in place of planned looks."""


@dataclass(frozen=True, slots=True)
class Pay:
    """What a rating costs: any one of the three prices, and the time it takes where known."""

    per_rating: float | None = None
    per_task: float | None = None
    per_hour: float | None = None
    seconds_per_rating: float | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class Crowd:
    """Parameters and addresses of a crowd platform."""

    id: str = "PROLIFIC_PID"
    keep: tuple[str, ...] = ()
    done: str | None = None
    screened_out: str | None = None
    full: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything ``assay.toml`` can say."""

    name: str = "campaign"
    protocol: Protocol | None = None
    better: Literal["higher", "lower"] | None = None
    """Which ratings are better; known from the protocol where that is said."""
    range: tuple[float, float] | None = None
    columns: dict[str, str] = field(default_factory=dict)
    """Your column names: ``seg = "SentenceID"``."""
    metrics: tuple[str, ...] | None = None
    lower_metrics: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Systems left out, such as the reference."""
    goal: Literal["ranking", "score"] | None = None
    method: str | None = None
    target: Literal["raters", "texts", "answers"] | None = None
    instructions: str | None = None
    """A text file with your own words to the raters."""
    consent: str | None = None
    """A text file that raters agree to before they begin."""
    scores: str | None = None
    """The test set: outputs, texts and metrics. All files are relative to the folder."""
    sample: Drawing = Drawing()
    key: str | None = None
    """Which line of a blind sheet is whose; kept from raters."""
    ratings: tuple[str, ...] = ()
    """Answers that are scores, one file or several."""
    judgments: tuple[str, ...] = ()
    """Answers that are preferences."""
    edits: tuple[str, ...] = ()
    """Post-edited outputs."""
    errors: tuple[str, ...] = ()
    """Marked errors: answers, or marks that raters begin with."""
    scales: tuple[Scale, ...] = ()
    severities: tuple[Severity, ...] = ()
    categories: tuple[str, ...] = ()
    """Error categories, ``Accuracy/Omission`` for one below another; weights by ``weights``."""
    weights: dict[str, float] = field(default_factory=dict)
    """``category/severity`` or ``severity`` to weight, where the protocol's own do not serve."""
    screen: Screen = Screen()
    raters: Raters = Raters()
    checks: Checks = Checks()
    stop: Stop = Stop()
    pay: Pay = Pay()
    crowd: Crowd = Crowd()
