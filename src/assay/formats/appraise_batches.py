"""Appraise batches (``appraise-batches``): JSON with tasks of about 100 items.

An item is one system's translation of one segment. **Written**: a document of a system stays
together, in reading order, and goes into the next task where it would make one longer than 100
items. The ``itemID`` is the segment, which must therefore be a whole number; ``documentID`` the
document (``targetID`` the system), so that reading the results restores all three. Control items
(BAD, REF, CHK) are for Appraise's own tools to add.

**Read** as scores: the items to be judged (TGT), each once; those of other types, whole documents
and tutorials are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from assay.errors import OptionError
from assay.formats.appraise import CONTROLS, need_numbers
from assay.formats.catalogue import Format, Options
from assay.formats.files import read_json, write_json
from assay.formats.rows import FileRows, Segment, documents, is_whole, one_pair, shown
from assay.tables.load import Raw, refuse

TASK_ITEMS = 100
"""How many items Appraise expects in a task."""


def read(path: Path, kind: str, options: Options) -> Raw:
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
    Format("appraise-batches", "Appraise batches JSON",
           read, {"scores": ()}, write, {"scores": ("lp",)}),
)  # fmt: skip
