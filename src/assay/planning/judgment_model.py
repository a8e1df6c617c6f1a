"""The model behind a plan for judgments, and campaigns simulated from it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from assay.ranking.counts import set_effect
from assay.ranking.pairs import pooled_counts, sign_test
from assay.ranking.power import judgments_for
from assay.ranking.sigma import simulated_tables
from assay.ranking.uncertainty import MIN_BLOCKS, shortest_ranges
from assay.stats.orders import cluster_numbers, rank_ranges
from assay.stats.progress import Progress
from assay.worlds.judgments import draw_qualities, win_counts

TESTS = ("sign", "pooled")
RUNS, STEPS, MOST = 100, 17, 1_000_000
"""Simulated campaigns behind a plan for clusters or range sizes, the numbers of judgments that are
tried, and the largest of them."""


@dataclass(frozen=True, slots=True)
class Model:
    """What the numbers are computed from; judgments without ties become judgments with them."""

    systems: int
    sigma: float
    per_set: int
    alpha: float
    tie_share: float = 0.0
    block_effect: float = 1.0

    @property
    def per_screen(self) -> int:
        """Judgments of one screen."""
        return self.per_set * (self.per_set - 1) // 2

    def collected(self, judgments: float, test: str) -> int | None:
        """Judgments to collect, ties and all, for so many independent sets' worth of others."""
        if not math.isfinite(judgments):
            return None
        # By sets, so by sign test: only what is pooled over a segment hangs together in it.
        effect = 1.0 if test == "sign" else self.block_effect
        return math.ceil(judgments * effect / (1 - self.tie_share))

    def untied(self, collected: float, test: str) -> float:
        """What the judgments collected are worth."""
        effect = 1.0 if test == "sign" else self.block_effect
        return collected * (1 - self.tie_share) / effect

    def for_share(self, share: float, test: str, sigma: float | None = None) -> int | None:
        """Judgments to collect for an expected share of significant pairs."""
        width = self.sigma if sigma is None else sigma
        if width == 0:  # no noise: one screen after the other, until every pair has been shown
            return self.collected(self.per_screen, test)
        if not math.isfinite(width):
            return None
        found = judgments_for(
            share, self.systems, width, test=test, per_set=self.per_set, level=self.alpha
        )
        return self.collected(found, test)


def simulated_needs(
    model: Model, goal: str, target: float, rng: np.random.Generator, progress: Progress
) -> dict[str, int | None]:
    """Judgments until the mean over simulated campaigns reaches the target, by each test."""
    if not math.isfinite(model.sigma):
        return dict.fromkeys((*TESTS, "bootstrap"))
    sizes = np.unique(np.geomspace(2, MOST / model.per_screen, STEPS).round().astype(int))
    mu = draw_qualities(RUNS, model.systems, rng)
    values: dict[str, list[float]] = {name: [] for name in (*TESTS, "bootstrap")}
    for done, sets in enumerate(sizes.tolist()):
        progress("simulating", done, len(sizes))
        for name, (low, high) in _ranges(model, mu, sets, rng).items():
            found = (
                cluster_numbers(low, high).max(axis=-1) if goal == "clusters"
                else -(high - low + 1).mean(axis=-1)
            )  # fmt: skip
            values[name].append(float(found.mean()))
    wanted = target if goal == "clusters" else -target
    steps = np.log(sizes * model.per_screen)
    return {
        name: model.collected(_first(np.maximum.accumulate(curve), steps, wanted), name)
        for name, curve in values.items()
    }


def _first(rising: np.ndarray, steps: np.ndarray, wanted: float) -> float:
    """Where the curve reaches what is wanted, on a logarithmic scale; infinite if it never does."""
    at = int(np.searchsorted(rising, wanted - 1e-9))
    if at == len(rising):
        return math.inf
    if at == 0:
        return float(np.exp(steps[0]))
    part = (wanted - rising[at - 1]) / (rising[at] - rising[at - 1])
    return float(np.exp(steps[at - 1] + part * (steps[at] - steps[at - 1])))


def _ranges(
    model: Model, mu: np.ndarray, sets: int, rng: np.random.Generator
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Rank ranges of simulated campaigns by each test."""
    k = model.per_set
    wins = win_counts(mu, [sets], rng, sigma=model.sigma, per_set=k)[:, 0]
    z = pooled_counts(np.maximum(wins, 1e-9)).z / np.sqrt(set_effect(k))
    pooled = rank_ranges(special.ndtr(-z) <= model.alpha)
    resampled = pooled  # with few screens of a system, ranges come from tests
    if sets * k >= MIN_BLOCKS * model.systems:
        table, _ = simulated_tables(model.systems, sets, model.sigma, k, len(mu), rng)
        resampled = shortest_ranges(table, 1 - model.alpha)
    sign = rank_ranges(sign_test(wins) <= model.alpha)
    return {"sign": sign, "pooled": pooled, "bootstrap": resampled}
