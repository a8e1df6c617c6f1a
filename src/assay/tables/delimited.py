"""Tab-, comma- and semicolon-separated text.

Three readings, fastest first: typed by polars; all text by polars, where some value is not of its
column's type; row by row with the csv module, where the file is not regular enough for polars.
Whatever reading succeeds, the table is the same.

In tab-separated files a quotation mark is often just that. A file that is no valid table with
quoting but is one without is read without, and says so in its notes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl

from assay.errors import Problem, TableError
from assay.tables.raw import LISTED, Raw, decode_utf8, file_type, refuse

SAMPLE_ROWS = 1000
"""Rows that decide a column's type; a later value of another type costs a second reading."""

UNQUOTED = "read without quoting, because quotation marks do not pair up"

csv.field_size_limit(2**31 - 1)


def read_delimited(data: bytes, path: Path, text: Callable[[str], bool]) -> Raw:
    """Read separated text; ``text`` tells the columns that are never numbers."""
    source = str(path)
    data = _normalise(data, source)
    separator = _separator(data, path)
    header = _header(data, separator, source)
    for is_text in (text, lambda _: True):
        try:
            frame = _by_polars(data, separator, header, is_text)
        except pl.exceptions.PolarsError:
            continue
        blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
        if _may_be_ragged(data, separator, frame, blank):
            break
        rows = (~blank).arg_true()
        lines = _line_finder(data, separator, rows)
        notes = _joined_lines(data, separator, frame)
        return Raw(frame if len(rows) == frame.height else frame[rows], source, lines, notes)
    return _by_rows(data, separator, header, source)


def _normalise(data: bytes, source: str) -> bytes:
    """Drop the byte-order mark, accept old Mac line ends, refuse other encodings."""
    if b"\n" not in data and b"\r" in data:
        data = data.replace(b"\r", b"\n")
    decode_utf8(data, source)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise refuse(source, "the file is empty; write a header line with the column names")
    return data


def _separator(data: bytes, path: Path) -> str:
    """Tab for .tsv; for .csv whichever sign the header line has most of."""
    if file_type(path) == ".tsv":
        return "\t"
    line = data.partition(b"\n")[0]
    return max(",;\t", key=lambda sign: line.count(sign.encode()))


def _header(data: bytes, separator: str, source: str) -> list[str]:
    """The column names as they stand; a name that stands twice is refused."""
    start = io.StringIO(data[:1_000_000].decode("utf-8", "ignore"), newline="")
    names = next(csv.reader(start, delimiter=separator), [])
    if not names:
        raise refuse(source, "the first line is blank; the column names belong there", line=1)
    cleaned = _clean(names)
    repeated = sorted({name for name in cleaned if cleaned.count(name) > 1})
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
    data: bytes, separator: str, header: list[str], text: Callable[[str], bool]
) -> pl.DataFrame:
    cleaned = _clean(header)
    frame = pl.read_csv(
        data,
        separator=separator,
        infer_schema_length=SAMPLE_ROWS,
        schema_overrides={
            name: pl.String for name, clean in zip(header, cleaned, strict=True) if text(clean)
        },
    )
    frame.columns = cleaned
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


def _joined_lines(data: bytes, separator: str, frame: pl.DataFrame) -> tuple[str, ...]:
    """A note where quotes join lines that would be full rows by themselves.

    Both readings make sense then; quoting is the rule, but the user should know.
    """
    if separator != "\t" or b'"' not in data or data.count(b"\n") <= frame.height + 1:
        return ()
    if not _regular_unquoted(data, frame.width):
        return ()
    return ("quotation marks join several lines into one cell; double them if they are text",)


def _line_finder(
    data: bytes, separator: str, rows: pl.Series
) -> Callable[[Sequence[int]], list[int]]:
    """Lines of rows; quoted line breaks are counted only when somebody asks."""
    if b'"' not in data:
        return lambda wanted: [int(rows[row]) + 2 for row in wanted]

    def find(wanted: Sequence[int]) -> list[int]:
        try:
            starts = [line for line, row in _records(data, separator, quoting=True) if row]
        except csv.Error:
            starts = []
        # Where the csv module sees other rows than polars did, the plain count is the best guess.
        plain = [int(rows[row]) + 2 for row in wanted]
        if len(starts) <= max((int(rows[row]) for row in wanted), default=0) + 1:
            return plain
        return [starts[int(rows[row]) + 1] for row in wanted]

    return find


def _records(data: bytes, separator: str, *, quoting: bool) -> Iterator[tuple[int, list[str]]]:
    """Every record with the line it starts on, the header first; blank lines have no cells."""
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
        yield line, row or [""]


def _regular_unquoted(data: bytes, width: int) -> bool:
    lines = (line for line in data.split(b"\n") if line.strip(b"\r"))
    return b'"' in data and all(line.count(b"\t") == width - 1 for line in lines)


def _faults(data: bytes, separator: str, *, quoting: bool) -> Iterator[Problem]:
    """Everything wrong with the shape of the file."""
    line, width, found = 0, 0, 0
    try:
        for line, row in _records(data, separator, quoting=quoting):
            width = width or len(row)
            if len(row) == width or row == [""]:
                continue
            found += 1
            if found <= LISTED:
                shown = separator.join(row)[:80]
                yield Problem(_ragged(len(row), width, separator), line, None, shown)
    except csv.Error as error:
        yield Problem(
            f"quotation marks do not pair up from here on ({error});"
            ' put the cell in quotes and double those inside: "say ""hi"""',
            line + 1,
        )
    if found > LISTED:
        yield Problem(f"{found - LISTED} more lines have another number of cells than the header")


def _ragged(found: int, width: int, separator: str) -> str:
    message = f"{found} cells where the header has {width}; "
    if found > width and separator == ",":
        return message + "quote cells with commas, and write decimals with a point, not a comma"
    name = {"\t": "tab", ",": "comma", ";": "semicolon"}[separator]
    return message + f"check this line for a {name} too {'many' if found > width else 'few'}"


def _by_rows(data: bytes, separator: str, header: list[str], source: str) -> Raw:
    """The slow reading, all text; refuses a file of the wrong shape with every fault in it."""
    quoting = True
    faults = list(_faults(data, separator, quoting=True))
    if faults and separator == "\t" and _regular_unquoted(data, len(header)):
        quoting, faults = False, []
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
    return frame.write_csv(separator=separator).encode()
