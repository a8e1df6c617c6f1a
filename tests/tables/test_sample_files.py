"""Sample files: known again whole, shuffled or placed in a part of the test set, never altered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay.errors import InputError, TableError
from assay.worlds.simulate import World


@pytest.fixture(scope="module")
def world() -> World:
    return assay.simulate(documents=12, systems=3, rng=1)


@pytest.mark.parametrize("design", ["segments", "snippets", "balanced"])
@pytest.mark.parametrize("top_up", [False, True])
def test_a_cut_or_altered_sample_file_is_known(tmp_path: Path, design: str, top_up: bool) -> None:
    world = assay.simulate(documents=12, systems=2, rng=1)
    sample = assay.sample(world.test_set, budget="30%", design=design, rng=7)
    if top_up:
        sample = assay.top_up(world.test_set, sample, budget="50%", rng=8)
    path = tmp_path / "sample.tsv"
    sample.frame.write_csv(path, separator="\t")
    assert len(assay.read_sample(path, world.test_set)) == len(sample)
    lines = path.read_text().splitlines(keepends=True)
    shuffled = [lines[0], *reversed(lines[1:])]
    path.write_text("".join(shuffled))
    assert len(assay.read_sample(path, world.test_set)) == len(sample)
    path.write_text("".join(lines[:-6]))
    with pytest.raises(TableError, match="not the segments that were drawn"):
        assay.read_sample(path, world.test_set)
    key = list(world.test_set.key)
    other = world.test_set.segments.join(sample.frame, on=key, how="anti").row(0, named=True)
    changed = sample.frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(other[name])).otherwise(name).alias(name)
        for name in key
    )
    changed.write_csv(path, separator="\t")
    with pytest.raises(TableError, match="not the segments that were drawn"):
        assay.read_sample(path, world.test_set)


def test_an_older_sample_file_has_no_digest_and_is_read(tmp_path: Path) -> None:
    world = assay.simulate(documents=12, systems=2, rng=1)
    sample = assay.sample(world.test_set, budget="30%", rng=7)
    path = tmp_path / "sample.tsv"
    older = sample.frame.with_columns(pl.col("design").str.replace(r"\|drawn:\w+", ""))
    older.write_csv(path, separator="\t")
    assert assay.read_sample(path, world.test_set).design == sample.design


def test_the_order_of_rating_is_kept(world: World) -> None:
    drawn = assay.sample(world.test_set, budget="30%", design="segments", rng=3)
    places = drawn.order(world.test_set)
    key = list(world.test_set.key)
    rows = drawn.frame.sort("order").select(key).rows()
    assert world.test_set.segments.select(key)[places].rows() == rows
    assert len({*places.tolist()}) == len(drawn)


def test_probabilities_stand_where_the_segments_do(world: World) -> None:
    for matched in (True, False):
        drawn = assay.sample(world.test_set, budget="30%", rng=3, matched=matched)
        pi = drawn.probabilities(world.test_set)
        assert pi.shape == (3, world.test_set.segments.height)
        assert np.count_nonzero(~np.isnan(pi)) == len(drawn) * (3 if matched else 1)
        key = list(world.test_set.key)
        place = {row: i for i, row in enumerate(world.test_set.segments.select(key).rows())}
        systems = list(world.test_set.systems)
        for row in drawn.frame.iter_rows(named=True):
            own = systems if matched else [row["system"]]
            for system in own:
                at = (systems.index(system), place[tuple(row[name] for name in key)])
                assert pi[at] == pytest.approx(row["probability"])


def test_placed_in_a_part_of_the_test_set(world: World) -> None:
    drawn = assay.sample(world.test_set, budget="30%", rng=3, matched=False)
    assert drawn.placed_in(world.test_set) is drawn
    first, *_ = world.test_set.systems
    part = assay.read_scores(world.test_set.frame, exclude=[first])
    placed = drawn.placed_in(part)
    assert placed.frame["system"].unique().sort().to_list() == sorted(part.systems)
    assert len(placed) == drawn.frame.filter(pl.col("system") != first).height
    whole = assay.read_scores(world.test_set.frame, exclude=world.test_set.systems[1:])
    only = drawn.frame.filter(pl.col("system") != first)
    with pytest.raises(InputError, match="no row belongs to a system of the test set"):
        assay.read_sample(only, whole)
