"""What goes wrong in practice, from the command line: exit code 2, a reason, no traceback."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran
from tests.kits.corpora import make_corpus

from assay.worlds.editing import EditingWorld

Run = Callable[..., Ran]

ASSIGNED = [
    (f"E{number}", doc, system)
    for number, order in enumerate(permutations("ABH"))
    for doc, system in zip("xyz", order, strict=True)
]


@pytest.fixture(scope="module")
def edits() -> pl.DataFrame:
    return EditingWorld({"A": 5.0, "B": 5.0, "H": 0.0}, segments=8).edits(ASSIGNED, rng=1).frame


def found(run_assay: Run, frame: pl.DataFrame, folder: Path, *options: object) -> Ran:
    path = folder / "edits.tsv"
    frame.write_csv(path, separator="\t")
    return run_assay("effort", path, "--seed", 1, *options)


def refused(ran: Ran, *words: str) -> None:
    assert ran.code == 2, ran.out
    assert ran.out == ""
    assert "Traceback" not in ran.err
    for word in words:
        assert word in ran.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no text; leave it out"),
        ("\n \n\t\n", "has no text"),
        ("One line of a few words.\n", "make no piece of 500 words"),
    ],
)
def test_empty_texts(tmp_path: Path, run_assay: Run, text: str, words: str) -> None:
    book = tmp_path / "book.txt"
    book.write_text(text)
    refused(run_assay("kits", "find", book), words)


@pytest.mark.parametrize(
    "text",
    [
        "これは長い日本語の文章です。翻訳の品質を測るために使います。",
        "这是一个很长的中文句子，用来测量翻译的质量。",
        "นี่คือประโยคภาษาไทยที่ยาวมากซึ่งใช้เพื่อวัดคุณภาพของการแปล",
    ],
)
def test_languages_without_spaces(tmp_path: Path, run_assay: Run, text: str) -> None:
    book = tmp_path / "buch.txt"
    book.write_text("\n".join([text] * 40), "utf-8")
    ran = run_assay("kits", "find", book, "--language", "xx", "--words", 5)
    refused(ran, "buch: 1 problem", "written without spaces", "set spaces between the words first")
    # Cut into words it is a text like any other.
    words = " ".join(text[k : k + 2] for k in range(0, len(text), 2))
    book.write_text("\n".join([words] * 40), "utf-8")
    ran = run_assay("kits", "find", book, "--language", "xx", "--words", 5, "--shared", "none")
    assert "written without spaces" not in ran.err


def test_the_same_text_twice(tmp_path: Path, run_assay: Run) -> None:
    book, other = tmp_path / "book.txt", tmp_path / "more" / "book.txt"
    other.parent.mkdir()
    book.write_text("\n".join(make_corpus(9, seed=2)))
    other.write_text("\n".join(make_corpus(9, seed=3)))
    ran = run_assay("kits", "find", book, other, "--words", 100)
    assert "beware: 2 texts are called book; give them other names" in ran.err
    assert "the same text" not in ran.err
    ran = run_assay("kits", "find", book, book, "--words", 100)
    assert "beware: book and book are the same text" in ran.err


def test_terms_without_limits_of_their_own(tmp_path: Path, run_assay: Run) -> None:
    book = tmp_path / "book.txt"
    book.write_text("\n".join(make_corpus(12, seed=2)))
    ran = run_assay("kits", "find", book, "--words", 100, "--terms", "bigrams", "--density", "none")
    assert ran.code == 0, ran.err
    assert "terms: 1 of 1 methods accept it (bigrams)\n" in ran.out


def test_one_piece(tmp_path: Path, run_assay: Run) -> None:
    book = tmp_path / "book.txt"
    book.write_text("\n".join(make_corpus(1, seed=2)))
    refused(run_assay("kits", "find", book, "--words", 100), "1 piece cannot make 1 kit of 3")


def test_three_identical_pieces(tmp_path: Path, run_assay: Run) -> None:
    book = tmp_path / "book.txt"
    book.write_text("\n".join(make_corpus(1, seed=2) * 3))
    ran = run_assay("kits", "find", book, "--words", 100)
    refused(ran, "no kit was found", "shared (at most 20% of the terms)", "without shared")
    ran = run_assay("kits", "find", book, "--words", 100, "--shared", "none", "--density", "none")
    assert ran.code == 0
    assert "diameter 0.0000" in ran.out


def test_an_empty_document(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    blank = pl.when(pl.col("doc") == "x").then(pl.lit("")).otherwise(pl.col("source"))
    ran = found(run_assay, edits.with_columns(blank.alias("source")), tmp_path)
    refused(ran, "document 'x' is empty")
    empty = [
        pl.when(pl.col("doc") == "x").then(pl.lit("***")).otherwise(pl.col(name)).alias(name)
        for name in ("source", "mt", "edited")
    ]
    nothing = edits.with_columns(empty).with_columns(words=0.0)
    refused(found(run_assay, nothing, tmp_path), "document 'x' is empty")


def test_no_rows_at_all(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    refused(found(run_assay, edits.clear(), tmp_path), "edits.tsv")


def test_one_editor(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    refused(found(run_assay, edits.filter(editor="E0"), tmp_path), "only one editor ('E0')")


def test_one_engine(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    refused(found(run_assay, edits.filter(system="A"), tmp_path), "only one system ('A')")


def test_no_times(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    ran = found(run_assay, edits.drop("seconds"), tmp_path, "--rate", 40)
    assert ran.code == 0
    assert "no segment has seconds: time is left out" in ran.err
    assert "Per 1,000 words" not in ran.out
    refused(found(run_assay, edits.drop("seconds"), tmp_path, "--measures", "time"), "seconds")


def test_some_times(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    gone = pl.when(pl.int_range(pl.len()) % 7 > 0).then(pl.col("seconds")).alias("seconds")
    ran = found(run_assay, edits.with_columns(gone), tmp_path)
    assert ran.code == 0
    assert "segments without seconds left out of time" in ran.err


@pytest.mark.parametrize("value", ["-3", "soon", "inf"])
def test_impossible_times(edits: pl.DataFrame, tmp_path: Path, run_assay: Run, value: str) -> None:
    seconds = edits["seconds"].cast(pl.String).to_list()
    seconds[4] = value
    ran = found(run_assay, edits.with_columns(pl.Series("seconds", seconds)), tmp_path)
    refused(ran, "line 6", "seconds", value)


def test_an_editor_who_saw_an_engine_twice(
    edits: pl.DataFrame, tmp_path: Path, run_assay: Run
) -> None:
    again = pl.when((pl.col("editor") == "E0") & (pl.col("doc") == "y")).then(pl.lit("A"))
    frame = edits.with_columns(again.otherwise(pl.col("system")).alias("system"))
    ran = found(run_assay, frame, tmp_path)
    assert ran.code == 0
    assert "beware (system-twice)" in ran.out
    twice = edits.filter(editor="E0", doc="x").with_columns(system=pl.lit("B"))
    both = pl.concat([edits, twice])
    refused(found(run_assay, both, tmp_path), "editor 'E0' edited document 'x' from 2 systems")


def test_a_row_twice(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    refused(found(run_assay, pl.concat([edits, edits.head(1)]), tmp_path), "line")


def test_a_system_in_one_document_only(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    tied = edits.filter(
        ((pl.col("doc") == "x") & (pl.col("system") == "A"))
        | ((pl.col("doc") == "y") & (pl.col("system") == "B"))
    )
    ran = found(run_assay, tied, tmp_path)
    refused(ran, "rotate the systems over the documents", "--assume-alike")
