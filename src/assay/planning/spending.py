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
"""Half-widths that differ by less are about the same: a pilot cannot tell them apart."""

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_UNIT = r"[^\W\d_]+|[€$£]"
_AMOUNT = re.compile(rf"([€$£])?\s*({_NUMBER})\s*({_UNIT})?")
_ONE_OF_SEVERAL = re.compile(rf"(?<![\w.]){_NUMBER}\s*(?:{_UNIT})(?!\w)")
_MINUTES = {"min": 1, "minute": 1, "minutes": 1, "h": 60, "hour": 60, "hours": 60}
_MONEY = re.compile(r"[A-Z]{3}|[€$£]")


@dataclass(frozen=True, slots=True)
class Costs:
    """What ratings of so many ``systems`` take: seconds and price of one, None where not known.

    ``one`` is what an answer is called: a rating, or a judgment.
    """

    systems: int
    seconds: float | None
    price: float | None
    one: str = "rating"

    def minutes(self, ratings: float | None) -> float | None:
        """Time for so many ratings."""
        unknown = ratings is None or self.seconds is None
        return None if unknown else ratings * self.seconds / 60  # type: ignore[operator]

    def money(self, ratings: float | None) -> float | None:
        """Cost of so many ratings."""
        unknown = ratings is None or self.price is None
        return None if unknown else ratings * self.price  # type: ignore[operator]

    def ratings(self, spend: str) -> float:
        """How many ratings (or judgments) an amount buys: ``40 h``, ``2000 EUR``, ``5000 ratings``.

        >>> Costs(8, seconds=30, price=0.5).ratings("40 h")
        4800.0
        """
        amount, unit = _parsed(spend, self.one)
        if unit in (self.one, f"{self.one}s"):
            return amount
        if unit in _MINUTES:
            if self.seconds is None:
                raise InputError(f"`spend` ({spend}) is a time; give `seconds_per_{self.one}` too")
            return amount * _MINUTES[unit] * 60 / self.seconds
        if self.price is None:
            raise InputError(f"`spend` ({spend}) is money; give `cost_per_{self.one}` too")
        return amount / self.price


def _parsed(spend: str, one: str) -> tuple[float, str]:
    """The number and the unit of an amount; a currency as it is written, other units in small."""
    text = str(spend).strip()
    match = _AMOUNT.fullmatch(text)
    sign, number, unit = match.groups() if match else (None, "", None)
    if match is None and len(_ONE_OF_SEVERAL.findall(text)) > 1:
        fault = "has two limits, and a plan has one"
        raise OptionError("spend", spend, fault, "give the one that binds, such as '40 h'")
    if match is None or (sign is None) == (unit is None):
        remedy = f"write '40 h', '90 min', '2000 EUR' or '5000 {one}s'"
        raise OptionError("spend", spend, "is not an amount with its unit", remedy)
    unit = sign or unit or ""
    if re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", number):
        whole = number.replace(".", "")
        fault = f"may mean {whole} or {float(number):g}"
        raise OptionError("spend", spend, fault, f"write {whole} if that is meant")
    if not float(number.replace(",", "")) > 0:
        raise OptionError("spend", spend, "buys nothing", "give more than 0")
    known = unit.lower() in {one, f"{one}s", *_MINUTES}
    if not known and not _MONEY.fullmatch(unit):
        fault = f"has the unit '{unit}', which is not known"
        remedy = f"use h, min, {one}s or a currency, as in '2000 EUR' or '€2000'"
        raise OptionError("spend", spend, fault, remedy)
    return float(number.replace(",", "")), unit.lower() if known else unit


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
    narrowest = min((row.half_width for row in rows), default=0.0)
    chosen = next((k for k, row in enumerate(rows) if row.half_width == narrowest), None)
    return tuple(replace(row, best=k == chosen) for k, row in enumerate(rows))
