"""Designs as objects: found by themselves, described, and the same in a plan as in a sample."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest

import assay
from assay.designs import base
from assay.designs.base import (
    DesignUnits,
    SamplingDesign,
    Strata,
    _strata_of,
    collapsed_variance,
    design_names,
    design_of,
    find_design,
    short_names,
    simple_variance,
)
from assay.designs.plan import DrawPlan
from assay.designs.population import Population
from assay.designs.segments import SegmentsPlan
from assay.errors import InputError, OptionError
from assay.estimation.kernels import adjusted_means
from assay.worlds.simulate import World

ALL = [*design_names(), *short_names(), "segments|strata:metrics|bin:30|rounding:largest"]


@pytest.fixture(scope="module")
def world() -> World:
    return assay.simulate(documents=30, systems=1, metrics={"good": 0.5, "fair": 0.4}, rng=3)


@pytest.fixture
def every_third() -> Iterator[None]:
    """A design of our own, as a new file would define it."""

    class EveryThird(SamplingDesign, name="every-third", short={"et": ""}):
        sentence = "taking every third segment"

        def make_plan(self, population: Population, n: int, weights: np.ndarray | None) -> DrawPlan:
            return SegmentsPlan(population.layout, population.size // 3)

    yield
    del base.CLASSES["every-third"]
    del base.SHORT_NAMES["et"]


@pytest.mark.usefixtures("every_third")
def test_a_new_design_needs_nothing_else(world: World) -> None:
    drawn = assay.sample(world.test_set, budget="33%", design="ET", rng=1)
    found = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    assert (found.design, found.systems[0].n) == ("every-third", world.test_set.frame.height // 3)
    assert found.next
    assert "every-third" in design_names()


def test_what_is_validated_is_what_runs(world: World) -> None:
    # The estimate from a sample's file columns equals that from the plan, which knows all units.
    population, scores = Population(world.test_set), world.rate().matrix(world.test_set)[0]
    for name in ALL:
        drawn = assay.sample(world.test_set, budget="30%", design=name, rng=4,
                             allow_unreachable=True)  # fmt: skip
        design = design_of(drawn.design)
        plan = design.plan(population, design.sizes[0])
        units = DesignUnits.of_plan(design, plan, population)
        mask = ~np.isnan(drawn.probabilities(world.test_set))
        expected = adjusted_means(scores, mask, units, "mean")
        item = assay.estimate(
            world.test_set, world.rate(), sample=drawn, method="mean", target="answers"
        ).systems[0]
        assert item.estimate == pytest.approx(expected.center[0], rel=1e-12), name
        assert item.stderr == pytest.approx(expected.stderr[0], rel=1e-12), name


@pytest.mark.parametrize("name", ALL)
def test_every_design_is_described(name: str) -> None:
    design = find_design(name)
    assert design.described
    assert find_design(str(design)) == design
    assert find_design(design.short) == design
    assert all(option.about for option in design.options.values())


def test_a_line_in_words() -> None:
    line = "segments|strata:metrics|allocation:optimal|rounding:random|bin:80|n:9|N:90|matched:no"
    assert design_of(line).described == (
        "simple random sampling of segments, stratified by metrics with optimal allocation, each"
        " system on a sample of its own"
    )
    weighted = design_of("snippets|max:10|n:9|N:90|importance:weight")
    assert weighted.described.endswith(", with probabilities that go with weight")


def test_lines_of_samples() -> None:
    design = design_of("segments|strata:none|n:50|N:90|parts:30+25|seed:1+2")
    assert (design.sizes, design.seed, design.simple) == ((30, 25), 2, True)
    assert design_of("segments|n:3|N:9").equal
    with pytest.raises(InputError, match="does not give n and N"):
        _ = design_of("snippets|n:3").sizes
    with pytest.raises(InputError, match="no estimator knows the design 'quota'"):
        design_of("quota|n:3|N:9")


def test_designs_of_ratings_without_a_sample_cannot_be_drawn(world: World) -> None:
    with pytest.raises(OptionError, match=r"design \(census\) is not known"):
        find_design("census")
    assert design_of("census").everything
    assert not design_of("assumed-documents").error_falls_with_ratings
    with pytest.raises(InputError, match="no sample can be drawn"):
        design_of("assumed-random").plan(Population(world.test_set), 3)


def test_drawn_units_outside_a_domain_count_as_zeros() -> None:
    """4 of 10 drawn, 2 of them in the domain, which is therefore taken to have 5 units.

    With the other two as zeros, the mean is 1 and s^2 = (0 + 4 + 1 + 1) / 3 = 2, so that the
    variance is (10 / 5)^2 (1 - 4/10) 2 / 4.
    """
    strata = Strata(np.zeros(2, dtype=np.int64), np.array([10]), np.array([2]))
    variance = collapsed_variance(np.array([[1.0, 3.0]]), np.array([[True, True]]), strata)
    assert variance == pytest.approx([1.2])


def test_a_stratum_left_over_joins_the_last_group() -> None:
    # Strata of 4, 4 and 4, of which 2, 2 and 1 are drawn: groups of 4 and of 8.
    strata = Strata.known(np.repeat([0, 1, 2], 4))
    drawn = np.zeros((2, 12), dtype=bool)
    drawn[:, [0, 1, 4, 5, 8]] = True
    e = np.tile(np.arange(12.0) ** 2, (2, 1))
    wanted = (4 / 12) ** 2 * (1 - 2 / 4) * np.var([0, 1], ddof=1) / 2 + (8 / 12) ** 2 * (
        1 - 3 / 8
    ) * np.var([16, 25, 64], ddof=1) / 3
    assert collapsed_variance(e, drawn, strata) == pytest.approx([wanted, wanted])
    assert collapsed_variance(e[:1], drawn[:1], strata) == pytest.approx([wanted])


def test_a_stratum_drawn_outside_a_domain_alone_adds_nothing() -> None:
    e, drawn = np.array([[1.0, 3.0, 2.0, 7.0, 0.0]]), np.array([[True, True, True, True, False]])
    known = collapsed_variance(
        e[:, :4], drawn[:, :4], Strata(np.array([0, 0, 1, 1]), np.full(2, 5))
    )
    strata = Strata(np.array([0, 0, 1, 1, 2]), np.array([5, 5, 6]), np.array([0, 0, 1]))
    assert collapsed_variance(e, drawn, strata) == pytest.approx(known)


def test_one_drawn_unit_shows_no_spread() -> None:
    e, drawn = np.array([[1.0, 3.0, 2.0]]), np.array([[True, False, False]])
    assert np.isnan(simple_variance(e, drawn, np.ones(3))).all()
    assert np.isnan(collapsed_variance(e, drawn, Strata.known(np.zeros(3, dtype=int)))).all()


def test_a_domain_of_a_domain_leaves_out_what_both_do() -> None:
    strata, drawn = (
        Strata.known(np.array([0, 0, 0, 1, 1])),
        np.array([True, True, True, True, False]),
    )
    half = np.array([True, True, False, False, True])
    first = strata.part(half, drawn)
    assert first.outside is not None
    assert first.outside.tolist() == [1, 1]
    second = first.part(np.array([True, False, False]), drawn[half])
    assert second.outside is not None
    assert second.outside.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("size", "drawn", "population", "fits"),
    [([4, 4], [4, 4], 8, True), ([4, 4], [4, 2], 7, False), ([2, 6], [3, 1], 8, False)],
)
def test_strata_that_do_not_fit_are_refused(
    size: list[int], drawn: list[int], population: int, fits: bool
) -> None:
    start = np.repeat([0, size[0]], drawn)
    rows = pl.DataFrame({"stratum_start": start, "stratum_size": np.repeat(size, drawn)})
    if fits:
        assert _strata_of(rows, np.arange(len(rows)), population, 8).sizes.tolist() == size
        return
    with pytest.raises(InputError, match="strata do not fit the test set"):
        _strata_of(rows, np.arange(len(rows)), population, 8)
