"""Who gets which task, for how long, and what becomes of tasks that are left."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy.event import listen
from tests.campaign.store.world import (
    HandClock,
    body,
    finish,
    make,
    make_scores,
    opened,
    rater_links,
    work,
)

import assay
from assay.campaign.records import InvalidAnswerError, NotNowError
from assay.project.settings import Checks, Raters, Screen, Settings

Place = Path | str


def sources(task: dict[str, object]) -> list[str]:
    return [one["source"] for one in task["segments"] if one["rate"]]  # type: ignore


def test_raters_get_the_order_from_its_beginning(place: Place) -> None:
    made = make(place)
    with opened(place) as campaign:
        first = [campaign.next(link) for link in rater_links(campaign, made)]
        assert len({task["lease"] for task in first}) == 3
        finish(campaign, rater_links(campaign, made)[1], first[1])
        rows = campaign.collected().answers
        assert {row.order for row in rows} == {2}
        assert {row.reason for row in rows} == {"order"}
        assert {row.probability for row in rows} == {1.0}


def test_a_task_has_all_systems_and_one_rater(place: Place) -> None:
    settings = Settings(protocol="esa", raters=Raters(number=3, per_task=2, overlap="0%"))
    made = make(place, settings)
    with opened(place) as campaign:
        links = rater_links(campaign, made)
        for turn in range(40):
            work(campaign, links[turn % 3], most=1)
        rows = campaign.collected().answers
        per_task = defaultdict(Counter)
        for row in rows:
            per_task[row.task][row.rater, row.system] += 1
        assert len(per_task) == 12
        for counts in per_task.values():
            assert set(counts.values()) == {1}
            assert len({rater for rater, _ in counts}) == 2
            assert len(counts) == 6
        assert campaign.status().done == 12


def test_an_expired_task_goes_out_first_and_a_late_answer_is_kept(place: Place) -> None:
    made, clock = make(place), HandClock()
    with opened(place, clock) as campaign:
        one, two, three = rater_links(campaign, made)
        left = campaign.next(one)
        campaign.send(one, left["lease"], 0, body(left, 0))
        finish(campaign, two, campaign.next(two))
        clock.pass_minutes(21)
        again = campaign.next(two)
        assert sources(again) == sources(left)
        assert again["lease"] != left["lease"]
        finish(campaign, two, again)
        late = finish(campaign, one, left, key="late")
        assert late["revision"] == 1
        rows = [row for row in campaign.collected().answers if row.lease == left["lease"]]
        assert {(row.late, row.screen) for row in rows} == {(False, 0), (True, 1), (True, 2)}
        assert campaign.status().done == 2
        assert campaign.next(one)["lease"] != left["lease"]
        assert {row.reason for row in campaign.collected().answers} == {"order", "expired"}
        assert sources(campaign.next(three)) != sources(left)


def test_a_rater_who_comes_back_finds_the_task_and_drafts(place: Place) -> None:
    made, clock = make(place), HandClock()
    with opened(place, clock) as campaign:
        one, two, _ = rater_links(campaign, made)
        left = campaign.next(one)
        campaign.draft(one, left["lease"], 0, {"text": "half"})
        clock.pass_minutes(60)
        other = campaign.next(two)
        assert sources(other) == sources(left)
        campaign.decline(two, other["lease"], "language")
        back = campaign.next(one)
        assert back["lease"] == left["lease"]
        assert back["drafts"] == {"0": {"text": "half"}}
        clock.pass_minutes(19)
        campaign.beat(one, left["lease"])
        clock.pass_minutes(19)
        assert sources(campaign.next(two)) != sources(left)


def test_a_late_answer_that_nobody_else_gave_finishes_the_task(place: Place) -> None:
    made, clock = make(place), HandClock()
    with opened(place, clock) as campaign:
        one, two, _ = rater_links(campaign, made)
        left = campaign.next(one)
        clock.pass_minutes(60)
        finish(campaign, one, left)
        assert campaign.status().done == 1
        assert all(row.late for row in campaign.collected().answers)
        assert sources(campaign.next(two)) != sources(left)


def test_declined_tasks_go_to_others_and_two_tell_the_owner(place: Place) -> None:
    made = make(place)
    with opened(place) as campaign:
        one, two, three = rater_links(campaign, made)
        for link in (one, two):
            task = campaign.next(link)
            with pytest.raises(InvalidAnswerError, match="say what is wrong"):
                campaign.decline(link, task["lease"], " ")
            campaign.decline(link, task["lease"], "offensive")
            campaign.decline(link, task["lease"], "offensive")
            assert sources(campaign.next(link)) != sources(task)
        assert sources(campaign.next(three)) == sources(task)
        assert campaign.status().told == ("task 1: declined by two raters (offensive)",)
        finish(campaign, three, campaign.next(three))
        with pytest.raises(NotNowError, match="not open"):
            campaign.decline(three, campaign.mine(three)[0]["lease"], "other")
        campaign.problem(three, campaign.mine(three)[0]["lease"], "<b>odd</b>")
        assert "problem" in {event["kind"] for event in campaign.collected().events}


def test_who_is_left_out_and_taken_in_again(place: Place) -> None:
    made = make(place)
    with opened(place) as campaign:
        one, two, _ = rater_links(campaign, made)
        mine = [campaign.next(one)]
        finish(campaign, one, mine[0])
        mine.append(campaign.next(one))
        finish(campaign, one, mine[1])
        assert campaign.status().done == 2
        campaign.exclude("rater-1", "careless", "owner")
        assert campaign.status().done == 0
        assert all(row.excluded for row in campaign.collected().answers)
        again = campaign.next(two)
        assert sources(again) == sources(mine[0])
        finish(campaign, two, again)
        campaign.restore("rater-1", "owner")
        assert campaign.status().done == 2
        assert not any(row.excluded for row in campaign.collected().answers)
        assert sources(campaign.next(two)) not in [sources(task) for task in mine]
        assert campaign.integrity() == ()


def test_nobody_waits_for_nothing(place: Place) -> None:
    made = make(place, test_set=make_scores(documents=1, segments=1))
    with opened(place, HandClock()) as campaign:
        one, two, _ = rater_links(campaign, made)
        task = campaign.next(one)
        assert campaign.next(two)["state"] == "wait"
        finish(campaign, one, task)
        assert campaign.next(two)["state"] == "done"


def test_a_quota_ends_the_work(place: Place) -> None:
    settings = Settings(protocol="esa", raters=Raters(number=2, quota=2))
    made = make(place, settings)
    with opened(place) as campaign:
        one, two = rater_links(campaign, made)
        assert len(work(campaign, one)) == 2
        assert "planned for you" in campaign.next(one)["message"]
        assert campaign.finish(one)["code"]
        with pytest.raises(NotNowError, match="tasks left"):
            campaign.finish(two)


def test_so_does_the_time_that_one_may_work(place: Place) -> None:
    settings = Settings(protocol="esa", raters=Raters(number=2, minutes=5))
    made = make(place, settings)
    with opened(place) as campaign:
        one, two = rater_links(campaign, made)
        for minutes in (2, 3):
            task = campaign.next(one)
            for screen in range(len(task["screens"])):
                timing = {"active_ms": 0 if screen else minutes * 60_000}
                sent = body(task, screen) | {"timing": timing}
                last = campaign.send(one, task["lease"], screen, sent)
        assert last["next"] == "done"
        assert campaign.next(one)["state"] == "done"
        assert campaign.next(two)["state"] == "task"


def test_long_tasks_are_dealt_in_blocks(place: Place) -> None:
    settings = Settings(
        protocol="da", screen=Screen(most_outputs=4), raters=Raters(number=2, overlap="0%")
    )
    made = make(place, settings, test_set=make_scores(systems="ABCDEF", documents=8))
    with opened(place) as campaign:
        link = rater_links(campaign, made)[0]
        for _ in range(made.tasks):
            task = campaign.next(link)
            for screen, codes in enumerate(task["screens"]):
                given = [
                    {"code": code, "place": one["place"], "scores": {"score": 50}}
                    for code in codes for one in task["segments"] if one["rate"]
                ]  # fmt: skip
                sent = {"key": str(screen), "timing": {}, "answers": given}
                campaign.send(link, task["lease"], screen, sent)
        rows = campaign.collected().answers
        assert Counter(row.system for row in rows) == dict.fromkeys(
            (f"system-{name}" for name in "ABCDEF"), 24
        )
        met = Counter()
        for task_id in {row.task for row in rows}:
            own = sorted({row.system for row in rows if row.task == task_id})
            assert len(own) == 3
            met.update((a, b) for a in own for b in own if a < b)
            assert {row.block_probability for row in rows} == {0.5}
        assert max(met.values()) - min(met.values()) <= 2


def test_outputs_that_are_merged_in_some_segments_are_shown_in_the_others(place: Place) -> None:
    settings = Settings(
        protocol="da", screen=Screen(merge="segment"), raters=Raters(number=1, overlap="0%")
    )
    rows = [
        {
            "system": f"system-{name}", "doc": f"doc-{doc}", "seg": str(4 * doc + seg),
            "source": f"Quelle {doc} {seg}",
            "target": f"text {doc} {seg} of {name if seg == 0 else 'all'}",
        }
        for doc in range(2) for seg in range(4) for name in "ABC"
    ]  # fmt: skip
    scores = assay.read_scores(pl.DataFrame(rows))
    whole = assay.sample(scores, design="documents", budget="100%", rng=1)
    made = make(place, settings, test_set=scores, sample=whole)
    with opened(place) as campaign:
        (link,) = rater_links(campaign, made)
        task = campaign.next(link)
        texts = [one["texts"] for one in task["outputs"]]
        assert len({column[0] for column in texts}) == 3
        assert sorted(text is not None for column in texts for text in column[1:]) == (
            [False] * 6 + [True] * 3
        )


def test_second_showings_come_later_and_look_the_same(place: Place) -> None:
    settings = Settings(
        protocol="esa", raters=Raters(number=2, overlap="0%"),
        checks=Checks(share="25%", repeats="25%"),
    )  # fmt: skip
    made = make(place, settings, test_set=make_scores(documents=6))
    assert made.checks == 14  # a quarter of 54 outputs, rounded
    with opened(place) as campaign:
        one, two = rater_links(campaign, made)
        for _ in range(20):
            work(campaign, one, most=1)
            work(campaign, two, most=1)
        rows = campaign.collected().answers
        kinds = Counter(row.kind for row in rows)
        assert kinds["rate"] == 54
        assert kinds["check"] > 3
        assert kinds["repeat"] > 3
        first = {(row.rater, row.system, row.seg): row for row in rows if row.kind == "rate"}
        for row in rows:
            if row.kind == "rate":
                continue
            before = first[row.rater, row.system, row.seg]
            assert before.number < row.number
            assert row.spoiled == (row.kind == "check")
            assert (row.text == before.text) == (row.kind == "repeat")
            if row.kind == "check":
                assert row.passed is False  # both got the same score
        status = campaign.status()
        assert sum(rater.checks for rater in status.raters) == kinds["check"]
        assert sum(rater.checks_passed for rater in status.raters) == 0


def test_what_is_asked_of_the_store_does_not_tell_what_a_task_is(tmp_path: Path) -> None:
    settings = Settings(
        protocol="esa", raters=Raters(number=1, overlap="0%", lease="30"),
        checks=Checks(share="10%", repeats="20%"),
    )  # fmt: skip
    made = make(tmp_path, settings, test_set=make_scores(documents=20))
    asked: list[str] = []
    done: list[tuple[str, int, int]] = []

    def statements() -> int:
        found = [line for line in asked if not line.startswith("INSERT INTO check_result")]
        asked.clear()
        return len(found)

    with opened(tmp_path) as campaign:
        writer: Any = campaign.writer
        listen(writer._engine, "before_cursor_execute", lambda *said: asked.append(said[2][:40]))
        (link,) = rater_links(campaign, made)
        while (task := campaign.next(link))["state"] == "task":
            given = statements()
            finish(campaign, link, task)
            asked.clear()
            campaign.send(link, task["lease"], 0, body(task, 0, key="again"))
            corrected = statements()
            rows = campaign.collected().answers
            (kind,) = {row.kind for row in rows if row.lease == task["lease"]}
            done.append((kind, given, corrected))
    last = max(number for number, (kind, *_) in enumerate(done) if kind == "rate")
    found = defaultdict(set)
    for (_, _, before), (kind, given, sent) in pairwise(done[:last]):
        found[kind].add((before, given, sent))
    assert set(found) == {"rate", "check", "repeat"}
    assert len(found["rate"] | found["check"] | found["repeat"]) == 1


def test_every_rater_meets_their_share_of_checks(tmp_path: Path) -> None:
    settings = Settings(
        protocol="esa", raters=Raters(number=3, overlap="0%"), checks=Checks(share="20%")
    )
    made = make(tmp_path, settings, test_set=make_scores(documents=12))
    with opened(tmp_path) as campaign:
        links = rater_links(campaign, made)
        for _ in range(16):
            for link in links:
                work(campaign, link, most=1)
        done = {rater.rater: rater for rater in campaign.status().raters}
        for rater in done.values():
            tasks = rater.checks / 3
            assert abs(tasks - 0.2 * rater.done) <= 1.5, rater


def test_failed_checks_end_the_work_where_that_is_the_rule(place: Place) -> None:
    settings = Settings(
        protocol="esa", raters=Raters(number=2, overlap="0%"),
        checks=Checks(share="50%", block_after=2),
    )  # fmt: skip
    made = make(place, settings)
    with opened(place) as campaign:
        one, two = rater_links(campaign, made)
        with pytest.raises(NotNowError, match="has ended"):
            work(campaign, one)
        states = {rater.rater: rater.state for rater in campaign.status().raters}
        assert states == {"rater-1": "excluded", "rater-2": "active"}
        assert campaign.next(two)["state"] == "task"
