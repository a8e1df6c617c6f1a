"""Make pseudo-texts of syllables, and the errors that raters mark in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from assay.formats.mqm import NO_ERROR
from assay.worlds.latent import Floats, Ints

VOCABULARY = 1500
ONSETS = [
    "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z",
    "br", "dr", "kl", "pr", "st", "tr", "sh",
]  # fmt: skip
VOWELS = {
    "source": ["a", "e", "i", "o", "u", "ai", "ou"],
    "target": ["a", "ä", "e", "i", "o", "ö", "u", "ei", "au"],
}
CODAS = {"source": ["", "", "", "n", "s", "l"], "target": ["", "", "n", "r", "t", "ch"]}


def vocabulary(side: str, rng: Generator) -> NDArray[np.str_]:
    """Words of one to three syllables; earlier, more frequent words are shorter."""
    syllables = 1 + (rng.random(VOCABULARY) < 0.75).astype(int)
    syllables += rng.random(VOCABULARY) < np.linspace(0, 0.6, VOCABULARY)
    syllables[:60] = 1
    parts = (ONSETS, VOWELS[side], CODAS[side])
    pieces = [rng.choice(part, size=(VOCABULARY, 3)) for part in parts]
    joined = np.strings.add(np.strings.add(pieces[0], pieces[1]), pieces[2])
    return np.array(["".join(row[:k]) for row, k in zip(joined, syllables, strict=True)])


def write(words: Ints, wrong: Floats, rng: Generator) -> tuple[list[str], list[list[str]]]:
    """One source per segment, and its translation by every system.

    words: words of each segment; wrong: S x G, the chance that a system takes another word than
    the usual one, which is what makes outputs differ.
    """
    left, right = vocabulary("source", rng), vocabulary("target", rng)
    zipf = 1 / (np.arange(VOCABULARY) + 2.7)
    drawn = rng.choice(VOCABULARY, size=int(words.sum()), p=zipf / zipf.sum())
    ends = np.cumsum(words)
    comma = rng.random(len(drawn)) < 0.08
    comma[ends - 1] = False
    sources = _sentences(left[drawn], comma, ends)
    targets = []
    for row in wrong:
        other = rng.random(len(drawn)) < np.repeat(row, words)
        chosen = np.where(other, rng.integers(VOCABULARY, size=len(drawn)), drawn)
        targets.append(_sentences(right[chosen], comma, ends))
    return sources, targets


def _sentences(words: NDArray[np.str_], comma: NDArray[np.bool_], ends: Ints) -> list[str]:
    tokens = np.where(comma, np.strings.add(words, ","), words).tolist()
    starts = [0, *ends[:-1].tolist()]
    lines = (" ".join(tokens[a:b]) for a, b in zip(starts, ends.tolist(), strict=True))
    return [line[0].upper() + line[1:] + "." for line in lines]


def span(text: str, order: int, count: int, spot: float, kind: str) -> tuple[int, int]:
    """Where error number ``order`` of ``count`` stands: half-open offsets, inside the text.

    Errors are spread over the text, and ``spot`` is the same for all raters, so that raters who
    mark equally many errors mark the same words.
    """
    if kind == "text":
        return 0, len(text)
    place = (order + spot) / count
    if kind == "punctuation":
        signs = [i for i, sign in enumerate(text) if sign in ",."]
        start = signs[int(place * len(signs))]
        return start, start + 1
    tokens = text[:-1].split(" ")
    first = int(place * len(tokens))
    width = max(1, min(3, len(tokens) // count, len(tokens) - first)) if spot > 0.4 else 1
    start = sum(len(token) + 1 for token in tokens[:first])
    inside = " ".join(tokens[first : first + width]).rstrip(",")
    return start, start + len(inside)


SEVERITIES = (NO_ERROR, "Minor", "Minor", "Major", "Major")
PLACES = ("nowhere", "punctuation", "words", "words", "text")

_MINOR = {
    "Style/Awkward": 0.52,
    "Terminology/Inappropriate for context": 0.15,
    "Accuracy/Mistranslation": 0.11,
    "Fluency/Grammar": 0.08,
    "Fluency/Spelling": 0.06,
    "Fluency/Inconsistency": 0.05,
    "Fluency/Register": 0.03,
}
_MAJOR = {
    "Accuracy/Mistranslation": 0.54,
    "Style/Awkward": 0.24,
    "Terminology/Inappropriate for context": 0.08,
    "Fluency/Grammar": 0.07,
    "Accuracy/Untranslated text": 0.03,
    "Fluency/Register": 0.02,
    "Accuracy/Addition": 0.02,
}
CATEGORIES = (
    {NO_ERROR: 1.0}, {"Fluency/Punctuation": 1.0}, _MINOR, _MAJOR, {"Non-translation!": 1.0},
)  # fmt: skip
"""Shares of categories by kind of mark, rounded from the TED talks of WMT21 en-de."""


@dataclass(frozen=True)
class Marks:
    """One row per mark: positions of system, segment and rater; slot, how many marks, kind."""

    system: Ints
    segment: Ints
    rater: Ints
    slot: Ints
    count: Ints
    kind: Ints
    category: NDArray[np.str_]


def rows(
    kinds: NDArray[np.int8], chances: NDArray[np.float32], asked: NDArray[np.bool_], raters: Ints
) -> Marks:
    """The marks of the asked outputs (S x G) by these raters; a flawless one has one empty row."""
    chosen = kinds[:, :, raters]
    count = (chosen > 0).sum(axis=3)
    listed = chosen > 0
    listed[..., 0] = True
    listed &= asked[:, :, None, None]
    system, segment, column, slot = np.nonzero(listed)
    kind = chosen[listed].astype(np.intp)
    category = _categories(kind, chances[:, :, raters][listed])
    number = count[system, segment, column]
    return Marks(system, segment, raters[column], slot, number, kind, category)


def _categories(kind: Ints, chance: NDArray[np.float32]) -> NDArray[np.str_]:
    names = np.empty(len(kind), dtype="U40")
    for code, shares in enumerate(CATEGORIES):
        here = kind == code
        edges = np.cumsum(list(shares.values()))
        place = np.searchsorted(edges, chance[here] * edges[-1], side="right")
        names[here] = np.array(list(shares))[np.minimum(place, len(shares) - 1)]
    return names


def spans(
    marks: Marks, targets: Sequence[Sequence[str]], spots: Floats
) -> list[tuple[int | None, int | None]]:
    """The start and end of every mark within its target; None for a flawless output."""
    columns = (marks.system, marks.segment, marks.slot, marks.count, marks.kind)
    return [
        span(targets[s][g], slot, count, float(spots[s, g]), PLACES[kind])
        if count
        else (None, None)
        for s, g, slot, count, kind in zip(*(column.tolist() for column in columns), strict=True)
    ]
