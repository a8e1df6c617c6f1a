"""Rank ranges, sign tests and Holm's correction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.ranking.pairs import sign_test
from assay.ranking.uncertainty import Rule, equal_tailed_ranges, rank_table, shortest_ranges
from assay.stats.intervals import holm


@given(st.integers(0, 300), st.integers(0, 300))
def test_sign_test_is_scipys_binomial_test(won: int, lost: int) -> None:
    p = sign_test(np.array([[0, won], [lost, 0]]))
    expected = 1.0
    if won + lost:
        expected = stats.binomtest(won, won + lost, alternative="greater").pvalue
    assert p[0, 1] == pytest.approx(expected, rel=1e-9)
    assert p[0, 0] == 1


def test_sign_test_of_many_tables() -> None:
    wins = np.random.default_rng(1).integers(0, 40, (5, 4, 6, 6))
    assert (sign_test(wins)[2, 3] == sign_test(wins[2, 3])).all()


def test_equal_tails_as_the_paper_cuts_them() -> None:
    """1000 ranks, 25 cut off at both ends."""
    ranks = np.repeat([1, 2, 3, 4], [24, 2, 949, 25])[:, None] * np.array([1, 1, 1, 1])
    table = rank_table(ranks)
    low, high = equal_tailed_ranges(table, 0.95)
    assert (low[0], high[0]) == (2, 3)
    ranks[0] = 2
    ranks[-26] = 4
    low, high = equal_tailed_ranges(rank_table(ranks), 0.95)
    assert (low[0], high[0]) == (2, 4)


@given(st.integers(2, 8), st.integers(0, 2**32 - 1), st.floats(0.5, 0.99))
def test_ranges_hold_the_level_and_none_shorter_does(n: int, seed: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    ranks = rng.integers(1, n + 1, (60, n))
    table = rank_table(ranks)
    assert table.sum() == ranks.size
    low, high = shortest_ranges(table, level)
    tail_low, tail_high = equal_tailed_ranges(table, level)
    for k in range(n):
        held = ((ranks[:, k] >= low[k]) & (ranks[:, k] <= high[k])).mean()
        assert held >= level - 1e-9
        width = high[k] - low[k]
        assert width <= tail_high[k] - tail_low[k]
        for start in range(1, n - width + 2):
            shorter = (ranks[:, k] >= start) & (ranks[:, k] < start + width)
            assert shorter.mean() < level


def test_holm_by_hand() -> None:
    assert holm(np.array([0.04, 0.01, 0.03, 0.005])) == pytest.approx([0.06, 0.03, 0.06, 0.02])
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]
    p = np.array([[1, 0.001, 0.02], [0.999, 1, 0.03], [0.98, 0.97, 1]])
    assert Rule(0.95, 1, False).decide(p).sum() == 3
    # Both directions count: .002, .04 and .06 become .006, .08 and .08.
    assert Rule(0.95, 1, True).decide(p).tolist() == Rule(0.95, 2, True).decide(p).tolist()
    assert Rule(0.95, 1, True).decide(p).sum() == 1
    assert Rule(0.9, 1, True).decide(p).sum() == 3
    assert Rule(0.95, 2, True).shown(np.array([0.001, 0.02, 0.03])) == pytest.approx(
        [0.006, 0.08, 0.08]
    )
