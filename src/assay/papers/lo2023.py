"""lo2023: data sampling and (in)stability in machine translation evaluation.

Its readings: the coverage of a pair is the mean over the systems that chrF scores and WMT
annotated of the share of distinct segments annotated; a ranking has changed if any two systems
stand in another order than on the whole test set; simulated samples have the size that the
paper's coverage makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay.engine import Workers
from assay.errors import OptionError
from assay.papers.cells import Cell, Reproduction
from assay.papers.lo2023_data import Data, read_folder
from assay.papers.lo2023_numbers import COVERAGE, METRICS
from assay.papers.lo2023_tables import (
    DESIGN_OF,
    Run,
    beyond_cells,
    budget_cells,
    change_cells,
    coverage_cells,
    length_cells,
    usable,
)
from assay.sampling.stability import stability
from assay.sampling.trial import StabilityRecord
from assay.stats.random import Rng, seeded, spawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DRAWS = 1000
BUDGETS = ("10%", "20%", "30%", "40%", "50%", "60%", "70%", "80%", "90%")
"""The budgets of the figure of stability."""

BEYOND = tuple(
    Run("chrF", design, matched, "WD", year=20)
    for design in ("WD", "SL", "DB-linear", "DB")
    for matched in (False, True)
)
"""The decomposition the paper lacks: every design with and without matching."""

SWEPT = (("WD", False), ("WD", True), ("DB-linear", True), ("DB", True), ("SL", True))


@dataclass(frozen=True, eq=False)
class Study:
    """The simulations behind the tables; ``finish(run())`` makes the tables."""

    data: Data
    runs: tuple[Run, ...]
    draws: int
    seed: int | None
    rng: np.random.Generator
    workers: Workers

    @property
    def steps(self) -> int:
        """How many records :meth:`run` yields."""
        return sum(len(usable(self.data, run)) for run in self.runs)

    def run(self) -> Iterator[tuple[Run, StabilityRecord]]:
        """Draw the samples: one record per simulation and language pair."""
        for run, rng in zip(self.runs, spawn(self.rng, len(self.runs)), strict=True):
            found = usable(self.data, run)
            shares = COVERAGE[run.of]
            budgets = {str(pair): run.budget or f"{shares[pair]}%" for pair in found}
            # One call per name of the metric's column, which is the same in all files but COMET's.
            names = {str(pair): item.column(run.metric) or "" for pair, item in found.items()}
            for name in dict.fromkeys(names.values()):
                sets = {str(p): i.test_set for p, i in found.items() if names[str(p)] == name}
                records = stability(
                    sets,
                    designs=[run.design],
                    budget=budgets,
                    metric=name,
                    draws=self.draws,
                    matched=run.matched,
                    rng=rng,
                    workers=self.workers,
                )
                yield from ((run, record) for record in records)

    def finish(self, steps: Iterable[tuple[Run, StabilityRecord]]) -> Reproduction:
        """The tables from what :meth:`run` yielded."""
        records: dict[Run, list[StabilityRecord]] = {}
        for run, record in steps:
            records.setdefault(run, []).append(record)
        cells: list[Cell] = []
        for table in DESIGN_OF:
            cells += change_cells(self.data, records, table)
        cells += length_cells(self.data, records)
        cells += coverage_cells(self.data)
        cells += beyond_cells(records, BEYOND)
        cells += budget_cells(records, self.runs)
        notes = (*self.data.notes, *_from_documents(self.data))
        return Reproduction("lo2023", tuple(cells), notes, self.draws, self.seed)

    def draw(self, result: Reproduction) -> dict[str, Figure]:
        """The figures by name: lengths (the paper's Figure 1) and stability by budget."""
        from assay.views.figures import draw_lengths, draw_stability

        figures = {}
        lengths = [
            {"pair": lp, "sample": sample, "length": cell.column, "share": cell.ours}
            for cell in result.tables.get("Table 4", ())
            for lp, _, sample in [cell.row.partition(" ")]
            if sample in ("full", "DF", "DB") and cell.ours is not None
        ]
        if lengths:
            figures["lo2023_lengths"] = draw_lengths(lengths)
        changes = [
            {"design": cell.row, "budget": float(cell.column.rstrip("%")), "changed": cell.ours,
             "error": cell.error}
            for cell in result.tables.get("budgets", ())
        ]  # fmt: skip
        if changes:
            figures["lo2023_stability"] = draw_stability(changes)
        return figures


def start(
    folder: str | Path,
    *,
    draws: int | None = None,
    rng: Rng = 13,
    workers: Workers = 1,
    figures: bool = False,
) -> Study:
    """Read the folder and list the simulations; ``figures`` adds those of the stability figure.

    The paper ran everything 13 times with the seed 13; ``draws`` are 1000 unless given, and
    the first 13 of them are taken for what the paper reports.
    """
    draws = DRAWS if draws is None else draws
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise OptionError("draws", draws, "is no number of samples", "give 1 or more")
    data = read_folder(Path(folder))
    generator, seed = seeded(rng)
    runs = tuple(run for run in _runs(BUDGETS if figures else ()) if usable(data, run))
    return Study(data, runs, draws, seed, generator, workers)


def _runs(budgets: Sequence[str]) -> Iterator[Run]:
    """Every simulation, each once."""
    for design in DESIGN_OF.values():
        for metric in METRICS:
            yield Run(metric, design, matched=design == "DF", of=design)
            yield Run(metric, "DB-linear", matched=True, of=design)
            yield Run(metric, "DB", matched=True, of=design)
    everywhere = {("WD", False), ("DB-linear", True), ("DB", True)}
    yield from (run for run in BEYOND if (run.design, run.matched) not in everywhere)
    for budget in budgets:
        for design, matched in SWEPT:
            yield Run("chrF", design, matched, "WD", year=20, budget=budget)


def _from_documents(data: Data) -> list[str]:
    """Which metrics are known by document only."""
    notes = []
    for metric in METRICS:
        pairs = [
            str(pair)
            for pair, item in data.documents.items()
            if metric in item.metrics and data.find(pair, metric) is None
        ]
        if pairs:
            notes.append(
                f"{metric}: scores of documents only in {len(pairs)} pairs ({pairs[0]}, ...), which"
                " serve whole documents and no snippets"
            )
    return notes
