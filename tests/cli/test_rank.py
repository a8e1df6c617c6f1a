"""``assay rank``: judgments or ratings, a readable table, one JSON object, clear refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran

import assay

Run = Callable[..., Ran]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    world = assay.simulate(systems=4, documents=20, rng=1)
    judgments = world.judge(1500, per_set=4, rng=2)
    judgments.write(tmp_path / "judgments.tsv")
    world.rate().write(tmp_path / "ratings.tsv")
    world.test_set.write(tmp_path / "scores.tsv")
    renamed = {"left": "a", "right": "b", "winner": "won"}
    two = judgments.frame.with_columns(lp=pl.Series(["x-y"] * 700 + ["x-z"] * 800))
    two.rename(renamed).write_csv(tmp_path / "own.csv")
    both = judgments.frame.with_columns(system=pl.lit("A"), score=1.0)
    both.write_csv(tmp_path / "both.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_judgments(folder: Path, run_assay: Run) -> None:
    ran = run_assay("rank", "judgments.tsv", "--seed", 1, "--json", "-o", "ranking.json")
    result = json.loads(ran.out)
    assert result == json.loads((folder / "ranking.json").read_text())
    assert result["pairs"] == 6
    assert 0 <= result["significant_pairs"] <= 6
    assert set(result["systems"][0]) == {
        "system", "rank", "score", "low_rank", "high_rank", "cluster",
    }  # fmt: skip
    assert set(result["comparisons"][0]) == {
        "left", "right", "wins", "losses", "ties", "p", "decided", "better",
        "stderr",
    }  # fmt: skip
    ran = run_assay("rank", "judgments.tsv", "--seed", 1, "--pairs", "--holm", "--sides", 2)
    assert (
        "6 pairs are decided (tests at 0.05, corrected for their number by Holm's method)"
        in ran.out
    )
    assert "signature: expected-win|judgments:1500" in ran.out
    assert "undecided" in ran.out
    assert "unit: segment" in ran.err


@pytest.mark.parametrize("ranges", ["sign", "pooled"])
@pytest.mark.parametrize("method", ["BOJAR", "lopez", "bradley-terry"])
def test_methods_and_ranges(folder: Path, run_assay: Run, method: str, ranges: str) -> None:
    options = ["--method", method, "--ranges", ranges, "--ties", "half", "--exclude", "system-2"]
    result = json.loads(run_assay("rank", "judgments.tsv", *options, "--json").out)
    assert result["method"] == method.lower()
    assert result["seed"] is None
    assert len(result["systems"]) == 3


def test_own_columns_and_one_language_pair(folder: Path, run_assay: Run) -> None:
    own = ["rank", "own.csv", "--columns", "left=a,right=b,winner=won", "--json"]
    assert json.loads(run_assay(*own, "--lp", "x-y").out)["judgments"] == 700
    ran = run_assay(*own)
    assert ran.code == 2
    assert "several language pairs (x-y, x-z); choose one with --only (lp=x-y)" in ran.err
    ran = run_assay(*own, "--lp", "x-x")
    assert "only (lp=x-x) matches no row (did you mean 'x-z'?); choose from x-y, x-z" in ran.err


def test_ratings(folder: Path, run_assay: Run) -> None:
    ran = run_assay("rank", "ratings.tsv", "--better", "lower", "--method", "z", "--seed", 1)
    assert "Ranking by z" in ran.out
    assert "(lower is better)" in ran.out
    assert "1 of 3 neighbours is decided" in ran.out
    content = json.loads(
        run_assay("rank", "ratings.tsv", "--exclude", "system-1", "--seed", 1, "--json").out
    )
    assert content["method"] == "mean"
    assert content["pairs"] == 2
    assert content["comparisons"][0]["wins"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scores.tsv"], "is neither a table of judgments (no left, right, winner) nor of ratings"),
        (["both.csv"], "has the columns of judgments and of ratings"),
        (["none.tsv"], "there is no such file"),
        (["ratings.tsv", "--ties", "half"], "--ties (half) is for judgments"),
        (["ratings.tsv", "--calibrate"], "--calibrate (True) is for judgments"),
        (["judgments.tsv", "--calibrate", "--ranges", "sign"], "is for ranges from resampling"),
        (["ratings.tsv", "--ranges", "sign"], "--ranges (sign) is for judgments"),
        (["ratings.tsv", "--method", "lopez"], "method (lopez) is not known; choose from mean, z"),
        (["ratings.tsv", "--exclude", "X"], "exclude (X) is not among the rated systems"),
        (["ratings.tsv", "--lp", "x-y"], "--only (lp) is not a column of the table"),
        (["judgments.tsv", "--better", "lower"], "--better (lower) is for ratings"),
        (["judgments.tsv", "--method", "z"], "method (z) is not known"),
        (["judgments.tsv", "--level", "95"], "is not a confidence level"),
        (["judgments.tsv", "-o", "judgments.tsv"], "is an input file"),
    ],
)
def test_refusals(arguments: list[str], message: str, folder: Path, run_assay: Run) -> None:
    ran = run_assay("rank", *arguments)
    assert ran.code == 2, ran.err
    assert message in ran.err


def test_ratings_by_documents_or_by_outputs(
    run_assay: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assay.simulate(documents=20, systems=4, rng=1).rate().write("ratings.tsv")
    assay.simulate_judgments(4, 300, per_set=2, rng=1).write("judgments.tsv")
    common = ("rank", "ratings.tsv", "--better", "lower", "--seed", 1)
    usual, single = run_assay(*common), run_assay(*common, "--rank-sum")
    assert "test:rank-sum" in single.out
    assert "test:rank-sum" not in usual.out
    assert "is for ratings" in run_assay("rank", "judgments.tsv", "--rank-sum").err
