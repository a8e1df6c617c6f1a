"""What is measured before a file is read must be what its reader then sees."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import polars as pl
from tests.attacks.bounded import check_bounded, run_assay_bounded
from tests.workbooks import cell, changed, workbook

from assay.tables.packed import DATA_PAGE, PACKED_SIZE, _chunk, unpacked_size

FAR = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
TEXT = f"<si><t>{'A' * 1_000_000}</t></si>"
ROWS = "".join(f'<row r="{i}"><c r="A{i}" t="s"><v>0</v></c></row>' for i in range(2, 3000))


def default_places() -> bytes:
    """A document type says that every cell without a place is the first one."""
    book = workbook("<row/>" * 1_048_570 + "<row>" + "<c><v>1</v></c>" * 16_384 + "</row>")
    kind = '<!DOCTYPE w [<!ATTLIST row r CDATA "1"><!ATTLIST c r CDATA "A1">]><worksheet'
    return changed(book, "<worksheet", kind)


def two_directories() -> bytes:
    """The directory for large archives lists a small sheet, the other one a far cell."""
    small, far = workbook(f"<row>{cell('A1')}</row>"), workbook(FAR)
    ends = [data.rfind(b"PK\x05\x06") for data in (small, far)]
    (count, size, start), (_, far_size, far_start) = (
        struct.unpack_from("<10xHII", data, end)
        for data, end in zip((small, far), ends, strict=True)
    )
    moved, place = bytearray(far[far_start : far_start + far_size]), 0
    while place < far_size:
        lengths = struct.unpack_from("<3H", moved, place + 28)
        (old,) = struct.unpack_from("<I", moved, place + 42)
        struct.pack_into("<I", moved, place + 42, old + start)
        place += 46 + sum(lengths)
    files = small[:start] + far[:far_start]
    both = files + moved + small[start : start + size]
    large = struct.pack(
        "<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, size, len(files) + far_size
    )
    locator = struct.pack("<IIQI", 0x07064B50, 0, len(both), 1)
    return (
        both
        + large
        + locator
        + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, far_size, len(files), 0)
    )


def packed_otherwise() -> bytes:
    """A method of packing that is unpacked in one go."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("xl/workbook.xml", b" " * 500_000_000)
    return out.getvalue()


WORKBOOKS = {
    "a place with zeros": lambda: workbook(FAR.replace("XFD1", "XFD0000000001")),
    "two places": lambda: workbook(FAR.replace('r="XFD', 'r="A1" r="XFD')),
    "a place by default": default_places,
    "a tag with a slash in its name": lambda: workbook(FAR.replace("<c ", "<a/b:c ")),
    "another kind of quotes": lambda: workbook(ROWS.replace('"s"', "'s'"), TEXT),
    "a number with a sign": lambda: workbook(ROWS.replace("<v>", "<v>+"), TEXT),
    "texts in a comment": lambda: workbook(ROWS, "<!--<si></si>-->" + TEXT),
    "two directories": two_directories,
    "packed otherwise": packed_otherwise,
}


def refused(files: Mapping[str, bytes | pl.DataFrame], ending: str, folder: Path) -> list[str]:
    """What is said of files, which are refused soon and in little memory."""
    asked = {}
    for i, (name, content) in enumerate(files.items()):
        path = folder / f"{i}{ending}"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            content.write_parquet(path, compression="zstd")
        asked[name] = (path, "ratings", None)
    found, ran = check_bounded(asked)
    assert [name for name, one in found.items() if one.ok or one.seconds > 5] == []
    assert ran.megabytes < 500
    return [" ".join(one.messages) for one in found.values()]


def test_workbooks_in_disguise_are_refused(tmp_path: Path) -> None:
    refused({name: make() for name, make in WORKBOOKS.items()}, ".xlsx", tmp_path)


LONG = {
    "a long list": lambda: (
        pl.zeros(30_000_000, pl.Int64, eager=True).implode().append(pl.Series([[0]]))
    ),
    "a long text": lambda: pl.Series(["A" * 300_000_000, ""]),
    "bytes": lambda: pl.Series([bytes(300_000_000), b""]),
}


def test_pages_out_of_proportion_are_refused(tmp_path: Path) -> None:
    given = pl.DataFrame({"system": ["A", "B"], "seg": [1, 1], "score": [1.0, 2.0]})
    files = {name: given.with_columns(x=make()) for name, make in LONG.items()}
    assert all("its pages" in said for said in refused(files, ".parquet", tmp_path))


def test_a_long_name_in_many_rows_is_refused(tmp_path: Path) -> None:
    rows = pl.DataFrame({"seg": range(200_000), "score": 1.0})
    kinds = {str(kind): pl.lit("A" * 4900).cast(kind) for kind in (pl.String, pl.Categorical)}
    files = {name: rows.with_columns(system=column) for name, column in kinds.items()}
    refused(files, ".parquet", tmp_path)


def test_headers_of_pages_that_lie(tmp_path: Path) -> None:
    pl.DataFrame({"system": ["A"], "seg": [1], "score": [1.0]}).write_parquet(
        path := tmp_path / "x"
    )
    whole = path.read_bytes()
    assert 0 < unpacked_size(path) == unpacked_size(whole) < 1000
    size = len(whole) - 8
    for place in range(4, size):
        for byte in (0, 0x0C, 0x7F, 0xFF):
            try:
                unpacked_size(whole[:place] + bytes([byte]) + whole[place + 1 :])
            except (ValueError, LookupError, TypeError, AttributeError):
                continue


def test_texts_that_repeat_what_came_before_them_may_be_long() -> None:
    def number(value: int) -> bytes:
        value, out = 2 * value, b""
        while value > 127:
            value, out = value >> 7, out + bytes([value & 127 | 128])
        return out + bytes([value])

    for encoding, most in ((0, 2_000_000), (7, 10**12)):
        header = b"\x15\0\x15" + number(10**6) + b"\x15" + number(4)
        header += b"\x2c\x15" + number(10**5) + b"\x15" + number(encoding) + b"\0\0"
        page = header + bytes(4)
        about = {DATA_PAGE: 0, PACKED_SIZE: len(page)}
        assert most // 20 < _chunk(page, about) < most


def test_gzip_in_many_members_and_with_padding_is_read_soon(tmp_path: Path) -> None:
    rows = b"".join(gzip.compress(b"A\t%d\t1\n" % i) for i in range(20_000))
    path = tmp_path / "x.tsv.gz"
    path.write_bytes(gzip.compress(b"system\tseg\tscore\n") + rows + bytes(50_000_000))
    ran = run_assay_bounded("check", path, "--kind", "ratings")
    assert "20,000 rows" in ran.out, ran
    assert ran.seconds < 5
