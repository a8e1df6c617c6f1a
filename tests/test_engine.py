"""The engine: the same records in the same order, whoever works."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from assay.engine import available_workers, run
from assay.errors import OptionError

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
    with pytest.raises(OptionError, match="is no number of processes"):
        run(draw, [1], workers=workers)  # type: ignore[arg-type]


def test_there_is_at_least_one_worker() -> None:
    assert available_workers() >= 1
