"""The rater variance: by hand, and against raters whose taste is known."""

from __future__ import annotations

import numpy as np
import pytest

from assay.stats.rater_variance import pair_differences, rater_variance


class TestByHand:
    def test_tasks_are_summed_before_they_are_squared(self) -> None:
        first, second = np.array([1.0, 2.0, 5.0, 4.0]), np.array([0.0, 1.0, 6.0, 4.0])
        assert rater_variance(first, second, np.array(["a", "a", "b", "b"])) == (0.625, 2.0)
        by_segments = rater_variance(first, second, np.arange(4))
        assert by_segments == ((1 + 1 + 1 + 0) / 2 / 4, 4.0)

    def test_mean_over_pairs_is_twice_the_spread_of_systems(self) -> None:
        rng = np.random.default_rng(1)
        first, second = rng.normal(size=(2, 5, 12))
        task = np.repeat(np.arange(4), 3)
        v, degrees = rater_variance(pair_differences(first), pair_differences(second), task)
        e = (first - second).reshape(5, 4, 3).sum(axis=2)
        assert v == pytest.approx(e.var(axis=0, ddof=1).sum() / 12)
        assert degrees == 4

    def test_a_missing_answer_leaves_its_pairs_out(self) -> None:
        first = np.array([[1.0, np.nan, 3.0], [0.0, 2.0, 2.0]])
        second = np.zeros((2, 3))
        v, degrees = rater_variance(first, second, np.array([0, 0, 1]))
        # rows: 1^2 + 3^2 over 2 segments, 2^2 + 2^2 over 3
        assert v == pytest.approx((1 + 9 + 4 + 4) / 2 / 5)
        assert degrees == pytest.approx(9 / 5)

    def test_nothing_doubly_rated(self) -> None:
        for empty in (np.array([np.nan, np.nan]), np.empty((3, 0))):
            v, degrees = rater_variance(empty, empty, np.arange(empty.shape[-1]))
            assert np.isnan(v)
            assert degrees == 0

    def test_pairs_of_one_system(self) -> None:
        assert pair_differences(np.ones((1, 4))).shape == (0, 4)
        v, degrees = rater_variance(np.empty((0, 4)), np.empty((0, 4)), np.arange(4))
        assert np.isnan(v)
        assert degrees == 0


class TestAgainstKnownRaters:
    """Six systems, documents of 8 segments; a rater has a taste for each system in each task."""

    def test_unbiased_and_relabelling_changes_nothing(self) -> None:
        # v of a difference: 2 (noise^2 + 8 taste^2) = 2 (1 + 8 / 4) = 6. 300 runs, Monte-Carlo
        # sd of the mean 6 sqrt(2 / (12 x 5 x 300)) = .063.
        rng = np.random.default_rng(2)
        task = np.repeat(np.arange(12), 8)
        found = []
        for _ in range(300):
            taste = rng.normal(scale=0.5, size=(2, 6, 12))[:, :, task]
            scores = rng.normal(size=(2, 6, 96)) + taste
            first, second = (pair_differences(rater) for rater in scores)
            found.append(rater_variance(first, second, task)[0])
        assert np.mean(found) == pytest.approx(6, abs=0.2)
        order = rng.permutation(96)
        shuffled = rater_variance(second[:, order], first[:, order], -task[order])
        assert shuffled == pytest.approx(rater_variance(first, second, task))

    def test_degrees_hold_for_one_pair(self) -> None:
        # The variance of a chi-square over its degrees is 2 / degrees: unequal tasks of 2 to 20.
        rng = np.random.default_rng(3)
        task = np.repeat(np.arange(10), [2, 2, 3, 4, 5, 6, 8, 10, 15, 20])
        found = []
        for _ in range(4000):
            gap = rng.normal(size=len(task))
            v, degrees = rater_variance(gap, np.zeros(len(task)), task)
            found.append(v)
        assert 2 * np.mean(found) ** 2 / np.var(found) == pytest.approx(degrees, rel=0.12)
