"""Results rest on the complete beginning; looks are taken once, as of when they were due."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.campaign.live.lively import Lively, lively

import assay
from assay.campaign.campaign import open_campaign
from assay.campaign.exchange.export import export_tables
from assay.campaign.live.results import bring_up_to_date, follow_campaign, next_due
from assay.campaign.store import tasks
from assay.errors import InputError, OptionError
from assay.project.settings import Pay, Raters, Screen, Settings, Stop

FOUR = {"A": 1.0, "B": 1.3, "C": 6.0, "D": 14.0}


def exported(world: Lively, look: int, folder: Path) -> dict[str, Any]:
    """What the tables of a look say by the public functions, as the status has it."""
    export_tables(world.campaign.collected(look), folder)
    test_set = assay.read_scores(folder / "scores.tsv")
    sample = assay.read_sample(folder / "sample.tsv", test_set)
    ratings = assay.read_ratings(folder / "ratings.tsv", test_set, range=(0, 100))
    result: dict[str, Any] = assay.estimate(test_set, ratings, sample=sample).to_dict()
    return result


def test_a_look_is_what_had_been_sent_when_it_was_due(place: Path | str, tmp_path: Path) -> None:
    world = lively(place, systems=FOUR)
    with world.campaign as campaign:
        while bring_up_to_date(campaign).n < 40:
            world.work(tasks=12)
        first = campaign.status().looks[0]
        assert exported(world, 1, tmp_path / "now")["systems"] == first["systems"]
        world.work()  # three looks fall due while nobody looks
        found = bring_up_to_date(campaign)
        status = campaign.status()
        assert [look["number"] for look in status.looks] == [1, 2, 3, 4, 5]
        assert status.looks[0] == first
        assert [look["n"] for look in status.looks] == list(found.planned)
        assert [look["at"] for look in status.looks] == sorted(look["at"] for look in status.looks)
        for look in (1, 3, 5):
            again = exported(world, look, tmp_path / str(look))
            assert again["systems"] == status.looks[look - 1]["systems"]
            assert again["signature"] == status.looks[look - 1]["signature"]
        assert found.to_dict() == campaign.results().to_dict()  # type: ignore[union-attr]
        # The verdicts are those of the public function on everything, look by look.
        kept = campaign.collected(5)
        export_tables(kept, tmp_path / "all")
        ratings = assay.read_ratings(tmp_path / "all" / "ratings.tsv", world.test_set)
        sample = assay.read_sample(tmp_path / "all" / "sample.tsv", world.test_set)
        after = assay.monitor(
            world.test_set, ratings, sample=sample, goal="ranking", looks=found.planned
        )
        decided = {item.what for item in after.items if item.winner is not None}
        pairs = {f"{pair.left} - {pair.right}" for pair in found.pairs if pair.decided}
        assert len(pairs) == len(decided) >= 3
        assert not found.orientation
        with pytest.raises(OptionError, match=r"look \(6\) has not taken place; choose from 1, 2"):
            campaign.collected(6)


def test_between_looks_nothing_is_decided(tmp_path: Path) -> None:
    world = lively(tmp_path, systems=FOUR, settings=Settings(
        protocol="da", raters=Raters(number=3, overlap="0%"),
        pay=Pay(per_rating=0.1, currency="EUR"),
    ))  # fmt: skip
    with world.campaign as campaign:
        world.work(tasks=12)
        found = bring_up_to_date(campaign)
        assert found.orientation
        assert found.looks == ()
        assert found.systems
        assert {item.cluster for item in found.systems} == {1}
        assert {(item.low_rank, item.high_rank) for item in found.systems} == {(1, 4)}
        assert not any(pair.decided for pair in found.pairs)
        assert all(pair.orientation for pair in found.pairs)
        look = found.next_look
        assert look is not None
        assert (look.number, look.n, look.missing) == (1, found.planned[0], look.n - found.n)
        assert look.cost == f"{look.answers * 0.1:.0f} EUR" if look.answers > 99 else look.cost
        world.work(tasks=look.tasks)
        again = bring_up_to_date(campaign)
        assert len(again.looks) == 1
        assert campaign.status().next_look == again.planned[1]


def test_what_lies_behind_a_gap_waits(tmp_path: Path) -> None:
    world = lively(tmp_path, settings=Settings(
        protocol="da", raters=Raters(number=3, overlap="0%")
    ))  # fmt: skip
    with world.campaign as campaign:
        held = campaign.next(world.links[0])
        world.work(tasks=20, raters=[1, 2])
        found = bring_up_to_date(campaign)
        assert (found.n, found.used, found.looks) == (0, 0, ())
        assert found.waiting == campaign.status().waiting > 50
        assert found.systems == ()
        assert held["state"] == "task"
        world.work(tasks=1, raters=[0])
        found = bring_up_to_date(campaign)
        assert found.waiting == 0
        assert found.beginning == 21


def test_two_raters_count_both_and_one_is_left_out_at_once(tmp_path: Path) -> None:
    world = lively(
        tmp_path, documents=2, raters=2, thinks=lambda system, segment, rater: (20.0, 80.0)[rater],
        settings=Settings(protocol="da", raters=Raters(number=2, per_task=2, overlap="0%")),
    )  # fmt: skip
    with world.campaign as campaign:
        world.work()
        both = bring_up_to_date(campaign)
        segments = world.test_set.segments.height
        assert {item.estimate for item in both.systems} == {50.0}
        assert {(item.n, item.answers) for item in both.systems} == {(segments, 2 * segments)}
        assert both.everybody is None
        campaign.exclude("rater-2", "gives everything 80", "owner")
        without = bring_up_to_date(campaign)
        assert {item.estimate for item in without.systems} == {20.0}
        everybody = without.everybody
        assert everybody is not None
        assert everybody.estimates is not None
        assert {item.estimate for item in everybody.estimates.systems} == {50.0}
        (out,) = without.left_out
        assert (out.rater, out.reason, out.answers) == (
            "rater-2", "gives everything 80", 3 * segments,
        )  # fmt: skip
        (event,) = [one for one in campaign.collected().events if one["kind"] == "excluded"]
        assert event["body"]["reason"] == "gives everything 80"
        campaign.restore("rater-2", "owner")
        campaign.exclude("rater-1", "gives everything 20", "owner")
        again = bring_up_to_date(campaign)
        assert {item.estimate for item in again.systems} == {80.0}
        # Looks stay what they were.
        assert again.looks == both.looks
        assert {row["estimate"] for row in campaign.status().looks[-1]["systems"]} == {50.0}


def test_a_look_is_stored_once(place: Path | str) -> None:
    world = lively(place)
    with world.campaign as campaign:
        world.work()
        due = next_due(follow_campaign(campaign))
        assert due is not None
        assert campaign.keep_look(due.stored())
        other = due.stored() | {"n": 1, "result": {}}
        assert not campaign.keep_look(other)
        assert bring_up_to_date(campaign).looks[0].n == due.taken.n
        events = [one for one in campaign.collected().events if one["kind"] == "look"]
        assert [one["subject"] for one in events] == ["1", "2", "3", "4", "5"]


def test_results_need_writing(tmp_path: Path) -> None:
    lively(tmp_path).campaign.disconnect()
    with open_campaign(tmp_path, write=False) as campaign:
        assert campaign.results() is None
        with pytest.raises(InputError, match="opened for reading"):
            bring_up_to_date(campaign)


def test_judgments_have_any_time_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    monkeypatch.setattr(tasks, "unforeseen", lambda: rng)
    world = lively(tmp_path, documents=20, systems=FOUR, settings=Settings(
        protocol="pairwise", raters=Raters(number=3, overlap="10%"), screen=Screen(sets="order"),
    ))  # fmt: skip
    with world.campaign as campaign:
        world.work(tasks=40)
        before = bring_up_to_date(campaign)
        assert before.collects == "judgments"
        while world.work(tasks=40):
            found = bring_up_to_date(campaign)
        collected = campaign.collected()
        assert {item.reason for item in collected.answers} == {"adaptive", "overlap"}
        # A second rater of a task judges the same two outputs.
        shown: dict[int, set[str]] = {}
        for item in collected.answers:
            shown.setdefault(item.task, set()).add(item.system)
        assert {len(own) for own in shown.values()} == {2}
        export_tables(campaign.collected(5), tmp_path / "tables")
        judgments = assay.read_judgments(tmp_path / "tables" / "judgments.tsv")
        verdicts = assay.monitor_judgments(judgments, systems=world.test_set.systems)
        assert found.verdicts is not None
        assert found.verdicts.decided == verdicts.decided > 2
        ranking = assay.rank(judgments, rng=campaign.rules.seed)
        look = campaign.status().looks[-1]
        assert ranking.to_dict()["systems"] == look["systems"]
        assert look["decided"] == verdicts.decided
        # Pairs that are far apart are shown less often than others once that is known.
        pairs = {frozenset((pair.left, pair.right)): pair for pair in verdicts.pairs}
        near, far = pairs[frozenset("AB")], pairs[frozenset("AD")]
        assert near.wins + near.losses + near.ties > far.wins + far.losses + far.ties


def test_systems_that_are_decided_rest(place: Path | str, tmp_path: Path) -> None:
    world = lively(place, documents=20, systems=FOUR, settings=Settings(
        protocol="da", raters=Raters(number=3, overlap="0%"), stop=Stop(rest="decided"),
    ))  # fmt: skip
    with world.campaign as campaign:
        live = follow_campaign(campaign)
        while world.work(tasks=30):
            found = bring_up_to_date(campaign, live)
        resting = {item.system: item.rests_since for item in found.systems if item.rests_since}
        assert "D" in resting
        assert "A" not in resting
        assert "B" not in resting
        assert found.n == found.total
        events = [one for one in campaign.collected().events if one["kind"] == "rests"]
        assert {one["subject"]: one["body"]["look"] for one in events} == resting
        used = {item.system: item.n for item in found.systems}
        look = found.looks[resting["D"] - 1]
        assert look.n <= used["D"] < found.total
        assert used["A"] == found.total
        # Whoever reads the tables finds the same numbers, and no alarm about skipping.
        again = exported(world, len(found.looks), tmp_path / "last")
        assert again["systems"] == campaign.status().looks[-1]["systems"]
        codes = {note["code"] for note in again["notes"]}
        assert "rests" in codes
        assert not any(code.startswith("skip") for code in codes)
        # Nothing that is rebuilt forgets who rests, and what tasks held.
        before = campaign.collected().answers
        campaign.rebuild()
        assert campaign.collected().answers == before
        assert bring_up_to_date(campaign).systems == found.systems


def test_edits_end_in_effort(tmp_path: Path) -> None:
    world = assay.simulate(documents=[4] * 3, systems={"A": 0.5, "B": 3.0, "C": 12.0}, rng=1)
    kits = assay.design_kits("ABC", 6, documents=world.test_set.documents["doc"].to_list(), rng=1)
    more = lively(
        tmp_path, documents=[4] * 3, systems={"A": 0.5, "B": 3.0, "C": 12.0}, raters=6,
        settings=Settings(protocol="post-edit", pay=Pay(per_hour=40, currency="EUR")), kits=kits,
        thinks=lambda system, segment, rater: 10.0 + 12 * system + segment % 3 + rater / 4,
    )  # fmt: skip
    with more.campaign as campaign:
        more.work(tasks=9)
        before = bring_up_to_date(campaign)
        assert before.looks == ()
        assert before.orientation
        assert not any(pair.decided for pair in before.pairs)
        more.work()
        found = bring_up_to_date(campaign)
        export_tables(campaign.collected(1), tmp_path / "tables")
        effort = assay.effort(
            tmp_path / "tables" / "edits.tsv", rate="40 EUR", rng=campaign.rules.seed
        )
        (look,) = campaign.status().looks
        assert look["systems"] == effort.to_dict()["systems"]
        assert found.outcome.effort is not None
        assert found.outcome.effort.systems[0].price_per_1000_words is not None
        by_time = [one for one in effort.differences if one.measure == effort.verdict.measure]  # type: ignore[union-attr]
        decided = sorted(one.decided for one in by_time)
        assert sorted(pair.decided for pair in found.pairs) == decided
        assert look["decided"] == sum(decided)
        assert found.next_look is None
