"""What other systems' ratings say: in samples, in estimates, and never about the system itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay.designs.population import Population
from assay.errors import InputError, OptionError
from assay.estimation.estimate import estimate
from assay.estimation.evaluate import evaluate_estimators
from assay.estimation.kernels import make_features
from assay.sampling.draw import sample, top_up
from assay.tables.history import add_history
from assay.tables.tables import read_ratings, read_scores
from assay.worlds.simulate import World, simulate


@pytest.fixture(scope="module")
def world() -> World:
    return simulate(documents=60, systems=5, metrics={"good": 0.5, "fair": 0.4}, rng=3)


def test_differences_do_not_see_their_own_ratings(world: World) -> None:
    # The history of one system of a pair holds the rating of the other: as a feature of their
    # difference it would be the answer.
    drawn = sample(world.test_set, budget="20%", rng=1)
    ratings = world.rate(drawn)
    plain = estimate(world.test_set, ratings, sample=drawn)
    borrowed = estimate(add_history(world.test_set, ratings), ratings, sample=drawn)
    one = {(d.left, d.right): d.difference for d in plain.differences}
    for item in borrowed.differences:
        known = one.get((item.left, item.right))
        known = -one[(item.right, item.left)] if known is None else known
        assert item.difference == pytest.approx(known)


def test_it_helps_and_covers(world: World) -> None:
    records = list(
        evaluate_estimators(
            world.test_set, world.rate(), methods=["balanced+regression", "balanced+history"],
            sizes=[0.15], draws=100, rng=1,
        )
    )  # fmt: skip
    error, coverage = (
        {
            name: np.mean([getattr(r, what) for r in records if r.method == name])
            for name in ("balanced+regression", "balanced+history")
        }
        for what in ("error", "coverage")
    )
    assert error["balanced+history"] < 0.9 * error["balanced+regression"]
    assert coverage["balanced+history"] > 0.92


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["matched", "mixed", "apart"])
def test_borrowing_covers(kind: str) -> None:
    # 60 draws x 6 systems: the sd of a coverage of .95 is .011, more where systems share segments.
    world = simulate(documents=50, systems=6, metrics={"good": 0.4}, rng=8)
    truth, hits = world.truth(), []
    for draw in range(60):
        drawn = sample(world.test_set, budget="20%", design="segments", rng=draw,
                       matched=kind != "apart")  # fmt: skip
        if kind == "mixed":
            core = sample(world.test_set, budget="10%", design="segments", rng=draw)
            drawn = top_up(world.test_set, core, budget="20%", matched=False, rng=draw)
        ratings = world.rate(drawn)
        known = add_history(world.test_set, ratings)
        result = estimate(known, ratings, sample=drawn, method="regression")
        hits += [item.low <= truth[item.system] <= item.high for item in result.systems]
    assert np.mean(hits) > 0.9


def test_differences_of_systems_drawn_apart() -> None:
    # Unequal probabilities: what two systems share by chance has the probability pi_i pi_j. The
    # gap grows with badness, so that the wrong weights would show.
    rng = np.random.default_rng(1)
    bad = rng.random(400)
    rows = [
        {"system": system, "doc": f"d{k // 20}", "seg": str(k), "m1": -bad[k], "m2": -bad[k] ** 2,
         "score": bad[k] * (8 if system == "B" else 3) + rng.normal()}
        for system in "AB" for k in range(400)
    ]  # fmt: skip
    frame = pl.DataFrame(rows)
    test_set = read_scores(frame.drop("score"))
    ratings = read_ratings(frame.select("system", "doc", "seg", "score"), test_set, better="lower")
    gap = float(np.subtract(*ratings.matrix(test_set).mean(axis=1)))
    off = []
    for draw in range(40):
        drawn = sample(test_set, budget="40%", design="balanced", matched=False, rng=draw)
        item = estimate(test_set, ratings, sample=drawn, method="mean").differences[0]
        off.append(item.difference - (gap if item.left == "A" else -gap))
    assert abs(np.mean(off)) < 4 * np.std(off) / np.sqrt(40)


def test_without_metrics(world: World) -> None:
    bare = read_scores(world.test_set.frame.select("system", "doc", "seg"))
    known = add_history(bare, world.rate())
    features = make_features(known)
    assert features is not None
    assert features.names == ("history",)
    drawn = sample(known, budget=60, design="balanced", rng=1)
    result = estimate(known, world.rate(drawn), sample=drawn)
    assert result.method == "regression"
    with pytest.raises(InputError, match="cv-knn needs metrics"):
        estimate(known, world.rate(drawn), sample=drawn, method="cv-knn")


class TestSamples:
    def test_a_sample_says_that_it_knew_the_history(self, world: World) -> None:
        known = add_history(world.test_set, world.rate())
        drawn = sample(known, budget=60, design="balanced", rng=1)
        assert len(drawn.design.parameters["history"]) == 8
        borrowed = add_history(world.test_set, world.rate(drawn))
        one, two, three = (
            estimate(test_set, world.rate(drawn), sample=drawn, method="mean").systems
            for test_set in (known, borrowed, world.test_set)
        )
        assert one == two == three
        with pytest.raises(InputError, match="give the same one"):
            top_up(borrowed, drawn, budget=80, rng=2)
        with pytest.raises(InputError, match="drawn with a history"):
            top_up(world.test_set, drawn, budget=80, rng=2)

    def test_a_sample_that_did_not_know_it(self, world: World) -> None:
        drawn = sample(world.test_set, budget=60, design="balanced", rng=1)
        ratings = world.rate(drawn)
        plain = estimate(world.test_set, ratings, sample=drawn, method="mean")
        known = add_history(world.test_set, ratings)
        assert estimate(known, ratings, sample=drawn, method="mean").systems == plain.systems

    def test_half_matched_half_spread(self, world: World) -> None:
        core = sample(world.test_set, budget=40, design="segments", rng=1)
        mixed = top_up(world.test_set, core, budget=80, matched=False, rng=2)
        assert not mixed.matched
        assert mixed.design.parameters["matched"] == "no"
        per_system = mixed.frame.group_by("system").len()["len"].to_list()
        assert per_system == [80] * 5
        counts = mixed.frame.group_by("doc", "seg").len()
        assert (counts["len"] == 5).sum() >= 40
        assert mixed.frame["probability"].unique().len() == 1
        with pytest.raises(OptionError, match="cannot be had"):
            top_up(world.test_set, mixed, budget=100, matched=True)

    def test_unequal_probabilities_stay_matched(self, world: World) -> None:
        frame = world.test_set.frame.with_columns(copy=pl.col("good") * 2)
        test_set = read_scores(frame)
        core = sample(test_set, budget=40, design="balanced", rng=1)
        with pytest.raises(OptionError, match="needs a design with equal probabilities"):
            top_up(test_set, core, budget=80, matched=False)
        other = read_scores(frame, metrics=["fair"])
        with pytest.raises(InputError, match="states other probabilities"):
            top_up(other, core, budget=80)

    @pytest.mark.slow
    def test_half_matched_probabilities(self) -> None:
        # 2,000 samples of snippets: every segment as often as stated, for every system.
        world = simulate(documents=8, systems=2, rng=1)
        seen = np.zeros((2, world.test_set.segments.height))
        pi = np.full(seen.shape, np.nan)
        for draw in range(2000):
            core = sample(world.test_set, budget="15%", design="snippets", rng=draw)
            mixed = top_up(world.test_set, core, budget="30%", matched=False, rng=draw)
            found = mixed.probabilities(world.test_set)
            seen += ~np.isnan(found)
            pi = np.where(np.isnan(found), pi, found)
        z = (seen / 2000 - pi) / np.sqrt(pi * (1 - pi) / 2000)
        assert np.nanmax(np.abs(z)) < 4.5


class TestSlope:
    def slope(self, frame: pl.DataFrame, metrics: list[str]) -> bool:
        return Population(read_scores(frame, metrics=metrics)).metrics_agree

    def test_only_metrics_that_agree_make_bad_segments_likelier(self, world: World) -> None:
        rng = np.random.default_rng(1)
        frame = world.test_set.frame.with_columns(
            noise=pl.Series(rng.random(world.test_set.frame.height)),
            more=pl.Series(rng.random(world.test_set.frame.height)),
            copy=pl.col("good") + 0.01 * pl.Series(rng.random(world.test_set.frame.height)),
        )
        assert not self.slope(frame, ["good"])
        assert self.slope(frame, ["good", "copy"])
        assert not self.slope(frame, ["good", "noise"])
        assert not self.slope(frame, ["good", "noise", "more"])
        turned = frame.with_columns(-pl.col("copy"))
        assert not self.slope(turned, ["good", "copy"])

    def test_one_metric_of_the_wrong_sign_changes_nothing(self, world: World) -> None:
        one = read_scores(world.test_set.frame, metrics=["good"])
        frame = world.test_set.frame.with_columns(good=-1000 * pl.col("good"))
        two = read_scores(frame, metrics=["good"])
        truth = world.rate()
        left, right = (
            list(evaluate_estimators(test_set, truth, methods=["balanced+auto"], sizes=[0.2],
                                     draws=400, rng=1))
            for test_set in (one, two)
        )  # fmt: skip
        error = [np.mean([r.error for r in records]) for records in (left, right)]
        noise = np.sqrt(sum(r.sd**2 / r.draws for r in left)) / len(left)
        assert abs(error[0] - error[1]) < 4 * np.sqrt(2) * noise


def test_on_the_command_line(tmp_path: Path, run_assay, world: World) -> None:  # type: ignore[no-untyped-def]
    world.test_set.write(tmp_path / "scores.tsv")
    world.rate().write(tmp_path / "all.tsv")
    scores, everything, drawn = (
        str(tmp_path / name) for name in ("scores.tsv", "all.tsv", "sample.tsv")
    )
    options = ["--history", everything, "--better", "lower"]
    done = run_assay("sample", scores, "--budget", "60", "--design", "balanced", "--seed", "1",
                     "-o", drawn, *options)  # fmt: skip
    assert done.code == 0, done.err
    done = run_assay("estimate", scores, everything, "--sample", drawn, *options)
    assert done.code == 0, done.err
    assert "history: " in done.err
    done = run_assay("estimate", scores, everything, "--sample", drawn, "--better", "lower")
    assert done.code == 0, done.err
    done = run_assay("sample", scores, "--top-up", drawn, "--budget", "80",
                     "--seed", "2", "-o", str(tmp_path / "more.tsv"))  # fmt: skip
    assert done.code == 2
    assert "drawn with a history" in done.err
    done = run_assay("estimate", scores, everything, "--sample", drawn, "--borrow", *options)
    assert done.code == 2
    assert "--borrow (True) adds a second history" in done.err


def test_a_history_is_the_same_in_every_run() -> None:
    world = assay.simulate(documents=40, systems=5, rng=1)
    ratings = world.rate()
    first, *others = (assay.add_history(world.test_set, ratings).frame for _ in range(6))
    assert all(first["history"].to_list() == other["history"].to_list() for other in others)
