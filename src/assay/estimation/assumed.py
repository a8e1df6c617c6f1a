"""Ratings without a sample: everything is rated, or the user states how the rated were chosen."""

from __future__ import annotations

import numpy as np

from assay.designs.base import SamplingDesign
from assay.designs.unsampled import ASSUMPTIONS, Census
from assay.errors import InputError, need_known
from assay.estimation.study import Rated
from assay.results import Note
from assay.tables.tables import TestSet


def without_sample(scores: np.ndarray, test_set: TestSet, assume: str | None) -> Rated:
    """All ratings, as a census or as the simple random sample that is assumed."""
    if assume is not None:
        need_known("assume", assume, list(ASSUMPTIONS))
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
    drawn = ~np.isnan(scores)
    return Rated(design, test_set.present, test_set.document, scores, pi, drawn, notes=(note,))
