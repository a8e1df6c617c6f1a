"""What a world answers: ratings, marked errors, judgments."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from assay.errors import OptionError
from assay.tables.sample import Sample, read_sample
from assay.worlds.simulate import World, simulate

WEIGHTS = {"Non-translation!": 25.0, "Major": 5.0, "Minor": 1.0, "No-error": 0.0}


@pytest.fixture(scope="module")
def world() -> World:
    return simulate(profile="zh-en", systems=6, humans=1, documents=25, texts=True, rng=21)


def sample_of(world: World, rows: dict[str, list[str]]) -> Sample:
    frame = pl.DataFrame(rows).with_columns(probability=0.1, design=pl.lit("segments|n:3"))
    return read_sample(frame, world.test_set)


def weight() -> pl.Expr:
    """MQM weights, written out once more."""
    punctuation = (pl.col("category") == "Fluency/Punctuation") & (pl.col("severity") == "Minor")
    return (
        pl.when(punctuation)
        .then(0.1)
        .when(pl.col("category") == "Non-translation!")
        .then(25.0)
        .otherwise(pl.col("severity").replace_strict(WEIGHTS, return_dtype=pl.Float64))
    )


def test_truth_is_the_mean_of_all_ratings(world: World) -> None:
    means = dict(world.rate().frame.group_by("system").agg(pl.col("score").mean()).rows())
    assert world.truth() == pytest.approx(means)
    one = world.rate(raters="rater-2").frame.group_by("system").agg(pl.col("score").mean())
    assert world.truth(raters=["rater-2"]) == pytest.approx(dict(one.rows()))
    assert world.to_frame()["truth"].to_list() == list(world.truth().values())


def test_ratings_are_mqm(world: World) -> None:
    ratings = world.rate()
    assert ratings.better == "lower"
    assert ratings.range == (0.0, 25.0)
    assert ratings.raters == world.raters
    assert len(ratings) == world.scores.size
    assert ratings.frame["score"].max() <= 25


def test_errors_add_up_to_the_ratings_exactly(world: World) -> None:
    key = ["system", "doc", "seg", "rater"]
    added = world.mark().frame.group_by(key).agg(weight().sum().round(1).alias("sum"))
    both = world.rate().frame.join(added, on=key, how="full", coalesce=True)
    assert both.height == world.scores.size
    assert (both["score"] == both["sum"]).all()


def test_at_most_five_errors_and_flawless_outputs_have_a_row(world: World) -> None:
    frame = world.mark().frame
    counts = frame.group_by("system", "seg", "rater").agg(pl.len(), pl.col("category"))
    assert counts["len"].max() == 5
    flawless = frame.filter(pl.col("severity") == "No-error")
    assert flawless.height == (world.scores == 0).sum()
    assert (flawless["category"] == "No-error").all()
    assert {"Accuracy/Mistranslation", "Fluency/Punctuation", "Non-translation!"} <= set(
        frame["category"]
    )
    assert set(frame["severity"]) == {"Major", "Minor", "No-error"}


def test_spans_stand_inside_the_target(world: World) -> None:
    texts = world.test_set.frame.select("system", "seg", "target")
    frame = world.mark().frame.join(texts, on=["system", "seg"])
    marked = frame.filter(pl.col("severity") != "No-error")
    assert frame.filter(pl.col("severity") == "No-error")["start"].null_count() == (
        frame.height - marked.height
    )
    assert (marked["side"] == "target").all()
    for row in marked.iter_rows(named=True):
        start, end, text = row["start"], row["end"], row["target"]
        assert 0 <= start < end <= len(text)
        if row["category"] == "Non-translation!":
            assert (start, end) == (0, len(text))
        elif row["category"] == "Fluency/Punctuation":
            assert text[start:end] in {",", "."}
        else:  # whole words
            assert start == 0 or text[start - 1] == " "
            assert text[end] in " ,."


def test_the_same_segment_always_gets_the_same_rating(world: World) -> None:
    sample = sample_of(world, {"seg": ["3", "40", "7"]})
    some = world.rate(sample, raters=["rater-3"]).frame
    assert some.height == 3 * len(world.systems)
    everything = world.rate().frame
    joined = some.join(everything, on=["system", "doc", "seg", "rater"])
    assert joined.height == some.height
    assert (joined["score"] == joined["score_right"]).all()
    errors = world.mark(sample, raters=["rater-3"]).frame
    full = world.mark().frame
    assert errors.join(full, on=errors.columns, how="anti", nulls_equal=True).height == 0
    assert set(errors["seg"]) == {"3", "40", "7"}


def test_a_sample_may_differ_between_systems(world: World) -> None:
    one, two = world.systems[:2]
    sample = sample_of(world, {"system": [one, two, two], "seg": ["1", "2", "3"]})
    rated = world.rate(sample, raters="rater-1").frame
    assert set(rated.select("system", "seg").rows()) == {(one, "1"), (two, "2"), (two, "3")}


def test_screens_give_all_their_pairs(world: World) -> None:
    frame = world.judge(200, rng=1).frame
    assert frame.height == 200
    sets = frame.group_by("set").agg(
        pl.len(),
        pl.col("seg").n_unique(),
        pl.col("rater").n_unique(),
        pl.concat_list("left", "right").explode(empty_as_null=True).n_unique().alias("systems"),
    )
    assert sets.drop("set").unique().rows() == [(10, 1, 1, 5)]
    cut = world.judge(23, rng=1).frame.group_by("set", maintain_order=True).len()
    assert cut["len"].to_list() == [10, 10, 3]
    assert world.judge(7, per_set=2, rng=1).frame["set"].n_unique() == 7


def test_ties_are_transitive_and_no_noise_follows_the_badness(world: World) -> None:
    frame = world.judge(3000, noise=0.0, tie=0.2, rng=2).frame
    position = {name: i for i, name in enumerate(world.systems)}
    rater = {name: i for i, name in enumerate(world.raters)}
    for row in frame.iter_rows(named=True):
        seen = world.badness[:, int(row["seg"]) - 1, rater[row["rater"]]]
        gap = seen[position[row["right"]]] - seen[position[row["left"]]]
        assert row["winner"] == "tie" or row["winner"] == ("left" if gap > 0 else "right")
        assert row["winner"] == "tie" or abs(gap) >= 0.2
    for _, screen in frame.group_by("set"):
        ties = screen.filter(pl.col("winner") == "tie").select("left", "right")
        tied = {frozenset(pair) for pair in ties.rows()}
        for a in tied:
            for b in tied:
                if len(a ^ b) == 2:
                    assert a ^ b in tied


def test_no_ties_without_a_threshold_and_better_systems_win() -> None:
    clear = simulate(systems={"good": 0.6, "bad": 6.0}, documents=40, rng=3)
    frame = clear.judge(2000, per_set=2, tie=0.0, rng=4).frame
    assert "tie" not in set(frame["winner"])
    won = ((frame["winner"] == "left") == (frame["left"] == "good")).mean()
    assert won > 0.75
    left = (frame["winner"] == "left").mean()
    assert left == pytest.approx(0.5, abs=0.05)  # 4 standard errors: no side is favoured


def test_judgments_repeat_with_their_seed(world: World) -> None:
    assert world.judge(50, rng=0).frame.equals(world.judge(50, rng=0).frame)
    assert not world.judge(50, rng=0).frame.equals(world.judge(50, rng=1).frame)


def test_the_truth_as_a_table(world: World) -> None:
    assert "|seed:21|" in world.signature
    frame = world.to_frame()
    assert frame.columns == ["system", "expected", "truth"]
    assert dict(zip(frame["system"], frame["truth"], strict=True)) == world.truth()


def test_raters_agree_as_on_wmt_screens() -> None:
    """WMT12 and WMT15: 17 % ties; two raters agree in 72 and 84 % of what neither ties."""
    crowd = simulate(systems=10, documents=130, rng=5)
    frame = crowd.judge(40_000, rng=6).frame
    assert (frame["winner"] == "tie").mean() == pytest.approx(0.17, abs=0.04)
    decided = frame.filter(pl.col("winner") != "tie").select(
        "seg",
        "rater",
        pl.min_horizontal("left", "right").alias("one"),
        pl.max_horizontal("left", "right").alias("two"),
        pl.when(pl.col("winner") == "left").then("left").otherwise("right").alias("best"),
    )
    both = decided.join(decided, on=["seg", "one", "two"], suffix="_2")
    both = both.filter(pl.col("rater") < pl.col("rater_2"))
    assert both.height > 1000
    assert 0.64 < (both["best"] == both["best_2"]).mean() < 0.84


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"judgments": 0}, r"judgments \(0\) is not a number of them; give at least 1"),
        ({"judgments": 9, "per_set": 8}, r"per_set \(8\) outputs cannot fill a screen; give 2"),
        ({"judgments": 9, "per_set": 1}, r"per_set \(1\) outputs cannot fill a screen"),
        ({"judgments": 9, "noise": -0.1}, r"noise \(-0.1\) is not a distance; give 0 or more"),
        ({"judgments": 9, "tie": float("nan")}, r"tie \(nan\) is not a distance"),
    ],
)
def test_messages_of_judge(world: World, call: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        world.judge(**call)  # type: ignore[arg-type]


def test_messages_about_raters(world: World) -> None:
    with pytest.raises(OptionError, match=r"raters \(bob\) is not a rater of this world; choose"):
        world.rate(raters=["bob"])
    with pytest.raises(OptionError, match=r"raters \(\(\)\) names nobody; name a rater or leave"):
        world.mark(raters=[])


def test_arrays_hold_what_the_tables_say(world: World) -> None:
    rated = world.rate(raters="rater-1").matrix(world.test_set)
    np.testing.assert_array_equal(rated, world.scores[:, :, 0])
