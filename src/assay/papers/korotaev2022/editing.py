"""The computations and simulations behind korotaev2022, as tasks.

``effectiff_corpus.tsv.gz`` has a row per paragraph (``text``); ``effectiff_segments.tsv.gz`` a row
per edited segment: ``document`` (DocI, DocII, DocIII), ``seg``, ``engine``, ``editor``, ``source``,
``mt``, ``edited``, ``src_words``, ``edit_time_s``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import assay
from assay.effort.effort import measure_edits
from assay.effort.relations import complexity_effort
from assay.effort.results import editor_ratios, place_systems, relative_effort
from assay.errors import InputError, MissingExtraError
from assay.kits.build import find_traces
from assay.papers.compare import Task, Values, read_printed

CORPUS = "effectiff_corpus.tsv.gz"
SEGMENTS = "effectiff_segments.tsv.gz"
COLUMNS = {
    "doc": "document", "system": "engine", "seconds": "edit_time_s", "words": "src_words",
}  # fmt: skip
DOCUMENTS = {"DocI": "Doc I", "DocII": "Doc II", "DocIII": "Doc III"}
"""The names of the documents in the files and in the paper."""
ENGINES = ("Amazon", "Google", "Human")
HUMAN = "Human"
MEASURES = {"time": "time", "distance": "distance", "changed": "segments"}
"""The names of the measures in Assay and in the paper."""
EPS = 0.14
"""The radius of DBSCAN that the authors' scripts chose."""
LEVEL, GAP = 9.0, 6.4
"""Edit distance of the engines, and how many points lower that of the human translation was."""
MARGIN = 0.2
LEFT_OUT = "Editor 2"
"""The editor of footnote 5, whose ratios are skewed."""
SIZE = 3
WORDS, SHORTEST = 500, 6.0
"""Words of a piece, and the shortest mean length of its sentences, in words."""
LENGTH_TOLERANCE, SHARED, DENSITY = 0.1, 0.2, 1.3
"""Limits on how the documents of a kit may differ in length and in terms."""
CONFIDENCE, ALIKE = 0.95, 1.25
AT_ONCE = 10
"""Campaigns in a task."""


class EditingData(NamedTuple):
    """The path of the corpus and the edits; None where the folder lacks the file."""

    corpus: Path | None
    edits: assay.Edits | None


def read_folder(folder: Path) -> EditingData:
    """Read what the folder has of the two files."""
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


class Selection(NamedTuple):
    """The kits of section 3.2: the closest within limits, the paper's clusters, and ``lack``.

    ``free`` is the closest without any limit on length or terms.
    """

    found: assay.KitSet
    clustered: assay.KitSet
    free: assay.KitSet


Rows = dict[tuple[str, str], Any]
"""Relative effort by name (as in the paper) and measure."""


class Edited(NamedTuple):
    """What the edits say, by the paper's computations and by ours."""

    result: assay.Effort
    tables: Rows
    """Tables 2 and 3 as the paper computed them: speed of documents by the words of Table 1."""
    unrounded: Rows
    without: Rows
    """Without the editor of footnote 5; empty if there is no such editor."""
    places: tuple[Any, ...]
    aggregate: tuple[tuple[str, str, str, float, float], ...]
    """Editor, document, system, and their effort: with inverse time, and as described."""
    traces: tuple[Any, ...]
    complexity: tuple[Any, ...]


def list_tasks(data: EditingData, draws: int) -> tuple[Task, ...]:
    """The tasks that the files allow, then simulated campaigns; none without any file."""
    tasks = []
    if data.corpus is not None:
        tasks.append(Task(("selection",), partial(_select, data.corpus)))
    if data.edits is not None:
        tasks.append(Task(("edited",), partial(_edited, data.edits)))
    if tasks:
        left = range(draws, 0, -AT_ONCE)
        tasks += [Task(("chance",), partial(simulate_chance, min(AT_ONCE, n))) for n in left]
    return tuple(tasks)


def _of_documents(column: str) -> dict[str, float]:
    """A printed column of Table 1 by the files' names of the documents."""
    printed = {(item.row, item.column): item.value for item in read_printed("korotaev2022")}
    return {name: printed[row, column] for name, row in DOCUMENTS.items()}


def _select(corpus: Path, rng: np.random.Generator) -> Selection | str:
    """Section 3.2: pieces, clusters, terms; without the extra 'kits' what is missing."""
    try:
        pieces = assay.read_pieces(
            corpus, words=WORDS, language="en", profile="paper", shortest=SHORTEST
        )
    except MissingExtraError as error:
        return f"the extra 'kits' ({error})"
    find: Any = partial(assay.find_kits, pieces, size=SIZE, rng=rng)
    limits = {"length_tolerance": LENGTH_TOLERANCE, "shared": SHARED, "density": DENSITY}
    free = dict.fromkeys(limits)
    kits: list[assay.KitSet] = [
        find(**given)
        for given in (
            {"mode": "closest", **limits},
            {"mode": "dbscan", "eps": EPS, **free, "length_tolerance": LENGTH_TOLERANCE},
            {"mode": "closest", **free},
        )
    ]
    return Selection(*kits)


def _edited(edits: assay.Edits, rng: np.random.Generator) -> Edited:
    result = compare_effort(edits, list(MEASURES), human=HUMAN, margin=MARGIN, rng=rng)
    cells = measure_edits(edits, None, time="mean").cells()
    names = list(MEASURES)
    others = cells.filter(pl.col("editor") != LEFT_OUT)
    without = relative_effort(others, names) if 0 < others.height < cells.height else ()
    sums = [
        np.sum(list(editor_ratios(cells, names, inverse_time=inverse).values()), axis=0).tolist()
        for inverse in (True, False)
    ]
    return Edited(
        result=result,
        tables=_relative(cells, decimals=1),
        unrounded=_relative(cells, decimals=None),
        without=_by_name(without),
        places=result.placings,
        aggregate=tuple(zip(*(cells[name] for name in ("editor", "doc", "system")), *sums,
                            strict=True)),
        traces=_traces(edits),
        complexity=complexity_effort(result, _of_documents("LIX"), rng=rng),
    )  # fmt: skip


def compare_effort(
    edits: assay.Edits, measures: list[str], *, rng: np.random.Generator,
    human: str | None = None, margin: float | None = None,
) -> assay.Effort:  # fmt: skip
    """Compare the systems by Assay's model, with a fixed effect for every document."""
    return assay.effort(
        edits, human=human, margin=margin, measures=measures, time="mean", time_weight=1.0,
        alike=ALIKE, assume_alike=False, level=CONFIDENCE, draws=10_000, rng=rng,
    )  # fmt: skip


def _relative(cells: pl.DataFrame, *, decimals: int | None) -> Rows:
    """Tables 2 and 3; speeds of documents use the words of Table 1, of engines those edited.

    ``decimals`` rounds as the paper's sheets did; seconds of an editor's document are then whole.
    """
    if decimals is not None:
        cells = cells.with_columns(pl.col("seconds").round(0))
    words = pl.col("doc").replace_strict(_of_documents("words")).alias("words")
    engines = relative_effort(cells, list(MEASURES), decimals=decimals)
    documents = relative_effort(cells.with_columns(words), list(MEASURES), decimals=decimals)
    return _by_name(
        [row for row in documents if row.kind == "document"]
        + [row for row in engines if row.kind == "system"]
    )


def _by_name(rows: Iterable[Any]) -> Rows:
    return {(DOCUMENTS.get(row.name, row.name), row.measure): row for row in rows}


def _traces(edits: assay.Edits) -> tuple[Any, ...]:
    """Section 2.4: how similar is the human translation to each engine's?"""
    texts = edits.frame.unique(["system", "doc", "seg"], keep="first", maintain_order=True)
    frame = texts.select("system", "doc", "seg", pl.col("mt").alias("target"))
    return find_traces(assay.read_scores(frame), HUMAN, list(DOCUMENTS))


def simulate_chance(runs: int, rng: np.random.Generator) -> Values:
    """Simulate campaigns of the paper's design in which Amazon and Google are equally good."""
    kits = [
        (f"Editor {number}", doc, engine)
        for number, order in enumerate(permutations(ENGINES), start=1)
        for doc, engine in zip(DOCUMENTS, order, strict=True)
    ]
    world = assay.EditingWorld(
        {engine: -GAP if engine == HUMAN else 0.0 for engine in ENGINES}, LEVEL
    )
    campaigns = [_one_chance(world.edits(kits, rng=rng), rng) for _ in range(runs)]
    return {name: np.array([float(one[name]) for one in campaigns]) for name in campaigns[0]}


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
