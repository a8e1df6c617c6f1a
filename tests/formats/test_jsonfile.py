"""JSON files: the line of every fault, nothing but text in strings, no half files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.errors import TableError
from assay.formats.files import read_json, read_json_lines, write_json


def test_a_value_survives(tmp_path: Path) -> None:
    value = [{"a": 'ü 😀 "q"\n', "b": None, "c": [1, 2.5, True]}]
    path = write_json(value, tmp_path / "x.json")
    assert read_json(path) == value
    packed = write_json(value, tmp_path / "x.json.gz")
    assert packed.read_bytes()[:2] == b"\x1f\x8b"
    assert json.loads(gzip.decompress(packed.read_bytes())) == value
    assert read_json(packed) == value


def test_nothing_is_written_over_by_what_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("before")
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json([float("nan")], path)
    assert path.read_text() == "before"
    assert [item.name for item in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", None, "the file is empty"),
        (b" \n", None, "the file is empty"),
        (b"[1,\n2,\n", 3, "is not JSON"),
        (b"[1]\n\xff", 2, "is not UTF-8"),
        (b'[1,\n"\\ud83d"]', 2, "half a character"),
        (b'["\\ude00"]', 1, "half a character"),
        (b"[" * 100_000, None, "nested more deeply"),
        (b"9" * 5000, None, "is not JSON"),
    ],
)
def test_faults_of_a_value(tmp_path: Path, content: bytes, line: int | None, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(TableError, match=message) as caught:
        read_json(path)
    assert caught.value.problems[0].line == line


def test_whole_pairs_are_characters(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('["\\ud83d\\ude00"]')
    assert read_json(path) == ["😀"]


def test_lines_are_numbered_and_all_faults_told(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n[2]\n')
    assert read_json_lines(path) == [(1, {"a": 1}), (3, [2])]
    path.write_text('{"a": 1}\n{"a"\n"\\ud800"\n[3]\n')
    with pytest.raises(TableError) as caught:
        read_json_lines(path)
    assert [problem.line for problem in caught.value.problems] == [2, 3]


def test_values_too_deep_to_be_shown_are_refused(tmp_path: Path) -> None:
    for depth in (101, 2000, 100_000):
        path = tmp_path / "x.json"
        path.write_text("[" * depth + "]" * depth, encoding="utf-8")
        with pytest.raises(TableError, match="nested more deeply"):
            read_json(path)
