"""What more judgments would bring."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import assay
from assay.ranking.advice import next_steps
from assay.ranking.results import PairComparison


def pair(p: float, *, decided: bool = False) -> PairComparison:
    return PairComparison("A", "B", 1, 1, 0, p, decided, None)


def test_nothing_is_open() -> None:
    assert next_steps([pair(0.01, decided=True)], 100, "judgments", level=0.95, sides=1) == ()


def test_two_that_are_equal_take_no_number() -> None:
    (line,) = next_steps([pair(0.5)], 100, "judgments", level=0.95, sides=1)
    assert line.startswith("the closest call is A and B (p = 0.5): no number of judgments in sight")


@pytest.mark.parametrize("sides", [1, 2])
def test_the_number_gives_the_power(sides: int) -> None:
    # Power of a z test: P(Z > z_alpha - z sqrt(m)), with m times the judgments.
    p, number, alpha = 0.12, 1000, 0.05 / sides
    (line,) = next_steps([pair(p)], number, "judgments", level=0.95, sides=sides)
    more = int(line.split("about ")[1].split(" ")[0].replace(",", ""))
    z = stats.norm.isf(p / sides) * np.sqrt(1 + more / number)
    assert stats.norm.sf(stats.norm.isf(alpha) - z) == pytest.approx(0.8, abs=0.001)


def test_rankings_carry_the_advice() -> None:
    world = assay.simulate(documents=20, systems=4, rng=1)
    judged = assay.rank(world.judge(600, per_set=4, rng=1), rng=1)
    assert judged.next == tuple(judged.to_dict()["next"])  # type: ignore[arg-type]
    assert judged.next
    assert "judgments" in judged.next[0]
    rated = assay.rank_ratings(world.rate(), rng=1)
    assert all("ratings" in line for line in rated.next)
