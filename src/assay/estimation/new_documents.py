"""The other target: not these documents, but the documents that these were drawn from.

A test set is itself a sample: another set of documents of the same kind would give another score.
With documents drawn independently, and segments drawn inside them, what each document adds to the
estimate is z_d = sum over its segments of (prediction - mean prediction) + sum over its drawn
segments of (residual - mean residual) / pi. The z_d are independent and vary by both, the choice of
documents and the draws inside them, so their spread is the variance of the estimate around the
mean of all such documents: no variance of the design is added, and nothing is taken off because
the test set is finite (the *ultimate clusters* of Sarndal, Swensson and Wretman 1992, section 4.6).
"""

from __future__ import annotations

import numpy as np

from assay.errors import InputError, OptionError, did_you_mean
from assay.estimation.adjust import Fitted
from assay.tables.test_set import TestSet

TARGETS = ("test-set", "new-documents")


def check_target(target: str, interval: str, test_set: TestSet) -> None:
    """Refuse a target that is not known, or that the tables cannot speak of."""
    if target not in TARGETS:
        raise OptionError(
            "target", target, f"is not known{did_you_mean(target, TARGETS)}",
            f"choose from {', '.join(TARGETS)}",
        )  # fmt: skip
    if target == "test-set":
        return
    if not test_set.has_documents:
        raise InputError(
            "the target new-documents needs to know the documents and the scores have no doc"
            " column; add one"
        )
    if interval != "t":
        raise InputError(
            f"the interval {interval} is for this test set; for new documents take --interval t"
        )


def need_two_documents(test_set: TestSet, scores: np.ndarray, document: np.ndarray) -> None:
    """Refuse ratings that say nothing about how documents differ."""
    for system, row in zip(test_set.systems, scores, strict=True):
        held = len(np.unique(document[~np.isnan(row)]))
        if held < 2:
            raise InputError(
                f"all ratings of {system} are from {held} document, which says nothing of others;"
                " rate at least two, or leave out --target new-documents"
            )


def target_notes(target: str, scores: np.ndarray, document: np.ndarray) -> tuple[str, ...]:
    """What the intervals hold for."""
    if target == "test-set":
        return ()
    held = len(np.unique(document[(~np.isnan(scores)).any(axis=0)]))
    few = "; fewer than 20 documents: their spread is itself uncertain" if held < 20 else ""
    return (
        f"intervals are for new documents like the {held} rated ones, as if these were drawn at"
        f" random from all of their kind{few}",
    )


def document_stderr(
    x: np.ndarray, drawn: np.ndarray, fit: Fitted | None, pi: np.ndarray, document: np.ndarray
) -> tuple[float, float]:
    """The standard error of an estimate around the mean of all such documents, and its degrees.

    sqrt(k/(k-1) sum_d z_d^2) / N, with k - 1 degrees, k the documents that have ratings. NaN for
    fewer than two.
    """
    k = len(np.unique(document[drawn]))
    if k < 2:
        return float("nan"), 1.0
    w = np.where(drawn, 1 / pi, 0.0)
    w = w / w.sum()
    if fit is None or drawn.all():
        z = w * np.where(drawn, x - w @ np.where(drawn, x, 0.0), 0.0)
    else:
        e = np.where(drawn, fit.residuals, 0.0)
        z = (fit.predicted - fit.predicted.mean()) / len(x) + w * (e - w @ e)
    totals = np.bincount(document, z)
    found = float(np.sqrt(k / (k - 1) * (totals**2).sum()))
    return found if found > 0 else float("nan"), float(k - 1)
