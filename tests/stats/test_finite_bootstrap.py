"""The finite-population bootstrap: by hand, against theory, against scipy, and by coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay.stats.finite_bootstrap import _resample, finite_bootstrap
from assay.stats.intervals import Interval, mean_stderr
from assay.stats.selection import simple_random


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


class TestResamples:
    def test_a_population_by_hand(self) -> None:
        # 0 and 2 become 0 0 2 2; of the 6 pairs one has mean 0, four 1, one 2. The scale
        # sqrt(2 * 3/4) makes the variance that of theory: s^2/n (1 - n/N) = 2/2 * 1/2.
        error, squared = _resample(np.array([0.0, 2.0]), 4, rng(), 60_000)
        shares = [np.mean(np.isclose(error, e * np.sqrt(1.5))) for e in (-1, 0, 1)]
        np.testing.assert_allclose(shares, [1 / 6, 4 / 6, 1 / 6], atol=4.5 * 0.0019)
        assert np.var(error) == pytest.approx(0.5, rel=0.03)
        assert sorted(set(np.round(squared, 9))) == [0.0, 0.75]

    @pytest.mark.parametrize("population", [60, 100, 137, 400, 401])
    def test_variance_is_that_of_theory(self, population: int) -> None:
        # Whole copies, random completion, more than half of the population: 20,000 resamples,
        # Monte-Carlo sd of a variance about 1 %.
        values = rng(2).gamma(1.0, 2.0, 50)
        error, squared = _resample(values, population, rng(), 20_000)
        theory = mean_stderr(values, population) ** 2
        assert np.var(error) == pytest.approx(theory, rel=0.045)
        assert np.mean(squared) == pytest.approx(theory, rel=0.045)
        assert abs(error.mean()) < 4.5 * np.sqrt(theory / 20_000)


class TestInterval:
    @pytest.mark.parametrize("studentised", [False, True])
    def test_everything_rated_is_the_mean(self, studentised: bool) -> None:
        values = np.array([0.0, 1.0, 5.0])
        found = finite_bootstrap(values, 3, rng(), 100, 0.95, studentised=studentised)
        assert found == Interval(2.0, 2.0, 0.95)

    @pytest.mark.parametrize("values", [[2.0], [2.0, 2.0, 2.0]])
    def test_unbounded_where_no_spread_is_seen(self, values: list[float]) -> None:
        assert finite_bootstrap(np.array(values), 9, rng(), 100, 0.9).half_width == float("inf")

    def test_a_stratum_of_one(self) -> None:
        values, stratum = np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1])
        unknown = finite_bootstrap(values, np.array([4, 2]), rng(), 99, 0.9, stratum=stratum)
        assert unknown.half_width == float("inf")
        known = finite_bootstrap(values, np.array([4, 1]), rng(), 99, 0.9, stratum=stratum)
        assert 0 < known.half_width < 1

    def test_repeats_with_its_seed_and_moves_with_the_scale(self) -> None:
        values = rng(3).gamma(1.0, 2.0, 30)
        for studentised in (False, True):
            one, same, moved = (
                finite_bootstrap(v, 100, rng(5), 500, 0.9, studentised=studentised)
                for v in (values, values, 7 + 3 * values)
            )
            assert one == same
            assert (moved.low, moved.high) == pytest.approx((7 + 3 * one.low, 7 + 3 * one.high))

    @pytest.mark.parametrize("studentised", [False, True])
    def test_nested_in_level(self, studentised: bool) -> None:
        values = rng(3).gamma(1.0, 2.0, 30)
        found = [
            finite_bootstrap(values, 100, rng(5), 500, p, studentised=studentised)
            for p in (0.5, 0.8, 0.95, 0.99)
        ]
        assert np.all(np.diff([i.low for i in found]) <= 0)
        assert np.all(np.diff([i.high for i in found]) >= 0)

    def test_resamples_of_equal_values_widen_and_never_fail(self) -> None:
        values = np.array([0.0, 0.0, 0.0, 0.0, 9.0])
        found = finite_bootstrap(values, 50, rng(), 500, 0.9, studentised=True)
        assert found.low > 0
        assert found.high == float("inf")

    def test_far_from_the_whole_it_is_the_ordinary_bootstrap(self) -> None:
        # scipy 1.17: stats.bootstrap((values,), np.mean, method="percentile"), n - 1 for n
        values = rng(4).gamma(1.0, 2.0, 60)
        ours = finite_bootstrap(values, 6000, rng(), 4000, 0.9)
        outside = stats.bootstrap(
            (values,), np.mean, n_resamples=20_000, confidence_level=0.9, method="percentile",
            rng=rng(),
        ).confidence_interval  # fmt: skip
        center, scale = values.mean(), np.sqrt(60 / 59 * (1 - 0.01))
        expected = [center + scale * (end - center) for end in outside]
        assert (ours.low, ours.high) == pytest.approx(expected, abs=0.04 * np.ptp(expected))

    def test_strata_by_theory(self) -> None:
        # Normal values: the half-width is 1.96 standard errors of the stratified mean.
        values, stratum = rng(6).normal(size=300), np.repeat([0, 1, 2], [50, 50, 200])
        values += 10 * stratum
        sizes = np.array([100, 700, 200])
        found = finite_bootstrap(values, sizes, rng(), 4000, 0.95, stratum=stratum)
        groups = [values[stratum == i] for i in range(3)]
        center = sum(w * g.mean() for w, g in zip(sizes / 1000, groups, strict=True))
        parts = [N / 1000 * mean_stderr(g, int(N)) for N, g in zip(sizes, groups, strict=True)]
        assert found.half_width == pytest.approx(1.96 * np.hypot.reduce(parts), rel=0.05)
        assert (found.low + found.high) / 2 == pytest.approx(center, abs=0.03)

    @pytest.mark.slow
    @pytest.mark.parametrize("studentised", [False, True])
    @pytest.mark.parametrize("n", [40, 150])
    def test_coverage(self, n: int, studentised: bool) -> None:
        # 1,500 samples of skewed scores, N = 300; the Monte-Carlo sd of .95 is .0056.
        # Percentiles know nothing of skewness: at n = 40 they lack 2 to 3 points.
        generator = rng(7)
        scores, hits = generator.gamma(1.0, 2.0, 300), 0
        for _ in range(1500):
            values = scores[simple_random(300, n, generator)[0]]
            interval = finite_bootstrap(values, 300, generator, 300, 0.95, studentised=studentised)
            hits += scores.mean() in interval
        least = 0.915 if n == 40 and not studentised else 0.95 - 3 * 0.0056
        assert least < hits / 1500 < 0.97
