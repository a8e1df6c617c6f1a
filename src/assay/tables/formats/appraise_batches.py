"""Appraise batches: JSON with tasks of about 100 items, documents kept whole.

An item is one system's translation of one segment; a document of a system stays together, in
reading order, and goes into the next task where it would make one longer than 100 items. The
``itemID`` is the segment, which must therefore be a whole number; ``documentID`` the document
(``targetID`` the system), so that reading the results (format ``appraise``) restores all three.
Control items (BAD, REF, CHK) are for Appraise's own tools to add.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from assay.errors import OptionError, Problem
from assay.tables.formats import Options
from assay.tables.formats.faults import stop
from assay.tables.formats.jsonfile import write_json
from assay.tables.formats.texts import Segment, documents, one_pair

TASK_ITEMS = 100
"""How many items Appraise expects in a task."""

_NUMBER = re.compile("0|[1-9][0-9]{0,17}")
"""A whole number as it reads again."""


def write(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
    """Write scores with source and target texts as batches for one language pair."""
    test_set, lp = one_pair(frame, options.lp, "Appraise")
    source, mark, target = (lp or "").partition("-")
    if not (source and mark and target):
        raise OptionError(
            "lp",
            lp or "not given",
            "does not name two languages",
            "Appraise needs them: give --lp SOURCE-TARGET or an lp column",
        )
    found = list(documents(test_set, "Appraise"))
    _need_numbers(found)
    tasks: list[list[dict[str, Any]]] = [[]]
    for number, block in enumerate(_blocks(found, test_set.systems, str(lp))):
        if tasks[-1] and len(tasks[-1]) + len(block) > TASK_ITEMS:
            tasks.append([])
        for item in block:
            tasks[-1].append({"_block": number, "_item": len(tasks[-1]), **item})
    batches = [
        {
            "items": items,
            "task": {
                "batchNo": number,
                "randomSeed": 0,
                "requiredAnnotations": 1,
                "sourceLanguage": source,
                "targetLanguage": target,
            },
        }
        for number, items in enumerate(tasks, start=1)
    ]
    return [write_json(batches, path)]


def _need_numbers(found: list[list[Segment]]) -> None:
    message = "'{}' is no whole number, and Appraise numbers its items; number the segments"
    names = (segment.seg for document in found for segment in document)
    stop(
        "scores",
        (Problem(message.format(n), None, "seg", n) for n in names if not _NUMBER.fullmatch(n)),
    )


def _blocks(
    found: list[list[Segment]], systems: tuple[str, ...], lp: str
) -> list[list[dict[str, Any]]]:
    """The documents of each system, a document's systems one after the other."""
    blocks = []
    for document in found:
        for system in systems:
            items = [
                _item(segment, system, lp) for segment in document if system in segment.targets
            ]
            if items:
                blocks.append(items)
    return blocks


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
