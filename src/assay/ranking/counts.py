"""From a table of judgments to arrays: who beat whom how often, and what belongs together.

Nothing here loops over judgments: a million of them are counted in a fraction of a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from scipy.sparse.csgraph import connected_components

from assay.errors import InputError, OptionError
from assay.tables.answers import Judgments
from assay.tables.check import need_one_lp

Unit = Literal["pair", "set", "segment", "document", "rater"]

UNITS: dict[str, tuple[str, ...]] = {
    "document": ("lp", "doc"),
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
    if not isinstance(judgments, Judgments):
        raise OptionError(
            "judgments", type(judgments).__name__, "is no table of judgments",
            "read one with assay.read_judgments, which takes files and frames",
        )  # fmt: skip
    need_one_lp(judgments.frame, "judgments")
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


def evidence(counts: Counts, block: np.ndarray | None, ties: str) -> np.ndarray:
    """How many blocks say something about each system."""
    n = len(counts.systems)
    if block is None:
        games = counts.wins + counts.wins.T + (counts.ties if ties == "half" else 0)
        return np.asarray(games.sum(axis=1))
    used = np.ones(len(block), dtype=bool) if ties == "half" else counts.outcome != 0
    cells = [block[used] * n + side[used] for side in (counts.left, counts.right)]
    there, _ = renumbered(np.concatenate(cells))
    return np.bincount(there % n, minlength=n)


def screen_size(judgments: Judgments) -> int:
    """How many systems a screen shows, from the judgments that a set has on average; else 2."""
    block = block_numbers(judgments, "set")
    pairs = 1.0 if block is None else len(judgments) / (int(block.max()) + 1)
    return int(np.clip(round((1 + np.sqrt(1 + 8 * pairs)) / 2), 2, len(judgments.systems)))


def check_per_set(per_set: int | None, systems: int, default: int = 5) -> int:
    """The number of systems on a screen: as given, else the default or all systems."""
    if per_set is None:
        return min(default, systems)
    if isinstance(per_set, bool) or not isinstance(per_set, int) or not 2 <= per_set <= systems:
        raise OptionError(
            "per_set", per_set, "systems cannot be shown at once",
            f"give 2 to {systems}, the number of systems",
        )  # fmt: skip
    return per_set


def set_effect(per_set: int) -> float:
    """How much larger the variance of a difference is than from independent judgments.

    Pairs of one screen of k systems hang together. Where systems are alike, a system's wins on it
    are a rank, whose variance is (k + 1) / 3 times that of k - 1 tosses of a coin.
    """
    return (per_set + 1) / 3


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
