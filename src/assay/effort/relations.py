"""Correlate effort with the complexity of documents, or with ratings of the same systems."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import numpy as np

from assay.effort.results import MOST_FOR_ALL_ORDERS, Effort, Relation
from assay.errors import InputError, OptionError
from assay.stats.random import Rng, as_rng
from assay.tables.tables import Ratings


def complexity_effort(
    result: Effort, complexity: Mapping[str, float], *, name: str = "LIX", rng: Rng = None
) -> tuple[Relation, ...]:
    """Correlate the effort of documents with their complexity (korotaev2022, section 5.2).

    ``complexity`` gives every document's score, ``name`` its kind. With few documents the result is
    inconclusive: with three, p is at least 1/3. ``rng`` draws orders if there are too many to try.
    """
    missing = [item.document for item in result.documents if item.document not in complexity]
    if missing:
        raise OptionError("complexity", missing[0], "has no score", "give one for every document")
    scores = np.array([complexity[item.document] for item in result.documents])
    random = as_rng(rng)
    return tuple(
        _relation(name, measure, scores,
                  [item.measures[measure].ratio for item in result.documents], random)
        for measure in result.units
    )  # fmt: skip


def compare_ratings(result: Effort, ratings: Ratings, *, rng: Rng = None) -> tuple[Relation, ...]:
    """Correlate the effort of systems with their ratings.

    The correlation is positive if less effort goes with better ratings, whatever their direction.
    ``rng`` draws orders if there are too many to try.
    """
    means = {
        str(name): float(part["score"].mean())  # type: ignore[arg-type]
        for (name,), part in ratings.frame.drop_nulls("score").group_by("system")
    }
    systems = [item for item in result.systems if item.system in means]
    if len(systems) < 2:
        raise InputError("effort and ratings share fewer than two systems; nothing to compare")
    sign = -1.0 if ratings.better == "higher" else 1.0
    scores = np.array([sign * means[item.system] for item in systems])
    random = as_rng(rng)
    return tuple(
        _relation("ratings", measure, scores,
                  [item.measures[measure].mean for item in systems], random)
        for measure in result.units
    )  # fmt: skip


def _relation(
    compared_with: str, measure: str, left: np.ndarray, right: list[float], rng: np.random.Generator
) -> Relation:
    known = np.isfinite(left) & np.isfinite(right)
    a, b = (_mean_ranks(values[known]) for values in (left, np.array(right)))
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Relation(compared_with, measure, len(a), float("nan"), float("nan"))
    a, b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    correlation = float(np.mean(a * b))
    p = _correlation_p(a, b, correlation, rng)
    return Relation(compared_with, measure, len(a), correlation, p)


def _mean_ranks(values: np.ndarray) -> np.ndarray:
    below = (values[:, None] > values).sum(axis=1)
    return np.asarray(below + (values[:, None] == values).sum(axis=1) / 2)


def _correlation_p(
    a: np.ndarray, b: np.ndarray, correlation: float, rng: np.random.Generator
) -> float:
    if len(a) <= MOST_FOR_ALL_ORDERS:
        orders = np.array(list(permutations(range(len(a)))))
    else:
        drawn = [rng.permutation(len(a)) for _ in range(20_000)]
        orders = np.array([np.arange(len(a)), *drawn])
    return float(np.mean(np.abs((a[orders] * b).mean(axis=1)) >= abs(correlation) - 1e-9))
