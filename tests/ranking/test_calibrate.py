"""A calibrated level for rank ranges."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.errors import OptionError
from assay.ranking.calibrate import (
    MOST,
    calibrated_level,
    range_quality,
    simulated_tables,
)
from assay.ranking.calibrate import _campaign as campaign
from assay.ranking.ranges import shortest_ranges
from assay.stats.random import as_rng


def test_quality_by_hand() -> None:
    low, high = np.array([[1, 2, 2]]), np.array([[1, 3, 3]])
    assert range_quality(low, high, np.array([[1, 2, 3]])) == (0.0, 0.0, pytest.approx(5 / 3))
    assert range_quality(low, high, np.array([[2, 1, 3]]))[0] == pytest.approx(2 / 3)


def test_covariance_is_that_of_the_scores() -> None:
    """Variance of expected win over 600 campaigns: its own error is about 6 %."""
    mu, rng = np.array([2.0, 4.0, 5.0, 7.0]), as_rng(1)
    found = [campaign(mu, 300, 10.0, 3, rng) for _ in range(600)]
    actual = np.cov([score for score, _ in found], rowvar=False)
    expected = np.mean([cover for _, cover in found], axis=0)
    np.testing.assert_allclose(np.diag(expected), np.diag(actual), rtol=0.2)
    assert np.abs(expected.sum(axis=1)).max() < 1e-12  # scores add up to a constant


def test_refusals() -> None:
    with pytest.raises(OptionError, match="per_set"):
        calibrated_level(3, 1000, per_set=5)
    with pytest.raises(OptionError, match="allowed"):
        calibrated_level(6, 1000, allowed=0)
    with pytest.raises(OptionError, match="too many"):
        calibrated_level(MOST + 1, 1000)
    with pytest.raises(OptionError, match="is fewer than ranges of 1000 resamples can miss"):
        calibrated_level(6, 300, allowed=1e-6, runs=200, rng=1)
    table = assay.simulate_judgments(6, 600, rng=1)
    with pytest.raises(OptionError, match="ranges from resampling"):
        assay.rank(table, calibrate=True, ranges="pooled")
    with pytest.raises(OptionError, match="for expected-win, not bojar"):
        assay.rank(table, calibrate=True, method="bojar")


def test_rank_says_what_was_calibrated() -> None:
    table = assay.simulate_judgments(8, 4000, rng=1)
    plain, found = (assay.rank(table, calibrate=c, rng=1) for c in (False, True))
    assert plain.calibrated is None
    assert found.calibrated is not None
    assert found.calibrated < 0.95 == found.level
    assert "in sets of 5" in found.notes[-1]
    assert "calibrated:0." in found.signature
    for one, other in zip(plain.systems, found.systems, strict=True):
        assert one.low_rank <= other.low_rank <= other.high_rank <= one.high_rank
    again = [calibrated_level(6, 600, runs=20, rng=3) for _ in range(2)]
    assert again[0] == again[1]


@pytest.mark.slow
@pytest.mark.parametrize(("judgments", "size"), [(10_000, 4.3), (50_000, 2.5)])
def test_ranges_get_shorter_and_hold_in_new_campaigns(judgments: int, size: float) -> None:
    """400 fresh campaigns: the standard error of the violations is about .0035."""
    found = calibrated_level(15, judgments, rng=1)
    table, ranks = simulated_tables(15, judgments // 10, 10.0, 5, 400, np.random.default_rng(5))
    missed, _, mean = range_quality(*shortest_ranges(table, found.level), ranks)
    assert missed <= 0.05 + 0.007
    assert mean <= size
    assert mean < range_quality(*shortest_ranges(table, 0.95), ranks)[2]
