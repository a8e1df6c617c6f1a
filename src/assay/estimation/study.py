"""A study: what is known of every system, and the rule that estimates scores and differences.

An estimate needs the probability with which each rating came to be: from the sample, because
everything was rated, or by an assumption of the user, which the result repeats. What the answer is
for (raters, texts or answers) decides which error it has.

Intervals, by name: ``t`` suits every design and method. ``skew-t`` corrects scores for skewness,
for simple random, snippet and balanced samples, with the mean or the regression; differences are
not skewed enough to gain and keep ``t``. ``auto`` is ``skew-t`` for 10 to 59 ratings where it
applies, and otherwise ``t``. ``betting``, ``hoeffding`` and ``bernstein`` are guaranteed for the
mean of a simple random sample of scores in a stated range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from assay.designs.base import DesignUnits, SampledUnits, SamplingDesign, design_of
from assay.errors import USABLE_LEVELS, InputError, OptionError, need_known, need_level
from assay.estimation.kernels import (
    Adjusted,
    Features,
    Fitted,
    Predictors,
    adjusted_mean,
    check_method,
    make_features,
    with_raters,
)
from assay.estimation.overlap import (
    MIN_DOUBLED_TASKS,
    Overlap,
    find_overlap,
    rater_notes,
    raters_by_system,
)
from assay.estimation.results import FORMER_TARGETS, Basis, Difference, Mean
from assay.results import Note
from assay.stats.intervals import t_interval, t_probability
from assay.tables.tables import Ratings, Sample, TestSet

if TYPE_CHECKING:
    from assay.designs.base import Strata
    from assay.estimation.severity import SeverityError
    from assay.estimation.skipping import Classes

TARGETS = ("raters", "texts", "answers")
"""What an answer may be for: raters like these, texts like these, or these answers alone."""
GUARANTEED = ("betting", "hoeffding", "bernstein")
SKEW_METHODS = ("auto", "mean", "regression")
"""The methods for which the correction for skewness was found to help."""
MIN_RATINGS_FOR_SKEWNESS, MIN_RATINGS_FOR_T = 10, 60
"""Between these numbers of ratings the t interval of a skewed score misses on one side, and there
are enough ratings to estimate the skewness."""
LEAST_REST = 10
"""A system whose last so many segments, of all that were rated, have no rating is at rest."""
NO_WIDTH = 1e-9
"""A standard error that is a smaller part of the largest score is rounding error."""


class Target(NamedTuple):
    """What is estimated: one system's score (``i`` is ``j``) or the difference of two.

    ``scores`` are those of all segments, NaN where unknown. ``pool`` says whether the raters as a
    whole may be strict or mild, which cancels in differences.
    """

    scores: np.ndarray
    limits: tuple[float, float]
    i: int
    j: int
    pool: bool = False


def make_study(
    test_set: TestSet,
    ratings: Ratings,
    *,
    sample: Sample | None,
    assume: str | None,
    method: str,
    interval: str,
    level: float,
    target: str | None = None,
    severity: SeverityError | None = None,
) -> Study:
    """Check all arguments and lay out ratings, probabilities and features as arrays.

    The default target is raters like these if enough outputs have several raters, else these
    answers; but once more than half is rated, texts like these if that gives the larger error:
    an error near zero would claim that other raters would have answered the same.
    """
    if not USABLE_LEVELS[0] <= level <= USABLE_LEVELS[1]:
        need_level(level)
    _need_tables(test_set, ratings, sample)
    check_method(method, test_set.metrics)
    wanted = _check_target(target, interval)
    ratings = ratings.placed_in(test_set)
    sample = None if sample is None else sample.placed_in(test_set)
    rated = rated_outputs(test_set, ratings, sample, assume)
    _need_ratings(test_set, rated.scores)
    if interval not in ("auto", "t"):
        from assay.estimation.intervals import check_interval

        check_interval(interval, method=method, design=rated.design, limits=ratings.range)
    method = "mean" if interval in GUARANTEED else method
    features = None if method == "mean" else make_features(test_set)
    lacking = features is None or (method.startswith("cv-") and not features.metrics)
    if lacking and method not in ("auto", "mean"):
        raise InputError(f"the method {method} needs metrics, but the scores have none")
    if target == "texts" and test_set.has_documents:
        from assay.estimation.texts import need_two_documents

        need_two_documents(test_set, rated)
    overlap = None
    if target in (None, "raters") and interval not in GUARANTEED:
        overlap = find_overlap(test_set, ratings, rated.scores, sample)
        if severity is not None and overlap is not None:
            overlap = severity.inflated(overlap)
        if target == "raters" and overlap is None:
            raise InputError(
                f"the target raters needs at least {MIN_DOUBLED_TASKS} tasks that two raters did,"
                " and these ratings have fewer; have a tenth of the tasks done twice, or choose"
                " the target texts or answers"
            )
    return Study(
        test_set, ratings, rated, features, method, interval, level,
        wanted or ("answers" if overlap is None else "raters"), overlap,
        cautious=wanted is None and overlap is None and interval not in GUARANTEED,
        severity=severity,
    )  # fmt: skip


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
    target: Basis
    overlap: Overlap | None = None
    cautious: bool = False
    """Whether errors become those for texts once more than half is rated: no target was stated."""
    severity: SeverityError | None = None
    """The error of the severities subtracted from the ratings, if any were."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks from reading the tables, and on what the intervals hold for."""
        if self.target == "raters" and self.overlap is not None:
            found = self.overlap.severities.found if self.severity is None else self.severity.found
            said = rater_notes(self.overlap, found)
        else:
            from assay.estimation.texts import target_notes

            said = target_notes(self)
        said += raters_by_system(self.ratings)
        return (*self.test_set.notes, *self.ratings.notes, *self.rated.notes, *said)

    def mean(self, i: int) -> Mean:
        """One system's score on its segments."""
        return self.estimate(self.score(i))

    def difference(self, i: int, j: int) -> Difference:
        """Two systems' difference on the segments they share.

        Of systems that share less than half of their segments, the difference of their scores.
        """
        one, other = ~np.isnan(self.rated.scores[i]), ~np.isnan(self.rated.scores[j])
        few = 2 * (one & other).sum() < min(one.sum(), other.sum())
        if few and self.interval not in GUARANTEED:
            from assay.estimation.unmatched import difference_of_scores

            return replace(self.named(difference_of_scores(self, i, j), i, j), apart=True)
        return self.named(self.estimate(self.gap(i, j)), i, j)

    def score(self, i: int) -> Target:
        """The score of a system as a target."""
        return Target(self.rated.scores[i], self.ratings.range or (0.0, 0.0), i, i, pool=True)

    def gap(self, i: int, j: int) -> Target:
        """The difference of two systems as a target."""
        low, high = self.ratings.range or (0.0, 0.0)
        return Target(self.rated.scores[i] - self.rated.scores[j], (low - high, high - low), i, j)

    def laid_out(
        self, target: Target
    ) -> tuple[np.ndarray, np.ndarray, DesignUnits, Predictors | None]:
        """The segments that the target is about: their places, scores, design and features."""
        present = self.rated.present[target.i] & self.rated.present[target.j]
        places = np.flatnonzero(present)
        units = self.rated.units(target.i, target.j, target.scores)
        predictors = None
        if self.features is not None:
            predictors = self.features.between(target.i, target.j, present)
        return places, target.scores[places], units, predictors

    def named(self, found: Mean, i: int, j: int) -> Difference:
        """An estimated difference with the names of its systems, its verdict and its p value."""
        low, high = found.interval.low, found.interval.high
        return Difference(
            self.test_set.systems[i], self.test_set.systems[j], found.center, low, high,
            found.stderr, found.n, low < high and (low > 0 or high < 0),
            t_probability(found.center, found.stderr, found.degrees), found.degrees,
            found.population, found.basis, found.rater_stderr,
        )  # fmt: skip

    def estimate(self, target: Target) -> Mean:
        """The estimate of a target, with its error and interval."""
        places, x, units, predictors = self.laid_out(target)
        drawn = ~np.isnan(x)
        if not drawn.any():
            return self.nothing(len(places))
        found, fit = adjusted_mean(x, drawn, units, self.method, predictors)
        mean = self.with_error(found, target, x, places, fit, units)
        if self._corrects_skew(target, mean):
            from assay.estimation.intervals import with_skew_interval

            mean = with_skew_interval(mean, x, drawn, fit, units, self.level)
        elif self.interval in GUARANTEED:
            from assay.estimation.intervals import with_guarantee

            return with_guarantee(mean, self, target.limits, x[drawn], units.pi[drawn])
        low, high = target.limits
        inside = low <= mean.interval.low and mean.interval.high <= high
        if not low < high or not mean.stderr > 0 or inside:
            return mean
        from assay.estimation.intervals import within_scale

        return within_scale(mean, target.limits)

    def _corrects_skew(self, target: Target, found: Mean) -> bool:
        """Whether the interval of a score is corrected for skewness."""
        if target.i != target.j or self.interval not in ("auto", "skew-t"):
            return False
        if self.interval == "skew-t":
            return True
        fits = self.method in SKEW_METHODS and self.rated.design.skew_correction
        known = MIN_RATINGS_FOR_SKEWNESS <= found.n < MIN_RATINGS_FOR_T
        return fits and found.basis != "texts" and known

    def with_error(
        self, found: Adjusted, target: Target, x: np.ndarray, places: np.ndarray,
        fit: Fitted | None, units: DesignUnits,
    ) -> Mean:  # fmt: skip
        """An estimate with the error for the study's target, and its t interval."""
        drawn = ~np.isnan(x)
        found, basis, part = self._for_target(found, target, x, drawn, fit, units)
        if self.severity is not None:
            w = self.shares(target.i, places[drawn], units.pi[drawn])
            if target.i != target.j:
                w = w - self.shares(target.j, places[drawn], units.pi[drawn])
            more = self.severity.variance(w)
            found, part = with_raters(found, more, self.severity.degrees), part + more
        pool, degrees = 0.0, 1.0
        if target.pool and basis == "raters":
            pool, degrees = self._pool_severity(target.i, places[drawn], units.pi[drawn])
        found = found if pool == 0 else with_raters(found, pool, degrees)
        stderr = self.beyond_rounding(float(found.stderr[0]), target.i, target.j, drawn.all())
        center, degrees = float(found.center[0]), float(found.degrees[0])
        used = "regression" if self.method == "auto" else self.method
        return Mean(
            center, stderr, degrees, t_interval(center, stderr, degrees, self.level),
            int(found.n[0]), len(x), used if found.used[0] else "mean",
            float(found.unexplained[0]), basis, float(np.sqrt(part + pool)), float(np.sqrt(pool)),
        )  # fmt: skip

    def _for_target(
        self, found: Adjusted, target: Target, x: np.ndarray, drawn: np.ndarray,
        fit: Fitted | None, units: DesignUnits,
    ) -> tuple[Adjusted, Basis, float]:  # fmt: skip
        """The error for the study's target, what it is for, and the variance from raters."""
        if self.target == "raters" and self.overlap is not None:
            part = self.overlap.part(target.i, target.j, x[drawn], len(x))
            return with_raters(found, part, self.overlap.variance.degrees), "raters", part
        if self.target == "texts" or (self.cautious and 2 * drawn.sum() > len(drawn)):
            from assay.estimation.texts import texts_error

            stderr, degrees = texts_error(self, x, drawn, fit, units)
            if self.target == "texts" or stderr > found.stderr[0]:
                wider = found._replace(stderr=np.array([stderr]), degrees=np.array([degrees]))
                return wider, "texts", 0.0
        return found, "answers", 0.0

    def _pool_severity(self, i: int, places: np.ndarray, pi: np.ndarray) -> tuple[float, float]:
        """The variance of a score because these raters may be strict or mild as a whole.

        Only what is not yet part of its error, and the degrees of freedom. Where severities were
        subtracted, their mean remains.
        """
        if self.severity is not None:
            known = self.severity.found
            degrees = 1.0 if known is None else known.degrees
            return self.severity.part(self.shares(i, places, pi)), degrees
        if self.overlap is None:
            return 0.0, 1.0
        severities = self.overlap.severities
        scale = self.overlap.scale(self.rated.scores[i, places])
        return severities.part(i, self._weight(places, pi), scale), severities.found.degrees

    def shares(self, i: int, places: np.ndarray, pi: np.ndarray) -> np.ndarray:
        """The raters' shares of a system's score on these segments."""
        return cast("SeverityError", self.severity).shares(i, self._weight(places, pi))

    def _weight(self, places: np.ndarray, pi: np.ndarray) -> np.ndarray:
        """The weight of every segment of the test set in a score from these segments."""
        weight = np.zeros(self.rated.scores.shape[1])
        weight[places] = 1 / pi / (1 / pi).sum()
        return weight

    @cached_property
    def _largest(self) -> list[float]:
        """The largest absolute score of every system."""
        return [float(np.nanmax(np.abs(row), initial=0.0)) for row in self.rated.scores]

    def beyond_rounding(self, stderr: float, i: int, j: int, all_rated: bool) -> float:
        """The standard error; instead of rounding error, 0 if all is rated and else NaN."""
        if not stderr <= NO_WIDTH * max(self._largest[i], self._largest[j]):
            return stderr
        return 0.0 if all_rated else float("nan")

    def nothing(self, population: int) -> Mean:
        """The estimate without any rating: unknown."""
        unknown = float("nan")
        interval = t_interval(unknown, unknown, 1, self.level)
        return Mean(unknown, unknown, 1.0, interval, 0, population, "mean", 1.0)


def _need_tables(test_set: TestSet, ratings: Ratings, sample: Sample | None) -> None:
    for value, kind, reader in (
        (test_set, TestSet, "read_scores"),
        (ratings, Ratings, "read_ratings"),
        (sample, Sample, "read_sample"),
    ):
        if value is not None and not isinstance(value, kind):
            raise InputError(
                f"expected {kind.__name__}, found {type(value).__name__}; read it with"
                f" assay.{reader}(...)"
            )
    if "lp" in test_set.key and test_set.segments["lp"].n_unique() > 1:
        raise InputError(
            "the scores have several language pairs, and one score for all would mean nothing;"
            f" choose one with `only` (lp={test_set.frame['lp'][0]})"
        )


def _need_ratings(test_set: TestSet, scores: np.ndarray) -> None:
    bare = [
        system for system, row in zip(test_set.systems, scores, strict=True) if np.isnan(row).all()
    ]
    if bare:
        raise InputError(
            f"no usable rating for {', '.join(bare)}; rate some of the drawn segments, or leave"
            " the system out (`exclude`)"
        )


def _check_target(target: str | None, interval: str) -> Basis | None:
    """Refuse an unknown target, or one that the interval cannot be for."""
    if target in FORMER_TARGETS:
        now = FORMER_TARGETS[str(target)]
        raise OptionError("target", target, f"is now called {now}", f"give {now}")
    if target is not None:
        need_known("target", target, TARGETS)
    named = cast("Basis | None", target)
    if named in (None, "answers"):
        return named
    if interval in GUARANTEED or (target == "texts" and interval == "skew-t"):
        raise InputError(
            f"the {interval} interval is not for the target {target}; use the t interval"
        )
    return named


class Rated(NamedTuple):
    """Scores and inclusion probabilities as systems x segments, and how they came to be.

    Unknown or unusable scores are NaN. ``drawn`` marks the segments of the sample, also where a
    system lacks them. ``position`` and ``strata`` come from the sample, one row or entry per
    system. Within ``classes`` the rated outputs stand for skipped ones. ``matched`` says whether
    all systems share the drawn segments; ``line`` is the whole design as in the sample's file.
    """

    design: SamplingDesign
    present: np.ndarray
    document: np.ndarray
    scores: np.ndarray
    pi: np.ndarray
    drawn: np.ndarray
    position: np.ndarray | None = None
    strata: tuple[Strata, ...] | None = None
    matched: bool = True
    classes: Classes | None = None
    line: str | None = None
    notes: tuple[Note, ...] = ()

    def units(self, i: int, j: int, scores: np.ndarray) -> DesignUnits:
        """The segments that both systems have, as their design's variance needs them.

        ``scores`` are those of all segments, NaN where unknown. What two samples drawn apart have
        in common counts as a sample of single segments.
        """
        present = self.present[i] & self.present[j]
        places = np.flatnonzero(present)
        pi = self._probabilities(i, j, present, scores)[places]
        pi = np.where(np.isnan(scores[places]), 1.0, pi)
        if i != j and not self.matched:
            return DesignUnits(design_of("segments"), pi, self.document[places])
        strata = None if self.strata is None else self.strata[i].part(present, self.drawn[i])
        position = None if self.position is None else self.position[i, places]
        return DesignUnits(self.design, pi, self.document[places], position, strata)

    def _probabilities(self, i: int, j: int, present: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The probability of every rated segment to be drawn and rated."""
        pi = np.asarray(self.pi[i])
        if i != j and not self.matched:
            pi = pi * self.pi[j]  # the two systems were drawn independently
        elif i != j:
            pi = np.minimum(pi, self.pi[j])  # one of them may be at rest
        if self.classes is None:
            return pi
        from assay.estimation.skipping import responded

        drawn = ~np.isnan(pi) & ~np.isnan(self.pi[j]) & present
        rated = ~np.isnan(scores[drawn])
        if not rated.any():
            return pi
        numbers = [number[drawn] for number in self.classes.numbers]
        if self.strata is not None:
            numbers.insert(0, self.strata[i].number[drawn])
        found = pi.copy()
        found[drawn] = responded(pi[drawn], rated, numbers)
        return found


def rated_outputs(
    test_set: TestSet, ratings: Ratings, sample: Sample | None, assume: str | None
) -> Rated:
    """The ratings that an estimate may use, from a sample or by assumption."""
    scores = ratings.matrix(test_set)
    if sample is None:
        from assay.estimation.assumed import without_sample

        return without_sample(scores, test_set, assume)
    if assume is not None:
        raise InputError(
            "`assume` and `sample` exclude each other: the sample already says how it was"
            " drawn; leave out `assume`"
        )
    return _sampled(scores, test_set, sample)


def _sampled(scores: np.ndarray, test_set: TestSet, sample: Sample) -> Rated:
    """The ratings of drawn outputs; missing and extra ones are counted in notes."""
    design = design_of(sample.design)
    design.check(sample, test_set)
    line, notes = str(sample.design), list[Note]()
    if not set(design.carries) <= set(sample.frame.columns):
        from assay.designs.provenance import complete  # for files of older versions

        sample, notes = complete(sample, test_set)
    carried, rated = SampledUnits.of_sample(sample, test_set), ~np.isnan(scores)
    if design.rated_in_order and sample.matched:
        carried, said = _begun(carried, rated, design, sample.order(test_set), test_set)
        notes += said
    pi = carried.pi
    extra = int((rated & np.isnan(pi)).sum())
    if extra:
        text = f"{extra:,} rated outputs are outside the sample and not used"
        notes.append(Note("outside-the-sample", text))
    classes = None
    if (~np.isnan(pi) & ~rated & test_set.present).any():
        from assay.estimation.skipping import make_classes, skipping_notes

        classes = make_classes(test_set, stratified=carried.strata is not None)
        notes += skipping_notes(test_set, ~np.isnan(pi), rated, classes)
    return Rated(
        design, test_set.present, test_set.document, np.where(np.isnan(pi), np.nan, scores),
        pi, carried.drawn, carried.position, carried.strata, sample.matched, classes, line,
        tuple(notes),
    )  # fmt: skip


def _begun(
    carried: SampledUnits, rated: np.ndarray, design: SamplingDesign, order: np.ndarray,
    test_set: TestSet,
) -> tuple[SampledUnits, list[Note]]:  # fmt: skip
    """Only the rated beginning of a sample, if the design makes every beginning a sample.

    A system at rest has a shorter beginning: its last ratings are far before those of others.
    Raters leave out an output here and there, but a long stretch at the end was never shown.
    """
    done = np.flatnonzero(rated[:, order].any(axis=0))
    count = int(done[-1]) + 1 if len(done) else len(order)
    if not design.is_sample(count):
        return carried, []
    answered = (rated | ~test_set.present)[:, order[:count]]
    ends = np.where(answered.any(axis=1), count - answered[:, ::-1].argmax(axis=1), count)
    ends[count - ends < LEAST_REST] = count
    notes = [
        Note("rests", f"{name} rests: its ratings end at segment {end:,} of {count:,} in the"
                      " sample's order, and it is estimated from these")
        for name, end in zip(test_set.systems, ends.tolist(), strict=True)
        if end < count
    ]  # fmt: skip
    if count == len(order) and not notes:
        return carried, []
    drawn = np.zeros_like(carried.drawn)
    drawn[:, order] = np.arange(len(order)) < ends[:, None]
    pi = np.where(drawn & test_set.present, ends[:, None] / drawn.shape[1], np.nan)
    if count < len(order):
        text = (
            f"ratings reach segment {count:,} of {len(order):,} in the sample's order; that part"
            " is a sample in its own right"
        )
        notes.insert(0, Note("rated-beginning", text))
    return carried._replace(drawn=drawn, pi=pi), notes
