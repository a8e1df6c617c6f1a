"""The expected share of significant pairs, against the paper, brute force and simulation."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import stats

from assay.ranking.pairs import pooled_test, sign_test
from assay.ranking.power import (
    critical_wins,
    judgments_for,
    pooled_share,
    sign_share,
    sign_share_exact,
)
from assay.stats.random import as_rng
from assay.worlds.judgments import draw_qualities, draw_sets, win_counts

# koehn2012, Table 4: thousands of judgments for 50, 70, 80, 90 % significant pairs.
TABLE4 = {
    (6, 8): (1, 4, 8, 30), (6, 10): (2, 5, 10, 45), (6, 12): (2, 7, 20, 60),
    (8, 8): (2, 6, 14, 60), (8, 10): (3, 8, 20, 90), (8, 12): (4, 14, 35, 140),
    (10, 8): (4, 10, 25, 100), (10, 10): (5, 16, 40, 150), (10, 12): (6, 20, 50, 200),
    (12, 8): (5, 15, 35, 140), (12, 10): (7, 25, 60, 250), (12, 12): (9, 35, 80, 350),
    (15, 8): (8, 25, 50, 200), (15, 10): (12, 40, 80, 350), (15, 12): (15, 50, 120, 500),
}  # fmt: skip


def test_table_4_of_the_paper() -> None:
    """The ratio reached at the paper's (rounded) numbers of judgments."""
    reached = np.array(
        [[sign_share_exact(n, s, 1000 * J) for J in row] for (n, s), row in TABLE4.items()]
    )
    off = np.abs(reached - [0.5, 0.7, 0.8, 0.9])
    assert off[:, 1].max() < 0.06
    assert off[:, 2:].max() < 0.02
    # One cell (10 systems, sigma 8, printed 4k) is .0608 off; the grid there is in steps of 1k.
    assert off[:, 0].max() < 0.061
    assert (off[:, 0] < 0.0601).sum() == 14
    np.testing.assert_allclose(reached.mean(axis=0), [0.520, 0.711, 0.805, 0.900], atol=0.001)


def test_exact_by_enumeration() -> None:
    """Two systems shown together in every set: one binomial, integrated by brute force."""
    m, sigma = 30, 4.0
    d = (np.arange(20_000) + 0.5) / 2000
    p = stats.norm.cdf(d / (sigma * np.sqrt(2)))
    x = next(x for x in range(m + 1) if stats.binom.sf(x - 1, m, 0.5) <= 0.05)
    rejects = stats.binom.sf(x - 1, m, p) + stats.binom.cdf(m - x, m, p)
    expected = float(np.sum(rejects * 2 * (1 - d / 10) / 10) / 2000)
    assert sign_share_exact(2, sigma, m, per_set=2) == pytest.approx(expected, abs=1e-6)


def test_critical_wins_against_scipy() -> None:
    N = np.arange(1, 1500)
    for level in (0.05, 0.01):
        x = critical_wins(N, level)
        assert (stats.binom.sf(x - 1, N, 0.5) <= level).all()
        assert (stats.binom.sf(x - 2, N, 0.5) > level).all()


@pytest.mark.parametrize("n", [2, 4, 6, 15, 30])
@pytest.mark.parametrize("sigma", [3.0, 10.0, 20.0])
def test_the_fast_form_is_within_two_percent_of_the_judgments(n: int, sigma: float) -> None:
    k = min(5, n)
    screen = k * (k - 1) // 2
    for J in np.geomspace(200, 400_000, 8):
        J = screen * round(J / screen)
        exact = sign_share_exact(n, sigma, J, per_set=k)
        if sign_share(n, sigma, J, per_set=k) == exact:
            continue
        shares = [sign_share(n, sigma, J * f, per_set=k) for f in (0.98, 1.02)]
        assert shares[0] - 1e-3 <= exact <= shares[1] + 1e-3


def test_inverse() -> None:
    for test, share in (("sign", sign_share), ("pooled", pooled_share)):
        for target in (0.5, 0.8):
            J = judgments_for(target, 12, 9.0, test=test)
            assert share(12, 9.0, J) == pytest.approx(target, abs=1e-3)
    assert judgments_for(0.9999, 12, 9.0) == float("inf")
    assert judgments_for(0.01, 3, 0.1, per_set=3) >= 3


def test_a_plan_takes_a_moment() -> None:
    judgments_for(0.8, 15, 10.0)
    start = time.process_time()
    judgments_for(0.8, 15, 10.01)
    assert time.process_time() - start < 0.05


def test_simulated_sign_tests() -> None:
    """Monte-Carlo sd of the mean share below .007; campaigns vary by about .09."""
    rng = as_rng(3)
    mu = draw_qualities(200, 8, rng)
    wins = win_counts(mu, [300, 1500], rng)
    shares = (sign_test(wins) <= 0.05).sum(axis=(2, 3)).mean(axis=0) / 28
    for found, J in zip(shares, (3000, 15_000), strict=True):
        assert found == pytest.approx(sign_share_exact(8, 10.0, J), abs=0.028)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "J"), [(6, 6000), (15, 5000), (15, 20_000)])
def test_simulated_pooled_tests(n: int, J: int) -> None:
    """Four Monte-Carlo sd at 150 campaigns: .03 for 6 systems, .02 for 15."""
    rng = as_rng(4)
    i, j = np.triu_indices(5, 1)
    shares = []
    for mu in draw_qualities(150, n, rng):
        shown = draw_sets(J // 10, n, 5, rng)
        q = mu[shown] + 10 * rng.standard_normal(shown.shape)
        y = np.sign(q[:, i] - q[:, j]).ravel()
        block = np.repeat(np.arange(J // 10), 10)
        test = pooled_test(shown[:, i].ravel(), shown[:, j].ravel(), y, block, n)
        shares.append((test.p <= 0.05).sum() / (n * (n - 1) / 2))
    assert np.mean(shares) == pytest.approx(pooled_share(n, 10.0, J), abs=0.03 if n == 6 else 0.02)
