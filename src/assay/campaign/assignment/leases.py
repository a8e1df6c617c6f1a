"""How long a task may be held, and the order of what a rater sees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.errors import OptionError

TIMES_MEDIAN, LEAST_MINUTES, MOST_MINUTES = 4, 20.0, 120.0
SECONDS_PER_OUTPUT = 30.0
"""Assumed until the first tasks are done."""
LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def lease_minutes(lease: str, outputs: int, seconds: float) -> float:
    """Minutes for a task: as the settings say, or four times the usual duration, 20 to 120.

    >>> lease_minutes("auto", 20, 30.0), lease_minutes("45", 20, 30.0)
    (40.0, 45.0)
    """
    if lease != "auto":
        return fixed_minutes(lease)
    expected = TIMES_MEDIAN * outputs * seconds / 60
    return min(max(expected, LEAST_MINUTES), MOST_MINUTES)


def fixed_minutes(lease: str) -> float:
    """Return the minutes that the settings name."""
    text = lease.strip().removesuffix("min").strip()
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes <= 7 * 24 * 60:
        raise OptionError(
            "raters.lease", lease, "is not a time", "give minutes such as 45, or auto"
        )
    return minutes


def screens(
    systems: Sequence[int], side_by_side: int, rng: np.random.Generator, *, together: bool
) -> list[list[int]]:
    """Spread the systems of a task over screens in random order.

    Screens differ by at most one output.
    """
    order = rng.permutation(np.asarray(systems))
    count = 1 if together else -(-len(order) // side_by_side)
    return [part.tolist() for part in np.array_split(order, count)]


def label(place: int) -> str:
    """The label of a place: A, B, ... Z, A2, B2, ...

    >>> label(0), label(27)
    ('A', 'B2')
    """
    turn, letter = divmod(place, len(LABELS))
    return LABELS[letter] + (str(turn + 1) if turn else "")
