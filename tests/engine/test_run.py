"""The engine: the same records in the same order, whoever works."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay.cli.running import chosen_workers
from assay.engine import Cluster, available_workers, run
from assay.errors import AssayError, MissingExtraError, OptionError, Problem, TableError

Work = Callable[[int, np.random.Generator], tuple[int, float]]


@pytest.fixture
def draw() -> Work:
    # Made inside a function, so that worker processes need not import this file.
    def work(cell: int, rng: np.random.Generator) -> tuple[int, float]:
        return cell, float(rng.random())

    return work


def test_processes_give_the_same_records_in_order(draw: Work) -> None:
    cells = list(range(12))
    serial = list(run(draw, cells, rng=3))
    assert [cell for cell, _ in serial] == cells
    assert list(run(draw, cells, rng=3, workers=2)) == serial
    assert list(run(draw, cells, rng=3, workers=0)) == serial


def test_a_run_does_not_depend_on_the_runs_after_it(draw: Work) -> None:
    assert list(run(draw, [0, 1], rng=0)) == list(run(draw, [0, 1, 2], rng=0))[:2]


def test_seed_zero_is_a_seed(draw: Work) -> None:
    assert list(run(draw, [0], rng=0)) == list(run(draw, [0], rng=0))
    assert list(run(draw, [0], rng=0)) != list(run(draw, [0], rng=1))


@pytest.mark.parametrize("workers", [-1, 1.5, True])
def test_wrong_number_of_workers(workers: object, draw: Work) -> None:
    with pytest.raises(OptionError, match="is not a number of processes"):
        run(draw, [1], workers=workers)  # type: ignore[arg-type]


def test_there_is_at_least_one_worker() -> None:
    assert available_workers() >= 1


def test_a_cluster_without_the_extra(draw: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"needs an extra: pip install"):
        list(run(draw, [1], workers=Cluster("tcp://127.0.0.1:8786")))


@pytest.mark.parametrize("address", ["", "here", "tcp://host", "tcp://host:port", 8786])
def test_wrong_address(address: object) -> None:
    with pytest.raises(OptionError, match="is not an address; write tcp://HOST:8786"):
        Cluster(address)  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [OptionError("a", 1, "is wrong", "give 2"),
                                   TableError("t.tsv", [Problem("bad", 3)], rows=4)])  # fmt: skip
def test_errors_travel_whole(error: AssayError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert copy.__dict__ == error.__dict__


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("dask", None, None), "--backend (dask) needs a cluster; give --scheduler ADDRESS"),
        (("dask", 2, "tcp://a:1"), "--workers (2) is for processes of this machine"),
        (("serial", None, "tcp://a:1"), "--scheduler (tcp://a:1) is for dask"),
        (("serial", 2, None), "--workers (2) is not serial; give --backend processes"),
    ],
)
def test_options_that_contradict_each_other(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(OptionError) as error:
        chosen_workers(*given)
    assert message in str(error.value)
