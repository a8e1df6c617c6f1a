"""Attention checks and scores by rater."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import assay
from assay.errors import TableError
from assay.tables.answers import Ratings, read_ratings
from assay.tables.test_set import TestSet, read_scores


def campaign(check: dict[str, float]) -> tuple[TestSet, Ratings]:
    """Segment k scored k by all raters; controls of the first six, moved by so much per rater."""
    rows = [("A", k, rater, float(k), None) for k in range(12) for rater in check]
    rows += [("A", k, rater, k + by, "bad") for rater, by in check.items() for k in range(6)]
    names = ["system", "seg", "rater", "score", "check"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    test_set = read_scores(pl.DataFrame({"system": ["A"] * 12, "seg": range(12)}))
    return test_set, read_ratings(frame, test_set, better="lower")


def test_checks_are_counted_and_used_for_nothing_else() -> None:
    test_set, ratings = campaign({"x": 3.0, "y": 0.0, "z": -2.0})
    report = assay.rater_report(test_set, ratings)
    assert [(r.checks, r.passed) for r in report.raters] == [(6, 6), (6, 0), (6, 0)]
    assert report.outliers == ("y", "z")
    assert report.raters[1].reasons == ("checks",)
    assert "attention checks passed" in report.rule
    assert "18 attention checks are left out of all estimates" in report.notes
    assert [r.n for r in report.raters] == [12, 12, 12]
    assert [r.severity for r in report.raters] == pytest.approx([0, 0, 0])
    result = assay.estimate(test_set, ratings)
    assert result.systems[0].estimate == 5.5
    assert "18 attention checks are left out of all estimates" in result.notes


def test_where_higher_is_better_a_control_must_be_lower() -> None:
    test_set, ratings = campaign({"x": 3.0, "z": -2.0})
    turned = read_ratings(ratings.frame, test_set, better="higher")
    found = assay.rater_report(test_set, turned).raters
    assert [(r.checks, r.passed) for r in found] == [(6, 0), (6, 6)]


def test_a_check_without_its_output_is_said() -> None:
    test_set, ratings = campaign({"x": 3.0, "z": 3.0})
    frame = ratings.frame.filter(~((pl.col("seg") == "0") & pl.col("check").is_null()))
    report = assay.rater_report(test_set, read_ratings(frame, test_set, better="lower"))
    assert [r.checks for r in report.raters] == [5, 5]
    assert any("2 of 12 attention checks have no score of the output" in x for x in report.notes)


@pytest.mark.parametrize("word", ["", "0", "False", "no", None])
def test_words_for_no_check(word: str | None) -> None:
    rows = {"system": ["A"], "seg": [1], "rater": ["x"], "score": [1.0], "check": [word]}
    ratings = read_ratings(pl.DataFrame(rows, schema_overrides={"check": pl.String}))
    assert (ratings.genuine.height, ratings.controls.height) == (1, 0)


def test_an_output_twice_without_a_check_is_refused() -> None:
    rows = {"system": ["A"] * 2, "seg": [1] * 2, "rater": ["x"] * 2, "score": [1.0, 2.0]}
    frame = pl.DataFrame(rows | {"check": ["no", ""]})
    with pytest.raises(TableError, match="is rated twice here"):
        read_ratings(frame)


def test_scores_by_each_rater_alone() -> None:
    world = assay.simulate(documents=30, systems=2, raters=3, rng=1)
    sample = assay.sample(world.test_set, design="segments", budget="40%", rng=2)
    ratings = world.rate(sample)
    few = ratings.frame.filter(
        (pl.col("rater") != "rater-3") | (pl.int_range(pl.len()).over("rater", "system") < 5)
    )
    given = read_ratings(few, world.test_set, better="lower")
    found = assay.rater_report(world.test_set, given, sample=sample).estimates
    assert list(dict.fromkeys(item.rater for item in found)) == [None, "rater-1", "rater-2"]
    pooled = assay.estimate(world.test_set, given, sample=sample)
    for item in (item for item in found if item.rater is None):
        same = next(x for x in pooled.systems if x.system == item.system)
        assert (item.estimate, item.low) == (same.estimate, same.low)
    alone = assay.exclude_raters(given, ["rater-2", "rater-3"])
    one = assay.estimate(world.test_set, alone, sample=sample)
    for item in (item for item in found if item.rater == "rater-1"):
        same = next(x for x in one.systems if x.system == item.system)
        assert (item.estimate, item.low) == pytest.approx((same.estimate, same.low))
    without = assay.rater_report(world.test_set, given)
    assert without.estimates == ()
    assert any("they need the sample" in line for line in without.notes)


def test_skipped_rows_are_counted() -> None:
    rows = {"system": ["A"] * 4, "seg": [1, 2, 1, 2], "rater": ["x", "x", "y", "y"]}
    test_set = read_scores(pl.DataFrame({"system": ["A"] * 2, "seg": [1, 2]}))
    frame = pl.DataFrame(rows | {"score": [1.0, None, 2.0, 3.0]})
    report = assay.rater_report(test_set, read_ratings(frame, test_set))
    assert [r.skipped for r in report.raters] == [1, 0]
    assert not np.isnan(report.raters[0].mean)
