"""``assay plan``."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.conftest import Ran
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
    assert "For intervals of ±0.3, rate 304 of 1,400 segments" in ran.stdout
    assert "or 266 with the help of metrics (correlation 0.40)" in ran.stdout
    assert (
        "In all: 2,432 ratings (304 segments x 8 systems x one rater): 1,216 EUR, 20 h"
        in ran.stdout
    )
    assert "signature: plan-ratings|given|N:1400|" in ran.stdout
    assert f"written to {file}" in ran.stdout
    saved = json.loads(file.read_text("utf-8"))
    assert [point["n"] for point in saved["curve"]] == [100, 700]


def test_without_a_half_width() -> None:
    ran = run("ratings", *ASSUMED)
    assert ran.exit_code == 0
    assert "rate " not in ran.stdout
    assert "minutes" not in ran.stdout


def test_pilot(pilot: Path) -> None:
    files = (pilot / "scores.tsv", pilot / "ratings.tsv")
    ran = run("ratings", *files, "--half-width", 0.5, "--better", "lower", "--metrics", "neural")
    assert ran.exit_code == 0, ran.output
    assert "As the pilot leaves the sd uncertain, " in ran.stdout
    assert "are treated as a simple random sample" in ran.stderr
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
    assert "To detect a gap of 0.4 with 80% probability, " in ran.stdout
    assert "segments for both systems" in ran.stdout


def test_refusals(pilot: Path) -> None:
    scores, ratings = pilot / "scores.tsv", pilot / "ratings.tsv"
    faults: list[tuple[tuple[object, ...], type[Exception], str]] = [
        (("ratings", scores), InputError, "was given alone; a pilot is two files"),
        (("ratings", *ASSUMED, "--metrics", "m"), OptionError, "--metrics (m) needs a pilot"),
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


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of three systems."""
    monkeypatch.chdir(tmp_path)
    assay.simulate(documents=30, systems=3, texts=True, rng=1).test_set.write("scores.tsv")
    Path("assay.toml").write_text('protocol = "esa"\nscores = "scores.tsv"\n', encoding="utf-8")
    return tmp_path


def test_a_project_is_planned_and_keeps_the_budget(
    project: Path, run_assay: Callable[..., Ran]
) -> None:
    ran = run_assay("plan", "--budget", "60 EUR", "--pay", "0.12 EUR per rating")
    assert ran.code == 0, ran.err
    assert "60 EUR buys 498 ratings: 3 systems x 151 segments once + 10% twice." in ran.out
    assert "kept in assay.toml: assay sample draws 151 segments" in ran.err
    said = tomllib.loads((project / "assay.toml").read_text("utf-8"))
    assert said["sample"]["budget"] == "151"
    assert said["pay"] == {"per_rating": 0.12, "currency": "EUR"}
    assert run_assay("sample", "--seed", 1).code == 0
    again = run_assay("plan", "--budget", "30 EUR")
    assert "30 EUR buys" in again.out
    assert "assay sample draws 75 segments anew" in again.err  # nobody has begun
    assert run_assay("sample", "--seed", 1).code == 0
    assert run_assay("collect", "--sheets", "csv", "--raters", "2").code == 0
    again = run_assay("plan", "--budget", "60 EUR")
    assert "assay sample --top-up sample.tsv --budget 151" in again.err


def test_second_opinions_that_a_budget_buys_are_dealt_out(
    project: Path, run_assay: Callable[..., Ran]
) -> None:
    ran = run_assay("plan", "--budget", "1300 ratings", "--pay", "0.12 EUR per rating")
    size = assay.read_scores("scores.tsv").segments.height
    share = 1300 / (3 * size) - 1
    assert f"x {size} segments once + {share:.0%} twice" in ran.out
    ran = run_assay("sample", "--seed", 1)
    assert f"With one more rater for {share:.0%} of them: 1,300 ratings (156 EUR)." in ran.out
    said = tomllib.loads((project / "assay.toml").read_text("utf-8"))
    assert said["raters"] == {"overlap": f"{share:.0%}"}
    ran = run_assay("collect", "--sheets", "csv", "--raters", "3", "--json")
    outputs = sum(load["outputs"] for load in json.loads(ran.out)["loads"])
    assert abs(outputs - 1300) <= 30


def test_ratings_alone_are_a_pilot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_assay: Callable[..., Ran]
) -> None:
    monkeypatch.chdir(tmp_path)
    world = assay.simulate(documents=10, systems=2, rng=1)
    frame = world.rate().frame.select("system", "doc", "seg", "rater", "score")
    frame.rename({"system": "Model", "score": "ESA score"}).write_excel("mine.xlsx")
    goal = ("--decide", 2, "--better", "higher")
    ran = run_assay("plan", "--pilot", "mine.xlsx", "--population", 900, *goal, "--json")
    found = json.loads(ran.out)
    assert (found["source"], found["systems"], found["population"]) == ("pilot", 2, 900)
    assert "|pilot|N:900" in found["signature"]
    assert (
        "give --population, its number of segments"
        in run_assay("plan", "--pilot", "mine.xlsx", *goal).err
    )
    ran = run_assay("plan", "mine.xlsx", *goal)
    assert (ran.code, "mine.xlsx: give a file by its option: --pilot" in ran.err) == (2, True)


def test_ratings_of_a_project_are_its_pilot(project: Path, run_assay: Callable[..., Ran]) -> None:
    world = assay.simulate(documents=30, systems=3, texts=True, rng=1)
    drawn = assay.sample(world.test_set, budget="30%", rng=1)
    world.rate(drawn).write("ratings.tsv")
    with Path("assay.toml").open("a", encoding="utf-8") as file:
        file.write('ratings = ["ratings.tsv"]\nbetter = "lower"\n')
    result = json.loads(run_assay("plan", "--budget", "100", "--json").out)
    assert result["source"] == "pilot"
    few = pl.read_csv("ratings.tsv", separator="\t").head(2)
    few.write_csv("ratings.tsv", separator="\t")
    ran = run_assay("plan", "--budget", "100", "--json")
    assert json.loads(ran.out)["source"] == "typical"
    assert "too few to plan by" in ran.err


def test_a_plan_outside_a_project(tmp_path: Path, run_assay: Callable[..., Ran]) -> None:
    ran = run_assay("plan", "--systems", 2, "--population", 1814, "--decide", 2, "--json")
    assert json.loads(ran.out)["needed"] == 612
    assert "--scores" in run_assay("plan").err
    ran = run_assay("plan", "--systems", 2, "--population", 99, "--budget", "9 EUR")
    assert ran.code == 2
    assert "give --pay such as" in ran.err
    assert run_assay("plan", "--pilot", tmp_path / "x.tsv").code == 2
    ran = run_assay(
        "plan", "--systems", 2, "--population", 99, "--budget", "9", "--decide", 2, "--json"
    )
    assert "--decide (2.0) is a second goal next to --budget" in ran.err


def test_a_sample_takes_money_and_hours(project: Path, run_assay: Callable[..., Ran]) -> None:
    pay = ("--pay", "0.12 EUR per rating, 40 s per rating")
    for budget, words, n in (
        ("300 ratings", "300 ratings: 90 segments x 3 systems x 1.1 raters", 90),
        ("36 EUR", "36 EUR buys 300 ratings: 90 segments x 3 systems x 1.1 raters", 90),
        ("2 hours", "2 hours buys 180 ratings: 54 segments", 54),
    ):
        ran = run_assay("sample", "--budget", budget, "--seed", 1, *pay, "--json")
        assert words in ran.err
        assert abs(json.loads(ran.out)["n"] - n) <= 3
    assert "buys 2 ratings" in run_assay("sample", "--budget", "2 ratings").err


def test_what_money_buys_for_ratings_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_assay: Callable[..., Ran]
) -> None:
    """There is no end of texts like these; with a test set, there is one."""
    monkeypatch.chdir(tmp_path)
    world = assay.simulate(documents=20, systems=2, raters=2, rng=1)
    frame = world.rate().frame.select("system", "doc", "seg", "rater", "score")
    frame.rename({"system": "Model", "score": "ESA score"}).write_excel("mine.xlsx")
    asked = ("plan", "--pilot", "mine.xlsx", "--budget", "300 EUR", "--pay", "0.12 EUR per rating")
    ran = run_assay(*asked, "--better", "lower")
    assert "300 EUR buys 2,499 ratings: 2 systems x 1,136 segments once + 10% twice." in ran.out
    assert "new texts like the" in ran.err
    found = json.loads(run_assay(*asked, "--better", "lower", "--json").out)
    assert found["population"] is None
    assert found["choices"][0]["half_width"] < 2  # other raters are not in it
    ran = run_assay(*asked, "--better", "lower", "--population", 200)
    assert (
        "300 EUR buys more than there is to rate: everything takes 800 ratings (96 EUR)" in ran.out
    )
    ran = run_assay("plan", "--pilot", "mine.xlsx", "--budget", "50", "--better", "lower")
    assert "is not in ratings or money" in ran.err


def test_a_budget_that_cannot_be_used_is_no_fault_of_the_pilot(
    project: Path, run_assay: Callable[..., Ran]
) -> None:
    world = assay.simulate(documents=30, systems=3, texts=True, rng=1)
    drawn = assay.sample(world.test_set, budget="30%", rng=1)
    world.rate(drawn).write("ratings.tsv")
    with Path("assay.toml").open("a", encoding="utf-8") as file:
        file.write('ratings = ["ratings.tsv"]\nbetter = "lower"\n')
    for budget in ("15000", "20 hours"):
        ran = run_assay("plan", "--budget", budget)
        assert ran.code == 2
        assert "too few to plan by" not in ran.err


def test_no_number_is_told_so(run_assay: Callable[..., Ran]) -> None:
    asked = ("plan", "--systems", 2, "--population", 100, "--budget", "20%")
    for share in ("nan", "2", "-0.1"):
        ran = run_assay(*asked, "--checks", share)
        assert (ran.code, "is not a share" in ran.err) == (2, True)


def test_options_of_another_plan_are_named(run_assay: Callable[..., Ran]) -> None:
    ran = run_assay("plan", "ratings", "--budget", "15000")
    assert (ran.code, "it is one of assay plan campaign" in ran.err) == (2, True)
    assert "Possible options" not in ran.err


def test_a_sample_without_a_budget_says_where_it_comes_from(
    project: Path, run_assay: Callable[..., Ran]
) -> None:
    ran = run_assay("sample")
    assert (ran.code, "assay plan --budget '300 EUR'" in ran.err) == (2, True)
