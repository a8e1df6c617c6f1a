"""Checks and conversions as results."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from assay.errors import Problem
from assay.formats.convert import Checked, Converted, check, convert
from assay.views.page import as_result
from assay.views.section import section_of

WRONG = pl.DataFrame({"left": ["A", "B"], "right": ["A", "C"], "winner": ["x", "tie"]})


def test_a_failed_check_comes_back_from_json() -> None:
    result = check(WRONG, kind="judgments")
    saved = json.loads(json.dumps(result.to_dict()))
    assert Checked.from_dict(saved) == result
    assert as_result(saved) == result
    assert not result.ok
    assert list(saved)[:3] == ["kind", "version", "signature"]
    assert set(saved["problems"][0]) == {"line", "column", "value", "message"}
    assert result.problems[0] == Problem(result.problems[0].message, 1, "winner", "x")


def test_a_good_check_comes_back_with_its_notes() -> None:
    scores = pl.DataFrame({"system": ["A", "A"], "seg": [1, 2], "chrF": [0.5, None]})
    result = check(scores, kind="scores")
    again = Checked.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again == result
    assert (result.ok, result.rows, result.metrics) == (True, 2, ("chrF",))
    assert [note.code for note in again.notes] == ["missing-metric"]
    assert "metrics: chrF" in section_of(result).lead


def test_a_conversion_comes_back_from_json(tmp_path: Path) -> None:
    scores = tmp_path / "scores.tsv"
    scores.write_text("system\tseg\tchrF\nA\t1\t0.61\n")
    result = convert(scores, tmp_path / "sheet.csv", origin="scores", to="ratings")
    saved = json.loads(json.dumps(result.to_dict()))
    assert Converted.from_dict(saved) == result
    assert (saved["rows"], saved["written"]) == (1, [str(tmp_path / "sheet.csv")])
    assert [note.code for note in result.notes] == ["empty-scores"]
    assert section_of(result).lead == f"1 row written to {tmp_path / 'sheet.csv'}"


@pytest.mark.parametrize("number", [3, 70])
def test_a_section_lists_the_problems(number: int) -> None:
    frame = pl.DataFrame({"left": ["A"] * number, "right": ["B"] * number, "winner": "w" * 50})
    section = section_of(check(frame, kind="judgments"))
    assert section.lead == f"frame: {number} problems"
    (table,) = section.shown_in("terminal")
    assert len(table.rows) == number
    assert table.rows[0][:3] == (1, "winner", "w" * 37 + "...")
