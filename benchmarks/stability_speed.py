"""Claims: a stability study is at least 50 times faster than a plain Python loop of the same work
and takes under 10 s for 1000 samples x all WMT20 pairs x 5 designs; one matched sample with all
system means at 1,000,000 segments x 100 systems takes under 150 ms.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from assay.designs.plan import Layout
from assay.designs.snippets import TilesPlan
from assay.sampling.stability import stability
from assay.stats.clustered import prefix_sums, window_sums
from assay.tables.tables import TestSet, read_scores
from assay.worlds.simulate import simulate
from benchmarks.claims import claim, skipped
from benchmarks.environment import DATA

DESIGNS = ("segments", "documents", "fixed-snippets", "snippets-linear", "snippets")
DRAWS, BUDGET, LOOPS = 1000, 0.4, 3


def test_sets(folder: Path) -> tuple[dict[str, TestSet], str]:
    """WMT20 with documents where the folder has it, simulated test sets of its size elsewhere."""
    sets = {}
    for path in sorted(folder.glob("wmt20_metrics_*.parquet")):
        frame = pl.read_parquet(path).rename({"seg_id": "seg"})
        if frame["doc"].n_unique() > 1:
            sets[path.stem[14:]] = read_scores(frame, metrics=["chrF"])
    if sets:
        return sets, "chrF"
    skipped(f"{folder} has no WMT20 metrics; simulated test sets instead")
    return {f"world {i}": simulate(systems=13, rng=i).test_set for i in range(11)}, "surface"


def plain_loop(
    test_set: TestSet, metric: str, design: str, rng: random.Random
) -> tuple[object, ...]:
    """One sample and all that a stability study asks of it, written without arrays."""
    scores = plain_scores(test_set, metric)
    lengths = test_set.documents["segments"].to_list()
    population = sum(lengths)
    windows = plain_sample(design, lengths, population, rng)
    chosen = [i for start, stop in windows for i in range(start, stop)]
    means = [sum(row[i] for i in chosen) / len(chosen) for row in scores]
    full = [sum(row) / population for row in scores]
    wrong = sum(
        (means[i] < means[j]) != (full[i] < full[j]) for i in range(len(scores)) for j in range(i)
    )
    return wrong, plain_clusters(scores, means, windows), *plain_shape(lengths, chosen)


def plain_clusters(
    scores: list[list[float]], means: list[float], windows: list[tuple[int, int]]
) -> list[int]:
    """Rank ranges and clusters from clustered standard errors."""
    n = sum(stop - start for start, stop in windows)
    totals = [
        [sum(row[start:stop]) - (stop - start) * mean for start, stop in windows]
        for row, mean in zip(scores, means, strict=True)
    ]
    factor = len(windows) / max(1, len(windows) - 1)
    worse = [0] * len(scores)
    better = [0] * len(scores)
    for i in range(len(scores)):
        for j in range(i):
            square = sum((a - b) ** 2 for a, b in zip(totals[i], totals[j], strict=True))
            gap, stderr = means[i] - means[j], (square * factor) ** 0.5 / n
            if abs(gap) > 1.96 * stderr:
                worse[i if gap < 0 else j] += 1
                better[i if gap > 0 else j] += 1
    ranges = sorted((1 + a, len(scores) - b) for a, b in zip(worse, better, strict=True))
    numbers, reach = [0], 0
    for low, high in ranges:
        numbers.append(numbers[-1] + (low > reach))
        reach = max(reach, high)
    return numbers


def plain_shape(lengths: list[int], chosen: list[int]) -> tuple[list[float], int]:
    """Length bins and context of a sample."""
    owner = [d for d, length in enumerate(lengths) for _ in range(length)]
    bins = [0] * 6
    for i in chosen:
        bins[min(5, lengths[owner[i]] // 10)] += 1
    drawn, context = set(chosen), set()
    for i in chosen:
        for k in range(max(0, i - 10), i):
            if owner[k] == owner[i] and k not in drawn:
                context.add(k)
    return [count / len(chosen) for count in bins], len(context)


_CACHE: dict[int, list[list[float]]] = {}


def plain_scores(test_set: TestSet, metric: str) -> list[list[float]]:
    if id(test_set) not in _CACHE:
        values = test_set.matrix(metric)
        _CACHE[id(test_set)] = values[np.isfinite(values).all(axis=1)].tolist()
    return _CACHE[id(test_set)]


def plain_sample(
    design: str, lengths: list[int], population: int, rng: random.Random
) -> list[tuple[int, int]]:
    n = round(BUDGET * population)
    if design == "segments":
        return [(i, i + 1) for i in rng.sample(range(population), n)]
    starts = [sum(lengths[:d]) for d in range(len(lengths))]
    order = list(range(len(lengths)))
    rng.shuffle(order)
    chosen: list[tuple[int, int]] = []
    total = 0
    for d in order:
        if design in ("documents", "fixed-snippets"):
            size = lengths[d] if design == "documents" else min(10, lengths[d])
            if total + size / 2 > n:
                break
        else:
            size = int(BUDGET * lengths[d] + rng.random())
        first = starts[d] + rng.randrange(lengths[d] - size + 1)
        chosen.append((first, first + size))
        total += size
    return chosen


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    sets, metric = test_sets(folder)
    cells = len(sets) * len(DESIGNS)
    ours = timed(
        lambda: list(
            stability(sets, designs=DESIGNS, budget=f"{BUDGET:.0%}", metric=metric, draws=DRAWS,
                      rng=1)
        )
    )  # fmt: skip
    rng = random.Random(1)
    for test_set in sets.values():
        plain_scores(test_set, metric)
    loop = timed(
        lambda: [
            plain_loop(test_set, metric, design, rng)
            for test_set in sets.values() for design in DESIGNS for _ in range(LOOPS)
        ]
    ) * DRAWS / LOOPS  # fmt: skip
    print(f"stability: {len(sets)} test sets x {len(DESIGNS)} designs x {DRAWS} samples")
    print(f"assay      {ours:8.2f} s  ({ours / cells / DRAWS * 1e6:.0f} microseconds per sample)")
    print(f"plain loop {loop:8.2f} s  (from {LOOPS} samples per cell)")
    what = f"stability of {len(sets)} test sets x {len(DESIGNS)} designs x {DRAWS} samples"
    claim(f"{what}: time", ours, goal=10, unit="s")
    claim(
        f"{what}: times faster than a plain Python loop", loop / ours, goal=50, at_most=False,
        unit="times", peer=f"{ours:.1f} s, the loop {loop:.0f} s from {LOOPS} samples each",
    )  # fmt: skip
    million()


def million() -> None:
    """One matched sample of a million segments and the means of a hundred systems."""
    rng = np.random.default_rng(1)
    lengths = rng.poisson(25, 40_000) + 1
    lengths = lengths[np.cumsum(lengths) <= 1_000_000]
    lengths = np.append(lengths, 1_000_000 - lengths.sum())
    layout = Layout(lengths[lengths > 0])
    prefix = prefix_sums(rng.random((100, layout.population)))

    def draw() -> np.ndarray:
        drawn = TilesPlan(layout, 400_000, 10).draw(rng)
        sums = window_sums(prefix, drawn.starts[0], drawn.stops[0]).sum(axis=0)
        return np.asarray(sums / drawn.sizes[0])

    draw()
    seconds = min(timed(draw) for _ in range(5))
    claim(
        "one matched sample and all means, 1,000,000 segments x 100 systems", seconds * 1e3,
        goal=150, unit="ms", peer=f"{prefix.nbytes / 2**20:.0f} MiB of prefix sums, made once",
    )  # fmt: skip


if __name__ == "__main__":
    main()
