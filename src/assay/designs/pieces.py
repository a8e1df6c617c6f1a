"""Designs that draw pieces of documents: what neighbours drawn together do to the variance."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from assay.designs.base import SamplingDesign
from assay.designs.plan import Layout
from assay.stats.serial import likeness, pair_lever, serial_effect
from assay.stats.variances import simple_variance

if TYPE_CHECKING:
    from assay.designs.units import DesignUnits


class PieceDesign(SamplingDesign):
    """A design that draws every segment alike, in pieces of the sections of documents.

    Its variance is a simple random sample's times a design effect, which the ratings tell:
    neighbours that are alike are worth less together, and what a whole document shares drops out
    because every document has its part (:mod:`assay.stats.serial`).
    """

    documents = 1

    @property
    def skew_correction(self) -> bool:
        """It was found to help."""
        return True

    @property
    def longest(self) -> int:
        """The longest piece."""
        return int(float(self.parameters["max"]))

    @abstractmethod
    def sections(self, lengths: np.ndarray, f: float) -> np.ndarray:
        """The lengths of the sections that documents of these lengths are cut into."""

    @abstractmethod
    def together(self, length: np.ndarray, lag: np.ndarray, f: float) -> np.ndarray:
        """How many pairs at a lag of a section are expected to be drawn both, of L - lag."""

    def lever(self, lengths: np.ndarray, f: float) -> np.ndarray:
        """What persistent and fading correlation in documents add to the variance."""
        if "parts" in self.parameters:  # several draws, each with its own pieces
            f = 1 - float(np.prod([1 - own for own in self._shares]))
        length, count = np.unique(self.sections(lengths, f), return_counts=True)
        lag = np.arange(int(length[-1]))
        pairs = np.maximum(length[:, None] - lag, 0)
        both = np.where(pairs > 0, self._union(length[:, None], lag[None, :], f), 0.0)
        return pair_lever(count @ both, count @ pairs, f)

    @property
    def _shares(self) -> list[float]:
        """The shares of the test set that the draws of a sample have."""
        return [n / int(self.parameters["N"]) for n in self.sizes]

    def _union(self, length: np.ndarray, lag: np.ndarray, f: float) -> np.ndarray:
        """Of one draw, or of several independent ones: both are in unless some draw lacks one."""
        if "parts" not in self.parameters:
            return self.together(length, lag, f)
        pairs = np.maximum(length - lag, 1)
        neither = [1 - 2 * own + self.together(length, lag, own) / pairs for own in self._shares]
        lost = np.prod([1 - own for own in self._shares])
        return np.asarray((1 - 2 * lost + np.prod(neither, axis=0)) * pairs)

    def variance(
        self, e: np.ndarray, drawn: np.ndarray, units: DesignUnits
    ) -> tuple[np.ndarray, np.ndarray]:
        """A simple random sample's, times the effect of likeness along documents."""
        plain = simple_variance(e, drawn, 1 / units.pi)
        n = np.maximum(drawn.sum(axis=1), 1)
        held = drawn.any(axis=0)
        if not held.any():
            return plain, np.ones(len(drawn))
        f = min(1.0, float(units.pi[held].mean()))
        lengths = np.bincount(units.document)
        lever = self.lever(lengths[lengths > 0], f)
        w = drawn / units.pi
        means = (w * np.where(drawn, e, 0.0)).sum(axis=1) / np.maximum(w.sum(axis=1), 1e-300)
        found = likeness(e - means[:, None], drawn, units.document)
        effect, noise = serial_effect(found, lever)
        degrees = 1 / (1 / np.maximum(n - 1.0, 1.0) + noise / 2)
        return plain * effect, np.maximum(degrees, 1.0)


def cut(layout: Layout, sections: np.ndarray) -> Layout:
    """Cut every document into so many sections of nearly equal length."""
    length, count = np.repeat(layout.lengths, sections), np.repeat(sections, sections)
    number = np.arange(len(count)) - np.repeat(np.cumsum(sections) - sections, sections)
    return Layout((number + 1) * length // count - number * length // count)


def short_sections(lengths: np.ndarray, pieces: int, longest: int) -> Layout:
    """Documents cut into sections of which so many pieces are none too long."""
    wanted = np.ceil(lengths / (pieces * longest)).astype(np.int64)
    return cut(Layout(lengths), np.maximum(wanted, 1))


def same_piece(length: np.ndarray, pieces: int, lag: np.ndarray) -> np.ndarray:
    """How many pairs at a lag lie in one of so many pieces of nearly equal length."""
    short, longer = np.divmod(length, pieces)
    return np.asarray(
        (pieces - longer) * np.maximum(short - lag, 0) + longer * np.maximum(short + 1 - lag, 0)
    )
