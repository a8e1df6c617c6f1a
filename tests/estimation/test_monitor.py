"""Watching: valid beginnings, planned looks, gaps, what is kept, refusals, error rates."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import scipy.stats

import assay
from assay.errors import InputError, OptionError
from assay.estimation.looks import Watched, usual_sizes
from assay.estimation.study import Study
from assay.results import has_note, plain
from assay.stats.looks import look_limits, shares_of
from assay.stats.selection import interleaved_order
from assay.tables.tables import Ratings, Sample
from assay.views.section import section_of
from assay.worlds.simulate import World


@pytest.fixture(scope="module")
def world() -> World:
    return assay.simulate(documents=40, systems=2, rng=1)


@pytest.fixture(scope="module")
def four() -> World:
    return assay.simulate(documents=60, systems=4, rng=1)


def whole(world: World, design: str = "interleaved") -> assay.Sample:
    return assay.sample(world.test_set, budget="100%", design=design, rng=7)


def part(world: World, design: str = "interleaved") -> assay.Sample:
    return assay.sample(world.test_set, budget="40%", design=design, rng=7)


def first(world: World, drawn: Sample, n: int) -> Ratings:
    """One rating of every output of the first n segments in order."""
    return world.rate(Sample(drawn.frame.sort("order").head(n)), raters="rater-1")


def without(ratings: Ratings, lost: pl.Series, *, stated: bool = False) -> Ratings:
    """Some ratings are not there, or their rows say that they were skipped."""
    frame = ratings.frame
    if stated:
        score = pl.when(lost).then(None).otherwise(pl.col("score"))
        return replace(ratings, frame=frame.with_columns(score=score), checked=None)
    return replace(ratings, frame=frame.filter(~lost), checked=None)


def some(ratings: Ratings, share: float) -> pl.Series:
    return pl.Series(np.random.default_rng(1).random(ratings.frame.height) < share)


def at(ratings: Ratings, drawn: Sample, place: int, *systems: str) -> pl.Series:
    """The ratings of one place in the order, of all systems or of some."""
    row = drawn.frame.sort("order").row(place - 1, named=True)
    frame = ratings.frame
    here = (frame["seg"] == row["seg"]) & (frame["doc"] == row["doc"])
    return here & frame["system"].is_in(list(systems)) if systems else here


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


# --- planned looks ------------------------------------------------------------------------------


def test_looks_take_place_at_planned_sizes_alone(four: World) -> None:
    drawn = part(four)
    result = assay.monitor(four.test_set, first(four, drawn, 130), sample=drawn, goal="ranking")
    assert result.planned == (50, 100, 150, 200, 250)
    assert {look.n for look in result.looks} == {50, 100}
    assert result.n == 130
    assert all(item.orientation for item in result.items)
    assert all(item.more == 20 for item in result.items if item.reached is None)
    assert not result.stop
    early = assay.monitor(four.test_set, first(four, drawn, 49), sample=drawn, goal="ranking")
    assert not early.looks
    assert has_note(early.notes, "too-few")
    assert all(item.winner is None and item.orientation for item in early.items)


def test_the_interval_of_a_look_is_its_limit_times_the_error(four: World) -> None:
    drawn = part(four)
    result = assay.monitor(four.test_set, first(four, drawn, 150), sample=drawn, goal="ranking")
    shares = shares_of(result.planned, result.population)  # less than half: no rater's share
    assert result.limits == pytest.approx(look_limits(shares, 0.95))
    look = next(look for look in result.looks if look.n == 150)
    beginning = assay.sample(four.test_set, budget=150, design="interleaved", rng=7)
    found = assay.estimate(four.test_set, first(four, drawn, 150), sample=beginning)
    pair = next(d for d in found.differences if {d.left, d.right} == set(look.what.split(" - ")))
    assert abs(look.estimate) == pytest.approx(abs(pair.difference))
    assert look.stderr == pytest.approx(pair.stderr)
    # Student's t with as much beyond it as the normal limit has.
    wanted = scipy.stats.t.isf(scipy.stats.norm.sf(result.limits[2]), pair.degrees)
    assert look.limit == pytest.approx(wanted, rel=1e-6)
    assert look.half_width == pytest.approx(look.limit * look.stderr)
    item = next(item for item in result.items if item.what == look.what)
    assert (item.low, item.high) == pytest.approx(
        (look.estimate - look.half_width, look.estimate + look.half_width)
    )


def test_a_pair_is_decided_beyond_its_limit_and_the_better_system_named(four: World) -> None:
    drawn = part(four)
    result = assay.monitor(four.test_set, first(four, drawn, 250), sample=drawn, goal="ranking")
    for look in result.looks:
        assert look.decided == (abs(look.estimate) > look.half_width)
    for item in result.items:
        left, right = item.what.split(" - ")
        last = [look for look in result.looks if look.what == item.what][-1]
        assert item.reached == (last.n if last.decided else None)
        # Lower is better in this world.
        better = left if last.estimate < 0 else right
        assert item.winner == (better if last.decided else None)
    assert any(item.winner for item in result.items)


def test_an_estimate_is_not_frozen_at_the_stop(four: World) -> None:
    drawn = part(four)
    given = first(four, drawn, 250)
    result = assay.monitor(four.test_set, given, sample=drawn, goal="ranking")
    found = assay.estimate(four.test_set, given, sample=drawn)
    early = [item for item in result.items if item.reached is not None and item.reached < 250]
    assert early
    for item in early:
        pair = next(
            d for d in found.differences if {d.left, d.right} == set(item.what.split(" - "))
        )
        assert abs(item.estimate) == pytest.approx(abs(pair.difference))
        assert item.n == 250
        assert item.orientation


def test_used_up_looks_mean_stop(four: World) -> None:
    drawn = part(four)
    result = assay.monitor(four.test_set, first(four, drawn, 250), sample=drawn, goal="ranking")
    assert result.stop
    assert any(item.reached is None and item.more is None for item in result.items)


def test_sizes_of_looks_may_be_given(four: World) -> None:
    drawn = part(four)
    result = assay.monitor(
        four.test_set, first(four, drawn, 250), sample=drawn, goal="ranking", looks=[60, 200]
    )
    assert result.planned == (60, 200)
    assert result.stop
    single = assay.monitor(
        four.test_set, first(four, drawn, 250), sample=drawn, goal="ranking", looks=1
    )
    assert single.limits == pytest.approx((1.96,), abs=0.001)


@pytest.mark.parametrize("design", ["interleaved", "segments"])
def test_a_tie_is_seldom_called_decided(design: str) -> None:
    # Two systems of the same mean: 240 campaigns, of which .05 are wrong with error .014. Looking
    # every 1 % until two looks in a row are significant, as it was, calls a quarter decided.
    rng, wrong = np.random.default_rng(5), 0
    keys = {"doc": np.repeat([f"d{k:02}" for k in range(40)], 10),
            "seg": [f"{k:03}" for k in range(400)]}  # fmt: skip
    frame = pl.concat([pl.DataFrame(keys).with_columns(system=pl.lit(s)) for s in "AB"])
    test_set = assay.read_scores(frame)
    for seed in range(240):
        x = rng.exponential(3.0, (2, 400)).round()
        x[1] += x[0].mean() - x[1].mean()
        given = assay.read_ratings(frame.with_columns(score=pl.Series(x.ravel())), test_set)
        drawn = assay.sample(test_set, budget="50%", design=design, rng=seed)
        result = assay.monitor(test_set, given, sample=drawn, goal="ranking")
        wrong += result.items[0].winner is not None
    assert wrong / 240 < 0.05 + 2.5 * 0.014


# --- what has not come in -----------------------------------------------------------------------


def test_a_tenth_of_the_answers_missing_does_not_stop_it(four: World) -> None:
    drawn = part(four)
    full = first(four, drawn, 250)
    result = assay.monitor(
        four.test_set, without(full, some(full, 0.1)), sample=drawn, goal="ranking"
    )
    assert result.n == 250
    assert {look.n for look in result.looks} == {50, 100, 150, 200, 250}
    assert result.looks[0].skipped > 0
    assert has_note(result.notes, "skipped")
    assert any(note.startswith("92 of 1") for note in result.notes)


def test_looks_with_skipped_outputs_are_those_of_estimate(four: World) -> None:
    drawn = part(four)
    full = first(four, drawn, 250)
    given = without(full, some(full, 0.1))
    result = assay.monitor(four.test_set, given, sample=drawn, goal="ranking", looks=1)
    found = assay.estimate(four.test_set, given, sample=drawn)
    for look in result.looks:
        pair = next(
            d for d in found.differences if {d.left, d.right} == set(look.what.split(" - "))
        )
        assert abs(look.estimate) == pytest.approx(abs(pair.difference))
        assert look.stderr == pytest.approx(pair.stderr)


def test_a_gap_holds_a_look_up_and_is_named(four: World) -> None:
    drawn = part(four)
    full = first(four, drawn, 120)
    given = without(full, at(full, drawn, 70, "system-2"))
    result = assay.monitor(four.test_set, given, sample=drawn, goal="ranking")
    assert [(item.place, item.systems) for item in result.awaited] == [(70, ("system-2",))]
    said = next(note for note in result.notes if note.code == "awaited")
    assert result.awaited[0].segment in said
    assert "the look at 100 segments waits for 1 output" in said
    assert has_note(result.notes, "ratings-after-gap")
    # Each pair has a beginning of its own.
    for item in result.items:
        held = "system-2" in item.what
        assert item.n == (69 if held else 120)
        sizes = [look.n for look in result.looks if look.what == item.what]
        assert sizes == ([50] if held else [50, 100])


def test_looks_at_will_wait_for_every_gap(world: World) -> None:
    drawn = whole(world, "segments")
    full = replace(world.rate(raters="rater-1"), range=(0.0, 100.0))
    given = without(full, at(full, drawn, 90), stated=True)
    result = assay.monitor(world.test_set, given, sample=drawn, goal="ranking", guarantee=True)
    assert result.n < 90
    assert [item.place for item in result.awaited] == [90]
    assert any("looking any further waits for 2 outputs" in note for note in result.notes)


def test_a_gap_left_behind_by_a_whole_look_counts_as_skipped(four: World) -> None:
    drawn = part(four)
    full = first(four, drawn, 150)
    given = without(full, at(full, drawn, 70))
    result = assay.monitor(four.test_set, given, sample=drawn, goal="ranking")
    assert {look.n for look in result.looks} >= {50, 100}
    assert all(look.skipped == (look.n > 70) for look in result.looks)


def test_an_output_that_was_skipped_is_not_waited_for(four: World) -> None:
    drawn = part(four)
    full = first(four, drawn, 100)
    given = without(full, at(full, drawn, 70), stated=True)
    result = assay.monitor(four.test_set, given, sample=drawn, goal="ranking")
    assert not result.awaited
    assert result.n == 100
    assert {look.n for look in result.looks} == {50, 100}


def test_a_look_waits_for_all_wanted_raters(four: World) -> None:
    drawn = part(four)
    both = four.rate(Sample(drawn.frame.sort("order").head(100)), raters=["rater-1", "rater-2"])
    lost = at(both, drawn, 80) & (both.frame["rater"] == "rater-2")
    given = without(both, lost)
    one = assay.monitor(four.test_set, given, sample=drawn, goal="ranking")
    two = assay.monitor(four.test_set, given, sample=drawn, goal="ranking", per_output=2)
    assert (one.n, two.n) == (100, 79)
    assert two.awaited[0].place == 80


def test_decided_systems_may_rest_and_nobody_else_loses(four: World) -> None:
    drawn = part(four)
    full = first(four, drawn, 250)
    result = assay.monitor(four.test_set, full, sample=drawn, goal="ranking")
    assert result.rest
    for system in result.rest:
        last = max(item.reached or 0 for item in result.items if system in item.what)
        places = drawn.frame.sort("order").tail(250 - last)
        gone = full.frame["system"].eq(system) & full.frame["seg"].is_in(places["seg"].implode())
        rested = assay.monitor(four.test_set, without(full, gone), sample=drawn, goal="ranking")
        assert rested.looks == result.looks
        assert rested.stop
        assert [item.winner for item in rested.items] == [item.winner for item in result.items]


# --- no verdict from nothing --------------------------------------------------------------------


def test_everything_rated_leaves_no_verdict_from_a_width_of_zero(world: World) -> None:
    given, drawn = world.rate(raters="rater-1"), whole(world)
    result = assay.monitor(world.test_set, given, sample=drawn, goal="ranking", looks=1)
    # Nothing is left to sampling: the look is one at other texts like these.
    assert result.planned == (result.population,)
    assert result.looks[0].stderr > 0
    assert result.looks[0].half_width > 0
    found = assay.estimate(world.test_set, given, sample=drawn).differences[0]
    assert result.looks[0].stderr == pytest.approx(found.stderr)
    betting = assay.monitor(
        world.test_set, replace(given, range=(0.0, 1e6)), sample=whole(world, "segments"),
        goal="ranking", guarantee=True,
    )  # fmt: skip
    assert betting.n == betting.population
    assert betting.items[0].winner is None
    assert betting.stop


def test_equal_ratings_give_no_verdict(world: World) -> None:
    drawn, given = whole(world), world.rate(raters="rater-1")
    shifted = pl.when(pl.col("system") == "system-1").then(1.0).otherwise(2.0)
    flat = replace(given, frame=given.frame.with_columns(score=shifted), checked=None)
    result = assay.monitor(world.test_set, flat, sample=drawn, goal="ranking")
    assert result.items[0].winner is None
    assert not any(look.met for look in result.looks)
    assert has_note(result.notes, "no-width")


def test_rounding_gives_no_verdict_at_will(world: World) -> None:
    given, drawn = world.rate(raters="rater-1"), whole(world, "segments")
    frame = given.frame.with_columns(score=10 + 7 * pl.int_range(pl.len()).over("system").sin())
    gap = pl.when(pl.col("system") == "system-1").then(0.3).otherwise(0.0)
    near = replace(given, frame=frame.with_columns(score=pl.col("score") + gap),
                   range=(0.0, 100.0), checked=None)  # fmt: skip
    result = assay.monitor(world.test_set, near, sample=drawn, goal="ranking", guarantee=True)
    assert result.n == result.population
    assert not any(look.decided for look in result.looks if look.half_width < 1e-6)
    assert has_note(result.notes, "for-answers")
    assert not has_note(result.notes, "texts-for-raters")


def test_early_looks_of_a_whole_test_set_have_an_interval(four: World) -> None:
    # Their limits are the furthest there are, whose tail is not to be lost in rounding.
    drawn = whole(four)
    n = len(drawn) // 3
    result = assay.monitor(
        four.test_set, first(four, drawn, n), sample=drawn, goal="ranking", looks=10
    )
    assert result.limits[0] == 9
    assert all(np.isfinite(look.half_width) for look in result.looks)
    assert not has_note(result.notes, "no-width")


def test_raters_that_differ_make_looks_wider(four: World) -> None:
    drawn = part(four)
    both = four.rate(drawn, raters=["rater-1", "rater-2"])
    # The mean of the two as one rater's answer hides how far they differ.
    key = ["system", "doc", "seg"]
    one = replace(both, frame=both.frame.group_by(key, maintain_order=True).agg(
        pl.col("score").mean(), rater=pl.lit("x")), checked=None)  # fmt: skip
    known = assay.monitor(four.test_set, both, sample=drawn, goal="ranking").looks
    hidden = assay.monitor(four.test_set, one, sample=drawn, goal="ranking").looks
    pairs = [
        (look, other)
        for look in known
        for other in hidden
        if (other.what, other.n) == (look.what, look.n)
    ]
    assert {look.what for look, _ in pairs} == {look.what for look in known}
    for look, other in pairs:
        assert look.estimate == pytest.approx(other.estimate)
        assert look.stderr > other.stderr


# --- what is kept -------------------------------------------------------------------------------


def test_past_looks_are_kept_and_new_ones_equal_the_full_computation(four: World) -> None:
    drawn, before = part(four), None
    for n in (40, 110, 150, 210, 250):
        given = first(four, drawn, n)
        result = assay.monitor(four.test_set, given, sample=drawn, goal="ranking", before=before)
        again = assay.monitor(four.test_set, given, sample=drawn, goal="ranking")
        assert plain(result) == plain(again)
        saved = json.loads(json.dumps(result.to_dict()))
        before = assay.Monitoring.from_dict(saved)


def test_past_looks_stay_what_they_were(four: World) -> None:
    drawn = part(four)
    before = assay.monitor(four.test_set, first(four, drawn, 100), sample=drawn, goal="ranking")
    changed = first(four, drawn, 150)
    changed = replace(changed, frame=changed.frame.with_columns(score=pl.col("score") * 3.0))
    after = assay.monitor(four.test_set, changed, sample=drawn, goal="ranking", before=before)
    assert [look for look in after.looks if look.n <= 100] == list(before.looks)
    assert any(look.n == 150 for look in after.looks)


def test_a_system_may_be_left_out_later(four: World) -> None:
    drawn, given = part(four), first(four, part(four), 100)
    before = assay.monitor(four.test_set, given, sample=drawn, goal="ranking")
    three = assay.read_scores(four.test_set.frame, exclude=["system-4"])
    after = assay.monitor(three, given, sample=drawn, goal="ranking", before=before)
    assert list(after.looks) == [look for look in before.looks if "system-4" not in look.what]


def test_only_new_looks_are_computed(four: World, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, given = part(four), first(four, part(four), 150)
    before = assay.monitor(four.test_set, first(four, drawn, 100), sample=drawn, goal="ranking")
    sizes: list[int] = []
    real = Watched.beginning

    def beginning(watched: Watched, n: int) -> Study:
        if n not in watched.parts:
            sizes.append(n)
        return real(watched, n)

    monkeypatch.setattr(Watched, "beginning", beginning)
    assay.monitor(four.test_set, given, sample=drawn, goal="ranking", before=before)
    assert sizes == [150]


def test_an_earlier_result_of_another_plan_is_refused(four: World) -> None:
    drawn, given = part(four), first(four, part(four), 100)
    before = assay.monitor(four.test_set, given, sample=drawn, goal="ranking")
    with pytest.raises(OptionError, match=r"has another plan \(planned: "):
        assay.monitor(four.test_set, given, sample=drawn, goal="ranking", looks=3, before=before)
    with pytest.raises(OptionError, match=r"has another plan \(level: "):
        assay.monitor(four.test_set, given, sample=drawn, goal="ranking", level=0.9, before=before)


def test_ratings_that_were_lost_since_the_earlier_result_are_refused(four: World) -> None:
    drawn = part(four)
    before = assay.monitor(four.test_set, first(four, drawn, 110), sample=drawn, goal="ranking")
    fault = "knew the first 110 segments of .* these ratings have only the first 50"
    with pytest.raises(OptionError, match=fault):
        assay.monitor(
            four.test_set, first(four, drawn, 50), sample=drawn, goal="ranking", before=before
        )
    # An answer that is taken back keeps its row.
    full = first(four, drawn, 110)
    back = without(full, at(full, drawn, 70), stated=True)
    result = assay.monitor(four.test_set, back, sample=drawn, goal="ranking", before=before)
    assert result.looks == before.looks


def test_a_result_of_the_last_version_can_be_read() -> None:
    item = {"what": "A", "estimate": 1.0, "low": 0.5, "high": 1.5, "n": 90, "reached": 90,
            "more": 0}  # fmt: skip
    look = {"what": "A", "n": 90, "estimate": 1.0, "half_width": 0.5, "met": True}
    old = {
        "kind": "monitoring", "version": "0.2.0", "stop": True, "items": [item], "looks": [look],
        "n": 90, "population": 400, "target": 0.5, "goal": "score", "guarantee": False,
        "level": 0.95, "design": "interleaved", "seed": 7, "in_a_row": 2, "notes": [],
    }  # fmt: skip
    result = assay.Monitoring.from_dict(old)
    assert (result.planned, result.rest, result.items[0].winner) == ((), (), None)
    assert "Enough has been rated: stop" in section_of(result).lead


# --- scores -------------------------------------------------------------------------------------


def test_the_fixed_width_rule_by_hand(world: World) -> None:
    result = assay.monitor(world.test_set, world.rate(), sample=whole(world), half_width=0.8)
    assert result.planned == usual_sizes(result.population, "score")
    for item in result.items:
        looks = [look for look in result.looks if look.what == item.what]
        assert [look.met for look in looks] == [False] * (len(looks) - 1) + [True]
        assert looks[-1].half_width <= 0.8
        assert item.reached == looks[-1].n
        # Everything rated, yet the interval is the target, never a narrower one.
        assert item.n == result.population
        assert (item.high - item.low) / 2 == pytest.approx(0.8)


def test_scores_say_how_many_are_missing(world: World) -> None:
    drawn = whole(world)
    result = assay.monitor(world.test_set, first(world, drawn, 90), sample=drawn, half_width=0.4)
    assert not result.stop
    for item in result.items:
        assert item.more is not None
        assert 90 + item.more in result.planned


def test_a_sample_used_up_short_of_the_goal_means_stop(world: World) -> None:
    drawn = part(world)
    given = first(world, drawn, len(drawn))
    result = assay.monitor(world.test_set, given, sample=drawn, half_width=0.3)
    assert result.stop
    more = max(item.more or 0 for item in result.items)
    assert 0 < more <= result.population - len(drawn)
    said = next(note for note in result.notes if note.code == "goal-not-met")
    assert said.startswith("the sample is used up, and the goal is not met for system-")
    assert f"it would take about {more} more segments; draw a larger sample" in said
    assert not result.awaited
    lead = section_of(result).lead
    assert "No look is left: stop; the goal is not met for " in lead
    assert "go on" not in lead
    ranking = assay.monitor(world.test_set, given, sample=drawn, goal="ranking", looks=[60])
    if ranking.items[0].reached is None:
        assert any(note.startswith("no planned look is left") for note in ranking.notes)


def test_looks_at_will_end_with_the_sample(world: World) -> None:
    drawn = part(world, "segments")
    given = replace(first(world, drawn, len(drawn)), range=(0.0, 100.0))
    result = assay.monitor(world.test_set, given, sample=drawn, half_width=0.01, guarantee=True)
    assert result.stop
    assert has_note(result.notes, "goal-not-met")


def test_scores_between_looks_are_for_orientation(world: World) -> None:
    drawn = whole(world)
    between, at_a_look = (
        assay.monitor(world.test_set, first(world, drawn, n), sample=drawn, half_width=0.3)
        for n in (100, 86)
    )
    assert 100 not in between.planned
    assert 86 in at_a_look.planned
    assert all(item.orientation for item in between.items)
    assert not any(item.orientation for item in at_a_look.items)
    assert "Between looks, numbers are provisional" in section_of(between).lead


def test_a_look_equals_the_estimate_of_that_sample(world: World) -> None:
    looks = assay.monitor(world.test_set, world.rate(), sample=whole(world), half_width=1.0).looks
    n = looks[0].n
    part = assay.sample(world.test_set, budget=n, design="interleaved", rng=7)
    found = assay.estimate(world.test_set, world.rate(), sample=part, interval="t").systems
    item = next(row for row in found if row.system == looks[0].what)
    assert looks[0].estimate == pytest.approx(item.estimate)
    assert looks[0].half_width == pytest.approx((item.high - item.low) / 2)


def test_scores_stay_inside_a_stated_range(world: World) -> None:
    # Few errors: most scores are 0, the least there can be, and one segment in 30 has 25.
    drawn = whole(world, "interleaved")
    given = first(world, drawn, 80).frame
    lone = given.with_columns(
        score=pl.when(pl.int_range(pl.len()) % 30 == 3).then(25.0).otherwise(0.0)
    )
    stated, open_ = (
        assay.monitor(
            world.test_set,
            assay.read_ratings(lone, world.test_set, better="lower", range=limits),
            sample=drawn, half_width=width, looks=[60, 80],
        )
        for limits, width in (((0.0, 25.0), 0.5), (None, 0.5))
    )  # fmt: skip
    assert min(look.ends[0] for look in open_.looks) < 0
    assert all(look.ends[0] >= 0 for look in stated.looks)
    assert all(item.low >= 0 for item in stated.items)
    narrow = assay.monitor(
        world.test_set,
        assay.read_ratings(lone, world.test_set, better="lower", range=(0.0, 25.0)),
        sample=drawn, half_width=3.0, looks=[60, 80],
    )  # fmt: skip
    for item in narrow.items:
        assert item.reached is not None
        assert item.low >= 0
        assert item.high - item.low == pytest.approx(6.0)


def test_refusals(world: World) -> None:
    given = world.rate()
    with pytest.raises(InputError, match="designs that can be are interleaved"):
        assay.monitor(world.test_set, given, sample=whole(world, "docs-prop"), half_width=1.0)
    with pytest.raises(InputError, match="simple random samples"):
        assay.monitor(world.test_set, given, sample=whole(world), half_width=1.0, guarantee=True)
    with pytest.raises(InputError, match="needs the range"):
        assay.monitor(
            world.test_set, replace(given, range=None), sample=whole(world, "segments"),
            half_width=1.0, guarantee=True,
        )  # fmt: skip
    for options, message in (
        ({"goal": "ranking", "looks": 0}, "is not a plan"),
        ({"goal": "ranking", "looks": [200, 100]}, "is not a plan"),
        ({"goal": "ranking", "looks": [100, 9999]}, "is beyond the 427 segments"),
        ({"goal": "ranking", "looks": [100, 428]}, "is beyond the 427 segments"),
        ({"goal": "ranking", "looks": 51}, "are too many"),
        ({"goal": "ranking", "per_output": 0}, "is not a number of raters"),
        ({"goal": "ranking", "looks": 5, "guarantee": True}, "is for planned looks"),
        ({"goal": "best"}, "is not known"),
    ):
        with pytest.raises(OptionError, match=message):
            assay.monitor(world.test_set, given, sample=whole(world), **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"needs a half-width.*choose `goal` ranking"):
        assay.monitor(world.test_set, given, sample=whole(world))
    with pytest.raises(OptionError, match="is not a half-width"):
        assay.monitor(world.test_set, given, sample=whole(world), half_width=0)
    alone = assay.simulate(documents=10, systems=1, rng=1)
    with pytest.raises(InputError, match="a ranking needs two systems"):
        assay.monitor(alone.test_set, alone.rate(), sample=whole(alone), goal="ranking")


def test_guarantee_and_ranking(world: World) -> None:
    given, drawn = replace(world.rate(), range=(0.0, 100.0)), whole(world, "segments")
    for goal in ("score", "ranking"):
        result = assay.monitor(
            world.test_set, given, sample=drawn, half_width=3.0, goal=goal, guarantee=True
        )
        assert result.stop


@pytest.mark.slow
def test_coverage_at_the_stop() -> None:
    # 2 systems x 400 runs each: standard error 1.1 points.
    fresh = assay.simulate(documents=100, systems=2, rng=99)
    records = assay.evaluate_stopping(
        fresh.test_set, fresh.rate(), half_width=0.35, methods=["interleaved"], draws=400, rng=1
    )
    assert min(record.coverage for record in records) > 0.94 - 2 * 0.011


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
