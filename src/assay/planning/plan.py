"""What every plan has in common: what is needed, and how its arguments are checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

from assay.errors import OptionError
from assay.results import Note, Result


@dataclass(frozen=True, slots=True)
class Plan(Result):
    """How much is ``needed``; None where no goal was set, or where it is out of reach.

    ``source`` says where the spread comes from: given by hand, a pilot, or a published study.
    """

    needed: int | None
    level: float
    source: Literal["given", "pilot", "korotaev2022"]
    notes: tuple[Note, ...]


def need_positive(argument: str, value: float | None, example: str) -> None:
    """Refuse a number that is not positive and finite; None is accepted."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise OptionError(argument, value, "is not a positive number", f"give one like {example}")


def need_whole(argument: str, value: int, least: int) -> None:
    """Refuse what is not a whole number from ``least`` on."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise OptionError(
            argument, value, f"is not a whole number from {least} on", f"give at least {least}"
        )


def need_share(argument: str, value: float, example: str, *, above: float = 0.0) -> None:
    """Refuse what does not lie between ``above`` and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not above < value < 1:
        raise OptionError(
            argument, value, f"is not between {above:.3g} and 1", f"give a number like {example}"
        )
