"""Predict the effect of a design on the variance of differences before anything is rated.

The prediction needs the correlation of ratings within a document. The ratings of other systems or
of an earlier campaign tell it best (:func:`assay.add_history`). Otherwise it is the average of the
metrics' correlation and the usual one of ratings: a rater takes a document in one go, which makes
ratings more alike than metrics.
"""

from __future__ import annotations

import numpy as np

from assay.designs.base import SamplingDesign
from assay.designs.names import find_design
from assay.designs.population import Population
from assay.designs.rounds import LEAST_EFFECT, PieceDesign, likeness, usual_likeness
from assay.tables.tables import TestSet

PIECES = (10, 5, 3, 2, 1)
"""The maximum lengths of pieces to try; longer ones give raters more context."""
GOOD_ENOUGH = 0.97
"""A predicted design effect up to this is good enough; frozen on seven MQM sets."""


def expected_likeness(test_set: TestSet) -> np.ndarray:
    """The persistent and the fading correlation of system differences along documents."""
    usual = usual_likeness(test_set.document)
    if test_set.history is not None:
        values = test_set.matrix(test_set.history)
        # Systems without earlier ratings share one history, and its differences are zero.
        found = [_likeness(rows, test_set.document) for rows in (np.diff(values, axis=0), values)]
        return next((part for part in found if part is not None), usual)
    gaps = [np.diff(test_set.matrix(name), axis=0) for name in test_set.metrics]
    parts = [_likeness(rows, test_set.document) for rows in gaps]
    known = [part for part in parts if part is not None]
    return np.asarray((usual + np.mean(known, axis=0)) / 2) if known else usual


def _likeness(rows: np.ndarray, document: np.ndarray) -> np.ndarray | None:
    """The mean correlation over rows of segments (NaN: unknown); None if no row varies."""
    drawn = np.isfinite(rows)
    counts = np.maximum(drawn.sum(axis=1, keepdims=True), 1)
    e = np.where(drawn, rows, 0.0)
    e = np.where(drawn, e - e.sum(axis=1, keepdims=True) / counts, 0.0)
    vary = (e**2).sum(axis=1) > 1e-9 * counts[:, 0]
    if not vary.any():
        return None
    return np.asarray(likeness(e[vary], drawn[vary], document).parts.mean(axis=0))


def expected_effect(
    design: PieceDesign, population: Population, n: int, parts: np.ndarray
) -> float:
    """The variance of differences relative to a simple random sample of the same size.

    ``parts`` is the expected correlation within documents.
    """
    f = float(design.plan(population, n).probabilities()[0])
    lever = design.lever(population.layout.lengths, f)
    return float(max(1 + lever @ parts, LEAST_EFFECT))


def with_short_pieces(design: SamplingDesign, population: Population, n: int) -> SamplingDesign:
    """The design with the longest pieces whose predicted design effect is good enough."""
    if not isinstance(design, PieceDesign):
        return design
    parts = expected_likeness(population.test_set)
    chosen: SamplingDesign = design
    for longest in PIECES:
        chosen = find_design(f"{design.name}|max:{longest}")
        assert isinstance(chosen, PieceDesign)
        if expected_effect(chosen, population, n, parts) <= GOOD_ENOUGH:
            break
    return chosen
