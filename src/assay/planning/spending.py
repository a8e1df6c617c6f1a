"""How to share out what there is to spend among segments and raters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.planning.spread import Spread
from assay.results import Costs

OVERLAPS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Second opinions to compare, as a share of the outputs rated; 2 are two more on each."""
TELLING_OVERLAP = 0.1
"""The overlap that makes what raters differ by known."""
ABOUT_AS_GOOD = 1.03
"""Half-widths that differ by less are about the same: a pilot cannot tell them apart."""


@dataclass(frozen=True, slots=True)
class Split:
    """What the same ratings bring if some go to second opinions.

    ``overlap`` is the share of the outputs rated once more (2: twice more); ``segments`` those
    that the ratings are enough for. The ``best`` has the narrowest interval; of equals, the one
    with the fewest second opinions.
    """

    overlap: float
    segments: int
    ratings: float
    half_width: float
    power: float | None
    minutes: float | None
    money: float | None
    best: bool


def opinions_of(overlap: float) -> float:
    """The harmonic mean number of raters where a share of outputs is rated once more.

    >>> opinions_of(0.0), opinions_of(1.0), round(opinions_of(0.1), 3), opinions_of(2.0)
    (1.0, 2.0, 1.053, 3.0)
    """
    whole = int(overlap)
    part = overlap - whole
    return 1 / ((1 - part) / (whole + 1) + part / (whole + 2))


def segments_for(ratings: float, per_segment: float, population: int) -> int:
    """The segments that so many ratings are enough for; a hair short is enough."""
    return min(population, int(ratings / per_segment + 1e-9))


def share_out(
    ratings: float, spread: Spread, systems: int, pay: Costs, *, gap: float | None,
    overlaps: Sequence[float] = OVERLAPS,
) -> tuple[Split, ...]:  # fmt: skip
    """New segments against second opinions for the same number of ratings of all systems.

    Empty where it is not known what raters differ by.
    """
    if spread.raters is None:
        return ()
    rows = []
    for overlap in overlaps:
        per_segment = systems * (1 + overlap)
        n = segments_for(ratings, per_segment, spread.population)
        rated = spread.rated_by(opinions_of(overlap))
        if n < 2 or not math.isfinite(width := rated.half_width(n)):
            continue
        spent = n * per_segment
        power = None if gap is None else rated.power(n, gap)
        rows.append(Split(
            overlap, n, spent, width, power, pay.minutes(spent), pay.money(spent), best=False
        ))  # fmt: skip
    narrowest = min((row.half_width for row in rows), default=0.0)
    chosen = next((k for k, row in enumerate(rows) if row.half_width == narrowest), None)
    return tuple(replace(row, best=k == chosen) for k, row in enumerate(rows))
