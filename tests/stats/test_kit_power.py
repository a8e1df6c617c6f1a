"""Power of comparisons by editing: against simulation, and where it must not fail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from assay.stats.reml import detectable_gap, editors_needed, gap_power, kit_degrees

KOROTAEV = 8.8 + 79.5 / 23.3
"""Variance of an editor's mean edit distance over a document, by the fit to korotaev2022."""


def test_against_simulated_t_tests() -> None:
    rng = np.random.default_rng(2)
    editors, systems, gap, variance = 8, 3, 4.0, 12.0
    freedom = kit_degrees(editors, systems)
    runs = 20_000
    value = rng.normal(gap, math.sqrt(2 * variance / editors), runs)
    spread = np.sqrt(2 * variance / editors * rng.chisquare(freedom, runs) / freedom)
    found = np.mean(np.abs(value) > stats.t.ppf(0.975, freedom) * spread)
    power = gap_power(gap, variance=variance, editors=editors, systems=systems, level=0.95)
    assert power == pytest.approx(found, abs=0.012)  # 3 standard errors of 20,000 runs


def test_without_spread_every_gap_is_found_and_none_is_by_chance() -> None:
    given = {"variance": 0.0, "systems": 3, "level": 0.95}
    assert gap_power(1.0, editors=6, **given) == 1
    assert gap_power(0.0, editors=6, **given) == pytest.approx(0.05)
    assert np.isnan(gap_power(1.0, editors=2, **given))  # (3 - 1)(2 - 2) degrees of freedom


def test_freedom_of_six_editors_and_three_systems() -> None:
    assert kit_degrees(6, 3) == 8
    assert kit_degrees(6, 3, place=True) == 18 - 6 - 2 - 2 - 2


def test_numbers_for_the_variance_of_korotaev2022() -> None:
    six = gap_power(1.43, variance=KOROTAEV, editors=6, systems=3, level=0.95)
    assert six == pytest.approx(0.09, abs=0.01)
    given = {"variance": KOROTAEV, "systems": 3, "level": 0.95, "power": 0.8}
    assert editors_needed(1.43, **given) == 95
    assert editors_needed(3, **given) == 23
    powers = [
        gap_power(gap, variance=KOROTAEV, editors=24, systems=4, level=0.95) for gap in (1.43, 3, 6)
    ]
    assert powers == pytest.approx([0.28, 0.84, 1.0], abs=0.01)


def test_needed_is_the_smallest() -> None:
    given = {"variance": 5.0, "systems": 4, "level": 0.9}
    needed = editors_needed(2.0, power=0.8, **given)
    assert needed is not None
    assert gap_power(2.0, editors=needed, **given) >= 0.8
    assert gap_power(2.0, editors=needed - 1, **given) < 0.8


def test_detectable_gap_is_found_with_just_that_power() -> None:
    gap = detectable_gap(variance=12.0, editors=6, systems=3, level=0.95, power=0.8)
    power = gap_power(gap, variance=12.0, editors=6, systems=3, level=0.95)
    assert power == pytest.approx(0.8, abs=1e-6)


def test_edges() -> None:
    assert math.isnan(gap_power(1, variance=1, editors=2, systems=3, level=0.95))
    assert math.isnan(detectable_gap(variance=1, editors=2, systems=3, level=0.95, power=0.8))
    assert gap_power(0, variance=1, editors=9, systems=3, level=0.95) == pytest.approx(0.05)
    assert gap_power(100, variance=1, editors=9, systems=3, level=0.95) == pytest.approx(1)
    assert gap_power(1, variance=0, editors=9, systems=3, level=0.95) == 1
    assert detectable_gap(variance=0, editors=9, systems=3, level=0.95, power=0.8) == 0
    assert editors_needed(1e-6, variance=1, systems=3, level=0.95, power=0.8) is None
