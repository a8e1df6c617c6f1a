"""Appraise results: which rows count, and what is refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assay.errors import OptionError, TableError
from assay.formats.catalogue import Options, load_format
from assay.tables.answers import read_errors
from assay.tables.tables import read_ratings

FIXTURE = Path(__file__).parent / "fixtures" / "appraise.csv"
LEFT_OUT = (
    "repeated items (CHK) left out: 1",
    "answers replaced by a later one of the same rater: 1",
    "broken outputs (BAD) left out: 1",
    "references (REF) left out: 1",
    "document scores left out: 1",
    "tutorial items left out: 1",
)
ROW = "u,A,1,TGT,eng,deu,80,d,False,[],1.0,2.0"


def save(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "a.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def marked(cell: str) -> str:
    quoted = cell.replace('"', '""')
    return f'u,A,2,TGT,eng,deu,80,d,False,"{quoted}",1.0,2.0'


def test_ratings() -> None:
    raw = load_format(FIXTURE, "appraise", "ratings")
    expected = pl.DataFrame(
        {
            "system": ["Alpha", "Alpha", "Beta", "Beta"],
            "doc": ["tea", "tea", 'the "big"\nnews', "tea"],
            "seg": ["1", "2", "1", "2"],
            "rater": ["deu01", "deu01", 'bo, "the second"', "deu01"],
            "score": [80.0, 75.0, 66.0, 90.0],
            "seconds": [12.5, 1.0, 3.0, 4.0],
        }
    )
    ratings = read_ratings(raw, range=(0, 100))
    assert_frame_equal(ratings.frame, expected)
    assert raw.lines(range(4)) == [1, 4, 9, 11]
    assert ratings.notes == LEFT_OUT


def test_errors() -> None:
    raw = load_format(FIXTURE, "appraise", "errors")
    expected = pl.DataFrame(
        [
            ("Alpha", "1", "Accuracy/Omission", "minor", "target", 4, 7),
            ("Alpha", "2", "missing", "major", "target", None, None),
            ("Beta", "1", "unspecified", "undecided", "target", 0, 1),
            ("Beta", "2", "No-error", "No-error", None, None, None),
        ],
        schema=["system", "seg", "category", "severity", "side", "start", "end"],
        orient="row",
    )
    errors = read_errors(raw)
    assert_frame_equal(errors.frame.drop("doc", "rater"), expected)
    assert "UTF-16" in errors.notes[0]
    assert errors.notes[1:] == LEFT_OUT


@pytest.mark.parametrize(
    ("row", "columns"),
    [
        ("u,A,1,TGT,eng,deu,80,1.0,2.0", ["system", "seg", "rater", "score", "seconds"]),
        (
            "u,A,1,TGT,eng,deu,80,d,False,1.0,2.0",
            ["system", "doc", "seg", "rater", "score", "seconds"],
        ),
        (ROW + ",3,400", ["system", "doc", "seg", "rater", "score", "seconds"]),
    ],
)
def test_other_layouts(tmp_path: Path, row: str, columns: list[str]) -> None:
    raw = load_format(save(tmp_path, row), "appraise")
    assert raw.frame.columns == columns
    assert raw.frame["seconds"].to_list() == [1.0]


def test_a_repeat_alone_counts_and_gives_way_to_the_item(tmp_path: Path) -> None:
    repeat = ROW.replace("TGT", "CHK").replace(",80,", ",20,")
    assert load_format(save(tmp_path, repeat), "appraise").frame["score"].to_list() == ["20"]
    assert load_format(save(tmp_path, repeat, ROW), "appraise").frame["score"].to_list() == ["80"]


def test_the_latest_answer_is_the_one_that_ended_last(tmp_path: Path) -> None:
    early = ROW.replace(",80,", ",20,").replace("1.0,2.0", "0.5,0.9")
    assert load_format(save(tmp_path, ROW, early), "appraise").frame["score"].to_list() == ["80"]


def test_blank_lines_and_missing_times(tmp_path: Path) -> None:
    raw = load_format(save(tmp_path, "", ROW.replace("1.0,2.0", ",")), "appraise")
    assert raw.lines([0]) == [2]
    assert "seconds" not in raw.frame.columns


def test_language_pairs(tmp_path: Path) -> None:
    path = save(tmp_path, ROW, ROW.replace("deu", "ces"))
    with pytest.raises(OptionError, match="the file has eng-deu, eng-ces; give one of them"):
        load_format(path, "appraise")
    with pytest.raises(OptionError, match="is not in the file .did you mean 'eng-deu'"):
        load_format(path, "appraise", None, Options(lp="eng-de"))
    assert load_format(path, "appraise", None, Options(lp="eng-ces")).lines([0]) == [2]


@pytest.mark.parametrize(
    ("kind", "row", "line", "message"),
    [
        ("ratings", "u,A,1,TGT,eng,deu,80,d,False,[],1.0", 2, "11 cells where the first line has"),
        ("ratings", ROW.replace("TGT", "XYZ"), 2, "expected an item type .* found 'XYZ'"),
        ("ratings", ROW.replace("False", "0"), 2, "expected True or False, found '0'"),
        ("ratings", marked("[]").replace("2.0", "soon"), 2, "are not times in seconds"),
        ("ratings", '"u,A', 2, "quotation marks do not pair up"),
        ("errors", marked("[}"), 2, "expected a JSON list of spans"),
        ("errors", marked('{"a": 1}'), 2, "expected a JSON list of spans"),
        ("errors", marked("[1]"), 2, "expected a JSON list of spans"),
        ("errors", marked('["\\ud800"]'), 2, "expected a JSON list of spans"),
        ("errors", marked('[{"start_i": -1, "end_i": 2}]'), 2, "-1 to 2 is not a span"),
        ("errors", marked('[{"start_i": 1.5, "end_i": 2}]'), 2, "1.5 to 2 is not a span"),
        ("errors", marked('[{"start_i": 3, "end_i": 2}]'), 2, "3 to 2 is not a span"),
        ("errors", marked("[{}]"), 2, "null to null is not a span"),
    ],
)
def test_faulty_rows(tmp_path: Path, kind: str, row: str, line: int, message: str) -> None:
    with pytest.raises(TableError, match=message) as caught:
        load_format(save(tmp_path, ROW, row), "appraise", kind)
    assert [problem.line for problem in caught.value.problems] == [line]


def test_faulty_scores_point_to_the_line(tmp_path: Path) -> None:
    raw = load_format(save(tmp_path, ROW, ROW.replace("u,A,1", "u,A,2").replace("80", "x")),
                      "appraise")  # fmt: skip
    with pytest.raises(TableError, match="line 2, column score: 'x' is not a number"):
        read_ratings(raw)


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="3 cells where an Appraise export has 9, 11, 12 or 14"):
        load_format(save(tmp_path, "system,seg,score", "A,1,2"), "appraise")
    with pytest.raises(TableError, match="no segment scores .*BAD. left out: 1"):
        load_format(save(tmp_path, ROW.replace("TGT", "BAD")), "appraise")
    with pytest.raises(TableError, match="no column of spans; read it as ratings"):
        load_format(save(tmp_path, "u,A,1,TGT,eng,deu,80,1.0,2.0"), "appraise", "errors")
