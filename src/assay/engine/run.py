"""Which worker does what: serially, on processes, or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from assay.errors import OptionError
from assay.stats.random import Rng, as_rng, spawn

Cell = TypeVar("Cell")
Cell_co = TypeVar("Cell_co", covariant=True)
Record = TypeVar("Record")


class Cells(Protocol[Cell_co]):
    """The cells of a sweep: a list, or something that makes them one by one as they are needed."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Cell_co]: ...


@dataclass(frozen=True, slots=True)
class Cluster:
    """A dask cluster by the address of its scheduler; wherever ``workers`` is asked for.

    >>> Cluster("tcp://10.0.0.1:8786")
    Cluster(address='tcp://10.0.0.1:8786')
    """

    address: str

    def __post_init__(self) -> None:
        _, _, place = str(self.address).rpartition("://")
        host, _, port = place.rpartition(":")
        if not isinstance(self.address, str) or not host or not port.isdigit():
            raise OptionError(
                "scheduler", self.address, "is no address", "write tcp://HOST:8786, as dask says it"
            )


Workers: TypeAlias = int | Cluster
"""Who does the work: so many processes (0: one per core), or a cluster."""


def run(
    work: Callable[[Cell, np.random.Generator], Record],
    cells: Cells[Cell],
    *,
    rng: Rng = None,
    workers: Workers = 1,
) -> Iterator[Record]:
    """Yield ``work(cell, rng)`` for every cell, in order.

    ``workers`` processes share the cells; 1 works in this process and 0 means one per core. A
    :class:`Cluster` does them on its machines. Neither the work nor whoever makes the cells may
    change arrays that cells share: on other processes that is refused or not seen.

    >>> list(run(lambda cell, rng: cell * 2, [1, 2, 3]))
    [2, 4, 6]
    """
    if not isinstance(workers, Cluster) and (
        isinstance(workers, bool) or not isinstance(workers, int) or workers < 0
    ):
        raise OptionError(
            "workers", workers, "is no number of processes",
            "give 1 or more, 0 for one per core, or assay.Cluster(address)",
        )  # fmt: skip
    generators = spawn(as_rng(rng), len(cells))
    if isinstance(workers, Cluster):
        from assay.engine.cluster import run_on_cluster

        return run_on_cluster(work, cells, generators, workers.address)
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
    cells: Cells[Cell],
    generators: list[np.random.Generator],
    workers: int,
) -> Iterator[Record]:
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=workers, return_as="generator")
    jobs = zip(cells, generators, strict=True)
    for record, error in pool(delayed(_attempt)(work, cell, own) for cell, own in jobs):
        if error is not None:
            raise error
        yield record


def _attempt(
    work: Callable[[Cell, np.random.Generator], Record], cell: Cell, rng: np.random.Generator
) -> tuple[Record | None, Exception | None]:
    """A record, or why there is none: an error must not overtake the records before it."""
    try:
        return work(cell, rng), None
    except Exception as error:
        return None, error
