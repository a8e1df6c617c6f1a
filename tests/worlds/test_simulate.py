"""Making a world, and what its raters answer."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay.errors import OptionError
from assay.tables.tables import Sample, read_sample
from assay.worlds.profiles import PROFILES
from assay.worlds.simulate import World, simulate


def test_sizes_and_names() -> None:
    world = simulate(systems=3, humans=1, documents=[2, 5, 1], raters=2, rng=1)
    assert world.systems == ("human-1", "system-1", "system-2", "system-3")
    assert world.scores.shape == (4, 8, 2)
    assert world.kinds.shape == (4, 8, 2, 5)
    assert world.raters == ("rater-1", "rater-2")
    assert world.test_set.documents["segments"].to_list() == [2, 5, 1]
    frame = world.test_set.frame
    assert frame.columns == ["system", "doc", "seg", "words", "domain", "neural", "surface"]
    assert frame["seg"].to_list()[:3] == ["1", "2", "3"]
    assert world.signature.startswith("world|en-de|systems:4|segments:8|raters:2|seed:1|v:")


def test_arrays_and_table_have_the_same_order() -> None:
    world = simulate(systems=12, documents=30, rng=2)
    assert world.segments["seg"].to_list() == [str(i + 1) for i in range(world.scores.shape[1])]
    assert world.test_set.present.all()
    rated = world.rate().matrix(world.test_set)
    np.testing.assert_allclose(rated, world.scores.mean(axis=2))


def test_a_seed_gives_one_world_and_zero_is_a_seed() -> None:
    one, two = (simulate(systems=3, documents=10, texts=True, rng=0) for _ in range(2))
    assert one.test_set.frame.equals(two.test_set.frame)
    assert one.mark().frame.equals(two.mark().frame)
    assert one.seed == 0
    other = simulate(systems=3, documents=10, texts=True, rng=1)
    assert not one.test_set.frame.equals(other.test_set.frame)


def test_a_fresh_seed_is_recorded() -> None:
    world = simulate(systems=2, documents=5)
    assert world.seed is not None
    again = simulate(systems=2, documents=5, rng=world.seed)
    np.testing.assert_array_equal(world.scores, again.scores)
    generator = np.random.default_rng(3)
    assert simulate(systems=2, documents=5, rng=generator).seed is None


def test_texts_do_not_change_the_rest() -> None:
    plain = simulate(systems=3, documents=10, rng=4)
    written = simulate(systems=3, documents=10, texts=True, rng=4)
    np.testing.assert_array_equal(plain.scores, written.scores)
    assert plain.mark().frame.equals(written.mark().frame.drop("side", "start", "end"))
    frame = written.test_set.frame
    words = frame["source"].str.split(" ").list.len()
    assert (words == frame["words"]).all()
    assert (frame["target"].str.split(" ").list.len() == frame["words"]).all()
    assert frame.group_by("seg").agg(pl.col("source").n_unique())["source"].max() == 1
    assert frame.group_by("seg").agg(pl.col("target").n_unique())["target"].mean() > 2


def test_systems_have_the_quality_asked_for() -> None:
    wanted = {"a": 0.7, "b": 2.0, "c": 6.0}
    worlds = [simulate(systems=wanted, documents=40, raters=4, rng=i) for i in range(60)]
    found = np.array([list(world.truth().values()) for world in worlds])
    error = found.std(axis=0, ddof=1) / np.sqrt(len(worlds))
    expected = np.array(list(wanted.values()))
    # 3 standard errors, and 3 % for the independence that expected scores assume
    assert np.all(np.abs(found.mean(axis=0) - expected) < 3 * error + 0.03 * expected)
    assert dict(worlds[0].expected) == wanted


def test_counted_systems_are_spread_like_the_profile_in_random_order() -> None:
    ladder = PROFILES["en-de"].machines
    world = simulate(systems=7, humans=2, documents=5, rng=5)
    values = list(world.expected.values())
    assert values[:2] == list(PROFILES["en-de"].humans)
    np.testing.assert_allclose(sorted(values[2:]), ladder)
    orders = {tuple(simulate(systems=4, documents=2, rng=i).expected.values()) for i in range(9)}
    assert len(orders) > 4
    single = simulate(systems=1, documents=5, rng=6)
    assert list(single.expected.values()) == [np.median(ladder)]


def test_documents_have_long_tails_and_domains_are_dealt_evenly() -> None:
    world = simulate(systems=1, documents=2000, domains=("x", "y"), metrics={}, rng=7)
    sizes = world.test_set.documents["segments"].to_numpy()
    median, spread, least = PROFILES["en-de"].document_segments
    assert np.median(sizes) == pytest.approx(median, abs=1)
    assert np.log(sizes).std() == pytest.approx(spread, abs=0.04)
    assert sizes.min() >= least
    assert sizes.max() > 3 * median
    per_domain = world.segments.group_by("domain").agg(pl.col("doc").n_unique())
    assert per_domain["doc"].to_list() == [1000, 1000]


def test_longer_segments_are_worse() -> None:
    world = simulate(documents=200, rng=8)
    words = np.log(world.segments["words"].to_numpy())
    r = np.corrcoef(words, world.scores.mean(axis=(0, 2)))[0, 1]
    assert 0.15 < r < 0.6


def test_a_profile_of_ones_own() -> None:
    calm = dataclasses.replace(PROFILES["en-de"], name="calm", non_translation=1e-9)
    world = simulate(profile=calm, systems=2, documents=50, rng=9)
    assert not (world.kinds == 4).any()
    assert "calm" in world.signature


def test_tiny_worlds() -> None:
    world = simulate(systems=1, documents=[1], raters=1, metrics={}, texts=True, rng=11)
    assert world.scores.shape == (1, 1, 1)
    assert np.isfinite(world.badness).all()
    assert len(world.mark()) >= 1
    ende = PROFILES["en-de"]
    rare = dataclasses.replace(ende.punctuation, shares=(1e-6,) * 5)
    clean = dataclasses.replace(ende, punctuation=rare)
    best = {"a": 1e-4, "b": 1e-4}
    perfect = simulate(profile=clean, systems=best, documents=[1, 1], metrics={}, rng=12)
    assert not perfect.scores.any()
    assert len(perfect.judge(4, per_set=2, rng=13)) == 4
    for systems, documents in ((best, [3]), (4, [1])):
        with pytest.raises(OptionError, match=r"metrics \(neural, surface\) cannot correlate with"):
            simulate(profile=clean, systems=systems, documents=documents, rng=12)
    for seed in range(50):
        small = simulate(systems=2, documents=[3], metrics={"m": 0.0}, rng=seed)
        assert np.isfinite(small.test_set.matrix("m")).all()


def test_large_worlds_are_fast() -> None:
    start = time.perf_counter()
    simulate(systems=10, documents=[10] * 200, rng=10)
    assert time.perf_counter() - start < 2  # .15 s on a slow core; loose for busy machines


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"profile": "fr-de"}, r"profile \(fr-de\) is not a profile; choose from en-de, zh-en or"),
        ({"systems": 0}, r"systems \(0\) is too few; give at least 1"),
        ({"systems": {}}, r"systems \(0\) is too few; give at least 1"),
        ({"systems": {"a": 30.0}}, r"systems \(30.0\) cannot be the mean score of 'a'; give .* to"),
        ({"humans": -1}, r"humans \(-1\) is too few; give at least 0"),
        ({"documents": 0}, r"documents \(0\) is too few; give at least 1"),
        ({"documents": []}, r"documents \(0\) is too few; give at least 1"),
        ({"documents": [3, 0]}, r"documents \(0\) is not a number of segments; give"),
        ({"raters": 0}, r"raters \(0\) is too few; give at least 1"),
        ({"domains": ()}, r"domains \(\(\)\) is not a list of different names; name each once"),
        ({"domains": "news"}, r"domains \(news\) is not a list of different names"),
        ({"domains": ("a", "a")}, r"is not a list of different names"),
        ({"rng": -1}, r"rng \(-1\) is not a seed"),
    ],
)
def test_messages(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        simulate(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shares": (0.5, 0.6, 0.1, 0.1, 0.1)}, r"are not the shares of counts; give 5 falling"),
        ({"shares": (0.5, 0.2)}, r"shares \(\(0.5, 0.2\)\) are not the shares of counts"),
        ({"shares": (1.0, 0.5, 0.1, 0.1, 0.1)}, r"are not the shares of counts"),
        ({"document": 0.9}, r"kind \(1.6.*\) is not what parts of the variance may add up to"),
        ({"document": -0.1}, r"give parts from 0, at most 1 in all"),
    ],
)
def test_messages_of_kinds(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        dataclasses.replace(PROFILES["en-de"].major, **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"human_own": 1.5}, r"human_own \(1.5\) is not a share; give 0 to 1"),
        ({"metric_document": 0.9}, r"metric_document \+ metric_segment \(1.56\) is not a share"),
        ({"kinship": -2.0}, r"kinship \(-2.0\) is not a correlation; give -1 to 1"),
        ({"non_translation": 0.01}, r"non_translation \(0.01\) is not its share; give more than 0"),
        ({"non_translation": 0.0}, r"non_translation \(0.0\) is not its share"),
    ],
)
def test_messages_of_profiles(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        dataclasses.replace(PROFILES["en-de"], **changes)


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
    joined = 0
    for _, screen in frame.group_by("set"):
        ties = screen.filter(pl.col("winner") == "tie").select("left", "right")
        tied = {frozenset(pair) for pair in ties.rows()}
        for a in tied:
            for b in tied:
                if len(a ^ b) == 2:
                    assert a ^ b in tied
                    joined += 1
    assert joined > 30  # screens with three or more equal outputs


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
