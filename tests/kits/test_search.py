"""The search equals brute force, and a knee and clusters equal what others find."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import assay.kits.search as search
from assay.kits.search import (
    PairStream,
    PointPairs,
    closest_kits,
    dbscan,
    diameters,
    knee_place,
    nearest_distances,
)


class Bits:
    """Random verdicts of three methods on every pair."""

    needed = 2

    def __init__(self, rng: np.random.Generator, count: int) -> None:
        self.verdicts = rng.integers(8, size=(count, count)) | rng.integers(8, size=(count, count))

    def accepting(self, left: int, right: int) -> int:
        return int(self.verdicts[left, right])


@lru_cache(maxsize=200)
def all_sets(count: int, size: int) -> NDArray[np.intp]:
    every = chain.from_iterable(combinations(range(count), size))
    return np.fromiter(every, dtype=np.intp).reshape(-1, size)


def brute_force(
    points: NDArray[np.float64],
    size: int,
    kits: int,
    lengths: NDArray[np.float64],
    ratio: float,
    bits: Bits | None,
) -> list[float]:
    """The diameters of the best kits, one after the other, over all sets of what is left."""
    left = np.arange(len(points))
    found = []
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    fits = np.maximum.outer(lengths, lengths) <= ratio * np.minimum.outer(lengths, lengths)
    while len(found) < kits:
        if len(left) < size:
            break
        sets = left[all_sets(len(left), size)]
        pairs = list(combinations(range(size), 2))
        width = np.max([distance[sets[:, a], sets[:, b]] for a, b in pairs], axis=0)
        good = np.all([fits[sets[:, a], sets[:, b]] for a, b in pairs], axis=0)
        if bits is not None:
            every = np.bitwise_and.reduce([bits.verdicts[sets[:, a], sets[:, b]] for a, b in pairs])
            good &= np.bitwise_count(every) >= bits.needed
        if not good.any():
            break
        best = int(np.where(good, width, np.inf).argmin())
        found.append(float(width[best]))
        left = np.setdiff1d(left, sets[best])
    return found


def compare(seed: int, count: int, size: int, kits: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.random((count, int(rng.integers(1, 6))))
    lengths = rng.integers(400, 700, size=count).astype(float)
    ratio = float(rng.choice([1.1, 1.3, np.inf]))
    bits = Bits(rng, count) if rng.random() < 0.5 else None
    stream = PairStream(PointPairs(points), lengths, ratio)
    found = closest_kits(iter(stream), size=size, kits=kits, checks=bits)
    expected = brute_force(points, size, kits, lengths, ratio, bits)
    assert [item.diameter for item in found] == pytest.approx(expected, abs=1e-12), seed
    members = [point for item in found for point in item.members]
    assert len(set(members)) == len(members) == size * len(found)


@pytest.mark.parametrize("seed", range(60))
def test_equal_to_brute_force(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    compare(seed, int(rng.integers(4, 25)), int(rng.integers(2, 5)), int(rng.integers(1, 4)))


@pytest.mark.slow
def test_equal_to_brute_force_a_thousand_times() -> None:
    rng = np.random.default_rng(7)
    for seed in range(1000):
        size = int(rng.integers(2, 5))
        # Small cases meet every rule as often; a few large ones see that nothing depends on size.
        count = int(rng.integers(4, 81 if seed % 50 == 0 else 30))
        compare(seed, count, size, int(rng.integers(1, 4)))


@pytest.mark.parametrize("seed", range(10))
def test_growing_radii_give_the_same_pairs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(seed).random((60, 3))
    at_once = list(PairStream(PointPairs(points)))
    monkeypatch.setattr(search, "MOST_POINTS_AT_ONCE", 10)
    monkeypatch.setattr(search, "MANY_PAIRS", 300)
    assert list(PairStream(PointPairs(points))) == at_once
    assert len(at_once) == 60 * 59 // 2


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=4, max_size=20))
def test_equal_points(places: list[tuple[int, int]]) -> None:
    points = np.array(places, dtype=float)
    # Only the first kit: which of several equally good ones is taken decides what is left.
    found = closest_kits(iter(PairStream(PointPairs(points))), size=3)
    expected = brute_force(points, 3, 1, np.ones(len(points)), np.inf, None)
    assert [item.diameter for item in found] == pytest.approx(expected)


def test_many_equal_points_need_no_memory() -> None:
    found = closest_kits(iter(PairStream(PointPairs(np.zeros((50_000, 5))))), size=3, kits=2)
    assert [item.members for item in found] == [(0, 1, 2), (3, 4, 5)]


def test_the_runner_up_may_share_pieces_with_the_kit() -> None:
    points = np.array([[0.0], [1.0], [2.0], [3.5], [50.0]])
    (found,) = closest_kits(iter(PairStream(PointPairs(points))), size=3)
    assert (found.members, found.diameter) == ((0, 1, 2), 2.0)
    assert (found.runner_up, found.runner_up_diameter) == ((1, 2, 3), 2.5)
    (alone,) = closest_kits(iter(PairStream(PointPairs(points[:3]))), size=3)
    assert (alone.runner_up, alone.runner_up_diameter) == ((), None)


@given(st.integers(0, 10_000))
def test_the_runner_up_is_the_second_best_set(seed: int) -> None:
    points = np.random.default_rng(seed).random((9, 2))
    (found,) = closest_kits(iter(PairStream(PointPairs(points))), size=3)
    every = np.sort(diameters(points, np.array(list(combinations(range(9), 3)))))
    assert (found.diameter, found.runner_up_diameter) == pytest.approx(tuple(every[:2]))


def test_relabelling_permutes() -> None:
    rng = np.random.default_rng(5)
    points, order = rng.random((40, 4)), rng.permutation(40)
    (first,) = closest_kits(iter(PairStream(PointPairs(points))), size=4)
    (second,) = closest_kits(iter(PairStream(PointPairs(points[order]))), size=4)
    assert sorted(order[list(second.members)]) == list(first.members)


def test_groups_keep_pairs_together() -> None:
    points = np.array([[0.0], [0.1], [0.2], [5.0], [5.5], [6.0]])
    stream = PairStream(PointPairs(points), groups=np.array([-1, 0, -1, 1, 1, 1]))
    assert [item.members for item in closest_kits(iter(stream), size=3)] == [(3, 4, 5)]


def naive_dbscan(points: NDArray[np.float64], radius: float, fewest: int) -> list[int]:
    near = np.linalg.norm(points[:, None] - points[None], axis=2) <= radius
    core = near.sum(axis=1) >= fewest
    labels = [-1] * len(points)
    cluster = 0
    for start in range(len(points)):
        if not core[start] or labels[start] >= 0:
            continue
        reach = {start}
        while True:
            wider = reach | {j for i in reach if core[i] for j in np.flatnonzero(near[i])}
            if wider == reach:
                break
            reach = wider
        for point in reach:
            labels[point] = cluster if labels[point] < 0 else labels[point]
        cluster += 1
    return labels


@given(st.integers(0, 10_000), st.floats(0.02, 0.5), st.integers(2, 5))
def test_dbscan_equals_its_definition(seed: int, radius: float, fewest: int) -> None:
    points = np.random.default_rng(seed).random((40, 2))
    assert dbscan(points, radius, fewest).tolist() == naive_dbscan(points, radius, fewest)


def test_dbscan_equals_scikit_learn() -> None:
    cluster = pytest.importorskip("sklearn.cluster")
    for seed in range(20):
        points = np.random.default_rng(seed).random((200, 3))
        theirs = cluster.DBSCAN(eps=0.12, min_samples=3).fit_predict(points)
        assert dbscan(points, 0.12, 3).tolist() == theirs.tolist()


def test_knees() -> None:
    # Outside values: kneed 0.9.0, KneeLocator(x, y, S=1, curve="convex", direction="increasing",
    # online=True, interp_method="polynomial").knee
    x = np.arange(60)
    assert knee_place(np.exp(x / 8.0)) == 43
    assert knee_place(x**3.0) == 34
    assert knee_place(np.sort(np.random.default_rng(4).lognormal(size=80))) == 65


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0] * 20])
def test_no_knee(values: list[float]) -> None:
    assert knee_place(np.array(values)) is None


def test_distances_to_the_nearest() -> None:
    assert nearest_distances(np.array([[0.0], [1.0], [3.0]])).tolist() == [1.0, 1.0, 2.0]
    assert nearest_distances(np.zeros((1, 2))).tolist() == []


def test_the_paper_s_corpus(shared_data: Path) -> None:
    import assay

    features = assay.read_pieces(shared_data / "effectiff_corpus.tsv.gz").features
    points = (features - features.min(axis=0)) / np.ptp(features, axis=0)
    distances = nearest_distances(points)
    place = knee_place(distances)
    # The value the authors' repository prints.
    assert place == 62
    assert distances[place] == pytest.approx(0.2812415593714895, abs=1e-12)
    labels = dbscan(points, 0.14, 3)
    assert np.flatnonzero(labels == 0).tolist() == [12, 24, 25]
    assert labels.max() == 0
    (found,) = closest_kits(iter(PairStream(PointPairs(points))), size=3)
    assert found.members == (12, 24, 25)
    assert round(found.diameter, 4) == 0.1216
    assert round(found.runner_up_diameter or 0, 4) == 0.1470


@pytest.mark.parametrize("near", [0.0, 1.0])  # in one place, or apart
@pytest.mark.parametrize(("other", "admitted"), [(20.0, 1), (20.1, 0)])
def test_lengths_may_differ_by_just_the_ratio(other: float, near: float, admitted: int) -> None:
    points = PointPairs(np.array([[0.0], [near]]))
    stream = PairStream(points, lengths=np.array([10.0, other]), ratio=2.0)
    assert len(list(stream)) == admitted
    assert stream.refused == 1 - admitted
