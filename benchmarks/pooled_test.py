"""The pooled test beside the sign test: judgments needed, false positives, segment effects.

    python -m benchmarks.pooled_test [--runs 60]

The model of koehn2012 with sigma 10 and sets of 5; one-sided level .05.
"""

from __future__ import annotations

import argparse

import numpy as np

import assay
from assay.ranking.counts import block_numbers, count
from assay.ranking.pairs import pooled_test
from assay.ranking.power import judgments_for, pooled_share
from assay.stats.random import as_rng, spawn
from benchmarks.claims import claim

LEVEL = 0.05


def share(
    mu: list[float] | int, judgments: int, rng: np.random.Generator, **options: float
) -> dict:
    """Share of (ordered) pairs that the pooled test rejects, by unit of the blocks."""
    table = assay.simulate_judgments(mu, judgments, rng=rng, **options)  # type: ignore[arg-type]
    found = count(table)
    n = len(found.systems)
    return {
        unit: (
            pooled_test(found.left, found.right, found.outcome, block_numbers(table, unit), n).p
            <= LEVEL
        ).sum()
        / (n * (n - 1))
        for unit in ("set", "segment")
    }


def line(values: np.ndarray) -> str:
    return f"{values.mean():.4f} ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=60)
    runs = parser.parse_args().runs
    print("judgments for 80 % of pairs: sign test (theory), pooled test (theory), simulated share")
    for n in (6, 8, 10, 12, 15):
        sign, pooled = (judgments_for(0.8, n, 10.0, test=test) for test in ("sign", "pooled"))
        size = 10 * round(pooled / 10)
        found = [2 * share(n, size, rng)["set"] for rng in spawn(as_rng(n), runs)]
        print(
            f"{n:3} systems: {sign:8,.0f} {pooled:8,.0f}, {sign / pooled:.2f} times fewer;"
            f" simulated {line(np.array(found))}, theory {pooled_share(n, 10.0, size):.4f}",
            flush=True,
        )
        claim(
            f"judgments that tell 80 % of pairs apart, {n} systems: sign test against pooled test",
            sign / pooled, unit="times", peer=f"{sign:,.0f} and {pooled:,.0f}",
        )  # fmt: skip
    print("15 equal systems, share of one-sided tests that reject at .05, blocks: sets")
    for J in (1000, 5000, 10_000, 20_000):
        found = [share([5.0] * 15, J, rng)["set"] for rng in spawn(as_rng(J), runs)]
        print(f"{J:7,} judgments: {line(np.array(found))}", flush=True)
        claim(
            f"pooled test, 15 equal systems, {J:,} judgments: false alarms at 5 %",
            100 * float(np.mean(found)), unit="%",
            peer=f"± {100 * np.std(found, ddof=1) / np.sqrt(runs):.1f}",
        )  # fmt: skip
    print("equal systems judged on 200 segments, 30 % of the variance theirs (10,000 judgments)")
    options = {"segments": 200, "segment_share": 0.3}
    both = [share([5.0] * 15, 10_000, rng, **options) for rng in spawn(as_rng(7), runs)]
    for unit in ("set", "segment"):
        print(f"blocks {unit:8}: {line(np.array([one[unit] for one in both]))}", flush=True)


if __name__ == "__main__":
    main()
