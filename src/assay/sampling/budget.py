"""How much may be spent, as the user says it: a number of segments or a percentage."""

from __future__ import annotations

from assay.errors import OptionError

__all__ = ["segments_for"]


def segments_for(budget: int | str, population: int) -> int:
    """The number of segments a budget buys, at least 1.

    >>> segments_for("20%", 710), segments_for(142, 710)
    (142, 142)
    """
    text = str(budget).strip()
    if text.endswith("%"):
        share = _number(budget, text[:-1])
        if not 0 < share <= 100:
            raise OptionError("budget", budget, "is no share", "give more than 0% and at most 100%")
        return max(1, round(population * share / 100))
    number = _number(budget, text)
    if number != int(number):
        raise OptionError("budget", budget, "is not whole", "give whole segments or a percentage")
    if number > population:
        raise OptionError(
            "budget", budget, f"exceeds the {population} segments of the test set",
            f"give at most {population} or a percentage",
        )  # fmt: skip
    if number < 1:
        raise OptionError("budget", budget, "buys nothing", "give at least 1 segment")
    return int(number)


def _number(budget: int | str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf"):
        raise OptionError(
            "budget", budget, "is not an amount", "give a number of segments (142) or a share (20%)"
        )
    return number
