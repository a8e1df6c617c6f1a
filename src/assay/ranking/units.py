"""What judgments hang together by: the unit that is drawn anew, and the words for why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import InputError, OptionError
from assay.ranking.counts import UNITS, block_numbers
from assay.tables.judgments import Judgments

FEW = 30
"""Units below which ranges from them are called rough."""

WHY = {
    "document": "judgments of one document hang together",
    "segment": "judgments of one segment hang together",
    "set": "the judgments of one screen hang together",
    "rater": "the judgments of one rater hang together",
    "pair": "as if no two judgments had anything in common",
}


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The unit, the number of its block for every judgment (None: single ones), and notes."""

    name: str
    block: np.ndarray | None
    count: int
    notes: tuple[str, ...]


def find_units(judgments: Judgments, resample: str) -> Units:
    """The unit that was asked for; ``auto`` is the segment, else the screen, else the judgment."""
    unit, block, notes = _largest(judgments) if resample == "auto" else _asked(judgments, resample)
    if block.max() == 0:
        raise InputError("one judgment ranks two systems and says nothing else; add judgments")
    blocks = int(block.max()) + 1
    if blocks < FEW:
        notes.append(f"with only {blocks} of them, ranges and p values are rough")
    return Units(unit, None if unit == "pair" else block, blocks, tuple(notes))


def _largest(judgments: Judgments) -> tuple[str, np.ndarray, list[str]]:
    notes: list[str] = []
    for unit in ("segment", "set", "pair"):
        block = block_numbers(judgments, unit)
        if block is not None and (block.max() > 0 or unit == "pair"):
            break
        if block is not None:
            notes.append(f"there is only one {unit}, which says nothing about others")
    assert block is not None
    blocks = int(block.max()) + 1
    if unit == "pair":
        named = "no more than one segment or screen" if notes else "neither segments nor screens"
        reason = f"single judgments, because the table names {named}"
    else:
        reason = WHY[unit]
    notes.append(f"unit: {unit} ({blocks:,} of them); {reason}")
    return unit, block, notes + _others(judgments)


def _others(judgments: Judgments) -> list[str]:
    """Units the table names that only the user can choose."""
    found = []
    for unit in ("document", "rater"):
        block = block_numbers(judgments, unit)
        if block is not None and block.max() > 0:
            found.append(f"{int(block.max()) + 1:,} {unit}s")
    if not found:
        return []
    return [
        f"the table names {' and '.join(found)}, too: if judgments hang together by them, say"
        " --resample document or rater"
    ]


def _asked(judgments: Judgments, unit: str) -> tuple[str, np.ndarray, list[str]]:
    block = block_numbers(judgments, unit)
    if block is None:
        column = UNITS[unit][-1]
        raise OptionError("resample", unit, f"needs the column '{column}'", "add it, or use auto")
    if block.max() == 0 and unit != "pair":
        raise OptionError("resample", unit, f"finds only one {unit}", "use a smaller unit")
    narrow = ": ranges may be too narrow" if unit == "pair" else ""
    return unit, block, [f"unit: {unit} ({int(block.max()) + 1:,} of them); {WHY[unit]}{narrow}"]
