"""Figures as SVG text, drawn from saved results."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["interval_figure"]

INK, MUTED, ACCENT = "#1c2430", "#8a93a3", "#1f5fbf"


def interval_figure(
    systems: Sequence[Mapping[str, Any]], *, better: str, truth: Mapping[str, float] | None = None
) -> str:
    """Every system's estimate and interval, best at the top; hollow marks are the known truth."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # A fixed salt gives the same ids in every run: the same results make the same page.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "assay", "font.size": 10}):
        figure = Figure(figsize=(7.2, 0.9 + 0.34 * len(systems)), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots()
        for row, item in enumerate(reversed(systems)):
            low = item["low"] if item["low"] is not None else item["estimate"]
            high = item["high"] if item["high"] is not None else item["estimate"]
            axes.plot([low, high], [row, row], color=ACCENT, linewidth=2.5, solid_capstyle="butt")
            axes.plot(item["estimate"], row, "o", color=ACCENT, markersize=6)
            if truth and item["system"] in truth:
                axes.plot(truth[item["system"]], row, "D", mfc="none", mec=INK, markersize=7)
        axes.set_yticks(range(len(systems)), [item["system"] for item in reversed(systems)])
        axes.set_xlabel(f"score on the whole test set ({better} is better)", color=INK)
        axes.grid(axis="x", color="#e6e9ef")
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(colors=INK, length=0)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return re.sub(r"^.*?(?=<svg)", "", buffer.getvalue(), flags=re.DOTALL)
