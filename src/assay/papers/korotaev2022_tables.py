"""The cells of korotaev2022: its numbers, ours, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from scipy import special

from assay.effort.results import RelativeEffort
from assay.effort.tables import editor_ratios
from assay.papers.cells import Cell
from assay.papers.korotaev2022_data import CORPUS, SEGMENTS
from assay.papers.korotaev2022_numbers import (
    ALMOST,
    DOCUMENTS,
    ENGINES,
    EPS,
    FEATURES,
    FOOTNOTE,
    KNEE,
    MEASURES,
    PIECES,
    PLACES,
    RELATIVE,
    TABLE_1,
)
from assay.papers.korotaev2022_work import Edited, Selection

NEAR = {"time": 2e-4, "distance": 1e-6, "changed": 1e-9}
"""Times were rounded somewhere on their way into Tables 2 and 3; the rest is as printed."""
SUM_NEAR = 3e-4
PLACE_NAMES = ("least", "middle", "most", "score")
NARROW = 0.83


def footnote_cells() -> Iterator[Cell]:
    """Footnote 4: the ratio to mean by hand."""
    shares = [share for share, _ in FOOTNOTE.values()]
    cells = pl.DataFrame({"editor": ["Editor X"] * len(shares), "changed": shares})
    ratios = editor_ratios(cells, ["changed"])["changed"]
    for (name, (_, paper)), ours in zip(FOOTNOTE.items(), ratios.tolist(), strict=True):
        yield Cell("footnote 4", name, "ratio to mean", paper, ours,
                   matches=abs(ours - paper) < 1e-9, digits=9)  # fmt: skip


def table_1_cells(selection: Selection | None, reason: str) -> Iterator[Cell]:
    """Table 1: readability and size of the closest pieces of all, without any limit."""
    kits = () if selection is None else selection.free.kits
    for place, (name, printed) in enumerate(TABLE_1.items()):
        if selection is None or not kits:
            note = reason or f"needs {CORPUS}"
            for column, paper in zip(FEATURES, printed, strict=True):
                yield Cell("Table 1", name, column, paper, None, note=note)
            continue
        number = kits[0].pieces[place]
        piece = selection.found.pieces[number]
        sizes = (piece.words, piece.sentences, piece.last - piece.first + 1)
        ours = (*piece.features.values(), sizes[0] / sizes[1], *sizes)
        for column, paper, value in zip(FEATURES, printed, ours, strict=True):
            same = round(value, 2) == paper
            note = "" if same else ALMOST.get((name, column), "another corpus or another kit")
            digits = 0 if column in FEATURES[6:] else 2
            yield Cell("Table 1", name, column, paper, value, matches=same, note=note,
                       digits=digits)  # fmt: skip


def selection_cells(selection: Selection | None, reason: str) -> Iterator[Cell]:
    """Section 3.2: pieces, knee, clusters, the closest kit, and which methods accept its terms."""
    table, note = "section 3.2", reason or f"needs {CORPUS}"
    if selection is None:
        yield Cell(table, "corpus", "pieces", 70.0, None, note=note)
        yield Cell(table, "corpus", "knee", KNEE, None, note=note)
        yield Cell(table, f"DBSCAN, radius {EPS}", "clusters", 1.0, None, note=note)
        yield Cell(table, f"DBSCAN, radius {EPS}", "pieces in them", 3.0, None, note=note)
        yield Cell(table, f"DBSCAN, radius {EPS}", "are Doc I-III", 1.0, None, note=note)
        return
    found, clusters = selection.found, selection.clustered.clusters
    pieces = len(found.pieces)
    yield Cell(table, "corpus", "pieces", 70.0, pieces, matches=abs(pieces - 70) <= 5, digits=0,
               note="the paper: about")  # fmt: skip
    knee = found.knee
    close = knee is not None and abs(knee - KNEE) < 1e-12
    yield Cell(table, "corpus", "knee", KNEE, knee, matches=close, digits=10,
               note="the authors' scripts")  # fmt: skip
    row = f"DBSCAN, radius {EPS}"
    yield Cell(table, row, "clusters", 1.0, len(clusters), matches=len(clusters) == 1, digits=0)
    inside = sum(len(cluster) for cluster in clusters)
    yield Cell(table, row, "pieces in them", 3.0, inside, matches=inside == 3, digits=0)
    same = clusters == (PIECES,)
    yield Cell(table, row, "are Doc I-III", 1.0, float(same), matches=same, digits=0)
    free = selection.free.kits[0]
    yield Cell(table, "closest three of all", "diameter", None, free.diameter, digits=4)
    yield Cell(table, "closest three of all", "diameter of the next", None,
               free.runner_up_diameter, digits=4)  # fmt: skip
    same = free.pieces == PIECES
    yield Cell(table, "closest three of all", "are Doc I-III", None, float(same), digits=0)
    if found.kits:
        same = found.kits[0].pieces == PIECES
        yield Cell(table, "closest three within limits", "are Doc I-III", None, float(same),
                   digits=0, note="depends on the list of everyday words")  # fmt: skip
        yield from _term_cells(selection)


def _term_cells(selection: Selection) -> Iterator[Cell]:
    checks = selection.found.kits[0].terms
    for check in checks:
        row = f"terms by {check.method}"
        yield Cell("section 3.2", row, "shared, worst pair", None, check.shared_terms, digits=3)
        yield Cell("section 3.2", row, "occurrences, ratio", None, check.density_ratio, digits=2)
        yield Cell("section 3.2", row, "accepts the kit", None, float(check.accepted), digits=0)
    accepted = sum(check.accepted for check in checks)
    yield Cell(
        "section 3.2", "terms", "methods that accept the kit", None, accepted, ours_of=len(checks),
        note="the paper: most of seven", digits=0,
    )  # fmt: skip


def relative_cells(edited: Edited | None) -> Iterator[Cell]:
    """Tables 2 and 3: as the paper computed them, then as it describes them."""
    if edited is None:
        for name, printed in RELATIVE.items():
            for column, paper in zip(MEASURES.values(), printed, strict=True):
                yield Cell(_table(name), name, column, paper, None, note=f"needs {SEGMENTS}")
        return
    ours = by_name(edited.tables)
    for name, printed in RELATIVE.items():
        for (measure, column), paper in zip(MEASURES.items(), printed, strict=True):
            value = ours[name, measure].pooled
            yield Cell(_table(name), name, column, paper, value, digits=4,
                       matches=abs(value - paper) <= NEAR[measure])  # fmt: skip
    for name, printed in RELATIVE.items():
        for (measure, column), paper in zip(MEASURES.items(), printed, strict=True):
            value = ours[name, measure].described
            yield Cell(f"{_table(name)}, as described", name, column, paper, value, digits=4,
                       matches=abs(value - paper) <= NEAR[measure])  # fmt: skip


def by_name(rows: Sequence[RelativeEffort]) -> dict[tuple[str, str], RelativeEffort]:
    """The rows of a table by the paper's names and the measure."""
    return {(DOCUMENTS.get(row.name, row.name), row.measure): row for row in rows}


def _table(name: str) -> str:
    return "Table 3" if name in ENGINES else "Table 2"


def aggregate_cells(edited: Edited | None) -> Iterator[Cell]:
    """Figures 1 and 3 (sums), 2 (means with 83 % intervals) and 4 (every editor's documents)."""
    rows = {} if edited is None else by_name(edited.tables)
    note = "" if edited is not None else f"needs {SEGMENTS}"
    for figure, names in (("Figure 1", DOCUMENTS.values()), ("Figure 3", ENGINES)):
        for name in names:
            paper = float(sum(RELATIVE[name]))
            ours = sum(rows[name, measure].pooled for measure in MEASURES) if rows else None
            close = None if ours is None else abs(ours - paper) <= SUM_NEAR
            yield Cell(figure, name, "sum", paper, ours, matches=close, note=note, digits=4)
        if figure == "Figure 1":
            yield from _interval_cells(rows)
    if edited is None:
        return
    for editor, doc, system, inverse, described in sorted(edited.aggregate):
        row = f"{editor}, {DOCUMENTS[doc]}, {system}"
        yield Cell("Figure 4", row, "sum", None, inverse, digits=3)
        yield Cell("Figure 4, as described", row, "sum", None, described, digits=3)


def _interval_cells(rows: Mapping[tuple[str, str], RelativeEffort]) -> Iterator[Cell]:
    """The paper draws the intervals and prints no number; its means follow from Table 2."""
    ends = []
    for name in DOCUMENTS.values():
        paper = float(np.mean(RELATIVE[name]))
        if not rows:
            yield Cell("Figure 2", name, "mean", paper, None, note=f"needs {SEGMENTS}")
            continue
        mean, low, high = _interval([rows[name, measure].pooled for measure in MEASURES])
        ends.append((low, high))
        close = abs(mean - paper) <= SUM_NEAR
        yield Cell("Figure 2", name, "mean", paper, mean, matches=close, digits=4)
        yield Cell("Figure 2", name, "low, 83 %", None, low, digits=4)
        yield Cell("Figure 2", name, "high, 83 %", None, high, digits=4)
    if ends:
        touch = max(low for low, _ in ends) <= min(high for _, high in ends)
        yield Cell("Figure 2", "all documents", "1: intervals overlap", 1.0, float(touch),
                   matches=touch, digits=0)  # fmt: skip


def _interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean of the measures and the ends of its 83 % t interval."""
    mean, spread = float(np.mean(values)), float(np.std(values, ddof=1))
    half = float(special.stdtrit(len(values) - 1, (1 + NARROW) / 2)) * spread / len(values) ** 0.5
    return mean, mean - half, mean + half


def place_cells(edited: Edited | None) -> Iterator[Cell]:
    """Table 4: places by aggregate effort, with inverse time and as described."""
    found = {} if edited is None else {item.system: item for item in edited.places}
    for described in (False, True):
        table = "Table 4, as described" if described else "Table 4"
        for name, printed in PLACES.items():
            item = found.get(name)
            ours: Sequence[float | None] = [None] * len(printed)
            if item is not None:
                ours = (
                    [*item.places, item.score] if described
                    else [*item.inverse_places, item.inverse_score]
                )  # fmt: skip
            elif described:
                continue
            for column, paper, value in zip(PLACE_NAMES, printed, ours, strict=True):
                yield Cell(table, name, column, paper, value, digits=0,
                           matches=None if value is None else value == paper,
                           note=f"needs {SEGMENTS}" if value is None else "")  # fmt: skip


def piece_cells(selection: Selection) -> Iterator[Cell]:
    """Where every piece lies on two principal components, and the curve of the knee."""
    for number, piece in enumerate(selection.found.pieces):
        first, second = piece.place
        chosen = any(number in kit.pieces for kit in selection.found.kits)
        note = "kit" if chosen else ""
        yield Cell("pieces", str(number), "first", None, first, note=note, digits=3)
        yield Cell("pieces", str(number), "second", None, second, note=note, digits=3)
    for number, distance in enumerate(selection.found.distances):
        yield Cell("distances", str(number), "nearest", None, distance, digits=4)
