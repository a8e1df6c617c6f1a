"""The order of the systems with the metrics' help: from few ratings, with probabilities.

The direct estimates stand for themselves. Beside them, a composite (:mod:`assay.stats.systems`)
takes in what the metrics say between systems on the whole test set. It puts pairs in the right
order more often and is less far off; but it leans on the metrics, and is wrong where these misjudge
a system. So it says how probable it is that one system is better than another, and never decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assay.errors import InputError
from assay.results import Note
from assay.stats.systems import (
    Pairs,
    composite,
    covariance_of_differences,
    fit_slopes,
    metric_signal,
    pair_differences,
    scores_of_differences,
    within_segments,
)
from assay.tables.test_set import TestSet

if TYPE_CHECKING:
    from assay.estimation.results import Difference, Estimates
    from assay.estimation.study import Study
    from assay.tables.answers import Ratings

MIN_SYSTEMS = 3
"""With fewer, nothing says how far systems are from what metrics predict."""
LITTLE_HELP = 1.1
"""Where the composite is worth fewer times the ratings than this, metrics hardly help."""
UNPROVEN = 2.0
"""A signal below this is what metrics of noise give in nine of ten samples."""
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
    composite says it is; ``signal`` how far the metrics' predictions differ between systems in
    terms of their own error, 1 for noise; ``history`` whether an earlier campaign helped to weigh
    the metrics.
    """

    systems: tuple[CompositeSystem, ...]
    pairs: tuple[CompositePair, ...]
    worth: float
    signal: float
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
    found = join(gap, variance, study.rated.scores, layers, degrees, study.level)
    stated = np.nanmean(variance[np.triu_indices(len(gap), 1)])
    worth = float(stated / np.maximum((found.pairs.sd**2).mean(), 1e-300))
    center = np.mean([item.estimate for item in estimates.systems])
    rows, pairs = _rows(names, found, float(center), 1 if estimates.better == "higher" else -1)
    return Composite(
        rows, pairs, worth, found.signal, history is not None, _notes(rows, worth, found.signal)
    )


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


class Joined(NamedTuple):
    """All pairs i < j, the systems' scores around any level, what metrics get wrong and tell."""

    pairs: Pairs
    scores: np.ndarray
    misjudged: np.ndarray
    signal: float


def join(
    gap: np.ndarray, variance: np.ndarray, scores: np.ndarray, layers: np.ndarray,
    degrees: float, level: float,
) -> Joined:  # fmt: skip
    """Direct differences and metrics joined.

    ``gap`` and ``variance`` are systems x systems; a variance that is not known (ratings that all
    agree) is taken to be the mean of the others. ``scores`` has NaN where there is no rating.
    """
    rated = np.isfinite(scores).any(axis=0)
    off = ~np.eye(len(gap), dtype=bool)
    known = np.isfinite(variance) & off
    variance = np.where(known, variance, np.where(off, variance[known].mean(), 0.0))
    slopes = fit_slopes(scores[:, rated], layers[:, rated])
    v = covariance_of_differences(variance, int(rated.sum()))
    means = layers.mean(axis=1)
    law = composite(scores_of_differences(gap), v, means, slopes)
    return Joined(
        pair_differences(law, level, degrees), law.weights @ law.means, law.misjudged,
        metric_signal(means, slopes),
    )  # fmt: skip


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


def _rows(
    names: Sequence[str], found: Joined, center: float, sign: int
) -> tuple[tuple[CompositeSystem, ...], tuple[CompositePair, ...]]:
    """The systems in order, best first, and all pairs in that order."""
    size, order = len(names), np.argsort(-sign * found.scores, kind="stable")
    scores = found.scores - found.scores.mean() + center
    index = np.zeros((size, size), dtype=np.int64)
    index[np.triu_indices(size, 1)] = np.arange(len(found.pairs.sd))

    def pair(i: int, j: int) -> CompositePair:
        turn = -1 if i > j else 1
        k = index[min(i, j), max(i, j)]
        ends = sorted((turn * found.pairs.low[k], turn * found.pairs.high[k]))
        p = found.pairs.probability[k]
        better = p if turn * sign > 0 else 1 - p
        return CompositePair(
            names[i], names[j], float(turn * found.pairs.difference[k]), float(ends[0]),
            float(ends[1]), float(np.clip(better, 1 - SUREST, SUREST)),
        )  # fmt: skip

    pairs = {(i, j): pair(i, j) for a, i in enumerate(order) for j in order[a + 1 :]}
    rows = tuple(
        CompositeSystem(
            names[i], a + 1, float(scores[i]),
            pairs[i, order[a + 1]].probability if a + 1 < size else None,
            float(found.misjudged[i]),
        )
        for a, i in enumerate(order)
    )  # fmt: skip
    return rows, tuple(pairs.values())


def _notes(rows: Sequence[CompositeSystem], worth: float, signal: float) -> tuple[Note, ...]:
    """Where metrics do not help, and whom they misjudge."""
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
    elif signal < UNPROVEN:
        text = (
            "these ratings do not show that the metrics tell the systems apart; trust this order no"
            " more than that of the ratings"
        )
        notes.append(Note("metrics-unproven", text))
    return tuple(notes)
