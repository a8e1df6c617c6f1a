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

WORLD = EditingWorld(systems={"A": 0.0, "B": 0.0, "C": 6.0})


def _closed(
    editors: int, freedom: int, runs: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Differences of A and B in balanced kits, and their standard errors, in closed form.

    The mean squares of cells and of the residual are independent. Where that of the cells is the
    smaller, REML takes editor x document for nought and pools the two.
    """
    count, rest = WORLD.segments, (editors - 1) * 3 * (WORLD.segments - 1)
    expected = WORLD.noise + count * WORLD.cell
    cells = expected * rng.chisquare(freedom, runs) / freedom
    noise = WORLD.noise * rng.chisquare(rest, runs) / rest
    pooled = (freedom * cells + rest * noise) / (freedom + rest)
    square = np.where(cells > noise, cells, pooled)
    value = rng.normal(0.0, np.sqrt(2 * expected / count / editors), runs)
    return value, np.sqrt(2 * square / count / editors)


def test_the_closed_form_is_what_the_model_finds() -> None:
    """REML on simulated segments against mean squares by hand, with and without pooling."""
    editors = 6
    kits = [(f"E{e}", f"d{k}", "ABC"[(e + k + e // 3 * k) % 3]) for e in range(editors)
            for k in range(3)]  # fmt: skip
    pooled = 0
    for seed, cell in enumerate([8.8, 8.8, 8.8, 0.0, 0.0, 0.0]):
        world = EditingWorld(systems=WORLD.systems, cell=cell, segments=8)
        frame = world.values(kits, seed).with_columns(
            pl.col("value").alias("distance"), pl.lit(None, dtype=pl.Int64).alias("place")
        )
        names = Names(tuple("ABC"), ("d0", "d1", "d2"), tuple(f"E{e}" for e in range(editors)))
        model, _ = fit_model(frame, "distance", names, documents=True)
        y = frame["distance"].to_numpy().reshape(editors, 3, 8)
        means = y.mean(axis=2)
        system, document, editor = (code.reshape(editors, 3, 8)[:, :, 0].ravel()
                                    for code in names.codes(frame))  # fmt: skip
        matrix = np.hstack([np.eye(3)[system], np.eye(3)[document], np.eye(editors)[editor]])
        rest = means.ravel() - matrix @ np.linalg.lstsq(matrix, means.ravel(), rcond=None)[0]
        assert model.freedom == 8
        cells = 8 * rest @ rest / 8
        inner = y - means[:, :, None] - y.mean(axis=0) + y.mean(axis=(0, 2))[:, None]
        freedom = (editors - 1) * 3 * 7
        noise = np.sum(inner**2) / freedom
        square = cells if cells > noise else (8 * cells + freedom * noise) / (8 + freedom)
        pooled += cells <= noise
        error = model.contrast(np.array([1.0, -1.0, 0.0]))[1]
        assert error == pytest.approx(np.sqrt(2 * square / 8 / editors), rel=1e-3)
        assert model.contrast_freedom(np.array([1.0, -1.0, 0.0])) == 8
    assert 0 < pooled < 6


@pytest.mark.parametrize(
    ("editors", "freedom", "low", "high"),
    [
        # Permutations of three engines; with places in the model; and few editors, for whom the
        # floor under the variance makes the test careful.
        (6, 8, 0.94, 0.96),
        (6, 6, 0.94, 0.965),
        (12, 20, 0.94, 0.96),
        (24, 44, 0.94, 0.96),
        (4, 4, 0.95, 0.985),
        (3, 2, 0.97, 1.0),
    ],
)
def test_coverage_in_balanced_kits(editors: int, freedom: int, low: float, high: float) -> None:
    """One less the size of the test of equal engines, in 200,000 runs: Monte-Carlo error .0005."""
    value, error = _closed(editors, freedom, 200_000, np.random.default_rng(1))
    coverage = float(np.mean(np.abs(value) <= stats.t.ppf(0.975, freedom) * error))
    assert low <= coverage <= high


def _coverage(kits: list[tuple[str, str, str]], runs: int, seed: int) -> tuple[float, float]:
    """How often the intervals of A less B and of A hold the truth."""
    rng = np.random.default_rng(seed)
    systems = sorted({system for _, _, system in kits})
    world = EditingWorld(systems=dict.fromkeys(systems, 0.0), segments=8)
    difference = mean = 0
    for _ in range(runs):
        frame = world.values(kits, rng).with_columns(
            pl.col("value").alias("distance"), pl.lit(None, dtype=pl.Int64).alias("place")
        )
        names = Names(tuple(systems), *(tuple(frame[c].unique(maintain_order=True))
                                        for c in ("doc", "editor")))  # fmt: skip
        model, _ = fit_model(frame, "distance", names, documents=True)
        for truth, weights in ((0.0, np.eye(len(systems))[0] - np.eye(len(systems))[1]),
                               (world.level, np.eye(len(systems))[0])):  # fmt: skip
            value, error = model.contrast(weights)
            half = stats.t.ppf(0.975, model.contrast_freedom(weights)) * error
            held = abs(value - truth) <= half
            difference, mean = (difference + (not truth) * held, mean + bool(truth) * held)
    return difference / runs, mean / runs


LATIN = [(f"E{e}", f"d{k}", "ABC"[(e + k) % 3]) for e in range(6) for k in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kits",
    [
        [(f"E{e}", f"d{k}", "AB"[e % 2]) for e in range(4) for k in range(3)],
        [(f"E{e}", f"d{k}", "AB"[e % 2]) for e in range(6) for k in range(3)],
        [kit for number, kit in enumerate(LATIN) if number not in (0, 4, 8, 13)],
    ],
    ids=["one system an editor, 4", "one system an editor, 6", "cells missing"],
)
def test_coverage_in_unbalanced_kits(kits: list[tuple[str, str, str]]) -> None:
    """Degrees of freedom by approximation: at least 95 % but for chance (250 runs, error .014).

    With those of balanced kits the first two had .89 and .93.
    """
    difference, mean = _coverage(kits, 250, 7)
    assert difference >= 0.95 - 2.5 * 0.014
    assert mean >= 0.95 - 2.5 * 0.014


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
