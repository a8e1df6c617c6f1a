"""Designs that draw documents in random order until the budget is met, and their variance.

They are whole documents (WD of lo2023) and fixed snippets (DF). Whether a document is drawn
depends on the sizes of those before it: :mod:`assay.stats.arrivals` computes the probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from assay.designs.base import Parameter, SamplingDesign, sums_of_cells
from assay.designs.plan import DrawPlan, Draws, Layout
from assay.designs.population import Population
from assay.stats.arrivals import arrival_probabilities

if TYPE_CHECKING:
    from assay.designs.base import DesignUnits

_STOP = Parameter("closest", "where to stop: under, over or closest to the budget",
                  ("under", "over", "closest"))  # fmt: skip


class DocumentDesign(SamplingDesign):
    """A design with correlated ratings in few documents, so that documents decide the error."""

    error_falls_with_ratings = False

    def variance(
        self, e: np.ndarray, drawn: np.ndarray, units: DesignUnits
    ) -> tuple[np.ndarray, np.ndarray]:
        """The variance between the totals of documents."""
        held = np.stack([np.bincount(units.document[row]).astype(bool).sum() for row in drawn])
        variance = cluster_variance(e, drawn, units.document, 1 / units.pi)
        return variance, np.maximum(held - 1.0, 1.0)


def cluster_variance(
    e: np.ndarray, drawn: np.ndarray, cluster: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """The variance between documents, whole ones or one snippet each, by the jackknife.

    (K-1)/K sum_c (t_c / (1 - s_c))^2 / (sum w)^2 times 1 - n/N, with t_c the total of w e in
    cluster c less its share s_c of the whole total. The factor 1 - s_c allows for long documents,
    which pull the mean towards themselves; for clusters of one size it is the usual K/(K-1) sum
    t_c^2.
    """
    samples, units = np.nonzero(drawn)
    shape = (len(drawn), int(cluster.max(initial=0)) + 1)
    totals = sums_of_cells(samples, cluster[units], weights[units] * e[samples, units], shape)
    size = sums_of_cells(samples, cluster[units], weights[units], shape)
    whole = np.maximum(size.sum(axis=1), 1e-300)
    share = size / whole[:, None]
    k = (size > 0).sum(axis=1)
    gap = (totals - share * totals.sum(axis=1)[:, None]) / np.maximum(1 - share, 1e-9)
    spread = (gap**2).sum(axis=1) * (k - 1) / np.maximum(k, 1)
    left = 1 - drawn.mean(axis=1)
    return np.where(k > 1, spread / whole**2 * left, np.nan)


class Documents(DocumentDesign, name="documents", short={"wd": ""}):
    """Whole documents in random order until the budget is met (WD of lo2023)."""

    options: ClassVar[Mapping[str, Parameter]] = {
        "stop": _STOP,
        "limit": Parameter("none", "documents longer than this are never drawn", least=1),
    }
    sentence = "simple random sampling of whole documents"
    sources = ("lo2023", "cochran1977")
    documents = 2

    def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
        """All documents, or those that are not too long."""
        get = self.parameters
        limit = None if get["limit"] == "none" else int(float(get["limit"]))
        return DocumentsPlan(population.layout, n, get["stop"], limit)


class FixedSnippets(DocumentDesign, name="fixed-snippets", short={"df": ""}):
    """A snippet of fixed length of documents in random order (DF of lo2023)."""

    options: ClassVar[Mapping[str, Parameter]] = {
        "length": Parameter("10", "segments per snippet", least=1),
        "stop": _STOP,
        "first": Parameter("random", "order of the documents", ("random", "longest")),
    }
    sentence = "drawing documents at random, each with one snippet of fixed length"
    sources = ("lo2023",)
    documents = 2

    def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
        """Up to ``length`` segments of each."""
        get = self.parameters
        length, longest = int(float(get["length"])), get["first"] == "longest"
        return FixedSnippetsPlan(population.layout, n, length, get["stop"], longest)


def _limits(sizes: np.ndarray, n: int, stop: str) -> np.ndarray:
    """The largest total size of earlier documents at which a document is still drawn.

    ``under``: the total stays within n. ``over``: the document that meets or passes n is drawn
    too. ``closest``: it is drawn if that brings the total closer to n, or as close.
    """
    match stop:
        case "under":
            return n - sizes
        case "over":
            return np.full(len(sizes), n - 1)
        case _:
            return np.asarray(np.floor(n - sizes / 2).astype(np.int64))


def _taken(sizes: np.ndarray, limits: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Which documents are drawn in these orders (one per row).

    The first document that does not fit ends the draw: a later, shorter one is not taken, as that
    would favour short documents.
    """
    arriving = sizes[order]
    before = np.cumsum(arriving, axis=1) - arriving
    drawn = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(drawn, order, before <= limits[order], axis=1)
    return drawn


@dataclass(frozen=True)
class DocumentsPlan(DrawPlan):
    """Whole documents in random order until the budget of n segments is met (WD of lo2023).

    Documents longer than ``size_limit`` are never drawn, as at WMT.
    """

    contiguous: ClassVar[bool] = True

    layout: Layout
    n: int
    stop: str = "closest"
    size_limit: int | None = None

    @cached_property
    def eligible(self) -> np.ndarray:
        """The documents that may be drawn."""
        lengths = self.layout.lengths
        limit = np.inf if self.size_limit is None else self.size_limit
        return np.flatnonzero(lengths <= limit)

    def probabilities(self) -> np.ndarray:
        """The probability of the segment's document."""
        sizes = self.layout.lengths[self.eligible]
        pi = np.zeros(len(self.layout.lengths))
        if len(sizes):
            pi[self.eligible] = arrival_probabilities(sizes, _limits(sizes, self.n, self.stop))
        return np.repeat(pi, self.layout.lengths)

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """One window per eligible document, empty where it was not drawn."""
        sizes = self.layout.lengths[self.eligible]
        order = np.argsort(rng.random((draws, len(sizes))), axis=1)
        drawn = _taken(sizes, _limits(sizes, self.n, self.stop), order)
        starts = np.broadcast_to(self.layout.starts[self.eligible], drawn.shape)
        return Draws(starts, starts + drawn * sizes)


@dataclass(frozen=True)
class FixedSnippetsPlan(DrawPlan):
    """Up to ``length`` contiguous segments per document, documents in random order (DF of lo2023).

    Shorter documents are taken whole. The snippet starts anywhere in its document with equal
    probability, so segments near the edges are drawn less often than those in the middle.
    ``longest_first`` goes through the documents by length, as WMT22 may have done; then short
    documents beyond the budget are never drawn.
    """

    contiguous: ClassVar[bool] = True

    layout: Layout
    n: int
    length: int = 10
    stop: str = "closest"
    longest_first: bool = False

    @cached_property
    def sizes(self) -> np.ndarray:
        """How many segments each document would give."""
        return np.asarray(np.minimum(self.layout.lengths, self.length))

    @cached_property
    def limits(self) -> np.ndarray:
        """The limits of :func:`_limits` for each document."""
        return _limits(self.sizes, self.n, self.stop)

    def probabilities(self) -> np.ndarray:
        """That of the document times the share of snippet positions that cover the segment."""
        if self.longest_first:
            pi = self._by_length()
        else:
            pi = arrival_probabilities(self.sizes, self.limits)
        rows = zip(pi, self.layout.lengths.tolist(), self.sizes.tolist(), strict=True)
        return np.concatenate([chance * _window_shares(*row) for chance, *row in rows])

    def _by_length(self) -> np.ndarray:
        """Longest first: certain, except among documents of the length where the budget ends."""
        pi = np.zeros(len(self.sizes))
        spent = 0
        for length in np.unique(self.layout.lengths)[::-1]:
            group = self.layout.lengths == length
            size, limit = int(self.sizes[group][0]), int(self.limits[group][0])
            taken = min(int(group.sum()), max(0, (limit - spent) // size + 1))
            pi[group] = taken / group.sum()
            spent += size * int(group.sum())
        return pi

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """One window per document, empty where it was not drawn."""
        shape = (draws, len(self.sizes))
        key = rng.random(shape)
        if self.longest_first:
            key = key - self.layout.lengths
        drawn = _taken(self.sizes, self.limits, np.argsort(key, axis=1))
        room = self.layout.lengths - self.sizes + 1
        starts = self.layout.starts + np.floor(rng.random(shape) * room).astype(np.int64)
        return Draws(starts, starts + drawn * self.sizes)


def _window_shares(length: int, size: int) -> np.ndarray:
    """For every place in a document, the share of the windows of this size that cover it."""
    place = np.arange(length)
    first = np.maximum(0, place - size + 1)
    last = np.minimum(place, length - size)
    return np.asarray((last - first + 1) / (length - size + 1))
