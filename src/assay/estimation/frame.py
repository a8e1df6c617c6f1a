"""Sample and ratings as arrays: which ratings may speak for the test set, and with what weight.

An estimate needs to know with which probability each rating came to be there. Either a sample
says so, or everything was rated, or the user states an assumption, which the result repeats.

A skipped output leaves a hole in the sample. If raters skip what is hard, the rest looks better
than it is. So the weights of the rated are raised inside classes (weighting-class adjustment,
Sarndal, Swensson and Wretman 1992, section 15.6): the strata of the sample and fifths of the
metrics' predicted badness, both at once by raking (Deming and Stephan 1940); where there are
neither, documents. A bias that has to do with none of these stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from assay.designs.base import SamplingDesign, design_of, find_design
from assay.designs.population import Population, documents_of
from assay.designs.units import TOLERANCE, DesignUnits, SampledUnits, complete, need_population
from assay.designs.unsampled import ASSUMPTIONS, Census
from assay.errors import InputError, OptionError
from assay.results import Note
from assay.stats.design_variance import Strata
from assay.tables.answers import Ratings
from assay.tables.test_set import Sample, TestSet

RAKING_ROUNDS = 20
"""Raking settles long before."""
MIN_RATINGS_PER_CLASS = 5
"""Classes with fewer ratings are joined with their neighbours."""
BADNESS_CLASSES = 5
SKIPPING_ALARM = 2.5
"""The z from which skipping is said to go with something."""
MIN_TO_TEST_SKIPPING = 5
"""With fewer skipped or rated segments nothing is tested."""


@dataclass(frozen=True, slots=True, eq=False)
class Rated:
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
        pi = np.full_like(self.scores, len(places) / self.scores.shape[1])
        scores = np.where(begun, self.scores, np.nan)
        return replace(self, scores=scores, pi=pi, drawn=begun, classes=None)


def rated_outputs(
    test_set: TestSet, ratings: Ratings, sample: Sample | None, assume: str | None
) -> Rated:
    """The ratings an estimate may use."""
    scores = ratings.matrix(test_set)
    if sample is not None:
        if assume is not None:
            raise InputError(
                "assume and sample exclude each other; the sample says how it was drawn"
            )
        return _sampled(scores, test_set, sample)
    if assume is not None and assume not in ASSUMPTIONS:
        raise OptionError("assume", assume, "is not known", f"choose from {', '.join(ASSUMPTIONS)}")
    missing = int((test_set.present & np.isnan(scores)).sum())
    pi = np.ones_like(scores)
    if not missing:
        design: SamplingDesign = Census("census")
        text = "everything is rated: what is left uncertain, the raters themselves, is not shown"
        note = Note("everything-rated", text)
    elif assume is None:
        total = int(test_set.present.sum())
        raise InputError(
            f"{missing} of {total} outputs have no rating and no sample says how the others were"
            " chosen; give the sample they were drawn with, or state that they are a simple random"
            " sample (assume random)"
        )
    else:
        design, what = ASSUMPTIONS[assume]
        note = Note("assumed", f"assumed, not known: {what} are a simple random sample")
        rated = (~np.isnan(scores)).sum(axis=1, keepdims=True)
        pi *= rated / test_set.present.sum(axis=1, keepdims=True)
    return Rated(
        design, test_set.present, documents_of(test_set), scores, pi, ~np.isnan(scores),
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
        text = f"{extra} ratings of segments outside the sample not used"
        notes.append(Note("outside-the-sample", text))
    classes = make_classes(test_set, stratified=carried.strata is not None)
    notes += skipping_notes(test_set, ~np.isnan(pi), rated, classes)
    return Rated(
        design, test_set.present, documents_of(test_set), np.where(np.isnan(pi), np.nan, scores),
        pi, carried.drawn, carried.position, carried.strata, sample.matched, classes, line,
        tuple(notes),
    )  # fmt: skip


def _begun(
    carried: SampledUnits,
    rated: np.ndarray,
    design: SamplingDesign,
    order: np.ndarray,
    test_set: TestSet,
) -> tuple[SampledUnits, list[Note]]:
    """The beginning of a sample that was rated, where it is as good a sample as the whole."""
    done = np.flatnonzero(rated[:, order].any(axis=0))
    count = int(done[-1]) + 1 if len(done) else len(order)
    if count == len(order) or not design.is_sample(count):
        return carried, []
    drawn = np.zeros_like(carried.drawn)
    drawn[:, order[:count]] = True
    pi = np.where(drawn & test_set.present, count / drawn.shape[1], np.nan)
    text = f"rated up to segment {count} of {len(order)} in order; these are a sample of their own"
    return replace(carried, drawn=drawn, pi=pi), [Note("rated-beginning", text)]


def _refuse_foreign(design: SamplingDesign, test_set: TestSet, sample: Sample) -> None:
    """Refuse a sample that is not the one it says it is."""
    need_population(design, test_set)
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


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of every segment, numbered so that neighbours are alike, and what they are.

    The strata of a sample are classes too; they are not among the ``numbers``, because each
    system may have its own.
    """

    numbers: tuple[np.ndarray, ...]
    what: str


def make_classes(test_set: TestSet, *, stratified: bool) -> Classes | None:
    """The classes that the test set offers, beside the strata of a sample; None where none are."""
    found = []
    if test_set.metrics:
        badness = Population(replace(test_set, history=None)).badness
        ranks = np.argsort(np.argsort(badness, kind="stable"), kind="stable")
        found.append((ranks * BADNESS_CLASSES // len(ranks), "fifths by their metrics"))
    if found or stratified:
        what = ["strata"] * stratified + [text for _, text in found]
        return Classes(tuple(number for number, _ in found), " and ".join(what))
    if test_set.has_documents and test_set.documents.height > 1:
        return Classes((documents_of(test_set),), "documents")
    return None


def responded(pi: np.ndarray, rated: np.ndarray, numbers: Sequence[np.ndarray]) -> np.ndarray:
    """Probabilities of drawn units to be drawn and rated: 1/pi of the rated add up to all drawn.

    In every class of every kind; classes are joined in order until each has
    MIN_RATINGS_PER_CLASS ratings.

    >>> pi, rated = np.full(14, 0.5), np.array([True] * 9 + [False] * 2 + [True] * 3)
    >>> responded(pi, rated, [np.repeat([0, 1], 7)]).round(2).tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.36, ...]
    """
    if rated.all():
        return pi
    weight, factor = 1 / pi, np.ones(len(pi))
    kinds = [_joined(rated, number) for number in numbers]
    wanted = [np.bincount(own, weight) for own in kinds]
    for _ in range(RAKING_ROUNDS if len(kinds) > 1 else 1):
        for own, total in zip(kinds, wanted, strict=True):
            factor *= (total / np.bincount(own, weight * factor * rated))[own]
    return np.minimum(pi / factor, 1.0)


def _joined(rated: np.ndarray, number: np.ndarray) -> np.ndarray:
    _, own = np.unique(number, return_inverse=True)
    counts = np.bincount(own, rated).astype(int)
    group = np.zeros(len(counts), dtype=np.int64)
    current = held = 0
    for position, count in enumerate(counts):
        group[position] = current
        held += count
        if held >= MIN_RATINGS_PER_CLASS:
            current, held = current + 1, 0
    if current:  # the last ones are too few for a class of their own
        group[group == current] = current - 1
    return np.asarray(group[own])


def skipping_notes(
    test_set: TestSet, drawn: np.ndarray, rated: np.ndarray, classes: Classes | None
) -> list[Note]:
    """How much of the sample was not rated, what was done, and when that may not be enough."""
    unrated, total = int((drawn & ~rated).sum()), int(drawn.sum())
    if not unrated:
        return []
    stand = "a random part of them"
    if classes is not None:
        stand = f"a random part of their class ({classes.what}, joined where ratings are few)"
    text = f"{unrated} of {total} drawn outputs have no rating; the rest is taken as {stand}"
    notes = [Note("skipped", text)]
    if unrated > total // 2:
        text = "more than half of the sample is not rated: is it the right sample?"
        notes.append(Note("mostly-skipped", text))
    here = np.asarray(drawn.any(axis=0))
    skipped = (drawn & ~rated).any(axis=0)[here]
    found = _by_system(test_set, drawn, rated)
    if min(skipped.sum(), (~skipped).sum()) >= MIN_TO_TEST_SKIPPING:
        found += _by_metrics(test_set, here, skipped) + _by_document(test_set, here, skipped)
    return notes + found


def _by_metrics(test_set: TestSet, here: np.ndarray, skipped: np.ndarray) -> list[Note]:
    if not test_set.metrics:
        return []
    badness = Population(replace(test_set, history=None)).badness[here]
    a, b = badness[skipped], badness[~skipped]
    noise = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    z = float((a.mean() - b.mean()) / noise) if noise > 0 else 0.0
    if abs(z) <= SKIPPING_ALARM:
        return []
    word = "harder" if z > 0 else "easier"
    text = (
        f"warning: the skipped segments look {word} than the rated ones by their metrics"
        f" (z = {z:+.1f}): estimates may be biased, although weights allow for the metrics"
    )
    return [Note("skipping-by-metrics", text)]


def _by_document(test_set: TestSet, here: np.ndarray, skipped: np.ndarray) -> list[Note]:
    own = documents_of(test_set)[here]
    if len(np.unique(own)) < 2:
        return []
    if _excess(np.unique(own, return_inverse=True)[1], skipped) <= SKIPPING_ALARM:
        return []
    names = test_set.documents[test_set.key[-2]].to_list()
    shares = {k: skipped[own == k].mean() for k in np.unique(own)}
    worst = sorted(shares, key=lambda k: -shares[k])[:3]
    shown = ", ".join(f"{names[k]} {shares[k]:.0%}" for k in worst)
    text = f"warning: skipping goes with documents ({shown} skipped): estimates may be biased"
    return [Note("skipping-by-document", text)]


def _by_system(test_set: TestSet, drawn: np.ndarray, rated: np.ndarray) -> list[Note]:
    counts, done = drawn.sum(axis=1), (drawn & rated).sum(axis=1)
    if len(counts) < 2 or (counts == 0).any() or (counts - done).sum() < MIN_TO_TEST_SKIPPING:
        return []
    share = done.sum() / counts.sum()
    if share in (0, 1):
        return []
    spread = ((done - share * counts) ** 2 / (counts * share * (1 - share))).sum()
    # The two-sided probability of the z that raises the alarm.
    if special.chdtrc(len(counts) - 1, spread) > 2 * special.ndtr(-SKIPPING_ALARM):
        return []
    rates = done / counts
    least, most = int(np.argmin(rates)), int(np.argmax(rates))
    text = (
        f"warning: skipping goes with systems ({test_set.systems[least]} {rates[least]:.0%} rated,"
        f" {test_set.systems[most]} {rates[most]:.0%}): estimates may be biased"
    )
    return [Note("skipping-by-system", text)]


def _excess(group: np.ndarray, skipped: np.ndarray) -> float:
    """How far the shares of groups differ beyond chance: the z of their chi-square."""
    size, share = np.bincount(group), skipped.mean()
    gone = np.bincount(group, skipped)
    square = ((gone - share * size) ** 2 / (size * share * (1 - share))).sum()
    degrees = len(size) - 1
    return float((square - degrees) / np.sqrt(2 * degrees))
