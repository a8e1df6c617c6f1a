"""Claims: 1000 bootstraps of 50,000 judgments of 15 systems are at least 300 times faster than
evalica.bootstrap; ranking 1,000,000 judgments with 1000 resamples of segments takes under 10 s.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import evalica
import numpy as np
import polars as pl

from assay.ranking import rank
from assay.ranking.counts import count
from assay.ranking.resampling import resampled_counts
from assay.ranking.violations import lopez_order
from assay.ranking.wins import expected_win
from assay.tables import Judgments, read_judgments

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
    from assay.ranking.counts import block_numbers

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
        print(f"assay, by {unit:10} {seconds:8.3f}  {whole / seconds:6.0f} times faster")
    print("goal: at least 300 times faster")
    large = judgments(1_000_000, 3000, rng)
    clock, spent = timed(lambda: rank(large, rng=1))
    print(
        f"rank of {len(large):,} judgments by segment: {clock:.1f} s, CPU {spent:.1f} s (goal: 10)"
    )
    for n in (15, 20):
        wins = rng.integers(0, 100, (n, n))
        lopez_order(wins)
        seconds = min(timed(lambda wins=wins: lopez_order(wins))[1] for _ in range(5))
        print(f"order of fewest violations, {n} systems in one circle: {seconds * 1e3:.1f} ms CPU")


if __name__ == "__main__":
    main()
