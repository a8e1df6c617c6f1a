"""Comparisons by effort on simulated editors: size of the test and coverage of the intervals.

    python -m benchmarks.effort_coverage [--runs 200] [--workers 0]

Editors, segments and noise as in korotaev2022 (the defaults of ``EditingWorld``); A and B are
equal, C is 6 points below. ``no editor x document`` is the same model without that term.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import polars as pl
from scipy import stats

from assay.effort.model import EffortModel, Names, fit_model, fixed_columns
from assay.engine.run import run
from assay.kits.design import design_kits
from assay.stats.reml import MixedDesign
from assay.worlds.editing import EditingWorld
from benchmarks.claims import claim

ENGINES = ("A", "B", "C")
DESIGNS = (("permutations", 6), ("williams", 12), ("graeco-latin", 6), ("latin", 24))
GAP = 6.0


def simulate(cell: tuple[str, int], rng: np.random.Generator) -> dict[str, float]:
    """One comparison: was the null rejected, did the intervals hold the truth?"""
    kind, editors = cell
    design = design_kits(ENGINES, editors, design=kind, rng=rng)
    kits = [(task.editor, task.document, task.system) for task in design.kits]
    world = EditingWorld(systems={"A": 0.0, "B": 0.0, "C": -GAP})
    frame = world.values(kits, rng).rename({"value": "distance"})
    frame = frame.with_columns(pl.col("position").alias("place"))
    names = Names(ENGINES, design.documents, design.editors)
    model = fit_model(frame, "distance", names, documents=True)
    critical = stats.t.ppf(0.975, model.degrees)  # the kits are balanced
    null, null_error = model.contrast(np.array([1.0, -1.0, 0.0]))
    gap, gap_error = model.contrast(np.array([1.0, 0.0, -1.0]))
    mean, mean_error = model.contrast(np.array([1.0, 0.0, 0.0]))
    wide = stats.t.ppf(0.975, model.contrast_degrees(np.array([1.0, 0.0, 0.0])))
    return {
        "size": float(abs(null) > critical * null_error),
        "difference": float(abs(gap - GAP) <= critical * gap_error),
        "mean": float(abs(mean - world.level) <= wide * mean_error),
        "naive": float(_naive(frame, names, model)),
    }


def _naive(frame: pl.DataFrame, names: Names, model: EffortModel) -> bool:
    """Whether the model without editor x document rejects, by the normal distribution."""
    system, document, editor = names.codes(frame)
    fixed, _ = fixed_columns(system, document, None, (3, 3), documents=True)
    segment = document * frame["seg"].n_unique() + frame["seg"].cast(pl.Int64).to_numpy() - 1
    fit = MixedDesign(fixed, [editor, segment]).fit(frame["distance"].to_numpy())
    weights = np.zeros(fixed.shape[1])
    weights[:2] = 1.0, -1.0
    value, error = fit.contrast(weights)
    return abs(value) > 1.96 * error


def rows(runs: int, workers: int) -> Iterator[tuple[str, int, dict[str, float]]]:
    for number, cell in enumerate(DESIGNS):
        found = list(run(simulate, [cell] * runs, rng=number, workers=workers))
        yield *cell, {name: float(np.mean([row[name] for row in found])) for name in found[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--workers", type=int, default=0)
    given, _ = parser.parse_known_args()
    error = np.sqrt(0.05 * 0.95 / given.runs)
    print(f"{given.runs} runs each, Monte-Carlo error {error:.4f}")
    print("design        editors   size   coverage: difference  mean   size, no editor x document")
    for kind, editors, found in rows(given.runs, given.workers):
        print(
            f"{kind:13s} {editors:7d}  {found['size']:.3f}  {found['difference']:20.3f}"
            f"  {found['mean']:.3f}  {found['naive']:26.3f}",
            flush=True,
        )
        claim(
            f"editors compared ({kind}, {editors} editors): false alarms at 5 %",
            100 * found["size"], unit="%",
            peer=f"± {100 * error:.1f}; without editor x document {100 * found['naive']:.0f} %",
        )  # fmt: skip


if __name__ == "__main__":
    main()
