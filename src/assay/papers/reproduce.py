"""The papers by name, and what all of them can do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from assay.engine import Workers
from assay.errors import OptionError, did_you_mean
from assay.papers.compare import Reproduction
from assay.stats.random import Rng

PAPERS = ("koehn2012", "korotaev2022", "lo2023", "saldias2022")


class PaperWork(Protocol):
    """The simulations and computations behind a paper's tables."""

    @property
    def steps(self) -> int:
        """How many records :meth:`run` yields."""
        ...

    def run(self) -> Iterator[Any]:
        """The records one by one, so that long work can be watched."""
        ...

    def finish(self, steps: Iterable[Any]) -> Reproduction:
        """The tables from the records."""
        ...


class Paper(Protocol):
    """A module with a paper's work."""

    def start(
        self,
        folder: str | Path,
        *,
        draws: int | None = None,
        rng: Rng = 13,
        workers: Workers = 1,
        figures: bool = False,
    ) -> PaperWork:
        """Read the folder and list the work; without ``draws``, the paper's default."""
        ...


def find_paper(paper: str) -> Paper:
    """The module of a paper.

    >>> find_paper("lo2023").__name__
    'assay.papers.lo2023.ours'
    """
    if paper not in PAPERS:
        raise OptionError(
            "paper", paper, f"is not known{did_you_mean(paper, PAPERS)}",
            f"choose from {', '.join(PAPERS)}",
        )  # fmt: skip
    return cast("Paper", import_module(f"assay.papers.{paper}.ours"))


def reproduce(
    paper: str, folder: str | Path, *, draws: int | None = None, rng: Rng = 13, workers: Workers = 1
) -> Reproduction:
    """Reproduce a paper's printed numbers on the data in a folder.

    A number whose data is not in the folder has the outcome ``no data`` and names the file that it
    needs; an empty folder gives nothing else.
    """
    work = find_paper(paper).start(folder, draws=draws, rng=rng, workers=workers)
    return work.finish(work.run())
