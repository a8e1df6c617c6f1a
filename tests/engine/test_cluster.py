"""A real scheduler and real workers: the same records as in this process, whatever happens."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import ROOT, Ran

import assay
from assay.engine import Cluster, run
from assay.errors import ClusterError, OptionError
from assay.papers.compare import Task, do_task
from assay.papers.koehn2012.campaigns import simulated_tasks
from papers.wmt_files import annotate, made

pytest.importorskip("distributed", reason="SKIPPED: pip install 'mt-assay[cluster]'")

Run = Callable[..., Ran]
ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    "OPENBLAS_NUM_THREADS": "1",
}
WITHOUT_ASSAY = "import sys; sys.modules['assay'] = None; from dask.__main__ import main; main()"


class Dask:
    """A scheduler in a process of its own, and workers in theirs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.file = folder / "scheduler.json"
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0",
                    "--scheduler-file", str(self.file))  # fmt: skip
        self._until(self.file.exists)
        self.address = json.loads(self.file.read_text())["address"]

    def add_worker(self, code: str = "from dask.__main__ import main; main()") -> Any:
        """A worker without a nanny: when it is killed, it stays dead."""
        return self._start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--memory-limit", "0",
            "--local-directory", str(self.folder), code=code,
        )  # fmt: skip

    def _start(self, *arguments: str, code: str = "from dask.__main__ import main; main()") -> Any:
        with (self.folder / "log.txt").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", code, *arguments, "--no-dashboard"],
                env=ENVIRONMENT, stdout=log, stderr=log,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def _until(self, done: Callable[[], bool]) -> None:
        end = time.monotonic() + 30
        while not done():
            assert time.monotonic() < end, (self.folder / "log.txt").read_text()
            time.sleep(0.05)

    def wait_for(self, workers: int) -> None:
        """Until there are so many workers, no more and no fewer."""
        self._until(lambda: self.ask(lambda dask_scheduler: len(dask_scheduler.workers)) == workers)

    def ask(self, question: Callable[..., Any]) -> Any:
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            return client.run_on_scheduler(question)

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    """One scheduler and two workers for the whole file; whoever kills a worker starts another."""
    cluster = Dask(tmp_path_factory.mktemp("dask"))
    try:
        cluster.add_worker(), cluster.add_worker()
        cluster.wait_for(2)
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def world() -> assay.World:
    return assay.simulate(documents=25, systems=3, rng=4)


def same(left: object, right: object) -> bool:
    """To the last bit."""
    return pickle.dumps(left) == pickle.dumps(right)


def draw(cell: int, rng: np.random.Generator) -> tuple[int, float]:
    return cell, float(rng.random())


# Workers cannot import this file, so what they run is sent by value.
draw.__module__ = "__main__"


def test_records_come_back_in_order_and_equal(dask: Dask) -> None:
    cells = list(range(40))
    serial = list(run(draw, cells, rng=3))
    assert list(run(draw, cells, rng=3, workers=Cluster(dask.address))) == serial


def test_stability(dask: Dask, world: assay.World) -> None:
    def sweep(workers: Any) -> list[Any]:
        return list(
            assay.stability(
                {"en-de": world.test_set}, designs=["SL", "WD", "DB"], budget=["20%", "40%"],
                metric="neural", held_out="surface", draws=30, rng=1, workers=workers,
            )
        )  # fmt: skip

    for ours, theirs in zip(sweep(1), sweep(Cluster(dask.address)), strict=True):
        for name, mine, other in zip(ours._fields, ours, theirs, strict=True):
            assert same(np.asarray(mine), np.asarray(other)), name


def test_estimators_and_stopping(dask: Dask, world: assay.World) -> None:
    ratings = world.rate()

    def sweep(workers: Any) -> list[Any]:
        methods = ["baseline", "docs-prop+cv-knn", "balanced+regression", "docs-incr-human"]
        tried = assay.evaluate_estimators(
            world.test_set, ratings, methods=methods, sizes=[0.2], draws=10, rng=1, workers=workers
        )
        stopped = assay.evaluate_stopping(
            world.test_set, ratings, half_width=0.8, draws=3, rng=1, workers=workers
        )
        return [*tried, *stopped]

    assert repr(sweep(Cluster(dask.address))) == repr(sweep(1))


def test_simulated_judgments(dask: Dask) -> None:
    tasks: dict[str, Task] = {}
    for task in simulated_tasks([], draws=1):
        tasks.setdefault(task.key[0], task)
    cells = [tasks[kind] for kind in ("errors", "beyond")]

    def sweep(workers: Any) -> list[Any]:
        return [found for _, found in run(do_task, cells, rng=5, workers=workers)]

    for ours, theirs in zip(sweep(1), sweep(Cluster(dask.address)), strict=True):
        assert {k: v.tobytes() for k, v in ours.items()} == {
            k: v.tobytes() for k, v in theirs.items()
        }


def test_the_command_line(dask: Dask, tmp_path: Path, run_assay: Run) -> None:
    frame = annotate(made("km-en", [8] * 6), "da_annotated", {"A": [1, 2, 5, 9], "B": [1, 7, 8]})
    frame.write_parquet(tmp_path / "wmt20_metrics_km-en.parquet")
    given = ["reproduce", "lo2023", "--data", tmp_path, "--draws", 5, "--json"]
    serial = run_assay(*given, "--backend", "serial")
    cluster = run_assay(*given, "--backend", "dask", "--scheduler", dask.address)
    assert cluster.code == 0, cluster.err
    assert cluster.out == serial.out
    assert any(cell["ours"] is not None for cell in json.loads(cluster.out)["tables"])


def test_a_killed_worker_changes_nothing(dask: Dask, tmp_path: Path) -> None:
    victim = dask.add_worker()
    dask.wait_for(3)
    table, log = np.random.default_rng(1).random(200_000), tmp_path / "log"
    log.touch()

    def slow(cell: int, rng: np.random.Generator) -> float:
        for word in ("begins", "ends"):
            with log.open("a") as file:
                file.write(f"{os.getpid()} {word} {cell}\n")
            time.sleep(0.15 if word == "begins" else 0)
        return float(table[cell] + rng.random())

    found: list[float] = []
    killed = False
    for record in run(slow, range(60), rng=2, workers=Cluster(dask.address)):
        found.append(record)
        its = [line for line in log.read_text().splitlines() if line.startswith(f"{victim.pid} ")]
        if not killed and its and its[-1].split()[1] == "begins":  # in the middle of a cell
            os.kill(victim.pid, signal.SIGKILL)
            killed = True
    assert killed
    begun = [line.split()[2] for line in log.read_text().splitlines() if "begins" in line]
    assert len(begun) > len(set(begun)) == 60  # a cell was done again
    rngs = np.random.default_rng(2).spawn(60)
    assert found == [float(table[cell] + rngs[cell].random()) for cell in range(60)]


def test_a_cell_that_raises(dask: Dask) -> None:
    def fail(cell: int, rng: np.random.Generator) -> int:
        if cell == 3:
            raise OptionError("budget", 9, "is too much", "give 8")
        return cell

    for workers in (1, Cluster(dask.address)):
        records, found = run(fail, range(9), workers=workers), []
        with pytest.raises(OptionError, match=r"budget \(9\) is too much; give 8") as error:
            found.extend(records)
        assert found == [0, 1, 2]
        assert error.value.argument == "budget"


def test_few_cells_are_under_way_and_an_interrupt_cancels_them(dask: Dask) -> None:
    taken = []

    class Cells:
        def __len__(self) -> int:
            return 1000

        def __iter__(self) -> Iterator[int]:
            for cell in range(1000):
                taken.append(cell)
                yield cell

    def slow(cell: int, rng: np.random.Generator) -> int:
        time.sleep(0.05)
        return cell

    records = run(slow, Cells(), workers=Cluster(dask.address))
    assert [next(records) for _ in range(5)] == [0, 1, 2, 3, 4]
    assert len(taken) <= 5 + 4 * 3
    records.close()  # type: ignore[attr-defined]
    time.sleep(0.3)
    assert dask.ask(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


def test_other_versions_are_refused(dask: Dask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.__version__", "9.9")
    with pytest.raises(ClusterError, match=r"a worker .* has assay [\d.]+ \(here 9\.9\)"):
        list(run(draw, [1, 2], workers=Cluster(dask.address)))


def test_a_worker_without_assay(dask: Dask) -> None:
    bad = dask.add_worker(WITHOUT_ASSAY)
    dask.wait_for(3)
    with pytest.raises(ClusterError, match=r"a worker of the cluster has no assay"):
        list(run(draw, range(12), workers=Cluster(dask.address)))
    bad.kill()
    dask.wait_for(2)


def test_a_scheduler_without_workers_one_whose_workers_die_and_one_that_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Dask(tmp_path)
    try:
        monkeypatch.setattr("assay.engine.CONNECT_SECONDS", 1.0)
        with pytest.raises(OptionError, match="has no workers; start them with: dask worker"):
            list(run(draw, [1, 2], workers=Cluster(cluster.address)))
        cluster.add_worker()
        cluster.wait_for(1)

        def slow(cell: int, rng: np.random.Generator) -> int:
            time.sleep(0.1)
            return cell

        monkeypatch.undo()
        records = run(slow, range(100), workers=Cluster(cluster.address))
        assert next(records) == 0
        cluster.processes[1].kill()
        monkeypatch.setattr("assay.engine.LOOK_SECONDS", 0.5)
        monkeypatch.setattr("assay.engine.MAX_SECONDS_ALONE", 1.0)
        with pytest.raises(ClusterError, match="has had no worker for 1 seconds; start workers"):
            list(records)
        cluster.add_worker()
        cluster.wait_for(1)
        monkeypatch.undo()
        records = run(slow, range(100), workers=Cluster(cluster.address))
        assert next(records) == 0
        cluster.processes[0].kill()
        with pytest.raises(ClusterError, match="was lost"):
            list(records)
    finally:
        cluster.stop()


def test_nobody_answers(tmp_path: Path, run_assay: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.engine.CONNECT_SECONDS", 1.0)
    made("km-en", [8] * 6).write_parquet(tmp_path / "wmt20_metrics_km-en.parquet")
    ran = run_assay("reproduce", "lo2023", "--data", tmp_path, "--draws", 2,
                    "--scheduler", "tcp://127.0.0.1:9")  # fmt: skip
    assert ran.code == 2
    assert "scheduler (tcp://127.0.0.1:9) cannot be reached" in ran.err
