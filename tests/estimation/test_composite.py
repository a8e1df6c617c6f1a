"""The order with the metrics' help: beside the direct estimates, and never in their place."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import assay
from assay.errors import InputError, OptionError
from assay.estimation.composite import (
    EVEN_WORTH,
    MAX_NOISE_SIGNAL,
    MAX_PROBABILITY,
    MIN_WORTH,
    between_systems,
)
from assay.estimation.composite_trial import draw_composites, evaluate_composite
from assay.estimation.results import Estimates
from assay.estimation.trials import Evaluation
from assay.results import has_note
from assay.tables.tables import TestSet
from assay.worlds.simulate import World


@pytest.fixture(scope="module")
def world() -> World:
    return assay.simulate(documents=40, systems=6, rng=3)


@pytest.fixture(scope="module")
def estimates(world: World) -> Estimates:
    drawn = assay.sample(world.test_set, budget=40, design="segments", rng=5)
    return assay.estimate(world.test_set, world.rate(drawn), sample=drawn)


def changed(test_set: TestSet, **columns: np.ndarray) -> TestSet:
    return assay.read_scores(test_set.frame.with_columns(**columns), metrics=test_set.metrics)


def test_every_system_and_pair_once_in_one_order(estimates: Estimates) -> None:
    found = estimates.composite
    assert found is not None
    names = [item.system for item in found.systems]
    assert sorted(names) == sorted(item.system for item in estimates.systems)
    assert [item.rank for item in found.systems] == list(range(1, 7))
    place = {name: k for k, name in enumerate(names)}
    assert len(found.pairs) == 15
    scores = {item.system: item.score for item in found.systems}
    for pair in found.pairs:
        assert place[pair.left] < place[pair.right]
        assert pair.low < pair.difference < pair.high
        assert 0.5 <= pair.probability <= MAX_PROBABILITY
        assert pair.difference <= 0  # lower is better
        gap = scores[pair.left] - scores[pair.right]
        assert pair.difference == pytest.approx(gap)
    ahead = [item.ahead for item in found.systems]
    assert ahead[-1] is None
    assert all(value is not None and value >= 0.5 for value in ahead[:-1])
    center = np.mean([item.estimate for item in estimates.systems])
    assert np.mean(list(scores.values())) == pytest.approx(center)


def test_the_direct_estimates_stay_what_they_are(world: World, estimates: Estimates) -> None:
    """Verdicts, ranks and differences do not know of the composite."""
    two = world.test_set.systems[:2]
    frame = world.test_set.frame.filter(pl.col("system").is_in(two))
    pair = assay.read_scores(frame, metrics=world.test_set.metrics)
    drawn = assay.sample(world.test_set, budget=40, design="segments", rng=5)
    rated = world.rate(drawn)
    rows = rated.frame.filter(pl.col("system").is_in(two))
    alone = assay.estimate(pair, assay.read_ratings(rows, pair, better="lower"), sample=drawn)
    assert alone.composite is None  # two systems say nothing about how far metrics are off
    whole = {frozenset((item.left, item.right)): item for item in estimates.differences}
    assert abs(alone.differences[0].difference) == pytest.approx(
        abs(whole[frozenset(two)].difference)
    )


def test_no_metrics_no_composite(world: World) -> None:
    drawn = assay.sample(world.test_set, budget=40, design="segments", rng=5)
    rated = world.rate(drawn)
    assert assay.estimate(world.test_set, rated, sample=drawn, method="mean").composite is None
    bare = replace(world.test_set, metrics=())
    assert assay.estimate(bare, rated, sample=drawn).composite is None
    flat = changed(world.test_set, **dict.fromkeys(world.test_set.metrics, pl.lit(1.0)))
    assert between_systems(flat) is None


def test_direction_and_scale_of_metrics_do_not_matter(world: World, estimates: Estimates) -> None:
    first = world.test_set.metrics[0]
    other = changed(world.test_set, **{first: -1000 * pl.col(first)})
    drawn = assay.sample(world.test_set, budget=40, design="segments", rng=5)
    found = assay.estimate(other, world.rate(drawn), sample=drawn).composite
    assert found is not None
    assert estimates.composite is not None
    for one, two in zip(found.pairs, estimates.composite.pairs, strict=True):
        assert (one.left, one.right) == (two.left, two.right)
        assert one.probability == pytest.approx(two.probability, abs=1e-6)


def test_it_is_saved_and_read_and_older_results_lack_it(estimates: Estimates) -> None:
    saved = json.loads(json.dumps(estimates.to_dict()))
    assert Estimates.from_dict(saved).composite == estimates.composite
    del saved["composite"]
    assert Estimates.from_dict(saved).composite is None


def noisy(test_set: TestSet, rng: np.random.Generator) -> TestSet:
    rows = test_set.frame.height
    return changed(test_set, **{name: rng.standard_normal(rows) for name in test_set.metrics})


def test_metrics_of_noise_are_said_not_to_help() -> None:
    world = assay.simulate(documents=40, systems=6, rng=3)
    drawn = assay.sample(world.test_set, budget=200, design="segments", rng=5)
    noise = noisy(world.test_set, np.random.default_rng(1))
    found = assay.estimate(noise, world.rate(drawn), sample=drawn).composite
    assert found is not None
    assert found.signal < MAX_NOISE_SIGNAL
    codes = {"metrics-no-help": found.worth < MIN_WORTH,
             "metrics-unproven": found.worth >= MIN_WORTH}  # fmt: skip
    assert all(has_note(found.notes, code) == said for code, said in codes.items())


def test_metrics_that_tell_systems_apart_are_not_doubted(estimates: Estimates) -> None:
    assert estimates.composite is not None
    assert estimates.composite.signal > MAX_NOISE_SIGNAL
    assert not has_note(estimates.composite.notes, "metrics-unproven")


def test_a_system_that_metrics_misjudge_is_named() -> None:
    world = assay.simulate(documents=60, systems=10, metrics={"neural": 0.6}, rng=3)
    values = world.test_set.frame["neural"].to_numpy()
    best = world.test_set.systems[0]
    raised = values + values.std() * (world.test_set.frame["system"] == best).to_numpy()
    other = changed(world.test_set, neural=raised)
    drawn = assay.sample(other, budget=200, design="segments", rng=5)
    found = assay.estimate(other, world.rate(drawn), sample=drawn).composite
    assert found is not None
    named = {item.system: item.misjudged for item in found.systems}
    assert max(named, key=named.__getitem__) == best
    assert [best in note for note in found.notes if note.code == "metrics-misjudge"] == [True]


def drawn_at_random(segments: int, n: int, draws: int) -> np.ndarray:
    rng = np.random.default_rng(8)
    drawn = np.zeros((draws, segments), dtype=bool)
    for row in drawn:
        row[rng.permutation(segments)[:n]] = True
    return drawn


def tried(kind: str) -> tuple[float, float, float, float]:
    """Pairs in order both ways, error against the direct one, coverage: 6 worlds, 30 draws each."""
    before, after, errors, held = [], [], [], []
    for seed in range(6):
        world = assay.simulate(documents=30, systems=7, rng=seed)
        test_set = world.test_set
        if kind == "noise":
            test_set = noisy(test_set, np.random.default_rng(seed))
        x = world.scores.mean(axis=2)
        found = draw_composites(test_set, x, drawn_at_random(x.shape[1], 25, 30), 0.95)
        right = np.sign(found.truth)
        before.append((np.sign(found.direct) == right).mean())
        after.append((np.sign(found.difference) == right).mean())
        errors.append([((gap - found.truth) ** 2).mean()
                       for gap in (found.direct, found.difference)])  # fmt: skip
        held.append(((found.low <= found.truth) & (found.truth <= found.high)).mean())
    direct, helped = np.sqrt(np.mean(errors, axis=0))
    return float(np.mean(before)), float(np.mean(after)), helped / direct, float(np.mean(held))


def test_from_25_segments_the_order_is_better_and_errors_are_smaller() -> None:
    """Measured: 0.73 -> 0.81 in order, error 0.55 times the direct one."""
    before, after, error, coverage = tried("as given")
    assert after > before + 0.02
    assert error < 0.85
    assert coverage > 0.90


def test_noise_does_no_harm() -> None:
    before, after, error, coverage = tried("noise")
    assert after > before - 0.02
    assert error < 1.05
    assert coverage > 0.90


def test_the_same_on_wmt20(shared_data: Path) -> None:
    """Measured with 200 draws: .841 -> .898 in order, error .68 times the direct one."""
    frame = pl.read_parquet(shared_data / "wmt20_mqm_ende.parquet").rename({"seg_id": "seg"})
    frame = frame.filter(pl.col("system") != "Human-A.0")
    metrics = ["BLEURT-20", "chrF", "YiSi-2"]
    test_set = assay.read_scores(frame.select("system", "doc", "seg", *metrics), metrics=metrics)
    rows = frame.select("system", "doc", "seg", score="mqm")
    x = assay.read_ratings(rows, test_set, better="lower").matrix(test_set)
    found = draw_composites(test_set, x, drawn_at_random(x.shape[1], 20, 40), 0.95)
    right = np.sign(found.truth)
    before, after = ((np.sign(gap) == right).mean() for gap in (found.direct, found.difference))
    direct, helped = (((gap - found.truth) ** 2).mean() for gap in (found.direct, found.difference))
    assert after > before + 0.02
    assert np.sqrt(helped / direct) < 0.85


def test_history_is_one_more_metric(world: World, estimates: Estimates) -> None:
    past = assay.simulate(documents=30, systems=5, rng=11)
    drawn = assay.sample(world.test_set, budget=40, design="segments", rng=5)
    rated = world.rate(drawn)
    found = assay.estimate(
        world.test_set, rated, sample=drawn, history=(past.test_set, past.rate())
    )
    assert found.composite is not None
    assert found.composite.history
    assert found.differences == estimates.differences
    plain = between_systems(world.test_set)
    layers = between_systems(world.test_set, (past.test_set, past.rate()))
    assert plain is not None
    assert layers is not None
    assert layers.shape[-1] == plain.shape[-1] + 1


def test_history_that_cannot_help_is_refused(world: World) -> None:
    past = assay.simulate(documents=10, systems=3, metrics={"other": 0.4}, rng=11)
    drawn = assay.sample(world.test_set, budget=40, design="segments", rng=5)
    with pytest.raises(InputError, match="has none of the metrics"):
        assay.estimate(
            world.test_set, world.rate(drawn), sample=drawn,
            history=(past.test_set, past.rate()),
        )  # fmt: skip
    same = assay.simulate(documents=10, systems=3, rng=11)
    equal = same.rate().frame.with_columns(score=pl.lit(1.0))
    ratings = assay.read_ratings(equal, same.test_set, better="lower")
    with pytest.raises(InputError, match="rated differently"):
        between_systems(world.test_set, (same.test_set, ratings))


def test_evaluate_tries_it_at_every_size(world: World) -> None:
    rated = world.rate()
    records = list(
        evaluate_composite(world.test_set, rated, sizes=[0.1, 0.3, 1.0], draws=15, rng=2)
    )
    assert [record.size for record in records] == [0.1, 0.3]
    assert all(0.5 <= record.said <= 1 for record in records)
    assert records[1].rms < records[0].rms
    again = list(
        evaluate_composite(world.test_set, rated, sizes=[0.1, 0.3], draws=15, rng=2, workers=2)
    )
    assert again == records
    with pytest.raises(OptionError, match="is not a share"):
        evaluate_composite(world.test_set, rated, sizes=[2.0])


def test_evaluate_says_nothing_without_metrics(world: World) -> None:
    bare = replace(world.test_set, metrics=())
    assert list(evaluate_composite(bare, world.rate(), sizes=[0.1], draws=3, rng=2)) == []


# --- the command line -------------------------------------------------------------------------


def test_estimate_and_evaluate_show_it(run_assay: Any, world: World, tmp_path: Path) -> None:
    scores, ratings = tmp_path / "scores.tsv", tmp_path / "ratings.tsv"
    world.test_set.frame.write_csv(scores, separator="\t")
    drawn = assay.sample(world.test_set, budget=40, design="segments", rng=5)
    drawn.write(tmp_path / "sample.tsv")
    world.rate(drawn).frame.write_csv(ratings, separator="\t")
    given = ["estimate", scores, ratings, "--sample", tmp_path / "sample.tsv", "--better", "lower"]
    shown = run_assay(*map(str, given)).out
    assert "The order with the metrics' help" in shown
    assert "not a verdict" in " ".join(shown.split())

    past = assay.simulate(documents=12, systems=4, rng=12)
    mean = past.rate().frame.group_by("system", "doc", "seg").agg(pl.col("score").mean())
    earlier = past.test_set.frame.with_columns(doc=pl.col("doc") + "-past")
    rows = mean.with_columns(doc=pl.col("doc") + "-past")
    joined = earlier.join(rows, on=["system", "doc", "seg"])
    joined.write_csv(tmp_path / "past.tsv", separator="\t")
    more = [*given, "--history", tmp_path / "past.tsv", "--json"]
    found = json.loads(run_assay(*map(str, more)).out)
    assert found["composite"]["history"] is True
    assert "history" not in found["metrics"]  # none of its segments is among these

    world.rate().frame.write_csv(ratings, separator="\t")
    tried = ["evaluate", scores, ratings, "--better", "lower", "--methods", "baseline"]
    tried += ["--sizes", "10%", "--draws", "5", "--seed", "1", "--json"]
    result = Evaluation.from_dict(json.loads(run_assay(*map(str, tried)).out))
    assert [record.size for record in result.composite] == [0.1]


def test_ratings_that_know_more_than_the_metrics_are_named() -> None:
    world = assay.simulate(documents=40, systems=9, rng=2)
    said = []
    for n in (20, 60, 120, 200):
        drawn = assay.sample(world.test_set, budget=n, design="segments", rng=n)
        result = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
        found = result.composite
        assert found is not None
        gaps = {(item.left, item.right): item.difference for item in result.differences}
        turned = 0
        for pair in found.pairs:
            gap = gaps.get((pair.left, pair.right))
            gap = -gaps[pair.right, pair.left] if gap is None else gap
            turned += gap * pair.difference < 0
        proven = found.signal >= MAX_NOISE_SIGNAL
        expected = MIN_WORTH <= found.worth < EVEN_WORTH and turned > 0 and proven
        notes = [note for note in found.notes if note.code == "ratings-know-more"]
        assert bool(notes) == expected
        if notes:
            assert notes[0].startswith(f"{turned} pair")
        said.append(expected)
    assert any(said)
    assert not said[0]
