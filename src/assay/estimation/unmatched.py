"""Differences of systems that were rated apart: that share less than half of their segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.estimation.kernels import adjusted_mean
from assay.estimation.results import Mean
from assay.estimation.texts import by_documents, document_parts, documents_error
from assay.stats.intervals import t_interval

if TYPE_CHECKING:
    from assay.estimation.study import Study


def difference_of_scores(study: Study, i: int, j: int) -> Mean:
    """One score less another, with independent errors.

    Segments that both have make the true error smaller, so this one is on the safe side. For texts,
    what the documents of both have in common cancels.
    """
    one, other = (study.estimate(study.score(k)._replace(pool=False)) for k in (i, j))
    a, b = one.stderr**2, other.stderr**2
    stderr = np.sqrt(a + b)
    degrees = (a + b) ** 2 / (a**2 / one.degrees + b**2 / other.degrees) if a + b > 0 else 1.0
    if one.basis == other.basis == "texts":
        parts, held = zip(*(_document_parts(study, k) for k in (i, j)), strict=True)
        stderr, degrees = documents_error(parts[0] - parts[1], len(np.union1d(*held)))
    all_rated = one.n == one.population and other.n == other.population
    stderr = float(np.sqrt(stderr**2 + _shared_severity(study, i, j)))
    stderr = study.beyond_rounding(stderr, i, j, all_rated)
    center, degrees = one.center - other.center, float(degrees)
    return one._replace(
        center=center, stderr=stderr, degrees=degrees, n=min(one.n, other.n),
        interval=t_interval(center, stderr, degrees, study.level),
        basis="texts" if "texts" in (one.basis, other.basis) else one.basis,
        rater_stderr=float(np.hypot(one.rater_stderr, other.rater_stderr)),
    )  # fmt: skip


def _shared_severity(study: Study, i: int, j: int) -> float:
    """What subtracted severities add to a difference beyond what they add to the two scores."""
    if study.severity is None:
        return 0.0
    w = []
    for k in (i, j):
        places, x, units, _ = study.laid_out(study.score(k))
        w.append(study.shares(k, places[~np.isnan(x)], units.pi[~np.isnan(x)]))
    each = sum(study.severity.variance(own) for own in w)
    return max(study.severity.variance(w[0] - w[1]) - each, 0.0)


def _document_parts(study: Study, i: int) -> tuple[np.ndarray, np.ndarray]:
    """What each document adds to a system's score, and the documents with ratings of it."""
    places, x, units, predictors = study.laid_out(study.score(i))
    drawn = ~np.isnan(x)
    _, fit = adjusted_mean(x, drawn, units, study.method, predictors)
    document = units.document if by_documents(study, units.document[drawn]) else places
    parts = document_parts(x, drawn, fit, units.pi, document, len(study.rated.document))
    return parts, np.unique(document[drawn])
