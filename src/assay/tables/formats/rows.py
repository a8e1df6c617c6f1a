"""Rows gathered from a file that is no table, with the place each came from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard

import polars as pl

from assay.errors import Problem
from assay.tables.check import conform
from assay.tables.formats.faults import stop
from assay.tables.raw import Raw, refuse
from assay.tables.schema import SCHEMAS

SHOWN = 60
"""How much of a value an error message shows."""


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a JSON value is a whole number (true and false are none)."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether a JSON value is a number that fits a float."""
    if isinstance(value, float):
        return math.isfinite(value)
    return is_whole(value) and abs(value) < 1 << 1000


def shown(value: object) -> str:
    """A value as an error message shows it, cut short.

    >>> shown({"a": None}), shown("word")
    ('{"a": null}', '"word"')
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


class Rows:
    """The rows and the faults of one file as a reader finds them.

    ``kind`` is the kind of table; columns that stay empty are left out of the result.
    """

    def __init__(self, path: Path, kind: str) -> None:
        self.source = str(path)
        self.problems: list[Problem] = []
        self._schema = SCHEMAS[kind]
        self._rows: list[Mapping[str, Any]] = []
        self._lines: list[int] = []
        self._counts: dict[str, int] = {}
        self._told: set[str] = set()

    def add(self, line: int, row: Mapping[str, Any]) -> None:
        """One row and the line it stands on."""
        self._rows.append(row)
        self._lines.append(line)

    def fault(
        self, message: str, line: int | None, column: str | None = None, value: object = None
    ) -> None:
        """Something wrong with the file; reading goes on, to find the rest."""
        self.problems.append(
            Problem(message, line, column, None if value is None else shown(value))
        )

    def fault_once(self, message: str, line: int, column: str) -> None:
        """Something wrong with the file as a whole, told where it was first noticed."""
        if message not in self._told:
            self._told.add(message)
            self.fault(message, line, column)

    def count(self, what: str, number: int = 1) -> None:
        """Something that was left out on purpose; the notes say how often."""
        if number:
            self._counts[what] = self._counts.get(what, 0) + number

    def stop(self) -> None:
        """Raise if there were faults."""
        ordered = sorted(self.problems, key=lambda p: (p.line is None, p.line or 0))
        stop(self.source, ordered, rows=len(self._rows))

    def raw(self, *, nothing: str, notes: Sequence[str] = ()) -> Raw:
        """The table; ``nothing`` is the error where there is not one row."""
        self.stop()
        counts = [f"{what}: {number}" for what, number in self._counts.items()]
        if not self._rows:
            found = f" ({'; '.join(counts)})" if counts else ""
            raise refuse(self.source, nothing + found)
        columns = []
        for column in self._schema.columns:
            values = [row.get(column.name) for row in self._rows]
            if not column.required and all(value is None for value in values):
                continue
            if column.type == "text":
                values = [_text(value) for value in values]
            columns.append(typed(column.name, values))
        lines = self._lines
        return Raw(
            pl.DataFrame(columns),
            self.source,
            lambda rows: [lines[row] for row in rows],
            (*notes, *counts),
        )


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def typed(name: str, values: Sequence[Any]) -> pl.Series:
    """A column of JSON values: numbers if all are, else text for the checks to judge."""
    given = [value for value in values if value is not None]
    if all(is_whole(value) and -(2**63) <= value < 2**63 for value in given) and given:
        return pl.Series(name, values, dtype=pl.Int64)
    if given and all(is_number(value) or isinstance(value, float) for value in given):
        numbers = [None if value is None else float(value) for value in values]
        return pl.Series(name, numbers, dtype=pl.Float64)
    return pl.Series(name, [_text(value) for value in values], dtype=pl.String)


def checked(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """The frame with its columns in their types, or everything that is wrong with it."""
    typed_frame, findings = conform(frame, kind)
    findings.stop()
    return typed_frame
