"""Regression, neighbours and design variances: by hand, naive loops, and scipy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from assay.designs.balanced import neighbour_variance
from assay.designs.base import Strata, collapsed_variance, simple_variance
from assay.designs.documents import cluster_variance
from assay.estimation.kernels import Fit, fit_ridge
from assay.estimation.variates import fit_slope
from assay.stats.neighbours import (
    neighbour_predictions,
    sorted_neighbours,
    walk_neighbours,
)


def inside(x: np.ndarray, z: np.ndarray, at: np.ndarray, ridge: float = 0.0) -> Fit:
    """The fit on all units, with one more, outside the sample, that moves the mean to ``at``."""
    far = (len(x) + 1) * at - z.sum(axis=0)
    weights = np.append(np.ones(len(x)), 0.0)[None, :]
    return fit_ridge(np.append(x, 99.0), np.vstack([z, far]), weights, ridge)


class TestRidge:
    def test_one_feature_without_penalty_is_scipys_line(self) -> None:
        rng = np.random.default_rng(1)
        z, x = rng.normal(size=30), rng.normal(size=30)
        fit = inside(x, z[:, None], np.array([0.7]))
        line = stats.linregress(z, x)  # scipy 1.17
        assert fit.slopes[0, 0] == pytest.approx(line.slope)
        assert fit.center[0] == pytest.approx(line.intercept + 0.7 * line.slope)

    def test_residuals_are_leave_one_out(self) -> None:
        rng = np.random.default_rng(2)
        z, x = rng.normal(size=(12, 2)), rng.normal(size=12)
        fit = fit_ridge(x, z, np.ones((1, 12)), 0.0)
        for i in range(12):
            keep = np.arange(12) != i
            design = np.column_stack([np.ones(11), z[keep]])
            slopes = np.linalg.lstsq(design, x[keep], rcond=None)[0]
            predicted = slopes @ np.array([1.0, *z[i]])
            assert fit.residuals[0, i] == pytest.approx(x[i] - predicted)

    def test_weights_by_hand(self) -> None:
        # Weights 1 and 3: means x 3.5 and z .75, slope 2; the mean of z is 1/2, the estimate 3.
        z = np.array([[0.0], [1.0]])
        fit = fit_ridge(np.array([2.0, 4.0]), z, np.array([[1.0, 3.0]]), 0.0)
        assert fit.center[0] == pytest.approx(3.0)

    def test_a_large_penalty_leaves_the_mean(self) -> None:
        x = np.array([1.0, 2.0, 6.0])
        fit = inside(x, np.array([[0.0], [1.0], [2.0]]), np.array([9.0]), 1e12)
        assert fit.center[0] == pytest.approx(3.0)
        assert fit.degrees[0] == pytest.approx(0.0, abs=1e-9)

    def test_collinear_features_do_no_harm(self) -> None:
        rng = np.random.default_rng(3)
        z, x = rng.normal(size=20), rng.normal(size=20)
        once = inside(x, z[:, None], np.array([1.0]))
        twice = inside(x, np.column_stack([z, z]), np.array([1.0, 1.0]))
        assert twice.center == pytest.approx(once.center)

    def test_many_samples_are_many_single_ones(self) -> None:
        rng = np.random.default_rng(4)
        z, x = rng.normal(size=(30, 3)), rng.normal(size=30)
        weights = rng.random((5, 30)) * (rng.random((5, 30)) < 0.5)
        many = fit_ridge(x, z, weights, 2.0)
        for k in range(5):
            one = fit_ridge(x, z, weights[k : k + 1], 2.0)
            assert many.center[k] == pytest.approx(one.center[0])
            assert many.residuals[k] == pytest.approx(one.residuals[0])

    def test_one_slope_is_a_ridge_of_one_feature(self) -> None:
        rng = np.random.default_rng(5)
        z, x = rng.normal(size=30), rng.normal(size=30)
        weights = rng.random((4, 30)) * (rng.random((4, 30)) < 0.6)
        one, other = fit_slope(x, np.tile(z, (4, 1)), weights), fit_ridge(x, z[:, None], weights, 0)
        for name in ("center", "slopes", "residuals", "leverage", "degrees"):
            assert getattr(one, name) == pytest.approx(getattr(other, name)), name

    def test_a_feature_that_does_not_vary_has_no_slope(self) -> None:
        fit = fit_slope(np.array([1.0, 5.0]), np.full((1, 2), 7.0), np.ones((1, 2)))
        assert fit.center[0] == pytest.approx(3.0)
        assert fit.slopes[0, 0] == 0


class TestNeighbours:
    def test_sorted_by_hand(self) -> None:
        order, place = sorted_neighbours(np.array([[0.0], [1.0], [3.0]]))
        assert order.T.tolist() == [[1, 2], [0, 2], [1, 0]]
        assert place[1].tolist() == [0, 3, 0]  # where unit 1 stands among everybody's neighbours

    def test_ties_come_in_the_order_of_the_units(self) -> None:
        features = np.random.default_rng(1).integers(0, 3, (300, 2)).astype(float)
        order = sorted_neighbours(features).order
        distance = ((features[:, None] - features[None]) ** 2).sum(axis=2)
        np.fill_diagonal(distance, -1)
        assert np.array_equal(order.T, np.argsort(distance, axis=1, kind="stable")[:, 1:])

    def test_equal_features_leave_the_unit_itself_out(self) -> None:
        found = neighbour_predictions(np.zeros((4, 1)), np.arange(4), np.array([0.0, 0, 0, 8.0]), 3)
        assert found[3] == 0
        assert found[0] == pytest.approx(8 / 3)
        order = sorted_neighbours(np.zeros((4, 1))).order
        assert all(i not in row for i, row in enumerate(order.T.tolist()))

    def test_naive(self) -> None:
        rng = np.random.default_rng(4)
        features, known = rng.normal(size=(40, 3)), rng.permutation(40)[:15]
        x = rng.normal(size=40)
        found = neighbour_predictions(features, known, x[known], 4)
        drawn = np.isin(np.arange(40), known)[None, :]
        walked = walk_neighbours(sorted_neighbours(features), drawn, x, np.array([4]))
        for i in range(40):
            others = [k for k in range(15) if known[k] != i]
            gaps = [np.linalg.norm(features[known[k]] - features[i]) for k in others]
            nearest = [others[k] for k in np.argsort(gaps)[:4]]
            assert found[i] == pytest.approx(x[known[nearest]].mean())
            assert walked[0, i] == pytest.approx(found[i])

    def test_many_samples_of_different_size(self) -> None:
        rng = np.random.default_rng(6)
        features, x = rng.normal(size=(90, 2)), rng.normal(size=90)
        drawn = rng.random((70, 90)) < np.linspace(0.1, 0.9, 70)[:, None]
        k = np.maximum(1, drawn.sum(axis=1) // 3)
        walked = walk_neighbours(sorted_neighbours(features), drawn, x, k)
        for row in (0, 35, 69):
            where = np.flatnonzero(drawn[row])
            found = neighbour_predictions(features, where, x[where], int(k[row]))
            assert walked[row] == pytest.approx(found)


def embed(values: np.ndarray, population: int) -> tuple[np.ndarray, np.ndarray]:
    """One sample of the first units of a population; the others have absurd values."""
    e = np.full((1, population), 1e6)
    e[0, : len(values)] = values
    return e, (np.arange(population) < len(values))[None, :]


class TestVariances:
    def test_simple_is_unbiased_over_all_samples(self) -> None:
        values = np.array([0.0, 1.0, 4.0, 9.0, 2.0])
        drawn = np.array([np.isin(np.arange(5), chosen) for chosen in combinations(range(5), 3)])
        stated = simple_variance(np.tile(values, (10, 1)), drawn, np.ones(5)).mean()
        assert stated == pytest.approx(np.var(drawn @ values / 3))

    def test_strata_by_hand(self) -> None:
        # Two strata of 4 and 6 with two units each: (.4)^2 (1/2) 2/2 + (.6)^2 (2/3) 8/2.
        e, drawn = embed(np.array([1.0, 3.0, 2.0, 6.0]), 10)
        stratum = np.array([0, 0, 1, 1, 0, 0, 1, 1, 1, 1])
        expected = 0.16 * 0.5 * 2 / 2 + 0.36 * (2 / 3) * 8 / 2
        assert collapsed_variance(e, drawn, Strata.known(stratum))[0] == pytest.approx(expected)

    def test_lonely_strata_are_joined(self) -> None:
        e, drawn = embed(np.array([1.0, 3.0, 5.0]), 15)
        one = collapsed_variance(e, drawn, Strata.known(np.arange(15) % 3))
        assert one[0] == pytest.approx(np.var([1.0, 3.0, 5.0], ddof=1) / 3 * (1 - 3 / 15))

    def test_clusters_by_hand(self) -> None:
        # Totals 3 and 7 around 5: 2/1 * (4 + 4) / 4^2 * (1 - .5).
        e, drawn = embed(np.array([1.0, 2.0, 3.0, 4.0]), 8)
        cluster = np.array([7, 7, 9, 9, 7, 7, 9, 9])
        found = cluster_variance(e, drawn, cluster, np.ones(8))
        assert found[0] == pytest.approx(2 * 8 / 16 / 2)
        assert np.isnan(cluster_variance(e, drawn, np.zeros(8, int), np.ones(8)))[0]

    def test_neighbours_by_hand(self) -> None:
        # Pairs (1, 2) and (5, 9) are nearest to each other; pi = 1/2, so y = 2e.
        e, drawn = embed(np.array([1.0, 2.0, 5.0, 9.0]), 8)
        position = np.array([0.0, 0.1, 5.0, 5.2, 0.05, 0.06, 5.1, 5.15])
        spread = 0.5 * 0.5 * (4 + 4 + 64 + 64)
        found = neighbour_variance(e, drawn, np.full(8, 0.5), position, np.zeros(8, int))
        assert found[0] == pytest.approx(spread / 8**2)
        alone = neighbour_variance(e, drawn & (np.arange(8) < 1), np.full(8, 0.5), position,
                                   np.zeros(8, int))  # fmt: skip
        assert np.isnan(alone[0])

    def test_nearest_neighbours_are_those_of_all_distances(self) -> None:
        rng = np.random.default_rng(7)
        position, group = rng.normal(size=60), rng.integers(6, size=60)
        e, pi = rng.normal(size=(8, 60)), rng.uniform(0.2, 0.9, 60)
        drawn = rng.random((8, 60)) < 0.4
        found = neighbour_variance(e, drawn, pi, position, group)
        for row in range(8):
            where = np.flatnonzero(drawn[row])
            distance = (position[where, None] - position[where]) ** 2
            distance = distance + (group[where, None] != group[where])
            np.fill_diagonal(distance, np.inf)
            y = e[row, where] / pi[where]
            terms = (1 - pi[where]) * (y - y[distance.argmin(axis=1)]) ** 2
            assert found[row] == pytest.approx(terms.sum() / 2 / (1 / pi[where]).sum() ** 2)
