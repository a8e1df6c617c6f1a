"""Read the data of lo2023 from a folder and list the samples to simulate.

``wmtYY_metrics_LP.parquet`` has one row per system and segment with ``system``, ``doc``,
``seg_id``, metrics, and what WMT annotated: ``da_annotated`` or ``wd_annotated`` (per system),
``df_selected`` (the plan of fixed snippets). ``wmtYY_docmetrics.parquet`` has one row per language
pair, system and document with the mean metrics of the document's segments, their number
``n_segs``, and the number annotated, ``n_da``. Any part of these is enough for some numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import assay
from assay.papers.compare import need_table, read_parquet, read_printed
from assay.results import Note

METRICS = ("COMET-20", "YiSi-1", "sentBLEU", "chrF")
"""The columns of Tables 1-3."""
COVERAGE_TABLES = {"SL": "Table 6", "WD": "Table 7", "DF": "Table 8"}
"""The tables of coverage, by the design with which WMT sampled their pairs."""
BUDGETS = ("10%", "20%", "30%", "40%", "50%", "60%", "70%", "80%", "90%")
"""The budgets of the figure of stability."""
DESIGN_OF = {"Table 1": "SL", "Table 2": "WD", "Table 3": "DF"}
"""The design by which WMT sampled the pairs of a table."""
COLUMN_NAMES = {"COMET-20": ("COMET-20", "COMET-DA_2020", "COMET")}
"""Names in the files of a metric that the paper calls differently."""

ANNOTATED = {
    "SL": ("da_annotated", "wd_annotated"),
    "WD": ("da_annotated", "wd_annotated"),
    "DF": ("df_selected",),
}
"""The columns that mark what WMT sampled, by design."""
_SEGMENTS = re.compile(r"wmt(\d\d)_metrics_([a-z]+-[a-z]+)\.parquet")
_DOCUMENTS = re.compile(r"wmt(\d\d)_docmetrics\.parquet")


class LanguagePair(NamedTuple):
    """A language pair of one year's campaign."""

    year: int
    lp: str

    def __str__(self) -> str:
        return f"WMT{self.year} {self.lp}"

    @property
    def file(self) -> str:
        """The file with its scores of segments."""
        return f"wmt{self.year}_metrics_{self.lp}.parquet"


@cache
def printed_coverage(design: str) -> dict[LanguagePair, float]:
    """The printed percentage of annotated segments, by pair that WMT sampled with a design."""
    printed = [item for item in read_printed("lo2023") if item.table == COVERAGE_TABLES[design]]
    pairs = [LanguagePair(int(item.row[3:5]), item.row[6:]) for item in printed]
    return {pair: item.value for pair, item in zip(pairs, printed, strict=True)}


def pairs_of(design: str, year: int | None = None) -> tuple[LanguagePair, ...]:
    """The pairs that WMT sampled with a design, in the order of the paper.

    >>> len(pairs_of("WD")), [str(pair) for pair in pairs_of("SL", 20)]
    (43, ['WMT20 iu-en', 'WMT20 km-en', 'WMT20 ps-en'])
    """
    return tuple(pair for pair in printed_coverage(design) if year in (None, pair.year))


@dataclass(frozen=True, eq=False)
class ScoredPair:
    """One language pair with the metrics in its file.

    With ``whole_documents``, scores are means of documents repeated for every segment, so they are
    valid for whole documents only.
    """

    pair: LanguagePair
    test_set: assay.TestSet
    whole_documents: bool = False

    def column(self, metric: str) -> str | None:
        """The file's column with a metric of the paper, or None."""
        names = COLUMN_NAMES.get(metric, (metric,))
        return next((name for name in names if name in self.test_set.metrics), None)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The paper's metrics that the file has."""
        return tuple(metric for metric in METRICS if self.column(metric) is not None)

    @property
    def several_documents(self) -> bool:
        """Whether there are at least two documents."""
        return self.test_set.documents.height > 1

    def annotated(self, design: str) -> np.ndarray | None:
        """What WMT sampled with a design (systems x segments), or None if the file does not say."""
        for name in ANNOTATED[design]:
            if name in self.test_set.frame.columns:
                found = self.test_set.matrix(name) > 0
                if found.any():
                    return np.asarray(found)
        return None

    def scored(self, metric: str) -> tuple[np.ndarray, np.ndarray]:
        """The positions of the systems that a metric scores, and their scores.

        A missing value is replaced by the system's mean.
        """
        column = self.column(metric)
        assert column is not None
        values = self.test_set.matrix(column)
        place = np.flatnonzero(np.isfinite(values).any(axis=1))
        if len(place) < 2:
            fault = f"{metric} scores {len(place)} of {len(values)} systems; two are needed"
            need_table(Path(self.pair.file), (), fault)
        values = values[place]
        means = np.nanmean(values, axis=1, keepdims=True)
        return place, np.where(np.isfinite(values), values, means)


class ScoreFolder(NamedTuple):
    """The paper's language pairs that a folder has, by the kind of file."""

    segments: Mapping[LanguagePair, ScoredPair]
    documents: Mapping[LanguagePair, ScoredPair]
    notes: tuple[Note, ...]

    def find(self, pair: LanguagePair, metric: str, *, whole: bool = False) -> ScoredPair | None:
        """The scores of a pair by a metric; for ``whole`` documents also from document scores."""
        options = [self.segments.get(pair), self.documents.get(pair) if whole else None]
        return next((item for item in options if item and metric in item.metrics), None)

    def lacks(self, pair: LanguagePair, metric: str, *, whole: bool = False) -> str:
        """What the folder lacks for :meth:`find` to succeed."""
        if pair not in self.segments and not (whole and pair in self.documents):
            return pair.file
        found = self.find(pair, metric, whole=whole)
        return f"{metric if found is None else 'documents'} in {pair.file}"


def read_folder(folder: Path) -> ScoreFolder:
    """Read every file in the folder that holds language pairs of the paper."""
    wanted = {pair for design in COVERAGE_TABLES for pair in pairs_of(design)}
    segments: dict[LanguagePair, ScoredPair] = {}
    documents: dict[LanguagePair, ScoredPair] = {}
    other = []
    for path in sorted(folder.iterdir()):
        if match := _SEGMENTS.fullmatch(path.name):
            pair = LanguagePair(int(match[1]), match[2])
            if pair in wanted:
                segments[pair] = _read_segments(path, pair)
            else:
                other.append(str(pair))
        elif match := _DOCUMENTS.fullmatch(path.name):
            read = _read_documents(path, int(match[1]))
            documents |= {pair: item for pair, item in read.items() if pair in wanted}
    text = f"not in the paper, so not used: {', '.join(other)}"
    return ScoreFolder(segments, documents, (Note("pairs-not-used", text),) if other else ())


def _read_segments(path: Path, pair: LanguagePair) -> ScoredPair:
    found = ScoredPair(pair, assay.read_scores(path, columns={"seg": "seg_id"}))
    missing = [] if "doc" in found.test_set.frame.columns else ["doc"]
    _need_metrics(path, missing, found.metrics)
    return found


def _read_documents(path: Path, year: int) -> dict[LanguagePair, ScoredPair]:
    """Read document scores and repeat them for every segment, the first n_da being annotated."""
    frame = read_parquet(path, ("lp", "system", "doc", "n_segs", "n_da"))
    names = [name for metric in METRICS for name in COLUMN_NAMES.get(metric, (metric,))]
    _need_metrics(path, [], tuple(name for name in names if name in frame.columns))
    stretched = (
        frame.with_columns(seg=pl.int_ranges(1, pl.col("n_segs").cast(pl.Int64) + 1))
        .explode("seg")
        .with_columns(da_annotated=pl.col("seg") <= pl.col("n_da"))
    )
    found = {}
    for (lp,), part in stretched.group_by("lp", maintain_order=True):
        pair = LanguagePair(year, str(lp))
        found[pair] = ScoredPair(pair, assay.read_scores(part), whole_documents=True)
    return found


def _need_metrics(path: Path, missing: list[str], metrics: tuple[str, ...]) -> None:
    fault = f"none of the paper's metrics is here: {', '.join(METRICS)}"
    need_table(path, missing, *([] if metrics else [fault]))


class StabilityRun(NamedTuple):
    """One simulation: a metric and a design, at WMT's coverage of each pair or at a budget."""

    metric: str
    design: str
    matched: bool
    of: str
    year: int | None = None
    budget: str | None = None

    @property
    def label(self) -> str:
        """The design, and whether all systems share the sample."""
        design = "DB ours" if self.design == "DB" else self.design
        return f"{design} {'matched' if self.matched else 'unmatched'}"


BEYOND = tuple(
    StabilityRun("chrF", design, matched, "WD", year=20)
    for design in ("WD", "SL", "DB-linear", "DB")
    for matched in (False, True)
)
"""A comparison that the paper lacks: every design with and without matching."""
SWEPT = (("WD", False), ("WD", True), ("DB-linear", True), ("DB", True), ("SL", True))


def stability_runs(budgets: Sequence[str]) -> Iterator[StabilityRun]:
    """Every simulation, once."""
    for design in DESIGN_OF.values():
        for metric in METRICS:
            yield StabilityRun(metric, design, matched=design == "DF", of=design)
            yield StabilityRun(metric, "DB-linear", matched=True, of=design)
            yield StabilityRun(metric, "DB", matched=True, of=design)
    everywhere = {("WD", False), ("DB-linear", True), ("DB", True)}
    yield from (run for run in BEYOND if (run.design, run.matched) not in everywhere)
    for budget in budgets:
        for design, matched in SWEPT:
            yield StabilityRun("chrF", design, matched, "WD", year=20, budget=budget)


def usable(data: ScoreFolder, run: StabilityRun) -> dict[LanguagePair, ScoredPair]:
    """The pairs that WMT sampled with ``run.of`` and whose data the simulation can use."""
    pairs = {}
    for pair in pairs_of(run.of, run.year):
        item = data.find(pair, run.metric, whole=run.design == "WD")
        if item is not None and (run.design not in ("WD", "DF") or item.several_documents):
            pairs[pair] = item
    return pairs
