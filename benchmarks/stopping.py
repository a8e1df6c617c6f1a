"""Stopping at a target half-width on WMT20 MQM: share of the segments rated, and coverage.

    python -m benchmarks.stopping [DATA_FOLDER] [--draws 100]

The folder holds ``wmt20_mqm_ende.parquet`` and ``wmt20_mqm_zhen.parquet``: ``mqm`` is the mean of
three raters, other columns are metrics. Every system but the reference by itself; looks every
1 % of N after 60 ratings. ``hoeffding, oracle`` knows the paper's R = 4 / 7.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from assay.estimation.evaluate import evaluate_stopping
from assay.estimation.looks import look_sizes
from assay.stats.bounds import hoeffding_bound
from assay.tables.tables import Ratings, TestSet, read_ratings, read_scores
from benchmarks.claims import claim, skipped
from benchmarks.environment import DATA

FILES = {
    "en-de": ("wmt20_mqm_ende.parquet", 0.2, 4.0),
    "zh-en": ("wmt20_mqm_zhen.parquet", 0.4, 7.0),
}
NO_METRIC = ("system", "seg", "doc", "doc_seg", "is_human", "mqm")
METHODS = ("interleaved", "interleaved, first look", "random + t", "hoeffding", "betting")


def load(path: Path) -> tuple[TestSet, Ratings]:
    frame = pl.read_parquet(path).rename({"seg_id": "seg"})
    frame = frame.filter(~pl.col("system").str.starts_with("Human-A"))
    human = ("mqm_r", "psqm_", "da_")
    metrics = [n for n in frame.columns if n not in NO_METRIC and not n.startswith(human)]
    test_set = read_scores(frame, metrics=metrics, lower_metrics=["TER"])
    rows = frame.select("system", "doc", "seg", score="mqm")
    return test_set, read_ratings(rows, test_set, better="lower", range=(0.0, 25.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=100)
    given = parser.parse_args()
    if not all((given.folder / file).is_file() for file, *_ in FILES.values()):
        skipped(f"{given.folder} has no WMT20 ratings to sample from")
        return
    for lp, (file, target, oracle) in FILES.items():
        test_set, ratings = load(given.folder / file)
        for method in METHODS:
            draws = max(1, given.draws // 20) if method == "betting" else given.draws
            show(lp, target, method, draws, test_set, ratings)
        known = hoeffding_oracle(ratings.matrix(test_set), target, oracle, given.draws)
        print(f"{lp} ±{target:.2f} {'hoeffding, oracle':24} {known}", flush=True)


def hoeffding_oracle(scores: np.ndarray, target: float, width: float, draws: int) -> str:
    """The paper's bound knows R, so that its stop is known beforehand; scores beyond R exist."""
    size = scores.shape[1]
    bounds = {n: hoeffding_bound(n, size, width, 0.95) for n in look_sizes(size, size)}
    n = next(n for n, bound in bounds.items() if bound <= target)
    rng, hits = np.random.default_rng(2026), []
    for row in scores:
        means = np.array([rng.permutation(row)[:n].mean() for _ in range(draws)])
        hits.append(np.mean(np.abs(means - row.mean()) <= bounds[n]))
    return f"{n / size:6.1%} of N, coverage {np.mean(hits):.1%} (worst system {min(hits):.1%})"


def show(
    lp: str, target: float, method: str, draws: int, test_set: TestSet, ratings: Ratings
) -> None:
    name = method.removesuffix(", oracle")
    records = list(
        evaluate_stopping(
            test_set, ratings, half_width=target, methods=[name], draws=draws, rng=2026, workers=0
        )
    )
    share, coverage = (
        np.array([getattr(r, key) for r in records]) for key in ("share", "coverage")
    )
    error = np.sqrt(0.05 * 0.95 / draws / len(records))
    print(
        f"{lp} ±{target:.2f} {method:24} {share.mean():6.1%} of N, coverage {coverage.mean():.1%}"
        f" ± {error:.1%} (worst system {coverage.min():.1%}), {draws} draws",
        flush=True,
    )
    if method in ("interleaved", "hoeffding"):
        claim(
            f"ratings until a score is known within ±{target:g}, WMT20 {lp}, `{method}`",
            100 * share.mean(), unit="% of all",
            peer=f"coverage {coverage.mean():.1%} ± {error:.1%}",
        )  # fmt: skip


if __name__ == "__main__":
    main()
