"""What all plans share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np


@dataclass(frozen=True)
class Layout:
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


class Draws(NamedTuple):
    """Samples as windows [start, stop) of the reading order, one sample per row.

    An empty window (start = stop) draws nothing; windows of a row never overlap.
    """

    starts: np.ndarray
    stops: np.ndarray

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


class Plan(Protocol):
    """How to draw, with which probabilities.

    ``contiguous`` plans draw stretches of text; the others draw segments one by one.
    """

    contiguous: ClassVar[bool]

    def probabilities(self) -> np.ndarray:
        """The exact inclusion probability of every segment, in reading order."""
        ...

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """Draw samples, one per row."""
        ...


def single_segments(positions: np.ndarray) -> Draws:
    """Windows of one segment each."""
    return Draws(positions, positions + 1)
