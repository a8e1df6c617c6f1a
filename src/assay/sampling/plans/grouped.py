"""Several plans side by side: parts of the test set that are drawn at different rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.sampling.plans.base import Draws, Layout, Plan


@dataclass(frozen=True)
class GroupedPlan:
    """One plan per group of documents, each in the group's own reading order.

    ``group`` numbers the group of every document; ``plans`` has one plan each, or None for a
    group of which nothing is drawn.
    """

    contiguous: ClassVar[bool] = True

    layout: Layout
    group: np.ndarray
    plans: Sequence[Plan | None]

    def _places(self, number: int) -> np.ndarray:
        """Where the segments of a group stand in the whole test set."""
        return np.flatnonzero((self.group == number)[self.layout.document])

    @property
    def stratum(self) -> np.ndarray | None:
        """The strata of the groups' own plans, group after group; None where they have none."""
        strata = np.zeros(self.layout.population, dtype=np.int64)
        first = 0
        for number, plan in enumerate(self.plans):
            own = getattr(plan, "stratum", np.zeros(1, np.int64) if plan is None else None)
            if own is None:
                return None
            strata[self._places(number)] = first + own
            first += int(own.max()) + 1
        return strata

    def probabilities(self) -> np.ndarray:
        """Those of the groups' own plans."""
        pi = np.zeros(self.layout.population)
        for number, plan in enumerate(self.plans):
            if plan is not None:
                pi[self._places(number)] = plan.probabilities()
        return pi

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """The groups' windows, put where they belong."""
        starts, stops = [], []
        for number, plan in enumerate(self.plans):
            if plan is not None:
                places = self._places(number)
                own = plan.draw(rng, draws)
                sizes = own.stops - own.starts
                # A window lies inside one document, and documents stay in one piece.
                first = places[np.minimum(own.starts, len(places) - 1)]
                starts.append(first)
                stops.append(first + sizes)
        return Draws(np.concatenate(starts, axis=1), np.concatenate(stops, axis=1))
