"""Figures: what is in them, in both file types, the same in every run."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from lxml import etree

from assay.errors import InputError, OptionError
from assay.views.charts import (
    draw_curves,
    draw_error_curves,
    draw_lengths,
    draw_shares,
    draw_stability,
    draw_win_ratios,
)
from assay.views.figures import draw_bars, draw_pairs, save_figure, svg_text
from assay.views.section import Bar, Column, Table

LENGTHS = [
    {"pair": pair, "sample": sample, "length": length, "share": share}
    for pair in ("en-de", "uk-cs")
    for sample in ("full", "DF", "DB")
    for length, share in (("0-9", 60.0), ("10+", 40.0))
    if (pair, sample) != ("uk-cs", "DF")
]
CHANGES = [
    {"design": design, "budget": budget, "changed": 100 - budget + offset, "error": 1.0}
    for design, offset in (("WD unmatched", 5.0), ("DB matched", 0.0))
    for budget in (20.0, 40.0)
]


def words(svg: str) -> set[str]:
    tree = etree.fromstring(svg.encode())
    return {"".join(node.itertext()).strip() for node in tree.iter("{*}text")}


def test_length_figure_shows_pairs_samples_and_bins() -> None:
    shown = words(svg_text(draw_lengths(LENGTHS)))
    assert {"en-de", "uk-cs", "0-9", "10+", "share of the data (%)"} <= shown
    assert {"whole test set", "DF", "DB"} <= shown


def test_length_figure_has_a_bar_per_row() -> None:
    panels = draw_lengths(LENGTHS).axes
    heights = [[bar.get_height() for bar in axes.patches] for axes in panels]
    assert heights == [[60, 40] * 3, [60, 40] * 2]
    assert panels[0].get_ylim() == panels[1].get_ylim()


def test_stability_figure_has_a_line_per_design_with_error_bars() -> None:
    assert {"WD unmatched", "DB matched", "20", "40"} <= words(svg_text(draw_stability(CHANGES)))
    axes = draw_stability(CHANGES).axes[0]
    first = axes.containers[0]
    assert list(first.lines[0].get_ydata()) == [85, 65]
    (bars,) = first.lines[2]
    assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[83, 87], [63, 67]]


def test_figures_are_the_same_in_every_run_and_ask_for_nothing_outside() -> None:
    one = Table(
        "t", "", (Column("system", "text"),), (("A",),), bars=(Bar(0.5, 0.4, math.inf, 0.45),)
    )
    for draw in (lambda: draw_lengths(LENGTHS), lambda: draw_stability(CHANGES),
                 lambda: draw_bars(one)):  # fmt: skip
        svg = svg_text(draw())
        assert svg == svg_text(draw())
        assert svg.startswith("<svg")
        assert 'href="http' not in svg


def test_missing_errors_are_drawn_as_none() -> None:
    assert "<svg" in svg_text(draw_stability([{**row, "error": None} for row in CHANGES]))


def test_save_figure_by_ending(tmp_path: Path) -> None:
    figure = draw_stability(CHANGES)
    svg = save_figure(figure, tmp_path / "a.svg").read_text("utf-8")
    assert svg == svg_text(draw_stability(CHANGES))
    assert save_figure(figure, tmp_path / "a.pdf").read_bytes()[:4] == b"%PDF"
    assert save_figure(figure, tmp_path / "a.PNG").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(OptionError, match=r"path \(a.gif\) is not a kind of figure"):
        save_figure(figure, tmp_path / "a.gif")
    with pytest.raises(InputError, match="does not exist"):
        save_figure(figure, tmp_path / "none" / "a.svg")


def test_bars_name_their_rows_and_close_clusters() -> None:
    ranks = Table(
        "ranks", "", (Column("rank", "count"), Column("system", "text")),
        ((1, "A"), (2, "B$x$"), (3, "C")), frozenset({1}),
        bars=(Bar(1, 1, 2), Bar(2, 1, 2), Bar(3, 3, 3)), axis="rank (1 is best)",
    )  # fmt: skip
    shown = words(svg_text(draw_bars(ranks)))
    assert {"A", "B$x$", "C", "rank (1 is best)"} <= shown
    (line,) = [line for line in draw_bars(ranks).axes[0].lines if len(line.get_xdata()) == 2]
    assert set(line.get_ydata()) == {0.5}


def test_pairs_are_filled_in_the_row_of_the_better_system() -> None:
    systems = [{"system": name} for name in "ABC"]
    pairs = [
        {"left": "A", "right": "B", "decided": True},
        {"left": "A", "right": "C", "decided": False},
        {"left": "B", "right": "C", "decided": True, "better": "C"},
    ]
    axes = draw_pairs(systems, pairs).axes[0]
    filled = [
        (round(box.y0 + 0.45), round(box.x0 + 0.45))
        for item in axes.collections
        for box in (path.get_extents() for path in item.get_paths())
    ]
    assert filled == [(0, 1), (2, 1)]
    dots = {tuple(point) for line in axes.lines for point in line.get_xydata().tolist()}
    assert dots == {(2.0, 0.0), (0.0, 2.0)}


def test_shares_stand_side_by_side() -> None:
    rows = [
        {"by": "domain", "group": name, "full": full, "sample": part}
        for name, full, part in (("news", 0.6, 0.5), ("chat", 0.4, 0.5))
    ]
    axes = draw_shares(rows).axes[0]
    assert [bar.get_height() for bar in axes.patches] == [60, 40, 50, 50]


def test_figures_of_koehn2012(tmp_path: Path) -> None:
    ratios = [{"pair": "en-de", "system": "A", "ratio": 0.5}]
    curves = [
        {"pair": pair, "what": what, "judgments": 1000.0, "share": 40.0}
        for pair in ("en-de", "fr-en")
        for what in ("actual", "model")
    ]
    errors = [
        {"sigma": 20, "method": method, "judgments": 1000.0, "error": 9.0, "paper": paper}
        for method, paper in (("expected-win", 13.1), ("bojar", None))
    ]
    drawn = {
        "en-de": draw_win_ratios(ratios),
        "fr-en, sigma 10.0": draw_curves(curves, {"en-de": 9.0, "fr-en": 10.0}),
        "the paper's numbers": draw_error_curves(errors),
    }
    for text, figure in drawn.items():
        path = save_figure(figure, tmp_path / "figure.svg")
        assert text in words(path.read_text("utf-8"))
