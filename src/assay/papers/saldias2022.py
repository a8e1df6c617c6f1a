"""saldias2022: toward more effective human evaluation for machine translation.

Its readings: a simulation is one rater and one system, the reference left out; samples are 5 to
50 % of what the rater rated, 100 draws each; the error of a method is the mean of |estimate -
truth| over draws, simulations and sizes, and a win is a simulation and size at which it is lower
than the baseline's. Where raters are not named, each of three columns of single ratings stands
for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assay.engine import Workers
from assay.engine import run as engine_run
from assay.errors import OptionError
from assay.estimation.evaluate import evaluate_estimators
from assay.estimation.results import EvaluationRecord
from assay.papers.cells import Cell, Reproduction
from assay.papers.saldias2022_bounds import (
    BoundRecord,
    bound_cells,
    bound_steps,
    bound_work,
    try_bounds,
)
from assay.papers.saldias2022_data import Data, Source, Trial, read_folder
from assay.papers.saldias2022_description import (
    correlation_cells,
    rater_cells,
    rater_error_cells,
    scatter,
    scatter_cells,
    score_cells,
)
from assay.papers.saldias2022_numbers import DRAWS, SIZES
from assay.papers.saldias2022_tables import (
    TEST_METHODS,
    TRIED,
    beyond_cells,
    curve_cells,
    literal_cells,
    mean_cells,
    methods_for,
    ordering_cells,
    result_cells,
    test_cells,
)
from assay.papers.saldias2022_tally import Key, Tally
from assay.stats.random import Rng, seeded, spawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Run(NamedTuple):
    """The simulations of one rater on one file."""

    source: Source
    rater: str
    trial: Trial
    methods: tuple[str, ...]

    @property
    def steps(self) -> int:
        """How many records it yields."""
        return len(self.methods) * len(self.trial.test_set.systems) * len(SIZES)


Step = tuple[Run | None, EvaluationRecord | BoundRecord]


@dataclass(frozen=True, eq=False)
class Study:
    """The simulations behind the tables; ``finish(run())`` makes the tables."""

    data: Data
    runs: tuple[Run, ...]
    draws: int
    seed: int | None
    rng: np.random.Generator
    workers: Workers
    figures: bool

    @property
    def steps(self) -> int:
        """How many records :meth:`run` yields."""
        bounds = [bound_steps(corpus.raters) for corpus in self.data.development.values()]
        return sum(run.steps for run in self.runs) + sum(bounds)

    def run(self) -> Iterator[Step]:
        """Draw the samples: one record per method, rater, system and size, then the bounds."""
        *rngs, last = spawn(self.rng, len(self.runs) + 1)
        for run, rng in zip(self.runs, rngs, strict=True):
            records = evaluate_estimators(
                run.trial.test_set, run.trial.ratings, methods=run.methods, sizes=SIZES,
                draws=self.draws, rng=rng, workers=self.workers,
            )  # fmt: skip
            yield from ((run, record) for record in records)
        work = [
            cell
            for lp, corpus in self.data.development.items()
            for cell in bound_work(lp, corpus.raters, self.draws)
        ]
        bounds = engine_run(try_bounds, work, rng=last, workers=self.workers)
        yield from ((None, record) for record in bounds)

    def finish(self, steps: Iterable[Step]) -> Reproduction:
        """The tables from what :meth:`run` yielded."""
        single: dict[str, Tally] = {}
        means: dict[str, Tally] = {}
        tests: dict[Source, Tally] = {}
        bounds = []
        for run, record in steps:
            if isinstance(record, BoundRecord):
                bounds.append(record)
                continue
            assert run is not None
            if run.source.year != 20:
                tally = tests.setdefault(run.source, {})
            else:
                tallies = means if run.rater == "mean" else single
                tally = tallies.setdefault(run.source.name, {})
            key = Key(run.rater, record.system, record.size)
            tally.setdefault(record.method, {})[key] = record
        cells = tuple(self._cells(single, means, tests, bounds))
        notes = list(self.data.notes)
        if self.draws != DRAWS:
            notes.append(f"wins depend on the draws: the paper has {DRAWS}, these {self.draws}")
        return Reproduction("saldias2022", cells, tuple(notes), self.draws, self.seed)

    def _cells(
        self,
        single: dict[str, Tally],
        means: dict[str, Tally],
        tests: dict[Source, Tally],
        bounds: Sequence[BoundRecord],
    ) -> Iterator[Cell]:
        yield from result_cells(self.data, single)
        yield from bound_cells(self.data, bounds)
        yield from test_cells(self.data, tests)
        yield from rater_cells(self.data)
        yield from score_cells(self.data)
        yield from correlation_cells(self.data)
        yield from rater_error_cells(self.data, single)
        yield from mean_cells(self.data, means)
        yield from ordering_cells(single, "orderings")
        yield from ordering_cells(means, "orderings, means of raters")
        for tallies, reading in ((single, "single raters"), (means, "means")):
            yield from literal_cells(tallies, reading)
        for tallies, reading in ((single, "single raters"), (means, "means")):
            yield from beyond_cells(tallies, reading)
        if self.figures:
            yield from curve_cells(single, tests)
            yield from scatter_cells(self.data)

    def draw(self, result: Reproduction) -> dict[str, Figure]:
        """Figures 2-6 by name."""
        from assay.views.figures import draw_errors, draw_scatter

        figures = {}
        for number in (2, 3, 4, 5):
            rows = [_point(cell) for cell in result.tables.get(f"Figure {number}", ())]
            if rows:
                figures[f"saldias2022_figure{number}"] = draw_errors(rows)
        corpus = self.data.development.get("EnDe")
        panels = [] if corpus is None else scatter(corpus)
        if panels:
            figures["saldias2022_figure6"] = draw_scatter(panels)
        return figures


def start(
    folder: str | Path,
    *,
    draws: int | None = None,
    rng: Rng = 13,
    workers: Workers = 1,
    figures: bool = False,
) -> Study:
    """Read the folder and list the simulations; ``figures`` adds the curves of Figures 2-5.

    ``draws`` are 100 as in the paper unless given.
    """
    draws = DRAWS if draws is None else draws
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise OptionError("draws", draws, "is no number of samples", "give 1 or more")
    data = read_folder(Path(folder))
    generator, seed = seeded(rng)
    return Study(data, tuple(_runs(data)), draws, seed, generator, workers, figures)


def _runs(data: Data) -> Iterator[Run]:
    for corpus in data.development.values():
        methods = tuple(methods_for(corpus, TRIED))
        for trial in (*corpus.raters, corpus.mean):
            yield Run(corpus.source, trial.rater, trial, methods)
    for corpus in data.tests.values():
        for trial in corpus.raters:
            yield Run(corpus.source, trial.rater, trial, tuple(TEST_METHODS))


def _point(cell: Cell) -> dict[str, object]:
    """A cell of a curve as a row for drawing."""
    *pair, method = cell.row.split(" ")
    what, _, size = cell.column.partition(" at ")
    return {"pair": " ".join(pair), "method": method, "what": what,
            "size": float(size.rstrip("%")), "value": cell.ours, "error": cell.error}  # fmt: skip
