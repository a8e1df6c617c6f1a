"""Every interval side by side on WMT20 MQM: coverage, worst system, half-width at 10, 30, 50 %.

    python -m benchmarks.intervals [DATA_FOLDER] [--draws 100] [--designs a,b]

The folder holds ``wmt20_mqm_ende.parquet`` and ``wmt20_mqm_zhen.parquet``. First the t interval of
the default estimator (all metrics, mean of three raters) under every design, then the intervals
for the mean of a simple random sample; of the slow ones a tenth of the draws or less.
Cells outside 94.5-97 %, or with a system below 93 %, are marked
by a star. The same Markdown tables are in docs/estimation.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from assay.estimation.evaluate import evaluate_estimators
from assay.estimation.trials import EvaluationRecord
from benchmarks import bounds
from benchmarks.claims import claim, skipped
from benchmarks.environment import DATA
from benchmarks.estimators import load

SETS = {"20-ende": "en-de", "20-zhen": "zh-en"}
SHARES = (0.1, 0.3, 0.5)
DESIGNS = "segments,docs-prop,snippets,balanced,documents"
MEANS = {
    "t": 1,
    "t, skew-corrected": 1,
    "betting": 10,
    "Bernstein": 10,
    "Hoeffding": 10,
}
"""Intervals for the mean of a simple random sample, and by how much to divide the draws."""


def designs(folder: Path, name: str, wanted: list[str], draws: int) -> Iterator[str]:
    """The t interval of the default estimator, one line per design."""
    found = load(folder, name)
    assert found is not None
    methods = [f"{design}+auto" for design in wanted]
    records = list(
        evaluate_estimators(*found, methods=methods, sizes=SHARES, draws=draws, rng=2026, workers=0)
    )
    for method in methods:
        own = [record for record in records if record.method == method]
        yield row(SETS[name], method, [[r for r in own if r.size == size] for size in SHARES])
    systems = len({record.system for record in records})
    claim(
        f"coverage of the default 95 % interval, WMT{name}, mean over {len(methods)} designs, 10-50"
        " % rated", 100 * float(np.mean([record.coverage for record in records])), goal=94.5,
        at_most=False, unit="%", peer=f"{systems} systems, {draws} draws each",
    )  # fmt: skip


def row(pair: str, label: str, sizes: list[list[EvaluationRecord]]) -> str:
    cells = []
    for records in sizes:
        coverage = 100 * np.array([record.coverage for record in records])
        half = float(np.mean([record.half_width for record in records]))
        cells.append(cell(float(coverage.mean()), float(coverage.min()), half))
    return f"| {pair} | `{label}` | " + " | ".join(cells) + " |"


def cell(coverage: float, worst: float, half: float) -> str:
    outside = not 94.5 <= coverage <= 97 or worst < 93
    return f"{coverage:.1f} ({worst:.1f}){'*' if outside else ''} ±{half:.3f}"


def means(folder: Path, pair: str, draws: int) -> Iterator[str]:
    """The intervals for the mean of a simple random sample, one line each."""
    file, oracle = bounds.FILES[pair]
    scores = bounds.load(folder / file)
    known = bounds.methods(oracle)
    for label, fewer in MEANS.items():
        cells = []
        for share in SHARES:
            n = round(share * scores.shape[1])
            found = bounds.trials(known[label], scores, n, max(1, draws // fewer))
            coverage = 100 * (1 - found[..., :2].sum(axis=2).mean(axis=1))
            cells.append(cell(coverage.mean(), coverage.min(), found[..., 2].mean()))
        yield f"| {pair} | {label} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--designs", default=DESIGNS)
    given = parser.parse_args()
    if not all((given.folder / file).is_file() for file, _ in bounds.FILES.values()):
        skipped(f"{given.folder} has no WMT20 ratings to sample from")
        return
    start, used = time.perf_counter(), time.process_time()
    print(f"coverage % (worst system) ±half-width, {given.draws} draws")
    print("| pair | interval | 10 % | 30 % | 50 % |\n|---|---|---|---|---|")
    for name in SETS:
        for line in designs(given.folder, name, given.designs.split(","), given.draws):
            print(line, flush=True)
    for pair in SETS.values():
        for line in means(given.folder, pair, given.draws):
            print(line, flush=True)
    print(f"{time.perf_counter() - start:.0f} s, {time.process_time() - used:.0f} CPU s here")


if __name__ == "__main__":
    main()
