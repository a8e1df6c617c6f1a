"""What two pieces of a kit may have in common: length, terms, and how dense the terms are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.kits.pieces import Pieces
from assay.kits.stopwords import common_words, function_words
from assay.kits.terms import Extractor, Terms, Words

BIGRAM_JACCARD = 0.015
BIGRAM_RATIO = 2.0
"""The paper's limits for all bigrams, whose lists differ in length."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much two pieces of a kit may differ or share.

    ``length``: all within ±this share of a common length; ``shared``: share of their best terms;
    ``density``: ratio of the terms' occurrences. None: no limit.
    """

    length: float | None = 0.1
    shared: float | None = 0.2
    density: float | None = 1.3

    @property
    def length_ratio(self) -> float:
        """The longest over the shortest: (1 + x) / (1 - x)."""
        return np.inf if self.length is None else (1 + self.length) / (1 - self.length)


@dataclass(frozen=True, slots=True)
class TermCheck:
    """One method's verdict on a kit: the worst pair decides."""

    method: str
    shared_terms: float
    density_ratio: float
    accepted: bool


class TermBook:
    """The terms of pieces, extracted when first asked for."""

    def __init__(
        self,
        pieces: Pieces,
        methods: Mapping[str, Extractor],
        limits: Limits,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self.pieces = pieces
        self.methods = dict(methods)
        self.limits = limits
        self.tick = tick
        """Called after every piece looked at."""
        self.needed = len(self.methods) // 2 + 1
        """How many methods must accept a kit: the paper's "most"."""
        self._function = function_words(pieces.language, pieces.pieces)
        self._common = common_words(pieces.language)
        self._known: dict[int, dict[str, Terms]] = {}

    @property
    def extracted(self) -> int:
        """How many pieces were looked at."""
        return len(self._known)

    def terms(self, piece: int) -> dict[str, Terms]:
        """The terms of one piece by every method."""
        if piece not in self._known:
            words = Words.of(self.pieces.pieces[piece], self._function, self._common)
            self._known[piece] = {name: make(words) for name, make in self.methods.items()}
            self.tick()
        return self._known[piece]

    def accepting(self, left: int, right: int) -> tuple[int, int]:
        """Which methods accept a pair, as bits: by its shared terms, and by their density."""
        mine, theirs = self.terms(left), self.terms(right)
        shared = density = 0
        for position, name in enumerate(self.methods):
            share, ratio = _compare(name, mine[name], theirs[name])
            most, densest = self._limits(name)
            shared |= (share <= most) << position
            density |= (ratio <= densest) << position
        return shared, density

    def check(self, kit: tuple[int, ...]) -> tuple[TermCheck, ...]:
        """Every method's verdict on a kit."""
        found = []
        for name in self.methods:
            pairs = [
                _compare(name, self.terms(left)[name], self.terms(right)[name])
                for left, right in combinations(kit, 2)
            ]
            share = max(pair[0] for pair in pairs)
            ratio = max(pair[1] for pair in pairs)
            most, densest = self._limits(name)
            found.append(TermCheck(name, share, ratio, share <= most and ratio <= densest))
        return tuple(found)

    def _limits(self, name: str) -> tuple[float, float]:
        most = np.inf if self.limits.shared is None else self.limits.shared
        densest = np.inf if self.limits.density is None else self.limits.density
        if name == "bigrams":
            return min(most, BIGRAM_JACCARD) if most < np.inf else most, (
                BIGRAM_RATIO if densest < np.inf else densest
            )
        return most, densest


def _compare(name: str, left: Terms, right: Terms) -> tuple[float, float]:
    """The share of terms in common and the ratio of occurrences, as the paper takes them."""
    common = len(left.terms & right.terms)
    few, many = sorted((left.occurrences, right.occurrences))
    if name == "bigrams":
        either = len(left.terms | right.terms)
        return common / either if either else 0.0, many / (few + 1)
    smaller = min(len(left.terms), len(right.terms))
    ratio = many / few if few else (np.inf if many else 1.0)
    return common / smaller if smaller else 0.0, ratio
