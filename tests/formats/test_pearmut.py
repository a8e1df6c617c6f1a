"""Pearmut annotations: which answers count, where their spans stand, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from assay.errors import TableError
from assay.formats.catalogue import load_format
from assay.formats.pearmut import item_id, split_item_id
from assay.tables.answers import read_errors
from assay.tables.tables import read_ratings

FIXTURE = Path(__file__).parent / "fixtures" / "pearmut.jsonl"
LEFT_OUT = (
    "lines voided by a later reset: 1",
    "documents outside the campaign (welcome, random, goodbye) left out: 2",
    "answers replaced by a later one of the same rater: 4",
    "skipped segments left out: 1",
)
SEGMENT = {"item_id": "d#1", "src": "a", "tgt": {"A": "so 😀 it"}}


def answer(**changes: Any) -> dict[str, Any]:
    given_answer = {"A": {"score": 50, "error_spans": [], "textfield": None}}
    line = {"annotation": [given_answer], "item": [SEGMENT], "user_id": "u", "item_i": 0}
    return {key: value for key, value in {**line, **changes}.items() if value != "drop"}


def spans(*places: tuple[Any, Any]) -> dict[str, Any]:
    marked = [{"start_i": first, "end_i": last, "severity": "minor"} for first, last in places]
    return answer(annotation=[{"A": {"score": 1, "error_spans": marked}}])


def save(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def refused(path: Path, kind: str = "ratings") -> TableError:
    with pytest.raises(TableError) as caught:
        load_format(path, "pearmut", kind)
    return caught.value


def test_ratings() -> None:
    raw = load_format(FIXTURE, "pearmut", "ratings")
    expected = pl.DataFrame(
        {
            "system": ["Alpha", "Beta", "Alpha", "Beta", "Alpha", "Beta"],
            "doc": ["tea#1"] * 6,
            "seg": ["1", "1", "2", "2", "1", "1"],
            "rater": ["ann"] * 4 + ["bo"] * 2,
            "score": [55.5, 65.0, 75.0, 85.0, None, 0.0],
            "seconds": [5.0, 5.0, 5.0, 5.0, None, None],
        }
    )
    assert_frame_equal(raw.frame, expected)
    assert raw.lines(range(6)) == [6, 6, 6, 6, 8, 8]
    assert raw.notes == LEFT_OUT
    ratings = read_ratings(raw, range=(0, 100))
    assert ratings.raters == ("ann", "bo")
    assert ratings.unrated == 1


def test_errors() -> None:
    raw = load_format(FIXTURE, "pearmut", "errors")
    expected = pl.DataFrame(
        [
            ("Alpha", "1", "ann", "unspecified", "minor", "target", 8, 9),
            ("Alpha", "1", "ann", "Accuracy/Mistranslation", "major", "target", 10, 13),
            ("Beta", "1", "ann", "unspecified", "undecided", "target", 0, 5),
            ("Alpha", "2", "ann", "unspecified", "minor", "target", 6, 14),
            ("Alpha", "2", "ann", "missing", "major", "target", None, None),
            ("Beta", "2", "ann", "No-error", "No-error", None, None, None),
            ("Beta", "1", "bo", "unspecified", "major", "target", 0, 1),
        ],
        schema=["system", "seg", "rater", "category", "severity", "side", "start", "end"],
        orient="row",
    )
    assert_frame_equal(raw.frame.drop("doc"), expected)
    assert raw.frame["doc"].unique().to_list() == ["tea#1"]
    target = "Der Tee 🍵 ist heiß!"
    assert [target[8:9], target[10:13], "Trink\nlangsam."[6:14]] == ["🍵", "ist", "langsam."]
    assert raw.notes == (*LEFT_OUT, "outputs without any answer left out: 1")
    assert len(read_errors(raw)) == 7


@given(doc=st.none() | st.text(min_size=1), seg=st.text(min_size=1))
def test_item_ids_carry_document_and_segment(doc: str | None, seg: str) -> None:
    assert split_item_id(item_id(doc, seg)) == (doc, seg)


def test_without_documents_the_item_id_is_the_segment(tmp_path: Path) -> None:
    other = {**SEGMENT, "item_id": 7}
    raw = load_format(save(tmp_path, answer(), answer(item=[other])), "pearmut", "ratings")
    assert raw.frame.columns == ["system", "seg", "rater", "score"]
    assert raw.frame["seg"].to_list() == ["d#1", "7"]


def test_a_reset_voids_only_that_raters_lines(tmp_path: Path) -> None:
    reset = {"user_id": "u", "item_i": 0, "annotation": "__RESET__"}
    path = save(tmp_path, answer(), answer(user_id="v"), reset, answer(item_i=4))
    raw = load_format(path, "pearmut")
    assert raw.frame["rater"].to_list() == ["v", "u"]
    assert raw.notes == ("lines voided by a later reset: 1",)


def test_a_segment_twice_in_a_document_is_a_repeat(tmp_path: Path) -> None:
    twice = answer(item=[SEGMENT, SEGMENT], annotation=answer()["annotation"] * 2)
    raw = load_format(save(tmp_path, answer(item_i=9, user_id="w"), twice), "pearmut")
    ratings = read_ratings(raw)
    assert len(ratings) + len(ratings.repeats) == raw.frame.height
    assert len(ratings.repeats) > 0


def test_sliders_are_counted(tmp_path: Path) -> None:
    scales = {"Fluency": 3, "Adequacy": 4}
    sliders: dict[str, Any] = {"A": {"score": None, "sliders": scales, "error_spans": []}}
    raw = load_format(save(tmp_path, answer(annotation=[sliders])), "pearmut")
    assert raw.notes == ("answers on several sliders instead of a score, which are not read: 1",)


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ([1], None, "expected an object with annotation"),
        (answer(user_id="drop"), "user_id", "user_id is missing"),
        (answer(item="drop"), "item", "expected a list of segments in item, found null"),
        (answer(annotation="x"), "annotation", 'expected a list of segments .* found "x"'),
        (answer(annotation=[]), None, "annotation has 0 entries for the 1 segments"),
        (answer(annotation=["text"]), None, "expected an object with item_id"),
        (answer(item=[{"src": "a"}]), "item_id", "a segment has no item_id"),
        (answer(annotation=[{"A": 5}]), "annotation", "expected an object with score, found 5"),
        (answer(annotation=[{"A": {"score": "5"}}]), "score", '"5" is not a number'),
        (answer(actions=[{"time": "now"}]), "actions", "expected a time in seconds"),
        (answer(actions=5), "actions", "expected a time in seconds"),
    ],
)
def test_faulty_lines(tmp_path: Path, line: object, column: str | None, message: str) -> None:
    error = refused(save(tmp_path, answer(), line))
    assert [(problem.line, problem.column) for problem in error.problems] == [(2, column)]
    with pytest.raises(TableError, match=message):
        raise error


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        (spans((-1, 2)), "start_i", "-1 is not a place in a text"),
        (spans((0, 2.5)), "end_i", "2.5 is not a place in a text"),
        (spans(("0", 2)), "start_i", '"0" is not a place'),
        (spans((True, 2)), "start_i", "true is not a place"),
        (spans((0, None)), "end_i", "null is not a place"),
        (spans((3, 2)), "end_i", "3 to 2 does not lie in the target, which has 8 characters"),
        (spans((7, 8)), "end_i", "7 to 8 does not lie in the target"),
        (spans((900, 900)), "end_i", "900 to 900 does not lie"),
        (answer(annotation=[{"A": {"score": 1, "error_spans": {"a": 1}}}]), "error_spans", "list"),
        ({**spans((0, 1)), "item": [{"item_id": "1", "tgt": "x"}]}, "tgt", "no text for system"),
    ],
)
def test_faulty_spans(tmp_path: Path, line: object, column: str, message: str) -> None:
    error = refused(save(tmp_path, spans((0, 1)), line), "errors")
    assert [(problem.line, problem.column) for problem in error.problems] == [(2, column)]
    with pytest.raises(TableError, match=message):
        raise error


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    last = {**spans((9, 3)), "user_id": "v"}
    error = refused(save(tmp_path, spans((-1, 0), (0, 99)), answer(item_i=1), last), "errors")
    assert [problem.line for problem in error.problems] == [1, 1, 3]


def test_files_without_answers(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="the file has no answers"):
        raise refused(save(tmp_path, {"user_id": "u", "annotation": "__RESET__"}))
    with pytest.raises(TableError, match="no error spans; read it as ratings"):
        raise refused(save(tmp_path, answer()), "errors")
