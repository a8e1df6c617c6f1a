"""Marked spans, checked against the text that the rater saw."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import regex

from assay.campaign.protocols.reading import Reader
from assay.campaign.records import Side, Span


@dataclass(frozen=True, slots=True)
class RatedText:
    """One output of one segment, as the rater sees it."""

    code: str
    place: int
    source: str | None
    text: str | None
    marks: tuple[Span, ...]
    """Marks given in advance."""


MOST_SPANS = 1000
SPAN_KEYS = ("side", "start", "end", "severity", "category", "origin", "missing")


def grapheme_edges(text: str) -> frozenset[int]:
    """The edges of graphemes (what readers see as one character), in code points.

    >>> sorted(grapheme_edges("a👨‍👩‍👧b"))
    [0, 1, 6, 7]
    """
    return frozenset([0, *(found.end() for found in regex.finditer(r"\X", text))])


def read_spans(
    reader: Reader, value: object, path: str, item: RatedText,
    severities: Collection[str], categories: Collection[str],
) -> tuple[Span, ...]:  # fmt: skip
    """Read the spans of one output of one segment; they need a category if there are any."""
    edges: dict[str, frozenset[int]] = {}
    spans: dict[tuple[object, ...], Span] = {}
    for number, entry in enumerate(reader.items(value, path, MOST_SPANS)):
        here = f"{path}[{number}]"
        given = reader.mapping(entry, here, SPAN_KEYS)
        if given is None:
            continue
        span = _read_span(reader, given, here, severities, categories)
        if span is None or not _inside(reader, span, here, item, edges):
            continue
        name = (span.side, span.start, span.end, span.missing, span.category)
        if name in spans:
            reader.fault(here, "marks the same place twice; keep one")
        if span.origin == "kept" and not any(_same(span, mark) for mark in item.marks):
            reader.fault(f"{here}.origin", "is 'kept', but no such mark was shown; send 'changed'")
        spans[name] = span
    if sum(span.origin is not None for span in spans.values()) > len(item.marks):
        shown = len(item.marks)
        reader.fault(path, f"has more marks with an origin than were shown ({shown}); leave it out")
    return tuple(spans.values())


def _read_span(
    reader: Reader, given: dict[str, Any], path: str,
    severities: Collection[str], categories: Collection[str],
) -> Span | None:  # fmt: skip
    faults = len(reader.faults)
    for name in ("start", "end", "severity", *(["category"] if categories else [])):
        if name not in given:
            reader.fault(f"{path}.{name}", "is missing")
    if "category" in given and not categories:
        reader.fault(f"{path}.category", "is not asked for; leave it out")
    side = reader.choice(given.get("side", "target"), f"{path}.side", ("source", "target"))
    start = reader.whole(given.get("start", 0), f"{path}.start")
    end = reader.whole(given.get("end", 0), f"{path}.end")
    severity, category = given.get("severity"), given.get("category")
    if severity is not None:
        severity = reader.choice(severity, f"{path}.severity", severities)
    if category is not None and categories:
        category = reader.choice(category, f"{path}.category", categories)
    origin = given.get("origin")
    if origin is not None:
        origin = reader.choice(origin, f"{path}.origin", ("kept", "changed"))
    missing = reader.flag(given.get("missing", False), f"{path}.missing")
    if len(reader.faults) > faults or start is None or end is None:
        return None
    whose: Side = "source" if side == "source" else "target"
    return Span(whose, start, end, str(severity), category, origin, bool(missing))


def _inside(
    reader: Reader, span: Span, path: str, item: RatedText, edges: dict[str, frozenset[int]]
) -> bool:
    """Whether the span lies in its text, has a length, and splits no character."""
    text = item.source if span.side == "source" else item.text
    faults = len(reader.faults)
    if not text:
        reader.fault(f"{path}.side", f"is '{span.side}', but no such text was shown")
        return False
    for name, offset in (("start", span.start), ("end", span.end)):
        if offset > len(text):
            reader.fault(f"{path}.{name}", f"is {offset}, beyond the end of the text ({len(text)})")
    if span.missing and span.start != span.end:
        reader.fault(f"{path}.end", "of a missing mark must be its start")
    elif not span.missing and span.start >= span.end:
        reader.fault(f"{path}.end", f"is {span.end}; a mark ends after its start ({span.start})")
    if len(reader.faults) > faults:
        return False
    if span.side not in edges:
        edges[span.side] = grapheme_edges(text)
    for name, offset in (("start", span.start), ("end", span.end)):
        if offset not in edges[span.side]:
            reader.fault(f"{path}.{name}", f"is {offset}, inside a character; move it to its edge")
    return len(reader.faults) == faults


def _same(span: Span, mark: Span) -> bool:
    parts = ("side", "start", "end", "severity", "category", "missing")
    return all(getattr(span, part) == getattr(mark, part) for part in parts)
