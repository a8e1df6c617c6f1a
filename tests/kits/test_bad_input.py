"""What goes wrong in practice, from the command line: exit code 2, a reason, no traceback."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Ran
from tests.kits.corpora import make_corpus

Run = Callable[..., Ran]


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
    refused(ran, "buch: 1 problem", "written without spaces", "insert spaces between words first")
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
    assert "2 texts are called book; give them different names" in ran.err
    assert "the same text" not in ran.err
    ran = run_assay("kits", "find", book, book, "--words", 100)
    assert "book and book are the same text" in ran.err


def test_terms_without_limits_of_their_own(tmp_path: Path, run_assay: Run) -> None:
    book = tmp_path / "book.txt"
    book.write_text("\n".join(make_corpus(12, seed=2)))
    ran = run_assay("kits", "find", book, "--words", 100, "--terms", "bigrams", "--density", "none")
    assert ran.code == 0, ran.err
    assert "Kit 1: 1 of 1 methods of finding terms accept it (bigrams).\n" in ran.out


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
    assert re.search(r"0, 1, 2 +0\.0000 ", ran.out)
