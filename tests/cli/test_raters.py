"""``assay raters``, and the options of ``assay estimate`` that go beyond scores."""

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
def campaign(tmp_path: Path) -> list[object]:
    """The arguments that name scores, ratings with some controls, and a sample."""
    world = assay.simulate(documents=12, systems=3, raters=3, rng=5)
    drawn = assay.sample(world.test_set, budget="40%", rng=1)
    world.test_set.write(tmp_path / "scores.tsv")
    drawn.write(tmp_path / "sample.tsv")
    rows = world.rate(drawn).frame.with_columns(check=pl.lit(None, dtype=pl.String))
    spoiled = rows.head(30).with_columns(pl.col("score") + 1, check=pl.lit("bad"))
    pl.concat([rows, spoiled]).write_csv(tmp_path / "ratings.tsv", separator="\t")
    world.mark(drawn).write(tmp_path / "errors.tsv")
    return [
        tmp_path / "scores.tsv", tmp_path / "ratings.tsv", "--sample", tmp_path / "sample.tsv",
        "--better", "lower",
    ]  # fmt: skip


def words_of(table: str) -> set[str]:
    """The cells of a printed table, which two spaces or more set apart."""
    return {cell.strip() for line in table.splitlines() for cell in re.split(r"\s{2,}", line)}


def test_raters(campaign: list[object], run_assay: Run, tmp_path: Path) -> None:
    code, out, err = run_assay("raters", *campaign, "-o", tmp_path / "raters.json")
    assert code == 0
    for words in (
        "rater-1",
        "Krippendorff",
        "Outliers: none.",
        "Outlier: more than",
        "by each alone",
    ):
        assert words in out
    assert "10/10" in out
    assert "30 attention checks are left out of all estimates" in err
    found = json.loads((tmp_path / "raters.json").read_text())
    assert found["kind"] == "raters"
    assert found["raters"][0]["passed"] == 10
    assert found["estimates"][0]["rater"] is None
    assert json.loads(run_assay("raters", *campaign, "--json").out) == found


def test_check_knows_the_column(campaign: list[object], run_assay: Run) -> None:
    code, out, _ = run_assay(
        "check", campaign[1], "--kind", "ratings", "--scores", campaign[0], "--json"
    )
    assert code == 0
    assert json.loads(out)["ok"]


def test_exclusion_and_severity_show_their_effect(campaign: list[object], run_assay: Run) -> None:
    options = ["--exclude-raters", "rater-2", "--remove-severity"]
    code, out, err = run_assay("estimate", *campaign, *options)
    assert code == 0
    assert "left out: those of rater-2" in err
    assert {"as given", "without rater-2", "severity removed"} <= words_of(out)
    assert "next: " in out
    whole = json.loads(run_assay("estimate", *campaign, *options, "--json").out)
    assert whole["changed"] == ["raters:-1", "severity:removed"]
    fewer, fair = whole["changes"]
    assert fewer["raters"] == ["rater-2"]
    assert fewer["after"] == fair["before"] != fewer["before"]
    assert fair["after"] == {item["system"]: item["estimate"] for item in whole["systems"]}
    plain = json.loads(run_assay("estimate", *campaign, "--json").out)
    assert fewer["before"] == {item["system"]: item["estimate"] for item in plain["systems"]}
    assert run_assay("estimate", *campaign, "--exclude-raters", "nobody").code == 2


def test_breakdown(campaign: list[object], run_assay: Run, tmp_path: Path) -> None:
    for by in ("domain", "document", "length"):
        code, out, err = run_assay("estimate", *campaign, "--by", by)
        assert code == 0
        assert f"Scores by {by} (lower is better)" in out
        assert "Differences between systems that are decided within each group." in out
        assert "intervals are shown" in err
    found = json.loads(run_assay("estimate", *campaign, "--by", "domain", "--json").out)
    assert found["kind"] == "estimates"
    assert found["breakdown"]["kind"] == "breakdown"
    errors = ["--by", "category", "--errors", tmp_path / "errors.tsv"]
    code, out, _ = run_assay("estimate", *campaign, *errors)
    assert code == 0
    assert "Scores by category (lower is better)" in out
    assert run_assay("estimate", *campaign, *errors, "--remove-severity").code == 2
    assert run_assay("estimate", *campaign, "--by", "category").code == 2


def test_two_systems(campaign: list[object], run_assay: Run) -> None:
    code, out, _ = run_assay("estimate", *campaign, "--exclude", "system-3")
    assert code == 0
    assert "80% probability" in out
    code, out, _ = run_assay("estimate", *campaign, "--compare", "system-2,system-1")
    assert "system-2 − system-1: " in out
    found = json.loads(
        run_assay("estimate", *campaign, "--compare", "system-2,system-1", "--json").out
    )
    assert {"p", "detectable", "needed"} <= set(found["comparison"])
    assert {"p"} <= set(found["differences"][0])
    assert run_assay("estimate", *campaign, "--compare", "system-1").code == 2
    assert run_assay("estimate", *campaign, "--compare", "system-1,x").code == 2


def test_columns_that_are_no_metrics_do_not_matter(
    campaign: list[object], run_assay: Run, tmp_path: Path
) -> None:
    scores, ratings = (pl.read_csv(str(path), separator="\t") for path in campaign[:2])
    key = [name for name in ("system", "doc", "seg") if name in ratings.columns]
    answer = ratings.group_by(key).agg(pl.col("score").mean().alias("other"))
    file = tmp_path / "with-answers.tsv"
    scores.join(answer, on=key, how="left").write_csv(file, separator="\t")
    ran = run_assay("raters", file, campaign[1], "--better", "lower")
    assert ran.code == 0, ran.err
    ran = run_assay("estimate", file, campaign[1], "--better", "lower", "--assume", "random")
    assert ran.code == 2
    assert "it is the answer, not a metric" in ran.err
