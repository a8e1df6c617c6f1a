"""Whatever a JSON, CSV or XML file holds, a reader gives a table or one of Assay's own errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import AssayError
from assay.formats.catalogue import FORMATS, Options, load_format
from assay.tables.answers import read_edits, read_errors, read_judgments
from assay.tables.tables import read_ratings

FIXTURES = Path(__file__).parent / "fixtures"
CHECKS: dict[str, Callable[[Any], object]] = {
    "ratings": read_ratings,
    "errors": read_errors,
    "judgments": read_judgments,
    "edits": read_edits,
}
FILES = {
    "pearmut": ("pearmut.jsonl",),
    "appraise": ("appraise.csv",),
    "label-studio": ("label_studio.json", "label_studio_judgments.json"),
    "xliff": ("edits.xlf", "edits.mxliff"),
    "mxliff": ("edits.mxliff",),
    "xliff2": ("edits2.xlf",),
}
KINDS = [(name, kind) for name in FILES for kind in FORMATS[name].reads]
JSON = [(name, kind) for name, kind in KINDS if name in ("pearmut", "label-studio")]

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
SCALARS |= st.sampled_from([10**400, -1, 2**63, 1e308, "", "A", "__RESET__", "\ud800", "tie"])
WORDS = """
annotation item user_id item_i actions time score error_spans start_i end_i tgt item_id sliders
severity category A data system seg doc left right annotations result type value number rating
labels choices pairwise selected start end text completed_by email lead_time to_name from_name id
"""
KEYS = st.sampled_from(WORDS.split())
VALUES = st.recursive(
    SCALARS | KEYS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=25,
)


def try_to_read(path: Path, name: str, kind: str) -> None:
    for options in (Options(), Options(system="mt", editor="E", lp="eng-deu")):
        try:
            CHECKS[kind](load_format(path, name, kind, options))
        except AssayError as error:
            assert str(error)


def mutate(data: bytes, draw: st.DataObject) -> bytes:
    for _ in range(draw.draw(st.integers(1, 4))):
        place = draw.draw(st.integers(0, max(len(data) - 1, 0)))
        length = draw.draw(st.sampled_from([0, 1, 2, 10, 100]))
        new = draw.draw(
            st.binary(max_size=3)
            | st.sampled_from([b"", b'"', b"null", b"-1", b"[]", b"{}", b"<", b"&x;", b"\n", b","])
        )
        data = data[:place] + new + data[place + length :]
    return data


@pytest.mark.parametrize(("name", "kind"), KINDS)
@given(content=st.binary(max_size=200))
def test_any_bytes(tmp_path: Path, name: str, kind: str, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    try_to_read(path, name, kind)


@pytest.mark.parametrize(("name", "kind"), KINDS)
@given(data=st.data())
def test_changed_files(tmp_path: Path, name: str, kind: str, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(FILES[name]))
    path = tmp_path / "x"
    path.write_bytes(mutate((FIXTURES / file).read_bytes(), data))
    try_to_read(path, name, kind)


@pytest.mark.parametrize(("name", "kind"), JSON)
@given(value=VALUES, lines=st.booleans())
def test_any_json(tmp_path: Path, name: str, kind: str, value: Any, lines: bool) -> None:
    path = tmp_path / "x"
    listed = value if lines and isinstance(value, list) else [value]
    path.write_text("\n".join(json.dumps(item) for item in listed) if lines else json.dumps(value))
    try_to_read(path, name, kind)


def replaced(value: Any, draw: st.DataObject) -> Any:
    """The value with one of its parts, at any depth, replaced by anything."""
    if draw.draw(st.integers(0, 5)) == 0 or not isinstance(value, dict | list) or not value:
        return draw.draw(VALUES)
    key = draw.draw(
        st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value)))
    )
    copy = value.copy()
    copy[key] = replaced(copy[key], draw)
    return copy


@pytest.mark.parametrize(("name", "kind"), JSON[2:])
@given(data=st.data())
def test_label_studio_with_any_part(
    tmp_path: Path, name: str, kind: str, data: st.DataObject
) -> None:
    file = data.draw(st.sampled_from(FILES[name]))
    value = json.loads((FIXTURES / file).read_text("utf-8"))
    path = tmp_path / "x"
    path.write_text(json.dumps(replaced(value, data)))
    try_to_read(path, name, kind)


@pytest.mark.parametrize("kind", ["ratings", "errors"])
@given(data=st.data())
def test_pearmut_with_any_part(tmp_path: Path, kind: str, data: st.DataObject) -> None:
    lines = (FIXTURES / "pearmut.jsonl").read_text("utf-8").split("\n")
    lines = [line for line in lines if line]
    place = data.draw(st.integers(0, len(lines) - 1))
    lines[place] = json.dumps(replaced(json.loads(lines[place]), data))
    path = tmp_path / "x"
    path.write_text("\n".join(lines), "utf-8")
    try_to_read(path, "pearmut", kind)


@pytest.mark.parametrize("kind", ["ratings", "errors"])
@given(data=st.data())
def test_appraise_with_any_cell(tmp_path: Path, kind: str, data: st.DataObject) -> None:
    cells = ["u", "A", "1", "TGT", "eng", "deu", "80", "d", "False", "[]", "1.0", "2.0"]
    text = st.text(st.characters(codec="utf-8")) | st.sampled_from(
        ["", "nan", "inf", "-1", "1e999"]
    )
    spans = VALUES.map(json.dumps)
    place = data.draw(st.integers(0, len(cells) - 1))
    cells[place] = data.draw(text | spans)
    path = tmp_path / "x"
    row = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
    path.write_bytes(row.encode("utf-8", "replace"))
    try_to_read(path, "appraise", kind)


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_no_file(tmp_path: Path, name: str, kind: str) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(AssayError):
            load_format(path, name, kind)


@pytest.mark.parametrize("depth", [100, 800, 950, 990])
@pytest.mark.parametrize(
    ("name", "kind", "content"),
    [
        ("pearmut", "ratings", '{"user_id": "u", "item": [{"item_id": "1"}], "annotation": [@]}'),
        (
            "pearmut",
            "errors",
            '{"user_id": "u", "item": [{"item_id": "1", "tgt": {"A": "xy"}}], "annotation": [{"A":'
            ' {"error_spans": [{"start_i": 0, "end_i": 0, "category": @}]}}]}',
        ),
        ("label-studio", "ratings", '[{"data": {"system": @, "seg": 1}, "annotations": [@]}]'),
        (
            "label-studio",
            "errors",
            '[{"data": {"system": "A", "seg": 1}, "annotations": [{"result": [{"type": "labels",'
            ' "id": @, "value": {"labels": [@]}}]}]}]',
        ),
        (
            "appraise",
            "errors",
            'u,A,1,TGT,eng,deu,80,d,False,"[{""start_i"": 0, ""end_i"": 0,'
            ' ""error_type"": @}]",1,2',
        ),
    ],
)
def test_deep_values(tmp_path: Path, name: str, kind: str, content: str, depth: int) -> None:
    path = tmp_path / "x"
    path.write_text(content.replace("@", "[" * depth + "]" * depth))
    try_to_read(path, name, kind)
