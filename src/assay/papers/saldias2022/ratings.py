"""Read the data of saldias2022 from a folder: MQM ratings with metrics, by language pair.

``wmtYY_mqm_LP.parquet`` has one row per system and segment: ``system``, ``doc``, ``seg_id``,
``mqm``, single ratings ``mqm_r1``, ``mqm_r2``, ``mqm_r3`` where there are any, ``is_human``,
``hyp_chars`` (length of the target) and metrics. ``wmtYY_mqm_LP_raters.parquet`` has the ratings
of named raters: ``rater``, ``system``, ``doc``, ``seg_id``, ``mqm``. Any part of these is
enough for some numbers: the baseline needs neither metrics nor documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import assay
from assay.papers.compare import need_table, read_parquet
from assay.results import Note

MOST_METRICS = 10
"""The paper takes the ten metrics of WMT20 that correlate best with the ratings."""
TEST_METRICS = (
    ("BLEURT-20", "COMET-MQM_2021"),
    ("BLEURT-20", "COMET"),
    ("MetricX-23-XXL", "CometKiwi-XXL"),
)
"""On test data, the two metrics used: the first of these pairs that the file has."""
NO_METRICS = frozenset({
    "system", "is_human", "domain", "doc", "doc_seg", "seg_id", "src_chars", "hyp_chars", "lp",
    "n_err", "n_major", "df_selected", "rated_run", "Random-sysname",
    "bleurt-combi_M",  # scored against the other human translations, which are systems here
})  # fmt: skip
SINGLE = ("mqm_r1", "mqm_r2", "mqm_r3")


class RatingFile(NamedTuple):
    """A file of the paper's or one like it; ``name`` is used in the tables.

    ``printed`` says whether the paper prints numbers of it. ``reference`` is the human translation
    against which the metrics were computed; it is left out. By default it is the system without
    metrics.
    """

    name: str
    year: int
    lp: str
    printed: bool = True
    reference: str = ""

    @property
    def file(self) -> str:
        """The file with ratings and metrics."""
        return f"wmt{self.year}_mqm_{self.lp}.parquet"

    @property
    def raters_file(self) -> str:
        """The file with the ratings of named raters."""
        return f"wmt{self.year}_mqm_{self.lp}_raters.parquet"


DEVELOPMENT = (RatingFile("EnDe", 20, "ende"), RatingFile("ZhEn", 20, "zhen"))
TESTS = (
    RatingFile("EnDe", 21, "ende", reference="ref-C"),
    RatingFile("ZhEn", 21, "zhen", reference="ref-B"),
    RatingFile("EnRu", 21, "enru", reference="ref-A"),
    RatingFile("WMT22 en-de", 22, "ende", printed=False),
    RatingFile("WMT23 en-de", 23, "ende", printed=False),
    RatingFile("WMT23 zh-en", 23, "zhen", printed=False),
)
"""Table 6 is about WMT21; the others follow its protocol."""


class RaterTrial(NamedTuple):
    """What one rater rated of all systems but the reference, everything known."""

    rater: str
    test_set: assay.TestSet
    ratings: assay.Ratings
    scores: np.ndarray  # systems x segments, as the test set has them


class RatedCorpus(NamedTuple):
    """One file: its trials by rater and of the mean of raters, and the frame behind them."""

    source: RatingFile
    frame: pl.DataFrame
    metrics: tuple[str, ...]
    raters: tuple[RaterTrial, ...]
    mean: RaterTrial
    named: bool
    """Whether the raters are people, not columns of single ratings."""
    left_out: tuple[str, ...]


class RatingFolder(NamedTuple):
    """The rated corpora in a folder: the paper's, and others like them."""

    development: Mapping[str, RatedCorpus]
    tests: Mapping[RatingFile, RatedCorpus]
    notes: tuple[Note, ...]


def read_folder(folder: Path) -> RatingFolder:
    """Read every file in the folder that the paper's tables can use."""
    paths = {source: folder / source.file for source in (*DEVELOPMENT, *TESTS)}
    corpora = {source: _read(source, path) for source, path in paths.items() if path.is_file()}
    return RatingFolder(
        {source.name: corpus for source, corpus in corpora.items() if source.year == 20},
        {source: corpus for source, corpus in corpora.items() if source.year != 20},
        tuple(note for corpus in corpora.values() for note in _notes(corpus)),
    )


def correlations(trials: Iterable[RaterTrial], name: str, systems: Sequence[str]) -> np.ndarray:
    """The correlation of a column with the ratings for every rater and system."""
    found = []
    for trial in trials:
        values = trial.test_set.matrix(name)
        for k, system in enumerate(trial.test_set.systems):
            if system in systems and np.ptp(trial.scores[k]) > 0 and np.ptp(values[k]) > 0:
                found.append(np.corrcoef(values[k], trial.scores[k])[0, 1])
    return np.array(found)


def _read(source: RatingFile, path: Path) -> RatedCorpus:
    documents = () if source.year == 21 else ("doc",)
    frame = _table(path, ("system", *documents, "seg_id", "mqm"))
    singles = [name for name in SINGLE if name in frame.columns]
    metrics = _metrics(source, frame)
    kept, left_out = _rated_systems(source, frame, metrics)
    if not kept.height or not (metrics or source.year == 21):
        need_table(path, (), "no system has both ratings and metrics")
    metrics = tuple(m for m in metrics if kept[m].null_count() == 0)
    named_file = path.with_name(source.raters_file)
    named = source.year == 20 and named_file.is_file()
    if named:
        raters = _named_raters(named_file, kept, metrics)
    else:
        columns = _complete(kept, singles, source)
        raters = tuple(_trial(name, kept, metrics, name) for name in columns)
    if source.year == 20:
        metrics = _best(raters, kept, metrics)
        raters = tuple(_with(trial, metrics) for trial in raters)
    mean = _trial("mean", kept, metrics, "mqm")
    return RatedCorpus(source, frame, metrics, raters, mean, named, left_out)


def _metrics(source: RatingFile, frame: pl.DataFrame) -> tuple[str, ...]:
    """All metrics of WMT20, the paper's two of WMT21 (or none), two of any other year."""
    candidates = _candidates(frame)
    if source.year == 20:
        return candidates
    if source.year == 21:
        both = "doc" in frame.columns and set(TEST_METRICS[0]) <= set(candidates)
        return TEST_METRICS[0] if both else ()
    pairs = [pair for pair in TEST_METRICS if set(pair) <= set(candidates)]
    return pairs[0] if pairs else candidates[:2]


def _table(path: Path, needed: Sequence[str]) -> pl.DataFrame:
    frame = read_parquet(path, needed)
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    return frame.with_columns(pl.col(name).fill_nan(None) for name in floats)


def _candidates(frame: pl.DataFrame) -> tuple[str, ...]:
    """The columns that hold metrics."""
    return tuple(
        name
        for name, kind in frame.schema.items()
        if kind.is_numeric()
        and name not in NO_METRICS
        and not name.startswith(("mqm", "psqm", "da_"))
    )


def _rated_systems(
    source: RatingFile, frame: pl.DataFrame, metrics: Sequence[str]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rated rows of all scored systems but the reference, and the names of the others."""
    keep = pl.col("mqm").is_not_null()
    if source.reference:
        keep &= pl.col("system") != source.reference
    if metrics or not source.reference:
        has = [pl.col(name).is_not_null().any().over("system") for name in metrics]
        keep &= pl.any_horizontal(has) if has else pl.lit(value=False)
    kept = frame.filter(keep)
    gone = [s for s in frame["system"].unique(maintain_order=True) if s not in set(kept["system"])]
    return kept, tuple(gone)


def _complete(kept: pl.DataFrame, singles: Sequence[str], source: RatingFile) -> list[str]:
    """The columns that stand for raters; on test data they must cover all rated rows."""
    covered = [name for name in singles if kept[name].null_count() < kept.height]
    if source.year != 20:
        covered = [name for name in covered if kept[name].null_count() == 0]
        return covered or ["mqm"]
    return covered


def _trial(rater: str, kept: pl.DataFrame, metrics: Sequence[str], column: str) -> RaterTrial:
    return _made(rater, kept.filter(pl.col(column).is_not_null()), metrics, pl.col(column))


def _made(rater: str, frame: pl.DataFrame, metrics: Sequence[str], score: pl.Expr) -> RaterTrial:
    extra = [name for name in ("hyp_chars",) if metrics and name in frame.columns]
    document = [name for name in ("doc",) if name in frame.columns]
    rows = frame.select(
        "system", *document, seg=pl.col("seg_id").cast(pl.String), score=score.cast(pl.Float64)
    )
    columns = frame.select(*metrics, *extra).with_columns(pl.all().cast(pl.Float64))
    scores = rows.drop("score").hstack(columns.get_columns())
    test_set = assay.read_scores(scores, metrics=list(metrics))
    ratings = assay.read_ratings(rows, test_set, better="lower")
    return RaterTrial(rater, test_set, ratings, ratings.matrix(test_set))


def _with(trial: RaterTrial, metrics: tuple[str, ...]) -> RaterTrial:
    return trial._replace(test_set=replace(trial.test_set, metrics=metrics))


def _named_raters(path: Path, kept: pl.DataFrame, metrics: Sequence[str]) -> tuple[RaterTrial, ...]:
    found = _table(path, ("rater", "system", "doc", "seg_id", "mqm")).rename({"mqm": "rating"})
    key = ["system", "doc", "seg_id"]
    joined = kept.with_columns(pl.col("seg_id").cast(pl.Int64)).join(
        found.select("rater", *key, "rating").with_columns(pl.col("seg_id").cast(pl.Int64)), on=key
    )
    return tuple(
        _made(str(rater), part.sort("system", "doc", "seg_id"), metrics, pl.col("rating"))
        for (rater,), part in joined.drop_nulls("rating")
        .sort("rater")
        .group_by("rater", maintain_order=True)
    )


def _best(
    raters: Sequence[RaterTrial], kept: pl.DataFrame, metrics: Sequence[str]
) -> tuple[str, ...]:
    """The ten metrics with the highest correlation with the ratings, the paper's choice."""
    systems = machine_systems(kept)
    mean = (
        {m: float(np.mean(np.abs(correlations(raters, m, systems)))) for m in metrics}
        if raters
        else dict.fromkeys(metrics, 0.0)
    )
    ranked = sorted(metrics, key=lambda name: -mean[name])
    return tuple(ranked[:MOST_METRICS])


def machine_systems(frame: pl.DataFrame) -> list[str]:
    """The systems that are not human translations."""
    if "is_human" in frame.columns:
        frame = frame.filter(~pl.col("is_human").fill_null(value=False))
    return frame["system"].unique(maintain_order=True).to_list()


def _notes(corpus: RatedCorpus) -> Iterator[Note]:
    name = corpus.source.file
    if corpus.metrics:
        yield Note("metrics", f"{name}: metrics {', '.join(corpus.metrics)}")
    if corpus.left_out:
        names = ", ".join(corpus.left_out)
        yield Note("left-out", f"{name}: the reference, or without metrics or ratings: {names}")
    if corpus.source.year == 20 and not corpus.named and corpus.raters:
        yield Note(
            "raters-not-named",
            f"{name}: raters are not named; the {len(corpus.raters)} columns of single ratings"
            " stand for raters",
        )
