"""Appraise: the results of a campaign, and the batches that it begins with.

**Results** (``appraise``): CSV without a header, one row per item that a rater scored.

The columns are user, system, itemID, itemType, source and target language (three letters),
score, documentID, isCompleteDocument, spans (JSON), start and end time. Older exports lack the
spans (11 columns) or also the documents (9); with batch information there are 14.

- **Which rows count.** TGT and CHK, as in Appraise itself. Broken outputs (BAD) and references
  (REF) are there to check raters, document scores (isCompleteDocument) are not segment scores,
  and a tutorial is named so in both system and document: all are left out and counted. Of an
  item scored more than once by a rater, the latest answer counts, a TGT row before a CHK row.
- **Languages.** A file with several pairs is read for the one that ``lp`` names (``eng-deu``).
  There is no ``lp`` column: the codes are Appraise's own and rarely those of the scores.
- **Seconds** are end minus start.
- **Spans** count UTF-16 units and include the last one. The file has no texts, so units cannot be
  turned into code points here; the two differ only behind characters beyond U+FFFF (emoji) and
  line breaks, which Appraise does not count, and the notes say so. ``missing`` as a place is an
  omission: an error without ``start`` and ``end``. Rows without spans become ``No-error`` rows.

**Batches** (``appraise-batches``): JSON with tasks of about 100 items.

An item is one system's translation of one segment. Written, a document of a system stays
together, in reading order, and goes into the next task where it would make one longer than 100
items. The ``itemID`` is the segment, which must therefore be a whole number; ``documentID`` the
document (``targetID`` the system), so that reading the results restores all three. Control items
(BAD, REF, CHK) are for Appraise's own tools to add.

Read as scores: the items to be judged (TGT), each once; those of other types, whole documents
and tutorials are left out and counted.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from assay.errors import OptionError, did_you_mean
from assay.formats.catalogue import Format, Options
from assay.formats.files import (
    SOURCE,
    FileRows,
    Said,
    Segment,
    documents,
    is_whole,
    one_pair,
    read_json,
    read_text,
    said_of,
    shown,
    write_json,
    write_text,
)
from assay.formats.mqm import NO_CATEGORY, code_points
from assay.results import Note
from assay.tables.irregular_text import defused_words, restored_word
from assay.tables.load import Findings, Raw, refuse

_PLAIN = ("user", "system", "item", "type", "source", "target", "score")
_TIMES = ("start", "end")
_DOCUMENT = (*_PLAIN, "document", "complete")
LAYOUTS = {
    9: (*_PLAIN, *_TIMES),
    11: (*_DOCUMENT, *_TIMES),
    12: (*_DOCUMENT, "spans", *_TIMES),
    14: (*_DOCUMENT, "spans", *_TIMES, "batch", "number"),
}
"""The columns by their number."""

SCORED = ("TGT", "CHK")
CONTROLS = {"BAD": "broken outputs (BAD) left out", "REF": "references (REF) left out"}
UNITS = Note(
    "utf16-offsets",
    "span offsets are in UTF-16 units without line breaks, as Appraise counts them: the file has"
    " no texts by which to convert them",
)

TASK_ITEMS = 100
"""How many items Appraise expects in a task."""
_NUMBER = re.compile("0|[1-9][0-9]{0,17}")
"""A whole number as it reads again."""


@dataclass(frozen=True, slots=True)
class _AppraiseLine:
    line: int
    cells: dict[str, str]

    @property
    def place(self) -> dict[str, str | None]:
        names = {"system": "system", "doc": "document", "seg": "item", "rater": "user"}
        return {ours: self.cells.get(theirs) for ours, theirs in names.items()}


def read(path: Path, kind: str, options: Options) -> Raw:
    """Read a result file as ratings or errors."""
    rows = FileRows(path, kind)
    items = list(_items(path, rows))
    rows.stop()
    items = _one_pair(items, options.lp)
    items = _latest(_scored(items, rows), rows)
    if kind == "ratings":
        for item in items:
            _add_score(item, rows)
        return rows.raw(nothing="the file has no segment scores")
    if not any("spans" in item.cells for item in items):
        raise refuse(path, "the file has no column of spans; read it as ratings")
    for item in items:
        _add_errors(item, rows)
    return rows.raw(nothing="the file has no rated segments", notes=(UNITS,))


def read_said(path: Path, options: Options) -> tuple[list[Said], tuple[Note, ...]]:
    """Everything that raters said about every output: score, marks, time."""
    rows, marks = FileRows(path, "ratings"), FileRows(path, "errors")
    items = list(_items(path, rows))
    rows.stop()
    said = []
    for item in _latest(_scored(_one_pair(items, options.lp), rows), rows):
        _add_score(item, rows)
        if "spans" in item.cells:
            _add_errors(item, marks)
        said.append(said_of(rows, marks, item.line, ended=_time(item) or None))
    rows.stop()
    marks.stop()
    return said, rows.notes


def _items(path: Path, rows: FileRows) -> Iterator[_AppraiseLine]:
    """The rows of the file, each with the line it begins on."""
    content = read_text(path, expected="a row per scored item")
    layout: tuple[str, ...] = ()
    for line, cells in _records(content, rows):
        if not layout and len(cells) not in LAYOUTS:
            message = (
                f"{len(cells)} cells where an Appraise export has 9, 11, 12 or 14: user, system,"
                " itemID, itemType, source and target language, score, ..."
            )
            raise refuse(path, message, line=line, value=",".join(cells)[:80])
        layout = layout or LAYOUTS[len(cells)]
        if len(cells) != len(layout):
            rows.fault(f"{len(cells)} cells where the first line has {len(layout)}", line)
            continue
        item = _AppraiseLine(line, dict(zip(layout, map(restored_word, cells), strict=True)))
        if _plausible(item, rows):
            yield item


def _records(content: str, rows: FileRows) -> Iterator[tuple[int, list[str]]]:
    """The records that are not blank, with their lines, until quotes fail to pair up."""
    reader = csv.reader(io.StringIO(content, newline=""), strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        rows.fault(f"quotation marks do not pair up from here on ({error})", line)


def _plausible(item: _AppraiseLine, rows: FileRows) -> bool:
    """Whether the cells that tell rows apart hold what they should."""
    kinds = (*SCORED, *CONTROLS)
    kind, whole = item.cells["type"], item.cells.get("complete", "False")
    if kind not in kinds:
        message = f"expected an item type ({', '.join(kinds)}), found '{kind}'"
        rows.fault(message, item.line, "itemType", kind)
    elif whole not in ("True", "False"):
        message = f"expected True or False, found '{whole}'"
        rows.fault(message, item.line, "isCompleteDocument", whole)
    else:
        return True
    return False


def _one_pair(items: list[_AppraiseLine], lp: str | None) -> list[_AppraiseLine]:
    names = [f"{item.cells['source']}-{item.cells['target']}" for item in items]
    pairs = list(dict.fromkeys(names))
    if lp is None and len(pairs) > 1:
        fault = f"but the file has {', '.join(pairs)}"
        raise OptionError("lp", "not given", fault, "give one of them")
    if lp is not None and lp not in pairs:
        fault = f"is not in the file{did_you_mean(lp, pairs)}"
        raise OptionError("lp", lp, fault, f"it has {', '.join(pairs)}")
    return [item for item, name in zip(items, names, strict=True) if lp in (None, name)]


def _scored(items: list[_AppraiseLine], rows: FileRows) -> Iterator[_AppraiseLine]:
    """The items whose scores are about a system's translation of a segment."""
    for item in items:
        cells = item.cells
        if cells["type"] in CONTROLS:
            rows.count(cells["type"].lower(), CONTROLS[cells["type"]])
        elif cells.get("complete") == "True":
            rows.count("document-scores", "document scores left out")
        elif all("tutorial" in cells.get(name, "").lower() for name in ("system", "document")):
            rows.count("tutorial", "tutorial items left out")
        else:
            yield item


def _latest(items: Iterator[_AppraiseLine], rows: FileRows) -> list[_AppraiseLine]:
    """Of several answers of a rater to one item, the latest; a repeat (CHK) does not replace."""
    kept: dict[tuple[str | None, ...], _AppraiseLine] = {}
    for item in items:
        where = tuple(item.place.values())
        other = kept.get(where)
        if other is None:
            kept[where] = item
            continue
        kinds = (other.cells["type"], item.cells["type"])
        if "CHK" in kinds and kinds[0] != kinds[1]:
            rows.count("repeated-items", "repeated items (CHK) left out")
            if kinds[0] == "CHK":
                kept[where] = item
        else:
            rows.count("replaced", "answers replaced by a later one of the same rater")
            if _time(item) >= _time(other):
                kept[where] = item
    return sorted(kept.values(), key=lambda item: item.line)


def _time(item: _AppraiseLine) -> float:
    try:
        return float(item.cells["end"])
    except ValueError:
        return 0.0


def _add_score(item: _AppraiseLine, rows: FileRows) -> None:
    seconds = None
    if item.cells["start"] or item.cells["end"]:
        try:
            seconds = round(float(item.cells["end"]) - float(item.cells["start"]), 3)
        except ValueError:
            times = f"{item.cells['start']}, {item.cells['end']}"
            rows.fault(f"start and end ({times}) are not times in seconds", item.line, "start")
            return
    rows.add(item.line, {**item.place, "score": item.cells["score"], "seconds": seconds})


def _add_errors(item: _AppraiseLine, rows: FileRows) -> None:
    spans = _spans(item.cells["spans"])
    if spans is None:
        rows.fault("expected a JSON list of spans", item.line, "spans", item.cells["spans"][:80])
        return
    if not spans:
        rows.add_no_error(item.line, item.place)
    for span in spans:
        first, last = span.get("start_i"), span.get("end_i")
        if "missing" in (first, last):
            start, end = None, None
        elif is_whole(first) and is_whole(last) and 0 <= first <= last:
            start, end = first, last + 1
        else:
            message = (
                f"{shown(first)} to {shown(last)} is not a span; expected whole numbers from 0,"
                " the first not above the last"
            )
            rows.fault(message, item.line, "start_i", first)
            continue
        category = span.get("error_type")
        if isinstance(category, list):  # a path from the general to the special
            category = "/".join(str(part) for part in category)
        rows.add_error(item.line, item.place, category, span.get("severity"), start, end)


def _spans(cell: str) -> list[dict[str, Any]] | None:
    """The spans of a cell; JSON inside a JSON string and a tutorial's wrapper are unwrapped."""
    value: Any = cell or "[]"
    try:
        for _ in range(3):
            if isinstance(value, str):
                value = json.loads(value)
        if isinstance(value, dict):
            value = value.get("payload")
        json.dumps(value, ensure_ascii=False).encode()  # half characters have no place in a table
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, list) or not all(isinstance(span, dict) for span in value):
        return None
    return value


def need_numbers(segments: Iterable[str]) -> None:
    """Refuse segments whose names are not whole numbers, as Appraise needs them."""
    findings = Findings(SOURCE)
    for seg in segments:
        if not _NUMBER.fullmatch(seg):
            message = f"'{seg}' is not a whole number, and Appraise numbers its items"
            findings.add(f"{message}; number the segments", None, "seg", seg)
    findings.stop()


KINDS = {None: "TGT", "spoiled": "BAD", "repeat": "CHK"}
"""The item types of what is shown for itself, or a second time."""


def write_said(said: Sequence[Said], path: Path, languages: tuple[str, str]) -> list[Path]:
    """Write what raters said as a result file; comments have no place in it."""
    need_numbers(dict.fromkeys(one.seg for one in said))
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    for one in said:
        if one.score is None:
            continue
        began = (one.ended or 0.0) - (one.seconds or 0.0)
        names = defused_words([one.rater, one.system, one.doc or one.seg])
        lines.writerow([
            *names[:2], one.seg, KINDS[one.again], *languages, repr(one.score), names[2], "False",
            json.dumps(_written_spans(one), ensure_ascii=False), began, one.ended or 0.0,
        ])  # fmt: skip
    return write_text(path, text.getvalue())


def _written_spans(one: Said) -> list[dict[str, Any]]:
    """The marks in Appraise's units; one without a place in the target is an omission."""
    units = code_points(one.target or "", skip="\n")
    spans = []
    for mark in one.marks:
        inside = mark.units(units)
        first, last = (inside[0], inside[-1]) if inside else ("missing", "missing")
        spans.append({
            "start_i": first, "end_i": last, "error_type": mark.category or NO_CATEGORY,
            "severity": mark.severity,
        })  # fmt: skip
    return spans


def read_batch_outputs(path: Path, kind: str, options: Options) -> Raw:
    """Read the outputs of the batches as scores."""
    rows = FileRows(path, kind)
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for number, (item, lp) in enumerate(items_of(read_batches(path), rows), start=1):
        row = _row(item, lp, number, rows)
        if row is None:
            continue
        place = (lp, row["doc"], row["seg"], row["system"])
        before = found.setdefault(place, row)
        if before is row:
            rows.add(number, row)
        elif (before["source"], before["target"]) != (row["source"], row["target"]):
            message = f"item {row['seg']} of {row['doc']} has two texts of {row['system']}"
            rows.fault(f"{message}; number the items anew", number, "itemID", row["seg"])
    return rows.raw(nothing="the file has no items to be judged (TGT)")


def read_batches(path: Path) -> list[dict[str, Any]]:
    """The tasks of a file, each an object with its items and what is said of it."""
    batches = read_json(path)
    if isinstance(batches, list) and batches and all(map(_is_batch, batches)):
        return batches
    message = "expected a list of batches, each with items and task"
    raise refuse(path, f"{message}, found {shown(batches)}", line=1)


def _is_batch(value: Any) -> bool:
    return (
        isinstance(value, dict) and isinstance(value.get("items"), list)
        and all(isinstance(item, dict) for item in value["items"])
        and isinstance(value.get("task"), dict)
    )  # fmt: skip


def items_of(batches: list[dict[str, Any]], rows: FileRows) -> Iterator[tuple[dict[str, Any], str]]:
    """The items that are to be judged, with their language pair."""
    for batch in batches:
        task = batch["task"]
        lp = f"{task.get('sourceLanguage')}-{task.get('targetLanguage')}"
        for item in batch["items"]:
            kind = item.get("itemType", "TGT")
            names = (str(item.get("targetID")), str(item.get("documentID")))
            if kind in CONTROLS:
                rows.count(kind.lower(), CONTROLS[kind])
            elif kind == "CHK":
                rows.count("repeated-items", "repeated items (CHK) left out")
            elif item.get("isCompleteDocument") is True:
                rows.count("document-scores", "items for whole documents left out")
            elif all("tutorial" in name.lower() for name in names):
                rows.count("tutorial", "tutorial items left out")
            else:
                yield item, lp


def _row(item: dict[str, Any], lp: str, number: int, rows: FileRows) -> dict[str, Any] | None:
    texts = {name: item.get(f"{name}Text") for name in ("source", "target")}
    for name, text in texts.items():
        if not isinstance(text, str):
            rows.fault(f"expected a text in {name}Text, found {shown(text)}", number, name)
            return None
    for name in ("itemID", "targetID"):
        if not (isinstance(item.get(name), str) or is_whole(item.get(name))):
            rows.fault(f"{name} is missing: the item cannot be placed", number, name)
            return None
    doc = item.get("documentID")
    return {
        "system": str(item["targetID"]), "doc": None if doc is None else str(doc),
        "seg": str(item["itemID"]), "lp": lp, **texts,
    }  # fmt: skip


def write_batches(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write scores with source and target texts as batches for one language pair."""
    test_set, lp = one_pair(frame, options.lp, "Appraise")
    source, _, target = (lp or "").partition("-")
    if not (source and target):
        raise OptionError(
            "lp", lp or "not given", "does not name two languages",
            "Appraise needs them: give SOURCE-TARGET or an lp column",
        )  # fmt: skip
    texts = list(documents(test_set, "Appraise"))
    need_numbers(segment.seg for document in texts for segment in document)
    tasks: list[list[dict[str, Any]]] = [[]]
    blocks = [
        [_item(segment, system, str(lp)) for segment in document if system in segment.targets]
        for document in texts
        for system in test_set.systems
    ]
    for number, block in enumerate(filter(None, blocks)):
        if tasks[-1] and len(tasks[-1]) + len(block) > TASK_ITEMS:
            tasks.append([])
        for item in block:
            tasks[-1].append({"_block": number, "_item": len(tasks[-1]), **item})
    plan: dict[str, Any] = {
        "randomSeed": 0, "requiredAnnotations": 1, "sourceLanguage": source,
        "targetLanguage": target,
    }  # fmt: skip
    batches: list[dict[str, Any]] = [
        {"items": items, "task": {"batchNo": number, **plan}}
        for number, items in enumerate(tasks, start=1)
    ]
    return [write_json(batches, path)]


def _item(segment: Segment, system: str, lp: str) -> dict[str, Any]:
    return {
        "itemID": int(segment.seg),
        "itemType": "TGT",
        "sourceID": lp,
        "sourceText": segment.source,
        "targetID": system,
        "targetText": segment.targets[system],
        "documentID": segment.seg if segment.doc is None else segment.doc,
        "isCompleteDocument": False,
    }


PROVIDES = (
    Format("appraise", "Appraise result CSV", read, {"ratings": ("lp",), "errors": ("lp",)}),
    Format("appraise-batches", "Appraise batches JSON",
           read_batch_outputs, {"scores": ()}, write_batches, {"scores": ("lp",)}),
)  # fmt: skip
