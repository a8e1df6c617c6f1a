from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import TableError
from assay.formats.catalogue import Options, load_format
from assay.tables.tables import read_ratings
from formats.line_texts import FIXTURES


def load(path: Path, content: str, **options: str):
    path.write_text(content, encoding="utf-8")
    return load_format(path, "avg-seg-scores", options=Options(**options))


def test_spaces_and_tabs_signs_and_missing_scores():
    ratings = read_ratings(load_format(FIXTURES / "avg_seg_scores.tsv", "avg-seg-scores"))
    assert ratings.frame.rows(named=True) == [
        {"system": "Alpha.1", "seg": "1", "score": -5.666667},
        {"system": "Alpha.1", "seg": "2", "score": 0.0},
        {"system": "Beta.2", "seg": "1", "score": None},
        {"system": "Beta.2", "seg": "2", "score": -25.0},
    ]
    assert ratings.notes == (
        "scores keep the file's sign: MQM negated, so higher is better and 0 is perfect",
        "1 of 4 rows have no score and count as not rated",
    )


def test_lp_names_the_language_pair(tmp_path: Path):
    raw = load(tmp_path / "a.tsv", "system mqm_avg_score seg_id\nA -1 1\n", lp="zh-en")
    assert read_ratings(raw).frame["lp"].to_list() == ["zh-en"]


def test_columns_in_another_order(tmp_path: Path):
    raw = load(tmp_path / "a.tsv", "seg_id system mqm_avg_score\n\n7 A -1\n")
    assert raw.frame.rows(named=True) == [{"seg": "7", "system": "A", "score": "-1"}]
    assert raw.lines([0]) == [3]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("system score seg_id\nA -1 1\n", "line 1, column mqm_avg_score: the header has no"),
        ("system mqm_avg_score seg_id\nA -1\n", "line 2: 2 fields where 3 are expected"),
        ("system mqm_avg_score seg_id\nA -1 1 2\n", "line 2: 4 fields where 3 are expected"),
        ("system mqm_avg_score score seg_id\n", "has 'score' twice"),
    ],
)
def test_wrong_shapes(tmp_path: Path, content: str, message: str):
    with pytest.raises(TableError, match=message):
        load(tmp_path / "a.tsv", content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\nsystem mqm_avg_score seg_id\nA x 1\n", "line 3, column score: 'x' is not a number"),
        ("system mqm_avg_score seg_id\nA 1 1\n\nA 2 1\n", "line 4, .* is already in line 2"),
        ("system mqm_avg_score seg_id\n", "a header but no rows"),
    ],
)
def test_wrong_values_point_to_their_lines(tmp_path: Path, content: str, message: str):
    with pytest.raises(TableError, match=message):
        read_ratings(load(tmp_path / "a.tsv", content))


def test_many_wrong_lines_are_counted(tmp_path: Path):
    with pytest.raises(TableError) as caught:
        load(tmp_path / "a.tsv", "system mqm_avg_score seg_id\n" + "A 1\n" * 1200)
    assert len(caught.value.problems) == 1001
    assert str(caught.value.problems[-1]) == "200 more rows have problems like these"
