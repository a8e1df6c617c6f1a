"""``assay status``: half a campaign in a project."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran

import assay

Run = Callable[..., Ran]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose sheets are out."""
    monkeypatch.chdir(tmp_path)
    assay.simulate(documents=20, systems=3, texts=True, rng=1).test_set.write("scores.tsv")
    pay = 'pay = { per_rating = 0.12, currency = "EUR" }\n'
    Path("assay.toml").write_text(
        f'protocol = "esa"\nscores = "scores.tsv"\n{pay}', encoding="utf-8"
    )
    return tmp_path


def rate(name: str, share: float) -> str:
    """A sheet of which only the first part is filled in."""
    sheet = pl.read_csv(f"sheets/{name}.csv", infer_schema=False)
    points = 40 + pl.col("output").str.len_chars() % 50
    begun = pl.int_range(pl.len()) < share * sheet.height
    rated = (pl.col("code") != "(context)") & begun
    Path("answers").mkdir(exist_ok=True)
    sheet.with_columns(score=pl.when(rated).then(points)).write_csv(f"answers/{name}.csv")
    return f"answers/{name}.csv"


def test_from_nothing_to_the_end(project: Path, run_assay: Run) -> None:
    assert "Nothing is drawn" in run_assay("status").out
    assert run_assay("sample", "--budget", "60%", "--seed", 1).code == 0
    assert "are drawn; nothing is rated yet" in run_assay("status").out
    ran = run_assay("collect", "--sheets", "csv", "--raters", "Ada,Ben", "--seed", 2)
    assert ran.code == 0, ran.err
    assert re.search(r": \d+ ratings \(\d+ EUR\) in all", ran.out)
    assert re.search(r"2 sheets with \d+ outputs \(\d+ EUR\) are out", run_assay("status").out)
    ran = run_assay("collect", rate("Ada", 0.6), rate("Ben", 0.5))
    assert ran.code == 0, ran.err
    assert "after the last score, not counted yet" in ran.err
    ran = run_assay("status")
    assert "Scores rest on the first" in ran.out
    result = json.loads(run_assay("status", "--json").out)
    wanted = ("state", "rated", "planned", "raters", "systems", "pairs", "next", "spent",
              "warnings")  # fmt: skip
    assert [name for name in wanted if name not in result] == []
    assert (result["kind"], result["state"], result["basis"]) == ("status", "begun", "beginning")
    assert result["spent"]["money"] == pytest.approx(0.12 * result["rated"])
    Path("answers").rename("may")
    ran = run_assay("collect", rate("Ada", 1), rate("Ben", 1))
    assert "may/Ada.csv, which came back earlier, is gone" not in ran.err
    assert (ran.code, "answers/Ada.csv, which came back" in ran.err) == (0, False), ran.err
    assert json.loads(run_assay("status", "--json").out)["state"] == "complete"


def test_where_there_is_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_assay: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run_assay("status")
    assert (ran.code, "this is not a project" in ran.err) == (2, True)
    Path("assay.toml").write_text('judgments = "judgments.tsv"\nscores = "x.tsv"\n')
    assert "assay monitor" in run_assay("status").err
    Path("assay.toml").write_text('protocol = "esa"\n')
    assert "names no test set" in run_assay("status").err


def test_ratings_alone_have_a_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_assay: Run
) -> None:
    """What holds for texts like these is what `estimate` says."""
    monkeypatch.chdir(tmp_path)
    world = assay.simulate(documents=20, systems=2, rng=1)
    frame = world.rate().frame.select("system", "doc", "seg", "rater", "score")
    frame.rename({"system": "Model", "score": "ESA score"}).write_excel("mine.xlsx")
    assert run_assay("new", "study", "--from", "mine.xlsx").code == 0
    monkeypatch.chdir("study")
    found = json.loads(run_assay("status", "--json").out)
    assert (found["state"], found["rated"], len(found["systems"])) == ("complete", len(frame), 2)
    estimated = json.loads(run_assay("estimate", "--json").out)
    for ours, theirs in zip(found["systems"], estimated["systems"], strict=True):
        assert (ours["system"], ours["low"]) == (theirs["system"], pytest.approx(theirs["low"]))
