"""What people say of money and time: what a rating costs, and how many of them an amount buys."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from assay.errors import InputError, OptionError
from assay.results import Costs, money_text

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


def ratings_for(pay: Costs, amount: Amount, *, argument: str = "budget") -> float:
    """How many ratings an amount of ratings, time or money buys.

    >>> ratings_for(Costs(per_rating=0.5, seconds_per_rating=30), parse_amount("40 h"))
    4800.0
    """
    if amount.unit == "ratings":
        return amount.number
    if amount.unit == "minutes":
        if pay.seconds_per_rating is None:
            raise InputError(
                f"`{argument}` ({amount.text}) is a time, and how long a rating takes is not"
                " known; give `pay` such as '40 seconds per rating'"
            )
        return amount.number * 60 / pay.seconds_per_rating
    price = pay.price
    if price is None:
        example = f"0.12 {amount.unit} per rating"
        if pay.per_hour is not None:
            example = f"{money_text(pay.per_hour, pay.currency)} per hour, 40 s per rating"
        raise InputError(
            f"`{argument}` ({amount.text}) is money, and what a rating costs is not known; give"
            f" `pay` such as '{example}'"
        )
    if not price > 0:
        raise OptionError("pay", "0", "buys unlimited ratings", "give a price, or a number")
    if pay.currency is not None and _code(amount.unit) != _code(pay.currency):
        raise OptionError(
            argument, amount.text, f"is not in {pay.currency}, as the pay is",
            f"give both in {pay.currency}",
        )  # fmt: skip
    return amount.number / price


def _code(currency: str) -> str:
    return {"€": "EUR", "$": "USD", "£": "GBP"}.get(currency, currency)


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
            raise OptionError(
                "pay", text, "states it twice", "give one price, and one time at most"
            )
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


def pay_of(pay: Costs | str) -> Costs:
    """What the argument ``pay`` of a function says, checked."""
    if isinstance(pay, str):
        return parse_pay(pay)
    for name in ("per_rating", "per_task", "per_hour", "seconds_per_rating"):
        value = getattr(pay, name)
        if value is not None and not 0 <= value < math.inf:
            raise OptionError("pay", f"{name} = {value}", "is not a price", "give 0 or more")
    if pay.seconds_per_rating == 0:
        raise OptionError("pay", "0 seconds", "takes no time", "give more than 0 seconds")
    return pay
