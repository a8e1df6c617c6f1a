"""Moments of rated data: by hand, against naive loops, and their gaps."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from benchmarks.moments import moments
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.errors import OptionError

DOCUMENTS = ["a", "a", "a", "b", "b", "c", "c", "c", "c"]


def random_ratings(seed: int, systems: int = 3, raters: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    document = np.repeat(rng.normal(size=3), [3, 2, 4])
    noise = rng.normal(size=(systems, len(DOCUMENTS), raters))
    return np.round(np.maximum(0, document[:, None] + noise), 1)


def test_by_hand() -> None:
    ratings = np.array([[0.0, 1.0, 5.0, 6.0], [0.0, 0.0, 5.0, 5.0]])
    found = moments(ratings, ["x", "x", "y", "y"])
    assert found.mean == 2.75
    assert found.system_sd == pytest.approx(np.std([3.0, 2.5], ddof=1))
    assert found.zeros == 3 / 8
    assert found.most == 6
    assert found.document_lengths == (2, 2, 2, 2, 2)
    # system 1: MSB 25, MSW .5 -> 24.5 / 25.5; system 2: MSB 25, MSW 0 -> 1
    assert found.document_icc == pytest.approx((24.5 / 25.5 + 1) / 2)
    assert found.system_r == pytest.approx(np.corrcoef(*ratings)[0, 1])
    # differences 0, 1, 0, 1: MSB 0, MSW .5 -> -.5 / .5
    assert found.difference_icc == pytest.approx(-1)


@given(st.integers(0, 10_000))
def test_against_naive_loops(seed: int) -> None:
    y = random_ratings(seed)
    found = moments(y, DOCUMENTS)
    cells = [y[s, :, r] for s in range(3) for r in range(2)]
    assert found.sd**2 == pytest.approx(np.mean([c.var(ddof=1) for c in cells]))
    assert found.p90 == pytest.approx(np.mean([np.quantile(c, 0.9) for c in cells]))
    if all(c.std() > 0 for c in cells):
        assert found.skewness == pytest.approx(np.mean([stats.skew(c) for c in cells]))
        across = [
            np.corrcoef(y[a, :, r], y[b, :, r])[0, 1]
            for a, b in combinations(range(3), 2)
            for r in range(2)
        ]
        assert found.system_r == pytest.approx(np.mean(across))
        raters = [np.corrcoef(y[s, :, 0], y[s, :, 1])[0, 1] for s in range(3)]
        assert found.rater_r == pytest.approx(np.mean(raters))
        both = [
            np.corrcoef(y[a, :, 0], y[b, :, 1])[0, 1] for a in range(3) for b in range(3) if a != b
        ]
        assert found.neither_r == pytest.approx(np.mean(both))


def test_icc_of_balanced_data_is_the_one_way_anova_formula() -> None:
    rng = np.random.default_rng(4)
    groups = rng.normal(size=(6, 1)) + rng.normal(size=(6, 5))
    between = 5 * groups.mean(axis=1).var(ddof=1)
    within = groups.var(axis=1, ddof=1).mean()
    expected = (between - within) / (between + 4 * within)
    found = moments(groups.ravel()[None], np.repeat(np.arange(6), 5))
    assert found.document_icc == pytest.approx(expected)


def test_order_of_segments_and_labels_do_not_matter() -> None:
    y = random_ratings(5)
    order = np.random.default_rng(6).permutation(len(DOCUMENTS))
    names = {"a": "z", "b": "q", "c": "k"}
    one = moments(y, DOCUMENTS).to_frame()
    two = moments(y[:, order], [names[DOCUMENTS[i]] for i in order]).to_frame()
    np.testing.assert_allclose(one["value"], two["value"])


def test_metrics_have_sign_and_parts() -> None:
    y = random_ratings(7)
    found = moments(y, DOCUMENTS, metrics={"m": -y.mean(axis=2)}).metrics["m"]
    expected = [np.corrcoef(-y[s].mean(axis=1), y[s, :, r])[0, 1] for s in range(3) for r in (0, 1)]
    assert found["within_r"] == pytest.approx(np.mean(expected))
    assert found["r"] < -0.5
    assert set(found) == {"r", "within_r", "document_icc", "system_r"}


def test_what_the_data_cannot_show_is_nan() -> None:
    found = moments(np.array([[1.0, 2.0, 4.0]]), ["a", "b", "c"])
    for name in ("system_sd", "document_icc", "system_r", "rater_r", "neither_r", "severity_sd"):
        assert math.isnan(getattr(found, name)), name
    assert math.isnan(found.difference_icc)


def test_to_frame_and_to_dict() -> None:
    found = moments(random_ratings(8), DOCUMENTS, metrics={"m": random_ratings(9)[:, :, 0]})
    frame = found.to_frame()
    assert dict(frame.rows())["mean"] == found.mean
    assert "m:within_r" in frame["moment"].to_list()
    assert found.to_dict()["metrics"]["m"]["r"] == found.metrics["m"]["r"]


def test_messages() -> None:
    with pytest.raises(OptionError, match=r"documents \(of shape \(2,\)\) does not fit ratings"):
        moments(np.zeros((2, 3)), ["a", "b"])
    with pytest.raises(OptionError, match=r"ratings \(1 missing\) has gaps; give only"):
        moments(np.array([[1.0, np.nan]]), ["a", "a"])
