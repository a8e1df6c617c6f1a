"""What metrics and a history say of segments: directions, weights, slope."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from assay.designs.population import Population
from assay.tables.history import add_history
from assay.tables.tables import TestSet, read_ratings, read_scores

N, SYSTEMS = 400, 4
RNG = np.random.default_rng(7)
BAD = RNG.exponential(size=N)
"""How bad the segments are."""
SURFACE = RNG.normal(size=N)
"""What surface metrics see, which has nothing to do with it."""


def table(columns: dict[str, np.ndarray], lower: tuple[str, ...] = ()) -> TestSet:
    """One row per system and segment; every system has a little noise of its own."""
    noise = np.random.default_rng(8)
    rows = {
        "system": np.repeat([f"s{k}" for k in range(SYSTEMS)], N),
        "doc": np.tile(np.arange(N) // 10, SYSTEMS),
        "seg": np.tile(np.arange(N) % 10, SYSTEMS),
    } | {
        name: np.tile(values, SYSTEMS) + 0.1 * noise.normal(size=N * SYSTEMS)
        for name, values in columns.items()
    }  # fmt: skip
    return read_scores(pl.DataFrame(rows), metrics=list(columns), lower_metrics=lower)


def rated(test_set: TestSet, systems: int) -> TestSet:
    """With a history of some systems, whose ratings vary with how bad a segment is."""
    noise = np.random.default_rng(9)
    scores = BAD * (1 + noise.normal(size=(systems, N)))
    rows = test_set.frame.head(systems * N).select("system", "doc", "seg")
    frame = rows.with_columns(score=pl.Series(scores.ravel()))
    return add_history(test_set, read_ratings(frame, better="lower"))


def corr(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a, b)[0, 1])


def test_a_stated_direction_is_not_overridden_by_the_majority() -> None:
    # Three surface metrics that happen to run against length: long segments are bad, as stated.
    columns = {"chrF": BAD + SURFACE, "BLEU": BAD + 1.1 * SURFACE, "TER": BAD + 0.9 * SURFACE}
    alone = Population(table(columns | {"length": BAD}))
    assert corr(alone.badness, BAD) < 0  # not stated: turned to what most say
    stated = Population(table(columns | {"length": BAD}, lower=("length",)))
    unturned = (-sum(_z(v) for v in columns.values()) + _z(BAD)) / 4
    assert corr(stated.badness, unturned) > 0.95
    assert not stated.metrics_agree  # most metrics contradict what was stated
    assert stated.slope == 0


def _z(values: np.ndarray) -> np.ndarray:
    return np.asarray((values - values.mean()) / values.std())


def test_metrics_that_agree_with_each_other_are_no_evidence_for_a_steep_slope() -> None:
    six = {f"m{k}": SURFACE + 0.1 * np.random.default_rng(k).normal(size=N) for k in range(6)}
    assert Population(table(six)).slope == 1.0
    assert Population(table({"one": SURFACE})).slope == 0.0


def test_a_history_tells_which_metric_counts() -> None:
    # Four surface metrics outvote the one that predicts, until there are ratings.
    columns = {f"m{k}": SURFACE + 0.1 * np.random.default_rng(k).normal(size=N) for k in range(4)}
    columns["length"] = BAD
    test_set = table(columns, lower=("length",))
    before, after = Population(test_set), Population(rated(test_set, 2))
    assert corr(before.badness, BAD) < 0.5
    assert corr(after._by_metrics, BAD) > 0.9


@pytest.mark.parametrize("systems", [2, SYSTEMS])
def test_a_history_tells_the_slope(systems: int) -> None:
    good = rated(table({"length": BAD, "m": BAD + SURFACE}, lower=("length", "m")), systems)
    assert 1.0 < Population(good).slope <= 2.0


def test_a_history_of_few_segments_tells_nothing() -> None:
    test_set = table({"a": -BAD, "b": -BAD + 0.5 * SURFACE})
    rows = test_set.frame.filter(pl.col("system") == "s0").head(30).select("system", "doc", "seg")
    few = add_history(test_set, read_ratings(rows.with_columns(score=pl.lit(1.0))))
    assert Population(few).slope == 0.0
    assert corr(Population(few)._by_metrics, BAD) > 0.9
