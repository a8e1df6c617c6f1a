"""The ranking methods by name."""

from __future__ import annotations

import numpy as np

from assay.errors import OptionError, did_you_mean
from assay.ranking.models import bradley_terry
from assay.ranking.violations import lopez_order, tied_neighbours
from assay.ranking.wins import better_or_equal, bojar, expected_win

METHODS = ("expected-win", "bojar", "better-or-equal", "lopez", "bradley-terry")

ALIASES = {"expected": "expected-win", "bt": "bradley-terry"}


def find_method(name: str) -> str:
    """The method of this name, or of the papers' short name.

    >>> find_method("EXPECTED")
    'expected-win'
    """
    found = ALIASES.get(name.lower(), name.lower())
    if found not in METHODS:
        fault = f"is not known{did_you_mean(name, METHODS)}"
        raise OptionError("method", name, fault, f"choose from {', '.join(METHODS)}")
    return found


def effective_wins(wins: np.ndarray, ties: np.ndarray, treat: str) -> np.ndarray:
    """The wins that count: ties dropped, or half a win to each side."""
    return wins + ties / 2 if treat == "half" else wins


def score(
    method: str, wins: np.ndarray, ties: np.ndarray, treat: str, *, resampled: bool = False
) -> np.ndarray:
    """The scores of all systems, higher is better; leading axes are other tables of counts.

    NaN where a system has no judgment that counts. In ``resampled`` tables a Bradley-Terry
    strength need not be finite.
    """
    counted = effective_wins(wins, ties, treat)
    if method == "better-or-equal":
        return better_or_equal(wins, ties)
    if method == "bojar":
        return bojar(counted)
    if method == "lopez":
        return _places(counted)
    if method == "bradley-terry":
        if resampled:
            return bradley_terry(counted, tolerance=1e-6, limit=200, strict=False)
        return bradley_terry(counted)
    return expected_win(counted)


def _places(wins: np.ndarray) -> np.ndarray:
    """The share of the other systems that stand below in the order of fewest violations.

    Those on the same place count as half.
    """
    order = lopez_order(wins)
    n = wins.shape[-1]
    place = np.broadcast_to(np.arange(n), order.shape).copy()
    for k in np.ndindex(order.shape[:-1]):
        # Neighbours that could change places without any cost stand on the same one.
        tied = np.append(False, tied_neighbours(wins[k], order[k]))
        place[k] = np.maximum.accumulate(np.where(tied, 0, np.arange(n)))
    level = place[..., :, None] - place[..., None, :]
    below = (level < 0).sum(axis=-1) + ((level == 0).sum(axis=-1) - 1) / 2
    scores = np.empty(order.shape)
    np.put_along_axis(scores, order, below / max(1, n - 1), axis=-1)
    return scores
