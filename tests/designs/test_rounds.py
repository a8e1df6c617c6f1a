"""Rounds: every beginning is a sample, with the stated probability at every border."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import assay
from assay.designs.base import DesignUnits, design_of, find_design
from assay.designs.plan import Draws, Layout
from assay.designs.rounds import RoundsPlan, piece_edges, piece_rounds, round_order, short_sections
from assay.results import has_note
from assay.stats.selection import length_order
from assay.worlds.simulate import World

SMALL = Layout(np.array([1, 3, 7, 13, 2, 5]))


def shown(length: int, rounds: int) -> Iterator[np.ndarray]:
    """For every cut, start and order of the pieces: the round that shows each segment."""
    lengths = np.array([length])
    for shift, phase in product(range(rounds), repeat=2):
        edges = piece_edges(lengths, rounds, np.array([shift]))
        for order in permutations(range(rounds)):
            key = np.array([order]) / rounds
            piece = piece_rounds(lengths, rounds, np.array([phase]), edges, key)[0]
            yield np.repeat(np.argsort(piece), np.diff(edges[0]))


@pytest.mark.parametrize(("length", "rounds"), [(1, 4), (3, 4), (4, 4), (7, 4), (9, 4), (11, 3)])
def test_every_segment_comes_equally_often_in_every_round(length: int, rounds: int) -> None:
    # All cuts, starts and orders, counted: after k rounds the probability is k/T exactly.
    found = np.stack(list(shown(length, rounds)))
    for number in range(rounds):
        assert {Fraction(int(c), len(found)) for c in (found == number).sum(axis=0)} == {
            Fraction(1, rounds)
        }
    # and a section has had its share after every round, up to one segment
    for k in range(rounds + 1):
        had = (found < k).sum(axis=1)
        assert had.min() >= np.floor(k * length / rounds)
        assert had.max() <= np.ceil(k * length / rounds)


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_every_place_of_the_round_is_equally_likely(count: int) -> None:
    # Rotating by a uniform whole number puts every section once at every place.
    place = length_order(np.arange(count), np.random.default_rng(0))[1]
    turned = np.stack([np.roll(place, -k) for k in range(count)])
    assert all(sorted(column) == list(range(count)) for column in turned.T)


def worst(layout: Layout, rounds: int, draws: int) -> tuple[float, float]:
    """Over all borders and segments: the largest |z|, and the share beyond 1.96."""
    rng = np.random.default_rng(5)
    pieces = rounds * len(layout.lengths)
    orders = np.array([round_order(layout, rounds, rng) for _ in range(draws)])
    # A piece begins to count at its start and ceases to at its stop.
    begins, ends = (
        np.stack([np.bincount(column, minlength=layout.population + 1) for column in side.T])
        for side in orders.swapaxes(0, 1)
    )
    after = np.cumsum(begins - ends, axis=1)[:, : layout.population]
    share = np.cumsum(after, axis=0)[: pieces - 1] / draws
    pi = (np.arange(1, pieces) / pieces)[:, None]
    z = np.abs(share - pi) / np.sqrt(pi * (1 - pi) / draws)
    return float(z.max()), float((z > 1.96).mean())


def test_the_probability_at_every_border() -> None:
    largest, beyond = worst(SMALL, 4, 4000)
    assert largest < 4.5
    assert beyond < 0.09


@pytest.mark.slow
def test_the_probability_at_every_border_in_100_000_draws() -> None:
    # 713 border-segment cells, 5 % expected beyond 1.96; neighbouring cells go together.
    largest, beyond = worst(SMALL, 4, 100_000)
    assert largest < 4.5
    assert beyond < 0.09


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 3000), min_size=1, max_size=6),
    st.integers(1, 30), st.integers(1, 12), st.integers(0, 99),
)  # fmt: skip
def test_pieces_are_the_whole_test_set_once(
    lengths: list[int], rounds: int, longest: int, seed: int
) -> None:
    layout = Layout(np.array(lengths))
    sections = short_sections(layout.lengths, rounds, longest)
    starts, stops = round_order(sections, rounds, np.random.default_rng(seed))
    assert (stops - starts).max() <= longest
    taken = np.concatenate([np.arange(a, b) for a, b in zip(starts, stops, strict=True)])
    assert np.array_equal(np.sort(taken), np.arange(layout.population))
    full = stops > starts
    assert np.array_equal(layout.document[starts[full]], layout.document[stops[full] - 1])
    # every round has one piece of every section
    owner = np.searchsorted(sections.starts, starts.reshape(rounds, -1)[:, :], side="right")
    if (sections.lengths >= rounds).all():
        assert all(sorted(row) == list(range(1, len(sections.lengths) + 1)) for row in owner)


@settings(max_examples=60)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=20), st.floats(0.05, 1), st.integers(1, 8))
def test_the_stated_probability_is_close_to_the_budget(
    lengths: list[int], share: float, looks: int
) -> None:
    layout = Layout(np.array(lengths))
    n = max(1, round(share * layout.population))
    rounds = max(1, round(looks * layout.population / n))
    plan = RoundsPlan(layout, n, rounds, 10)
    pi = plan.probabilities()
    total = rounds * len(plan.layout.lengths)
    assert pi.min() == pi.max() <= 1
    assert abs(pi[0] - n / layout.population) <= max(0.5, 1 - n / layout.population * total) / total
    assert plan.draw(np.random.default_rng(1)).starts.shape[1] == plan.pieces


def test_planned_looks_end_rounds() -> None:
    # 5 looks at 20 % of the segments: 25 rounds in all, 5 of them drawn, no part of one.
    world = assay.simulate(documents=40, rng=1)
    drawn = assay.sample(world.test_set, budget="20%", design="rounds", rng=7)
    plan = find_design("rounds").plan(assay.designs.population.Population(world.test_set),
                                      int(drawn.design.parameters["n"]))  # fmt: skip
    assert isinstance(plan, RoundsPlan)
    assert (plan.rounds, plan.pieces) == (25, 5 * len(plan.layout.lengths))
    assert drawn.frame["probability"].unique().to_list() == [0.2]


def test_pairs_drawn_together_are_those_of_the_draws() -> None:
    # The variance knows how often two segments of a section are drawn both; 3,000 draws.
    layout = Layout(np.array([7] * 6))
    for n in (14, 10):
        f = RoundsPlan(layout, n, 9, 4).probabilities()[0]
        plan = RoundsPlan(layout, n, 9, 4)
        line = design_of(f"rounds|looks:3|max:4|n:{14}|N:42")
        masks = plan.draw(np.random.default_rng(2), 3000).masks(42).reshape(-1, 7)
        for lag in range(1, 7):
            both = (masks[:, lag:] & masks[:, :-lag]).sum(axis=1).mean()
            found = line.together(np.array(7), np.array(lag), f)  # type: ignore[attr-defined]
            assert both == pytest.approx(float(found), abs=0.03)


def serial_world(length: int, seed: int, total: int = 1000, systems: int = 4) -> np.ndarray:
    """Skewed scores with 30 % fading and 10 % persistent variance along documents."""
    rng = np.random.default_rng(seed)
    shape = (systems, total // length, length)
    z = rng.normal(size=shape)
    for t in range(1, length):
        z[:, :, t] = 0.8 * z[:, :, t - 1] + 0.6 * z[:, :, t]
    own = rng.normal(size=(*shape[:2], 1))
    latent = np.sqrt(0.3) * z + np.sqrt(0.1) * own + np.sqrt(0.6) * rng.normal(size=shape)
    return np.asarray(np.exp(0.6 * latent).reshape(systems, -1))


def coverage(length: int, line: str, share: float, part: float) -> tuple[float, float]:
    """How many intervals of differences hold the truth, and their variance over the true one.

    12 worlds, 100 draws and 3 differences each: the Monte-Carlo error is below 1 point.
    """
    layout = Layout(np.full(1000 // length, length))
    n = round(share * 1000)
    design = design_of(f"{line}|n:{n}|N:1000")
    plan = design.make_plan(_laid_out(layout), n, None)  # type: ignore[arg-type]
    held, stated, true = [], [], []
    for seed in range(12):
        drawn = plan.draw(np.random.default_rng(seed), 100)
        stop = round(part * drawn.starts.shape[1])
        masks = Draws(drawn.starts[:, :stop], drawn.stops[:, :stop]).masks(1000)
        pi = np.full(1000, plan.probabilities()[0] * stop / drawn.starts.shape[1])
        units = DesignUnits(design, pi, layout.document)
        scores = serial_world(length, seed, systems=6)
        for x in scores[::2] - scores[1::2]:
            means = masks @ x / masks.sum(axis=1)
            variance, degrees = units.variance(x - means[:, None], masks)
            reach = stats.t.ppf(0.975, degrees) * np.sqrt(variance)
            held.append(np.abs(means - x.mean()) <= reach)
            stated.append(variance.mean())
            true.append(((means - x.mean()) ** 2).mean())
    return float(np.mean(held)), float(np.mean(stated) / np.mean(true))


class _laid_out:  # noqa: N801 - stands in for a population that is only laid out
    def __init__(self, layout: Layout) -> None:
        self.layout, self.size = layout, layout.population


@pytest.mark.parametrize("length", [5, 20, 100])
@pytest.mark.parametrize("part", [1.0, 0.7])
def test_intervals_hold_at_whole_and_broken_rounds(length: int, part: float) -> None:
    held, ratio = coverage(length, "rounds", 0.3, part)
    assert 0.93 <= held <= 0.97
    assert 0.85 <= ratio <= 1.18


@pytest.mark.parametrize(("length", "share"), [(20, 0.5), (100, 0.1), (100, 0.3), (100, 0.5)])
def test_snippets_know_that_neighbours_are_alike(length: int, share: float) -> None:
    # s^2/n alone covers 83 to 90 % here, and states half to two thirds of the true variance.
    held, ratio = coverage(length, "snippets", share, 1.0)
    assert 0.92 <= held <= 0.97
    assert 0.8 <= ratio <= 1.25


def coverage_on_real_ratings(
    scores: np.ndarray, document: np.ndarray, line: str, share: float, draws: int
) -> tuple[float, float]:
    """How many intervals of scores and of all differences hold the mean of all segments."""
    layout = Layout(np.bincount(document))
    n = round(share * layout.population)
    design = design_of(f"{line}|n:{n}|N:{layout.population}")
    plan = design.make_plan(_laid_out(layout), n, None)  # type: ignore[arg-type]
    masks = plan.draw(np.random.default_rng(7), draws).masks(layout.population)
    units = DesignUnits(design, plan.probabilities(), layout.document)
    i, j = np.triu_indices(len(scores), 1)
    found = []
    for rows in (scores, scores[i] - scores[j]):
        held = []
        for x in rows:
            means = masks @ x / masks.sum(axis=1)
            variance, degrees = units.variance(x - means[:, None], masks)
            reach = stats.t.ppf(0.975, degrees) * np.sqrt(variance)
            held.append(np.abs(means - x.mean()) <= reach)
        found.append(float(np.mean(held)))
    return found[0], found[1]


@pytest.mark.slow
@pytest.mark.parametrize("line", ["snippets", "rounds"])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_intervals_hold_in_documents_of_twenty_on_wmt21(
    shared_data: Path, line: str, share: float
) -> None:
    # 650 segments in 32 rated runs, 15 systems and 105 differences; 300 draws, in which pairs go
    # together: the Monte-Carlo error is about .7 points. s^2/n alone covers 85 to 92 %.
    path = shared_data / "wmt21_mqm_zhen.parquet"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    frame = pl.read_parquet(path).filter(pl.col("mqm").is_not_null())
    frame = frame.sort("system", "rated_run", "seg_id")
    scores = frame["mqm"].cast(pl.Float64).to_numpy().reshape(frame["system"].n_unique(), -1)
    document = frame["rated_run"][: scores.shape[1]].rle_id().to_numpy()
    assert 15 < scores.shape[1] / (document.max() + 1) < 25
    for held in coverage_on_real_ratings(scores, document, line, share, 300):
        assert 0.92 <= held <= 0.975


@pytest.mark.slow
@pytest.mark.parametrize("line", ["snippets", "rounds"])
@pytest.mark.parametrize("length", [5, 20, 100])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_intervals_hold_where_neighbours_are_alike(line: str, length: int, share: float) -> None:
    # The same in worlds whose serial correlation is known.
    held, ratio = coverage(length, line, share, 1.0)
    assert 0.925 <= held <= 0.975
    assert 0.8 <= ratio <= 1.4


def ratios(scores: np.ndarray, lengths: np.ndarray, share: float, draws: int) -> np.ndarray:
    """The variances of differences relative to a simple random sample's."""
    layout, (i, j) = Layout(lengths), np.triu_indices(len(scores), 1)
    population = layout.population
    n = round(share * population)
    masks = RoundsPlan(layout, n, round(5 / share), 10).draw(np.random.default_rng(3), draws)
    drawn = masks.masks(population)
    gaps = scores[i] - scores[j]
    means = drawn @ gaps.T / drawn.sum(axis=1)[:, None]
    return np.asarray(means.var(axis=0) / (gaps.var(axis=1, ddof=1) * (1 / n - 1 / population)))


def test_rounds_beat_a_simple_random_sample_in_a_world() -> None:
    world = assay.simulate(documents=60, rng=2)
    truth, lengths = world.scores.mean(axis=2), world.test_set.documents["segments"].to_numpy()
    for share in (0.1, 0.2, 0.4):
        found = ratios(truth, lengths, share, 1000)
        assert found.mean() <= 1.0
        assert found.max() <= 1.15 + 3 * np.sqrt(2 / 1000)


@pytest.mark.parametrize("lp", ["ende", "zhen"])
def test_rounds_beat_a_simple_random_sample_on_wmt20(shared_data: Path, lp: str) -> None:
    frame = pl.read_parquet(shared_data / f"wmt20_mqm_{lp}.parquet").sort("system", "doc", "seg_id")
    scores = frame["mqm"].to_numpy().reshape(frame["system"].n_unique(), -1)
    documents = frame["doc"][: scores.shape[1]].rle_id().to_numpy()
    for share in (0.1, 0.2, 0.4):
        found = ratios(scores, np.bincount(documents), share, 1500)
        assert found.mean() <= 1.0
        assert found.max() <= 1.15


def test_a_sample_of_rounds_is_written_read_estimated_and_watched(tmp_path: Path) -> None:
    world = assay.simulate(documents=40, systems=3, rng=1)
    drawn = assay.sample(world.test_set, budget="40%", design="rounds", rng=7)
    drawn.write(tmp_path / "sample.tsv")
    again = assay.read_sample(tmp_path / "sample.tsv", world.test_set)
    ratings = world.rate(drawn)
    one, other = (
        assay.estimate(world.test_set, ratings, sample=sample) for sample in (drawn, again)
    )
    assert one.systems == other.systems
    assert one.systems[0].stderr > 0
    watched = assay.monitor(world.test_set, ratings, sample=again, half_width=0.8)
    assert watched.looks
    assert watched.n == len(drawn)


def test_a_beginning_of_rounds_is_estimated_as_a_sample() -> None:
    world = assay.simulate(documents=40, systems=3, rng=1)
    drawn = assay.sample(world.test_set, budget="40%", design="rounds", rng=7)
    done = _first(drawn, len(drawn) // 2)
    found = assay.estimate(world.test_set, world.rate(done), sample=drawn)
    assert has_note(found.notes, "rated-beginning")
    whole = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    assert found.systems[0].stderr > whole.systems[0].stderr


def _first(sample: assay.Sample, count: int) -> assay.Sample:
    from assay.tables.tables import make_sample

    return make_sample(sample.frame.sort("order").head(count))


def test_rounds_with_importance_and_topped_up() -> None:
    world: World = assay.simulate(documents=40, systems=2, rng=1)
    drawn = assay.sample(world.test_set, budget="20%", design="rounds", rng=7)
    more = assay.top_up(world.test_set, drawn, budget="40%", rng=8)
    found = assay.estimate(world.test_set, world.rate(more), sample=more)
    assert found.systems[0].stderr > 0
    assert not design_of(more.design).is_sample(len(more))
