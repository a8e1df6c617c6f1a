"""Kits of documents, and the effort of editing them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.views.effort_figures import draw_effort, draw_effort_by_editor
from assay.views.section import Figure, Section, Table, need, needed, plural, table


def effort_section(result: Mapping[str, Any]) -> Section:
    """Engines compared by what it took to edit them."""
    need(result, units=dict, editors=list, level=float, signature=str, notes=list)
    systems = needed(result, "systems", system=str, measures=dict)
    pairs = needed(result, "differences", left=str, right=str, measure=str,
                   decided=bool, verdict=str)  # fmt: skip
    warnings = needed(result, "warnings", kind=str, message=str)
    blocks: list[Table | Figure | str] = [
        Figure(
            "effort", f"Dot: mean. Thin bar: {100 * result['level']:g} % interval; where the thick"
            " bars of two engines do not touch, they differ at about 5 %.",
            lambda: draw_effort(result),
        ),
        _levels(systems),
        _differences(pairs),
    ]  # fmt: skip
    if result.get("documents"):
        blocks.append(_documents(result))
    if result.get("parity"):
        blocks.append(_parity(needed(result, "parity", system=str, verdict=str)))
    if result.get("by_editor"):
        blocks.append(Figure(
            "editors", "Every editor's documents against that editor's mean.",
            lambda: draw_effort_by_editor(result),
        ))  # fmt: skip
    return Section(
        name="effort",
        title="Effort of post-editing",
        lead=_lead(result, pairs),
        blocks=tuple(blocks),
        signature=result["signature"],
        question=(
            f"Which of {plural(len(systems), 'engine')} takes the least effort to edit, by the work"
            f" of {plural(len(result['editors']), 'editor')}?"
        ),
        methods=_methods(result, systems),
        sources=("korotaev2022", "patterson1971", *(("schuirmann1987",) if result.get("parity")
                                                     else ())),
        next=tuple(result.get("next", ())),
        notes=(*(item["message"] for item in warnings), *result["notes"]),
    )  # fmt: skip


def _lead(result: Mapping[str, Any], pairs: list[Mapping[str, Any]]) -> str:
    found: dict[tuple[str, str], list[str]] = {}
    for item in pairs:
        if item["decided"]:
            found.setdefault((_less(item), _more(item)), []).append(item["measure"])
    said = "; ".join(
        f"{less} takes less effort than {more} ({', '.join(measures)})"
        for (less, more), measures in found.items()
    )
    open_ones = sum(not item["decided"] for item in pairs)
    rest = f" {open_ones} of {plural(len(pairs), 'comparison')} are undetermined." if pairs else ""
    return f"By {plural(len(result['editors']), 'editor')}: {said or 'nothing is decided'}.{rest}"


def _less(item: Mapping[str, Any]) -> str:
    return str(item["left"] if item["difference"] < 0 else item["right"])


def _more(item: Mapping[str, Any]) -> str:
    return str(item["right"] if item["difference"] < 0 else item["left"])


def _levels(systems: list[Mapping[str, Any]]) -> Table:
    rows = [
        {"system": item["system"], "measure": measure, **level,
         "hours": item.get("hours_per_1000_words") if measure == "time" else None,
         "price": item.get("price_per_1000_words") if measure == "time" else None}
        for item in systems
        for measure, level in item["measures"].items()
    ]  # fmt: skip
    return table(
        "effort", "Effort by engine and measure; less is better. The 83 % interval leaves out what"
        " all engines share: where those of two do not touch, they differ at about 5 %. Hours and"
        " price are per 1,000 words.",
        {"system": ("Engine", "text"), "measure": ("Measure", "text"), "mean": ("Mean", "number"),
         "low": ("Low", "number"), "high": ("High", "number"),
         "low83": ("Low, 83 %", "number"), "high83": ("High, 83 %", "number"),
         "hours": ("Hours", "number"), "price": ("Price", "number")},
        rows,
    )  # fmt: skip


def _differences(pairs: list[Mapping[str, Any]]) -> Table:
    return table(
        "effort-differences", "Left minus right; p by the mixed model, and by dealing the kits out"
        " anew (randomisation). Verdicts are of each pair by itself; p (Holm) allows for the pairs"
        " of a measure.",
        {"left": ("Left", "text"), "right": ("Right", "text"), "measure": ("Measure", "text"),
         "difference": ("Difference", "number"), "low": ("Low", "number"),
         "high": ("High", "number"), "p": ("p", "p"), "holm_p": ("p (Holm)", "p"),
         "randomisation_p": ("randomised", "p"),
         "verdict": ("Verdict", "text")},
        pairs,
    )  # fmt: skip


def _documents(result: Mapping[str, Any]) -> Table:
    rows = [
        {"document": item["document"], "measure": measure, **share}
        for item in needed(result, "documents", document=str, measures=dict)
        for measure, share in item["measures"].items()
    ]
    alike = float(result.get("alike", 1.25))
    return table(
        "effort-documents", "Documents against the average one, with the"
        f" {200 * result['level'] - 100:g} % interval: alike if it lies within {1 / alike:.2f} and"
        f" {alike:.2f}, unlike if wholly outside.",
        {"document": ("Document", "text"), "measure": ("Measure", "text"),
         "ratio": ("Ratio", "number"), "low": ("Low", "number"), "high": ("High", "number"),
         "low83": ("Low, 83 %", "number"), "high83": ("High, 83 %", "number"),
         "verdict": ("Verdict", "text")},
        rows,
    )  # fmt: skip


def _parity(rows: list[Mapping[str, Any]]) -> Table:
    return table(
        "parity", "Does an engine need at most the margin more effort than the human translation?",
        {"system": ("Engine", "text"), "measure": ("Measure", "text"),
         "margin": ("Margin", "percent"), "excess": ("More effort", "percent"), "p": ("p", "p"),
         "verdict": ("Verdict", "text")},
        rows,
    )  # fmt: skip


def _methods(result: Mapping[str, Any], systems: list[Mapping[str, Any]]) -> str:
    kits = (
        "the same document of an engine for all editors, documents being taken as alike"
        if result.get("assume_alike")
        else "each editor a different document of each engine"
    )
    return (
        f"{plural(len(result['editors']), 'editor')} post-edited documents translated by"
        f" {plural(len(systems), 'engine')}, {kits}."
        f" Effort ({', '.join(result['units'])}) was analysed by a mixed model with editors,"
        " segments and documents within editors as random effects (REML)."
    )


DICT_SECTIONS: Mapping[str, Callable[[Mapping[str, Any]], Section]] = {
    "effort": effort_section,
}
SECTIONS: Mapping[str, Callable[[Any], Section]] = {}
