"""What goes wrong in practice, from the command line: exit code 2, a reason, no traceback."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran

from assay.worlds.editing import EditingWorld

Run = Callable[..., Ran]

ASSIGNED = [
    (f"E{number}", doc, system)
    for number, order in enumerate(permutations("ABH"))
    for doc, system in zip("xyz", order, strict=True)
]


@pytest.fixture(scope="module")
def edits() -> pl.DataFrame:
    return EditingWorld({"A": 5.0, "B": 5.0, "H": 0.0}, segments=8).edits(ASSIGNED, rng=1).frame


def found(run_assay: Run, frame: pl.DataFrame, folder: Path, *options: object) -> Ran:
    path = folder / "edits.tsv"
    frame.write_csv(path, separator="\t")
    return run_assay("effort", path, "--seed", 1, *options)


def refused(ran: Ran, *words: str) -> None:
    assert ran.code == 2, ran.out
    assert ran.out == ""
    assert "Traceback" not in ran.err
    for word in words:
        assert word in ran.err


def test_an_empty_document(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    blank = pl.when(pl.col("doc") == "x").then(pl.lit("")).otherwise(pl.col("source"))
    ran = found(run_assay, edits.with_columns(blank.alias("source")), tmp_path)
    refused(ran, "document 'x' is empty")
    empty = [
        pl.when(pl.col("doc") == "x").then(pl.lit("***")).otherwise(pl.col(name)).alias(name)
        for name in ("source", "mt", "edited")
    ]
    nothing = edits.with_columns(empty).with_columns(words=0.0)
    refused(found(run_assay, nothing, tmp_path), "document 'x' is empty")


def test_no_rows_at_all(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    refused(found(run_assay, edits.clear(), tmp_path), "edits.tsv")


def test_one_editor(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    refused(found(run_assay, edits.filter(editor="E0"), tmp_path), "only one editor ('E0')")


def test_one_system(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    refused(found(run_assay, edits.filter(system="A"), tmp_path), "only one system ('A')")


def test_no_times(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    ran = found(run_assay, edits.drop("seconds"), tmp_path, "--rate", 40)
    assert ran.code == 0
    assert "no segment has seconds: time is left out" in ran.err
    assert "Per 1,000 words" not in ran.out
    refused(found(run_assay, edits.drop("seconds"), tmp_path, "--measures", "time"), "seconds")


def test_some_times(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    gone = pl.when(pl.int_range(pl.len()) % 7 > 0).then(pl.col("seconds")).alias("seconds")
    ran = found(run_assay, edits.with_columns(gone), tmp_path)
    assert ran.code == 0
    assert "segments without seconds left out of time" in ran.err


@pytest.mark.parametrize("value", ["-3", "soon", "inf"])
def test_impossible_times(edits: pl.DataFrame, tmp_path: Path, run_assay: Run, value: str) -> None:
    seconds = edits["seconds"].cast(pl.String).to_list()
    seconds[4] = value
    ran = found(run_assay, edits.with_columns(pl.Series("seconds", seconds)), tmp_path)
    refused(ran, "line 6", "seconds", value)


def test_an_editor_who_saw_an_system_twice(
    edits: pl.DataFrame, tmp_path: Path, run_assay: Run
) -> None:
    again = pl.when((pl.col("editor") == "E0") & (pl.col("doc") == "y")).then(pl.lit("A"))
    frame = edits.with_columns(again.otherwise(pl.col("system")).alias("system"))
    ran = found(run_assay, frame, tmp_path)
    assert ran.code == 0
    assert "had a system in more than one document" in ran.err
    twice = edits.filter(editor="E0", doc="x").with_columns(system=pl.lit("B"))
    both = pl.concat([edits, twice])
    refused(found(run_assay, both, tmp_path), "editor 'E0' edited document 'x' from 2 systems")


def test_a_row_twice(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    refused(found(run_assay, pl.concat([edits, edits.head(1)]), tmp_path), "line")


def test_a_system_in_one_document_only(edits: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    tied = edits.filter(
        ((pl.col("doc") == "x") & (pl.col("system") == "A"))
        | ((pl.col("doc") == "y") & (pl.col("system") == "B"))
    )
    ran = found(run_assay, tied, tmp_path)
    refused(ran, "rotate the systems over the documents", "(--assume-alike)")
