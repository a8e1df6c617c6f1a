"""Sample and ratings as arrays: which ratings may speak for the test set, and with what weight.

An estimate needs to know with which probability each rating came to be there. Either a sample
says so, or everything was rated, or the user states an assumption, which the result repeats.

What metrics say of each segment are the features of a regression: a system's standardised
metrics, the square of their consensus, and the document mean of the consensus. The consensus is
the mean of the metrics, each turned the way that agrees with the others, so that neither the sign
nor the scale of a metric matters. Where the test set has a history, it is the last feature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.designs.base import SamplingDesign, design_of, find_design
from assay.designs.units import TOLERANCE, DesignUnits, SampledUnits, complete, need_population
from assay.designs.unsampled import ASSUMPTIONS, Census
from assay.errors import InputError, OptionError
from assay.estimation.skipping import Classes, make_classes, responded, skipping_notes
from assay.results import Note
from assay.stats.variances import Strata
from assay.tables.answers import Ratings
from assay.tables.test_set import Sample, TestSet


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
        pi = np.where(begun & self.present, len(places) / self.scores.shape[1], np.nan)
        return replace(self, scores=np.where(begun, self.scores, np.nan), pi=pi, drawn=begun)


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
    if assume is not None and assume not in ASSUMPTIONS:
        raise OptionError("assume", assume, "is not known", f"choose from {', '.join(ASSUMPTIONS)}")
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
    text = (
        f"ratings reach segment {count:,} of {len(order):,} in the sample's order; that part"
        " is a sample in its own right"
    )
    return replace(carried, drawn=drawn, pi=pi), [Note("rated-beginning", text)]


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


@dataclass(frozen=True, slots=True, eq=False)
class Predictors:
    """The features of one system or pair as segments x features.

    The first ``metrics`` columns are the single metrics ``names``. ``known`` is where the last
    feature is known, if that is not everywhere: then its mean over all segments is itself an
    estimate. ``lower`` are the metrics of which less is better.
    """

    values: np.ndarray
    metrics: int
    names: tuple[str, ...] = ()
    known: np.ndarray | None = None
    lower: frozenset[str] = frozenset()

    @property
    def directions(self) -> np.ndarray:
        """1 for every single metric, -1 where less is better, so that a mean does not cancel."""
        names = self.names[: self.metrics] or ("",) * self.metrics
        return np.array([-1.0 if name in self.lower else 1.0 for name in names])

    @property
    def everywhere(self) -> Predictors | None:
        """The features that are known of all segments; None where there are none."""
        if self.known is None:
            return self
        left = self.values[:, :-1]
        if not left.shape[1]:
            return None
        return replace(self, values=left, known=None)


@dataclass(frozen=True, slots=True)
class Features:
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
    history = _history(test_set)
    if not layers and history is None:
        return None
    parts, consensus = list(layers), np.zeros(test_set.present.shape)
    if layers:
        consensus = _consensus(np.stack(layers, axis=-1))
        parts.append(_scaled(consensus**2, test_set.present))
        names.append("consensus squared")
        if test_set.has_documents and test_set.documents.height > 1:
            parts.append(_scaled(_document_mean(consensus, test_set.document), test_set.present))
            names.append("consensus of the document")
    if history is not None:
        parts.append(history)
        names.append("history")
    values = np.stack(parts, axis=-1)
    return Features(
        values, consensus, tuple(names), len(layers), tuple(notes), history is not None,
        None if history is None else _known(test_set), frozenset(test_set.lower_metrics),
    )  # fmt: skip


def _known(test_set: TestSet) -> np.ndarray | None:
    known = np.isfinite(test_set.matrix("history"))
    return None if (known | ~test_set.present).all() else known


def _history(test_set: TestSet) -> np.ndarray | None:
    """What other systems' ratings say, standardised; None where nothing."""
    if test_set.history is None:
        return None
    return _standardised(test_set.matrix(test_set.history), test_set.present)[0]


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


def _document_mean(consensus: np.ndarray, document: np.ndarray) -> np.ndarray:
    sizes = np.bincount(document)
    rows = [np.bincount(document, row)[document] / sizes[document] for row in consensus]
    return np.stack(rows)


def _scaled(values: np.ndarray, present: np.ndarray) -> np.ndarray:
    scaled, _ = _standardised(values, present)
    return np.zeros_like(values) if scaled is None else scaled
