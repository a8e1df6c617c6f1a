"""The data of saldias2022 as a folder holds it: MQM ratings with metrics, by language pair.

``wmtYY_mqm_LP.parquet`` has one row per system and segment: ``system``, ``doc``, ``seg_id``,
``mqm``, single ratings ``mqm_r1``, ``mqm_r2``, ``mqm_r3`` where there are any, ``is_human``,
``hyp_chars`` (length of the target) and metrics. ``wmtYY_mqm_LP_raters.parquet`` has the ratings
of named raters: ``rater``, ``system``, ``doc``, ``seg_id``, ``mqm``. Any part of it will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from assay.errors import InputError, Problem, TableError
from assay.tables.answers import Ratings, read_ratings
from assay.tables.test_set import TestSet, read_scores

MOST_METRICS = 10
"""The paper takes the ten metrics of WMT20 that go with the ratings best."""
TEST_METRICS = (
    ("BLEURT-20", "COMET-MQM_2021"),
    ("BLEURT-20", "COMET"),
    ("MetricX-23-XXL", "CometKiwi-XXL"),
)
"""On test data, the two metrics of the first pair that a file has."""
NO_METRICS = frozenset({
    "system", "is_human", "domain", "doc", "doc_seg", "seg_id", "src_chars", "hyp_chars", "lp",
    "n_err", "n_major", "df_selected", "Random-sysname",
    "bleurt-combi_M",  # scored against the other human translations, which are systems here
})  # fmt: skip
SINGLE = ("mqm_r1", "mqm_r2", "mqm_r3")


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the paper's or one like it: its name in the tables, and whether it is in them."""

    name: str
    year: int
    lp: str
    printed: bool = True

    @property
    def file(self) -> str:
        """The file with ratings and metrics."""
        return f"wmt{self.year}_mqm_{self.lp}.parquet"

    @property
    def raters_file(self) -> str:
        """The file with the ratings of named raters."""
        return f"wmt{self.year}_mqm_{self.lp}_raters.parquet"


DEVELOPMENT = (Source("EnDe", 20, "ende"), Source("ZhEn", 20, "zhen"))
TESTS = (
    Source("EnDe", 21, "ende"),
    Source("ZhEn", 21, "zhen"),
    Source("EnRu", 21, "enru"),
    Source("WMT22 en-de", 22, "ende", printed=False),
    Source("WMT23 en-de", 23, "ende", printed=False),
    Source("WMT23 zh-en", 23, "zhen", printed=False),
)
"""Table 6 is about WMT21; the others follow its protocol."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What one rater rated of all systems but the reference, everything known."""

    rater: str
    test_set: TestSet
    ratings: Ratings
    scores: np.ndarray  # systems x segments, as the test set has them


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """One file: its trials by rater and of the mean of raters, and the frame behind them."""

    source: Source
    frame: pl.DataFrame
    metrics: tuple[str, ...]
    raters: tuple[Trial, ...]
    mean: Trial
    named: bool
    """Whether the raters are people; else a rater is one of three columns of single ratings."""
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """What a folder has of the paper's data and of data like it."""

    development: Mapping[str, Corpus]
    tests: Mapping[Source, Corpus]
    notes: tuple[str, ...]


def read_folder(folder: Path) -> Data:
    """Read every file of the folder that the paper's tables can be made from."""
    if not folder.is_dir():
        raise InputError(f"data ({folder}) is no folder; give the one with the WMT files")
    found = {source: folder / source.file for source in (*DEVELOPMENT, *TESTS)}
    found = {source: path for source, path in found.items() if path.is_file()}
    if not found:
        raise InputError(
            f"data ({folder}) has no file of MQM ratings; it needs files such as"
            " wmt20_mqm_ende.parquet or wmt22_mqm_ende.parquet"
        )
    development = {s.name: _read(s, path, folder) for s, path in found.items() if s.year == 20}
    tests = {s: _read(s, path, folder) for s, path in found.items() if s.year != 20}
    notes = [note for corpus in (*development.values(), *tests.values()) for note in _notes(corpus)]
    return Data(development, tests, tuple(notes))


def correlations(trials: Iterable[Trial], name: str, systems: Sequence[str]) -> np.ndarray:
    """The correlation of a column with the ratings, for every rater and system."""
    found = []
    for trial in trials:
        values = trial.test_set.matrix(name)
        for k, system in enumerate(trial.test_set.systems):
            if system in systems and np.ptp(trial.scores[k]) > 0 and np.ptp(values[k]) > 0:
                found.append(np.corrcoef(values[k], trial.scores[k])[0, 1])
    return np.array(found)


def _read(source: Source, path: Path, folder: Path) -> Corpus:
    frame = _table(path, ("system", "doc", "seg_id", "mqm"))
    singles = [name for name in SINGLE if name in frame.columns]
    candidates = _candidates(frame)
    if source.year == 20:
        metrics = candidates
    else:
        pairs = [pair for pair in TEST_METRICS if set(pair) <= set(candidates)]
        metrics = pairs[0] if pairs else candidates[:2]
    kept, left_out = _scored_systems(frame, metrics)
    if not metrics or not kept.height:
        raise TableError(str(path), [Problem("no system has both ratings and metrics")])
    metrics = tuple(m for m in metrics if kept[m].null_count() == 0)
    named_file = folder / source.raters_file
    if source.year == 20 and named_file.is_file():
        raters = _named_raters(named_file, kept, metrics)
        named = True
    else:
        columns = _complete(kept, singles, source)
        raters = tuple(_trial(name, kept, metrics, name) for name in columns)
        named = False
    if source.year == 20:
        metrics = _best(raters, kept, metrics)
        raters = tuple(_with(trial, metrics) for trial in raters)
    mean = _trial("mean", kept, metrics, "mqm")
    return Corpus(source, frame, metrics, raters, mean, named, left_out)


def _table(path: Path, needed: Sequence[str]) -> pl.DataFrame:
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{path}: is no Parquet file ({reason}); fetch it again") from None
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise TableError(
            str(path), [Problem("the column is missing", column=name) for name in missing]
        )
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    return frame.with_columns(pl.col(name).fill_nan(None) for name in floats)


def _candidates(frame: pl.DataFrame) -> tuple[str, ...]:
    """The columns that are metrics."""
    return tuple(
        name
        for name, kind in frame.schema.items()
        if kind.is_numeric()
        and name not in NO_METRICS
        and not name.startswith(("mqm", "psqm", "da_"))
    )


def _scored_systems(
    frame: pl.DataFrame, metrics: Sequence[str]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rated rows of systems with ratings and metrics; the reference has no metrics."""
    has = [pl.col(name).is_not_null().any().over("system") for name in metrics]
    rated = pl.col("mqm").is_not_null()
    keep = pl.any_horizontal(has) & rated if has else pl.lit(value=False)
    kept = frame.filter(keep)
    gone = [s for s in frame["system"].unique(maintain_order=True) if s not in set(kept["system"])]
    return kept, tuple(gone)


def _complete(kept: pl.DataFrame, singles: Sequence[str], source: Source) -> list[str]:
    """The columns that stand for raters; on test data only if they cover all that was rated."""
    covered = [name for name in singles if kept[name].null_count() < kept.height]
    if source.year != 20:
        covered = [name for name in covered if kept[name].null_count() == 0]
        return covered or ["mqm"]
    return covered


def _trial(rater: str, kept: pl.DataFrame, metrics: Sequence[str], column: str) -> Trial:
    return _made(rater, kept.filter(pl.col(column).is_not_null()), metrics, pl.col(column))


def _made(rater: str, frame: pl.DataFrame, metrics: Sequence[str], score: pl.Expr) -> Trial:
    extra = [name for name in ("hyp_chars",) if name in frame.columns]
    rows = frame.select(
        "system", "doc", seg=pl.col("seg_id").cast(pl.String), score=score.cast(pl.Float64)
    )
    columns = frame.select(*metrics, *extra).with_columns(pl.all().cast(pl.Float64))
    test_set = read_scores(rows.drop("score").hstack(columns.get_columns()), metrics=list(metrics))
    ratings = read_ratings(rows, test_set, better="lower")
    return Trial(rater, test_set, ratings, ratings.matrix(test_set))


def _with(trial: Trial, metrics: tuple[str, ...]) -> Trial:
    from dataclasses import replace

    return replace(trial, test_set=replace(trial.test_set, metrics=metrics))


def _named_raters(path: Path, kept: pl.DataFrame, metrics: Sequence[str]) -> tuple[Trial, ...]:
    found = _table(path, ("rater", "system", "doc", "seg_id", "mqm")).rename({"mqm": "own"})
    key = ["system", "doc", "seg_id"]
    joined = kept.with_columns(pl.col("seg_id").cast(pl.Int64)).join(
        found.select("rater", *key, "own").with_columns(pl.col("seg_id").cast(pl.Int64)), on=key
    )
    return tuple(
        _made(str(rater), part.sort("system", "doc", "seg_id"), metrics, pl.col("own"))
        for (rater,), part in joined.drop_nulls("own")
        .sort("rater")
        .group_by("rater", maintain_order=True)
    )


def _best(raters: Sequence[Trial], kept: pl.DataFrame, metrics: Sequence[str]) -> tuple[str, ...]:
    """The ten metrics of the highest correlation with the ratings, as the paper chooses them."""
    systems = machine_systems(kept)
    mean = (
        {m: float(np.mean(np.abs(correlations(raters, m, systems)))) for m in metrics}
        if (raters)
        else dict.fromkeys(metrics, 0.0)
    )
    ranked = sorted(metrics, key=lambda name: -mean[name])
    return tuple(ranked[:MOST_METRICS])


def machine_systems(frame: pl.DataFrame) -> list[str]:
    """The systems that are no human translations."""
    if "is_human" in frame.columns:
        frame = frame.filter(~pl.col("is_human").fill_null(value=False))
    return frame["system"].unique(maintain_order=True).to_list()


def _notes(corpus: Corpus) -> list[str]:
    name = corpus.source.file
    notes = [f"{name}: metrics {', '.join(corpus.metrics)}"]
    if corpus.left_out:
        notes.append(f"{name}: without metrics or ratings, left out: {', '.join(corpus.left_out)}")
    if corpus.source.year == 20 and not corpus.named and corpus.raters:
        notes.append(
            f"{name}: raters are not named; the {len(corpus.raters)} columns of single ratings"
            " stand for raters"
        )
    return notes
