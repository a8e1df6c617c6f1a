"""The papers' tables from real data, ours beside the paper's, through public functions only.

Every paper is a module with ``start(folder, ...)``, which returns a :class:`Study`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from assay.engine import Workers
from assay.errors import OptionError, did_you_mean
from assay.papers.cells import Cell, Reproduction
from assay.stats.random import Rng

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PAPERS", "Cell", "Paper", "Reproduction", "Study", "find_paper", "reproduce"]

PAPERS = ("koehn2012", "korotaev2022", "lo2023", "saldias2022")


class Study(Protocol):
    """The simulations behind a paper's tables."""

    @property
    def steps(self) -> int:
        """How many records :meth:`run` yields."""
        ...

    def run(self) -> Iterator[Any]:
        """The records one by one, so that a long study can be watched."""
        ...

    def finish(self, steps: Iterable[Any]) -> Reproduction:
        """The tables from the records."""
        ...

    def draw(self, result: Reproduction) -> dict[str, Figure]:
        """The figures by name, of a study started with ``figures=True``."""
        ...


class Paper(Protocol):
    """A module with a paper's study."""

    def start(
        self,
        folder: str | Path,
        *,
        draws: int | None = None,
        rng: Rng = 13,
        workers: Workers = 1,
        figures: bool = False,
    ) -> Study:
        """Read the folder and list the simulations; without ``draws``, the paper's default."""
        ...


def find_paper(paper: str) -> Paper:
    """The module of a paper.

    >>> find_paper("lo2023").__name__
    'assay.papers.lo2023'
    """
    if paper not in PAPERS:
        raise OptionError(
            "paper", paper, f"is not known{did_you_mean(paper, PAPERS)}",
            f"choose from {', '.join(PAPERS)}",
        )  # fmt: skip
    return cast("Paper", import_module(f"assay.papers.{paper}"))


def reproduce(
    paper: str, folder: str | Path, *, draws: int | None = None, rng: Rng = 13, workers: Workers = 1
) -> Reproduction:
    """Reproduce a paper's tables on the data in a folder.

    Cells whose data is not in the folder say which file they need.
    """
    study = find_paper(paper).start(folder, draws=draws, rng=rng, workers=workers)
    return study.finish(study.run())
