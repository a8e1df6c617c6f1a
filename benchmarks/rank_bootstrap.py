"""Claims: 1000 bootstraps of 50,000 judgments of 15 systems are at least 300 times faster than
evalica.bootstrap; `assay rank` of a file of 1,000,000 judgments with 1000 resamples of segments
takes under 10 s; the order of fewest violations of 20 systems in one circle takes under 150 ms.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import evalica
import numpy as np
import polars as pl

from assay.ranking.counts import block_numbers, count
from assay.ranking.methods import expected_win, lopez_order
from assay.ranking.uncertainty import resampled_counts
from assay.tables.answers import Judgments, read_judgments
from benchmarks.claims import claim
from benchmarks.measure import measure_command

SYSTEMS, RESAMPLES, PEER = 15, 1000, 20
"""The peer is timed on a few resamples and scaled up: its cost is a fixed part and so much each."""


def judgments(number: int, segments: int, rng: np.random.Generator) -> Judgments:
    """Screens of five systems of evenly spread qualities."""
    screens = number // 10
    systems = rng.permuted(np.broadcast_to(np.arange(SYSTEMS), (screens, SYSTEMS)), axis=1)[:, :5]
    seen = systems * 10 / SYSTEMS + 10 * rng.standard_normal(systems.shape)
    i, j = np.triu_indices(5, 1)
    names = np.array([f"system-{k:02}" for k in range(SYSTEMS)])
    frame = pl.DataFrame(
        {
            "set": np.repeat(np.arange(screens), 10),
            "seg": np.repeat(rng.integers(segments, size=screens), 10),
            "left": names[systems[:, i]].ravel(),
            "right": names[systems[:, j]].ravel(),
            "winner": np.where((seen[:, i] > seen[:, j]).ravel(), "left", "right"),
        }
    )
    return read_judgments(frame)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock and of the processor."""
    start, spent = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - spent


def peer(table: Judgments, resamples: int) -> float:
    winners = {"left": evalica.Winner.X, "right": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    data = (
        table.frame["left"].to_list(),
        table.frame["right"].to_list(),
        [winners[name] for name in table.frame["winner"].to_list()],
    )
    return timed(
        lambda: evalica.bootstrap(
            evalica.average_win_rate, *data, n_resamples=resamples, bootstrap_method="percentile",
            random_state=1,
        )
    )[1]  # fmt: skip


def ours(table: Judgments, unit: str) -> None:
    """The same as the peer: from the table to the scores of all resamples."""
    counts = count(table)
    block = None if unit == "pair" else block_numbers(table, unit)
    for wins, _ in resampled_counts(counts, block, RESAMPLES, np.random.default_rng(1)):
        expected_win(wins)


def main() -> None:
    rng = np.random.default_rng(1)
    table = judgments(50_000, 3000, rng)
    few, more = peer(table, PEER), peer(table, 2 * PEER)
    each = (more - few) / PEER
    whole = few + each * (RESAMPLES - PEER)
    print(f"{RESAMPLES} bootstraps of {len(table):,} judgments of {SYSTEMS} systems, CPU seconds")
    print(f"evalica.bootstrap    {whole:8.2f}  (from {PEER} and {2 * PEER} resamples)")
    for unit in ("pair", "set", "segment"):
        ours(table, unit)
        seconds = min(timed(lambda unit=unit: ours(table, unit))[1] for _ in range(3))
        claim(
            f"{RESAMPLES} bootstraps of {len(table):,} judgments by {unit}: times faster than"
            " evalica.bootstrap", whole / seconds, goal=300, at_most=False, unit="times",
            peer=f"{seconds:.3f} s, evalica {whole:.1f} s from {PEER} and {2 * PEER} resamples",
        )  # fmt: skip
    command_line(judgments(1_000_000, 3000, rng))
    for n in (15, 20):
        wins = rng.integers(0, 100, (n, n))
        lopez_order(wins)
        seconds = min(timed(lambda wins=wins: lopez_order(wins))[1] for _ in range(5))
        claim(
            f"order of fewest violations (Lopez), {n} systems in one circle", seconds * 1e3,
            goal=150 if n == 20 else None, unit="ms",
        )  # fmt: skip


def command_line(table: Judgments) -> None:
    """The whole command, from the file to the printed ranking."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "judgments.tsv"
        table.frame.write_csv(path, separator="\t")
        size = path.stat().st_size / 2**20
        options = ["--resample", "segment", "--seed", "1", "--json"]
        cost = measure_command([sys.executable, "-m", "assay", "rank", str(path), *options], 2)
    claim(
        f"assay rank of {len(table):,} judgments with {RESAMPLES} resamples of segments, reading"
        f" the file ({size:.0f} MiB) included", cost.seconds, goal=10, unit="s",
        peer=f"{cost.mebibytes:.0f} MiB of memory at most",
    )  # fmt: skip


if __name__ == "__main__":
    main()
