"""Repeat work: one cell after another, or on several processes, with the same results.

Every sweep of Assay is a list of *cells* and a function ``work(cell, rng) -> record``. Each cell
has its own random generator, spawned in the order of the cells, and records come back in that
order: a sweep gives the same records whoever computes them, and can be read while it runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from assay.errors import OptionError
from assay.stats.random import Rng, as_rng, spawn

__all__ = ["available_workers", "run"]

Cell = TypeVar("Cell")
Record = TypeVar("Record")


def run(
    work: Callable[[Cell, np.random.Generator], Record],
    cells: Sequence[Cell],
    *,
    rng: Rng = None,
    workers: int = 1,
) -> Iterator[Record]:
    """Yield ``work(cell, rng)`` for every cell, in order.

    ``workers`` processes share the cells; 1 works in this process and 0 means one per core.

    >>> list(run(lambda cell, rng: cell * 2, [1, 2, 3]))
    [2, 4, 6]
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 0:
        raise OptionError(
            "workers", workers, "is no number of processes", "give 1 or more, or 0 for one per core"
        )
    generators = spawn(as_rng(rng), len(cells))
    workers = workers or available_workers()
    if min(workers, len(cells)) <= 1:
        return (work(cell, own) for cell, own in zip(cells, generators, strict=True))
    return _processes(work, cells, generators, workers)


def available_workers() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processes(
    work: Callable[[Cell, np.random.Generator], Record],
    cells: Sequence[Cell],
    generators: Sequence[np.random.Generator],
    workers: int,
) -> Iterator[Record]:
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=workers, return_as="generator")
    yield from pool(delayed(work)(cell, own) for cell, own in zip(cells, generators, strict=True))
