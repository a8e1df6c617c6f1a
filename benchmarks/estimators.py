"""Estimators on WMT MQM: error against simple random sampling, bias, wins, coverage.

    python -m benchmarks.estimators [DATA_FOLDER] [--draws 40] [--sets a,b] [--methods x,y]
                                    [--sizes 10%,30%] [--turned]

The folder holds ``wmtYY_mqm_LP.parquet`` (``system``, ``doc``, ``seg_id``, ``mqm`` and metrics).
Every system but the reference by itself, the mean of its raters, 5-50 % of the segments unless
said. Besides all metrics together: chrF alone, the target's length alone, a random number alone;
``--turned`` multiplies every other metric by -1000.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from assay.estimation.evaluate import evaluate_estimators, summarise_evaluation
from assay.tables.tables import Ratings, TestSet, read_ratings, read_scores
from benchmarks.claims import claim, skipped
from benchmarks.environment import DATA

METHODS = "baseline,docs-prop,docs-prop+cv-knn,snippets+auto,balanced+auto"
SIZES = "5%,10%,15%,20%,25%,30%,35%,40%,45%,50%"
CLAIMED = ("docs-prop+cv-knn", "snippets+auto", "balanced+auto")
NO_METRICS = frozenset({
    "system", "is_human", "domain", "doc", "doc_seg", "seg", "src_chars", "hyp_chars", "lp", "mqm",
    "n_err", "n_major", "df_selected", "da_sqm",
})  # fmt: skip
ANSWERS = ("mqm_", "psqm_", "da_")
FILES = {"20-ende": "Human-A.0", "20-zhen": "Human-A.0", "22-ende": "refA", "23-ende": "refA",
         "23-zhen": "refA"}  # fmt: skip
SETS = {
    "20-ende": ("20-ende", "all"),
    "20-zhen": ("20-zhen", "all"),
    "20-ende-chrF": ("20-ende", "chrF"),
    "20-zhen-chrF": ("20-zhen", "chrF"),
    "20-ende-random": ("20-ende", "random"),
    "20-zhen-random": ("20-zhen", "random"),
    "22-ende": ("22-ende", "all"),
    "23-ende": ("23-ende", "all"),
    "23-zhen": ("23-zhen", "all"),
    "22-ende-length": ("22-ende", "hyp_chars"),
    "23-ende-length": ("23-ende", "hyp_chars"),
    "23-zhen-length": ("23-zhen", "hyp_chars"),
}
"""Names of test sets: the file, and which metrics of it."""


def load(folder: Path, name: str, *, turned: bool = False) -> tuple[TestSet, Ratings] | None:
    """A fully rated test set with the metrics its name asks for; None where the file is absent."""
    source, wanted = SETS[name]
    path = folder / f"wmt{source.replace('-', '_mqm_')}.parquet"
    if not path.is_file():
        return None
    frame = pl.read_parquet(path).rename({"seg_id": "seg"})
    frame = frame.filter(pl.col("system") != FILES[source]).with_columns(
        pl.col("mqm").fill_nan(None)
    )
    frame = frame.filter(pl.col("mqm").is_not_null())
    everything = frame["seg"].n_unique()
    rated = frame.group_by("system").len().filter(pl.col("len") == everything)["system"].to_list()
    frame = frame.filter(pl.col("system").is_in(rated))
    if wanted == "random":
        rng = np.random.default_rng(1)
        frame = frame.with_columns(random=rng.random(frame.height))
    metrics = [wanted] if wanted != "all" else [
        column for column in frame.columns
        if column not in NO_METRICS and not column.startswith(ANSWERS)
        and frame[column].dtype.is_numeric() and frame[column].drop_nans().drop_nulls().len()
    ]  # fmt: skip
    if turned:
        frame = frame.with_columns(-1000 * pl.col(column) for column in metrics[::2])
    test_set = read_scores(frame.select("system", "doc", "seg", *metrics), metrics=metrics)
    ratings = frame.select("system", "doc", "seg", score="mqm")
    return test_set, read_ratings(ratings, test_set, better="lower")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--sets", default="20-ende,20-zhen")
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--turned", action="store_true")
    parser.add_argument("--seed", type=int, default=2026)
    given = parser.parse_args()
    for name in given.sets.split(","):
        found = load(given.folder, name, turned=given.turned)
        if found is None:
            skipped(f"{given.folder} has no file for {name}")
            continue
        for line in lines(name, *found, given):
            print(line, flush=True)


def lines(name: str, test_set: TestSet, ratings: Ratings, given: argparse.Namespace
          ) -> Iterator[str]:  # fmt: skip
    start = time.perf_counter()
    sizes = [float(size.rstrip("%")) / 100 for size in given.sizes.split(",")]
    records = evaluate_estimators(
        test_set, ratings, methods=given.methods.split(","), sizes=sizes, draws=given.draws,
        rng=given.seed, workers=0,
    )  # fmt: skip
    result = summarise_evaluation(records, seed=given.seed)
    yield (
        f"{name}: {len(test_set.systems)} systems, {test_set.segments.height} segments,"
        f" {len(test_set.metrics)} metrics, {given.draws} draws"
        f" ({time.perf_counter() - start:.0f} s)"
    )
    for item in result.methods:
        if item.method in CLAIMED and item.gain is not None:
            claim(
                f"error of a system's score against simple random sampling, WMT{name}, 5-50 %"
                f" rated: `{item.method}` lowers it by", item.gain, unit="%",
                peer=f"± {item.gain_error:.1f}; coverage {item.coverage:.1%}",
            )  # fmt: skip
        gain = f"{item.gain:5.1f} ± {item.gain_error:.1f}" if item.gain is not None else ""
        win = "" if item.win is None else f"wins {item.win:4.0%}"
        yield (
            f"  {item.method:28} error {item.error:.4f}  gain {gain}  {win:9}  bias"
            f" {item.bias:+.3f}  coverage {item.coverage:.1%} (worst system"
            f" {item.worst_coverage:.1%})  ±{item.half_width:.3f}"
        )


if __name__ == "__main__":
    main()
