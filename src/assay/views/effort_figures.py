"""Figures of effort: systems with their intervals, and every editor's work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.views.figures import COLOURS, INK, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_effort(result: Mapping[str, Any]) -> Figure:
    """A panel per measure, a row per system; the thick bar is the 83 % interval.

    ``result`` is what ``assay effort --json`` prints.
    """
    systems, units = _need(result, "systems"), result["units"]
    figure = new_figure(2.9 * len(units) + 0.8, 1.2 + 0.42 * len(systems))
    panels = figure.subplots(1, len(units), sharey=True, squeeze=False)[0]
    for axes, (measure, unit) in zip(panels, units.items(), strict=True):
        for row, item in enumerate(reversed(systems)):
            level, colour = item["measures"][measure], _colour(len(systems) - 1 - row)
            for low, high, width in (("low", "high", 1.2), ("low83", "high83", 4.0)):
                if level[low] is not None and level[high] is not None:
                    ends = [level[low], level[high]]
                    axes.plot(ends, [row, row], color=colour, linewidth=width)
            axes.plot(level["mean"], row, "o", color=INK, markersize=5)
        axes.set_title(measure, fontsize=10, color=INK, loc="left")
        axes.set_xlabel(unit.replace(", ", ",\n"), color=INK, fontsize=8)
        axes.set_ylim(-0.6, len(systems) - 0.4)
        tidy(axes, grid="x")
    names = [item["system"] for item in reversed(systems)]
    panels[0].set_yticks(range(len(systems)), names, parse_math=False)  # a name may have a $
    return figure


def draw_effort_by_editor(result: Mapping[str, Any]) -> Figure:
    """Every editor's documents relative to that editor's mean (korotaev2022, Figure 4)."""
    rows = _need(result, "by_editor")
    editors = list(dict.fromkeys(row["editor"] for row in rows))
    systems = [item["system"] for item in result["systems"]]
    most = max(sum(row["editor"] == editor for row in rows) for editor in editors)
    width = 0.8 / most
    figure = new_figure(1.6 + 1.1 * len(editors), 3.8)
    axes = figure.subplots()
    for number, editor in enumerate(editors):
        own = [row for row in rows if row["editor"] == editor]
        for place, row in enumerate(own):
            x = number + width * (place - (len(own) - 1) / 2)
            colour = _colour(systems.index(row["system"]))
            axes.bar(x, row["total"] or 0.0, 0.92 * width, color=colour)
            axes.text(x, (row["total"] or 0.0) + 0.06, row["document"], rotation=90, ha="center",
                      va="bottom", fontsize=7, color=INK, parse_math=False)  # fmt: skip
    for number, system in enumerate(systems):
        axes.bar(0, 0, color=_colour(number), label=_literal(system))
    axes.set_xticks(range(len(editors)), editors, parse_math=False)
    total = len(result["units"])
    axes.set_ylabel(f"effort, sum of {total} ratios to the editor's mean", color=INK)
    figure.legend(loc="outside upper center", ncols=min(6, len(systems)), frameon=False)
    tidy(axes, grid="y")
    return figure


def draw_aggregate(parts: Mapping[str, Mapping[str, float | None]]) -> Figure:
    """Effort summed over measures, a bar per document or system (korotaev2022, Figures 1 and 3).

    ``parts`` has every bar's name with its measures.
    """
    figure = new_figure(1.6 + 1.2 * len(parts), 3.4)
    axes = figure.subplots()
    measures = list(dict.fromkeys(name for own in parts.values() for name in own))
    for place, own in enumerate(parts.values()):
        bottom = 0.0
        for number, measure in enumerate(measures):
            value = own.get(measure) or 0.0
            axes.bar(place, value, 0.6, bottom=bottom, color=_colour(number))
            bottom += value
        axes.text(place, bottom + 0.03, f"{bottom:.2f}", ha="center", fontsize=8, color=INK)
    for number, measure in enumerate(measures):
        axes.bar(0, 0, color=_colour(number), label=_literal(measure))
    axes.set_xticks(range(len(parts)), list(parts), parse_math=False)
    axes.set_ylabel("effort, sum of ratios to the mean", color=INK)
    figure.legend(loc="outside upper center", ncols=len(measures), frameon=False)
    tidy(axes, grid="y")
    return figure


def draw_averages(rows: Mapping[str, Sequence[float]], *, interval: str) -> Figure:
    """Mean, low and high of every row, in the same units (korotaev2022, Figure 2)."""
    figure = new_figure(5.2, 1.2 + 0.42 * len(rows))
    axes = figure.subplots()
    for place, (mean, low, high) in enumerate(reversed(list(rows.values()))):
        axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=3)
        axes.plot(mean, place, "o", color=INK, markersize=5)
    axes.axvline(1.0, color=INK, linewidth=0.8, linestyle=":")
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_yticks(range(len(rows)), list(reversed(list(rows))), parse_math=False)
    axes.set_xlabel(f"effort, mean of ratios to the mean, with {interval}", color=INK)
    tidy(axes, grid="x")
    return figure


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _literal(name: str) -> str:
    """A label that is drawn as it stands: no formula, and not hidden by a leading underscore."""
    return "\u200b" + name.replace("$", r"\$")


def _need(result: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    rows = result.get(key)
    if result.get("kind") != "effort" or not isinstance(rows, list) or not rows:
        raise InputError("this is no result of assay effort; save one with --json")
    return rows
