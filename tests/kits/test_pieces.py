"""Texts are read, cleaned and cut as said, and nothing is lost in silence."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.errors import InputError, MissingExtraError, OptionError, TableError
from assay.kits.corpus import CorpusText, read_text
from assay.kits.pieces import cut_pieces, pieces_from_features

LINE = "The quick brown fox jumps over the lazy dog again."


def test_lines_are_paragraphs(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text(f"\ufeffHeading\n{LINE * 20}\n\n{LINE}\n", encoding="utf-8")
    (text,) = read_text(path)
    assert text.doc == "book"
    assert [len(paragraph) for paragraph in text.paragraphs] == [7, 20 * len(LINE), len(LINE)]


def test_wrapped_lines_make_one_paragraph(tmp_path: Path) -> None:
    path = tmp_path / "wrapped.txt"
    path.write_text("one two\nthree\n\nfour\nfive\n\n")
    assert read_text(path)[0].paragraphs == ("one two three", "four five")


def test_packed_text(tmp_path: Path) -> None:
    path = tmp_path / "book.txt.gz"
    path.write_bytes(gzip.compress(f"{LINE}\n{LINE}\n".encode()))
    assert read_text(path) == [CorpusText("book", (LINE, LINE))]


def test_tables_have_documents_and_styles(tmp_path: Path) -> None:
    path = tmp_path / "corpus.tsv"
    path.write_text(f"doc\tstyle\ttext\na\tHeading 1\tOn foxes\na\tBody\t{LINE}\nb\tBody\t{LINE}\n")
    assert [text.paragraphs for text in read_text(path)] == [("On foxes", LINE), (LINE,)]
    (first, second) = read_text(path, clean=["headings"])
    assert first == CorpusText("a", (LINE,), ("a: 1 headings removed",))
    assert second.notes == ("b: 0 headings removed",)


def test_word_documents(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_heading("On foxes", 1)
    document.add_paragraph(LINE)
    document.add_paragraph("")
    document.add_table(1, 1)
    document.save(str(tmp_path / "book.docx"))
    (text,) = read_text(tmp_path / "book.docx")
    assert text.paragraphs == ("On foxes", LINE)
    assert text.notes == ("book.docx: 1 tables in the document were not read",)
    assert read_text(tmp_path / "book.docx", clean=["headings"])[0].paragraphs == (LINE,)


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        ("citations", "Data drive it (Smith and Lee 2012: 34). So (they say) it is.",
         "Data drive it. So (they say) it is."),
        ("notes", "Data drive it.12 In 2018 [3, 4] they did.", "Data drive it. In 2018 they did."),
        ("addresses", "See https://example.org/a?b for more.", "See for more."),
    ],
)  # fmt: skip
def test_cleaning(tmp_path: Path, rule: str, before: str, after: str) -> None:
    path = tmp_path / "book.txt"
    path.write_text(before)
    assert read_text(path, clean=[rule])[0].paragraphs == (after,)


def test_pieces_end_where_paragraphs_do() -> None:
    text = CorpusText("book", tuple([LINE] * 7))
    found = cut_pieces([text, text], words=25)
    assert [(piece.first, piece.last, piece.words) for piece in found.pieces] == 2 * [
        (1, 3, 30),
        (4, 6, 30),
    ]
    assert found.notes[2:] == 2 * (
        "book: the last 10 words are too few for a piece and were left out",
    )
    assert "2 texts are called book" in found.notes[0]
    assert "book and book are the same text" in found.notes[1]
    assert found.to_frame().columns[:5] == ["piece", "doc", "first", "last", "words"]
    assert found.settings == {"words": 25, "language": "en", "profile": "paper"}


def test_lists_are_left_out_and_counted() -> None:
    lists = CorpusText("list", tuple(["One. Two. Three words here."] * 20))
    prose = CorpusText("prose", tuple([LINE] * 5))
    found = cut_pieces([lists, prose], words=50)
    assert [piece.doc for piece in found.pieces] == ["prose"]
    assert "2 pieces have fewer than 6 words per sentence: left out" in found.notes


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(1, 60))
def test_no_word_is_lost(lengths: list[int], words: int) -> None:
    text = CorpusText("d", tuple(" ".join(["foxes"] * length) for length in lengths))
    if sum(lengths) < words:
        with pytest.raises(InputError, match=r"make no piece"):
            cut_pieces([text], words=words, shortest=1)
        return
    found = cut_pieces([text], words=words, shortest=1)
    assert all(piece.words >= words for piece in found.pieces)
    rest = sum(lengths) - sum(piece.words for piece in found.pieces)
    said = f"d: the last {rest} words are too few for a piece and were left out"
    assert found.notes == ((said,) if rest else ())


def test_bad_files(tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("\n \n")
    with pytest.raises(TableError, match=r"the document has no text; leave it out"):
        assay.read_pieces(empty)
    image = tmp_path / "image.png"
    image.write_bytes(b"\x89PNG\0\0")
    with pytest.raises(TableError, match=r"file type '.png' is not text; use one of .txt .docx"):
        assay.read_pieces(image)
    binary = tmp_path / "binary.txt"
    binary.write_bytes(b"abc\0def")
    with pytest.raises(TableError, match=r"is not a text file \(it has zero bytes\)"):
        assay.read_pieces(binary)
    latin = tmp_path / "latin.txt"
    latin.write_bytes("Grüße".encode("latin-1"))
    with pytest.raises(TableError, match=r"is not UTF-8"):
        assay.read_pieces(latin)
    table = tmp_path / "table.tsv"
    table.write_text("txt\nabc\n")
    with pytest.raises(TableError, match=r"there is no column 'text' \(did you mean 'txt'\?\)"):
        assay.read_pieces(table)
    with pytest.raises(TableError, match=r"there is no such file"):
        assay.read_pieces(tmp_path / "nowhere.txt")
    with pytest.raises(TableError, match=r"is a folder"):
        assay.read_pieces(tmp_path)


def test_a_broken_word_document(tmp_path: Path) -> None:
    pytest.importorskip("docx")
    path = tmp_path / "book.docx"
    path.write_bytes(b"PK\x03\x04 no package")
    with pytest.raises(TableError, match=r"the Word document is damaged \(.*\); save it again"):
        assay.read_pieces(path)


def test_bad_options(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text(f"{LINE}\n")
    with pytest.raises(InputError, match=r"no text was given"):
        assay.read_pieces()
    with pytest.raises(OptionError, match=r"clean \(citation\) is not a rule \(did you mean"):
        assay.read_pieces(path, clean=["citation"])
    with pytest.raises(
        OptionError, match=r"words \(0\) is not a length of a piece; give at least 1"
    ):
        assay.read_pieces(path, words=0)
    with pytest.raises(OptionError, match=r"profile \(own\) is not a profile; choose paper or"):
        assay.read_pieces(path, words=5, profile="own")
    with pytest.raises(InputError, match=r"no piece of 500 words .*give more text or fewer words"):
        assay.read_pieces(path)


def test_bad_features() -> None:
    with pytest.raises(OptionError, match=r"is not a table; give a row per piece"):
        pieces_from_features([1.0, 2.0])
    with pytest.raises(OptionError, match=r"features \(row 1\) is not all numbers"):
        pieces_from_features([[1.0], [float("nan")]])
    with pytest.raises(OptionError, match=r"words \(1\) are not 2; give one per piece"):
        pieces_from_features([[1.0], [2.0]], words=[5])


@pytest.mark.parametrize("module", ["blingfire", "readability.langdata", "docx"])
def test_a_missing_extra_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    from assay.kits.pieces import english_words

    english_words.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / ("book.docx" if module == "docx" else "book.txt")
    path.write_text(f"{LINE}\n")
    with pytest.raises(MissingExtraError, match=r"pip install 'mt-assay\[kits\]'"):
        assay.read_pieces(path, words=5)
