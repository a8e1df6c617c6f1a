"""What to show next, and who edits what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.report.document import Section
from assay.report.parts import need, needed, plural, table

__all__ = ["kit_design_section", "next_section", "next_sets_section"]


def next_section(result: Mapping[str, Any]) -> Section:
    """The segments, or systems, to rate next."""
    need(result, rated=int, pool=int, method=str, signature=str, notes=list)
    rows = needed(result, "segments")
    keys = dict.fromkeys(key for row in rows for key in row)
    shown = table(
        "next", "To be rated next, in this order.",
        {key: (key.capitalize(), "text") for key in keys}, rows,
    )  # fmt: skip
    return Section(
        "next", "What to rate next",
        f"{result['rated']:,} of {plural(result['pool'], 'output')} are rated;"
        f" {len(rows):,} are to come next ({result['method']}).",
        (shown,) if rows else ("Nothing is left to choose.",), result["signature"],
        notes=tuple(result["notes"]),
    )  # fmt: skip


def next_sets_section(result: Mapping[str, Any]) -> Section:
    """The systems to show next."""
    need(result, best=str, goal=str, judgments=int, signature=str, sets=list)
    chances = needed(result, "systems", system=str, best=float)
    sets = [
        {"set": number, "systems": ", ".join(names)}
        for number, names in enumerate(result["sets"], start=1)
    ]
    first = max(chances, key=lambda item: float(item["best"]))
    return Section(
        "next-sets", "Which systems to show next",
        f"After {result['judgments']:,} judgments {result['best']} is ahead;"
        f" {first['system']} is the best system with probability {100 * first['best']:.0f} %. No"
        " significance may be claimed from judgments chosen this way.",
        (
            table("sets", "Systems to show together.",
                  {"set": ("Set", "count"), "systems": ("Systems", "text")}, sets),
            table("chances", "Chance to be the best.",
                  {"system": ("System", "text"), "best": ("Chance", "percent")},
                  sorted(chances, key=lambda item: -float(item["best"]))),
        ),
        result["signature"],
    )  # fmt: skip


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
