"""The project file beside exported tables, so that commands there repeat the campaign's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from assay.campaign.protocols import make_protocol
from assay.project.project import FILE
from assay.project.reader import written
from assay.project.settings import Settings
from assay.tables.load import write_bytes

HEAD = (
    "# Written by `assay campaign export`: what the campaign's own numbers were computed with.\n"
    "# Commands in this folder, such as `assay estimate`, repeat them. A new export replaces it.\n"
)


def write_project(settings: Settings, tables: Mapping[str, str], folder: Path) -> Path | None:
    """Write ``assay.toml`` for these tables (name to file); None where another one is there."""
    target = folder / FILE
    if target.exists() and not target.read_text(encoding="utf-8", errors="replace").startswith(
        HEAD
    ):
        return None
    return write_bytes(target, (HEAD + project_text(settings, tables)).encode())


def project_text(settings: Settings, tables: Mapping[str, str]) -> str:
    """The settings that estimates depend on, and where the tables are.

    >>> print(project_text(Settings(protocol="esa"), {"scores": "scores.tsv"}), end="")
    name = "campaign"
    protocol = "esa"
    better = "higher"
    range = [0, 100]
    stop = { level = 0.95 }
    scores = "scores.tsv"
    """
    protocol = make_protocol(settings)
    rated = protocol.kind == "ratings"
    pay = {name: value for name, value in asdict(settings.pay).items() if value is not None}
    answers = [file for name, file in tables.items() if name.startswith(protocol.kind)]
    said = {
        "name": settings.name,
        "protocol": settings.protocol,
        "better": protocol.better if rated else None,
        "range": protocol.range if rated else None,
        "metrics": settings.metrics,
        "lower_metrics": settings.lower_metrics or None,
        "method": settings.method,
        "target": settings.target,
        "pay": pay or None,
        "stop": {"level": settings.stop.level},
        "scores": tables.get("scores"),
        "sample": {"file": tables["sample"]} if "sample" in tables else None,
        protocol.kind: answers[:1] or None,  # of several scales, the one that looks go by
    }
    return "".join(
        f"{name} = {written(value)}\n" for name, value in said.items() if value is not None
    )
