"""``assay evaluate``: a readable table, one JSON object, clear refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Ran

import assay

Run = Callable[..., Ran]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    world = assay.simulate(documents=12, systems=2, rng=5)
    world.test_set.write(tmp_path / "scores.tsv")
    world.rate().write(tmp_path / "all.tsv")
    drawn = assay.sample(world.test_set, budget="50%", rng=1)
    world.rate(drawn).write(tmp_path / "some.tsv")
    return tmp_path


def test_json_and_table(folder: Path, run_assay: Run) -> None:
    given = [folder / "scores.tsv", folder / "all.tsv", "--better", "lower", "--sizes", "20%,0.4",
             "--methods", "baseline,DB+regression", "--draws", 10, "--seed", 1]  # fmt: skip
    ran = run_assay("evaluate", *given, "--json", "-o", folder / "e.json")
    result = json.loads(ran.out)
    assert result == json.loads((folder / "e.json").read_text())
    assert [row["method"] for row in result["methods"]] == ["baseline", "DB+regression"]
    assert result["methods"][0]["gain"] == 0
    assert len(result["records"]) == 2 * 2 * 2
    ran = run_assay("evaluate", *given)
    assert "DB+regression" in ran.out
    assert "signature: evaluate|sizes:0.2-0.4|draws:10|seed:1" in ran.out


def test_stopping(folder: Path, run_assay: Run) -> None:
    given = [folder / "scores.tsv", folder / "all.tsv", "--better", "lower", "--sizes", "20%",
             "--methods", "baseline", "--draws", 5, "--seed", 1, "--half-width", 0.8]  # fmt: skip
    whole = json.loads(run_assay("evaluate", *given, "--json").out)
    assert {row["method"] for row in whole["stopping"]} == {"interleaved", "random + t"}
    assert whole["half_width"] == 0.8
    assert "Rated until every interval is ±0.8" in run_assay("evaluate", *given).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scores.tsv", "some.tsv"], "have no rating"),
        (["scores.tsv", "all.tsv", "--sizes", "many"], "are not shares"),
        (["scores.tsv", "all.tsv", "--sizes", "200%"], "is not a share"),
        (["scores.tsv", "all.tsv", "--methods", "x"], "is not known"),
        (["scores.tsv", "all.tsv", "--draws", "0"], "is not a number of samples"),
        (["scores.tsv", "all.tsv", "-o", "e.tsv"], ".json"),
    ],
)
def test_refusals(
    arguments: list[str], message: str, folder: Path, run_assay: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    ran = run_assay("evaluate", *arguments)
    assert ran.code == 2
    assert message in ran.err
