"""Stability studies: against a naive loop, by hand, and against theory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.conftest import Ran

import assay
from assay.designs.base import find_design
from assay.designs.plan import Draws, Layout
from assay.designs.population import Population
from assay.designs.segments import SegmentsPlan
from assay.errors import InputError, OptionError
from assay.results import has_note
from assay.sampling.stability import (
    Stability,
    _context,
    _length_shares,
    _sum_error,
    stability,
    summarise_stability,
)
from assay.sampling.summary import context_segments, design_effect, length_shares, metric_scores
from assay.stats.clustered import difference_z, prefix_sums, unit_z, window_sums
from assay.tables.tables import TestSet, read_scores
from assay.views.section import Figure, section_of
from assay.worlds.simulate import simulate


@pytest.fixture(scope="module")
def test_set() -> TestSet:
    return simulate(documents=40, systems=5, rng=2).test_set


def table(scores: dict[str, list[float | None]], docs: list[str] | None = None) -> TestSet:
    rows = [
        {"system": name, "seg": i, "m": value} | ({"doc": docs[i]} if docs else {})
        for name, values in scores.items()
        for i, value in enumerate(values)
    ]
    return read_scores(pl.DataFrame(rows), metrics=["m"])


@pytest.mark.parametrize("design", ["segments", "snippets", "documents"])
def test_a_naive_loop_sees_the_same(design: str, test_set: TestSet) -> None:
    record = next(
        stability({"x": test_set}, designs=[design], budget="30%", metric="neural", draws=30, rng=5)
    )
    population = Population(test_set)
    plan = find_design(design).plan(population, record.n)
    drawn = plan.draw(np.random.default_rng(5).spawn(1)[0], 30)
    scores = test_set.matrix("neural")
    full = scores.mean(axis=1)
    for row, mask in enumerate(drawn.masks(population.size)):
        means = scores[:, mask].mean(axis=1)
        wrong = [
            np.sign(means[i] - means[j]) != np.sign(full[i] - full[j])
            for i in range(5)
            for j in range(i + 1, 5)
        ]
        assert record.changed[row] == any(wrong)
        assert record.discordant[row] == pytest.approx(np.mean(wrong))
        assert record.context[row] == context_segments(population.layout, mask)
        shares = [share.sample for share in length_shares(population.layout, mask)]
        np.testing.assert_allclose(record.length_shares[row], shares)


def test_the_whole_test_set_changes_nothing(test_set: TestSet) -> None:
    records = stability(
        {"x": test_set}, designs=["SL", "DB", "WD"], budget="100%", metric="neural", draws=20, rng=1
    )
    for row in summarise_stability(records, metric="neural").designs:
        assert row.changed == row.discordant_pairs == row.length_error == 0


def test_systems_far_apart_never_change_places() -> None:
    rng = np.random.default_rng(1)
    docs = [f"d{i // 5}" for i in range(60)]
    scores = {name: (rng.random(60) + 10 * k).tolist() for k, name in enumerate("ABC")}
    record = next(
        stability({"x": table(scores, docs)}, designs=["DB"], budget="20%", metric="m", draws=200)
    )
    assert not record.changed.any()
    assert record.significant_pairs == 3
    assert not record.flips.any()
    assert not record.clusters.any()


def test_matching_helps(test_set: TestSet) -> None:
    records = stability(
        {"x": test_set}, designs=["WD", "DB"], budget="30%", metric="surface", draws=400,
        matched=[True, False], rng=3,
    )  # fmt: skip
    rows = {(row.design, row.matched): row for row in
            summarise_stability(records, metric="surface").designs}  # fmt: skip
    for design in ("documents", "snippets"):
        assert rows[design, True].discordant_pairs < rows[design, False].discordant_pairs


def test_workers_and_order_do_not_matter(test_set: TestSet) -> None:
    options = {"designs": ["SL", "DB"], "budget": "20%", "metric": "neural", "draws": 50, "rng": 9}
    sets = {"a": test_set, "b": simulate(documents=20, systems=3, rng=4).test_set}
    serial = list(stability(sets, **options))  # type: ignore[arg-type]
    parallel = list(stability(sets, workers=2, **options))  # type: ignore[arg-type]
    assert [(r.name, r.design) for r in serial] == [
        ("a", "segments"), ("a", "snippets"), ("b", "segments"), ("b", "snippets"),
    ]  # fmt: skip
    for one, two in zip(serial, parallel, strict=True):
        np.testing.assert_array_equal(one.changed, two.changed)
        np.testing.assert_array_equal(one.discordant, two.discordant)


def test_choosing_by_a_metric_flatters_that_metric(test_set: TestSet) -> None:
    options = {"designs": ["SL"], "budget": "15%", "metric": "surface", "held_out": "neural"}
    options |= {"rng": 1}
    plain = summarise_stability(
        stability({"x": test_set}, draws=300, **options),  # type: ignore[arg-type]
        metric="surface", held_out="neural",
    ).designs[0]  # fmt: skip
    guided = summarise_stability(
        stability({"x": test_set}, draws=300, candidates=20, **options),  # type: ignore[arg-type]
        metric="surface", held_out="neural",
    ).designs[0]  # fmt: skip
    assert guided.changed < 0.6 * plain.changed
    assert guided.held_out_changed is not None
    assert plain.held_out_changed is not None
    assert guided.held_out_changed > 0.75 * plain.held_out_changed


def test_best_median_worst_of_thirteen(test_set: TestSet) -> None:
    records = list(
        stability({"a": test_set, "b": test_set}, designs=["SL"], budget="10%", metric="surface",
                  draws=13, rng=13)
    )  # fmt: skip
    row = summarise_stability(records, metric="surface").designs[0]
    counts = records[0].changed.astype(int) + records[1].changed.astype(int)
    assert (row.best, row.median, row.worst) == (counts.min(), np.median(counts), counts.max())
    assert row.runs == 13
    assert row.test_sets == 2


def test_designs_with_other_parameters_are_other_designs(test_set: TestSet) -> None:
    designs = ["SL", "docs-prop", "documents|stop:under", "documents|stop:over", "auto"]
    records = stability(
        {"x": test_set}, designs=designs, budget="20%", metric="neural", draws=5, rng=1
    )
    rows = summarise_stability(records, metric="neural", runs=3).designs
    assert [row.design for row in rows] == [
        "segments", "segments|strata:documents", "documents|stop:under", "documents|stop:over",
        "rounds",
    ]  # fmt: skip
    assert {row.test_sets for row in rows} == {1}
    with pytest.raises(OptionError, match=r"runs \(0\)"):
        summarise_stability([], metric="neural", runs=0)


def test_unequal_probabilities_are_weighted_away() -> None:
    # Bad-looking segments are drawn more often and tell another story; the whole set's is kept.
    rng = np.random.default_rng(1)
    bad = np.arange(300.0)
    scores = {"A": (-bad + rng.normal(size=300)).tolist(), "B": (-150 + 0 * bad).tolist()}
    rows = [
        {"system": name, "seg": i, "doc": f"d{i // 10}", "m": value}
        for name, values in scores.items()
        for i, value in enumerate(values)
    ]
    table = read_scores(pl.DataFrame(rows), metrics=["m"])
    record = next(
        stability({"x": table}, designs=["balanced|slope:6"], budget=150, metric="m", draws=200,
                  rng=1)
    )  # fmt: skip
    assert record.changed.mean() < 0.75  # A and B are almost equal: by chance half change


class TestMetrics:
    def test_systems_without_the_metric_are_left_out(self) -> None:
        systems, scores, notes = metric_scores(
            table({"A": [1.0, 2.0], "ref": [None, None], "B": [3.0, None]}), "m"
        )
        assert systems == ("A", "B")
        assert scores.tolist() == [[1.0, 2.0], [3.0, 3.0]]
        assert notes == [
            "m does not score ref: left out",
            "1 missing values of m replaced by the system's mean",
        ]

    def test_lower_is_better_is_turned(self) -> None:
        frame = pl.DataFrame({"system": ["A", "B"], "seg": [1, 1], "TER": [0.2, 0.9]})
        scores = metric_scores(read_scores(frame, lower_metrics=["TER"]), "TER")[1]
        assert scores[0, 0] > scores[1, 0]

    def test_one_system_is_no_ranking(self) -> None:
        with pytest.raises(InputError, match="scores 1 of 1 systems; a ranking needs two"):
            metric_scores(table({"A": [1.0]}), "m")

    def test_unknown_metric(self, test_set: TestSet) -> None:
        with pytest.raises(OptionError, match="did you mean 'neural'"):
            metric_scores(test_set, "neuronal")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "is not a number of samples"),
        ({"candidates": 0}, "is not a number of samples"),
        ({"candidates": 5}, "name another one to judge the choice by"),
        ({"held_out": "neural"}, "is the metric itself"),
        ({"held_out": "nothing"}, "is not among the metrics"),
        ({"budget": "101%"}, "is not a share"),
        ({"designs": ["no"]}, "is not known"),
        ({"designs": []}, "must be one or more"),
        ({"designs": ["SL", "SL"]}, "each once"),
        ({"candidates": 2.5}, "is not a number of samples"),
        ({"candidates": 5, "held_out": "surface", "matched": False}, "among matched samples"),
    ],
)
def test_wrong_options(options: dict[str, object], message: str, test_set: TestSet) -> None:
    given = {"designs": ["SL"], "budget": "10%", "metric": "neural", "draws": 5} | options
    with pytest.raises(InputError, match=message):
        list(stability({"x": test_set}, **given))  # type: ignore[arg-type]


def test_a_saved_result_comes_back(test_set: TestSet) -> None:
    lacking = test_set.frame.with_columns(
        neural=pl.when(pl.col("system") == "system-1").then(None).otherwise("neural")
    )
    sets = {"whole": test_set, "part": read_scores(lacking, metrics=["neural", "surface"])}
    records = stability(
        sets, designs=["SL", "DB"], budget=["10%", "20%"], metric="neural",
        held_out="surface", draws=20, rng=1,
    )  # fmt: skip
    result = summarise_stability(records, metric="neural", held_out="surface", seed=1)
    assert Stability.from_dict(json.loads(json.dumps(result.to_dict()))) == result
    assert has_note(result.notes, "systems-not-scored")
    section = section_of(result)
    assert section.stage == "sample"
    assert any(isinstance(block, Figure) for block in section.blocks)  # several budgets
    assert "part: neural does not score system-1: left out" in section.notes


class TestClustered:
    def test_single_segments_give_scipys_paired_t(self) -> None:
        rng = np.random.default_rng(1)
        values = rng.normal(size=(3, 40))
        z = difference_z(values.T, np.ones(40))
        for i, j in [(0, 1), (1, 2), (2, 0)]:
            # scipy 1.17: stats.ttest_rel
            assert z[i, j] == pytest.approx(stats.ttest_rel(values[i], values[j]).statistic)

    def test_clusters_by_hand(self) -> None:
        # Two systems, documents of 2 and 1 segments, differences (1, 3) and (2): mean 2,
        # residual totals 4 - 4 = 0 and 2 - 2 = 0.
        values = np.array([[1.0, 3.0, 2.0], [0.0, 0.0, 0.0]])
        sums = window_sums(prefix_sums(values), np.array([0, 2]), np.array([2, 3]))
        z = difference_z(sums, np.array([2, 1]))
        assert z.tolist() == [[0, np.inf], [-np.inf, 0]]
        # Documents (1) and (3, 2): residual totals -1 and 1, variance 2 * (1 + 1) / 9.
        sums = window_sums(prefix_sums(values), np.array([0, 1]), np.array([1, 3]))
        assert difference_z(sums, np.array([1, 2]))[0, 1] == pytest.approx(2 / np.sqrt(4 / 9))
        # A document of which nothing was drawn does not count among the K.
        sums = np.vstack([sums, [0, 0]])
        assert difference_z(sums, np.array([1, 2, 0]))[0, 1] == pytest.approx(2 / np.sqrt(4 / 9))

    def test_two_ways_to_the_same_z(self) -> None:
        rng = np.random.default_rng(0)
        values, masks = rng.normal(size=(4, 30)) + 5, rng.random((7, 30)) < 0.5
        means, z = unit_z(masks, values)
        prefix = prefix_sums(values)
        for k, mask in enumerate(masks):
            places = np.flatnonzero(mask)
            sums = window_sums(prefix, places, places + 1)
            np.testing.assert_allclose(z[k], difference_z(sums, np.ones(len(places))))
            np.testing.assert_allclose(means[k], values[:, mask].mean(axis=1))

    def test_an_empty_sample_decides_nothing(self) -> None:
        assert not difference_z(np.zeros((3, 2)), np.zeros(3, int)).any()


def test_design_effect_of_a_random_sample_is_one() -> None:
    # 4,000 draws, 6 pairs: the relative Monte-Carlo error of a variance is about sqrt(2/4000).
    rng = np.random.default_rng(2)
    scores = rng.gamma(1, 1, (4, 200))
    layout = Layout(np.full(20, 10))
    effect = design_effect(scores, SegmentsPlan(layout, 50), 50, rng, 4000)
    assert effect.ratio == pytest.approx(1.0, abs=0.06)
    assert effect.bias < 0.03
    assert effect.error < 0.05


def test_design_effect_sees_clusters() -> None:
    rng = np.random.default_rng(3)
    layout = Layout(np.full(40, 10))
    scores = np.repeat(rng.normal(size=(3, 40)), 10, axis=1) + 0.3 * rng.normal(size=(3, 400))
    test = {}
    for design in ("documents", "snippets"):
        rows = [{"system": s, "doc": f"d{d:02}", "seg": i} for s in "AB" for d in range(40)
                for i in range(10)]  # fmt: skip
        population = Population(read_scores(pl.DataFrame(rows)))
        plan = find_design(design).plan(population, 100)
        test[design] = design_effect(scores, plan, 100, rng, 1000).ratio
    assert layout.population == 400
    assert test["documents"] > 4
    assert test["snippets"] < 1


def test_context_and_lengths_of_windows_out_of_order() -> None:
    layout = Layout(np.array([15, 15]))
    drawn = Draws(np.array([[18, 5, 0, 25]]), np.array([[20, 6, 0, 26]]))
    assert _context(layout, drawn).tolist() == [13]
    assert _length_shares(layout, drawn).tolist() == [[0, 1, 0, 0, 0, 0]]


class TestCommand:
    @pytest.fixture
    def scores(self, tmp_path: Path, test_set: TestSet) -> Path:
        return test_set.write(tmp_path / "scores.tsv")

    def test_json(self, scores: Path, run_assay: Callable[..., Ran]) -> None:
        ran = run_assay(
            "stability", scores, "--metric", "neural", "--budget", "30%", "--designs", "SL,DB",
            "--draws", 50, "--seed", 1, "--json",
        )  # fmt: skip
        result = json.loads(ran.out)
        assert [row["design"] for row in result["designs"]] == ["segments", "snippets"]
        keys = {"design", "changed", "discordant_pairs", "significant_flips", "length_error"}
        assert keys <= set(result["designs"][0])
        assert result["seed"] == 1

    def test_table_by_domain(self, scores: Path, run_assay: Callable[..., Ran]) -> None:
        ran = run_assay(
            "stability", scores, "--metric", "neural", "--held-out", "surface", "--budget", "30%",
            "--designs", "SL", "--draws", 20, "--by", "domain", "--unmatched",
            "-o", scores.parent / "s.json",
        )  # fmt: skip
        assert ran.code == 0, ran.err
        words = " ".join(ran.out.split())
        assert "rank changes by surface" in words
        assert "segments (unmatched) 30%" in words
        assert json.loads((scores.parent / "s.json").read_text())["kind"] == "stability"

    def test_output_is_json(self, scores: Path, run_assay: Callable[..., Ran]) -> None:
        ran = run_assay(
            "stability", scores, "--metric", "neural", "--budget", "30%", "-o",
            scores.parent / "s.tsv",
        )  # fmt: skip
        assert ran.code == 2
        assert ".json" in ran.err


class TestWmt20:
    """Real data; the same code runs on self-made data above."""

    @pytest.mark.slow
    def test_snippets_cost_no_precision(self, shared_data: Path) -> None:
        # Variance ratio of chrF differences against a matched random sample, 2,000 draws a pair:
        # the mean over pairs has a Monte-Carlo error below .01, a single pair of about .03.
        ratios = []
        for path in sorted(shared_data.glob("wmt20_metrics_*.parquet")):
            frame = pl.read_parquet(path).rename({"seg_id": "seg"})
            population = Population(read_scores(frame, metrics=["chrF"]))
            n = round(0.25 * population.size)
            plan = find_design("snippets").plan(population, n)
            scores = metric_scores(population.test_set, "chrF")[1]
            ratios.append(design_effect(scores, plan, n, np.random.default_rng(1), 2000).ratio)
        assert np.mean(ratios) < 1.03
        assert max(ratios) < 1.2


def test_errors_of_sums_and_means_over_test_sets() -> None:
    values = np.array([[1, 0, 1, 0], [0, 0, 0, 1]]) > 0
    # sample variances of 1/3 and 1/4, each of a mean of four
    assert _sum_error(values) == pytest.approx(np.sqrt((1 / 3 + 1 / 4) / 4))
    assert np.isnan(_sum_error(values[:, :1]))
    parts = {name: assay.simulate(documents=20, systems=4, rng=k).test_set
             for k, name in enumerate("ab", start=1)}  # fmt: skip
    records = list(stability(parts, designs=["SL"], budget="20%", metric="neural", draws=30, rng=1))
    (row,) = summarise_stability(records, metric="neural").designs
    each = np.array([stats.sem(record.discordant) for record in records])
    assert row.discordant_error == pytest.approx(np.sqrt((each**2).sum()) / 2)


def test_significant_pairs_are_those_of_paired_tests() -> None:
    scores = np.random.default_rng(6).normal(size=(5, 60)) + np.arange(5)[:, None] * 0.15
    frame = pl.DataFrame([
        {"system": f"s{i}", "seg": k, "m": scores[i, k]} for i in range(5) for k in range(60)
    ])  # fmt: skip
    test_set = read_scores(frame, metrics=["m"])
    (record,) = stability({"a": test_set}, designs=["SL"], budget="50%", metric="m", draws=2, rng=1)
    t = [abs(stats.ttest_rel(scores[i], scores[j]).statistic) for i in range(5) for j in range(i)]
    assert record.significant_pairs == sum(value > 1.96 for value in t)
    assert any(1.2 < value < 1.9 for value in t)
