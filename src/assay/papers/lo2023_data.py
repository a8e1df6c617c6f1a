"""The data of lo2023 as a folder holds it: scores of segments, of documents, what was annotated.

Any part of it will do. ``wmtYY_metrics_LP.parquet`` has one row per system and segment with
``system``, ``doc``, ``seg_id``, metrics, and what WMT annotated: ``da_annotated`` or
``wd_annotated`` (per system), ``df_selected`` (the plan of fixed snippets).
``wmtYY_docmetrics.parquet`` has one row per language pair, system and document with the mean
metrics of the document's segments, their number ``n_segs``, and how many were annotated, ``n_da``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from assay.errors import InputError, Problem, TableError
from assay.papers.lo2023_numbers import COVERAGE, METRICS, Pair
from assay.tables.test_set import TestSet, read_scores

COLUMN_NAMES = {"COMET-20": ("COMET-20", "COMET-DA_2020", "COMET")}
"""What a metric of the paper may be called in a file, where that differs."""

ANNOTATED = {
    "SL": ("da_annotated", "wd_annotated"),
    "WD": ("da_annotated", "wd_annotated"),
    "DF": ("df_selected",),
}
"""The columns that say what WMT sampled, by design."""

_SEGMENTS = re.compile(r"wmt(\d\d)_metrics_([a-z]+-[a-z]+)\.parquet")
_DOCUMENTS = re.compile(r"wmt(\d\d)_docmetrics\.parquet")


@dataclass(frozen=True, eq=False)
class Scored:
    """One language pair with the metrics that its file has.

    ``whole_documents``: the scores are means of documents, repeated for each of its segments, so
    they hold for whole documents only.
    """

    pair: Pair
    test_set: TestSet
    whole_documents: bool = False

    def column(self, metric: str) -> str | None:
        """The name of a metric of the paper in this file, if it is there."""
        names = COLUMN_NAMES.get(metric, (metric,))
        return next((name for name in names if name in self.test_set.metrics), None)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of the paper that the file has."""
        return tuple(metric for metric in METRICS if self.column(metric) is not None)

    @property
    def several_documents(self) -> bool:
        """Whether there are documents to choose among."""
        return self.test_set.documents.height > 1

    def annotated(self, design: str) -> np.ndarray | None:
        """Systems x segments: what WMT sampled by this design, or None where the file is silent."""
        for name in ANNOTATED[design]:
            if name in self.test_set.frame.columns:
                found = self.test_set.matrix(name) > 0
                if found.any():
                    return np.asarray(found)
        return None


@dataclass(frozen=True, eq=False)
class Data:
    """What a folder has of the paper's language pairs."""

    segments: Mapping[Pair, Scored]
    documents: Mapping[Pair, Scored]
    notes: tuple[str, ...]

    def find(self, pair: Pair, metric: str, *, whole: bool = False) -> Scored | None:
        """The scores of a pair by a metric; those of documents will do for ``whole`` ones."""
        options = [self.segments.get(pair), self.documents.get(pair) if whole else None]
        return next((item for item in options if item and metric in item.metrics), None)

    def lacks(self, pair: Pair, metric: str, *, whole: bool = False) -> str:
        """What would have to be in the folder for :meth:`find` to find it."""
        if pair not in self.segments and not (whole and pair in self.documents):
            return pair.file
        found = self.find(pair, metric, whole=whole)
        return f"{metric if found is None else 'documents'} in {pair.file}"


def read_folder(folder: Path) -> Data:
    """Read every file of the folder that the paper's language pairs are in."""
    if not folder.is_dir():
        raise InputError(f"data ({folder}) is no folder; give the one with the WMT files")
    wanted = {pair for pairs in COVERAGE.values() for pair in pairs}
    segments: dict[Pair, Scored] = {}
    documents: dict[Pair, Scored] = {}
    other = []
    for path in sorted(folder.iterdir()):
        if match := _SEGMENTS.fullmatch(path.name):
            pair = Pair(int(match[1]), match[2])
            if pair in wanted:
                segments[pair] = _read_segments(path, pair)
            else:
                other.append(str(pair))
        elif match := _DOCUMENTS.fullmatch(path.name):
            found = _read_documents(path, int(match[1]))
            documents |= {pair: item for pair, item in found.items() if pair in wanted}
    if not segments and not documents:
        raise InputError(
            f"data ({folder}) has no file of the paper's language pairs; it needs files such as"
            " wmt20_metrics_en-de.parquet or wmt20_docmetrics.parquet"
        )
    notes = [f"not in the paper, so not used: {', '.join(other)}"] if other else []
    return Data(segments, documents, tuple(notes))


def _read_segments(path: Path, pair: Pair) -> Scored:
    found = Scored(pair, read_scores(path, columns={"seg": "seg_id"}))
    missing = [] if "doc" in found.test_set.frame.columns else ["doc"]
    _need(path, missing, found.metrics)
    return found


def _read_documents(path: Path, year: int) -> dict[Pair, Scored]:
    """The documents of every pair, each stretched to its segments; the first n_da are annotated."""
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: is no Parquet file ({reason}); fetch it again") from None
    needed = ("lp", "system", "doc", "n_segs", "n_da")
    missing = [name for name in needed if name not in frame.columns]
    names = [name for metric in METRICS for name in COLUMN_NAMES.get(metric, (metric,))]
    _need(path, missing, tuple(name for name in names if name in frame.columns))
    stretched = (
        frame.with_columns(seg=pl.int_ranges(1, pl.col("n_segs").cast(pl.Int64) + 1))
        .explode("seg")
        .with_columns(da_annotated=pl.col("seg") <= pl.col("n_da"))
    )
    found = {}
    for (lp,), part in stretched.group_by("lp", maintain_order=True):
        pair = Pair(year, str(lp))
        found[pair] = Scored(pair, read_scores(part), whole_documents=True)
    return found


def _need(path: Path, missing: list[str], metrics: tuple[str, ...]) -> None:
    problems = [Problem("the column is missing", column=name) for name in missing]
    if not metrics:
        problems.append(Problem(f"none of the paper's metrics is here: {', '.join(METRICS)}"))
    if problems:
        raise TableError(str(path), problems)
