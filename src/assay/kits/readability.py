"""How hard a text is to read: five features, two ways of counting.

================ ============================================== ================================
feature          formula                                        source
================ ============================================== ================================
flesch           206.835 - 84.6 syllables/word                  Flesch (1948)
                 - 1.015 words/sentence
lix              words/sentence + 100 long/words,               Björnsson (1968)
                 long: more than six characters
dale_chall       15.79 difficult/words + .0496 words/sentence,  Dale and Chall (1948)
                 + 3.6365 if more than 5 % are difficult
chars_per_word   characters / words                             korotaev2022 section 3.2
type_token       different words / words                        korotaev2022 section 3.2
================ ============================================== ================================

The profile ``paper`` counts as korotaev2022 did (Table 1): words are runs of word characters and
hyphens in the tokenised text, so that ``don't`` is three of them; types differ by case; a word is
difficult unless it stands in the Dale-Chall list as it is. The profile ``standard`` counts words
with their apostrophes and leaves numbers out, folds case, and takes the regular inflections of a
listed word as known, as Dale and Chall's own instructions do.

The Dale-Chall list and the syllable counter are those of the package ``readability``; both know
English only. LIX, characters per word and type-token ratio need neither and serve any language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from assay.errors import MissingExtraError, OptionError

NEUTRAL = ("lix", "chars_per_word", "type_token")
ENGLISH = ("flesch", "lix", "dale_chall", "chars_per_word", "type_token")
PROFILES = ("paper", "standard")

PAPER_WORD = re.compile(r"\b[-\w]+\b")
STANDARD_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
LONG = 7
"""A long word has at least as many characters."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What the formulas are made of."""

    words: int
    sentences: int
    characters: int
    long: int
    types: int
    syllables: int
    difficult: int

    def features(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The named features, in their order."""
        words, length = self.words, self.words / self.sentences
        hard = self.difficult / words
        values = {
            "flesch": 206.835 - 84.6 * self.syllables / words - 1.015 * length,
            "lix": length + 100 * self.long / words,
            "dale_chall": 15.79 * hard + 0.0496 * length + (3.6365 if hard > 0.05 else 0.0),
            "chars_per_word": self.characters / words,
            "type_token": self.types / words,
        }
        return np.array([values[name] for name in names])


def feature_names(language: str) -> tuple[str, ...]:
    """The features that can be computed for a language.

    >>> feature_names("de")
    ('lix', 'chars_per_word', 'type_token')
    """
    return ENGLISH if language == "en" else NEUTRAL


def count(
    paragraphs: Sequence[str], sentences: Sequence[str], *, language: str, profile: str
) -> Counts:
    """Count what the formulas need; ``sentences`` are tokenised, ``paragraphs`` are as written."""
    if profile not in PROFILES:
        raise OptionError("profile", profile, "is no profile", f"choose {' or '.join(PROFILES)}")
    paper = profile == "paper"
    if paper:
        words = [word for sentence in sentences for word in PAPER_WORD.findall(sentence)]
    else:
        words = [
            word.lower() for paragraph in paragraphs for word in STANDARD_WORD.findall(paragraph)
        ]
    syllables = difficult = 0
    if language == "en":
        counter, known = english_words()
        familiar = known.__contains__ if paper else with_inflections(known)
        syllables = sum(counter(word) if paper else max(1, counter(word)) for word in words)
        difficult = sum(not familiar(word.lower()) for word in words)
    return Counts(
        words=len(words),
        sentences=len(sentences),
        characters=sum(map(len, words)),
        long=sum(len(word) >= LONG for word in words),
        types=len(set(words)),
        syllables=syllables,
        difficult=difficult,
    )


@cache
def english_words() -> tuple[Callable[[str], int], frozenset[str]]:
    """The syllable counter and the Dale-Chall list of the package ``readability``."""
    try:
        from readability.langdata import LANGDATA
    except ImportError:
        raise MissingExtraError("readability of English", "kits") from None
    english = LANGDATA["en"]
    return english["syllables"], frozenset(english["basicwords"])


def with_inflections(known: Collection[str]) -> Callable[[str], bool]:
    """Whether a word, or what it regularly comes from, is among the known ones."""

    def familiar(word: str) -> bool:
        word = word.replace("’", "'")
        if word in known:
            return True
        if "-" in word:
            return all(familiar(part) for part in word.split("-"))
        return any(form in known for form in _bare_forms(word))

    return familiar


def _bare_forms(word: str) -> list[str]:
    """What a regular plural, possessive, past, -ing, -er, -est or -ly form may come from."""
    forms = []
    for ending in ("'s", "s'", "s", "es", "d", "ed", "ing", "er", "est", "r", "st", "ly"):
        if not word.endswith(ending) or len(word) - len(ending) < 2:
            continue
        bare = word[: -len(ending)]
        forms.append(bare)
        if bare.endswith("i"):
            forms.append(bare[:-1] + "y")
        if ending in ("ing", "ed", "er", "est"):
            forms.append(bare + "e")
            if bare[-1] == bare[-2]:
                forms.append(bare[:-1])
    return forms
