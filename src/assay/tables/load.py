"""From a file to a checked table, and back: whole, or not at all.

:func:`load` reads a file by its ending or takes a frame, :func:`save` writes a frame. What is read
is a :class:`Raw` table; :func:`conform` makes a checked one of it, or collects everything that is
wrong with it in :class:`Findings`. JSON lines, Parquet and Excel are in
:mod:`~assay.tables.typed_files`; separated text is read here.

It has three readings, fastest first: typed by polars; all text by polars, where some value is not
of its column's type; row by row with the csv module, where the file is not regular enough for
polars. Whatever reading succeeds, the table is the same. In tab-separated files a quotation mark is
often plain text: a file that is not a valid table with quoting but is one without is read without,
and says so in its notes.

The columns of a checked table have Assay's names and types: text as strings (``seg`` too), numbers
as 64-bit floats, whole numbers as integers; columns its schema does not know are kept behind them.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import secrets
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from assay.errors import InputError, Problem, TableError, did_you_mean, similar_file
from assay.results import Note
from assay.tables.limits import LIMITS
from assay.tables.names import OF_EDITORS
from assay.tables.schemas import SCHEMAS, ColumnRule, Schema

if TYPE_CHECKING:
    import pandas as pd

    from assay.tables.tables import TestSet

Source: TypeAlias = "str | os.PathLike[str] | pl.DataFrame | pd.DataFrame"
"""Where a table may come from: a path, or a polars or pandas frame."""

Only: TypeAlias = Mapping[str, "str | None"]
"""Which rows are wanted: columns, and the value each must have (None: no value at all)."""

Lines: TypeAlias = Callable[[Sequence[int]], list[int]]
"""Where rows of a table, counted from 0, stand in its source."""

MAX_LISTED = 1000
"""How many problems of one sort are listed one by one; the rest are counted."""

MAX_SHOWN = 500
"""Characters of a value that a problem shows."""

FILE_TYPES = (".tsv", ".csv", ".jsonl", ".parquet", ".xlsx")
ALIASES = {".txt": ".tsv", ".tab": ".tsv", ".ndjson": ".jsonl"}
HEADER_BYTES = 1_000_000
"""How much of a text file is read to learn its columns."""

TYPED_ROWS = 1000
"""Rows that decide a column's type; a later value of another type costs a second reading."""

FREE_BYTES = 64_000_000
"""So much memory any file may fill, however small it is; and so much a pipe may give."""
CELL_BYTES = 8
"""What a cell of a table fills at least."""
PLACES = {
    "cell": "bytes in one cell", "name": "bytes in one name",
    "metrics": "metrics (name those you need with `metrics`)",
}  # fmt: skip

_BLANK = " \t\r\n\f\v\u00a0\ufeff"
_FOLDER = "is a folder; name a file in it, or make a project of it with `assay new`"
_EMPTY = "the file is empty; write a header line with the column names"

csv.field_size_limit(2**31 - 1)


def from_one(rows: Sequence[int]) -> list[int]:
    """The lines of a frame: its rows, counted from 1."""
    return [row + 1 for row in rows]


def lines_at(places: Sequence[int] | pl.Series) -> Lines:
    """The lines of rows that stand at these places."""
    return lambda rows: [int(places[row]) for row in rows]


def printable(path: str | os.PathLike[str]) -> str:
    """The name of a file as text; bytes of it that are not UTF-8 are shown by number."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class Raw:
    """A table before any check.

    ``notes`` says what the reader had to do, ``left`` which columns nobody needs and were not
    loaded, ``places`` which columns say in which file or sheet a row was found.
    """

    frame: pl.DataFrame
    source: str
    lines: Lines = from_one
    notes: tuple[Note, ...] = ()
    left: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", printable(self.source))


def lines_of(raw: Raw, rows: Sequence[int] | pl.Series) -> Lines:
    """Where the rows of a table stand that was made of these rows of another."""
    return lambda wanted: raw.lines([rows[row] for row in wanted])


def shortened(text: str) -> str:
    """A text as an error shows it: the whole of it, unless it is very long."""
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


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
        value = None if value is None else shortened(str(value))
        self._add(Problem(message, line, column, value), 0)

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
            value = "" if values[row] is None else shortened(str(values[row]))
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
    return TableError(printable(source), [Problem(message, **place)])


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
        with at_the_door(path):
            if is_plain_parquet(path):
                from assay.tables.typed_files import read_parquet

                return read_parquet(path, path, only=only, names=names)
            raw = _load_file(path, text)
            need_cells(raw)
    elif isinstance(source, pl.DataFrame):
        raw = Raw(source, "frame")
    elif type(source).__module__.partition(".")[0] == "pandas":
        from assay.tables.typed_files import from_pandas

        raw = Raw(from_pandas(source), "frame")
    else:
        message = "is not a table; give a path, or a polars or pandas frame"
        raise refuse(type(source).__name__, message)
    return select(raw, only, names)


@contextmanager
def at_the_door(path: Path) -> Iterator[None]:
    """Whatever a library says of a file that it cannot read becomes a sentence, here alone."""
    try:
        yield
    except (InputError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        from assay.tables.faults import refusal

        if (known := refusal(path, error)) is None:
            raise
        raise known from None


def need_cells(raw: Raw) -> None:
    """Refuse a table that was read but is over the limits."""
    need_size(raw.source, raw.frame.height, raw.frame.columns)
    longest = raw.frame.select(pl.col(pl.String).str.len_bytes().max()).rows()
    need_at_most(raw.source, "cell", max((n or 0 for row in longest for n in row), default=0))


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
        notes: tuple[Note, ...] = ()
        if not data.isascii():
            from assay.tables.encodings import in_utf8

            data, notes = in_utf8(data, path)
        raw = read_delimited(data, path, text)
        raw = replace(raw, notes=(*notes, *raw.notes)) if notes else raw
        if b"'" not in data:
            return raw
        from assay.tables.irregular_text import restored

        return restored(raw)
    from assay.tables.typed_files import READERS

    return READERS[ending](data, path)


def is_plain_parquet(path: Path) -> bool:
    """Whether the file can be searched where it lies; one that is packed must be unpacked first."""
    if path.suffix.lower() != ".parquet" or printable(path) != str(path):
        return False
    return path.is_file() and first_bytes(path, 4) == b"PAR1"


def file_type(path: Path) -> str:
    """The file type by the name's ending, a trailing ``.gz`` aside."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    ending = name.suffix.lower()
    ending = ALIASES.get(ending, ending)
    if ending not in FILE_TYPES:
        known = " ".join(FILE_TYPES)
        if path.is_dir():
            raise refuse(path, _FOLDER)
        if ending in OF_EDITORS:
            raise refuse(path, "is a file of a translation tool; `assay effort` reads those")
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
        raise refuse(path, _FOLDER) from None
    except FileNotFoundError:
        raise refuse(path, f"there is no such file{similar_file(path)}") from None
    except TableError:
        raise
    except (OSError, ValueError) as error:
        raise refuse(path, f"cannot be read: {getattr(error, 'strerror', 0) or error}") from None


def read_bytes(path: Path) -> bytes:
    """The file's content, unpacked if it is gzip; a clear error where there is none."""
    with readable(path), path.open("rb") as file:
        kind, size = os.fstat(file.fileno()).st_mode, os.fstat(file.fileno()).st_size
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            raise refuse(path, "is a device, not a file; name a file")
        need_at_most(path, "bytes", size)
        data = file.read(size + 1 if size else FREE_BYTES + 1)  # a pipe does not say how much
    if not size and len(data) > FREE_BYTES:
        raise refuse(path, f"a pipe may give {FREE_BYTES:,} bytes; write the rest to a file first")
    if data[:2] != b"\x1f\x8b":
        return data
    from assay.tables.packed import unpack

    return unpack(data, path)


def need_at_most(source: str | Path, what: str, found: int) -> None:
    """Refuse a file that holds more of something than the limit of that name allows."""
    most = getattr(LIMITS.get(), what)
    if found > most:
        raise refuse(
            source, f"has {found:,} {PLACES.get(what, what)}, and {most:,} is the limit; if the"
            f" file is right, allow them with `limits` ({what}={found})",
        )  # fmt: skip


def need_room(path: Path, needed: int, what: str) -> None:
    """Refuse a file that would fill memory out of all proportion to its size: a bomb."""
    size = path.stat().st_size if path.is_file() else 0
    if needed > max(FREE_BYTES, LIMITS.get().ratio * size):
        raise refuse(
            path, f"has {size:,} bytes and would fill {needed:,} of memory ({what}), over"
            f" {LIMITS.get().ratio} times as many; if the file is right, allow it with `limits`"
            f" (ratio={needed // max(size, 1) + 1})",
        )  # fmt: skip


def need_size(source: str | Path, rows: int, names: Sequence[str]) -> None:
    """Refuse a table of more rows, columns or cells, or longer names, than the limits allow."""
    need_at_most(source, "rows", rows)
    need_at_most(source, "columns", len(names))
    need_at_most(source, "cells", rows * len(names))
    need_at_most(source, "name", max((len(name.encode()) for name in names), default=0))
    for message in look_alikes(pl.Series(names, dtype=pl.String)):
        raise refuse(source, message, line=1)


def look_alikes(names: pl.Series) -> Iterable[str]:
    """What to say of names that look the same and are not, such as é in one character and two."""
    names = names.filter(names.str.len_bytes() != names.str.len_chars()).unique()
    if names.str.normalize("NFC").n_unique() == len(names):
        return ()
    from assay.tables.faults import twins

    return twins(names)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary file that takes the place of ``path`` when the block ends without an error.

    A reader, or a crash, sees the old file or the new one, never half of it. A link keeps
    pointing where it did; a device or pipe is written to directly.
    """
    path = Path(os.path.realpath(path))
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
    """The text of a file without its byte-order mark; every line that is not UTF-8 is reported.

    A file that begins with the mark of UTF-16 is read as that.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            if data[:4] != b"\xff\xfe\0\0":
                return data.decode("utf-16")
            fault = "is UTF-32"
        except UnicodeDecodeError:
            fault = "begins as UTF-16 and is damaged or cut off"
        raise refuse(source, f"{fault}; save the file as UTF-8", line=1)
    if data[:4] == b"PK\x03\x04":
        raise refuse(source, "is a workbook or a zip file; give it its right ending (.xlsx)")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        from assay.tables.faults import undecodable

        raise undecodable(data, source) from None


def read_delimited(data: bytes, path: Path, text: Callable[[str], bool]) -> Raw:
    """Read separated text; ``text`` tells the columns that are never numbers."""
    if b"\n" not in data and b"\r" in data:  # old Mac line ends
        data = data.replace(b"\r", b"\n")
    decode_utf8(data, str(path))
    while data.startswith(b"\xef\xbb\xbf"):  # joined files have several
        data = data[3:]
    if not data.strip():
        raise refuse(path, _EMPTY)
    separator = separator_of(data, path)
    header = read_header(data, separator, path)
    need_size(path, data.count(b"\n"), header)
    need_room(path, CELL_BYTES * data.count(b"\n") * len(header), "its cells")
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


def separator_of(data: bytes, path: Path) -> str:
    """Tab for .tsv; for .csv the sign that the first line with any, the header, has most of."""
    if file_type(path) == ".tsv":
        return "\t"
    lines = data[:HEADER_BYTES].split(b"\n", 12)
    line = next((line for line in lines if {*line} & {*b",;\t"}), b"")
    return max(",;\t", key=lambda sign: line.count(sign.encode()))


def read_header(data: bytes, separator: str, source: Path) -> list[str]:
    """The column names as they stand; a name that stands twice is refused."""
    end = data.find(b"\n", 0, HEADER_BYTES)
    need_at_most(source, "columns", data.count(separator.encode(), 0, end) + 1)
    start = io.StringIO(data[:HEADER_BYTES].decode("utf-8", "ignore"), newline="")
    names = next(csv.reader(start, delimiter=separator), [])
    if not names:
        raise refuse(source, "the first line is blank; the column names belong there", line=1)
    if len(data) > HEADER_BYTES and not start.read(1):
        fault = f"the header has over {HEADER_BYTES:,} bytes"
        raise refuse(source, f"{fault}; write the column names into a line of their own", line=1)
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
    return [name.strip(_BLANK) or f"column {i}" for i, name in enumerate(header, start=1)]


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


Columns: TypeAlias = Mapping[str, str]
"""Assay's column names to the user's own."""

MISSING = ("", "na", "n/a", "none", "null")
"""How a text file writes a missing number, in upper or lower case."""

FOREIGN_ROWS = 10
"""So many unknown segments, in most rows, are not slips: the table is of another test set."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d+(?:[.\s]\d{3})*,\d+")


@dataclass(frozen=True, eq=False)
class CheckedTable:
    """What all tables share; polars frames are immutable, so it never changes.

    ``notes`` says what was done to the file's content on the way in, with counts.
    """

    frame: pl.DataFrame
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return self.frame.height

    def to_frame(self) -> pl.DataFrame:
        """The rows, in the order of the file."""
        return self.frame

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the table by the path's ending (.tsv .csv .jsonl .parquet .xlsx), atomically."""
        from assay.tables.typed_files import save

        return save(self.frame, path)


def conform(
    source: Source | Raw, kind: str, *, columns: Columns | None = None, only: Only | None = None,
    extra: Collection[str] | None = None,
) -> tuple[pl.DataFrame, Findings]:  # fmt: skip
    """Read a table of this kind: the typed frame, row for row, and what is wrong with it.

    ``only`` describes the rows that are wanted, ``extra`` the columns beside those of the schema;
    None: all. Raises at once only where nothing more could be said (no columns, no rows).
    """
    schema = SCHEMAS[kind]
    users = _mapping(columns, schema)
    rows = {users.get(name, name): value for name, value in (only or {}).items()}
    names = None if extra is None else {*schema.names, *users.values(), *extra, *rows}
    if isinstance(source, Raw):
        raw = select(source, rows, names)
    else:
        raw = load(source, text=_text_columns(schema, users), only=rows, names=names)
    findings = Findings(raw, users)
    frame = _rename(raw.frame, users, findings)
    _need_columns(frame, schema, users, findings)
    if not frame.height:
        findings.add("the table has a header but no rows; add at least one")
    if not frame.height or any(name not in frame.columns for name in schema.required):
        findings.stop()
    frame = _without_empty(frame, schema, findings)
    known = [_typed(frame, column, findings) for column in schema.columns if column.name in frame]
    rest = [frame[name] for name in frame.columns if name not in schema.names]
    frame = pl.DataFrame([*known, *rest])
    if schema.again not in frame.columns:
        _unique(frame, schema, findings)
    _one_spelling(frame, schema, findings)
    return frame, findings


def _one_spelling(frame: pl.DataFrame, schema: Schema, findings: Findings) -> None:
    """Report names that differ in capitals or spaces alone: one must not become two."""
    for name in schema.spelled:
        known = frame[name].drop_nulls().unique(maintain_order=True) if name in frame else None
        form = None if known is None else known.str.to_lowercase()
        if form is not None and schema.kind != "scores":  # spaces there have a note
            form = form.str.replace_all(r"\s+", " ").str.strip_chars()
        if known is not None and form is not None and form.n_unique() < len(known):
            from assay.tables.faults import spelled_twice

            spelled_twice(known, form, findings)


def _without_empty(frame: pl.DataFrame, schema: Schema, findings: Findings) -> pl.DataFrame:
    """The table without optional columns in which nothing stands: they say nothing."""
    parts = [column.name for column in schema.columns if column.filled and not column.required]
    empty = [name for name in parts if name in frame and to_text(frame[name]).is_in([""]).all()]
    if empty:
        text = f"empty in every row, read as if it were not there: {', '.join(empty)}"
        findings.notes.append(Note("empty-column", text))
    return frame.drop(empty)


def _text_columns(schema: Schema, users: dict[str, str]) -> Callable[[str], bool]:
    # Unknown columns are text unless the table may have metrics, so that an id of 007 stays 007.
    numbers = {users.get(c.name, c.name) for c in schema.columns if c.type != "text"}
    texts = {users.get(c.name, c.name) for c in schema.columns if c.type == "text"}
    return lambda name: name in texts or (schema.kind != "scores" and name not in numbers)


def _mapping(columns: Columns | None, schema: Schema) -> dict[str, str]:
    users = dict(columns or {})
    for name, user in users.items():
        if name not in schema.names:
            raise InputError(
                f"`columns` ({name}={user}): a {schema.kind} table has no column"
                f" '{name}'{did_you_mean(name, schema.names)}; it has {', '.join(schema.names)}"
            )
    twice = [user for user in users.values() if list(users.values()).count(user) > 1]
    if twice:
        raise InputError(f"`columns` maps two names to '{twice[0]}'; map each column once")
    return users


def _rename(frame: pl.DataFrame, users: dict[str, str], findings: Findings) -> pl.DataFrame:
    """Give the mapped columns Assay's names; a mapping wins over a column of that name."""
    for name, user in users.items():
        if user not in frame.columns:
            hint = f"{did_you_mean(user, frame.columns)}; it has {', '.join(frame.columns)}"
            message = f"`columns` maps {name} to '{user}', which is not in the table{hint}"
            findings.header(message, name)
    mapped = {user: name for name, user in users.items() if user in frame.columns}
    unused = [name for name in mapped.values() if name in frame.columns and name not in mapped]
    if unused:
        text = f"not used, because you mapped other columns to these names: {', '.join(unused)}"
        findings.notes.append(Note("column-replaced", text))
    return frame.drop(unused).rename(mapped)


def _need_columns(
    frame: pl.DataFrame, schema: Schema, users: dict[str, str], findings: Findings
) -> None:
    for name in schema.required:
        if name in frame.columns or name in users:
            continue
        from assay.tables.faults import missing_column

        findings.header(missing_column(name, frame, schema), name)


def _typed(frame: pl.DataFrame, column: ColumnRule, findings: Findings) -> pl.Series:
    """The column in its type, with every cell that does not fit reported."""
    if column.type != "text":
        return _bounded(to_number(frame[column.name], findings, column.name), column, findings)
    if frame.schema[column.name] in (pl.Binary, pl.Duration, pl.Object):
        kind = frame.schema[column.name]
        findings.header(f"holds {kind} values instead of text; convert them", column.name)
        return pl.Series(column.name, [""] * frame.height)
    typed = to_text(frame[column.name])
    typed = _respelled(typed, column, findings)
    if column.filled and column.name != "design":
        _need_names(typed, findings)
    empty = typed.is_null() | (typed == "")
    if column.filled:
        findings.rows(empty, column.name, typed, "is empty; every row needs a value here")
    if column.choices:

        def message(value: str) -> str:
            hint = did_you_mean(value, column.choices)
            if column.spellings and value in ("0", "1"):
                hint = " (where there is no 2, 0 may be a tie or a loss)"
            return f"'{value}' is not one of {', '.join(column.choices)}{hint}; write one of them"

        findings.rows(~empty & ~typed.is_in(column.choices), column.name, typed, message)
    return typed


def _need_names(values: pl.Series, findings: Findings) -> None:
    """Refuse names that are too long to be names, and two that look the same."""
    most = min(LIMITS.get().name, 2**32 - 1)  # no text is longer
    long = values.str.len_bytes() > most
    if long.any():
        message = f"is a name of over {most:,} bytes; shorten it or allow it with `limits` (name=N)"
        findings.rows(long, values.name, values.str.head(40) + "...", message)
    for message in look_alikes(values):
        findings.header(message, values.name)


def _respelled(typed: pl.Series, column: ColumnRule, findings: Findings) -> pl.Series:
    """The column in Assay's words, where it is written throughout in others; a note says which."""
    if not column.spellings:
        return typed
    found = set(typed.drop_nulls().str.strip_chars().unique()) - {""}
    for words in column.spellings:
        # Of 0 and 1 alone nobody knows whether 0 is a tie or the other one's win.
        if found and found <= words.keys() and not ("0" in found and "2" not in found):
            read = ", ".join(f"{word} as {words[word]}" for word in words)
            text = f"{column.name}: {read} was assumed"
            if "<" in words:
                text += " (< ranks before, as in WMT's data); where < is worse, swap left and right"
            findings.notes.append(Note("values-read", text))
            return typed.str.strip_chars().replace(words)
    return typed


def to_text(values: pl.Series) -> pl.Series:
    """The column as strings; whole floats (a spreadsheet's 1.0) as whole numbers."""
    if values.dtype == pl.String:
        return values
    if values.dtype.is_float():
        # Beyond 2^53 a float is no longer an exact whole number; it is kept as it is written.
        whole = (values.abs() < 2**53) & (values == values.round())
        number = values.cast(pl.Int64, strict=False).cast(pl.String)
        return number.zip_with(whole.fill_null(False), values.cast(pl.String))
    if values.dtype.is_nested() or values.dtype in (pl.Binary, pl.Object, pl.Duration):
        words = [None if value is None else str(value) for value in values.to_list()]
        return pl.Series(values.name, words, dtype=pl.String)
    return values.cast(pl.String)


def to_number(values: pl.Series, findings: Findings, name: str) -> pl.Series:
    """The column as floats, null where the cell is empty; whatever is not a number is reported."""
    if values.dtype.is_numeric() or values.dtype == pl.Null:
        return values.cast(pl.Float64)
    if not (values.dtype == pl.String or isinstance(values.dtype, pl.Categorical | pl.Enum)):
        findings.header(f"has {values.dtype.base_type()} instead of numbers; convert them", name)
        return pl.Series(values.name, [None] * len(values), dtype=pl.Float64)
    words = values.cast(pl.String).str.strip_chars()
    empty = words.is_null() | words.str.to_lowercase().is_in(MISSING)
    number = words.cast(pl.Float64, strict=False)
    findings.rows(~empty & number.is_null(), name, values.cast(pl.String), _not_a_number)
    return number


def _not_a_number(value: str) -> str:
    if _DECIMAL_COMMA.fullmatch(value.strip()):
        return f"'{value}' has a decimal comma; write decimals with a point (0.5, not 0,5)"
    return f"'{value}' is not a number; correct it or leave the cell empty"


def _bounded(number: pl.Series, column: ColumnRule, findings: Findings) -> pl.Series:
    name = column.name
    refuse_infinite(number, name, findings)
    if column.filled:
        findings.rows(number.is_null(), name, number, "is empty; every row needs a value here")
    finite = number.is_finite()
    if column.low is not None:
        low, high = column.low, float("inf") if column.high is None else column.high
        wrong = (number <= low if column.open_low else number < low) | (number > high)
        limits = f"{'(' if column.open_low else '['}{low:g}, {high:g}{']' if column.high else ')'}"
        findings.rows(finite & wrong, name, number, f"{{}} is outside {limits}; correct it")
    if column.type == "whole":
        wrong = (number != number.round()) | (number.abs() > 2**53)
        findings.rows(finite & wrong, name, number, "{} is not a whole number; correct it")
        return number.cast(pl.Int64, strict=False)
    return number


def refuse_infinite(number: pl.Series, name: str, findings: Findings) -> None:
    """Report every value that is not a finite number, or too large or small to reckon with."""
    from assay.errors import LARGEST, SMALLEST

    message = "{} is not a finite number; correct it or leave the cell empty"
    finite, size = number.is_finite(), number.abs()
    findings.rows(~finite, name, number, message)
    message = f"{{}} is larger than {LARGEST:g}; give it in another unit, or leave the cell empty"
    findings.rows(finite & (size > LARGEST), name, number, message)
    message = f"{{}} is smaller than {SMALLEST:g}; write 0, or give it in another unit"
    findings.rows(finite & (size < SMALLEST) & (number != 0), name, number, message)


def _unique(frame: pl.DataFrame, schema: Schema, findings: Findings) -> None:
    """Report every row whose key an earlier row has, with the line of the first."""
    key = [name for name in schema.key if name in frame.columns]
    keys = frame.select(key)
    if not key or keys.n_unique() == frame.height:
        return
    from assay.tables.faults import repeated_keys

    repeated_keys(frame, keys, schema, findings)


def place_in(frame: pl.DataFrame, test_set: TestSet, findings: Findings) -> pl.DataFrame:
    """The rows that are about the test set, each with its full segment key; faults are reported.

    Rows of systems that the test set left out, of other language pairs, and of segments that a
    part of a table does not have, are left out and counted. A missing ``doc`` is filled in where
    ``seg`` alone names one segment.
    """
    kept = pl.Series([True] * frame.height, dtype=pl.Boolean)
    if "system" in frame.columns:
        out = frame["system"].is_in(list(test_set.excluded))
        kept = _leave_out(kept, out, "excluded-systems", "of excluded systems", findings)
    if "lp" in frame.columns and "lp" in test_set.key:
        other = ~frame["lp"].is_in(test_set.segments["lp"].unique().to_list())
        kept = _leave_out(kept, other, "other-language-pairs", "of other language pairs", findings)
    if test_set.part:
        key = [name for name in test_set.key if name in frame.columns]
        outside = ~_among(frame, test_set.segments.select(key).unique())
        what = "of segments outside the part that was read"
        kept = _leave_out(kept, outside, "outside-the-part", what, findings)
    if _foreign(frame, test_set, kept, findings):
        return frame
    if "system" in frame.columns:
        _known_systems(frame, test_set, kept, findings)
    frame = _fill_key(frame, test_set, kept, findings)
    _refuse_collapse(frame, test_set, kept, findings)
    return frame.filter(kept) if not kept.all() else frame


def _foreign(frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings) -> bool:
    """Report, once, that most rows are of segments which the test set does not have."""
    key = [name for name in test_set.key if name in frame.columns]
    unknown = kept & ~_among(frame, test_set.segments.select(key).unique())
    count, rows = int(unknown.sum()), int(kept.sum())
    if count < FOREIGN_ROWS or 2 * count <= rows:
        return False
    from assay.tables.faults import foreign_rows

    foreign_rows(frame, test_set, unknown, rows, findings)
    return True


def _among(frame: pl.DataFrame, rows: pl.DataFrame) -> pl.Series:
    """Whether each row of the frame, in the columns of ``rows``, is one of them."""
    known, wanted = rows.with_columns(_known=True), frame.select(rows.columns)
    joined = wanted.join(known, on=rows.columns, how="left", maintain_order="left")
    return joined["_known"].fill_null(False)


def _leave_out(
    kept: pl.Series, out: pl.Series, code: str, what: str, findings: Findings
) -> pl.Series:
    count = int((kept & out).sum())
    if count:
        findings.notes.append(Note(code, f"{count:,} rows {what} left out"))
    return kept & ~out


def _refuse_collapse(
    frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings
) -> None:
    """Report rows that differ only in a column the test set does not have."""
    extra = [name for name in ("lp", "doc") if name in frame.columns and name not in test_set.key]
    if not extra:
        return
    names = [name for name in ("system", *test_set.key, "rater") if name in frame.columns]
    several = frame.select(pl.struct(extra).n_unique().over(names) > 1).to_series()
    message = (
        f"segment '{{}}' matches several that differ in {' and '.join(extra)}, which the test set"
        f" lacks; add {' and '.join(extra)} to the scores"
    )
    findings.rows(kept & several, "seg", frame["seg"], message)


def _known_systems(
    frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings
) -> None:
    system, known = frame["system"], test_set.systems

    def message(value: str) -> str:
        hint = did_you_mean(value, known)
        return f"system '{value}' is not in the test set{hint}; it has {', '.join(known[:20])}"

    unknown = ~system.is_in(list(known)) & system.is_not_null()
    findings.rows(kept & unknown, "system", system, message)


def _fill_key(
    frame: pl.DataFrame, test_set: TestSet, kept: pl.Series, findings: Findings
) -> pl.DataFrame:
    seg, key = frame["seg"], [name for name in test_set.key if name in frame.columns]
    missing = [name for name in test_set.key if name not in key]
    segments = test_set.segments.select(test_set.key)
    places = segments.group_by(key).agg(pl.len().alias("_count"), pl.col(missing).first())
    joined = frame.join(places, on=key, how="left", maintain_order="left")
    count = joined["_count"]

    def unknown(value: str) -> str:
        whole = value.removesuffix(".0")
        known = whole != value and whole in segments["seg"]
        hint = f" (did you mean '{whole}'?)" if known else ""
        where = " in this document" if "doc" in key else ""
        return f"segment '{value}' is not in the test set{where}{hint}; check {' and '.join(key)}"

    findings.rows(kept & count.is_null() & seg.is_not_null(), "seg", seg, unknown)
    message = "segment '{}' is in several documents of the test set; add " + ", ".join(missing)
    findings.rows(kept & (count > 1), "seg", seg, message)
    joined = joined.drop("_count")
    if "system" in frame.columns:
        here = _among(joined, test_set.frame.select("system", *test_set.key))
        translated = frame["system"].is_in(list(test_set.systems)) & (count == 1).fill_null(False)
        message = (
            "segment '{}' has no translation by this system in the test set; check system and seg"
        )
        findings.rows(kept & translated & ~here, "seg", seg, message)
    return joined


def first_bytes(path: Path, size: int) -> bytes:
    """The beginning of a file."""
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
            start = first_bytes(path, HEADER_BYTES) if path.is_file() else b""
            line = start.partition(b"\n")[0]
            if line != start and line.strip() and line.isascii():
                header = clean_header(read_header(start, separator_of(start, path), path))
                if b"'" not in line and len(header) > 1:  # one cell may be a title
                    return header, source
            return load(source, text=lambda _: True).frame.columns, source
    raw = load(source, text=lambda _: True)
    return raw.frame.columns, raw


def column_names(source: Source) -> list[str]:
    """The columns a table has, without checking it."""
    return peek(source)[0]
