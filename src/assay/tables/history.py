"""What other systems' ratings say about a segment, as one more column of the test set.

A segment that was hard for other systems will be hard for this one. Where other systems have been
rated on the same segments, in an earlier campaign or in this one, their mean rating of a segment
helps to choose what to rate (balanced samples) and to estimate the rest (regression).
"""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np
import polars as pl

from assay.errors import InputError
from assay.results import Note
from assay.tables.ratings import Ratings
from assay.tables.test_set import TestSet

HISTORY = "history"


def add_history(test_set: TestSet, ratings: Ratings) -> TestSet:
    """The test set with a column of what other systems' ratings say, more is worse.

    For every output it is the mean, over the ratings of *other* systems of its segment, of how
    much worse than their system's average they are; missing where there is none. Ratings of the
    system itself never count. Where the history is known for some segments only, intervals
    allow for that. Where the same raters scored all systems, part of what it gains is their
    severity.

    >>> import assay
    >>> world = assay.simulate(documents=10, systems=3, rng=1)
    >>> known = add_history(world.test_set, world.rate())
    >>> known.history, known.frame["history"].null_count()
    ('history', 0)
    """
    if HISTORY in test_set.frame.columns:
        raise InputError("the scores have a column 'history' already; rename it")
    key = list(test_set.key)
    rows = ratings.genuine.drop_nulls("score")
    lacking = [name for name in key if name not in rows.columns]
    if lacking:
        raise InputError(
            f"the history does not say which {lacking[0]} its ratings are of; add the column"
        )
    if "lp" not in key and "lp" in rows.columns and rows["lp"].n_unique() > 1:
        raise InputError(
            "the history has several language pairs and the scores do not say which is theirs;"
            " keep the one that is meant"
        )
    sign = 1 if ratings.better == "lower" else -1
    worse = sign * (pl.col("score") - pl.col("score").mean().over("system"))
    rows = rows.select("system", *key, _worse=worse)
    rows = rows.join(test_set.segments.select(key), on=key, how="semi")
    if not rows.height:
        raise InputError(
            "no rating of the history is about a segment of the scores; are doc and seg the same?"
        )
    total = rows.group_by(key).agg(_sum=pl.col("_worse").sum(), _n=pl.len())
    own = rows.group_by("system", *key).agg(_own=pl.col("_worse").sum(), _own_n=pl.len())
    frame = test_set.frame.join(total, on=key, how="left", maintain_order="left")
    frame = frame.join(own, on=["system", *key], how="left", maintain_order="left")
    others = pl.col("_n").fill_null(0).cast(pl.Int64) - pl.col("_own_n").fill_null(0)
    mean = (pl.col("_sum") - pl.col("_own").fill_null(0.0)) / others
    frame = frame.with_columns(pl.when(others > 0).then(mean).otherwise(None).alias(HISTORY))
    frame = frame.drop("_sum", "_n", "_own", "_own_n")
    known = frame[HISTORY].drop_nulls().len()
    text = (
        f"history: {rows.height} ratings of other systems speak of {known} of {frame.height}"
        " outputs; where the same raters scored all systems, part of what it gains is their"
        " severity"
    )
    return replace(
        test_set, frame=frame, history=HISTORY, notes=(*test_set.notes, Note("history", text))
    )


def history_digest(test_set: TestSet) -> str | None:
    """A few letters that tell one history from another; None where there is none."""
    if test_set.history is None:
        return None
    values = np.nan_to_num(test_set.matrix(HISTORY), nan=1e9).round(6) + 0.0
    return f"{crc32(values.tobytes()):08x}"
