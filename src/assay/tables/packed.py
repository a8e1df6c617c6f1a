"""Packed files: gzip, and the zip archives that .xlsx and .docx are.

They are unpacked piece by piece and counted, so that a bomb is refused after its first megabytes.
A workbook is also measured before its reader sees it: the reader lays out a grid from the first
cell to the last, and a single far cell makes it ask for more memory than there is.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from xml.parsers import expat

from assay.errors import TableError
from assay.tables.limits import LIMITS
from assay.tables.load import FREE_BYTES, need_at_most, need_room, refuse

PIECE = 1 << 20
VALUE_BYTES = 16
"""What a value of a text file fills in memory at least; one of these signs stands before each."""
SIGNS = (b"\n", b"\t", b",", b";", b"[", b"{", b"<", b"=")
ELEMENT_BYTES = 64
"""What an element of XML fills in memory at least."""
GRID_BYTES = 32
"""What a place in the grid of a workbook fills, with a cell or without."""

_CELLS = re.compile(rb"<(?:[^\s<>/!?]*:)?c(?=[\s/>])")
_PLACED = re.compile(rb'<c r="([A-Z]{1,3})([1-9][0-9]{0,6})"([^<>]*)>')
_STRING_END = re.compile(rb"</(?:[^\s<>]*:)?si\s*>")
_quiet = Lock()


def unpack(data: bytes, path: Path) -> bytes:
    """The content of a gzip file; refused as soon as it is out of proportion."""
    most, pieces, total = LIMITS.get(), [], 0
    packed = io.BytesIO(data)
    try:
        with gzip.GzipFile(fileobj=packed) as file:
            while piece := file.read(PIECE):
                pieces.append(piece)
                total += len(piece)
                if total > FREE_BYTES and total > most.ratio * packed.tell():
                    break
                need_at_most(path, "bytes", total)
    except (EOFError, OSError, zlib.error) as error:
        raise refuse(
            path, f"the gzip file is damaged or cut off ({error}); fetch or pack it again"
        ) from None
    if total > FREE_BYTES and total > most.ratio * packed.tell():
        raise _bomb(path, packed.tell(), total)
    content = b"".join(pieces)
    values = VALUE_BYTES * sum(content.count(sign) for sign in SIGNS)
    need_room(path, values, "its values")
    return content


def _bomb(path: Path, packed: int, unpacked: int) -> TableError:
    return refuse(
        path, f"its first {packed:,} bytes unpack to over {unpacked:,}, which no table does; if the"
        f" file is right, unpack it yourself or allow it with `limits` (ratio=1100)",
    )  # fmt: skip


def need_sound_archive(data: bytes, path: Path, what: str) -> None:
    """Refuse a .docx or .xlsx that unpacks to far more than it should, or is no archive."""
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
            for member in archive.infolist():
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
        reason = str(error)[:200]
        raise refuse(path, f"the {what} is damaged ({reason}); save it again") from None


def need_sound_workbook(data: bytes, path: Path) -> None:
    """Refuse a workbook whose grid, from the first cell to the last, is out of proportion."""
    need_sound_archive(data, path, "workbook")
    sheets: dict[str, _Sheet] = {}
    strings: dict[str, list[int]] = {}
    for name, piece in _members(data, path, "workbook"):
        if _CELLS.search(piece):
            sheets.setdefault(name, _Sheet()).add(piece)
        first, *others = (len(text) for text in _STRING_END.split(piece))
        lengths = strings.setdefault(name, [0])  # the last one is of a text that has not ended
        lengths[-1] += first
        lengths += others
    texts = max((lengths[:-1] for lengths in strings.values()), key=len, default=[])
    longest = max(texts, default=0)
    for name, sheet in sheets.items():
        if sheet.plain and _fits(sheet.last, sheet.texts * longest, path):
            continue
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

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal kind, inside
        inside = tag.rpartition(":")[2]
        if inside == "row":
            given = attributes.get("r", "")
            place[:] = [int(given) if given.isdigit() else place[0] + 1, 0]
        elif inside == "c":
            match = re.fullmatch(r"\$?([A-Za-z]{1,6})\$?([0-9]{1,9})", attributes.get("r", ""))
            if match:
                place[:] = [int(match[2]), _column(match[1].upper())]
            else:
                place[1] += 1
            kind = attributes.get("t", "")
        elif inside in ("v", "is", "f"):
            sheet.last = max(place[0], sheet.last[0]), max(place[1], sheet.last[1])

    def text(content: str) -> None:
        if inside == "v" and kind == "s" and content.strip().isdigit():
            index = int(content)
            sheet.texts += lengths[index] if index < len(lengths) else 0

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.CharacterDataHandler = start, text
    parser.buffer_text = True
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(name) as file:
            while piece := file.read(PIECE):
                parser.Parse(piece)
    except (expat.ExpatError, ValueError) as error:
        raise refuse(path, f"the workbook is damaged ({error}); save it again") from None
    return sheet


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
