"""Student's t against scipy, and where both must agree with what is known by heart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special, stats

from assay.estimation.results import Precision
from assay.stats.intervals import (
    chance_to_decide,
    chi_squared_quantile,
    interval_within,
    normal_cdf,
    root_between,
    t_cdf,
    t_interval,
    t_probability,
    t_quantile,
)
from assay.stats.power import (
    _gauss_legendre,
    detectable_shift,
    detectable_shifts,
    noncentral_t_cdf,
    power_of,
)

DEGREES = [1, 1.1, 1.5, 2, 2.3, 3, 5, 10, 30, 59.5, 119, 120.5, 204, 1000, 5000, 1e5]
LEVELS = [0.5, 0.8, 0.9, 0.95, 0.99, 0.9999]


@pytest.mark.parametrize("degrees", DEGREES)
def test_probabilities_are_those_of_scipy(degrees: float) -> None:
    for t in (0.001, 0.1, 0.5, 1, 1.5, 2, 3, 5, 10, 40):
        assert t_cdf(-t, degrees) == pytest.approx(special.stdtr(degrees, -t), rel=1e-11)
        assert t_cdf(t, degrees) == pytest.approx(special.stdtr(degrees, t), rel=1e-14)


@pytest.mark.parametrize("degrees", DEGREES)
def test_quantiles_are_those_of_scipy(degrees: float) -> None:
    for p in (0.001, 0.3, 0.55, *(0.5 + level / 2 for level in LEVELS), 1 - 1e-9):
        assert t_quantile(p, degrees) == pytest.approx(special.stdtrit(degrees, p), rel=1e-11)


@pytest.mark.parametrize("degrees", DEGREES)
def test_noncentral_probabilities_are_those_of_scipy(degrees: float) -> None:
    for level in LEVELS:
        end = special.stdtrit(degrees, 0.5 + level / 2)
        for shift in (0, 0.1, 1, 2, 2.8, 3.5, 5, 8, 12, 20, 36, 60, 200, 500):
            for t in (end, -end):
                # NaN is what scipy gives for probabilities under 1e-20.
                known = np.nan_to_num(special.nctdtr(degrees, shift, t))
                assert noncentral_t_cdf(t, degrees, shift) == pytest.approx(known, abs=1e-12)


def test_known_by_heart() -> None:
    assert t_cdf(0.0, 7) == 0.5
    assert t_quantile(0.5, 7) == 0
    assert t_quantile(0.75, 1) == pytest.approx(1.0, rel=1e-14)  # Cauchy's
    assert t_quantile(0.975, math.inf) == pytest.approx(1.959963984540054)
    assert t_quantile(0.975, np.int64(500_000_000)) == pytest.approx(1.959963984540054, rel=1e-8)
    # A tiny t: 0.5 - t/pi for one degree, which scipy 1.17 misses by 3e-9.
    assert t_cdf(-1e-8, 1) == pytest.approx(0.5 - 1e-8 / math.pi, abs=1e-15)


@pytest.mark.parametrize(
    ("p", "degrees"), [(0.0, 5), (1.0, 5), (1.5, 5), (0.9, 0), (0.9, math.nan)]
)
def test_what_has_no_quantile(p: float, degrees: float) -> None:
    assert math.isnan(t_quantile(p, degrees))


@given(st.floats(1e-12, 1 - 1e-12), st.floats(1, 1e4))
def test_quantile_and_probability_undo_each_other(p: float, degrees: float) -> None:
    assert t_cdf(t_quantile(p, degrees), degrees) == pytest.approx(p, rel=1e-10)


def test_nodes_are_those_of_numpy() -> None:
    nodes, weights = np.polynomial.legendre.leggauss(80)
    assert _gauss_legendre(80)[0] == pytest.approx(nodes, abs=1e-14)
    assert _gauss_legendre(80)[1] == pytest.approx(weights, rel=1e-10)


@pytest.mark.parametrize("degrees", [2.0, 10.0, 204.0])
def test_what_can_be_detected_is_found_as_often_as_asked(degrees: float) -> None:
    for level in (0.9, 0.95):
        t = special.stdtrit(degrees, 0.5 + level / 2)

        def power(shift: float, t: float = t) -> float:
            below, above = special.nctdtr(degrees, shift, -t), special.nctdtr(degrees, shift, t)
            return float(np.nan_to_num(below) + 1 - above)

        for wanted in (0.5, 0.8, 0.99):
            exact = optimize.brentq(lambda x, wanted=wanted: power(x) - wanted, 0, 100)
            shift = detectable_shift(degrees, level, wanted)
            assert shift == pytest.approx(exact, rel=1e-9)
            found = power_of(np.array([shift]), np.array([degrees]), level)
            assert found == pytest.approx(wanted)


def test_too_few_to_detect_anything() -> None:
    assert math.isnan(detectable_shift(1.0, 0.99, 0.99))
    assert detectable_shift(5.0, 0.95, 0.01) == 0.0


class TestWithinWhatIsPossible:
    def test_a_share_has_wilsons_interval(self) -> None:
        # R: binom::binom.wilson(1, 10) and (19, 20)
        for x, n, low, high in ((1, 10, 0.01787621, 0.4041500), (19, 20, 0.7638687, 0.9911195)):
            share = x / n
            stderr = math.sqrt(share * (1 - share) / n)
            interval = interval_within(share, stderr, math.inf, 0.95, 0.0, 1.0)
            assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-6)

    @pytest.mark.parametrize(("center", "margin"), [(3.0, 1.0), (1.0, 1.5), (0.5, 2.0), (0.0, 2.0)])
    def test_an_open_range_has_the_roots_of_a_square(self, center: float, margin: float) -> None:
        # (x - v)^2 = margin^2 v / r, r = x but at least half the margin
        k = margin**2 / max(center, margin / 2)
        low, high = sorted(np.roots([1, -(2 * center + k), center**2]).real.tolist())
        stderr = margin / stats.t.ppf(0.975, 9)
        interval = interval_within(7 + center, stderr, 9, 0.95, 7.0, math.inf)
        assert (interval.low, interval.high) == pytest.approx((7 + low, 7 + high))

    @pytest.mark.parametrize(
        ("center", "margin"), [(5.0, 1.0), (2.0, 3.0), (9.5, 4.0), (3.0, 11.0)]
    )
    def test_a_closed_range_has_them_too(self, center: float, margin: float) -> None:
        # (x - v)^2 = margin^2 v (10 - v) / (r (10 - r)), r at least half the margin from both ends,
        # and in the middle where the margin is as wide as the range
        r = min(max(center, margin / 2), 10 - margin / 2) if margin < 10 else 5.0
        k = margin**2 / (r * (10 - r))
        low, high = sorted(np.roots([1 + k, -(2 * center + 10 * k), center**2]).real.tolist())
        stderr = margin / stats.t.ppf(0.975, 9)
        interval = interval_within(center, stderr, 9, 0.95, 0.0, 10.0)
        assert (interval.low, interval.high) == pytest.approx((low, high))

    def test_far_from_the_limits_it_is_the_t_interval(self) -> None:
        plain = t_interval(2.0, 0.5, 7, 0.9)
        assert interval_within(2.0, 0.5, 7, 0.9, -math.inf, math.inf) == plain
        for low, high in ((-1e9, math.inf), (-math.inf, 1e9), (-1e9, 1e9)):
            interval = interval_within(2.0, 0.5, 7, 0.9, low, high)
            assert (interval.low, interval.high) == pytest.approx((plain.low, plain.high), abs=1e-6)

    @given(
        st.floats(-2, 3), st.floats(1e-6, 50), st.floats(1, 200), st.floats(0.5, 0.999),
        st.booleans(),
    )  # fmt: skip
    def test_always_inside_and_around_the_center(
        self, center: float, stderr: float, degrees: float, level: float, open_end: bool
    ) -> None:
        high = math.inf if open_end else 1.0
        interval = interval_within(center, stderr, degrees, level, 0.0, high)
        assert 0 <= interval.low < interval.high <= high
        inside = min(max(center, 0.0), high)
        assert interval.low - 1e-12 <= inside <= interval.high + 1e-12
        turned = interval_within(-center, stderr, degrees, level, -high, 0.0)
        assert (-turned.high, -turned.low) == pytest.approx((interval.low, interval.high))

    def test_nothing_known_and_nothing_unknown(self) -> None:
        unknown = interval_within(0.3, math.nan, 5, 0.95, 0.0, 1.0)
        assert (unknown.low, unknown.high) == (0.0, 1.0)
        exact = interval_within(0.3, 0.0, 5, 0.95, 0.0, 1.0)
        assert (exact.low, exact.high) == (0.3, 0.3)

    @pytest.mark.parametrize(
        ("draw", "truth", "high"),
        [
            (lambda rng, size: rng.beta(0.3, 2.7, size), 0.1, 1.0),
            (lambda rng, size: rng.lognormal(0, 1, size), math.exp(0.5), math.inf),
            (lambda rng, size: rng.uniform(0, 1, size), 0.5, 1.0),
        ],
    )
    def test_it_covers_no_less_than_the_t_interval(self, draw, truth, high) -> None:
        values = draw(np.random.default_rng(3), (4000, 8))
        means, errors = values.mean(axis=1), values.std(axis=1, ddof=1) / math.sqrt(8)
        covered = {
            kind: np.mean([truth in of(m, e) for m, e in zip(means, errors, strict=True)])
            for kind, of in (
                ("t", lambda m, e: t_interval(m, e, 7, 0.95)),
                ("within", lambda m, e: interval_within(m, e, 7, 0.95, 0.0, high)),
            )
        }
        assert covered["within"] > covered["t"] - 2 * math.sqrt(0.05 * 0.95 / 4000)


def test_normal_cdf_against_scipy() -> None:
    x = np.linspace(-9, 9, 2001)
    assert normal_cdf(x) == pytest.approx(special.ndtr(x), rel=1.3e-7)


@pytest.mark.parametrize("degrees", [1, 2, 3, 7, 40, 501, 20_000])
def test_quantiles_of_chi_squared_are_those_of_scipy(degrees: int) -> None:
    for p in (1e-6, 0.025, 0.05, 0.5, 0.95, 0.999):
        known = special.chdtri(degrees, 1 - p)
        assert chi_squared_quantile(p, degrees) == pytest.approx(known, rel=1e-8)


@given(st.floats(0.01, 0.99), st.floats(0.2, 5))
def test_a_root_is_found_between_two_values(root: float, power: float) -> None:
    def rising(x: float) -> float:
        return float(x**power - root**power)

    found = root_between(rising, 0.0, rising(0.0), 1.0, rising(1.0), 1e-12)
    assert rising(found) == pytest.approx(0.0, abs=1e-9)


def test_power_with_any_number_of_degrees() -> None:
    """Known from the normal distribution: 2.8 errors are found with 80% probability."""
    assert power_of(np.array([2.8]), np.array([np.inf]), 0.95) == pytest.approx(0.7995, abs=1e-3)


def test_p_values_are_those_of_scipy() -> None:
    values = np.random.default_rng(3).normal(0.4, 1, 12)
    known = stats.ttest_1samp(values, 0.0).pvalue
    stderr = float(values.std(ddof=1) / math.sqrt(12))
    assert t_probability(float(values.mean()), stderr, 11) == pytest.approx(known, rel=1e-9)
    assert math.isnan(t_probability(1.0, 0.0, 11))


class TestVeryMany:
    """Powers of very many pairs are read off a grid."""

    def test_powers_are_those_of_each(self) -> None:
        rng = np.random.default_rng(1)
        shift, degrees = rng.gamma(2.0, 1.5, 20_000), rng.uniform(3, 200, 20_000)
        t = special.stdtrit(degrees, 0.975)
        known = 1 - special.nctdtr(degrees, shift, t) + special.nctdtr(degrees, shift, -t)
        well = np.isfinite(known)  # NaN is what scipy gives for the smallest probabilities
        assert well.mean() > 0.5
        assert np.abs(power_of(shift, degrees, 0.95) - known)[well].max() < 2e-3

    def test_shifts_are_those_of_each(self) -> None:
        degrees = np.random.default_rng(2).uniform(5, 300, 2000)
        found = detectable_shifts(degrees, 0.95, 0.8)
        some = slice(None, None, 100)
        exact = [detectable_shift(own, 0.95, 0.8) for own in degrees[some].tolist()]
        assert found[some] == pytest.approx(exact, rel=2e-3)


class TestPrecision:
    floored = Precision(300, 6.0, 0.95, features=2, correlation=0.5, floor=0.2, floor_degrees=9)
    texts = Precision(300, 6.0, 0.95, reach=0.5, alike=0.001, documents=40)

    @pytest.mark.parametrize("precision", [floored, texts])
    def test_power_is_that_of_scipys_noncentral_t(self, precision: Precision) -> None:
        n = np.array([20, 100, 200, 280])
        shift, degrees = 1.5 / precision.stderr(n), precision.degrees(n)
        t = special.stdtrit(degrees, 0.975)
        known = 1 - special.nctdtr(degrees, shift, t) + special.nctdtr(degrees, shift, -t)
        assert precision.power(n, -1.5) == pytest.approx(known, abs=1e-6)

    @pytest.mark.parametrize("precision", [floored, texts])
    def test_the_smallest_of_all_numbers(self, precision: Precision) -> None:
        n = np.arange(2, 301)
        narrow, sure = precision.half_width(n) <= 1.0, precision.power(n, 1.5) >= 0.8
        assert precision.n_for_half_width(1.0) == n[narrow][0]
        assert precision.n_for_power(1.5, 0.8) == n[sure][0]
        assert precision.n_for_half_width(1e-9) == 300  # not even all of them

    def test_satterthwaites_degrees(self) -> None:
        # Welch's formula for two errors of 1 and .2 with 97 and 9 degrees.
        n = np.array([100])
        own = math.sqrt(float(self.floored.stderr(n)[0]) ** 2 - 0.2**2)
        known = (own**2 + 0.2**2) ** 2 / (own**4 / 97 + 0.2**4 / 9)
        assert self.floored.degrees(n) == pytest.approx([known])


def test_the_chance_to_decide_is_the_share_of_simulated_ends() -> None:
    # 100,000 truths and later estimates, which are seen and new ratings weighed by their errors.
    rng, runs = np.random.default_rng(7), 100_000
    seen, stderr, later, gap, sd = 1.0, 0.6, 0.3, 0.8, 0.5
    truth = rng.normal(gap, sd, runs)
    new = rng.normal(truth, 1 / math.sqrt(1 / later**2 - 1 / stderr**2))
    weight = later**2 / stderr**2
    ended = weight * seen + (1 - weight) * new
    limit = special.stdtrit(400, 0.975) * later
    share = np.mean(np.abs(ended) > limit)
    options = {"gap": gap, "sd": sd, "level": 0.95, "degrees": 400.0}
    assert chance_to_decide(seen, stderr, later, **options) == pytest.approx(share, abs=0.006)
    assert chance_to_decide(seen, stderr, stderr, **options) == 0.0  # nothing more is rated
    assert chance_to_decide(2.0, stderr, stderr, **options) == 1.0
    assert chance_to_decide(2.0, stderr, 1.1 * stderr, **options) == 1.0  # nor is less known
