"""What ratings of other systems say about the same segments, as a column of the test set.

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
from assay.tables.tables import Ratings, TestSet, refuse_answers

HISTORY = "history"


def add_history(test_set: TestSet, ratings: Ratings) -> TestSet:
    """Add a column to the test set with what other systems' ratings say; more is worse.

    For every output it is the mean, over the ratings of *other* systems of its segment, of how
    much worse than their system's average they are; null without such ratings. Ratings of the
    system itself never count. Intervals allow for segments without a history. Where the same raters
    scored all systems, part of the gain is their shared severity.

    >>> import assay
    >>> world = assay.simulate(documents=10, systems=3, rng=1)
    >>> known = add_history(world.test_set, world.rate())
    >>> known.history, known.frame["history"].null_count()
    ('history', 0)
    """
    if HISTORY in test_set.frame.columns:
        raise InputError("the scores already have a column 'history'; rename it")
    key = list(test_set.key)
    rows = ratings.genuine.drop_nulls("score")
    lacking = [name for name in key if name not in rows.columns]
    if lacking:
        raise InputError(
            f"the history has no column {lacking[0]}, which names segments in the scores; add it"
        )
    if "lp" not in key and "lp" in rows.columns and rows["lp"].n_unique() > 1:
        raise InputError(
            "the history has several language pairs and the scores have no lp column; keep only"
            " the pair of the scores"
        )
    refuse_answers(test_set, ratings)
    sign = 1 if ratings.better == "lower" else -1
    worse = sign * (pl.col("score") - pl.col("score").mean().over("system"))
    places = test_set.segments.select(key).with_row_index("_place")
    rows = rows.select("system", *key, _worse=worse)
    rows = rows.join(places, on=key, how="inner", maintain_order="left")
    if not rows.height:
        raise InputError(
            "no rating in the history matches a segment of the scores; check that both write doc"
            " and seg in the same way"
        )
    frame = test_set.frame.with_columns(
        pl.Series(HISTORY, _of_others(test_set, rows)).fill_nan(None)
    )
    known = frame[HISTORY].drop_nulls().len()
    text = (
        f"history: {rows.height:,} ratings of other systems cover {known:,} of {frame.height:,}"
        " outputs; where the same raters scored all systems, part of the gain is their shared"
        " severity"
    )
    notes = (*test_set.notes, Note("history", text))
    return replace(test_set, frame=frame, history=HISTORY, notes=notes)


def _of_others(test_set: TestSet, rows: pl.DataFrame) -> np.ndarray:
    """The mean of the other systems' ratings for every row of the test set, NaN without any.

    Summed in the order of the rows: polars' sums by group differ in their last digits from run to
    run.
    """
    number = {name: k for k, name in enumerate(test_set.systems)}
    system = np.array([number.get(name, len(number)) for name in rows["system"]])
    place, worse = rows["_place"].to_numpy().astype(np.int64), rows["_worse"].to_numpy()
    total, count = np.zeros((2, len(number) + 1, test_set.segments.height))
    np.add.at(total, (system, place), worse)
    np.add.at(count, (system, place), 1.0)
    others = count.sum(axis=0) - count
    mean = np.divide(
        total.sum(axis=0) - total, others, out=np.full(others.shape, np.nan), where=others > 0
    )
    return np.asarray(mean[test_set.positions])


def history_digest(test_set: TestSet) -> str | None:
    """A short digest of the history; None for a test set without one."""
    if test_set.history is None:
        return None
    values = np.nan_to_num(test_set.matrix(HISTORY), nan=1e9).round(6) + 0.0
    return f"{crc32(values.tobytes()):08x}"
