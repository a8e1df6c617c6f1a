"""Student's t against scipy, and where both must agree with what is known by heart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

from assay.stats.intervals import (
    _gauss_legendre,
    detectable_shift,
    noncentral_t_cdf,
    power_of,
    t_cdf,
    t_quantile,
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
