"""Claim: Figure 3 of koehn2012 (10,000 campaigns of 50,000 judgments, expected win and Bojar at
five sizes) takes at most 10 core-seconds.
"""

from __future__ import annotations

import time

import numpy as np

from assay.ranking.methods import bojar, expected_win
from assay.stats.random import as_rng
from assay.worlds.judgments import draw_qualities, win_counts
from benchmarks.claims import claim

RUNS, SYSTEMS, CHUNK = 10_000, 15, 250
SETS = [1000, 2000, 3000, 4000, 5000]


def main() -> None:
    rng = as_rng(1)
    i, j = np.triu_indices(SYSTEMS, 1)
    start = time.process_time()
    wrong = np.zeros((2, len(SETS)))
    for _ in range(RUNS // CHUNK):
        mu = -np.sort(-draw_qualities(CHUNK, SYSTEMS, rng), axis=1)
        wins = win_counts(mu, SETS, rng, sigma=20.0)
        for k, score in enumerate((expected_win(wins), bojar(wins))):
            wrong[k] += (score[..., i] < score[..., j]).mean(axis=-1).sum(axis=0)
    seconds = time.process_time() - start
    claim(
        f"Figure 3 of koehn2012, {RUNS:,} campaigns of 50,000 judgments: processor time", seconds,
        goal=10, unit="s",
    )  # fmt: skip
    for name, row in zip(("expected win", "Bojar"), wrong / RUNS, strict=True):
        print(f"{name:13}", *(f"{value:.2%}" for value in row))


if __name__ == "__main__":
    main()
