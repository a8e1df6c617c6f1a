"""Claim: Thompson sets find the best system with 90 % probability with at most a third of the
judgments that random sets need.

    python -m benchmarks.best_system [--runs 800] [--systems 15] [--sigma 10] [--sets 5]

The model of koehn2012. "Found" means that the best system has the highest pooled strength (random
sets: the highest expected win). Choices are renewed after every 100 judgments, later after every
twentieth of those made. Judgments are counted, not screens: a screen of 5 gives 10 judgments for
less work than 10 screens of 2, so sets of 5 are to be compared with sets of 5. Both ways are tried
on the same campaigns, and intervals are bootstraps over campaigns.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.optimize import isotonic_regression

from assay.ranking.methods import expected_win
from assay.ranking.next import posterior, thompson_sets
from assay.stats.random import as_rng, spawn
from assay.worlds.judgments import draw_qualities, win_counts
from benchmarks.claims import claim

RENEW, SHARE, GOALS, RANDOM, CHUNK = 100, 20, (0.7, 0.8, 0.9), 400_000, 200
"""Judgments before the first renewals, the later part of all, shares found, most random ones."""
SIZES = {5: 150_000, 3: 80_000, 2: 60_000}
"""Judgments after which nothing is expected to change, by systems in a set."""


def schedule(judgments: int, pairs: int) -> list[int]:
    """How many sets are chosen at a time."""
    counts, total = [], 0
    while total < judgments:
        counts.append(max(1, max(RENEW, total // SHARE) // pairs))
        total += counts[-1] * pairs
    return counts


def thompson(
    mu: np.ndarray, k: int, counts: list[int], sigma: float, rng: np.random.Generator
) -> np.ndarray:
    """Whether the best is found, steps x runs."""
    runs, n = mu.shape
    wins = np.zeros((runs, n, n))
    i, j = np.triu_indices(k, 1)
    run = np.arange(runs)[:, None, None]
    found = []
    for count in counts:
        shown = thompson_sets(*posterior(wins, k), count, k, rng)
        q = mu[run, shown] + sigma * rng.standard_normal(shown.shape)
        first = q[..., i] > q[..., j]
        winner = np.where(first, shown[..., i], shown[..., j])
        loser = np.where(first, shown[..., j], shown[..., i])
        cell = (run * n + winner) * n + loser
        wins += np.bincount(cell.ravel(), minlength=wins.size).reshape(wins.shape)
        found.append(posterior(wins, k)[0].argmax(axis=1) == mu.argmax(axis=1))
    return np.array(found)


def at_random(
    mu: np.ndarray, k: int, steps: list[int], sigma: float, rng: np.random.Generator
) -> np.ndarray:
    """The same for random sets."""
    wins = win_counts(mu, steps, rng, sigma=sigma, per_set=k)
    best = np.nan_to_num(expected_win(wins)).argmax(axis=-1)
    return np.asarray(mu.argmax(axis=1) == best.T)


def needed(found: np.ndarray, judgments: np.ndarray, goal: float) -> float:
    """Judgments at which the share of runs with the best system found passes the goal.

    Isotonic regression of the shares: the running maximum would flatter whoever jitters more.
    """
    share = isotonic_regression(found).x
    return float(np.interp(goal, share, judgments)) if share[-1] >= goal else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=800)
    parser.add_argument("--systems", type=int, default=15)
    parser.add_argument("--sigma", type=float, default=10.0)
    parser.add_argument("--sets", default="5")
    given = parser.parse_args()
    mu = draw_qualities(given.runs, given.systems, as_rng(1))
    chunks = [mu[start : start + CHUNK] for start in range(0, given.runs, CHUNK)]
    drawn = as_rng(4).multinomial(given.runs, np.full(given.runs, 1 / given.runs), size=1000)
    weights = drawn / given.runs
    print(f"{given.systems} systems, sigma {given.sigma:g}, {given.runs} campaigns")
    for k in (int(word) for word in given.sets.split(",")):
        pairs = k * (k - 1) // 2
        steps = np.unique(np.geomspace(RENEW / pairs, RANDOM / pairs, 100).astype(int))
        counts = schedule(SIZES[k], pairs)
        before, after = (
            np.concatenate(
                [way(own, k, plan, given.sigma, rng)
                 for own, rng in zip(chunks, spawn(as_rng(seed), len(chunks)), strict=True)],
                axis=1,
            )
            for way, plan, seed in ((at_random, steps.tolist(), 3), (thompson, counts, 2))
        )  # fmt: skip
        sizes = steps * pairs, np.cumsum(counts) * pairs
        for goal in GOALS:
            a, b = (needed(found.mean(axis=1), size, goal)
                    for found, size in zip((before, after), sizes, strict=True))  # fmt: skip
            shares = weights @ before.T, weights @ after.T
            ratios = [needed(one, sizes[0], goal) / needed(other, sizes[1], goal)
                      for one, other in zip(*shares, strict=True)]  # fmt: skip
            low, high = np.nanquantile(ratios, [0.025, 0.975])
            print(
                f"sets of {k}, {goal:.0%} found: random {a:,.0f} judgments, Thompson {b:,.0f},"
                f" {a / b:.2f} times fewer (95 % interval {low:.2f} to {high:.2f})",
                flush=True,
            )
            if goal == GOALS[-1]:
                claim(
                    f"judgments until the best of {given.systems} systems is found with {goal:.0%}"
                    f" probability, sets of {k}: random against Thompson", a / b, goal=3,
                    at_most=False, unit="times",
                    peer=f"95 % interval {low:.2f} to {high:.2f}, {given.runs} campaigns",
                )  # fmt: skip


if __name__ == "__main__":
    main()
