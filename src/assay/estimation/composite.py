"""The order of the systems with the metrics' help: from few ratings, with probabilities.

The direct estimates stand for themselves. Beside them, a composite (:mod:`assay.stats.composite`)
takes in what the metrics say between systems on the whole test set. It puts pairs in the right
order more often and is less far off; but it leans on the metrics, and is wrong where these misjudge
a system. So it says how probable it is that one system is better than another, and never decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError
from assay.results import Note
from assay.stats.composite import (
    Pairs,
    composite,
    covariance_of_differences,
    fit_slopes,
    pair_differences,
    scores_of_differences,
    within_segments,
)
from assay.tables.test_set import TestSet

if TYPE_CHECKING:
    from assay.estimation.frame import Study
    from assay.estimation.results import Difference, Estimates
    from assay.tables.answers import Ratings

MIN_SYSTEMS = 3
"""With fewer, nothing says how far systems are from what metrics predict."""
LITTLE_HELP = 1.1
"""Where the composite is worth fewer times the ratings than this, metrics hardly help."""
LIKELY = 0.5
"""From this probability on a system is named as one that metrics misjudge."""
SUREST = 0.999
"""No probability is stated beyond this: the model itself is not that certain."""
PAST_WEIGHT = 3.0
"""Standard deviation of what an earlier campaign predicts, beside 1 of every metric: the penalty
on its slope is a ninth of theirs."""


@dataclass(frozen=True, slots=True)
class CompositeSystem:
    """One system in the order with the metrics' help.

    ``score`` is on the scale of the ratings; ``ahead`` the probability that it is better than the
    next system of the order (None for the last), ``misjudged`` the probability that metrics say
    nothing of it.
    """

    system: str
    rank: int
    score: float
    ahead: float | None
    misjudged: float


@dataclass(frozen=True, slots=True)
class CompositePair:
    """``left`` minus ``right`` with the metrics' help, and the probability that left is better."""

    left: str
    right: str
    difference: float
    low: float
    high: float
    probability: float


@dataclass(frozen=True, slots=True)
class Composite:
    """The systems in the order with the metrics' help, and every pair of them.

    ``worth`` says how many times as many ratings would make the direct estimates as precise as the
    composite says it is; ``history`` whether an earlier campaign helped to weigh the metrics.
    """

    systems: tuple[CompositeSystem, ...]
    pairs: tuple[CompositePair, ...]
    worth: float
    history: bool = False
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class CompositeRecord:
    """Samples of one size: pairs in the right order and errors of differences, both ways.

    ``coverage`` is that of the composite's intervals over pairs, ``worst_coverage`` over the pairs
    of the worst system. ``said`` is the mean probability given to the side that was preferred,
    ``order`` how often that side was right: the two should agree.
    """

    size: float
    n: int
    draws: int
    direct_order: float
    order: float
    direct_rms: float
    rms: float
    coverage: float
    worst_coverage: float
    said: float


def make_composite(
    study: Study, estimates: Estimates, history: tuple[TestSet, Ratings] | None = None
) -> Composite | None:
    """Join the direct estimates of all pairs with what metrics say between systems.

    None where there are fewer than three systems, no metric that tells them apart, a pair of which
    nothing is known, or no uncertainty left.
    """
    names = study.test_set.systems
    layers = between_systems(study.test_set, history)
    if len(names) < MIN_SYSTEMS or layers is None:
        return None
    gap, variance = _matrices(names, estimates.differences)
    if not np.isfinite(gap).all() or not (variance > 0).any():
        return None
    degrees = float(np.median([item.degrees for item in estimates.differences]))
    found, misjudged, means = join(gap, variance, study.rated.scores, layers, degrees, study.level)
    stated = np.nanmean(variance[np.triu_indices(len(gap), 1)])
    worth = float(stated / np.maximum((found.sd**2).mean(), 1e-300))
    center = np.mean([item.estimate for item in estimates.systems])
    return _wrapped(
        names, means - means.mean() + center, misjudged, found,
        1 if estimates.better == "higher" else -1, worth, history is not None,
    )  # fmt: skip


def between_systems(
    test_set: TestSet, history: tuple[TestSet, Ratings] | None = None
) -> np.ndarray | None:
    """Systems x segments x metrics: each metric less its segment's mean, with sd 1.

    What an earlier campaign makes of the metrics that it shares is one more, of a larger sd.
    None where no metric tells systems apart.
    """
    layers = {
        name: values
        for name in test_set.metrics
        if (values := _within(test_set, name)) is not None
    }  # fmt: skip
    if not layers:
        return None
    stack = [values / values.std() for values in layers.values()]
    if history is not None:
        past = _past(layers, *history)
        stack.append(PAST_WEIGHT * past / past.std())
    return np.stack(stack, axis=-1)


def _within(test_set: TestSet, name: str) -> np.ndarray | None:
    """A metric less its segment's mean, 0 where it is missing; None where it is all 0."""
    values = test_set.matrix(name)
    found = within_segments(values, np.isfinite(values) & test_set.present)
    return found if found.std() > 1e-9 * (1 + np.nanmax(np.abs(values))) else None


def _past(layers: dict[str, np.ndarray], test_set: TestSet, ratings: Ratings) -> np.ndarray:
    """What the metrics predict with the slopes of an earlier campaign."""
    old = {name: values for name in layers if name in test_set.metrics
           and (values := _within(test_set, name)) is not None}  # fmt: skip
    if not old:
        raise InputError(
            "the history has none of the metrics of the scores, so it cannot help to weigh them;"
            " give scores with one of the same metrics, or leave the history out"
        )
    scale = np.array([values.std() for values in old.values()])
    x = ratings.placed_in(test_set).matrix(test_set)
    slopes = fit_slopes(x, np.stack(list(old.values()), axis=-1) / scale)
    found = np.stack([layers[name] for name in old], axis=-1) @ (slopes.values / scale)
    if not found.std() > 0:
        raise InputError(
            "the history has no two outputs of a segment that are rated differently, so it cannot"
            " help to weigh metrics; leave it out"
        )
    return np.asarray(found)


def join(
    gap: np.ndarray, variance: np.ndarray, scores: np.ndarray, layers: np.ndarray,
    degrees: float, level: float,
) -> tuple[Pairs, np.ndarray, np.ndarray]:  # fmt: skip
    """All pairs i < j, the probability of being misjudged, and the scores (around any level).

    ``gap`` and ``variance`` are systems x systems; a variance that is not known (ratings that all
    agree) is taken to be the mean of the others. ``scores`` has NaN where there is no rating.
    """
    rated = np.isfinite(scores).any(axis=0)
    off = ~np.eye(len(gap), dtype=bool)
    known = np.isfinite(variance) & off
    variance = np.where(known, variance, np.where(off, variance[known].mean(), 0.0))
    slopes = fit_slopes(scores[:, rated], layers[:, rated])
    v = covariance_of_differences(variance, int(rated.sum()))
    law = composite(scores_of_differences(gap), v, layers.mean(axis=1), slopes)
    return pair_differences(law, level, degrees), law.misjudged, law.weights @ law.means


def _matrices(
    systems: Sequence[str], differences: Sequence[Difference]
) -> tuple[np.ndarray, np.ndarray]:
    """Differences (row minus column) and their variances, systems x systems."""
    place = {name: k for k, name in enumerate(systems)}
    gap = np.zeros((len(systems), len(systems)))
    variance = np.zeros_like(gap)
    for item in differences:
        i, j = place[item.left], place[item.right]
        gap[i, j], gap[j, i] = item.difference, -item.difference
        variance[i, j] = variance[j, i] = item.stderr**2
    return gap, variance


def _wrapped(
    names: Sequence[str], scores: np.ndarray, misjudged: np.ndarray, found: Pairs, sign: int,
    worth: float, history: bool,
) -> Composite:  # fmt: skip
    size, order = len(names), np.argsort(-sign * scores, kind="stable")
    index = np.zeros((size, size), dtype=np.int64)
    index[np.triu_indices(size, 1)] = np.arange(len(found.sd))

    def pair(i: int, j: int) -> CompositePair:
        turn = i > j
        k = index[min(i, j), max(i, j)]
        low, high, p = found.low[k], found.high[k], found.probability[k]
        right = (sign > 0) != turn
        return CompositePair(
            names[i], names[j], float(-found.difference[k] if turn else found.difference[k]),
            float(-high if turn else low), float(-low if turn else high),
            float(np.clip(p if right else 1 - p, 1 - SUREST, SUREST)),
        )  # fmt: skip

    pairs = {(i, j): pair(i, j) for a, i in enumerate(order) for j in order[a + 1 :]}
    rows = [
        CompositeSystem(
            names[i], a + 1, float(scores[i]),
            pairs[i, order[a + 1]].probability if a + 1 < size else None, float(misjudged[i]),
        )
        for a, i in enumerate(order)
    ]  # fmt: skip
    return Composite(tuple(rows), tuple(pairs.values()), worth, history, _notes(rows, worth))


def _notes(rows: Sequence[CompositeSystem], worth: float) -> tuple[Note, ...]:
    notes = [
        Note(
            "metrics-misjudge",
            f"metrics and ratings disagree about {row.system}: what the metrics say of it hardly"
            " counts here",
        )
        for row in rows
        if row.misjudged > LIKELY
    ]
    if worth < LITTLE_HELP:
        text = "the metrics add next to nothing between systems here; keep to the direct estimates"
        notes.append(Note("metrics-no-help", text))
    return tuple(notes)
