"""Regression on a metric beside prediction-powered inference (ppi-python): width, coverage, time.

    python -m benchmarks.prediction_powered [--draws 400]

A simulated test set of 1,000 segments with one metric; simple random samples of 10, 30 and 50 %,
the same for both. The metric is put on the scale of the ratings, as predictions are, once in their
direction and once turned round. The target is the mean of the test set; ppi-python's is the mean
of what the segments were drawn from, so that its intervals do not shrink when much is rated.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import assay
from assay.designs.base import DesignUnits, find_design
from assay.estimation.kernels import Predictors, adjusted_means, make_features
from assay.stats.intervals import t_interval
from assay.tables.tables import read_scores
from benchmarks.claims import claim
from benchmarks.environment import peer_python

PACKAGES = ("ppi-python==0.2.3", "numba==0.68.1", "llvmlite==0.50.0")
SHARES, LEVEL, N = (0.1, 0.3, 0.5), 0.95, 1000

THEIRS = """
import sys, time
import numpy as np
from ppi_py import ppi_mean_ci
given = np.load(sys.argv[1])
x, z, drawn = given["x"], given["z"], given["drawn"]
ends, spent = [], 0.0
ppi_mean_ci(x[drawn[0]], z[drawn[0]], z[~drawn[0]], alpha=0.05)  # compiles
for row in drawn:
    start = time.process_time()
    low, high = ppi_mean_ci(x[row], z[row], z[~row], alpha=0.05)
    spent += time.process_time() - start
    ends.append((low[0], high[0]))
np.savez(sys.argv[2], ends=np.array(ends), spent=spent)
"""


def peer(python: Path, x: np.ndarray, z: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, float]:
    """Ends of the intervals, and milliseconds for each."""
    with tempfile.TemporaryDirectory() as name:
        data, answer = Path(name) / "data.npz", Path(name) / "answer.npz"
        np.savez(data, x=x, z=z, drawn=drawn)
        subprocess.run([str(python), "-c", THEIRS, str(data), str(answer)], check=True)
        found = np.load(answer)
        return found["ends"], 1e3 * float(found["spent"]) / len(drawn)


def ours(
    x: np.ndarray, units: DesignUnits, known: Predictors | None, drawn: np.ndarray, method: str
) -> tuple[np.ndarray, float]:
    """The same by our estimator, one sample after the other."""
    ends, start = [], time.process_time()
    for row in drawn:
        found = adjusted_means(x, row[None, :], units, method, known)
        interval = t_interval(
            float(found.center[0]), float(found.stderr[0]), float(found.degrees[0]), LEVEL
        )
        ends.append((interval.low, interval.high))
    return np.array(ends), 1e3 * (time.process_time() - start) / len(drawn)


def quality(ends: np.ndarray, truth: float) -> tuple[float, float]:
    """Mean half-width, and coverage in %."""
    right = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    return float((ends[:, 1] - ends[:, 0]).mean() / 2), 100 * float(right.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=400)
    draws = parser.parse_args().draws
    python = peer_python("ppi-python", *PACKAGES)
    if python is None:
        return
    world = assay.simulate(
        systems=1, documents=[10] * (N // 10), metrics={"metric": 0.6}, raters=1, rng=1
    )
    x = world.scores[0, :, 0]
    metric = -world.test_set.matrix("metric")[0]  # higher is better there, lower in ratings
    z = x.mean() + x.std() * (metric - metric.mean()) / metric.std()
    document = world.segments["doc"].rank("dense").to_numpy() - 1
    print(f"r = {np.corrcoef(x, z)[0, 1]:.2f}, {draws} draws: half-width, coverage %, ms")
    for label, proxy in {"right": z, "wrong": 2 * x.mean() - z}.items():
        frame = world.test_set.frame.with_columns(metric=proxy)
        features = make_features(read_scores(frame, metrics=["metric"]))
        assert features is not None
        for share in SHARES:
            n = round(share * N)
            rng = np.random.default_rng(n)
            drawn = np.zeros((draws, N), dtype=bool)
            for row in drawn:
                row[rng.permutation(N)[:n]] = True
            units = DesignUnits(find_design("segments"), np.full(N, n / N), document)
            known = features.between(0, 0, np.ones(N, dtype=bool))
            report(label, n, x, units, known, drawn, peer(python, x, proxy, drawn))


def report(
    label: str, n: int, x: np.ndarray, units: DesignUnits, known: Predictors | None,
    drawn: np.ndarray, theirs: tuple[np.ndarray, float],
) -> None:  # fmt: skip
    truth = float(x.mean())
    mine = ours(x, units, known, drawn, "regression")
    plain = ours(x, units, None, drawn, "mean")
    found = {
        name: (*quality(ends, truth), ms)
        for name, (ends, ms) in {"ppi": theirs, "assay": mine, "mean": plain}.items()
    }
    for name, (half, coverage, ms) in found.items():
        print(
            f"  {label} sign, n = {n:3} {name:5} ±{half:.3f} {coverage:5.1f} {ms:.3f}", flush=True
        )
    (half, coverage, ms), (other, known, slow) = found["assay"], found["ppi"]
    what = f"mean of {len(x):,} segments from {n} ratings and a metric of the {label} sign"
    claim(
        f"{what}: width against ppi-python", half / other, unit="times",
        peer=f"coverage {coverage:.1f} %, ppi {known:.1f} %",
    )  # fmt: skip
    claim(
        f"{what}: time against ppi-python", ms / slow, unit="times",
        peer=f"{ms:.2f} ms, ppi {slow:.2f} ms",
    )  # fmt: skip


if __name__ == "__main__":
    main()
