"""korotaev2022: picking out the best MT model by post-editing homogeneous documents.

Its readings are listed in :data:`assay.papers.korotaev2022_numbers.READINGS`, and the result
repeats them; table ``readings`` and the tables ``as described`` have the numbers they rest on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay.effort.results import EditorEffort
from assay.engine import run as engine_run
from assay.errors import OptionError
from assay.papers.cells import Cell, Reproduction
from assay.papers.korotaev2022_data import CORPUS, SEGMENTS, Data, read_folder
from assay.papers.korotaev2022_numbers import DOCUMENTS, ENGINES, READINGS
from assay.papers.korotaev2022_tables import (
    aggregate_cells,
    footnote_cells,
    piece_cells,
    place_cells,
    relative_cells,
    selection_cells,
    table_1_cells,
)
from assay.papers.korotaev2022_verdicts import (
    beyond_cells,
    chance_cells,
    hypothesis_cells,
    reading_cells,
)
from assay.papers.korotaev2022_work import Edited, Record, Selection, Work, do_work
from assay.stats.random import Rng, seeded

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DRAWS = 200
AT_ONCE = 10
"""Campaigns in a piece of work."""


@dataclass(frozen=True, eq=False)
class Study:
    """The work behind the tables; ``finish(run())`` makes the tables."""

    data: Data
    work: tuple[Work, ...]
    draws: int
    seed: int | None
    rng: np.random.Generator
    workers: int
    figures: bool

    @property
    def steps(self) -> int:
        """How many records :meth:`run` yields."""
        return len(self.work)

    def run(self) -> Iterator[Record]:
        """Compute and simulate, one record per piece of work."""
        return engine_run(do_work, self.work, rng=self.rng, workers=self.workers)

    def finish(self, steps: Iterable[Record]) -> Reproduction:
        """The tables from what :meth:`run` yielded."""
        selection: Selection | None = None
        edited: Edited | None = None
        reason = ""
        parts: dict[str, list[np.ndarray]] = {}
        for record in steps:
            selection, edited = record.selection or selection, record.edited or edited
            reason = record.reason or reason
            for name, values in record.values.items():
                parts.setdefault(name, []).append(values)
        chances = {name: np.concatenate(found) for name, found in parts.items()}
        cells: list[Cell] = []
        cells += table_1_cells(selection, reason)
        cells += selection_cells(selection, reason)
        cells += footnote_cells()
        cells += relative_cells(edited)
        cells += aggregate_cells(edited)
        cells += place_cells(edited)
        cells += hypothesis_cells(edited)
        cells += reading_cells(edited)
        cells += chance_cells(chances)
        cells += beyond_cells(edited)
        if self.figures and selection is not None:
            cells += piece_cells(selection)
        return Reproduction("korotaev2022", tuple(cells), self._notes(), self.draws, self.seed)

    def _notes(self) -> tuple[str, ...]:
        missing = []
        if self.data.corpus is None:
            missing.append(f"no {CORPUS}: Table 1 and section 3.2 have no data")
        if self.data.edits is None:
            missing.append(f"no {SEGMENTS}: Tables 2 to 4 and the figures have no data")
        return (*READINGS, *missing)

    def draw(self, result: Reproduction) -> dict[str, Figure]:
        """Figures 1-4 by name, and the pieces with their kit."""
        from assay.views.effort import draw_aggregate, draw_averages, draw_effort_by_editor

        tables, figures = result.tables, {}
        if self.data.edits is not None:
            for name, table, rows in (
                ("figure1", "Table 2", DOCUMENTS.values()), ("figure3", "Table 3", ENGINES),
            ):  # fmt: skip
                parts = {
                    row: {cell.column: cell.ours for cell in tables[table] if cell.row == row}
                    for row in rows
                }
                figures[f"korotaev2022_{name}"] = draw_aggregate(parts)
            averages = {
                row: [cell.ours or 0.0 for cell in tables["Figure 2"] if cell.row == row]
                for row in DOCUMENTS.values()
            }
            figures["korotaev2022_figure2"] = draw_averages(averages, interval="83 % interval")
            figures["korotaev2022_figure4"] = draw_effort_by_editor(
                _by_editor(tables["Figure 4"]), ENGINES,
                label="effort, sum of 3 ratios to the editor's mean",
            )  # fmt: skip
        if "pieces" in tables:
            figures["korotaev2022_pieces"] = _draw_pieces(tables)
        return figures


def _by_editor(cells: Iterable[Cell]) -> list[EditorEffort]:
    """Figure 4's cells as rows of effort."""
    rows = []
    for cell in cells:
        editor, document, system = cell.row.rsplit(", ", 2)
        total = float("nan") if cell.ours is None else cell.ours
        rows.append(EditorEffort(editor, document, system, {}, total))
    return rows


def _draw_pieces(tables: dict[str, tuple[Cell, ...]]) -> Figure:
    """The cells of pieces as a figure."""
    from assay.views.kits import draw_pieces

    places: dict[str, list[float]] = {}
    for cell in tables["pieces"]:
        places.setdefault(cell.row, []).append(cell.ours or 0.0)
    chosen = list(dict.fromkeys(int(cell.row) for cell in tables["pieces"] if cell.note == "kit"))
    knee = next(cell.ours for cell in tables["section 3.2"] if cell.column == "knee")
    return draw_pieces(
        [(first, second) for first, second in places.values()], [chosen] if chosen else [],
        [cell.ours or 0.0 for cell in tables["distances"]], {"knee": knee},
    )  # fmt: skip


def start(
    folder: str | Path,
    *,
    draws: int | None = None,
    rng: Rng = 13,
    workers: int = 1,
    figures: bool = False,
) -> Study:
    """Read the folder and list the work; ``figures`` adds the points of the pieces' figure.

    ``draws`` campaigns of six editors and two equally good engines are simulated (200 unless
    given), to see how often chance gives what the paper saw. The paper's own numbers need none.
    """
    draws = DRAWS if draws is None else draws
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 2:
        raise OptionError("draws", draws, "is no number of campaigns", "give 2 or more")
    data = read_folder(Path(folder))
    generator, seed = seeded(rng)
    work = []
    if data.corpus is not None:
        work.append(Work("selection", corpus=data.corpus))
    if data.edits is not None:
        work.append(Work("edited", edits=data.edits))
    work += [Work("chance", min(AT_ONCE, draws - done)) for done in range(0, draws, AT_ONCE)]
    return Study(data, tuple(work), draws, seed, generator, workers, figures)
