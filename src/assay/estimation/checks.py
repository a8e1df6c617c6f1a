"""Attention checks: is the spoiled copy of an output scored worse than the output itself?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from assay.tables.answers import Ratings


class Checks(NamedTuple):
    """Per rater, in the order asked for: comparable checks and those passed; and remarks."""

    done: np.ndarray
    passed: np.ndarray
    notes: tuple[str, ...]


def attention_checks(
    ratings: Ratings, key: tuple[str, ...], names: tuple[str, ...], sign: int
) -> Checks:
    """Every control against the same rater's score of the same system's output of the segment.

    ``sign`` is 1 where lower scores are better. A check is passed when the control has the
    strictly worse score.
    """
    own = ["system", *key, "rater"]
    controls = ratings.controls
    genuine = ratings.genuine.select(*own, _genuine="score")
    pairs = controls.join(genuine, on=own, how="left").drop_nulls(["score", "_genuine"])
    worse = sign * (pairs["score"] - pairs["_genuine"]) > 0
    counted = (
        pairs.select("rater")
        .with_columns(passed=worse)
        .group_by("rater")
        .agg(pl.len().alias("done"), pl.col("passed").sum())
    )
    found = {name: (done, passed) for name, done, passed in counted.rows()}
    done, passed = np.array([found.get(name, (0, 0)) for name in names], dtype=int).T
    alone = controls.height - pairs.height
    notes = () if not alone else (
        f"{alone} of {controls.height} attention checks have no score of the output itself by the"
        " same rater to compare with",
    )  # fmt: skip
    return Checks(done, passed, notes)
