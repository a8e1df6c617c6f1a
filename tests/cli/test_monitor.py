"""``assay monitor``: planned looks on files, from one call to the next."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Ran

import assay
from assay.tables.tables import Sample
from assay.worlds.simulate import World


@pytest.fixture
def world() -> World:
    return assay.simulate(documents=40, systems=3, rng=2)


@pytest.fixture
def watch(
    tmp_path: Path, world: World, run_assay: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    """Monitor the first n segments of an order."""
    monkeypatch.chdir(tmp_path)
    drawn = assay.sample(world.test_set, budget=200, design="interleaved", rng=3)
    world.test_set.write(tmp_path / "scores.tsv")
    drawn.write(tmp_path / "order.tsv")

    def run(n: int, *options: str) -> Ran:
        world.rate(Sample(drawn.frame.sort("order").head(n))).write(tmp_path / "ratings.tsv")
        files = ("scores.tsv", "ratings.tsv", "--sample", "order.tsv", "--better", "lower")
        return run_assay("monitor", *files, *options)

    return run


def test_looks_are_kept_from_call_to_call(watch: Callable[..., Ran]) -> None:
    goal = ("--goal", "ranking", "--looks", "4")
    ran = watch(60, *goal, "-o", "first.json")
    assert ran.code == 0, ran.err
    assert "1 of 4 planned looks has taken place. The next is at 100 segments" in ran.out
    assert "provisional" in ran.out
    ran = watch(110, *goal, "--earlier", "first.json", "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert result["planned"] == [50, 100, 150, 200]
    assert len(result["limits"]) == 4
    saved = json.loads(Path("first.json").read_text("utf-8"))
    past = [look for look in result["looks"] if look["n"] == 50]
    assert past == saved["looks"]
    assert {look["n"] for look in result["looks"]} == {50, 100}


def test_sizes_may_be_listed(watch: Callable[..., Ran]) -> None:
    ran = watch(100, "--goal", "ranking", "--looks", "80,200", "--json")
    assert json.loads(ran.out)["planned"] == [80, 200]


def test_what_does_not_fit_is_refused(watch: Callable[..., Ran]) -> None:
    for options, message in (
        ((), "half-width"),
        (("--goal", "ranking", "--looks", "some"), "is not a plan"),
        (("--goal", "ranking", "--earlier", "scores.tsv"), "is not a saved result"),
        (("--goal", "ranking", "--looks", "3", "--earlier", "past.json"), "has another plan"),
        (("--goal", "ranking", "--earlier", "past.json", "-o", "past.json"), "is an input file"),
        (("--goal", "ranking", "--earlier", "sampled.json"), "is a result of kind"),
    ):
        if "past.json" in options:
            watch(60, "--goal", "ranking", "-o", "past.json")
        if "sampled.json" in options:
            world = assay.simulate(documents=20, rng=1)
            found = assay.estimate(world.test_set, world.rate()).to_dict()
            Path("sampled.json").write_text(json.dumps(found), "utf-8")
        ran = watch(60, *options)
        assert ran.code == 2, options
        assert message in " ".join(ran.err.split()), (options, ran.err)


def test_a_sample_that_cannot_be_watched_names_those_that_can(
    watch: Callable[..., Ran], world: World, run_assay: Callable[..., Ran]
) -> None:
    watch(60, "--half-width", "1")
    assay.sample(world.test_set, budget=60, design="snippets", rng=1).write("snippets.tsv")
    ran = run_assay("monitor", "scores.tsv", "ratings.tsv", "--sample", "snippets.tsv",
                    "--half-width", "1")  # fmt: skip
    assert ran.code == 2
    assert "interleaved" in ran.err
    assert "segments" in ran.err
