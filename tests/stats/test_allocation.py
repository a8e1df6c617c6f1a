"""Shares of a total and whole numbers of them: by hand, against bisection and all whole numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from assay.stats.allocation import capped_shares, largest_remainder, systematic_counts


def test_over_full_strata_pass_on_what_they_cannot_take() -> None:
    # 8:1:1 of 10, but the first has 3 only: the other seven are split evenly.
    found = capped_shares(np.array([8.0, 1.0, 1.0]), np.array([3.0, 20.0, 20.0]), 10.0)
    np.testing.assert_allclose(found, [3.0, 3.5, 3.5])


def test_recursion() -> None:
    found = capped_shares(np.array([8.0, 4.0, 1.0]), np.array([2.0, 2.0, 20.0]), 10.0)
    np.testing.assert_allclose(found, [2.0, 2.0, 6.0])


def test_zero_shares_take_the_rest() -> None:
    np.testing.assert_allclose(
        capped_shares(np.array([1.0, 0.0]), np.array([2.0, 9.0]), 5.0), [2.0, 3.0]
    )
    np.testing.assert_allclose(
        capped_shares(np.array([0.0, 0.0]), np.array([2.0, 8.0]), 5.0), [1.0, 4.0]
    )
    assert capped_shares(np.array([1.0]), np.array([0.0]), 2.0).tolist() == [0.0]


@given(
    st.lists(st.tuples(st.floats(0, 5), st.integers(0, 30)), min_size=1, max_size=9),
    st.floats(0, 1),
)
def test_sums_add_up(strata: list[tuple[float, int]], part: float) -> None:
    shares, caps = (np.array(column, dtype=float) for column in zip(*strata, strict=True))
    total = part * caps.sum()
    found = capped_shares(shares, caps, total)
    assert found.sum() == pytest.approx(total, abs=1e-9)
    assert (found <= caps + 1e-9).all()


@given(st.lists(st.floats(0, 9), min_size=1, max_size=12), st.floats(0, 0.999))
def test_systematic_counts_are_floor_or_ceiling(targets: list[float], u: float) -> None:
    values = np.array(targets)
    counts = systematic_counts(values, np.array([u]))[0]
    assert (counts >= np.floor(values - 1e-9)).all()
    assert (counts <= np.ceil(values + 1e-9)).all()
    assert abs(counts.sum() - values.sum()) <= 1


def test_largest_remainder_is_closest() -> None:
    assert largest_remainder(np.array([1.5, 1.5, 2.0])).tolist() == [2, 1, 2]


@given(
    st.lists(st.tuples(st.floats(0.01, 5), st.integers(1, 30)), min_size=2, max_size=9),
    st.floats(0.05, 0.95),
)
def test_capped_shares_are_one_level_of_water(strata: list[tuple[float, int]], part: float) -> None:
    # The split in proportion with caps is min(cap, level * share), with the level that uses it up.
    shares, caps = (np.array(column, dtype=float) for column in zip(*strata, strict=True))
    total = part * caps.sum()

    def left_over(level: float) -> float:
        return float(np.minimum(caps, level * shares).sum() - total)

    level = optimize.brentq(left_over, 0, 2 * caps.max() / shares.min(), xtol=1e-13)
    expected = np.minimum(caps, level * shares)
    assert capped_shares(shares, caps, total) == pytest.approx(expected, abs=1e-8)


@given(st.lists(st.floats(0, 3), min_size=1, max_size=4))
def test_no_whole_numbers_are_closer(targets: list[float]) -> None:
    values = np.array(targets)
    found = largest_remainder(values)
    same_sum = [
        np.array(counts)
        for counts in product(range(5), repeat=len(values))
        if sum(counts) == round(values.sum())
    ]
    closest = min(np.abs(counts - values).sum() for counts in same_sum)
    assert found.sum() == round(values.sum())
    assert np.abs(found - values).sum() == pytest.approx(closest, abs=1e-8)


def test_systematic_counts_have_the_targets_as_expectations() -> None:
    # Eighths: starts in the middle of every eighth stand for all starts.
    targets = np.array([0.375, 2.5, 0.0, 0.125, 1.0])
    counts = systematic_counts(targets, (np.arange(8) + 0.5) / 8)
    assert counts.mean(axis=0).tolist() == targets.tolist()
    assert set(counts.sum(axis=1).tolist()) == {4}


def test_rounding_noise_in_sums_moves_no_unit() -> None:
    """Ten tenths add up to a little less than 1 in floating point, and still make one unit."""
    tenths = np.full(10, 0.1)
    assert np.cumsum(tenths)[-1] < 1
    assert systematic_counts(tenths, np.zeros(1)).sum() == 1
