"""Strict reading of JSON from a browser: values, marks and forms; every fault with its path."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import regex

from assay.campaign.records import Answer, InvalidAnswerError, Shown, Side, Span
from assay.errors import did_you_mean

MOST_TEXT = 50_000
"""Most characters of a comment or translation."""
MOST_COUNT = 10**9
MOST_NAMED = 20
"""Most unknown keys or choices that a message names."""
MOST_FAULTS = 5000
"""Reading stops after this many faults."""
UNSAFE = regex.compile("[\x00\ud800-\udfff]")
"""Characters that cannot be stored: null, and half of a surrogate pair."""


class Reader:
    """Reads JSON values strictly; a faulty value is read as None."""

    def __init__(self) -> None:
        self.faults: list[tuple[str, str]] = []

    def fault(self, path: str, message: str) -> None:
        """Record a fault at ``path``."""
        self.faults.append((path, message))
        if len(self.faults) >= MOST_FAULTS:
            self.stop()

    def stop(self) -> None:
        """Raise if there were faults."""
        if self.faults:
            raise InvalidAnswerError(self.faults)

    def mapping(
        self, value: object, path: str, keys: Collection[str], *, nullable: str = ""
    ) -> dict[str, Any] | None:
        """An object with no other keys; a null value counts as absent, except for ``nullable``."""
        if not isinstance(value, dict):
            self._unfit(value, path, "an object")
            return None
        unknown = [key for key in value if key not in keys]
        for key in unknown[:MOST_NAMED]:
            name = key if key.isascii() and key.isidentifier() else shown(key)
            hint = did_you_mean(key, list(keys))
            self.fault(f"{path}.{name}", f"is not a known key{hint}; leave it out")
        if len(unknown) > MOST_NAMED:
            self.fault(path, f"has {len(unknown)} unknown keys; leave them out")
        there = (key for key in keys if key in value)
        return {key: value[key] for key in there if value[key] is not None or key == nullable}

    def items(self, value: object, path: str, most: int) -> list[Any]:
        """A list of at most ``most`` entries."""
        if not isinstance(value, list):
            self._unfit(value, path, "a list")
            return []
        if len(value) > most:
            self.fault(path, f"has {len(value)} entries; send at most {most}")
            return []
        return value

    def text(self, value: object, path: str, *, filled: bool = False) -> str | None:
        """A text that can be stored."""
        if not isinstance(value, str):
            self._unfit(value, path, "a text")
            return None
        if len(value) > MOST_TEXT:
            self.fault(path, f"has {len(value)} characters; write at most {MOST_TEXT}")
        elif UNSAFE.search(value):
            self.fault(path, "contains a character that cannot be stored; delete it")
        elif filled and not value.strip():
            self.fault(path, "is empty; write something")
        else:
            return value
        return None

    def choice(self, value: object, path: str, known: Collection[str]) -> str | None:
        """One of these words."""
        if isinstance(value, str) and value in known:
            return value
        hint = did_you_mean(value, list(known)) if isinstance(value, str) else ""
        wanted = ", ".join(list(known)[:MOST_NAMED])
        self.fault(path, f"is {shown(value)}{hint}; choose from {wanted}")
        return None

    def flag(self, value: object, path: str) -> bool | None:
        """True or false."""
        if isinstance(value, bool):
            return value
        self._unfit(value, path, "true or false")
        return None

    def number(
        self, value: object, path: str, low: float, high: float, step: float = 0.0
    ) -> float | None:
        """A number from ``low`` to ``high``, on a step of the scale if it has steps."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._unfit(value, path, "a number")
            return None
        if not low <= value <= high:
            self.fault(path, f"is {shown(value)}; give a number from {low:g} to {high:g}")
            return None
        steps = (value - low) / step if step else 0.0
        if not math.isclose(steps, round(steps), abs_tol=1e-6):
            self.fault(path, f"is {shown(value)}; the scale goes in steps of {step:g}")
            return None
        return float(value)

    def whole(self, value: object, path: str, low: int = 0, high: int = MOST_COUNT) -> int | None:
        """A whole number from ``low`` to ``high``."""
        if isinstance(value, bool) or not isinstance(value, int):
            self._unfit(value, path, "a whole number")
            return None
        if not low <= value <= high:
            self.fault(path, f"is {shown(value)}; give a whole number from {low} to {high}")
            return None
        return value

    def counts(self, value: object, path: str, names: Collection[str]) -> dict[str, int]:
        """Counts by name."""
        given = self.mapping(value, path, names) or {}
        read = {name: self.whole(number, f"{path}.{name}") for name, number in given.items()}
        return {name: number for name, number in read.items() if number is not None}

    def _unfit(self, value: object, path: str, wanted: str) -> None:
        self.fault(path, f"is {shown(value)}, not {wanted}")


def shown(value: object) -> str:
    """The beginning of a value, safe to write in a message.

    >>> shown("seventy"), shown(10**40), shown(None)
    ("'seventy'", '1e+40', 'null')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) > MOST_COUNT:
        return f"{value:.0e}" if abs(value) < 10**300 else "a very large number"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = ascii(value) if not isinstance(value, str) else repr(UNSAFE.sub("?", value[:40]))
    return text if len(text) < 44 else f"{text[:40]}..."


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


def check_form(answers: object, shown: Shown) -> tuple[Answer, ...]:
    """Read an answer to every required question, or raise with every fault and its path."""
    reader, found = Reader(), dict[int, Answer]()
    questions, ((code,),) = shown.questions, shown.screens
    for number, entry in enumerate(reader.items(answers, "answers", len(questions))):
        path = f"answers[{number}]"
        given = reader.mapping(entry, path, ("code", "place", "comment")) or {}
        place = reader.whole(given.get("place"), f"{path}.place", 0, len(questions) - 1)
        said = reader.text(given.get("comment"), f"{path}.comment", filled=True)
        if place is None or said is None:
            continue
        if place in found:
            reader.fault(path, f"answers question {place} again")
        if questions[place].answers:
            reader.choice(said, f"{path}.comment", questions[place].answers)
        found[place] = Answer(code=code, place=place, comment=said)
    for place, question in enumerate(questions):
        if place not in found and not question.optional and not reader.faults:
            reader.fault("answers", f"question {place} has no answer")
    reader.stop()
    return tuple(found.values())
