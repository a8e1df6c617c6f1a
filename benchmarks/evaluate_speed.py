"""Tables 1-4 of saldias2022 against a plain loop with scikit-learn; one estimate.

    python -m benchmarks.evaluate_speed [DATA_FOLDER] [--draws 200] [--loops 1] [--systems 9]

The folder holds ``wmt20_mqm_ende.parquet`` and ``wmt20_mqm_zhen.parquet``. Thirteen methods at ten
sizes for every system but the reference: ours through ``evaluate_estimators`` on all processors,
with intervals; the loop as one would write it, estimates only, one sample after the other, on
``--loops`` samples of one system per language pair and scaled up. CPU seconds stand beside
wall seconds, children included: only the former can be compared on a busy machine.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from joblib.externals.loky import get_reusable_executor

import assay
from assay.designs.population import Population
from assay.designs.segments import metric_bins
from assay.estimation.evaluate import evaluate_estimators
from assay.estimation.kernels import make_features
from assay.tables.tables import Ratings, TestSet, read_ratings, read_scores
from benchmarks.claims import claim, skipped
from benchmarks.environment import DATA
from benchmarks.estimators import load
from benchmarks.measure import measure_command

METHODS = (
    "baseline", "docs-prop", "docs-opt", "metrics-prop", "metrics-opt", "cv-single", "cv-mean",
    "cv-multi", "cv-knn", "docs-prop+cv-knn", "metrics-prop+cv-knn", "docs-incr-human",
    "docs-incr-metrics",
)  # fmt: skip
PROTOCOL = 200
"""Draws of the whole protocol."""
SIZES = tuple(step / 20 for step in range(1, 11))


def clock() -> tuple[float, float]:
    """Wall and CPU seconds, those of finished children included."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in used)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds; worker processes are ended, as only then their CPU time is known."""
    wall, cpu = clock()
    work()
    took = clock()[0] - wall
    get_reusable_executor().shutdown(wait=True)
    return took, clock()[1] - cpu


def some(test_set: TestSet, ratings: Ratings, count: int) -> tuple[TestSet, Ratings]:
    """The first systems only."""
    keep = pl.col("system").is_in(list(test_set.systems[:count]))
    fewer = read_scores(test_set.frame.filter(keep), metrics=list(test_set.metrics))
    return fewer, read_ratings(ratings.frame.filter(keep), fewer, better="lower")


# --- the plain loop -----------------------------------------------------------------------------


def allocate(shares: np.ndarray, sizes: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    target = np.minimum(shares / shares.sum() * n, sizes)
    low = np.floor(target).astype(int)
    return np.minimum(low + (rng.random(len(low)) < target - low), sizes)


def strata_sample(stratum: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    parts = [
        rng.choice(np.flatnonzero(stratum == k), n, replace=False)
        for k, n in enumerate(counts) if n
    ]  # fmt: skip
    return np.concatenate(parts)


def shifted(x: np.ndarray, z: np.ndarray, at: np.ndarray) -> float:
    """The control variate: the mean, moved along a regression."""
    from sklearn.linear_model import LinearRegression

    fit = LinearRegression().fit(z[at], x[at])
    return float(x[at].mean() - fit.coef_ @ (z[at].mean(axis=0) - z.mean(axis=0)))


def by_neighbours(x: np.ndarray, z: np.ndarray, at: np.ndarray) -> float:
    from sklearn.neighbors import KNeighborsRegressor, NearestNeighbors

    k = max(1, min(25, len(at) // 3))
    predicted = KNeighborsRegressor(k).fit(z[at], x[at]).predict(z)
    near = NearestNeighbors(n_neighbors=k).fit(z[at]).kneighbors(return_distance=False)
    predicted[at] = x[at][near].mean(axis=1)  # without themselves
    return shifted(x, predicted[:, None], at)


def loop_incremental(
    x: np.ndarray, z: np.ndarray | None, stratum: np.ndarray, n: int, rng: np.random.Generator
) -> None:
    """One run: after each rating the spread of every document anew, from ratings or neighbours."""
    from sklearn.neighbors import KNeighborsRegressor

    sizes = np.bincount(stratum)
    queues = [list(rng.permutation(np.flatnonzero(stratum == k))) for k in range(len(sizes))]
    taken: list[int] = []
    count = np.zeros(len(sizes))
    for _ in range(n):
        values, where = x[taken], stratum[taken]
        if z is not None and taken:
            rest = np.setdiff1d(np.arange(len(x)), taken)
            near = KNeighborsRegressor(min(25, len(taken))).fit(z[taken], x[taken])
            values, where = near.predict(z[rest]), stratum[rest]
        sigma = np.array([
            values[where == k].std() if (where == k).sum() > 1 else 1.0 for k in range(len(sizes))
        ])  # fmt: skip
        share = (sigma + 1e-3) * sizes
        deficit = np.where(count < sizes, share / share.sum() * (len(taken) + 1) - count, -np.inf)
        own = int(deficit.argmax())
        taken.append(int(queues[own].pop()))
        count[own] += 1


def loop(x: np.ndarray, z: np.ndarray, population: Population, rng: np.random.Generator) -> None:
    """All methods and sizes for one sample each of one system."""
    documents, bins = population.layout.document, metric_bins(population.badness, 80)
    for size in SIZES:
        n = round(size * len(x))
        at = rng.choice(len(x), n, replace=False)
        x[at].mean()
        best = np.argmax([abs(np.corrcoef(x[at], z[at, j])[0, 1]) for j in range(z.shape[1])])
        shifted(x, z[:, [best]], at)
        shifted(x, z.mean(axis=1, keepdims=True), at)
        shifted(x, z, at)
        by_neighbours(x, z, at)
        for stratum in (documents, bins):
            sizes = np.bincount(stratum)
            spread = [population.badness[stratum == k].std() for k in range(len(sizes))]
            equal = strata_sample(stratum, allocate(sizes * 1.0, sizes, n, rng), rng)
            x[equal].mean()
            optimal = allocate(sizes * (np.array(spread) + 1e-9), sizes, n, rng)
            strata_sample(stratum, optimal, rng)
            by_neighbours(x, z, equal)
    n = round(SIZES[-1] * len(x))
    loop_incremental(x, None, documents, n, rng)
    loop_incremental(x, z, documents, n, rng)


def protocol(folder: Path, given: argparse.Namespace) -> None:
    ours, theirs = np.zeros(2), np.zeros(2)
    for name in ("20-ende", "20-zhen"):
        found = load(folder, name)
        if found is None:
            skipped(f"{folder} has no file for {name}")
            return
        test_set, ratings = some(*found, given.systems)
        count = len(test_set.systems)
        run = timed(lambda test_set=test_set, ratings=ratings: list(  # type: ignore[misc]
            evaluate_estimators(
                test_set, ratings, methods=METHODS, sizes=SIZES, draws=given.draws, rng=1,
                workers=0,
            )
        ))  # fmt: skip
        ours += run
        features, x = make_features(test_set), ratings.placed_in(test_set).matrix(test_set)[0]
        assert features is not None
        z, one = features.values[0][:, : features.metrics], Population(test_set)
        rng = np.random.default_rng(1)
        slow = timed(lambda x=x, z=z, one=one, rng=rng: [  # type: ignore[misc]
            loop(x, z, one, rng) for _ in range(given.loops)
        ])  # fmt: skip
        scaled = np.array(slow) / given.loops * given.draws * count
        theirs += scaled
        print(
            f"{name}: {count} systems x {given.draws} draws: ours {run[0]:.0f} s wall,"
            f" {run[1]:.0f} s CPU; the loop {slow[1] / given.loops:.1f} s CPU per draw and system,"
            f" {scaled[1]:.0f} s in all: {scaled[1] / run[1]:.0f} times",
            flush=True,
        )
    # The goals are for the whole protocol: in a smaller run the start of the workers dominates.
    whole = given.draws >= PROTOCOL and given.systems >= 9
    what = f"Tables 1-4 of saldias2022, 13 methods x 10 sizes x {given.draws} draws"
    claim(f"{what}: time", ours[0], goal=120 if whole else None, unit="s")
    claim(
        f"{what}: times faster than a plain loop with scikit-learn, processor time",
        theirs[1] / ours[1], goal=20 if whole else None, at_most=False, unit="times",
        peer=f"{ours[1]:.0f} s, the loop {theirs[1]:.0f} s, scaled up from {given.loops} of"
        f" {given.draws} draws of one system",
    )  # fmt: skip


def one_estimate() -> None:
    """2,000 segments x 10 systems, from the command line."""
    world = assay.simulate(documents=[10] * 200, systems=10, rng=1)
    sample = assay.sample(world.test_set, budget="20%", rng=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / f"{kind}.tsv" for kind in ("scores", "ratings", "sample")]
        tables = (world.test_set.frame, world.rate(sample).frame, sample.frame)
        for table, file in zip(tables, files, strict=True):
            table.write_csv(file, separator="\t")
        scores, ratings, drawn = map(str, files)
        command = [sys.executable, "-m", "assay", "estimate", scores, ratings, "--sample", drawn]
        cost = measure_command([*command, "--better", "lower"], repeats=5)
    claim(
        "assay estimate, 2,000 segments x 10 systems, 20 % rated, start-up included", cost.seconds,
        goal=1, unit="s", peer=f"{cost.mebibytes:.0f} MiB",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--loops", type=int, default=1)
    parser.add_argument("--systems", type=int, default=9)
    given = parser.parse_args()
    one_estimate()
    protocol(given.folder, given)


if __name__ == "__main__":
    main()
