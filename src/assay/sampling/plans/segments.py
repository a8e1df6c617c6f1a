"""Designs that draw segments one by one: simple, stratified, interleaved, balanced."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from assay.sampling.plans.base import Draws, Layout, single_segments
from assay.stats.allocation import capped_shares, largest_remainder, systematic_counts
from assay.stats.pivotal import pivotal
from assay.stats.selection import interleaved_order, simple_random, within_strata


@dataclass(frozen=True)
class SegmentsPlan:
    """A simple random sample of n segments (SL of lo2023): pi = n/N."""

    contiguous: ClassVar[bool] = False

    layout: Layout
    n: int

    def probabilities(self) -> np.ndarray:
        """n/N for every segment."""
        return np.full(self.layout.population, self.n / self.layout.population)

    def pair_probability(self) -> float:
        """The probability that two given segments are drawn together, n(n-1) / (N(N-1))."""
        population = self.layout.population
        return self.n * (self.n - 1) / max(1, population * (population - 1))

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """One window per segment; a single sample comes in random order."""
        return single_segments(simple_random(self.layout.population, self.n, rng, draws))


@dataclass(frozen=True)
class StratifiedPlan:
    """A simple random sample inside every stratum (saldias2022, section 2.1).

    ``targets`` are the wanted numbers n_l, not whole in general. With ``random`` rounding they
    are the expectations of the numbers drawn, so pi = n_l / N_l exactly; the strata are put in
    random order first, so that no two are tied together. Largest-remainder rounding is fixed:
    pi is the rounded n_l / N_l, zero in strata that are rounded to nothing.
    """

    contiguous: ClassVar[bool] = False

    stratum: np.ndarray
    targets: np.ndarray
    rounding: str = "random"

    @cached_property
    def sizes(self) -> np.ndarray:
        """N_l, the number of segments in every stratum."""
        return np.bincount(self.stratum, minlength=len(self.targets))

    def probabilities(self) -> np.ndarray:
        """n_l / N_l."""
        counts = self.targets if self.rounding == "random" else largest_remainder(self.targets)
        return np.asarray((counts / np.maximum(self.sizes, 1))[self.stratum])

    def counts(self, rng: np.random.Generator, draws: int) -> np.ndarray:
        """How many segments each sample takes from each stratum."""
        if self.rounding != "random":
            return np.tile(largest_remainder(self.targets), (draws, 1))
        order = np.argsort(rng.random((draws, len(self.targets))), axis=1)
        start = rng.random(draws)
        counts = np.empty((draws, len(self.targets)), dtype=np.int64)
        for row in range(draws):
            found = systematic_counts(self.targets[order[row]], start[row : row + 1])[0]
            counts[row, order[row]] = found
        return counts

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """Every row in reading order."""
        drawn = within_strata(self.stratum, self.counts(rng, draws), rng)
        widest = int(drawn.sum(axis=1).max(initial=0))
        # Rows may differ by one where the targets do not sum to a whole number.
        order = np.argsort(~drawn, axis=1, kind="stable")[:, :widest]
        taken = np.take_along_axis(drawn, order, axis=1)
        return Draws(order, order + taken)


@dataclass(frozen=True)
class InterleavedPlan:
    """The first n of an order of all segments in which every beginning is a sample.

    Every document's segments, in random order, stand at equal distances on a circle, each document
    from a random start; reading begins at a random segment and goes once round. Given
    the circle, every segment is equally likely to be the k-th for every k, so pi = n/N exactly for
    every n; and a stretch of the circle has its share of every document, up to about one segment.
    """

    contiguous: ClassVar[bool] = False
    ordered: ClassVar[bool] = True

    layout: Layout
    n: int

    @property
    def stratum(self) -> np.ndarray:
        """The documents, which every beginning is spread over."""
        return self.layout.document

    def probabilities(self) -> np.ndarray:
        """n/N for every segment."""
        return np.full(self.layout.population, self.n / self.layout.population)

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """Every row in the order in which to rate."""
        rows = [interleaved_order(self.layout.document, rng)[: self.n] for _ in range(draws)]
        return single_segments(np.stack(rows))


@dataclass(frozen=True)
class BalancedPlan:
    """Unequal probabilities, spread by the local pivotal method over metrics and documents.

    ``badness`` is the predicted badness of every segment; segments that look bad are drawn more
    often, because their ratings vary more: pi is proportional to ``weights`` * (1 + slope * q),
    q the rank of the badness in 0..1, capped at 1.
    """

    contiguous: ClassVar[bool] = False

    document: np.ndarray
    badness: np.ndarray
    n: int
    slope: float
    weights: np.ndarray
    spread: bool = True
    """Whether the badness is a position that the sample is spread over, or stands for nothing."""

    @property
    def position(self) -> np.ndarray | None:
        """What the sample is spread over, which its variance needs to know."""
        return self.badness if self.spread else None

    @cached_property
    def _pi(self) -> np.ndarray:
        rank = np.argsort(np.argsort(self.badness, kind="stable"), kind="stable")
        q = rank / max(1, len(rank) - 1)
        share = self.weights * (1 + self.slope * q)
        return capped_shares(share, np.ones(len(share)), float(self.n))

    def probabilities(self) -> np.ndarray:
        """Proportional to weight and predicted badness, at most 1."""
        return self._pi

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """Every row in reading order."""
        drawn = pivotal(self._pi, self.badness, self.document, rng, draws)
        widest = int(drawn.sum(axis=1).max(initial=0))
        order = np.argsort(~drawn, axis=1, kind="stable")[:, :widest]
        return Draws(order, order + np.take_along_axis(drawn, order, axis=1))
