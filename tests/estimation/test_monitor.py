"""Stopping: valid beginnings, the rule by hand, refusals, coverage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import assay
from assay.errors import InputError, OptionError
from assay.estimation.monitor import Look, _verdict, look_sizes
from assay.results import has_note
from assay.stats.selection import interleaved_order
from assay.tables.test_set import Sample
from assay.worlds.simulate import World


@pytest.fixture(scope="module")
def world() -> World:
    return assay.simulate(documents=40, systems=2, rng=1)


def whole(world: World, design: str = "interleaved") -> assay.Sample:
    return assay.sample(world.test_set, budget="100%", design=design, rng=7)


def test_every_place_of_the_order_is_uniform() -> None:
    # 40,000 draws: the share of a unit among the first n has a standard error below .0025.
    group, rng = np.repeat([0, 1, 2], [1, 2, 5]), np.random.default_rng(1)
    place = np.argsort([interleaved_order(group, rng) for _ in range(40_000)], axis=1)
    for n in range(1, 8):
        assert np.abs((place < n).mean(axis=0) - n / 8).max() < 0.01


def test_beginnings_have_their_share_of_every_document() -> None:
    group = np.repeat(np.arange(20), 10)
    order = interleaved_order(group, np.random.default_rng(1))
    for n in range(1, 201):
        counts = np.bincount(group[order[:n]], minlength=20)
        assert np.abs(counts - n / 20).max() <= 1


def test_sample_keeps_the_order(world: World) -> None:
    drawn = whole(world)
    assert drawn.frame["order"].to_list() == list(range(1, len(drawn) + 1))
    part = assay.sample(world.test_set, budget="10%", design="interleaved", rng=7)
    assert part.frame["seg"].to_list() == drawn.frame["seg"].to_list()[: len(part)]


def test_rule_by_hand() -> None:
    looks = [Look("A", n, 1.0, h, h <= 0.5) for n, h in ((60, 0.4), (70, 0.6), (80, 0.45),
                                                        (90, 0.4), (100, 0.3))]  # fmt: skip
    found = _verdict(looks, 0.5, 1000, 2, "score")
    assert (found.reached, found.low, found.high, found.more) == (90, 0.5, 1.5, 0)
    open_ = _verdict(looks[:2], 0.5, 1000, 2, "score")
    assert open_.reached is None
    assert open_.more is not None
    assert open_.more > 10
    assert look_sizes(50, 50) == [50]


def test_only_the_unbroken_beginning_counts(world: World) -> None:
    drawn = whole(world)
    gap = drawn.frame.sort("order").row(100, named=True)
    full = world.rate()
    part = replace(full, frame=full.frame.filter(
        ~((pl.col("seg") == gap["seg"]) & (pl.col("doc") == gap["doc"]))))  # fmt: skip
    result = assay.monitor(world.test_set, part, sample=drawn, half_width=1e-6)
    assert result.n == 100
    assert not result.stop
    assert has_note(result.notes, "ratings-after-gap")
    assert result.to_dict()["kind"] == "monitoring"


def test_a_look_equals_the_estimate_of_that_sample(world: World) -> None:
    looks = assay.monitor(world.test_set, world.rate(), sample=whole(world), half_width=1.0).looks
    n = looks[0].n
    part = assay.sample(world.test_set, budget=n, design="interleaved", rng=7)
    found = assay.estimate(world.test_set, world.rate(), sample=part, target="answers").systems
    item = next(row for row in found if row.system == looks[0].what)
    assert looks[0].estimate == pytest.approx(item.estimate)
    assert looks[0].half_width == pytest.approx((item.high - item.low) / 2)


def test_refusals(world: World) -> None:
    given = world.rate()
    with pytest.raises(InputError, match="first segments of a sample"):
        assay.monitor(world.test_set, given, sample=whole(world, "docs-prop"), half_width=1.0)
    with pytest.raises(InputError, match="simple random samples"):
        assay.monitor(world.test_set, given, sample=whole(world), half_width=1.0, guarantee=True)
    with pytest.raises(InputError, match="needs the range"):
        assay.monitor(
            world.test_set, replace(given, range=None), sample=whole(world, "segments"),
            half_width=1.0, guarantee=True,
        )  # fmt: skip
    with pytest.raises(OptionError, match="is not a half-width"):
        assay.monitor(world.test_set, given, sample=whole(world), half_width=0)


def test_guarantee_and_ranking(world: World) -> None:
    given, drawn = replace(world.rate(), range=(0.0, 100.0)), whole(world, "segments")
    for goal in ("score", "ranking"):
        result = assay.monitor(
            world.test_set, given, sample=drawn, half_width=3.0, goal=goal, guarantee=True
        )
        assert result.stop
    ranked = assay.monitor(
        world.test_set, given, sample=whole(world), half_width=0.5, goal="ranking"
    )
    assert ranked.items[0].what == "system-1 - system-2"


@pytest.mark.slow
def test_coverage_at_the_stop() -> None:
    # 2 systems x 200 runs: standard error 1.1 points.
    fresh = assay.simulate(documents=100, systems=2, rng=99)
    records = assay.evaluate_stopping(
        fresh.test_set, fresh.rate(), half_width=0.35, methods=["interleaved"], draws=200, rng=1
    )
    assert np.mean([record.coverage for record in records]) > 0.92


def test_after_the_stop_the_beginning_is_estimated_as_a_sample() -> None:
    world = assay.simulate(documents=40, systems=2, rng=1)
    drawn = assay.sample(world.test_set, budget="100%", design="interleaved", rng=7)
    first = Sample(drawn.frame.sort("order").head(120))
    result = assay.estimate(world.test_set, world.rate(first), sample=drawn)
    assert has_note(result.notes, "rated-beginning")
    assert not any("have no rating" in note for note in result.notes)
    alone = assay.sample(world.test_set, budget=120, design="interleaved", rng=7)
    same = assay.estimate(world.test_set, world.rate(alone), sample=alone)
    if set(alone.frame["seg"]) == set(first.frame["seg"]):
        assert [s.estimate for s in same.systems] == [s.estimate for s in result.systems]


def test_everything_rated_means_stop() -> None:
    world = assay.simulate(documents=12, systems=2, rng=1)
    drawn = assay.sample(world.test_set, budget="100%", design="interleaved", rng=7)
    result = assay.monitor(world.test_set, world.rate(), sample=drawn, half_width=1e-6)
    assert result.stop
    assert all(item.more == 0 for item in result.items)
