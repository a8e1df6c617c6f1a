"""Odd input to an estimation: defined answers, or a refusal that says why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import pytest
from tests.conftest import Ran

import assay
from assay.designs.population import Population
from assay.errors import InputError, TableError
from assay.estimation.skipping import responded
from assay.results import has_note
from assay.tables.tables import Ratings, Sample, TestSet, read_ratings, read_sample, read_scores


def tables(
    scores: dict[str, list[float | None]],
    metrics: dict[str, list[float | None]] | None = None,
    docs: list[str] | None = None,
    better: str = "lower",
) -> tuple[TestSet, Ratings]:
    """Systems with a score per segment; metrics are the same for all systems."""
    rows = [
        {"system": system, "seg": i + 1, "score": value}
        | ({"doc": docs[i]} if docs else {})
        | {name: column[i] for name, column in (metrics or {}).items()}
        for system, values in scores.items()
        for i, value in enumerate(values)
    ]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    frame = frame.with_columns(pl.col("score").cast(pl.Float64))
    test_set = read_scores(frame.drop("score"))
    ratings = frame.select(name for name in frame.columns if name not in (metrics or {}))
    return test_set, read_ratings(ratings, test_set, better=better)  # type: ignore[arg-type]


def drawn(segments: list[int], population: int) -> Sample:
    n = len(segments)
    design = f"segments|n:{n}|N:{population}|seed:1"
    rows = {"seg": segments, "probability": [n / population] * n, "design": [design] * n}
    return read_sample(pl.DataFrame(rows))


def test_one_rating_has_no_interval_and_no_p() -> None:
    test_set, ratings = tables({"A": [1.0, 2.0, 4.0], "B": [2.0, 2.0, 5.0]})
    result = assay.estimate(test_set, ratings, sample=drawn([3], 3))
    assert [item.estimate for item in result.systems] == [4.0, 5.0]
    assert all(np.isinf(item.high) for item in result.systems)
    assert np.isnan(result.differences[0].p)
    assert result.to_dict()["differences"][0]["p"] is None  # type: ignore[index]
    two = assay.compare_two(result)
    assert two.needed is None
    assert np.isnan(two.detectable)


def test_everything_drawn_leaves_no_doubt() -> None:
    test_set, ratings = tables({"A": [1.0, 2.0, 4.0], "B": [2.0, 2.0, 5.0]})
    result = assay.estimate(test_set, ratings, sample=drawn([1, 2, 3], 3), target="answers")
    assert [(item.low, item.high) for item in result.systems] == [(7 / 3, 7 / 3), (3.0, 3.0)]
    assert np.isnan(result.differences[0].p)  # nothing is decided by an interval of width zero
    assert not result.differences[0].decided


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_constant_ratings_have_an_estimate_but_no_interval(value: float) -> None:
    metric = {"m": [float(i) for i in range(40)]}
    test_set, ratings = tables({"A": [value] * 40, "B": [value] * 40}, metric)
    result = assay.estimate(test_set, ratings, sample=drawn(list(range(1, 31)), 40))
    assert [item.estimate for item in result.systems] == pytest.approx([value, value])
    assert all(np.isinf(item.low) for item in result.systems)
    assert not result.differences[0].decided
    assert [item.rank for item in result.systems] == [1, 1]


def test_one_document() -> None:
    scores = np.random.default_rng(1).gamma(1, 3, 30).tolist()
    test_set, ratings = tables({"A": scores}, docs=["only"] * 30)
    with pytest.raises(InputError, match="single one"):
        assay.sample(test_set, design="documents", budget=3, rng=1)
    sample = assay.sample(test_set, design="segments", budget=6, rng=1)
    result = assay.estimate(test_set, ratings, sample=sample)
    assert np.isfinite(result.systems[0].low)
    found = assay.estimate_by(test_set, ratings, by="document", sample=sample)
    assert len(found.groups) == 1


def test_strata_of_one_segment() -> None:
    docs = [f"d{i}" for i in range(12)] + ["long"] * 12
    rng = np.random.default_rng(1)
    test_set, ratings = tables({"A": rng.gamma(1, 3, 24).tolist()}, docs=docs)
    sample = assay.sample(test_set, design="docs-prop", budget=10, rng=2)
    item = assay.estimate(test_set, ratings, sample=sample).systems[0]
    assert item.n == 10
    assert item.low < item.estimate < item.high


def test_an_output_twice_by_nobody_in_particular_is_refused() -> None:
    rows = {"system": ["A"] * 2, "seg": [1] * 2, "score": [1.0, 2.0]}
    with pytest.raises(TableError, match="is already in line 1; add a rater column"):
        read_ratings(pl.DataFrame(rows))


def test_ratings_outside_the_sample_are_said() -> None:
    test_set, ratings = tables({"A": [1.0, 2.0, 4.0, 9.0]})
    result = assay.estimate(test_set, ratings, sample=drawn([1, 2], 4))
    assert result.systems[0].estimate == 1.5
    assert "2 rated outputs are outside the sample and not used" in result.notes


@pytest.mark.parametrize(("rated", "mostly"), [(5, False), (4, True)])
def test_a_sample_that_is_mostly_unrated_is_doubted(rated: int, mostly: bool) -> None:
    scores: list[float | None] = [float(k % 3) for k in range(rated)]
    test_set, ratings = tables({"A": scores + [None] * (20 - rated)})
    result = assay.estimate(test_set, ratings, sample=drawn([*range(1, 11)], 20))
    assert has_note(result.notes, "skipped")
    assert has_note(result.notes, "mostly-skipped") == mostly


def test_a_class_with_few_ratings_joins_the_one_before() -> None:
    """One of four is rated in the second class: all seven ratings stand for all ten segments."""
    rated = np.array([True] * 7 + [False] * 3)
    pi = responded(np.full(10, 0.5), rated, [np.repeat([0, 1], [6, 4])])
    assert pi == pytest.approx(0.5 * 7 / 10)


def test_a_sample_of_other_scores_is_refused() -> None:
    test_set, ratings = tables({"A": [1.0, 2.0, 4.0]})
    with pytest.raises(InputError, match="drawn from 5 segments, but the test set has 3"):
        assay.estimate(test_set, ratings, sample=drawn([1, 2], 5))
    with pytest.raises(TableError, match="segment '9' is not in the test set"):
        assay.estimate(test_set, ratings, sample=drawn([1, 9], 3))


def test_no_sample_is_refused_unless_everything_is_rated() -> None:
    test_set, ratings = tables({"A": [1.0, None, 4.0]})
    for run in (assay.estimate, lambda *both: assay.estimate_by(*both, by="doc")):
        with pytest.raises(InputError):
            run(test_set, ratings)
    assert assay.estimate(test_set, ratings, assume="random").systems[0].estimate == 2.5


def test_scores_beyond_the_stated_range_are_refused() -> None:
    rows = pl.DataFrame({"system": ["A"], "seg": [1], "score": [26.0]})
    with pytest.raises(TableError, match="outside the stated range 0 to 25"):
        read_ratings(rows, range=(0, 25))


def test_answers_among_the_metrics_are_refused_with_a_sample_too(
    tmp_path: Path, run_assay: Callable[..., Ran]
) -> None:
    world = assay.simulate(documents=12, systems=2, rng=5)
    truth = world.rate()
    means = truth.frame.group_by("system", "doc", "seg").agg(hidden=pl.col("score").mean() * -2)
    frame = world.test_set.frame.join(means, on=["system", "doc", "seg"], maintain_order="left")
    frame.write_csv(tmp_path / "scores.tsv", separator="\t")
    sample = assay.sample(world.test_set, design="segments", budget="40%", rng=1)
    sample.write(tmp_path / "sample.tsv")
    joined = truth.frame.join(sample.frame.select("doc", "seg"), on=["doc", "seg"])
    replace(truth, frame=joined).write(tmp_path / "ratings.tsv")
    files = [tmp_path / name for name in ("scores.tsv", "ratings.tsv")]
    asked = ["estimate", *files, "--sample", tmp_path / "sample.tsv", "--better", "lower"]
    code, _, err = run_assay(*asked)
    assert code == 2
    assert "hidden" in err
    assert "is almost the same as the ratings" in err
    assert run_assay(*asked, "--metrics", "hidden").code == 0


def test_the_other_direction_mirrors_the_result() -> None:
    world = assay.simulate(documents=15, systems=3, rng=2)
    sample = assay.sample(world.test_set, budget="30%", rng=1)
    ratings = world.rate(sample)
    turned = replace(
        ratings, frame=ratings.frame.with_columns(-pl.col("score")), better="higher", range=None
    )
    one = assay.estimate(world.test_set, ratings, sample=sample)
    two = assay.estimate(world.test_set, turned, sample=sample)
    for a, b in zip(one.systems, two.systems, strict=True):
        assert (a.system, a.rank, a.cluster) == (b.system, b.rank, b.cluster)
        assert (a.estimate, a.low, a.high) == pytest.approx((-b.estimate, -b.high, -b.low))
    for c, d in zip(one.differences, two.differences, strict=True):
        assert (c.left, c.decided, c.p) == (d.left, d.decided, pytest.approx(d.p))


@pytest.mark.parametrize("change", [-1.0, 1000.0, 1e-6])
def test_sign_and_scale_of_a_metric_change_nothing(change: float) -> None:
    world = assay.simulate(documents=15, systems=2, rng=2)
    sample = assay.sample(world.test_set, design="segments", budget="30%", rng=1)
    name = world.test_set.metrics[0]
    frame = world.test_set.frame.with_columns(pl.col(name) * change + 7)
    other = replace(world.test_set, frame=frame)
    ratings = world.rate(sample)
    one = assay.estimate(world.test_set, ratings, sample=sample, method="regression")
    two = assay.estimate(other, ratings, sample=sample, method="regression")
    for a, b in zip(one.systems, two.systems, strict=True):
        assert (a.estimate, a.low, a.high) == pytest.approx((b.estimate, b.low, b.high), rel=1e-6)


def test_collinear_and_missing_metrics() -> None:
    world = assay.simulate(documents=15, systems=2, rng=2)
    sample = assay.sample(world.test_set, design="segments", budget="30%", rng=1)
    name = world.test_set.metrics[0]
    frame = world.test_set.frame.with_columns(
        twin=pl.col(name) * 3 + 1,
        holes=pl.when(pl.int_range(pl.len()) % 3 > 0).then(pl.col(name)),
    )
    metrics = (*world.test_set.metrics, "twin", "holes")
    other = replace(world.test_set, frame=frame, metrics=metrics)
    ratings = world.rate(sample)
    for method in ("regression", "cv-multi", "cv-knn"):
        result = assay.estimate(other, ratings, sample=sample, method=method)
        plain = assay.estimate(world.test_set, ratings, sample=sample, method="mean")
        for item in result.systems:
            near = next(a for a in plain.systems if a.system == item.system)
            assert abs(item.estimate - near.estimate) < 4 * near.stderr
        assert any("holes" in line and "missing" in line for line in result.notes)


class TestSkipped:
    def test_nothing_skipped_changes_nothing(self) -> None:
        world = assay.simulate(documents=15, systems=2, rng=2)
        sample = assay.sample(world.test_set, design="segments", budget="30%", rng=1)
        result = assay.estimate(world.test_set, world.rate(sample), sample=sample)
        assert not any("warning" in line or "no rating" in line for line in result.notes)

    def test_by_hand(self) -> None:
        """Two documents of 12, all drawn; half of the second is skipped: 0 and 2 average 1."""
        scores: list[float | None] = [0.0] * 11 + [0.1] + [2.0] * 5 + [2.1] + [None] * 6
        test_set, ratings = tables({"A": scores}, docs=["a"] * 12 + ["b"] * 12)
        sample = drawn(list(range(1, 25)), 24)
        result = assay.estimate(test_set, ratings, sample=sample)
        expected = (0.1 / 12 + (2 + 0.1 / 6)) / 2
        assert result.systems[0].estimate == pytest.approx(expected)
        assert any("random part of their class (documents" in line for line in result.notes)
        assert any("warning: skipping differs between documents (b 50%" in x for x in result.notes)

    @pytest.mark.parametrize("design", ["segments", "balanced", "docs-prop", "snippets"])
    def test_skipping_hard_segments_biases_less(self, design: str) -> None:
        """The mean of 60 draws; the sd of the mean error is under a tenth of the plain bias."""
        world = assay.simulate(documents=40, systems=1, rng=4)
        everything = world.rate()
        truth = everything.matrix(world.test_set).mean()
        badness = Population(world.test_set).badness
        key = world.test_set.segments.select("doc", "seg")
        rng = np.random.default_rng(1)
        plain, adjusted, warned = [], [], 0
        for seed in range(60):
            sample = assay.sample(world.test_set, design=design, budget="30%", rng=seed)
            skip = key.filter(pl.Series(rng.random(len(badness)) < np.where(badness > 0.5, 0.7, 0)))
            rows = everything.frame.join(sample.frame.select("doc", "seg"), on=["doc", "seg"])
            ratings = replace(everything, frame=rows.join(skip, on=["doc", "seg"], how="anti"))
            kept = sample.frame.join(skip, on=["doc", "seg"], how="anti", maintain_order="left")
            x = ratings.frame.group_by("doc", "seg").agg(pl.col("score").mean())
            w = 1 / kept.join(x, on=["doc", "seg"])["probability"].to_numpy()
            plain.append(w @ kept.join(x, on=["doc", "seg"])["score"].to_numpy() / w.sum())
            result = assay.estimate(world.test_set, ratings, sample=sample, method="mean")
            adjusted.append(result.systems[0].estimate)
            warned += any("look harder than the rated ones" in line for line in result.notes)
        before, after = np.mean(plain) - truth, np.mean(adjusted) - truth
        assert before < -0.1
        assert abs(after) < 0.5 * abs(before)
        assert warned >= 55


def test_a_direction_that_all_metrics_contradict_is_doubted() -> None:
    world = assay.simulate(documents=30, systems=2, rng=3)
    drawn = assay.sample(world.test_set, budget="40%", rng=1)
    right = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    assert not has_note(right.notes, "direction-doubtful")
    turned = replace(world.rate(drawn), better="higher")
    wrong = assay.estimate(world.test_set, turned, sample=drawn)
    assert has_note(wrong.notes, "direction-doubtful")


def test_guaranteed_intervals_refuse_weights() -> None:
    world = assay.simulate(documents=30, systems=2, rng=3)
    frame = world.test_set.frame.with_columns(weight=pl.col("words") + 1)
    test_set = read_scores(frame, metrics=list(world.test_set.metrics))
    drawn = assay.sample(test_set, budget=60, design="segments", importance="weight", rng=1)
    ratings = replace(world.rate(drawn), range=(-5.0, 40.0))
    with pytest.raises(InputError, match="ratings of equal weight"):
        assay.estimate(test_set, ratings, sample=drawn, interval="betting")


def test_a_system_that_lacks_segments_can_be_evaluated() -> None:
    world = assay.simulate(documents=20, systems=2, rng=3)
    frame = world.test_set.frame
    kept = (pl.col("system") != "system-2") | (pl.col("doc") != frame["doc"][0])
    short = read_scores(frame.filter(kept))
    ratings = replace(world.rate(), frame=world.rate().frame.filter(kept))
    records = list(
        assay.evaluate_estimators(short, ratings, methods=["balanced+auto"], sizes=[0.5],
                                  draws=5, rng=1)
    )  # fmt: skip
    assert len({record.n for record in records}) == 2


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_intervals_stay_inside_a_stated_scale(better: Literal["higher", "lower"]) -> None:
    """Nine of ten outputs are perfect: the t interval would go below 0."""
    scores: list[float | None] = [0.0] * 18 + [5.0, 1.0] + [None] * 20
    test_set, ratings = tables({"A": scores})
    free = assay.estimate(test_set, ratings, assume="random", interval="t").systems[0]
    assert free.low < 0
    frame = ratings.frame
    stated = assay.read_ratings(frame, test_set, better=better, range=(0, 25))
    kept = assay.estimate(test_set, stated, assume="random", interval="t").systems[0]
    assert 0 < kept.low < kept.estimate < kept.high
    # What is taken off below comes back above.
    assert kept.high > free.high


@pytest.mark.parametrize("docs", [None, [f"d{k // 5}" for k in range(40)]])
@pytest.mark.parametrize("rated", [20, 40])
def test_rounding_decides_nothing(docs: list[str] | None, rated: int) -> None:
    base = [7 * np.sin(k) for k in range(40)]
    # c is b but for the last digits: 0.1 + 0.2 is not 0.3.
    b, c = [x + 0.3 for x in base], [x + 0.1 + 0.2 for x in base]
    test_set, ratings = tables({"a": base, "b": b, "c": c}, docs=docs)
    sample = drawn(list(range(1, rated + 1)), 40)
    result = assay.estimate(test_set, ratings, sample=sample)
    for item in result.differences:
        assert not item.stderr > 0
        assert np.isnan(item.p)
        assert not item.decided
    assert {item.cluster for item in result.systems} == {1}
