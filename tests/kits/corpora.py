"""Self-made corpora for the tests of kits."""

from __future__ import annotations

import numpy as np

SYLLABLES = [first + vowel for first in "bdklm" for vowel in "aeiou"]


def make_paragraph(rng: np.random.Generator, length: int, syllables: float) -> str:
    """Sentences of about ``length`` words, words of about ``syllables`` syllables."""
    sentences = []
    for _ in range(3):
        count = max(7, int(rng.normal(length, 0.7)))
        words = [
            "".join(rng.choice(SYLLABLES, size=1 + rng.poisson(syllables))) for _ in range(count)
        ]
        sentences.append(" ".join(words).capitalize() + ".")
    return " ".join(sentences)


def make_corpus(pieces: int, seed: int, alike: tuple[int, ...] = ()) -> list[str]:
    """Paragraphs of which three make a piece of about 100 words or more, some pieces alike."""
    rng = np.random.default_rng(seed)
    paragraphs = []
    for piece in range(pieces):
        length, syllables = (
            (14, 1.5) if piece in alike else (rng.uniform(13, 15), rng.uniform(1, 3))
        )
        made = [make_paragraph(rng, int(length), syllables) for _ in range(3)]
        sizes = np.cumsum([len(text.split()) for text in made])
        assert sizes[1] < 100 <= sizes[2]
        paragraphs += made
    return paragraphs
