"""A calibrated level for rank ranges."""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import OptionError
from assay.ranking.calibrate import _campaigns, calibrated_level, range_quality


def test_quality_by_hand() -> None:
    better = np.array([[[0, 1, 1], [0, 0, 0], [0, 0, 0]]], dtype=bool)
    assert range_quality(better, np.array([[1, 2, 3]])) == (0.0, pytest.approx(5 / 3))
    assert range_quality(better, np.array([[2, 1, 3]])) == (
        pytest.approx(2 / 3),
        pytest.approx(5 / 3),
    )


def test_refusals() -> None:
    with pytest.raises(OptionError, match="per_set"):
        calibrated_level(3, 1000)
    with pytest.raises(OptionError, match="allowed"):
        calibrated_level(6, 1000, allowed=0)


@pytest.mark.slow
def test_ranges_get_shorter_and_hold_in_new_campaigns() -> None:
    """400 fresh campaigns: the standard error of the violations is about .004."""
    found = calibrated_level(15, 10_000, rng=1)
    p, ranks = _campaigns(15, 10_000, 10.0, 5, 400, np.random.default_rng(5))
    violations, size = range_quality(p <= found.level, ranks)
    assert violations <= 0.05 + 0.012
    assert size < 4.5
    assert size < range_quality(p <= 0.05, ranks)[1]
