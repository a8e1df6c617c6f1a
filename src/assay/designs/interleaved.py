"""Segments in an order of which every beginning is a sample spread over the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.designs.base import SamplingDesign
from assay.designs.plan import DrawPlan, Draws, Layout
from assay.designs.population import Population
from assay.stats.selection import interleaved_order


class Interleaved(SamplingDesign, name="interleaved"):
    """Segments in an order of which every beginning is a sample, to monitor ratings by."""

    sentence = "systematic sampling in an order interleaved by document"
    documents = 1
    rated_in_order = True

    carries = ("stratum", "stratum_start", "stratum_size")  # the documents, with their sizes

    def is_sample(self, count: int) -> bool:
        """Every beginning of the first draw, unless importance made groups of documents."""
        return self.importance is None and count <= self.sizes[0]

    def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
        """The first n segments of the order."""
        return InterleavedPlan(population.layout, n)


@dataclass(frozen=True)
class InterleavedPlan(DrawPlan):
    """The first n of an order of all segments in which every beginning is a sample.

    Every document's segments, in random order, stand at equal distances on a circle, each document
    from a random start; reading begins at a random segment and goes once round. Given
    the circle, every segment is equally likely to be the k-th for every k, so pi = n/N exactly for
    every n; and a stretch of the circle has its share of every document, up to about one segment.
    """

    ordered: ClassVar[bool] = True

    layout: Layout
    n: int

    def strata(self) -> np.ndarray:
        """The documents, which every beginning is spread over."""
        return self.layout.document

    def probabilities(self) -> np.ndarray:
        """n/N for every segment."""
        return np.full(self.layout.population, self.n / self.layout.population)

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """Every row in the order in which to rate."""
        rows = [interleaved_order(self.layout.document, rng)[: self.n] for _ in range(draws)]
        return Draws.single(np.stack(rows))
