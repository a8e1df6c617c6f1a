"""Agreement of raters against published worked examples, naive loops and peers."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import OptionError
from assay.stats.agreement import (
    correlations_with_others,
    krippendorff_alpha,
    pairwise_correlations,
)
from assay.stats.effects import rater_effects

# Krippendorff (2011), Computing Krippendorff's alpha-reliability, section C: four observers, twelve
# units, missing values; alpha nominal .743, ordinal .815, interval .849.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, np.nan, np.nan, np.nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, np.nan, 3],
        [np.nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, np.nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, np.nan],
    ]
)


def long(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, units and raters of a raters x units table."""
    rater, unit = np.nonzero(~np.isnan(table))
    return table[rater, unit], unit, rater


def naive_alpha(table: np.ndarray, metric: str) -> float:
    """Coincidences counted one by one, as the paper defines them."""
    columns = [column[~np.isnan(column)] for column in table.T]
    columns = [column for column in columns if len(column) > 1]
    everything = np.concatenate(columns)
    levels, counts = np.unique(everything, return_counts=True)

    def delta(a: float, b: float) -> float:
        if metric == "nominal":
            return float(a != b)
        if metric == "interval":
            return (a - b) ** 2
        i, j = sorted((np.searchsorted(levels, a), np.searchsorted(levels, b)))
        return float(counts[i : j + 1].sum() - (counts[i] + counts[j]) / 2) ** 2

    n = len(everything)
    observed = sum(
        delta(a, b) / (len(column) - 1) for column in columns for a, b in permutations(column, 2)
    )
    expected = sum(delta(a, b) for a, b in permutations(everything, 2))
    return 1 - (observed / n) / (expected / (n * (n - 1)))


class TestAlpha:
    @pytest.mark.parametrize(
        ("metric", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
    )
    def test_krippendorff_2011(self, metric: str, published: float) -> None:
        values, units, _ = long(OBSERVERS)
        found = krippendorff_alpha(values, units, metric=metric)  # type: ignore[arg-type]
        assert round(found, 3) == published

    def test_two_observers_binary(self) -> None:
        # Krippendorff (2011), section A: ten units, two observers, alpha .095 with any metric.
        table = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0.0]])
        values, units, _ = long(table)
        for metric in ("nominal", "ordinal", "interval"):
            found = krippendorff_alpha(values, units, metric=metric)  # type: ignore[arg-type]
            assert found == pytest.approx(0.095, abs=0.0005)

    @given(st.integers(0, 10**6), st.sampled_from(["nominal", "ordinal", "interval"]))
    def test_equals_the_naive_count(self, seed: int, metric: str) -> None:
        rng = np.random.default_rng(seed)
        table = rng.integers(0, 5, (3, 8)).astype(float)
        table[rng.random(table.shape) < 0.3] = np.nan
        values, units, _ = long(table)
        found = krippendorff_alpha(values, units, metric=metric)  # type: ignore[arg-type]
        shared = [column[~np.isnan(column)] for column in table.T]
        pairable = [value for column in shared if len(column) > 1 for value in column]
        if len(set(pairable)) < 2:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(naive_alpha(table, metric))

    def test_scale_and_order_do_not_matter(self) -> None:
        values, units, _ = long(OBSERVERS)
        shuffled = np.random.default_rng(1).permutation(len(values))
        assert krippendorff_alpha(5 - 3 * values[shuffled], units[shuffled]) == pytest.approx(
            krippendorff_alpha(values, units)
        )
        assert krippendorff_alpha(np.exp(values), units, metric="ordinal") == pytest.approx(
            krippendorff_alpha(values, units, metric="ordinal")
        )

    def test_nothing_to_say(self) -> None:
        assert np.isnan(krippendorff_alpha(np.array([1.0, 2.0]), np.array([0, 1])))
        assert np.isnan(krippendorff_alpha(np.array([1.0, 1.0]), np.array([0, 0])))
        assert np.isnan(krippendorff_alpha(np.array([]), np.array([], dtype=int)))

    def test_unknown_metric(self) -> None:
        with pytest.raises(OptionError, match=r"metric \(ratio\) is not known; give interval"):
            krippendorff_alpha(np.ones(2), np.zeros(2, dtype=int), metric="ratio")  # type: ignore[arg-type]


class TestCorrelations:
    def test_are_numpys_on_common_units(self) -> None:
        rng = np.random.default_rng(3)
        table = 1e6 + rng.normal(size=(4, 40))
        table[rng.random(table.shape) < 0.3] = np.nan
        found = pairwise_correlations(*long(table))
        wanted = []
        for i in range(4):
            for j in range(i):
                both = ~np.isnan(table[i]) & ~np.isnan(table[j])
                wanted.append(np.corrcoef(table[i, both], table[j, both])[0, 1])
                assert found.r[i, j] == pytest.approx(wanted[-1])
                assert found.common[i, j] == both.sum()
        assert found.mean == pytest.approx(np.mean(wanted))
        assert found.pairs == 6

    def test_a_rater_on_a_tiny_scale_agrees_as_much(self) -> None:
        x, y = np.random.default_rng(5).normal(size=(2, 30))
        found = pairwise_correlations(*long(np.stack([x, 1e-9 * (x + y)])))
        assert found.r[0, 1] == pytest.approx(np.corrcoef(x, x + y)[0, 1])

    def test_undefined_pairs_are_left_out(self) -> None:
        table = np.array([[1, 2, 3, 4], [2, 2, 2, 2], [1, 2, np.nan, np.nan], [1, 3, 2, 4.0]])
        found = pairwise_correlations(*long(table))
        assert found.pairs == 1  # a constant rater, and one with two common units, have none
        assert found.mean == pytest.approx(0.8)
        assert np.isnan(pairwise_correlations(*long(table[1:3])).mean)

    def test_others_leave_the_rater_out(self) -> None:
        table = np.random.default_rng(4).normal(size=(3, 20))
        table[0, :5] = np.nan
        table[1:, 19] = np.nan
        r, n = correlations_with_others(*long(table))
        with_first = ~np.isnan(table[0]) & ~np.isnan(table[1])
        wanted = np.corrcoef(table[0, with_first], table[1:, with_first].mean(axis=0))[0, 1]
        assert r[0] == pytest.approx(wanted)
        assert n.tolist() == [14, 19, 19]
        # independent raters do not agree with each other, however much each does with the mean
        assert np.abs(r).max() < 0.6

    def test_a_hundred_thousand_units(self) -> None:
        rng = np.random.default_rng(5)
        units = np.repeat(np.arange(100_000), 2)
        raters = rng.integers(0, 4, len(units)) * 2 + np.tile([0, 1], 100_000)
        values = rng.normal(size=100_000)[units] + rng.normal(size=len(units))
        # variance 1 of the unit and 1 of chance: every agreement is 1/2, up to .005 (2 sd .0024)
        assert krippendorff_alpha(values, units) == pytest.approx(0.5, abs=0.01)
        assert pairwise_correlations(values, units, raters).mean == pytest.approx(0.5, abs=0.01)
        assert correlations_with_others(values, units, raters)[0] == pytest.approx(0.5, abs=0.03)


class TestEffects:
    def test_are_least_squares(self) -> None:
        rng = np.random.default_rng(6)
        units, raters = rng.integers(0, 12, 60), rng.integers(0, 4, 60)
        raters[:4] = range(4)
        values = rng.normal(size=60)
        fit = rater_effects(values, units, raters, units)
        dummies = np.hstack([np.eye(12)[units], np.eye(4)[raters]])
        solution = np.linalg.lstsq(dummies, values, rcond=None)[0][12:]
        weights = np.bincount(raters)
        assert fit.effects == pytest.approx(solution - np.average(solution, weights=weights))
        assert fit.groups.tolist() == [0, 0, 0, 0]

    def test_factor_beside(self) -> None:
        rng = np.random.default_rng(7)
        units, raters, systems = (rng.integers(0, k, 80) for k in (10, 3, 4))
        values = np.array([0.0, 1.0, 5.0])[raters] + systems * 2.0 + units
        fit = rater_effects(values, units, raters, units, beside=systems)
        assert np.diff(fit.effects) == pytest.approx([1.0, 4.0])

    def test_confounded_with_the_factor_beside(self) -> None:
        # Every rater has a system of its own: no chain of segments can tell the two apart.
        units, raters = np.tile(np.arange(5), 2), np.repeat([0, 1], 5)
        fit = rater_effects(np.arange(10.0), units, raters, units, beside=raters)
        assert fit.groups.tolist() == [0, 1]
        assert fit.effects == pytest.approx([0, 0])
        assert np.isnan(fit.stderr).all()

    def test_components(self) -> None:
        units, raters = np.array([0, 0, 1, 1, 2, 2, 3]), np.array([0, 2, 1, 3, 0, 2, 4])
        values = np.array([1.0, 2, 10, 30, 5, 6, 7])
        fit = rater_effects(values, units, raters, units)
        assert fit.groups.tolist() == [0, 1, 0, 1, 2]
        assert fit.effects == pytest.approx([-0.5, -10, 0.5, 10, 0])

    def test_standard_errors_hold(self) -> None:
        # 400 worlds of 60 units with 3 outputs each that share an error by rater: the mean of the
        # variances is that of the effects, within 3 Monte-Carlo sd of about 7 %.
        rng = np.random.default_rng(8)
        raters, units = np.tile([0, 1, 2], 180), np.repeat(np.arange(180), 3)
        clusters = units // 3
        found, claimed = [], []
        for _ in range(400):
            shared = rng.normal(size=(60, 3))[clusters, raters]
            fit = rater_effects(shared + rng.normal(size=540), units, raters, clusters)
            found.append(fit.effects[0])
            claimed.append(fit.stderr[0] ** 2)
        assert np.mean(claimed) == pytest.approx(np.var(found), rel=0.21)

    def test_one_cluster_has_no_error(self) -> None:
        none = np.zeros(4, dtype=int)
        fit = rater_effects(np.arange(4.0), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), none)
        assert np.isnan(fit.stderr).all()
