"""What a cell of each sweep costs, and what it costs to hand it to another process or machine.

The numbers of docs/scaling.md. Workers of the cluster run on this machine, one per core.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import assay
from assay.engine import Cluster, Packer, Workers, available_workers, run
from assay.estimation.evaluate import evaluate_estimators, evaluate_stopping
from assay.papers.compare import Task, do_task
from assay.papers.koehn2012.campaigns import simulate_errors
from assay.sampling.stability import stability
from benchmarks.claims import claim

Sweep = Callable[[Workers], list[Any]]


@contextmanager
def local_cluster(workers: int) -> Iterator[tuple[Cluster, list[int]]]:
    """A scheduler and workers of one thread, all processes of their own; and the workers' pids."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        # As a worker's nanny does, and joblib: one thread each for linear algebra.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}

        def start(*words: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
            quiet = subprocess.DEVNULL
            return subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment)

        started = [start("scheduler", "--host", "127.0.0.1", "--port", "0",
                         "--scheduler-file", str(file))]  # fmt: skip
        try:
            while not file.exists():
                time.sleep(0.05)
            address = json.loads(file.read_text())["address"]
            started += [
                start("worker", address, "--nthreads", "1", "--no-nanny", "--memory-limit", "0",
                      "--local-directory", folder)
                for _ in range(workers)
            ]  # fmt: skip
            # Two cells for each: all workers are up and have their imports behind them.
            list(run(_warm, range(2 * workers), workers=Cluster(address)))
            yield Cluster(address), [process.pid for process in started[1:]]
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


def _warm(cell: int, rng: np.random.Generator) -> None:
    import assay.estimation
    import assay.papers.koehn2012.ours  # noqa: F401

    time.sleep(2.0)


def sweeps() -> dict[str, Sweep]:
    """A test set of the size of WMT20's (10 systems, about 1400 segments) under every sweep."""
    world = assay.simulate(documents=130, systems=10, rng=1)
    test_set, ratings = world.test_set, world.rate()
    errors = Task(("errors",), partial(simulate_errors, 20, 10.0, 10))
    return {
        "stability, 1000 samples": lambda workers: list(
            stability(
                {"x": test_set}, designs=["SL", "documents", "WD", "snippets-linear", "DB"],
                budget=["20%", "40%"], metric="neural", draws=1000, rng=1, workers=workers,
            )
        ),
        "evaluate, 25 samples x 6 sizes": lambda workers: list(
            evaluate_estimators(
                test_set, ratings, draws=25, rng=1, workers=workers,
                methods=["baseline", "docs-prop+cv-knn", "balanced+regression"],
            )
        ),
        "stopping, 20 runs": lambda workers: list(
            evaluate_stopping(
                test_set, ratings, half_width=0.5, draws=20, rng=1, workers=workers
            )
        ),
        "judgments, 20 campaigns": lambda workers: list(
            run(do_task, [errors] * 10, rng=1, workers=workers)
        ),
    }  # fmt: skip


def cells_of(sweep: Sweep) -> tuple[Callable[..., Any], list[Any]]:
    """The work and the cells of a sweep, taken on their way into the engine."""
    caught: list[tuple[Any, Any]] = []

    def catch(work: Any, cells: Any, **_: Any) -> Iterator[Any]:
        caught.append((work, list(cells)))
        return iter(())

    original = run
    homes = [module for module in list(sys.modules.values())
             if getattr(module, "run", None) is original]  # fmt: skip
    for module in homes:
        module.run = catch  # type: ignore[attr-defined]
    try:
        sweep(1)
    finally:
        for module in homes:
            module.run = original  # type: ignore[attr-defined]
    return caught[0]


class _Sent:
    """Stands for what was sent."""


def sizes(work: Any, cells: list[Any]) -> tuple[int, int]:
    """Bytes of the largest cell as it is sent, and of everything the cells share."""
    shared = []

    def send(name: str, content: bytes) -> _Sent:
        shared.append(len(content))
        return _Sent()

    packer = Packer(send)
    rng = np.random.default_rng(1)
    return max(len(packer.pack((work, cell, rng))[0]) for cell in cells), sum(shared)


def timed(work: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def peak(pid: int) -> float:
    """The most memory a process has had, MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def main() -> None:
    cores = available_workers()
    with local_cluster(cores) as (cluster, pids):
        print(f"{cores} cores; {cores} processes, {cores} workers of a cluster on this machine")
        for name, workers in (("processes", cores), ("dask", cluster)):
            few = timed(_empty, 2, workers)
            many = timed(_empty, 500, workers)
            print(f"{name}: {few:.2f} s to start", flush=True)
            claim(f"a cell that does nothing, {name}", 1000 * many / 500, unit="ms")
        print(f"{'sweep':34s} cells CPU s/cell slowest serial  processes  dask   sent/cell  shared")
        for name, sweep in sweeps().items():
            _show(name, sweep, cores, cluster)
        print(f"peak memory of a worker: {max(peak(pid) for pid in pids):.0f} MiB")


def _show(name: str, sweep: Sweep, cores: int, cluster: Cluster) -> None:
    work, cells = cells_of(sweep)
    each = []
    for cell in cells:  # seconds of this process, whatever else the machine does
        start = time.process_time()
        work(cell, np.random.default_rng(1))
        each.append(time.process_time() - start)
    serial = timed(sweep, 1)
    sweep(cores)  # joblib keeps its processes: the imports are not part of the sweep
    processes, dask = timed(sweep, cores), timed(sweep, cluster)
    sent, shared = sizes(work, cells)
    print(
        f"{name:34s} {len(cells):5d} {np.mean(each):7.3f} {max(each):8.3f} {serial:7.2f}"
        f" {processes:10.2f} {dask:6.2f} {sent / 1024:7.1f} KiB {shared / 2**20:5.2f} MiB",
        flush=True,
    )


def _empty(cells: int, workers: Workers) -> None:
    """Cells that do nothing."""

    def nothing(cell: int, rng: np.random.Generator) -> int:
        return cell

    list(run(nothing, range(cells), workers=workers))


if __name__ == "__main__":
    main()
