"""The papers' tables from real data, ours beside the paper's, through public functions only.

Every paper is a module with ``start(folder, ...)``, which returns a study: ``run()`` yields its
records one by one, so that a long study can be watched, and ``finish(records)`` makes the tables.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from assay.errors import OptionError
from assay.papers.cells import Cell, Reproduction
from assay.stats.random import Rng
from assay.tables.check import did_you_mean

__all__ = ["PAPERS", "Cell", "Reproduction", "find_paper", "reproduce"]

PAPERS = ("lo2023",)


def find_paper(paper: str) -> Any:
    """The module of a paper.

    >>> find_paper("lo2023").__name__
    'assay.papers.lo2023'
    """
    if paper not in PAPERS:
        raise OptionError(
            "paper", paper, f"is not known{did_you_mean(paper, PAPERS)}",
            f"choose from {', '.join(PAPERS)}",
        )  # fmt: skip
    return import_module(f"assay.papers.{paper}")


def reproduce(
    paper: str, folder: str | Path, *, draws: int = 1000, rng: Rng = 13, workers: int = 1
) -> Reproduction:
    """Reproduce a paper's tables on the data in a folder.

    Cells whose data is not in the folder say which file they need.
    """
    study = find_paper(paper).start(folder, draws=draws, rng=rng, workers=workers)
    result: Reproduction = study.finish(study.run())
    return result
