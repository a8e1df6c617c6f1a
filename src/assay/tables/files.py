"""Files with tables: read as they are, with the line of every row, and written whole or not at all.

:func:`load` reads a file by its ending or takes a frame, :func:`save` writes a frame. Nothing is
checked here: everything else in this package works on :class:`Raw`, and what is wrong with a table
is collected in :class:`Findings`. JSON lines, Parquet and Excel are in
:mod:`~assay.tables.typed_files`; separated text is read here.

It has three readings, fastest first: typed by polars; all text by polars, where some value is not
of its column's type; row by row with the csv module, where the file is not regular enough for
polars. Whatever reading succeeds, the table is the same. In tab-separated files a quotation mark is
often plain text: a file that is not a valid table with quoting but is one without is read without,
and says so in its notes.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import secrets
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from assay.errors import Problem, TableError, similar_file
from assay.results import Note

if TYPE_CHECKING:
    import pandas as pd


Source: TypeAlias = "str | os.PathLike[str] | pl.DataFrame | pd.DataFrame"
"""Where a table may come from: a path, or a polars or pandas frame."""

Only: TypeAlias = Mapping[str, "str | None"]
"""Which rows are wanted: columns, and the value each must have (None: no value at all)."""

Lines: TypeAlias = Callable[[Sequence[int]], list[int]]
"""Where rows of a table, counted from 0, stand in its source."""

MAX_LISTED = 1000
"""How many problems of one sort are listed one by one; the rest are counted."""

FILE_TYPES = (".tsv", ".csv", ".jsonl", ".parquet", ".xlsx")
ALIASES = {".txt": ".tsv", ".tab": ".tsv", ".ndjson": ".jsonl"}
HEADER_BYTES = 1_000_000
"""How much of a text file is read to learn its columns."""

TYPED_ROWS = 1000
"""Rows that decide a column's type; a later value of another type costs a second reading."""

_EMPTY = "the file is empty; write a header line with the column names"

csv.field_size_limit(2**31 - 1)


def from_one(rows: Sequence[int]) -> list[int]:
    """The lines of a frame: its rows, counted from 1."""
    return [row + 1 for row in rows]


def lines_at(places: Sequence[int] | pl.Series) -> Lines:
    """The lines of rows that stand at these places."""
    return lambda rows: [int(places[row]) for row in rows]


@dataclass(frozen=True)
class Raw:
    """A table before any check.

    ``notes`` says what the reader had to do to read it; ``left`` names the columns that were not
    loaded because nobody needs them.
    """

    frame: pl.DataFrame
    source: str
    lines: Lines = from_one
    notes: tuple[Note, ...] = ()
    left: tuple[str, ...] = ()


def lines_of(raw: Raw, rows: Sequence[int] | pl.Series) -> Lines:
    """Where the rows of a table stand that was made of these rows of another."""
    return lambda wanted: raw.lines([rows[row] for row in wanted])


class Findings:
    """The problems of one file or table as they are found; :meth:`stop` raises them together.

    ``columns`` maps Assay's names to the user's own, which problems use. Of problems of one
    sort the first 1000 are listed and the others counted.
    """

    def __init__(self, raw: Raw | str | Path, columns: Mapping[str, str] | None = None) -> None:
        self.raw = raw if isinstance(raw, Raw) else Raw(pl.DataFrame(), str(raw))
        self.notes: list[Note] = list(self.raw.notes)
        self.problems: list[Problem] = []
        self._columns = dict(columns or {})
        self._counts: Counter[tuple[str | None, int]] = Counter()
        self._calls = 0

    def add(
        self, message: str, line: int | None = None, column: str | None = None, value: object = None
    ) -> None:
        """One problem; those of one column are of one sort."""
        self._add(Problem(message, line, column, None if value is None else str(value)), 0)

    def header(self, message: str, column: str) -> None:
        """A problem with a column as a whole, reported at the header."""
        line = None if self.raw.source == "frame" else 1
        self.add(message, line, self._columns.get(column, column))

    def rows(
        self, wrong: pl.Series, column: str, values: pl.Series, message: str | Callable[[str], str]
    ) -> None:
        """A problem in every row where ``wrong`` is true; ``{}`` in the message is the value."""
        if not wrong.any():
            return
        places = wrong.fill_null(False).arg_true()
        self._calls += 1
        name = self._columns.get(column, column)
        listed = places[:MAX_LISTED].to_list()
        for row, line in zip(listed, self.raw.lines(listed), strict=True):
            value = "" if values[row] is None else str(values[row])
            text = message(value) if callable(message) else message.replace("{}", value)
            self._add(Problem(text, line, name, value), self._calls)
        self._counts[name, self._calls] = len(places)

    def _add(self, problem: Problem, sort: int) -> None:
        self._counts[problem.column, sort] += 1
        if self._counts[problem.column, sort] <= MAX_LISTED:
            self.problems.append(problem)

    def stop(self, *, rows: int | None = None) -> None:
        """Raise if anything was found; ``rows`` were read."""
        if self.problems:
            raise self.error(rows)

    def error(self, rows: int | None = None) -> TableError:
        """Everything that was found, in the order of the lines."""
        more = [
            Problem(f"{count - MAX_LISTED:,} more rows have problems like these", None, column)
            for (column, _), count in self._counts.items()
            if count > MAX_LISTED
        ]
        ordered = sorted(self.problems, key=lambda p: (p.line is None, p.line or 0))
        height = self.raw.frame.height if rows is None else rows
        return TableError(self.raw.source, [*ordered, *more], rows=height)


def refuse(source: str | Path, message: str, **place: Any) -> TableError:
    """The error for a file that cannot be read at all."""
    return TableError(str(source), [Problem(message, **place)])


def load(
    source: Source, *, text: Callable[[str], bool], only: Only | None = None,
    names: Collection[str] | None = None,
) -> Raw:  # fmt: skip
    """Read a file or take a frame; ``text`` tells the columns that are never numbers.

    Of the rows those that ``only`` describes, of the columns those in ``names``. A Parquet file is
    searched for them, and nothing else of it is loaded.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if is_plain_parquet(path):
            from assay.tables.typed_files import read_parquet

            return read_parquet(path, path, only=only, names=names)
        raw = _load_file(path, text)
    elif isinstance(source, pl.DataFrame):
        raw = Raw(source, "frame")
    elif type(source).__module__.partition(".")[0] == "pandas":
        from assay.tables.typed_files import from_pandas

        raw = Raw(from_pandas(source), "frame")
    else:
        message = "is not a table; give a path, or a polars or pandas frame"
        raise refuse(type(source).__name__, message)
    return select(raw, only, names)


def select(raw: Raw, only: Only | None, names: Collection[str] | None) -> Raw:
    """The rows that ``only`` describes and the columns in ``names``; None: all."""
    if not only and names is None:
        return raw
    from assay.tables.selection import keep_columns, keep_rows

    raw = keep_rows(raw, only) if only else raw
    return raw if names is None else keep_columns(raw, names)


def _load_file(path: Path, text: Callable[[str], bool]) -> Raw:
    data = read_bytes(path)
    if not data:
        raise refuse(path, _EMPTY)
    ending = file_type(path)
    if ending in (".tsv", ".csv"):
        return read_delimited(data, path, text)
    from assay.tables.typed_files import READERS

    return READERS[ending](data, path)


def is_plain_parquet(path: Path) -> bool:
    """Whether the file can be searched where it lies; one that is packed must be unpacked first."""
    return path.suffix.lower() == ".parquet" and path.is_file() and _head(path, 4) == b"PAR1"


def _head(path: Path, size: int) -> bytes:
    with readable(path), path.open("rb") as file:
        return file.read(size)


def peek(source: Source) -> tuple[list[str], Source | Raw]:
    """The columns of a table, unchecked, and what to read it from so that nothing is read twice."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if is_plain_parquet(path):
            from assay.tables.typed_files import parquet_columns

            return parquet_columns(path), source
        if file_type(path) in (".tsv", ".csv"):
            start = _head(path, HEADER_BYTES)
            line = start.partition(b"\n")[0]
            if line != start and line.strip() and line.isascii():
                return clean_header(_header(start, _separator(start, path), path)), source
            return load(source, text=lambda _: True).frame.columns, source
    raw = load(source, text=lambda _: True)
    return raw.frame.columns, raw


def column_names(source: Source) -> list[str]:
    """The columns a table has, without checking it."""
    return peek(source)[0]


def file_type(path: Path) -> str:
    """The file type by the name's ending, a trailing ``.gz`` aside."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    ending = name.suffix.lower()
    ending = ALIASES.get(ending, ending)
    if ending not in FILE_TYPES:
        known = " ".join(FILE_TYPES)
        raise refuse(
            path, f"file type '{ending}' is not known; use one of {known} (.gz may follow)"
        )
    return ending


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """A clear error where a file cannot be read."""
    try:
        yield
    except IsADirectoryError:
        raise refuse(path, "is a folder, not a file; name a file in it") from None
    except FileNotFoundError:
        raise refuse(path, f"there is no such file{similar_file(path)}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise refuse(path, f"cannot be read: {reason}") from None


def read_bytes(path: Path) -> bytes:
    """The file's content, unpacked if it is gzip; a clear error where there is none."""
    with readable(path):
        data = path.read_bytes()
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise refuse(
            path, f"the gzip file is damaged or cut off ({error}); fetch or pack it again"
        ) from None


def save(frame: pl.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Write a frame by the type of the path's ending, atomically."""
    target = Path(path)
    ending, flat = file_type(target), _flat(frame)
    if ending in (".tsv", ".csv"):
        text = flat.write_csv(separator="\t" if ending == ".tsv" else ",")
        return write_bytes(target, text.encode())
    from assay.tables.typed_files import WRITERS

    return write_bytes(target, WRITERS[ending](flat, target))


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists, structs and bytes as text: not every file type can hold them."""
    return frame.with_columns(
        pl.Series(name, [None if value is None else str(value) for value in frame[name].to_list()])
        for name, kind in frame.schema.items()
        if kind.is_nested() or kind in (pl.Binary, pl.Object)
    )


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary file that takes the place of ``path`` when the block ends without an error.

    A reader, or a crash, sees the old file or the new one, never half of it. A link keeps
    pointing where it did; a device or pipe is written to directly.
    """
    path = path.resolve()
    if not path.parent.is_dir():
        raise refuse(path, f"the folder '{path.parent}' does not exist; make it first")
    if path.is_dir():
        raise refuse(path, "is a folder, not a file; name a file in it")
    if path.exists() and not path.is_file():
        yield path
        return
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        # Created with the permissions any new file would get.
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        raise refuse(
            path, f"cannot be written ({error.strerror}); check the folder and the disk"
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> Path:
    """Write a file atomically, packed if its name ends in ``.gz``."""
    if path.suffix.lower() == ".gz":
        data = gzip.compress(data, mtime=0)  # no time stamp: the same table, the same bytes
    with atomic(path) as temporary:
        temporary.write_bytes(data)
    return path


def decode_utf8(data: bytes, source: str) -> str:
    """The text of a file without its byte-order mark; every line that is not UTF-8 is reported."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise refuse(source, "is UTF-16; save the file as UTF-8", line=1)
    if data[:4] == b"PK\x03\x04":
        raise refuse(source, "is a workbook or a zip file; give it its right ending (.xlsx)")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        from assay.tables.irregular_text import undecodable

        raise undecodable(data, source) from None


def read_delimited(data: bytes, path: Path, text: Callable[[str], bool]) -> Raw:
    """Read separated text; ``text`` tells the columns that are never numbers."""
    if b"\n" not in data and b"\r" in data:  # old Mac line ends
        data = data.replace(b"\r", b"\n")
    decode_utf8(data, str(path))
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise refuse(path, _EMPTY)
    separator = _separator(data, path)
    header = _header(data, separator, path)
    for is_text in (text, lambda _: True):
        try:
            frame = _by_polars(data, separator, header, is_text)
        except pl.exceptions.PolarsError:
            continue
        blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
        if _may_be_ragged(data, separator, frame, blank):
            break
        rows = (~blank).arg_true()
        kept = frame if len(rows) == frame.height else frame[rows]
        if b'"' not in data:
            return Raw(kept, str(path), lines_at(rows + 2))
        from assay.tables.irregular_text import joined_lines, quoted_lines

        notes = joined_lines(data, separator, frame)
        return Raw(kept, str(path), quoted_lines(data, separator, rows), notes)
    from assay.tables.irregular_text import read_by_rows

    return read_by_rows(data, separator, clean_header(header), str(path))


def _separator(data: bytes, path: Path) -> str:
    """Tab for .tsv; for .csv whichever sign the header line has most of."""
    if file_type(path) == ".tsv":
        return "\t"
    line = data.partition(b"\n")[0]
    return max(",;\t", key=lambda sign: line.count(sign.encode()))


def _header(data: bytes, separator: str, source: Path) -> list[str]:
    """The column names as they stand; a name that stands twice is refused."""
    start = io.StringIO(data[:HEADER_BYTES].decode("utf-8", "ignore"), newline="")
    names = next(csv.reader(start, delimiter=separator), [])
    if not names:
        raise refuse(source, "the first line is blank; the column names belong there", line=1)
    need_distinct(clean_header(names), source)
    return names


def need_distinct(names: Sequence[str], source: str | Path, line: int = 1) -> None:
    """Refuse a header that names a column twice."""
    findings = Findings(source)
    for name in sorted(name for name, count in Counter(names).items() if count > 1):
        findings.add(f"the header has '{name}' twice; rename one", line, name, name)
    findings.stop()


def clean_header(header: Sequence[str]) -> list[str]:
    """Column names without spaces around them; a nameless column is called by its place."""
    return [name.strip() or f"column {i}" for i, name in enumerate(header, start=1)]


def _by_polars(
    data: bytes, separator: str, header: list[str], text: Callable[[str], bool]
) -> pl.DataFrame:
    cleaned = clean_header(header)
    texts = {name: pl.String for name, clean in zip(header, cleaned, strict=True) if text(clean)}
    frame = pl.read_csv(
        data, separator=separator, infer_schema_length=TYPED_ROWS, schema_overrides=texts
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
        from assay.tables.irregular_text import shape_faults

        return next(shape_faults(data, separator), None) is not None
    header_too = frame.height - int(blank.sum()) + 1
    return data.count(separator.encode()) != header_too * (frame.width - 1)
