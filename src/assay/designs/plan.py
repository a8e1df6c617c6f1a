"""Plans: how a design draws, on arrays.

A plan is made once for a test set and a budget. It states the exact inclusion probability of
every segment and draws any number of samples, each a set of windows of the reading order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np


class Layout(NamedTuple):
    """The test set as a plan sees it: documents as stretches of the reading order."""

    lengths: np.ndarray

    @property
    def population(self) -> int:
        """The number of segments, N."""
        return int(self.lengths.sum())

    @property
    def starts(self) -> np.ndarray:
        """The position of every document's first segment."""
        return np.asarray(np.cumsum(self.lengths) - self.lengths)

    @property
    def document(self) -> np.ndarray:
        """For every segment, the number of its document."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def position(self) -> np.ndarray:
        """For every segment, its position in its document, from 1."""
        return np.asarray(np.arange(1, self.population + 1) - np.repeat(self.starts, self.lengths))


class Draws(NamedTuple):
    """Samples as windows [start, stop) of the reading order, one sample per row.

    An empty window (start = stop) draws nothing; windows of a row never overlap.
    """

    starts: np.ndarray
    stops: np.ndarray

    @classmethod
    def single(cls, positions: np.ndarray) -> Draws:
        """Windows of one segment each."""
        return cls(positions, positions + 1)

    @classmethod
    def of(cls, drawn: np.ndarray) -> Draws:
        """From masks, one sample per row, in reading order."""
        widest = int(drawn.sum(axis=1).max(initial=0))
        order = np.argsort(~drawn, axis=1, kind="stable")[:, :widest]
        return cls(order, order + np.take_along_axis(drawn, order, axis=1))

    def masks(self, population: int) -> np.ndarray:
        """Samples x segments: what is drawn."""
        width = population + 1
        rows = np.arange(len(self.starts))[:, None] * width
        total = len(self.starts) * width
        edges = np.bincount((rows + self.starts).ravel(), minlength=total)
        edges -= np.bincount((rows + self.stops).ravel(), minlength=total)
        return np.cumsum(edges.reshape(-1, width)[:, :-1], axis=1) > 0

    @property
    def sizes(self) -> np.ndarray:
        """How many segments each sample has."""
        return np.asarray((self.stops - self.starts).sum(axis=1))


class DrawPlan(ABC):
    """How to draw, with which probabilities.

    ``contiguous`` plans draw stretches of text, the others segments one by one; ``ordered`` ones in
    the order in which to rate.
    """

    contiguous: ClassVar[bool] = False
    ordered: ClassVar[bool] = False

    @abstractmethod
    def probabilities(self) -> np.ndarray:
        """The exact inclusion probability of every segment, in reading order."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """Draw samples, one per row."""

    def strata(self) -> np.ndarray | None:
        """The stratum of every segment, numbered so that neighbours are alike; None: no strata."""
        return None

    def positions(self) -> np.ndarray | None:
        """Every segment's position in what its variance depends on; None: in nothing."""
        return None


@dataclass(frozen=True)
class GroupedPlan(DrawPlan):
    """One plan per group of documents, each in the group's own reading order.

    ``group`` numbers the group of every document; ``plans`` has one plan each, or None for a
    group of which nothing is drawn.
    """

    contiguous: ClassVar[bool] = True

    layout: Layout
    group: np.ndarray
    plans: Sequence[DrawPlan | None]

    def _places(self, number: int) -> np.ndarray:
        """Where the segments of a group stand in the whole test set."""
        return np.flatnonzero((self.group == number)[self.layout.document])

    def strata(self) -> np.ndarray | None:
        """Those of the groups' own plans, group after group."""
        found = np.zeros(self.layout.population, dtype=np.int64)
        first = 0
        for number, plan in enumerate(self.plans):
            own = np.zeros(1, dtype=np.int64) if plan is None else plan.strata()
            if own is None:
                return None
            found[self._places(number)] = first + own
            first += int(own.max()) + 1
        return found

    def positions(self) -> np.ndarray | None:
        """Those of the groups' own plans, which count inside documents."""
        found = np.full(self.layout.population, np.nan)
        for number, plan in enumerate(self.plans):
            own = None if plan is None else plan.positions()
            if plan is not None and own is None:
                return None
            if own is not None:
                found[self._places(number)] = own
        return found

    def probabilities(self) -> np.ndarray:
        """Those of the groups' own plans."""
        pi = np.zeros(self.layout.population)
        for number, plan in enumerate(self.plans):
            if plan is not None:
                pi[self._places(number)] = plan.probabilities()
        return pi

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """The windows of all groups, at their places in the test set."""
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
