"""What to show next, and who edits what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.views.kit_figures import draw_kits
from assay.views.section import Figure, Section, need, needed, plural, table


def kit_design_section(result: Mapping[str, Any]) -> Section:
    """Who edits which document of which engine."""
    need(result, design=str, signature=str, notes=list)
    tasks = needed(result, "kits", editor=str, system=str)
    editors = {row["editor"] for row in tasks}
    shown = table(
        "tasks", "Who edits what, in which order.",
        {"editor": ("Editor", "text"), "position": ("Place", "count"),
         "document": ("Document", "text"), "system": ("Engine", "text")},
        tasks,
    )  # fmt: skip
    return Section(
        "kit-design", "Who edits what",
        f"{plural(len(editors), 'editor')}, {plural(len(tasks), 'document')} to edit in all, by"
        f" the design {result['design']}.",
        (shown,), result["signature"], sources=("korotaev2022",), notes=tuple(result["notes"]),
    )  # fmt: skip


def kits_section(result: Mapping[str, Any]) -> Section:
    """Pieces of text that are alike."""
    need(result, size=int, mode=str, signature=str, notes=list, pieces=list)
    kits = needed(result, "kits", pieces=list, diameter=float)
    rows = [
        dict(kit) | {"kit": number, "names": ", ".join(map(str, kit["pieces"]))}
        for number, kit in enumerate(kits, start=1)
    ]
    shown = table(
        "kits", "Diameter: the largest distance between two pieces of a kit, features scaled to"
        " 0..1; percentile: sets of as many pieces that are as close or closer.",
        {"kit": ("Kit", "count"), "names": ("Pieces", "text"), "diameter": ("Diameter", "number"),
         "percentile": ("Percentile", "number"), "shared_terms": ("Shared terms", "number"),
         "length_ratio": ("Length ratio", "number")},
        rows,
    )  # fmt: skip
    figure = Figure("kits", "Left: pieces on two principal components. Right: the knee.",
                    lambda: draw_kits(result))  # fmt: skip
    return Section(
        "kits", "Alike documents",
        f"Among {plural(len(result['pieces']), 'piece')} of text, {plural(len(kits), 'kit')} of"
        f" {result['size']} that are alike.",
        (figure, shown), result["signature"], sources=("korotaev2022",),
        notes=tuple(result["notes"]),
    )  # fmt: skip


DICT_SECTIONS: Mapping[str, Callable[[Mapping[str, Any]], Section]] = {
    "kits": kits_section,
    "kit-design": kit_design_section,
}
SECTIONS: Mapping[str, Callable[[Any], Section]] = {}
