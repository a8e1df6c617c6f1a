"""A level for rank ranges that is right for the campaign at hand, found by simulation.

Rank ranges at the nominal level miss the true rank less often than they may: a range errs only
where a test errs *and* the pair matters. How much less depends on the number of systems and
judgments. The calibrated level is the largest at which simulated campaigns of the same size miss no
more true ranks than allowed; ranges become shorter. It holds under the model of koehn2012.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from assay.errors import OptionError
from assay.ranking.pooled import pooled_counts
from assay.stats.orders import competition_ranks, rank_ranges
from assay.stats.random import Rng, seeded
from assay.worlds.koehn import draw_qualities, win_counts

__all__ = ["Calibration", "calibrated_level", "range_quality"]

LEVELS = np.geomspace(0.002, 0.45, 120)
"""Levels that are tried."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The one-sided ``level`` for the pooled test, with what it gave in ``runs`` campaigns.

    ``violations`` is the share of systems whose true rank was outside their range, ``size`` the
    mean number of ranks in a range.
    """

    level: float
    violations: float
    size: float
    systems: int
    sigma: float
    judgments: int
    per_set: int
    runs: int
    seed: int | None


def calibrated_level(
    systems: int,
    judgments: int,
    *,
    sigma: float = 10.0,
    per_set: int = 5,
    allowed: float = 0.05,
    runs: int = 1000,
    rng: Rng = None,
) -> Calibration:
    """The level of the pooled test at which rank ranges miss a share ``allowed`` of true ranks.

    The largest level at which the simulated share, with one standard error added because the level
    is chosen from the same campaigns, stays within it.

    >>> found = calibrated_level(6, 2000, runs=60, rng=1)
    >>> found.level > 0.05 and found.violations <= 0.05
    True
    """
    if not 2 <= per_set <= systems:
        raise OptionError(
            "per_set", per_set, "systems cannot be shown at once", f"give 2 to {systems}"
        )
    if not 0 < allowed < 1:
        raise OptionError("allowed", allowed, "is no share", "give a number like 0.05")
    generator, seed = seeded(rng)
    p, ranks = _campaigns(systems, judgments, sigma, per_set, runs, generator)
    best = LEVELS[0], *range_quality(p <= LEVELS[0], ranks)
    for level in LEVELS[1:]:
        violations, size = range_quality(p <= level, ranks)
        if violations + _error(p <= level, ranks) > allowed:
            break
        best = level, violations, size
    return Calibration(
        float(best[0]), best[1], best[2], systems, sigma, judgments, per_set, runs, seed
    )


def range_quality(better: np.ndarray, ranks: np.ndarray) -> tuple[float, float]:
    """Share of true ranks outside the ranges that ``better`` implies, and mean size of a range."""
    low, high = rank_ranges(better)
    return float(((ranks < low) | (ranks > high)).mean()), float((high - low + 1).mean())


def _error(better: np.ndarray, ranks: np.ndarray) -> float:
    """Standard error of the share of violations; the campaigns are independent, systems are not."""
    low, high = rank_ranges(better)
    own = ((ranks < low) | (ranks > high)).mean(axis=1)
    return float(own.std() / np.sqrt(len(own)))


def _campaigns(
    n: int, judgments: int, sigma: float, k: int, runs: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """One-sided p of the pooled test in simulated campaigns, and the true ranks.

    Counts do not know their sets, whose pairs have (k + 1) / 3 times the variance of independent
    ones where systems are alike.
    """
    mu = draw_qualities(runs, n, rng)
    sets = max(1, round(judgments / (k * (k - 1) / 2)))
    wins = win_counts(mu, [sets], rng, sigma=sigma, per_set=k)[:, 0]
    # A pair that never met gets a trace of a tie, so that all systems are connected.
    z = pooled_counts(np.maximum(wins, 1e-9)).z / np.sqrt((k + 1) / 3)
    return np.asarray(special.ndtr(-z)), competition_ranks(mu)
