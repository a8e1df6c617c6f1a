"""Packed files: what is measured before a workbook is read is what its reader then lays out."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import fastexcel
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workbooks import archive, changed, workbook

import assay
from assay.errors import InputError
from assay.tables.packed import (
    _lengths,
    _measure,
    need_sound_archive,
    need_sound_workbook,
    quietly,
    unpack,
)

SHEET, STRINGS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Files of a few kilobytes are measured as if they were large."""
    monkeypatch.setattr("assay.tables.load.FREE_BYTES", 1000)
    monkeypatch.setattr("assay.tables.packed.FREE_BYTES", 1000)
    with assay.limits(assay.FileLimits(ratio=20)):
        yield


def checked(data: bytes, folder: Path) -> None:
    path = folder / "x.xlsx"
    path.write_bytes(data)
    need_sound_workbook(data, path)


class TestGzip:
    def test_unpacked_whole(self) -> None:
        for size in (0, 1, 600, 1 << 20, (1 << 20) + 1, 3_000_001):
            for content in (os.urandom(size), b"a" * size):
                whole = gzip.compress(content)
                assert unpack(whole, Path("x.gz")) == content
                with pytest.raises(InputError, match="cut off"):
                    unpack(whole[:-1], Path("x.gz"))

    def test_members_and_padding(self) -> None:
        parts = [b"", b"a" * 5000, os.urandom(700)]
        packed = b"\0".join(map(gzip.compress, parts)) + bytes(99)
        assert unpack(packed, Path("x.gz")) == b"".join(parts)

    def test_packed_twice(self, tmp_path: Path) -> None:
        path = tmp_path / "x.tsv.gz"
        path.write_bytes(gzip.compress(gzip.compress(b"system\tseg\tscore\nA\t1\t1\n")))
        with pytest.raises(InputError, match="packed twice"):
            assay.read_ratings(path)

    @pytest.mark.usefixtures("little_room")
    def test_out_of_proportion(self) -> None:
        with pytest.raises(InputError, match="unpack to over 100,000, which no table does"):
            unpack(gzip.compress(b"a" * 100_000), Path("x.gz"))

    @pytest.mark.usefixtures("little_room")
    def test_many_values_in_few_bytes(self, tmp_path: Path) -> None:
        content = os.urandom(600).hex().encode()
        path = tmp_path / "x.gz"
        for between, refused in ((b"", False), (b"[]," * 2000, True)):
            path.write_bytes(packed := gzip.compress(content + between))
            if refused:
                with pytest.raises(InputError, match="its values"):
                    unpack(packed, path)
            else:
                assert unpack(packed, path) == content

    def test_more_bytes_than_the_limit(self) -> None:
        with (
            assay.limits(assay.FileLimits(bytes=999)),
            pytest.raises(InputError, match="1,000 bytes, and 999 is the limit"),
        ):
            unpack(gzip.compress(b"a" * 1000), Path("x.gz"))


class TestArchive:
    def test_another_way_of_packing(self) -> None:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as file:
            file.writestr("word/document.xml", "x")
        with pytest.raises(InputError, match="packed in an unusual way, word/document"):
            need_sound_archive(out.getvalue(), Path("x.docx"), "document")

    def test_two_parts_of_one_name(self) -> None:
        data = archive({"word/document.xml": "a", "word/document.xm_": "b"})
        data = data.replace(b"document.xm_", b"document.xml")
        with pytest.raises(InputError, match="it has two parts word/document"):
            need_sound_archive(data, Path("x.docx"), "document")

    def test_a_password(self) -> None:
        data = bytearray(archive({"word/document.xml": "x"}))
        for place, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            data[data.find(place) + flags] |= 1
        with pytest.raises(InputError, match="the document has a password; save it without one"):
            need_sound_archive(bytes(data), Path("x.docx"), "document")

    def test_something_before_the_archive(self) -> None:
        data = archive({"word/document.xml": "x"})
        need_sound_archive(data, Path("x.docx"), "document")
        with pytest.raises(InputError, match="its directory is not where it should be"):
            need_sound_archive(b"more" + data, Path("x.docx"), "document")

    def test_cut_off_anywhere(self) -> None:
        data = archive({"word/document.xml": "<w>" + "so it is " * 50 + "</w>"})
        for end in range(0, len(data), 7):
            with pytest.raises(InputError, match="is damaged"):
                need_sound_archive(data[:end], Path("x.docx"), "document")

    @pytest.mark.usefixtures("little_room")
    def test_elements_of_a_tree_take_more_than_their_bytes(self, tmp_path: Path) -> None:
        elements = "<w:document>" + "<w:p/>" * 400 + "</w:document>"
        data = archive({"word/document.xml": elements, "noise": os.urandom(200).hex()})
        path = tmp_path / "x"
        path.write_bytes(data)
        need_sound_archive(data, path, "workbook")  # read without a tree
        with pytest.raises(InputError, match="its elements"):
            need_sound_archive(data, path, "document")

    @pytest.mark.usefixtures("little_room")
    def test_a_text_without_a_tag(self, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_bytes(data := archive({"word/document.xml": "x" * (17 << 20)}))
        with pytest.raises(InputError, match=r"would fill .* \(unpacked\)"):
            need_sound_archive(data, path, "document")


CELLS = st.tuples(
    st.integers(1, 4),  # the row is so much after the one before it
    st.booleans(),  # and says which it is
    st.lists(
        st.tuples(
            st.integers(0, 30),  # the cell's column, if it says so
            st.booleans(),
            st.sampled_from(["<v>1</v>", "", "<f>A1</f><v>2</v>", "<is><t>x</t></is>"]),
        ),
        max_size=4,
    ),
)


def letters(column: int) -> str:
    return chr(ord("A") + column) if column < 26 else "A" + letters(column - 26)


@given(st.lists(CELLS, min_size=1, max_size=5), st.sampled_from(["", "x:"]))
def test_no_grid_is_larger_than_was_measured(rows: list[tuple], prefix: str) -> None:
    # What the reader of workbooks lays out, whoever says where its cells stand.
    sheet, number = "", 0
    for step, told, cells in rows:
        number += step if told else 1
        place = f' r="{number}"' if told else ""
        sheet += f"<{prefix}row{place}>"
        for column, placed, content in cells:
            kind = ' t="inlineStr"' if content.startswith("<is>") else ""
            where = f' r="{letters(column)}{number}"' if placed else ""
            for tag in ("is", "t", "v", "f"):
                content = content.replace(f"<{tag}>", f"<{prefix}{tag}>")
                content = content.replace(f"</{tag}>", f"</{prefix}{tag}>")
            sheet += f"<{prefix}c{where}{kind}>{content}</{prefix}c>"
        sheet += f"</{prefix}row>"
    data = workbook(sheet)
    measured = _measure(data, SHEET, Path("x"), []).last
    read = fastexcel.read_excel(data).load_sheet(0, header_row=None, skip_rows=0)
    assert read.total_height <= measured[0]
    assert read.width <= measured[1]


FAR = '<row r="900"><c r="ALM900"><v>1</v></c></row>'
"""A cell in the thousandth column."""
DISGUISES = {
    "as it should be": FAR,
    "a place with zeros": FAR.replace("ALM9", "ALM0000009"),
    "in small letters": FAR.replace('r="ALM', 'r="alm'),
    "another kind of quotes": FAR.replace('"ALM900"', "'ALM900'"),
    "another attribute before it": FAR.replace("<c ", '<c z=">" '),
    "no places": "<row/>" * 899 + "<row>" + "<c><v>1</v></c>" * 1001 + "</row>",
    "a row that says its number": '<row r="900">' + "<c><v>1</v></c>" * 1001 + "</row>",
    "a formula": FAR.replace("<v>1</v>", "<f>A1</f>"),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_a_far_cell_in_any_disguise(name: str, tmp_path: Path) -> None:
    data = workbook(DISGUISES[name])
    with assay.limits(assay.FileLimits(rows=900, columns=1001)):
        checked(data, tmp_path)
    with (
        assay.limits(assay.FileLimits(rows=899)),
        pytest.raises(InputError, match="has 900 rows, and 899 is the limit"),
    ):
        checked(data, tmp_path)
    with (
        assay.limits(assay.FileLimits(columns=1000)),
        pytest.raises(InputError, match="has 1,001 columns, and 1,000 is the limit"),
    ):
        checked(data, tmp_path)


@pytest.mark.usefixtures("little_room")
def test_a_far_cell_fills_the_grid_before_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="900 rows of 1,001 cells"):
        checked(workbook(FAR), tmp_path)


def test_cells_without_content_are_no_part_of_the_grid(tmp_path: Path) -> None:
    with assay.limits(assay.FileLimits(rows=899)):
        checked(workbook(FAR.replace("<v>1</v>", "")), tmp_path)


@pytest.mark.parametrize("place", ["ALM", "900", "ABCD9", "A12345678", "A-1", ""])
def test_a_place_that_is_none(place: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"a cell has the place '{place}'"):
        checked(workbook(f'<row r="1"><c r="{place}"><v>1</v></c></row>'), tmp_path)


class TestSharedTexts:
    texts = "<si><t>ab</t></si><si><r><t>cd</t></r><r><t>é</t></r></si><si/>"

    def test_bytes_of_each(self) -> None:
        assert _lengths(workbook("", self.texts), STRINGS, Path("x")) == [2, 4, 0]

    def test_of_every_cell_that_shows_one(self) -> None:
        cells = [('t="s"', "1"), ('t="s"', " 0 "), ("", "1"), ('t="s"', "2"), ('t="s"', "+1")]
        row = "".join(f"<c {kind}><v>{value}</v></c>" for kind, value in cells)
        found = _measure(workbook(f"<row>{row}</row>"), SHEET, Path("x"), [2, 4, 0])
        assert found.texts == 4 + 2 + 0 + 4  # the last could be the longest

    @pytest.mark.usefixtures("little_room")
    @pytest.mark.parametrize("quotes", ["s", "'s'"])
    def test_a_long_text_in_many_cells(self, quotes: str, tmp_path: Path) -> None:
        rows = "".join(f'<row r="{i}"><c r="A{i}" t="s"><v>0</v></c></row>' for i in range(1, 60))
        data = workbook(rows.replace('"s"', quotes if "'" in quotes else '"s"'),
                        f"<si><t>{'A' * 3000}</t></si>")  # fmt: skip
        with pytest.raises(InputError, match="the texts of its cells"):
            checked(data, tmp_path)
        few = workbook(rows, "<si><t>A</t></si>" + f"<!--{os.urandom(300).hex()}-->")
        checked(few, tmp_path)

    def test_a_text_inside_a_text(self, tmp_path: Path) -> None:
        odd = "<row><c t='s'><v>0</v></c></row>"
        with pytest.raises(InputError, match="it has a text inside a text"):
            checked(workbook(odd, "<si><si><t>x</t></si></si>"), tmp_path)


def test_a_document_type_is_refused(tmp_path: Path) -> None:
    book = workbook("<row><c><v>1</v></c></row>")
    kind = '<!DOCTYPE w [<!ATTLIST c r CDATA "XFD9">]><worksheet'
    with pytest.raises(InputError, match="it has a document type"):
        checked(changed(book, "<worksheet", kind), tmp_path)


def test_xml_that_does_not_end(tmp_path: Path) -> None:
    book = workbook("<row><c><v>1</v></c></row>")
    with pytest.raises(InputError, match=r"the workbook is damaged \(mismatched tag"):
        checked(changed(book, "</row>", "</rows>"), tmp_path)


def test_what_a_reader_says_is_shown_only_where_it_reads(capfd: pytest.CaptureFixture[str]) -> None:
    with quietly():
        os.write(2, b"a warning\n")
    assert capfd.readouterr().err == "a warning\n"
    with pytest.raises(ValueError, match="damaged"), quietly():
        os.write(2, b"thread panicked\n")
        raise ValueError("damaged")
    assert capfd.readouterr().err == ""
