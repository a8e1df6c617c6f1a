"""From ratings to scores on the whole test set."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from assay.estimation.features import Features
from assay.estimation.power import next_steps
from assay.estimation.results import Difference, Estimates, SystemEstimate
from assay.estimation.study import Mean, Study, make_study
from assay.stats.orders import cluster_numbers, rank_ranges
from assay.tables.ratings import Ratings
from assay.tables.sample import Sample
from assay.tables.test_set import TestSet

ENOUGH = 50
"""Ratings from which on a correlation with metrics says something about directions."""


def estimate(
    test_set: TestSet,
    ratings: Ratings,
    *,
    sample: Sample | None = None,
    assume: str | None = None,
    method: str = "auto",
    interval: str = "t",
    level: float = 0.95,
    target: str = "test-set",
) -> Estimates:
    """Estimate every system's score on the whole test set.

    Several raters' scores of an output are averaged first. ``method`` is ``mean``; ``regression``
    on all metrics; the control variates of saldias2022 (``cv-single``, ``cv-mean``, ``cv-multi``,
    ``cv-knn``); or ``auto``, which uses regression where there are metrics and enough ratings, and
    the mean where metrics explain nothing. Ratings are weighted by 1/pi, pi the inclusion
    probability that the sample states. The interval is Student's t around it with the variance
    that goes with the design and the finite-population correction. Differences use the segments
    that both systems have rated, so what the systems share drops out.

    ``skew-t`` corrects it for skewed scores, also after regression and for snippets and balanced
    samples. With a stated range there are guaranteed intervals (``betting``, ``hoeffding``,
    ``bernstein``) for the mean of a simple random sample.

    With the ``target`` ``new-documents`` the intervals are not for this test set but for the mean
    over all documents of the kind that these were drawn from, which no rating of everything makes
    certain: the spread between documents counts, without a finite-population correction.

    Without a ``sample``, every output must be rated, or ``assume`` must state that the rated
    segments (``random``) or documents (``documents``) are a simple random sample; the result
    repeats the assumption.

    >>> import assay
    >>> world = assay.simulate(documents=20, rng=1)
    >>> drawn = assay.sample(world.test_set, budget="30%", rng=7)
    >>> result = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    >>> result.systems[0].rank, result.systems[0].low <= result.systems[0].estimate
    (1, True)
    """
    study = make_study(
        test_set, ratings, sample=sample, assume=assume, method=method, interval=interval,
        level=level, target=target,
    )  # fmt: skip
    count = len(test_set.systems)
    means = [study.mean(i) for i in range(count)]
    differences = tuple(study.difference(i, j) for i, j in combinations(range(count), 2))
    systems = _systems(test_set, means, differences, ratings.better, interval)
    result = Estimates(
        systems=systems,
        differences=_by_rank(differences, systems),
        better=ratings.better,
        level=level,
        method=_used(means),
        interval=interval,
        design=study.rated.design.name,
        seed=study.rated.design.seed,
        drawn=study.rated.line,
        target=target,
        metrics=_metrics(study),
        notes=(*study.notes, *_gain(means, study.features), *_direction(study)),
    )
    return replace(result, next=next_steps(result))


def _metrics(study: Study) -> tuple[str, ...]:
    if study.features is None:
        return ()
    return (*study.test_set.metrics, *(("history",) if study.features.history else ()))


def _direction(study: Study) -> list[str]:
    """A doubt about the stated direction, where all metrics contradict it."""
    test_set, signs = study.test_set, []
    for name in test_set.metrics:
        known = np.isfinite(values := test_set.matrix(name)) & np.isfinite(study.rated.scores)
        x, z = study.rated.scores[known], values[known]
        if known.sum() < ENOUGH or np.ptp(x) == 0 or np.ptp(z) == 0:
            return []
        worse = (name in test_set.lower_metrics) != (study.ratings.better == "lower")
        signs.append(np.corrcoef(x, z)[0, 1] * (-1 if worse else 1))
    if not signs or max(signs) > -0.1:
        return []
    other = "higher" if study.ratings.better == "lower" else "lower"
    return [
        f"warning: ratings and all metrics contradict each other; is --better {other} meant, or are"
        " these metrics better when lower (--lower-metrics)?"
    ]


def _used(means: list[Mean]) -> str:
    used = dict.fromkeys(mean.method for mean in means)
    return "+".join(used)


def _gain(means: list[Mean], features: Features | None) -> list[str]:
    """One line on what the metrics contributed, and what had to be done to them."""
    if features is None:
        return []
    helped = [mean for mean in means if mean.method != "mean" and mean.n < mean.population]
    lines: list[str] = list(features.notes)
    if not helped:
        return [*lines, "metrics explain nothing here, or ratings are too few: the mean is used"]
    left = float(np.mean([mean.unexplained for mean in helped]))
    ratings = float(np.mean([mean.n for mean in helped]))
    lines.append(
        f"metrics leave {left:.0%} of the variance of the ratings ({helped[0].method}):"
        f" {ratings:.0f} ratings are worth {ratings / max(left, 1e-9):.0f}"
    )
    if ratings <= 30:
        lines.append("30 ratings or fewer: what metrics contribute is itself uncertain")
    return lines


def _by_rank(
    differences: tuple[Difference, ...], systems: tuple[SystemEstimate, ...]
) -> tuple[Difference, ...]:
    """The differences in the order of the systems, the better-ranked one on the left."""
    place = {item.system: k for k, item in enumerate(systems)}
    turned = [item if place[item.left] < place[item.right] else item.turned for item in differences]
    return tuple(sorted(turned, key=lambda item: (place[item.left], place[item.right])))


def _systems(
    test_set: TestSet,
    means: list[Mean],
    differences: tuple[Difference, ...],
    better: str,
    interval: str,
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
            method=means[i].method,
            interval=interval,
            rank=int(ranks[i]),
            low_rank=int(low[i]),
            high_rank=int(high[i]),
            cluster=int(clusters[i]),
        )
        for system, i in index.items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.rank, sign * -row.estimate, row.system)))
