"""Rankings from ratings, as WMT makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import assay
from assay.errors import InputError, OptionError
from assay.ranking.ratings import _decided, _rank_sums
from assay.ranking.uncertainty import Rule


def ratings(scores: dict[str, list[float]], **columns: list[str]) -> assay.Ratings:
    frames = [
        pl.DataFrame({"system": name, "seg": np.arange(len(values)), "score": values, **columns})
        for name, values in scores.items()
    ]
    return assay.read_ratings(pl.concat(frames))


def test_by_hand() -> None:
    rng = np.random.default_rng(1)
    scores = {"A": rng.normal(70, 10, 80), "B": rng.normal(69, 10, 80), "C": rng.normal(50, 10, 80)}
    table = ratings({k: list(v) for k, v in scores.items()})
    result = assay.rank_ratings(table, rank_sum=True, sides=1, rng=1)
    means = sorted(((v.mean(), k) for k, v in scores.items()), reverse=True)
    assert [(i.score, i.system) for i in result.systems] == [
        (pytest.approx(mean), name) for mean, name in means
    ]
    order = [name for _, name in means]
    for item, one, other in zip(result.comparisons, order, order[1:], strict=False):
        p = stats.mannwhitneyu(scores[one], scores[other], alternative="greater").pvalue
        assert item.p == pytest.approx(p)
    assert [i.cluster for i in result.systems] == [1, 1, 2]
    assert [(i.low_rank, i.high_rank) for i in result.systems] == [(1, 2), (1, 2), (3, 3)]
    assert (result.pairs, result.significant_pairs, result.unit) == (2, 1, "segment")
    assert result.signature.startswith("mean|ratings:240|ranges:bootstrap-shortest|unit:segment-80")
    # By segments, each a pair: the t test of differences, but for what resampling adds.
    paired = assay.rank_ratings(table, rng=1)
    for item, one, other in zip(paired.comparisons, order, order[1:], strict=False):
        assert item.p == pytest.approx(stats.ttest_rel(scores[one], scores[other]).pvalue, abs=0.02)


def test_z_takes_out_severity() -> None:
    """A is better, but was seen by the severe rater more often."""
    rng = np.random.default_rng(2)
    frames = []
    for name, quality, severe in (("A", 5.0, 75), ("B", 0.0, 25)):
        rater = np.where(np.arange(100) < severe, "severe", "kind")
        score = quality + rng.normal(0, 5, 100) - np.where(rater == "severe", 40, 0)
        frames.append(
            pl.DataFrame({"system": name, "seg": np.arange(100), "rater": rater, "score": score})
        )
    table = assay.read_ratings(pl.concat(frames))
    assert assay.rank_ratings(table, rng=1).systems[0].system == "B"
    result = assay.rank_ratings(table, method="z", rng=1)
    assert result.systems[0].system == "A"
    frame = pl.concat(frames)
    z = frame.with_columns(
        z=(pl.col("score") - pl.col("score").mean().over("rater"))
        / pl.col("score").std().over("rater")
    )
    expected = z.filter(pl.col("system") == "A")["z"].mean()
    assert result.systems[0].score == pytest.approx(expected)


def test_lower_is_better_and_holm() -> None:
    world = assay.simulate(systems=5, documents=40, rng=3)
    plain = assay.rank_ratings(world.rate(), rng=1)
    scores = [item.score for item in plain.systems]
    assert plain.better == "lower"
    assert scores == sorted(scores)
    corrected = assay.rank_ratings(world.rate(), holm=True, rng=1)
    assert corrected.significant_pairs <= plain.significant_pairs
    assert all(c.p >= p.p for c, p in zip(corrected.comparisons, plain.comparisons, strict=True))
    assert plain.unit == "document"
    assert plain.blocks == 40


def test_documents_hang_together() -> None:
    """A document's segments all alike: as many independent ratings as documents."""
    rng = np.random.default_rng(4)
    documents = np.repeat(np.arange(20), 15)
    frames = [
        pl.DataFrame(
            {
                "system": name,
                "doc": documents.astype(str),
                "seg": np.arange(300),
                "score": rng.normal(mean, 1, 20)[documents],
            }
        )
        for name, mean in (("A", 0.2), ("B", 0.0), ("C", -0.2), ("D", -0.4))
    ]
    frame = pl.concat(frames)
    whole = assay.rank_ratings(assay.read_ratings(frame), rng=1)
    blind = assay.rank_ratings(assay.read_ratings(frame.drop("doc")), rng=1)
    assert sum(i.high_rank - i.low_rank for i in whole.systems) > sum(
        i.high_rank - i.low_rank for i in blind.systems
    )


def test_equal_ratings_and_unrated_rows() -> None:
    result = assay.rank_ratings(ratings({"A": [1.0] * 9, "B": [1.0] * 9}), rng=1)
    assert [i.rank for i in result.systems] == [1, 1]
    assert result.comparisons[0].p == 1
    assert [(i.low_rank, i.high_rank) for i in result.systems] == [(1, 2), (1, 2)]
    constant = ratings({"A": [1.0] * 3, "B": [1.0] * 3}, rater=["x", "x", "y"])
    assert any(
        "2 raters gave one score" in n for n in assay.rank_ratings(constant, method="z").notes
    )
    partial = assay.read_ratings(
        pl.DataFrame({"system": ["A", "A", "B"], "seg": [1, 2, 1], "score": [1.0, 2.0, 3.0]})
    )
    notes = assay.rank_ratings(partial, rng=1).notes
    assert any("1 of 2 segments are not rated for all systems" in note for note in notes)
    assert any("a system was missing and kept its score" in note for note in notes)


def test_refusals() -> None:
    good = ratings({"A": [1.0, 2.0], "B": [2.0, 3.0]})
    with pytest.raises(InputError, match="has no column 'rater'"):
        assay.rank_ratings(good, method="z")
    with pytest.raises(OptionError, match=r"method \(median\) is not known .*choose from mean, z"):
        assay.rank_ratings(good, method="median")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="only 'A' is rated"):
        assay.rank_ratings(ratings({"A": [1.0, 2.0]}))
    with pytest.raises(InputError, match="all ratings are of one segment"):
        assay.rank_ratings(ratings({"A": [1.0], "B": [2.0]}))
    with pytest.raises(InputError, match="no row has a score"):
        assay.rank_ratings(
            assay.read_ratings(pl.DataFrame({"system": ["A"], "seg": [1], "score": [None]}))
        )
    many = pl.DataFrame(
        {"system": [f"s{k}" for k in range(1200)], "seg": ["1"] * 1200, "score": [1.0] * 1200}
    )
    with pytest.raises(InputError, match="name 1,200 systems"):
        assay.rank_ratings(assay.read_ratings(many))
    two = good.frame.with_columns(lp=pl.Series(["en-de", "en-cs"] * 2))
    with pytest.raises(InputError, match="several language pairs"):
        assay.rank_ratings(assay.read_ratings(two))


def null_ratings(systems: int, documents: int, segments: int, rng: np.random.Generator) -> Any:
    """Equal systems, each with an effect of its own in every document."""
    doc = np.repeat(np.arange(documents), segments)
    frames = [
        pl.DataFrame({
            "system": f"S{k}", "doc": doc.astype(str), "seg": np.arange(len(doc)),
            "score": rng.normal(0, 1, documents)[doc] + rng.normal(0, 1, len(doc)),
        })
        for k in range(systems)
    ]  # fmt: skip
    return assay.read_ratings(pl.concat(frames))


def test_equal_systems_are_one_cluster() -> None:
    """Before: several clusters in 60 % of such runs, since outputs were tested singly."""
    rng = np.random.default_rng(1)
    tables = [null_ratings(5, 30, 10, rng) for _ in range(60)]
    several = [assay.rank_ratings(t, resamples=100, rng=1).clusters > 1 for t in tables]
    assert np.mean(several) <= 0.05 + 2 * 0.028
    single = [
        assay.rank_ratings(t, rank_sum=True, resamples=100, rng=1).clusters > 1 for t in tables
    ]
    assert np.mean(single) > 0.3


def test_constant_differences_of_few_documents_decide_nothing() -> None:
    """Three documents in which A is exactly one point better: an interval of width zero."""
    table = ratings({"A": [5.0] * 3, "B": [4.0] * 3, "C": [3.0] * 3}, doc=["x", "y", "z"])
    result = assay.rank_ratings(table, rng=1)
    assert result.clusters == 1
    assert result.significant_pairs == 0
    assert [(i.low_rank, i.high_rank) for i in result.systems] == [(1, 3)] * 3


def test_which_of_two_systems_is_decidedly_better() -> None:
    # p of the one with the higher mean, by the rank-sum test, may be of the opposite order.
    p = np.array([0.05, 0.051, 0.025, 0.976, 0.98, 0.5])
    assert _decided(p, Rule(0.95, 1, False))[1].tolist() == [1, 0, 1, 0, 0, 0]
    shown, better = _decided(p, Rule(0.95, 2, False))
    assert better.tolist() == [0, 0, 1, -1, -1, 0]
    assert shown == pytest.approx([0.1, 0.102, 0.05, 0.048, 0.04, 1.0])


@pytest.mark.parametrize("sides", [1, 2])
def test_systems_with_one_score_are_not_told_apart(sides: int) -> None:
    rows = [{"system": s, "seg": k, "score": 3.0} for s in "AB" for k in range(20)]
    found = assay.rank_ratings(assay.read_ratings(pl.DataFrame(rows)), sides=sides, rng=1)
    assert found.significant_pairs == 0
    ranks = _rank_sums(pl.DataFrame(rows), 1.0, np.array([0]), np.array([1]))
    assert ranks.tolist() == [0.5]
    assert found.comparisons[0].p == pytest.approx(sides / 2)
    assert [item.cluster for item in found.systems] == [1, 1]
