"""The sample mean with a finite-population t interval, differences and ranks."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from assay.errors import InputError, OptionError
from assay.estimation.estimate import estimate
from assay.results import has_note
from assay.sampling.draw import sample
from assay.tables.tables import Ratings, Sample, TestSet, read_ratings, read_sample, read_scores
from assay.worlds.simulate import simulate

SCORES = {"A": [1.0, 2.0, 3.0, 6.0], "B": [2.0, 3.0, 5.0, 8.0]}


def tables(scores: dict[str, list[float | None]], better: str = "lower") -> tuple[TestSet, Ratings]:
    rows = [
        {"system": system, "seg": i + 1, "score": value}
        for system, values in scores.items()
        for i, value in enumerate(values)
    ]
    frame = pl.DataFrame(rows)
    test_set = read_scores(frame.drop("score"))
    return test_set, read_ratings(frame, test_set, better=better)  # type: ignore[arg-type]


def drawn(segments: list[int], population: int) -> Sample:
    n = len(segments)
    return read_sample(
        pl.DataFrame(
            {
                "seg": segments,
                "probability": [n / population] * n,
                "design": [f"segments|n:{n}|N:{population}|seed:1"] * n,
            }
        )
    )


def test_by_hand() -> None:
    test_set, ratings = tables(SCORES)
    result = estimate(test_set, ratings, sample=drawn([1, 2, 4], 4), target="answers")
    a = next(item for item in result.systems if item.system == "A")
    # mean of 1, 2, 6; s^2 = 7; stderr = sqrt(7/3 * (1 - 3/4)); t quantile with 2 degrees 4.302653
    assert a.estimate == 3
    assert a.stderr == pytest.approx(np.sqrt(7 / 12))
    assert a.high - a.estimate == pytest.approx(4.302652729911275 * np.sqrt(7 / 12))
    assert (a.n, a.population, a.rank) == (3, 4, 1)
    gap = result.differences[0]
    # differences -1, -1, -2: mean -4/3, s^2 = 1/3
    assert gap.difference == pytest.approx(-4 / 3)
    assert gap.stderr == pytest.approx(np.sqrt(1 / 3 / 3 / 4))
    assert (gap.left, gap.right, gap.decided) == ("A", "B", True)  # -1.33 +- 4.30 * .167


def test_direction_turns_the_ranking() -> None:
    for better, first in [("lower", "A"), ("higher", "B")]:
        result = estimate(*tables(SCORES, better))
        assert result.systems[0].system == first
        assert result.better == better


def test_everything_rated_needs_no_sample_and_leaves_no_doubt() -> None:
    result = estimate(*tables(SCORES), target="answers")
    assert [(item.estimate, item.low, item.high) for item in result.systems] == [
        (3.0, 3.0, 3.0), (4.5, 4.5, 4.5),
    ]  # fmt: skip
    assert result.design == "census"
    # No verdict comes from an interval of width zero.
    assert not result.differences[0].decided
    assert np.isnan(result.differences[0].p)
    assert [item.cluster for item in result.systems] == [1, 1]
    asked = estimate(*tables(SCORES))
    assert {item.basis for item in (*asked.systems, *asked.differences)} == {"texts"}
    assert all(item.low < item.high for item in asked.systems)


def test_partly_rated_without_a_sample_is_refused() -> None:
    test_set, ratings = tables({"A": [1.0, None, 2.0]})
    with pytest.raises(InputError, match="1 of 3 outputs have no rating, and no sample says how"):
        estimate(test_set, ratings)
    result = estimate(test_set, ratings, assume="random")
    assert result.design == "assumed-random"
    assert has_note(result.notes, "assumed")
    assert "assumed-random" in result.signature


def test_assumption_and_sample_exclude_each_other() -> None:
    test_set, ratings = tables(SCORES)
    with pytest.raises(InputError, match="exclude each other"):
        estimate(test_set, ratings, sample=drawn([1], 4), assume="random")
    with pytest.raises(OptionError, match=r"assume \(luck\) is not known; choose from random"):
        estimate(test_set, ratings, assume="luck")


def test_ratings_outside_the_sample_and_missing_ones_are_counted() -> None:
    test_set, ratings = tables({"A": [1.0, 2.0, None, 4.0]})
    result = estimate(test_set, ratings, sample=drawn([1, 2, 3], 4))
    assert result.systems[0].n == 2
    assert result.notes[:3] == (
        "1 of 4 rows have no score and count as not rated",
        "1 rated outputs are outside the sample and not used",
        "1 of 3 drawn outputs have no rating; the rated ones are treated as a random part of all"
        " drawn",
    )


def test_system_without_ratings() -> None:
    test_set, ratings = tables({"A": [1.0, 2.0], "B": [None, None]})
    with pytest.raises(InputError, match="no usable rating for B"):
        estimate(test_set, ratings, assume="random")


def test_one_rating_gives_no_interval() -> None:
    result = estimate(*tables({"A": [1.0, None], "B": [None, 3.0]}), assume="random")
    saved = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert [item["low"] for item in saved["systems"]] == ["-Infinity", "-Infinity"]
    assert [item["stderr"] for item in saved["systems"]] == [None, None]
    assert saved["differences"][0]["p"] is None
    assert saved["differences"][0]["apart"]
    assert saved["differences"][0]["decided"] is False
    assert result.systems[0].high_rank == 2


def test_systems_with_different_segments() -> None:
    rows = [("A", 1, 1.0), ("A", 2, 2.0), ("A", 3, 4.0), ("B", 2, 3.0), ("B", 3, 5.0)]
    frame = pl.DataFrame(rows, schema=["system", "seg", "score"], orient="row")
    test_set = read_scores(frame.drop("score"))
    result = estimate(test_set, read_ratings(frame, test_set, better="lower"))
    assert {item.system: item.population for item in result.systems} == {"A": 3, "B": 2}
    assert result.differences[0].difference == -1  # on the two segments they share


def test_level_must_be_a_level() -> None:
    with pytest.raises(OptionError, match=r"level \(95\) is not a confidence level"):
        estimate(*tables(SCORES), level=95)


def test_frame_and_dict_have_the_documented_keys() -> None:
    result = estimate(*tables(SCORES))
    keys = ["system", "estimate", "low", "high", "stderr", "n", "population", "method",
            "interval", "rank", "low_rank", "high_rank", "cluster", "basis",
            "rater_stderr", "severity_stderr"]  # fmt: skip
    assert result.to_frame().columns == keys
    saved = result.to_dict()
    assert saved["kind"] == "estimates"
    assert set(saved["differences"][0]) >= {  # type: ignore[index]
        "left", "right", "difference", "low", "high", "decided",
    }  # fmt: skip


def test_unbiased_over_all_samples() -> None:
    test_set, ratings = tables({"A": [0.0, 0.0, 1.0, 5.0, 25.0]})
    results = [
        estimate(test_set, ratings, sample=drawn(list(chosen), 5), target="answers").systems[0]
        for chosen in combinations(range(1, 6), 3)
    ]
    assert np.mean([item.estimate for item in results]) == pytest.approx(31 / 5)
    variance = np.var([item.estimate for item in results])
    assert np.mean([item.stderr**2 for item in results]) == pytest.approx(variance)


def test_without_correction_it_is_scipys_paired_interval() -> None:
    # Multiplying by sqrt(1 - 40/41) takes the correction out again; scipy 1.17 is the oracle.
    rng = np.random.default_rng(3)
    left, right = rng.gamma(1, 2, 40), rng.gamma(1, 2, 40)
    test_set, ratings = tables({"A": [*left, None], "B": [*right, None]})  # type: ignore[list-item]
    gap = estimate(test_set, ratings, assume="random", target="answers").differences[0]
    outside = stats.ttest_rel(left, right)
    assert gap.difference / gap.stderr * np.sqrt(1 - 40 / 41) == pytest.approx(outside.statistic)


def test_equal_ratings_say_nothing_about_the_rest() -> None:
    scores = {"A": [1.0, 1.0, *[None] * 8], "B": [2.0, 2.0, *[None] * 8]}
    result = estimate(*tables(scores), assume="random")
    assert not result.differences[0].decided
    assert {item.high_rank for item in result.systems} == {2}
    assert np.isinf([item.low for item in result.systems]).all()


def test_ranks_agree_with_ranges_where_systems_have_different_segments() -> None:
    rows = [("A", 1, 1.0), ("A", 2, 1.0), ("A", 3, 20.0), ("B", 1, 2.0), ("B", 2, 2.0)]
    frame = pl.DataFrame(rows, schema=["system", "seg", "score"], orient="row")
    test_set = read_scores(frame.drop("score"))
    result = estimate(test_set, read_ratings(frame, test_set, better="lower"))
    for item in result.systems:
        assert item.low_rank <= item.rank <= item.high_rank
    assert result.systems[0].system == "A"


class TestForeignSamples:
    def test_a_design_nobody_knows(self) -> None:
        test_set, ratings = tables(SCORES)
        frame = pl.DataFrame({"seg": [1, 2], "probability": [0.5, 0.5], "design": ["dice"] * 2})
        with pytest.raises(InputError, match="no estimator knows the design 'dice'"):
            estimate(test_set, ratings, sample=read_sample(frame))

    def test_unequal_probabilities_are_weighted(self) -> None:
        # Horvitz-Thompson by hand: (0 + 0 + 10 / .125) / (1 + 1 + 8) = 8.
        test_set, ratings = tables({"A": [0.0, 0.0, 10.0, *[5.0] * 7]})
        frame = pl.DataFrame(
            {"seg": [1, 2, 3], "probability": [1.0, 1.0, 0.125],
             "design": ["balanced|slope:2|n:3|N:10"] * 3}
        )  # fmt: skip
        with pytest.raises(InputError, match="needs metrics"):
            estimate(test_set, ratings, sample=read_sample(frame))
        frame = frame.with_columns(design=pl.lit("fixed-snippets|n:3|N:10"))
        assert estimate(test_set, ratings, sample=read_sample(frame)).systems[0].estimate == 8

    @pytest.mark.parametrize(
        ("design", "chance", "message"),
        [
            ("segments|n:2|N:5", 0.4, "drawn from 5 segments, but the test set has 4"),
            ("segments|n:2|N:4", 0.25, "are not those of its design"),
            ("segments|n:3|N:4", 0.75, "has 2 rows where its design says 3"),
        ],
    )
    def test_samples_that_are_not_what_they_say(
        self, design: str, chance: float, message: str
    ) -> None:
        test_set, ratings = tables(SCORES)
        frame = pl.DataFrame({"seg": [1, 2], "probability": [chance] * 2, "design": [design] * 2})
        with pytest.raises(InputError, match=message):
            estimate(test_set, ratings, sample=read_sample(frame))


def test_tables_are_checked_against_each_other() -> None:
    frame = pl.DataFrame(
        {"system": ["A", "A"], "doc": ["d", "d"], "seg": ["1", "2"], "score": [1.0, 2.0]}
    )
    test_set = read_scores(frame.drop("score"))
    loose = read_ratings(frame.drop("doc"))
    assert estimate(test_set, loose).systems[0].estimate == 1.5
    strange = read_ratings(frame.with_columns(system=pl.lit("Z")))
    with pytest.raises(InputError, match="'Z' is not in the test set"):
        estimate(test_set, strange)


def test_several_language_pairs_have_no_common_score() -> None:
    frame = pl.DataFrame(
        {"system": ["A", "A"], "seg": ["1", "1"], "lp": ["x-y", "y-z"], "score": [1.0, 99.0]}
    )
    test_set = read_scores(frame.drop("score"))
    with pytest.raises(InputError, match="several language pairs"):
        estimate(test_set, read_ratings(frame, test_set))


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_paths_are_not_tables(wrong: int) -> None:
    given: list[object] = [*tables(SCORES), drawn([1, 2], 4)]
    given[wrong] = "some.tsv"
    with pytest.raises(InputError, match=r"expected \w+, found str; read it with assay.read_"):
        estimate(given[0], given[1], sample=given[2])  # type: ignore[arg-type]


@pytest.mark.slow
def test_coverage_on_simulated_campaigns() -> None:
    # 20 campaigns x 30 samples of one system (several share the segments, and tell little more):
    # the Monte-Carlo sd of a coverage of .945 is .009, and the bounds are 3 of it away. Skewed
    # scores cost up to 2 points.
    hits = []
    for seed in range(20):
        world = simulate(documents=40, systems={"A": 1 + seed % 4}, rng=seed)
        truth, ratings = world.truth()["A"], world.rate()
        for run in range(30):
            chosen = sample(world.test_set, design="snippets", budget="20%", rng=1000 * seed + run)
            found = estimate(world.test_set, ratings, sample=chosen, target="answers")
            (item,) = found.systems
            hits.append(item.low <= truth <= item.high)
    assert 0.915 < np.mean(hits) < 0.97
