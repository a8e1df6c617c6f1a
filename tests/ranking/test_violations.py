"""The order of fewest violations is the best of all orders."""

from __future__ import annotations

import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.ranking.methods import score
from assay.ranking.violations import is_exact, lopez_order, order_cost


@given(st.integers(2, 7), st.integers(0, 2**32 - 1), st.sampled_from([2, 5, 100]))
def test_brute_force(n: int, seed: int, most: int) -> None:
    wins = np.random.default_rng(seed).integers(0, most, (n, n))
    order = lopez_order(wins)
    assert sorted(order) == list(range(n))
    best = min(order_cost(wins, np.array(other)) for other in permutations(range(n)))
    assert order_cost(wins, order) == best


def test_by_hand() -> None:
    # A beats B 5:3, B beats C 4:1, C beats A 3:2: breaking C - A costs least.
    wins = np.array([[0, 5, 2], [3, 0, 4], [3, 1, 0]])
    assert lopez_order(wins).tolist() == [0, 1, 2]
    assert order_cost(wins, np.array([0, 1, 2])) == 1
    assert order_cost(wins, np.array([2, 1, 0])) == 5


def test_halves_agree_with_single_moves_where_there_is_no_circle() -> None:
    strength = np.linspace(1, 0, 30)
    wins = (100 * (strength[:, None] - strength + 1)).astype(int)
    shuffled = np.random.default_rng(1).permutation(30)
    order = lopez_order(wins[np.ix_(shuffled, shuffled)])
    assert shuffled[order].tolist() == list(range(30))


def test_a_circle_of_more_than_twenty_is_a_heuristic_and_says_so() -> None:
    rng = np.random.default_rng(1)
    wins = rng.integers(0, 100, (25, 25))
    assert not is_exact(wins)
    cost = order_cost(wins, lopez_order(wins))
    assert cost < min(order_cost(wins, rng.permutation(25)) for _ in range(200))
    assert is_exact(wins[:20, :20])


def test_equal_systems_share_a_place() -> None:
    wins = np.array([[0, 2, 5], [2, 0, 5], [1, 1, 0]])
    assert score("lopez", wins, np.zeros((3, 3)), "drop").tolist() == [0.75, 0.75, 0.0]


@pytest.mark.slow
def test_speed() -> None:
    """Twenty systems in one circle: 2^20 subsets. 30 ms on the machine this was written on."""
    wins = np.random.default_rng(1).integers(0, 100, (20, 20))
    lopez_order(wins)
    start = time.process_time()
    lopez_order(wins)
    assert time.process_time() - start < 0.3
