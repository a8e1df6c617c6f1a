from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from assay.errors import OptionError, TableError
from assay.formats.catalogue import Options, load_format
from assay.tables.tables import read_scores
from formats.line_texts import FIXTURES


def load(path: Path, *lines: str, lp: str | None = None):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return load_format(path, "wmt-seg-scores", options=Options(lp=lp))


def test_a_column_per_metric_and_reference():
    raw = load_format(FIXTURES / "seg_scores.tsv", "wmt-seg-scores")
    test_set = read_scores(raw)
    assert test_set.metrics == ("chrF-ref-a", "chrF-ref-b", "TER")
    assert test_set.frame.select("lp", "system", "doc", "seg", *test_set.metrics).rows() == [
        ("en-de", "Alpha", "doc1", "1", 0.5, 0.75, None),
        ("en-de", "Alpha", "doc1", "2", 0.25, None, None),
        ("en-de", "Beta", "doc1", "1", None, None, -0.001),
        ("en-cs", "Gamma", "doc9", "1", None, None, -2.0),
    ]
    assert raw.lines([0, 1, 2, 3]) == [1, 2, 3, 6]


def test_one_language_pair_of_several():
    raw = load_format(FIXTURES / "seg_scores.tsv", "wmt-seg-scores", options=Options(lp="en-cs"))
    assert raw.frame.select("lp", "system", "TER").rows() == [("en-cs", "Gamma", -2.0)]
    assert raw.lines([0]) == [6]
    with pytest.raises(OptionError, match="choose from en-de, en-cs"):
        load_format(FIXTURES / "seg_scores.tsv", "wmt-seg-scores", options=Options(lp="en-fr"))


def test_no_documents_remarks_and_several_test_sets(tmp_path: Path):
    raw = load(
        tmp_path / "a.score",
        "m\ten-de\tnews\tr\tA\t\t1\t0.5\tno\thttps://example.org",
        "m\ten-de\tsuite\tr\tA\t\t2\t0.5",
    )
    assert raw.frame.rows(named=True) == [
        {"lp": "en-de", "system": "A", "seg": "1", "testset": "news", "m": 0.5},
        {"lp": "en-de", "system": "A", "seg": "2", "testset": "suite", "m": 0.5},
    ]
    assert raw.notes == ("fields behind the score (ensemble, available) are left out",)


def test_test_sets_that_differ_in_the_reference_only(tmp_path: Path):
    lines = [f"m\ten-de\tnews{r}\tref{r}\tA\td\t1\t{i}" for i, r in enumerate("AB")]
    frame = load(tmp_path / "a.score", *lines).frame
    assert frame.drop("lp").rows(named=True) == [
        {"system": "A", "doc": "d", "seg": "1", "m-refA": 0.0, "m-refB": 1.0}
    ]


def test_metrics_called_like_columns_and_like_each_other(tmp_path: Path):
    names = [("seg", "r"), ("m", "a"), ("m", "b"), ("m-a", "r")]
    lines = [f"{metric}\ten-de\tnews\t{ref}\tA\td\t1\t0.5" for metric, ref in names]
    metrics = read_scores(load(tmp_path / "a.score", *lines)).metrics
    assert metrics == ("seg-r", "m-a", "m-b", "m-a-r")


def test_a_large_packed_file(tmp_path: Path):
    size = 20_000
    body = "".join(f"m\ten-de\tnews\tr\tA\td\t{i}\t{i / 7}\n" for i in range(size))
    path = tmp_path / "a.seg.score.gz"
    path.write_bytes(gzip.compress(body.encode()))
    frame = load_format(path, "wmt-seg-scores").frame
    assert frame["m"].to_list() == [i / 7 for i in range(size)]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["m\ten-de\tnews\tr\tA\td\t1"], "line 1: 7 fields where 8 to 10 are expected .metric, lp"),
        (["m\ten-de\tnews\tr\tA\td\t1\tx"], "line 1, column score: 'x' is not a number"),
        (["", "\ten-de\tnews\tr\tA\td\t1\t1"], "line 2, column metric: is empty"),
        (
            ["m\ten-de\tnews\tr\tA\td\t1\t1"] * 2,
            "line 2, column score: 'en-de / A / d / 1 / m' already has",
        ),
        (
            ["a-b\tl\tt\tc\tA\td\t1\t1", "a\tl\tt\tb-c\tA\td\t1\t1", "a\tl\tt\tb\tA\td\t1\t1"],
            "rename one",
        ),
    ],
)
def test_wrong_files(tmp_path: Path, lines: list[str], message: str):
    with pytest.raises(TableError, match=message):
        load(tmp_path / "a.score", *lines)


def test_wrong_values_point_to_their_lines(tmp_path: Path):
    raw = load(tmp_path / "a.score", "m\tl\tt\tr\tA\td\t1\t1", "m\tl\tt\tr\t\td\t1\tinf")
    with pytest.raises(TableError) as caught:
        read_scores(raw)
    assert [(p.line, p.column) for p in caught.value.problems] == [(2, "system"), (2, "m")]


def test_wmt20_metrics_survive_their_own_format(shared_data: Path, tmp_path: Path):
    scores = pl.read_parquet(shared_data / "wmt20_metrics_en-de.parquet").head(3000)
    key = ["lp", "system", "doc", "seg"]
    scores = scores.with_columns(pl.col("lp", "system", "doc").cast(pl.String))
    scores = scores.with_columns(pl.col("doc_seg").cast(pl.String).alias("seg"))
    long = scores.unpivot(["chrF", "TER"], index=key).with_columns(
        pl.col("value").cast(pl.Float64), testset=pl.lit("newstest2020"), refset=pl.lit("ref")
    )
    names = ["variable", "lp", "testset", "refset", "system", "doc", "seg", "value"]
    path = tmp_path / "all.seg.score"
    long.select(names).write_csv(path, separator="\t", include_header=False, quote_style="never",
                                 null_value="None")  # fmt: skip
    read = read_scores(load_format(path, "wmt-seg-scores")).frame
    wanted = scores.select(*key, pl.col("chrF", "TER").cast(pl.Float64))
    assert read.select(wanted.columns).equals(wanted)
