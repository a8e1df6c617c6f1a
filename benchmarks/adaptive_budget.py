"""Adaptive budget over systems beside uniform snippets on WMT20 MQM: pairs in the wrong order.

    python -m benchmarks.adaptive_budget [DATA_FOLDER] [--draws 400] [--share 0.4]

The folder holds ``wmt20_mqm_ende.parquet`` and ``wmt20_mqm_zhen.parquet``: one row per system and
segment with ``mqm`` (the mean of three raters), ``doc`` and ``is_human``. Both ways rate the same
number of outputs. Systems: machines only, and with the human translations but the reference.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from assay.designs.plan import Layout
from assay.designs.rounds import round_order, short_sections
from assay.designs.snippets import CircularPlan, TilesPlan
from assay.sampling.next import CLOSE_Z, FIRST_SHARE, matched_z, still_open
from assay.stats.clustered import prefix_sums, window_sums
from assay.stats.intervals import discordant
from assay.stats.random import as_rng, spawn
from benchmarks.claims import claim, skipped
from benchmarks.environment import DATA

FILES = {"en-de": "wmt20_mqm_ende.parquet", "zh-en": "wmt20_mqm_zhen.parquet"}
GROUPS = {
    "machines": ~pl.col("is_human"),
    "all but the reference": ~pl.col("system").str.starts_with("Human-A"),
}


BATCH = 30
"""Segments rated between two looks."""
LONGEST_SNIPPET = 10


class AdaptiveRun(NamedTuple):
    """What a run ends with: every system's mean score and number of rated segments.

    The means are made comparable: what a system was not rated on is filled in from the systems
    that were, see :func:`_final_means`.
    """

    means: np.ndarray
    counts: np.ndarray


def adaptive_run(
    scores: np.ndarray,
    layout: Layout,
    n: int,
    rng: np.random.Generator,
    *,
    batch: int = BATCH,
    first: float = FIRST_SHARE,
    close: float = CLOSE_Z,
) -> AdaptiveRun:
    """Spend n * systems ratings adaptively, on known ``scores`` (systems x segments).

    The last batch that would exceed the budget is not rated. When no pair is close any more, the
    pair with the smallest |z| is rated on, so that the budget is spent.

    >>> scores = np.random.default_rng(1).normal(size=(3, 60)) + np.array([[0.0], [0.1], [9.0]])
    >>> run = adaptive_run(scores, Layout(np.full(6, 10)), 30, np.random.default_rng(2), batch=5)
    >>> bool(run.counts[2] == run.counts.min()), bool(run.counts.sum() <= 90)
    (True, True)
    """
    starts, stops = snippet_order(layout, first * n, rng)
    marks = _marks(np.cumsum(stops - starts), first * n, batch)
    means, z = _looks(scores, starts, stops, marks)
    level = np.zeros(len(scores), dtype=np.int64)
    spent, last = int(marks[0]) * len(level), len(marks) - 1
    i, j = np.triu_indices(len(level), 1)
    while True:
        now = np.abs(z[np.minimum(level[i], level[j]), np.arange(len(i))])
        chosen = still_open(now, level, level < last, close)[0]
        cost = int((marks[np.minimum(level + 1, last)] - marks[level])[chosen].sum())
        if not cost or spent + cost > n * len(level):
            return AdaptiveRun(_final_means(means, level), marks[level])
        level[chosen] += 1
        spent += cost


def snippet_order(
    layout: Layout, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The whole test set as snippets [start, stop), in an order whose beginnings are all samples.

    Those of the design ``rounds``, T = ceil(N / share).
    """
    parts = int(np.ceil(layout.population / max(share, 1.0)))
    sections = short_sections(layout.lengths, parts, LONGEST_SNIPPET)
    starts, stops = round_order(sections, parts, rng)
    full = stops > starts
    return starts[full], stops[full]


def _marks(ends: np.ndarray, share: float, batch: int) -> np.ndarray:
    """After how many segments to look: the first share, then every batch, at ends of snippets."""
    marks = [int(ends[np.searchsorted(ends, share - 1e-9)])]
    while marks[-1] < ends[-1]:
        marks.append(int(ends[np.searchsorted(ends, min(ends[-1], marks[-1] + batch))]))
    return np.array(marks)


def _looks(
    scores: np.ndarray, starts: np.ndarray, stops: np.ndarray, marks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """At every mark, the systems' means and every pair's z."""
    prefix = np.concatenate([np.zeros((1, len(scores))), np.cumsum(scores.T, axis=0)])
    sums, sizes = prefix[stops] - prefix[starts], (stops - starts)[:, None].astype(float)
    i, j = np.triu_indices(len(scores), 1)
    gaps = sums[:, i] - sums[:, j]
    clusters = np.searchsorted(np.cumsum(sizes), marks) + 1

    def so_far(values: np.ndarray) -> np.ndarray:
        return np.asarray(np.cumsum(values, axis=0)[clusters - 1])

    moments = (so_far(gaps), so_far(gaps**2), so_far(gaps * sizes), so_far(sizes**2))
    n = marks[:, None]
    z = matched_z(*moments, n, clusters[:, None], np.full((1, 1), scores.shape[1]))
    return so_far(sums) / n, z


def _final_means(means: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Means that can be compared although some systems were rated further than others.

    A system that stopped at one look is moved on by as much as the means of those that went on
    moved on average: segments that came later may have been harder, for all systems alike.
    """
    went_on = level[None, :] > np.arange(len(means) - 1)[:, None]
    moves = np.diff(means, axis=0) * went_on
    shift = moves.sum(axis=1) / np.maximum(went_on.sum(axis=1), 1)
    total = np.concatenate([[0.0], np.cumsum(shift)])
    return np.asarray(means[level, np.arange(len(level))] + total[-1] - total[level])


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
