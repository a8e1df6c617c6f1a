"""Pseudo-texts: words made of syllables, so that a simulated campaign can be shown."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

VOCABULARY = 1500
ONSETS = [
    "b",
    "d",
    "f",
    "g",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "v",
    "z",
    "br",
    "dr",
    "kl",
    "pr",
    "st",
    "tr",
    "sh",
]
VOWELS = {
    "source": ["a", "e", "i", "o", "u", "ai", "ou"],
    "target": ["a", "ä", "e", "i", "o", "ö", "u", "ei", "au"],
}
CODAS = {"source": ["", "", "", "n", "s", "l"], "target": ["", "", "n", "r", "t", "ch"]}


def vocabulary(side: str, rng: Generator) -> NDArray[np.str_]:
    """Words of one to three syllables; earlier words are shorter, as frequent words are."""
    syllables = 1 + (rng.random(VOCABULARY) < 0.75).astype(int)
    syllables += rng.random(VOCABULARY) < np.linspace(0, 0.6, VOCABULARY)
    syllables[:60] = 1
    parts = (ONSETS, VOWELS[side], CODAS[side])
    pieces = [rng.choice(part, size=(VOCABULARY, 3)) for part in parts]
    joined = np.strings.add(np.strings.add(pieces[0], pieces[1]), pieces[2])
    return np.array(["".join(row[:k]) for row, k in zip(joined, syllables, strict=True)])


def write(
    words: NDArray[np.intp], wrong: NDArray[np.float64], rng: Generator
) -> tuple[list[str], list[list[str]]]:
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


def _sentences(
    words: NDArray[np.str_], comma: NDArray[np.bool_], ends: NDArray[np.intp]
) -> list[str]:
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
