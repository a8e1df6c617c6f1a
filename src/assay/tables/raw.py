"""A table as it was found: values and places, nothing checked yet.

:func:`load` finds the reader for a file type (one module each) or takes a frame; :func:`save`
writes a frame, whole or not at all. Everything else in this package works on :class:`Raw`.
"""

from __future__ import annotations

import gzip
import os
import secrets
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from assay.errors import Problem, TableError

if TYPE_CHECKING:
    import pandas as pd


Source: TypeAlias = "str | os.PathLike[str] | pl.DataFrame | pd.DataFrame"
"""Where a table may come from: a path, or a polars or pandas frame."""

Only: TypeAlias = Mapping[str, "str | None"]
"""Which rows are wanted: columns, and the value each must have (None: no value at all)."""

LISTED = 1000
"""How many rows with the same fault are listed one by one; the rest are counted."""

FILE_TYPES = (".tsv", ".csv", ".jsonl", ".parquet", ".xlsx")
ALIASES = {".txt": ".tsv", ".tab": ".tsv", ".ndjson": ".jsonl"}


@dataclass(frozen=True)
class Raw:
    """A table before any check.

    ``lines`` gives, for 0-based rows of ``frame``, the lines they stand on in the source;
    ``notes`` says what the reader had to do to read it; ``left`` names the columns that were not
    loaded because nobody needs them.
    """

    frame: pl.DataFrame
    source: str
    lines: Callable[[Sequence[int]], list[int]]
    notes: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def refuse(source: str, message: str, **place: Any) -> TableError:
    """The error for a file that cannot be read at all."""
    return TableError(source, [Problem(message, **place)])


def load(
    source: Source,
    *,
    text: Callable[[str], bool],
    only: Only | None = None,
    names: Collection[str] | None = None,
) -> Raw:
    """Read a file or take a frame; ``text`` tells the columns that are never numbers.

    Of the rows those that ``only`` describes, of the columns those in ``names``. A Parquet file is
    searched for them, and nothing else of it is loaded.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if is_plain_parquet(path):
            from assay.tables.parquet import read_parquet

            return read_parquet(path, path, only=only, names=names)
        raw = _load_file(path, text)
    elif isinstance(source, pl.DataFrame):
        raw = Raw(source, "frame", from_one)
    elif type(source).__module__.partition(".")[0] == "pandas":
        raw = Raw(_from_pandas(source), "frame", from_one)
    else:
        raise refuse(
            type(source).__name__, "is not a table; give a path, or a polars or pandas frame"
        )
    from assay.tables.only import keep_columns, keep_rows

    return keep_columns(keep_rows(raw, only or {}), names)


def _load_file(path: Path, text: Callable[[str], bool]) -> Raw:
    data = read_bytes(path)
    if not data:
        raise refuse(str(path), "the file is empty; write a header line with the column names")
    match file_type(path):
        case ".parquet":
            from assay.tables.parquet import read_parquet

            return read_parquet(data, path)
        case ".xlsx":
            from assay.tables.xlsx import read_xlsx as read
        case ".jsonl":
            from assay.tables.jsonl import read_jsonl as read
        case _:
            from assay.tables.delimited import read_delimited as read
    return read(data, path, text)


def is_plain_parquet(path: Path) -> bool:
    """Whether the file can be searched where it lies; one that is packed must be unpacked first."""
    return path.suffix.lower() == ".parquet" and path.is_file() and _head(path)[:4] == b"PAR1"


def _head(path: Path) -> bytes:
    with readable(path), path.open("rb") as file:
        return file.read(4)


def column_names(source: Source) -> list[str]:
    """The columns a table has, without checking it."""
    if isinstance(source, str | os.PathLike) and is_plain_parquet(Path(source)):
        from assay.tables.parquet import parquet_columns

        return parquet_columns(Path(source))
    return load(source, text=lambda _: True).frame.columns


def from_one(rows: Sequence[int]) -> list[int]:
    """The lines of a frame: its rows, counted from 1."""
    return [row + 1 for row in rows]


def file_type(path: Path) -> str:
    """The file type by the name's ending, a trailing ``.gz`` aside."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    ending = suffixes[-1] if suffixes else ""
    ending = ALIASES.get(ending, ending)
    if ending not in FILE_TYPES:
        known = " ".join(FILE_TYPES)
        raise refuse(
            str(path), f"file type '{ending}' is not known; use one of {known} (.gz may follow)"
        )
    return ending


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """A clear error where a file cannot be read."""
    try:
        yield
    except IsADirectoryError:
        raise refuse(str(path), "is a directory where a file belongs; name a file in it") from None
    except FileNotFoundError:
        raise refuse(str(path), f"there is no such file{_similar(path)}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise refuse(str(path), f"cannot be read: {reason}") from None


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
            str(path), f"the gzip file is damaged or cut off ({error}); fetch or pack it again"
        ) from None


def _similar(path: Path) -> str:
    from difflib import get_close_matches

    folder = path.parent if path.parent.is_dir() else None
    if folder is None:
        return f"; the folder '{path.parent}' does not exist either"
    close = get_close_matches(path.name, [item.name for item in folder.iterdir()], n=1)
    return f"; did you mean '{close[0]}'?" if close else "; check the path"


def _from_pandas(frame: Any) -> pl.DataFrame:
    """A polars frame without going through pyarrow; pandas' missing values become null."""
    names = [str(name) for name in frame.columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise refuse("frame", f"the column '{repeated[0]}' stands twice; rename one")
    columns = {}
    for position, name in enumerate(names):
        column = frame.iloc[:, position]
        missing = column.isna()
        values = column.astype(object).where(~missing, None).tolist()
        columns[name] = pl.Series(name, values, strict=False)
    return pl.DataFrame(columns)


def save(frame: pl.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Write a frame by the type of the path's ending, atomically."""
    target = Path(path)
    match file_type(target):
        case ".parquet":
            from assay.tables.parquet import parquet_bytes as to_bytes
        case ".xlsx":
            from assay.tables.xlsx import xlsx_bytes as to_bytes
        case ".jsonl":
            from assay.tables.jsonl import jsonl_bytes as to_bytes
        case _:
            from assay.tables.delimited import delimited_bytes as to_bytes
    return write_bytes(target, to_bytes(_flat(frame), target))


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists, structs and bytes as text: not every file type can hold them."""
    odd = [
        name
        for name, kind in frame.schema.items()
        if kind.is_nested() or kind in (pl.Binary, pl.Object)
    ]
    return frame.with_columns(
        pl.Series(name, [None if value is None else str(value) for value in frame[name].to_list()])
        for name in odd
    )


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary file that takes the place of ``path`` when the block ends without an error.

    A reader, or a crash, sees the old file or the new one, never half of it. A link keeps
    pointing where it did; a device or pipe is written to directly.
    """
    path = path.resolve()
    if not path.parent.is_dir():
        raise refuse(str(path), f"the folder '{path.parent}' does not exist; make it first")
    if path.is_dir():
        raise refuse(str(path), "is a directory where a file belongs; name a file in it")
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
            str(path), f"cannot be written ({error.strerror}); check the folder and the disk"
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
        raise TableError(source, list(_encoding_faults(data))) from None


def _encoding_faults(data: bytes) -> Iterator[Problem]:
    found = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            found += 1
            if found > LISTED:
                continue
            byte = line[error.start]
            yield Problem(
                f"byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"
                f" (as Windows-1252 it would be '{bytes([byte]).decode('cp1252', 'replace')}')",
                number,
                None,
                line[max(0, error.start - 20) : error.start + 20].decode("utf-8", "replace"),
            )
    if found > LISTED:
        yield Problem(f"{found - LISTED} more lines are not UTF-8")
