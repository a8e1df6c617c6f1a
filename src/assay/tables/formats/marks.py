"""Spans of a text and the ``<v>..</v>`` marks that show them in Google's MQM files.

Spans are half-open and count the code points of the text without marks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Span: TypeAlias = tuple[str, int, int]
"""Side, start and end."""

MARKS = "</?v>"
_MARK = re.compile(f"({MARKS})")
_SHOWN = re.compile(r"(source|target):(\d{1,9})-(\d{1,9})")


def unmark(text: str) -> tuple[str, list[tuple[int, int]], bool]:
    """The text without marks, where they stood, and whether they paired up.

    >>> unmark("a <v>bad</v> word")
    ('a bad word', [(2, 5)], True)
    """
    if "v>" not in text:
        return text, [], True
    plain: list[str] = []
    length, opened, paired = 0, -1, True
    spans: list[tuple[int, int]] = []
    for piece in _MARK.split(text):
        if piece == "<v>":
            paired &= opened < 0
            opened = length if opened < 0 else opened
        elif piece == "</v>":
            paired &= opened >= 0
            if opened >= 0:
                spans.append((opened, length))
            opened = -1
        else:
            plain.append(piece)
            length += len(piece)
    if opened >= 0:
        spans.append((opened, length))
        paired = False
    return "".join(plain), spans, paired


def mark(text: str | None, spans: Sequence[tuple[int, int]]) -> tuple[str, str | None]:
    """The text with its spans, in order, marked; or the text and what is wrong with them.

    >>> mark("a bad word", [(2, 5)])
    ('a <v>bad</v> word', None)
    """
    whole = text or ""
    pieces, at = [], 0
    for start, end in spans:
        if not 0 <= start <= end <= len(whole):
            return whole, (
                f"the span {start} to {end} lies outside its text of {len(whole)} characters;"
                " correct it, or add the source and target columns"
            )
        if start < at:
            return whole, f"the span {start} to {end} overlaps another; give each error a row"
        pieces += [whole[at:start], "<v>", whole[start:end], "</v>"]
        at = end
    return "".join([*pieces, whole[at:]]), None


def show_spans(spans: Sequence[Span]) -> str | None:
    """Spans as one cell of a table, null where there are none."""
    return " ".join(f"{side}:{start}-{end}" for side, start, end in spans) or None


def parse_spans(cells: Mapping[str, Any]) -> tuple[list[Span], str | None]:
    """All spans of a row by its ``side``, ``start``, ``end`` and ``more_spans``, or the fault.

    >>> parse_spans({"start": 2, "end": 5, "more_spans": "source:0-1"})
    ([('target', 2, 5), ('source', 0, 1)], None)
    """
    start, end, more = cells.get("start"), cells.get("end"), cells.get("more_spans")
    if (start is None) != (end is None):
        return [], "a span needs both start and end; give both or neither"
    side = cells.get("side") or "target"
    if side not in ("source", "target"):
        return [], f"side is '{side}'; expected source or target"
    spans: list[Span] = []
    if start is not None and end is not None:
        spans.append((side, int(start), int(end)))
    for word in (more or "").split():
        found = _SHOWN.fullmatch(word)
        if found is None:
            return [], f"more_spans has '{word}' where side:start-end is expected; correct it"
        spans.append((found[1], int(found[2]), int(found[3])))
    return spans, None
