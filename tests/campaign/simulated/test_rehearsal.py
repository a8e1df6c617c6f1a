"""Simulated raters through a real server: what must hold of who did what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import assay
from assay.campaign.campaign import open_campaign
from assay.campaign.contents import Material
from assay.campaign.create import create_campaign
from assay.campaign.exchange.export import tables_of
from assay.campaign.records import Collected
from assay.campaign.simulated.raters import manners
from assay.campaign.simulated.rehearsal import rehearse
from assay.campaign.web.server import serving
from assay.collecting.results import Simulation
from assay.errors import InputError, OptionError
from assay.project.settings import Checks, Forms, Raters, Screen, Settings
from assay.stats.random import as_rng


def worked(
    folder: Path, documents: list[int], systems: int, settings: Settings, raters: int | None,
    careless: int = 0, leaving: int = 0, *, editors: int = 0,
) -> tuple[Simulation, Collected]:  # fmt: skip
    """A campaign made and worked through; for editors by kits."""
    world = assay.simulate(systems=systems, documents=documents, texts=True, rng=3)
    texts = world.test_set.documents["doc"].to_list()
    kits = assay.design_kits(world.systems, editors, documents=texts, rng=1) if editors else None
    made = create_campaign(folder, Material(settings, folder, world.test_set, kits=kits), rng=1)
    tokens = {link.rater: link.token for link in made.links.raters}
    result = rehearse(
        folder, serving, tokens, raters=raters, careless=careless, leaving=leaving, rng=2
    )
    with open_campaign(folder, write=False) as opened:
        status = opened.status()
        assert (status.done, status.waiting) == (status.tasks, 0)
        return result, opened.collected()


def need_sound(collected: Collected, per_task: int = 1) -> pl.DataFrame:
    """Every task with its raters, once each; every rater all systems of a task equally often."""
    ratings = tables_of(collected)["ratings"]
    genuine = ratings.filter(pl.col("check").is_null() & pl.col("repeat").is_null())
    several = genuine.group_by("task").agg(pl.col("rater").n_unique())
    assert several["rater"].min() == per_task
    outputs = genuine.group_by("task", "rater", "system").len()
    assert genuine.select("task", "rater", "system", "doc", "seg").is_unique().all()
    equal = outputs.group_by("task", "rater").agg(pl.col("len").n_unique())
    assert equal["len"].to_list() == [1] * equal.height
    return genuine


def test_a_small_campaign(tmp_path: Path) -> None:
    settings = Settings(
        protocol="da", raters=Raters(number=4, overlap="20%"), screen=Screen(outputs=2),
        checks=Checks(share="10%", repeats="10%"),
    )  # fmt: skip
    result, collected = worked(tmp_path, [12, 12, 12], 2, settings, raters=5, leaving=1)
    genuine = need_sound(collected)
    assert genuine.select("system", "doc", "seg").n_unique() == 72
    assert [one.manner for one in result.raters].count("leaving") == 1
    assert sum(one.answers for one in result.raters) == result.answers
    assert result.raters[-1].rater == "simulated-1"
    with pytest.raises(InputError, match="already has"):
        rehearse(tmp_path, serving, {}, raters=2)


@pytest.mark.parametrize("protocol", ["esa", "mqm", "pairwise", "ranking"])
def test_every_protocol_ends_in_tables_that_are_read(protocol: Any, tmp_path: Path) -> None:
    settings = Settings(protocol=protocol, raters=Raters(number=2, overlap="50%"))
    _, collected = worked(tmp_path, [6, 6], 3, settings, raters=2)
    tables = tables_of(collected)
    test_set = assay.read_scores(collected.scores)
    if "ratings" in tables:
        better = "lower" if protocol == "mqm" else "higher"
        ratings = assay.read_ratings(tables["ratings"], test_set, better=better)
        assert len(assay.estimate(test_set, ratings).systems) == 3
        errors = assay.read_errors(tables["errors"], test_set).frame
        assert errors.select("system", "doc", "seg").n_unique() == 36
    else:
        judgments = assay.read_judgments(tables["judgments"])
        assert len(assay.rank(judgments, rng=1).systems) == 3


def test_editors_work_through_their_kits(tmp_path: Path) -> None:
    settings = Settings(protocol="post-edit")
    _, collected = worked(tmp_path, [6, 6, 6], 3, settings, raters=6, editors=6)
    edits = assay.read_edits(tables_of(collected)["edits"])
    assert edits.frame.height == 6 * 18
    assert edits.frame.group_by("editor").agg(pl.col("system").n_unique())["system"].min() == 3
    assert len(assay.effort(edits, rng=1).systems) == 3


@pytest.mark.slow
def test_twenty_raters_of_whom_three_do_not_look(tmp_path: Path) -> None:
    settings = Settings(
        protocol="da", raters=Raters(number=20), screen=Screen(outputs=6),
        checks=Checks(share="8%", repeats="4%"),
    )  # fmt: skip
    result, collected = worked(tmp_path, [20] * 50, 6, settings, 20, careless=3, leaving=4)
    genuine = need_sound(collected)
    assert genuine.select("system", "doc", "seg").n_unique() == 6000
    careless = {one.rater for one in result.raters if one.manner == "careless"}
    assert careless <= set(result.named)
    assert len(set(result.named) - careless) <= 1


def test_who_works_how() -> None:
    ways = manners(20, 3, 4, as_rng(1))
    assert sorted(ways, key=str).count("careless") == 3
    assert ways.count("leaving") == 4
    assert {"quick", "slow"} < set(ways)
    with pytest.raises(OptionError, match="is not more than"):
        manners(3, 2, 1, as_rng(1))
    with pytest.raises(OptionError, match=r"careless \(-1\)"):
        manners(3, -1, 1, as_rng(1))


def test_who_looks_passes_the_test_and_who_does_not_is_left_out(tmp_path: Path) -> None:
    lessons = [f"Eins {number}.\tOne {number}.\t80\t100\tgood" for number in range(5)]
    lessons += [f"Zwei {number}.\tKuh {number}.\t0\t20\tbad" for number in range(5)]
    table = "\n".join(["source\ttarget\tlow\thigh\texplanation", *lessons])
    (tmp_path / "f.tsv").write_text("question\tanswers\nFinished?\tyes|no\n")
    for name in ("tutorial.tsv", "qualify.tsv"):
        (tmp_path / name).write_text(table, encoding="utf-8")
    settings = Settings(
        protocol="esa", raters=Raters(number=3),
        checks=Checks(tutorial="tutorial.tsv", qualify="qualify.tsv"), forms=Forms(after="f.tsv"),
    )  # fmt: skip
    result, collected = worked(tmp_path, [6, 6], 2, settings, raters=3, careless=1)
    careless = tuple(one.rater for one in result.raters if one.manner == "careless")
    assert result.named == careless
    said = tables_of(collected)["forms"]
    assert set(said["rater"]) == {one.rater for one in result.raters} - set(careless)
    assert careless[0] not in set(tables_of(collected)["ratings"]["rater"])


def test_kits_are_rehearsed_by_their_editors_alone(tmp_path: Path) -> None:
    settings = Settings(protocol="post-edit")
    result, _ = worked(tmp_path, [3, 3], 2, settings, raters=None, editors=2)
    assert len(result.raters) == 2
    assert all(one.tasks for one in result.raters)
