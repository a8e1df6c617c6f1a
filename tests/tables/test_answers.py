"""Ratings in several files, and raters on scales of their own."""

from __future__ import annotations

import polars as pl
import pytest

from assay.errors import TableError
from assay.results import has_note
from assay.tables.answers import join_ratings, rated_outputs
from assay.tables.tables import Ratings, read_ratings


def ratings(scores: list[float], rater: str | None = None) -> Ratings:
    rows = pl.DataFrame({"system": "A", "seg": range(len(scores)), "score": scores})
    return read_ratings(rows if rater is None else rows.with_columns(rater=pl.lit(rater)))


class TestFilesAsRaters:
    def test_files_of_one_name_in_two_folders_are_two_raters(self) -> None:
        files = [("anna/scores.tsv", ratings([70.0, 60.0])), ("ben/scores.tsv", ratings([50, 40]))]
        joined = join_ratings(files)
        assert joined.raters == ("anna/scores.tsv", "ben/scores.tsv")
        assert joined.frame["score"].mean() == (70 + 60 + 50 + 40) / 4
        assert has_note(joined.notes, "rater-by-file")

    def test_files_of_two_names_are_called_by_these(self) -> None:
        files = [("round/anna.tsv", ratings([70.0])), ("round/ben.tsv", ratings([50.0]))]
        assert join_ratings(files).raters == ("anna", "ben")

    def test_a_rater_in_two_files_is_refused(self) -> None:
        files = [("one.tsv", ratings([70.0], "anna")), ("two.tsv", ratings([50.0], "anna"))]
        with pytest.raises(TableError, match=r"rated in one\.tsv too"):
            join_ratings(files)


@pytest.mark.parametrize(
    ("own", "others", "doubt"),
    [
        ([25.0] * 10, [99.0] * 10 + [100.0], True),  # 100 is four times 25
        ([25.0] * 10, [99.0] * 11, False),
        ([25.0] * 9, [100.0] * 10, False),  # nine scores show no scale
        ([25.0] * 10, [100.0] * 9, False),
        ([25.0] * 10, [25.0] * 2 + [100.0] * 9, False),  # the lowest twentieth reaches as low
        ([0.0] * 10, [100.0] * 10, False),  # all 0 is on any scale
    ],
)
def test_scales_are_apart_from_four_times_and_ten_scores(
    own: list[float], others: list[float], doubt: bool
) -> None:
    both = join_ratings([("a", ratings(own, "anna")), ("b", ratings(others, "ben"))])
    assert has_note(rated_outputs(both).notes, "scales-apart") is doubt
