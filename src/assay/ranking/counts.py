"""From a table of judgments to arrays: who beat whom how often, and what belongs together.

Nothing here loops over judgments: a million of them are counted in a fraction of a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from scipy.sparse.csgraph import connected_components

from assay.errors import InputError
from assay.tables import Judgments

__all__ = [
    "MOST",
    "UNITS",
    "Counts",
    "Unit",
    "block_numbers",
    "components",
    "count",
    "renumbered",
    "repeated",
]

Unit = Literal["pair", "set", "segment", "rater"]

UNITS: dict[str, tuple[str, ...]] = {
    "segment": ("lp", "doc", "seg"),
    "set": ("lp", "doc", "seg", "rater", "set"),
    "rater": ("rater",),
    "pair": (),
}
"""What names a unit; the last column must be there, the others count where they are."""

MOST = 1000
"""The most systems that are compared: tables of all pairs grow with the square."""

SPREAD = 4
"""Numbers up to so many times their count are told apart by a table, faster than by sorting."""

_OUTCOME = {"left": 1, "tie": 0, "right": -1}


@dataclass(frozen=True, slots=True)
class Counts:
    """Judgments as arrays; ``outcome`` is 1 (left won), 0 (tie) or -1 (right won).

    ``wins[i, j]`` is how often i beat j; ``ties`` is symmetric.
    """

    systems: tuple[str, ...]
    left: np.ndarray
    right: np.ndarray
    outcome: np.ndarray
    wins: np.ndarray
    ties: np.ndarray


def count(judgments: Judgments) -> Counts:
    """The judgments as arrays and count matrices."""
    systems = judgments.systems
    n = len(systems)
    if n > MOST:
        raise InputError(
            f"the judgments name {n:,} systems ({', '.join(systems[:3])}, ...); at most {MOST:,}"
            " can be ranked together: are left and right really systems? Else rank them in parts"
        )
    names = pl.Enum(list(systems))
    left, right = (
        judgments.frame[side].cast(names).to_physical().to_numpy().astype(np.intp)
        for side in ("left", "right")
    )
    winner = judgments.frame["winner"].replace_strict(_OUTCOME, return_dtype=pl.Int8)
    outcome = winner.to_numpy().astype(np.int8)
    first, second = np.where(outcome < 0, right, left), np.where(outcome < 0, left, right)
    cells = first * n + second
    wins = np.bincount(cells[outcome != 0], minlength=n * n).reshape(n, n)
    ties = np.bincount(cells[outcome == 0], minlength=n * n).reshape(n, n)
    return Counts(systems, left, right, outcome, wins, ties + ties.T)


def block_numbers(judgments: Judgments, unit: str) -> np.ndarray | None:
    """For every judgment the number of its block, from 0 up; None if the table does not name it."""
    columns = judgments.frame.columns
    if unit == "pair":
        return np.arange(len(judgments))
    *others, own = UNITS[unit]
    if own not in columns:
        return None
    return _codes(judgments, [name for name in others if name in columns] + [own])


def _codes(judgments: Judgments, key: list[str]) -> np.ndarray:
    """A number from 0 up for every combination of values of these columns."""
    # Column by column: numbers are much faster to tell apart than tuples of text.
    code = np.zeros(len(judgments), dtype=np.int64)
    for name in key:
        # Polars numbers categories by what the process saw before; no seed may depend on that.
        values = _by_appearance(judgments.frame[name].cast(pl.Categorical).to_physical().to_numpy())
        code = renumbered(code * (int(values.max()) + 1) + values)[1]
    return code


def _by_appearance(values: np.ndarray) -> np.ndarray:
    """A number from 0 up for every different value, in the order in which they come."""
    _, number = renumbered(values)
    first = np.empty(int(number.max()) + 1, dtype=np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]  # the last one written is the first seen
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return np.asarray(place[number])


def renumbered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different values (whole, from 0 up) in order, and for each value its number among them.

    >>> [part.tolist() for part in renumbered(np.array([7, 2, 7]))]
    [[2, 7], [1, 0, 1]]
    """
    if values.size and int(values.max()) > SPREAD * values.size:
        found, number = np.unique(values, return_inverse=True)
        return found, number
    there = np.bincount(values) > 0  # without sorting
    return np.flatnonzero(there), (np.cumsum(there) - 1)[values]


def components(met: np.ndarray) -> list[list[int]]:
    """Groups of systems that a chain of comparisons connects, the largest first."""
    total, group = connected_components(met, directed=False)
    members = [np.flatnonzero(group == k).tolist() for k in range(total)]
    return sorted(members, key=len, reverse=True)


def repeated(judgments: Judgments, counts: Counts) -> int:
    """Judgments of a pair that the same rater judged before on the same screen or segment.

    Only where the table tells raters or screens apart; elsewhere equal rows are what one expects.
    """
    columns = judgments.frame.columns
    if "set" not in columns and not {"seg", "rater"} <= set(columns):
        return 0
    n = len(counts.systems)
    screen = _codes(judgments, [name for name in UNITS["set"] if name in columns])
    low, high = np.minimum(counts.left, counts.right), np.maximum(counts.left, counts.right)
    return len(judgments) - pl.Series((screen * n + low) * n + high).n_unique()
