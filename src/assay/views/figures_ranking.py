"""Figures of rankings: rank ranges, and those of koehn2012."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.views.figures import ACCENT, COLOURS, INK, MARKS, MUTED, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_ranges(systems: Sequence[Mapping[str, Any]]) -> Figure:
    """Every system's rank and rank range, best at the top; a line closes a cluster."""
    figure = new_figure(7.2, 0.9 + 0.34 * len(systems))
    axes = figure.subplots()
    last = len(systems) - 1
    for row, item in enumerate(systems):
        # A range of one rank is a short bar, too.
        ends = [item["low_rank"] - 0.15, item["high_rank"] + 0.15]
        axes.plot(ends, [last - row] * 2, color=ACCENT, linewidth=2.5, solid_capstyle="butt")
        axes.plot(item["rank"], last - row, "o", color=ACCENT, markersize=6)
        if row < last and systems[row + 1]["cluster"] != item["cluster"]:
            axes.axhline(last - row - 0.5, color=MUTED, linewidth=0.8)
    names = [item["system"] for item in reversed(systems)]
    axes.set_yticks(range(len(systems)), names, parse_math=False)  # a name may have a $
    step = max(1, len(systems) // 15)
    axes.set_xticks(range(1, len(systems) + 1, step))
    axes.set_xlim(0.5, len(systems) + 0.5)
    axes.set_ylim(-0.6, last + 0.6)
    axes.set_xlabel("rank (1 is best)", color=INK)
    tidy(axes, grid="x")
    axes.spines["left"].set_visible(False)
    return figure


def draw_win_ratios(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Win ratios of the systems of every language pair, best first (koehn2012, Figure 1).

    ``rows`` have ``pair``, ``system`` and ``ratio``.
    """
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    figure = new_figure(7.2, 0.9 + 0.36 * len(pairs))
    axes = figure.subplots()
    for place, pair in enumerate(reversed(pairs)):
        own = [row["ratio"] for row in rows if row["pair"] == pair]
        axes.plot(own, [place] * len(own), "|", color=ACCENT, markersize=13, markeredgewidth=2)
    axes.set_yticks(range(len(pairs)), list(reversed(pairs)))
    axes.set_xlabel("expected win of each system", color=INK)
    tidy(axes, grid="x")
    return figure


def draw_curves(rows: Sequence[Mapping[str, Any]], sigmas: Mapping[str, Any]) -> Figure:
    """Significant pairs by judgments, actual and by the model (koehn2012, Figure 2).

    ``rows`` have ``pair``, ``what`` (actual or model), ``judgments`` and ``share`` in percent.
    """
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    lines = -(-len(pairs) // 4)
    figure = new_figure(9.6, 0.5 + 2.3 * lines)
    grid = figure.subplots(lines, 4, sharey=True, squeeze=False).ravel()
    for axes in grid[len(pairs) :]:
        axes.set_visible(False)
    for axes, pair in zip(grid, pairs, strict=False):
        for what, line, colour in (("actual", "-", ACCENT), ("model", "--", INK)):
            own = [row for row in rows if (row["pair"], row["what"]) == (pair, what)]
            axes.plot([row["judgments"] / 1000 for row in own], [row["share"] for row in own],
                      line, color=colour, label=what)  # fmt: skip
        axes.set_title(f"{pair}, sigma {sigmas[pair]:.1f}", fontsize=10, color=INK, loc="left")
        axes.set_xlabel("thousand judgments", color=INK)
        axes.set_ylim(0, 100)
        tidy(axes, grid="y")
    for axes in grid[::4]:
        axes.set_ylabel("significant pairs (%)", color=INK)
    grid[0].legend(frameon=False, loc="lower right")
    return figure


def draw_error_curves(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Pairs in the wrong order by judgments, a panel per sigma (koehn2012, Figure 3).

    ``rows`` have ``sigma``, ``method``, ``judgments``, ``error`` and the ``paper``'s or None.
    """
    sigmas = list(dict.fromkeys(row["sigma"] for row in rows))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    figure = new_figure(1.2 + 3.8 * len(sigmas), 4.0)
    panels = figure.subplots(1, len(sigmas), sharey=True, squeeze=False)[0]
    for axes, sigma in zip(panels, sigmas, strict=True):
        for number, method in enumerate(methods):
            own = [row for row in rows if (row["sigma"], row["method"]) == (sigma, method)]
            # The first two nearly coincide: the second is dashed, so that both are seen.
            axes.plot([row["judgments"] / 1000 for row in own], [row["error"] for row in own],
                      "--" if number == 1 else "-", marker=MARKS[number], markersize=4,
                      linewidth=1.4, color=COLOURS[number], label=method)  # fmt: skip
        known = [row for row in rows if row["sigma"] == sigma and row["paper"] is not None]
        axes.plot([row["judgments"] / 1000 for row in known], [row["paper"] for row in known],
                  "x", color=INK, markersize=7, label="the paper's numbers")  # fmt: skip
        axes.set_title(f"sigma {sigma:g}", fontsize=10, color=INK, loc="left")
        axes.set_xlabel("thousand judgments", color=INK)
        axes.set_ylim(bottom=0)
        tidy(axes, grid="y")
    panels[0].set_ylabel("pairs in the wrong order (%)", color=INK)
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper center", ncols=3, frameon=False)
    return figure
