"""The design effect: how a design compares with a simple random sample of the same size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.designs.plan import Plan
from assay.stats.clustered import prefix_sums, window_sums

BLOCK = 4_000_000


@dataclass(frozen=True, slots=True)
class DesignEffect:
    """Variances of differences of system means, relative to a matched simple random sample.

    ``ratio`` is the mean over pairs of systems, ``error`` its Monte-Carlo standard error;
    ``bias`` the mean over pairs of the absolute bias in units of the random sample's standard
    error, as far as it exceeds chance.
    """

    ratio: float
    error: float
    bias: float


def design_effect(
    scores: np.ndarray,
    plan: Plan,
    n: int,
    rng: np.random.Generator,
    draws: int,
    *,
    weighted: bool = False,
) -> DesignEffect:
    """Simulate the variance of every difference of two systems' sample means under a plan.

    ``scores`` is systems x segments. A simple random sample of n has the variance
    S^2 (1 - n/N) / n, S^2 the variance of the differences over segments. The means are plain, as
    in lo2023, or ``weighted`` by 1/pi (Hajek), which takes out the bias of unequal probabilities.
    """
    population = scores.shape[1]
    prefix = prefix_sums(scores)
    i, j = np.triu_indices(len(scores), 1)
    pi = plan.probabilities() if weighted else np.ones(population)
    weight = np.divide(1.0, pi, out=np.zeros(population), where=pi > 0)
    means = _sample_means(prefix_sums(np.vstack([scores * weight, weight])), plan, rng, draws)
    gaps = means[:, i] - means[:, j]
    spread = np.var(scores[i] - scores[j], axis=1, ddof=1)
    here = spread > 0
    random = spread[here] * (1 - n / population) / n
    ratios = gaps.var(axis=0, ddof=1)[here] / random
    full = prefix[-1] / population
    off = (gaps.mean(axis=0) - (full[i] - full[j]))[here]
    beyond = np.maximum(0.0, off**2 - gaps.var(axis=0, ddof=1)[here] / draws)
    return DesignEffect(
        ratio=float(ratios.mean()),
        error=_ratio_error(gaps[:, here], random),
        bias=float(np.sqrt(beyond / random).mean()),
    )


def _sample_means(
    prefix: np.ndarray, plan: Plan, rng: np.random.Generator, draws: int
) -> np.ndarray:
    """Draws x systems: the means of what was drawn, in blocks that fit memory.

    The last column of ``prefix`` has the weights, the others weighted scores.
    """
    found = []
    left, size = draws, min(draws, 200)
    while left > 0:
        drawn = plan.draw(rng, min(size, left))
        left -= len(drawn.starts)
        sums = window_sums(prefix, drawn.starts, drawn.stops).sum(axis=1)
        weights = np.where(drawn.sizes > 0, sums[:, -1], 1.0)
        found.append(sums[:, :-1] / weights[:, None])
        size = max(1, BLOCK // (drawn.starts.shape[1] * prefix.shape[1]))
    return np.concatenate(found)


def _ratio_error(gaps: np.ndarray, random: np.ndarray, parts: int = 20) -> float:
    """From the spread of the ratio between parts of the draws."""
    if len(gaps) < 2 * parts:
        return float("nan")
    ratios = [part.var(axis=0, ddof=1) / random for part in np.array_split(gaps, parts)]
    return float(np.std([ratio.mean() for ratio in ratios], ddof=1) / np.sqrt(parts))
