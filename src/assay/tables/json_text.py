"""JSON as text and as columns: what a table can hold, and every line that is not JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from assay.tables.limits import LIMITS
from assay.tables.load import Findings

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
