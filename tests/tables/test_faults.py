"""What is said of faults that few files have."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

import assay
from assay.errors import InputError, TableError
from assay.tables.faults import refusal
from assay.tables.irregular_text import decode_unusual

PATH = Path("x.tsv")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (MemoryError(), "does not fit into memory; read a part of it"),
        (RecursionError(), "is nested too deeply to be read"),
        (csv.Error("field larger than field limit\nmore"), r"cut off \(field larger than field"),
        (pl.exceptions.ComputeError("found more fields"), r"cut off \(found more fields\)"),
        (OSError("bad sector"), r"cut off \(bad sector\); fetch or save it again"),
        (UnicodeError(" "), r"cut off \(unreadable\)"),
        (BaseException("a reader in Rust panicked"), r"cut off \(a reader in Rust panicked\)"),
    ],
)  # fmt: skip
def test_what_a_library_raises_is_a_sentence(error: BaseException, says: str) -> None:
    found = refusal(PATH, error)
    assert found is not None
    with pytest.raises(TableError, match=says):
        raise found


def test_an_error_of_our_own_is_none_of_the_file() -> None:
    assert refusal(PATH, KeyError("system")) is None


def test_every_line_that_is_not_utf8() -> None:
    data = "system\tgrün\n".encode() + "A\tgrün\n".encode("cp1252") + b"B\t\x80 5\n"
    with pytest.raises(TableError) as refused:
        decode_unusual(data, "x.tsv")
    problems = refused.value.problems
    assert [problem.line for problem in problems] == [2, 3]
    assert "byte 0xfc is not UTF-8" in problems[0].message
    assert "(as Windows-1252 it would be 'ü')" in problems[0].message
    assert "(as Windows-1252 it would be '€')" in problems[1].message


def test_names_that_look_the_same(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text(
        "system\tseg\tscore\nCaf\u00e9\t1\t2\nCafe\u0301\t1\t2\nCafe\t1\t2\n", encoding="utf-8"
    )
    with pytest.raises(TableError) as refused:
        assay.read_ratings(tmp_path / "x.tsv")
    (problem,) = refused.value.problems
    assert "'Caf\u00e9' is written in several ways that look the same" in problem.message
    assert r"'Caf\xe9' and 'Cafe\u0301'" in problem.message


def test_names_that_differ_in_capitals_or_spaces() -> None:
    rows = [{"system": name, "seg": "1", "score": 1} for name in ("DeepL", "deepl ", "DeepM")]
    with pytest.raises(TableError, match="differ only in capitals or spaces") as refused:
        assay.read_ratings(pl.DataFrame(rows))
    (problem,) = refused.value.problems
    assert "DeepM" not in problem.message


def rows(**more: object) -> pl.DataFrame:
    return pl.DataFrame({"system": ["A", "A"], "seg": ["1", "1"], **more})


@pytest.mark.parametrize(
    ("read", "table", "remedy"),
    [
        (assay.read_ratings, rows(score=[1, 2]), "add a rater column if several raters scored it"),
        (assay.read_scores, rows(chrF=[1, 2]), "add a doc column if seg restarts in every"),
        (assay.read_scores, rows(doc=["d", "d"], chrF=[1, 2]), "remove one of the rows"),
    ],
)
def test_what_to_do_about_rows_that_stand_twice(
    read: object, table: pl.DataFrame, remedy: str
) -> None:
    with pytest.raises(TableError, match=rf"is already in line 1; {remedy}"):
        read(table)  # type: ignore[operator]


def test_a_missing_column_and_what_it_may_be() -> None:
    with pytest.raises(TableError, match=r"'system' is missing \(did you mean 'sistem'"):
        assay.read_scores(pl.DataFrame({"sistem": ["A"], "seg": ["1"]}))
    with pytest.raises(TableError, match="scores, the two files are probably swapped"):
        assay.read_ratings(pl.DataFrame({"system": ["A"], "seg": ["1"], "target": ["x"]}))
    with pytest.raises(TableError, match="only one column was found: does the separator match"):
        assay.read_scores(pl.DataFrame({"system,seg": ["A,1"]}))


def test_judgments_of_two_language_pairs_are_not_ranked() -> None:
    table = {"left": ["A"] * 2, "right": ["B"] * 2, "winner": ["left"] * 2}
    judgments = assay.read_judgments(pl.DataFrame(table).with_columns(lp=pl.Series(["x", "y"])))
    with pytest.raises(InputError, match=r"several language pairs \(x, y\); choose one"):
        assay.rank(judgments)
