"""Two systems: difference, p, power; and what more ratings would bring."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.estimation.test_edges import drawn, tables

import assay
from assay.errors import OptionError
from assay.estimation.estimate import next_steps
from assay.estimation.results import Precision
from assay.results import Costs
from assay.stats.power import power_of

A = [1.0, 2.0, 3.0, 6.0, 2.0, 5.0, 1.0, 4.0, 2.0, 8.0]
B = [2.0, 2.0, 5.0, 6.0, 3.0, 7.0, 1.0, 5.0, 4.0, 8.0]


def test_p_is_that_of_the_paired_t_test() -> None:
    """Outside value: scipy's paired t test, its t widened by the finite-population correction."""
    test_set, ratings = tables({"A": A, "B": B})
    result = assay.estimate(
        test_set, ratings, sample=drawn([1, 2, 3, 4, 5, 6], 10), target="answers"
    )
    t = stats.ttest_rel(A[:6], B[:6]).statistic / np.sqrt(1 - 6 / 10)
    assert result.differences[0].p == pytest.approx(2 * stats.t.sf(abs(t), 5))
    assert result.differences[0].decided == (result.differences[0].p < 0.05)


def test_detectable_difference_has_the_power() -> None:
    test_set, ratings = tables({"A": A, "B": B})
    result = assay.estimate(test_set, ratings, sample=drawn([1, 2, 3, 4, 5, 6], 10))
    two = assay.compare_two(result)
    shift = two.detectable / two.stderr
    # power by the noncentral t of scipy.stats
    t = stats.t.ppf(0.975, 5)
    assert stats.nct.sf(t, 5, shift) + stats.nct.cdf(-t, 5, shift) == pytest.approx(0.8)
    assert power_of(np.array(shift), np.array(5.0), 0.95) == pytest.approx(0.8)
    turned = assay.compare_two(result, two.right, two.left)
    assert (turned.difference, turned.low) == (-two.difference, -two.high)
    assert (turned.p, turned.needed) == (two.p, two.needed)


def test_names_are_checked() -> None:
    test_set, ratings = tables({"A": A, "B": B, "C": A})
    result = assay.estimate(test_set, ratings)
    with pytest.raises(OptionError, match="name two of"):
        assay.compare_two(result)
    with pytest.raises(OptionError, match="is not a system"):
        assay.compare_two(result, "A", "D")
    with pytest.raises(OptionError, match="compared with itself"):
        assay.compare_two(result, "A", "A")
    with pytest.raises(OptionError, match="is not a probability"):
        assay.compare_two(result, "A", "B", power=1.5)


def test_needed_finds_as_often_as_it_says() -> None:
    """300 draws of the n that was asked for: .8 +- 3 Monte-Carlo sd of .023, and some for skew."""
    world = assay.simulate(documents=60, systems=2, rng=6)
    everything = world.rate()
    scores = everything.matrix(world.test_set)
    gap = scores[0] - scores[1]
    total, rng = len(gap), np.random.default_rng(1)
    n = Precision(total, float(gap.std(ddof=1)), 0.95).n_for_power(float(gap.mean()), 0.8)
    found = 0
    for _ in range(300):
        x = rng.permutation(gap)[:n]
        error = x.std(ddof=1) / np.sqrt(n) * np.sqrt(1 - n / total)
        found += abs(x.mean()) > stats.t.ppf(0.975, n - 1) * error
    assert found / 300 == pytest.approx(0.8, abs=0.1)


def test_next_steps() -> None:
    world = assay.simulate(documents=40, systems=3, rng=6)
    sample = assay.sample(world.test_set, budget="15%", rng=1)
    result = assay.estimate(world.test_set, world.rate(sample), sample=sample, target="answers")
    lines = next_steps(result)
    assert any("halve the widest interval" in line for line in lines)
    assert any("to decide" in line for line in lines) == any(
        not item.decided for item in result.differences
    )
    everything = assay.estimate(world.test_set, world.rate(), target="answers")
    assert not any("halve" in line for line in next_steps(everything))
    test_set, ratings = tables({"A": A, "B": A})
    same = assay.estimate(test_set, ratings, sample=drawn([1], 10), target="answers")
    (line,) = next_steps(same)
    assert line == "rate more: these ratings are too few, or too alike, for an interval"


def test_nothing_is_promised_beyond_half_where_raters_are_unknown() -> None:
    """Beyond half an interval is one for texts, which falls with 1/n and not with 1/n - 1/N."""
    world = assay.simulate(documents=30, systems=5, rng=1)
    sample = assay.sample(world.test_set, budget="30%", rng=1)
    ratings = world.rate(sample, raters="rater-1")
    given = assay.estimate(world.test_set, ratings, sample=sample, target="answers")
    assert all("rate another" in line for line in given.next)
    unknown = assay.estimate(world.test_set, ratings, sample=sample)
    assert unknown.differences[0].stderr == given.differences[0].stderr
    assert not any("rate another" in line for line in unknown.next)


def test_a_width_that_few_raters_cause_is_not_put_down_to_few_segments() -> None:
    """Few degrees of freedom widen an interval that its standard error alone would not."""
    world = assay.simulate(documents=40, systems=2, rng=1)
    drawn = assay.sample(world.test_set, budget="30%", rng=7)
    result = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    (first, *others) = result.systems
    far = 5 * (first.high - first.low)
    wide = replace(first, low=first.low - far, high=first.high + far)
    lines = next_steps(replace(result, systems=(wide, *others)))
    assert "have more raters" in " ".join(lines)
    assert not any("halve" in line and "rate another" in line for line in lines)


def test_next_steps_count_hours_and_money() -> None:
    world = assay.simulate(documents=40, systems=3, rng=6)
    sample = assay.sample(world.test_set, budget="15%", rng=1)
    ratings = world.rate(sample)
    timed = replace(ratings, frame=ratings.frame.with_columns(seconds=pl.lit(36.0)))
    result = assay.estimate(world.test_set, timed, sample=sample, pay="0.5 EUR per rating")
    line = next(line for line in result.next if "rate another" in line)
    more = int(re.search(r"([\d,]+) more ratings", line)[1].replace(",", ""))  # type: ignore[index]
    cost = Costs(per_rating=0.5, seconds_per_rating=36.0, currency="EUR").cost(more)
    assert f"({more:,} more ratings: {cost})" in line
    with pytest.raises(OptionError, match="pay .* is not a price"):
        assay.estimate(world.test_set, timed, sample=sample, pay=Costs(per_rating=-1))
