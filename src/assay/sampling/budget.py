"""How much may be spent, as the user says it, and how many segments that buys."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assay.errors import InputError, OptionError
from assay.sampling.population import Population

__all__ = ["Budget", "parse_budget", "segments_for"]

_AMOUNT = re.compile(
    r"\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(%|words?|min(?:utes)?|h(?:ours)?)?\s*", re.I
)
READING = 0.25
"""Reading a segment as context takes this share of the time of rating it."""


@dataclass(frozen=True, slots=True)
class Budget:
    """An amount and its unit: segments, share, words or minutes."""

    amount: float
    unit: str
    text: str


def parse_budget(budget: int | str) -> Budget:
    """The amount and unit of a budget: ``142``, ``"20%"``, ``"5000 words"``, ``"90 min"``.

    >>> parse_budget("20%").unit, parse_budget("2 h").amount
    ('share', 120.0)
    """
    text = str(budget).strip()
    match = _AMOUNT.fullmatch(text)
    try:
        amount = float(match[1]) if match else float("nan")
    except ValueError:
        amount = float("nan")
    if match is None or not abs(amount) < float("inf"):
        raise OptionError(
            "budget", budget, "is not an amount",
            "give segments (142), a share (20%), words (5000 words) or minutes (90 min)",
        )  # fmt: skip
    unit = (match[2] or "").lower()
    if unit == "%":
        if not 0 < amount <= 100:
            raise OptionError("budget", budget, "is no share", "give more than 0% and at most 100%")
        return Budget(amount / 100, "share", text)
    if not unit and amount != int(amount):
        raise OptionError("budget", budget, "is not whole", "give whole segments or a percentage")
    if not unit and amount < 1:
        raise OptionError("budget", budget, "buys nothing", "give at least 1 segment")
    if amount <= 0:
        raise OptionError("budget", budget, "buys nothing", "give more than 0")
    if unit.startswith("h"):
        return Budget(amount * 60, "minutes", text)
    if unit.startswith("min"):
        return Budget(amount, "minutes", text)
    return Budget(amount, "words" if unit else "segments", text)


def segments_for(
    budget: Budget,
    population: Population,
    context_of: Callable[[int], float],
    *,
    seconds_per_word: float | None = None,
) -> int:
    """How many segments a budget buys, at least 1.

    Words and minutes are those of all systems together. Minutes need a ``cost`` column (seconds
    per output) or ``seconds_per_word`` with a ``words`` column; ``context_of(n)`` is the number
    of context segments that a sample of n makes raters read besides.
    """
    total = population.size
    if budget.unit == "share":
        return max(1, round(total * budget.amount))
    if budget.unit == "segments":
        if budget.amount > total:
            raise OptionError(
                "budget", budget.text, f"exceeds the {total} segments of the test set",
                f"give at most {total} or a percentage",
            )  # fmt: skip
        return int(budget.amount)
    cost = _mean_cost(budget, population, seconds_per_word)
    read = READING if budget.unit == "minutes" else 0.0
    amount = budget.amount * (60 if budget.unit == "minutes" else 1)

    def spent(n: int) -> float:
        return cost * (n + read * context_of(n)) if read else cost * n

    if spent(1) > amount:
        raise OptionError(
            "budget", budget.text, f"does not buy one segment, which costs {spent(1):.0f}"
            f" {'seconds' if read else 'words'} over all systems", "give more",
        )  # fmt: skip
    low, high = 1, total
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if spent(middle) <= amount else (low, middle - 1)
    return low


def _mean_cost(budget: Budget, population: Population, seconds_per_word: float | None) -> float:
    """What an average segment costs over all systems, in words or seconds."""
    systems = len(population.test_set.systems)
    words, cost = population.column("words"), population.column("cost")
    if budget.unit == "words":
        if words is None:
            raise InputError("a budget in words needs a words column in the scores")
        return float(np.nanmean(words)) * systems
    if seconds_per_word is not None:
        if words is None:
            raise InputError("seconds per word need a words column in the scores")
        if not seconds_per_word > 0:
            raise OptionError("seconds_per_word", seconds_per_word, "is no time", "give above 0")
        return float(np.nanmean(words)) * seconds_per_word * systems
    if cost is None:
        raise InputError(
            "a budget in minutes needs a cost column (seconds per output) in the scores, or"
            " --seconds-per-word with a words column"
        )
    return float(np.nanmean(cost)) * systems
