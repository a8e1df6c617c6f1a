"""Which columns each table has and what they must hold; ``docs/tables.md`` explains it to users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import polars as pl

from assay.errors import need_known
from assay.results import Note


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """One column: its type and the values it may hold."""

    name: str
    type: Literal["text", "number", "whole"] = "text"
    required: bool = False
    filled: bool = False
    """Whether every cell must have a value where the column exists."""
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    """Whether ``low`` itself is outside."""
    choices: tuple[str, ...] = ()
    spellings: tuple[Mapping[str, str], ...] = ()
    """Other ways to write the choices; a column uses one of them throughout."""

    def respelled(self, values: pl.Series) -> tuple[pl.Series, list[Note]]:
        """The column in Assay's words, where all of it is written in others; a note says which."""
        found = set(values.drop_nulls().str.strip_chars().unique()) - {""}
        for words in self.spellings:
            # With 0 and 1 alone it is unknown whether 0 is a tie or the other system's win.
            if found and found <= words.keys() and not ("0" in found and "2" not in found):
                read = ", ".join(f"{word} as {words[word]}" for word in words)
                text = f"{self.name}: {read} was assumed"
                if "<" in words:
                    text += (
                        " (< ranks before, as in WMT's data); where < is worse, swap left and right"
                    )
                return values.str.strip_chars().replace(words), [Note("values-read", text)]
        return values, []


@dataclass(frozen=True, slots=True)
class Schema:
    """One table: its kind, its columns in order, and the columns that name a row."""

    kind: str
    columns: tuple[ColumnRule, ...]
    key: tuple[str, ...] = ()
    again: str | None = None
    """The column of those who may answer again: where it is there, a key may stand twice."""
    spelled: tuple[str, ...] = ()
    """The columns whose names must not differ in capitals or spaces alone."""
    names: tuple[str, ...] = field(init=False)
    """All column names, in order."""
    required: tuple[str, ...] = field(init=False)
    """The names of the columns that must be there."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(column.name for column in self.columns))
        needed = tuple(column.name for column in self.columns if column.required)
        object.__setattr__(self, "required", needed)


_key = partial(ColumnRule, required=True, filled=True)
_part = partial(ColumnRule, filled=True)
_amount = partial(ColumnRule, type="number", low=0)
_whole = partial(ColumnRule, type="whole", low=0)
_text = ColumnRule
_SIDE = ColumnRule("side", choices=("source", "target"))
_WINNER = ColumnRule(
    "winner", required=True, filled=True, choices=("left", "right", "tie"),
    spellings=({"<": "left", ">": "right", "=": "tie"}, {"1": "left", "2": "right", "0": "tie"}),
)  # fmt: skip
_PROBABILITY = ColumnRule("probability", "number", True, True, low=0, high=1, open_low=True)

SCHEMAS = {
    schema.kind: schema
    for schema in (
        Schema("scores", (
            _key("system"), _part("doc"), _key("seg"), _text("source"), _text("target"),
            _text("reference"), _amount("words"), _amount("cost"), _text("domain"), _part("lp"),
        ), key=("lp", "system", "doc", "seg"), spelled=("system",)),
        Schema("ratings", (
            _key("system"), _part("doc"), _key("seg"), _part("rater"), _text("task"),
            ColumnRule("score", "number", required=True), _amount("seconds"), _text("check"),
            _text("repeat"), _part("lp"),
        ), key=("lp", "system", "doc", "seg", "rater", "check"), again="rater",
            spelled=("system", "rater")),
        Schema("errors", (
            _key("system"), _part("doc"), _key("seg"), _part("rater"), _key("category"),
            _key("severity"), _SIDE, _whole("start"), _whole("end"), _part("lp"),
        )),
        Schema("judgments", (
            _part("set"), _part("doc"), _part("seg"), _part("rater"), _key("left"), _key("right"),
            _WINNER, _part("lp"),
        )),
        Schema("edits", (
            _key("system"), _key("doc"), _key("seg"), _key("editor"), _text("source"),
            ColumnRule("mt", required=True), ColumnRule("edited", required=True),
            _amount("words"), _amount("seconds"), _whole("position", low=1),
        ), key=("system", "doc", "seg", "editor"), spelled=("system", "editor")),
        Schema("sample", (
            _part("system"), _part("doc"), _key("seg"), _text("snippet"), _text("stratum"),
            _whole("stratum_start"), _whole("stratum_size", low=1),
            ColumnRule("position", "number"), _whole("order", low=1), _PROBABILITY, _key("design"),
            _part("lp"),
        ), key=("lp", "system", "doc", "seg")),
    )
}  # fmt: skip

RESERVED = frozenset(name for schema in SCHEMAS.values() for name in schema.names)
"""Names that are never metrics."""


def find_schema(kind: str) -> Schema:
    """The table of this kind, or an error that lists them."""
    if kind not in SCHEMAS:
        need_known("kind", kind, list(SCHEMAS))
    return SCHEMAS[kind]
