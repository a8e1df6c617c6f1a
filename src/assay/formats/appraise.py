"""Appraise: the results of a campaign, and batches made from scores.

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

**Batches** (``appraise-batches``): JSON with tasks of about 100 items, documents kept whole. An
item is one system's translation of one segment; a document of a system stays together, in reading
order, and goes into the next task where it would make one longer than 100 items. The ``itemID`` is
the segment, which must therefore be a whole number; ``documentID`` the document (``targetID`` the
system), so that reading the results restores all three. Control items (BAD, REF, CHK) are for
Appraise's own tools to add.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from assay.errors import OptionError, did_you_mean
from assay.formats.catalogue import Format, Options
from assay.formats.files import csv_records, read_text, write_json
from assay.formats.rows import SOURCE, FileRows, Segment, documents, is_whole, one_pair, shown
from assay.results import Note
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
class _Item:
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
        return rows.raw(nothing="there is no segment score in the file")
    if not any("spans" in item.cells for item in items):
        raise refuse(path, "the file has no column of spans; read it as ratings")
    for item in items:
        _add_errors(item, rows)
    return rows.raw(nothing="there is no rated segment in the file", notes=(UNITS,))


def _items(path: Path, rows: FileRows) -> Iterator[_Item]:
    """The rows of the file, each with the line it begins on."""
    content = read_text(path, expected="a row per scored item")
    layout: tuple[str, ...] = ()
    for line, cells in csv_records(content, rows.findings):
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
        item = _Item(line, dict(zip(layout, cells, strict=True)))
        if _plausible(item, rows):
            yield item


def _plausible(item: _Item, rows: FileRows) -> bool:
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


def _one_pair(items: list[_Item], lp: str | None) -> list[_Item]:
    names = [f"{item.cells['source']}-{item.cells['target']}" for item in items]
    pairs = list(dict.fromkeys(names))
    if lp is None and len(pairs) > 1:
        fault = f"but the file has {', '.join(pairs)}"
        raise OptionError("lp", "not given", fault, "give one of them")
    if lp is not None and lp not in pairs:
        fault = f"is not in the file{did_you_mean(lp, pairs)}"
        raise OptionError("lp", lp, fault, f"it has {', '.join(pairs)}")
    return [item for item, name in zip(items, names, strict=True) if lp in (None, name)]


def _scored(items: list[_Item], rows: FileRows) -> Iterator[_Item]:
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


def _latest(items: Iterator[_Item], rows: FileRows) -> list[_Item]:
    """Of several answers of a rater to one item, the latest; a repeat (CHK) does not replace."""
    kept: dict[tuple[str | None, ...], _Item] = {}
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


def _time(item: _Item) -> float:
    try:
        return float(item.cells["end"])
    except ValueError:
        return 0.0


def _add_score(item: _Item, rows: FileRows) -> None:
    seconds = None
    if item.cells["start"] or item.cells["end"]:
        try:
            seconds = round(float(item.cells["end"]) - float(item.cells["start"]), 3)
        except ValueError:
            times = f"{item.cells['start']}, {item.cells['end']}"
            rows.fault(f"start and end ({times}) are not times in seconds", item.line, "start")
            return
    rows.add(item.line, {**item.place, "score": item.cells["score"], "seconds": seconds})


def _add_errors(item: _Item, rows: FileRows) -> None:
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


def write(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write scores with source and target texts as batches for one language pair."""
    test_set, lp = one_pair(frame, options.lp, "Appraise")
    source, _, target = (lp or "").partition("-")
    if not (source and target):
        raise OptionError(
            "lp", lp or "not given", "does not name two languages",
            "Appraise needs them: give SOURCE-TARGET or an lp column",
        )  # fmt: skip
    texts = list(documents(test_set, "Appraise"))
    _need_numbers(texts)
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


def _need_numbers(texts: list[list[Segment]]) -> None:
    findings = Findings(SOURCE)
    for seg in (segment.seg for document in texts for segment in document):
        if not _NUMBER.fullmatch(seg):
            message = f"'{seg}' is not a whole number, and Appraise numbers its items"
            findings.add(f"{message}; number the segments", None, "seg", seg)
    findings.stop()


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
    Format("appraise", "Appraise result CSV", ("ratings", "errors"), read, options=("lp",)),
    Format("appraise-batches", "Appraise batches JSON", writes=("scores",), write=write,
           options=("lp",)),
)  # fmt: skip
