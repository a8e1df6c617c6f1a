"""Allocation that follows the ratings: every step by hand and against the plain formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.allocation import capped_shares
from assay.stats.incremental import _targets, choose_next, incremental_order, spreads_of
from assay.stats.random import as_rng

# The parts


def test_spreads_by_hand() -> None:
    # SS 0, 8, - with 1, 1, 0 degrees of freedom: s^2 = 8 / 2 = 4.
    squares, degrees = np.array([0.0, 8.0, 0.0]), np.array([1, 1, 0])
    found = spreads_of(squares, degrees, 2.0)
    assert np.allclose(found**2, [(0 + 2 * 4) / 3, (8 + 2 * 4) / 3, 4])
    assert np.allclose(spreads_of(squares, degrees, 0.0) ** 2, [0, 8, 4])


def test_where_nothing_varies_all_spreads_are_equal() -> None:
    assert spreads_of(np.zeros(3), np.array([4, 0, 1]), 2.0).tolist() == [1, 1, 1]
    assert spreads_of(np.zeros(3), np.zeros(3), 0.0).tolist() == [1, 1, 1]


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 1.0, 5.0, 40.0]), st.integers(1, 9)), min_size=1),
    st.floats(0.01, 1),
)
def test_targets_of_many_rows_are_those_of_one(
    strata: list[tuple[float, int]], share: float
) -> None:
    sigma, sizes = np.array(strata).T
    total = share * sizes.sum()
    rows = np.stack([sigma * sizes, sizes])
    found = _targets(rows, sizes, total)
    assert np.allclose(found[0], capped_shares(rows[0], sizes, total))
    assert np.allclose(found[1], capped_shares(rows[1], sizes, total))


# Whole runs


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(0, 99), st.booleans())
def test_a_run_draws_every_segment_once(lengths: list[int], seed: int, metrics: bool) -> None:
    rng = as_rng(seed)
    stratum = np.repeat(np.arange(len(lengths)), lengths)
    x = rng.integers(0, 3, len(stratum)).astype(float)
    features = rng.normal(size=(len(stratum), 2)) if metrics else None
    order = incremental_order(x, stratum, len(x), rng, features=features, draws=3, neighbours=4)
    assert np.array_equal(np.sort(order, axis=1), np.tile(np.arange(len(x)), (3, 1)))


def naive_run(
    x: np.ndarray, stratum: np.ndarray, order: np.ndarray, features: np.ndarray | None
) -> None:
    """Follow a run and check every step against the plain formulas."""
    sizes = np.bincount(stratum)
    for n in range(len(order)):
        rated, rest = order[:n], np.setdiff1d(np.arange(len(x)), order[:n])
        values, where = x[rated], stratum[rated]
        if features is not None:
            distance = ((features[rest][:, None] - features[rated][None]) ** 2).sum(axis=2)
            near = np.argsort(distance, axis=1)[:, : min(n, 4)]
            values = x[rated][near].mean(axis=1) if n else np.zeros(len(rest))
            where = stratum[rest]
        squares, degrees = np.zeros(len(sizes)), np.zeros(len(sizes))
        for own in range(len(sizes)):
            if (where == own).any():
                squares[own] = ((values[where == own] - values[where == own].mean()) ** 2).sum()
                degrees[own] = (where == own).sum() - 1
        squares[squares < 1e-9] = 0
        target = capped_shares(spreads_of(squares, degrees, 2.0) * sizes, sizes * 1.0, n + 1)
        deficit = target - np.bincount(stratum[rated], minlength=len(sizes))
        assert deficit[stratum[order[n]]] > deficit.max() - 1e-6


@pytest.mark.parametrize("metrics", [False, True])
def test_every_step_goes_to_the_largest_deficit(metrics: bool) -> None:
    rng = as_rng(5)
    stratum = np.repeat(np.arange(5), [3, 8, 12, 7, 10])
    x = rng.gamma(1.0, 1 + stratum)
    features = rng.normal(size=(40, 2)) if metrics else None
    orders = incremental_order(x, stratum, 40, rng, features=features, neighbours=4, draws=6)
    for order in orders:
        naive_run(x, stratum, order, features)


def test_two_equal_ratings_trap_a_document_only_without_a_prior() -> None:
    # Document 0 begins with equal ratings (all of them are), documents 1 and 2 vary.
    stratum = np.repeat(np.arange(3), 40)
    x = np.concatenate([np.zeros(40), as_rng(1).normal(size=80) * 3])
    trapped = incremental_order(x, stratum, 60, as_rng(2), prior=0.0, draws=50)
    free = incremental_order(x, stratum, 60, as_rng(2), draws=50)
    assert np.all((stratum[trapped] == 0).sum(axis=1) == 2)
    assert np.all((stratum[free] == 0).sum(axis=1) >= 4)
    # ... and goes on being visited, ever more seldom.
    assert np.all((stratum[free[:, 30:]] == 0).sum(axis=1) >= 1)


def test_documents_that_vary_more_get_more() -> None:
    stratum = np.repeat(np.arange(2), 50)
    x = as_rng(1).normal(size=100) * np.where(stratum == 0, 1, 4)
    for features in (None, x[:, None]):
        order = incremental_order(x, stratum, 40, as_rng(2), features=features, draws=40)
        assert 0.62 < (stratum[order] == 1).mean() < 0.9  # 4 / (1 + 4) = .8 without the prior


def test_segments_and_ties_come_at_random() -> None:
    # Two like documents of 4: each is first half of the time, each segment an eighth.
    order = incremental_order(np.zeros(8), np.repeat([0, 1], 4), 1, as_rng(1), draws=8000)
    shares = np.bincount(order[:, 0], minlength=8) / 8000
    assert np.abs(shares - 1 / 8).max() < 4.5 * np.sqrt(7 / 64 / 8000)


# One step


def test_one_step_by_hand() -> None:
    # Document 0 (4 segments) has ratings 0 and 0, document 1 (4) has 0 and 4: SS 0 and 8, s^2 = 4,
    # sigma^2 8/3 and 16/3. The 5th rating: targets 5 / (1 + sqrt 2) = 2.07 and 2.93.
    x = np.array([0, 0, np.nan, np.nan, 0, 4, np.nan, np.nan])
    (found,) = choose_next(x, np.repeat([0, 1], 4), 1, as_rng(1))
    assert found.segment in (6, 7)
    assert (found.stratum, found.rated, found.total) == (1, 2, 5)
    assert found.target == pytest.approx(5 * np.sqrt(2) / (1 + np.sqrt(2)))


def test_several_steps_differ_and_end_where_nothing_is_left() -> None:
    x = np.array([0, 0, np.nan, np.nan, 0, 4, np.nan, np.nan])
    found = choose_next(x, np.repeat([0, 1], 4), 99, as_rng(1))
    assert sorted(item.segment for item in found) == [2, 3, 6, 7]
    assert choose_next(np.zeros(4), np.zeros(4, int), 3, as_rng(1)) == []


def test_a_step_without_ratings_is_proportional() -> None:
    found = choose_next(np.full(9, np.nan), np.repeat([0, 1], [6, 3]), 3, as_rng(1))
    assert [item.stratum for item in found].count(0) == 2
    features = np.zeros((9, 1))
    found = choose_next(np.full(9, np.nan), np.repeat([0, 1], [6, 3]), 3, as_rng(1),
                        features=features)  # fmt: skip
    assert [item.stratum for item in found].count(0) == 2


def test_a_step_by_metrics_predicts_from_neighbours() -> None:
    # The metric equals the rating: the unrated of document 1 are predicted to vary.
    metric = np.array([1.0, 1, 1, 1, 1, 9, 1, 9])
    x = np.array([1.0, 1, np.nan, np.nan, 1, 9, np.nan, np.nan])
    (found,) = choose_next(
        x, np.repeat([0, 1], 4), 1, as_rng(1), features=metric[:, None], neighbours=1
    )
    assert found.stratum == 1
