"""Pearmut: the answers of a campaign, and campaigns made from scores.

**Answers** (``pearmut``): JSON lines, one document that a rater finished per line.

Each line has ``user_id`` (our rater), ``item`` (the segments: ``item_id``, ``src``, ``tgt`` by
system), ``annotation`` (the answers, aligned with ``item``, by system) and ``actions`` (what was
clicked when).

- **Segments.** ``item_id`` is ``DOC#SEG``, split at its last ``#``, with ``%23`` for a ``#`` and
  ``%25`` for a ``%`` inside either, as ``pearmut-campaign`` writes it. Where any ``item_id`` of
  the file has no ``#``, all are taken whole as ``seg``, and there is no ``doc``.
- **Which answers count.** A line with ``"annotation": "__RESET__"`` voids all earlier lines of
  that rater. A document sent in again replaces the rater's earlier answers to it. Documents
  outside the campaign proper (``item_i`` beginning with welcome, random or goodbye) and forms
  are left out. All of this is counted in the notes.
- **Seconds.** The time from the first to the last action of a document, divided equally among
  its answers, so that the sum over rows is the time spent.
- **Spans.** Pearmut counts UTF-16 units without line breaks and includes the last one. A place
  behind the text is a special token such as ``[missing]``: an error without ``start`` and
  ``end``. Answers without errors become ``No-error`` rows.

**Campaigns** (``pearmut-campaign``): JSON with the documents that raters will see. One task holds
all documents (give a copy of it to every rater who should see the same), the protocol is ESA. Each
``item_id`` carries document and segment, so that reading the answers restores both. Pearmut
shuffles the systems of a document and for that needs all of them in each of its segments; where
systems have different segments, those with the same ones are shown together, as a document by
themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from assay.formats.catalogue import Format, Options
from assay.formats.files import read_json_lines, write_json
from assay.formats.mqm import code_points, from_inclusive
from assay.formats.rows import (
    SOURCE,
    FileRows,
    Segment,
    documents,
    is_number,
    is_whole,
    one_pair,
    shown,
)  # fmt: skip
from assay.tables.load import Findings, Raw

RESET = "__RESET__"
OUTSIDE = ("welcome_", "random_", "goodbye_")
TOKENS = 10
"""How many special tokens may stand behind a text."""


def item_id(doc: str | None, seg: str) -> str:
    """The ``item_id`` that carries a document and a segment.

    >>> item_id("news#1", "2"), item_id(None, "2")
    ('news%231#2', '2')
    """
    parts = [seg] if doc is None else [doc, seg]
    return "#".join(part.replace("%", "%25").replace("#", "%23") for part in parts)


def split_item_id(identifier: str) -> tuple[str | None, str]:
    """The document, if there is one, and the segment of an ``item_id``.

    >>> split_item_id("news%231#2"), split_item_id("2")
    (('news#1', '2'), (None, '2'))
    """
    doc, mark, seg = identifier.rpartition("#")
    return (_unescaped(doc) if mark else None), _unescaped(seg)


def _unescaped(part: str) -> str:
    return part.replace("%23", "#").replace("%25", "%")


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one rater said of one system's output of one segment."""

    line: int
    rater: str
    segment: str
    system: str
    text: Any
    given: dict[str, Any]
    seconds: float | None


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read a file of annotations as ratings or errors."""
    rows = FileRows(path, kind)
    answers = _latest(_active(read_json_lines(path), rows), rows)
    rows.stop()
    split = all("#" in answer.segment for answer in answers)
    marked = kind == "errors" and any(answer.given.get("error_spans") for answer in answers)
    for answer in answers:
        doc, seg = split_item_id(answer.segment) if split else (None, _unescaped(answer.segment))
        place = {"system": answer.system, "doc": doc, "seg": seg, "rater": answer.rater}
        if kind == "ratings":
            _add_score(answer, place, rows)
        elif marked:
            _add_errors(answer, place, rows)
    wanted = "no answer" if kind == "ratings" else "no error span (read it as ratings)"
    return rows.raw(nothing=f"there is {wanted} in the file")


def _active(lines: list[tuple[int, Any]], rows: FileRows) -> list[tuple[int, dict[str, Any]]]:
    """The lines that no later reset voids."""
    entries: dict[str | int, list[tuple[int, dict[str, Any]]]] = {}
    for line, entry in lines:
        if not isinstance(entry, dict):
            rows.fault("expected an object with annotation, item and user_id", line, value=entry)
        elif not isinstance(entry.get("user_id"), str | int):
            rows.fault("user_id is missing: who answered is not known", line, "user_id")
        elif entry.get("annotation") == RESET:
            voided = entries.pop(entry["user_id"], [])
            rows.count("reset", "lines voided by a later reset", len(voided))
        else:
            entries.setdefault(entry["user_id"], []).append((line, entry))
    return sorted(chain.from_iterable(entries.values()), key=lambda entry: entry[0])


def _latest(entries: list[tuple[int, dict[str, Any]]], rows: FileRows) -> list[_Answer]:
    """The answers that count: of a document sent in twice, the later ones."""
    answers: dict[tuple[str, ...], _Answer] = {}
    for line, entry in entries:
        number = entry.get("item_i")
        if isinstance(number, str) and number.startswith(OUTSIDE):
            what = "documents outside the campaign (welcome, random, goodbye) left out"
            rows.count("outside-the-campaign", what)
            continue
        for position, answer in enumerate(_answers(line, entry, rows)):
            where: tuple[str, ...] = (answer.rater, str(number), answer.segment, answer.system)
            if where in answers and answers[where].line != line:
                rows.count("replaced", "answers replaced by a later one of the same rater")
                del answers[where]
            elif where in answers:
                where = (*where, str(position))  # twice in one document: for the checks to tell
            answers[where] = answer
    return list(answers.values())


def _answers(line: int, entry: dict[str, Any], rows: FileRows) -> Iterator[_Answer]:
    """The answers of one line."""
    items, given = entry.get("item"), entry.get("annotation")
    if not isinstance(items, list) or not isinstance(given, list):
        column = "item" if not isinstance(items, list) else "annotation"
        message = f"expected a list of segments in {column}, found {shown(entry.get(column))}"
        rows.fault(message, line, column)
        return
    if len(items) != len(given):
        message = f"annotation has {len(given)} entries for the {len(items)} segments in item"
        rows.fault(message, line)
        return
    if any(isinstance(item, dict) and "form" in item for item in items):
        rows.count("forms", "forms left out")
        return
    pairs = [pair for pair in zip(items, given, strict=True) if pair[1] is not None]
    rows.count("skipped", "skipped segments left out", len(items) - len(pairs))
    count = sum(len(by_system) for _, by_system in pairs if isinstance(by_system, dict))
    spent = _spent(line, entry, rows)
    share = None if spent is None else spent / max(count, 1)
    for item, by_system in pairs:
        yield from _segment(line, str(entry["user_id"]), item, by_system, share, rows)


def _segment(
    line: int, rater: str, item: Any, by_system: Any, seconds: float | None, rows: FileRows
) -> Iterator[_Answer]:
    if not isinstance(item, dict) or not isinstance(by_system, dict):
        message = (
            "expected an object with item_id, src and tgt in item, and one with the answers by"
            f" system in annotation, found {shown(item)} and {shown(by_system)}"
        )
        rows.fault(message, line)
        return
    name = item.get("item_id")
    if not isinstance(name, str | int) or name == "":
        rows.fault("a segment has no item_id, so its answers cannot be placed", line, "item_id")
        return
    texts = item.get("tgt")
    for system, given in by_system.items():
        if not isinstance(given, dict):
            rows.fault(f"expected an object with score, found {shown(given)}", line, "annotation")
            continue
        text = texts.get(system) if isinstance(texts, dict) else None
        yield _Answer(line, rater, str(name), system, text, given, seconds)


def _spent(line: int, entry: dict[str, Any], rows: FileRows) -> float | None:
    actions = entry.get("actions")
    if not actions:
        return None
    listed = actions if isinstance(actions, list) else [None]
    times: list[Any] = [item.get("time") if isinstance(item, dict) else None for item in listed]
    if not all(is_number(time) for time in times):
        rows.fault("expected a time in seconds in each of the actions", line, "actions")
        return None
    return float(max(times) - min(times))


def _add_score(answer: _Answer, place: dict[str, Any], rows: FileRows) -> None:
    score = answer.given.get("score")
    if score is not None and not is_number(score):
        rows.fault(f"{shown(score)} is not a number", answer.line, "score", score)
        return
    if score is None and answer.given.get("sliders"):
        what = "answers on custom sliders instead of a score, which are not read"
        rows.count("sliders", what)
    rows.add(answer.line, {**place, "score": score, "seconds": answer.seconds})


def _add_errors(answer: _Answer, place: dict[str, Any], rows: FileRows) -> None:
    spans = answer.given.get("error_spans") or []
    if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
        rows.fault("expected a list of objects in error_spans", answer.line, "error_spans", spans)
        return
    if not spans and answer.given.get("score") is None and not answer.given.get("sliders"):
        rows.count("no-answer", "outputs without any answer left out")
        return
    if not spans:
        rows.add_no_error(answer.line, place)
        return
    if not isinstance(answer.text, str):
        rows.fault(f"tgt has no text for system '{answer.system}'", answer.line, "tgt")
        return
    units = code_points(answer.text, skip="\n")
    for span in spans:
        _add_span(answer, span, units, place, rows)


def _add_span(
    answer: _Answer, span: dict[str, Any], units: list[int], place: dict[str, Any], rows: FileRows
) -> None:
    first: Any = span.get("start_i")
    last: Any = span.get("end_i")
    for column, value in (("start_i", first), ("end_i", last)):
        if not is_whole(value) or value < 0:
            message = f"{shown(value)} is not a place in a text; expected a whole number from 0"
            rows.fault(message, answer.line, column, value)
            return
    length = len(units)
    token = length <= first == last < length + TOKENS
    inside = from_inclusive(units, first, last)
    if inside is None and not token:
        message = (
            f"the span {first} to {last} does not lie in the target,"
            f" which has {length} characters (UTF-16 units without line breaks)"
        )
        rows.fault(message, answer.line, "end_i", last)
        return
    start, end = inside or (None, None)
    rows.add_error(answer.line, place, span.get("category"), span.get("severity"), start, end)


def write(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write scores with source and target texts as a campaign named like the file."""
    test_set, _ = one_pair(frame, options.lp, "pearmut")
    _need_names(test_set.systems)
    task = [
        [_item(segment, systems) for segment in part]
        for document in documents(test_set, "pearmut")
        for systems, part in _matched(document)
    ]
    campaign = {
        "campaign_id": path.name.partition(".")[0],
        "info": {"assignment": "task-based", "protocol": "ESA"},
        "data": [task],
    }
    return [write_json(campaign, path)]


def _need_names(systems: tuple[str, ...]) -> None:
    findings = Findings(SOURCE)
    for name in systems:
        if name.isdigit():
            message = "pearmut does not take a system name of digits only; rename it"
            findings.add(message, None, "system", name)
    findings.stop()


def _matched(document: list[Segment]) -> Iterator[tuple[list[str], list[Segment]]]:
    """The systems that have the same segments of the document, with these segments."""
    having: dict[str, list[int]] = {}
    for place, segment in enumerate(document):
        for system in segment.targets:
            having.setdefault(system, []).append(place)
    groups: dict[tuple[int, ...], list[str]] = {}
    for system, places in having.items():
        groups.setdefault(tuple(places), []).append(system)
    for shared, systems in groups.items():
        yield systems, [document[place] for place in shared]


def _item(segment: Segment, systems: list[str]) -> dict[str, Any]:
    item: dict[str, Any] = {"item_id": item_id(segment.doc, segment.seg), "src": segment.source}
    if segment.reference is not None:
        item["ref"] = segment.reference
    item["tgt"] = {system: segment.targets[system] for system in systems}
    return item


PROVIDES = (
    Format("pearmut", "pearmut annotations, JSON lines", ("ratings", "errors"), read),
    Format("pearmut-campaign", "pearmut campaign JSON", writes=("scores",), write=write,
           options=("lp",)),
)  # fmt: skip
