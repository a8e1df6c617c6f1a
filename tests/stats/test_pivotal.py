"""The local pivotal method: every sample by its exact probability, and how evenly it spreads."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from assay.stats.pivotal import _nearest, _Ring, pivotal

Probabilities = tuple[float, ...]


def exact_law(
    p: Probabilities, position: np.ndarray, group: np.ndarray
) -> Counter[tuple[bool, ...]]:
    """The probability of every sample, by following every turn of the method (no two distances
    are equal)."""
    undecided = [i for i, own in enumerate(p) if 1e-9 < own < 1 - 1e-9]
    law: Counter[tuple[bool, ...]] = Counter()
    if not undecided:
        law[tuple(own > 0.5 for own in p)] = 1.0
    if len(undecided) == 1:
        (i,) = undecided
        turns = [(p[i], {i: 1.0}), (1 - p[i], {i: 0.0})]
    else:
        turns = []
    for i in undecided if len(undecided) > 1 else ():
        others = [j for j in undecided if j != i]
        j = min(others, key=lambda j: (position[i] - position[j]) ** 2 + (group[i] != group[j]))
        a, b = p[i], p[j]
        if a + b < 1:
            pair = [(a / (a + b), a + b, 0.0), (b / (a + b), 0.0, a + b)]
        else:
            pair = [((1 - b) / (2 - a - b), 1.0, a + b - 1),
                    ((1 - a) / (2 - a - b), a + b - 1, 1.0)]  # fmt: skip
        turns += [(chance / len(undecided), {i: x, j: y}) for chance, x, y in pair]
    for chance, now in turns:
        after = tuple(now.get(k, own) for k, own in enumerate(p))
        for sample, its in exact_law(after, position, group).items():
            law[sample] += chance * its
    return law


@pytest.mark.parametrize(("draws", "runs"), [(1, 4000), (500, 20_000)])
@pytest.mark.parametrize(
    "p", [(0.5, 0.5, 0.5, 0.5), (0.2, 0.9, 0.4, 0.7, 0.8), (0.3, 0.6, 0.2, 0.5, 1.0)]
)
def test_every_sample_is_as_frequent_as_it_should_be(
    p: Probabilities, draws: int, runs: int
) -> None:
    position, group = np.array([0.0, 1.0, 2.3, 2.9, 5.1]), np.array([0, 1, 0, 0, 1])
    position, group = position[: len(p)], group[: len(p)]
    law = exact_law(p, position, group)
    assert sum(law.values()) == pytest.approx(1)
    rng = np.random.default_rng(8)
    blocks = [pivotal(np.array(p), position, group, rng, draws) for _ in range(runs // draws)]
    seen = Counter(map(tuple, np.concatenate(blocks).tolist()))
    assert set(seen) <= set(law)
    samples = [sample for sample, chance in law.items() if chance > 0]
    expected = [runs * law[sample] for sample in samples]
    found = stats.chisquare([seen[sample] for sample in samples], expected)
    assert found.pvalue > 1e-4


@pytest.mark.parametrize("draws", [1, 400], ids=["one by one", "in step"])
class TestPivotal:
    """Both forms: samples drawn one by one, and many drawn in step."""

    def samples(self, draws: int, *args: np.ndarray, seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        return np.concatenate([pivotal(*args, rng, draws) for _ in range(400 // draws)])

    def test_neighbours_are_seldom_drawn_together(self, draws: int) -> None:
        # 40 units in a row, 20 drawn: a simple random sample draws two neighbours with
        # probability 20*19/(40*39) = .244; spread samples far less often.
        drawn = self.samples(draws, np.full(40, 0.5), np.arange(40.0), np.zeros(40, int), seed=5)
        assert (drawn.sum(axis=1) == 20).all()
        together = (drawn[:, 1:] & drawn[:, :-1]).sum()
        assert together / (400 * 39) < 0.17

    def test_groups_are_spread_too(self, draws: int) -> None:
        group = np.repeat(np.arange(10), 4)
        drawn = self.samples(draws, np.full(40, 0.25), np.zeros(40), group, seed=6)
        assert (drawn.reshape(-1, 10, 4).sum(axis=2) == 1).all()

    def test_certain_and_impossible_units(self, draws: int) -> None:
        p = np.array([1.0, 0.0, 0.5, 0.5])
        drawn = self.samples(draws, p, np.zeros(4), np.zeros(4, int), seed=1)
        assert drawn[:, 0].all()
        assert not drawn[:, 1].any()
        assert (drawn.sum(axis=1) == 2).all()


@pytest.mark.parametrize("coin", [0.2, 0.8])
def test_the_nearest_of_another_group_is_farther_by_one(coin: float) -> None:
    # From 0: to .5 in another group .25 + 1, to .9 in the same group .81; to 1.2 of its own, 1.44.
    position, group = np.array([0.0, 0.5, 0.9, 1.2]), np.array([0, 1, 0, 0])
    everywhere, inside = _Ring(np.arange(4), 4), _Ring(np.array([0, 2, 3, 1]), 4, group)
    assert _nearest(0, position.tolist(), everywhere, inside, coin) == 2
    inside.remove(2)
    everywhere.remove(2)
    assert _nearest(0, position.tolist(), everywhere, inside, coin) == 1
