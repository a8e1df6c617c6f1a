"""Betting intervals: over all orders, against a plain loop, and against the published bets."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import perm
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.betting import _bets, _fortunes, betting_interval, betting_sequence
from assay.stats.bounds import hoeffding_bound

TINY = [
    [0.0, 0, 0, 0, 0, 25],
    [0.0, 0, 0, 25, 25, 25],
    [0.0, 1, 1, 2, 5, 25],
    [7.0, 7, 7, 7, 7, 7],
    [25.0, 25, 25, 25, 25, 0],
    [0.0, 5, 10, 20, 25],
]
LEVELS = st.sampled_from([0.3, 0.5, 0.8, 0.95])


def mqm_like(rng: np.random.Generator, population: int = 1200) -> np.ndarray:
    """Scores of a good system: many zeros, mean 2.2, skewness 1.9, at most 25."""
    zero = rng.random(population) < 0.35
    return np.where(zero, 0.0, rng.gamma(1.2, 2.9, population)).clip(0, 25)


def published(values: np.ndarray, population: int, level: float) -> tuple[float, float]:
    """Waudby-Smith and Ramdas's interval in [0, 1] without replacement: bets from the variance.

    Their equation 26 for fixed n, bets cut at half of the largest (as in their code,
    confseq.betting.betting_ci with N given), on a grid of 800 means around the sample's.
    """
    n, alpha = len(values), 1 - level
    t = np.arange(1, n + 1)
    mean = (0.5 + np.cumsum(values)) / (t + 1)
    variance = (0.25 + np.cumsum((values - mean) ** 2)) / (t + 1)
    bets = np.sqrt(2 * np.log(2 / alpha) / (n * np.append(0.25, variance[:-1])))
    grid = (values.mean() + np.linspace(-0.08, 0.08, 800)).clip(0)[:, None]
    m = ((population * grid - (np.cumsum(values) - values)) / (population - t + 1)).clip(1e-9)
    m = m.clip(max=1 - 1e-9)
    up = np.cumsum(np.log1p(np.minimum(bets, 0.5 / m) * (values - m)), axis=1).max(axis=1)
    down = np.cumsum(np.log1p(-np.minimum(bets, 0.5 / (1 - m)) * (values - m)), axis=1).max(axis=1)
    kept = grid[np.maximum(up, down) < np.log(2 / alpha), 0]
    return float(kept.min()), float(kept.max())


class TestGuarantee:
    @pytest.mark.parametrize("population", TINY)
    @pytest.mark.parametrize("level", [0.2, 0.5, 0.9])
    def test_interval_over_all_orders(self, population: list[float], level: float) -> None:
        truth = np.mean(population)
        N = len(population)
        for n in range(1, N):
            held = 0
            for order, times in Counter(permutations(population, n)).items():
                found = betting_interval(np.array(order), N, 0.0, 25.0, level)
                held += times * (found.low - 1e-9 <= truth <= found.high + 1e-9)
            assert held >= level * perm(N, n)

    @pytest.mark.parametrize("population", TINY)
    @pytest.mark.parametrize("level", [0.2, 0.5, 0.9])
    def test_sequence_at_all_times_together_over_all_orders(
        self, population: list[float], level: float
    ) -> None:
        truth, held = np.mean(population), []
        for order in sorted(set(permutations(population))):
            lows, highs = betting_sequence(np.array(order), len(order), 0.0, 25.0, level)
            held.append(np.all((lows - 1e-9 <= truth) & (truth <= highs + 1e-9)))
        assert np.mean(held) >= level

    def test_the_guarantee_is_not_idle(self) -> None:
        # At a low level some orders do mislead: intervals say more than logic alone.
        orders = set(permutations([0.0, 0, 0, 25, 25, 25]))
        missed = [
            (i := betting_interval(np.array(order[:4]), 6, 0.0, 25.0, 0.2)).low > 12.5
            or i.high < 12.5
            for order in orders
        ]
        assert 0 < np.mean(missed) <= 0.8

    @given(st.lists(st.floats(0, 1), min_size=3, max_size=8), st.floats(0.01, 0.99), st.data())
    def test_money_is_a_fair_game(self, values: list[float], extra: float, data: st.DataObject):
        # The mean over all next values of 1 + lambda (x - m) is 1: bets only know the past.
        x = np.array(values)
        n = data.draw(st.integers(1, len(x) - 1))
        bets = _bets(x, np.full(len(x), 9.0))
        changed = np.append(x[:n], np.full(len(x) - n, extra))
        np.testing.assert_array_equal(bets[: n + 1], _bets(changed, np.full(len(x), 9.0))[: n + 1])
        gains = []
        for last in x[n:]:
            path = np.append(x[:n], last)
            money = np.exp(_fortunes(path, len(x), bets[: n + 1], np.array([x.mean()]))[0])
            gains.append(money[n] / money[n - 1])
        assert np.mean(gains) == pytest.approx(1.0, abs=1e-6)


class TestKernels:
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.01, 0.99))
    def test_fortunes_are_those_of_a_plain_loop(self, values: list[float], mean: float) -> None:
        x, population = np.array(values), 20
        bets = _bets(x, np.full(len(x), 12.0))
        money, before, expected = 1.0, 0.0, []
        for i, value in enumerate(values):
            m = min(max((population * mean - before) / (population - i), 1e-12), 1.0)
            money *= 1 + min(bets[i], 0.99 / m) * (value - m)
            before += value
            expected.append(money)
        found = np.exp(_fortunes(x, population, bets, np.array([mean]))[0])
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
    def test_fortunes_fall_with_the_mean(self, values: list[float]) -> None:
        x = np.array(values)
        found = _fortunes(x, 20, _bets(x, np.full(len(x), 12.0)), np.linspace(0, 1, 50))
        assert np.all(np.diff(found, axis=0) <= 1e-9)

    def test_ends_are_where_the_money_reaches_two_over_alpha(self) -> None:
        x = mqm_like(np.random.default_rng(2))[:200] / 25
        found = betting_interval(x, 1200, 0.0, 1.0, 0.95)
        weight = 1200 / (1200 - np.arange(200))
        bets = _bets(x, np.full(200, np.sum(weight**2))) * weight
        around = found.low + np.array([-1e-6, 1e-6])
        out, kept = _fortunes(x, 1200, bets, around).max(axis=1)
        assert kept < np.log(40) <= out
        assert found.half_width < hoeffding_bound(200, 1200, 1.0, 0.95) / 2

    def test_a_sequence_ends_next_to_the_money_also_near_the_end_of_the_range(self) -> None:
        # Errors of a good system: a mean of .03 of the range, and limits nearer to 0 than that.
        x = np.random.default_rng(3).permutation(np.repeat([0.0, 0.1], [700, 300]))[:400]
        low = betting_sequence(x, 1000, 0.0, 1.0, 0.95)[0][-1]
        weight = 1000 / (1000 - np.arange(400))
        bets = _bets(x, 3 * np.cumsum(weight**2)) * weight
        means = np.linspace(0, x.mean(), 2001)
        out = means[_fortunes(x, 1000, bets, means).max(axis=1) >= np.log(40)].max()
        assert 0.02 < low <= out + 2e-5 < 0.03
        assert x.mean() - low <= 1.017 * (x.mean() - out) + 1e-4


class TestInterval:
    @given(st.lists(st.floats(0, 25), min_size=1, max_size=30), LEVELS)
    def test_everything_rated_is_the_mean(self, values: list[float], level: float) -> None:
        x = np.array(values)
        found = betting_interval(x, len(x), 0.0, 25.0, level)
        assert found.low == found.high == x.mean()
        lows, highs = betting_sequence(x, len(x), 0.0, 25.0, level)
        np.testing.assert_allclose([lows[-1], highs[-1]], x.mean(), atol=1e-9)

    @given(st.lists(st.floats(0, 25), min_size=1, max_size=30), st.integers(1, 40), LEVELS)
    def test_inside_what_is_possible(self, values: list[float], rest: int, level: float) -> None:
        x = np.array(values)
        N = len(x) + rest
        found = betting_interval(x, N, 0.0, 25.0, level)
        assert x.sum() / N - 1e-9 <= found.low <= found.high <= (x.sum() + 25 * rest) / N + 1e-9

    def test_ends_keep_their_order_where_the_limits_cross(self) -> None:
        # High scores first, low ones later, and a low level: either side rules out the other's.
        x = np.array([9, 3, 6, 8, 7, 9, 9, 9, 0, 4, 5, 1, 0, 8, 10]) / 10
        found = betting_interval(x, 17, 0.0, 1.0, 0.3)
        assert x.sum() / 17 <= found.low < found.high <= (x.sum() + 2) / 17

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(-9, 9), st.floats(0.1, 50))
    def test_moves_with_the_scale_and_its_mirror(
        self, values: list[float], shift: float, scale: float
    ) -> None:
        x = np.array(values)
        unit = betting_interval(x, 60, 0.0, 1.0, 0.9)
        moved = betting_interval(shift + scale * x, 60, shift, shift + scale, 0.9)
        expected = (shift + scale * unit.low, shift + scale * unit.high)
        assert (moved.low, moved.high) == pytest.approx(expected, abs=1e-5 * scale)
        mirror = betting_interval(1 - x, 60, 0.0, 1.0, 0.9)
        assert (1 - mirror.high, 1 - mirror.low) == pytest.approx((unit.low, unit.high), abs=1e-5)

    def test_nested_in_level(self) -> None:
        rng = np.random.default_rng(4)
        for _ in range(20):
            x = rng.permutation(mqm_like(rng))[:120]
            found = [betting_interval(x, 1200, 0.0, 25.0, p) for p in (0.8, 0.9, 0.95, 0.99)]
            assert np.all(np.diff([i.low for i in found]) <= 1e-5)
            assert np.all(np.diff([i.high for i in found]) >= -1e-5)

    def test_narrower_with_more_ratings_and_by_order_alone_otherwise(self) -> None:
        x = np.random.default_rng(5).permutation(mqm_like(np.random.default_rng(5)))
        widths = [
            betting_interval(x[:n], 1200, 0.0, 25.0, 0.95).half_width
            for n in (1, 10, 50, 200, 600, 1100, 1200)
        ]
        assert np.all(np.diff(widths) < 0)
        again, turned = (betting_interval(v, 1200, 0, 25, 0.95) for v in (x[:200], x[199::-1]))
        assert again.half_width == widths[3]
        assert turned != again

    def test_nothing_seen_and_equal_values(self) -> None:
        nothing = betting_interval(np.array([]), 50, 0.0, 25.0, 0.95)
        assert (nothing.low, nothing.high) == (0.0, 25.0)
        equal = betting_interval(np.zeros(100), 1000, 0.0, 25.0, 0.95)
        # At best (3/n rule with 2/alpha): 1 - (alpha/2)^(1/n) of the range, times what is left.
        assert equal.low == 0.0
        assert 0.03 * 25 < equal.high < 0.06 * 25


class TestSequence:
    def test_nested_in_time_and_wider_than_for_a_known_n(self) -> None:
        rng = np.random.default_rng(6)
        x = rng.permutation(mqm_like(rng))
        lows, highs = betting_sequence(x, 1200, 0.0, 25.0, 0.95)
        assert np.all(np.diff(lows) >= 0)
        assert np.all(np.diff(highs) <= 0)
        for n in (120, 360, 600):
            fixed = betting_interval(x[:n], 1200, 0.0, 25.0, 0.95).half_width
            assert fixed < (highs[n - 1] - lows[n - 1]) / 2 < 1.5 * fixed

    def test_a_prefix_is_the_sequence_of_the_prefix(self) -> None:
        x = mqm_like(np.random.default_rng(7))
        long, short = (betting_sequence(v, 1200, 0.0, 25.0, 0.95) for v in (x[:600], x[:200]))
        for one, other in zip(long, short, strict=True):
            np.testing.assert_allclose(one[20:200], other[20:], rtol=0.02, atol=0.05)

    def test_an_order_that_misleads_still_ends_at_the_mean(self) -> None:
        # Sorted values are no random order: limits cross, and logic has the last word.
        x = np.sort(mqm_like(np.random.default_rng(8), 400))
        lows, highs = betting_sequence(x, 400, 0.0, 25.0, 0.95)
        assert np.all(lows <= highs)
        assert (lows[-1], highs[-1]) == pytest.approx((x.mean(), x.mean()))
        assert x.mean() > highs[200]


class TestWidths:
    @pytest.mark.parametrize("n", [120, 360, 600])
    def test_narrower_than_the_published_bets(self, n: int) -> None:
        # Over these 40 samples ours are 25, 15 and 10 % narrower.
        rng = np.random.default_rng(9)
        scores, ours, theirs = mqm_like(rng), [], []
        for _ in range(40):
            x = rng.permutation(scores)[:n]
            ours.append(betting_interval(x, 1200, 0.0, 25.0, 0.95).half_width)
            low, high = published(x / 25, 1200, 0.95)
            theirs.append(25 * (high - low) / 2)
        assert np.mean(ours) < 0.93 * np.mean(theirs)

    @pytest.mark.slow
    @pytest.mark.parametrize("n", [30, 600])
    def test_coverage_on_scores_like_mqm(self, n: int) -> None:
        # 1,500 samples; the Monte-Carlo sd of a coverage of .95 is .0056.
        rng = np.random.default_rng(10)
        scores = mqm_like(rng)
        truth = scores.mean()
        hits = [
            truth in betting_interval(rng.permutation(scores)[:n], 1200, 0.0, 25.0, 0.95)
            for _ in range(1500)
        ]
        assert np.mean(hits) > 0.95 - 3 * 0.0056

    @pytest.mark.slow
    def test_coverage_at_all_times_together(self) -> None:
        # 400 sequences of 600 of 1200; the Monte-Carlo sd of a coverage of .95 is .011.
        rng, held = np.random.default_rng(11), []
        scores = mqm_like(rng)
        for _ in range(400):
            lows, highs = betting_sequence(rng.permutation(scores)[:600], 1200, 0.0, 25.0, 0.95)
            held.append(np.all((lows <= scores.mean()) & (scores.mean() <= highs)))
        assert np.mean(held) > 0.95 - 3 * 0.011

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("file", "targets"),
        # Published bets on this data, R = 25, n = 10, 30, 50 %: what ours have to beat.
        [("ende", (0.79, 0.30, 0.18)), ("zhen", (0.85, 0.42, 0.28))],
    )
    def test_half_widths_on_wmt20(
        self, shared_data: Path, file: str, targets: tuple[float, ...]
    ) -> None:
        frame = pl.read_parquet(shared_data / f"wmt20_mqm_{file}.parquet")
        frame = frame.filter(~pl.col("system").str.starts_with("Human-A"))
        scores = frame["mqm"].cast(pl.Float64).to_numpy().reshape(9, -1)
        rng, N = np.random.default_rng(12), scores.shape[1]
        for share, target in zip((0.1, 0.3, 0.5), targets, strict=True):
            n = round(share * N)
            found = [
                (row.mean() in interval, interval.half_width)
                for row in scores
                for _ in range(25)
                for interval in [betting_interval(rng.permutation(row)[:n], N, 0.0, 25.0, 0.95)]
            ]
            covered, half = np.mean(found, axis=0)
            assert half < target
            assert covered > 0.95 - 3 * np.sqrt(0.95 * 0.05 / len(found))
