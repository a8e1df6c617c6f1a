"""Snippets of every document, in proportion to its length (DB of lo2023).

``LinearPlan`` is the paper's: a window of about f*L segments anywhere in the document, so that
segments near its edges are drawn less often. The other two give every segment exactly the same
probability f: tiles for f up to 1/2, where every sample is one unwrapped snippet per document,
circular windows above. Long documents are first cut into sections, each treated as a document, so
that no snippet is longer than allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from assay.designs.base import Parameter
from assay.designs.documents import DocumentDesign
from assay.designs.plan import DrawPlan, Draws, Layout
from assay.designs.population import Population
from assay.designs.rounds import PieceDesign, cut, same_piece, short_sections
from assay.stats.allocation import systematic_counts


class Snippets(PieceDesign, name="snippets", short={"db": ""}):
    """A snippet of every document, in proportion to its length, all segments equally likely.

    What DB of lo2023 aims at, exactly.
    """

    options: ClassVar[Mapping[str, Parameter]] = {
        "max": Parameter("10", "the longest snippet", least=1)
    }
    sentence = "sampling snippets of documents with equal probabilities for all segments"
    sources = ("lo2023",)
    even = True

    def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
        """Tiles up to half of the segments, circular windows beyond."""
        kind = TilesPlan if 2 * n <= population.size else CircularPlan
        return kind(population.layout, n, self.longest)

    def sections(self, lengths: np.ndarray, f: float) -> np.ndarray:
        """As the plan cuts them."""
        if f <= HALF:
            return short_sections(lengths, _tiles(f)[0], self.longest).lengths
        return _short_windows(lengths, f, self.longest).lengths

    def together(self, length: np.ndarray, lag: np.ndarray, f: float) -> np.ndarray:
        """Those of one tile, or those at a lag that one window covers."""
        if f <= HALF:
            m, p = _tiles(f)
            few, many = (same_piece(length, tiles, lag) / tiles for tiles in (m, m + 1))
            return np.asarray(p * few + (1 - p) * many)
        return np.asarray(covered(length, lag, f) * np.maximum(length - lag, 0))


class LinearSnippets(DocumentDesign, name="snippets-linear", short={"db-linear": ""}):
    """DB of lo2023 as the paper writes it: segments near the edges are drawn less often."""

    sentence = "sampling snippets whose length goes with that of their document"
    sources = ("lo2023",)
    documents = 1

    def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
        """One window per document."""
        return LinearPlan(population.layout, n)


HALF = 0.5 + 1e-9
"""Above this share, windows take the place of tiles."""


def _tiles(f: float) -> tuple[int, float]:
    """The smaller number of tiles m for a share f, and the probability p of m tiles."""
    m = int(1 / f + 1e-9)
    return m, min(1.0, max(0.0, m * (f * (m + 1) - 1)))


def _short_windows(lengths: np.ndarray, f: float, longest: int) -> Layout:
    """Documents cut into sections whose windows are not too long."""
    sections = np.clip(np.ceil(f * lengths / longest).astype(np.int64), 1, lengths)
    # Sections differ by one segment, and rounding adds another: cut once more where needed.
    while True:
        most = np.ceil(f * np.ceil(lengths / sections) - 1e-9)
        over = (most > longest) & (sections < lengths)
        if not over.any():
            return cut(Layout(lengths), sections)
        sections = sections + over


def covered(length: np.ndarray, lag: np.ndarray, f: float) -> np.ndarray:
    """Probability that a circular window covers two segments at a lag; at lag 0 it is f.

    E over k of (max(0, k-t) + max(0, k-L+t)) / L, k the floor or ceiling of f*L.
    """
    low = np.floor(f * length + 1e-9)
    chance = np.maximum(f * length - low, 0.0)
    joint = np.zeros(np.broadcast(length, lag).shape)
    for size, share in ((low, 1 - chance), (low + 1, chance)):
        both = np.maximum(0, size - lag) + np.maximum(0, size - length + lag)
        joint += share * np.where(lag == 0, size, both) / length
    return joint


def _length_order(lengths: np.ndarray, rng: np.random.Generator, draws: int) -> np.ndarray:
    """Documents by length, ties at random, once per draw."""
    return np.argsort(lengths[None, :] + 0.5 * rng.random((draws, len(lengths))), axis=1)


def _window_sizes(
    lengths: np.ndarray, f: float, rng: np.random.Generator, draws: int
) -> np.ndarray:
    """k_d, the floor or ceiling of f*L_d, E k_d = f*L_d, with an exact total.

    Along the length order every stretch of documents, so every length bin, is within one segment
    of its share. Documents of one length have one target, so permuting ties changes nothing but
    who among them gets the extra segment.
    """
    order = _length_order(lengths, rng, draws)
    counts = systematic_counts(f * np.sort(lengths), rng.random(draws))
    sizes = np.empty_like(counts)
    np.put_along_axis(sizes, order, counts, axis=1)
    return sizes


@dataclass(frozen=True)
class LinearPlan(DrawPlan):
    """DB as the paper writes it: a window of f*L_d segments, its start uniform on 0..L-k."""

    contiguous: ClassVar[bool] = True

    layout: Layout
    n: int

    @property
    def f(self) -> float:
        """The share of the test set that is drawn."""
        return self.n / self.layout.population

    def probabilities(self) -> np.ndarray:
        """E over k of the share of windows of k segments that cover the place."""
        by_length = {
            int(length): _linear_shares(int(length), self.f)
            for length in np.unique(self.layout.lengths)
        }
        return np.concatenate([by_length[int(length)] for length in self.layout.lengths])

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """One window per document; the total is n in every draw."""
        lengths = self.layout.lengths
        sizes = _window_sizes(lengths, self.f, rng, draws)
        room = lengths - sizes + 1
        starts = self.layout.starts + np.floor(rng.random(sizes.shape) * room).astype(np.int64)
        starts = np.where(sizes > 0, starts, self.layout.starts)
        return Draws(starts, starts + sizes)


def _linear_shares(length: int, f: float) -> np.ndarray:
    place = np.arange(length)
    pi = np.zeros(length)
    for size, chance in _rounded(f * length):
        if size:
            first = np.maximum(0, place - size + 1)
            last = np.minimum(place, length - size)
            pi += chance * (last - first + 1) / (length - size + 1)
    return pi


def _rounded(target: float) -> list[tuple[int, float]]:
    """Floor and ceiling of a target with the probabilities of unbiased rounding."""
    if abs(target - round(target)) < 1e-9:
        return [(round(target), 1.0)]
    low = int(np.floor(target))
    return [(low, 1 - (target - low)), (low + 1, target - low)]


@dataclass(frozen=True)
class _EvenPlan(DrawPlan):
    """A window of every section, all segments equally likely."""

    contiguous: ClassVar[bool] = True

    whole: Layout
    n: int
    max_snippet: int

    @property
    def f(self) -> float:
        """The share of the test set that is drawn."""
        return self.n / self.whole.population

    def probabilities(self) -> np.ndarray:
        """F for every segment."""
        return np.full(self.whole.population, self.f)

    def positions(self) -> np.ndarray:
        """The positions of segments in their documents."""
        return self.whole.position


class CircularPlan(_EvenPlan):
    """Windows that wrap around the end of their document: pi = f exactly, n in every draw."""

    @cached_property
    def layout(self) -> Layout:
        """The documents cut into sections whose windows are short enough."""
        return _short_windows(self.whole.lengths, self.f, self.max_snippet)

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """Two windows per section: from the start on, and what wraps around to the front."""
        lengths, base = self.layout.lengths, self.layout.starts
        sizes = _window_sizes(lengths, self.f, rng, draws)
        first = np.floor(rng.random(sizes.shape) * lengths).astype(np.int64)
        end = np.minimum(first + sizes, lengths)
        wrapped = np.maximum(first + sizes - lengths, 0)
        starts = np.concatenate([np.broadcast_to(base, sizes.shape), base + first], axis=1)
        stops = np.concatenate([base + wrapped, base + end], axis=1)
        return Draws(starts, stops)


class TilesPlan(_EvenPlan):
    """Every document is cut into m or m+1 tiles and one is drawn: pi = f exactly, for f <= 1/2.

    m = floor(1/f), and m tiles have probability p with p/m + (1-p)/(m+1) = f. The cut points of T
    tiles are floor((jL + U) / T), U uniform on 0..T-1, j the tile. A tile is one segment longer
    than the shortest when W = (jL + U) mod T >= T - (L mod T); W is uniform and independent of j,
    so the W of all documents can be chosen together to keep the total close to n without touching
    any probability: along the length order, as for windows.
    """

    @cached_property
    def m(self) -> int:
        """The smaller number of tiles."""
        return _tiles(self.f)[0]

    @cached_property
    def p(self) -> float:
        """The probability of m tiles."""
        return _tiles(self.f)[1]

    @cached_property
    def layout(self) -> Layout:
        """The documents cut into sections whose tiles are short enough."""
        return short_sections(self.whole.lengths, self.m, self.max_snippet)

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """One window per section, empty where the tile is."""
        lengths = self.layout.lengths
        order = _length_order(lengths, rng, draws)
        shape = order.shape
        tiles = np.empty(shape, dtype=np.int64)
        few = systematic_counts(np.full(shape[1], self.p), rng.random(draws))
        np.put_along_axis(tiles, order, self.m + 1 - few, axis=1)
        longer = self._longer(tiles, order, rng.random(draws))
        tile = np.floor(rng.random(shape) * tiles).astype(np.int64)
        extra = lengths % tiles
        # W uniform over the values that make the tile long, or over those that do not.
        low = np.where(longer, tiles - extra, 0)
        high = np.where(longer, tiles, tiles - extra)
        w = low + np.floor(rng.random(shape) * (high - low)).astype(np.int64)
        shift = (w - tile * extra) % tiles
        starts = (tile * lengths + shift) // tiles
        stops = ((tile + 1) * lengths + shift) // tiles
        base = self.layout.starts
        return Draws(base + starts, base + stops)

    def _longer(self, tiles: np.ndarray, order: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Which documents give the longer tile: systematically, by the fractions of L/T."""
        fractions = (self.layout.lengths % tiles) / tiles
        running = np.cumsum(np.take_along_axis(fractions, order, axis=1), axis=1)
        running = np.concatenate([np.zeros((len(order), 1)), running], axis=1)
        whole = np.rint(running)
        running = np.where(np.abs(running - whole) < 1e-9, whole, running)
        chosen = np.diff(np.floor(running + start[:, None]), axis=1) > 0
        longer = np.empty(chosen.shape, dtype=bool)
        np.put_along_axis(longer, order, chosen, axis=1)
        return longer

    def size_sd(self) -> float:
        """The standard deviation of the total over draws, exact.

        Given the start u of the systematic choice of m or m+1, the expected total is a sum over
        documents in length order; rounding it adds a Bernoulli variance.
        """
        lengths = np.sort(self.layout.lengths)
        place = np.arange(len(lengths) + 1) * self.p
        edges = np.unique(np.concatenate([[0.0, 1.0], np.ceil(place) - place]))
        edges = edges[(edges >= 0) & (edges <= 1)]
        middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
        totals = np.empty(len(middle))
        for start in range(0, len(middle), 256):  # blocks, so that many documents fit memory
            block = slice(start, start + 256)
            few = np.diff(np.floor(place[None, :] + middle[block, None]), axis=1)
            totals[block] = (lengths / (self.m + 1 - few)).sum(axis=1)
        part = totals - np.floor(totals + 1e-9)
        mean = float(width @ totals)
        variance = float(width @ ((totals - mean) ** 2 + part * (1 - part)))
        return float(np.sqrt(max(0.0, variance)))
