"""Intervals for a mean side by side on WMT20 MQM: coverage and half-width, and what they cost.

    python -m benchmarks.bounds [DATA_FOLDER] [--draws 15] [--pair en-de]

The folder holds ``wmt20_mqm_ende.parquet`` and ``wmt20_mqm_zhen.parquet``: one row per system and
segment with ``mqm``, the mean of three raters. Simple random samples of every system but
the reference translation, ratings in [0, 25]; the same samples for every interval.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from assay.stats.betting import betting_interval, betting_sequence
from assay.stats.bounds import (
    bernstein_bound,
    hoeffding_bound,
    skew_t_interval,
    skew_terms,
)
from assay.stats.intervals import Interval, t_interval
from assay.stats.random import as_rng, spawn
from benchmarks.claims import claim, skipped
from benchmarks.environment import DATA

FILES = {"en-de": ("wmt20_mqm_ende.parquet", 4.0), "zh-en": ("wmt20_mqm_zhen.parquet", 7.0)}
SHARES, FEW = (0.1, 0.3, 0.5), (30, 45, 60)
WIDTH, LEVEL = 25.0, 0.95

Method = Callable[[np.ndarray, int, np.random.Generator], Interval]


def around(values: np.ndarray, margin: float) -> Interval:
    center = float(np.mean(values))
    return Interval(center - margin, center + margin, LEVEL)


def stderr_of(values: np.ndarray, population: int) -> float:
    n = len(values)
    return float(np.std(values, ddof=1) * np.sqrt((1 - n / population) / n))


def student(values: np.ndarray, population: int, _: np.random.Generator) -> Interval:
    stderr = stderr_of(values, population)
    return t_interval(float(np.mean(values)), stderr, len(values) - 1, LEVEL)


def skewed(values: np.ndarray, population: int, _: np.random.Generator) -> Interval:
    stderr, terms = stderr_of(values, population), skew_terms(values, population)
    return skew_t_interval(float(np.mean(values)), stderr, *terms, len(values) - 1, LEVEL)


def always(values: np.ndarray, population: int, _: np.random.Generator) -> Interval:
    lows, highs = betting_sequence(values, population, 0.0, WIDTH, LEVEL)
    return Interval(float(lows[-1]), float(highs[-1]), LEVEL)


def methods(oracle: float) -> dict[str, Method]:
    """Every interval under its name; ``oracle`` is the paper's R found by looking at the truth."""
    return {
        "Hoeffding": lambda x, N, _: around(x, hoeffding_bound(len(x), N, WIDTH, LEVEL)),
        "Hoeffding, oracle": lambda x, N, _: around(x, hoeffding_bound(len(x), N, oracle, LEVEL)),
        "Bernstein": lambda x, N, _: around(x, bernstein_bound(x, N, WIDTH, LEVEL)),
        "Bernstein-Serfling": lambda x, N, _: around(
            x, bernstein_bound(x, N, WIDTH, LEVEL, serfling=True)
        ),
        "betting": lambda x, N, _: betting_interval(x, N, 0.0, WIDTH, LEVEL),
        "betting, any time": always,
        "t": student,
        "t, skew-corrected": skewed,
    }


def load(path: Path) -> np.ndarray:
    """Systems x segments."""
    frame = pl.read_parquet(path).filter(~pl.col("system").str.starts_with("Human-A"))
    frame = frame.sort("system", "seg_id")
    return frame["mqm"].cast(pl.Float64).to_numpy().reshape(frame["system"].n_unique(), -1)


def trials(method: Method, scores: np.ndarray, n: int, draws: int) -> np.ndarray:
    """Systems x draws x (truth below, truth above, half-width)."""
    N = scores.shape[1]
    found = np.empty((len(scores), draws, 3))
    for i, rng in enumerate(spawn(as_rng(1), len(scores))):
        truth, own = scores[i].mean(), spawn(rng, 1)[0]
        for j in range(draws):
            interval = method(scores[i, rng.permutation(N)[:n]], N, own)
            found[i, j] = truth < interval.low, truth > interval.high, interval.half_width
    return found


def shown(found: np.ndarray) -> str:
    """Coverage in % (of the worst system), truth below and above in %, and half-width."""
    below, above, half = found.mean(axis=(0, 1))
    worst = 1 - found[..., :2].sum(axis=2).mean(axis=1).max()
    return (
        f"{100 * (1 - below - above):5.1f} ({100 * worst:5.1f})"
        f" {100 * below:3.1f}/{100 * above:3.1f} {half:.3f}"
    )


def speed() -> None:
    values = as_rng(1).gamma(1.0, 2.0, 1000).clip(0, WIDTH)
    for name, work in {"interval": betting_interval, "sequence": betting_sequence}.items():
        taken = []
        for _ in range(5):
            start = time.perf_counter()
            work(values, 2000, 0.0, WIDTH, LEVEL)
            taken.append(time.perf_counter() - start)
        claim(f"betting {name} of 1000 ratings out of 2000", 1000 * min(taken), unit="ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=15)
    parser.add_argument("--pair", choices=FILES, help="one language pair only")
    given = parser.parse_args()
    speed()
    if not all((given.folder / file).is_file() for file, _ in FILES.values()):
        skipped(f"{given.folder} has no WMT20 ratings to sample from")
        return
    print(f"coverage % (worst system), truth below/above %, half-width; {given.draws} draws")
    for lp, (file, oracle) in FILES.items():
        if given.pair not in (None, lp):
            continue
        scores = load(given.folder / file)
        few = ("t", "t, skew-corrected", "betting")
        sizes = [round(share * scores.shape[1]) for share in SHARES]
        for label, counts in {"10/30/50 %": sizes, "30/45/60": FEW}.items():
            print(f"{lp}, n = {label} of {scores.shape[1]}, {len(scores)} systems")
            widths = {}
            for name, method in methods(oracle).items():
                if counts is FEW and name not in few:
                    continue
                cells = [trials(method, scores, n, given.draws) for n in counts]
                print(f"  {name:24}", " | ".join(map(shown, cells)), flush=True)
                widths[name] = float(np.mean([cell[..., 2].mean() for cell in cells]))
            if counts is sizes:
                claim(
                    f"half-width of intervals that are guaranteed, WMT20 {lp} at {label}:"
                    " betting against Hoeffding", widths["betting"] / widths["Hoeffding"],
                    unit="times", peer=f"t {widths['t'] / widths['Hoeffding']:.2f} times",
                )  # fmt: skip


if __name__ == "__main__":
    main()
