"""Tables that are not about the test set, or not of the kind that is asked for."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from assay.errors import TableError
from assay.tables.tables import TestSet, read_ratings, read_sample, read_scores


def outputs(doc: str, segments: int, **more: object) -> pl.DataFrame:
    rows = [(name, doc, str(k)) for name in "AB" for k in range(1, segments + 1)]
    frame = pl.DataFrame(rows, ("system", "doc", "seg"), orient="row")
    return frame.with_columns(**{name: pl.lit(value) for name, value in more.items()})


@pytest.fixture
def test_set(tmp_path: Path) -> TestSet:
    outputs("news-1", 20, words=9).write_csv(tmp_path / "scores.csv")
    return read_scores(tmp_path / "scores.csv")


def test_ratings_of_another_test_set(test_set: TestSet, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    outputs("chat-7", 30, score=3).write_csv(path)
    with pytest.raises(TableError) as refused:
        read_ratings(path, test_set)
    (problem,) = refused.value.problems
    assert (problem.line, problem.column, refused.value.source) == (2, "seg", str(path))
    assert "doc 'chat-7', seg '1' and 59 more of 60 rows are not in the test set" in str(problem)
    assert f"({tmp_path / 'scores.csv'}; its first segment is doc 'news-1', seg '1')" in str(
        problem
    )
    assert "this table belongs to another test set" in str(problem)


def test_a_sample_of_another_test_set(test_set: TestSet) -> None:
    sample = outputs("chat-7", 15, probability=0.5, design="segments|n:15|N:30")
    with pytest.raises(TableError, match="and 14 more of 15 rows") as refused:
        read_sample(sample.filter(system="A").drop("system"), test_set)
    assert len(refused.value.problems) == 1


@pytest.mark.parametrize(("segments", "known"), [(4, 0), (10, 10)])
def test_slips_are_listed_one_by_one(test_set: TestSet, segments: int, known: int) -> None:
    # 8 unknown rows of 8, and 20 of 40: neither 10 nor more than half
    rows = [outputs("chat-7", segments, score=3), outputs("news-1", known, score=3)]
    with pytest.raises(TableError, match="is not in the test set in this document") as refused:
        read_ratings(pl.concat(rows), test_set)
    assert len(refused.value.problems) == 2 * segments


def test_whole_numbers_written_as_decimals(test_set: TestSet) -> None:
    ratings = outputs("news-1", 20, score=3).with_columns(seg=pl.col("seg") + ".0")
    with pytest.raises(TableError, match=r"seg '1.0' \(did you mean '1'\?\) and 39 more"):
        read_ratings(ratings, test_set)


def test_scores_and_ratings_swapped() -> None:
    twice = pl.concat([outputs("news-1", 20, score=3, rater=name) for name in ("r1", "r2")])
    with pytest.raises(TableError, match="scores and ratings are probably swapped") as refused:
        read_scores(twice)
    assert len(refused.value.problems) == 1
    with pytest.raises(TableError, match="'score' is missing.*files are probably swapped"):
        read_ratings(outputs("news-1", 20, words=9))
    with pytest.raises(TableError, match="'score' is missing") as refused:
        read_ratings(outputs("news-1", 20, rater="r1"))
    assert "swapped" not in str(refused.value)
