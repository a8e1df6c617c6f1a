"""Severities taken off the ratings are estimates: their error counts, and scores stay possible."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest
from scipy import stats

from assay.estimation.estimate import estimate
from assay.estimation.severity import remove_severity, without_severity
from assay.results import has_note
from assay.stats.effects import rater_effects
from assay.tables.tables import Ratings, TestSet, read_ratings, read_scores

SEVERITY = np.array([-1.2, -0.8, -0.2, 0.2, 0.8, 1.2])
DOCUMENTS, LENGTH = 30, 6


def campaign(rng: np.random.Generator, doubled: float) -> tuple[TestSet, Ratings, dict[str, float]]:
    """Six systems, each rated mostly by a rater of its own, some documents by two raters.

    The truth is what the average rater would say, on all segments.
    """
    k, n = len(SEVERITY), DOCUMENTS * LENGTH
    document = np.repeat(np.arange(DOCUMENTS), LENGTH)
    level = np.linspace(3, 5, k)[:, None] + rng.normal(0, 0.8, n) + rng.normal(0, 0.5, (k, n))
    rows, given = [], np.zeros(k)
    for s in range(k):
        likely = np.where(np.arange(k) == s, 0.8, 0.04)
        for d in range(DOCUMENTS):
            here = np.flatnonzero(document == d)
            number = 1 + int(rng.random() < doubled)
            for r in rng.choice(k, number, replace=False, p=likely):
                taste = rng.normal(0, 0.5) + rng.normal(0, 1, LENGTH)
                scores = level[s, here] + SEVERITY[r] + taste
                given[r] += LENGTH
                rows += [(f"s{s}", f"d{d}", f"{g}", f"r{r}", x)
                         for g, x in zip(here, scores, strict=True)]  # fmt: skip
    names = ["system", "doc", "seg", "rater", "score"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    test_set = read_scores(frame.select(names[:3]).unique(maintain_order=True))
    average = float(given @ SEVERITY / given.sum())
    truth = {f"s{s}": float(level[s].mean()) + average for s in range(k)}
    return test_set, read_ratings(frame, test_set), truth


def covered(draws: int) -> Iterator[tuple[list[bool], list[bool]]]:
    for seed in range(draws):
        test_set, ratings, truth = campaign(np.random.default_rng(seed), 0.2)
        result = estimate(test_set, ratings, remove_severity=True)
        scores = sorted(result.systems, key=lambda item: item.system)
        yield (
            [item.low <= truth[item.system] <= item.high for item in scores],
            [item.low <= truth[item.left] - truth[item.right] <= item.high
             for item in result.differences],
        )  # fmt: skip


def test_intervals_hold_where_each_system_has_raters_of_its_own() -> None:
    """40 draws of 6 scores that move together: a coverage of .95 has an error of about .02.

    With severities taken as known it was .67, .64 for the worst system (200 draws).
    """
    scores, differences = (np.array(rows) for rows in zip(*covered(40), strict=True))
    assert scores.mean() > 0.88
    assert scores.mean(axis=0).min() > 0.8
    assert differences.mean() > 0.88


def test_covariance_of_two_raters_by_hand() -> None:
    """Two raters of four outputs in two tasks: sums of what they differ by, over two, squared."""
    first, second = np.array([1.0, 2.0, 4.0, 3.0]), np.array([3.0, 3.0, 4.0, 6.0])
    values, units = np.concatenate([first, second]), np.tile(np.arange(4), 2)
    raters, tasks = np.repeat([0, 1], 4), np.tile([0, 0, 1, 1], 2)
    fit = rater_effects(values, units, raters, units, tasks=tasks)
    assert fit.effects == pytest.approx([-0.75, 0.75])
    # Too few tasks for residuals: the differences themselves, 3 and 3 in tasks of two outputs.
    v = (3**2 + 3**2) / 2 / 4
    # An effect is half of a mean of four differences, of variance 2 v each.
    assert np.diag(fit.covariance) == pytest.approx([v / 8, v / 8])
    assert fit.covariance[0, 1] == pytest.approx(-v / 8)


def test_two_raters_of_many_outputs_are_compared_by_the_paired_t_test() -> None:
    """Where every output is a task, and one degree of freedom goes to the difference."""
    first, second = np.random.default_rng(4).normal(size=(2, 6))
    units, raters = np.tile(np.arange(6), 2), np.repeat([0, 1], 6)
    fit = rater_effects(np.concatenate([first, second]), units, raters, units, tasks=units)
    variance = fit.covariance[0, 0] + fit.covariance[1, 1] - 2 * fit.covariance[0, 1]
    test = stats.ttest_rel(first, second)
    t = (fit.effects[0] - fit.effects[1]) / np.sqrt(variance)
    assert (t, fit.degrees) == pytest.approx((test.statistic, test.df))
    # The sandwich over units: an effect is half of the mean difference.
    assert fit.stderr == pytest.approx([stats.sem(first - second) / 2] * 2)


def test_outputs_of_one_rater_add_no_degrees() -> None:
    """In every task two raters did one output, and a third did another alone."""
    values = np.random.default_rng(4).normal(size=18)
    task, rater = np.tile(np.arange(6), 3), np.repeat([0, 1, 2], 6)
    unit = np.where(rater == 2, task + 6, task)
    fit = rater_effects(values, unit, rater, task, tasks=task)
    pair = rater_effects(values[:12], unit[:12], rater[:12], task[:12])
    assert fit.degrees == pair.degrees == 5
    assert fit.covariance[:2, :2] == pytest.approx(pair.covariance)


def test_raters_who_all_rate_everything_add_nothing() -> None:
    rng = np.random.default_rng(1)
    rows = [
        (f"s{s}", f"d{k // 4}", f"{k}", f"r{r}", s + r + rng.normal())
        for s in range(2) for k in range(40) for r in range(3)
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["system", "doc", "seg", "rater", "score"], orient="row")
    test_set = read_scores(frame.select("system", "doc", "seg").unique(maintain_order=True))
    ratings = read_ratings(frame, test_set)
    _, error = without_severity(test_set, ratings)
    weight = np.full(40, 1 / 40)
    assert error.variance(error.shares(0, weight)) == pytest.approx(0, abs=1e-12)
    before, after = (
        estimate(test_set, ratings, remove_severity=fair, target="texts") for fair in (False, True)
    )
    for one, two in zip(before.systems, after.systems, strict=True):
        assert one.stderr == pytest.approx(two.stderr)


@pytest.mark.parametrize("limits", [None, (0.0, 25.0)])
def test_scores_stay_possible(limits: tuple[float, float] | None) -> None:
    """A good system that only a severe rater saw does not fall below 0."""
    rng = np.random.default_rng(2)
    rows = [("bad", k, "mild", float(rng.poisson(2))) for k in range(30)]
    rows += [("bad", k, "severe", float(rng.poisson(5))) for k in range(20)]
    rows += [("good", k, "severe", float(rng.poisson(0.3))) for k in range(30)]
    frame = pl.DataFrame(rows, schema=["system", "seg", "rater", "score"], orient="row")
    test_set = read_scores(frame.select("system", "seg").unique(maintain_order=True))
    ratings = read_ratings(frame, test_set, better="lower", range=limits)
    fair = remove_severity(test_set, ratings)
    assert has_note(fair.notes, "severity-shrunk")
    assert fair.frame["score"].mean() == pytest.approx(ratings.frame["score"].mean())
    result = estimate(test_set, ratings, remove_severity=True)
    assert min(item.estimate for item in result.systems) >= -1e-9
    # Scores that may be negative have no such limit.
    free = read_ratings(frame.with_columns(pl.col("score") - 3), test_set, better="lower")
    assert not has_note(remove_severity(test_set, free).notes, "severity-shrunk")


@pytest.mark.parametrize(("tasks", "degrees"), [(3, 3), (4, 3), (5, 4)])
def test_degrees_of_two_raters_of_the_same_tasks(tasks: int, degrees: int) -> None:
    """One contrast per task less the effect; with only two left, the contrasts themselves."""
    task, rater = np.divmod(np.arange(2 * tasks), 2)
    values = np.random.default_rng(1).normal(size=2 * tasks)
    assert rater_effects(values, task, rater, task).degrees == degrees
