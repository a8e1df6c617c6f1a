"""The order of systems with the metrics' help: beside ratings alone, and subset2evaluate.

    python -m benchmarks.honesty_composite [DATA_FOLDER] [--draws 40] [--sets a,b] [--sizes 20,50]

Fully rated WMT sets (every system but the reference; the truth is the mean of all ratings), the
same 20, 50 or 100 random segments rated for all systems. Besides the metrics as they are: all of
them raised by 1.5 standard deviations for one system, each system in turn; metrics of pure noise,
once of single outputs and once with a random level of each system; every other metric turned round.
The peer's selectors choose as many segments by one metric and average the ratings of these.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from assay.estimation.composite_trial import CompositeDraws, draw_composites
from assay.stats.intervals import LEVEL
from assay.tables.tables import TestSet, read_scores
from benchmarks.claims import claim, skipped
from benchmarks.environment import DATA, peer_python
from benchmarks.estimators import load
from benchmarks.subset_selection import METHODS, PACKAGE, THEIRS

SETS = ("20-ende", "20-zhen", "22-ende", "23-zhen")
SIZES = (20, 50, 100)
KINDS = ("as given", "one system raised", "noise", "noise between systems", "turned")
WORST_LOSS = 1.05


@dataclass(frozen=True)
class Row:
    """One set, size and kind of metrics.

    ``said`` and ``right`` have a number for probabilities of .5-.7, .7-.9 and above;
    ``order_error`` is the Monte-Carlo standard error of the difference between the two orders.
    """

    name: str
    n: int
    kind: str
    draws: int
    direct_order: float
    order: float
    order_error: float
    direct_rms: float
    rms: float
    coverage: float
    worst_coverage: float
    said: tuple[float, ...]
    right: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The error with the metrics' help over the direct one."""
        return self.rms / self.direct_rms

    def __str__(self) -> str:
        """The line that is printed."""
        sure = " ".join(f"{s:.2f}/{r:.2f}" for s, r in zip(self.said, self.right, strict=True))
        return (
            f"  WMT{self.name} {self.n:3} {self.kind:22}"
            f" in order {self.direct_order:.3f} -> {self.order:.3f}"
            f" (± {self.order_error:.3f})  rms {self.direct_rms:.3f} -> {self.rms:.3f}"
            f" ({self.ratio:.2f})  coverage {self.coverage:.3f}, worst system"
            f" {self.worst_coverage:.3f}  said/right {sure}"
        )


def composite(
    folder: Path = DATA, *, draws: int = 200, sets: Iterable[str] = SETS,
    sizes: Sequence[int] = SIZES, kinds: Sequence[str] = KINDS, seed: int = 1,
) -> Iterator[Row]:  # fmt: skip
    """Rows of the table, set by set; a set whose file is absent is said to be skipped."""
    for name in sets:
        found = load(folder, name)
        if found is None:
            skipped(f"{folder} has no file for {name}")
            continue
        test_set, ratings = found
        x = ratings.placed_in(test_set).matrix(test_set)
        for n in sizes:
            drawn = random_segments(x.shape[1], n, draws, seed)
            for kind in kinds:
                yield summary(name, n, kind, list(tried(test_set, x, drawn, kind)), len(x))


def random_segments(population: int, n: int, draws: int, seed: int) -> np.ndarray:
    """Samples x segments: which are drawn."""
    rng = np.random.default_rng([seed, n])
    drawn = np.zeros((draws, population), dtype=bool)
    for row in drawn:
        row[rng.permutation(population)[:n]] = True
    return drawn


def tried(
    test_set: TestSet, x: np.ndarray, drawn: np.ndarray, kind: str
) -> Iterator[CompositeDraws]:
    """Both estimates, with the metrics changed as the kind says."""
    if kind == "one system raised":
        for k in range(len(x)):
            own = drawn[k :: len(x)]
            if len(own):
                yield draw_composites(changed(test_set, kind, k), x, own, LEVEL)
    else:
        yield draw_composites(changed(test_set, kind, 0), x, drawn, LEVEL)


def changed(test_set: TestSet, kind: str, system: int) -> TestSet:
    """The test set with other values of its metrics."""
    frame, rng = test_set.frame, np.random.default_rng(5)
    who = frame["system"].rank("dense").to_numpy() - 1
    named = test_set.systems[system]
    columns = {}
    for k, metric in enumerate(test_set.metrics):
        values = frame[metric].cast(pl.Float64).to_numpy()
        match kind:
            case "one system raised":
                rise = 1.5 * np.nanstd(values)
                columns[metric] = values + rise * (frame["system"] == named).to_numpy()
            case "noise":
                columns[metric] = rng.standard_normal(len(values))
            case "noise between systems":
                levels = rng.standard_normal(len(test_set.systems))
                columns[metric] = rng.standard_normal(len(values)) + levels[who]
            case "turned":
                columns[metric] = values * (-1 if k % 2 else 1)
            case _:
                columns[metric] = values
    return read_scores(
        frame.with_columns(**{name: pl.Series(v) for name, v in columns.items()}),
        metrics=list(test_set.metrics),
    )


def summary(name: str, n: int, kind: str, parts: list[CompositeDraws], systems: int) -> Row:
    """What all draws say together."""
    direct, helped, low, high, p = (
        np.concatenate([part[k] for part in parts]) for k in range(5)
    )  # fmt: skip
    truth = parts[0].truth
    before, after = (np.sign(found) == np.sign(truth) for found in (direct, helped))
    held = (low <= truth) & (truth <= high)
    pairs = np.array(list(combinations(range(systems), 2)))
    by_system = [held[:, (pairs == k).any(axis=1)].mean() for k in range(systems)]
    sure = np.maximum(p, 1 - p)
    bins = [(sure >= a) & (sure < b) for a, b in ((0.5, 0.7), (0.7, 0.9), (0.9, 1.1))]
    gain = (after.mean(axis=1) - before.mean(axis=1)).std(ddof=1) / np.sqrt(len(direct))
    return Row(
        name, n, kind, len(direct), float(before.mean()), float(after.mean()), float(gain),
        rms(direct - truth), rms(helped - truth), float(held.mean()), float(min(by_system)),
        tuple(float(sure[b].mean()) for b in bins), tuple(float(after[b].mean()) for b in bins),
    )  # fmt: skip


def rms(errors: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt((errors**2).mean()))


def selected(folder: Path, sets: Iterable[str], sizes: Sequence[int], python: Path
             ) -> Iterator[tuple[str, int, str, float, float]]:  # fmt: skip
    """The peer's selectors: set, n, method, pairs in order, rms of a difference.

    The order by the metric alone stands beside them (n = 0): what is chosen so that the metric's
    order comes out can hardly give another one.
    """
    for name in sets:
        found = load(folder, name)
        if found is None:
            continue
        test_set, ratings = found
        x = ratings.placed_in(test_set).matrix(test_set)
        i, j = np.triu_indices(len(x), 1)
        truth = x.mean(axis=1)[i] - x.mean(axis=1)[j]
        alone = -np.nanmean(test_set.matrix(test_set.metrics[0]), axis=1)
        right = np.sign(alone[i] - alone[j]) == np.sign(truth)
        yield name, 0, "metric alone", float(right.mean()), float("nan")
        for method, orders in peer_orders(python, test_set).items():
            for n in sizes:
                means = np.array([x[:, order[:n]].mean(axis=1) for order in orders])
                gap = means[:, i] - means[:, j]
                right = np.sign(gap) == np.sign(truth)
                yield name, n, method, float(right.mean()), rms(gap - truth)


def peer_orders(python: Path, test_set: TestSet, draws: int = 20) -> dict[str, list[list[int]]]:
    """All segments in the orders of each method, by the first metric."""
    metric = test_set.metrics[0]
    scores = np.nan_to_num(test_set.matrix(metric).T).tolist()
    with tempfile.TemporaryDirectory() as place:
        data, answer = Path(place) / "data.json", Path(place) / "answer.json"
        data.write_text(json.dumps([[scores], METHODS, metric, draws]), "utf-8")
        subprocess.run([str(python), "-c", THEIRS, str(data), str(answer)], check=True)
        chosen: list[dict[str, list[list[int]]]] = json.loads(answer.read_text("utf-8"))[0]
    return chosen[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    given = parser.parse_args()
    sets, sizes = given.sets.split(","), [int(n) for n in given.sizes.split(",")]
    rows = []
    for row in composite(given.folder, draws=given.draws, sets=sets, sizes=sizes):
        rows.append(row)
        print(row, flush=True)
    report(rows)
    python = peer_python("subset2evaluate", PACKAGE) if rows else None
    if python is not None:
        for name, n, method, order, error in selected(given.folder, sets, sizes, python):
            print(f"  WMT{name} {n:3} subset2evaluate {method:12} in order {order:.3f}"
                  f"  rms {error:.3f}", flush=True)  # fmt: skip


def report(rows: list[Row]) -> None:
    """What is claimed of all rows."""
    if not rows:
        return
    for kind in KINDS:
        of_kind = [row for row in rows if row.kind == kind]
        worst = max(of_kind, key=lambda row: row.ratio)
        least = min(of_kind, key=lambda row: row.coverage)
        claim(
            f"order with the metrics' help, metrics {kind}: largest error of a difference against"
            " the direct estimate", worst.ratio, goal=WORST_LOSS, unit="times",
            peer=f"WMT{worst.name}, {worst.n} rated; mean"
            f" {np.mean([row.ratio for row in of_kind]):.2f}; pairs in order"
            f" {np.mean([row.direct_order for row in of_kind]):.3f} ->"
            f" {np.mean([row.order for row in of_kind]):.3f}; coverage"
            f" {np.mean([row.coverage for row in of_kind]):.3f}, least {least.coverage:.3f}, worst"
            f" system {min(row.worst_coverage for row in of_kind):.3f}",
        )  # fmt: skip


if __name__ == "__main__":
    main()
