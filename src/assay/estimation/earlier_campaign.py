"""Predictions of an earlier campaign, as one more metric of the composite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError
from assay.estimation.composite import fit_slopes, less_segments
from assay.tables.tables import TestSet

if TYPE_CHECKING:
    from assay.tables.tables import Ratings
PAST_WEIGHT = 3.0
"""Standard deviation of an earlier campaign's prediction; that of every metric is 1, so the penalty
on its slope is a ninth of theirs."""


def past_prediction(
    layers: dict[str, np.ndarray], test_set: TestSet, ratings: Ratings
) -> np.ndarray:
    """What the metrics predict with the slopes of an earlier campaign."""
    old = {name: values for name in layers if name in test_set.metrics
           and (values := less_segments(test_set, name)) is not None}  # fmt: skip
    if not old:
        raise InputError(
            "the history has none of the metrics of the scores, so it cannot help to weigh them;"
            " give scores with one of the same metrics, or leave the history out"
        )
    scale = np.array([values.std() for values in old.values()])
    x = ratings.placed_in(test_set).matrix(test_set)
    slopes = fit_slopes(x, np.stack(list(old.values()), axis=-1) / scale)
    found = np.stack([layers[name] for name in old], axis=-1) @ (slopes.values / scale)
    if not found.std() > 0:
        raise InputError(
            "the history has no two outputs of a segment that are rated differently, so it cannot"
            " help to weigh metrics; leave it out"
        )
    return np.asarray(PAST_WEIGHT * found / found.std())
