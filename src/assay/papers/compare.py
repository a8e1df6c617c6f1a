"""Join a paper's printed numbers with ours, mark each one and count the outcomes.

``<paper>/printed.csv`` holds the printed numbers, one row per table cell:

- ``table``, ``row``, ``column``, ``value``; for counts also ``of``, the total;
- ``number`` names the quantity: rows with the same name print one number twice, and it counts once;
- ``per`` names the number to divide by before comparing (an error by the baseline's error);
- ``rival`` is the number or constant that ours must be distinguishable from; for a gain it is the
  method that does nothing. If chance could explain either, the outcome is ``cannot tell``;
- ``mark`` is ``grid`` if the paper searched a grid: ours must then lie between the grid's
  neighbours of the printed number;
- ``needs`` names the file from which the number is computed.

``<paper>/ours.py`` computes our numbers. Two numbers are equal if they differ by at most half a
printed unit plus two Monte-Carlo errors of the difference; otherwise they are different.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from assay.engine import Workers, run
from assay.errors import InputError, Problem, TableError
from assay.results import Note, Result, signature

Outcome = Literal["equal", "different", "cannot tell", "no data", "beside"]
OUTCOMES: tuple[Outcome, ...] = ("equal", "different", "cannot tell", "no data")
"""The outcomes of a printed number; ``beside`` marks a cell that the paper does not print."""
MAX_ERRORS_APART = 2.0
"""Numbers this many Monte-Carlo errors of their difference apart still count as equal."""


class PrintedNumber(NamedTuple):
    """A row of ``printed.csv``: ``digits`` decimals are printed, the last one worth ``unit``."""

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
    """Our value of a printed number.

    ``error`` is its Monte-Carlo error: None if nothing is random, NaN after too few draws.
    ``paper_error`` is the error that the paper's own draws leave. ``per`` is a divisor that
    replaces our number of the name in ``printed.csv``. ``needs`` names missing data (a value, if
    any, then comes from part of the data). ``reason`` says why the value may differ from the
    paper's, ``unclear`` why the two cannot be compared.
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
    """One cell of a table: the paper's number, ours and the outcome.

    ``matches`` is True if they are equal, False if they are different, otherwise None. ``number``
    names the printed number that is counted. It is empty for cells that are not counted: ours
    alone, another reading of the paper, or a quantity derived from several printed numbers.
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


extra = PrintedCell
"""A cell that is not counted: ours alone, another reading, or derived from printed numbers."""


@dataclass(frozen=True, slots=True)
class TableOutcomes:
    """A table's printed numbers by outcome; a number counts in the table that prints it first."""

    table: str
    equal: int
    different: int
    cannot_tell: int
    no_data: int


@dataclass(frozen=True, slots=True)
class ScatterPanel:
    """One panel of a scatter plot: points, the fitted line and the mean distance from it."""

    title: str
    metric: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    slope: float
    start: float
    distance: float


@dataclass(frozen=True, slots=True)
class Reproduction(Result, kind="reproduction", listing="tables"):
    """Every printed number of a paper with ours and its outcome, then the cells not counted."""

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
    """The options of one reproduction: data, draws, seed, workers, and whether to draw figures."""

    folder: Path
    draws: int
    seed: int | None
    rng: np.random.Generator
    workers: Workers
    figures: bool


class Task(NamedTuple):
    """One independent piece of work: a function of a generator, and the key of its outcome."""

    key: tuple[Any, ...]
    do: Callable[[np.random.Generator], Any]


def do_task(task: Task, rng: np.random.Generator) -> tuple[tuple[Any, ...], Any]:
    """Do one task; it pickles, so that tasks can run in other processes."""
    return task.key, task.do(rng)


@dataclass(frozen=True, eq=False)
class PaperWork:
    """The data and the runs behind a paper's tables: ``finish(run())`` computes the tables."""

    data: Any
    runs: tuple[Any, ...]
    request: PaperRequest

    @property
    def steps(self) -> int:
        """The number of steps that :meth:`run` yields."""
        return len(self.runs)

    def run(self) -> Iterator[Any]:
        """Yield the steps one by one, so that a caller can show progress."""
        request = self.request
        return run(do_task, self.runs, rng=request.rng, workers=request.workers)

    def finish(self, steps: Iterable[Any]) -> Reproduction:
        """Make the tables from the steps that :meth:`run` yielded."""
        raise NotImplementedError


Values = Mapping[str, np.ndarray]
"""What simulated campaigns measured, by name; the first axis is the campaign."""


def pool_values(steps: Iterable[tuple[tuple[Any, ...], Values]]) -> dict[Any, Values]:
    """Join the values of all tasks with the same key."""
    parts: dict[Any, list[Values]] = {}
    for key, values in steps:
        parts.setdefault(key, []).append(values)
    return {
        key: {name: np.concatenate([part[name] for part in same]) for name in same[0]}
        for key, same in parts.items()
    }


@cache
def read_printed(paper: str) -> tuple[PrintedNumber, ...]:
    """The printed numbers of a paper, in the order of its tables.

    >>> read_printed("koehn2012")[0].value
    8.1
    """
    source = files("assay.papers").joinpath(paper, "printed.csv")
    lines = source.read_text(encoding="utf-8").splitlines()
    return tuple(_printed(row) for row in csv.DictReader(lines))


def printed_values(paper: str) -> dict[str, float]:
    """The printed numbers of a paper by name."""
    return {item.number: item.value for item in read_printed(paper)}


def mean_error(values: np.ndarray) -> tuple[float, float]:
    """The mean over runs and its Monte-Carlo error (NaN for a single run)."""
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
    extras: Iterable[PrintedCell] = (),
    *,
    notes: Sequence[Note],
    request: PaperRequest,
    panels: Sequence[ScatterPanel] = (),
) -> Reproduction:
    """Join a paper's printed numbers with ours by ``number`` and append the ``extras``.

    A number that is missing from ``ours`` has no data.
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
    cells += extras
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
    """The outcome of one printed number and its reason."""
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
    """Our ratio minus the paper's, and the largest gap that chance and rounding explain."""
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
    """The standard error of value / below, to first order."""
    return math.hypot(error / below, value * below_error / below**2)


def _rival(item: PrintedNumber, printed: Mapping[str, PrintedNumber]) -> float:
    """The distance to the rival, infinite without one."""
    if not item.rival:
        return math.inf
    below = printed[item.per].value if item.per else 1.0
    other = printed[item.rival].value if item.rival in printed else float(item.rival)
    return abs(item.value - other) / below


def _on_grid(
    item: PrintedNumber, own: OurNumber, printed: Iterable[PrintedNumber]
) -> tuple[Outcome, str]:
    """Equal if ours lies between the grid's neighbours of the printed number.

    The grid is that of all printed numbers marked so, continued beyond the last in the same ratio.
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
    """The note on a folder without any of a paper's files."""
    return Note("no-data", f"the folder has none of the files of {paper}: nothing was computed")


def read_parquet(path: Path, needed: Sequence[str]) -> pl.DataFrame:
    """Read a Parquet file; refuse it unless it has the columns ``needed``."""
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: is not a Parquet file ({reason}); fetch it again") from None
    need_table(path, [name for name in needed if name not in frame.columns])
    return frame


def need_table(path: Path, missing: Iterable[str], *faults: str) -> None:
    """Refuse a file with missing columns or other faults, naming all of them."""
    problems = [Problem("the column is missing", column=name) for name in missing]
    problems += [Problem(fault) for fault in faults]
    if problems:
        raise TableError(str(path), problems)
