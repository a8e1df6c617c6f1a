"""Kernels against theory, by hand, and against exact enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.designs.base import simple_variance
from assay.errors import OptionError
from assay.stats.intervals import (
    Interval,
    cluster_numbers,
    competition_ranks,
    order_of_differences,
    rank_ranges,
    t_interval,
)
from assay.stats.random import as_rng, seeded, spawn
from assay.stats.selection import simple_random, within_strata


def stderr_of(values: np.ndarray, population: int) -> float:
    """The standard error that a simple random sample of these values states."""
    drawn = np.arange(population) < len(values)
    e = np.pad(values, (0, population - len(values)))
    return float(np.sqrt(simple_variance(e[None], drawn[None], np.ones(population))[0]))


class TestRandom:
    def test_a_generator_is_used_as_it_is(self) -> None:
        rng = np.random.default_rng(1)
        assert seeded(rng) == (rng, None)

    def test_none_draws_a_seed_that_repeats_the_run(self) -> None:
        rng, seed = seeded(None)
        assert seed is not None
        assert as_rng(seed).random() == rng.random()

    @pytest.mark.parametrize("wrong", [-1, 1.5, "7", True])
    def test_anything_else_is_refused(self, wrong: object) -> None:
        with pytest.raises(OptionError, match=r"rng \(.*\) is not a seed; give a whole number"):
            as_rng(wrong)  # type: ignore[arg-type]

    def test_children_differ(self) -> None:
        assert len({child.random() for child in spawn(as_rng(0), 20)}) == 20


class TestIntervals:
    def test_t_interval_is_scipys(self) -> None:
        values = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
        found = t_interval(values.mean(), float(stats.sem(values)), 4, 0.9)
        outside = stats.t.interval(0.9, 4, loc=values.mean(), scale=stats.sem(values))
        assert (found.low, found.high) == pytest.approx(outside, rel=1e-8)

    def test_everything_rated_leaves_nothing_unknown(self) -> None:
        assert stderr_of(np.array([1.0, 2.0]), population=2) == 0
        assert t_interval(1.5, 0.0, 1, 0.95) == Interval(1.5, 1.5, 0.95)

    def test_one_value_says_nothing_about_spread(self) -> None:
        assert np.isnan(stderr_of(np.array([1.0]), population=5))
        assert t_interval(1.0, float("nan"), 0, 0.95).half_width == float("inf")

    def test_two_values_by_hand(self) -> None:
        # s^2 = 2, n = 2, half of all: 2 / 2 x (1 - 1/2)
        assert stderr_of(np.array([1.0, 3.0]), population=4) == pytest.approx(0.5**0.5)

    def test_contains(self) -> None:
        assert 1 in Interval(0, 2, 0.95)
        assert 3 not in Interval(0, 2, 0.95)
        assert all(end in Interval(0, 2, 0.95) for end in (0, 2))

    @given(st.lists(st.floats(-100, 100), min_size=4, max_size=7), st.integers(2, 3))
    def test_squared_stderr_is_unbiased_over_all_samples(self, values: list[float], n: int) -> None:
        # Exact enumeration: mean of s^2/n (1-n/N) over all samples = variance of their means.
        population = np.array(values)
        samples = [np.array(chosen) for chosen in combinations(values, n)]
        stated = np.mean([stderr_of(sample, len(population)) ** 2 for sample in samples])
        true = np.var([sample.mean() for sample in samples])
        assert stated == pytest.approx(true, rel=1e-9, abs=1e-9)

    @pytest.mark.slow
    def test_coverage_of_the_t_interval(self) -> None:
        # 4,000 samples of 60 of 300 skewed scores; Monte-Carlo sd of a coverage of .95 is .0034.
        rng = np.random.default_rng(5)
        population = rng.gamma(1.0, 2.0, 300)
        hits = 0
        for _ in range(4000):
            values = population[simple_random(300, 60, rng)[0]]
            stderr = stderr_of(values, 300)
            hits += population.mean() in t_interval(values.mean(), stderr, 59, 0.95)
        assert 0.925 < hits / 4000 < 0.96


class TestSelection:
    def test_probabilities_of_units_and_pairs(self) -> None:
        # 1e5 draws of 3 of 6: z-test of every unit (pi = 1/2) and pair (pi = 1/5).
        rng, runs = np.random.default_rng(2), 100_000
        drawn = np.zeros((runs, 6), dtype=bool)
        np.put_along_axis(drawn, simple_random(6, 3, rng, runs), True, axis=1)
        units = drawn.mean(axis=0)
        assert np.all(np.abs(units - 0.5) < 4.5 * np.sqrt(0.25 / runs))
        for i, j in combinations(range(6), 2):
            pair = (drawn[:, i] & drawn[:, j]).mean()
            assert abs(pair - 0.2) < 4.5 * np.sqrt(0.16 / runs)

    def test_prefixes_are_samples_too(self) -> None:
        order = simple_random(8, 8, np.random.default_rng(0))[0]
        assert sorted(order.tolist()) == list(range(8))
        again = simple_random(8, 3, np.random.default_rng(0))[0]
        np.testing.assert_array_equal(again, order[:3])

    def test_strata_of_any_size(self) -> None:
        counts = np.array([[2, 0, 1], [0, 1, 3]])
        drawn = within_strata(np.array([2, 0, 2, 1, 0, 2]), counts, np.random.default_rng(1))
        for row in range(2):
            found = np.bincount(np.array([2, 0, 2, 1, 0, 2])[drawn[row]], minlength=3)
            assert found.tolist() == counts[row].tolist()


class TestOrders:
    def test_equal_scores_share_a_rank(self) -> None:
        assert competition_ranks(np.array([2.0, 2.0, 1.0])).tolist() == [1, 1, 3]

    def test_nothing_decided_is_one_cluster(self) -> None:
        low, high = rank_ranges(np.zeros((3, 3), dtype=bool))
        assert (low.tolist(), high.tolist()) == ([1, 1, 1], [3, 3, 3])
        assert cluster_numbers(low, high).tolist() == [1, 1, 1]

    def test_a_difference_of_nothing_puts_nobody_ahead(self) -> None:
        pairs = np.array([[0, 1], [0, 2], [1, 2]])
        lead, decided = np.array([0.0, 2.0, np.nan]), np.array([True, True, True])
        found = order_of_differences(3, pairs, lead, decided)
        assert found.rank.tolist() == [1, 1, 2]
        assert (found.low.tolist(), found.high.tolist()) == ([1, 1, 2], [2, 3, 3])

    def test_everything_decided_is_a_cluster_each(self) -> None:
        better = np.triu(np.ones((4, 4), dtype=bool), 1)
        low, high = rank_ranges(better)
        assert low.tolist() == high.tolist() == [1, 2, 3, 4]
        assert cluster_numbers(low, high).tolist() == [1, 2, 3, 4]

    @given(st.lists(st.floats(0, 1), min_size=2, max_size=6), st.floats(0, 0.5), st.integers(0, 99))
    def test_relabelling_permutes(self, scores: list[float], gap: float, seed: int) -> None:
        values = np.array(scores)
        better = values[:, None] > values[None, :] + gap
        order = np.random.default_rng(seed).permutation(len(values))
        low, high = rank_ranges(better)
        moved_low, moved_high = rank_ranges(better[np.ix_(order, order)])
        np.testing.assert_array_equal(moved_low, low[order])
        np.testing.assert_array_equal(
            cluster_numbers(moved_low, moved_high), cluster_numbers(low, high)[order]
        )
        assert np.all(low <= competition_ranks(values))
        assert np.all(competition_ranks(values) <= high)
