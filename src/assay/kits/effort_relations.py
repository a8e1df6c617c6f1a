"""Does effort go with other things known about documents and systems?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assay.errors import InputError, OptionError
from assay.kits.effort_results import Effort
from assay.stats.random import Rng, as_rng
from assay.tables.answers import Ratings


@dataclass(frozen=True, slots=True)
class Relation:
    """Rank correlation (Spearman) over so many things, and how sure its sign is."""

    measure: str
    n: int
    correlation: float
    p: float
    """Two-sided, over all orders or 20,000 random ones."""


def complexity_effort(
    result: Effort, complexity: Mapping[str, float], *, rng: Rng = None
) -> tuple[Relation, ...]:
    """Do documents of higher complexity take more effort (korotaev2022, section 5.2)?

    ``complexity`` gives every document's score, such as LIX. With few documents nothing can be
    said: three of them leave p at 1/3 or more. ``rng`` draws orders where they are too many.
    """
    missing = [item.document for item in result.documents if item.document not in complexity]
    if missing:
        raise OptionError("complexity", missing[0], "has no score", "give one for every document")
    given = np.array([complexity[item.document] for item in result.documents])
    random = as_rng(rng)
    return tuple(
        _relation(name, given, [item.measures[name].ratio for item in result.documents], random)
        for name in result.units
    )


def compare_ratings(result: Effort, ratings: Ratings, *, rng: Rng = None) -> tuple[Relation, ...]:
    """Do the systems that take less effort get the better ratings?

    The correlation is positive where they agree, whichever way the ratings go. ``rng`` draws orders
    where they are too many.
    """
    means = {
        str(name): float(part["score"].mean())  # type: ignore[arg-type]
        for (name,), part in ratings.frame.drop_nulls("score").group_by("system")
    }
    systems = [item for item in result.systems if item.system in means]
    if len(systems) < 2:
        raise InputError("effort and ratings share fewer than two systems; nothing to compare")
    sign = -1.0 if ratings.better == "higher" else 1.0
    given = np.array([sign * means[item.system] for item in systems])
    random = as_rng(rng)
    return tuple(
        _relation(name, given, [item.measures[name].mean for item in systems], random)
        for name in result.units
    )


def _relation(
    measure: str, left: np.ndarray, right: list[float], rng: np.random.Generator
) -> Relation:
    other = np.array(right)
    known = np.isfinite(left) & np.isfinite(other)
    a, b = _ranks(left[known]), _ranks(other[known])
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Relation(measure, len(a), float("nan"), float("nan"))
    a, b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    seen = float(np.mean(a * b))
    return Relation(measure, len(a), seen, _chance(a, b, seen, rng))


def _ranks(values: np.ndarray) -> np.ndarray:
    below = (values[:, None] > values).sum(axis=1)
    return np.asarray(below + (values[:, None] == values).sum(axis=1) / 2)


def _chance(a: np.ndarray, b: np.ndarray, seen: float, rng: np.random.Generator) -> float:
    from itertools import permutations

    if len(a) <= 7:
        orders = np.array(list(permutations(range(len(a)))))
    else:
        drawn = [rng.permutation(len(a)) for _ in range(20_000)]
        orders = np.array([np.arange(len(a)), *drawn])
    return float(np.mean(np.abs((a[orders] * b).mean(axis=1)) >= abs(seen) - 1e-9))
