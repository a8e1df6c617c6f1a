"""What was drawn and what was rated: which ratings may speak for the test set.

An estimate needs to know with which probability each rating came to be there. Either a sample
says so, or everything was rated, or the user states an assumption, which the result repeats.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import InputError, OptionError
from assay.estimation.response import Classes, make_classes, skipping_notes
from assay.sampling.designs import base_design, drawn_sizes, population_of
from assay.sampling.draw import plan_for
from assay.tables.answers import Ratings
from assay.tables.sample import Sample
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
    design; ``position`` and ``stratum`` are those of all segments where it needs them, and so are
    the ``classes`` in which rated outputs stand for skipped ones. ``matched`` says whether all
    systems share the drawn segments.
    """

    scores: np.ndarray
    pi: np.ndarray
    design: str
    seed: int | None
    notes: tuple[str, ...]
    kind: str = "simple"
    position: np.ndarray | None = None
    stratum: np.ndarray | None = None
    matched: bool = True
    classes: Classes | None = None
    drawn: str | None = None
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
        note = "everything is rated: what is left uncertain, the raters themselves, is not shown"
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
    note = f"assumed, not known: {what} are a simple random sample"
    kind = "simple" if assume == "random" else "clusters"
    pi = np.broadcast_to(share, scores.shape)
    return Rated(scores, pi, f"assumed-{assume}", None, (note,), kind)


def _sampled(scores: np.ndarray, test_set: TestSet, sample: Sample) -> Rated:
    """Ratings of drawn outputs; what is missing or extra is counted, never used in silence."""
    _refuse_foreign(test_set, sample)
    pi = sample.probabilities(test_set)
    rated = ~np.isnan(scores)
    notes = []
    if sample.design.name == "interleaved" and sample.matched:
        pi, said = _reached(pi, rated, test_set, sample)
        notes += said
    drawn = ~np.isnan(pi)
    extra = int((rated & ~drawn).sum())
    if extra:
        notes.append(f"{extra} ratings of segments outside the sample not used")
    kind, position, stratum = _layout(test_set, sample)
    classes = make_classes(test_set, stratum)
    notes += skipping_notes(test_set, drawn, rated, classes)
    return Rated(
        np.where(drawn, scores, np.nan),
        pi,
        sample.design.name,
        sample.design.seed,
        tuple(notes),
        kind,
        position,
        stratum,
        sample.matched,
        classes,
        str(sample.design),
    )


def _reached(
    pi: np.ndarray, rated: np.ndarray, test_set: TestSet, sample: Sample
) -> tuple[np.ndarray, list[str]]:
    """The beginning of an interleaved sample that was rated: as good a sample as the whole."""
    order = sample.order(test_set)
    done = np.flatnonzero(rated[:, order].any(axis=0))
    if not len(done) or done[-1] + 1 == len(order):
        return pi, []
    count = int(done[-1]) + 1
    found = np.full(pi.shape, np.nan)
    found[:, order[:count]] = np.where(
        test_set.present[:, order[:count]], count / pi.shape[1], np.nan
    )
    return found, [
        f"rated as far as segment {count} of {len(order)} in order, which is a sample of its own"
    ]


def _layout(test_set: TestSet, sample: Sample) -> tuple[str, np.ndarray | None, np.ndarray | None]:
    """The kind of variance, and what the sample was spread over or stratified by."""
    kind = KINDS.get(sample.design.name)
    if kind is None:
        raise InputError(
            f"no estimator knows the design '{sample.design.name}'; use a sample that assay drew"
        )
    if kind == "balanced" and "parts" in sample.design.parameters:
        # Two spread samples together are not one: neighbours may well be drawn together.
        return "simple", None, None
    if kind == "balanced":
        return kind, population_of(sample.design, test_set).position, None
    if kind != "strata" and sample.design.parameters.get("strata", "none") == "none":
        return kind, None, None
    population = population_of(sample.design, test_set)
    sizes = drawn_sizes(sample.design, population)
    plan = plan_for(population, base_design(sample.design), sizes[0])
    return "strata", None, np.asarray(plan.stratum)  # type: ignore[attr-defined]


def _refuse_foreign(test_set: TestSet, sample: Sample) -> None:
    """Refuse a sample that is not the one it says it is."""
    design, probability = sample.design, sample.frame["probability"].to_numpy()
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
