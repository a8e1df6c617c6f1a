"""Pearmut campaigns (``pearmut-campaign``): JSON with the documents that raters will see.

**Written**: one task holds all documents (give a copy of it to every rater who should see the
same), the protocol is ESA. Each ``item_id`` carries document and segment, so that reading the
answers restores both. Pearmut shuffles the systems of a document and for that needs all of them in
each of its segments; where systems have different segments, those with the same ones are shown
together, as a document by themselves.

**Read** as scores: the outputs of all tasks, each once. Where an ``item_id`` names no document
(``DOC#SEG``), documents are numbered. Forms, documents of welcome, random and goodbye, and items
with a ``validation`` are not outputs to be judged; they are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from assay.formats.catalogue import Format, Options
from assay.formats.files import read_json, write_json
from assay.formats.pearmut import item_id, split_item_id
from assay.formats.rows import SOURCE, FileRows, Segment, documents, one_pair, shown
from assay.tables.load import Findings, Raw, refuse
from assay.tables.tables import TestSet, read_scores

APART = ("data_welcome", "data_random", "data_goodbye")
"""Parts of a campaign that are not about its outputs."""


def read(path: Path, kind: str, options: Options) -> Raw:
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


def write(frame: pl.DataFrame, path: Path, kind: str, options: Options) -> list[Path]:
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
    Format("pearmut-campaign", "pearmut campaign JSON",
           read, {"scores": ()}, write, {"scores": ("lp",)}),
)  # fmt: skip
