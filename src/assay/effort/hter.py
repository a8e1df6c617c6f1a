"""HTER: the TER of machine translations against their edited versions.

The numbers are sacrebleu's, computed several times as fast. Nearly all the time goes into edit
distances of texts with shifted words; here each row of the distance matrix is one vector operation.
Which shifts are tried, and when the search ends, is left to sacrebleu.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics import lib_ter
from sacrebleu.metrics.ter import TER

from assay.results import Note, plural
from assay.stats.progress import Progress

Row: TypeAlias = NDArray[np.int64]
"""The cost of turning the first words into each prefix of the reference."""
MOST_WORDS_SHIFTED = 150
"""Shifted words are looked for in segments of at most this many words,"""
MOST_WORDS_SEARCHED, MOST_ERRORS_SEARCHED = 1000, 50
"""and in longer ones if at most this many words differ, since few differences are soon searched."""
_FAR = lib_ter._INT_INFINITY
_KEEP, _REPLACE, _INSERT, _DELETE = " sid"


def segment_hter(
    texts: list[tuple[str, str]], progress: Progress
) -> tuple[list[float], list[Note]]:
    """The HTER of every pair of a machine translation and its edited version, with notes."""
    values, long = [], 0
    progress("HTER of segments", 0, len(texts))
    for number, (mt, edited) in enumerate(texts, start=1):
        given, wanted = mt.lower().split(), edited.lower().split()
        words = max(len(given), len(wanted))
        if mt == edited:
            values.append(0.0)
        # In a long segment with many changes the search for shifts takes minutes.
        elif words <= MOST_WORDS_SHIFTED or (
            words <= MOST_WORDS_SEARCHED
            and Levenshtein.distance(given, wanted) <= MOST_ERRORS_SEARCHED
        ):
            values.append(edit_rate(given, wanted))
        else:
            errors = Levenshtein.distance(given, wanted)
            values.append(100.0 * errors / max(len(wanted), 1))
            long += 1
        progress("HTER of segments", number, len(texts))
    ter = TER()
    ter.sentence_score("", [""])  # there is a signature once something was scored
    text = "hter: words are split at spaces and keep their punctuation; case does not count"
    notes = [Note("hter-words", f"{text} (sacrebleu's TER, {ter.get_signature()})")]
    if long:
        text = (
            f"hter: in {plural(long, 'segment')} of over {MOST_WORDS_SHIFTED} words with many"
            " changes, shifted words count as deleted and inserted"
        )
        notes.append(Note("hter-no-shifts", text))
    return values, notes


def edit_rate(words: list[str], reference: list[str]) -> float:
    """Edits and shifts of words, in percent of the words of the reference.

    >>> edit_rate("b c a d".split(), "a b c d".split())
    25.0
    """
    if not reference or not words:
        return 100.0 * bool(reference or words)
    distance: Any = _Distance(reference)
    shifts, tried = 0, 0
    while True:
        gain, shifted, tried = lib_ter._shift(words, reference, distance, tried)
        if tried >= lib_ter._MAX_SHIFT_CANDIDATES or gain <= 0:
            return float(100.0 * (shifts + distance(words)[0]) / len(reference))
        shifts, words = shifts + 1, shifted


class _Distance:
    """Edit distances to one reference in a beam around the diagonal; rows are cached by prefix."""

    def __init__(self, reference: list[str]) -> None:
        self.reference = reference
        self.places = np.arange(len(reference) + 1)
        array = np.array(reference, dtype=object)
        self.unlike = {word: np.asarray(array != word, dtype=np.int64) for word in {*reference}}
        self.all_unlike = np.ones(len(reference), dtype=np.int64)
        self.kept: dict[str, Any] = {}

    def __call__(self, words: Sequence[str]) -> tuple[int, str]:
        """The edit distance of the words and the steps that turn them into the reference."""
        rows, node = [self.places], self.kept
        for number, word in enumerate(words, start=1):
            if word not in node:
                node[word] = ({}, self._row(rows[-1], number, len(words), word))
            node, row = node[word]
            rows.append(row)
        return int(rows[-1][-1]), self._steps(words, rows)

    def _row(self, above: Row, number: int, count: int, word: str) -> Row:
        """One more row of the matrix."""
        size = len(self.reference)
        ratio = size / count
        wide = lib_ter._BEAM_WIDTH
        if wide < ratio / 2:
            wide = math.ceil(ratio / 2 + wide)
        middle = math.floor(number * ratio)
        low, high = max(0, middle - wide), min(size + 1, middle + wide)
        high = size + 1 if number == count else high
        row = np.full(size + 1, _FAR)
        if low == 0:
            row[0], low = above[0] + 1, 1
        unlike = self.unlike.get(word, self.all_unlike)[low - 1 : high - 1]
        row[low:high] = np.minimum(above[low - 1 : high - 1] + unlike, above[low:high] + 1)
        # An insertion costs one more than what stands before it, however many there are.
        row[low - 1 : high] -= self.places[low - 1 : high]
        np.minimum.accumulate(row[low - 1 : high], out=row[low - 1 : high])
        row[low - 1 : high] += self.places[low - 1 : high]
        return row

    def _steps(self, words: Sequence[str], rows: Sequence[Row]) -> str:
        """The way back through the matrix: of equal steps keep or replace, then delete, insert."""
        path = []
        i, j = len(words), len(self.reference)
        while i or j:
            step = _INSERT if i == 0 else _DELETE
            if i and j:
                cost, alike = rows[i][j], words[i - 1] == self.reference[j - 1]
                if cost == rows[i - 1][j - 1] + (not alike):
                    step = _KEEP if alike else _REPLACE
                elif cost != rows[i - 1][j] + 1:
                    step = _INSERT
            path.append(step)
            i -= step != _INSERT
            j -= step != _DELETE
        return "".join(reversed(path))
