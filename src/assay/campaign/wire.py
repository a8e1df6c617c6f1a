"""The bodies of requests; protocols check the answers in them."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from assay.campaign.protocols.reading import UNSAFE
from assay.project.settings import Protocol

Json = dict[str, Any]
MOST_DEPTH = 40
"""Nesting of lists and objects; our pages send fewer than ten levels."""


def storable(value: Any) -> Any:
    """Return the value; refuse one that cannot be stored and read again."""
    _need_storable(value, MOST_DEPTH)
    return value


def _need_storable(value: Any, depth: int) -> None:
    if isinstance(value, str):
        if UNSAFE.search(value):
            raise ValueError("holds characters that are not text")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("holds a number that is not finite")
    elif isinstance(value, dict | list):
        if not depth:
            raise ValueError(f"is more than {MOST_DEPTH} lists and objects deep")
        for part in (*value, *value.values()) if isinstance(value, dict) else value:
            _need_storable(part, depth - 1)


MOST_NUMBER = 2**31 - 1
"""The largest row number that every database supports."""
Text = Annotated[str, AfterValidator(storable)]
Body = Annotated[Json, AfterValidator(storable)]


class Strict(BaseModel):
    """A JSON object whose unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Empty(Strict):
    """``{}``."""


class Draft(Strict):
    """Unfinished work on a screen, stored as it is."""

    body: Body


class Sent(Strict):
    """The answers of one screen; the same key is stored once."""

    key: Text = Field(min_length=1, max_length=100)
    timing: Body = Field(default_factory=dict)
    answers: Annotated[list[Any], AfterValidator(storable)] = Field(max_length=10_000)


class Reason(Strict):
    """Why a task is handed back, or why the owner does something."""

    reason: Text = Field(min_length=1, max_length=2000)


class ProblemText(Strict):
    """What is wrong with an item."""

    text: Text = Field(min_length=1, max_length=10_000)


class Language(Strict):
    """The language of the pages."""

    language: Text = Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", max_length=35)


class Joining(Strict):
    """The parameters that a crowd platform added to the address, and the rater's consent."""

    params: dict[str, Annotated[Text, Field(max_length=500)]] = Field(max_length=30)
    consent: bool


class Why(Strict):
    """An owner's reason, if there is one."""

    reason: Text | None = Field(default=None, max_length=2000)


class Person(Strict):
    """A rater whom the owner restores."""

    rater: Text = Field(min_length=1, max_length=200)


class Excluded(Person):
    """A rater whom the owner excludes, and why."""

    reason: Text = Field(min_length=1, max_length=2000)


class RuleChange(Strict):
    """A new stopping rule, and why."""

    goal: Literal["ranking", "score", "budget"]
    target: Annotated[float, Field(gt=0, le=1e6)] | None = None
    reason: Text = Field(min_length=1, max_length=2000)


class Message(Person):
    """A message from the owner to a rater."""

    text: Text = Field(min_length=1, max_length=2000)


class More(Strict):
    """How many raters to add."""

    number: int = Field(ge=1, le=200)


Short = Annotated[Text, Field(max_length=500)]
Names = Annotated[list[Short], Field(max_length=500)]
Share = Annotated[float, Field(ge=0, le=100)]
Price = Annotated[float, Field(gt=0, le=1e6)]


class Corrected(Strict):
    """A person's corrections of the table; an empty column name means that there is none."""

    columns: dict[Short, Short] = Field(default_factory=dict, max_length=20)
    wide: Names = Field(default_factory=list)
    """Columns that each hold the outputs of one system."""
    metrics: Names | None = None
    lower_metrics: Names | None = None
    exclude: Names = Field(default_factory=list)
    only: dict[Short, Short] = Field(default_factory=dict, max_length=20)


class Arrangement(Strict):
    """Protocol, raters and pay; shares are percentages."""

    protocol: Protocol
    raters: int = Field(ge=1, le=10_000)
    per_task: int = Field(default=1, ge=1, le=20)
    overlap: Share | None = None
    outputs: int = Field(default=1, ge=1, le=8)
    checks: Share | None = None
    repeats: Share | None = None
    per_rating: Price | None = None
    per_hour: Price | None = None
    seconds_per_rating: Annotated[float, Field(ge=0.1, le=86_400)] | None = None
    currency: Annotated[Text, Field(pattern=r"^([A-Z]{3}|[€$£¥])$")] | None = None
    budget: Short | None = None

    def settings(self) -> dict[str, Any]:
        """The settings by their path in ``assay.toml``."""
        paid = self.per_rating is not None or self.per_hour is not None
        return {
            "protocol": self.protocol, "raters.number": self.raters,
            "raters.per_task": self.per_task if self.per_task > 1 else None,
            "raters.overlap": _percent(self.overlap), "checks.share": _percent(self.checks),
            "checks.repeats": _percent(self.repeats),
            "screen.outputs": self.outputs if self.outputs > 1 else None,
            "pay.per_rating": self.per_rating, "pay.per_hour": self.per_hour,
            "pay.seconds_per_rating": self.seconds_per_rating,
            "pay.currency": self.currency if paid else None,
        }  # fmt: skip


class PlanAsked(Arrangement):
    """A budget to plan for a number of systems and segments."""

    systems: int = Field(ge=1, le=100_000)
    segments: int = Field(ge=2, le=10_000_000)


class NewCampaign(Arrangement):
    """A campaign to create."""

    upload: Annotated[Text, Field(pattern=r"^[0-9a-f]{32}$")]
    name: Annotated[Text, Field(min_length=1, max_length=80, pattern=r"\S")]
    table: Corrected
    languages: Annotated[list[Short], Field(min_length=2, max_length=2)] | None = None
    by: Literal["lp"] | None = None

    def settings(self) -> dict[str, Any]:
        """The settings by their path in ``assay.toml``, with the languages."""
        return super().settings() | {"screen.languages": self.languages}


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.6g}%"


class Fault(BaseModel):
    """One fault of a body."""

    path: str
    message: str


class Refusal(BaseModel):
    """A request that was not carried out; ``errors`` lists every fault of what was sent."""

    error: str
    errors: list[Fault] | None = None
