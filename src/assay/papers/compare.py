"""A paper's printed numbers beside ours: joined, marked, counted.

``<paper>/printed.csv`` has every printed number as data, a row per place where it stands:

- ``table``, ``row``, ``column``, ``value``, and for counts ``of`` how many;
- ``number``, the quantity: rows that share it print one number more than once, and it counts once;
- ``per``: the number it is divided by before it is compared (an error by the baseline's);
- ``rival``: the number, or the constant, that it must be told from: for a gain the method that does
  nothing. Where chance alone could take the one for the other, nothing can be told;
- ``mark``: ``grid`` where the paper searched a grid, so that ours must lie between the neighbours;
- ``needs``: the file that it is computed from.

``<paper>/ours.py`` computes ours. The mark is the printed rounding and two Monte-Carlo errors of
the difference, nothing else: within it a number is equal, beyond it different.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl

from assay.engine import Workers, run
from assay.errors import InputError, Problem, TableError
from assay.results import Note, Result, signature

Outcome = Literal["equal", "different", "cannot tell", "no data", "beside"]
OUTCOMES: tuple[Outcome, ...] = ("equal", "different", "cannot tell", "no data")
"""What becomes of a printed number; ``beside`` is what the paper does not print."""
MAX_ERRORS_APART = 2.0
"""Monte-Carlo errors of the difference within which two numbers are equal."""


class PrintedNumber(NamedTuple):
    """A row of ``printed.csv``; ``unit`` is the last place printed, ``digits`` its decimals."""

    table: str
    row: str
    column: str
    value: float
    unit: float
    digits: int
    number: str
    of: int | None = None
    per: str = ""
    rival: str = ""
    mark: str = ""
    needs: str = ""


class OurNumber(NamedTuple):
    """What was computed for a printed number.

    ``error`` is its Monte-Carlo error, None where nothing is drawn at random and NaN where too
    little was; ``paper_error`` what the paper's own draws leave open. ``per`` replaces our number
    of the same name as the divisor. ``needs`` names what is missing: the value, if there is one,
    is then of part of the data. ``reason`` says why it may differ, ``unclear`` why it cannot be
    compared.
    """

    value: float | None = None
    error: float | None = None
    paper_error: float = 0.0
    of: int | None = None
    per: float | None = None
    needs: str = ""
    reason: str = ""
    unclear: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """One place of a table: the paper's number, ours, and what comes of the comparison.

    ``matches`` is True where they are equal, False where they are different, else None. ``number``
    is the printed number that is counted; it is empty where the cell is ours alone or stands beside
    a printed number: another reading, or a quantity that follows from several.
    """

    table: str
    row: str
    column: str
    paper: float | None = field(default=None, kw_only=True)
    ours: float | None
    error: float | None = None
    _: KW_ONLY
    matches: bool | None = None
    outcome: Outcome = "beside"
    reason: str = ""
    note: str = ""
    number: str = ""
    paper_of: int | None = None
    ours_of: int | None = None
    digits: int | None = None

    def __post_init__(self) -> None:
        if self.error is not None and not math.isfinite(self.error):
            object.__setattr__(self, "error", None)


beside = PrintedCell
"""A cell that is not counted: ours alone, another reading, or derived from printed numbers."""


@dataclass(frozen=True, slots=True)
class TableOutcomes:
    """How many printed numbers of a table have each outcome; each counts where it stands first."""

    table: str
    equal: int
    different: int
    cannot_tell: int
    no_data: int


@dataclass(frozen=True, slots=True)
class ScatterPanel:
    """Points of a drawn figure with their best line, where a figure is wanted."""

    title: str
    metric: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    slope: float
    start: float
    distance: float


@dataclass(frozen=True, slots=True)
class Reproduction(Result, kind="reproduction", listing="tables"):
    """Every printed number of a paper beside ours, what became of it, and what is beyond them."""

    paper: str
    draws: int
    seed: int | None
    counts: dict[str, int]
    outcomes: tuple[TableOutcomes, ...]
    notes: tuple[Note, ...]
    tables: tuple[PrintedCell, ...]
    panels: tuple[ScatterPanel, ...] = ()

    @property
    def signature(self) -> str:
        """How these numbers came about, in one line."""
        return signature("reproduction", self.paper, draws=self.draws, seed=self.seed)

    def table(self, name: str) -> tuple[PrintedCell, ...]:
        """The cells of one table."""
        return tuple(cell for cell in self.tables if cell.table == name)


class PaperRequest(NamedTuple):
    """What is asked of a paper: on which data, with how many draws, by whom."""

    folder: Path
    draws: int
    seed: int | None
    rng: np.random.Generator
    workers: Workers
    figures: bool


@dataclass(frozen=True, eq=False)
class PaperWork:
    """What is simulated and computed for a paper's tables: ``finish(run())`` makes them."""

    data: Any
    runs: tuple[Any, ...]
    request: PaperRequest
    do: ClassVar[Any]
    """The function that does one of the runs; the same whoever calls it."""

    @property
    def steps(self) -> int:
        """How many records :meth:`run` yields."""
        return len(self.runs)

    def run(self) -> Iterator[Any]:
        """The records one by one, so that long work can be watched."""
        request = self.request
        return run(type(self).do, self.runs, rng=request.rng, workers=request.workers)

    def finish(self, steps: Iterable[Any]) -> Reproduction:
        """The tables from what :meth:`run` yielded."""
        raise NotImplementedError


@cache
def read_printed(paper: str) -> tuple[PrintedNumber, ...]:
    """The printed numbers of a paper, in its order.

    >>> read_printed("koehn2012")[0].value
    8.1
    """
    source = files("assay.papers").joinpath(paper, "printed.csv")
    lines = source.read_text(encoding="utf-8").splitlines()
    return tuple(_printed(row) for row in csv.DictReader(lines))


def printed_values(paper: str) -> dict[str, float]:
    """The printed numbers of a paper by their names."""
    return {item.number: item.value for item in read_printed(paper)}


def mean_error(values: np.ndarray) -> tuple[float, float]:
    """Mean over runs and its Monte-Carlo error, which a single run does not tell."""
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else math.nan
    return float(values.mean()), error


def _printed(row: dict[str, str]) -> PrintedNumber:
    whole, _, power = row["value"].partition("e")
    digits, texts = len(whole.partition(".")[2]), dict(row)
    value, of = float(texts.pop("value")), texts.pop("of")
    unit = 10.0 ** (int(power or 0) - digits)
    return PrintedNumber(**texts, value=value, unit=unit, digits=digits, of=int(of) if of else None)


def compare(
    paper: str,
    ours: Mapping[str, OurNumber],
    beside: Iterable[PrintedCell] = (),
    *,
    notes: Sequence[Note],
    request: PaperRequest,
    panels: Sequence[ScatterPanel] = (),
) -> Reproduction:
    """Join the printed numbers of a paper and ours by ``number``; then what stands beside them.

    A number that is not in ``ours`` has no data.
    """
    printed = read_printed(paper)
    by_number = {item.number: item for item in reversed(printed)}  # where it stands first
    by_number = dict(reversed(by_number.items()))
    marked = {number: _marked(item, by_number, ours) for number, item in by_number.items()}
    cells = []
    for item in printed:
        (outcome, reason), own = marked[item.number], ours.get(item.number, OurNumber())
        cells.append(PrintedCell(
            item.table, item.row, item.column, own.value, own.error, paper=item.value,
            matches={"equal": True, "different": False}.get(outcome), outcome=outcome,
            reason=reason, note=own.note, number=item.number, paper_of=item.of, ours_of=own.of,
            digits=item.digits,
        ))  # fmt: skip
    cells += beside
    tables = list(dict.fromkeys(cell.table for cell in cells))  # in the order they first come
    found: dict[str, list[Outcome]] = {}
    for item in by_number.values():
        found.setdefault(item.table, []).append(marked[item.number][0])
    counts = [sum(outcome == name for outcome, _ in marked.values()) for name in OUTCOMES]
    return Reproduction(
        paper,
        request.draws,
        request.seed,
        dict(zip(OUTCOMES, counts, strict=True)),
        tuple(TableOutcomes(name, *map(own.count, OUTCOMES)) for name, own in found.items()),
        tuple(notes),
        tuple(sorted(cells, key=lambda cell: tables.index(cell.table))),
        tuple(panels),
    )


def _marked(
    item: PrintedNumber, printed: Mapping[str, PrintedNumber], ours: Mapping[str, OurNumber]
) -> tuple[Outcome, str]:
    """The outcome of one printed number, with its reason."""
    own = ours.get(item.number, OurNumber())
    if own.value is None or own.needs:
        return "no data", f"needs {own.needs or item.needs}"
    if own.unclear:
        return "cannot tell", own.unclear
    if item.mark == "grid":
        return _on_grid(item, own, printed.values())
    divisor = OurNumber(1.0)
    if item.per:
        divisor = OurNumber(own.per) if own.per is not None else ours.get(item.per, OurNumber())
        if divisor.value is None:
            return "no data", f"needs {divisor.needs or printed[item.per].needs}"
    gap, width = _difference(item, own, printed.get(item.per), divisor)
    if not width <= _rival(item, printed) / 2:
        return "cannot tell", "the Monte-Carlo error and the printed rounding are too wide"
    if abs(gap) <= width + 1e-9:
        return "equal", ""
    return "different", own.reason or "further apart than chance explains"


def _difference(
    item: PrintedNumber, own: OurNumber, per: PrintedNumber | None, divisor: OurNumber
) -> tuple[float, float]:
    """Ours less the paper's, both per their divisors, and how large chance and rounding make it."""
    assert own.value is not None
    assert divisor.value is not None
    rounding, below = item.unit / 2, 1.0
    paper_error = own.paper_error
    if per is not None:
        below = per.value
        ratio = item.value / below
        rounding = abs(ratio) * (item.unit / abs(item.value) + per.unit / abs(below)) / 2
        paper_error = _ratio_error(item.value, own.paper_error, below, divisor.paper_error)
    error = _ratio_error(own.value, own.error or 0.0, divisor.value, divisor.error or 0.0)
    gap = own.value / divisor.value - item.value / below
    return gap, rounding + MAX_ERRORS_APART * math.hypot(error, paper_error)


def _ratio_error(value: float, error: float, below: float, below_error: float) -> float:
    """The error of a quotient by its first-order expansion."""
    return math.hypot(error / below, value * below_error / below**2)


def _rival(item: PrintedNumber, printed: Mapping[str, PrintedNumber]) -> float:
    """How far the number that it must be told from is; infinite where there is none."""
    if not item.rival:
        return math.inf
    below = printed[item.per].value if item.per else 1.0
    other = printed[item.rival].value if item.rival in printed else float(item.rival)
    return abs(item.value - other) / below


def _on_grid(
    item: PrintedNumber, own: OurNumber, printed: Iterable[PrintedNumber]
) -> tuple[Outcome, str]:
    """Ours must lie between the neighbours of the printed number on the paper's own grid.

    Beyond its last number the grid goes on in the same ratio.
    """
    assert own.value is not None
    grid = sorted({other.value for other in printed if other.mark == "grid"})
    grid = [0.0, *grid, grid[-1] ** 2 / grid[-2]]
    place = grid.index(item.value)
    low, high = grid[place - 1], grid[place + 1]
    if low < own.value < high:
        return "equal", ""
    side = "below" if own.value <= low else "above"
    where = f"{side} the paper's grid around it, {low:,.0f} to {high:,.0f}"
    return "different", own.reason or where


def no_data_note(paper: str) -> Note:
    """What is said of a folder in which there is nothing of a paper's data."""
    return Note("no-data", f"the folder has none of the files of {paper}: nothing was computed")


def read_parquet(path: Path, needed: Sequence[str]) -> pl.DataFrame:
    """A Parquet file with the columns that it must have."""
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: is not a Parquet file ({reason}); fetch it again") from None
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        problems = [Problem("the column is missing", column=name) for name in missing]
        raise TableError(str(path), problems)
    return frame
