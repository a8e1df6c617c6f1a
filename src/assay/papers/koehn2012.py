"""koehn2012: simulating human judgment in machine translation evaluation campaigns.

Its readings are listed in :data:`assay.papers.koehn2012_numbers.READINGS`, and the result repeats
them; table ``readings`` has the numbers they rest on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay.engine import Workers
from assay.engine import run as engine_run
from assay.errors import OptionError
from assay.papers.cells import Cell, Reproduction
from assay.papers.koehn2012_data import FILE, Campaign, read_folder
from assay.papers.koehn2012_numbers import READINGS, printed_needs
from assay.papers.koehn2012_tables import (
    beyond_cells,
    curve_cells,
    error_cells,
    range_cells,
    ranking_cells,
    reading_cells,
    share_cells,
    sigma_cells,
    uniform_cells,
    win_ratio_cells,
)
from assay.papers.koehn2012_work import VARIANTS, Real, Record, Work, do_work
from assay.stats.random import Rng, seeded

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DRAWS = 200
MORE = 25
"""Campaigns of Figure 3 for each of Table 1: the paper has 10,000 and 400."""
AT_ONCE = {"ranges": 5, "errors": 250, "beyond": 100}
"""Campaigns in a piece of work."""
BEYOND = (10_000, 30_000)
"""Judgments of the campaigns that go beyond the paper."""


@dataclass(frozen=True, eq=False)
class Study:
    """The simulations behind the tables; ``finish(run())`` makes the tables."""

    data: dict[str, Campaign]
    work: tuple[Work, ...]
    draws: int
    seed: int | None
    rng: np.random.Generator
    workers: Workers
    figures: bool

    @property
    def steps(self) -> int:
        """How many records :meth:`run` yields."""
        return len(self.work)

    def run(self) -> Iterator[Record]:
        """Simulate and compute, one record per piece of work."""
        return engine_run(do_work, self.work, rng=self.rng, workers=self.workers)

    def finish(self, steps: Iterable[Record]) -> Reproduction:
        """The tables from what :meth:`run` yielded."""
        parts: dict[tuple[object, ...], list[dict[str, np.ndarray]]] = {}
        real: dict[str, Real] = {}
        for record in steps:
            if record.real is not None:
                real[record.work.pair] = record.real
            else:
                parts.setdefault(_key(record.work), []).append(record.values)
        pool = {
            key: {name: np.concatenate([part[name] for part in found]) for name in found[0]}
            for key, found in parts.items()
        }
        cells: list[Cell] = []
        cells += range_cells(pool)
        cells += ranking_cells(real)
        cells += share_cells(pool)
        cells += uniform_cells(pool, real)
        cells += sigma_cells(real)
        cells += error_cells(pool)
        cells += reading_cells(pool, real)
        cells += beyond_cells(pool, BEYOND)
        if self.figures:
            cells += [*win_ratio_cells(real), *curve_cells(real)]
        notes = READINGS if self.data else (*READINGS, f"no {FILE}: Tables 2 and 3 have no data")
        return Reproduction("koehn2012", tuple(cells), notes, self.draws, self.seed)

    def draw(self, result: Reproduction) -> dict[str, Figure]:
        """Figures 1-3 by name."""
        from assay.views.ranking import draw_curves, draw_error_curves, draw_win_ratios

        figures = {}
        ratios = [
            {"pair": cell.row, "system": cell.column, "ratio": cell.ours}
            for cell in result.tables.get("win ratios", ())
        ]
        if ratios:
            figures["koehn2012_figure1"] = draw_win_ratios(ratios)
        curves = [
            {"pair": cell.row, "what": what, "judgments": float(size), "share": cell.ours}
            for cell in result.tables.get("curves", ())
            for what, _, size in [cell.column.partition(" at ")]
        ]
        sigmas = {
            cell.row: cell.ours
            for cell in result.tables.get("Figure 2", ())
            if cell.column == "by curve"
        }
        if curves:
            figures["koehn2012_figure2"] = draw_curves(curves, sigmas)
        errors = [
            {"sigma": sigma, "method": cell.row, "judgments": float(cell.column.replace(",", "")),
             "error": cell.ours, "paper": cell.paper}
            for sigma, table in ((20, "Figure 3"), (10, "Figure 3, sigma 10"))
            for cell in result.tables[table]
        ]  # fmt: skip
        figures["koehn2012_figure3"] = draw_error_curves(errors)
        return figures


def start(
    folder: str | Path,
    *,
    draws: int | None = None,
    rng: Rng = 13,
    workers: Workers = 1,
    figures: bool = False,
) -> Study:
    """Read the folder and list the work; ``figures`` adds the points of Figures 1 and 2.

    ``draws`` campaigns are resampled for Table 1 (the paper has 400), and 25 times as many are
    simulated for its pairwise half and Figure 3, unless given 200. What is simulated needs no data.
    """
    draws = DRAWS if draws is None else draws
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 2:
        raise OptionError("draws", draws, "is no number of campaigns", "give 2 or more")
    data = read_folder(Path(folder))
    generator, seed = seeded(rng)
    work = tuple(_work(data, draws))
    return Study(data, work, draws, seed, generator, workers, figures)


def _work(data: dict[str, Campaign], draws: int) -> Iterator[Work]:
    for lp, campaign in data.items():
        yield Work("pair", campaign=campaign, pair=lp)
    for n, sigma, share, judgments in printed_needs():
        yield Work("share", sigma=sigma, judgments=judgments, systems=n, share=share)
        if (n, sigma) == (15, 10.0):
            yield Work("share", sigma=float(np.sqrt(sigma)), judgments=judgments)
    yield Work("share", judgments=13_000)
    for sigma in (10.0, 20.0):
        for part, total in _parts(MORE * draws, AT_ONCE["errors"]):
            # The exact order of fewest violations costs more than all else: a campaign in 25.
            yield Work("errors", part, sigma, exact=-(-draws * part // total))
    for size in BEYOND:
        for variant in VARIANTS:
            for part, _ in _parts(2 * draws, AT_ONCE["beyond"]):
                yield Work("beyond", part, variant=variant, judgments=size)
    for part, _ in _parts(draws, AT_ONCE["ranges"]):
        yield Work("ranges", part)


def _parts(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Campaigns of every piece of work, and of all together."""
    for start_at in range(0, total, size):
        yield min(size, total - start_at), total


def _key(work: Work) -> tuple[object, ...]:
    """What belongs together."""
    if work.kind == "share":
        return "share", work.systems, work.sigma, work.judgments
    if work.kind == "beyond":
        return "beyond", work.variant, work.judgments
    return work.kind, work.sigma
