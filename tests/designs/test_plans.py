"""Every design draws each segment with the probability it states."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.designs.balanced import BalancedPlan
from assay.designs.documents import DocumentsPlan, FixedSnippetsPlan
from assay.designs.plan import DrawPlan, GroupedPlan, Layout
from assay.designs.segments import SegmentsPlan, StratifiedPlan
from assay.designs.snippets import CircularPlan, LinearPlan, TilesPlan, covered

SMALL = Layout(np.array([3, 5, 2, 8, 1, 4, 4, 13]))
STRATA = np.repeat([0, 1, 2], [10, 20, 10])
BADNESS = np.random.default_rng(3).normal(size=40)

PLANS: dict[str, DrawPlan] = {
    "segments": SegmentsPlan(SMALL, 11),
    "stratified": StratifiedPlan(STRATA, np.array([3.3, 4.4, 2.3])),
    "stratified, over-full": StratifiedPlan(STRATA, np.array([10.0, 4.6, 2.4])),
    "stratified, largest remainder": StratifiedPlan(STRATA, np.array([3.3, 4.4, 2.3]), "largest"),
    "documents, under": DocumentsPlan(SMALL, 15, "under"),
    "documents, over": DocumentsPlan(SMALL, 15, "over"),
    "documents, closest": DocumentsPlan(SMALL, 15, "closest"),
    "documents, size limit": DocumentsPlan(SMALL, 10, "closest", 5),
    "fixed snippets": FixedSnippetsPlan(SMALL, 15, 4),
    "fixed snippets, over": FixedSnippetsPlan(SMALL, 15, 4, "over"),
    "fixed snippets, longest first": FixedSnippetsPlan(SMALL, 11, 4, "closest", True),
    "linear, small": LinearPlan(SMALL, 7),
    "linear, large": LinearPlan(SMALL, 31),
    "tiles, f = 1/2": TilesPlan(SMALL, 20, 10),
    "tiles, f = 13/40": TilesPlan(SMALL, 13, 3),
    "tiles, f = 3/40": TilesPlan(SMALL, 3, 10),
    "circular, f = 21/40": CircularPlan(SMALL, 21, 10),
    "circular, sections": CircularPlan(SMALL, 33, 3),
    "circular, everything": CircularPlan(SMALL, 40, 4),
    "grouped": GroupedPlan(
        SMALL, np.array([0, 1, 0, 1, 0, 1, 1, 0]),
        [TilesPlan(Layout(np.array([3, 2, 1, 13])), 6, 4),
         CircularPlan(Layout(np.array([5, 8, 4, 4])), 15, 10)],
    ),
}  # fmt: skip

EXACT_TOTALS = {"segments", "stratified", "linear, small", "linear, large", "tiles, f = 1/2",
                "circular, f = 21/40", "circular, sections", "circular, everything"}  # fmt: skip


def worst_z(masks: np.ndarray, pi: np.ndarray) -> float:
    """The largest deviation of a share of draws from its probability, in standard errors."""
    certain = (pi < 1e-12) | (pi > 1 - 1e-12)
    assert np.array_equal(masks[:, certain].mean(axis=0), np.round(pi[certain]))
    error = np.sqrt(pi * (1 - pi) / len(masks))[~certain]
    return float((np.abs(masks.mean(axis=0) - pi)[~certain] / error).max(initial=0.0))


@pytest.mark.parametrize("name", PLANS)
def test_stated_probability_is_the_share_of_100_000_draws(name: str) -> None:
    # 40 segments: the largest of 40 standard normals exceeds 4.5 once in 3,700 runs.
    plan = PLANS[name]
    drawn = plan.draw(np.random.default_rng(7), 100_000)
    masks, pi = drawn.masks(40), plan.probabilities()
    assert worst_z(masks, pi) < 4.5
    assert np.array_equal(masks.sum(axis=1), drawn.sizes)  # windows do not overlap
    if name in EXACT_TOTALS:
        assert len(set(drawn.sizes.tolist())) == 1


def test_balanced_probability_is_the_share_of_draws() -> None:
    plan = BalancedPlan(SMALL.document, BADNESS, 11, 2.5, np.ones(40))
    drawn = plan.draw(np.random.default_rng(7), 20_000)
    assert set(drawn.sizes.tolist()) == {11}
    assert plan.probabilities().sum() == pytest.approx(11)
    assert worst_z(drawn.masks(40), plan.probabilities()) < 4.5


@pytest.mark.parametrize("stop", ["under", "over", "closest"])
def test_documents_by_exact_enumeration(stop: str) -> None:
    lengths, n = np.array([3, 1, 4, 2, 6]), 7
    counts = np.zeros(5)
    for order in permutations(range(5)):
        total = 0
        for d in order:
            length = int(lengths[d])
            fits = {
                "under": total + length <= n,
                "over": total < n,
                "closest": abs(total + length - n) <= abs(n - total),
            }[stop]
            if not fits:
                break
            counts[d] += 1
            total += length
    pi = DocumentsPlan(Layout(lengths), n, stop).probabilities()
    np.testing.assert_allclose(pi, np.repeat(counts / 120, lengths), atol=1e-9)


layouts = st.lists(st.integers(1, 60), min_size=1, max_size=25).map(lambda x: Layout(np.array(x)))


@given(layouts, st.integers(1, 1000), st.integers(1, 20), st.integers(0, 10**6))
def test_snippets_have_the_same_probability_and_are_short(
    layout: Layout, share: int, longest: int, seed: int
) -> None:
    population = layout.population
    n = max(1, min(population, round(population * share / 1000)))
    kind = TilesPlan if 2 * n <= population else CircularPlan
    plan = kind(layout, n, longest)
    drawn = plan.draw(np.random.default_rng(seed), 40)
    sizes = drawn.stops - drawn.starts
    assert plan.probabilities().tolist() == [n / population] * population
    assert sizes.min() >= 0
    # A circular window of at most `longest` segments may wrap into two shorter ones.
    assert sizes.max(initial=0) <= longest
    assert np.array_equal(drawn.masks(population).sum(axis=1), drawn.sizes)
    if isinstance(plan, CircularPlan):
        assert set(drawn.sizes.tolist()) == {n}
        half = drawn.starts.shape[1] // 2
        assert (sizes[:, :half] + sizes[:, half:]).max() <= longest
    else:
        assert np.abs(drawn.sizes - n).max() <= 8 * plan.size_sd() + 1
    # No window crosses the border of a document.
    last = np.maximum(drawn.stops - 1, drawn.starts)
    inside = (
        layout.document[np.minimum(drawn.starts, population - 1)]
        == (layout.document[np.minimum(last, population - 1)])
    )
    assert (inside | (sizes == 0)).all()


@settings(max_examples=25)
@given(
    st.lists(st.integers(1, 3000), min_size=1, max_size=6), st.floats(0.01, 1.0), st.integers(0, 99)
)
def test_snippets_of_very_long_documents(lengths: list[int], share: float, seed: int) -> None:
    layout = Layout(np.array(lengths))
    n = max(1, round(layout.population * share))
    plan = (TilesPlan if 2 * n <= layout.population else CircularPlan)(layout, n, 10)
    drawn = plan.draw(np.random.default_rng(seed), 4)
    assert (drawn.stops - drawn.starts).max() <= 10
    assert abs(drawn.sizes.mean() - n) <= max(3.0, 0.01 * n)


@pytest.mark.parametrize("n", [3, 7, 11, 13, 17, 20])
def test_stated_sd_of_the_total_of_tiles(n: int) -> None:
    # 60,000 draws: the relative error of an sd is about .3 %; ties in length are exchangeable.
    plan = TilesPlan(SMALL, n, 10)
    sizes = plan.draw(np.random.default_rng(1), 60_000).sizes
    assert sizes.mean() == pytest.approx(n, abs=0.02)
    assert sizes.std() == pytest.approx(plan.size_sd(), rel=0.03, abs=1e-9)


def test_pairs_of_a_circular_window() -> None:
    plan = CircularPlan(Layout(np.array([12])), 7, 12)
    masks = plan.draw(np.random.default_rng(4), 100_000).masks(12)
    joint = covered(np.array(12), np.arange(12), plan.f)
    for lag in range(12):
        share = (masks[:, 0] & masks[:, lag]).mean()
        assert abs(share - joint[lag]) < 4.5 * np.sqrt(joint[lag] * (1 - joint[lag]) / 1e5) + 1e-9
