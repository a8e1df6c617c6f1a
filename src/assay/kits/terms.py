"""The terms of a piece by several methods, and whether two pieces share too many of them.

A method is a function from the lower-case sentences of a piece (:class:`Words`) to its
:class:`Terms`. :data:`METHODS` holds them by name, and takes further ones.

=================== =============================================================================
frequent_words      the most frequent words that are not everyday words
likelihood          word pairs by Dunning's (1993) likelihood ratio
pmi                 word pairs by pointwise mutual information (Church and Hanks 1990). It prefers
                    pairs seen once, which hardly any two pieces share, so it refuses nothing
combo_basic         |t| log f(t) + .75 e(t) + .1 e'(t), where e counts the candidates that contain
                    t, and e' those that t contains (Astrakhantsev 2018)
bigrams             all word pairs without function words
=================== =============================================================================
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations, groupby, pairwise
from typing import NamedTuple, TypeAlias

from assay.errors import OptionError, did_you_mean
from assay.kits.pieces import Piece, Pieces, english_words, with_inflections
from assay.kits.results import Limits, TermCheck
from assay.stats.progress import Progress, silent

BEST_TERMS = 30
"""The number of terms of a piece to compare."""
MOST_WORDS_OF_TERM = 4
"""The most words in a candidate of combo_basic."""
BIGRAM_JACCARD = 0.015
BIGRAM_RATIO = 2.0
"""The paper's limits for bigrams, whose lists differ in length."""


class Terms(NamedTuple):
    """The best terms of a piece and the total number of their occurrences."""

    terms: frozenset[str]
    occurrences: int


class Words(NamedTuple):
    """A piece for extractors: lower-case tokens by sentence, and the words that are not terms."""

    sentences: tuple[tuple[str, ...], ...]
    function: frozenset[str]
    common: Callable[[str], bool]

    @classmethod
    def of(cls, piece: Piece, function: frozenset[str], common: Callable[[str], bool]) -> Words:
        """The words of a piece."""
        lines = (tuple(line.lower().split()) for line in piece.sentences)
        return cls(tuple(lines), function, common)

    def may_be_in_term(self, token: str) -> bool:
        """Whether a term may contain the token."""
        return is_word(token) and token not in self.function


Extractor: TypeAlias = Callable[[Words], Terms]


def _best(counts: Counter[str], scores: dict[str, float] | None = None) -> Terms:
    # Sorting is stable: equal scores stay in the order of first appearance.
    by = counts if scores is None else scores
    best = sorted(counts, key=lambda term: -by[term])[:BEST_TERMS]
    return Terms(frozenset(best), sum(counts[term] for term in best))


def frequent_words(words: Words) -> Terms:
    """The most frequent words that are neither function words nor everyday words."""
    return _best(
        Counter(
            token
            for sentence in words.sentences
            for token in sentence
            if words.may_be_in_term(token) and not words.common(token)
        )
    )


def _pairs(words: Words) -> Iterator[tuple[str, str]]:
    for sentence in words.sentences:
        yield from pairwise(sentence)


def _term_pairs(words: Words) -> Counter[tuple[str, str]]:
    found = Counter(_pairs(words))
    may = words.may_be_in_term
    return Counter({pair: n for pair, n in found.items() if may(pair[0]) and may(pair[1])})


def _collocations(words: Words, score: Callable[[int, int, int, int], float]) -> Terms:
    left: Counter[str] = Counter()
    right: Counter[str] = Counter()
    total = 0
    for first, second in _pairs(words):
        left[first] += 1
        right[second] += 1
        total += 1
    pairs = _term_pairs(words)
    counts = Counter({" ".join(pair): n for pair, n in pairs.items()})
    scores = {
        " ".join(pair): score(n, left[pair[0]], right[pair[1]], total) for pair, n in pairs.items()
    }
    return _best(counts, scores)


def likelihood_ratio(both: int, left: int, right: int, total: int) -> float:
    """Dunning's log likelihood ratio of a word pair: 2 sum n log(n / expected n)."""
    cells = (both, left - both, right - both, total - left - right + both)
    margins = (
        left * right,
        left * (total - right),
        (total - left) * right,
        (total - left) * (total - right),
    )
    return 2 * sum(
        n * math.log(n * total / margin) for n, margin in zip(cells, margins, strict=True) if n
    )


def likelihood(words: Words) -> Terms:
    """Word pairs by likelihood ratio."""
    return _collocations(words, likelihood_ratio)


def pmi(words: Words) -> Terms:
    """Word pairs by pointwise mutual information: log of seen over expected."""
    return _collocations(words, lambda n, left, right, total: math.log(n * total / (left * right)))


def bigrams(words: Words) -> Terms:
    """All word pairs without function words; occurrences count pairs seen more than once."""
    pairs = _term_pairs(words)
    terms = frozenset(" ".join(pair) for pair in pairs)
    return Terms(terms, sum(n for n in pairs.values() if n > 1))


def combo_basic(words: Words) -> Terms:
    """Candidates by length, frequency and nesting."""
    counts: Counter[tuple[str, ...]] = Counter()
    for sentence in words.sentences:
        for run in _runs(sentence, words.may_be_in_term):
            for start in range(len(run)):
                for stop in range(start + 1, min(len(run), start + MOST_WORDS_OF_TERM) + 1):
                    counts[run[start:stop]] += 1
    around: Counter[tuple[str, ...]] = Counter()
    inside: Counter[tuple[str, ...]] = Counter()
    for term in counts:
        size = len(term)
        parts = {term[a:b] for a in range(size) for b in range(a + 1, size + 1)} - {term}
        inside[term] = len(parts)
        around.update(parts)
    scores = {
        " ".join(term): len(term) * math.log(n) + 0.75 * around[term] + 0.1 * inside[term]
        for term, n in counts.items()
    }
    return _best(Counter({" ".join(term): n for term, n in counts.items()}), scores)


def _runs(sentence: Sequence[str], fits: Callable[[str], bool]) -> Iterator[tuple[str, ...]]:
    """Yield the longest runs of tokens that all fit."""
    yield from (tuple(run) for fit, run in groupby(sentence, fits) if fit)


METHODS: dict[str, Extractor] = {
    "frequent_words": frequent_words,
    "likelihood": likelihood,
    "pmi": pmi,
    "combo_basic": combo_basic,
    "bigrams": bigrams,
}


def choose_methods(wanted: Sequence[str] | None) -> dict[str, Extractor]:
    """The extractors by name; by default all."""
    for name in wanted or ():
        if name not in METHODS:
            raise OptionError(
                "methods", name, f"is not a method{did_you_mean(name, list(METHODS))}",
                f"choose from {', '.join(METHODS)}",
            )  # fmt: skip
    return {name: METHODS[name] for name in (METHODS if wanted is None else wanted)}


def is_word(token: str) -> bool:
    """Whether a token has a letter.

    >>> [is_word(token) for token in ("data", "2018", "’")]
    [True, False, False]
    """
    return any(sign.isalpha() for sign in token)


def function_words(language: str, pieces: Sequence[Piece]) -> frozenset[str]:
    """The words that no term may contain.

    For English they are a list of its closed classes (articles, pronouns, auxiliaries,
    prepositions, conjunctions, particles, and what a tokeniser leaves of contractions). For other
    languages they are the words found in more than half of the pieces.
    """
    if language == "en":
        return _word_list("function_words")
    seen: Counter[str] = Counter()
    for piece in pieces:
        seen.update({token for line in piece.sentences for token in line.lower().split()})
    return frozenset(word for word, number in seen.items() if 2 * number > len(pieces) > 1)


def common_words(language: str) -> Callable[[str], bool]:
    """A test for everyday words, which are not terms on their own.

    For English: the Dale-Chall list, some 400 words that have become common since 1948, and the
    regular inflections of both. For other languages no word is one.
    """
    if language != "en":
        return lambda word: False
    return with_inflections(english_words()[1] | _word_list("modern_words"))


@cache
def _word_list(name: str) -> frozenset[str]:
    text = files("assay.kits").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


class TermBook:
    """The terms of pieces, extracted on demand, and the limits on them."""

    def __init__(
        self,
        pieces: Pieces,
        methods: Mapping[str, Extractor],
        limits: Limits,
        progress: Progress = silent,
    ) -> None:
        self.pieces = pieces
        self.methods = dict(methods)
        self.limits = limits
        self.progress = progress
        self.needed = len(self.methods) // 2 + 1
        """The number of methods that must accept a kit: the paper's "most"."""
        self._function = function_words(pieces.language, pieces.pieces)
        self._common = common_words(pieces.language)
        self._known: dict[int, dict[str, Terms]] = {}

    @property
    def extracted(self) -> int:
        """The number of pieces whose terms were extracted."""
        return len(self._known)

    def terms(self, piece: int) -> dict[str, Terms]:
        """The terms of one piece by every method."""
        if piece not in self._known:
            words = Words.of(self.pieces.pieces[piece], self._function, self._common)
            self._known[piece] = {name: make(words) for name, make in self.methods.items()}
            self.progress("terms of pieces", self.extracted, len(self.pieces))
        return self._known[piece]

    def accepting(self, left: int, right: int) -> tuple[int, int]:
        """The methods that accept a pair, as bits: by shared terms, and by density."""
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
        checks = []
        for name in self.methods:
            pairs = [
                _compare(name, self.terms(left)[name], self.terms(right)[name])
                for left, right in combinations(kit, 2)
            ]
            share = max(pair[0] for pair in pairs)
            ratio = max(pair[1] for pair in pairs)
            most, densest = self._limits(name)
            checks.append(TermCheck(name, share, ratio, share <= most and ratio <= densest))
        return tuple(checks)

    def _limits(self, name: str) -> tuple[float, float]:
        most = math.inf if self.limits.shared is None else self.limits.shared
        densest = math.inf if self.limits.density is None else self.limits.density
        if name == "bigrams":
            return min(most, BIGRAM_JACCARD) if most < math.inf else most, (
                BIGRAM_RATIO if densest < math.inf else densest
            )
        return most, densest


def _compare(name: str, left: Terms, right: Terms) -> tuple[float, float]:
    """The share of common terms and the ratio of occurrences, as the paper defines them."""
    common = len(left.terms & right.terms)
    few, many = sorted((left.occurrences, right.occurrences))
    if name == "bigrams":
        either = len(left.terms | right.terms)
        return common / either if either else 0.0, many / (few + 1)
    smaller = min(len(left.terms), len(right.terms))
    ratio = many / few if few else (math.inf if many else 1.0)
    return common / smaller if smaller else 0.0, ratio
