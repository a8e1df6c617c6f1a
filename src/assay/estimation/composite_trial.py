"""Try the composite order on a fully rated test set, and compare it with the direct one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from assay.designs.base import DesignUnits, find_design
from assay.engine import Workers, run
from assay.estimation.composite import MIN_SYSTEMS, between_systems, join
from assay.estimation.evaluate import all_scores, check_trial
from assay.estimation.kernels import adjusted_means, make_features
from assay.estimation.trials import CompositeRecord
from assay.stats.intervals import LEVEL
from assay.stats.random import Rng
from assay.tables.tables import Ratings, TestSet


class CompositeDraws(NamedTuple):
    """Samples x pairs: both differences, the composite's interval and P(left > right); truth."""

    direct: np.ndarray
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    probability: np.ndarray
    truth: np.ndarray


class _CompositeTrial(NamedTuple):
    test_set: TestSet
    x: np.ndarray
    size: float
    draws: int
    level: float


def evaluate_composite(
    test_set: TestSet,
    ratings: Ratings,
    *,
    sizes: Sequence[float] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5),
    draws: int = 100,
    level: float = LEVEL,
    rng: Rng = None,
    workers: Workers = 1,
) -> Iterator[CompositeRecord]:
    """Draw samples from a fully rated test set and order the systems by the composite.

    All systems have the same simple random segments. Yields a record per size; nothing with fewer
    than three systems, without metrics, or if a system lacks segments.

    >>> import assay
    >>> world = assay.simulate(documents=15, systems=4, rng=1)
    >>> records = evaluate_composite(world.test_set, world.rate(), sizes=[0.2], draws=20, rng=1)
    >>> [record.n for record in records]
    [32]
    """
    check_trial(draws, level, sizes)
    x = all_scores(test_set, ratings)
    few = len(test_set.systems) < MIN_SYSTEMS or not test_set.present.all()
    if few or between_systems(test_set) is None:
        return iter(())
    trials = [_CompositeTrial(test_set, x, size, draws, level) for size in sizes if size < 1]
    records = run(_try, trials, rng=rng, workers=workers)
    return (record for record in records if record is not None)


def _try(trial: _CompositeTrial, rng: np.random.Generator) -> CompositeRecord | None:
    """A record of all samples; None if no pair of systems differs in any."""
    n = max(3, round(trial.size * trial.x.shape[1]))
    drawn = np.zeros((trial.draws, trial.x.shape[1]), dtype=bool)
    for row in drawn:
        row[rng.permutation(len(row))[:n]] = True
    found = draw_composites(trial.test_set, trial.x, drawn, trial.level)
    if not len(found.direct):
        return None
    right = np.sign(found.truth)
    held = (found.low <= found.truth) & (found.truth <= found.high)
    pairs = np.array(list(combinations(range(len(trial.x)), 2)))
    by_system = [held[:, (pairs == k).any(axis=1)].mean() for k in range(len(trial.x))]
    return CompositeRecord(
        size=trial.size, n=n, draws=len(found.direct),
        direct_order=float((np.sign(found.direct) == right).mean()),
        order=float((np.sign(found.difference) == right).mean()),
        direct_rms=_rms(found.direct - found.truth), rms=_rms(found.difference - found.truth),
        coverage=float(held.mean()), worst_coverage=float(min(by_system)),
        said=float(np.maximum(found.probability, 1 - found.probability).mean()),
    )  # fmt: skip


def _rms(errors: np.ndarray) -> float:
    return float(np.sqrt((errors**2).mean()))


def draw_composites(
    test_set: TestSet,
    x: np.ndarray,
    drawn: np.ndarray,
    level: float,
    history: tuple[TestSet, Ratings] | None = None,
) -> CompositeDraws:
    """Both estimates of all pairs from matched samples (samples x segments) of the ratings x.

    Samples without any difference between systems are left out.
    """
    layers, pairs = between_systems(test_set, history), np.triu_indices(len(x), 1)
    gaps, variances, degrees = _direct(test_set, x, drawn)
    rows = []
    for k, places in enumerate(drawn):
        if layers is None or not (variances[k] > 0).any():
            continue
        found = join(
            gaps[k], variances[k], np.where(places, x, np.nan), layers,
            float(np.median(degrees[k])), level,
        ).pairs  # fmt: skip
        rows.append((gaps[k][pairs], found.difference, found.low, found.high, found.probability))
    truth = x.mean(axis=1)
    gap = truth[pairs[0]] - truth[pairs[1]]
    columns = np.array(rows).reshape(len(rows), 5, len(gap)).transpose(1, 0, 2)
    direct, difference, low, high, probability = columns
    return CompositeDraws(direct, difference, low, high, probability, gap)


def _direct(
    test_set: TestSet, x: np.ndarray, drawn: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differences and variances as samples x systems x systems, degrees as samples x pairs."""
    size, features = len(x), make_features(test_set)
    pi = np.full(x.shape[1], drawn[0].mean())
    units = DesignUnits(find_design("segments"), pi, test_set.document)
    every = np.ones(x.shape[1], dtype=bool)
    gaps = np.zeros((len(drawn), size, size))
    variances, degrees = np.zeros_like(gaps), []
    for i, j in combinations(range(size), 2):
        known = None if features is None else features.between(i, j, every)
        found = adjusted_means(x[i] - x[j], drawn, units, "auto", known)
        gaps[:, i, j], gaps[:, j, i] = found.center, -found.center
        variances[:, i, j] = variances[:, j, i] = found.stderr**2
        degrees.append(found.degrees)
    return gaps, variances, np.array(degrees).T
