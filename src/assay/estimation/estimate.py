"""From ratings to scores on the whole test set."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from assay.errors import InputError, OptionError
from assay.estimation.coverage import rated_outputs
from assay.estimation.results import Difference, Estimates, SystemEstimate
from assay.stats.intervals import Interval, mean_stderr, t_interval
from assay.stats.orders import cluster_numbers, rank_ranges
from assay.tables import Ratings, Sample, TestSet, read_sample

__all__ = ["estimate"]


def estimate(
    test_set: TestSet,
    ratings: Ratings,
    *,
    sample: Sample | None = None,
    assume: str | None = None,
    level: float = 0.95,
) -> Estimates:
    """Estimate every system's score on the whole test set.

    The method is the sample mean with a Student t interval and the finite-population correction
    (1 - n/N); several raters' scores of an output are averaged first. Differences use the
    segments that both systems have rated, so what the systems share drops out.

    Without a ``sample``, every output must be rated, or ``assume="random"`` must state that the
    rated segments are a simple random sample; the result repeats the assumption.

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="30%", rng=7)
    >>> result = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    >>> result.systems[0].rank, result.systems[0].low <= result.systems[0].estimate
    (1, True)
    """
    if not 0 < level < 1:
        raise OptionError("level", level, "is no confidence level", "give a number like 0.95")
    _need_tables(test_set, ratings, sample)
    ratings = ratings.placed_in(test_set)
    sample = None if sample is None else read_sample(sample.frame, test_set)
    rated = rated_outputs(test_set, ratings, sample, assume)
    _need_ratings(test_set, rated.scores)
    means = [_mean(rated.scores[i], test_set.present[i], level) for i in range(len(rated.scores))]
    differences = _differences(test_set, rated.scores, level)
    systems = _systems(test_set, means, differences, ratings.better)
    place = {item.system: k for k, item in enumerate(systems)}
    return Estimates(
        systems=systems,
        differences=tuple(
            sorted(
                (_turned(item, place) for item in differences),
                key=lambda item: (place[item.left], place[item.right]),
            )
        ),
        better=ratings.better,
        level=level,
        method="mean",
        interval="t",
        design=rated.design,
        seed=rated.seed,
        notes=(*test_set.notes, *ratings.notes, *rated.notes),
    )


def _need_tables(test_set: TestSet, ratings: Ratings, sample: Sample | None) -> None:
    for value, kind, reader in (
        (test_set, TestSet, "read_scores"),
        (ratings, Ratings, "read_ratings"),
        (sample, Sample, "read_sample"),
    ):
        if value is not None and not isinstance(value, kind):
            raise InputError(
                f"{type(value).__name__} where a {kind.__name__} belongs; read it with"
                f" assay.{reader}(...)"
            )
    if "lp" in test_set.key and test_set.segments["lp"].n_unique() > 1:
        raise InputError(
            "the scores hold several language pairs, and one score for all would mean nothing;"
            " choose one: --lp PAIR, or test_set.split('lp')"
        )


def _need_ratings(test_set: TestSet, scores: np.ndarray) -> None:
    bare = [
        system for system, row in zip(test_set.systems, scores, strict=True) if np.isnan(row).all()
    ]
    if bare:
        raise InputError(
            f"no usable rating for {', '.join(bare)}; rate some of the drawn segments, or leave the"
            " system out with --exclude"
        )


class _Mean(NamedTuple):
    """A sample mean, how far it can be trusted, and how much it rests on."""

    center: float
    stderr: float
    interval: Interval
    n: int
    population: int


def _mean(scores: np.ndarray, present: np.ndarray, level: float) -> _Mean:
    """The mean of one row of scores (NaN = not rated) as an estimate for all present segments."""
    values = scores[present & ~np.isnan(scores)]
    n, population = len(values), int(present.sum())
    if not n:
        unknown = float("nan")
        return _Mean(unknown, unknown, t_interval(unknown, unknown, 1, level), 0, population)
    center = float(values.mean())
    stderr = mean_stderr(values, population)
    return _Mean(center, stderr, t_interval(center, stderr, n - 1, level), n, population)


def _differences(test_set: TestSet, scores: np.ndarray, level: float) -> tuple[Difference, ...]:
    """All pairs, on the segments both have rated; pairs that share none are left undecided."""
    found = []
    for i, j in combinations(range(len(scores)), 2):
        both = test_set.present[i] & test_set.present[j]
        gap = _mean(scores[i] - scores[j], both, level)
        found.append(
            Difference(
                left=test_set.systems[i],
                right=test_set.systems[j],
                difference=gap.center,
                low=gap.interval.low,
                high=gap.interval.high,
                stderr=gap.stderr,
                n=gap.n,
                decided=gap.interval.low > 0 or gap.interval.high < 0,
            )
        )
    return tuple(found)


def _turned(item: Difference, place: dict[str, int]) -> Difference:
    """The difference with the better-ranked system on the left."""
    if place[item.left] < place[item.right]:
        return item
    return replace(
        item,
        left=item.right,
        right=item.left,
        difference=-item.difference,
        low=-item.high,
        high=-item.low,
    )


def _systems(
    test_set: TestSet,
    means: list[_Mean],
    differences: tuple[Difference, ...],
    better: str,
) -> tuple[SystemEstimate, ...]:
    """Systems with ranks and clusters, best first."""
    sign = 1 if better == "higher" else -1
    index = {system: i for i, system in enumerate(test_set.systems)}
    leads = np.zeros((2, len(means), len(means)), dtype=bool)
    for item in differences:
        i, j = index[item.left], index[item.right]
        ahead = sign * item.difference
        if ahead != 0 and not np.isnan(ahead):
            pair = (i, j) if ahead > 0 else (j, i)
            leads[0][pair] = True
            leads[1][pair] = item.decided
    # Ranks count the systems ahead in the paired differences, as the ranges do, so that the two
    # agree also where systems have different segments.
    ranks = 1 + leads[0].sum(axis=0)
    low, high = rank_ranges(leads[1])
    clusters = cluster_numbers(low, high)
    rows = [
        SystemEstimate(
            system=system,
            estimate=means[i].center,
            low=means[i].interval.low,
            high=means[i].interval.high,
            stderr=means[i].stderr,
            n=means[i].n,
            population=means[i].population,
            method="mean",
            interval="t",
            rank=int(ranks[i]),
            low_rank=int(low[i]),
            high_rank=int(high[i]),
            cluster=int(clusters[i]),
        )
        for system, i in index.items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.rank, sign * -row.estimate, row.system)))
