"""Coverage, matching, ease, differences of systems rated apart, power: by hand and by theory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.audit.coverage import ratings_matching, segment_ease, touched
from assay.audit.pairs import normal_detectable, true_size
from assay.estimation.texts import document_parts, documents_error
from assay.stats.clustered import difference_z

NAN = float("nan")


def apart_difference(
    x: np.ndarray, y: np.ndarray, document: np.ndarray
) -> tuple[float, float, float]:
    """The difference of two means over segments of their own, its standard error and degrees."""
    count, one = int(document.max()) + 1, np.ones(len(x))
    parts = [document_parts(v, ~np.isnan(v), None, one, document, count) for v in (x, y)]
    held = np.unique(document[~np.isnan(x) | ~np.isnan(y)])
    return float(np.nanmean(x) - np.nanmean(y)), *documents_error(parts[0] - parts[1], len(held))


def test_match_by_hand() -> None:
    scores = np.array([[1.0, 2, 3, NAN], [1, 2, NAN, NAN], [NAN, NAN, NAN, 4]])
    found = ratings_matching(scores)
    assert (found.pairs, found.segments, found.complete, found.apart) == (3, 4, 0, 2)
    assert found.common == 0  # shares 1, 0, 0
    assert found.sd_ratio is None  # too few common segments


def test_sd_ratio_of_independent_and_of_equal_noise() -> None:
    rng = np.random.default_rng(1)
    segment, noise = rng.standard_normal(40_000), rng.standard_normal((2, 40_000))
    apart = ratings_matching(noise).sd_ratio
    both = ratings_matching(segment + noise).sd_ratio  # variances 2 + 2 against 1 + 1
    assert apart == pytest.approx(1.0, abs=0.02)
    assert both == pytest.approx(np.sqrt(2), abs=0.02)


def test_ease_by_hand() -> None:
    # The second segment is two points easier; A was rated there only. Three of five ratings are
    # of it, so the average rating has .2 more ease than the middle of the two.
    scores = np.array([[NAN, 5.0], [1, 3], [2, 4]])
    assert segment_ease(scores, 1.0) == pytest.approx([0.8, -0.2, -0.2])
    assert segment_ease(scores, -1.0)[0] == pytest.approx(-0.8)
    assert segment_ease(np.array([[1.0, NAN], [NAN, 2.0]]), 1.0) == [None, None]


@given(st.integers(2, 5), st.integers(2, 8), st.integers(0, 1000))
def test_no_segments_are_easier_where_all_are_rated_alike(systems: int, n: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(systems, n))
    assert segment_ease(scores, 1.0) == pytest.approx(np.zeros(systems))


def test_touched_documents() -> None:
    document = np.array([0, 0, 1, 1, 2])
    assert touched(document, np.array([True, True, True, False, False])) == (2, 1)


@given(st.integers(0, 1000), st.integers(2, 12))
def test_apart_difference_is_the_paired_one_where_everything_is_common(
    seed: int, documents: int
) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, documents)
    document = np.repeat(np.arange(documents), sizes)
    x, y = rng.normal(size=(2, len(document)))
    difference, stderr, degrees = apart_difference(x, y, document)
    sums = np.stack([np.bincount(document, x), np.bincount(document, y)], axis=1)
    z = difference_z(sums, sizes)[0, 1]
    assert difference == pytest.approx(x.mean() - y.mean())
    assert degrees == documents - 1
    if stderr > 1e-9:
        assert difference / stderr == pytest.approx(z)


def test_apart_difference_of_single_segments_is_welch_without_its_bias() -> None:
    """With every segment a document and none common: var_x/n_x + var_y/n_y (n divisors)."""
    rng = np.random.default_rng(2)
    x, y = np.full((2, 60), NAN)
    x[:25], y[25:] = rng.normal(size=25), rng.normal(2, 3, 35)
    _, stderr, degrees = apart_difference(x, y, np.arange(60))
    own = np.nanvar(x) / 25 + np.nanvar(y) / 35
    assert stderr**2 == pytest.approx(own * 60 / 59)
    assert degrees == 59
    assert np.isnan(apart_difference(x, y, np.zeros(60, dtype=int))[1])


@pytest.mark.slow
def test_apart_intervals_cover() -> None:
    """40 documents of 5 segments, each system rated on its own half: 95 % of 2000, error .5 %."""
    rng = np.random.default_rng(3)
    document = np.repeat(np.arange(40), 5)
    missed = 0
    for _ in range(2000):
        base = rng.normal(size=40)[document] + rng.normal(size=200)
        mine = rng.random(200) < 0.5
        x = np.where(mine, base + rng.normal(size=200), NAN)
        y = np.where(~mine, base + rng.normal(size=200), NAN)
        difference, stderr, _ = apart_difference(x, y, document)
        missed += abs(difference) > 2.023 * stderr
    assert missed / 2000 == pytest.approx(0.05, abs=0.02)


def test_true_size_takes_off_what_chance_adds() -> None:
    rng = np.random.default_rng(4)
    true, stderr = rng.normal(0, 2, 20_000), np.full(20_000, 1.0)
    seen = true + rng.standard_normal(20_000)
    assert true_size(seen, stderr) == pytest.approx(np.sqrt(4 / 5), abs=0.01)
    assert true_size(np.array([0.1]), np.array([1.0])) == 0
    assert true_size(np.zeros(2), np.ones(2)) == 0


def test_detectable_of_a_normal_test() -> None:
    assert normal_detectable(np.array([1.0]), 0.05)[0] == pytest.approx(1.6449 + 0.8416, abs=1e-3)


@pytest.mark.parametrize(("common", "known"), [(9, False), (10, True)])
def test_few_common_segments_tell_nothing_of_spread(common: int, known: bool) -> None:
    scores = np.random.default_rng(1).normal(size=(2, common))
    assert (ratings_matching(scores).sd_ratio is not None) == known
