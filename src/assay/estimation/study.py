"""One estimation: systems, pairs of systems and groups of segments by the same rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from assay.errors import InputError, OptionError
from assay.estimation.adjust import (
    Adjusted,
    Fitted,
    Units,
    adjusted_means,
    check_method,
    fitted,
    group_mean,
)
from assay.estimation.coverage import Rated, rated_outputs
from assay.estimation.features import Features, make_features
from assay.estimation.intervals import check_interval, mean_interval
from assay.estimation.new_documents import (
    check_target,
    document_stderr,
    need_two_documents,
    target_notes,
)
from assay.estimation.response import documents_of, responded
from assay.estimation.results import Difference
from assay.stats.bounds import skew_t_interval, skew_terms
from assay.stats.design_variance import Strata
from assay.stats.intervals import Interval, t_interval, t_probability
from assay.tables.ratings import Ratings
from assay.tables.sample import Sample, read_sample
from assay.tables.test_set import TestSet


class Mean(NamedTuple):
    """An estimate, how far it can be trusted, and what it rests on."""

    center: float
    stderr: float
    degrees: float
    interval: Interval
    n: int
    population: int
    method: str
    unexplained: float


class Target(NamedTuple):
    """What is estimated: scores of all segments (NaN: not known) where they are present.

    ``i`` and ``j`` are the systems, the same where it is one system's own score.
    """

    scores: np.ndarray
    present: np.ndarray
    features: np.ndarray | None
    limits: tuple[float, float]
    i: int
    j: int


def make_study(
    test_set: TestSet,
    ratings: Ratings,
    *,
    sample: Sample | None,
    assume: str | None,
    method: str,
    interval: str,
    level: float,
    target: str = "test-set",
) -> Study:
    """Check everything and lay out what is known."""
    if not 0 < level < 1:
        raise OptionError("level", level, "is no confidence level", "give a number like 0.95")
    _need_tables(test_set, ratings, sample)
    check_method(method, test_set.metrics)
    check_target(target, interval, test_set)
    ratings = ratings.placed_in(test_set)
    sample = None if sample is None else read_sample(sample.frame, test_set)
    rated = rated_outputs(test_set, ratings, sample, assume)
    _need_ratings(test_set, rated.scores)
    stratified = "stratified " if rated.strata is not None else ""
    check_interval(interval, method=method, design=stratified + rated.design, limits=ratings.range)
    method = method if interval in ("t", "skew-t") else "mean"
    features = None if method == "mean" else make_features(test_set)
    lacking = features is None or (method.startswith("cv-") and not features.metrics)
    if lacking and method not in ("auto", "mean"):
        raise InputError(f"the method {method} needs metrics and the scores have none to use")
    if target != "test-set":
        need_two_documents(test_set, rated.scores, documents_of(test_set))
    return Study(test_set, ratings, rated, features, method, interval, level, target)


@dataclass(frozen=True)
class Study:
    """What is known of every system, and the rule by which it is estimated."""

    test_set: TestSet
    ratings: Ratings
    rated: Rated
    features: Features | None
    method: str
    interval: str
    level: float
    target: str

    @property
    def notes(self) -> tuple[str, ...]:
        """What was said while reading and laying out."""
        said = target_notes(self.target, self.rated.scores, self._document)
        return (*self.test_set.notes, *self.ratings.notes, *self.rated.notes, *said)

    def mean(self, i: int) -> Mean:
        """One system's score on its segments."""
        return self._estimate(self._own(i))

    def difference(self, i: int, j: int) -> Difference:
        """Two systems' difference on the segments they share."""
        return self._difference(self._estimate(self._pair(i, j)), i, j)

    def group_means(self, i: int, group: np.ndarray, count: int) -> list[Mean]:
        """One system's score on the segments of each group; -1 is no group."""
        return self._grouped(self._own(i), group, count)

    def group_differences(self, i: int, j: int, group: np.ndarray, count: int) -> list[Difference]:
        """Two systems' difference in each group."""
        found = self._grouped(self._pair(i, j), group, count)
        return [self._difference(item, i, j) for item in found]

    def _own(self, i: int) -> Target:
        values = None if self.features is None else self.features.values[i]
        limits = self.ratings.range or (0.0, 0.0)
        return Target(self.rated.scores[i], self.test_set.present[i], values, limits, i, i)

    def _pair(self, i: int, j: int) -> Target:
        both = self.test_set.present[i] & self.test_set.present[j]
        values = None
        if self.features is not None:
            values = self.features.between(i, j)
        low, high = self.ratings.range or (0.0, 0.0)
        gap = self.rated.scores[i] - self.rated.scores[j]
        return Target(gap, both, values, (low - high, high - low), i, j)

    def _difference(self, found: Mean, i: int, j: int) -> Difference:
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
            p=t_probability(found.center, found.stderr, found.degrees),
            degrees=found.degrees,
            population=found.population,
        )

    def _estimate(self, target: Target) -> Mean:
        places = np.flatnonzero(target.present)
        x = target.scores[places]
        drawn = ~np.isnan(x)
        if not drawn.any():
            return self._nothing(len(places))
        units = self._units(target, places, drawn)
        found = adjusted_means(x, drawn[None, :], units, self.method)
        if self.target == "new-documents":
            fit = fitted(x, drawn, units, self.method)
            found = self._of_documents(found, x, drawn, fit, units)
        if self.interval == "t":
            return self._wrapped(found, len(places))
        if self.interval == "skew-t":
            return self._skewed(self._wrapped(found, len(places)), x, drawn, units)
        if np.ptp(units.pi[drawn]) > 1e-9:
            raise InputError(
                f"the interval {self.interval} is for ratings that all count alike, and these have"
                " weights (importance, or skipped outputs); take --interval t"
            )
        # The order must not depend on the ratings; the sample's own seed repeats it.
        rng = np.random.default_rng([self.rated.seed or 0, 1])
        interval = mean_interval(
            self.interval, x[drawn], len(places), target.limits, self.level, rng
        )
        return self._wrapped(found, len(places))._replace(interval=interval)

    def _skewed(self, found: Mean, x: np.ndarray, drawn: np.ndarray, units: Units) -> Mean:
        """With Hall's correction for the skewness of what each rating adds to the estimate."""
        fit = fitted(x, drawn, units, self.method)
        left = x[drawn] - found.center if fit is None else fit.residuals[drawn]
        terms = skew_terms(left / units.pi[drawn], len(x))
        interval = skew_t_interval(found.center, found.stderr, *terms, found.degrees, self.level)
        return found._replace(interval=interval)

    def _grouped(self, target: Target, group: np.ndarray, count: int) -> list[Mean]:
        """Every group by itself, with slopes from all ratings: small groups borrow only these."""
        places = np.flatnonzero(target.present)
        x = target.scores[places]
        drawn = ~np.isnan(x)
        units = self._units(target, places, drawn)
        if units.known is not None and units.features is not None:
            # A history that is known in part has an error of its own, which groups do not show.
            left = units.features[:, :-1]
            units = replace(units, features=left if left.shape[1] else None, known=None)
        fit = fitted(x, drawn, units, self.method) if drawn.any() else None
        means = []
        for number in range(count):
            inside = group[places] == number
            if not drawn[inside].any():
                means.append(self._nothing(int(inside.sum())))
                continue
            own = None if fit is None else fit.part(inside)
            part = units.part(inside, drawn)
            found = group_mean(x[inside], drawn[inside], own, part)
            if self.target == "new-documents":
                found = self._of_documents(found, x[inside], drawn[inside], own, part)
            means.append(self._wrapped(found, int(inside.sum())))
        return means

    @staticmethod
    def _of_documents(
        found: Adjusted, x: np.ndarray, drawn: np.ndarray, fit: Fitted | None, units: Units
    ) -> Adjusted:
        """The same estimate, with its error around the mean of all such documents."""
        stderr, degrees = document_stderr(x, drawn, fit, units.pi, units.document)
        return replace(found, stderr=np.array([stderr]), degrees=np.array([degrees]))

    @cached_property
    def _document(self) -> np.ndarray:
        return documents_of(self.test_set)

    def _wrapped(self, found: Adjusted, population: int) -> Mean:
        """The only estimate of the batch."""
        center, stderr, degrees = (
            float(values[0]) for values in (found.center, found.stderr, found.degrees)
        )
        used = "regression" if self.method == "auto" else self.method
        return Mean(
            center, stderr, degrees, t_interval(center, stderr, degrees, self.level),
            int(found.n[0]), population, used if found.used[0] else "mean",
            float(found.unexplained[0]),
        )  # fmt: skip

    def _nothing(self, population: int) -> Mean:
        unknown = float("nan")
        interval = t_interval(unknown, unknown, 1, self.level)
        return Mean(unknown, unknown, 1.0, interval, 0, population, "mean", 1.0)

    def _probabilities(self, target: Target) -> np.ndarray:
        """That of being drawn and rated, for every rated segment."""
        pi = np.asarray(self.rated.pi[target.i])
        if self._apart(target):
            pi = pi * self.rated.pi[target.j]  # each system was drawn by itself
        if self.rated.classes is None:
            return pi
        drawn = ~np.isnan(pi) & ~np.isnan(self.rated.pi[target.j]) & target.present
        found = pi.copy()
        rated = ~np.isnan(target.scores[drawn])
        if rated.any():
            numbers = [number[drawn] for number in self.rated.classes.numbers]
            if self.rated.strata is not None:
                numbers.insert(0, self.rated.strata[target.i].number[drawn])
            found[drawn] = responded(pi[drawn], rated, numbers)
        return found

    def _units(self, target: Target, places: np.ndarray, drawn: np.ndarray) -> Units:
        pi, rated = self._probabilities(target)[places], self.rated
        known = None if self.features is None else self.features.known
        return Units(
            pi=np.where(drawn, pi, 1.0),
            # What two samples share is spread over nothing in particular.
            kind="simple" if self._apart(target) else rated.kind,
            document=self._document[places],
            position=None if rated.position is None else rated.position[target.i, places],
            strata=self._strata(target),
            features=None if target.features is None else target.features[places],
            metrics=0 if self.features is None else self.features.metrics,
            names=() if self.features is None else self.features.names,
            known=None if known is None or target.i != target.j else known[target.i, places],
        )

    def _strata(self, target: Target) -> Strata | None:
        """The strata of the segments asked about; drawn segments beside them count as outside."""
        if self.rated.strata is None or self.rated.drawn is None:
            return None
        drawn = self.rated.drawn[target.i]
        return self.rated.strata[target.i].part(target.present, drawn)

    def _apart(self, target: Target) -> bool:
        """Whether two systems are compared that were drawn each by itself."""
        return target.i != target.j and not self.rated.matched


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
