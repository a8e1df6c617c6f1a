"""TER of segments: the same as sacrebleu's, which is slower."""

from __future__ import annotations

import random

import pytest
from sacrebleu.metrics.ter import TER

from assay.effort.hter import edit_rate


def _edited(rng: random.Random, words: list[str], vocabulary: list[str]) -> list[str]:
    """Words replaced, left out, added, and blocks of them moved."""
    words = words[:]
    for _ in range(rng.randint(0, 2 + len(words) // 2)):
        place = rng.randrange(len(words) + 1)
        words[place : place + rng.randint(0, 1)] = rng.choices(vocabulary, k=rng.randint(0, 2))
    for _ in range(rng.randint(0, 4)):
        start, size = rng.randrange(len(words) + 1), rng.randint(1, 6)
        block = words[start : start + size]
        del words[start : start + size]
        place = rng.randrange(len(words) + 1)
        words[place:place] = block
    return words


@pytest.mark.parametrize(
    ("runs", "longest", "distinct"), [(300, 12, 5), (60, 40, 30), (5, 110, 60)]
)
def test_it_equals_sacrebleu(runs: int, longest: int, distinct: int) -> None:
    rng, ter = random.Random(longest), TER()
    vocabulary = [f"w{k}" for k in range(distinct)]
    for _ in range(runs):
        words = rng.choices(vocabulary, k=rng.randint(1, longest))
        edited = _edited(rng, words, vocabulary)
        wanted = ter.sentence_score(" ".join(words), [" ".join(edited)]).score
        assert edit_rate(words, edited) == pytest.approx(wanted, abs=1e-9), (words, edited)


def test_texts_of_very_different_lengths() -> None:
    rng, ter = random.Random(2), TER()
    words = [f"w{k}" for k in range(9)]
    for few, many in ((1, 120), (120, 1), (3, 90), (90, 2), (0, 4), (4, 0)):
        one, two = (rng.choices(words, k=k) for k in (few, many))
        wanted = ter.sentence_score(" ".join(one), [" ".join(two)]).score
        assert edit_rate(one, two) == pytest.approx(wanted, abs=1e-9), (few, many)
    assert edit_rate([], []) == 0.0
