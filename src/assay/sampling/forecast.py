"""What a design will do to the variance of differences, before anything is rated.

How alike the ratings of a document will be is not known yet. Ratings of other systems, or earlier
ones, tell best (:func:`assay.add_history`); else the metrics do, half, and what is usual of ratings
the other half: ratings go with the rater, who takes a document in one go, and metrics do not.
"""

from __future__ import annotations

import numpy as np

from assay.designs.base import SamplingDesign
from assay.designs.names import find_design
from assay.designs.population import Population
from assay.designs.rounds import LEAST_EFFECT, PieceDesign, likeness, usual_likeness
from assay.tables.tables import TestSet

PIECES = (10, 5, 3, 2, 1)
"""The longest pieces that are tried, for context the longest that do not lose."""
GOOD_ENOUGH = 0.97
"""A forecast up to this does not lose, as forecasts go; frozen on seven MQM sets."""


def expected_likeness(test_set: TestSet) -> np.ndarray:
    """The persistent and fading correlation along documents of differences between systems."""
    usual = usual_likeness(test_set.document)
    if test_set.history is not None:
        values = test_set.matrix(test_set.history)
        # Systems that nobody rated before have one history, and its differences are zero.
        found = [_likeness(rows, test_set.document) for rows in (np.diff(values, axis=0), values)]
        return next((part for part in found if part is not None), usual)
    gaps = [np.diff(test_set.matrix(name), axis=0) for name in test_set.metrics]
    parts = [_likeness(rows, test_set.document) for rows in gaps]
    known = [part for part in parts if part is not None]
    return np.asarray((usual + np.mean(known, axis=0)) / 2) if known else usual


def _likeness(rows: np.ndarray, document: np.ndarray) -> np.ndarray | None:
    """The mean over rows of segments; NaN is not known. None where no row varies."""
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
    """The variance of differences relative to a simple random sample of as many segments.

    ``parts`` is the likeness to be expected.
    """
    f = float(design.plan(population, n).probabilities()[0])
    lever = design.lever(population.layout.lengths, f)
    return float(max(1 + lever @ parts, LEAST_EFFECT))


def with_short_pieces(design: SamplingDesign, population: Population, n: int) -> SamplingDesign:
    """The design with pieces so short that neighbours alike cost no more than documents save."""
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
