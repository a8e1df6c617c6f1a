"""A pearmut campaign: JSON with the documents that raters will see.

One task holds all documents (give a copy of it to every rater who should see the same), the
protocol is ESA. Each ``item_id`` carries document and segment, so that reading the answers
(format ``pearmut``) restores both. Pearmut shuffles the systems of a document and for that needs
all of them in each of its segments; where systems have different segments, those with the same
ones are shown together, as a document by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from assay.errors import Problem
from assay.tables.formats import Options
from assay.tables.formats.faults import stop
from assay.tables.formats.jsonfile import write_json
from assay.tables.formats.pearmut import item_id
from assay.tables.formats.texts import Segment, documents, one_pair


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
    message = "pearmut takes no system name of digits only; rename it"
    stop("scores", (Problem(message, None, "system", n) for n in systems if n.isdigit()))


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
