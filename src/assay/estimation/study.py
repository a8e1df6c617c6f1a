"""One estimation: systems, pairs of systems and groups of segments by the same rule.

What an answer is for (raters, texts, answers) decides which error an estimate has.

Intervals around an estimate, by name: ``t`` goes with every design and method. ``skew-t`` repairs
part of what skewed scores cost at small n, also for regression and for snippets and balanced
samples, by the skewness of the leave-one-out residuals; a difference of two systems is not skewed
enough to gain by it, and keeps ``t``. ``auto`` is ``skew-t`` for 10 to 59 ratings where it applies,
and otherwise ``t``. ``betting``, ``hoeffding`` and ``bernstein`` are for the mean of a simple
random sample and guaranteed in a stated range.

An estimate needs to know with which probability each rating came to be there. Either a sample
says so, or everything was rated, or the user states an assumption, which the result repeats.

What metrics say of each segment are the features of a regression: a system's standardised
metrics, the square of their consensus, and the document mean of the consensus. The consensus is
the mean of the metrics, each turned the way that agrees with the others, so that neither the sign
nor the scale of a metric matters. Where the test set has a history, it is the last feature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from assay.designs.base import SamplingDesign, Strata, design_of, find_design
from assay.designs.units import TOLERANCE, DesignUnits, SampledUnits, complete, need_population
from assay.designs.unsampled import ASSUMPTIONS, Census
from assay.errors import USABLE_LEVELS, InputError, OptionError, need_known, need_level
from assay.estimation.kernels import (
    GUARANTEED,
    MIN_DOUBLED_TASKS,
    SKEW_METHODS,
    Adjusted,
    Fitted,
    Overlap,
    Predictors,
    adjusted_mean,
    check_interval,
    check_method,
    document_parts,
    documents_error,
    find_overlap,
    group_mean,
    raters_by_system,
    with_raters,
)
from assay.estimation.results import FORMER_TARGETS, Basis, Difference, Mean
from assay.estimation.skipping import Classes, make_classes, responded, skipping_notes
from assay.results import Note
from assay.stats.bounds import mean_interval, skew_t_interval, skew_terms
from assay.stats.intervals import interval_within, t_interval, t_probability
from assay.tables.tables import Ratings, Sample, TestSet

if TYPE_CHECKING:
    from assay.estimation.raters import SeverityError

TARGETS = ("raters", "texts", "answers")
"""What an answer may be for: raters like these, texts like these, or these answers alone."""


FEW_DOCUMENTS = 20
"""With fewer, their spread is itself uncertain."""
CLEAR_TASTE = 3.0
"""Standard errors from which on raters' lasting tastes are clearly there: in 1% by chance."""
FEW_RATERS = 3
"""Up to so many, how strict others would be is all but unknown."""
MIN_RATINGS_FOR_SKEWNESS, MIN_RATINGS_FOR_T = 10, 60
"""Between these, the t interval of a skewed score misses on one side, and its skewness is known."""
LEAST_REST = 10
"""So many segments at the end of what was rated, none of them rated for a system: it rests."""
NO_WIDTH = 1e-9
"""A standard error that is a smaller part of the largest score is one of rounding, and none."""


class Target(NamedTuple):
    """What is estimated: the scores of all segments, NaN where they are not known.

    ``i`` and ``j`` are the systems, the same where it is one system's own score. ``pool`` says
    whether the raters as a whole may be strict or mild, which drops out of differences.
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
    """Check everything and lay out what is known.

    Without a ``target`` an answer is for raters like these where enough outputs have several
    raters. Where none have, it is for these answers; once more than half is rated it is for texts
    like these, if that makes the larger error: an error near zero would say that nobody could
    have answered otherwise.
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
    check_interval(interval, method=method, design=rated.design, limits=ratings.range)
    method = "mean" if interval in GUARANTEED else method
    features = None if method == "mean" else make_features(test_set)
    lacking = features is None or (method.startswith("cv-") and not features.metrics)
    if lacking and method not in ("auto", "mean"):
        raise InputError(f"the method {method} needs metrics, and the scores have none")
    if target == "texts" and test_set.has_documents:
        _need_two_documents(test_set, rated)
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


def members(group: np.ndarray, count: int) -> list[np.ndarray]:
    """The places of the members of each of ``count`` groups; -1 stands for none.

    >>> [found.tolist() for found in members(np.array([1, 0, -1, 1]), 3)]
    [[1], [0, 3], []]
    """
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(count + 1))
    return [order[first:last] for first, last in pairwise(ends.tolist())]


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
    """Whether more than half rated makes an answer one for texts: nobody said what it is for."""
    severity: SeverityError | None = None
    """The error of the severities that were taken off the ratings, where any were."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was said while reading and laying out."""
        said = (*_target_notes(self), *raters_by_system(self.ratings))
        return (*self.test_set.notes, *self.ratings.notes, *self.rated.notes, *said)

    def mean(self, i: int) -> Mean:
        """One system's score on its segments."""
        return self._estimate(self._own(i))

    def difference(self, i: int, j: int) -> Difference:
        """Two systems' difference on the segments they share, or of their scores.

        What two systems share that were rated apart is little, and there by chance.
        """
        one, other = ~np.isnan(self.rated.scores[i]), ~np.isnan(self.rated.scores[j])
        few = 2 * (one & other).sum() < min(one.sum(), other.sum())
        if few and self.interval not in GUARANTEED:
            return replace(self._difference(self._between(i, j), i, j), apart=True)
        return self._difference(self._estimate(self._pair(i, j)), i, j)

    def _between(self, i: int, j: int) -> Mean:
        """One score less another; segments that both have make the error err on the safe side.

        For texts, what their documents have in common drops out.
        """
        one, other = (self._estimate(self._own(k)._replace(pool=False)) for k in (i, j))
        a, b = one.stderr**2, other.stderr**2
        stderr = np.sqrt(a + b)
        degrees = (a + b) ** 2 / (a**2 / one.degrees + b**2 / other.degrees) if a + b > 0 else 1.0
        if one.basis == other.basis == "texts":
            count = len(self.rated.document)
            parts, held = zip(*(self._document_parts(k, count) for k in (i, j)), strict=True)
            stderr, degrees = documents_error(parts[0] - parts[1], len(np.union1d(*held)))
        all_rated = one.n == one.population and other.n == other.population
        stderr = float(np.sqrt(stderr**2 + self._shared_severity(i, j)))
        stderr = self._beyond_rounding(stderr, i, j, all_rated)
        center, degrees = one.center - other.center, float(degrees)
        return one._replace(
            center=center, stderr=stderr, degrees=degrees, n=min(one.n, other.n),
            interval=t_interval(center, stderr, degrees, self.level),
            basis="texts" if "texts" in (one.basis, other.basis) else one.basis,
            rater_stderr=float(np.hypot(one.rater_stderr, other.rater_stderr)),
        )  # fmt: skip

    def _shared_severity(self, i: int, j: int) -> float:
        """What severities add to a difference beyond what they add to each of the two scores."""
        if self.severity is None:
            return 0.0
        laid_out = {k: self._laid_out(self._own(k)) for k in (i, j)}
        w = [
            self._shares(k, places[~np.isnan(x)], units.pi[~np.isnan(x)])
            for k, (places, x, units, _) in laid_out.items()
        ]
        each = sum(self.severity.variance(own) for own in w)
        return max(self.severity.variance(w[0] - w[1]) - each, 0.0)

    def _shares(self, i: int, places: np.ndarray, pi: np.ndarray) -> np.ndarray:
        """The raters' shares of a system's score on these segments."""
        return cast("SeverityError", self.severity).shares(i, self._weight(places, pi))

    def _document_parts(self, i: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """What each document adds to a system's score, and the documents with ratings of it."""
        places, x, units, predictors = self._laid_out(self._own(i))
        drawn = ~np.isnan(x)
        _, fit = adjusted_mean(x, drawn, units, self.method, predictors)
        document = units.document if self._by_documents(units.document[drawn]) else places
        parts = document_parts(x, drawn, fit, units.pi, document, count)
        return parts, np.unique(document[drawn])

    def _by_documents(self, rated: np.ndarray) -> bool:
        """Whether documents are the texts: not where they are not known, or one alone is rated."""
        return self.test_set.has_documents and (not self.cautious or len(np.unique(rated)) > 1)

    def group_means(self, i: int, group: np.ndarray, count: int) -> list[Mean]:
        """One system's score on the segments of each group; -1 stands for none."""
        return self._grouped(self._own(i), group, count)

    def group_differences(self, i: int, j: int, group: np.ndarray, count: int) -> list[Difference]:
        """Two systems' difference in each group."""
        found = self._grouped(self._pair(i, j), group, count)
        return [self._difference(item, i, j) for item in found]

    def _own(self, i: int) -> Target:
        return Target(self.rated.scores[i], self.ratings.range or (0.0, 0.0), i, i, pool=True)

    def _pair(self, i: int, j: int) -> Target:
        low, high = self.ratings.range or (0.0, 0.0)
        gap = self.rated.scores[i] - self.rated.scores[j]
        return Target(gap, (low - high, high - low), i, j)

    def _laid_out(
        self, target: Target
    ) -> tuple[np.ndarray, np.ndarray, DesignUnits, Predictors | None]:
        """The segments asked about: where they stand, their scores, and what is known of them."""
        present = self.rated.present[target.i] & self.rated.present[target.j]
        places = np.flatnonzero(present)
        units = self.rated.units(target.i, target.j, target.scores)
        predictors = None
        if self.features is not None:
            predictors = self.features.between(target.i, target.j, present)
        return places, target.scores[places], units, predictors

    def _difference(self, found: Mean, i: int, j: int) -> Difference:
        low, high = found.interval.low, found.interval.high
        return Difference(
            self.test_set.systems[i],
            self.test_set.systems[j],
            found.center,
            low,
            high,
            found.stderr,
            found.n,
            low < high and (low > 0 or high < 0),
            t_probability(found.center, found.stderr, found.degrees),
            found.degrees,
            found.population,
            found.basis,
            found.rater_stderr,
        )

    def _estimate(self, target: Target) -> Mean:
        places, x, units, predictors = self._laid_out(target)
        drawn = ~np.isnan(x)
        if not drawn.any():
            return self._nothing(len(places))
        found, fit = adjusted_mean(x, drawn, units, self.method, predictors)
        mean = self._with_error(found, target, x, places, fit, units)
        if self._corrects_skew(target, mean):
            # Hall's correction for the skewness of what each rating adds to the estimate.
            left = x[drawn] - mean.center if fit is None else fit.residuals[drawn]
            terms = skew_terms(left / units.pi[drawn], len(x))
            interval = skew_t_interval(mean.center, mean.stderr, *terms, mean.degrees, self.level)
            return self._inside(mean._replace(interval=interval, kind="skew-t"), target)
        if self.interval not in GUARANTEED:
            return self._inside(mean, target)
        if np.ptp(units.pi[drawn]) > 1e-9:
            raise InputError(
                f"the {self.interval} interval is for ratings of equal weight, and these have"
                " unequal weights (importance, or skipped outputs); use the t interval"
            )
        # The order must not depend on the ratings; the sample's own seed repeats it.
        rng = np.random.default_rng([self.rated.design.seed or 0, 1])
        interval = mean_interval(
            self.interval, x[drawn], len(places), target.limits, self.level, rng
        )
        return mean._replace(interval=interval, kind=self.interval)

    def _inside(self, found: Mean, target: Target) -> Mean:
        """With an interval inside the scale, where the scale is stated and the interval is not.

        What is taken off on one side comes back on the other, where it was not longer already.
        """
        low, high = target.limits
        ends = found.interval
        if not low < high or not found.stderr > 0 or (low <= ends.low and ends.high <= high):
            return found
        kept = interval_within(found.center, found.stderr, found.degrees, self.level, low, high)
        first = kept.low if ends.low < low else min(ends.low, kept.low)
        last = kept.high if ends.high > high else max(ends.high, kept.high)
        return found._replace(interval=replace(ends, low=first, high=last))

    def _corrects_skew(self, target: Target, found: Mean) -> bool:
        """Whether the interval of a score is corrected for skewness."""
        if target.i != target.j or self.interval not in ("auto", "skew-t"):
            return False
        if self.interval == "skew-t":
            return True
        fits = self.method in SKEW_METHODS and self.rated.design.skew_correction
        known = MIN_RATINGS_FOR_SKEWNESS <= found.n < MIN_RATINGS_FOR_T
        return fits and found.basis != "texts" and known

    def _grouped(self, target: Target, group: np.ndarray, count: int) -> list[Mean]:
        """Every group by itself, with slopes from all ratings: small groups borrow only these."""
        places, x, units, predictors = self._laid_out(target)
        drawn, fit = ~np.isnan(x), None
        if drawn.any():
            # A history that is known in part has an error of its own, which groups do not show.
            everywhere = None if predictors is None else predictors.everywhere
            fit = adjusted_mean(x, drawn, units, self.method, everywhere)[1]
        means = []
        for inside in members(group[places], count):
            if not drawn[inside].any():
                means.append(self._nothing(len(inside)))
                continue
            own = None if fit is None else fit.part(inside)
            part = units.part(inside, drawn)
            found = group_mean(x[inside], drawn[inside], own, part)
            means.append(self._with_error(found, target, x[inside], places[inside], own, part))
        return means

    def _with_error(
        self, found: Adjusted, target: Target, x: np.ndarray, places: np.ndarray,
        fit: Fitted | None, units: DesignUnits,
    ) -> Mean:  # fmt: skip
        """The same estimate with the error for what is asked."""
        drawn = ~np.isnan(x)
        found, basis, part = self._for_target(found, target, x, drawn, fit, units)
        if self.severity is not None:
            w = self._shares(target.i, places[drawn], units.pi[drawn])
            if target.i != target.j:
                w = w - self._shares(target.j, places[drawn], units.pi[drawn])
            more = self.severity.variance(w)
            found, part = with_raters(found, more, self.severity.degrees), part + more
        pool, degrees = 0.0, 1.0
        if target.pool and basis == "raters":
            pool, degrees = self._pool_severity(target.i, places[drawn], units.pi[drawn])
        found = found if pool == 0 else with_raters(found, pool, degrees)
        stderr = self._beyond_rounding(float(found.stderr[0]), target.i, target.j, drawn.all())
        center, degrees = float(found.center[0]), float(found.degrees[0])
        used = "regression" if self.method == "auto" else self.method
        return Mean(
            center, stderr, degrees, t_interval(center, stderr, degrees, self.level),
            int(found.n[0]), len(x), used if found.used[0] else "mean",
            float(found.unexplained[0]), basis, float(np.sqrt(part + pool)), float(np.sqrt(pool)),
        )  # fmt: skip

    def _pool_severity(self, i: int, places: np.ndarray, pi: np.ndarray) -> tuple[float, float]:
        """The variance of a score for raters beyond these that is not in its error yet.

        Others like them may be stricter or milder as a whole. Also its degrees of freedom. Where
        severities were taken off, their mean is left.
        """
        if self.severity is not None:
            known = self.severity.found
            degrees = 1.0 if known is None else known.degrees
            return self.severity.part(self._shares(i, places, pi)), degrees
        if self.overlap is None:
            return 0.0, 1.0
        severities = self.overlap.severities
        scale = self.overlap.scale(self.rated.scores[i, places])
        return severities.part(i, self._weight(places, pi), scale), severities.found.degrees

    def _weight(self, places: np.ndarray, pi: np.ndarray) -> np.ndarray:
        """That of every segment of the test set in a score from these."""
        weight = np.zeros(self.rated.scores.shape[1])
        weight[places] = 1 / pi / (1 / pi).sum()
        return weight

    @cached_property
    def _largest(self) -> list[float]:
        """The largest score of every system, up or down."""
        return [float(np.nanmax(np.abs(row), initial=0.0)) for row in self.rated.scores]

    def _beyond_rounding(self, stderr: float, i: int, j: int, all_rated: bool) -> float:
        """The standard error; where it is one of rounding, 0 if all is rated and else unknown."""
        if not stderr <= NO_WIDTH * max(self._largest[i], self._largest[j]):
            return stderr
        return 0.0 if all_rated else float("nan")

    def _for_target(
        self, found: Adjusted, target: Target, x: np.ndarray, drawn: np.ndarray,
        fit: Fitted | None, units: DesignUnits,
    ) -> tuple[Adjusted, Basis, float]:  # fmt: skip
        """With the error for what is asked, its name, and the raters' part of the variance."""
        if self.target == "raters" and self.overlap is not None:
            part = self.overlap.part(target.i, target.j, x[drawn], len(x))
            return with_raters(found, part, self.overlap.variance.degrees), "raters", part
        if self.target == "texts" or (self.cautious and 2 * drawn.sum() > len(drawn)):
            by_documents = self._by_documents(units.document[drawn])
            document = units.document if by_documents else np.arange(len(x))
            parts = document_parts(x, drawn, fit, units.pi, document, int(document.max()) + 1)
            stderr, degrees = documents_error(parts, len(np.unique(document[drawn])))
            if self.target == "texts" or stderr > found.stderr[0]:
                wider = found._replace(stderr=np.array([stderr]), degrees=np.array([degrees]))
                return wider, "texts", 0.0
        return found, "answers", 0.0

    def _nothing(self, population: int) -> Mean:
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
    """Refuse a target that is not known, or that an interval cannot speak of."""
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


def _need_two_documents(test_set: TestSet, rated: Rated) -> None:
    """Refuse ratings that say nothing about how documents differ."""
    for system, row in zip(test_set.systems, rated.scores, strict=True):
        held = len(np.unique(rated.document[~np.isnan(row)]))
        if held < 2:
            raise InputError(
                f"all ratings of {system} are from {held} document; rate at least two, or choose"
                " the target answers"
            )


def _target_notes(study: Study) -> tuple[Note, ...]:
    """What the intervals hold for."""
    rated, overlap = study.rated, study.overlap
    if study.target == "raters" and overlap is not None:
        text = (
            f"intervals are for this test set and raters like these {overlap.raters}:"
            f" {overlap.variance.tasks:,} tasks have two or more raters, which shows how much"
            " they differ; a stricter pool would move all systems alike, so differences are more"
            " certain than scores"
        )
        said = [Note("for-raters", text)]
        found = overlap.severities.found if study.severity is None else study.severity.found
        if overlap.raters <= FEW_RATERS and found is not None and found.variance > 0:
            text = (
                f"{overlap.raters} raters say little about how strict others would be, so"
                " intervals of scores are wide; those of differences do not depend on it"
            )
            said.append(Note("few-raters", text))
        if overlap.taste is not None and overlap.taste.errors > CLEAR_TASTE:
            text = (
                "raters have lasting preferences for particular systems (sd"
                f" {overlap.taste.sd:.2g}): with other raters, differences may move by more than"
                " their intervals say"
            )
            said.append(Note("lasting-taste", text))
        return tuple(said)
    if study.target == "texts":
        return (_texts_note(rated, study.test_set.has_documents),)
    if not study.cautious:
        text = "intervals are for these answers: what other raters would have said is not in them"
        return (Note("for-answers", text),)
    text = "no output has two raters, so intervals do not show how much other raters would differ"
    if study.ratings.raters and len(study.ratings.raters) < study.ratings.genuine.height:
        text = text.replace("no output has", f"fewer than {MIN_DOUBLED_TASKS} tasks have")
    text += "; a second rater for a tenth of the tasks would show it"
    notes = [Note("raters-unknown", text)]
    if 2 * (~np.isnan(rated.scores)).sum() > rated.present.sum():
        units = "documents" if study.test_set.has_documents else "segments"
        text = (
            "more than half of the test set is rated: intervals and verdicts are those for other"
            f" {units} like these where they are wider, since an error near zero would leave out"
            " the raters"
        )
        notes.append(Note("texts-for-raters", text))
    return tuple(notes)


def _texts_note(rated: Rated, documents: bool) -> Note:
    done = (~np.isnan(rated.scores)).any(axis=0)
    held = len(np.unique(rated.document[done])) if documents else int(done.sum())
    units = "documents" if documents else "segments"
    text = (
        f"intervals are for new {units} like the {held:,} rated ones, as if those were a random"
        " draw of their kind"
    )
    if documents and held < FEW_DOCUMENTS:
        text += f"; fewer than {FEW_DOCUMENTS} documents: their spread is itself uncertain"
    return Note("for-texts" if documents else "for-segments", text)


class Rated(NamedTuple):
    """Scores and inclusion probabilities as systems x segments, and how they came to be.

    Scores are NaN where there is none to use. ``drawn`` are the segments of the sample, also where
    a system lacks them; ``position`` and ``strata`` are what the sample carries, one row or entry
    per system. In ``classes`` rated outputs stand for skipped ones. ``matched`` says whether all
    systems share the drawn segments, ``line`` is the whole design as the sample's file has it.
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
        """The segments that both systems have (the same system twice: that it has).

        ``scores`` are those of all segments, NaN where they are not known. What two samples share
        that were drawn apart is spread over nothing in particular.
        """
        present = self.present[i] & self.present[j]
        places = np.flatnonzero(present)
        pi = self._probabilities(i, j, present, scores)[places]
        pi = np.where(np.isnan(scores[places]), 1.0, pi)
        if self._apart(i, j):
            return DesignUnits(find_design("segments"), pi, self.document[places])
        strata = None if self.strata is None else self.strata[i].part(present, self.drawn[i])
        position = None if self.position is None else self.position[i, places]
        return DesignUnits(self.design, pi, self.document[places], position, strata)

    def _apart(self, i: int, j: int) -> bool:
        """Whether two systems are compared that were drawn each by itself."""
        return i != j and not self.matched

    def _probabilities(self, i: int, j: int, present: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """That of being drawn and rated, for every rated segment."""
        pi = np.asarray(self.pi[i])
        if self._apart(i, j):
            pi = pi * self.pi[j]  # each system was drawn by itself
        elif i != j:
            pi = np.minimum(pi, self.pi[j])  # the beginning that both have: one may rest
        if self.classes is None:
            return pi
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

    def beginning(self, places: np.ndarray) -> Rated:
        """The ratings of the first segments alone, with the probabilities that these had."""
        begun = np.zeros_like(self.drawn)
        begun[:, places] = True
        pi = np.where(begun & self.present, len(places) / self.scores.shape[1], np.nan)
        return self._replace(scores=np.where(begun, self.scores, np.nan), pi=pi, drawn=begun)


def rated_outputs(
    test_set: TestSet, ratings: Ratings, sample: Sample | None, assume: str | None
) -> Rated:
    """The ratings an estimate may use."""
    scores = ratings.matrix(test_set)
    if sample is not None:
        if assume is not None:
            raise InputError(
                "`assume` and `sample` exclude each other: the sample already says how it was"
                " drawn; leave out `assume`"
            )
        return _sampled(scores, test_set, sample)
    if assume is not None:
        need_known("assume", assume, list(ASSUMPTIONS))
    missing = int((test_set.present & np.isnan(scores)).sum())
    pi = np.ones_like(scores)
    if not missing:
        design: SamplingDesign = Census("census")
        text = (
            "everything is rated, so there is no sampling error; what other raters or texts"
            " would give is still uncertain"
        )
        note = Note("everything-rated", text)
    elif assume is None:
        total = int(test_set.present.sum())
        raise InputError(
            f"{missing:,} of {total:,} outputs have no rating, and no sample says how the rated"
            " ones were chosen; give the sample they were drawn with (`sample`), or say that they"
            " are a simple random sample (`assume` random)"
        )
    else:
        design, what = ASSUMPTIONS[assume]
        note = Note("assumed", f"assumed, not known: {what} are a simple random sample")
        rated = (~np.isnan(scores)).sum(axis=1, keepdims=True)
        pi *= rated / test_set.present.sum(axis=1, keepdims=True)
    return Rated(
        design, test_set.present, test_set.document, scores, pi, ~np.isnan(scores),
        notes=(note,),
    )  # fmt: skip


def _sampled(scores: np.ndarray, test_set: TestSet, sample: Sample) -> Rated:
    """Ratings of drawn outputs; what is missing or extra is counted, never used in silence."""
    design = design_of(sample.design)
    _refuse_foreign(design, test_set, sample)
    line = str(sample.design)
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
    """The beginning of a sample that was rated, where it is as good a sample as the whole."""
    done = np.flatnonzero(rated[:, order].any(axis=0))
    count = int(done[-1]) + 1 if len(done) else len(order)
    if not design.is_sample(count):
        return carried, []
    ends, notes = _rests((rated | ~test_set.present)[:, order[:count]], test_set.systems)
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


def _rests(rated: np.ndarray, systems: Sequence[str]) -> tuple[np.ndarray, list[Note]]:
    """Where the ratings of every system end; of one that rests, far before the others'.

    Raters leave out an output here and there: a long stretch at the end was never shown. What came
    before is a beginning, and so a sample.
    """
    count = rated.shape[1]
    ends = np.where(rated.any(axis=1), count - rated[:, ::-1].argmax(axis=1), count)
    ends[count - ends < LEAST_REST] = count
    notes = []
    for name, end in zip(systems, ends.tolist(), strict=True):
        if end < count:
            text = (
                f"{name} rests: its ratings end at segment {end:,} of {count:,} in the sample's"
                " order, and it is estimated from these"
            )
            notes.append(Note("rests", text))
    return ends, notes


def _refuse_foreign(design: SamplingDesign, test_set: TestSet, sample: Sample) -> None:
    """Refuse a sample that is not the one it says it is."""
    need_population(design, test_set)
    needs = design.documents or "position" in design.carries
    if needs and "doc" in sample.frame.columns and not test_set.has_documents:
        raise InputError(
            "the sample names documents, on which its standard errors depend, but the scores have"
            " no doc column; add one"
        )
    get, probability = design.parameters, sample.frame["probability"].to_numpy()
    stated = get.get("n", "").isdecimal() and "parts" not in get
    # Systems of an unmatched sample may lack segments and have sizes of their own.
    if not design.equal or not stated or not sample.matched:
        return
    if np.abs(probability - int(get["n"]) / test_set.segments.height).max() > TOLERANCE:
        raise InputError(
            f"the sample's probabilities are not those of its design {sample.design}; use the file"
            " as assay sample wrote it"
        )
    if design.simple and len(sample) != int(get["n"]):
        raise InputError(
            f"the sample has {len(sample)} rows where its design says {get['n']}; use the file as"
            " assay sample wrote it"
        )


class Features(NamedTuple):
    """Systems x segments x features, their names, and the consensus as systems x segments."""

    values: np.ndarray
    consensus: np.ndarray
    names: tuple[str, ...]
    metrics: int
    """How many of the features are single metrics; they come first."""
    notes: tuple[Note, ...]
    history: bool = False
    """Whether the last feature is what other systems' ratings say."""
    known: np.ndarray | None = None
    """Systems x segments: where the history is known; None where it is everywhere."""
    lower: frozenset[str] = frozenset()
    """The metrics of which less is better, as stated."""

    def between(self, i: int, j: int, present: np.ndarray) -> Predictors | None:
        """The features of a system (the same one twice), or of the difference of two.

        Those of one system less those of the other; without the history then, which holds the
        ratings of either system for the other. None where nothing else is left.
        """
        if i == j:
            known = None if self.known is None else self.known[i, present]
            own = self.values[i, present]
            return Predictors(own, self.metrics, self.names, known, self.lower)
        last = self.values.shape[-1] - self.history
        if not last:
            return None
        gap = self.values[i, present, :last] - self.values[j, present, :last]
        return Predictors(gap, self.metrics, self.names, lower=self.lower)


def make_features(test_set: TestSet) -> Features | None:
    """The features of every system; None where there is no metric to speak of."""
    layers, names, notes = [], [], []
    for name in test_set.metrics:
        values, missing = _standardised(test_set.matrix(name), test_set.present)
        if values is None:
            notes.append(Note("metric-unused", f"{name} is constant or missing: not used"))
            continue
        if missing:
            text = f"{name}: {missing:,} missing values count as average"
            notes.append(Note("metric-missing", text))
        layers.append(values)
        names.append(name)
    history = known = None
    if test_set.history is not None:
        past = test_set.matrix(test_set.history)
        history, _ = _standardised(past, test_set.present)
        everywhere = (np.isfinite(past) | ~test_set.present).all()
        known = None if everywhere else np.isfinite(past)
    if not layers and history is None:
        return None
    parts, consensus = list(layers), np.zeros(test_set.present.shape)
    if layers:
        consensus = _consensus(np.stack(layers, axis=-1))
        parts.append(_scaled(consensus**2, test_set.present))
        names.append("consensus squared")
        if test_set.has_documents and test_set.documents.height > 1:
            own, sizes = test_set.document, np.bincount(test_set.document)
            means = [np.bincount(own, row)[own] / sizes[own] for row in consensus]
            parts.append(_scaled(np.stack(means), test_set.present))
            names.append("consensus of the document")
    if history is not None:
        parts.append(history)
        names.append("history")
    values = np.stack(parts, axis=-1)
    return Features(
        values, consensus, tuple(names), len(layers), tuple(notes), history is not None,
        known if history is not None else None, frozenset(test_set.lower_metrics),
    )  # fmt: skip


def _standardised(values: np.ndarray, present: np.ndarray) -> tuple[np.ndarray | None, int]:
    """Every system's scores with mean 0 and sd 1, missing ones 0; how many were missing."""
    known = np.isfinite(values) & present
    missing = int((present & ~known).sum())
    filled = np.where(known, values, 0.0)
    count = np.maximum(known.sum(axis=1, keepdims=True), 1)
    mean = filled.sum(axis=1, keepdims=True) / count
    gap = np.where(known, values - mean, 0.0)
    spread = np.sqrt((gap**2).sum(axis=1, keepdims=True) / count)
    tiny = spread <= 1e-12 * (1 + np.abs(mean))
    if tiny.all():
        return None, missing
    return np.where(tiny, 0.0, gap / np.where(tiny, 1.0, spread)), missing


def _consensus(stack: np.ndarray) -> np.ndarray:
    """The mean of the metrics, each signed to agree with their first principal component.

    Its direction is left open: it is squared, or a regression finds its slope. The badness by which
    samples are drawn must know which side is bad, and so trusts stated directions and majorities.
    """
    flat = stack.reshape(-1, stack.shape[-1])
    _, vectors = np.linalg.eigh(flat.T @ flat)
    signs = np.sign(vectors[:, -1])
    signs = np.where(signs == 0, 1.0, signs)
    mean = stack @ signs / len(signs)
    spread = mean.std(axis=1, keepdims=True)
    return np.asarray(np.divide(mean, spread, out=np.zeros_like(mean), where=spread > 0))


def _scaled(values: np.ndarray, present: np.ndarray) -> np.ndarray:
    scaled, _ = _standardised(values, present)
    return np.zeros_like(values) if scaled is None else scaled
