"""``assay collect``: sheets out, answers in."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran

import assay

Run = Callable[..., Ran]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    world = assay.simulate(documents=12, systems=3, texts=True, rng=1)
    world.test_set.write("scores.tsv")
    assay.sample(world.test_set, budget="50%", rng=1).write("sample.tsv")
    return tmp_path


OUT = "collect scores.tsv --sample sample.tsv --raters Ada,Ben --sheets xlsx --seed 1 -o sheets"


def test_out_and_in_and_estimated(folder: Path, run_assay: Run) -> None:
    ran = run_assay(*OUT.split(), "--checks", "0.05", "--repeats", "0.1", "--range", "0,6")
    assert (ran.code, ran.err) == (0, "")
    assert (
        "2 sheets in sheets, a file for each rater: 238 ratings in all. Key: sheets-key.tsv"
        in ran.out
    )
    assert "seed:1" in ran.out
    Path("answers").mkdir()
    for name in ("Ada", "Ben"):
        sheet = pl.read_excel(f"sheets/{name}.xlsx", infer_schema_length=None)
        length = pl.col("output").str.len_chars() % 6
        rated = pl.when(pl.col("code") != "(context)").then(length)
        sheet.with_columns(score=rated).write_excel(f"answers/{name}.xlsx")
    files = ("answers/Ada.xlsx", "answers/Ben.xlsx")
    ran = run_assay("collect", "sheets-key.tsv", *files, "-o", "ratings.tsv", "--json")
    assert (ran.code, ran.err) == (0, "")
    result = json.loads(ran.out)
    table = pl.read_csv("ratings.tsv", separator="\t", infer_schema=False)
    assert result["kind"] == "sheets-collected"
    assert result["rows"] == table.height == pl.read_csv("sheets-key.tsv", separator="\t").height
    assert {"system", "doc", "seg", "rater", "task", "score", "check"} <= set(table.columns)
    ran = run_assay("estimate", "scores.tsv", "ratings.tsv", "--sample", "sample.tsv")
    assert ran.code == 0, ran.err
    ran = run_assay("raters", "scores.tsv", "ratings.tsv")
    assert ran.code == 0, ran.err


def test_nothing_but_notes_on_stderr(folder: Path, run_assay: Run) -> None:
    assert run_assay(*OUT.split()).code == 0
    command = "collect sheets-key.tsv sheets/Ada.xlsx sheets/Ben.xlsx -o ratings.tsv"
    done = subprocess.run(
        [sys.executable, "-m", "assay", *command.split()], capture_output=True, text=True,
        encoding="utf-8", check=True,
    )  # fmt: skip
    notes = done.stderr.splitlines()
    assert notes[:2] == [f"{name}.xlsx: {name} gave no score; was it filled in?"
                         for name in ("Ada", "Ben")]  # fmt: skip
    assert len(notes) == 3
    assert "have no score" in notes[2]


def test_a_whole_test_set_with_own_instructions(folder: Path, run_assay: Run) -> None:
    Path("ours.txt").write_text("Rate as in May.", encoding="utf-8")
    ran = run_assay(
        "collect", "scores.tsv", "--raters", "3", "--sheets", "csv", "--instructions", "ours.txt",
        "--key", "secret.tsv", "-o", "all", "--overlap", "0", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    written = json.loads(ran.out)
    assert [load["rater"] for load in written["loads"]] == ["rater-1", "rater-2", "rater-3"]
    assert [note["code"] for note in written["notes"]] == ["no-overlap"]
    assert Path("all/instructions.txt").read_text("utf-8") == "Rate as in May."
    assert Path("secret.tsv").is_file()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("collect scores.tsv --sheets csv -o s", "--raters (none) is too few; name the raters"),
        ("collect scores.tsv b.tsv --sheets csv --raters 2 -o s", "give only the scores table"),
        (f"{OUT} --better lower", "--better (lower) applies to answers; give it when you"),
        (f"{OUT} --overlap 2", "--overlap (2.0) is not a share; give a number from 0 to 1"),
        (f"{OUT} --per-output 3", "--per-output (3) exceeds the 2 raters; name more of them"),
        (f"{OUT} --key sheets/key.tsv", "--key (sheets/key.tsv) is inside the folder of the"),
        ("collect k.tsv a.csv -o r.tsv --overlap 0.1", "--overlap (0.1) needs --sheets"),
        ("collect k.tsv a.csv -o r.tsv --per-output 2", "--per-output (2) needs --sheets"),
        ("collect scores.tsv sample.tsv -o r.tsv", "the key lacks rater, file"),
        ("collect scores.tsv sample.tsv -o .", "--output (.) is a folder; name a file"),
    ],
)
def test_refusals(folder: Path, run_assay: Run, command: str, words: str) -> None:
    ran = run_assay(*command.split())
    assert ran.code == 2
    assert words in " ".join(ran.err.split()), ran.err
    assert not (folder / "sheets").exists()
