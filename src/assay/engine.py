"""Repeat work: one cell after another, on several processes, or on a dask cluster.

Every sweep of Assay is a list of *cells* and a function ``work(cell, rng) -> record``. Each cell
has its own random generator, spawned in the order of the cells, and records come back in that
order: a sweep gives the same records wherever it runs, and can be read while it runs.

Who computes them is said by one argument, ``workers``, which every function that sweeps has: a
number of processes of this machine, or a :class:`Cluster`, the address of a dask scheduler.

Processes are joblib's. Its dask backend is not used: it gives the same numbers, but its sweep ends
when the last worker that holds an array dies, and it sends a test set with every cell. Here the
arrays and frames that cells share are sent once, as tasks: the scheduler keeps their content, so
that a worker that dies takes nothing with it, and its cells are done again elsewhere with the same
random numbers.
"""

from __future__ import annotations

import io
import os
import pickle
import platform
import signal
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from itertools import starmap
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import polars as pl

from assay.errors import ClusterError, MissingExtraError, OptionError, need_count
from assay.stats.random import Rng, as_rng, spawn

Cell = TypeVar("Cell")
Cell_co = TypeVar("Cell_co", covariant=True)
Record = TypeVar("Record")
Work: TypeAlias = Callable[[Cell, np.random.Generator], Record]
Jobs: TypeAlias = Iterator[tuple[Any, np.random.Generator]]

# Half of distributed has no types.
Client: TypeAlias = Any
Future: TypeAlias = Any
CELLS_PER_THREAD = 4
"""Cells under way for each thread: enough that a slow one does not keep the others waiting."""
MIN_SHARED = 16 * 1024
"""Bytes from which an array or frame is sent apart from its cell."""
CONNECT_SECONDS = 8.0
"""To reach the scheduler, and then for a first worker to be there."""
LOOK_SECONDS = 5.0
"""Between looks at the cluster."""
MOST_PROCESSES = 1024
"""No machine gains by more."""
MAX_SECONDS_ALONE = 60.0
"""Without any worker, after which a sweep is given up."""
SAME_VERSIONS = ("assay", "numpy", "scipy", "polars")
"""Packages whose versions decide about the digits of a record."""


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
            remedy = "write tcp://HOST:8786, as dask prints it"
            raise OptionError("scheduler", self.address, "is not an address", remedy)


Workers: TypeAlias = int | Cluster
"""Who does the work: so many processes (0: one per core), or a cluster."""


def run(
    work: Work[Cell, Record], cells: Cells[Cell], *, rng: Rng = None, workers: Workers = 1
) -> Iterator[Record]:
    """Yield ``work(cell, rng)`` for every cell, in order.

    ``workers`` processes share the cells; 1 works in this process and 0 means one per core. A
    :class:`Cluster` does them on its machines. Neither the work nor the source of the cells may
    change arrays that cells share: on other processes that is refused or not seen.

    >>> list(run(lambda cell, rng: cell * 2, [1, 2, 3]))
    [2, 4, 6]
    """
    if not isinstance(workers, Cluster):
        need_count("workers", workers, "processes", least=0, most=MOST_PROCESSES)
    jobs = zip(cells, spawn(as_rng(rng), len(cells)), strict=True)
    if isinstance(workers, Cluster):
        return _on_cluster(work, jobs, workers.address)
    workers = workers or available_workers()
    if min(workers, len(cells)) <= 1:
        return starmap(work, jobs)
    return _on_processes(work, jobs, workers)


def available_workers() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _on_processes(work: Work[Any, Any], jobs: Jobs, workers: int) -> Iterator[Any]:
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=workers, return_as="generator")
    with _without_interrupts():
        outcomes = pool(delayed(_attempt)(work, cell, rng) for cell, rng in jobs)
    for outcome in outcomes:
        yield _record(outcome)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes started here never see Ctrl-C, which is for this one: it ends them, quietly.

    Blocked, not ignored: one that comes meanwhile is seen here afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # its start would unblock them
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _attempt(work: Work[Any, Any], cell: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """A record, or why there is none: an error must not overtake the records before it."""
    try:
        return work(cell, rng), None
    except Exception as error:
        return None, error


def _record(outcome: tuple[Any, Exception | None]) -> Any:
    record, error = outcome
    if error is not None:
        raise error
    return record


# --- on a dask cluster ---------------------------------------------------------------------------


def _on_cluster(work: Work[Any, Any], jobs: Jobs, address: str) -> Iterator[Any]:
    with _connected(address) as client:
        sweep = _Sweep(client)
        try:
            for cell, rng in jobs:
                sweep.submit(work, cell, rng)
                while sweep.full:
                    yield sweep.next_record()
            while sweep.under_way:
                yield sweep.next_record()
        finally:
            # Nothing is left where all went well; an interrupt or an error leaves cells.
            if sweep.under_way and client.status == "running":
                client.cancel(list(sweep.under_way))


class _Sweep:
    """The cells under way on a cluster."""

    def __init__(self, client: Client) -> None:
        self.client, self.task, self.versions = client, _task(), _versions()
        self.under_way: deque[Future] = deque()
        self.packer = Packer(self._share)
        self._threads, self._looked, self._alone = 0, -LOOK_SECONDS, 0.0

    @property
    def full(self) -> bool:
        """Whether enough is under way; the cluster may grow and shrink."""
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self._threads, self._looked = sum(self.client.nthreads().values()), time.monotonic()
        return len(self.under_way) >= CELLS_PER_THREAD * max(self._threads, 1)

    def submit(self, work: object, cell: object, rng: np.random.Generator) -> None:
        packed, parts = self.packer.pack((work, cell, rng))
        arguments = (packed, self.versions, list(parts), *parts.values())
        self.under_way.append(self.client.submit(self.task, *arguments, pure=False))

    def _share(self, name: str, content: bytes) -> Future:
        import dask

        # Large on purpose: the scheduler keeps the only copy that no worker can lose.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self.client.submit(pickle.loads, content, key=f"assay-{name}")

    def next_record(self) -> Any:
        """The record of the first cell under way; an error if no worker is left."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        lost = f"the scheduler at {self.client.scheduler.address} was lost; is it still running?"
        outcome, difference = None, ""
        self._alone = 0.0
        while outcome is None and not difference:
            try:
                outcome, difference = self.under_way[0].result(timeout=LOOK_SECONDS)
            except TimeoutError:
                self._need_workers(lost)
            except KilledWorker as error:
                raise ClusterError(
                    "workers kept dying over the same cell, most often for lack of memory"
                    f" ({error}); give the workers more, or fewer threads each"
                ) from None
            except ModuleNotFoundError as error:
                difference = f"no {error.name}"
            except (CancelledError, OSError):
                raise ClusterError(lost) from None
        if outcome is None:
            remedy = "install the same versions everywhere"
            raise ClusterError(f"a worker of the cluster has {difference}; {remedy}")
        self.under_way.popleft()
        return _record(outcome)

    def _need_workers(self, lost: str) -> None:
        if self.client.status != "running":
            raise ClusterError(lost)
        if self.client.nthreads():
            self._alone = 0.0
            return
        self._alone += LOOK_SECONDS
        if self._alone > MAX_SECONDS_ALONE:
            raise ClusterError(
                f"the cluster has had no worker for {MAX_SECONDS_ALONE:.0f} seconds; start workers"
                " with: dask worker ADDRESS --nthreads 1"
            )


def _task() -> Callable[..., Any]:
    """One cell on a worker, sent by value: a worker without assay must be able to say so."""

    def task(*arguments: Any) -> tuple[Any, str]:
        try:
            from assay.engine import do_cell
        except ImportError:
            return None, "no assay"
        return do_cell(*arguments)

    return task


def do_cell(
    packed: bytes, versions: dict[str, str], names: list[str], *parts: object
) -> tuple[Any, str]:
    """What came of a cell, and in what this worker differs: any may have joined late."""
    here = _versions()
    others = [
        f"{name} {here[name]} (here {versions[name]})"
        for name in versions
        if here[name] != versions[name]
    ]
    if others:
        return None, ", ".join(others)
    return _attempt(*unpack(packed, dict(zip(names, parts, strict=True)))), ""


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    """A client of the scheduler, with at least one worker behind it."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("working on a dask cluster", "cluster") from None
    _need_certificates(address)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # each worker compares versions, more strictly
            client: Client = distributed.Client(  # type: ignore[no-untyped-call]
                address, timeout=CONNECT_SECONDS, set_as_default=False
            )
    except (OSError, TimeoutError, TypeError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        remedy = "start one with: dask scheduler; and give the address it prints"
        fault = f"cannot be reached ({reason})"
        raise OptionError("scheduler", address, fault, remedy) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            remedy = f"start them with: dask worker {address} --nthreads 1"
            raise OptionError("scheduler", address, "has no workers", remedy) from None
        yield client


def _need_certificates(address: str) -> None:
    """Refuse a tls address where dask was not told which certificates to use."""
    import dask

    if address.startswith("tls://") and not dask.config.get("distributed.comm.tls.ca-file", None):
        remedy = "state certificate, key and authority in dask's settings (distributed.comm.tls)"
        raise OptionError("scheduler", address, "needs certificates, and dask knows none", remedy)


def _versions() -> dict[str, str]:
    """What decides about the digits of a record."""
    packages = {name: str(import_module(name).__version__) for name in SAME_VERSIONS}
    return {"python": ".".join(platform.python_version_tuple()[:2])} | packages


# --- cells without what they share ---------------------------------------------------------------


class Packer:
    """Pickles cells without their large arrays and frames, which are sent apart and once.

    ``send(name, content)`` is called once for a part that lives on; the name is the digest of its
    content. What it returns is held as long as the part itself: a part that no cell has any more is
    forgotten here, and so on the cluster.
    """

    def __init__(self, send: Callable[[str, bytes], Any]) -> None:
        self._send = send
        self._sent: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        self._known: dict[int, tuple[weakref.ref[Any], str, Any]] = {}

    def pack(self, thing: object) -> tuple[bytes, dict[str, Any]]:
        """The thing without its large parts, and what ``send`` gave for each of them, by name."""
        import cloudpickle

        parts: dict[str, Any] = {}

        def name_of(item: object) -> str | None:
            if not _shared(item):
                return None
            name, sent = self._part(item)
            parts[name] = sent
            return name

        buffer = io.BytesIO()
        pickler = cloudpickle.Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL)
        pickler.persistent_id = name_of
        pickler.dump(thing)
        return buffer.getvalue(), parts

    def _part(self, item: object) -> tuple[str, Any]:
        known = self._known.get(id(item))
        if known is not None and known[0]() is item:
            return known[1], known[2]
        content = pickle.dumps(item, protocol=pickle.HIGHEST_PROTOCOL)
        name = blake2b(content, digest_size=16).hexdigest()
        sent = self._sent.get(name)
        if sent is None:  # another array with the same values is the same part
            sent = self._sent[name] = self._send(name, content)
        number = id(item)
        forget = weakref.ref(item, lambda _: self._known.pop(number, None))
        self._known[number] = forget, name, sent
        return name, sent


def unpack(packed: bytes, parts: Mapping[str, object]) -> Any:
    """The thing that was packed."""
    unpickler = pickle.Unpickler(io.BytesIO(packed))
    unpickler.persistent_load = parts.__getitem__  # type: ignore[method-assign]
    return unpickler.load()


def _shared(item: object) -> bool:
    if type(item) is np.ndarray:
        return item.dtype != object and item.nbytes >= MIN_SHARED
    return isinstance(item, pl.DataFrame) and item.estimated_size() >= MIN_SHARED
