"""Size, coverage and power on simulated editors; ``benchmarks/effort_coverage.py`` runs more."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from assay.kits.designs import design_kits
from assay.kits.effort_model import Names, fit_model
from assay.stats.kit_power import gap_power
from assay.worlds.editing import EditingWorld


def _tests(
    kind: str, engines: str, editors: int, gap: float, runs: int, seed: int
) -> tuple[float, float]:
    """The share of runs that reject A = B (true) and whose interval holds the gap of A and C."""
    rng = np.random.default_rng(seed)
    world = EditingWorld(systems=dict.fromkeys(engines, 0.0) | {engines[2]: gap}, segments=8)
    rejected = held = 0
    for _ in range(runs):
        design = design_kits(engines, editors, design=kind, rng=rng)
        kits = [(task.editor, task.document, task.system) for task in design.tasks]
        frame = world.values(kits, rng).with_columns(
            pl.col("value").alias("distance"), pl.col("position").alias("place")
        )
        names = Names(tuple(engines), design.documents, design.editors)
        model, _ = fit_model(frame, "distance", names, documents=True)
        critical = stats.t.ppf(0.975, model.freedom)
        weights = np.zeros(len(engines))
        weights[:2] = 1.0, -1.0
        value, error = model.contrast(weights)
        rejected += abs(value) > critical * error
        weights = np.zeros(len(engines))
        weights[0], weights[2] = -1.0, 1.0
        value, error = model.contrast(weights)
        held += abs(value - gap) <= critical * error
    return rejected / runs, held / runs


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["permutations", "graeco-latin"])
def test_size_and_coverage(kind: str) -> None:
    size, coverage = _tests(kind, "ABC", 6, 6.0, runs=250, seed=3)
    error = np.sqrt(0.05 * 0.95 / 250)
    assert size == pytest.approx(0.05, abs=0.01 + 3 * error)
    assert coverage == pytest.approx(0.95, abs=0.01 + 3 * error)


@pytest.mark.slow
def test_williams_has_the_power_of_all_permutations() -> None:
    """By cell means, on which the test of a complete design rests: 24 editors, four engines."""
    gap, variance, runs = 3.0, 12.2, 4000
    rng = np.random.default_rng(5)
    found = {}
    for kind in ("permutations", "williams"):
        design = design_kits("ABCD", 24, design=kind, rng=1)
        editor = np.array([design.editors.index(task.editor) for task in design.tasks])
        document = np.array([design.documents.index(task.document) for task in design.tasks])
        system = np.array(["ABCD".index(task.system) for task in design.tasks])
        matrix = np.hstack(
            [np.eye(4)[system], np.eye(24)[editor][:, 1:], np.eye(4)[document][:, 1:]]
        )
        inverse = np.linalg.inv(matrix.T @ matrix)
        weights = np.zeros(matrix.shape[1])
        weights[:2] = 1.0, -1.0
        y = gap * (system == 0) + rng.normal(0, np.sqrt(variance), (runs, len(system)))
        beta = y @ matrix @ inverse
        freedom = len(system) - matrix.shape[1]
        spread = np.sum((y - beta @ matrix.T) ** 2, axis=1) / freedom
        t = beta @ weights / np.sqrt(spread * (weights @ inverse @ weights))
        found[kind] = np.mean(np.abs(t) > stats.t.ppf(0.975, freedom))
    error = np.sqrt(2 * 0.84 * 0.16 / runs)
    assert found["williams"] == pytest.approx(found["permutations"], abs=3 * error)
    theory = gap_power(gap, variance=variance, editors=24, engines=4, level=0.95)
    assert found["williams"] == pytest.approx(theory, abs=3 * error)
