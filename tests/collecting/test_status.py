"""How a project stands, from nothing to a finished campaign."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import assay
from assay.collecting.status import ProjectStatus, project_status
from assay.results import has_note
from assay.tables.tables import Ratings, Sample
from assay.views.section import section_of

PAY = "0.12 EUR per rating, 30 s per rating"


@pytest.fixture(scope="module")
def world() -> assay.World:
    return assay.simulate(documents=40, systems={"good": 1.0, "fair": 1.2, "bad": 6.0}, rng=1)


@pytest.fixture(scope="module")
def drawn(world: assay.World) -> Sample:
    return assay.sample(world.test_set, budget="50%", design="rounds", rng=7)


def first(ratings: Ratings, sample: Sample, count: int) -> Ratings:
    """The ratings of the first segments of a sample."""
    kept = sample.frame.sort("order").head(count).select("doc", "seg")
    return replace(ratings, frame=ratings.frame.join(kept, on=["doc", "seg"], how="semi"))


def test_before_anything_is_rated(world: assay.World, drawn: Sample) -> None:
    new = project_status(world.test_set)
    assert (new.state, new.rated, new.basis, new.pairs.open) == ("new", 0, None, 3)
    ready = project_status(world.test_set, sample=drawn)
    assert (ready.state, ready.drawn) == ("drawn", len(drawn))
    key = assay.assign(drawn, ["Ada", "Ben"], rng=1).to_frame()
    sent = project_status(world.test_set, sample=drawn, key=key, pay=PAY)
    assert (sent.state, sent.planned) == ("sent", key.height)
    assert [item.rater for item in sent.raters] == ["Ada", "Ben"]
    assert "2 sheets" in section_of(sent).lead


def test_a_finished_campaign(world: assay.World, drawn: Sample) -> None:
    ratings = world.rate(drawn)
    status = project_status(world.test_set, ratings, sample=drawn, pay=PAY)
    result = assay.estimate(world.test_set, ratings, sample=drawn)
    assert (status.state, status.basis, status.waiting) == ("complete", "sample", 0)
    assert status.pairs.decided == sum(item.decided for item in result.differences)
    for mine, item in zip(status.systems, result.systems, strict=True):
        assert (mine.system, mine.estimate, mine.low) == (item.system, item.estimate, item.low)
    assert status.spent.money == pytest.approx(0.12 * status.rated)
    assert status.spent.hours == pytest.approx(status.rated / 120)
    assert "EUR" in section_of(status).lead
    assert type(status).from_dict(status.to_dict()) == status


def test_half_a_campaign_rests_on_its_beginning(world: assay.World, drawn: Sample) -> None:
    begun = len(drawn) // 2
    some = first(world.rate(drawn), drawn, begun)
    later = drawn.frame.sort("order").slice(begun + 20, 15).select("doc", "seg")
    whole = world.rate(drawn).frame
    behind = whole.join(later, on=["doc", "seg"], how="semi")
    scattered = replace(some, frame=pl.concat([some.frame, behind]))
    status = project_status(world.test_set, scattered, sample=drawn)
    clean = project_status(world.test_set, some, sample=drawn)
    assert (status.state, status.basis, status.segments) == ("begun", "beginning", begun)
    assert status.waiting == 15 * 3
    assert clean.waiting == 0
    assert [item.estimate for item in status.systems] == [item.estimate for item in clean.systems]
    assert "later answers wait" in section_of(status).lead


def test_without_a_beginning_figures_are_for_orientation(world: assay.World, drawn: Sample) -> None:
    ratings = world.rate(drawn)
    gone = drawn.frame.sort("order").head(1).select("doc", "seg")
    torn = replace(ratings, frame=ratings.frame.join(gone, on=["doc", "seg"], how="anti"))
    status = project_status(world.test_set, torn, sample=drawn)
    assert (status.basis, status.pairs.decided, status.best) == ("orientation", 0, None)
    assert status.systems[0].estimate is not None
    section = section_of(status)
    assert "Scores are provisional" in section.lead
    assert not any("interval" in str(block) for block in section.blocks[:1])


def test_raters_that_stand_out_and_sheets_that_are_missing(
    world: assay.World, drawn: Sample
) -> None:
    plan = assay.assign(drawn, ["Ada", "Ben", "Cy", "Dee", "Eve"], overlap=0.8, rng=1)
    key = plan.to_frame()
    truth = world.rate(drawn).frame.unique(["system", "doc", "seg"], maintain_order=True)
    rows = key.join(truth.drop("rater"), on=["system", "doc", "seg"], how="left")
    rows = rows.with_columns(
        score=pl.when(pl.col("rater") == "Cy").then(7.0).otherwise("score")
    ).filter(pl.col("rater") != "Ben")
    ratings = assay.read_ratings(rows.select("system", "doc", "seg", "rater", "score"))
    status = project_status(world.test_set, ratings, sample=drawn, key=key, pay=PAY)
    assert [item.rater for item in status.raters if not item.rated] == ["Ben"]
    assert any("collect from Ben" in line and "EUR" in line for line in status.next)
    assert has_note(status.warnings, "rater-stands-out")
    assert [item.rater for item in status.raters if item.doubts] == ["Cy"]


def test_one_rater_alone_is_warned_of(world: assay.World, drawn: Sample) -> None:
    ratings = world.rate(drawn, raters="rater-1")
    status = project_status(world.test_set, ratings, sample=drawn)
    assert has_note(status.warnings, "no-overlap")


def test_missing_outputs_are_named(world: assay.World) -> None:
    frame = world.test_set.frame.filter((pl.col("system") != "bad") | (pl.col("seg") != "1"))
    short = assay.read_scores(frame)
    status = project_status(short)
    (note,) = [note for note in status.warnings if note.code == "outputs-missing"]
    assert note.startswith("bad has no output for")


def test_ratings_without_a_sample(world: assay.World) -> None:
    everything = project_status(world.test_set, world.rate())
    assert (everything.state, everything.basis) == ("complete", "sample")
    some = world.rate()
    part = replace(some, frame=some.frame.head(200))
    assert project_status(world.test_set, part).basis == "orientation"
    none = replace(some, frame=some.frame.with_columns(score=pl.lit(None, dtype=pl.Float64)))
    assert project_status(world.test_set, none).state == "new"


def test_open_pairs_say_what_deciding_them_takes(world: assay.World) -> None:
    drawn = assay.sample(world.test_set, budget="8%", design="rounds", rng=3)
    status = project_status(world.test_set, world.rate(drawn), sample=drawn, pay=PAY)
    assert isinstance(status, ProjectStatus)
    assert status.pairs.open == len(status.pairs.undecided)
    numbers = [pair.ratings for pair in status.pairs.undecided if pair.ratings is not None]
    assert numbers == sorted(numbers)
    assert all(np.isfinite(pair.difference) for pair in status.pairs.undecided)
