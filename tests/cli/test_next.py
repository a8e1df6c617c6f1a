"""``assay next``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import assay
from assay.cli import Command, spelled_out
from assay.cli.sampling import next_
from assay.errors import InputError, OptionError
from assay.tables.tables import Sample
from assay.views.page import read_result


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A folder with scores, a sample and ratings of the first half of it."""
    world = assay.simulate(documents=12, systems=3, rng=5)
    drawn = assay.sample(world.test_set, budget="40%", rng=1)
    world.test_set.write(tmp_path / "scores.tsv")
    drawn.write(tmp_path / "sample.tsv")
    world.rate(drawn).write(tmp_path / "whole.tsv")
    half = Sample(drawn.frame.sort("order").head(len(drawn) // 2))
    world.rate(half).write(tmp_path / "ratings.tsv")
    return tmp_path


def run(folder: Path, *options: object, ratings: str = "ratings.tsv") -> Result:
    app = typer.Typer()
    app.command("next", cls=Command)(spelled_out(next_, "next"))
    files = [str(folder / "scores.tsv"), str(folder / ratings)]
    return CliRunner().invoke(app, [*files, *(str(option) for option in options)])


def test_json(campaign: Path) -> None:
    ran = run(campaign, "--sample", campaign / "sample.tsv", "--count", 3, "--json")
    assert ran.exit_code == 0, ran.output
    result = json.loads(ran.stdout)
    assert result["kind"] == "next"
    assert result["method"] == "adaptive"
    assert result["segments"]
    for item in result["segments"]:
        assert set(item) == {"system", "doc", "seg", "stratum", "reason"}
        assert item["reason"]


@pytest.mark.parametrize("method", ["docs-incr-human", "docs-incr-metrics"])
def test_incremental(campaign: Path, method: str) -> None:
    options = ("--method", method, "--count", 4, "--seed", 3, "--better", "lower", "--json")
    ran = run(campaign, *options)
    assert ran.exit_code == 0, ran.output
    result = json.loads(ran.stdout)
    assert (len(result["segments"]), result["seed"]) == (4, 3)
    assert result == json.loads(run(campaign, *options).stdout)


def test_table(campaign: Path) -> None:
    ran = run(campaign, "--method", "docs-incr-human", "--seed", 1)
    assert ran.exit_code == 0
    assert "To rate next (docs-incr-human)" in ran.stdout
    assert "signature: next|docs-incr-human|" in ran.stdout
    assert "inclusion probabilities are unknown" in ran.stderr


def test_saved_for_the_report(campaign: Path) -> None:
    ran = run(campaign, "--sample", campaign / "sample.tsv", "-o", campaign / "next.json")
    assert ran.exit_code == 0, ran.output
    saved = read_result(campaign / "next.json")
    assert (saved.kind, len(saved.segments) > 0) == ("next", True)  # type: ignore[attr-defined]
    assert f"assay report {campaign / 'next.json'} makes a page of it" in ran.stdout
    refused = run(campaign, "--save", campaign / "next.tsv").exception
    assert "is not a JSON file" in str(refused)


def test_nothing_left(campaign: Path) -> None:
    ran = run(campaign, "--sample", campaign / "sample.tsv", ratings="whole.tsv")
    assert ran.exit_code == 0
    assert "Nothing is left to rate." in ran.stdout
    assert "every segment of the sample is rated" in ran.stderr


def test_budget_columns_metrics_and_exclude(campaign: Path) -> None:
    ran = run(
        campaign, "--sample", campaign / "sample.tsv", "--budget", "40%", "--metrics", "neural",
        "--exclude", "system-1", "--columns", "score=score", "--json",
    )  # fmt: skip
    assert ran.exit_code == 0, ran.output
    assert all(item["system"] != "system-1" for item in json.loads(ran.stdout)["segments"])


def test_refusals(campaign: Path) -> None:
    assert isinstance(run(campaign, "--count", 0).exception, OptionError)
    assert isinstance(run(campaign, "--method", "best").exception, OptionError)
    assert isinstance(run(campaign, "--method", "adaptive").exception, InputError)
