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
