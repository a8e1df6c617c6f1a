"""Turn a table of judgments into arrays: counts of wins, and blocks of correlated judgments.

Nothing here loops over judgments, so a million of them take a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy  # its parts are loaded when first used: they are slow to load

from assay.errors import InputError, OptionError
from assay.results import Note
from assay.tables.answers import Judgments, need_one_lp

UNITS: dict[str, tuple[str, ...]] = {
    "document": ("lp", "doc"),
    "segment": ("lp", "doc", "seg"),
    "set": ("lp", "doc", "seg", "rater", "set"),
    "rater": ("rater",),
    "pair": (),
}
"""The columns that identify a unit; the last one is required, the others are used if present."""

WHY = {
    "document": "judgments of one document are correlated",
    "segment": "judgments of one segment are correlated",
    "set": "judgments of one screen are correlated",
    "rater": "judgments of one rater are correlated",
    "pair": "all judgments are assumed independent, so ranges may be too narrow",
}

MAX_SYSTEMS = 1000
"""The most systems that can be compared: tables of all pairs grow with the square."""
MIN_UNITS = 30
"""With fewer units, a note calls the ranges rough."""
MIN_RATERS = 5
"""The fewest raters whose judgments show how much their tastes differ."""
MIN_JUDGMENTS_OF_PAIR = 10
"""With fewer judgments in half the pairs, a note calls the expected win rough."""
MAX_SPREAD = 4
"""Values up to this many times their number are renumbered by a table, faster than by sorting."""

TREATED = {
    "drop": "are left out",
    "half": "count as half a win for both",
    "davidson": "are modelled (Davidson)",
}

_OUTCOME = {"left": 1, "tie": 0, "right": -1}


class Counts(NamedTuple):
    """Judgments as arrays; ``outcome`` is 1 (left won), 0 (tie) or -1 (right won).

    ``wins[i, j]`` is how often i beat j; ``ties`` is symmetric.
    """

    systems: tuple[str, ...]
    left: np.ndarray
    right: np.ndarray
    outcome: np.ndarray
    wins: np.ndarray
    ties: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class JudgmentUnits:
    """The unit, the block number of every judgment (None: each is its own block), and notes."""

    name: str
    block: np.ndarray | None
    count: int
    notes: tuple[Note, ...]
    rater: np.ndarray | None = None
    """The rater's number for every judgment, if raters' tastes are taken into account."""

    @property
    def raters(self) -> int | None:
        """The number of raters whose tastes are taken into account."""
        return None if self.rater is None else int(self.rater.max()) + 1


def count(judgments: Judgments) -> Counts:
    """Count the judgments: arrays of sides and outcomes, matrices of wins and ties."""
    _need_table(judgments)
    need_one_lp(judgments.frame, "judgments")
    systems = judgments.systems
    n = len(systems)
    if n > MAX_SYSTEMS:
        raise InputError(
            f"the judgments name {n:,} systems ({', '.join(systems[:3])}, ...), and at most"
            f" {MAX_SYSTEMS:,} can be ranked together; check that left and right are systems, or"
            " rank them in parts"
        )
    names = pl.Enum(list(systems))
    left, right = (
        judgments.frame[side].cast(names).to_physical().to_numpy().astype(np.intp)
        for side in ("left", "right")
    )
    winner = judgments.frame["winner"].replace_strict(_OUTCOME, return_dtype=pl.Int8)
    outcome = winner.to_numpy().astype(np.int8)
    cells = winner_cells(left, right, outcome, n)
    wins = np.bincount(cells[outcome != 0], minlength=n * n).reshape(n, n)
    ties = np.bincount(cells[outcome == 0], minlength=n * n).reshape(n, n)
    return Counts(systems, left, right, outcome, wins, ties + ties.T)


def _need_table(judgments: object) -> None:
    if not isinstance(judgments, Judgments):
        raise OptionError(
            "judgments", type(judgments).__name__, "is not a table of judgments",
            "read one with assay.read_judgments, which takes files and frames",
        )  # fmt: skip


def winner_cells(
    left: np.ndarray, right: np.ndarray, outcome: np.ndarray, systems: int
) -> np.ndarray:
    """The flat index of each judgment in the matrix of wins: winner * systems + loser."""
    lost = outcome < 0
    return np.asarray(np.where(lost, right, left) * systems + np.where(lost, left, right))


def effective_wins(wins: np.ndarray, ties: np.ndarray, treat: str) -> np.ndarray:
    """The wins with ties dropped, or counted as half a win for each side."""
    return wins if treat == "drop" else wins + ties / 2


def block_numbers(judgments: Judgments, unit: str) -> np.ndarray | None:
    """The block number of every judgment, from 0 up; None if the table lacks the unit's column."""
    columns = judgments.frame.columns
    if unit == "pair":
        return np.arange(len(judgments))
    *others, needed = UNITS[unit]
    if needed not in columns:
        return None
    return _codes(judgments, [name for name in others if name in columns] + [needed])


def _codes(judgments: Judgments, key: list[str]) -> np.ndarray:
    """Number the combinations of values of these columns from 0 up."""
    # Column by column: comparing numbers is much faster than comparing tuples of text.
    code = np.zeros(len(judgments), dtype=np.int64)
    for name in key:
        # Polars numbers categories by what the process has seen; results must not depend on that.
        values = _by_appearance(judgments.frame[name].cast(pl.Categorical).to_physical().to_numpy())
        code = renumbered(code * (int(values.max()) + 1) + values)[1]
    return code


def _by_appearance(values: np.ndarray) -> np.ndarray:
    """Number the distinct values from 0 up, in order of appearance."""
    _, number = renumbered(values)
    first = np.empty(int(number.max()) + 1, dtype=np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]  # the last one written is the first seen
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return np.asarray(place[number])


def renumbered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values (non-negative integers) in order, and each value's number among them.

    >>> [part.tolist() for part in renumbered(np.array([7, 2, 7]))]
    [[2, 7], [1, 0, 1]]
    """
    if values.size and int(values.max()) > MAX_SPREAD * values.size:
        different, number = np.unique(values, return_inverse=True)
        return different, number
    there = np.bincount(values) > 0  # without sorting
    return np.flatnonzero(there), (np.cumsum(there) - 1)[values]


def find_units(judgments: Judgments, resample: str) -> JudgmentUnits:
    """The unit as asked for; ``auto`` is the segment, else the screen, else the judgment."""
    rater = block_numbers(judgments, "rater") if resample == "auto" else None
    if rater is not None and int(rater.max()) + 1 < MIN_RATERS:
        rater = None  # too few to show how much tastes differ
    unit, block, notes = (
        _largest(judgments, rater) if resample == "auto" else _asked(judgments, resample)
    )
    blocks = int(block.max()) + 1
    if blocks == 1:
        raise InputError("one judgment ranks two systems and says nothing else; add judgments")
    if blocks < MIN_UNITS:
        notes.append(Note("few-units", f"with only {blocks} units, ranges and p values are rough"))
    return JudgmentUnits(unit, None if unit == "pair" else block, blocks, tuple(notes), rater)


def _largest(judgments: Judgments, rater: np.ndarray | None) -> tuple[str, np.ndarray, list[Note]]:
    notes: list[Note] = []
    for unit in ("segment", "set", "pair"):
        block = block_numbers(judgments, unit)
        if block is not None and (block.max() > 0 or unit == "pair"):
            break
        if block is not None:
            fault = f"there is only one {unit}, so nothing is known about others"
            notes.append(Note("only-one-unit", fault))
    assert block is not None
    reason = WHY[unit]
    if unit == "pair":
        named = "no more than one segment or screen" if notes else "neither segments nor screens"
        reason = f"single judgments, because the table names {named}"
    choice = ["document"] if rater is not None else ["document", "rater"]
    # Larger units that only the user can choose.
    numbers = {name: block_numbers(judgments, name) for name in choice}
    sizes = {name: int(own.max()) + 1 for name, own in numbers.items() if own is not None}
    several = {name: size for name, size in sizes.items() if 1 < size < int(block.max()) + 1}
    notes.append(_unit_note(unit, block, reason))
    if several:
        text = (
            f"the table also names {' and '.join(f'{k:,} {name}s' for name, k in several.items())}:"
            f" if their judgments are correlated, resample by {' or by '.join(several)}"
        )
        notes.append(Note("other-units", text))
    return unit, block, notes


def _asked(judgments: Judgments, unit: str) -> tuple[str, np.ndarray, list[Note]]:
    block = block_numbers(judgments, unit)
    if block is None:
        column = UNITS[unit][-1]
        raise OptionError("resample", unit, f"needs the column '{column}'", "add it, or use auto")
    if block.max() == 0 and unit != "pair":
        raise OptionError("resample", unit, f"finds only one {unit}", "use a smaller unit")
    return unit, block, [_unit_note(unit, block, WHY[unit])]


def _unit_note(unit: str, block: np.ndarray, reason: str) -> Note:
    return Note("unit", f"unit: {unit} ({int(block.max()) + 1:,} of them); {reason}")


def evidence(counts: Counts, block: np.ndarray | None, ties: str) -> np.ndarray:
    """The number of blocks with a judgment of each system."""
    n = len(counts.systems)
    if block is None:
        games = counts.wins + counts.wins.T + (0 if ties == "drop" else counts.ties)
        return np.asarray(games.sum(axis=1))
    used = counts.outcome != 0 if ties == "drop" else np.ones(len(block), dtype=bool)
    cells = [block[used] * n + side[used] for side in (counts.left, counts.right)]
    there, _ = renumbered(np.concatenate(cells))
    return np.bincount(there % n, minlength=n)


def normal_equations(
    wins: np.ndarray, ties: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """X'X and X'y of the least-squares strengths (:mod:`assay.ranking.pairs`)."""
    wins = np.asarray(wins, dtype=float)
    games = wins + np.swapaxes(wins, -1, -2)
    if ties is not None:
        games = games + ties
    return laplacian_of(games), wins.sum(axis=-1) - wins.sum(axis=-2)


def laplacian_of(weights: np.ndarray) -> np.ndarray:
    """The Laplacian: each system's total weight on the diagonal, minus the weights of pairs."""
    n = weights.shape[-1]
    return np.asarray(weights.sum(axis=-1)[..., None] * np.eye(n) - weights)


def solve(laplacian: np.ndarray, net: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Strengths of mean 0 and the pseudo-inverse of the Laplacian, whose null space is constant."""
    n = laplacian.shape[-1]
    # A unit added along the constant leaves all differences as they are and makes it regular,
    # unless systems fall into parts that were never compared.
    scale = np.trace(laplacian, axis1=-2, axis2=-1)[..., None, None] / n + 1e-300
    level = np.full((n, n), 1.0 / n)
    try:
        inverse = np.linalg.inv(laplacian / scale + level) - level
    except np.linalg.LinAlgError:
        inverse = np.linalg.pinv(laplacian / scale, hermitian=True)
    inverse = inverse / scale
    return (inverse @ net[..., None])[..., 0], inverse


def screen_size(judgments: Judgments) -> int:
    """The systems on a screen, from the mean number of judgments per set; 2 without sets."""
    block = block_numbers(judgments, "set")
    pairs = 1.0 if block is None else len(judgments) / (int(block.max()) + 1)
    return int(np.clip(round((1 + np.sqrt(1 + 8 * pairs)) / 2), 2, len(judgments.systems)))


def check_per_set(per_set: int | None, systems: int, default: int = 5) -> int:
    """The number of systems on a screen: as given, else the default, at most all systems."""
    if per_set is None:
        return min(default, systems)
    if isinstance(per_set, bool) or not isinstance(per_set, int) or not 2 <= per_set <= systems:
        raise OptionError(
            "per_set", per_set, "systems cannot be shown at once",
            f"give 2 to {systems}, the number of systems",
        )  # fmt: skip
    return per_set


def all_systems(judged: tuple[str, ...], given: Sequence[str] | None) -> tuple[str, ...]:
    """The competing systems: those given, which must include all judged, else those judged."""
    if given is None:
        return judged
    names = tuple(dict.fromkeys(given))
    for name in judged:
        if name not in names:
            raise OptionError(
                "systems", ", ".join(names), f"lacks '{name}', which is judged", "name it too"
            )
    if len(names) < 2:
        raise InputError("fewer than two systems are named, so there is nothing to compare")
    return names


def set_effect(per_set: int) -> float:
    """The variance of a difference over that from independent judgments: (k + 1) / 3.

    The judgments of a screen of k systems are correlated. If systems are alike, a system's wins on
    it are a random rank, whose variance is (k + 1) / 3 times that of k - 1 tosses of a coin.
    """
    return (per_set + 1) / 3


def check_counts(
    judgments: Judgments, counts: Counts, method: str, ranges: str, ties: str
) -> list[Note]:
    """Refuse judgments that cannot be ranked; note what else the counts show."""
    counted = effective_wins(counts.wins, counts.ties, ties)
    if method == "better-or-equal" and ranges != "pooled":
        counted = counts.wins + counts.ties
    _need_wins(counts, counted, len(judgments), method)
    met = counted + counted.T > 0
    notes = _never_compared(counts.systems, met)
    games = (counted + counted.T)[np.triu(met, 1)]
    rough = np.median(games) < MIN_JUDGMENTS_OF_PAIR
    if method == "expected-win" and ranges == "bootstrap" and rough:
        text = (
            f"half the pairs have fewer than {MIN_JUDGMENTS_OF_PAIR} judgments, and the expected"
            " win weights all pairs equally, so it is rough; the pooled test and bradley-terry are"
            " better here"
        )
        notes.append(Note("few-judgments-per-pair", text))
    tied = int(np.triu(counts.ties).sum())
    if tied:
        treated = "count as wins of both" if method == "better-or-equal" else TREATED[ties]
        tests = "; the sign test leaves them out" if ties == "half" and ranges == "sign" else ""
        text = f"{tied:,} of {len(judgments):,} judgments are ties and {treated}{tests}"
        notes.append(Note("ties", text))
    return notes


def _need_wins(counts: Counts, counted: np.ndarray, number: int, method: str) -> None:
    """Refuse systems without any judgment that counts."""
    ways = "" if method == "better-or-equal" else "count them as half a win (ties='half'), or "
    if not counted.any():
        raise InputError(
            f"all {number:,} judgments are ties, and ties are dropped: there is nothing to rank;"
            f" {ways}collect judgments that tell systems apart"
        )
    tied = [counts.systems[k] for k in np.flatnonzero(~(counted + counted.T).any(axis=1))]
    if tied:
        raise InputError(
            f"{', '.join(tied)}: only ties, and ties are dropped; {ways}exclude these systems"
        )


def need_connected(systems: tuple[str, ...], met: np.ndarray) -> None:
    """Refuse systems that no chain of comparisons connects."""
    total, group = scipy.sparse.csgraph.connected_components(met, directed=False)
    if total == 1:
        return
    members = [np.flatnonzero(group == k).tolist() for k in range(total)]
    members.sort(key=len, reverse=True)
    shown = " | ".join(listed([systems[k] for k in group]) for group in members[:5])
    shown += f" | and {total - 5} more" if total > 5 else ""
    raise InputError(
        f"the systems fall into {total} groups never compared with each other:"
        f" {shown}; collect judgments between them, or rank each group separately"
    )


def _never_compared(systems: tuple[str, ...], met: np.ndarray) -> list[Note]:
    need_connected(systems, met)
    i, j = np.nonzero(np.triu(~met, 1))
    if not len(i):
        return []
    pairs = listed([f"{systems[a]} - {systems[b]}" for a, b in zip(i, j, strict=True)])
    text = (
        f"{len(i):,} of {len(systems) * (len(systems) - 1) // 2:,} pairs were never compared, or"
        f" only tied, and are skipped: {pairs}"
    )
    return [Note("never-compared", text)]


def first_judgments(judgments: Judgments, *, screens: bool = True) -> tuple[Judgments, list[Note]]:
    """Keep the first of a rater's judgments of a pair; a note says how often repeats agree.

    A repeat is of the same pair on the same screen. If the table names no screens, or without
    ``screens``, it is of the same pair by the same rater on the same segment. A table that names
    neither has no repeats.
    """
    _need_table(judgments)
    columns = judgments.frame.columns
    key = [name for name in UNITS["set"] if name in columns and (screens or name != "set")]
    if "set" not in key and not {"seg", "rater"} <= set(key):
        return judgments, []
    counts = count(judgments)
    n, screen = len(counts.systems), _codes(judgments, key)
    low, high = np.minimum(counts.left, counts.right), np.maximum(counts.left, counts.right)
    pair = pl.Series((screen * n + low) * n + high)
    first = pair.is_first_distinct()
    if first.all():
        return judgments, []
    answer = np.where(counts.left == low, counts.outcome, -counts.outcome)
    _, start, place = np.unique(pair.to_numpy(), return_index=True, return_inverse=True)
    again = ~first.to_numpy()
    same = answer[again] == answer[start[place]][again]
    text = (
        f"{len(same):,} judgments repeat a pair already judged on the same screen, or by the same"
        f" rater on the same segment: the first counts, and {same.mean():.0%} of them agree with it"
    )
    kept = Judgments(judgments.frame.filter(first), judgments.notes)
    return kept, [Note("repeated-judgments", text)]


def listed(names: Sequence[str], most: int = 8) -> str:
    """Join names with commas; of more than ``most``, say how many are left out.

    >>> listed(["A", "B", "C"], 2)
    'A, B and 1 more'
    """
    left_out = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + left_out
