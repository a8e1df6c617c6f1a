"""The computations and simulations behind korotaev2022, a piece of work at a time.

``effectiff_corpus.tsv.gz`` has a row per paragraph (``text``); ``effectiff_segments.tsv.gz`` a row
per edited segment: ``document`` (DocI, DocII, DocIII), ``seg``, ``engine``, ``editor``, ``source``,
``mt``, ``edited``, ``src_words``, ``edit_time_s``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import assay
from assay.effort.model import measure_edits
from assay.effort.relations import complexity_effort
from assay.effort.results import (
    Placing,
    Relation,
    RelativeEffort,
    editor_ratios,
    place_systems,
    relative_effort,
)
from assay.errors import InputError, MissingExtraError
from assay.kits.build import find_traces
from assay.kits.results import Trace
from assay.papers.compare import read_printed
from assay.worlds.editing import EditingWorld

CORPUS = "effectiff_corpus.tsv.gz"
SEGMENTS = "effectiff_segments.tsv.gz"
COLUMNS = {
    "doc": "document", "system": "engine", "seconds": "edit_time_s", "words": "src_words",
}  # fmt: skip
DOCUMENTS = {"DocI": "Doc I", "DocII": "Doc II", "DocIII": "Doc III"}
"""The documents, as the files and as the paper call them."""
ENGINES = ("Amazon", "Google", "Human")
HUMAN = "Human"
MEASURES = {"time": "time", "distance": "distance", "changed": "segments"}
"""The measures, as Assay and as the paper call them."""
EPS = 0.14
"""The radius that the authors' scripts chose."""
LEVEL, GAP = 9.0, 6.4
"""Edit distance of the engines, and by how many points the human translation was better."""
MARGIN = 0.2
LEFT_OUT = "Editor 2"
"""The editor of footnote 5, whose ratios are skewed."""
SIZE = 3
WORDS, SHORTEST = 500, 6.0
"""Words of a piece, and the fewest in its sentences on average."""
LENGTH_TOLERANCE, SHARED, DENSITY = 0.1, 0.2, 1.3
"""Limits on what the documents of a kit differ by in length and share in terms."""
CONFIDENCE, ALIKE = 0.95, 1.25


class EditingData(NamedTuple):
    """The file of the corpus and the edits; None where the folder lacks them."""

    corpus: Path | None
    edits: assay.Edits | None


def read_folder(folder: Path) -> EditingData:
    """What the folder has of the two files."""
    corpus, path = folder / CORPUS, folder / SEGMENTS
    edits = assay.read_edits(path, columns=COLUMNS) if path.is_file() else None
    if edits is not None:
        for column, known in (("doc", tuple(DOCUMENTS)), ("system", ENGINES)):
            other = sorted(set(edits.frame[column]) ^ set(known))
            if other:
                raise InputError(
                    f"{path}: {COLUMNS[column]} is not {', '.join(known)} (too much or missing:"
                    f" {', '.join(other[:5])}); give the paper's own table"
                )
    return EditingData(corpus if corpus.is_file() else None, edits)


def _of_documents(column: str) -> dict[str, float]:
    """A column of Table 1 as printed, by the documents of the file."""
    printed = {(item.row, item.column): item.value for item in read_printed("korotaev2022")}
    return {name: printed[row, column] for name, row in DOCUMENTS.items()}


class EditingWork(NamedTuple):
    """A piece of work: ``kind`` selection, edited or chance, and what it needs."""

    kind: str
    runs: int = 0
    corpus: Path | None = None
    edits: assay.Edits | None = None


class Selection(NamedTuple):
    """The kit that is closest, the paper's clusters, and how many triples are closer."""

    found: assay.KitSet
    clustered: assay.KitSet
    free: assay.KitSet
    """Without any limit on length or terms."""


class Edited(NamedTuple):
    """What the edits say, in the paper's ways and in ours."""

    result: assay.Effort
    tables: tuple[RelativeEffort, ...]
    """Tables 2 and 3 as the paper computed them: speed of documents by the words of Table 1."""
    unrounded: tuple[RelativeEffort, ...]
    without: tuple[RelativeEffort, ...]
    """Without the editor of footnote 5; empty where there is no such editor."""
    places: tuple[Placing, ...]
    aggregate: tuple[tuple[str, str, str, float, float], ...]
    """Editor, document, system, and their effort: with inverse time, and as described."""
    kits: int
    """Different kits."""
    traces: tuple[Trace, ...]
    complexity: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class EditingRecord:
    """What a piece of work found."""

    kind: str
    selection: Selection | None = None
    edited: Edited | None = None
    lack: str = ""
    """What would be needed to select pieces."""
    values: dict[str, np.ndarray] = field(default_factory=dict)


def do_work(work: EditingWork, rng: np.random.Generator) -> EditingRecord:
    """Do a piece of work; the same whoever does it."""
    if work.kind == "selection":
        assert work.corpus is not None
        return _select(work.corpus, rng)
    if work.kind == "edited":
        assert work.edits is not None
        return EditingRecord("edited", edited=_edited(work.edits, rng))
    return EditingRecord("chance", values=_chance(work.runs, rng))


def _select(corpus: Path, rng: np.random.Generator) -> EditingRecord:
    """Section 3.2: pieces, clusters, terms."""
    try:
        pieces = assay.read_pieces(
            corpus, words=WORDS, language="en", profile="paper", shortest=SHORTEST
        )
    except MissingExtraError as error:
        return EditingRecord("selection", lack=f"the extra 'kits' ({error})")
    found = assay.find_kits(
        pieces, size=SIZE, mode="closest", length_tolerance=LENGTH_TOLERANCE, shared=SHARED,
        density=DENSITY, rng=rng,
    )  # fmt: skip
    clustered = assay.find_kits(
        pieces, size=SIZE, mode="dbscan", eps=EPS, length_tolerance=LENGTH_TOLERANCE, shared=None,
        density=None, rng=rng,
    )  # fmt: skip
    free = assay.find_kits(
        pieces, size=SIZE, mode="closest", length_tolerance=None, shared=None, density=None, rng=rng
    )
    return EditingRecord("selection", selection=Selection(found, clustered, free))


def _edited(edits: assay.Edits, rng: np.random.Generator) -> Edited:
    result = compare_effort(edits, list(MEASURES), human=HUMAN, margin=MARGIN, rng=rng)
    cells = measure_edits(edits, None, time="mean").cells()
    names = list(MEASURES)
    whole = _relative(cells, decimals=1)
    others = cells.filter(pl.col("editor") != LEFT_OUT)
    inverse, plain = (
        editor_ratios(cells, names, inverse_time=inverted) for inverted in (True, False)
    )
    aggregate = tuple(
        (row["editor"], row["doc"], row["system"],
         *(float(sum(values[number] for values in ratios.values())) for ratios in (inverse, plain)))
        for number, row in enumerate(cells.iter_rows(named=True))
    )  # fmt: skip
    kits = cells.sort("doc").group_by("editor", maintain_order=True).agg("system")["system"]
    lix = _of_documents("LIX")
    return Edited(
        result=result,
        tables=whole,
        unrounded=_relative(cells, decimals=None),
        without=relative_effort(others, names) if 0 < others.height < cells.height else (),
        places=place_systems(cells, names, {}),
        aggregate=aggregate,
        kits=len({tuple(kit) for kit in kits}),
        traces=_traces(edits),
        complexity=complexity_effort(result, lix, rng=rng),
    )


def compare_effort(
    edits: assay.Edits, measures: list[str], *, rng: np.random.Generator,
    human: str | None = None, margin: float | None = None,
) -> assay.Effort:  # fmt: skip
    """Assay's model of the edits; every document has an effect of its own."""
    return assay.effort(
        edits, human=human, margin=margin, measures=measures, time="mean", time_weight=1.0,
        alike=ALIKE, assume_alike=False, level=CONFIDENCE, draws=10_000, rng=rng,
    )  # fmt: skip


def _relative(cells: pl.DataFrame, *, decimals: int | None) -> tuple[RelativeEffort, ...]:
    """Tables 2 and 3; the documents' words are those of Table 1, the engines' the edited ones.

    With ``decimals``, as the paper's sheets were: seconds of an editor's document are whole.
    """
    if decimals is not None:
        cells = cells.with_columns(pl.col("seconds").round(0))
    words = pl.col("doc").replace_strict(_of_documents("words")).alias("words")
    engines = relative_effort(cells, list(MEASURES), decimals=decimals)
    documents = relative_effort(cells.with_columns(words), list(MEASURES), decimals=decimals)
    return (
        *(row for row in documents if row.kind == "document"),
        *(row for row in engines if row.kind == "system"),
    )


def _traces(edits: assay.Edits) -> tuple[Trace, ...]:
    """Section 2.4: is the human translation like an engine's?"""
    texts = edits.frame.unique(["system", "doc", "seg"], keep="first", maintain_order=True)
    frame = texts.select("system", "doc", "seg", pl.col("mt").alias("target"))
    return find_traces(assay.read_scores(frame), HUMAN, list(DOCUMENTS))


def _chance(runs: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Campaigns of the paper's design in which Amazon and Google are equally good."""
    kits = [
        (f"Editor {number}", doc, engine)
        for number, order in enumerate(permutations(ENGINES), start=1)
        for doc, engine in zip(DOCUMENTS, order, strict=True)
    ]
    world = EditingWorld({engine: -GAP if engine == HUMAN else 0.0 for engine in ENGINES}, LEVEL)
    found: dict[str, list[float]] = {}
    for _ in range(runs):
        for name, value in _one_chance(world.edits(kits, rng=rng), rng).items():
            found.setdefault(name, []).append(float(value))
    return {name: np.array(values) for name, values in found.items()}


def _one_chance(edits: assay.Edits, rng: np.random.Generator) -> dict[str, bool]:
    cells = measure_edits(edits, None, time="mean").cells()
    names = list(MEASURES)
    rows = {(row.name, row.measure): row.pooled for row in relative_effort(cells, names)}
    ahead = [rows["Amazon", name] > rows["Google", name] for name in ("time", "distance")]
    places = {item.system: item for item in place_systems(cells, names, {})}
    gap = places["Amazon"].inverse_score - places["Google"].inverse_score
    same = gap > 0 if ahead[0] else gap < 0
    result = compare_effort(edits, ["distance"], rng=rng)
    decided = {frozenset((item.left, item.right)): item.decided for item in result.differences}
    return {
        "Table 4 sets the engines 2 points apart or more, %": abs(gap) >= 2,
        "time, distance and Table 4 name the same engine, %": ahead[0] == ahead[1] and same,
        "the model decides between the engines, %": decided[frozenset(("Amazon", "Google"))],
        "the human translation is first with all editors, %": places[HUMAN].inverse_places[0] == 6,
        "the model finds it better than both engines, %": all(
            decided[frozenset((engine, HUMAN))] for engine in ("Amazon", "Google")
        ),
    }
