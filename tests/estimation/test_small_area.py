"""The small-area model: against integration by brute force, a textbook's table, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special, stats

from assay.estimation.composite import (
    OWN_SLOPES,
    PRIOR_MISJUDGED,
    SLOPE,
    SLOPE_SD,
    TAU_TOP,
    Mixture,
    Slopes,
    composite,
    covariance_of_differences,
    fit_slopes,
    metric_signal,
    pair_differences,
    robust_critical_value,
    scores_of_differences,
    small_area,
)

# Eight schools (Rubin 1981): effects of coaching, their standard errors, and the medians of the
# posterior law as printed in Gelman et al., Bayesian Data Analysis (3rd edition), Table 5.3, from
# 200 draws: the same model without metrics, tau uniform.
EFFECTS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
PRINTED = np.array([10.0, 8, 7, 8, 5, 6, 10, 8])


def eight_schools() -> Mixture:
    zero = np.zeros(8)
    return small_area(EFFECTS, np.diag(ERRORS**2), zero, np.zeros((8, 8)), misjudged=0.0)


def test_eight_schools_as_printed() -> None:
    law = eight_schools()
    # Means lie a little above the medians where a law is skewed to the right.
    assert np.abs(law.weights @ law.means - PRINTED).max() < 2
    assert np.argsort(law.weights @ law.means)[-2:].tolist() in ([0, 6], [6, 0])


def test_eight_schools_by_integration() -> None:
    """Over mu and tau on a fine grid, theta given both in closed form (Gelman et al., eq. 5.20)."""
    tau = (np.arange(400) + 0.5) / 400 * 3 * EFFECTS.std(ddof=1)
    mu = np.linspace(-60, 80, 1401)
    spread = np.sqrt(ERRORS**2 + tau[:, None, None] ** 2)
    log = stats.norm.logpdf(EFFECTS, mu[None, :, None], spread).sum(axis=2)
    w = np.exp(log - log.max())
    w /= w.sum()
    pull = tau[:, None] ** 2 / (tau[:, None] ** 2 + ERRORS**2)
    means = pull[:, None, :] * EFFECTS + (1 - pull[:, None, :]) * mu[None, :, None]
    expected = (w[:, :, None] * means).sum(axis=(0, 1))
    law = eight_schools()
    assert law.weights @ law.means == pytest.approx(expected, abs=0.02)


def case() -> tuple[np.ndarray, np.ndarray, np.ndarray, Slopes]:
    """Four systems, two metrics, errors that are correlated over systems."""
    d = np.array([1.0, 0.2, -0.1, -1.1])
    root = np.array([[0.4, 0, 0, 0], [0.1, 0.3, 0, 0], [0.1, 0, 0.35, 0], [0, 0.1, 0.1, 0.5]])
    metrics = np.array([[0.5, 0.1], [0.4, -0.2], [-0.3, 0.2], [-0.6, -0.1]])
    return d, root @ root.T, metrics, Slopes(np.array([1.2, 0.4]), np.diag([0.02, 0.05]))


def test_a_small_case_by_brute_force() -> None:
    """Draws from the prior, weighted by the likelihood of the contrasts with the last system."""
    d, v, metrics, slopes = case()
    rng, draws = np.random.default_rng(3), 400_000
    z = metrics - metrics.mean(axis=0)
    wide = TAU_TOP * d.std(ddof=1)
    c = rng.normal(SLOPE, SLOPE_SD, (draws, 1))
    noise = np.sqrt(OWN_SLOPES) * rng.multivariate_normal([0, 0], slopes.covariance, draws)
    u = rng.uniform(0, wide, (draws, 1)) * rng.standard_normal((draws, 4))
    odd = rng.random(draws) < PRIOR_MISJUDGED
    who = rng.integers(0, 4, draws)
    u[np.arange(draws), who] += odd * rng.normal(0, wide, draws)
    theta = c * (z @ slopes.values) + noise @ z.T + u
    contrast = np.array([[1.0, 0, 0, -1], [0, 1, 0, -1], [0, 0, 1, -1]])
    law = stats.multivariate_normal(contrast @ d, contrast @ v @ contrast.T)
    w = law.pdf(theta @ contrast.T)
    w /= w.sum()
    error = 4 / np.sqrt(1 / (w**2).sum())  # four standard errors, from the effective draws
    found = composite(d, v, metrics, slopes)
    pairs = pair_differences(found, 0.95, 1e6)
    i, j = np.triu_indices(4, 1)
    gap = theta[:, i] - theta[:, j]
    mean = w @ gap
    assert pairs.difference == pytest.approx(mean, abs=error)
    assert pairs.sd == pytest.approx(np.sqrt(w @ (gap - mean) ** 2), abs=2 * error)
    # Not the mixture's own, but that of a normal law of the same mean and sd.
    assert pairs.probability == pytest.approx(w @ (gap > 0), abs=0.03)
    chances = [w @ (odd & (who == k)) for k in range(4)]
    assert found.misjudged == pytest.approx(chances, abs=error)


def test_labels_level_and_signs_of_metrics_do_not_matter() -> None:
    d, v, metrics, slopes = case()
    law = composite(d, v, metrics, slopes)
    order = np.array([2, 0, 3, 1])
    other = composite(d[order] + 7, v[np.ix_(order, order)], metrics[order], slopes)
    mean = law.weights @ law.means
    assert other.weights @ other.means - 7 == pytest.approx(mean[order])
    turned = Slopes(-slopes.values, slopes.covariance)
    same = composite(d, v, -metrics, turned)
    assert same.weights @ same.means == pytest.approx(mean)


def test_sure_ratings_need_no_help() -> None:
    d, v, metrics, slopes = case()
    law = composite(d, 1e-6 * v, metrics, slopes)
    assert law.weights @ law.means == pytest.approx(d, abs=1e-3)


def test_a_misjudged_system_is_found() -> None:
    rng = np.random.default_rng(4)
    metrics = rng.standard_normal((12, 1))
    d = SLOPE * metrics[:, 0] + 0.1 * rng.standard_normal(12)
    d[1] += 2
    slopes = Slopes(np.ones(1), np.full((1, 1), 1e-4))
    law = composite(d, 0.01 * np.eye(12), metrics, slopes)
    assert law.misjudged.argmax() == 1
    assert law.misjudged[1] > 0.95


def test_slopes_are_those_of_a_regression_with_effects_of_segments_and_systems() -> None:
    rng = np.random.default_rng(5)
    z = rng.standard_normal((4, 30, 2))
    x = z @ np.array([2.0, -1.0]) + 5 * rng.standard_normal(30) + rng.standard_normal((4, 30))
    x[rng.random((4, 30)) < 0.2] = np.nan
    known = np.isfinite(x)
    system, segment = np.nonzero(known)
    design = np.column_stack([z[known], np.eye(30)[segment], np.eye(4)[system]])
    expected = np.linalg.lstsq(design, x[known], rcond=None)[0][:2]
    assert fit_slopes(x, z, ridge=1e-9).values == pytest.approx(expected, abs=1e-6)


def test_the_covariance_of_slopes_is_their_spread() -> None:
    rng = np.random.default_rng(6)
    z = rng.standard_normal((5, 60, 1))
    spread = 1 + np.abs(z[..., 0])
    fits = [fit_slopes(spread * rng.standard_normal((5, 60)), z) for _ in range(400)]
    seen = np.var([fit.values[0] for fit in fits])
    stated = np.mean([fit.covariance[0, 0] for fit in fits])
    assert stated == pytest.approx(seen, rel=0.25)  # 400 runs: 7 % standard error


def test_the_signal_of_noise_is_about_one() -> None:
    rng = np.random.default_rng(7)
    z = rng.standard_normal((6, 50, 3))
    means = rng.standard_normal((6, 3))
    x = rng.standard_normal((300, 6, 50))
    found = [metric_signal(means, fit_slopes(one, z)) for one in x]
    assert 0.7 < np.mean(found) < 1.3
    assert np.mean(np.array(found) > 2) < 0.2
    told = [metric_signal(means, fit_slopes(one + z.sum(axis=2), z)) for one in x[:20]]
    assert min(told) > 20


def test_scores_and_covariance_fit_differences() -> None:
    d, v, _, _ = case()
    assert scores_of_differences(d[:, None] - d) == pytest.approx(d - d.mean())
    variance = np.diag(v)[:, None] + np.diag(v) - 2 * v
    found = covariance_of_differences(variance, n=1e9)
    back = np.diag(found)[:, None] + np.diag(found) - 2 * found
    assert back == pytest.approx(variance)
    round_ = covariance_of_differences(variance, n=2)
    back = np.diag(round_)[:, None] + np.diag(round_) - 2 * round_
    off = ~np.eye(4, dtype=bool)
    assert back[off] == pytest.approx(variance[off].mean())


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("ratio", [0.05, 0.7, 4.0])
def test_the_robust_critical_value_by_linear_programming(ratio: float, level: float) -> None:
    """The worst law of the bias among all on a grid, by the simplex method."""
    chi = robust_critical_value(ratio, level)
    t = np.r_[np.linspace(0, 60, 1500), np.geomspace(61, 1000, 200)]
    missed = special.ndtr(-chi - np.sqrt(t)) + special.ndtr(-chi + np.sqrt(t))
    worst = optimize.linprog(
        -missed, A_eq=np.vstack([np.ones_like(t), t]), b_eq=[1, ratio], bounds=(0, 1)
    )
    assert -worst.fun == pytest.approx(1 - level, abs=2e-4)


def test_without_bias_the_critical_value_is_that_of_the_normal_law() -> None:
    # As in the tests of the R package ebci: cva(B=0, kappa=Inf) is qnorm(0.975).
    assert robust_critical_value(0.0, 0.95) == pytest.approx(1.959964, abs=1e-5)
