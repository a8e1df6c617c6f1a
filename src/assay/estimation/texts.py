"""Errors for texts like these, and notes on what intervals hold for where raters are unknown.

A test set is itself a sample: other documents of the same kind would give other scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.designs.base import DesignUnits
from assay.errors import InputError
from assay.estimation.kernels import Fitted
from assay.estimation.overlap import MIN_DOUBLED_TASKS
from assay.results import Note
from assay.tables.tables import TestSet

if TYPE_CHECKING:
    from assay.estimation.study import Rated, Study

FEW_DOCUMENTS = 20
"""With fewer documents, their spread is itself uncertain."""


def texts_error(
    study: Study, x: np.ndarray, drawn: np.ndarray, fit: Fitted | None, units: DesignUnits
) -> tuple[float, float]:
    """The standard error of an estimate for texts like these, and its degrees of freedom."""
    inside = by_documents(study, units.document[drawn])
    document = units.document if inside else np.arange(len(x))
    parts = document_parts(x, drawn, fit, units.pi, document, int(document.max()) + 1)
    return documents_error(parts, len(np.unique(document[drawn])))


def by_documents(study: Study, rated: np.ndarray) -> bool:
    """Whether texts are documents; else, without documents or with one rated, they are segments."""
    return study.test_set.has_documents and (not study.cautious or len(np.unique(rated)) > 1)


def document_parts(
    x: np.ndarray, drawn: np.ndarray, fit: Fitted | None, pi: np.ndarray, document: np.ndarray,
    count: int,
) -> np.ndarray:  # fmt: skip
    """What each of ``count`` documents contributes to an estimate, z_d / N.

    z_d = sum over segments of (prediction - mean prediction) + sum over drawn segments of (residual
    - mean residual) / pi. With documents drawn independently, and segments drawn inside them, the
    z_d are independent, and their spread covers the choice of documents as well as the draws inside
    them: neither the design's variance nor a finite-population correction is applied (*ultimate
    clusters*: Sarndal, Swensson and Wretman 1992, section 4.6).
    """
    w = np.where(drawn, 1 / pi, 0.0)
    w = w / w.sum()
    if fit is None or drawn.all():
        z = w * np.where(drawn, x - w @ np.where(drawn, x, 0.0), 0.0)
    else:
        e = np.where(drawn, fit.residuals, 0.0)
        z = (fit.predicted - fit.predicted.mean()) / len(x) + w * (e - w @ e)
    return np.bincount(document, z, minlength=count)


def documents_error(parts: np.ndarray, k: int) -> tuple[float, float]:
    """The standard error of a sum over documents, k of which have ratings, and its degrees.

    sqrt(k/(k-1) sum_d z_d^2) / N, with k - 1 degrees of freedom; NaN for fewer than two documents.
    ``parts`` may be the difference of two estimates' parts: what documents have in common then
    cancels (Liang and Zeger 1986).
    """
    if k < 2:
        return float("nan"), 1.0
    found = float(np.sqrt(k / (k - 1) * (parts**2).sum()))
    return found if found > 0 else float("nan"), float(k - 1)


def need_two_documents(test_set: TestSet, rated: Rated) -> None:
    """Refuse ratings from a single document, which do not show how documents differ."""
    for system, row in zip(test_set.systems, rated.scores, strict=True):
        held = len(np.unique(rated.document[~np.isnan(row)]))
        if held < 2:
            raise InputError(
                f"all ratings of {system} are from {held} document; rate at least two, or choose"
                " the target answers"
            )


def target_notes(study: Study) -> tuple[Note, ...]:
    """What intervals hold for, where their target is texts or these answers."""
    if study.target == "texts":
        return (_texts_note(study.rated, study.test_set.has_documents),)
    if not study.cautious:
        text = "intervals are for these answers and do not show how much other raters would differ"
        return (Note("for-answers", text),)
    text = "no output has two raters, so intervals do not show how much other raters would differ"
    if study.ratings.raters and len(study.ratings.raters) < study.ratings.genuine.height:
        text = text.replace("no output has", f"fewer than {MIN_DOUBLED_TASKS} tasks have")
    text += "; a second rater for a tenth of the tasks would show it"
    notes = [Note("raters-unknown", text)]
    if 2 * (~np.isnan(study.rated.scores)).sum() > study.rated.present.sum():
        units = "documents" if study.test_set.has_documents else "segments"
        text = (
            "more than half of the test set is rated: intervals and verdicts are those for other"
            f" {units} like these where they are wider, since an error near zero would ignore the"
            " raters"
        )
        notes.append(Note("texts-for-raters", text))
    return tuple(notes)


def _texts_note(rated: Rated, documents: bool) -> Note:
    done = (~np.isnan(rated.scores)).any(axis=0)
    held = len(np.unique(rated.document[done])) if documents else int(done.sum())
    units = "documents" if documents else "segments"
    text = (
        f"intervals are for new {units} like the {held:,} rated ones, treated as a random sample of"
        " their kind"
    )
    if documents and held < FEW_DOCUMENTS:
        text += f"; fewer than {FEW_DOCUMENTS} documents: their spread is itself uncertain"
    return Note("for-texts" if documents else "for-segments", text)
