"""Separated text that has quotes or that polars cannot read: row by row, with all faults.

And text that a spreadsheet would run: a cell such as ``=HYPERLINK(...)`` is written behind an
apostrophe, which is taken away when the file is read. A number, and a line of speech (``- Yes.``),
stand as they are. And text that is not in UTF-8: Excel's "Unicode text", and what old Windows
programs write.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import polars as pl

from assay.results import Note, plural
from assay.tables.layout import TOP_ROWS, Top, top_of
from assay.tables.load import Findings, Lines, Raw, lines_at, need_room, refuse

ROW_BYTES = 100
"""What a row fills in memory while it is read on its own."""
_SIGN = r"[=@+\-\t\r＝＠＋－]"
_FORMULA = rf"^'*\s*{_SIGN}"
_HARMLESS = r"^'*[+-](?:[\d.,]*(?:[eE][+-]?\d+)?|\s[^|(]*)$"


def defused(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before everything in the table that a spreadsheet would run.

    >>> table = pl.DataFrame({"system": ["=1+1", "- Yes.", "-3", "'=x"]})
    >>> back = restored(Raw(defused(table), "table.tsv")).frame
    >>> defused(table)["system"].to_list(), back.equals(table)
    (["'=1+1", '- Yes.', '-3', "''=x"], True)
    """
    texts = pl.col(pl.String)
    frame = frame.with_columns(
        pl.when(_runs(texts)).then("'" + texts).otherwise(texts).name.keep()
    )  # fmt: skip
    return frame.rename(dict(zip(frame.columns, defused_words(frame.columns), strict=True)))


def restored(raw: Raw) -> Raw:
    """The table that :func:`defused` was given; a note counts the cells.

    A cell of another program that begins like this (``'-ing' is a suffix``) is changed, too.
    """
    texts = pl.col(pl.String)
    marked = _runs(texts) & texts.str.starts_with("'")
    cells = int(sum(raw.frame.select(marked.sum()).row(0)))
    frame = raw.frame.with_columns(pl.when(marked).then(texts.str.slice(1)).otherwise(texts))
    words = {name: name[1:] for name in frame.columns if name[:1] == "'" and _word_runs(name)}
    text = f"an apostrophe before =, +, -, @ or a tab was removed: {plural(cells, 'cell')}"
    notes = [Note("apostrophes-removed", text)] if cells else []
    return replace(raw, frame=frame.rename(words), notes=(*raw.notes, *notes))


def defused_words(words: Sequence[str]) -> list[str]:
    """Single texts, such as column names, as :func:`defused` writes cells."""
    return [f"'{word}" if _word_runs(word) else word for word in words]


def restored_word(word: str) -> str:
    """The text that :func:`defused_words` was given.

    >>> restored_word(*defused_words(["=1+1"]))
    '=1+1'
    """
    return word[1:] if word[:1] == "'" and _word_runs(word) else word


def _runs(cells: pl.Expr) -> pl.Expr:
    """Whether a spreadsheet would run a cell; apostrophes before it do not count."""
    return cells.str.contains(_FORMULA) & ~cells.str.contains(_HARMLESS)


def _word_runs(word: str) -> bool:
    return re.search(_FORMULA, word) is not None and re.search(_HARMLESS, word) is None


def read_by_rows(data: bytes, separator: str, names: Sequence[str], source: str) -> Raw:
    """Read row by row, all as text; a file of the wrong shape is refused with all its faults."""
    quoting, findings = True, Findings(source)
    data, separator, top = _below_title(data, separator, names)
    names, above = top.names, top.place
    need_room(Path(source), ROW_BYTES * data.count(b"\n"), "its rows")
    for message, line, value in shape_faults(data, separator):
        findings.add(message, line + above, None, value)
    if findings.problems and separator == "\t" and regular_unquoted(data, len(names)):
        quoting = False
    else:
        findings.stop()
    records = [item for item in _records(data, separator, quoting=quoting) if any(item[1])][1:]
    frame = text_table(names, [row for _, row in records])
    unquoted = "read without quoting, because quotation marks do not pair up"
    notes = top.notes if quoting else (*top.notes, Note("read-unquoted", unquoted))
    return Raw(frame, source, lines_at([line + above for line, _ in records]), notes)


def _below_title(data: bytes, separator: str, names: Sequence[str]) -> tuple[bytes, str, Top]:
    """The text from the column names on, where a title of one cell stands above them."""
    lines = data.split(b"\n", TOP_ROWS)[:TOP_ROWS]
    if len(names) > 1 or len(lines) < 2:
        return data, separator, Top(list(names))
    widest = max(lines[1:], key=lambda line: max(line.count(sign) for sign in (b",", b";", b"\t")))
    found = max(",;\t", key=lambda sign: widest.count(sign.encode()))
    rows = [row for _, row in _records(b"\n".join(lines), found, quoting=False)]
    top = top_of(rows)
    if top.rows > 1 or not top.place or len(top.names) < len(rows[top.place]):
        return data, separator, Top(list(names))
    return data.split(b"\n", top.place)[-1], found, top


def text_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> pl.DataFrame:
    """Rows of text cells as a table; an empty cell is null."""
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return pl.DataFrame(
        [
            pl.Series(name, [cell or None for cell in cells], dtype=pl.String)
            for name, cells in zip(names, columns, strict=True)
        ]
    )


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
    message = f"{plural(cells, 'cell')} where the header has {width}; "
    if cells > width and separator == ",":
        return message + "quote cells with commas, and write decimals with a point, not a comma"
    name = {"\t": "tab", ",": "comma", ";": "semicolon"}[separator]
    return message + f"check this line for a {name} too {'many' if cells > width else 'few'}"


def regular_unquoted(data: bytes, width: int) -> bool:
    """Whether the text is a table of this width if quotation marks are plain text."""
    if b'"' not in data:
        return False
    rows = (row for _, row in _records(data, "\t", quoting=False) if any(row))
    return all(len(row) == width for row in rows)


def joined_lines(data: bytes, separator: str, frame: pl.DataFrame) -> tuple[Note, ...]:
    """A note where quotes join lines that would be full rows by themselves.

    Both readings make sense then; quoting is the rule, but the user should know.
    """
    if separator != "\t" or data.count(b"\n") <= frame.height + 1:
        return ()
    if not regular_unquoted(data, frame.width):
        return ()
    text = (
        "quotation marks join several lines into one cell; double them if they are part of the text"
    )
    return (Note("lines-joined", text),)


def quoted_lines(data: bytes, separator: str, rows: pl.Series) -> Lines:
    """The lines of rows; quoted line breaks are counted only when a line is needed."""

    def find(wanted: Sequence[int]) -> list[int]:
        places = [int(rows[row]) + 1 for row in wanted]
        try:
            starts = [line for line, row in _records(data, separator, quoting=True) if row]
        except csv.Error:
            starts = []
        # Where the csv module sees other rows than polars did, the plain count is the best guess.
        if len(starts) <= max(places, default=1):
            return [place + 1 for place in places]
        return [starts[place] for place in places]

    return find


def _records(data: bytes, separator: str, *, quoting: bool) -> Iterator[tuple[int, list[str]]]:
    """Every record with the line it starts on, the header first; blank lines have no cells."""
    stream = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    quotes: Literal[0, 3] = csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE
    reader = csv.reader(stream, delimiter=separator, quoting=quotes, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        yield line, row or [""]


UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How a file in UTF-16 begins."""
ALPHABETS = tuple(map(frozenset, (
    "äöüßàâæçèéêëîïôœùû", "äöüßáéíñóúç", "äöüßàèéìíîòóùú", "äöüßáéèëïó", "äöüßåæøáéóà",
    "áâãàçéêíóôõúü", "àçèéíïòóúü",
)))  # fmt: skip
"""The letters beyond ASCII of western languages, most of them together with those of German.

Not ÿ, which French all but never needs: its byte, 255, is more often damage.
"""
MARKS = frozenset("\xa0‘’“”„‚–—…€«»°§©®¿¡²³½¼µ×±")
"""Other signs that such texts have."""
AMONG_LETTERS = re.compile(
    r"[^\W\d_][^\w\s\x00-\x7f’–—][^\W\d_]|[a-zß-ÿ][–—][a-zß-ÿ]|[…€§][^\W\d_]"
)
"""Signs where a letter belongs, as when a file is from DOS or an old Mac."""
PART_UTF_8 = re.compile(rb"[\xc2\xc3][\x80-\xbf]|\xe2[\x80-\x9f][\x80-\xbf]")
"""What only UTF-8 writes: such a file is damaged, or joined from two."""
MAX_WORDS_SHOWN = 3
"""How many words with such letters the note shows."""


def decode_unusual(data: bytes, source: str) -> str:
    """The text of a file in UTF-16 with its mark; every line that is not UTF-8 is reported."""
    if data.startswith(UTF_16):
        try:
            if not data.startswith(b"\xff\xfe\0\0"):
                return data.decode("utf-16")
            fault = "is UTF-32"
        except UnicodeDecodeError:
            fault = "begins as UTF-16 and is damaged or cut off"
        raise refuse(source, f"{fault}; save the file as UTF-8", line=1)
    if data.startswith(b"PK\x03\x04"):
        raise refuse(source, "is a workbook or a zip file; give it its right ending (.xlsx)")
    findings = Findings(source)
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            byte = line[error.start]
            near = line[max(0, error.start - 20) : error.start + 20].decode("utf-8", "replace")
            message = (
                f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"
                f" (as Windows-1252 it would be '{bytes([byte]).decode('cp1252', 'replace')}')"
            )
            findings.add(message, number, None, near)
    findings.stop()
    return data.decode("utf-8-sig")


def in_utf8(data: bytes, path: Path) -> tuple[bytes, tuple[Note, ...]]:
    """The text in UTF-8, with a note if its encoding was guessed.

    UTF-16 says so at its beginning. Windows-1252 does not: it is taken for that where all its
    letters are those of one western language and stand as letters do, and refused otherwise.

    >>> in_utf8("Prüfer;größe".encode("cp1252"), Path("x.csv"))[1]
    ('not UTF-8, read as Windows-1252 (Prüfer, größe); if that looks wrong, save it as UTF-8',)
    """
    if data.startswith(UTF_16):
        return decode_unusual(data, str(path)).encode(), ()
    try:
        data.decode()
    except UnicodeDecodeError:
        pass
    else:
        return data, ()
    text = as_windows_1252(data)
    if text is None:
        return data, ()  # the reader reports the lines
    words = list(dict.fromkeys(re.findall(r"\w*[^\W\x00-\x7f]\w*", text)))
    shown = f" ({', '.join(words[:MAX_WORDS_SHOWN])})" if words else ""
    what = f"not UTF-8, read as Windows-1252{shown}; if that looks wrong, save it as UTF-8"
    return text.encode(), (Note("windows-1252", what),)


def as_windows_1252(data: bytes) -> str | None:
    """The text, if it can hardly be in any other encoding."""
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    beyond = {sign for sign in text.lower() if not sign.isascii()} - MARKS
    western = any(beyond <= alphabet for alphabet in ALPHABETS)
    plain = not PART_UTF_8.search(data) and not AMONG_LETTERS.search(text) and "\0" not in text
    return text if western and plain else None
