"""Task lists for annotation tools: as blind as sheets, with the same key.

No system is named. An output is identified by the code of its segment (``q1a2b3-01-0007``) and its
position, which together are its code in the key: in pearmut ``item_id`` and ``out-2``, in Label
Studio ``seg`` and ``system``, in Appraise document, item and ``out-2``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from assay.errors import InputError
from assay.formats.catalogue import load_format
from assay.formats.files import write_json

OUTPUT = "out-"
Rows = list[dict[str, Any]]


def write_tasks(rows: pl.DataFrame, path: Path, tool: str) -> None:
    """Write one rater's rows of the key as a tool's task list, in the order of work."""
    write_json(MAKERS[tool](rows.to_dicts(), path.stem), path)


def _segments(rows: Iterable[dict[str, Any]]) -> list[Rows]:
    """The outputs grouped by segment, in the order shown."""
    return [list(part) for _, part in groupby(rows, key=lambda row: _split(row["code"])[0])]


def _split(code: str) -> tuple[str, str]:
    """The code of the segment, and the name of the output."""
    segment, _, place = code.rpartition("-")
    return segment, OUTPUT + place


def _pearmut(rows: Rows, name: str) -> dict[str, Any]:
    """A campaign with one task; each screen has segments with equally many outputs."""
    screens = groupby(_segments(rows), key=lambda part: (part[0]["place"], len(part)))
    task = [
        [
            {
                "item_id": _split(part[0]["code"])[0], "src": part[0]["source"],
                "tgt": {_split(row["code"])[1]: row["output"] for row in part},
            }
            for part in parts
        ]
        for _, parts in screens
    ]  # fmt: skip
    campaign = f"{rows[0]['code'].partition('-')[0]}-{name}"
    info = {"assignment": "task-based", "protocol": "ESA"}
    return {"campaign_id": campaign, "info": info, "data": [task]}


def _label_studio(rows: Rows, name: str) -> list[dict[str, Any]]:
    """A task for each output."""
    return [
        {"id": number, "data": {
            "seg": _split(row["code"])[0], "system": _split(row["code"])[1],
            "part": row["place"], "source": row["source"], "target": row["output"],
        }}
        for number, row in enumerate(rows, start=1)
    ]  # fmt: skip


def _appraise(rows: Rows, name: str) -> list[dict[str, Any]]:
    """One batch; items have the numbers of their segments' codes."""
    source, _, target = (rows[0]["lp"] or "").partition("-")
    if not (source and target):
        raise InputError(
            "Appraise needs languages, but the scores have no lp column; add one with values such"
            " as eng-deu"
        )
    items = []
    for number, row in enumerate(rows):
        segment, output = _split(row["code"])
        document, _, item = segment.rpartition("-")
        items.append({
            "_block": row["place"] - 1, "_item": number, "itemID": int(item), "itemType": "TGT",
            "sourceID": row["lp"], "sourceText": row["source"], "targetID": output,
            "targetText": row["output"], "documentID": document, "isCompleteDocument": False,
        })  # fmt: skip
    plan = {"batchNo": 1, "randomSeed": 0, "requiredAnnotations": 1, "sourceLanguage": source,
            "targetLanguage": target}  # fmt: skip
    return [{"items": items, "task": plan}]


MAKERS: Mapping[str, Callable[[Rows, str], Any]] = {
    "pearmut": _pearmut, "appraise": _appraise, "label-studio": _label_studio,
}  # fmt: skip
"""The tools that tasks are written for; formats of the same name read their answers."""


def read_tasks(path: Path, tool: str) -> pl.DataFrame:
    """Read the answers of a tool: ``code``, ``score`` and, if available, ``seconds``."""
    raw = load_format(path, tool, "ratings")
    frame = raw.frame
    system, seg = frame["system"].cast(pl.String), frame["seg"].cast(pl.String)
    if tool == "appraise":
        # The tool may pad numbers or strip zeros; codes have four digits.
        seg = frame["doc"].cast(pl.String) + "-" + seg.str.zfill(4)
    code = seg + "-" + system.str.strip_prefix(OUTPUT)
    kept = [name for name in ("score", "seconds") if name in frame.columns]
    return frame.select(kept).with_columns(code.alias("code"))
