"""Advice on the next step of a ranking: how many more judgments or ratings decide a pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

from assay.results import UNPAID, Costs
from assay.stats.intervals import POWER, chance_to_decide, shrunk_gap, smallest

if TYPE_CHECKING:
    from assay.ranking.rank import PairComparison

MAX_GROWTH = 100
"""The advice is never to enlarge a campaign more than this many times."""


def next_steps(
    comparisons: Sequence[PairComparison], names: Sequence[str], p: np.ndarray, number: int,
    kind: str, *, alpha: float, pay: Costs = UNPAID,
) -> tuple[str, ...]:  # fmt: skip
    """How many more answers, divided like the first ``number``, decide the closest undecided pair.

    ``p`` has the one-sided p of "row is better than column" for the systems ``names``; ``alpha`` is
    the one-sided level at which a pair is decided.
    """
    place = {name: k for k, name in enumerate(names)}
    z = signed_z(p)
    undecided = [item for item in comparisons if not item.decided and item.p == item.p]
    if not undecided:
        return ()
    item = max(undecided, key=lambda pair: abs(z[place[pair.left], place[pair.right]]))
    at = place[item.left], place[item.right]
    gap, sd = shrunk_z(z)
    needed = _needed(number, float(z[at]), float(gap[at]), float(sd[at]), alpha)
    closest = f"{item.left} and {item.right}, the pair closest to a decision"
    if needed is None:
        return (
            f"no realistic number of {kind} will decide between {closest}; the true difference, if"
            " any, is probably smaller than it looks",
        )
    return (
        f"to decide between {closest}, collect about"
        f" {pay.counted(needed - number, f'more {kind}')} of all systems, spread as these"
        f" {number:,} are; they decide it with {POWER:.0%} probability, even if the true difference"
        " is smaller than it looks",
    )


def signed_z(p: np.ndarray) -> np.ndarray:
    """How many standard errors row is ahead of column, from the one-sided p of both directions.

    >>> signed_z(np.array([[0.5, 0.0228], [0.9772, 0.5]])).round(1).tolist()
    [[0.0, 2.0], [-2.0, 0.0]]
    """
    ahead = scipy.special.ndtri(np.clip(p, 1e-300, 1 - 1e-16))
    return np.asarray((ahead.T - ahead) / 2)


def shrunk_z(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The probable true leads and their standard deviations, in standard errors of a pair.

    The pair closest to a decision is partly there by luck, so its lead is shrunk. On one scale a
    difference has the error 1. Sign tests of single pairs would have smaller errors of means over
    the other systems, but the judgments of one screen are correlated.
    """
    return shrunk_gap(z.mean(axis=1), 0.5 * np.eye(len(z)))


def _needed(number: int, z: float, gap: float, sd: float, alpha: float) -> int | None:
    """The total number that decides a pair with probability ``POWER``; None if out of reach."""

    def decided(size: int) -> float:
        later = math.sqrt(number / size)
        return chance_to_decide(
            z, 1.0, later, gap=gap, sd=sd, level=1 - 2 * alpha, degrees=math.inf
        )

    needed = smallest(lambda size: decided(size) >= POWER, MAX_GROWTH * number, low=number)
    return needed if decided(needed) >= POWER else None
