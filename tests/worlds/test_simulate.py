"""Making worlds: sizes, names, qualities, seeds, refusals."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay.errors import OptionError
from assay.worlds.profiles import PROFILES
from assay.worlds.simulate import simulate


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
