"""Tab-, comma- and semicolon-separated text.

Three readings, fastest first: typed by polars; all text by polars, where some value is not of its
column's type; row by row with the csv module, where the file is not regular enough for polars.
Whatever reading succeeds, the table is the same.

In tab-separated files a quotation mark is often just that. A file that is no regular table with
quoting but is one without is read without, and says so in its notes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl

from assay.errors import Problem, TableError
from assay.tables.raw import Raw, file_type, refuse

__all__ = ["delimited_bytes", "read_delimited"]

SAMPLE_ROWS = 1000
"""Rows that decide a column's type; a later value of another type costs a second reading."""

UNQUOTED = "read without quoting, because quotation marks do not pair up"

csv.field_size_limit(2**31 - 1)


def read_delimited(data: bytes, path: Path, text: frozenset[str]) -> Raw:
    """Read separated text; ``text`` names the columns that are never numbers."""
    source = str(path)
    data = _normalise(data, source)
    separator = _separator(data, path)
    header = _header(data, separator, source)
    for kept in (text, frozenset(header)):
        try:
            frame = _by_polars(data, separator, header, kept)
        except pl.exceptions.PolarsError:
            continue
        blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
        if _may_be_ragged(data, separator, frame, blank) or _swallows_lines(data, separator, frame):
            break
        rows = (~blank).arg_true()
        lines = _line_finder(data, separator, rows)
        return Raw(frame if len(rows) == frame.height else frame[rows], source, lines)
    quoting = not (separator == "\t" and _regular_unquoted(data, len(header)))
    return _by_rows(data, separator, header, source, quoting=quoting)


def _normalise(data: bytes, source: str) -> bytes:
    """Drop the byte-order mark, accept old Mac line ends, refuse other encodings."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise refuse(source, "is UTF-16; save the file as UTF-8", line=1)
    if b"\n" not in data and b"\r" in data:
        data = data.replace(b"\r", b"\n")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise refuse(source, "the file is empty; write a header line with the column names")
    try:
        data.decode()
    except UnicodeDecodeError:
        raise TableError(source, list(_encoding_faults(data))) from None
    return data


def _encoding_faults(data: bytes) -> Iterator[Problem]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            byte = line[error.start]
            yield Problem(
                f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"
                f" (as Windows-1252 it would be '{bytes([byte]).decode('cp1252', 'replace')}')",
                number,
                None,
                line[max(0, error.start - 20) : error.start + 20].decode("utf-8", "replace"),
            )


def _separator(data: bytes, path: Path) -> str:
    """Tab for .tsv; for .csv whichever sign the header line has most of."""
    if file_type(path) == ".tsv":
        return "\t"
    line = data.partition(b"\n")[0]
    return max(",;\t", key=lambda sign: line.count(sign.encode()))


def _header(data: bytes, separator: str, source: str) -> list[str]:
    start = io.StringIO(data[:1_000_000].decode("utf-8", "ignore"), newline="")
    names = next(csv.reader(start, delimiter=separator), [])
    if not names:
        raise refuse(source, "the first line is blank; the column names belong there", line=1)
    stripped = [name.strip() for name in names]
    repeated = sorted({name for name in stripped if stripped.count(name) > 1})
    if repeated:
        raise TableError(
            source,
            [
                Problem(f"the name '{name}' stands twice in the header; rename one", 1, name, name)
                for name in repeated
            ],
        )
    return names


def _clean(header: Sequence[str]) -> list[str]:
    return [name.strip() or f"column {i}" for i, name in enumerate(header, start=1)]


def _by_polars(
    data: bytes, separator: str, header: list[str], text: frozenset[str]
) -> pl.DataFrame:
    overrides = {name: pl.String for name in header if name.strip() in text or name in text}
    frame = pl.read_csv(
        data,
        separator=separator,
        infer_schema_length=SAMPLE_ROWS,
        schema_overrides=overrides,
    )
    frame.columns = _clean(header)
    return frame


def _may_be_ragged(data: bytes, separator: str, frame: pl.DataFrame, blank: pl.Series) -> bool:
    """Whether some line may be too short, which polars fills up without a word.

    A short line has no last cell. Where last cells are missing and nothing is quoted, counting
    the separators tells a short line from an empty cell; with quotes only a full scan does.
    """
    if frame.width == 1 or frame.to_series(-1).null_count() == blank.sum():
        return False
    if b'"' in data:
        return next(_faults(data, separator, quoting=True), None) is not None
    header_too = frame.height - int(blank.sum()) + 1
    return data.count(separator.encode()) != header_too * (frame.width - 1)


def _line_finder(
    data: bytes, separator: str, rows: pl.Series
) -> Callable[[Sequence[int]], list[int]]:
    """Lines of rows; quoted line breaks are counted only when somebody asks."""
    if b'"' not in data:
        return lambda wanted: [int(rows[row]) + 2 for row in wanted]

    def find(wanted: Sequence[int]) -> list[int]:
        starts = [line for line, row in _records(data, separator, quoting=True) if any(row)]
        return [starts[row + 1] for row in wanted]

    return find


def _records(data: bytes, separator: str, *, quoting: bool) -> Iterator[tuple[int, list[str]]]:
    """Every record with the line it starts on, the header first; blank lines are passed over."""
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(
        stream,
        delimiter=separator,
        quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
        strict=True,
    )
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        if row:
            yield line, row


def _swallows_lines(data: bytes, separator: str, frame: pl.DataFrame) -> bool:
    """Whether quotes join lines although every line by itself is a full row.

    Text with real line breaks in quotes is never regular line by line, so nothing is lost.
    """
    if separator != "\t" or b'"' not in data or data.count(b"\n") <= frame.height + 1:
        return False
    return _regular_unquoted(data, frame.width)


def _regular_unquoted(data: bytes, width: int) -> bool:
    lines = (line for line in data.split(b"\n") if line.strip(b"\r"))
    return b'"' in data and all(line.count(b"\t") == width - 1 for line in lines)


def _faults(data: bytes, separator: str, *, quoting: bool) -> Iterator[Problem]:
    """Everything wrong with the shape of the file."""
    records = _records(data, separator, quoting=quoting)
    line, width = 1, 0
    try:
        for line, row in records:
            width = width or len(row)
            if len(row) != width:
                yield Problem(
                    _ragged(len(row), width, separator), line, None, separator.join(row)[:80]
                )
    except csv.Error as error:
        yield Problem(
            f"quotation marks do not pair up from here on ({error});"
            ' put the cell in quotes and double those inside: "say ""hi"""',
            line + 1 if line > 1 else line,
        )


def _ragged(found: int, width: int, separator: str) -> str:
    message = f"{found} cells where the header has {width}; "
    if found > width and separator == ",":
        return message + "quote cells with commas, and write decimals with a point, not a comma"
    name = {"\t": "tab", ",": "comma", ";": "semicolon"}[separator]
    return message + f"check this line for a {name} too {'many' if found > width else 'few'}"


def _by_rows(data: bytes, separator: str, header: list[str], source: str, *, quoting: bool) -> Raw:
    """The slow reading, all text; refuses a file of the wrong shape with every fault in it."""
    faults = list(_faults(data, separator, quoting=quoting))
    if faults:
        raise TableError(source, faults)
    places, rows = [], []
    for line, row in _records(data, separator, quoting=quoting):
        if any(row):
            places.append(line)
            rows.append(row)
    names = _clean(header)
    columns = list(zip(*rows[1:], strict=True)) if len(rows) > 1 else [()] * len(names)
    frame = pl.DataFrame(
        [
            pl.Series(name, [cell or None for cell in cells], dtype=pl.String)
            for name, cells in zip(names, columns, strict=True)
        ]
    )
    notes = () if quoting else (UNQUOTED,)
    return Raw(frame, source, lambda wanted: [places[row + 1] for row in wanted], notes)


def delimited_bytes(frame: pl.DataFrame, path: Path) -> bytes:
    """The frame as separated text: tabs for .tsv, commas for .csv, quotes where needed."""
    separator = "\t" if file_type(path) == ".tsv" else ","
    return frame.write_csv(separator=separator, float_precision=None).encode()
