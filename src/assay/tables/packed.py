"""Packed files: gzip, the zip archives that .xlsx and .docx are, and the pages of Parquet.

They are unpacked piece by piece and counted, so that a bomb is refused after its first megabytes.
A workbook is also measured before its reader sees it: the reader lays out a grid from the first
cell to the last, and a single far cell makes it ask for more memory than there is. A page of a
Parquet file may stand for millions of values in a few bytes, and the reader makes room for what its
header says. The footer and the headers are Thrift structures in the compact protocol.
"""

from __future__ import annotations

import io
import mmap
import os
import re
import stat
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from threading import Lock
from typing import IO, Any
from xml.parsers import expat

from assay.tables.limits import LIMITS
from assay.tables.load import FREE_BYTES, need_at_most, need_room, refuse

PIECE = 1 << 20
GZIP = b"\x1f\x8b"
FIRST_FEED = 512
"""How much of a gzip member is unpacked at first, in bytes."""
VALUE_BYTES = 16
"""What a value of a text file fills in memory at least; one of these signs stands before each."""
SIGNS = (b"\n", b"\t", b",", b";", b"[", b"{", b"<", b"=")
ELEMENT_BYTES = 64
"""What an element of XML fills in memory at least."""
GRID_BYTES = 32
"""What a place in the grid of a workbook fills, with a cell or without."""

_CELLS = re.compile(rb"<(?![/!?])(?:[^\s<>]*:)?c(?=[\s/>])")
_PLACED = re.compile(
    rb'<c r="([A-Z]{1,3})([1-9][0-9]{0,6})"((?: (?:s|t|cm|vm|ph)="[A-Za-z0-9]*")*) ?/?>'
)
_ZEROS = re.compile(rb"\0*")
_PLACE = re.compile(r"([A-Za-z]{1,3})0*([0-9]{1,7})")
_STRINGS = re.compile(rb"<(?![/!?])(?:[^\s<>]*:)?si(?=[\s/>])")
_quiet = Lock()


def read_pipe(file: IO[bytes], path: Path) -> bytes:
    """The content of a file that does not say how large it is: a pipe, or an empty file."""
    kind = os.fstat(file.fileno()).st_mode
    if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
        raise refuse(path, "is a device, not a file; name a file")
    data = file.read(FREE_BYTES + 1)
    if len(data) > FREE_BYTES:
        raise refuse(path, f"a pipe may give {FREE_BYTES:,} bytes; write the rest to a file first")
    return data


def unpack(data: bytes, path: Path) -> bytes:
    """The content of a gzip file; refused as soon as it is out of proportion."""
    most, pieces, total = LIMITS.get(), [], 0
    try:
        for piece, read in _unpacked(data):
            pieces.append(piece)
            total += len(piece)
            if total > FREE_BYTES and total > most.ratio * read:
                raise refuse(
                    path, f"its first {read:,} bytes unpack to over {total:,}, which no table does;"
                    " if the file is right, unpack it yourself or allow it with `limits`"
                    " (ratio=1100)",
                )  # fmt: skip
            need_at_most(path, "bytes", total)
    except zlib.error as error:
        raise refuse(
            path, f"the gzip file is damaged or cut off ({error}); fetch or pack it again"
        ) from None
    content = b"".join(pieces)
    if content[:2] == GZIP:
        raise refuse(path, "is packed twice; unpack it once")
    values = VALUE_BYTES * sum(content.count(sign) for sign in SIGNS)
    need_room(path, values, "its values")
    return content


def _unpacked(data: bytes) -> Iterator[tuple[bytes, int]]:
    """The members of a gzip file in pieces, each with how many bytes have been read."""
    place = 0
    while place < len(data):
        unpacker, most = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS), FIRST_FEED
        while not unpacker.eof:
            fed = data[place : place + most]
            piece = unpacker.decompress(fed, PIECE)
            if not fed and not piece and not unpacker.eof:
                raise zlib.error("the end is missing")
            place += len(fed) - len(unpacker.unused_data) - len(unpacker.unconsumed_tail)
            most = min(2 * most, PIECE // 16)  # members may be tiny, and what is left is copied
            yield piece, place
        place = _ZEROS.match(data, place).end()  # type: ignore[union-attr]


def need_sound_archive(data: bytes, path: Path, what: str) -> None:
    """Refuse a .docx or .xlsx that unpacks to far more than it should, or is not an archive."""
    total = elements = 0
    for _, piece in _members(data, path, what):
        total += len(piece)
        elements += piece.count(b"<")
        need_at_most(path, "bytes", total)
        need_room(path, total, "unpacked")
        # The reader of workbooks builds no tree.
        each = VALUE_BYTES if what == "workbook" else ELEMENT_BYTES
        need_room(path, each * elements, "its elements")


def _members(data: bytes, path: Path, what: str) -> Iterator[tuple[str, bytes]]:
    """The members of an archive, in pieces that end before a tag."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _need_one_directory(data, archive)
            names = set()
            for member in archive.infolist():
                if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise NotImplementedError(f"it is packed in an unusual way, {member.filename}")
                if member.filename in names:
                    raise NotImplementedError(f"it has two parts {member.filename}")
                names.add(member.filename)
                with archive.open(member) as file:
                    kept = b""
                    while piece := file.read(PIECE):
                        whole, sign, rest = (kept + piece).rpartition(b"<")
                        yield member.filename, whole
                        kept = sign + rest
                        if len(kept) > 16 * PIECE:  # no tag is so long
                            yield member.filename, kept
                            kept = b""
                    yield member.filename, kept
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError,
            NotImplementedError) as error:  # fmt: skip
        if "encrypted" in str(error):
            raise refuse(path, f"the {what} has a password; save it without one") from None
        reason = str(error)[:200]
        raise refuse(path, f"the {what} is damaged ({reason}); save it again") from None


def _need_one_directory(data: bytes, archive: zipfile.ZipFile) -> None:
    """Readers differ in which of two directories they take: refuse an archive that has two."""
    end = data.rfind(b"PK\x05\x06")
    count, size, start = struct.unpack_from("<10xHII", data, end)
    if (count, start) != (len(archive.infolist()), archive.start_dir) or start + size != end:
        raise zipfile.BadZipFile("its directory is not where it should be")


def need_sound_workbook(data: bytes, path: Path) -> None:
    """Refuse a workbook whose grid, from the first cell to the last, is out of proportion."""
    need_sound_archive(data, path, "workbook")
    sheets: dict[str, _Sheet] = {}
    strings: dict[str, int] = {}  # the length of the text that has not ended
    longest = 0
    for name, piece in _members(data, path, "workbook"):
        if _CELLS.search(piece):
            sheets.setdefault(name, _Sheet()).add(piece)
        first, *others = (len(text) for text in _STRINGS.split(piece))
        if name in strings:
            strings[name] += first
        if others:
            longest = max(longest, strings.get(name, 0), *others)
            strings[name] = others[-1]
        longest = max(longest, strings.get(name, 0))
    texts: list[int] | None = None
    for name, sheet in sheets.items():
        if sheet.plain and _fits(sheet.last, sheet.texts * longest, path):
            continue
        if texts is None:  # whichever part the reader takes
            each = [_lengths(data, part, path) for part in strings]
            texts = [max(lengths) for lengths in zip_longest(*each, fillvalue=0)]
        exact = _measure(data, name, path, texts)
        row, column = exact.last
        need_at_most(path, "rows", row)
        need_at_most(path, "columns", column)
        need_room(path, GRID_BYTES * row * column, f"{row:,} rows of {column:,} cells")
        need_room(path, exact.texts, "the texts of its cells")


class _Sheet:
    """The last row and column of a sheet, and how many of its cells have shared text."""

    def __init__(self) -> None:
        self.plain = True
        self.last = (0, 0)
        self.texts = 0

    def add(self, piece: bytes) -> None:
        """A piece of the sheet; ``plain`` as long as every cell says where it stands."""
        found = _PLACED.findall(piece)
        if len(found) != len(_CELLS.findall(piece)):
            self.plain = False
        rows = max((int(row) for _, row, _ in found), default=0)
        columns = max((_column(name.decode()) for name in {name for name, *_ in found}), default=0)
        self.last = max(rows, self.last[0]), max(columns, self.last[1])
        self.texts += sum(b't="s"' in rest for *_, rest in found)


def _fits(last: tuple[int, int], texts: int, path: Path) -> bool:
    """Whether a grid with these texts can be read whatever is in it."""
    most = LIMITS.get()
    room = max(FREE_BYTES, most.ratio * path.stat().st_size)
    rows, columns = last
    fits = rows <= most.rows and columns <= most.columns
    return fits and GRID_BYTES * rows * columns <= room and texts <= room


def _column(name: str) -> int:
    """The number of a column by its letters."""
    number = 0
    for letter in name:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _measure(data: bytes, name: str, path: Path, lengths: list[int]) -> _Sheet:
    """The extent of a sheet by its cells with content, and the bytes of their shared texts."""
    sheet, place, kind, inside = _Sheet(), [0, 0], "", ""
    longest = max(lengths, default=0)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal kind, inside
        inside = tag.rpartition(":")[2]
        given = attributes.get("r")
        if inside == "row":
            place[:] = [int(given) if given is not None and given.isdigit() else place[0] + 1, 0]
        elif inside == "c":
            if given is None:
                place[1] += 1
            elif match := _PLACE.fullmatch(given):
                place[:] = [int(match[2]), _column(match[1].upper())]
            else:
                raise ValueError(f"a cell has the place {given[:20]!r}")
            kind = attributes.get("t", "")
        elif inside in ("v", "is", "f"):
            sheet.last = max(place[0], sheet.last[0]), max(place[1], sheet.last[1])

    def text(content: str) -> None:
        if inside == "v" and kind == "s" and (digits := content.strip()):
            known = digits.isdecimal() and len(digits) < 10 and int(digits) < len(lengths)
            sheet.texts += lengths[int(digits)] if known else longest

    _parse(data, name, path, start, text)
    return sheet


def _lengths(data: bytes, name: str, path: Path) -> list[int]:
    """The bytes of each shared text."""
    lengths: list[int] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "si":
            lengths.append(0)

    def text(content: str) -> None:
        if lengths:
            lengths[-1] += len(content.encode())

    _parse(data, name, path, start, text)
    return lengths


def _parse(
    data: bytes,
    name: str,
    path: Path,
    start: Callable[[str, dict[str, str]], None],
    text: Callable[[str], None],
) -> None:
    """Parse a part of a workbook; what the workbook's reader would understand otherwise is refused.

    A document type gives attributes that the reader does not know of, and texts inside texts are
    counted by nobody.
    """
    depth = 0

    def doctype(*_: object) -> None:
        raise ValueError("it has a document type")

    def opened(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        if tag.rpartition(":")[2] == "si":
            depth += 1
            if depth > 1:
                raise ValueError("it has a text inside a text")
        start(tag, attributes)

    def closed(tag: str) -> None:
        nonlocal depth
        depth -= tag.rpartition(":")[2] == "si"

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = opened, closed
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = text, doctype
    parser.buffer_text = True
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(name) as file:
            while piece := file.read(PIECE):
                parser.Parse(piece)
    except (expat.ExpatError, ValueError) as error:
        raise refuse(path, f"the workbook is damaged ({error}); save it again") from None


@contextmanager
def quietly() -> Iterator[None]:
    """Native code that panics writes to stderr itself: shown only where nothing went wrong."""
    with _quiet, tempfile.TemporaryFile() as said:
        try:
            stderr = os.dup(2)
        except OSError:  # there is no stderr
            yield
            return
        if sys.stderr is not None:
            sys.stderr.flush()
        os.dup2(said.fileno(), 2)
        failed = True
        try:
            yield
            failed = False
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            if not failed:
                said.seek(0)
                os.write(2, said.read())


PAGE_VALUE_BYTES = 8
DEEPEST = 12
"""Structures inside each other; the footer has about six."""
TRUE, FALSE, BYTE, INTEGERS, DOUBLE, BINARY, LISTS, STRUCT = 1, 2, 3, (4, 5, 6), 7, 8, (9, 10), 12
# Fields by number, as in the format's definition.
ROW_GROUPS, COLUMNS, META = 4, 1, 3
PACKED_SIZE, DATA_PAGE, DICTIONARY_PAGE = 7, 9, 11
ENCODINGS, PREFIXES = ((5, 2), (8, 4)), 7
PAGE_UNPACKED, PAGE_PACKED, PAGE_KINDS, PAGE_VALUES = 2, 3, (5, 7, 8), 1


class DamagedError(ValueError):
    """The bytes are not the structure that should stand there."""


def unpacked_size(source: bytes | Path) -> int:
    """How many bytes the pages of all columns fill at least once unpacked."""
    if isinstance(source, bytes):
        return _size(source)
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return _size(data)


def _size(data: bytes | mmap.mmap) -> int:
    end = len(data) - 8
    start = end - int.from_bytes(data[end : end + 4], "little")
    if not 0 <= start <= end:
        raise DamagedError("its footer is longer than the file")
    footer = _Compact(data, start, end).struct()
    return sum(
        _chunk(data, chunk[META]) for group in footer[ROW_GROUPS] for chunk in group[COLUMNS]
    )


def _chunk(data: bytes | mmap.mmap, about: dict[int, Any]) -> int:
    """The pages of one column in one row group."""
    place = about.get(DICTIONARY_PAGE, about[DATA_PAGE])
    end, total = place + about[PACKED_SIZE], 0
    if place < 0 or end > len(data):
        raise DamagedError("a column ends after the file")
    while place < end:
        header = _Compact(data, place, end)
        page = header.struct()
        values = sum(page[kind][PAGE_VALUES] for kind in PAGE_KINDS if kind in page)
        if min(values, page[PAGE_UNPACKED], page[PAGE_PACKED]) < 0:
            raise DamagedError("a page has a negative size")
        total += page[PAGE_UNPACKED] + PAGE_VALUE_BYTES * values
        if PREFIXES in (page.get(kind, {}).get(field) for kind, field in ENCODINGS):
            total += page[PAGE_UNPACKED] * values  # each may repeat all that came before it
        place = header.place + page[PAGE_PACKED]
    return total


class _Compact:
    """Reads the compact protocol: a structure is a dictionary by the numbers of its fields."""

    def __init__(self, data: bytes | mmap.mmap, place: int, end: int) -> None:
        self.data, self.place, self.end = data, place, end

    def byte(self) -> int:
        if self.place >= self.end:
            raise DamagedError("a structure does not end")
        self.place += 1
        return self.data[self.place - 1]

    def number(self) -> int:
        value = shift = 0
        while (byte := self.byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise DamagedError("a number is too long")
        return value | byte << shift

    def signed(self) -> int:
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def skip(self, count: int) -> int:
        """Where ``count`` bytes begin."""
        self.place += count
        if self.place > self.end:
            raise DamagedError("a structure does not end")
        return self.place - count

    def value(self, kind: int, depth: int) -> Any:
        if kind in INTEGERS:
            return self.signed()
        if kind == BINARY:
            length = self.number()
            start = self.skip(length)
            return self.data[start : start + length]
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in LISTS:
            return list(self.items(depth + 1))
        if kind in (BYTE, TRUE, FALSE):  # of a list: a field has it in its kind
            return self.byte()
        if kind == DOUBLE:
            return self.skip(8)
        raise DamagedError("a value is of no known kind")

    def items(self, depth: int) -> Iterator[Any]:
        first = self.byte()
        count = first >> 4
        count = self.number() if count == 15 else count
        for _ in range(count):
            yield self.value(first & 15, depth)

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > DEEPEST:
            raise DamagedError("structures are inside each other without end")
        fields: dict[int, Any] = {}
        number = 0
        while first := self.byte():
            number = number + (first >> 4) if first >> 4 else self.signed()
            kind = first & 15
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self.value(kind, depth)
        return fields
