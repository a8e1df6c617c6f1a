"""Power of a comparison in which every editor edits one document of every system.

Editor and document effects cancel in the difference of two systems. What is left is the variance
``v`` of one editor's mean over one document: the editor x document component plus the residual
over the segments. With E editors a difference has variance ``2 v / E``, and the analysis of
editors, documents and systems leaves ``(systems - 1)(E - 2)`` degrees of freedom, and
``(systems - 1)(E - 3)`` where the documents' places are allowed for too.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize, special

MOST_EDITORS = 100_000
CERTAIN_SHIFT = 500.0
"""A gap of this many standard errors is always found."""


def kit_degrees(editors: int, systems: int, *, place: bool = False) -> int:
    """Degrees of freedom of the differences, as many documents as systems."""
    return (systems - 1) * (editors - (3 if place else 2))


def gap_power(
    gap: float, *, variance: float, editors: int, systems: int, level: float, place: bool = False
) -> float:
    """The chance that a true gap is found, by a two-sided t test.

    >>> round(gap_power(3, variance=12.2, editors=21, systems=3, level=0.95), 2)
    0.77
    """
    degrees = kit_degrees(editors, systems, place=place)
    if degrees < 1:
        return float("nan")
    if variance <= 0:
        return 1.0 if gap else 1 - level
    shift = abs(gap) / np.sqrt(2 * variance / editors)
    critical = special.stdtrit(degrees, (1 + level) / 2)
    # NaN is what the noncentral t gives for probabilities under 1e-20, and a shift this large wins.
    shift = min(shift, CERTAIN_SHIFT)
    tails = [float(special.nctdtr(degrees, shift, end)) for end in (critical, -critical)]
    inside, wrong = (0.0 if np.isnan(tail) else tail for tail in tails)
    return min(max(1 - inside + wrong, 0.0), 1.0)


def editors_needed(
    gap: float,
    *,
    variance: float,
    systems: int,
    level: float,
    power: float,
    place: bool = False,
) -> int | None:
    """The fewest editors with this power, or None where even very many would not do."""
    options = {"variance": variance, "systems": systems, "level": level, "place": place}

    def enough(editors: int) -> bool:
        return gap_power(gap, editors=editors, **options) >= power  # type: ignore[arg-type]

    high = 4 if place else 3
    while not enough(high):
        high *= 2
        if high > MOST_EDITORS:
            return None
    low = max(high // 2, 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def detectable_gap(
    *,
    variance: float,
    editors: int,
    systems: int,
    level: float,
    power: float,
    place: bool = False,
) -> float:
    """The gap that this many editors find with this power; not a number below three editors."""
    if kit_degrees(editors, systems, place=place) < 1:
        return float("nan")
    if variance <= 0:
        return 0.0
    unit = float(np.sqrt(2 * variance / editors))

    def lack(gap: float) -> float:
        return power - gap_power(
            gap, variance=variance, editors=editors, systems=systems, level=level, place=place
        )

    return float(optimize.brentq(lack, 0.0, 200 * unit))
