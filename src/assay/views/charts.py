"""Charts of lines and bars: of samples, of stability, and those of the papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.views.figures import (
    ACCENT,
    COLOURS,
    INK,
    MARKS,
    SAMPLE_COLOURS,
    TONES,
    legend,
    literal,
    new_figure,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]


class Curve(NamedTuple):
    """A line of a chart; ``bars`` are the lengths of its error bars, ``look`` is matplotlib's."""

    label: str | None
    x: Sequence[float]
    y: Sequence[Any]
    bars: Sequence[float] | None
    look: Mapping[str, Any]


def by(rows: Rows, key: str) -> dict[Any, list[Mapping[str, Any]]]:
    """The rows by one of their values, in the order in which the values come first.

    >>> by([{"a": 1, "b": 2}, {"a": 1, "b": 3}], "a")
    {1: [{'a': 1, 'b': 2}, {'a': 1, 'b': 3}]}
    """
    found: dict[Any, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found


def line(
    rows: Rows, x: str, y: str, number: int, *, label: str | None, error: str | None = None,
    shift: float = 0.0, **look: Any,
) -> Curve:  # fmt: skip
    """A line through the rows; its colour and marks are those of its number in the chart."""
    usual = {"color": COLOURS[number % len(COLOURS)], "marker": MARKS[number % len(MARKS)],
             "markersize": 4, "linewidth": 1.4}  # fmt: skip
    bars = None if error is None else [2 * (row[error] or 0.0) for row in rows]
    places = [row[x] + shift for row in rows]
    return Curve(label, places, [row[y] for row in rows], bars, usual | look)


def draw_lines(
    panels: Mapping[str, Sequence[Curve]], *, x: str, y: str, size: tuple[float, float],
    ends: tuple[float, float | None] = (0, None), across: int = 0, same_scale: bool = True,
) -> Figure:  # fmt: skip
    """A panel for each title, so many beside each other; the first one's lines are explained."""
    across = across or len(panels)
    figure = new_figure(*size)
    rows = -(-len(panels) // across)
    grid = figure.subplots(rows, across, sharey=same_scale, squeeze=False).ravel()
    for axes, (title, lines) in zip(grid, panels.items(), strict=False):
        for one in lines:
            axes.errorbar(one.x, one.y, yerr=one.bars, label=one.label, **one.look)
        axes.set_ylim(*ends)
        tidy(axes, grid="y", title=title, x=x)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[::across]:
        axes.set_ylabel(y, color=INK)
    legend(figure, 4, *grid[0].get_legend_handles_labels())
    return figure


def draw_stability(rows: Rows) -> Figure:
    """How often rankings change by budget, a line per design with Monte-Carlo error bars.

    ``rows`` have ``design``, ``budget``, ``changed`` and its ``error``, all but the first in
    percent; the bars are two errors long either way.
    """
    designs = by(rows, "design")
    lines = [
        # Lines that nearly coincide are set apart sideways, or one would hide the other.
        line(own, "budget", "changed", number, label=design, error="error", capsize=2,
             shift=0.5 * (number - (len(designs) - 1) / 2))
        for number, (design, own) in enumerate(designs.items())
    ]  # fmt: skip
    figure = draw_lines(
        {"": lines}, x="budget (% of the segments)", y="samples with a changed ranking (%)",
        size=(7.2, 4.2), ends=(0, 103),
    )  # fmt: skip
    figure.axes[0].set_xticks(sorted(by(rows, "budget")))
    return figure


def draw_errors(rows: Rows) -> Figure:
    """Mean error of methods by sample size, solid, and its spread, dashed (saldias2022, Figure 2).

    A panel per ``pair``, a line per ``method``; ``what`` is "abs error" or "sdev", ``size`` is in
    percent, ``value`` may have an ``error``, of which bars are two long either way.
    """
    panels: dict[str, list[Curve]] = {}
    for pair, own in by(rows, "pair").items():
        lines = panels[pair] = []
        for number, (method, points) in enumerate(by(own, "method").items()):
            kinds = by(points, "what")
            lines.append(line(kinds["abs error"], "size", "value", number, label=method,
                              error="error"))  # fmt: skip
            lines.append(line(kinds["sdev"], "size", "value", number, label=None, marker=None,
                              linestyle="--", linewidth=0.8))  # fmt: skip
    return draw_lines(
        panels, x="sample size (% of the segments)", y="absolute error (dashed: its sd)",
        size=(1.2 + 3.6 * len(panels), 4.0), same_scale=False,
    )  # fmt: skip


def draw_curves(rows: Rows, sigmas: Mapping[str, Any]) -> Figure:
    """Significant pairs by judgments, actual and by the model (koehn2012, Figure 2).

    ``rows`` have ``pair``, ``what`` (actual or model), ``judgments`` and ``share`` in percent.
    """
    looks = {"actual": ("-", ACCENT), "model": ("--", INK)}
    panels = {
        f"{pair}, sigma {sigmas[pair]:.1f}": [
            line(_in_thousands(points), "thousands", "share", 0, label=what, marker=None,
                 linestyle=looks[what][0], color=looks[what][1])
            for what, points in by(own, "what").items()
        ]
        for pair, own in by(rows, "pair").items()
    }  # fmt: skip
    return draw_lines(
        panels, x="thousand judgments", y="significant pairs (%)", ends=(0, 100), across=4,
        size=(9.6, 0.8 + 2.3 * -(-len(panels) // 4)),
    )  # fmt: skip


def draw_error_curves(rows: Rows) -> Figure:
    """Pairs in the wrong order by judgments, a panel per sigma (koehn2012, Figure 3).

    ``rows`` have ``sigma``, ``method``, ``judgments``, ``error`` and the ``paper``'s or None.
    """
    panels = {}
    for sigma, own in by(_in_thousands(rows), "sigma").items():
        lines = [
            # The first two nearly coincide: the second is dashed, so that both are seen.
            line(points, "thousands", "error", number, label=method,
                 linestyle="--" if number == 1 else "-")
            for number, (method, points) in enumerate(by(own, "method").items())
        ]  # fmt: skip
        known = [row for row in own if row["paper"] is not None]
        panels[f"sigma {sigma:g}"] = [*lines, line(
            known, "thousands", "paper", 0, label="the paper's numbers", marker="x", color=INK,
            linestyle="none", markersize=7,
        )]  # fmt: skip
    return draw_lines(
        panels, x="thousand judgments", y="pairs in the wrong order (%)",
        size=(1.2 + 3.8 * len(panels), 4.0),
    )  # fmt: skip


def _in_thousands(rows: Rows) -> Rows:
    return [{**row, "thousands": row["judgments"] / 1000} for row in rows]


def draw_win_ratios(rows: Rows) -> Figure:
    """Win ratios of the systems of every language pair, best first (koehn2012, Figure 1).

    ``rows`` have ``pair``, ``system`` and ``ratio``.
    """
    pairs = dict(reversed(list(by(rows, "pair").items())))
    figure = new_figure(7.2, 0.9 + 0.36 * len(pairs))
    axes = figure.subplots()
    for place, own in enumerate(pairs.values()):
        axes.plot([row["ratio"] for row in own], [place] * len(own), "|", color=ACCENT,
                  markersize=13, markeredgewidth=2)  # fmt: skip
    axes.set_yticks(range(len(pairs)), list(pairs))
    tidy(axes, grid="x", x="expected win of each system")
    return figure


def draw_scatter(panels: Rows) -> Figure:
    """Ratings by a metric with the best line, two panels a row (saldias2022, Figure 6).

    Panels have ``title``, ``metric``, ``x``, ``y``, ``slope``, ``start`` and ``distance``, the
    mean distance between the line and the points.
    """
    rows = (len(panels) + 1) // 2
    figure = new_figure(7.6, 0.4 + 3.0 * rows)
    grid = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        axes.plot(panel["x"], panel["y"], ".", color=ACCENT, markersize=3, alpha=0.5)
        ends = [float(min(panel["x"])), float(max(panel["x"]))]
        axes.plot(ends, [panel["start"] + panel["slope"] * x for x in ends], color=INK)
        title = f"{panel['title']}: slope {panel['slope']:.2f}, error {panel['distance']:.2f}"
        tidy(axes, grid="y", title=title, x=panel["metric"], y="rating")
    return figure


# --- bars


def draw_columns(
    panels: Mapping[str, Mapping[str, Mapping[str, float]]], *, x: str = "", y: str
) -> Figure:
    """Bars side by side: for each panel and kind of bar, the heights by their names."""
    figure = new_figure(1.0 + 2.8 * len(panels), 3.2)
    grid = figure.subplots(1, max(1, len(panels)), sharey=True, squeeze=False)[0]
    kinds = list(dict.fromkeys(kind for panel in panels.values() for kind in panel))
    handles: dict[str, Any] = {}
    for axes, (title, panel) in zip(grid, panels.items(), strict=False):
        names = list(dict.fromkeys(name for heights in panel.values() for name in heights))
        wide = 0.8 / len(panel)
        for number, (kind, heights) in enumerate(panel.items()):
            shift = wide * (number - (len(panel) - 1) / 2)
            colour = SAMPLE_COLOURS[kinds.index(kind) % len(SAMPLE_COLOURS)]
            handles[kind] = axes.bar(
                [k + shift for k in range(len(names))], [heights.get(name, 0.0) for name in names],
                0.95 * wide, color=colour,
            )  # fmt: skip
        texts = [str(name).replace(" ", "\n") for name in names]
        axes.set_xticks(range(len(names)), texts, parse_math=False,
                        rotation=90 if len(names) > 8 else 0)  # fmt: skip
        tidy(axes, grid="y", title=title, x=x)
    grid[0].set_ylabel(y, color=INK)
    legend(figure, 3, list(handles.values()), list(handles))
    return figure


def draw_shares(rows: Rows) -> Figure:
    """Shares of the whole test set and of a sample, a panel for each way to divide them.

    ``rows`` have ``by``, ``group``, ``full`` and ``sample``, shares of 1.
    """
    kinds = {"whole test set": "full", "sample": "sample"}
    return draw_columns(
        {way: {kind: {row["group"]: 100 * row[key] for row in own} for kind, key in kinds.items()}
         for way, own in by(rows, "by").items()},
        y="share of the segments (%)",
    )  # fmt: skip


def draw_lengths(rows: Rows) -> Figure:
    """How much of the data comes from documents of each length (lo2023, Figure 1).

    A panel per language pair; ``rows`` have ``pair``, ``sample`` (full, DF, DB), ``length`` and
    ``share`` in percent.
    """
    return draw_columns(
        {pair: {"whole test set" if sample == "full" else sample:
                {row["length"]: row["share"] for row in points}
                for sample, points in by(own, "sample").items()}
         for pair, own in by(rows, "pair").items()},
        x="segments in the document", y="share of the data (%)",
    )  # fmt: skip


def draw_by_editor(rows: Rows, *, y: str) -> Figure:
    """Every editor's documents relative to that editor's mean (korotaev2022, Figure 4).

    ``rows`` have ``editor``, ``document``, ``system`` and ``total``.
    """
    editors, systems = by(rows, "editor"), list(by(rows, "system"))
    width = 0.8 / max(map(len, editors.values()))
    figure = new_figure(1.6 + 1.1 * len(editors), 3.8)
    axes = figure.subplots()
    for number, own in enumerate(editors.values()):
        for place, row in enumerate(own):
            at = number + width * (place - (len(own) - 1) / 2)
            height = 0.0 if row["total"] != row["total"] else row["total"]
            axes.bar(at, height, 0.92 * width, color=_tone(systems.index(row["system"])))
            axes.text(at, height + 0.06, row["document"], rotation=90, ha="center", va="bottom",
                      fontsize=7, color=INK, parse_math=False)  # fmt: skip
    for number, system in enumerate(systems):
        axes.bar(0, 0, color=_tone(number), label=literal(system))
    axes.set_xticks(range(len(editors)), list(editors), parse_math=False)
    tidy(axes, grid="y", y=y)
    legend(figure, min(6, len(systems)))
    return figure


def draw_aggregate(parts: Mapping[str, Mapping[str, float | None]]) -> Figure:
    """Effort summed over measures, a bar per document or system (korotaev2022, Figures 1 and 3).

    ``parts`` has every bar's name with its measures.
    """
    figure = new_figure(1.6 + 1.2 * len(parts), 3.4)
    axes = figure.subplots()
    measures = list(dict.fromkeys(name for values in parts.values() for name in values))
    for place, values in enumerate(parts.values()):
        bottom = 0.0
        for number, measure in enumerate(measures):
            value = values.get(measure) or 0.0
            axes.bar(place, value, 0.6, bottom=bottom, color=_tone(number))
            bottom += value
        axes.text(place, bottom + 0.03, f"{bottom:.2f}", ha="center", fontsize=8, color=INK)
    for number, measure in enumerate(measures):
        axes.bar(0, 0, color=_tone(number), label=literal(measure))
    axes.set_xticks(range(len(parts)), list(parts), parse_math=False)
    tidy(axes, grid="y", y="effort, sum of ratios to the mean")
    legend(figure, len(measures))
    return figure


def draw_averages(rows: Mapping[str, Sequence[float]], *, interval: str) -> Figure:
    """Mean, low and high of every row, in the same units (korotaev2022, Figure 2)."""
    rows = dict(reversed(list(rows.items())))
    figure = new_figure(5.2, 1.2 + 0.42 * len(rows))
    axes = figure.subplots()
    for place, (mean, low, high) in enumerate(rows.values()):
        axes.plot([low, high], [place, place], color=ACCENT, linewidth=3)
        axes.plot(mean, place, "o", color=INK, markersize=5)
    axes.axvline(1.0, color=INK, linewidth=0.8, linestyle=":")
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_yticks(range(len(rows)), list(rows), parse_math=False)
    tidy(axes, grid="x", x=f"effort, mean of ratios to the mean, with {interval}")
    return figure


def _tone(number: int) -> str:
    return TONES[number % len(TONES)]
