"""What is not UTF-8 is read as what it is, or refused; never as something else."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.errors import TableError
from assay.results import has_note
from assay.tables.irregular_text import as_windows_1252
from assay.tables.load import column_names

TEXT = "system;seg;target\nMüller;1;„Das ist größer“\nMüller;2;Schön – und gut\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_with_its_mark_is_read_without_a_word(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "scores.csv"
    mark = b"" if encoding == "utf-16" else "\ufeff".encode(encoding)
    path.write_bytes(mark + TEXT.replace("\n", "\r\n").encode(encoding))
    table = assay.read_scores(path)
    assert table.frame["target"].to_list() == ["„Das ist größer“", "Schön – und gut"]
    assert table.notes == ()
    assert column_names(path) == ["system", "seg", "target"]


def test_a_table_in_windows_1252_says_that_it_was_taken_for_one(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_bytes(TEXT.encode("cp1252"))
    table = assay.read_scores(path)
    assert table.systems == ("Müller",)
    assert table.frame["target"].to_list() == ["„Das ist größer“", "Schön – und gut"]
    assert has_note(table.notes, "windows-1252")
    assert "(Müller, größer, Schön)" in str(table.notes[0])


@pytest.mark.parametrize(
    "text",
    ["Le café très cher, l’été où il a reçu ça : « œuvre »", "El niño comió piñones. ¿Qué tal?",
     "Não são só três opções, avó", "È già così, perché no", "Blåbær på øya", "Große Straße, à la"],
)  # fmt: skip
def test_languages_of_the_west_are_safe(text: str) -> None:
    assert as_windows_1252(text.encode("cp1252")) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Příliš žluťoučký kůň úpěl", "cp1250"), ("Zażółć gęślą jaźń", "cp1250"),
        ("Árvíztűrő tükörfúrógép", "cp1250"), ("Съешь же ещё этих булок", "cp1251"),
        ("Съешь же ещё этих булок", "koi8-r"), ("Ξεσκεπάζω την ψυχοφθόρα", "cp1253"),
        ("Pijamalı hasta yağız şoföre", "cp1254"), ("דג סקרן שט בים", "cp1255"),
        ("نص حكيم له سر قاطع", "cp1256"), ("日本語のテキスト", "shift-jis"),
        ("中文文本", "gb18030"),
        ("Größe und Müller", "cp850"), ("Größe und Müller", "mac-roman"), ("très déjà", "cp850"),
        ("très déjà", "mac-roman"), ("Öl", "mac-roman"), ("Äpfel", "mac-roman"),
    ],
)  # fmt: skip
def test_what_may_be_something_else_is_refused(tmp_path: Path, text: str, encoding: str) -> None:
    path = tmp_path / "scores.tsv"
    path.write_bytes(f"system\tseg\ttarget\nA\t1\t{text}\n".encode(encoding))
    with pytest.raises(TableError, match="is not UTF-8; save the file as UTF-8"):
        assay.read_scores(path)


def test_utf_8_with_a_broken_byte_is_not_taken_for_windows_1252(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_bytes("system\tseg\ttarget\nA\t1\tgrößer\nA\t2\t".encode() + b"gr\xfcn\n")
    with pytest.raises(TableError, match="line 3: byte 0xfc is not UTF-8"):
        assay.read_scores(path)
