"""From a file to a checked table: whole, or not at all.

:func:`load` reads a file by its ending, or takes a frame, as a :class:`Raw` table. :func:`conform`
makes a checked table of it, or collects everything that is wrong with it in :class:`Findings`.
Separated text is read here; JSON lines, Parquet and Excel in :mod:`~assay.tables.typed_files`.

Separated text has three readings, fastest first: typed by polars; all text by polars, where some
value is not of its column's type; row by row with the csv module, where the file is too irregular
for polars. The table is the same whichever reading succeeds. In tab-separated files a quotation
mark is often plain text: a file that is a valid table only without quoting is read without it, and
a note says so.

The columns of a checked table have Assay's names and types: text as strings (``seg`` too), numbers
as 64-bit floats, whole numbers as integers. Columns that its schema does not know come last.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from assay.errors import LARGEST, SMALLEST, InputError, Problem, TableError
from assay.results import Note
from assay.tables.limits import LIMITS
from assay.tables.schemas import SCHEMAS, ColumnRule, Schema

if TYPE_CHECKING:
    import pandas as pd

Source: TypeAlias = "str | os.PathLike[str] | pl.DataFrame | pd.DataFrame"
"""Where a table may come from: a path, or a polars or pandas frame."""

Only: TypeAlias = Mapping[str, "str | None"]
"""Which rows are wanted: columns, and the value each must have (None: no value at all)."""

Columns: TypeAlias = Mapping[str, str]
"""Assay's column names to the user's own."""

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
"""Memory that any file may fill, however small it is; also the most that a pipe may give."""
CELL_BYTES = 8
"""What a cell of a table fills at least."""

MISSING = ("", "na", "n/a", "none", "null")
"""How a text file writes a missing number, in upper or lower case."""

EMPTY_CELL = "is empty; every row needs a value here"
_EMPTY_FILE = "the file is empty; write a header line with the column names"
_BLANK = " \t\r\n\f\v\u00a0\ufeff"

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

    ``notes`` says what the reader had to do, ``left`` which columns were not needed and not
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

    def with_rows(self, rows: Sequence[int] | pl.Series, *notes: Note) -> Raw:
        """Only these rows of the table, with their lines; ``notes`` say why."""
        return replace(
            self, frame=self.frame[rows], lines=self.lines_of(rows), notes=(*self.notes, *notes)
        )

    def lines_of(self, rows: Sequence[int] | pl.Series) -> Lines:
        """Where the rows of a table stand that was made of these rows of this one."""
        return lambda wanted: self.lines([rows[row] for row in wanted])


def shortened(text: str) -> str:
    """A text as an error shows it: cut where it is very long."""
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


class Findings:
    """The problems of one file or table as they are found; :meth:`stop` raises them together.

    ``columns`` maps Assay's names to the user's own, which problems use. Of problems of one
    sort the first 1000 are listed and the others counted.
    """

    def __init__(self, raw: Raw | str | Path, columns: Columns | None = None) -> None:
        self.raw = raw if isinstance(raw, Raw) else Raw(pl.DataFrame(), str(raw))
        self.notes: list[Note] = list(self.raw.notes)
        self.problems: list[Problem] = []
        self._columns = dict(columns or {})
        self._counts: Counter[tuple[str | None, int]] = Counter()
        self._calls = 0

    def add(
        self, message: str, line: int | None = None, column: str | None = None, value: object = None
    ) -> None:
        """Add one problem; those of one column are of one sort."""
        value = None if value is None else shortened(str(value))
        self._counts[column, 0] += 1
        if self._counts[column, 0] <= MAX_LISTED:
            self.problems.append(Problem(message, line, column, value))

    def header(self, message: str, column: str) -> None:
        """Add a problem with a whole column, reported at the header."""
        line = None if self.raw.source == "frame" else 1
        self.add(message, line, self._columns.get(column, column))

    def rows(
        self, wrong: pl.Series, column: str, values: pl.Series, message: str | Callable[[str], str]
    ) -> None:
        """Add a problem for each row where ``wrong`` is true; ``{}`` stands for its value."""
        if not wrong.any():
            return
        places = wrong.fill_null(False).arg_true()
        self._calls += 1
        name = self._columns.get(column, column)
        listed = places[:MAX_LISTED].to_list()
        for row, line in zip(listed, self.raw.lines(listed), strict=True):
            value = "" if values[row] is None else shortened(str(values[row]))
            text = message(value) if callable(message) else message.replace("{}", value)
            self.problems.append(Problem(text, line, name, value))
        self._counts[name, self._calls] = len(places)

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

    Only the rows that ``only`` describes and the columns in ``names`` are kept. A Parquet file is
    searched for them, and nothing else of it is loaded.
    """
    if not isinstance(source, str | os.PathLike):
        if not isinstance(source, pl.DataFrame):
            from assay.tables.typed_files import from_pandas

            source = from_pandas(source)
        return _selected(_plainly_named(Raw(source, "frame")), only, names)
    path = Path(source)
    with library_errors(path):
        if is_plain_parquet(path):
            from assay.tables.typed_files import read_parquet

            return read_parquet(path, path, only=only, names=names)
        raw = _plainly_named(_load_file(path, text))
        need_cells(raw)
    return _selected(raw, only, names)


def _plainly_named(raw: Raw) -> Raw:
    names = raw.frame.columns
    if not any(map(is_pattern, names)):
        return raw
    plain = [plain_name(name) for name in names]
    need_distinct(plain, raw.source)
    return replace(raw, frame=raw.frame.rename(dict(zip(names, plain, strict=True))))


def _selected(raw: Raw, only: Only | None, names: Collection[str] | None) -> Raw:
    if not only and names is None:
        return raw
    from assay.tables.selection import select

    return select(raw, only, names)


@contextmanager
def library_errors(path: Path) -> Iterator[None]:
    """Turn whatever a library raises for a file that it cannot read into a sentence."""
    try:
        yield
    except (InputError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        from assay.tables.faults import refusal

        if (known := refusal(path, error)) is None:
            raise
        raise known from None


def _load_file(path: Path, text: Callable[[str], bool]) -> Raw:
    data = read_bytes(path)
    if not data:
        raise refuse(path, _EMPTY_FILE)
    ending = file_type(path)
    if ending not in (".tsv", ".csv"):
        from assay.tables.typed_files import READERS

        return READERS[ending](data, path)
    notes: tuple[Note, ...] = ()
    if not data.isascii():
        from assay.tables.irregular_text import in_utf8

        data, notes = in_utf8(data, path)
    raw = read_delimited(data, path, text)
    raw = replace(raw, notes=(*notes, *raw.notes)) if notes else raw
    if b"'" not in data:
        return raw
    from assay.tables.irregular_text import restored

    return restored(raw)


def is_plain_parquet(path: Path) -> bool:
    """Whether the file can be searched where it lies; a packed one must be unpacked first."""
    if path.suffix.lower() != ".parquet" or printable(path) != str(path):
        return False
    return path.is_file() and first_bytes(path, 4) == b"PAR1"


def file_type(path: Path) -> str:
    """The file type by the name's ending, without a trailing ``.gz``."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    ending = ALIASES.get(name.suffix.lower(), name.suffix.lower())
    if ending not in FILE_TYPES:
        from assay.tables.faults import unknown_type

        raise unknown_type(path, ending)
    return ending


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Refuse a file that cannot be read, and say why."""
    try:
        yield
    except TableError:
        raise
    except (OSError, ValueError) as error:
        from assay.tables.faults import unreadable

        raise unreadable(path, error) from None


def first_bytes(path: Path, size: int) -> bytes:
    """The beginning of a file."""
    with readable(path), path.open("rb") as file:
        return file.read(size)


def read_bytes(path: Path) -> bytes:
    """The file's content, unpacked if it is gzip."""
    with readable(path), path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        need_at_most(path, "bytes", size)
        if size:
            data = file.read(size + 1)
        else:
            from assay.tables.packed import read_pipe

            data = read_pipe(file, path)
    if data[:2] != b"\x1f\x8b":
        return data
    from assay.tables.packed import unpack

    return unpack(data, path)


def need_at_most(source: str | Path, what: str, found: int) -> None:
    """Refuse a file that holds more of something than the limit of that name allows."""
    most = getattr(LIMITS.get(), what)
    if found > most:
        from assay.tables.faults import over_the_limit

        raise over_the_limit(source, what, found, most)


def need_room(path: Path, needed: int, what: str) -> None:
    """Refuse a file that would fill memory out of all proportion to its size: a bomb."""
    size = path.stat().st_size if path.is_file() else 0
    if needed > max(FREE_BYTES, LIMITS.get().ratio * size):
        from assay.tables.faults import out_of_proportion

        raise out_of_proportion(path, needed, size, what)


def need_size(source: str | Path, rows: int, names: Sequence[str]) -> None:
    """Refuse a table of more rows, columns or cells, or longer names, than the limits allow."""
    need_at_most(source, "rows", rows)
    need_at_most(source, "columns", len(names))
    need_at_most(source, "cells", rows * len(names))
    need_at_most(source, "name", max((len(name.encode()) for name in names), default=0))
    for message in look_alikes(pl.Series(names, dtype=pl.String)):
        raise refuse(source, message, line=1)


def need_cells(raw: Raw) -> None:
    """Refuse a table that was read but is over the limits."""
    need_size(raw.source, raw.frame.height, raw.frame.columns)
    longest = raw.frame.select(pl.col(pl.String).str.len_bytes().max()).rows()
    need_at_most(raw.source, "cell", max((n or 0 for row in longest for n in row), default=0))


def look_alikes(names: pl.Series) -> Iterable[str]:
    """Messages about names that look alike but differ, such as é in one character and in two."""
    names = names.filter(names.str.len_bytes() != names.str.len_chars()).unique()
    if names.str.normalize("NFC").n_unique() == len(names):
        return ()
    from assay.tables.faults import twins

    return twins(names)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary file that replaces ``path`` when the block ends without an error.

    A reader, or a crash, sees the old file or the new one, never half of it. A link keeps
    pointing to the same place; a device or pipe is written to directly.
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
        fault = f"cannot be written ({error.strerror}); check the folder and the disk"
        raise refuse(path, fault) from None
    finally:
        with suppress(OSError):  # on a read-only disk there is nothing to remove, and no leave to
            temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> Path:
    """Write a file atomically, packed if its name ends in ``.gz``."""
    if path.suffix.lower() == ".gz":
        data = gzip.compress(data, mtime=0)  # no time stamp: the same table, the same bytes
    with atomic(path) as temporary:
        temporary.write_bytes(data)
    return path


def decode_utf8(data: bytes, source: str) -> str:
    """The text of a file in UTF-8, or in UTF-16 with its mark, without the byte-order mark."""
    if data[:2] not in (b"\xff\xfe", b"\xfe\xff", b"PK"):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8-sig")
    from assay.tables.irregular_text import decode_unusual

    return decode_unusual(data, source)


def read_delimited(data: bytes, path: Path, text: Callable[[str], bool]) -> Raw:
    """Read separated text; ``text`` tells the columns that are never numbers."""
    if b"\n" not in data and b"\r" in data:  # old Mac line ends
        data = data.replace(b"\r", b"\n")
    decode_utf8(data, str(path))
    while data.startswith(b"\xef\xbb\xbf"):  # joined files have several
        data = data[3:]
    if not data.strip():
        raise refuse(path, _EMPTY_FILE)
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
    """Tab for .tsv; for .csv the most frequent sign of the first line that has any: the header."""
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
        raise refuse(
            source, f"{fault}; put the column names on the first line and the data below it", line=1
        )
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
    return [plain_name(name) or f"column {i}" for i, name in enumerate(header, start=1)]


def is_pattern(name: str) -> bool:
    """Whether polars takes a name for a pattern of names."""
    return name.startswith("^") and name.endswith("$")


def plain_name(name: str) -> str:
    """A name without spaces around it, and without the sign that makes it a pattern.

    >>> plain_name(" MQM "), plain_name("^score$")
    ('MQM', 'score$')
    """
    name = name.strip(_BLANK)
    while is_pattern(name):
        name = name[1:].strip(_BLANK)
    return name


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
            if line != start and line.strip() and line.isascii() and b"'" not in line:
                header = clean_header(read_header(start, separator_of(start, path), path))
                if len(header) > 1:  # one cell may be a title
                    return header, source
            return load(source, text=lambda _: True).frame.columns, source
    raw = load(source, text=lambda _: True)
    return raw.frame.columns, raw


def column_names(source: Source) -> list[str]:
    """The columns a table has, without checking it."""
    return peek(source)[0]


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

    ``only`` describes the rows that are wanted, ``extra`` the columns besides those of the schema;
    None: all. Raises at once only where nothing more could be said (no columns, no rows).
    """
    schema = SCHEMAS[kind]
    users = dict(columns or {})
    if users:
        from assay.tables.selection import need_mapping

        need_mapping(users, schema)
    rows = {users.get(name, name): value for name, value in (only or {}).items()}
    names = None if extra is None else {*schema.names, *users.values(), *extra, *rows}
    if isinstance(source, Raw):
        raw = _selected(source, rows, names)
    else:
        raw = load(source, text=_text_columns(schema, users), only=rows, names=names)
    findings = Findings(raw, users)
    frame = raw.frame
    if users:
        from assay.tables.selection import renamed

        frame = renamed(frame, users, findings)
    missing = [name for name in schema.required if name not in frame.columns]
    for name in missing:
        if name not in users:
            from assay.tables.faults import missing_column

            findings.header(missing_column(name, frame, schema), name)
    if not frame.height:
        findings.add("the table has a header but no rows; add at least one")
    if missing or not frame.height:
        findings.stop()
    frame = _without_empty(frame, schema, findings)
    known = [_typed(frame, rule, findings) for rule in schema.columns if rule.name in frame]
    rest = [frame[name] for name in frame.columns if name not in schema.names]
    frame = pl.DataFrame([*known, *rest])
    if schema.again not in frame.columns:
        _need_unique(frame, schema, findings)
    _need_one_spelling(frame, schema, findings)
    return frame, findings


def _text_columns(schema: Schema, users: dict[str, str]) -> Callable[[str], bool]:
    # Unknown columns are text unless the table may have metrics, so that an id of 007 stays 007.
    numbers = {users.get(c.name, c.name) for c in schema.columns if c.type != "text"}
    texts = {users.get(c.name, c.name) for c in schema.columns if c.type == "text"}
    return lambda name: name in texts or (schema.kind != "scores" and name not in numbers)


def _without_empty(frame: pl.DataFrame, schema: Schema, findings: Findings) -> pl.DataFrame:
    """Drop optional columns without a single value: they say nothing."""
    parts = [rule.name for rule in schema.columns if rule.filled and not rule.required]
    empty = [name for name in parts if name in frame and to_text(frame[name]).is_in([""]).all()]
    if empty:
        text = f"empty in every row, read as if it were not there: {', '.join(empty)}"
        findings.notes.append(Note("empty-column", text))
    return frame.drop(empty)


def _typed(frame: pl.DataFrame, rule: ColumnRule, findings: Findings) -> pl.Series:
    """The column in its type, with every cell that does not fit reported."""
    values, name = frame[rule.name], rule.name
    if rule.type != "text":
        return _bounded(to_number(values, findings, name), rule, findings)
    if values.dtype in (pl.Binary, pl.Duration, pl.Object):
        findings.header(f"holds {values.dtype} values instead of text; convert them", name)
        return pl.Series(name, [""] * frame.height)
    typed = to_text(values)
    if rule.spellings and not typed.is_in(rule.choices).all():
        typed, notes = rule.respelled(typed)
        findings.notes += notes
    if rule.filled and name != "design":
        _need_names(typed, findings)
    empty = typed.is_null() | (typed == "")
    if rule.filled:
        findings.rows(empty, name, typed, EMPTY_CELL)
    if rule.choices and (wrong := ~empty & ~typed.is_in(rule.choices)).any():
        from assay.tables.faults import not_a_choice

        findings.rows(wrong, name, typed, not_a_choice(rule))
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


def to_text(values: pl.Series) -> pl.Series:
    """The column as strings; whole floats (a spreadsheet's 1.0) as whole numbers."""
    if values.dtype == pl.String:
        return values
    from assay.tables.numerals import as_written

    return as_written(values)


def to_number(values: pl.Series, findings: Findings, name: str) -> pl.Series:
    """The column as floats, null where the cell is empty; anything else is reported."""
    if values.dtype.is_numeric() or values.dtype == pl.Null:
        return values.cast(pl.Float64)
    if not (values.dtype == pl.String or isinstance(values.dtype, pl.Categorical | pl.Enum)):
        findings.header(f"has {values.dtype.base_type()} instead of numbers; convert them", name)
        return pl.Series(values.name, [None] * len(values), dtype=pl.Float64)
    from assay.tables.numerals import not_a_number

    words = values.cast(pl.String).str.strip_chars()
    empty = words.is_null() | words.str.to_lowercase().is_in(MISSING)
    number = words.cast(pl.Float64, strict=False)
    findings.rows(~empty & number.is_null(), name, values.cast(pl.String), not_a_number)
    return number


def _bounded(number: pl.Series, rule: ColumnRule, findings: Findings) -> pl.Series:
    name = rule.name
    refuse_infinite(number, name, findings)
    if rule.filled:
        findings.rows(number.is_null(), name, number, EMPTY_CELL)
    finite = number.is_finite()
    if rule.low is not None:
        low, high = rule.low, float("inf") if rule.high is None else rule.high
        wrong = (number <= low if rule.open_low else number < low) | (number > high)
        limits = f"{'(' if rule.open_low else '['}{low:g}, {high:g}{']' if rule.high else ')'}"
        findings.rows(finite & wrong, name, number, f"{{}} is outside {limits}; correct it")
    if rule.type == "whole":
        wrong = (number != number.round()) | (number.abs() > 2**53)
        findings.rows(finite & wrong, name, number, "{} is not a whole number; correct it")
        return number.cast(pl.Int64, strict=False)
    return number


def refuse_infinite(number: pl.Series, name: str, findings: Findings) -> None:
    """Report every value that is not finite, or too large or too small to compute with."""
    message = "{} is not a finite number; correct it or leave the cell empty"
    finite, size = number.is_finite(), number.abs()
    findings.rows(~finite, name, number, message)
    message = f"{{}} is larger than {LARGEST:g}; give it in another unit, or leave the cell empty"
    findings.rows(finite & (size > LARGEST), name, number, message)
    message = f"{{}} is smaller than {SMALLEST:g}; write 0, or give it in another unit"
    findings.rows(finite & (size < SMALLEST) & (number != 0), name, number, message)


def _need_unique(frame: pl.DataFrame, schema: Schema, findings: Findings) -> None:
    """Report every row whose key an earlier row has, with the line of the first."""
    keys = frame.select([name for name in schema.key if name in frame.columns])
    if keys.width and keys.n_unique() < frame.height:
        from assay.tables.faults import repeated_keys

        repeated_keys(frame, keys, schema, findings)


def _need_one_spelling(frame: pl.DataFrame, schema: Schema, findings: Findings) -> None:
    """Report names that differ in capitals or spaces alone: one must not become two."""
    for name in schema.spelled:
        if name not in frame:
            continue
        known = frame[name].drop_nulls().unique(maintain_order=True)
        form = known.str.to_lowercase()
        if schema.kind != "scores":  # spaces there have a note
            form = form.str.replace_all(r"\s+", " ").str.strip_chars()
        if form.n_unique() < len(known):
            from assay.tables.faults import spelled_twice

            spelled_twice(known, form, findings)
