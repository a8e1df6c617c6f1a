"""Pearmut: the answers of a campaign, and the campaign itself.

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

**Campaigns** (``pearmut-campaign``): JSON with the documents that raters will see.

Written, one task holds all documents (give a copy of it to every rater who should see the
same), the protocol is ESA. Each ``item_id`` carries document and segment, so that reading the
answers restores both. Pearmut shuffles the systems of a document and for that needs all of them in
each of its segments; where systems have different segments, those with the same ones are shown
together, as a document by themselves.

Read as scores: the outputs of all tasks, each once. Where an ``item_id`` names no document
(``DOC#SEG``), documents are numbered. Forms, documents of welcome, random and goodbye, and items
with a ``validation`` are not outputs to be judged; they are left out and counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from assay.formats.catalogue import Format, Options
from assay.formats.files import (
    SOURCE,
    FileRows,
    Said,
    Segment,
    documents,
    is_number,
    is_whole,
    one_pair,
    read_json,
    read_json_lines,
    said_of,
    shown,
    write_json,
    write_text,
)
from assay.formats.mqm import code_points, from_inclusive
from assay.results import Note
from assay.tables.load import Findings, Raw, refuse
from assay.tables.tables import TestSet, read_scores

RESET = "__RESET__"
OUTSIDE = ("welcome_", "random_", "goodbye_")
APART = ("data_welcome", "data_random", "data_goodbye")
"""Parts of a campaign that are not about its outputs."""
MAX_TOKENS = 10
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
class _OutputAnswer:
    """What one rater said about one system's output of one segment."""

    line: int
    rater: str
    segment: str
    system: str
    source: Any
    text: Any
    given: dict[str, Any]
    seconds: float | None
    ended: float | None


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read a file of annotations as ratings or errors."""
    rows = FileRows(path, kind)
    answers = _latest(_active(read_json_lines(path), rows), rows)
    rows.stop()
    marked = kind == "errors" and any(answer.given.get("error_spans") for answer in answers)
    for answer, place in _placed(answers):
        if kind == "ratings":
            _add_score(answer, place, rows)
        elif marked:
            _add_errors(answer, place, rows)
    lacking = "answers" if kind == "ratings" else "error spans; read it as ratings"
    return rows.raw(nothing=f"the file has no {lacking}")


def _placed(answers: Sequence[_OutputAnswer]) -> Iterator[tuple[_OutputAnswer, dict[str, Any]]]:
    """Every answer with its place in a table."""
    split = all("#" in answer.segment for answer in answers)
    for answer in answers:
        doc, seg = split_item_id(answer.segment) if split else (None, _unescaped(answer.segment))
        yield answer, {"system": answer.system, "doc": doc, "seg": seg, "rater": answer.rater}


def read_said(path: Path, options: Options) -> tuple[list[Said], tuple[Note, ...]]:
    """Everything that raters said about every output: score, marks, comment, time."""
    rows, marks = FileRows(path, "ratings"), FileRows(path, "errors")
    answers = _latest(_active(read_json_lines(path), rows), rows)
    rows.stop()
    said = []
    for answer, place in _placed(answers):
        _add_score(answer, place, rows)
        _add_errors(answer, place, marks)
        said.append(said_of(
            rows, marks, answer.line, source=answer.source, target=answer.text, ended=answer.ended,
            comment=answer.given.get("textfield"),
        ))  # fmt: skip
    rows.stop()
    marks.stop()
    return said, rows.notes


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


def _latest(entries: list[tuple[int, dict[str, Any]]], rows: FileRows) -> list[_OutputAnswer]:
    """The answers that count: of a document sent in twice, the later ones."""
    answers: dict[tuple[str, ...], _OutputAnswer] = {}
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


def _answers(line: int, entry: dict[str, Any], rows: FileRows) -> Iterator[_OutputAnswer]:
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
    began, ended = _times(line, entry, rows)
    share = None if began is None or ended is None else (ended - began) / max(count, 1)
    for item, by_system in pairs:
        yield from _segment(line, str(entry["user_id"]), item, by_system, (share, ended), rows)


def _segment(
    line: int, rater: str, item: Any, by_system: Any, time: tuple[float | None, float | None],
    rows: FileRows,
) -> Iterator[_OutputAnswer]:  # fmt: skip
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
        yield _OutputAnswer(line, rater, str(name), system, item.get("src"), text, given, *time)


def _times(
    line: int, entry: dict[str, Any], rows: FileRows
) -> tuple[float | None, float | None]:  # fmt: skip
    """When a document was begun and ended, in seconds since 1970."""
    actions = entry.get("actions")
    if not actions:
        return None, None
    listed = actions if isinstance(actions, list) else [None]
    times: list[Any] = [item.get("time") if isinstance(item, dict) else None for item in listed]
    if not all(is_number(time) for time in times):
        rows.fault("expected a time in seconds in each of the actions", line, "actions")
        return None, None
    return float(min(times)), float(max(times))


def _add_score(answer: _OutputAnswer, place: dict[str, Any], rows: FileRows) -> None:
    score, sliders = answer.given.get("score"), answer.given.get("sliders")
    if score is None and isinstance(sliders, dict) and len(sliders) == 1:
        (score,) = sliders.values()  # the one scale that was asked
    if score is not None and not is_number(score):
        rows.fault(f"{shown(score)} is not a number", answer.line, "score", score)
        return
    if score is None and sliders:
        what = "answers on several sliders instead of a score, which are not read"
        rows.count("sliders", what)
    rows.add(answer.line, {**place, "score": score, "seconds": answer.seconds})


def _add_errors(answer: _OutputAnswer, place: dict[str, Any], rows: FileRows) -> None:
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
    answer: _OutputAnswer,
    span: dict[str, Any],
    units: list[int],
    place: dict[str, Any],
    rows: FileRows,
) -> None:
    first: Any = span.get("start_i")
    last: Any = span.get("end_i")
    for column, value in (("start_i", first), ("end_i", last)):
        if not is_whole(value) or value < 0:
            message = f"{shown(value)} is not a place in a text; expected a whole number from 0"
            rows.fault(message, answer.line, column, value)
            return
    length = len(units)
    token = length <= first == last < length + MAX_TOKENS
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


def write_said(said: Sequence[Said], path: Path) -> list[Path]:
    """Write what raters said as annotations, a line for every part that was sent at once."""
    parts: dict[tuple[str, str], list[Said]] = {}
    for one in said:
        parts.setdefault((one.rater, one.part), []).append(one)
    begun: dict[str, int] = {}
    lines = []
    for (rater, _), part in parts.items():
        number = begun[rater] = begun.get(rater, -1) + 1
        lines.append(json.dumps(_line(part, number), ensure_ascii=False) + "\n")
    return write_text(path, "".join(lines))


def _line(part: Sequence[Said], number: int) -> dict[str, Any]:
    """One line; what was shown a second time stands outside the campaign, as pearmut has it."""
    items: dict[str, dict[str, Any]] = {}
    given: dict[str, dict[str, Any]] = {}
    for one in part:
        name = item_id(one.doc, one.seg)
        item = items.setdefault(name, {"item_id": name, "src": one.source or "", "tgt": {}})
        item["tgt"][one.system] = one.target
        given.setdefault(name, {})[one.system] = {
            "score": one.score,
            "error_spans": _spans(one),
            "textfield": one.comment,
        }
    ended = part[-1].ended or 0.0
    began = ended - sum(one.seconds or 0.0 for one in part)
    return {
        "user_id": part[0].rater, "item_i": f"random_{number}" if part[0].again else number,
        "item": list(items.values()), "annotation": list(given.values()),
        "actions": [{"time": began, "action": "load"}, {"time": ended, "action": "submit"}],
    }  # fmt: skip


def _spans(one: Said) -> list[dict[str, Any]]:
    """The marks in pearmut's units; one without a place is the token behind the text."""
    units = code_points(one.target or "", skip="\n")
    spans, tokens = [], 0
    for mark in one.marks:
        inside = mark.units(units)
        first, last = (inside[0], inside[-1]) if inside else (len(units) + tokens,) * 2
        tokens = tokens if inside else min(tokens + 1, MAX_TOKENS - 1)
        spans.append({
            "start_i": first, "end_i": last, "category": mark.category, "severity": mark.severity,
        })  # fmt: skip
    return spans


def read_campaign_outputs(path: Path, kind: str, options: Options) -> Raw:
    """Read the outputs of a campaign as scores."""
    rows = FileRows(path, kind)
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for one in outputs_of(path, rows):
        place = (one["doc"], one["seg"], one["system"])
        before = found.setdefault(place, one)
        if before is one:
            rows.add(len(found), one)
        elif (before["source"], before["target"]) != (one["source"], one["target"]):
            message = f"'{one['seg']}' has two texts of {one['system']}; give each an item_id"
            rows.fault(message, None, "item_id", one["seg"])
    return rows.raw(nothing="the file has no outputs to be judged")


def read_campaign(path: Path) -> dict[str, Any]:
    """The one campaign of a file."""
    campaign = read_json(path)
    if isinstance(campaign, list):
        if len(campaign) != 1:
            raise refuse(path, f"holds {len(campaign)} campaigns; give a file of one", line=1)
        (campaign,) = campaign
    if not isinstance(campaign, dict) or not isinstance(campaign.get("data"), list | dict):
        message = "expected a campaign: an object with campaign_id, info and data"
        raise refuse(path, f"{message}, found {shown(campaign)}", line=1)
    info = campaign.setdefault("info", {})
    if not isinstance(info, dict):
        raise refuse(path, f"expected an object in info, found {shown(info)}", line=1)
    return campaign


def documents_in(campaign: dict[str, Any]) -> Iterator[list[Any]]:
    """The documents of all tasks that are lists."""
    data = campaign["data"]
    if isinstance(data, dict) or campaign["info"].get("assignment") == "task-based":
        tasks = list(data.values()) if isinstance(data, dict) else data
        data = [document for task in tasks if isinstance(task, list) for document in task]
    yield from (document for document in data if isinstance(document, list))


def outputs_of(path: Path, rows: FileRows) -> Iterator[dict[str, Any]]:
    """Every output of every document, with its place and texts."""
    campaign = read_campaign(path)
    for name in APART:
        apart = campaign.get(name)
        rows.count(name, f"documents of {name} left out", len(apart) if apart else 0)
    listed = list(documents_in(campaign))
    items = [item for document in listed for item in document]
    named = all("#" in str(item.get("item_id")) for item in items if _is_output(item))
    numbers: dict[str, str] = {}
    for document in listed:
        number = numbers.setdefault(repr(document), str(len(numbers) + 1))
        for place, item in enumerate(document, start=1):
            if not isinstance(item, dict):
                rows.fault(f"expected an object, found {shown(item)}", None, "data")
            elif "form" in item:
                rows.count("forms", "forms left out")
            elif "validation" in item:
                rows.count("validated", "items with a validation left out")
            else:
                name = str(item.get("item_id") or place)
                where = split_item_id(name) if named else (number, name)
                yield from _outputs(item, where, rows)


def _is_output(item: Any) -> bool:
    return isinstance(item, dict) and "form" not in item and "validation" not in item


def _outputs(
    item: dict[str, Any], where: tuple[str | None, str], rows: FileRows
) -> Iterator[dict[str, Any]]:
    texts, source = item.get("tgt"), item.get("src")
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        rows.fault(f"expected texts by system in tgt, found {shown(texts)}", None, "tgt")
        return
    if source is not None and not isinstance(source, str):
        rows.fault(f"expected a text in src, found {shown(source)}", None, "src")
        return
    doc, seg = where
    for system, text in texts.items():
        row = {"system": system, "doc": doc, "seg": seg, "source": source, "target": text}
        yield row | ({"reference": item["ref"]} if isinstance(item.get("ref"), str) else {})


def write_campaign_outputs(
    frame: pl.DataFrame, path: Path, kind: str, options: Options
) -> list[Path]:
    """Write scores with source and target texts as a campaign named like the file."""
    test_set, _ = one_pair(frame, options.lp, "pearmut")
    name = path.name.partition(".")[0]
    return [_write(test_set, path, name, {"protocol": "ESA"})]


def write_campaign(
    frame: pl.DataFrame, path: Path, *, name: str, info: Mapping[str, Any]
) -> Path:  # fmt: skip
    """Write the outputs of one language pair as a campaign; ``info`` says how they are judged."""
    return _write(read_scores(frame, metrics=()), path, name, info)


def _write(test_set: TestSet, path: Path, name: str, info: Mapping[str, Any]) -> Path:
    _need_names(test_set.systems)
    task = [
        [_item(segment, systems) for segment in part]
        for document in documents(test_set, "pearmut")
        for systems, part in _matched(document)
    ]
    info = {"assignment": "task-based", **info}
    return write_json({"campaign_id": name, "info": info, "data": [task]}, path)


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
    Format("pearmut", "pearmut annotations, JSON lines", read, {"ratings": (), "errors": ()}),
    Format("pearmut-campaign", "pearmut campaign JSON",
           read_campaign_outputs, {"scores": ()}, write_campaign_outputs, {"scores": ("lp",)}),
)  # fmt: skip
