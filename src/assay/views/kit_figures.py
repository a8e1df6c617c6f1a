"""Figures about pieces of text and kits of them, drawn from saved results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.views.figures import COLOURS, INK, MARKS, MUTED, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LABELLED = 100
"""Up to this many pieces, every piece bears its number."""


def draw_kits(result: Mapping[str, Any]) -> Figure:
    """Pieces on two principal components with the kits marked, beside the curve with its knee.

    ``result`` is the JSON object of ``assay kits find``.
    """
    figure = new_figure(9.6, 4.2)
    left, right = figure.subplots(1, 2)
    _draw_pieces(left, result)
    _draw_knee(right, result)
    return figure


def _draw_pieces(axes: Axes, result: Mapping[str, Any]) -> None:
    places = [row["place"] for row in result["pieces"]]
    axes.plot([x for x, _ in places], [y for _, y in places], ".", color=MUTED, markersize=5)
    for number, kit in enumerate(result["kits"]):
        own = [places[piece] for piece in kit["pieces"]]
        axes.plot(
            [x for x, _ in own],
            [y for _, y in own],
            linestyle="none",
            marker=MARKS[number % len(MARKS)],
            color=COLOURS[number % len(COLOURS)],
            markersize=8,
            label=f"kit {number + 1}",
        )
    if len(places) <= LABELLED:
        for row, (x, y) in zip(result["pieces"], places, strict=True):
            axes.annotate(
                str(row["piece"]), (x, y), xytext=(3, 3), textcoords="offset points",
                fontsize=7, color=INK,
            )  # fmt: skip
    axes.set_xlabel("first principal component of the features", color=INK)
    axes.set_ylabel("second", color=INK)
    if result["kits"]:
        axes.legend(frameon=False, loc="upper right")
    tidy(axes, grid="y")


def _draw_knee(axes: Axes, result: Mapping[str, Any]) -> None:
    axes.plot(range(len(result["distances"])), result["distances"], color=COLOURS[0])
    for name, style in (("knee", "--"), ("eps", ":")):
        value = result[name]
        if value is not None:
            axes.axhline(
                value, color=INK, linestyle=style, linewidth=1, label=f"{name} {value:.3g}"
            )
    axes.set_xlabel("pieces, sorted", color=INK)
    axes.set_ylabel("distance to the nearest piece", color=INK)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, loc="upper left")
    tidy(axes, grid="y")
