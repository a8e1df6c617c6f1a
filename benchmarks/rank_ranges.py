"""Claims: 95 % rank ranges of sets drawn anew miss at most 5 % of true ranks, with sizes of at most
4.6/3.3/2.9 at 10,000/30,000/50,000 judgments; with a calibrated level at most 4.3/2.9/2.5.

    python -m benchmarks.rank_ranges [--runs 400]

The model of koehn2012 with 15 systems and sigma 10. The level is calibrated on other campaigns.
The ranges are those of real resamples, not of the normal ones that calibrate the level. Run with
other values of sigma, it shows what a wrong sigma does to the calibrated level.
"""

from __future__ import annotations

import argparse

import numpy as np

from assay.ranking.calibration import calibrated_level, range_quality
from assay.ranking.counts import Counts
from assay.ranking.methods import expected_win
from assay.ranking.uncertainty import rank_table, resampled_counts, shortest_ranges
from assay.stats.intervals import competition_ranks
from assay.stats.random import as_rng
from assay.worlds.judgments import draw_qualities, draw_screens
from benchmarks.claims import claim

SYSTEMS, SIZES, RESAMPLES = 15, (10_000, 30_000, 50_000), 1000
GOALS = {"default": (4.6, 3.3, 2.9), "calibrated": (4.3, 2.9, 2.5)}


def campaign(mu: np.ndarray, sets: int, sigma: float, rng: np.random.Generator) -> np.ndarray:
    """How often each system had each rank when the sets were drawn anew."""
    n = len(mu)
    shown, q = draw_screens(mu, sets, rng, sigma=sigma)
    i, j = np.triu_indices(shown.shape[1], 1)
    left, right = shown[:, i].ravel(), shown[:, j].ravel()
    outcome = np.where(q[:, i] > q[:, j], 1, -1).ravel()
    empty = np.zeros((n, n), dtype=np.int64)
    counts = Counts(tuple(map(str, range(n))), left, right, outcome, empty, empty)
    block = np.repeat(np.arange(sets), len(i))
    batches = resampled_counts(counts, block, RESAMPLES, rng)
    scores = np.concatenate([expected_win(wins) for wins, _ in batches])
    return rank_table(competition_ranks(scores, digits=12))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--sigma", type=float, default=10.0)
    given = parser.parse_args()
    print(f"{SYSTEMS} systems, sigma {given.sigma:g}, {given.runs} campaigns, by set, shortest")
    for k, judgments in enumerate(SIZES):
        rng = as_rng(judgments)
        mu = draw_qualities(given.runs, SYSTEMS, rng)
        table = np.array([campaign(own, judgments // 10, given.sigma, rng) for own in mu])
        ranks = competition_ranks(mu)
        chosen = calibrated_level(SYSTEMS, judgments, sigma=10.0, rng=1)
        for name, level in (("default", 0.95), ("calibrated", chosen.level)):
            missed, error, size = range_quality(*shortest_ranges(table, level), ranks)
            what = f"rank ranges, {judgments:,} judgments, {name} level"
            claim(f"{what}: size", size, goal=GOALS[name][k], peer=f"level {level:.3f}")
            claim(
                f"{what}: true ranks outside", 100 * missed, goal=5, unit="%",
                peer=f"± {100 * error:.1f}, {given.runs} campaigns",
            )  # fmt: skip


if __name__ == "__main__":
    main()
