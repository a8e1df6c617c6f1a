"""Parse a budget and compute how many segments it buys."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from assay.designs.plan import DrawPlan, Layout
from assay.designs.population import Population
from assay.errors import InputError, OptionError
from assay.pay import parse_amount, ratings_for
from assay.results import UNPAID, Costs, plural

_AMOUNT = re.compile(
    r"\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(%|words?|min(?:utes)?|h(?:ours)?)?\s*", re.I
)
_DIVIDED = re.compile(r"ratings?$|[\d\s](?:h|hours?|min|minutes?|[A-Z]{3}|[€$£])$|^[€$£]")
CONTEXT_SEGMENTS = 10
"""The segments that a rater reads before a drawn one (as at WMT22)."""
READING_SHARE = 0.25
"""The time to read a segment as context, as a share of the time to rate it."""
TRIAL_DRAWS = 30
"""The context is averaged over this many samples; one alone is off by several percent."""


class Budget(NamedTuple):
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
    if match is None and (_DIVIDED.search(text)):
        remedy = "give segments; `assay plan` says how many that buys"
        raise OptionError("budget", budget, "does not count segments", remedy)
    if match is None or not abs(amount) < float("inf"):
        raise OptionError(
            "budget", budget, "is not an amount",
            "give segments (142), a share (20%), words (5000 words) or minutes (90 min)",
        )  # fmt: skip
    unit = (match[2] or "").lower()
    if unit == "%":
        if not 0 < amount <= 100:
            raise OptionError("budget", budget, "is not a share", "give above 0% and up to 100%")
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


class Division(NamedTuple):
    """The segments, rated for all systems, that a budget of ratings, time or money buys."""

    segments: int
    sentence: str
    """How the budget was divided, in words."""


def divide_budget(
    budget: str, systems: int, population: int, *, pay: Costs = UNPAID, per_output: int = 1,
    overlap: float = 0.1,
) -> Division | None:  # fmt: skip
    """The segments that an amount buys; None if it is a share or counts segments or words.

    A time is divided only if the pay says how long a rating takes; otherwise the segments' own
    times decide (:func:`segments_for`).

    >>> divide_budget("15000 ratings", 12, 1814).segments
    1136
    """
    text = budget.strip()
    timed = _AMOUNT.fullmatch(text) is not None and pay.seconds_per_rating is None
    if timed or not _DIVIDED.search(text):
        return None
    ratings = ratings_for(pay, parse_amount(budget))
    each = systems * (per_output + overlap)
    n = min(population, int(ratings / each + 1e-9))
    if n < 1:
        fault = f"buys {ratings:,.0f} ratings, and one segment of all systems takes {each:g}"
        raise OptionError("budget", budget, fault, "give more")
    bought = "" if "rating" in text else f" buys {plural(int(ratings), 'rating')}"
    sentence = (
        f"{text}{bought}: {plural(n, 'segment')} x {plural(systems, 'system')} x"
        f" {per_output + overlap:g} raters"
    )
    return Division(n, sentence)


def segments_for(
    budget: Budget, population: Population, make: Callable[[int], DrawPlan], *,
    seconds_per_word: float | None = None,
) -> int:  # fmt: skip
    """The number of segments that a budget buys, at least 1.

    Words and minutes are those of all systems together, expected under ``make(n)``, the plan for n
    segments. Minutes need a ``cost`` column (seconds per output) or ``seconds_per_word`` with a
    ``words`` column, and include reading the context of trial draws.
    """
    total = population.size
    if seconds_per_word is not None and budget.unit != "minutes":
        raise OptionError(
            "seconds_per_word", seconds_per_word, f"does not apply to a budget of {budget.text}",
            "it is for a budget in minutes",
        )  # fmt: skip
    if budget.unit == "share":
        return max(1, round(total * budget.amount))
    if budget.unit == "segments":
        if budget.amount > total:
            raise OptionError(
                "budget", budget.text, f"exceeds the {total} segments of the test set",
                f"give at most {total} or a percentage",
            )  # fmt: skip
        return int(budget.amount)
    costs = _costs(budget, population, seconds_per_word)
    timed = budget.unit == "minutes"
    amount = budget.amount * (60 if timed else 1)

    def spent(n: int) -> float:
        plan = make(n)
        rating = float(plan.probabilities() @ costs)
        if not timed:
            return rating
        # Context is paid at a share of its rating cost, averaged over trial draws.
        drawn = plan.draw(np.random.default_rng(0), TRIAL_DRAWS).masks(total)
        return rating + READING_SHARE * float(
            (context_mask(population.layout, drawn) @ costs).mean()
        )

    if spent(1) > amount:
        raise OptionError(
            "budget", budget.text, f"does not buy one segment, which costs {spent(1):.0f}"
            f" {'seconds' if timed else 'words'} over all systems", "give more",
        )  # fmt: skip
    low, high = 1, total
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if spent(middle) <= amount else (low, middle - 1)
    return low


def context_mask(layout: Layout, drawn: np.ndarray) -> np.ndarray:
    """Mask the segments to read as context: not drawn, and up to ten before one that is.

    ``drawn`` is a mask of segments, or one row per sample.
    """
    running = np.cumsum(drawn, axis=-1)
    running = np.concatenate([np.zeros_like(running[..., :1]), running], axis=-1)
    end = (layout.starts + layout.lengths)[layout.document]
    place = np.arange(layout.population)
    ahead = running[..., np.minimum(place + CONTEXT_SEGMENTS + 1, end)] - running[..., place + 1]
    return np.asarray(~drawn & (ahead > 0))


def _costs(budget: Budget, population: Population, seconds_per_word: float | None) -> np.ndarray:
    """The cost of each segment over all systems, in words or seconds; gaps cost the average."""
    systems = len(population.test_set.systems)
    if budget.unit == "words":
        return _filled(population, "words", "a budget in words") * systems
    if seconds_per_word is not None:
        if not seconds_per_word > 0:
            raise OptionError("seconds_per_word", seconds_per_word, "is not a time", "give above 0")
        words = _filled(population, "words", "a budget by seconds per word")
        return words * seconds_per_word * systems
    if population.column("cost") is None:
        raise InputError(
            "a budget in minutes needs a cost column (seconds per output) in the scores, or"
            " `seconds_per_word` with a words column"
        )
    return _filled(population, "cost", "a budget in minutes") * systems


def _filled(population: Population, name: str, what: str) -> np.ndarray:
    values = population.column(name)
    if values is None or not np.isfinite(values).any():
        raise InputError(f"{what} needs a {name} column with values in the scores")
    return np.where(np.isfinite(values), values, np.nanmean(values))
