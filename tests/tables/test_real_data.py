"""Real WMT data through ``--columns``, skipped where the folder is absent.

The same paths are walked on self-made data in ``test_tables.py`` and ``test_files.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.conftest import Ran

from assay.tables.answers import read_edits, read_errors, read_judgments
from assay.tables.tables import read_ratings, read_scores

Run = Callable[..., Ran]

# kind, file, --columns, further options, rows
FILES = [
    ("scores", "wmt20_mqm_ende.parquet", "seg=seg_id", ["--metrics", "BLEURT-20,chrF"], 14_180),
    ("ratings", "wmt20_mqm_ende.parquet", "seg=seg_id,score=mqm", ["--range", "0,25"], 14_180),
    ("scores", "wmt20_mqm_zhen.parquet", "seg=seg_id", ["--exclude", "Human-A.0"], 18_000),
    ("ratings", "wmt20_mqm_zhen.parquet", "seg=seg_id,score=mqm_r1", [], 20_000),
    ("scores", "wmt20_metrics_km-en.parquet", "seg=seg_id", ["--metrics", "chrF,TER"], 16_240),
    ("scores", "wmt22_metrics_en-de.parquet", "seg=seg_id", ["--metrics", "chrF,sentBLEU"], 18_333),
    ("scores", "wmt23_mqm_ende.parquet", "seg=seg_id", ["--metrics", "COMET"], 7_241),
    ("ratings", "wmt23_mqm_ende.parquet", "seg=seg_id,score=mqm", [], 7_241),
    ("ratings", "wmt23_mqm_zhen_raters.parquet", "seg=seg_id,score=mqm", [], 20_845),
    ("ratings", "ted_mqm_ende_scores.parquet", "seg=seg_id,score=mqm", ["--range", "0,25"], 7_406),
    ("errors", "ted_mqm_ende_errors.parquet", "seg=seg_id", [], 8_435),
]


@pytest.mark.parametrize(("kind", "name", "columns", "options", "rows"), FILES)
def test_file_is_read_through_a_mapping(
    kind: str, name: str, columns: str, options: list[str], rows: int, shared_data: Path,
    run_assay: Run,
) -> None:  # fmt: skip
    ran = run_assay(
        "check", shared_data / name, "--kind", kind, "--columns", columns, "--json", *options
    )
    report = json.loads(ran.out)
    assert report["problems"] == []
    assert report["rows"] == rows


def test_wmt20_ratings_against_their_test_set(shared_data: Path) -> None:
    path = shared_data / "wmt20_mqm_ende.parquet"
    test_set = read_scores(
        path, columns={"seg": "seg_id"}, metrics=["BLEURT-20"], exclude=["Human-A.0"]
    )
    ratings = read_ratings(
        path, test_set, columns={"seg": "seg_id", "score": "mqm"}, better="lower", range=(0, 25)
    )
    means = dict(zip(test_set.systems, ratings.matrix(test_set).mean(axis=1), strict=True))
    # saldias2022, Table 8: the best and the worst system of WMT20 en-de by MQM.
    assert min(means, key=means.__getitem__) == "Human-B.0"
    assert means["Human-B.0"] == pytest.approx(0.75, abs=0.005)
    assert test_set.documents.height == 130
    assert "1,418 rows of excluded systems left out" in ratings.notes


def test_several_language_pairs_in_one_table(shared_data: Path) -> None:
    names = ["wmt20_metrics_cs-en.parquet", "wmt20_metrics_km-en.parquet"]
    frames = [pl.read_parquet(shared_data / name).select("lp", "system", "doc", "seg_id", "chrF")
              for name in names]  # fmt: skip
    parts = read_scores(pl.concat(frames), columns={"seg": "seg_id"}).split("lp")
    assert [part.segments.height for part in parts.values()] == [664, 2320]
    assert not np.isnan(parts["cs-en"].matrix("chrF")).any()


def test_wmt12_judgments(shared_data: Path) -> None:
    # `outcome` is about system1: < better, > worse, = tie.
    words = {"<": "left", ">": "right", "=": "tie"}
    frame = pl.read_parquet(shared_data / "wmt12_pairs.parquet").with_columns(
        pl.col("outcome").cast(pl.String).replace_strict(words)
    )
    mapping = {"left": "system1", "right": "system2", "winner": "outcome", "set": "ranking",
               "seg": "segment", "rater": "judge"}  # fmt: skip
    judgments = read_judgments(frame, columns=mapping)
    assert len(judgments) == 123_390
    # Their own words are read so, and it is said.
    assumed = read_judgments(shared_data / "wmt12_pairs.parquet", columns=mapping)
    assert assumed.frame["winner"].equals(judgments.frame["winner"])
    assert [note.code for note in assumed.notes] == ["values-read"]


def test_post_edits(shared_data: Path) -> None:
    edits = read_edits(
        shared_data / "effectiff_segments.tsv.gz",
        columns={"system": "engine", "doc": "document", "seconds": "edit_time_s"},
    )
    assert len(edits) == 420
    assert len(edits.editors) == 6
    assert (edits.frame["seconds"] == 0).sum() == 207


def test_marked_errors_of_a_talk(shared_data: Path) -> None:
    errors = read_errors(shared_data / "ted_mqm_ende_errors.parquet", columns={"seg": "seg_id"})
    assert errors.frame["severity"].n_unique() >= 3
