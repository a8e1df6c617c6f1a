"""JSON lines: one object per line, the keys are the columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl

from assay.errors import Problem, TableError
from assay.tables.raw import Raw, decode_utf8


def read_jsonl(data: bytes, path: Path, text: Callable[[str], bool]) -> Raw:
    """Read JSON lines; every line that is not an object is reported."""
    content = decode_utf8(data, str(path))
    records: list[dict[str, object]] = []
    places: list[int] = []
    problems: list[Problem] = []
    for number, row in enumerate(content.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            record = json.loads(row)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", str(error))
            problems.append(
                Problem(
                    f"is not JSON ({reason}); write one object per line", number, None, row[:80]
                )
            )
            continue
        if "\\u" in row and not _is_text(record):
            problems.append(
                Problem(
                    "has half a character (a lone surrogate); correct it", number, None, row[:80]
                )
            )
            continue
        if not isinstance(record, dict):
            problems.append(
                Problem(
                    'is not a JSON object; write {"column": value, ...}', number, None, row[:80]
                )
            )
            continue
        records.append(record)
        places.append(number)
    if problems:
        raise TableError(str(path), problems, rows=len(records))
    names = list(dict.fromkeys(name for record in records for name in record))
    frame = pl.DataFrame(
        [_series(name, [record.get(name) for record in records]) for name in names]
    )
    return Raw(frame, str(path), lambda rows: [places[row] for row in rows])


def _is_text(value: object) -> bool:
    """Whether all strings inside can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _series(name: str, values: list[object]) -> pl.Series:
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
    return pl.Series(
        name,
        [v if v is None or isinstance(v, str) else json.dumps(v) for v in values],
        dtype=pl.String,
    )


def jsonl_bytes(frame: pl.DataFrame, path: Path) -> bytes:
    """The frame as JSON lines."""
    return frame.write_ndjson().encode()
