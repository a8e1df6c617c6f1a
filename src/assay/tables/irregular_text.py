"""Separated text that polars cannot read or may have misread: row by row, with all its faults."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

import polars as pl

from assay.errors import TableError
from assay.results import Note
from assay.tables.files import Findings, Raw


def undecodable(data: bytes, source: str) -> TableError:
    """The error with every line that is not UTF-8."""
    findings = Findings(source)
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            byte = line[error.start]
            findings.add(
                f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"
                f" (as Windows-1252 it would be '{bytes([byte]).decode('cp1252', 'replace')}')",
                number,
                None,
                line[max(0, error.start - 20) : error.start + 20].decode("utf-8", "replace"),
            )
    return findings.error()


def read_by_rows(data: bytes, separator: str, names: Sequence[str], source: str) -> Raw:
    """The slow reading, all text; refuses a file of the wrong shape with every fault in it."""
    quoting, findings = True, Findings(source)
    for message, line, value in shape_faults(data, separator):
        findings.add(message, line, None, value)
    if findings.problems and separator == "\t" and regular_unquoted(data, len(names)):
        quoting = False
    else:
        findings.stop()
    places, rows = [], []
    for line, row in _records(data, separator, quoting=quoting):
        if any(row):
            places.append(line)
            rows.append(row)
    columns = list(zip(*rows[1:], strict=True)) if len(rows) > 1 else [()] * len(names)
    frame = pl.DataFrame(
        [
            pl.Series(name, [cell or None for cell in cells], dtype=pl.String)
            for name, cells in zip(names, columns, strict=True)
        ]
    )
    unquoted = "read without quoting, because quotation marks do not pair up"
    notes = () if quoting else (Note("read-unquoted", unquoted),)
    return Raw(frame, source, lambda wanted: [places[row + 1] for row in wanted], notes)


def shape_faults(data: bytes, separator: str) -> Iterator[tuple[str, int, str | None]]:
    """Everything wrong with the shape of the file: message, line and value."""
    line, width = 0, 0
    try:
        for line, row in _records(data, separator, quoting=True):
            width = width or len(row)
            if len(row) != width and row != [""]:
                yield _ragged(len(row), width, separator), line, separator.join(row)[:80]
    except csv.Error as error:
        message = (
            f"quotation marks do not pair up from here on ({error});"
            ' put the cell in quotes and double those inside: "say ""hi"""'
        )
        yield message, line + 1, None


def _ragged(cells: int, width: int, separator: str) -> str:
    message = f"{cells} cells where the header has {width}; "
    if cells > width and separator == ",":
        return message + "quote cells with commas, and write decimals with a point, not a comma"
    name = {"\t": "tab", ",": "comma", ";": "semicolon"}[separator]
    return message + f"check this line for a {name} too {'many' if cells > width else 'few'}"


def regular_unquoted(data: bytes, width: int) -> bool:
    """Whether the text is a table of this width if quotation marks are plain text."""
    lines = (line for line in data.split(b"\n") if line.strip(b"\r"))
    return b'"' in data and all(line.count(b"\t") == width - 1 for line in lines)


def first_lines(data: bytes, separator: str) -> list[int]:
    """The line on which each row that is not blank begins, the header first."""
    try:
        return [line for line, row in _records(data, separator, quoting=True) if row]
    except csv.Error:
        return []


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
