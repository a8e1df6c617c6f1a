"""``assay plan``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner, Result

import assay
from assay.cli import make_app
from assay.errors import InputError, OptionError


@pytest.fixture
def pilot(tmp_path: Path) -> Path:
    """A folder with scores and the ratings of a pilot."""
    world = assay.simulate(documents=15, systems=3, rng=5)
    drawn = assay.sample(world.test_set, budget="40%", rng=1)
    world.test_set.write(tmp_path / "scores.tsv")
    world.rate(drawn).write(tmp_path / "ratings.tsv")
    return tmp_path


def run(*arguments: object) -> Result:
    words = ["plan", *(str(argument) for argument in arguments)]
    return CliRunner().invoke(make_app(["plan"]), words)


ASSUMED = ("--population", 1400, "--sd", 3, "--correlation", 0.4)


def test_ratings_json() -> None:
    ran = run("ratings", *ASSUMED, "--half-width", 0.3, "--json")
    assert ran.exit_code == 0, ran.output
    result = json.loads(ran.stdout)
    assert result["kind"] == "plan-ratings"
    assert (result["needed"], result["needed_with_metrics"]) == (304, 266)
    assert (result["population"], result["sd"], result["correlation"]) == (1400, 3, 0.4)
    assert result["systems"] == 1


def test_ratings_table(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    options = (
        "--half-width",
        0.3,
        "--pay",
        "0.5 EUR per rating, 30 s per rating",
        "--systems",
        8,
        "--features",
        2,
    )
    ran = run("ratings", *ASSUMED, *options, "--sizes", "100, 700", "-o", file)
    assert ran.exit_code == 0, ran.output
    assert "half-width" in ran.stdout
    assert "minutes" in ran.stdout
    assert "cost" in ran.stdout
    assert "For intervals of ±0.3, 304 of 1,400 segments" in ran.stdout
    assert "or 266 with the help of metrics (correlation 0.40)" in ran.stdout
    assert (
        "In all 2,432 ratings (304 segments x 8 systems x one rater): 1,216 EUR, 20 h" in ran.stdout
    )
    assert "signature: plan-ratings|given|N:1400|" in ran.stdout
    assert f"written to {file}" in ran.stdout
    saved = json.loads(file.read_text("utf-8"))
    assert [point["n"] for point in saved["curve"]] == [100, 700]


def test_without_a_half_width() -> None:
    ran = run("ratings", *ASSUMED)
    assert ran.exit_code == 0
    assert "have to be rated" not in ran.stdout
    assert "minutes" not in ran.stdout


def test_pilot(pilot: Path) -> None:
    files = (pilot / "scores.tsv", pilot / "ratings.tsv")
    ran = run("ratings", *files, "--half-width", 0.5, "--better", "lower", "--metrics", "neural")
    assert ran.exit_code == 0, ran.output
    assert "The pilot leaves the sd uncertain: " in ran.stdout
    assert "are taken as a simple random sample" in ran.stderr
    ran = run("ratings", *files, "--better", "lower", "--exclude", "system-1", "--json")
    result = json.loads(ran.stdout)
    assert (result["source"], result["systems"], result["needed"]) == ("pilot", 2, None)


def test_comparison(pilot: Path) -> None:
    options = ("--population", 1400, "--difference-sd", 3, "--gap", 0.4, "--power", 0.9)
    result = json.loads(run("comparison", *options, "--json").stdout)
    assert result["kind"] == "plan-comparison"
    assert result["curve"][0]["power"] < 0.9
    files = (pilot / "scores.tsv", pilot / "ratings.tsv")
    ran = run("comparison", *files, "--gap", 0.4, "--better", "lower")
    assert ran.exit_code == 0, ran.output
    assert "To find a gap of 0.4 with 80% probability, " in ran.stdout
    assert "have to be rated for both systems" in ran.stdout


def test_refusals(pilot: Path) -> None:
    scores, ratings = pilot / "scores.tsv", pilot / "ratings.tsv"
    faults: list[tuple[tuple[object, ...], type[Exception], str]] = [
        (("ratings", scores), InputError, "was given alone; a pilot is two files"),
        (("ratings", *ASSUMED, "--metrics", "m"), OptionError, "--metrics (m) is about a pilot"),
        (("ratings", *ASSUMED, "--sizes", "a"), OptionError, "is not a list of whole numbers"),
        (("ratings", "--population", 9), InputError, "neither --sd nor a pilot is given"),
        (("ratings", "--population", 9, "--sd", 0), OptionError, "sd (0.0) is not a positive"),
        (("ratings", *ASSUMED, "-o", "plan.tsv"), OptionError, "end its name in .json"),
        (("comparison", scores, ratings, "--gap", 0), OptionError, "gap (0.0) is not a positive"),
    ]
    for arguments, kind, message in faults:
        ran = run(*arguments)
        assert isinstance(ran.exception, kind), arguments
        assert message in str(ran.exception)


def test_other_raters_columns_are_no_metrics(tmp_path: Path) -> None:
    """The score of a file is the mean of its raters' columns: they would explain it wholly."""
    world = assay.simulate(documents=20, systems=2, rng=1)
    frame = world.test_set.frame.select("system", "doc", "seg", "neural")
    rng = np.random.default_rng(1)
    for k in range(3):
        frame = frame.with_columns(pl.Series(f"quality_r{k}", rng.normal(0, 1, frame.height)))
    frame = frame.with_columns(quality=pl.mean_horizontal("quality_r0", "quality_r1", "quality_r2"))
    path = tmp_path / "all.tsv"
    frame.write_csv(path, separator="\t")
    ran = run("comparison", path, path, "--gap", 0.4, "--columns", "score=quality", "--json")
    assert ran.exit_code == 0, ran.output
    planned = json.loads(ran.stdout)
    assert planned["correlation"] is None or planned["correlation"] < 0.5
