"""From ratings to scores on the whole test set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from assay.errors import InputError, OptionError
from assay.estimation.adjust import Units, adjusted_means, check_method
from assay.estimation.coverage import Rated, rated_outputs
from assay.estimation.features import Features, make_features
from assay.estimation.intervals import check_interval, mean_interval
from assay.estimation.results import Difference, Estimates, SystemEstimate
from assay.stats.intervals import Interval, t_interval
from assay.stats.orders import cluster_numbers, rank_ranges
from assay.tables import Ratings, Sample, TestSet, read_sample

__all__ = ["estimate"]


def estimate(
    test_set: TestSet,
    ratings: Ratings,
    *,
    sample: Sample | None = None,
    assume: str | None = None,
    method: str = "auto",
    interval: str = "t",
    level: float = 0.95,
) -> Estimates:
    """Estimate every system's score on the whole test set.

    Several raters' scores of an output are averaged first. ``method`` is ``mean``; ``regression``
    on all metrics; the control variates of saldias2022 (``cv-single``, ``cv-mean``, ``cv-multi``,
    ``cv-knn``); or ``auto``, which uses regression where there are metrics and enough ratings, and
    the mean where metrics explain nothing. Ratings are weighted by 1/pi, pi the inclusion
    probability that the sample states. The interval is Student's t around it with the variance
    that goes with the design and the finite-population correction. Differences use the segments
    that both systems have rated, so what the systems share drops out.

    Other intervals (``skew-t``, ``bootstrap``, and with a stated range the guaranteed ``betting``,
    ``hoeffding``, ``bernstein``) are for the mean of a simple random sample.

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
    if not 0 < level < 1:
        raise OptionError("level", level, "is no confidence level", "give a number like 0.95")
    _need_tables(test_set, ratings, sample)
    check_method(method, test_set.metrics)
    ratings = ratings.placed_in(test_set)
    sample = None if sample is None else read_sample(sample.frame, test_set)
    rated = rated_outputs(test_set, ratings, sample, assume)
    _need_ratings(test_set, rated.scores)
    stratified = "stratified " if rated.stratum is not None else ""
    check_interval(interval, method=method, design=stratified + rated.design, limits=ratings.range)
    method = method if interval == "t" else "mean"
    features = None if method == "mean" else make_features(test_set)
    if features is None and method not in ("auto", "mean"):
        raise InputError(f"the method {method} needs metrics and the scores have none to use")
    study = _Study(test_set, rated, features, method, interval, ratings.range, level)
    means = [study.mean(i) for i in range(len(rated.scores))]
    differences = tuple(
        study.difference(i, j) for i, j in combinations(range(len(rated.scores)), 2)
    )
    systems = _systems(test_set, means, differences, ratings.better, interval)
    return Estimates(
        systems=systems,
        differences=_by_rank(differences, systems),
        better=ratings.better,
        level=level,
        method=_used(means),
        interval=interval,
        design=rated.design,
        seed=rated.seed,
        metrics=() if features is None else test_set.metrics,
        notes=(*test_set.notes, *ratings.notes, *rated.notes, *_gain(means, features)),
    )


def _used(means: list[_Mean]) -> str:
    used = dict.fromkeys(mean.method for mean in means)
    return "+".join(used)


def _gain(means: list[_Mean], features: Features | None) -> list[str]:
    """One line on what the metrics contributed, and what had to be done to them."""
    if features is None:
        return []
    helped = [mean for mean in means if mean.method != "mean" and mean.n < mean.population]
    lines = list(features.notes)
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


@dataclass(frozen=True)
class _Study:
    """One estimation: systems and pairs of systems by the same rule."""

    test_set: TestSet
    rated: Rated
    features: Features | None
    method: str
    interval: str
    range: tuple[float, float] | None
    level: float

    def mean(self, i: int) -> _Mean:
        """One system's score on its segments."""
        values = None if self.features is None else self.features.values[i]
        limits = self.range or (0.0, 0.0)
        return self._estimate(self.rated.scores[i], self.test_set.present[i], values, i, limits)

    def difference(self, i: int, j: int) -> Difference:
        """Two systems' difference on the segments they share."""
        both = self.test_set.present[i] & self.test_set.present[j]
        values = None
        if self.features is not None:
            values = self.features.values[i] - self.features.values[j]
        low, high = self.range or (0.0, 0.0)
        gap = self.rated.scores[i] - self.rated.scores[j]
        found = self._estimate(gap, both, values, i, (low - high, high - low))
        low, high = found.interval.low, found.interval.high
        return Difference(
            left=self.test_set.systems[i],
            right=self.test_set.systems[j],
            difference=found.center,
            low=low,
            high=high,
            stderr=found.stderr,
            n=found.n,
            decided=low > 0 or high < 0,
        )

    def _estimate(
        self,
        scores: np.ndarray,
        present: np.ndarray,
        features: np.ndarray | None,
        i: int,
        limits: tuple[float, float],
    ) -> _Mean:
        places = np.flatnonzero(present)
        x = scores[places]
        drawn = ~np.isnan(x)
        population = len(places)
        if not drawn.any():
            unknown = float("nan")
            nothing = t_interval(unknown, unknown, 1, self.level)
            return _Mean(unknown, unknown, nothing, 0, population, "mean", 1.0)
        units = self._units(i, places, drawn, None if features is None else features[places])
        found = adjusted_means(x, drawn[None, :], units, self.method)
        center, stderr = float(found.center[0]), float(found.stderr[0])
        if self.interval == "t":
            interval = t_interval(center, stderr, float(found.degrees[0]), self.level)
        else:
            # The order must not depend on the ratings; the sample's own seed repeats it.
            rng = np.random.default_rng([self.rated.seed or 0, 1])
            interval = mean_interval(self.interval, x[drawn], population, limits, self.level, rng)
        used = "regression" if self.method == "auto" else self.method
        return _Mean(
            center, stderr, interval, int(found.n[0]), population,
            used if found.used[0] else "mean", float(found.unexplained[0]),
        )  # fmt: skip

    def _units(
        self, i: int, places: np.ndarray, drawn: np.ndarray, features: np.ndarray | None
    ) -> Units:
        documents = self.test_set.documents["segments"].to_numpy()
        rated = self.rated
        return Units(
            pi=np.where(drawn, rated.pi[i][places], 1.0),
            kind=rated.kind,
            document=np.repeat(np.arange(len(documents)), documents)[places],
            position=None if rated.position is None else rated.position[places],
            stratum=None if rated.stratum is None else rated.stratum[places],
            features=features,
            metrics=0 if self.features is None else self.features.metrics,
            names=() if self.features is None else self.features.names,
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
    """An estimate, how far it can be trusted, and what it rests on."""

    center: float
    stderr: float
    interval: Interval
    n: int
    population: int
    method: str
    unexplained: float


def _by_rank(
    differences: tuple[Difference, ...], systems: tuple[SystemEstimate, ...]
) -> tuple[Difference, ...]:
    """The differences in the order of the systems, the better-ranked one on the left."""
    place = {item.system: k for k, item in enumerate(systems)}
    turned = [_turned(item, place) for item in differences]
    return tuple(sorted(turned, key=lambda item: (place[item.left], place[item.right])))


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
