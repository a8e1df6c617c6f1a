"""Spoiled copies of outputs, which an attentive rater scores lower than the outputs themselves.

A stretch of the output is replaced by an equally long one from another document, as in the bad
references of WMT's direct assessment (Graham et al., 2013).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from assay.errors import InputError

STRETCHES = ((5, 2), (8, 3), (15, 4), (20, 5))
"""Longest text in words, and how many words are replaced; a quarter in longer texts."""
MAX_TRIES = 200


def spoil(text: str, others: Sequence[str], rng: np.random.Generator) -> str:
    """Replace a stretch of a text by one from the others; by characters if words have no spaces.

    >>> spoil("one two three four", ["five six seven eight"], np.random.default_rng(1))
    'one six seven four'
    """
    spaced = len(text.split()) > 1
    parts = re.split(r"(\s+)", text) if spaced else list(text)
    # Keep spaces and line breaks, so that the copy looks like the output.
    places = [place for place, part in enumerate(parts) if part and not (spaced and part.isspace())]
    own = [parts[place] for place in places]
    length = min(next((k for most, k in STRETCHES if len(own) <= most), len(own) // 4), len(own))
    start = int(rng.integers(len(own) - length + 1))
    replaced = own[start : start + length]
    for _ in range(MAX_TRIES if others else 0):
        words: list[str] = []
        # No single text may be as long as the stretch, so several are joined.
        for other in rng.integers(len(others), size=length):
            words += others[other].split() if spaced else "".join(others[other].split())
            if len(words) >= length:
                break
        first = int(rng.integers(max(len(words) - length, 0) + 1))
        stretch = words[first : first + length]
        other_words = sum(new != old for new, old in zip(stretch, replaced, strict=False))
        if len(stretch) == length and 2 * other_words > length:
            for place, word in zip(places[start : start + length], stretch, strict=True):
                parts[place] = word
            return "".join(parts)
    raise InputError(
        f"no other text has {length} words to spoil '{text[:60]}' with; assign without `checks`"
    )
