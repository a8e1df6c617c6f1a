"""JSON files and JSON lines: read with the line of every fault, written whole or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from assay.errors import Problem
from assay.tables.formats import Options
from assay.tables.formats.faults import stop
from assay.tables.formats.lines import read_text
from assay.tables.raw import Raw, refuse, write_bytes

_HALF_PAIR = re.compile(r"(?i)(?<!\\)\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\)\\ud[c-f]")


Reader = Callable[[Path, str, Options], Raw]


def bounded(read: Reader) -> Reader:
    """A reader that refuses values nested so deeply that they cannot even be shown."""

    @wraps(read)
    def bounded_read(path: Path, kind: str, options: Options) -> Raw:
        try:
            return read(path, kind, options)
        except RecursionError:
            raise refuse(str(path), "holds JSON that is nested too deeply to be read") from None

    return bounded_read


def read_json(path: Path) -> Any:
    """A file with one JSON value."""
    text = read_text(path, expected="one JSON value")
    try:
        value = json.loads(text)
        _need_characters(value, text)
    except _HalfPairError:
        found = _HALF_PAIR.search(text)
        line = text.count("\n", 0, found.start()) + 1 if found else None
        raise refuse(str(path), _HALF, line=line) from None
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        reason = getattr(error, "msg", None) or type(error).__name__
        raise refuse(
            str(path), f"is not JSON ({reason}); expected one JSON value", line=line
        ) from None
    return value


def read_json_lines(path: Path) -> list[tuple[int, Any]]:
    """The JSON values of a file with one per line, with their lines; blank lines are passed over.

    Every line that is not JSON is reported.
    """
    values: list[tuple[int, Any]] = []
    problems = []
    text = read_text(path, expected="a JSON object per line")
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            _need_characters(value, line)
        except _HalfPairError:
            problems.append(Problem(_HALF, number, None, line[:80]))
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", None) or type(error).__name__
            problems.append(
                Problem(f"is not JSON ({reason}); expected one object", number, None, line[:80])
            )
        else:
            values.append((number, value))
    stop(str(path), problems, rows=len(values))
    return values


_HALF = "holds half a character (a lone surrogate, \\ud800 to \\udfff); export the file again"


class _HalfPairError(Exception):
    """A string that is not text."""


def _need_characters(value: Any, text: str) -> None:
    """JSON escapes can write half a surrogate pair, which no text file or table can hold."""
    if "\\u" not in text:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _HalfPairError from None


def write_json(value: Any, path: Path) -> Path:
    """Write one JSON value, readable for people too, atomically."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return write_bytes(path, text.encode())
