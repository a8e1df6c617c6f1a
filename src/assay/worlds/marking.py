"""Marked errors as rows: category, severity and, where there are texts, offsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.formats.mqm import NO_ERROR
from assay.worlds.texts import span

Ints = NDArray[np.intp]

SEVERITIES = (NO_ERROR, "Minor", "Minor", "Major", "Major")
PLACES = ("nowhere", "punctuation", "words", "words", "text")

_MINOR = {
    "Style/Awkward": 0.52,
    "Terminology/Inappropriate for context": 0.15,
    "Accuracy/Mistranslation": 0.11,
    "Fluency/Grammar": 0.08,
    "Fluency/Spelling": 0.06,
    "Fluency/Inconsistency": 0.05,
    "Fluency/Register": 0.03,
}
_MAJOR = {
    "Accuracy/Mistranslation": 0.54,
    "Style/Awkward": 0.24,
    "Terminology/Inappropriate for context": 0.08,
    "Fluency/Grammar": 0.07,
    "Accuracy/Untranslated text": 0.03,
    "Fluency/Register": 0.02,
    "Accuracy/Addition": 0.02,
}
CATEGORIES = (
    {NO_ERROR: 1.0},
    {"Fluency/Punctuation": 1.0},
    _MINOR,
    _MAJOR,
    {"Non-translation!": 1.0},
)
"""Shares of categories by kind of mark, rounded from the TED talks of WMT21 en-de."""


@dataclass(frozen=True)
class Rows:
    """One row per mark: positions of system, segment and rater; slot, how many marks, kind."""

    system: Ints
    segment: Ints
    rater: Ints
    slot: Ints
    count: Ints
    kind: Ints
    category: NDArray[np.str_]


def rows(
    kinds: NDArray[np.int8],
    chances: NDArray[np.float32],
    asked: NDArray[np.bool_],
    raters: Ints,
) -> Rows:
    """The marks of the asked outputs (S x G) by these raters; a flawless one has one empty row."""
    chosen = kinds[:, :, raters]
    count = (chosen > 0).sum(axis=3)
    listed = chosen > 0
    listed[..., 0] = True
    listed &= asked[:, :, None, None]
    system, segment, column, slot = np.nonzero(listed)
    kind = chosen[listed].astype(np.intp)
    category = _categories(kind, chances[:, :, raters][listed])
    number = count[system, segment, column]
    return Rows(system, segment, raters[column], slot, number, kind, category)


def _categories(kind: Ints, chance: NDArray[np.float32]) -> NDArray[np.str_]:
    found = np.empty(len(kind), dtype="U40")
    for code, shares in enumerate(CATEGORIES):
        here = kind == code
        edges = np.cumsum(list(shares.values()))
        place = np.searchsorted(edges, chance[here] * edges[-1], side="right")
        found[here] = np.array(list(shares))[np.minimum(place, len(shares) - 1)]
    return found


def spans(
    found: Rows, targets: Sequence[Sequence[str]], spots: NDArray[np.float64]
) -> tuple[list[int | None], list[int | None]]:
    """Start and end of every mark inside its target; None for a flawless output."""
    starts: list[int | None] = []
    ends: list[int | None] = []
    columns = (found.system, found.segment, found.slot, found.count, found.kind)
    for s, g, slot, count, kind in zip(*(column.tolist() for column in columns), strict=True):
        if not count:
            starts.append(None)
            ends.append(None)
            continue
        start, end = span(targets[s][g], slot, count, float(spots[s, g]), PLACES[kind])
        starts.append(start)
        ends.append(end)
    return starts, ends
