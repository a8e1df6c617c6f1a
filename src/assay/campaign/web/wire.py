"""The bodies of requests; protocols check the answers in them."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from assay.campaign.protocols.reading import UNSAFE

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


class Fault(BaseModel):
    """One fault of a body."""

    path: str
    message: str


class Refusal(BaseModel):
    """A request that was not carried out; ``errors`` lists every fault of what was sent."""

    error: str
    errors: list[Fault] | None = None
