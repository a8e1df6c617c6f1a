"""What every plan has in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.results import Note, Result


@dataclass(frozen=True, slots=True)
class Plan(Result):
    """How much is ``needed``; None where no goal was set, or where it is out of reach.

    ``source`` says where the spread comes from: given by hand, a pilot, or published
    campaigns.
    """

    needed: int | None
    level: float
    source: Literal["given", "pilot", "typical", "korotaev2022"]
    notes: tuple[Note, ...]
