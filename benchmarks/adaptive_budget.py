"""Adaptive budget over systems beside uniform snippets on WMT20 MQM: pairs in the wrong order.

    python -m benchmarks.adaptive_budget [DATA_FOLDER] [--draws 400] [--share 0.4]

The folder holds ``wmt20_mqm_ende.parquet`` and ``wmt20_mqm_zhen.parquet``: one row per system and
segment with ``mqm`` (the mean of three raters), ``doc`` and ``is_human``. Both ways rate the same
number of outputs. Systems: machines only, and with the human translations but the reference.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from assay.designs.plan import Layout
from assay.designs.snippets import CircularPlan, TilesPlan
from assay.sampling.adaptive import adaptive_run
from assay.stats.clustered import prefix_sums, window_sums
from assay.stats.orders import discordant
from assay.stats.random import as_rng, spawn
from benchmarks.claims import claim, skipped
from benchmarks.environment import DATA

FILES = {"en-de": "wmt20_mqm_ende.parquet", "zh-en": "wmt20_mqm_zhen.parquet"}
GROUPS = {
    "machines": ~pl.col("is_human"),
    "all but the reference": ~pl.col("system").str.starts_with("Human-A"),
}


def load(path: Path, keep: pl.Expr) -> tuple[np.ndarray, Layout]:
    frame = pl.read_parquet(path).filter(keep).sort("system", "seg_id")
    count = frame["system"].n_unique()
    scores = frame["mqm"].to_numpy().reshape(count, -1)
    document = frame["doc"].to_numpy()[: scores.shape[1]]
    starts = np.flatnonzero(np.concatenate([[True], document[1:] != document[:-1]]))
    return scores, Layout(np.diff(np.concatenate([starts, [len(document)]])))


def uniform(
    scores: np.ndarray, layout: Layout, n: int, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """The share of discordant pairs in every matched sample of snippets."""
    plan = (TilesPlan if 2 * n <= layout.population else CircularPlan)(layout, n, 10)
    drawn = plan.draw(rng, draws)
    sums = window_sums(prefix_sums(scores), drawn.starts, drawn.stops).sum(axis=1)
    wrong = discordant(sums / drawn.sizes[:, None], scores.mean(axis=1))
    return np.asarray(wrong.mean(axis=1))


def adaptive(
    scores: np.ndarray, layout: Layout, n: int, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """The share of discordant pairs in every adaptive run, and the share of the budget spent."""
    runs = [adaptive_run(scores, layout, n, one) for one in spawn(rng, draws)]
    wrong = discordant(np.stack([run.means for run in runs]), scores.mean(axis=1))
    spent = np.mean([run.counts.sum() for run in runs]) / (n * len(scores))
    return np.asarray(wrong.mean(axis=1)), float(spent)


def error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--share", type=float, default=0.4)
    given = parser.parse_args()
    if not all((given.folder / file).is_file() for file in FILES.values()):
        skipped(f"{given.folder} has no WMT20 ratings to rank systems by")
        return
    print(f"discordant pairs in %, {given.share:.0%} of the outputs, {given.draws} draws")
    for group, keep in GROUPS.items():
        means = []
        for lp, file in FILES.items():
            scores, layout = load(given.folder / file, keep)
            n = round(given.share * layout.population)
            before = uniform(scores, layout, n, given.draws, as_rng(1))
            after, spent = adaptive(scores, layout, n, given.draws, as_rng(2))
            means.append((before.mean(), after.mean(), error(before), error(after)))
            print(
                f"{group:22} {lp} ({len(scores)} systems): uniform {100 * before.mean():.2f}"
                f" ± {100 * error(before):.2f}, adaptive {100 * after.mean():.2f}"
                f" ± {100 * error(after):.2f}, ratio {after.mean() / before.mean():.2f},"
                f" {spent:.1%} of the budget spent"
            )
        a, b, da, db = np.array(means).T
        ratio = b.mean() / a.mean()
        spread = ratio * np.hypot(np.hypot(*da) / a.sum(), np.hypot(*db) / b.sum())
        claim(
            f"pairs of systems in the wrong order, WMT20 MQM, {group}: adaptive budget against"
            " uniform snippets", ratio, unit="times",
            peer=f"± {spread:.3f}; {100 * b.mean():.2f} % and {100 * a.mean():.2f} % of pairs",
        )  # fmt: skip


if __name__ == "__main__":
    main()
