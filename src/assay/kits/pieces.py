"""Cut texts into pieces of about the same length and measure their readability by five features.

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

The profile ``paper`` counts like korotaev2022 (Table 1): words are runs of word characters and
hyphens in the tokenised text, so ``don't`` is three words; types differ by case; a word is
difficult unless the Dale-Chall list contains it as written. The profile ``standard`` keeps
apostrophes in words, leaves numbers out, folds case, and also knows the regular inflections of
listed words, as Dale and Chall's instructions say.

The Dale-Chall list and the syllable counter are those of the package ``readability``; both know
English only. LIX, characters per word and type-token ratio need neither and serve any language.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from assay.errors import InputError, MissingExtraError, OptionError
from assay.kits.corpus import CorpusText, need_spaces, notes_on_twins, read_text
from assay.results import Note
from assay.stats.progress import Progress, silent

NEUTRAL_FEATURES = ("lix", "chars_per_word", "type_token")
ENGLISH_FEATURES = ("flesch", "lix", "dale_chall", "chars_per_word", "type_token")
PROFILES = ("paper", "standard")
PAPER_WORD = re.compile(r"\b[-\w]+\b")
STANDARD_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
LONG_WORD = 7
"""A long word has at least this many characters."""
_Span: TypeAlias = tuple[CorpusText, int, int]


class Piece(NamedTuple):
    """Consecutive paragraphs of one document; ``first`` and ``last`` number them from 1.

    ``sentences`` are tokenised, with spaces between tokens. ``words`` is the number of words as the
    features count them.
    """

    doc: str
    first: int
    last: int
    words: int
    paragraphs: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of a corpus, numbered from 0, and their features (pieces x features)."""

    pieces: tuple[Piece, ...]
    names: tuple[str, ...]
    features: NDArray[np.float64]
    settings: Mapping[str, str | int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def language(self) -> str:
        """The language of the texts."""
        return str(self.settings.get("language", "en"))

    @property
    def has_text(self) -> bool:
        """Whether the pieces have text, in which terms can be found."""
        return any(piece.sentences for piece in self.pieces)

    @property
    def lengths(self) -> NDArray[np.float64]:
        """The number of words of every piece."""
        return np.array([piece.words for piece in self.pieces], dtype=float)

    def to_frame(self) -> pl.DataFrame:
        """One row per piece: its place, its words and its features."""
        rows = {
            "piece": range(len(self)),
            "doc": [piece.doc for piece in self.pieces],
            "first": [piece.first for piece in self.pieces],
            "last": [piece.last for piece in self.pieces],
            "words": [piece.words for piece in self.pieces],
        }
        values = {name: self.features[:, k] for k, name in enumerate(self.names)}
        return pl.DataFrame(rows | values)


def read_pieces(
    *sources: str | os.PathLike[str],
    words: int = 500,
    language: str = "en",
    profile: str = "paper",
    clean: Sequence[str] = (),
    shortest: float = 6.0,
    progress: Progress = silent,
) -> Pieces:
    """Cut texts into pieces of at least ``words`` words at paragraph borders (korotaev2022, 3.2).

    sources: ``.txt`` or ``.docx`` files, or tables with a ``text`` column (and ``doc``, ``style``).
    clean: what to remove first. shortest: pieces with a lower mean number of words per sentence
    (lists, tables of contents) are left out. profile: how to count, see :mod:`assay.kits.pieces`.
    progress: called for every piece measured.

    >>> import assay, pathlib, tempfile
    >>> book = pathlib.Path(tempfile.mkdtemp()) / "book.txt"
    >>> _ = book.write_text("A cat sat on the mat and it was glad. " * 4)
    >>> assay.read_pieces(book, words=40).to_frame()["words"].to_list()
    [40]
    """
    if not sources:
        raise InputError("no text was given; name .txt or .docx files or a table of paragraphs")
    texts = [text for source in sources for text in read_text(source, clean=clean)]
    return cut_pieces(
        texts, words=words, language=language, profile=profile, shortest=shortest,
        progress=progress,
    )  # fmt: skip


def cut_pieces(
    texts: Sequence[CorpusText],
    *,
    words: int = 500,
    language: str = "en",
    profile: str = "paper",
    shortest: float = 6.0,
    progress: Progress = silent,
) -> Pieces:
    """Cut texts that are already in paragraphs; see :func:`read_pieces`."""
    if words < 1:
        raise OptionError("words", words, "is not a length of a piece", "give at least 1")
    names = feature_names(language)
    need_spaces(texts)
    notes = [note for text in texts for note in text.notes] + notes_on_twins(texts)
    spans: list[_Span] = []
    for text in texts:
        cut, rest = _cut(text, words)
        spans += cut
        if rest:
            left = f"{text.doc}: the last {rest} words are too few for a piece and were left out"
            notes.append(Note("rest-left-out", left))
    pieces: list[Piece] = []
    rows: list[NDArray[np.float64]] = []
    for number, span in enumerate(spans, start=1):
        piece = _piece(*span)
        counts = count_words(piece.paragraphs, piece.sentences, language=language, profile=profile)
        if counts.words >= max(1.0, shortest * counts.sentences):
            pieces.append(piece._replace(words=counts.words))
            rows.append(counts.features(names))
        progress("pieces", number, len(spans))
    if brief := len(spans) - len(pieces):
        left = f"{brief} pieces have fewer than {shortest:g} words per sentence: left out"
        notes.append(Note("brief-left-out", left))
    if not pieces:
        raise InputError(
            f"the texts make no piece of {words} words ({'; '.join(notes)});"
            " give more text or fewer words"
        )
    settings: dict[str, str | int] = {"words": words, "language": language, "profile": profile}
    return Pieces(tuple(pieces), names, np.array(rows), settings, tuple(notes))


def pieces_from_features(
    features: ArrayLike,
    *,
    words: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
) -> Pieces:
    """Pieces of which only features are known: kits are found by them, terms are not compared."""
    matrix = np.asarray(features, dtype=float)
    if matrix.ndim != 2 or not matrix.size:
        raise OptionError("features", matrix.shape, "is not a table", "give a row per piece")
    if not np.isfinite(matrix).all():
        row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
        raise OptionError("features", f"row {row}", "is not all numbers", "leave the piece out")
    lengths = [0] * len(matrix) if words is None else list(words)
    if len(lengths) != len(matrix):
        raise OptionError("words", len(lengths), f"are not {len(matrix)}", "give one per piece")
    labels = tuple(names) if names else tuple(f"x{k + 1}" for k in range(matrix.shape[1]))
    pieces = (Piece("", row, row, int(number)) for row, number in enumerate(lengths, start=1))
    return Pieces(tuple(pieces), labels, matrix)


def _cut(text: CorpusText, words: int) -> tuple[list[_Span], int]:
    """The pieces of one text as spans of paragraphs, and the words left over at its end."""
    spans: list[_Span] = []
    start = length = 0
    for position, paragraph in enumerate(text.paragraphs, start=1):
        length += len(paragraph.split())
        if length >= words:
            spans.append((text, start, position))
            start, length = position, 0
    return spans, length


def _piece(text: CorpusText, start: int, stop: int) -> Piece:
    paragraphs = text.paragraphs[start:stop]
    sentences = tuple(sentence for paragraph in paragraphs for sentence in _sentences(paragraph))
    return Piece(text.doc, start + 1, stop, 0, paragraphs, sentences)


def _sentences(paragraph: str) -> list[str]:
    """The tokenised sentences of a paragraph."""
    return split_sentences(_blingfire().text_to_words(paragraph))


def split_sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph, as they are."""
    lines = str(_blingfire().text_to_sentences(paragraph)).split("\n")
    return [line for line in lines if line.strip()]


def _blingfire() -> Any:
    try:
        import blingfire
    except ImportError:
        raise MissingExtraError("cutting text into words and sentences", "kits") from None
    return blingfire


class WordCounts(NamedTuple):
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
    return ENGLISH_FEATURES if language == "en" else NEUTRAL_FEATURES


def count_words(
    paragraphs: Sequence[str], sentences: Sequence[str], *, language: str, profile: str
) -> WordCounts:
    """Count what the formulas need, in tokenised ``sentences`` or ``paragraphs`` as written."""
    if profile not in PROFILES:
        raise OptionError("profile", profile, "is not a profile", f"choose {' or '.join(PROFILES)}")
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
    return WordCounts(
        words=len(words),
        sentences=len(sentences),
        characters=sum(map(len, words)),
        long=sum(len(word) >= LONG_WORD for word in words),
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
    """A test for known words and their regular inflections."""

    def familiar(word: str) -> bool:
        word = word.replace("’", "'")
        if word in known:
            return True
        if "-" in word:
            return all(familiar(part) for part in word.split("-"))
        return any(form in known for form in _bare_forms(word))

    return familiar


def _bare_forms(word: str) -> list[str]:
    """The words of which this may be a plural, possessive, past, -ing, -er, -est or -ly form."""
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
