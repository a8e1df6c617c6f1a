"""``assay audit`` as people type it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran

import assay

KEYS = {"kind", "version", "signature", "coverage", "matched", "power", "pairs", "findings"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("audit")
    world = assay.simulate(documents=20, systems=4, rng=1)
    world.test_set.write(path / "scores.tsv")
    sample = assay.sample(world.test_set, budget="40%", rng=1)
    sample.write(path / "sample.tsv")
    world.rate(sample).write(path / "ratings.tsv")
    world.judge(800, per_set=3, rng=1).write(path / "judgments.tsv")
    pl.DataFrame({"system": ["system-1", "system-2"], "rank": [1, 2]}).write_csv(path / "p.csv")
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ("scores.tsv", "ratings.tsv", "--sample", "sample.tsv", "--better", "lower"),
        ("scores.tsv", "ratings.tsv", "--better", "lower", "--published", "p.csv"),
        ("ratings.tsv", "--better", "lower", "--practice", "z"),
        ("scores.tsv", "ratings.tsv", "--target", "answers", "--assume", "random"),
        ("judgments.tsv", "--published", "p.csv"),
        ("scores.tsv", "judgments.tsv", "--level", "0.9"),
    ],
)
def test_json_and_words(
    arguments: tuple[str, ...], folder: Path, run_assay: Callable[..., Ran],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    ran = run_assay("audit", *arguments, "--seed", "1", "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert set(result) >= KEYS
    assert result["kind"] == "audit"
    words = run_assay("audit", *arguments, "--seed", "1", "--pairs")
    assert words.code == 0
    assert result["findings"][0][1:] in words.out
    assert result["signature"] in words.out
    assert "detectable" in words.out


def test_output_feeds_the_report(
    folder: Path, run_assay: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    ran = run_assay("audit", "ratings.tsv", "--seed", "1", "-o", "audit.json")
    assert "written to audit.json" in ran.out
    assert run_assay("report", "audit.json", "-o", "page.html").code == 0
    assert "What the campaign can say" in Path("page.html").read_text("utf-8")


def test_systems_only_the_ratings_have_can_be_excluded(
    folder: Path, run_assay: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    frame = pl.read_csv("ratings.tsv", separator="\t")
    more = frame.filter(pl.col("system") == "system-1").with_columns(system=pl.lit("human"))
    pl.concat([frame, more]).write_csv("more.tsv", separator="\t")
    assert run_assay("audit", "scores.tsv", "more.tsv").code == 2
    ran = run_assay(
        "audit", "scores.tsv", "more.tsv", "--exclude", "human,system-4", "--seed", "1", "--json"
    )
    assert ran.code == 0, ran.err
    assert {item["system"] for item in json.loads(ran.out)["systems"]} == {
        "system-1", "system-2", "system-3",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("judgments.tsv", "--better", "lower"), "--better (lower) is for ratings"),
        (("judgments.tsv", "--assume", "random"), "--assume (random) is for ratings"),
        (("ratings.tsv", "--sample", "sample.tsv"), "needs the scores"),
        (("scores.tsv", "ratings.tsv", "--metrics", "chrF"), "is for ratings with a --sample"),
        (("scores.tsv",), "is neither a table of judgments"),
        (
            ("scores.tsv", "ratings.tsv", "sample.tsv"),
            "is a sample, and ratings are wanted; give it as --sample",
        ),
        (("scores.tsv", "ratings.tsv", "--exclude", "sytem-1"), "did you mean 'system-1'"),
        (("scores.tsv", "ratings.tsv", "--published", "scores.tsv"), "columns must be"),
        (("scores.tsv", "ratings.tsv", "--target", "docs"), "target (docs) is not known"),
        (("scores.tsv", "ratings.tsv", "--assume", "luck"), "assume (luck) is not known"),
        (("ratings.tsv", "--level", "2"), "level (2.0)"),
        (("judgments.tsv", "--level", "2"), "level (2.0)"),
        (("ratings.tsv", "-o", "ratings.tsv"), "is an input file"),
    ],
)
def test_bad_input(
    arguments: tuple[str, ...], said: str, folder: Path, run_assay: Callable[..., Ran],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    ran = run_assay("audit", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err
