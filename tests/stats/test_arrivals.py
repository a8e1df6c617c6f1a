"""Documents in random order until a budget is met: how fast their probabilities are found."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest

from assay.stats.arrivals import _quadrature, arrival_probabilities, leggauss


def test_one_pass_is_exact_where_a_polynomial_is_integrated() -> None:
    # Of 60 units the integrand has degree 59, so 31 nodes are exact; 300 give the same.
    sizes = np.random.default_rng(1).integers(1, 30, 60)
    limits = np.floor(200 - sizes / 2).astype(int)
    values, counts = np.unique(sizes, return_counts=True)
    times, weights = leggauss(300)
    kinds = np.stack([sizes, limits])
    found = _quadrature(values, counts, kinds, 0.5 + times / 2, weights / 2)
    assert arrival_probabilities(sizes, limits) == pytest.approx(found, abs=1e-9)


def test_the_second_draw_costs_nothing() -> None:
    # Every draw found them anew, 64 to 326 ms for 150 documents, where other designs take 2.
    sizes = np.random.default_rng(2).integers(3, 28, 150)
    limits = np.floor(400 - sizes / 2).astype(int)
    first = arrival_probabilities(sizes, limits)
    start = process_time()
    for _ in range(20):
        again = arrival_probabilities(sizes, limits)
    assert process_time() - start < 0.05
    assert np.array_equal(first, again)
    again[0] = 9.0  # what is remembered cannot be changed from outside
    assert arrival_probabilities(sizes, limits)[0] == first[0]


@pytest.mark.parametrize(("units", "n", "seconds"), [(150, 400, 0.04), (1000, 3000, 1.0)])
def test_the_first_draw_costs_little(units: int, n: int, seconds: float) -> None:
    # 0.1 s and 7 s: a new budget, or test set, had four transcendental functions for every size,
    # frequency and time, and a thousand documents three quadratures.
    sizes = np.random.default_rng(3).integers(1, 40, units)
    limits = np.floor(n - sizes / 2).astype(int)
    arrival_probabilities(sizes, limits + 1)  # nodes and libraries are loaded once
    took = []
    for more in (0, -1, -2):
        start = process_time()
        pi = arrival_probabilities(sizes, limits + more)
        took.append(process_time() - start)
    assert min(took) < seconds
    # Whoever is drawn last brings the sum to n, or near it.
    assert (pi * sizes).sum() == pytest.approx(n - 2, abs=1.0)


@pytest.mark.parametrize("limit", [145, 200, 500])
def test_a_budget_for_all_draws_all(limit: int) -> None:
    # The logarithm of 0 was taken on the way, and a warning of numpy reached the user.
    found = arrival_probabilities(np.full(30, 5), np.full(30, limit))
    assert found == pytest.approx(np.ones(30), abs=1e-12)


@pytest.mark.parametrize("n", [40, 300, 560])
def test_the_law_without_a_unit_is_that_of_the_others(n: int) -> None:
    # Convolution, unit by unit, of those that remain; 599 in all, times on both sides of 1/2.
    sizes = np.append(np.random.default_rng(4).integers(1, 30, 39), 1)
    limits = np.full(len(sizes), n)
    times, weights = leggauss(40)
    found = np.zeros(len(sizes))
    for t, weight in zip(0.5 + times / 2, weights / 2, strict=True):
        for d in range(len(sizes)):
            law = np.ones(1)
            for size in np.delete(sizes, d).tolist():
                law = np.convolve(law, np.r_[1 - t, np.zeros(size - 1), t])
            found[d] += weight * law[: n + 1].sum()
    assert arrival_probabilities(sizes, limits) == pytest.approx(found, abs=1e-9)


def test_arrivals_of_equal_sizes_are_a_simple_random_sample() -> None:
    # 30 documents of 4: 'over' takes ceil(50 / 4) = 13 of them.
    pi = arrival_probabilities(np.full(30, 4), np.full(30, 49))
    np.testing.assert_allclose(pi, 13 / 30, atol=1e-9)


@pytest.mark.parametrize(("units", "n"), [(100_000, 50), (20_000, 1), (100_000, 99_950), (3, 2)])
def test_arrivals_of_many_units_are_exact(units: int, n: int) -> None:
    # Units of size 1 under 'under' are a simple random sample of n.
    pi = arrival_probabilities(np.ones(units, int), np.full(units, n - 1))
    np.testing.assert_allclose(pi, n / units, rtol=1e-8)
