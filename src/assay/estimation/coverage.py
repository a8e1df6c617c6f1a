"""What was drawn and what was rated: which ratings may speak for the test set.

An estimate needs to know with which probability each rating came to be there. Either a sample
says so, or everything was rated, or the user states an assumption, which the result repeats.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from assay.errors import InputError, OptionError
from assay.estimation.response import Classes, make_classes, skipping_notes
from assay.results import Note
from assay.sampling.derive import by_system, complete
from assay.stats.design_variance import Strata
from assay.tables.ratings import Ratings
from assay.tables.sample import Sample, places_in
from assay.tables.test_set import TestSet

ASSUMPTIONS = ("random", "documents")
KINDS = {
    "segments": "simple",
    "snippets": "simple",
    "balanced": "balanced",
    "interleaved": "strata",
    "documents": "clusters",
    "fixed-snippets": "clusters",
    "snippets-linear": "clusters",
}
"""Which variance goes with a design."""


@dataclass(frozen=True, slots=True)
class Rated:
    """Scores and inclusion probabilities as systems x segments, and how they came to be.

    Scores are NaN where there is none to use. ``kind`` is the variance that goes with the
    design; what it needs, the ``position`` or the ``strata`` of drawn segments, is what the sample
    carries, one row or entry per system. ``drawn`` are the segments of the sample, also where a
    system lacks them. In ``classes`` rated outputs stand for skipped ones. ``matched`` says whether
    all systems share the drawn segments.
    """

    scores: np.ndarray
    pi: np.ndarray
    design: str
    seed: int | None
    notes: tuple[Note, ...]
    kind: str = "simple"
    position: np.ndarray | None = None
    strata: tuple[Strata, ...] | None = None
    drawn: np.ndarray | None = None
    matched: bool = True
    classes: Classes | None = None
    line: str | None = None
    """The whole design of the sample, as its file has it."""


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
    if not missing:
        note = Note(
            "everything-rated",
            "everything is rated: what is left uncertain, the raters themselves, is not shown",
        )
        return Rated(scores, np.ones_like(scores), "census", None, (note,))
    if assume is None:
        total = int(test_set.present.sum())
        raise InputError(
            f"{missing} of {total} outputs have no rating and no sample says how the others were"
            " chosen; give the sample they were drawn with (--sample FILE), or state that they are"
            " a simple random sample (--assume random)"
        )
    share = (~np.isnan(scores)).sum(axis=1, keepdims=True) / test_set.present.sum(
        axis=1, keepdims=True
    )
    what = {"random": "the rated segments", "documents": "the rated documents"}[assume]
    note = Note("assumed", f"assumed, not known: {what} are a simple random sample")
    kind = "simple" if assume == "random" else "clusters"
    pi = np.broadcast_to(share, scores.shape)
    return Rated(scores, pi, f"assumed-{assume}", None, (note,), kind)


def _sampled(scores: np.ndarray, test_set: TestSet, sample: Sample) -> Rated:
    """Ratings of drawn outputs; what is missing or extra is counted, never used in silence."""
    _refuse_foreign(test_set, sample)
    sample, notes = complete(sample, test_set)
    pi, chosen = sample.probabilities(test_set), _chosen(test_set, sample)
    rated = ~np.isnan(scores)
    if sample.design.name == "interleaved" and sample.matched:
        pi, chosen, said = _reached(pi, chosen, rated, test_set, sample)
        notes += said
    drawn = ~np.isnan(pi)
    extra = int((rated & ~drawn).sum())
    if extra:
        text = f"{extra} ratings of segments outside the sample not used"
        notes.append(Note("outside-the-sample", text))
    kind, position, strata = _carried(test_set, sample)
    classes = make_classes(test_set, stratified=strata is not None)
    notes += skipping_notes(test_set, drawn, rated, classes)
    return Rated(
        np.where(drawn, scores, np.nan),
        pi,
        sample.design.name,
        sample.design.seed,
        tuple(notes),
        kind,
        position,
        strata,
        chosen,
        sample.matched,
        classes,
        str(sample.design),
    )


def _chosen(test_set: TestSet, sample: Sample) -> np.ndarray:
    """Systems x segments: what was drawn, also segments that a system lacks."""
    chosen = np.zeros(test_set.present.shape, dtype=bool)
    for system, rows in by_system(sample):
        where = slice(None) if system is None else test_set.systems.index(system)
        chosen[where, places_in(rows, test_set)] = True
    return chosen


def _reached(
    pi: np.ndarray, chosen: np.ndarray, rated: np.ndarray, test_set: TestSet, sample: Sample
) -> tuple[np.ndarray, np.ndarray, list[Note]]:
    """The beginning of an interleaved sample that was rated: as good a sample as the whole."""
    order = sample.order(test_set)
    done = np.flatnonzero(rated[:, order].any(axis=0))
    if not len(done) or done[-1] + 1 == len(order):
        return pi, chosen, []
    count = int(done[-1]) + 1
    if not _is_beginning(sample, count):
        return pi, chosen, []
    begun = np.isin(np.arange(pi.shape[1]), order[:count])[None, :] & chosen
    found = np.where(begun & test_set.present, count / pi.shape[1], np.nan)
    text = f"rated up to segment {count} of {len(order)} in order; these are a sample of their own"
    return found, begun, [Note("rated-beginning", text)]


def _is_beginning(sample: Sample, count: int) -> bool:
    """Whether the first segments in order are a sample: of the first draw, without importance."""
    get = sample.design.parameters
    return "importance" not in get and count <= int(get.get("parts", get["n"]).split("+")[0])


def _carried(
    test_set: TestSet, sample: Sample
) -> tuple[str, np.ndarray | None, tuple[Strata, ...] | None]:
    """The kind of variance, and what the sample says it was spread over or stratified by."""
    kind = KINDS[sample.design.name]
    shape = test_set.present.shape
    if kind == "balanced":
        if "parts" in sample.design.parameters:
            # Two spread samples together are not one: neighbours may well be drawn together.
            return "simple", None, None
        position = np.full(shape, np.nan)
        for system, rows in by_system(sample):
            where = slice(None) if system is None else test_set.systems.index(system)
            position[where, places_in(rows, test_set)] = rows["position"].to_numpy()
        return kind, position, None
    if "stratum_size" not in sample.frame.columns:
        return kind, None, None
    strata: list[Strata] = [Strata(np.zeros(shape[1], np.int64), np.zeros(1))] * shape[0]
    for system, rows in by_system(sample):
        if system is None:
            return "strata", None, (_strata_of(rows, test_set, shape[1]),) * shape[0]
        i = test_set.systems.index(system)
        strata[i] = _strata_of(rows, test_set, int(test_set.present[i].sum()))
    return "strata", None, tuple(strata)


def _strata_of(rows: pl.DataFrame, test_set: TestSet, population: int) -> Strata:
    """The strata of drawn segments, laid out over the test set; others are never looked at."""
    start, size = (rows[name].to_numpy() for name in ("stratum_start", "stratum_size"))
    found = Strata.drawn(start, size, population)
    if (np.bincount(found.number) > found.sizes).any() or (start + size > population).any():
        raise InputError(
            "the sample's strata do not fit the test set; use the file as assay sample wrote it,"
            " and the scores it was drawn from"
        )
    number = np.zeros(test_set.segments.height, dtype=np.int64)
    number[places_in(rows, test_set)] = found.number
    return found._replace(number=number)


def _refuse_foreign(test_set: TestSet, sample: Sample) -> None:
    """Refuse a sample that is not the one it says it is."""
    design, probability = sample.design, sample.frame["probability"].to_numpy()
    if design.name not in KINDS:
        raise InputError(
            f"no estimator knows the design '{design.name}'; use a sample that assay drew"
        )
    get = design.parameters
    population = test_set.segments.height
    if get.get("N", str(population)) != str(population):
        raise InputError(
            f"the sample was drawn from {get['N']} segments and the test set has {population};"
            " give the scores it was drawn from"
        )
    equal = design.name == "snippets" or (
        design.name == "segments" and get.get("strata", "none") == "none"
    )
    if not equal or "parts" in get or "importance" in get or not get.get("n", "").isdecimal():
        return
    if not sample.matched:
        return  # systems may lack segments and have sizes of their own
    if np.abs(probability - int(get["n"]) / population).max() > 1e-6:
        raise InputError(
            f"the sample's probabilities are not those of its design {design}; use the file as"
            " assay sample wrote it"
        )
    if design.name == "segments" and len(sample) != int(get["n"]):
        raise InputError(
            f"the sample has {len(sample)} rows where its design says {get['n']}; use the file as"
            " assay sample wrote it"
        )
