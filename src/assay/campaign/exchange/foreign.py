"""Campaigns prepared for another tool, as settings of Assay."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from assay.formats.appraise import read_batches
from assay.formats.catalogue import Options, load_format
from assay.formats.pearmut import read_campaign
from assay.tables.load import Raw, library_errors

Origin = Literal["pearmut", "appraise-batches"]
FORMATS: Mapping[str, str] = {"pearmut": "pearmut-campaign", "appraise-batches": "appraise-batches"}
"""The origins of campaigns, with the format that reads their outputs."""
PROTOCOLS = {"ESA": "esa", "cESA": "esa", "DA": "da", "MQM": "mqm"}
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
SIDE_BY_SIDE = 3
"""Outputs side by side if the other tool shows all systems at once."""


def foreign_outputs(path: Path, origin: Origin) -> Raw:
    """The outputs of such a file."""
    return load_format(path, FORMATS[origin], "scores", Options())


def foreign_settings(path: Path, origin: Origin) -> dict[str, Any]:
    """The settings in such a file, by their path in ``assay.toml``."""
    with library_errors(path):
        said = _pearmut(path) if origin == "pearmut" else _appraise(path)
        return dict(said)


def _pearmut(path: Path) -> Iterator[tuple[str, Any]]:
    campaign = read_campaign(path)
    info, data = campaign["info"], campaign["data"]
    name = campaign.get("campaign_id")
    yield "name", name if isinstance(name, str) and name.strip() else path.name.partition(".")[0]
    protocol = info.get("protocol", "cESA")
    yield "protocol", PROTOCOLS.get(str(protocol))
    if protocol == "cESA":
        yield "screen.outputs", SIDE_BY_SIDE
    yield from _people(info, data)
    sliders = info.get("sliders")
    if isinstance(sliders, list) and protocol == "DA":
        yield "protocol", "scale"
        yield "scales", [
            {"name": one.get("name"), "low": one.get("min"), "high": one.get("max"),
             "step": one.get("step")}
            for one in sliders if isinstance(one, dict)
        ]  # fmt: skip
    if protocol == "MQM" and isinstance(info.get("mqm_categories"), dict):
        yield "categories", list(_categories(info["mqm_categories"]))


def _people(info: Mapping[str, Any], data: Any) -> Iterator[tuple[str, Any]]:
    """The raters: a number of users, their names, or one for every task."""
    users = info.get("users", len(data) if info.get("assignment") == "task-based" else None)
    if isinstance(users, list):
        users = [one.get("user_id") if isinstance(one, dict) else one for one in users]
        yield "raters.names", users
    elif isinstance(users, int):
        yield "raters.number", users


def _categories(tree: Mapping[str, Any]) -> Iterator[str]:
    for above, below in tree.items():
        yield from [f"{above}/{name}" for name in below] if below else [above]


def _appraise(path: Path) -> Iterator[tuple[str, Any]]:
    tasks = [batch["task"] for batch in read_batches(path)]
    yield "name", path.name.partition(".")[0]
    each = tasks[0].get("requiredAnnotations")
    if isinstance(each, int) and each > 1:
        yield "raters.per_task", each
        yield "raters.number", each
    pairs = {(task.get("sourceLanguage"), task.get("targetLanguage")) for task in tasks}
    (pair, *more) = pairs
    if not more and all(isinstance(name, str) and LANGUAGE.fullmatch(name) for name in pair):
        yield "screen.languages", list(pair)
