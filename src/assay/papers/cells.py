"""A paper's numbers and ours, cell by cell: what every reproduction returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import polars as pl

from assay.results import result_dict, signature


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table: the paper's number, ours, and whether they agree.

    ``paper`` is None where the paper has no number (ours goes beyond it, or it prints a dash),
    ``ours`` where the folder lacks the data, which the note then names. ``matches`` is None where
    the two cannot be compared, for instance because ours covers fewer language pairs. ``error``
    is the Monte-Carlo error of ours. Counts say of how many: ``paper_of``, ``ours_of``. ``digits``
    are the decimals worth showing.
    """

    table: str
    row: str
    column: str
    paper: float | None
    ours: float | None
    error: float | None = None
    matches: bool | None = None
    note: str = ""
    paper_of: int | None = None
    ours_of: int | None = None
    digits: int | None = None

    @property
    def outcome(self) -> str:
        """In a word: equal, different, not comparable, no data, beyond the paper, empty in both."""
        if self.matches is not None:
            return "equal" if self.matches else "different"
        if self.ours is None:
            return "empty" if self.paper is None else "no data"
        return "beyond" if self.paper is None else "not comparable"


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Every cell of a paper's tables beside ours, and what is beyond them."""

    paper: str
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]
    draws: int
    seed: int | None

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return signature("reproduction", self.paper, draws=self.draws, seed=self.seed)

    @property
    def tables(self) -> dict[str, tuple[Cell, ...]]:
        """The cells by table, in the order of the paper."""
        names = dict.fromkeys(cell.table for cell in self.cells)
        return {name: tuple(self._of(name)) for name in names}

    def _of(self, table: str) -> Iterator[Cell]:
        return (cell for cell in self.cells if cell.table == table)

    def counts(self) -> dict[str, int]:
        """How many cells have each outcome."""
        outcomes = [cell.outcome for cell in self.cells]
        known = ("equal", "different", "not comparable", "no data", "beyond", "empty")
        return {name: outcomes.count(name) for name in known}

    def to_frame(self) -> pl.DataFrame:
        """One row per cell."""
        types = {
            "table": pl.String, "row": pl.String, "column": pl.String,
            "paper": pl.Float64, "ours": pl.Float64, "error": pl.Float64,
            "matches": pl.Boolean, "note": pl.String,
            "paper_of": pl.Int64, "ours_of": pl.Int64,
            "digits": pl.Int64,
        }  # fmt: skip
        names = [field.name for field in fields(Cell)]
        rows = [[getattr(cell, name) for name in names] for cell in self.cells]
        return pl.DataFrame(rows, schema={name: types[name] for name in names}, orient="row")

    def to_dict(self) -> dict[str, object]:
        """The JSON object of ``assay reproduce``."""
        return result_dict(
            "reproduction",
            self.signature,
            paper=self.paper,
            draws=self.draws,
            seed=self.seed,
            counts=self.counts(),
            notes=self.notes,
            tables=self.cells,
        )
