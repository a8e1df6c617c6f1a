"""Label Studio JSON: exports read, tables there and back, what is refused."""

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
from assay.formats.catalogue import load_format, save_format
from assay.tables.answers import read_errors, read_judgments
from assay.tables.load import conform
from assay.tables.tables import read_ratings

FIXTURES = Path(__file__).parent / "fixtures"
READERS: dict[str, Any] = {
    "ratings": read_ratings,
    "errors": read_errors,
    "judgments": read_judgments,
}

NAMES = st.sampled_from(["A", "B b", "7", "007", "שלום", 'x"y', "é\n", "a@b.c", "😀", "No-error"])
NAMES |= st.text(st.characters(codec="utf-8"), min_size=1, max_size=3)
NUMBERS = st.floats(-1e50, 1e50).map(lambda x: x if abs(x) > 1e-75 else 0.0) | st.integers(
    -9, 9
).map(float)
AMOUNTS = st.floats(0, 1e12).map(lambda x: x if x > 1e-75 else 0.0) | st.none()


def table(rows: list[dict[str, Any]], optional: list[str], drop: list[str]) -> pl.DataFrame:
    """The rows without some optional columns; those left are never empty throughout."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    empty = [name for name in optional if frame[name].null_count() == frame.height]
    return frame.drop({*drop, *empty})


@st.composite
def ratings(draw: st.DrawFn) -> pl.DataFrame:
    key = st.tuples(*[NAMES] * 5)
    keys = draw(st.lists(key, min_size=1, max_size=6, unique=True))
    rows = [
        dict(zip(("lp", "system", "doc", "seg", "rater"), values, strict=True))
        | {"score": draw(NUMBERS | st.none()), "seconds": draw(AMOUNTS)}
        for values in keys
    ]
    drop = draw(st.sampled_from([[], ["seconds"], ["lp", "seconds"]]))
    return table(rows, ["seconds"], drop)


@st.composite
def errors(draw: st.DrawFn) -> pl.DataFrame:
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, 50) | st.none())
        names: dict[str, Any] = {name: draw(NAMES) for name in ("system", "doc", "seg", "rater")}
        rows.append(
            names
            | {"category": draw(NAMES), "severity": draw(NAMES)}
            | {"side": draw(st.sampled_from(["source", "target", None]))}
            | {"start": start, "end": None if start is None else start + draw(st.integers(0, 9))}
        )
    drop = draw(st.sampled_from([[], ["side"], ["rater", "doc"], ["start", "end"]]))
    return table(rows, ["side", "start", "end"], drop)


@st.composite
def judgments(draw: st.DrawFn) -> pl.DataFrame:
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        left, right = draw(st.lists(NAMES, min_size=2, max_size=2, unique=True))
        rows.append(
            {name: draw(NAMES) for name in ("set", "doc", "seg", "rater", "lp")}
            | {"left": left, "right": right}
            | {"winner": draw(st.sampled_from(["left", "right", "tie"]))}
        )
    drop = draw(st.sampled_from([[], ["set"], ["rater", "doc"], ["set", "doc", "seg", "lp"]]))
    return table(rows, [], drop)


def there_and_back(path: Path, frame: pl.DataFrame, kind: str) -> None:
    save_format(frame, path, "label-studio", kind)
    raw = load_format(path, "label-studio", kind)
    expected, _ = conform(frame, kind)
    found = READERS[kind](raw).frame
    assert_frame_equal(found, expected, check_row_order=False, check_exact=True)


@given(ratings())
def test_ratings_there_and_back(tmp_path: Path, frame: pl.DataFrame) -> None:
    there_and_back(tmp_path / "x.json", frame, "ratings")


@given(errors())
def test_errors_there_and_back(tmp_path: Path, frame: pl.DataFrame) -> None:
    there_and_back(tmp_path / "x.json", frame, "errors")


@given(judgments())
def test_judgments_there_and_back(tmp_path: Path, frame: pl.DataFrame) -> None:
    there_and_back(tmp_path / "x.json", frame, "judgments")


def test_ratings() -> None:
    raw = load_format(FIXTURES / "label_studio.json", "label-studio", "ratings")
    expected = pl.DataFrame(
        {
            "system": ["Alpha", "Alpha", "بيتا"],
            "doc": ["tea"] * 3,
            "seg": ["1", "1", '2 "b"\n'],
            "rater": ["3", "bo@example.org", "3"],
            "score": [80.0, 4.0, 12.5],
            "seconds": [12.5, None, 3.0],
        }
    )
    assert_frame_equal(read_ratings(raw).frame, expected)
    assert raw.lines([0, 1, 2]) == [1, 1, 2]
    assert raw.notes == (
        "cancelled annotations left out: 1",
        "tasks without annotations left out: 1",
    )


def test_errors() -> None:
    raw = load_format(FIXTURES / "label_studio.json", "label-studio", "errors")
    expected = pl.DataFrame(
        [
            ("Alpha", "3", "Accuracy", "Major", "target", 8, 9),
            ("Alpha", "3", "unspecified", "minor", "target", 10, 13),
            ("Alpha", "bo@example.org", "No-error", "No-error", None, None, None),
            ("بيتا", "3", "Fluency/Spelling", "undecided", "source", 0, 3),
        ],
        schema=["system", "rater", "category", "severity", "side", "start", "end"],
        orient="row",
    )
    assert_frame_equal(read_errors(raw).frame.drop("doc", "seg"), expected)
    target = "Der Tee 🍵 ist heiß"
    assert (target[8:9], target[10:13]) == ("🍵", "ist")


def test_offsets_stay_where_the_marked_text_tells_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    value = {"start": 1, "end": 2, "text": "elsewhere", "labels": ["x"]}
    other = {"type": "choices", "from_name": "mood", "value": {"choices": ["good"]}}
    marked = {"id": "r", "type": "labels", "to_name": "target", "value": value}
    path.write_text(json.dumps(task(other, marked, target="so 😀")))
    frame = load_format(path, "label-studio", "errors").frame
    assert frame.select("category", "start", "end").rows() == [("x", 1, 2)]


def test_judgments() -> None:
    raw = load_format(FIXTURES / "label_studio_judgments.json", "label-studio", "judgments")
    expected = pl.DataFrame(
        {
            "doc": ["tea"] * 3,
            "seg": ["1", "1", "2"],
            "rater": ["1", "2", "1"],
            "left": ["Alpha", "Alpha", "Beta"],
            "right": ["Beta", "Beta", "Gamma 🎯"],
            "winner": ["left", "tie", "right"],
        }
    )
    assert_frame_equal(read_judgments(raw).frame, expected)
    assert raw.notes == ("annotations without a judgment left out: 1",)


def test_scores_become_tasks(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    frame = pl.DataFrame(
        {"system": ["A", "B"], "seg": [1, 2], "target": ["ü 😀", None], "m": [0.5, float("nan")]}
    )
    assert save_format(frame, path, "label-studio", "scores") == [path]
    assert json.loads(path.read_text("utf-8")) == [
        {"id": 1, "data": {"system": "A", "seg": "1", "target": "ü 😀", "m": 0.5}},
        {"id": 2, "data": {"system": "B", "seg": "2"}},
    ]


def test_raters_of_one_output_share_a_task(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    frame = pl.DataFrame(
        {"system": ["A", "B", "A"], "seg": [1, 1, 1], "rater": ["7", "7", "bo"], "score": [1, 2, 3]}
    )
    save_format(frame, path, "label-studio", "ratings")
    result = {"from_name": "score", "to_name": "target", "type": "number"}
    assert json.loads(path.read_text("utf-8"))[0] == {
        "id": 1,
        "data": {"system": "A", "seg": "1"},
        "annotations": [
            {"completed_by": 7, "result": [{**result, "value": {"number": 1.0}}]},
            {"completed_by": {"email": "bo"}, "result": [{**result, "value": {"number": 3.0}}]},
        ],
    }


def test_a_table_with_faults_is_not_written(tmp_path: Path) -> None:
    frame = pl.DataFrame({"left": ["A"], "right": ["B"], "winner": ["both"]})
    with pytest.raises(TableError, match="'both' is not one of left, right, tie"):
        save_format(frame, tmp_path / "x.json", "label-studio", "judgments")
    assert list(tmp_path.iterdir()) == []


def task(*results: object, **data: object) -> list[Any]:
    shown = {"system": "A", "seg": 1, "left": "A", "right": "B", **data}
    return [{"data": shown, "annotations": [{"result": list(results)}]}]


SCORE = {"type": "number", "value": {"number": 1}}
LABELS = {"type": "labels", "value": {"start": 0, "end": 1, "labels": ["x"]}}


@pytest.mark.parametrize(
    ("kind", "tasks", "message"),
    [
        ("ratings", [{"data": 5}], "expected a task with data and annotations"),
        ("ratings", [7], "expected a task with data and annotations"),
        ("ratings", [{"data": {"text": "x"}}], "data has no system and no seg; found text"),
        ("judgments", [{"data": {"left": "x"}}], "data has no right; found left"),
        ("ratings", [{"data": {"system": "A", "seg": 1}, "annotations": 5}], "list of objects in"),
        ("ratings", task(5), "expected a list of objects with value in result"),
        ("ratings", task({"type": "number", "value": 5}), "list of objects with value"),
        ("ratings", task({"type": "number", "value": {"number": "5"}}), '"5" is not a number'),
        ("ratings", task(SCORE, SCORE), "an annotation has 2 scores"),
        (
            "errors",
            task({**LABELS, "value": {"start": -1, "end": 1}}),
            "-1 is not a place in a text",
        ),
        ("errors", task({**LABELS, "value": {"start": 0, "end": "z"}}), '"z" is not a place'),
        ("judgments", task({"type": "pairwise", "value": {"selected": "up"}}), "found up"),
        (
            "judgments",
            task(
                {"type": "pairwise", "value": {"selected": "left"}},
                {"type": "choices", "value": {"choices": ["tie"]}},
            ),
            "expected left, right or tie, found left, tie",
        ),
    ],
)
def test_faulty_tasks(tmp_path: Path, kind: str, tasks: list[Any], message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([*task(SCORE, LABELS), *tasks]))
    with pytest.raises(TableError, match=message) as caught:
        load_format(path, "label-studio", kind)
    assert {problem.line for problem in caught.value.problems} == {2}


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        ("ratings", {"tasks": []}, "expected a list of tasks, found"),
        ("ratings", [], "the file has no annotations"),
        ("ratings", task(LABELS), "has no results of type number or rating; found labels"),
        ("errors", task(SCORE), "has no results of type labels or choices; found number"),
        ("judgments", task(SCORE), "has no results of type pairwise or choices"),
    ],
)
def test_other_files(tmp_path: Path, kind: str, content: object, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content))
    with pytest.raises(TableError, match=message):
        load_format(path, "label-studio", kind)


def test_faults_found_by_the_checks_point_to_the_task(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([*task(SCORE), *task(SCORE, seg=2), *task(SCORE)]))
    with pytest.raises(TableError, match="line 3, column seg: .* is already in line 1"):
        read_ratings(load_format(path, "label-studio"))
