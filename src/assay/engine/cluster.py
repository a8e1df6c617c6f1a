"""Cells on a dask cluster.

A few cells per thread are under way at a time, and records are passed on in the order of the
cells. What cells share is sent once, as tasks of its own: the scheduler keeps their content, so a
worker that dies takes nothing with it, and its cells are done again elsewhere with the same random
numbers. A cell that raises is not tried again: its error is the caller's.
"""

from __future__ import annotations

import pickle
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import numpy as np

from assay.engine.run import Cells
from assay.errors import ClusterError, MissingExtraError, OptionError

Cell = TypeVar("Cell")
Record = TypeVar("Record")

# Half of distributed has no types.
Client: TypeAlias = Any
Future: TypeAlias = Any

PER_THREAD = 4
"""Cells under way for each thread: enough that a slow one does not keep the others waiting."""

CONNECT = 8.0
"""Seconds to reach the scheduler, and then for a first worker to be there."""

PATIENCE = 60.0
"""Seconds without any worker after which a sweep is given up."""

LOOK = 5.0
"""Seconds between looks at the cluster."""

EQUAL = ("assay", "numpy", "scipy", "polars")
"""Packages whose versions decide about the digits of a record."""


def run_on_cluster(
    work: Callable[[Cell, np.random.Generator], Record],
    cells: Cells[Cell],
    generators: list[np.random.Generator],
    address: str,
) -> Iterator[Record]:
    """Yield ``work(cell, rng)`` for every cell, in order, from the workers of a cluster."""
    with _connected(address) as client:
        sweep = _Sweep(client, _need_equal_versions(client))
        try:
            for cell, own in zip(cells, generators, strict=True):
                sweep.submit(work, cell, own)
                while sweep.full:
                    yield sweep.next_record()
            while sweep.under_way:
                yield sweep.next_record()
        finally:
            # Nothing is left where all went well; an interrupt or an error leaves cells.
            if sweep.under_way and client.status == "running":
                client.cancel(list(sweep.under_way))


class _Sweep:
    """The cells under way."""

    def __init__(self, client: Client, versions: dict[str, str]) -> None:
        from assay.engine.parts import Packer

        self.client, self.versions = client, versions
        self.under_way: deque[Future] = deque()
        self.packer = Packer(self._send)
        self._threads, self._looked = 0, -LOOK

    @property
    def full(self) -> bool:
        """Whether enough is under way; the cluster may grow and shrink."""
        if time.monotonic() - self._looked >= LOOK:
            self._threads, self._looked = sum(self.client.nthreads().values()), time.monotonic()
        return len(self.under_way) >= PER_THREAD * max(self._threads, 1)

    def submit(self, work: object, cell: object, rng: np.random.Generator) -> None:
        packed, parts = self.packer.pack((work, cell, rng))
        arguments = (packed, self.versions, list(parts), *parts.values())
        self.under_way.append(self.client.submit(_do, *arguments, pure=False))

    def _send(self, name: str, content: bytes) -> Future:
        import dask

        # Large on purpose: the scheduler keeps the only copy that no worker can lose.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self.client.submit(pickle.loads, content, key=f"assay-{name}")

    def next_record(self) -> Any:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        future = self.under_way[0]
        try:
            self._await(future)
            record = future.result()
        except KilledWorker as error:
            raise ClusterError(
                "workers died again and again over the same cell, most often for lack of memory"
                f" ({error}); give the workers more, or fewer threads each"
            ) from None
        except CancelledError:
            raise ClusterError(_lost(self.client)) from None
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "assay":
                raise
            raise ClusterError("a worker that joined has no assay; install it there") from None
        self.under_way.popleft()
        return record

    def _await(self, future: Future) -> None:
        """Wait until it is done, failed or lost; give up where nobody is left to do it."""
        from distributed import wait

        alone: float | None = None
        while not future.done():
            try:
                with self.client.as_current():
                    wait([future], timeout=LOOK)  # type: ignore[no-untyped-call]
            except TimeoutError:
                if self.client.status != "running":
                    raise ClusterError(_lost(self.client)) from None
                if self.client.nthreads():
                    alone = None
                elif alone is None:
                    alone = time.monotonic()
                elif time.monotonic() - alone > PATIENCE:
                    raise ClusterError(
                        f"the cluster has had no worker for {PATIENCE:.0f} seconds; start workers"
                        " with: dask worker ADDRESS --nthreads 1"
                    ) from None


def _do(packed: bytes, versions: dict[str, str], names: list[str], *parts: object) -> object:
    """One cell, on a worker; it may have joined after the versions of the others were compared."""
    from assay.engine.parts import unpack

    said = _difference(_version_probe()(EQUAL), versions)
    if said:
        raise ClusterError(f"a worker that joined has {said}; install the same versions everywhere")
    work, cell, rng = unpack(packed, dict(zip(names, parts, strict=True)))
    return work(cell, rng)


def _lost(client: Client) -> str:
    return f"the scheduler at {client.scheduler.address} was lost; is it still running?"


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    """A client of the scheduler, with at least one worker behind it."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("working on a dask cluster", "cluster") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # versions are compared below, more strictly
            client: Client = distributed.Client(  # type: ignore[no-untyped-call]
                address, timeout=CONNECT, set_as_default=False
            )
    except (OSError, TimeoutError, ValueError) as error:
        raise OptionError(
            "scheduler", address, f"cannot be reached ({_first_line(error)})",
            "start one with: dask scheduler; and give the address it prints",
        ) from None  # fmt: skip
    try:
        try:
            client.wait_for_workers(1, timeout=CONNECT)
        except TimeoutError:
            raise OptionError(
                "scheduler", address, "has no workers",
                f"start them with: dask worker {address} --nthreads 1",
            ) from None  # fmt: skip
        yield client
    finally:
        client.close()


def _need_equal_versions(client: Client) -> dict[str, str]:
    """Refuse a cluster where something else would be computed, or nothing at all."""
    versions = _version_probe()
    ours = versions(EQUAL)
    there = {"the scheduler": client.run_on_scheduler(versions, EQUAL)}
    there |= {f"worker {place}": own for place, own in client.run(versions, EQUAL).items()}
    for place, theirs in there.items():
        said = _difference(theirs, ours)
        if said:
            raise OptionError(
                "scheduler", client.scheduler.address, f"cannot do this work: {place} has {said}",
                "install the same versions everywhere",
            )  # fmt: skip
    return ours


def _version_probe() -> Callable[[tuple[str, ...]], dict[str, str]]:
    """A function that dask sends by value, as assay itself may not be there."""

    def versions(names: tuple[str, ...]) -> dict[str, str]:
        import importlib
        import sys

        found = {"python": ".".join(str(part) for part in sys.version_info[:2])}
        for name in names:
            try:
                found[name] = str(importlib.import_module(name).__version__)
            except ImportError:
                found[name] = "missing"
        return found

    return versions


def _difference(theirs: dict[str, str], ours: dict[str, str]) -> str:
    return ", ".join(
        f"{name} {theirs[name]} (here {ours[name]})" for name in ours if theirs[name] != ours[name]
    )


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
