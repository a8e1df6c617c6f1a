"""Pieces of text of about the same length, with what can be measured about them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from assay.errors import InputError, MissingExtraError, OptionError
from assay.kits.corpus import Text, need_spaces, notes_on_twins, read_text
from assay.kits.readability import count, feature_names
from assay.kits.watch import Watch, unwatched
from assay.results import result_dict, signature

_Span: TypeAlias = tuple[Text, int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive paragraphs of one document; ``first`` and ``last`` count them from 1.

    ``sentences`` are tokenised: tokens with a space between them. ``words`` are counted as the
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
    """The pieces of a corpus, numbered from 0, with a row of features each."""

    pieces: tuple[Piece, ...]
    names: tuple[str, ...]
    features: NDArray[np.float64]
    settings: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def language(self) -> str:
        """The language the features were made for."""
        return str(self.settings.get("language", "en"))

    @property
    def has_text(self) -> bool:
        """Whether there is text to look for terms in."""
        return any(piece.sentences for piece in self.pieces)

    @property
    def lengths(self) -> NDArray[np.float64]:
        """The words of every piece."""
        return np.array([piece.words for piece in self.pieces], dtype=float)

    @property
    def signature(self) -> str:
        """How the pieces were cut and measured."""
        return signature("pieces", n=len(self), **self.settings)

    def to_frame(self) -> pl.DataFrame:
        """A row per piece: where it stands, its words and its features."""
        rows = {
            "piece": range(len(self)),
            "doc": [piece.doc for piece in self.pieces],
            "first": [piece.first for piece in self.pieces],
            "last": [piece.last for piece in self.pieces],
            "words": [piece.words for piece in self.pieces],
        }
        values = {name: self.features[:, k] for k, name in enumerate(self.names)}
        return pl.DataFrame(rows | values)

    def to_dict(self) -> dict[str, object]:
        """The pieces as one JSON object."""
        return result_dict("pieces", self.signature, pieces=self.rows(), notes=self.notes)

    def rows(self) -> list[dict[str, object]]:
        """A dict per piece, its features in a dict of their own."""
        return [
            {
                "piece": number,
                "doc": piece.doc,
                "first": piece.first,
                "last": piece.last,
                "words": piece.words,
                "sentences": len(piece.sentences),
                "features": dict(zip(self.names, row.tolist(), strict=True)),
            }
            for number, (piece, row) in enumerate(zip(self.pieces, self.features, strict=True))
        ]


def read_pieces(
    *sources: str | os.PathLike[str],
    words: int = 500,
    language: str = "en",
    profile: str = "paper",
    clean: Sequence[str] = (),
    shortest: float = 6.0,
) -> Pieces:
    """Cut texts into pieces of at least ``words`` words at paragraph borders (korotaev2022, 3.2).

    ``sources`` are ``.txt`` or ``.docx`` files or tables with a ``text`` column (and ``doc``,
    ``style``). ``clean`` names what to remove first. Pieces with fewer than ``shortest`` words per
    sentence on average (lists, tables of contents) are left out. ``profile`` is how the features
    are counted, see :mod:`assay.kits.readability`.

    >>> import assay, pathlib, tempfile
    >>> book = pathlib.Path(tempfile.mkdtemp()) / "book.txt"
    >>> _ = book.write_text("A cat sat on the mat and it was glad. " * 4)
    >>> assay.read_pieces(book, words=40).to_frame()["words"].to_list()
    [40]
    """
    if not sources:
        raise InputError("no text was given; name .txt or .docx files or a table of paragraphs")
    texts = [text for source in sources for text in read_text(source, clean=clean)]
    return cut_pieces(texts, words=words, language=language, profile=profile, shortest=shortest)


def cut_pieces(
    texts: Sequence[Text],
    *,
    words: int = 500,
    language: str = "en",
    profile: str = "paper",
    shortest: float = 6.0,
    watch: Watch = unwatched,
) -> Pieces:
    """Cut texts that are already in paragraphs; see :func:`read_pieces`.

    ``watch`` is handed the pieces as they are measured and their number, to show progress.
    """
    if words < 1:
        raise OptionError("words", words, "is no length of a piece", "give at least 1")
    names = feature_names(language)
    need_spaces(texts)
    notes = [note for text in texts for note in text.notes] + notes_on_twins(texts)
    spans: list[_Span] = []
    for text in texts:
        cut, rest = _cut(text, words)
        spans += cut
        if rest:
            notes.append(f"{text.doc}: the last {rest} words are less than a piece and left out")
    found: list[Piece] = []
    rows: list[NDArray[np.float64]] = []
    for piece in watch((_piece(*span) for span in spans), len(spans)):
        counts = count(piece.paragraphs, piece.sentences, language=language, profile=profile)
        if counts.words >= max(1.0, shortest * counts.sentences):
            found.append(replace(piece, words=counts.words))
            rows.append(counts.features(names))
    if brief := len(spans) - len(found):
        notes.append(f"{brief} pieces have fewer than {shortest:g} words per sentence: left out")
    if not found:
        raise InputError(
            f"the texts make no piece of {words} words ({'; '.join(notes)});"
            " give more text or fewer words"
        )
    settings = {"words": words, "language": language, "profile": profile}
    return Pieces(tuple(found), names, np.array(rows), settings, tuple(notes))


def pieces_from_features(
    features: ArrayLike,
    *,
    words: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
) -> Pieces:
    """Pieces of which only features are known: kits are found by them, terms are not compared."""
    matrix = np.asarray(features, dtype=float)
    if matrix.ndim != 2 or not matrix.size:
        raise OptionError("features", matrix.shape, "is no table", "give a row per piece")
    if not np.isfinite(matrix).all():
        row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
        raise OptionError("features", f"row {row}", "has no number", "leave the piece out")
    lengths = [0] * len(matrix) if words is None else list(words)
    if len(lengths) != len(matrix):
        raise OptionError("words", len(lengths), f"are not {len(matrix)}", "give one per piece")
    labels = tuple(names) if names else tuple(f"x{k + 1}" for k in range(matrix.shape[1]))
    found = tuple(
        Piece("", row, row, int(number)) for row, number in enumerate(lengths, start=1)
    )  # fmt: skip
    return Pieces(found, labels, matrix)


def _cut(text: Text, words: int) -> tuple[list[_Span], int]:
    """The pieces of one text as spans of paragraphs, and the words left over at its end."""
    spans: list[_Span] = []
    start = length = 0
    for position, paragraph in enumerate(text.paragraphs, start=1):
        length += len(paragraph.split())
        if length >= words:
            spans.append((text, start, position))
            start, length = position, 0
    return spans, length


def _piece(text: Text, start: int, stop: int) -> Piece:
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
