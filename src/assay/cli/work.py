"""Long work: where it runs, and its progress bars."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from assay.cli import note, progress_bars
from assay.errors import OptionError

if TYPE_CHECKING:
    from assay.engine import Workers

Item = TypeVar("Item")
Backend: TypeAlias = Literal["serial", "processes", "dask"]
LONG_WORK = 120.0
"""Seconds from which on a command says beforehand how long it will take."""
SETTLED = 10.0
"""Seconds after which the pace is known: the first steps also start processes and fill caches."""


def track(items: Iterable[Item], total: int, label: str) -> Iterator[Item]:
    """Pass items on while a progress bar grows on stderr; silent unless that is a terminal."""
    began, told = time.monotonic(), False
    with progress_bars() as advance:
        advance(label, 0, total)
        for done, item in enumerate(items, start=1):
            yield item
            advance(label, done, total)
            if not told:
                told = announce(time.monotonic() - began, done, total)


def announce(seconds: float, done: int, total: int) -> bool:
    """Say how long the rest takes, once the pace is known and if that is minutes."""
    left = seconds * (total - done) / done
    if seconds < SETTLED or left < LONG_WORK:
        return False
    note(
        f"about {left / 60:,.0f} more minutes (done: {done:,} of {total:,}); fewer draws, designs,"
        " methods or sizes take less, more --workers share the work, Ctrl-C ends it"
    )
    return True


def chosen_workers(backend: Backend | None, workers: int | None, scheduler: str | None) -> Workers:
    """Who does the work of a sweep; options that contradict each other are refused.

    >>> chosen_workers(None, 4, None), chosen_workers("processes", None, None)
    (4, 0)
    >>> chosen_workers(None, None, "tcp://10.0.0.1:8786")
    Cluster(address='tcp://10.0.0.1:8786')
    """
    from assay.engine import Cluster

    if backend == "dask" or (backend is None and scheduler is not None):
        if scheduler is None:
            raise OptionError("--backend", "dask", "needs a cluster", "give --scheduler ADDRESS")
        if workers is not None:
            raise OptionError(
                "--workers", workers, "is for processes of this machine",
                "leave it out: the cluster has as many as were started",
            )  # fmt: skip
        return Cluster(scheduler)
    if scheduler is not None:
        raise OptionError("--scheduler", scheduler, "is for dask", "give --backend dask")
    if backend == "serial" and workers not in (None, 1):
        raise OptionError("--workers", workers, "is not serial", "give --backend processes")
    if workers is None:
        return 0 if backend == "processes" else 1
    return workers
