"""Pieces of every document, round after round: an order of which every beginning is a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from assay.designs.base import Parameter, PieceDesign, same_piece, short_sections
from assay.designs.plan import DrawPlan, Draws, Layout
from assay.designs.population import Population
from assay.errors import InputError
from assay.stats.selection import length_order

MOST_PIECES = 20_000_000
"""Pieces, most of them empty, that are laid out at once: about a gigabyte."""
SECOND = 2**0.5 - 1
"""Steps of it spread the phases of documents, apart from the golden ratio that orders them."""


class Rounds(PieceDesign, name="rounds"):
    """Pieces of documents in rounds, for ratings that are watched: every beginning is a sample.

    Every document is cut into T pieces and every round shows one of each, so that raters have
    context and any number of rounds is a sample spread over all documents.
    """

    options: ClassVar[Mapping[str, Parameter]] = {
        "looks": Parameter("5", "planned looks, each after whole rounds", least=1, most=1000),
        "max": Parameter("10", "the longest piece", least=1),
    }
    sentence = "rounds through pieces of all documents, with equal probabilities for all segments"
    rated_in_order = True

    def is_sample(self, count: int) -> bool:
        """Every beginning of the first draw, unless importance made groups of documents."""
        return self.importance is None and "parts" not in self.parameters

    def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
        """As many rounds as the budget buys."""
        rounds = self._rounds(n / population.size)
        return RoundsPlan(population.layout, n, rounds, self.longest)

    def _rounds(self, f: float) -> int:
        """T, the rounds that go through the whole test set: looks fall on the ends of rounds."""
        return max(1, round(float(self.parameters["looks"]) / f))

    def _planned(self, f: float) -> int:
        """The T of a sample of which a share f is looked at, which may be its beginning."""
        get = self.parameters
        return self._rounds(self.sizes[0] / int(get["N"]) if "n" in get else f)

    def sections(self, lengths: np.ndarray, f: float) -> np.ndarray:
        """As the plan cuts them."""
        return short_sections(lengths, self._planned(f), self.longest).lengths

    def together(self, length: np.ndarray, lag: np.ndarray, f: float) -> np.ndarray:
        """Those of one piece, and those of two that have both come up.

        After k rounds a section of q T + r segments has given k q and the floor or ceiling of
        k r / T, which says how many pairs are drawn in all; pairs of different pieces share what
        those of one piece leave, whatever their lag.
        """
        rounds = self._planned(f)
        pairs = np.maximum(length - lag, 0)
        near = same_piece(length, rounds, lag)
        near_all, far_all = _totals(length, rounds)
        k = int(f * rounds + 1e-9)
        found = np.zeros(pairs.shape)
        for done, chance in ((k, k + 1 - f * rounds), (k + 1, f * rounds - k)):
            both = _drawn_pairs(length, rounds, done) - near_all * done / rounds
            share = np.clip(both / np.maximum(far_all, 1), 0.0, 1.0)
            found += max(chance, 0.0) * (near * done / rounds + (pairs - near) * share)
        return found


def _totals(length: np.ndarray, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of a section that lie in one piece, over all lags, and those that do not."""
    short, longer = np.divmod(length, rounds)
    near = (rounds - longer) * short * (short - 1) / 2 + longer * short * (short + 1) / 2
    return near, length * (length - 1) / 2 - near


def _drawn_pairs(length: np.ndarray, rounds: int, done: int) -> np.ndarray:
    """E n (n - 1) / 2, n the segments that a section has given after so many rounds."""
    short, longer = np.divmod(length, rounds)
    low, part = np.divmod(done * longer, rounds)
    n = done * short + low
    return np.asarray(n * (n - 1) / 2 + part / rounds * n)


@dataclass(frozen=True)
class RoundsPlan(DrawPlan):
    """The first pieces of an order in which every round has one piece of every section.

    Sections (documents, long ones cut) number D. After k rounds and j more pieces every segment
    has been drawn with probability (k + j/D) / T, exactly; the plan ends where that is closest to
    n/N.
    """

    contiguous: ClassVar[bool] = True
    ordered: ClassVar[bool] = True

    whole: Layout
    n: int
    rounds: int
    longest: int

    @cached_property
    def layout(self) -> Layout:
        """The documents cut into sections whose pieces are short enough."""
        return short_sections(self.whole.lengths, self.rounds, self.longest)

    @cached_property
    def pieces(self) -> int:
        """How many pieces are drawn, empty ones among them: k D + j."""
        total = self.rounds * len(self.layout.lengths)
        return min(total, max(1, round(self.n / self.whole.population * total)))

    def probabilities(self) -> np.ndarray:
        """(k + j/D) / T for every segment."""
        f = self.pieces / (self.rounds * len(self.layout.lengths))
        return np.full(self.whole.population, f)

    def draw(self, rng: np.random.Generator, draws: int = 1) -> Draws:
        """Every row in the order in which to rate."""
        rows = [round_order(self.layout, self.rounds, rng, self.pieces) for _ in range(draws)]
        return Draws(*(np.stack(part) for part in zip(*rows, strict=True)))


def round_order(
    layout: Layout, rounds: int, rng: np.random.Generator, pieces: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Sections as pieces [start, stop), in an order whose beginnings are all samples.

    Every section is cut into T pieces at the places floor((i L + U) / T), U uniform on 0..T-1. Its
    pieces take the rounds in random order, the longer ones (the only ones that are not empty, in
    a section of fewer than T segments) at equal distances from a uniform start, so that the
    section has had its share after any number of rounds. Inside a round sections come in golden
    order of their lengths.

    >>> starts, stops = round_order(Layout(np.array([4, 6])), 2, np.random.default_rng(1))
    >>> (stops - starts).tolist()
    [2, 3, 2, 3]
    """
    lengths, count = layout.lengths, len(layout.lengths)
    line, place = length_order(lengths, rng)
    phase = np.empty(count, dtype=np.int64)
    phase[line] = ((np.arange(count) * SECOND + rng.random()) % 1 * rounds).astype(np.int64)
    edges = piece_edges(lengths, rounds, rng.integers(0, rounds, count))
    piece = piece_rounds(lengths, rounds, phase, edges, rng.random((count, rounds)))
    taken = line[place]
    section = np.concatenate([taken] * rounds)[:pieces]
    chosen = piece[taken].T.ravel()[:pieces]
    base = layout.starts[section]
    return base + edges[section, chosen], base + edges[section, chosen + 1]


def piece_edges(lengths: np.ndarray, rounds: int, shift: np.ndarray) -> np.ndarray:
    """Where the pieces of every section begin and end: sections x (T + 1)."""
    if len(lengths) * rounds > MOST_PIECES:
        raise InputError(
            f"the share is so small that the design rounds would cut {len(lengths):,} pieces of"
            f" text for each of {rounds:,} rounds; draw more segments, or choose the design"
            " segments"
        )
    return np.asarray((np.arange(rounds + 1) * lengths[:, None] + shift[:, None]) // rounds)


def piece_rounds(
    lengths: np.ndarray, rounds: int, phase: np.ndarray, edges: np.ndarray, key: np.ndarray
) -> np.ndarray:
    """Which piece of every section each round shows: sections x T.

    Round j shows a longer piece where floor((j r + phase) / T) rises, r = L mod T; ``key`` orders
    the pieces of one size. With a uniform phase a piece is equally likely to be shown in every
    round, and after k rounds floor((k r + phase) / T) longer ones have been.
    """
    short, longer = np.divmod(lengths, rounds)
    is_longer = edges[:, 1:] - edges[:, :-1] > short[:, None]
    steps = piece_edges(longer, rounds, phase)
    rises = steps[:, 1:] > steps[:, :-1]
    found = np.empty(key.shape, dtype=np.int64)
    turns = rises.argsort(axis=1, kind="stable")
    found[np.arange(len(found))[:, None], turns] = (is_longer + key).argsort(axis=1)
    return found
