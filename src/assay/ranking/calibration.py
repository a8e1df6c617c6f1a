"""Calibrate the level of bootstrap rank ranges by simulating the model of koehn2012.

A range that holds 95 % of the resampled ranks misses the true rank in fewer than 5 % of cases,
because a rank changes only if two systems change places. How many fewer depends on the number of
systems and judgments.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when first used: they are slow to load

from assay.errors import OptionError
from assay.ranking.counts import check_per_set
from assay.ranking.uncertainty import ranges_of, rank_table
from assay.stats.intervals import competition_ranks
from assay.stats.progress import Progress, silent
from assay.stats.random import Rng, seeded
from assay.worlds.judgments import draw_qualities, draw_screens

RESAMPLES = 1000
"""Resamples of a simulated campaign."""
LEVELS = 1 - np.geomspace(1 / RESAMPLES, 0.4, 250)
"""The levels to try, highest first: a range leaves out at least one resample."""
MAX_SETS_SIMULATED = 2000
"""Campaigns with more sets are not simulated set by set: their scores are drawn around the expected
ones, with the variance of this many sets scaled down."""
MAX_SYSTEMS_CALIBRATED = 100
"""The most systems for which a level is calibrated: simulating more takes too long."""


class Calibration(NamedTuple):
    """A ``level`` for bootstrap ranges and its performance in ``runs`` simulated campaigns.

    ``violations`` is the share of true ranks outside their range, ``error`` its standard error,
    ``size`` the mean number of ranks in a range.
    """

    level: float
    violations: float
    error: float
    size: float
    systems: int
    sigma: float
    judgments: int
    per_set: int
    range_kind: str
    runs: int
    seed: int | None


def calibrated_level(
    systems: int,
    judgments: int,
    *,
    sigma: float = 10.0,
    per_set: int | None = None,
    range_kind: str = "shortest",
    allowed: float = 0.05,
    runs: int = 2000,
    rng: Rng = None,
    progress: Progress = silent,
) -> Calibration:
    """The lowest level at which bootstrap ranges miss at most a share ``allowed`` of true ranks.

    The share is measured on simulated campaigns of the same size, plus two standard errors because
    the level is chosen from the same campaigns. Campaigns are not resampled: with many sets,
    resampled scores are normal around the observed ones with the variance over sets, so a thousand
    campaigns take seconds.

    >>> chosen = calibrated_level(6, 2000, runs=100, rng=1)
    >>> chosen.level < 0.95 and chosen.violations <= 0.05
    True
    """
    per_set = check_per_set(per_set, systems)
    if systems > MAX_SYSTEMS_CALIBRATED:
        remedy = f"give at most {MAX_SYSTEMS_CALIBRATED}"
        raise OptionError("systems", systems, "are too many to calibrate", remedy)
    if not 0 < allowed < 1:
        raise OptionError("allowed", allowed, "is not a share", "give a number like 0.05")
    generator, seed = seeded(rng)
    sets = max(2, round(judgments / (per_set * (per_set - 1) / 2)))
    table, ranks = simulated_tables(systems, sets, sigma, per_set, runs, generator, progress)
    # The lower the level, the shorter the ranges: bisect for the lowest level that is good enough.
    good, bad = 0, len(LEVELS)
    while bad - good > 1:
        middle = (good + bad) // 2
        missed, error, _ = range_quality(*ranges_of(table, range_kind, LEVELS[middle]), ranks)
        good, bad = (middle, bad) if missed + 2 * error <= allowed else (good, middle)
    quality = range_quality(*ranges_of(table, range_kind, LEVELS[good]), ranks)
    if good == 0 and quality[0] + 2 * quality[1] > allowed:
        raise OptionError(
            "allowed", f"{allowed:.3g}",
            f"is fewer than ranges of {RESAMPLES} resamples can miss here ({quality[0]:.3g})",
            "allow more, or do not calibrate",
        )  # fmt: skip
    return Calibration(
        float(LEVELS[good]), *quality, systems, sigma, judgments, per_set, range_kind, runs, seed
    )


def range_quality(
    low: np.ndarray, high: np.ndarray, ranks: np.ndarray
) -> tuple[float, float, float]:
    """The share of true ranks (campaigns x systems) outside the ranges, its error, the mean size.

    The error treats campaigns as independent, but not the systems of a campaign.
    """
    missed = ((ranks < low) | (ranks > high)).mean(axis=1)
    error = missed.std() / np.sqrt(len(missed))
    return float(missed.mean()), float(error), float((high - low + 1).mean())


def simulated_tables(
    n: int, sets: int, sigma: float, k: int, runs: int, rng: np.random.Generator,
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Rank tables of the resamples of simulated campaigns, and the true ranks."""
    mu = draw_qualities(runs, n, rng)
    table = np.empty((runs, n, n), dtype=np.int32)
    for run in range(runs):
        progress("simulating", run, runs)
        shown = min(sets, MAX_SETS_SIMULATED)
        score, cover = _campaign(mu[run], shown, sigma, k, rng)
        values, vectors = np.linalg.eigh(cover * (shown / sets))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        if sets > shown:
            gaps = (mu[run][:, None] - mu[run]) / (sigma * np.sqrt(2))
            expected = (scipy.special.ndtr(gaps).sum(axis=1) - 0.5) / (n - 1)
            score = expected + root @ rng.standard_normal(n)
        drawn = score + rng.standard_normal((RESAMPLES, n)) @ root.T
        order = np.argsort(-drawn, axis=1)
        place = np.empty_like(order)
        np.put_along_axis(place, order, np.arange(1, n + 1)[None, :], axis=1)
        table[run] = rank_table(place)
    return table, competition_ranks(mu)


def _campaign(
    mu: np.ndarray, sets: int, sigma: float, k: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Simulate a campaign: expected wins, and their covariance from each set's influence."""
    n = len(mu)
    shown, q = draw_screens(mu, sets, rng, sigma=sigma, per_set=k)
    i, j = np.triu_indices(k, 1)
    a, b = shown[:, i], shown[:, j]
    won = q[:, i] > q[:, j]
    wins = np.bincount(np.where(won, a * n + b, b * n + a).ravel(), minlength=n * n).reshape(n, n)
    games = wins + wins.T
    ratio = wins / np.maximum(games, 1)
    met = np.maximum((games > 0).sum(axis=1), 1)
    change_of_ratio = (won - ratio[a, b]) / games[a, b]
    on_screen = np.zeros((sets, k))
    for pair in range(len(i)):
        on_screen[:, i[pair]] += change_of_ratio[:, pair]
        on_screen[:, j[pair]] -= change_of_ratio[:, pair]
    change = np.zeros((sets, n))
    np.put_along_axis(change, shown, on_screen, axis=1)
    change /= met
    return ratio.sum(axis=1) / met, change.T @ change
