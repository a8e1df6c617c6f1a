"""What was drawn and what was rated: which ratings may speak for the test set.

An estimate needs to know with which probability each rating came to be there. Either a sample
says so, or everything was rated, or the user states an assumption, which the result repeats.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import InputError, OptionError
from assay.tables import Ratings, Sample, TestSet

__all__ = ["Rated", "rated_outputs"]

ASSUMPTIONS = ("random",)
EQUAL = ("segments", "snippets")
"""Designs that draw every segment with the same probability, evenly over the test set."""


@dataclass(frozen=True, slots=True)
class Rated:
    """Scores as systems x segments, NaN where there is none to use, and how they came to be."""

    scores: np.ndarray
    design: str
    seed: int | None
    notes: tuple[str, ...]


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
        return Rated(scores, "census", None, (note,))
    if assume is None:
        total = int(test_set.present.sum())
        raise InputError(
            f"{missing} of {total} outputs have no rating and no sample says how the others were"
            " chosen; give the sample they were drawn with (--sample FILE), or state that they are"
            " a simple random sample (--assume random)"
        )
    note = "assumed, not known: the rated segments are a simple random sample"
    return Rated(scores, "assumed-random", None, (note,))


def _sampled(scores: np.ndarray, test_set: TestSet, sample: Sample) -> Rated:
    """Ratings of drawn outputs; what is missing or extra is counted, never used in silence."""
    _refuse_foreign(test_set, sample)
    drawn = ~np.isnan(sample.probabilities(test_set))
    rated = ~np.isnan(scores)
    notes = []
    extra = int((rated & ~drawn).sum())
    if extra:
        notes.append(f"{extra} ratings of segments outside the sample not used")
    unrated = int((drawn & ~rated).sum())
    if unrated:
        notes.append(
            f"{unrated} of {int(drawn.sum())} drawn outputs have no rating; the rest is taken as a"
            " random part of them"
        )
    return Rated(
        np.where(drawn, scores, np.nan), sample.design.name, sample.design.seed, tuple(notes)
    )


def _refuse_foreign(test_set: TestSet, sample: Sample) -> None:
    """Refuse a sample that the mean does not speak for, or that is not the one it says it is."""
    design, probability = sample.design, sample.frame["probability"].to_numpy()
    if design.name not in EQUAL or np.ptp(probability) > 1e-9:
        raise InputError(
            f"the sample mean does not speak for a sample of the design {design.name}, whose"
            " segments do not stand for equal parts of the test set; draw with --design segments or"
            " snippets"
        )
    get = design.parameters
    population = test_set.segments.height
    if get.get("N", str(population)) != str(population):
        raise InputError(
            f"the sample was drawn from {get['N']} segments and the test set has {population};"
            " give the scores it was drawn from"
        )
    if "parts" in get or "n" not in get or not get["n"].isdecimal():
        return
    if abs(probability[0] - int(get["n"]) / population) > 1e-6:
        raise InputError(
            f"the sample's probability {probability[0]:g} is not that of its design {design};"
            " use the file as assay sample wrote it"
        )
    systems = 1 if sample.matched else sample.frame["system"].n_unique()
    if design.name == "segments" and len(sample) != int(get["n"]) * systems:
        raise InputError(
            f"the sample has {len(sample)} rows where its design says {get['n']}; use the file as"
            " assay sample wrote it"
        )
