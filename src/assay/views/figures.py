"""Figures drawn from saved results, as SVG text or files."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from assay.errors import InputError, OptionError
from assay.results import Result, visible
from assay.tables.load import atomic
from assay.views.section import Figure as Drawn
from assay.views.section import Table, cut, section_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, MUTED, ACCENT, LINE = "#1c2430", "#8a93a3", "#1f5fbf", "#e6e9ef"
TINT = "#a9c6ef"
TONES = (ACCENT, TINT, MUTED, INK, "#d3d8e0")
"""Bars of several kinds beside each other: one hue, told apart by how dark they are."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours that colour-blind readers can tell apart (Okabe and Ito)."""
SAMPLE_COLOURS = (MUTED, ACCENT, TINT)
"""The whole test set, then samples of it."""
MARKS = "os^Dv<>"
FIGURES = (".svg", ".pdf", ".png")
"""Endings of the files a figure can be written to."""
MAX_TICK, MAX_LABEL = 40, 100
"""Signs of a name at an axis, and of any other text in a figure."""


def plot(result: Result) -> Figure:
    """The first figure of a result, which a notebook shows by itself."""
    for block in (block for part in section_of(result).all for block in part.blocks):
        if isinstance(block, Drawn) or (isinstance(block, Table) and block.bars):
            figure = draw_bars(block) if isinstance(block, Table) else block.draw()
            figure._repr_svg_ = partial(svg_text, figure)  # type: ignore[attr-defined]
            return figure
    raise InputError(
        f"a result of kind '{result.kind}' has no figure; show it as it is, or use its to_dict()"
    )


def draw_bars(table: Table) -> Figure:
    """A row for each row of the table, the first at the top; hollow marks are the known truth."""
    figure = new_figure(7.2, 0.9 + 0.34 * len(table.bars))
    axes = figure.subplots()
    rows = range(len(table.bars) - 1, -1, -1)
    ends = [(finite(bar.low, bar.at), finite(bar.high, bar.at)) for bar in table.bars]
    axes.hlines(rows, [low for low, _ in ends], [high for _, high in ends],
                color=ACCENT, linewidth=2.5)  # fmt: skip
    axes.plot([bar.at for bar in table.bars], rows, "o", color=ACCENT, markersize=6)
    for row, bar in zip(rows, table.bars, strict=True):
        if bar.truth is not None:
            axes.plot(bar.truth, row, "D", mfc="none", mec=INK, markersize=7)
    for number in table.lines:
        axes.axhline(rows[number] - 0.5, color=MUTED, linewidth=0.8)
    names = [str(row[table.named]) for row in table.rows]
    axes.set_yticks(rows, names, parse_math=False)  # a name may have a $
    axes.set_ylim(-0.6, len(names) - 0.4)
    tidy(axes, grid="x", x=table.axis)
    axes.spines["left"].set_visible(False)
    return figure


def finite(end: float, at: float) -> float:
    """An end of an interval; where it is not known, the dot stands alone."""
    return end if math.isfinite(end) else at


def draw_pairs(systems: Sequence[Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]) -> Figure:
    """Row against column, systems best first: filled where the row is decided to be better.

    ``pairs`` have ``left``, the one that stands higher, ``right`` and ``decided``; where the one
    that stands lower is the better one, ``better`` names it.
    """
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    names = [item["system"] for item in systems]
    place = {name: number for number, name in enumerate(names)}
    side = 0.3 * len(names)
    wide = 0.09 * min(MAX_TICK, max(map(len, names), default=0))
    figure = new_figure(side + wide + 0.8, side + 0.7)
    axes = figure.subplots()
    squares: list[Rectangle] = []
    open_pairs: list[tuple[int, int]] = []
    for item in pairs:
        winner, loser = item["left"], item["right"]
        if item.get("better") == loser:
            winner, loser = loser, winner
        row, column = place[winner], place[loser]
        if item["decided"]:
            squares.append(Rectangle((column - 0.45, row - 0.45), 0.9, 0.9))
        else:
            open_pairs += [(column, row), (row, column)]
    # All at once: an artist for each of many thousand pairs takes minutes.
    axes.add_collection(PatchCollection(squares, color=ACCENT, linewidth=0))
    axes.plot([x for x, _ in open_pairs], [y for _, y in open_pairs], ".", color=MUTED,
              markersize=4)  # fmt: skip
    # Columns have the numbers of the rows: names beside each other would take more room.
    numbers = range(1, len(names) + 1)
    axes.set_xticks(range(len(names)), map(str, numbers))
    rows = [f"{name}\u2003{number}" for name, number in zip(names, numbers, strict=True)]
    axes.set_yticks(range(len(names)), rows, parse_math=False)
    axes.xaxis.tick_top()
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.tick_params(colors=INK, length=0)
    axes.spines[:].set_color(LINE)
    return figure


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write a drawing as SVG, PDF or PNG, by the ending of the path."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in FIGURES:
        raise OptionError(
            "path", target.name, "is not a kind of figure", f"end its name in {', '.join(FIGURES)}"
        )
    _tame_texts(figure)
    with atomic(target) as temporary, _any_script():
        if ending == ".svg":
            temporary.write_text(svg_text(figure), encoding="utf-8")
        elif ending == ".pdf":
            # Without the date, the same results make the same file. It is made in memory, as a
            # full disk in the middle of a page leaves matplotlib in knots.
            page = io.BytesIO()
            figure.savefig(page, format="pdf", metadata={"CreationDate": None})
            temporary.write_bytes(page.getbuffer())
        else:
            figure.savefig(temporary, format="png", dpi=150)
    return target


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, sizes in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def legend(figure: Figure, columns: int, *known: Sequence[Any]) -> None:
    """What signs mean, above all panels; ``known`` has the signs and their words."""
    figure.legend(*known, loc="outside upper center", ncols=columns, frameon=False)


def tidy(axes: Axes, *, grid: Literal["x", "y"], title: str = "", x: str = "", y: str = "") -> None:
    """The look that all figures share; a name may have a $, which is no formula."""
    axes.set_title(title, fontsize=10, color=INK, loc="left", parse_math=False)
    axes.set_xlabel(x, color=INK, parse_math=False)
    axes.set_ylabel(y, color=INK, parse_math=False)
    axes.grid(axis=grid, color=LINE)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, length=0)


def literal(name: str) -> str:
    """A label that is drawn as it stands: no formula, and not hidden by a leading underscore."""
    return "\u200b" + name.replace("$", r"\$")


def _tame_texts(figure: Figure) -> None:
    """Very long names are cut, and control characters shown, which XML does not allow."""
    from matplotlib.text import Text
    from matplotlib.ticker import FixedLocator, FuncFormatter

    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        named = isinstance(axis.get_major_formatter(), FuncFormatter)
        if named and isinstance(axis.get_major_locator(), FixedLocator):
            names = [label.get_text() for label in axis.get_ticklabels()]
            tame = [cut(visible(name), MAX_TICK) for name in names]
            if tame != names:
                axis.set_ticklabels(tame, parse_math=False)
    for text in figure.findobj(Text):
        text.set_text(cut(visible(text.get_text()), MAX_LABEL))


@contextmanager
def _any_script() -> Iterator[None]:
    """No word about signs that our font lacks: a page has its reader's, other files a box."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def svg_text(figure: Figure) -> str:
    """The drawing as SVG text that can stand in a page."""
    import matplotlib as mpl

    _tame_texts(figure)
    buffer = io.StringIO()
    # Text stays text, so that the reader's fonts count, not ours.
    # A fixed salt gives the same ids in every run: the same results make the same page.
    with _any_script(), mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "assay"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return re.sub(r"^.*?(?=<svg)", "", buffer.getvalue(), flags=re.DOTALL)


def page_svg(figure: Figure, name: str) -> str:
    """The drawing for a page, in the page's colours; ``name`` keeps its ids apart from others'."""
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg_text(figure), flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
    colours = {INK: "ink", MUTED: "muted", ACCENT: "accent", TINT: "tint", LINE: "line",
               "#000000": "muted"}  # fmt: skip
    for colour, variable in colours.items():
        text = text.replace(colour, f"var(--{variable})")
    return text.replace("fill: #ffffff", "fill: none")
