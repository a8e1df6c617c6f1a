"""What ratings cost, what there is to spend, and how to share it out among segments and raters."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.errors import InputError, OptionError
from assay.planning.spread import Spread

OVERLAPS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Second opinions to compare, as a share of the outputs rated; 2 are two more on each."""
LITTLE = 0.1
"""The overlap that makes what raters differ by known."""

ABOUT_AS_GOOD = 1.03
"""A pilot cannot tell half-widths apart that differ by less."""

_AMOUNT = re.compile(r"([€$£¥])?\s*(\d[\d,]*\.?\d*)\s*([^\d\s].*)?")
_MINUTES = {"min": 1, "minute": 1, "minutes": 1, "h": 60, "hour": 60, "hours": 60}


@dataclass(frozen=True, slots=True)
class Costs:
    """What ratings of so many ``systems`` take: seconds and price of one, None where not known."""

    systems: int
    seconds: float | None
    price: float | None

    def minutes(self, ratings: float | None) -> float | None:
        """Time for so many ratings."""
        unknown = ratings is None or self.seconds is None
        return None if unknown else ratings * self.seconds / 60  # type: ignore[operator]

    def money(self, ratings: float | None) -> float | None:
        """Cost of so many ratings."""
        unknown = ratings is None or self.price is None
        return None if unknown else ratings * self.price  # type: ignore[operator]

    def ratings(self, spend: str) -> float:
        """How many ratings an amount buys: ``40 h``, ``2000 EUR``, ``5000 ratings``.

        >>> Costs(8, seconds=30, price=0.5).ratings("40 h")
        4800.0
        """
        match = _AMOUNT.fullmatch(str(spend).strip())
        sign, number, unit = match.groups() if match else (None, "0", None)
        unit = (unit or sign or "").strip()
        amount = float(number.replace(",", ""))
        if not unit or not amount > 0:
            remedy = "write '40 h', '2000 EUR' or '5000 ratings'"
            raise OptionError("spend", spend, "is not an amount with its unit", remedy)
        if unit.lower() in ("rating", "ratings"):
            return amount
        if unit.lower() in _MINUTES:
            if self.seconds is None:
                raise InputError(f"`spend` ({spend}) is a time; give `seconds_per_rating` too")
            return amount * _MINUTES[unit.lower()] * 60 / self.seconds
        if self.price is None:
            raise InputError(f"`spend` ({spend}) is money; give `cost_per_rating` too")
        return amount / self.price


@dataclass(frozen=True, slots=True)
class Split:
    """What the same ratings bring if some go to second opinions.

    ``overlap`` is the share of the outputs rated once more (2: twice more); ``segments`` those
    that the ratings are enough for. The ``best`` has the narrowest interval; of several that are
    about as good, the one with the fewest second opinions.
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
    ratings: float, spread: Spread, costs: Costs, *, gap: float | None,
    overlaps: Sequence[float] = OVERLAPS,
) -> tuple[Split, ...]:  # fmt: skip
    """New segments against second opinions for the same number of ratings of all systems.

    Empty where it is not known what raters differ by.
    """
    if spread.raters is None:
        return ()
    rows = []
    for overlap in overlaps:
        per_segment = costs.systems * (1 + overlap)
        n = segments_for(ratings, per_segment, spread.population)
        rated = spread.rated_by(opinions_of(overlap))
        if n < 2 or not math.isfinite(width := rated.half_width(n)):
            continue
        spent = n * per_segment
        power = None if gap is None else rated.power(n, gap)
        rows.append(Split(
            overlap, n, spent, width, power, costs.minutes(spent), costs.money(spent), best=False
        ))  # fmt: skip
    enough = ABOUT_AS_GOOD * min((row.half_width for row in rows), default=0.0)
    chosen = next((k for k, row in enumerate(rows) if row.half_width <= enough), None)
    return tuple(replace(row, best=k == chosen) for k, row in enumerate(rows))
