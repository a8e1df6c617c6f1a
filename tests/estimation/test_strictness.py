"""Raters as a whole may be strict or mild: scores carry that, differences do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import sparse, stats

import assay
from assay.estimation import overlap
from assay.estimation.overlap import (
    CLEAR_TASTE,
    Answers,
    SeverityVariance,
    lasting_taste,
    severity_variance,
)
from assay.estimation.results import Estimates
from assay.estimation.severity import without_severity
from assay.estimation.study import make_study
from assay.results import has_note
from assay.tables.tables import Ratings, TestSet, read_ratings, read_scores
from assay.views.section import section_of

DOCUMENTS, LENGTH, SYSTEMS = 40, 5, 3


def found_in(x: np.ndarray, task: np.ndarray) -> SeverityVariance:
    """Of raters x systems x segments, NaN where nothing was said."""
    rater, system, segment = (values[~np.isnan(x)] for values in np.indices(x.shape))
    found = severity_variance(Answers(x[~np.isnan(x)], system, segment, task[segment], rater))
    assert found is not None
    return found


def test_a_variance_is_not_negative() -> None:
    """Two raters, each stricter in one of two tasks: |sum d|^2 - sum |d|^2 is below 0."""
    x = np.array([[[2.0, 2.0, 0.0, 0.0]], [[0.0, 0.0, 2.0, 2.0]]])
    assert found_in(x, np.array([0, 0, 1, 1])).variance == 0


def test_a_variance_is_at_most_what_raters_of_one_task_differ_by() -> None:
    """Raters whose own tasks are of another level, and who differ by 1 where both rated.

    The limit is the upper end of a 95% interval: deviations of 1/2 in four tasks with one contrast
    each, with a mean square of 8 (1/2)^2 / 4.
    """
    x = np.full((2, 1, 404), np.nan)
    x[0, 0, :4], x[1, 0, :4] = 50.0, [51.0, 49.0, 51.0, 49.0]
    x[0, 0, 4:204], x[1, 0, 204:] = 45.0, 55.0
    most = 4 * 0.5 / stats.chi2.ppf(0.05, 4)
    assert found_in(x, np.arange(404)).variance == pytest.approx(most)


def dealt(
    rng: np.random.Generator, raters: int, severity: float, doubled: int, *, alone: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Raters x systems x segments of documents dealt at random, some to two; documents; truth.

    With ``alone``, what each rater's first documents are harder by than the others.
    """
    document = np.repeat(np.arange(DOCUMENTS), LENGTH)
    first = rng.permutation(np.arange(DOCUMENTS) % raters)
    x = rng.normal(0, 1, (SYSTEMS, len(document))) + rng.normal(0, 0.7, DOCUMENTS)[document]
    x = x + alone * first[document]
    answers = x + rng.normal(0, severity, (raters, 1, 1))
    answers = answers + rng.normal(0, 0.4, (raters, 1, DOCUMENTS))[:, :, document]
    answers = answers + rng.normal(0, 1, answers.shape)
    second = (first + rng.integers(1, raters, DOCUMENTS)) % raters
    second[rng.permutation(DOCUMENTS)[doubled:]] = -1
    who = np.arange(raters)[:, None]
    mine = (first == who) | (second == who)
    answers[~np.broadcast_to(mine[:, None, document], answers.shape)] = np.nan
    return answers, document, x.mean(axis=1)


def tables(answers: np.ndarray, document: np.ndarray) -> tuple[TestSet, Ratings]:
    rater, system, segment = (values[~np.isnan(answers)] for values in np.indices(answers.shape))
    frame = pl.DataFrame({
        "system": [f"s{k}" for k in system], "doc": document[segment], "seg": segment,
        "rater": [f"r{k}" for k in rater], "score": answers[~np.isnan(answers)],
    })  # fmt: skip
    test_set = read_scores(frame.select("system", "doc", "seg").unique(maintain_order=True))
    return test_set, read_ratings(frame, test_set)


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 5, 4), (40, 3, 60)])
def test_products_of_sparse_matrices_are_those_of_scipy(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(1)
    pairs = [(shape[0], shape[1]), (shape[1], shape[2])]
    known = [sparse.random_array(pair, density=0.4, rng=rng).tocoo() for pair in pairs]
    ours = [overlap._Matrix(*one.coords, one.data) for one in known]
    product, group = ours[0] @ ours[1], rng.integers(0, 3, max(shape))
    dense = np.zeros((shape[0], shape[2]))
    dense[product.row, product.column] = product.value
    assert dense == pytest.approx((known[0] @ known[1]).toarray())
    again = product.gathered(group)
    assert again.value.sum() == pytest.approx(dense.sum())
    assert len(again.value) <= 9
    assert product.transposed().squares() == pytest.approx((dense**2).sum())


class TestVariance:
    def test_crossed_raters_are_the_two_way_analysis_of_variance(self) -> None:
        rng, tasks = np.random.default_rng(1), 7
        x = rng.normal(0, 2, (5, 1, 1)) + rng.normal(size=(5, 3, 4 * tasks))
        sums = x.reshape(5, 3, tasks, 4).mean(axis=3)
        by_hand = []
        for y in sums.transpose(1, 0, 2):
            d = y - y.mean(axis=0)
            between = tasks * (d.mean(axis=1) ** 2).sum() / 4
            rest = ((d - d.mean(axis=1, keepdims=True)) ** 2).sum() / (4 * (tasks - 1))
            by_hand.append((between - rest) / tasks)
        found = found_in(x, np.repeat(np.arange(tasks), 4))
        assert found.variance == pytest.approx(np.mean(by_hand))
        assert found.degrees == pytest.approx(4)

    @pytest.mark.parametrize("raters", [3, 8])
    def test_about_right_from_few_doubled_tasks(self, raters: int) -> None:
        # 150 runs; the Monte-Carlo error of the mean is about 4 sqrt(2 / (2 x 150)) = .33.
        rng = np.random.default_rng(2)
        found = [found_in(*dealt(rng, raters, 2.0, 6)[:2]).variance for _ in range(150)]
        assert np.mean(found) == pytest.approx(4, abs=0.9)

    def test_tasks_that_were_not_dealt_at_random_do_not_pass_for_severity(self) -> None:
        # Everybody has harder documents than the one before: levels differ by 3 and more.
        rng = np.random.default_rng(3)
        found = [found_in(*dealt(rng, 4, 0.0, 12, alone=3.0)[:2]).variance for _ in range(20)]
        assert np.mean(found) < 1.5

    def test_groups_of_raters_that_share_nothing(self) -> None:
        rng = np.random.default_rng(4)
        answers, document, _ = dealt(rng, 4, 0.0, 0)
        severity = np.array([-3.0, 3.0, -3.0, 3.0])[:, None, None]
        whole = rng.normal(size=answers.shape) + severity
        pairs = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], DOCUMENTS // 2, axis=0).T.astype(bool)
        answers = np.where(pairs[:, None, document], whole, np.nan)
        found = found_in(answers, document)
        assert 9 < found.variance < 27
        assert 1 <= found.degrees <= 3


class TestScores:
    def test_differences_ranks_and_verdicts_do_not_move(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answers, document, _ = dealt(np.random.default_rng(5), 4, 2.0, 8)
        apart = answers.copy()
        apart[:, 0, : len(document) // 2] = np.nan
        apart[:, 1, len(document) // 2 :] = np.nan
        none = SeverityVariance(0.0, 1.0)
        for given in (answers, apart):
            now = assay.estimate(*tables(given, document))
            with monkeypatch.context() as patch:
                patch.setattr(overlap, "severity_variance", lambda *_: none)
                before = assay.estimate(*tables(given, document))
            assert now.differences == before.differences
            assert now.stable == before.stable
            for one, other in zip(now.systems, before.systems, strict=True):
                assert one.severity_stderr > 0 == other.severity_stderr
                assert one.high - one.low > other.high - other.low
                parts = other.stderr**2 + one.severity_stderr**2
                assert one.stderr**2 == pytest.approx(parts)
                same = ("rank", "low_rank", "high_rank", "cluster", "estimate")
                assert all(getattr(one, name) == getattr(other, name) for name in same)

    def test_everybody_did_one_task(self) -> None:
        # A crowd: severity is in the variance over tasks, and next to nothing is added.
        rng = np.random.default_rng(6)
        document = np.repeat(np.arange(10), 4)
        answers = np.full((20, 2, 40), np.nan)
        for rater in range(20):
            here = document == rater % 10
            answers[rater][:, here] = rng.normal(rng.normal(0, 3), 1, (2, 4))
        result = assay.estimate(*tables(answers, document))
        assert result.target == "raters"
        assert all(3 * item.severity_stderr < item.stderr for item in result.systems)

    def test_two_raters_are_told_why_scores_are_wide(self) -> None:
        answers, document, _ = dealt(np.random.default_rng(7), 2, 2.0, 8)
        result = assay.estimate(*tables(answers, document))
        assert has_note(result.notes, "few-raters")
        assert "A stricter pool would shift all systems alike" in section_of(result).lead
        assert "have more raters" in " ".join(result.next)
        many = assay.estimate(*tables(*dealt(np.random.default_rng(7), 6, 2.0, 8)[:2]))
        assert not has_note(many.notes, "few-raters")

    def test_an_old_result_is_still_read(self) -> None:
        answers, document, _ = dealt(np.random.default_rng(8), 4, 2.0, 8)
        old = assay.estimate(*tables(answers, document)).to_dict()
        for item in old["systems"]:
            del item["severity_stderr"]
        read = Estimates.from_dict(old)
        assert all(item.severity_stderr == 0 for item in read.systems)

    def test_groups_carry_it_too(self) -> None:
        answers, document, _ = dealt(np.random.default_rng(9), 4, 3.0, 8)
        result = assay.estimate(*tables(answers, document), by="document")
        assert result.breakdown is not None
        one = [item for item in result.breakdown.estimates if item.group == "0"]
        # A document is one task, which a rater of severity 3 may do, or two.
        assert all(1 < item.stderr < 6 for item in one)

    def test_removed_severities_leave_their_mean(self) -> None:
        answers, document, _ = dealt(np.random.default_rng(10), 4, 3.0, 20)
        test_set, ratings = tables(answers, document)
        fair = assay.estimate(test_set, ratings, remove_severity=True)
        plain = assay.estimate(test_set, ratings)
        _, error = without_severity(test_set, ratings)
        assert error.found is not None
        expected = np.sqrt(error.found.variance * (error.left[0] ** 2).sum())
        for one, other in zip(fair.systems, plain.systems, strict=True):
            assert one.severity_stderr == pytest.approx(expected)
            assert one.severity_stderr == pytest.approx(other.severity_stderr, rel=0.2)
            assert one.stderr < other.stderr


class TestLastingTaste:
    def test_by_hand(self) -> None:
        # Two raters of three tasks, two systems: their differences of systems are 2, 4 and 3 apart.
        x = np.zeros((2, 2, 3))
        x[0, 0], x[1] = [2.0, 4.0, 3.0], 7.0
        rater, system, segment = (values.ravel() for values in np.indices(x.shape))
        found = lasting_taste(Answers(x.ravel(), system, segment, segment, rater))
        assert found is not None
        # A product of two of them is that of two tastes of two raters for two systems: a quarter.
        assert found.sd**2 == pytest.approx((2 * 4 + 2 * 3 + 4 * 3) / 3 / 4)
        assert found.errors == pytest.approx((8 + 6 + 12) / np.sqrt(8**2 + 6**2 + 12**2))

    def test_opposite_tastes_in_two_tasks_are_none_that_lasts(self) -> None:
        x = np.zeros((2, 2, 2))
        x[0, 0] = [2.0, -2.0]
        rater, system, segment = (values.ravel() for values in np.indices(x.shape))
        found = lasting_taste(Answers(x.ravel(), system, segment, segment, rater))
        assert found is not None
        assert found.sd == 0
        assert found.errors < 0

    def test_a_note_where_it_is_clear(self) -> None:
        answers, document, _ = dealt(np.random.default_rng(12), 3, 1.0, 30)
        calm = assay.estimate(*tables(answers, document))
        taste = np.random.default_rng(13).normal(0, 1.5, (3, SYSTEMS, 1))
        keen = assay.estimate(*tables(answers + taste, document))
        assert has_note(keen.notes, "lasting-taste")
        assert not has_note(calm.notes, "lasting-taste")

    def test_seldom_where_there_is_none(self) -> None:
        rng, clear = np.random.default_rng(14), 0
        for _ in range(150):
            x, task, _ = dealt(rng, 4, 1.0, 12)
            rater, system, segment = (values[~np.isnan(x)] for values in np.indices(x.shape))
            found = lasting_taste(Answers(x[~np.isnan(x)], system, segment, task[segment], rater))
            assert found is not None
            clear += found.errors > CLEAR_TASTE
        assert clear <= 5  # 1% of 150, and two standard errors


@pytest.mark.slow
@pytest.mark.parametrize("raters", [4, 8])
def test_the_score_of_a_larger_pool_is_covered(raters: int) -> None:
    # 200 runs, three systems that miss together: the Monte-Carlo error is about .018.
    rng, hits = np.random.default_rng(11), []
    for _ in range(200):
        answers, document, truth = dealt(rng, raters, 3.0, 8)
        test_set, ratings = tables(answers, document)
        study = make_study(test_set, ratings, sample=None, assume=None, method="mean",
                           interval="t", level=0.95)  # fmt: skip
        assert study.overlap is not None
        found = study.overlap.severities._replace(found=SeverityVariance(0.0, 1.0))
        without = replace(study, overlap=study.overlap._replace(severities=found))
        for k, name in enumerate(test_set.systems):
            value = truth[int(name[1:])]
            hits.append([value in one.mean(k).interval for one in (study, without)])
    now, before = np.mean(hits, axis=0)
    assert now > 0.9
    assert before < 0.8
