"""A simple random sample that knows how it was drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError, OptionError
from assay.sampling.budget import divide_budget
from assay.sampling.draw import sample
from assay.sampling.summary import summarise
from assay.tables.tables import TestSet, read_sample, read_scores


def make(documents: list[int], systems: int = 2) -> TestSet:
    rows = [
        {"system": f"s{s}", "doc": f"d{d}", "seg": i + 1}
        for s in range(systems)
        for d, length in enumerate(documents)
        for i in range(length)
    ]
    return read_scores(pl.DataFrame(rows))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(1, 100), st.integers(0, 9))
def test_size_probability_and_order(documents: list[int], share: int, seed: int) -> None:
    test_set = make(documents)
    drawn = sample(test_set, budget=f"{share}%", design="segments", rng=seed)
    n, population = len(drawn), sum(documents)
    assert n == max(1, round(population * share / 100))
    assert drawn.frame["probability"].to_list() == [n / population] * n
    assert drawn.frame["order"].to_list() == list(range(1, n + 1))
    assert drawn.frame.select("doc", "seg").n_unique() == n
    get = drawn.design.parameters
    assert (get["n"], get["N"], get["seed"]) == (str(n), str(population), str(seed))


def test_stated_probability_is_the_share_of_draws() -> None:
    # 1,200 draws of 4 of 12; z-test per segment at 4.5 standard errors.
    test_set, runs = make([5, 4, 3]), 1_200
    rng = np.random.default_rng(8)
    seen = np.zeros(12)
    for _ in range(runs):
        drawn = sample(test_set, budget=4, design="SL", rng=rng)
        seen += ~np.isnan(drawn.probabilities(test_set)[0])
    assert np.all(np.abs(seen / runs - 1 / 3) < 4.5 * np.sqrt(2 / 9 / runs))


def test_the_same_seed_gives_the_same_sample() -> None:
    test_set = make([20])
    first = sample(test_set, budget=5, rng=0).frame
    assert first.equals(sample(test_set, budget=5, rng=0).frame)
    assert not first.equals(sample(test_set, budget=5, rng=1).frame)


def test_a_given_generator_leaves_no_seed() -> None:
    assert sample(make([5]), budget=2, rng=np.random.default_rng(1)).design.seed is None


def test_a_fresh_seed_is_recorded_and_repeats_the_sample() -> None:
    test_set = make([50])
    drawn = sample(test_set, budget=5)
    assert sample(test_set, budget=5, rng=drawn.design.seed).frame.equals(drawn.frame)


@pytest.mark.parametrize("ending", [".tsv", ".csv", ".xlsx", ".parquet", ".jsonl"])
def test_a_sample_file_restores_the_sample(tmp_path: Path, ending: str) -> None:
    test_set = make([20])
    drawn = sample(test_set, budget=6, rng=3)
    again = read_sample(drawn.write(tmp_path / f"sample{ending}"), test_set)
    assert again.design == drawn.design
    np.testing.assert_allclose(
        again.probabilities(test_set), drawn.probabilities(test_set), rtol=1e-15
    )


def test_short_names_of_the_papers() -> None:
    assert sample(make([5]), budget=2, design="SL", rng=1).design.name == "segments"


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (711, r"exceeds the 710 segments"),
        (900, r"budget \(900\) exceeds the 710 segments of the test set; give at most 710"),
        (0, "buys nothing"),
        (-3, "buys nothing"),
        (2.5, "is not whole"),
        ("0%", "is not a share"),
        ("101%", "give above 0% and up to 100%"),
        ("many", "is not an amount"),
        ("nan", "is not an amount"),
        ("", "is not an amount"),
        ("500 EUR", "does not count segments; give segments"),
        ("$500", "does not count"),
        ("500 ratings", "does not count"),
        ("90 min", "or `seconds_per_word` with a words column"),
    ],
)
def test_wrong_budgets(budget: int | str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sample(make([710]), budget=budget, design="SL")


def test_unknown_design() -> None:
    with pytest.raises(OptionError, match=r"design \(segmnts\) is not known \(did you mean"):
        sample(make([5]), budget=2, design="segmnts")


def test_several_language_pairs_are_sampled_one_by_one() -> None:
    frame = make([4]).frame
    both = read_scores(pl.concat([frame.with_columns(lp=pl.lit(lp)) for lp in ("a-b", "c-d")]))
    with pytest.raises(InputError, match="have 2 language pairs"):
        sample(both, budget=2)
    assert len(sample(both.split("lp")["a-b"], budget=2)) == 2


def test_summary() -> None:
    test_set = make([10])
    summary = summarise(test_set, sample(test_set, budget=5, design="SL", rng=7))
    assert summary.signature.startswith("segments|n:5/10|seed:7|v:")
    assert summary.to_dict()["max_probability"] == 0.5


def test_a_budget_that_comes_out_even_is_not_a_segment_short() -> None:
    assert 33 / 1.1 < 30  # in floating point
    found = divide_budget("33 ratings", 1, 100)
    assert found is not None
    assert found.segments == 30
    assert divide_budget("33 ratings", 1, 20).segments == 20  # type: ignore[union-attr]
    with pytest.raises(OptionError, match="one segment of all systems takes 2.2"):
        divide_budget("2 ratings", 2, 100)
