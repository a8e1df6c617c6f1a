"""Size, coverage and power on simulated editors; ``benchmarks/effort_coverage.py`` runs more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from assay.effort.model import Names, fit_model
from assay.kits.design import design_kits
from assay.stats.reml import gap_power
from assay.worlds.editing import EditingWorld

WORLD = EditingWorld(systems={"A": 0.0, "B": 0.0, "C": 6.0})
SEGMENTS = 8
"""Of the documents in simulated campaigns."""


def _closed(
    editors: int, degrees: int, runs: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Differences of A and B in balanced kits, and their standard errors, in closed form.

    The mean squares of cells and of the residual are independent. Where that of the cells is the
    smaller, REML takes editor x document for nought and pools the two.
    """
    count, rest = WORLD.segments, (editors - 1) * 3 * (WORLD.segments - 1)
    expected = WORLD.noise + count * WORLD.cell
    cells = expected * rng.chisquare(degrees, runs) / degrees
    noise = WORLD.noise * rng.chisquare(rest, runs) / rest
    square = _pooled(cells, degrees, noise, rest)
    value = rng.normal(0.0, np.sqrt(2 * expected / count / editors), runs)
    return value, np.sqrt(2 * square / count / editors)


def _pooled(
    cells: np.ndarray | float, degrees: int, noise: np.ndarray | float, rest: int
) -> np.ndarray:
    both = (degrees * cells + rest * noise) / (degrees + rest)
    return np.where(np.greater(cells, noise), cells, both)


def _by_hand(frame: pl.DataFrame, names: Names, degrees: int) -> tuple[float, float, bool]:
    """A less B and its standard error by mean squares, and whether these are pooled."""
    editors, segments = len(names.editors), SEGMENTS
    means = frame.group_by("editor", "doc", "system", "place", maintain_order=True).agg(
        pl.col("distance").mean()
    )
    parts = [np.eye(count)[code] for code, count in zip(names.codes(means), (3, 3, editors))]  # noqa: B905
    if means["place"].null_count() == 0:
        parts.append(np.eye(3)[means["place"].to_numpy() - 1])
    matrix, y = np.hstack(parts), means["distance"].to_numpy()
    rest = y - matrix @ np.linalg.lstsq(matrix, y, rcond=None)[0]
    cells = segments * rest @ rest / degrees
    value = pl.col("distance")
    every = [value.mean().over(by) for by in (["editor", "doc"], ["doc", "seg"], ["doc"])]
    inner = frame.select(value - every[0] - every[1] + every[2]).to_series()
    freedom = (editors - 1) * 3 * (segments - 1)
    noise = float((inner**2).sum()) / freedom
    square = float(_pooled(cells, degrees, noise, freedom))
    level = {name: means.filter(system=name)["distance"].mean() for name in "AB"}
    return level["A"] - level["B"], np.sqrt(2 * square / segments / editors), cells <= noise


@pytest.mark.parametrize(
    ("design", "editors", "degrees", "low", "high"),
    [
        # Permutations of three systems; with places in the model; and few editors, for whom the
        # floor under the variance makes the test careful.
        ("permutations", 6, 8, 0.94, 0.96),
        ("graeco-latin", 6, 6, 0.94, 0.965),
        ("permutations", 12, 20, 0.94, 0.96),
        ("permutations", 24, 44, 0.94, 0.96),
        ("latin", 3, 2, 0.97, 1.0),
    ],
)
def test_coverage_in_balanced_kits(
    design: str, editors: int, degrees: int, low: float, high: float
) -> None:
    """One less the size of the test of equal systems.

    The model's interval of A less B equals the one by mean squares on simulated segments, pooled
    or not; how often that one holds the truth is then counted in 200,000 draws of the mean squares
    (Monte-Carlo error .0005).
    """
    kits = design_kits("ABC", editors, design=design, rng=1).kits
    rows = [(item.editor, item.document, item.system) for item in kits]
    place = pl.col("position").rank("dense").over("editor").cast(pl.Int64)
    pooled, weights = set(), np.array([1.0, -1.0, 0.0])
    for seed in range(6):
        # Editors and segments vary a lot, so that these components are never pooled too.
        cell = WORLD.cell if seed % 2 else 0.0
        world = replace(WORLD, segments=SEGMENTS, editor=999.0, segment=99.0, cell=cell)
        frame = world.values(rows, seed).with_columns(
            pl.col("value").alias("distance"),
            (place if design == "graeco-latin" else pl.lit(None, dtype=pl.Int64)).alias("place"),
        )
        names = Names(("A", "B", "C"), *(tuple(frame[c].unique()) for c in ("doc", "editor")))
        model = fit_model(frame, "distance", names, documents=True)
        value, error, together = _by_hand(frame, names, degrees)
        assert model.contrast(weights) == (
            pytest.approx(value, abs=1e-6), pytest.approx(error, rel=1e-3)
        )  # fmt: skip
        assert model.contrast_degrees(weights) == degrees
        pooled.add(together)
    assert pooled == {True, False}
    value, error = _closed(editors, degrees, 200_000, np.random.default_rng(1))
    half = stats.t.ppf(0.975, model.contrast_degrees(weights)) * error
    assert low <= np.mean(np.abs(value) <= half) <= high


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
        model = fit_model(frame, "distance", names, documents=True)
        for truth, weights in ((0.0, np.eye(len(systems))[0] - np.eye(len(systems))[1]),
                               (world.level, np.eye(len(systems))[0])):  # fmt: skip
            value, error = model.contrast(weights)
            half = stats.t.ppf(0.975, model.contrast_degrees(weights)) * error
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
        [kit for kit in LATIN if kit[0] < "E4"],
    ],
    ids=["one system an editor, 4", "one system an editor, 6", "cells missing", "four editors"],
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
    """By cell means, on which the test of a complete design rests: 24 editors, four systems."""
    gap, variance, runs = 3.0, 12.2, 4000
    rng = np.random.default_rng(5)
    found = {}
    for kind in ("permutations", "williams"):
        design = design_kits("ABCD", 24, design=kind, rng=1)
        editor = np.array([design.editors.index(task.editor) for task in design.kits])
        document = np.array([design.documents.index(task.document) for task in design.kits])
        system = np.array(["ABCD".index(task.system) for task in design.kits])
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
    theory = gap_power(gap, variance=variance, editors=24, systems=4, level=0.95)
    assert found["williams"] == pytest.approx(theory, abs=3 * error)


def test_intervals_inside_what_is_possible_cover_no_less() -> None:
    """Few editors who change little: t intervals of means go below nought and miss above.

    ``changed`` is a share near 0, whose editors differ; 300 runs of 4 editors, error 0.0126.
    """
    rng = np.random.default_rng(2)
    kits = pl.DataFrame(
        [(f"E{e}", f"d{k}", "AB"[(e + k) % 2], str(s))
         for e in range(4) for k in range(2) for s in range(10)],
        schema=["editor", "doc", "system", "seg"], orient="row",
    ).with_columns(place=pl.lit(None, dtype=pl.Int64))  # fmt: skip
    names = Names(("A", "B"), ("d0", "d1"), tuple(f"E{e}" for e in range(4)))
    held, plain, below = [], [], 0
    for _ in range(300):
        people = dict(zip(names.editors, rng.beta(1.0, 9.0, 4).tolist(), strict=True))
        share = kits["editor"].replace_strict(people, return_dtype=pl.Float64).to_numpy()
        frame = kits.with_columns(changed=pl.Series((rng.random(len(share)) < share) * 1.0))
        model = fit_model(frame, "changed", names, documents=True, limits=(0.0, 1.0))
        if model.fit is None:
            continue
        inside = model.interval(0, 0.95)
        free = model._replace(limits=(-np.inf, np.inf)).interval(0, 0.95)
        assert 0 <= inside.low <= inside.high <= 1
        held.append(0.1 in inside)
        plain.append(0.1 in free)
        below += free.low < 0
    assert below > 100
    assert np.mean(held) >= np.mean(plain) - 2 * 0.0126
    assert np.mean(held) > 0.9


def test_the_end_of_a_difference_next_to_nought_is_the_tests() -> None:
    """Where nearly all of one system and none of the other is changed."""
    rows = [
        (f"E{e}", f"d{k}", "AB"[(e + k) % 2], str(s), float((e + k) % 2 == 0 and (s + e) % 9 > 0))
        for e in range(4) for k in range(2) for s in range(9)
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["editor", "doc", "system", "seg", "changed"], orient="row")
    frame = frame.with_columns(place=pl.lit(None, dtype=pl.Int64))
    names = Names(("A", "B"), ("d0", "d1"), tuple(f"E{e}" for e in range(4)))
    model = fit_model(frame, "changed", names, documents=True, limits=(0.0, 1.0))
    weights = np.array([1.0, -1.0])
    value, error = model.contrast(weights)
    half = stats.t.ppf(0.975, model.contrast_degrees(weights)) * error
    ends = model.difference_interval(weights, 0.95)
    assert value + half > 1 >= ends.high
    assert ends.low == pytest.approx(value - half)
    turned = model.difference_interval(-weights, 0.95)
    assert (-turned.high, -turned.low) == pytest.approx((ends.low, ends.high))
