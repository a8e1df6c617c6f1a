"""Regression, neighbours and design variances: by hand, naive loops, and scipy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from assay.stats.design_variance import (
    cluster_variance,
    collapsed_variance,
    neighbour_variance,
    simple_variance,
)
from assay.stats.neighbours import neighbour_predictions
from assay.stats.regression import fit_ridge


class TestRidge:
    def test_one_feature_without_penalty_is_scipys_line(self) -> None:
        rng = np.random.default_rng(1)
        z, x = rng.normal(size=30), rng.normal(size=30)
        fit = fit_ridge(x, z[:, None], np.ones(30), 0.0)
        line = stats.linregress(z, x)  # scipy 1.17
        assert fit.slopes[0] == pytest.approx(line.slope)
        assert fit.predict_mean(np.array([0.7])) == pytest.approx(line.intercept + 0.7 * line.slope)

    def test_residuals_are_leave_one_out(self) -> None:
        rng = np.random.default_rng(2)
        z, x = rng.normal(size=(12, 2)), rng.normal(size=12)
        fit = fit_ridge(x, z, np.ones(12), 0.0)
        for i in range(12):
            keep = np.arange(12) != i
            design = np.column_stack([np.ones(11), z[keep]])
            slopes = np.linalg.lstsq(design, x[keep], rcond=None)[0]
            predicted = slopes @ np.array([1.0, *z[i]])
            assert fit.residuals[i] == pytest.approx(x[i] - predicted)

    def test_weights_by_hand(self) -> None:
        # Weights 1 and 3: means x 3.5 and z .75, slope 2; at z = 0 the estimate is 2.
        fit = fit_ridge(np.array([2.0, 4.0]), np.array([[0.0], [1.0]]), np.array([1.0, 3.0]), 0.0)
        assert fit.predict_mean(np.array([0.0])) == pytest.approx(2.0)

    def test_a_large_penalty_leaves_the_mean(self) -> None:
        x = np.array([1.0, 2.0, 6.0])
        fit = fit_ridge(x, np.array([[0.0], [1.0], [2.0]]), np.ones(3), 1e12)
        assert fit.predict_mean(np.array([9.0])) == pytest.approx(3.0)
        assert fit.degrees == pytest.approx(0.0, abs=1e-9)

    def test_collinear_features_do_no_harm(self) -> None:
        rng = np.random.default_rng(3)
        z, x = rng.normal(size=20), rng.normal(size=20)
        once = fit_ridge(x, z[:, None], np.ones(20), 0.0)
        twice = fit_ridge(x, np.column_stack([z, z]), np.ones(20), 0.0)
        assert twice.predict_mean(np.array([1.0, 1.0])) == pytest.approx(
            once.predict_mean(np.array([1.0]))
        )


class TestNeighbours:
    def test_equal_features_leave_the_unit_itself_out(self) -> None:
        found = neighbour_predictions(np.zeros((4, 1)), np.arange(4), np.array([0.0, 0, 0, 8.0]), 3)
        assert found[3] == 0
        assert found[0] == pytest.approx(8 / 3)

    def test_naive(self) -> None:
        rng = np.random.default_rng(4)
        features, known = rng.normal(size=(40, 3)), rng.permutation(40)[:15]
        x = rng.normal(size=15)
        found = neighbour_predictions(features, known, x, 4)
        for i in range(40):
            others = [k for k in range(15) if known[k] != i]
            gaps = [np.linalg.norm(features[known[k]] - features[i]) for k in others]
            nearest = [others[k] for k in np.argsort(gaps)[:4]]
            assert found[i] == pytest.approx(x[nearest].mean())


class TestVariances:
    def test_simple_is_unbiased_over_all_samples(self) -> None:
        values = np.array([0.0, 1.0, 4.0, 9.0, 2.0])
        samples = [values[list(chosen)] for chosen in combinations(range(5), 3)]
        stated = np.mean([simple_variance(sample, 5) for sample in samples])
        assert stated == pytest.approx(np.var([sample.mean() for sample in samples]))

    def test_strata_by_hand(self) -> None:
        # Two strata of 4 and 6 with two units each: (.4)^2 (1/2) 2/2 + (.6)^2 (2/3) 8/2.
        e, stratum = np.array([1.0, 3.0, 2.0, 6.0]), np.array([0, 0, 1, 1])
        expected = 0.16 * 0.5 * 2 / 2 + 0.36 * (2 / 3) * 8 / 2
        assert collapsed_variance(e, stratum, np.array([4, 6])) == pytest.approx(expected)

    def test_lonely_strata_are_joined(self) -> None:
        e = np.array([1.0, 3.0, 5.0])
        one = collapsed_variance(e, np.array([0, 1, 2]), np.array([5, 5, 5]))
        assert one == pytest.approx(np.var(e, ddof=1) / 3 * (1 - 3 / 15))

    def test_clusters_by_hand(self) -> None:
        # Totals 3 and 7 around 5: 2/1 * (4 + 4) / 4^2 * (1 - .5).
        e, cluster = np.array([1.0, 2.0, 3.0, 4.0]), np.array([7, 7, 9, 9])
        assert cluster_variance(e, cluster, np.ones(4), 0.5) == pytest.approx(2 * 8 / 16 / 2)
        assert np.isnan(cluster_variance(e, np.zeros(4), np.ones(4), 0.5))

    def test_neighbours_by_hand(self) -> None:
        # Pairs (1, 2) and (5, 9) are nearest to each other; pi = 1/2, so y = 2e.
        e, position = np.array([1.0, 2.0, 5.0, 9.0]), np.array([0.0, 0.1, 5.0, 5.2])
        spread = 0.5 * 0.5 * (4 + 4 + 64 + 64)
        found = neighbour_variance(e, np.full(4, 0.5), position, np.zeros(4))
        assert found == pytest.approx(spread / 8**2)
        assert np.isnan(neighbour_variance(e[:1], np.ones(1), position[:1], np.zeros(1)))
