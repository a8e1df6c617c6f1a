"""The pooled test: against plain least squares, and by its errors in simulated campaigns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import assay
from assay.ranking.counts import JudgmentUnits, count, evidence
from assay.ranking.pairs import (
    by_pooled_test,
    fit_check,
    pooled_counts,
    pooled_judgments,
    pooled_strengths,
    pooled_test,
)
from assay.ranking.uncertainty import Rule, Unseen

SETS, PER_SET = 400, 5


def campaigns(
    means: np.ndarray, sigma: float, sets: int, runs: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Screens of five systems with normal qualities: left, right, outcome, screen."""
    n = len(means)
    systems = rng.permuted(np.broadcast_to(np.arange(n), (runs, sets, n)), axis=2)[..., :PER_SET]
    quality = means[systems] + sigma * rng.standard_normal(systems.shape)
    i, j = np.triu_indices(PER_SET, 1)
    left, right = (systems[..., k].reshape(runs, -1) for k in (i, j))
    outcome = np.sign(quality[..., i] - quality[..., j]).reshape(runs, -1)
    return left, right, outcome, np.repeat(np.arange(sets), len(i))


def test_against_plain_least_squares() -> None:
    rng = np.random.default_rng(1)
    left, right, outcome, block = campaigns(np.linspace(0, 5, 7), 10, 60, 3, rng)
    test = pooled_test(left, right, outcome, block, 7)
    for k in range(3):
        design = np.zeros((left.shape[1], 7))
        rows = np.arange(left.shape[1])
        design[rows, left[k]] += 1
        design[rows, right[k]] -= 1
        strength = np.linalg.lstsq(design, outcome[k], rcond=None)[0]
        assert test.strength[k] == pytest.approx(strength)
        residual = outcome[k] - design @ strength
        scores = np.array([(design * residual[:, None])[block == g].sum(axis=0) for g in range(60)])
        inverse = np.linalg.pinv(design.T @ design)
        cover = inverse @ scores.T @ scores @ inverse * 60 / 59
        assert test.stderr[k, 1, 4] ** 2 == pytest.approx(
            cover[1, 1] + cover[4, 4] - 2 * cover[1, 4]
        )
        alone = pooled_test(left[k], right[k], outcome[k], block, 7)
        assert alone.p == pytest.approx(test.p[k])


def test_counts_are_enough_where_every_judgment_stands_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    drawn = campaigns(np.arange(6.0), 8, 50, 1, rng)
    left, right, outcome = drawn[0][0], drawn[1][0], drawn[2][0]
    outcome = np.where(rng.random(len(outcome)) < 0.2, 0, outcome)
    wins, ties = np.zeros((6, 6)), np.zeros((6, 6))
    np.add.at(wins, (left[outcome > 0], right[outcome > 0]), 1)
    np.add.at(wins, (right[outcome < 0], left[outcome < 0]), 1)
    np.add.at(ties, (left[outcome == 0], right[outcome == 0]), 1)
    ties += ties.T
    block = np.arange(len(left))
    one, other = pooled_counts(wins, ties), pooled_test(left, right, outcome, block, 6)
    assert one.strength == pytest.approx(other.strength)
    assert one.strength == pytest.approx(pooled_strengths(wins, ties))
    # The variance from counts has games/(games - 1) for the untied ones, which is all but 1.
    assert one.stderr == pytest.approx(other.stderr, rel=1e-3)
    monkeypatch.setattr("assay.ranking.pairs.MAX_DENSE", 0)
    assert pooled_test(left, right, outcome, block, 6).p == pytest.approx(other.p)


def test_without_differences_it_errs_as_often_as_it_says() -> None:
    """200 campaigns of 15 equal systems; 105 dependent pairs each, so sd of the rate is .005."""
    drawn = campaigns(np.zeros(15), 10, SETS, 200, np.random.default_rng(3))
    p = pooled_test(*drawn, 15).p
    i, j = np.triu_indices(15, 1)
    assert np.mean(p[:, i, j] < 0.05) == pytest.approx(0.05, abs=0.012)
    wins = np.zeros((200, 15, 15))
    run = np.broadcast_to(np.arange(200)[:, None], drawn[0].shape)
    first, second = (np.where(drawn[2] > 0, a, b) for a, b in (drawn[:2], drawn[1::-1]))
    np.add.at(wins, (run, first, second), 1)
    # Taken for independent, the ten pairs of a screen make it err far too often.
    assert np.mean(pooled_counts(wins).p[:, i, j] < 0.05) > 0.1


def test_it_decides_more_pairs_than_sign_tests() -> None:
    from assay.ranking.pairs import sign_test

    means = np.linspace(0, 10, 15)
    drawn = campaigns(means, 10, 1000, 20, np.random.default_rng(4))
    wins = np.zeros((20, 15, 15))
    run = np.broadcast_to(np.arange(20)[:, None], drawn[0].shape)
    first, second = (np.where(drawn[2] > 0, a, b) for a, b in (drawn[:2], drawn[1::-1]))
    np.add.at(wins, (run, first, second), 1)
    pooled = (pooled_test(*drawn, 15).p < 0.05).sum(axis=(1, 2)).mean()
    signs = (sign_test(wins) < 0.05).sum(axis=(1, 2)).mean()
    assert pooled > 1.25 * signs


def test_the_fit_is_rejected_as_often_as_it_should_be_and_where_it_must() -> None:
    """Five systems on a scale: 150 campaigns, sd of the rate .018; then A > B > C > A."""
    rng = np.random.default_rng(5)
    left, right, outcome, block = campaigns(np.zeros(7), 10, 200, 150, rng)
    p = np.array([_fit(*part, block).p for part in zip(left, right, outcome, strict=True)])
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=0.05)
    assert np.mean(p < 0.5) == pytest.approx(0.5, abs=0.13)
    i, j = np.triu_indices(3, 1)
    left, right = np.tile(i, 300), np.tile(j, 300)
    favoured = np.where((left == 0) & (right == 2), -1, 1)
    outcome = np.where(rng.random(900) < 0.75, favoured, -favoured)
    found = fit_check(left, right, outcome, np.arange(900) // 3, 3)
    assert found is not None
    assert found.p < 1e-6
    assert found.misfit == pytest.approx(0.25, abs=0.05)
    assert found.observed[0, 2] == pytest.approx(0.25, abs=0.08)
    assert found.expected[0, 2] == pytest.approx(0.5, abs=0.08)


def test_one_circle_on_every_screen_is_a_t_test() -> None:
    """What cannot be on one scale is the sum of A over B, B over C and C over A."""
    outcome = np.random.default_rng(5).choice([-1, 1], (14, 3))
    left, right = np.tile([0, 1, 2], 14), np.tile([1, 2, 0], 14)
    found = fit_check(left, right, outcome.ravel(), np.repeat(np.arange(14), 3), 3)
    test = stats.ttest_1samp(outcome.sum(axis=1), 0)
    assert found is not None
    assert (found.f, found.p) == pytest.approx((test.statistic**2, test.pvalue))


def test_numbers_of_blocks_without_a_judgment_do_not_count() -> None:
    rng = np.random.default_rng(3)
    left, right = np.tile([0, 0, 1], 8), np.tile([1, 2, 2], 8)
    outcome, block = rng.choice([-1, 1], 24), np.repeat(np.arange(8), 3)
    one, other = (pooled_test(left, right, outcome, k * block, 3) for k in (1, 2))
    assert other.stderr == pytest.approx(one.stderr)
    assert other.p == pytest.approx(one.p)


def _fit(left: np.ndarray, right: np.ndarray, outcome: np.ndarray, block: np.ndarray):  # type: ignore[no-untyped-def]
    found = fit_check(left, right, outcome, block, 7)
    assert found is not None
    return found


def test_no_circle_or_few_blocks_leave_nothing_to_check() -> None:
    left, right, outcome = np.array([0, 1] * 20), np.array([1, 2] * 20), np.tile([1, -1], 20)
    assert fit_check(left, right, outcome, np.arange(40), 3) is None
    left, right = np.array([0, 1, 0] * 5), np.array([1, 2, 2] * 5)
    assert fit_check(left, right, np.ones(15), np.arange(15) // 8, 3) is None


def test_tastes_widen_the_pooled_test_by_their_root(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = count(assay.simulate_judgments(4, 200, per_set=4, rng=1))
    units = JudgmentUnits("judgment", None, 200, ())
    z = pooled_judgments(judged, None).z
    monkeypatch.setattr("assay.ranking.pairs.find_unseen", lambda *_: Unseen(None, 0.44, 6))
    found = by_pooled_test(judged, units, "drop", Rule(0.95, 1, False))
    blocks = evidence(judged, None, "drop")
    degrees = min(1.44**2 / (1 / (blocks[k] - 1) + 0.44**2 / 5) for k in (0, 1))
    assert found.p[0, 1] == pytest.approx(stats.t.sf(z[0, 1] / 1.2, degrees))
