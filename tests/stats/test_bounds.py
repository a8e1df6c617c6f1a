"""Bounds by hand, against the paper and over all samples; the skew-corrected t by simulation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.stats.bounds import (
    bernstein_bound,
    hoeffding_bound,
    mean_interval,
    skew_t_interval,
    skew_terms,
)
from assay.stats.intervals import Interval, t_interval
from assay.stats.selection import simple_random

SCORES = st.lists(st.floats(0, 25), min_size=4, max_size=8)


class TestHoeffding:
    def test_by_hand(self) -> None:
        # k = 1 - 4/10, log(2/.5) = 1.386294: 3 sqrt(.6 * 1.386294 / 10)
        assert hoeffding_bound(5, 10, 3.0, 0.5) == pytest.approx(3 * np.sqrt(0.08317766), rel=1e-7)

    @pytest.mark.parametrize(
        ("population", "width", "expected"),
        [(1418, 4.0, (0.433, 0.221, 0.144)), (2000, 7.0, (0.638, 0.325, 0.213))],
    )
    def test_the_oracle_bounds_of_wmt20(
        self, population: int, width: float, expected: tuple[float, ...]
    ) -> None:
        found = [
            hoeffding_bound(round(share * population), population, width, 0.95)
            for share in (0.1, 0.3, 0.5)
        ]
        assert found == pytest.approx(expected, abs=6e-4)

    @pytest.mark.parametrize(
        ("width", "n", "population", "printed"),
        # saldias2022 Table 5: t for 10, 30 and 50 % of about 710 segments en-de, 1000 zh-en
        [
            (4.0, 71, 710, 0.61),
            (4.0, 213, 710, 0.31),
            (4.0, 355, 710, 0.20),
            (7.0, 100, 1000, 0.90),
            (7.0, 300, 1000, 0.46),
            (7.0, 500, 1000, 0.30),
        ],
    )
    def test_table_5_of_the_paper(
        self, width: float, n: int, population: int, printed: float
    ) -> None:
        assert hoeffding_bound(n, population, width, 0.95) == pytest.approx(printed, abs=0.01)

    @given(SCORES, st.integers(1, 7), st.sampled_from([0.3, 0.5, 0.8, 0.95]))
    def test_holds_over_all_samples(self, values: list[float], n: int, level: float) -> None:
        n = min(n, len(values))
        truth = np.mean(values)
        bound = hoeffding_bound(n, len(values), np.ptp(values), level)
        errors = [abs(np.mean(sample) - truth) for sample in combinations(values, n)]
        assert np.mean(np.array(errors) <= bound + 1e-12) >= level

    def test_falls_with_n_and_grows_with_level_and_width(self) -> None:
        bounds = [hoeffding_bound(n, 50, 2.0, 0.9) for n in range(1, 51)]
        assert np.all(np.diff(bounds) < 0)
        assert bounds[-1] == 0
        assert hoeffding_bound(9, 50, 2.0, 0.99) > bounds[8]
        assert hoeffding_bound(9, 50, 6.0, 0.9) == pytest.approx(3 * bounds[8])


class TestBernstein:
    values = np.tile([0.0, 4.0], 20)

    def test_as_printed_by_hand(self) -> None:
        # s = 2, log(3/.05) = 4.094345: 2 sqrt(2 * 4.094345 / 40) + 3 * 25 * 4.094345 / 40
        found = bernstein_bound(self.values, 100, 25.0, 0.95)
        assert found == pytest.approx(0.9049138 + 7.6768959, rel=1e-6)

    @pytest.mark.parametrize(("population", "rho"), [(100, 0.61), (60, 1 / 3 * 1.025)])
    def test_serfling_by_hand(self, population: int, rho: float) -> None:
        # log(5/.025) = 5.298317, kappa = 7/3 + 3/sqrt(2) = 4.4546537
        found = bernstein_bound(self.values, population, 25.0, 0.95, serfling=True)
        expected = 2 * np.sqrt(2 * rho * 5.298317 / 40) + 4.4546537 * 25 * 5.298317 / 40
        assert found == pytest.approx(expected, rel=1e-6)

    def test_serfling_pays_where_the_range_is_small_beside_n(self) -> None:
        values = np.tile([0.0, 4.0], 20_000)
        for population, narrower in [(10**6, False), (50_000, True)]:
            ours = bernstein_bound(values, population, 4.0, 0.95, serfling=True)
            assert (ours < bernstein_bound(values, population, 4.0, 0.95)) == narrower

    @pytest.mark.parametrize("serfling", [False, True])
    @given(SCORES, st.sampled_from([0.3, 0.5, 0.8]))
    def test_holds_over_all_samples(
        self, serfling: bool, values: list[float], level: float
    ) -> None:
        width, truth = float(np.ptp(values)), np.mean(values)
        for n in (2, 3, len(values)):
            held = [
                abs(np.mean(sample) - truth)
                <= bernstein_bound(np.array(sample), len(values), width, level, serfling=serfling)
                + 1e-12
                for sample in combinations(values, n)
            ]
            assert np.mean(held) >= level

    @pytest.mark.parametrize("serfling", [False, True])
    def test_everything_rated(self, serfling: bool) -> None:
        assert bernstein_bound(self.values, 40, 25.0, 0.95, serfling=serfling) == 0


class TestMeanInterval:
    @pytest.mark.parametrize("name", ["hoeffding", "bernstein", "betting"])
    def test_covers_over_all_samples_and_stays_in_the_range(self, name: str) -> None:
        population, rng = np.array([0.0, 0, 0, 1, 1, 2, 5, 10]), np.random.default_rng(1)
        truth, level = population.mean(), 0.6
        found = [
            mean_interval(name, np.array(sample), 8, (0.0, 10.0), level, rng)
            for sample in combinations(population, 5)
        ]
        assert all(0 <= item.low <= item.high <= 10 for item in found)
        assert np.mean([item.low <= truth <= item.high for item in found]) >= level

    def test_margins_are_the_bounds(self) -> None:
        values, rng = np.random.default_rng(2).uniform(40, 60, 400), np.random.default_rng(0)
        margins = {
            "hoeffding": hoeffding_bound(400, 2000, 100.0, 0.9),
            "bernstein": bernstein_bound(values, 2000, 100.0, 0.9),
        }
        for name, margin in margins.items():
            found = mean_interval(name, values, 2000, (0.0, 100.0), 0.9, rng)
            assert found.half_width == pytest.approx(margin)
            assert found.low + found.high == pytest.approx(2 * values.mean())

    @pytest.mark.parametrize("name", ["hoeffding", "bernstein", "betting"])
    def test_everything_rated_is_the_mean(self, name: str) -> None:
        rng = np.random.default_rng(0)
        found = mean_interval(name, np.array([1.0, 2.0, 6.0]), 3, (0.0, 9.0), 0.95, rng)
        assert (found.low, found.high) == (3.0, 3.0)


class TestSkew:
    def test_terms_by_hand(self) -> None:
        # Deviations -1 -1 -1 3: m3 = 6, m2 = 3, g1 = 2/sqrt(3), G1 = g1 sqrt(12)/2 = 2;
        # f = 1/4: 2 * .5 / sqrt(3) and 2 sqrt(.75/4)
        skewness, coupling = skew_terms(np.array([0.0, 0, 0, 4]), 16)
        assert (skewness, coupling) == pytest.approx((1 / np.sqrt(3), np.sqrt(0.75)))

    def test_skewness_is_that_of_scipy(self) -> None:
        values = np.random.default_rng(1).gamma(1.0, 2.0, 40)
        skewness, coupling = skew_terms(values, 10**12)
        assert skewness == pytest.approx(stats.skew(values, bias=False) / np.sqrt(40), rel=1e-9)
        assert coupling == pytest.approx(skewness, rel=1e-9)

    def test_terms_are_the_moments_of_all_samples(self) -> None:
        # Skewness of the sample mean over all samples, with the population's own skewness.
        population = np.array([0.0, 0, 1, 1, 2, 3, 5, 9, 14])
        N, n = len(population), 3
        means = [np.mean(sample) for sample in combinations(population, n)]
        f, g = n / N, stats.skew(population)
        # The exact factor is that of the term up to 1/N: (N-2n) sqrt(N-1) / ((N-2) sqrt(n(N-n))).
        term = g * (1 - 2 * f) / np.sqrt(n * (1 - f))
        assert stats.skew(means) == pytest.approx(term * np.sqrt(1 - 1 / N) / (1 - 2 / N))

    @pytest.mark.parametrize(
        ("values", "population"), [([1.0, 4.0], 9), ([2.0, 2.0, 2.0], 9), ([0.0, 0.0, 5.0], 3)]
    )
    def test_nothing_to_correct(self, values: list[float], population: int) -> None:
        assert skew_terms(np.array(values), population) == (0.0, 0.0)

    def test_no_skewness_is_students(self) -> None:
        assert skew_t_interval(1.0, 0.5, 0.0, 0.0, 9, 0.9) == t_interval(1.0, 0.5, 9, 0.9)
        assert skew_t_interval(1.0, float("nan"), 0.1, 0.1, 9, 0.9).half_width == float("inf")
        assert skew_t_interval(1.0, 0.0, 0.1, 0.1, 9, 0.9) == Interval(1.0, 1.0, 0.9)
        tiny, none = (skew_t_interval(1.0, 0.5, e, e, 9, 0.9) for e in (1e-9, 0.0))
        assert (tiny.low, tiny.high) == pytest.approx((none.low, none.high), abs=1e-6)

    def test_where_the_transformation_is_a_shift(self) -> None:
        # a = (3 coupling - skewness) / 6 = 0 leaves T + b with b = skewness / 6 = .1.
        found, q = skew_t_interval(1.0, 0.5, 0.6, 0.2, 9, 0.95), stats.t.ppf(0.975, 9)
        wanted = 1 - (q - 0.1) * 0.5, 1 + (q + 0.1) * 0.5
        assert (found.low, found.high) == pytest.approx(wanted)
        near = skew_t_interval(1.0, 0.5, 0.6, 0.2 + 1e-6, 9, 0.95)
        assert (near.low, near.high) == pytest.approx(wanted, abs=1e-4)

    def test_the_ends_solve_halls_equation(self) -> None:
        # Hall (1992): T + g T^2/3 + g^2 T^3/27 + g/6 = quantile, g = skewness / sqrt(n)
        g, found = 0.3, skew_t_interval(0.0, 1.0, 0.3, 0.3, 29, 0.95)
        quantile = stats.t.ppf(0.975, 29)
        for end, expected in ((found.low, quantile), (found.high, -quantile)):
            t = -end
            assert t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6 == pytest.approx(expected)

    @given(st.floats(-2, 2), st.floats(-2, 2), st.floats(0.1, 10))
    def test_mirrored_scaled_and_nested(
        self, skewness: float, coupling: float, stderr: float
    ) -> None:
        narrow = skew_t_interval(3.0, stderr, skewness, coupling, 29, 0.9)
        wide = skew_t_interval(3.0, stderr, skewness, coupling, 29, 0.95)
        mirror = skew_t_interval(-3.0, stderr, -skewness, -coupling, 29, 0.9)
        unit = skew_t_interval(0.0, 1.0, skewness, coupling, 29, 0.9)
        assert wide.low <= narrow.low <= narrow.high <= wide.high
        assert (-mirror.high, -mirror.low) == pytest.approx((narrow.low, narrow.high))
        assert narrow.half_width == pytest.approx(stderr * unit.half_width)

    @pytest.mark.slow
    @pytest.mark.parametrize(("n", "population"), [(30, 1500), (60, 1500), (60, 150)])
    def test_covers_more_and_more_evenly_than_students(self, n: int, population: int) -> None:
        # 6,000 samples of zero-inflated scores of skewness 1.9 to 2.3, like MQM; the Monte-Carlo
        # sd of a coverage of .95 is .0028. Student's has 91.7, 93.0, 93.5, misses on one side.
        rng = np.random.default_rng(3)
        scores = np.where(rng.random(population) < 0.4, 0.0, rng.gamma(0.9, 2.5, population))
        truth, missed = scores.mean(), np.zeros((2, 2))
        for _ in range(6000):
            values = scores[simple_random(population, n, rng)[0]]
            stderr = float(values.std(ddof=1) * np.sqrt((1 - n / population) / n))
            terms = skew_terms(values, population)
            center = float(values.mean())
            for row, interval in zip(
                missed,
                (
                    t_interval(center, stderr, n - 1, 0.95),
                    skew_t_interval(center, stderr, *terms, n - 1, 0.95),
                ),
                strict=True,
            ):
                row += truth < interval.low, truth > interval.high
        student, ours = missed / 6000
        assert 0.935 < 1 - ours.sum() < 0.965
        assert abs(0.05 - ours.sum()) < abs(0.05 - student.sum()) + 0.003
        assert abs(ours[1] - ours[0]) < abs(student[1] - student[0])
