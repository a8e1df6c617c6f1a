"""Judgments of systems whose qualities are known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import assay
from assay.errors import OptionError
from assay.stats.random import as_rng
from assay.worlds.judgments import draw_qualities, draw_sets, win_counts


@given(st.integers(2, 12), st.integers(1, 200), st.data())
def test_tables_add_up(n: int, judgments: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(2, n))
    frame = assay.simulate_judgments(n, judgments, per_set=k, rng=1).frame
    assert frame.height == judgments
    sizes = frame.group_by("set").len()["len"]
    assert sizes.max() <= k * (k - 1) // 2
    assert (frame["left"] != frame["right"]).all()
    assert frame.group_by("set").agg(pl.col("rater").n_unique())["rater"].max() == 1


def test_the_same_seed_gives_the_same_judgments() -> None:
    one, other = (assay.simulate_judgments(6, 200, rng=0).frame for _ in range(2))
    assert one.equals(other)


def test_win_ratio_is_that_of_the_model() -> None:
    """P = Phi(gap / (sigma sqrt 2)); 40,000 judgments have a sd of .0025."""
    for maker in ("table", "counts"):
        if maker == "table":
            frame = assay.simulate_judgments([6.0, 2.0], 40_000, per_set=2, sigma=5.0, rng=1).frame
            won = pl.when(pl.col("winner") == "left").then("left").otherwise("right")
            ratio = (frame.select(won).to_series() == "S1").mean()
        else:
            wins = win_counts(np.array([[6.0, 2.0]]), [40_000], as_rng(1), sigma=5.0, per_set=2)
            ratio = wins[0, 0, 0, 1] / 40_000
        assert ratio == pytest.approx(stats.norm.cdf(4 / (5 * np.sqrt(2))), abs=0.01)


def test_counts_against_the_table() -> None:
    """Both make the same counts on average, also where one set in four is random."""
    mu = np.array([[0.0, 1.0, 4.0, 6.0, 7.0, 10.0]])
    frame = assay.simulate_judgments(mu[0].tolist(), 100_000, random_share=0.25, rng=1).frame
    won = pl.when(pl.col("winner") == "left").then("left").otherwise("right")
    from_table = frame.select(won.alias("name"))["name"].value_counts().sort("name")["count"]
    wins = win_counts(mu, [10_000], as_rng(2), random_share=0.25)[0, 0].sum(axis=1)
    np.testing.assert_allclose(from_table.to_numpy(), wins, rtol=0.06)


def test_counts_grow_and_each_set_counts_once() -> None:
    wins = win_counts(draw_qualities(3, 7, as_rng(1)), [10, 6000, 6001], as_rng(1), per_set=4)
    assert wins.sum(axis=(2, 3)).tolist() == [[60, 36_000, 36_006]] * 3
    assert (np.diff(wins, axis=1) >= 0).all()
    assert (np.diagonal(wins, axis1=2, axis2=3) == 0).all()


@pytest.mark.parametrize(("n", "k"), [(6, 3), (40, 5)])
def test_sets_are_uniform(n: int, k: int) -> None:
    """Listed and unlisted sets alike; a chi-square test that errs once in 10,000 seeds."""
    drawn = draw_sets(30_000, n, k, as_rng(3))
    assert (np.diff(drawn, axis=1) > 0).all()
    assert stats.chisquare(np.bincount(drawn.ravel(), minlength=n)).pvalue > 1e-4
    pairs = np.bincount(drawn[:, 0] * n + drawn[:, -1], minlength=n * n)
    if k == 3 and n == 6:
        first_last = pairs.reshape(n, n)
        expected = np.maximum(np.arange(n)[None, :] - np.arange(n)[:, None] - 1, 0) * 1500
        assert np.abs(first_last - expected).max() < 5 * np.sqrt(6000)


def test_many_systems_are_simulated_too() -> None:
    wins = win_counts(draw_qualities(1, 40, as_rng(1)), [500], as_rng(1))
    assert wins.sum() == 5000


def test_ties_segments_and_raters() -> None:
    table = assay.simulate_judgments(
        6, 5000, tie=3.0, segments=40, segment_share=0.5, raters=3, rater_share=0.2, rng=1
    ).frame
    assert set(table["winner"].unique()) == {"left", "right", "tie"}
    assert table["seg"].n_unique() == 40
    assert table["rater"].n_unique() == 3


def test_votes_on_one_segment_agree_with_its_share() -> None:
    """With everything in the segment, the same pair of a segment is always judged alike."""
    frame = assay.simulate_judgments(
        [5.0] * 4, 3000, segments=5, segment_share=1.0, per_set=4, rng=1
    )
    flip = pl.col("left") > pl.col("right")
    better = pl.when(pl.col("winner") == "left").then("left").otherwise("right")
    kinds = frame.frame.select(
        "seg", pl.min_horizontal("left", "right").alias("a"),
        pl.max_horizontal("left", "right").alias("b"), better.alias("best"), flip.alias("flip"),
    )  # fmt: skip
    assert kinds.group_by("seg", "a", "b").agg(pl.col("best").n_unique())["best"].max() == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"systems": 1}, "systems"),
        ({"systems": [1.0, float("nan")]}, "systems"),
        ({"judgments": 0}, "judgments"),
        ({"per_set": 16}, "per_set"),
        ({"sigma": 0.0}, "sigma"),
        ({"tie": -1.0}, "tie"),
        ({"random_share": 1.5}, "random_share"),
        ({"segment_share": 0.6, "rater_share": 0.6}, "rater_share"),
        ({"segments": 0}, "segments"),
        ({"qualities": "odd"}, "qualities"),
    ],
)
def test_refusals(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        assay.simulate_judgments(**options, rng=1)  # type: ignore[arg-type]
