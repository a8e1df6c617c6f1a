"""Tables with typed cells: JSON lines, Parquet, Excel and pandas frames.

- **JSON lines**: one object per line, the keys are the columns.
- **Parquet** is searched where it lies: only the rows and columns asked for are loaded.
- **Excel**: the first sheet with a table, and others with the same columns; a title may stand above
  the column names. A cell holds at most 32,767 characters and about 16 digits; what does not fit is
  refused, never cut. Empty text and an empty cell are the same thing in a sheet.
"""

from __future__ import annotations

import io
import json
import logging
import math
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl

from assay.errors import InputError
from assay.results import Note
from assay.tables.layout import TOP_ROWS, Top, stacked, top_of
from assay.tables.limits import LIMITS
from assay.tables.load import (
    CELL_BYTES,
    Findings,
    Only,
    Raw,
    decode_utf8,
    file_type,
    is_pattern,
    library_errors,
    lines_at,
    need_at_most,
    need_distinct,
    need_room,
    need_size,
    plain_name,
    refuse,
    write_bytes,
)
from assay.tables.packed import DamagedError, need_sound_workbook, quietly, unpacked_size
from assay.tables.selection import condition, no_rows, only_note

ROW = "_assay_row"
MAX_ROWS, MAX_TEXT = 1_048_575, 32_767
"""What an Excel sheet and one of its cells hold."""


def read_jsonl(data: bytes, path: Path) -> Raw:
    """Read JSON lines; every line that is not an object is reported."""
    records: list[dict[str, object]] = []
    places: list[int] = []
    findings, names = Findings(path), dict[str, None]()
    text = decode_utf8(data, str(path))
    for number, record in json_lines(text, findings, "write one object per line"):
        if isinstance(record, dict):
            names.update(dict.fromkeys(record))
            need_at_most(path, "columns", len(names))
            records.append(record)
            places.append(number)
        else:
            message = 'is not a JSON object; write {"column": value, ...}'
            findings.add(message, number, None, json.dumps(record)[:80])
    findings.stop(rows=len(records))
    need_size(path, len(records), list(names))
    need_room(path, 2 * CELL_BYTES * len(records) * len(names), "its cells, most of them empty")
    frame = pl.DataFrame(
        [json_column(name, [record.get(name) for record in records]) for name in names]
    )
    return Raw(frame, str(path), lines_at(places))


def read_parquet(
    source: bytes | Path, path: Path, *, only: Only | None = None,
    names: Collection[str] | None = None,
) -> Raw:  # fmt: skip
    """Read Parquet from its bytes or where it lies; types are the file's own."""
    if isinstance(source, bytes) and source[:4] != b"PAR1":
        raise refuse(path, "is not a Parquet file (it does not begin with PAR1); check its ending")
    with _undamaged(path):
        table = _scan(source)
        odd = {name: plain_name(name) for name in table.collect_schema() if is_pattern(name)}
        table = table.rename(odd) if odd else table
        schema = dict(table.collect_schema())
        kept = [name for name in schema if names is None or name in names]
        left = tuple(name for name in schema if name not in kept)
        _need_sound_parquet(table, kept, path, whole=not only)
        _need_small_pages(source, path)
        if not only:
            frame = table.select(kept).collect()
            _need_short_texts(frame, path)
            return Raw(_as_text(frame), str(path), left=left)
        wanted = condition(only, schema)
        frame = table.with_row_index(ROW).filter(wanted).select(ROW, *kept).collect()
        if not frame.height:
            raise no_rows(only, table)
        note = only_note(only, frame.height, table.select(pl.len()).collect().item())
    _need_short_texts(frame, path)
    lines = lines_at(frame[ROW] + 1)
    return Raw(_as_text(frame.drop(ROW)), str(path), lines, (note,), left)


def _need_sound_parquet(table: pl.LazyFrame, kept: list[str], path: Path, *, whole: bool) -> None:
    """Refuse a file whose footer promises more than its size can hold."""
    rows = table.select(pl.len()).collect().item()
    if whole:
        need_size(path, rows, kept)
    need_at_most(path, "columns", len(kept))
    # Rows that are alike take next to nothing in such a file.
    need_room(path, CELL_BYTES // 2 * rows * len(kept), f"{rows:,} rows of {len(kept)} cells")


def _need_small_pages(source: bytes | Path, path: Path) -> None:
    """Refuse a file whose pages unpack to far more than its size."""
    try:
        size = unpacked_size(source)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        reason = error if isinstance(error, DamagedError) else "a structure is not complete"
        raise refuse(path, f"is damaged or cut off ({reason}); fetch or save it again") from None
    need_room(path, size, "its pages")


def _need_short_texts(frame: pl.DataFrame, path: Path) -> None:
    """Refuse long texts that are written once and stand in many rows: tables have them in each."""
    total = 0
    for values in frame:
        if values.dtype == pl.String:
            total += int(values.str.len_bytes().sum())
        elif isinstance(values.dtype, pl.Categorical | pl.Enum):
            total += int(values.cat.len_bytes().sum())
    need_room(path, total, "the texts of its cells")


def _as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Bytes that are text, as many programs write it, become text."""
    texts = []
    for name in [name for name, kind in frame.schema.items() if kind == pl.Binary]:
        with suppress(pl.exceptions.PolarsError):
            texts.append(frame[name].cast(pl.String))
    return frame.with_columns(texts)


def parquet_columns(path: Path) -> list[str]:
    """The columns of a file, by its footer."""
    with _undamaged(path):
        return list(_scan(path).collect_schema())


def parquet_values(path: Path, column: str, only: Only) -> list[str | None]:
    """The values of one column in the rows ``only`` describes, as text, in order of appearance."""
    with _undamaged(path):
        table = _scan(path)
        if only:
            table = table.filter(condition(only, dict(table.collect_schema())))
        # Where a value stands first: cheaper than keeping the order of all rows.
        values = (
            table.select(pl.col(column).cast(pl.String).alias("value"))
            .with_row_index(ROW)
            .group_by("value")
            .agg(pl.col(ROW).min())
            .sort(ROW)
            .collect(engine="streaming")["value"]
            .to_list()
        )
    if not values:
        raise no_rows(only, _scan(path))
    return values


def _scan(source: bytes | Path) -> pl.LazyFrame:
    if isinstance(source, bytes):
        return pl.scan_parquet(io.BytesIO(source))
    # A name is a name: signs like * in it mean nothing, and neither does a folder called lp=en-de.
    return pl.scan_parquet(source, glob=False, hive_partitioning=False)


@contextmanager
def _undamaged(path: Path) -> Iterator[None]:
    with library_errors(path), quietly():
        yield


def parquet_bytes(frame: pl.DataFrame, path: Path) -> bytes:
    """The frame as Parquet."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def read_xlsx(data: bytes, path: Path) -> Raw:
    """Read the first sheet that has a table, and all others with its columns.

    A column with any text in it is read as text. Where several sheets are one table, its column
    ``sheet`` says which row is whose.
    """
    import fastexcel

    if data[:2] != b"PK":
        raise refuse(
            path, "is not an .xlsx workbook; save it as .xlsx, or give it its right ending"
        )
    need_sound_workbook(data, path)
    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns of empty columns
    try:
        with quietly():
            return _of_workbook(fastexcel.read_excel(data), path)
    except fastexcel.FastExcelError as error:
        reason = str(error).splitlines()[0]
        if "column type" in reason:
            kinds = reason.partition("{")[2].rstrip("}") or reason
            raise refuse(
                path, f"a column has cells of different kinds ({kinds}); make them all numbers or"
                " all text",
            ) from None  # fmt: skip
        raise refuse(path, f"the workbook is damaged or empty ({reason}); save it again") from None


def _of_workbook(workbook: Any, path: Path) -> Raw:
    """The sheets of a workbook that are one table."""
    tops = [
        top_of(workbook.load_sheet(
            sheet, header_row=None, skip_rows=0, n_rows=TOP_ROWS, dtypes="string"
        ).to_polars().rows())
        for sheet in range(len(workbook.sheet_names))
    ]  # fmt: skip
    headers = [top.names for top in tops]
    first = next((k for k, names in enumerate(headers) if len(names) > 1), 0)
    need_distinct(headers[first], str(path))
    same = [k for k, names in enumerate(headers) if {*names} == {*headers[first]}]
    found = {k: (workbook.sheet_names[k], *_rows_below(workbook, k, tops[k])) for k in same}
    ours = [k for k in same if found[k][1].height] or [first]
    read = [found[k] for k in ours]
    notes = tops[first].notes
    if others := [name for k, name in enumerate(workbook.sheet_names) if k not in ours]:
        of = f"the workbook has {len(tops)} sheets; only "
        what = "the first" if ours == [0] else ", ".join(name for name, *_ in read)
        left = "" if ours == [0] else f" (not {', '.join(others)})"
        were = "were" if len(ours) > 1 else "was"
        notes += (Note("first-sheet", f"{of}{what} {were} read{left}"),)
    if len(read) == 1:
        return Raw(read[0][1], str(path), lines_at(read[0][2]), notes)
    frame = stacked([(name, frame) for name, frame, _ in read], "sheet")
    lines = [line for *_, lines in read for line in lines]
    places = () if "sheet" in headers[first] else ("sheet",)
    text = f"{len(read)} sheets with the same columns are one table: "
    notes += (Note("sheets-joined", text + ", ".join(name for name, *_ in read)),)
    return Raw(frame, str(path), lines_at(lines), notes, places=places)


def _rows_below(workbook: Any, sheet: int, top: Top) -> tuple[pl.DataFrame, list[int]]:
    """The rows of a sheet below its header that have anything in them, and their lines."""
    if top.rows == 1:
        read = workbook.load_sheet(sheet, header_row=top.place, schema_sample_rows=None)
    else:
        read = workbook.load_sheet(
            sheet, header_row=None, skip_rows=top.place + top.rows, column_names=top.names,
            schema_sample_rows=None,
        )  # fmt: skip
    frame = read.to_polars()
    blank = pl.all_horizontal(pl.lit(True), pl.all().is_null())
    kept = frame.select(~blank).to_series().arg_true().to_list()
    return frame[kept], [place + top.place + top.rows + 1 for place in kept]


def xlsx_bytes(frame: pl.DataFrame, path: Path) -> bytes:
    """The frame as a workbook; text stays text even if it looks like a formula or a link."""
    import xlsxwriter

    if frame.height > MAX_ROWS:
        raise refuse(
            path,
            f"{frame.height:,} rows do not fit into a sheet (at most {MAX_ROWS:,} do); write .tsv"
            " or .parquet",
        )
    for name in frame.columns:
        if frame.schema[name] == pl.String and (frame[name].str.len_chars() > MAX_TEXT).any():
            message = f"text of over {MAX_TEXT:,} characters does not fit into a cell"
            raise refuse(path, f"{message}; write .tsv or .parquet", column=name)
    buffer = io.BytesIO()
    workbook = xlsxwriter.Workbook(buffer, {"in_memory": True})
    sheet = workbook.add_worksheet("table")
    for column, name in enumerate(frame.columns):
        sheet.write_string(0, column, name)
        kind = frame.schema[name]
        write = sheet.write_number if kind.is_numeric() else sheet.write_string
        write = sheet.write_boolean if kind == pl.Boolean else write
        for row, value in enumerate(frame[name], start=1):
            if isinstance(value, float) and not math.isfinite(value):
                sheet.write_string(row, column, str(value))  # a sheet has no such numbers
            elif value is not None:
                plain = isinstance(value, int | float | str)
                write(
                    row,
                    column,
                    value if plain else float(value) if kind.is_numeric() else str(value),
                )
    workbook.close()
    return buffer.getvalue()


def from_pandas(frame: Any) -> pl.DataFrame:
    """A pandas frame as a polars frame, without pyarrow; missing values become null."""
    if type(frame).__module__.partition(".")[0] != "pandas":
        message = "is not a table; give a path, or a polars or pandas frame"
        raise refuse(type(frame).__name__, message)
    names = [str(name) for name in frame.columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise refuse("frame", f"the table has '{repeated[0]}' twice; rename one")
    columns = [frame.iloc[:, position] for position in range(len(names))]
    values = [column.astype(object).where(column.notna(), None).tolist() for column in columns]
    return pl.DataFrame(
        [pl.Series(name, cells, strict=False) for name, cells in zip(names, values, strict=True)]
    )


READERS: dict[str, Callable[[bytes, Path], Raw]] = {
    ".jsonl": read_jsonl, ".parquet": read_parquet, ".xlsx": read_xlsx,
}  # fmt: skip
WRITERS: dict[str, Callable[[pl.DataFrame, Path], bytes]] = {
    ".jsonl": lambda frame, _: frame.write_ndjson().encode(), ".parquet": parquet_bytes,
    ".xlsx": xlsx_bytes,
}  # fmt: skip


def save(frame: pl.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Write a frame by the type of the path's ending, atomically."""
    target = Path(path)
    ending, flat = file_type(target), _flat(frame)
    if ending in (".tsv", ".csv"):
        from assay.tables.irregular_text import defused

        text = defused(flat).write_csv(separator="\t" if ending == ".tsv" else ",")
        return write_bytes(target, text.encode())
    return write_bytes(target, WRITERS[ending](flat, target))


@contextmanager
def aside(folder: Path) -> Iterator[Path]:
    """A new folder whose files move into ``folder`` when the block ends without an error."""
    made, part = not folder.exists(), folder / f".{secrets.token_hex(4)}.part"
    try:
        part.mkdir(parents=True)
        yield part
        for path in sorted(part.iterdir()):
            path.replace(folder / path.name)
    except OSError as error:
        raise InputError(f"{folder}: no folder can be made there ({error.strerror})") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        if made:
            with suppress(OSError):  # it has files
                folder.rmdir()


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists, structs and bytes as text: not every file type can hold them."""
    return frame.with_columns(
        pl.Series(name, [None if value is None else str(value) for value in frame[name].to_list()])
        for name, kind in frame.schema.items()
        if kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration)
    )


TOO_DEEP = "is nested more deeply than a table can hold; make it flat"
_HALF_PAIR = re.compile(r"(?i)(?<!\\)\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\)\\ud[c-f]")
_HALF = "holds half a character (a lone surrogate, \\ud800 to \\udfff); correct it"


class JsonError(Exception):
    """Text that is not the JSON it should be, from this line of it on."""

    def __init__(self, message: str, line: int | None) -> None:
        self.line = line
        super().__init__(message)


def parse_json(text: str, remedy: str) -> Any:
    """The JSON value. Escapes can write half a surrogate pair, which no text or table can hold."""
    try:
        value = json.loads(text)
        if _too_deep(text, value):
            raise RecursionError
        whole = "\\u" not in text or is_text(value)
    except RecursionError:
        raise JsonError(TOO_DEEP, None) from None
    except ValueError as error:
        reason, line = getattr(error, "msg", str(error)), getattr(error, "lineno", None)
        raise JsonError(f"is not JSON ({reason}); {remedy}", line) from None
    if not whole:
        half = _HALF_PAIR.search(text)
        raise JsonError(_HALF, text.count("\n", 0, half.start()) + 1 if half else None)
    return value


def json_lines(text: str, findings: Findings, remedy: str) -> Iterator[tuple[int, Any]]:
    """The values of a text with one per line, with their lines; every other line is reported."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, parse_json(line, remedy)
            except JsonError as error:
                findings.add(str(error), number, None, line[:80])


def _too_deep(text: str, value: object) -> bool:
    """Whether values of this JSON text are nested more deeply than the limit allows."""
    most = LIMITS.get().nesting
    if text.count("[") + text.count("{") <= most:
        return False
    level = [value]
    for _ in range(most):
        inner = [
            v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list)
        ]
        level = [item for items in inner for item in items]
    return any(isinstance(item, dict | list) for item in level)


def is_text(value: object) -> bool:
    """Whether all strings inside can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def as_text(value: object) -> str | None:
    """A JSON value as the text of a cell."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def json_column(name: str, values: Sequence[object]) -> pl.Series:
    """Numbers stay numbers; a column with anything else becomes text, to be checked as such."""
    kinds = {type(value) for value in values if value is not None}
    numbers = [value for value in values if isinstance(value, int | float)]
    fits = all(isinstance(value, float) or -(2**63) <= value < 2**63 for value in numbers)
    if kinds == {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds == {int} and fits:
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds and kinds <= {int, float} and fits:
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    return pl.Series(name, [as_text(value) for value in values], dtype=pl.String)
