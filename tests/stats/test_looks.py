"""Limits of planned looks: published values, theory, and a simulated Brownian motion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from assay.stats.looks import information, look_limits, planned_sizes, shares_of, spent

# Two-sided .05, Lan-DeMets spending of O'Brien-Fleming type. R: gsDesign(k = 5, test.type = 2,
# sfu = sfLDOF, alpha = .025)$upper$bound; the same values are in Proschan, Lan and Wittes (2006).
PUBLISHED = {
    5: (4.877, 3.357, 2.680, 2.290, 2.031),
    2: (2.963, 1.969),
}


@pytest.mark.parametrize("looks", PUBLISHED)
def test_limits_are_the_published_ones(looks: int) -> None:
    shares = tuple((k + 1) / looks for k in range(looks))
    assert np.abs(np.array(look_limits(shares, 0.95)) - PUBLISHED[looks]).max() < 0.003


def test_one_look_is_the_usual_test() -> None:
    for level in (0.8, 0.95, 0.99):
        assert look_limits((1.0,), level)[0] == pytest.approx(norm.ppf(0.5 + level / 2), abs=1e-6)
    assert spent(1.0, 0.95) == pytest.approx(0.025)


def test_first_limit_by_hand() -> None:
    for share in (0.3, 0.6):
        assert norm.sf(look_limits((share,), 0.95)[0]) == pytest.approx(
            spent(share, 0.95), rel=1e-6
        )


@pytest.mark.parametrize("shares", [(0.1, 0.35, 0.4, 1.0), (0.5, 0.502, 1.0), (0.02, 0.9, 1.0)])
def test_unequal_looks_spend_what_they_may(shares: tuple[float, ...]) -> None:
    # 400,000 paths: the standard error of a share of .05 is .00034.
    rng, limits = np.random.default_rng(1), look_limits(shares, 0.95)
    steps = rng.standard_normal((400_000, len(shares))) * np.sqrt(np.diff(shares, prepend=0.0))
    z = np.abs(np.cumsum(steps, axis=1)) / np.sqrt(shares)
    for k, share in enumerate(shares):
        beyond = (z[:, : k + 1] > limits[: k + 1]).any(axis=1).mean()
        assert beyond == pytest.approx(2 * spent(share, 0.95), abs=0.0015)


def test_later_looks_change_nothing_before_them() -> None:
    assert look_limits((0.2, 0.5), 0.95) == pytest.approx(look_limits((0.2, 0.5, 0.8), 0.95)[:2])


def test_information_of_a_finite_test_set() -> None:
    assert information(np.array([100.0]), 400)[0] == pytest.approx(1 / (1 / 100 - 1 / 400))
    assert np.isinf(information(np.array([400.0]), 400)[0])
    # With raters' noise alone every rating counts the same; with some of it the end is finite.
    assert information(np.array([100.0, 400.0]), 400, raters=1.0) == pytest.approx([100, 400])
    assert information(np.array([400.0]), 400, raters=0.1)[0] == pytest.approx(4000)


def test_shares_end_where_something_is_left_to_test() -> None:
    assert shares_of((100, 200), 400) == pytest.approx((1 / 3, 1.0))
    assert shares_of((200, 400), 400) == (1.0,)
    assert shares_of((400,), 400) == ()
    assert shares_of((200, 400), 400, raters=1.0) == pytest.approx((0.5, 1.0))


def test_sizes_are_equal_steps_to_the_end() -> None:
    assert planned_sizes(10, 3) == (4, 7, 10)
    assert planned_sizes(3, 5) == (1, 2, 3)


def test_shares_that_do_not_rise_are_refused() -> None:
    for shares in ((), (0.5, 0.5), (0.0, 1.0), (0.5, 1.2)):
        with pytest.raises(ValueError, match="shares of the information"):
            look_limits(shares, 0.95)
