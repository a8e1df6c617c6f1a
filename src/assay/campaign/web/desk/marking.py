"""Answers for display: texts cut into pieces at their marks, and edits as changes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from assay.campaign.records import Given, GivenText, Span

Change = Literal["same", "new", "gone"]


@dataclass(frozen=True, slots=True)
class MarkedPiece:
    """A stretch of a text, and the marks that lie over it."""

    text: str
    marks: tuple[Span, ...] = ()

    @property
    def severity(self) -> str:
        """The worst severity, for the colour."""
        known = [mark.severity for mark in self.marks]
        return next((name for name in ("critical", "major", "minor") if name in known), "neutral")

    @property
    def said(self) -> str:
        """The marks in words."""
        return "; ".join(in_words(mark) for mark in self.marks)


def in_words(mark: Span) -> str:
    """Describe a mark."""
    what = "missing" if mark.missing else mark.category
    return f"{mark.severity}: {what}" if what else mark.severity


def pieces(text: str, marks: Sequence[Span]) -> list[MarkedPiece]:
    """Cut a text wherever a mark begins or ends; a mark for missing words has no width.

    >>> found = pieces("the port", [Span("target", 4, 8, "minor")])
    >>> [(piece.text, piece.severity) for piece in found]
    [('the ', 'neutral'), ('port', 'minor')]
    """
    cuts = sorted({0, len(text), *(min(end, len(text)) for mark in marks
                                   for end in (mark.start, mark.end))})  # fmt: skip
    found = []
    for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True):
        empty = tuple(mark for mark in marks if mark.start == mark.end == start)
        if empty:
            found.append(MarkedPiece("", empty))
        if end > start:
            over = tuple(mark for mark in marks if mark.start <= start and end <= mark.end)
            found.append(MarkedPiece(text[start:end], over))
    return found


def changes(before: str, after: str) -> list[tuple[Change, str]]:
    """The changes of an editor, word by word.

    >>> changes("the ship lies", "the ship is")
    [('same', 'the ship '), ('gone', 'lies'), ('new', 'is')]
    """
    old, new = re.findall(r"\s+|\w+|[^\w\s]", before), re.findall(r"\s+|\w+|[^\w\s]", after)
    found: list[tuple[Change, str]] = []
    for what, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            found.append(("same", "".join(old[a:b])))
            continue
        if b > a:
            found.append(("gone", "".join(old[a:b])))
        if d > c:
            found.append(("new", "".join(new[c:d])))
    return found


def together(answers: Sequence[Given]) -> list[list[Marked]]:
    """Group the answers of a rater to the outputs of a segment, newest first."""
    groups: dict[tuple[object, ...], list[Marked]] = {}
    for one in answers:
        key = one.rater, one.lp, one.doc, one.seg, one.kind
        groups.setdefault(key, []).append(Marked(one))
    return list(groups.values())


@dataclass(frozen=True)
class Marked:
    """An answer for display."""

    given: Given

    @cached_property
    def source(self) -> list[MarkedPiece]:
        """The source with the marks on it."""
        return pieces(self.given.source or "", self._marks("source"))

    def target(self, text: GivenText) -> list[MarkedPiece]:
        """An output with the marks on it."""
        return pieces(text.text, self._marks("target"))

    def edits(self, text: GivenText) -> list[tuple[Change, str]]:
        """What was changed in an output."""
        return changes(text.text, self.given.edited or "")

    @property
    def marks(self) -> Iterator[str]:
        """Every mark in words, with the text below it."""
        for mark in self.given.spans:
            whole = self.given.source if mark.side == "source" else self.given.texts[0].text
            text = (whole or "")[mark.start : mark.end]
            yield f"{in_words(mark)} “{text}”" if text else in_words(mark)

    def _marks(self, side: str) -> list[Span]:
        return [mark for mark in self.given.spans if mark.side == side]
