"""The tables of Assay: which columns each has and what they must hold.

``docs/tables.md`` explains them to users; this module is what the readers go by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.errors import OptionError

Type = Literal["text", "number", "whole"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its type and the values it may hold."""

    name: str
    type: Type = "text"
    required: bool = False
    filled: bool = False
    """Whether every cell must have a value where the column exists."""
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    """Whether ``low`` itself is outside."""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """One table: its kind, its columns in order, and the columns that name a row."""

    kind: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All column names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the columns that must be there."""
        return tuple(column.name for column in self.columns if column.required)


def _key(name: str) -> Column:
    return Column(name, required=True, filled=True)


def _part(name: str) -> Column:
    return Column(name, filled=True)


def _amount(name: str) -> Column:
    return Column(name, "number", low=0)


_SCORES = Schema(
    "scores",
    (
        _key("system"),
        _part("doc"),
        _key("seg"),
        Column("source"),
        Column("target"),
        Column("reference"),
        _amount("words"),
        _amount("cost"),
        Column("domain"),
        _part("lp"),
    ),
    key=("lp", "system", "doc", "seg"),
)

_RATINGS = Schema(
    "ratings",
    (
        _key("system"),
        _part("doc"),
        _key("seg"),
        _part("rater"),
        Column("score", "number", required=True),
        _amount("seconds"),
        Column("check"),
        _part("lp"),
    ),
    key=("lp", "system", "doc", "seg", "rater", "check"),
)

_ERRORS = Schema(
    "errors",
    (
        _key("system"),
        _part("doc"),
        _key("seg"),
        _part("rater"),
        _key("category"),
        _key("severity"),
        Column("side", choices=("source", "target")),
        Column("start", "whole", low=0),
        Column("end", "whole", low=0),
        _part("lp"),
    ),
)

_JUDGMENTS = Schema(
    "judgments",
    (
        _part("set"),
        _part("doc"),
        _part("seg"),
        _part("rater"),
        _key("left"),
        _key("right"),
        Column("winner", required=True, filled=True, choices=("left", "right", "tie")),
        _part("lp"),
    ),
)

_EDITS = Schema(
    "edits",
    (
        _key("system"),
        _key("doc"),
        _key("seg"),
        _key("editor"),
        Column("source"),
        Column("mt", required=True),
        Column("edited", required=True),
        _amount("words"),
        _amount("seconds"),
        Column("position", "whole", low=1),
    ),
    key=("system", "doc", "seg", "editor"),
)

_SAMPLE = Schema(
    "sample",
    (
        _part("system"),
        _part("doc"),
        _key("seg"),
        Column("snippet"),
        Column("stratum"),
        Column("stratum_start", "whole", low=0),
        Column("stratum_size", "whole", low=1),
        Column("position", "number"),
        Column("order", "whole", low=1),
        Column("probability", "number", True, True, low=0, high=1, open_low=True),
        _key("design"),
        _part("lp"),
    ),
    key=("lp", "system", "doc", "seg"),
)

SCHEMAS = {
    schema.kind: schema for schema in (_SCORES, _RATINGS, _ERRORS, _JUDGMENTS, _EDITS, _SAMPLE)
}


def find_schema(kind: str) -> Schema:
    """The table of this kind, or an error that lists them."""
    if kind not in SCHEMAS:
        raise OptionError("kind", kind, "is not known", f"choose from {', '.join(SCHEMAS)}")
    return SCHEMAS[kind]


RESERVED = frozenset(name for schema in SCHEMAS.values() for name in schema.names)
"""Names that are never metrics."""
