"""What answers cost in money and time, how that is said, and how many of them an amount buys."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from assay.errors import InputError, OptionError

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_UNIT = r"[^\W\d_]+|[€$£]"
_AMOUNT = re.compile(rf"([€$£])?\s*({_NUMBER})\s*({_UNIT})?")
_ONE_OF_SEVERAL = re.compile(rf"(?<![\w.]){_NUMBER}\s*(?:{_UNIT})(?!\w)")
_PRICE = re.compile(r"(.+?)\s*(?:/|\bper\b|\ban?\b)\s*([a-z]+)", re.I)
_MINUTES = {
    "s": 1 / 60, "sec": 1 / 60, "second": 1 / 60, "seconds": 1 / 60, "min": 1, "minute": 1,
    "minutes": 1, "h": 60, "hour": 60, "hours": 60,
}  # fmt: skip
_MONEY = re.compile(r"[A-Z]{3}|[€$£]|units")
_ANSWERS = ("rating", "judgment", "answer", "output")


@dataclass(frozen=True, slots=True)
class Costs:
    """What a rating costs: any one of the three prices, and the time it takes where known."""

    per_rating: float | None = None
    per_task: float | None = None
    per_hour: float | None = None
    seconds_per_rating: float | None = None
    currency: str | None = None

    @property
    def price(self) -> float | None:
        """The money for one rating, where it can be said."""
        if self.per_rating is not None or self.per_hour is None:
            return self.per_rating
        seconds = self.seconds_per_rating
        return None if seconds is None else self.per_hour * seconds / 3600

    def timed(self, seconds: float | None) -> Costs:
        """The same where a rating took so many seconds; what was said beforehand stays."""
        known = self.seconds_per_rating is not None or seconds is None
        return self if known else replace(self, seconds_per_rating=seconds)

    def money(self, ratings: float | None) -> float | None:
        """The money for so many ratings."""
        price = self.price
        return None if ratings is None or price is None else ratings * price

    def minutes(self, ratings: float | None) -> float | None:
        """The time for so many ratings."""
        seconds = self.seconds_per_rating
        return None if ratings is None or seconds is None else ratings * seconds / 60

    def cost(self, ratings: float | None) -> str:
        """Money and time of so many ratings in words; nothing where neither is known.

        >>> Costs(per_rating=0.12, seconds_per_rating=17, currency="EUR").cost(640)
        '77 EUR, 3 h'
        """
        money, minutes = self.money(ratings), self.minutes(ratings)
        parts = [] if money is None else [money_text(money, self.currency)]
        return ", ".join(parts + ([] if minutes is None else [time_text(minutes)]))

    def counted(self, number: float, what: str = "more ratings") -> str:
        """So many ratings with what they cost.

        >>> Costs(per_rating=0.12, currency="EUR").counted(640)
        '640 more ratings (77 EUR)'
        """
        cost = self.cost(number)
        return f"{number:,.0f} {what}" + (f" ({cost})" if cost else "")

    def ratings(self, amount: Amount, *, argument: str = "budget") -> float:
        """How many ratings an amount of ratings, time or money buys.

        >>> Costs(per_rating=0.5, seconds_per_rating=30).ratings(parse_amount("40 h"))
        4800.0
        """
        if amount.unit == "ratings":
            return amount.number
        if amount.unit == "minutes":
            if self.seconds_per_rating is None:
                raise InputError(
                    f"`{argument}` ({amount.text}) is a time, and how long a rating takes is not"
                    " known; give `pay` such as '40 seconds per rating'"
                )
            return amount.number * 60 / self.seconds_per_rating
        price = self.price
        if price is None:
            example = f"0.12 {amount.unit} per rating"
            if self.per_hour is not None:
                example = f"{money_text(self.per_hour, self.currency)} per hour, 40 s per rating"
            raise InputError(
                f"`{argument}` ({amount.text}) is money, and what a rating costs is not known; give"
                f" `pay` such as '{example}'"
            )
        if not price > 0:
            raise OptionError("pay", "0", "buys unlimited ratings", "give a price, or a number")
        if self.currency is not None and _code(amount.unit) != _code(self.currency):
            raise OptionError(
                argument, amount.text, f"is not in {self.currency}, as the pay is",
                f"give both in {self.currency}",
            )  # fmt: skip
        return amount.number / price

    @property
    def text(self) -> str:
        """The same as :func:`parse_pay` reads it.

        >>> Costs(per_hour=18.0, seconds_per_rating=40.0, currency="EUR").text
        '18 EUR per hour, 40 s per rating'
        """
        prices = {"rating": self.per_rating, "task": self.per_task, "hour": self.per_hour}
        unit = self.currency or "units"
        parts = [f"{x:.12g} {unit} per {what}" for what, x in prices.items() if x is not None]
        if self.seconds_per_rating is not None:
            parts.append(f"{self.seconds_per_rating:.12g} s per rating")
        return ", ".join(parts)


def _code(currency: str) -> str:
    return {"€": "EUR", "$": "USD", "£": "GBP"}.get(currency, currency)


UNPAID = Costs()
"""Where nothing is known of money or time."""


def money_text(money: float, currency: str | None) -> str:
    """An amount of money as it is said.

    >>> money_text(76.8, "EUR"), money_text(0.13, "EUR"), money_text(1216, None)
    ('77 EUR', '0.13 EUR', 'a cost of 1,216')
    """
    if money < 10 and money != round(money):
        number = f"{money:,.2f}" if money >= 0.095 else f"{money:.2g}"
    else:
        number = f"{math.floor(money + 0.5):,}"
    return f"a cost of {number}" if currency is None else f"{number} {currency}"


def time_text(minutes: float) -> str:
    """A time as it is said.

    >>> time_text(190), time_text(25.2), time_text(62.4 * 60), time_text(0.2)
    ('3.2 h', '25 min', '62 h', '1 min')
    """
    if minutes < 59.5:
        return f"{max(1, round(minutes))} min"
    hours = minutes / 60
    return f"{hours:,.0f} h" if hours >= 9.95 else f"{round(hours, 1):g} h"


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount as it was written; its unit is ratings, minutes, or the name of a currency."""

    number: float
    unit: str
    text: str


def parse_amount(text: str, *, argument: str = "budget", one: str = "rating") -> Amount:
    """What there is to spend: ``15000 ratings``, ``20 hours``, ``90 min``, ``300 EUR``, ``€300``.

    >>> parse_amount("20 hours").number, parse_amount("€1,500").unit
    (1200.0, '€')
    """
    written = str(text).strip()
    match = _AMOUNT.fullmatch(written)
    sign, number, unit = match.groups() if match else (None, "", None)
    if match is None and len(_ONE_OF_SEVERAL.findall(written)) > 1:
        fault = "has two limits, and a plan has one"
        raise OptionError(argument, text, fault, "give the one that binds, such as '40 h'")
    if match is None or (sign is None) == (unit is None):
        remedy = f"write '40 h', '90 min', '2000 EUR' or '5000 {one}s'"
        raise OptionError(argument, text, "is not an amount with its unit", remedy)
    unit = sign or unit or ""
    if re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", number):
        whole = number.replace(".", "")
        fault = f"may mean {whole} or {float(number):g}"
        raise OptionError(argument, text, fault, f"write {whole} if that is meant")
    value = float(number.replace(",", ""))
    if not value > 0:
        raise OptionError(argument, text, "buys nothing", "give more than 0")
    small = unit.lower()
    if small.removesuffix("s") in (one, "answer"):
        return Amount(value, "ratings", written)
    if small in _MINUTES:
        return Amount(value * _MINUTES[small], "minutes", written)
    if not _MONEY.fullmatch(unit):
        fault = f"has the unit '{unit}', which is not known"
        remedy = f"use h, min, {one}s or a currency, as in '2000 EUR' or '€2000'"
        raise OptionError(argument, text, fault, remedy)
    return Amount(value, unit, written)


def parse_pay(text: str) -> Costs:
    """What a rating costs, as people say it; several parts are separated by commas.

    >>> parse_pay("0.12 EUR per rating").per_rating
    0.12
    >>> round(parse_pay("18 EUR per hour, 40 seconds per rating").price, 2)
    0.2
    """
    found: dict[str, float] = {}
    currency: str | None = None
    for part in re.split(r",\s+|;|\band\b", str(text)):
        field, value, money = _price(text, part.strip())
        if field in found or (money is not None and currency is not None):
            raise OptionError("pay", text, "says it twice", "give one price, and one time at most")
        found[field] = value
        currency = money or currency
    return Costs(**found, currency=currency)


def _price(text: str, part: str) -> tuple[str, float, str | None]:
    """The field of :class:`Costs` that a part fills, its value and the currency."""
    remedy = "write '0.12 EUR per rating', '18 EUR per hour' or '40 seconds per rating'"
    match = _PRICE.fullmatch(part)
    amount = _AMOUNT.fullmatch(match[1].strip()) if match else None
    if match is None or amount is None or (amount[1] is None) == (amount[3] is None):
        raise OptionError("pay", text, "is not a price with what it is for", remedy)
    value, unit = float(amount[2].replace(",", "")), amount[1] or amount[3]
    what = match[2].lower().removesuffix("s")
    if unit.lower() in _MINUTES and what in _ANSWERS:
        if not value > 0:
            raise OptionError("pay", text, "takes no time", "give more than 0 seconds")
        return "seconds_per_rating", value * _MINUTES[unit.lower()] * 60, None
    if not _MONEY.fullmatch(unit):
        raise OptionError("pay", text, f"has the unit '{unit}', which is not known", remedy)
    if what in _ANSWERS:
        return "per_rating", value, unit
    if what in ("h", "hour"):
        return "per_hour", value, unit
    if what == "task":
        return "per_task", value, unit
    raise OptionError("pay", text, f"is per '{match[2]}', which is not known", remedy)


def pay_of(pay: Costs | str | None) -> Costs:
    """What the argument ``pay`` of a function says, checked."""
    if pay is None:
        return UNPAID
    if isinstance(pay, str):
        return parse_pay(pay)
    for name in ("per_rating", "per_task", "per_hour", "seconds_per_rating"):
        value = getattr(pay, name)
        if value is not None and not 0 <= value < math.inf:
            raise OptionError("pay", f"{name} = {value}", "is not a price", "give 0 or more")
    if pay.seconds_per_rating == 0:
        raise OptionError("pay", "0 seconds", "takes no time", "give more than 0 seconds")
    return pay
