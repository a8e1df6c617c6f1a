"""Judgments until the best system is found: Thompson sets beside random sets, simulated.

    python -m benchmarks.best_system [--runs 400] [--systems 15] [--sigma 10]

The model of koehn2012. "Found" means that the best system has the highest pooled strength (random
sets: the highest expected win). Choices are renewed after every 100 judgments or so. Judgments are
counted, not screens: a screen of 5 gives 10 judgments for less work than 10 screens of 2, so
sets of 5 are to be compared with sets of 5.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.optimize import isotonic_regression

from assay.ranking.best import posterior, thompson_sets
from assay.ranking.wins import expected_win
from assay.stats.random import as_rng
from assay.worlds.koehn import draw_qualities, win_counts

RENEW, GOAL, MOST = 100, 0.9, 1_000_000
SIZES = {5: 150_000, 3: 80_000, 2: 50_000}


def thompson(mu: np.ndarray, k: int, judgments: int, sigma: float) -> tuple[np.ndarray, np.ndarray]:
    """Whether the best is found (steps x runs), and the judgments at each step."""
    rng = as_rng(2)
    runs, n = mu.shape
    wins = np.zeros((runs, n, n))
    i, j = np.triu_indices(k, 1)
    count = max(1, RENEW // len(i))
    run = np.arange(runs)[:, None, None]
    found = []
    for _ in range(judgments // (count * len(i))):
        shown = thompson_sets(wins, count, k, rng)
        q = mu[run, shown] + sigma * rng.standard_normal(shown.shape)
        first = q[..., i] > q[..., j]
        winner = np.where(first, shown[..., i], shown[..., j])
        loser = np.where(first, shown[..., j], shown[..., i])
        cell = (run * n + winner) * n + loser
        wins += np.bincount(cell.ravel(), minlength=wins.size).reshape(wins.shape)
        found.append(posterior(wins, k)[0].argmax(axis=1) == mu.argmax(axis=1))
    size = count * len(i) * np.arange(1, len(found) + 1)
    kept = np.unique(np.geomspace(1, len(found), 80).astype(int)) - 1
    return np.array(found)[kept], size[kept]


def at_random(mu: np.ndarray, k: int, sigma: float) -> tuple[np.ndarray, np.ndarray]:
    """The same for random sets."""
    screen = k * (k - 1) // 2
    steps = np.unique(np.geomspace(RENEW / screen, MOST / screen, 80).astype(int))
    wins = win_counts(mu, steps.tolist(), as_rng(3), sigma=sigma, per_set=k)
    best = np.nan_to_num(expected_win(wins)).argmax(axis=-1)
    return mu.argmax(axis=1) == best.T, steps * screen


def needed(found: np.ndarray, judgments: np.ndarray) -> float:
    """Judgments at which the share of runs with the best system found passes the goal.

    Isotonic regression of the shares: the running maximum would flatter whoever jitters more.
    """
    share = isotonic_regression(found.mean(axis=1)).x
    return float(np.interp(GOAL, share, judgments)) if share[-1] >= GOAL else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--systems", type=int, default=15)
    parser.add_argument("--sigma", type=float, default=10.0)
    given = parser.parse_args()
    mu = draw_qualities(given.runs, given.systems, as_rng(1))
    draws = as_rng(4).integers(given.runs, size=(200, given.runs))
    print(f"{given.systems} systems, sigma {given.sigma:g}, {given.runs} runs, {GOAL:.0%} found")
    for k, most in SIZES.items():
        if k > given.systems:
            continue
        before, sizes = at_random(mu, k, given.sigma)
        after, own = thompson(mu, k, most, given.sigma)
        a, b = needed(before, sizes), needed(after, own)
        ratios = [needed(before[:, d], sizes) / needed(after[:, d], own) for d in draws]
        low, high = np.nanquantile(ratios, [0.025, 0.975])
        print(
            f"sets of {k}: random {a:,.0f} judgments, Thompson {b:,.0f}, ratio {a / b:.2f}"
            f" (bootstrap over runs {low:.2f} to {high:.2f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
