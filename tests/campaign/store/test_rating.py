"""A campaign from the first task to the last, as raters and owners see it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.event import listen
from tests.campaign.store.world import (
    HandClock,
    answers,
    body,
    finish,
    make,
    opened,
    rater_links,
    work,
)

from assay.campaign.campaign import open_campaign
from assay.campaign.records import InvalidAnswerError, NotNowError, NotYoursError
from assay.campaign.store.access import MOST_LISTED
from assay.campaign.store.unit import Link
from assay.project.settings import Checks, Raters, Settings


def test_raters_work_until_every_task_has_its_raters(tmp_path: Path) -> None:
    made = make(tmp_path)
    assert (made.tasks, made.outputs) == (12, 36)
    with opened(tmp_path) as campaign:
        links = rater_links(campaign, made)
        for turn in range(20):
            work(campaign, links[turn % 3], most=1)
        status = campaign.status()
        assert (status.done, status.beginning, status.answers, status.waiting) == (12, 12, 36, 0)
        assert campaign.next(links[0])["state"] == "done"
    with open_campaign(tmp_path, write=False) as campaign:
        assert campaign.status().done == 12


def test_the_same_key_gets_the_same_reply_and_stores_nothing(tmp_path: Path) -> None:
    made = make(tmp_path)
    with opened(tmp_path) as campaign:
        link = rater_links(campaign, made)[0]
        task = campaign.next(link)
        first = campaign.send(link, task["lease"], 0, body(task, 0))
        again = campaign.send(link, task["lease"], 0, body(task, 0, score=10))
        assert first == again == {"stored": 1, "revision": 1, "next": "screen"}
        assert campaign.mine_one(link, task["lease"])["answers"]["0"] == answers(task, 0)
        second = campaign.send(link, task["lease"], 0, body(task, 0, key="two", score=10))
        assert second["revision"] == 2
        own = campaign.mine_one(link, task["lease"])["answers"]["0"]
        assert [one["scores"] for one in own] == [{"score": 10}]
        assert campaign.status().answers == 1


def test_a_task_and_an_answer_take_few_statements(place: Path | str) -> None:
    made = make(place)
    asked: list[str] = []
    with opened(place) as campaign:
        link = rater_links(campaign, made)[0]
        finish(campaign, link, campaign.next(link))
        writer: Any = campaign.writer
        listen(writer._engine, "before_cursor_execute", lambda *said: asked.append(said[2]))
        task = campaign.next(link)
        given = [line for line in asked if not line.startswith("BEGIN")]
        asked.clear()
        campaign.send(link, task["lease"], 0, body(task, 0))
        sent = [line for line in asked if not line.startswith("BEGIN")]
    assert len(given) <= 12
    assert len(sent) <= 11


def test_drafts_come_back_and_go_with_the_answer(tmp_path: Path) -> None:
    made = make(tmp_path)
    with opened(tmp_path) as campaign:
        link = rater_links(campaign, made)[0]
        task = campaign.next(link)
        campaign.draft(link, task["lease"], 1, {"half": 1})
        campaign.draft(link, task["lease"], 1, {"half": 2})
        again = campaign.next(link)
        assert again["lease"] == task["lease"]
        assert again["drafts"] == {"1": {"half": 2}}
        assert again["outputs"] == task["outputs"]
        campaign.send(link, task["lease"], 1, body(task, 1))
        assert campaign.next(link)["drafts"] == {}
        assert campaign.next(link)["sent"] == [1]


def test_another_raters_task_is_not_there(tmp_path: Path) -> None:
    made = make(tmp_path)
    with opened(tmp_path) as campaign:
        one, two, _ = rater_links(campaign, made)
        task = campaign.next(one)
        messages = set()
        for lease in (task["lease"], "0" * 32):
            with pytest.raises(NotYoursError) as caught:
                campaign.send(two, lease, 0, body(task, 0))
            messages.add(str(caught.value))
            with pytest.raises(NotYoursError):
                campaign.mine_one(two, lease)
        assert len(messages) == 1
        assert campaign.mine(two) == []


def test_a_flood_of_what_is_refused_is_counted_and_not_listed(tmp_path: Path) -> None:
    made = make(tmp_path)
    clock = HandClock()
    with opened(tmp_path, clock) as campaign:
        one, two, _ = rater_links(campaign, made)

        def forge(link: Link) -> None:
            with pytest.raises(NotYoursError):
                campaign.beat(link, "0" * 32)

        for _ in range(MOST_LISTED + 40):
            forge(one)
        forge(two)
        clock.pass_minutes(2)
        forge(one)
        forge(one)
        refused = [row for row in campaign.collected().events if row["kind"] == "refused"]
        by_one = [row["body"] for row in refused if row["actor"] == "rater 1"]
        assert len(by_one) == MOST_LISTED + 2
        assert len(refused) == len(by_one) + 1
        assert [body.get("unlisted") for body in by_one[-3:]] == [None, 40, None]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"key": ""}, "key"),
        ({"key": 3}, "key"),
        ({"key": "half \ud800"}, "key"),
        ({"more": 1}, "more"),
        ({"timing": {"active_ms": -1}}, "timing.active_ms"),
        ({"timing": {"opened": "yesterday"}}, "timing.opened"),
        ({"timing": {"device": "pen"}}, "timing.device"),
        ({"answers": []}, "answers"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_nothing(
    tmp_path: Path, change: dict[str, object], path: str
) -> None:
    made = make(tmp_path)
    with opened(tmp_path) as campaign:
        link = rater_links(campaign, made)[0]
        task = campaign.next(link)
        with pytest.raises(InvalidAnswerError) as caught:
            campaign.send(link, task["lease"], 0, body(task, 0) | change)
        assert path in [place for place, _ in caught.value.faults]
        assert campaign.status().answers == 0


def test_nothing_is_handed_out_before_the_start_or_after_the_end(tmp_path: Path) -> None:
    made = make(tmp_path)
    with open_campaign(tmp_path, clock=HandClock()) as campaign:
        link = rater_links(campaign, made)[0]
        assert campaign.next(link)["state"] == "paused"
        campaign.open("owner")
        task = campaign.next(link)
        campaign.pause("owner", "lunch")
        assert campaign.next(link)["state"] == "paused"
        assert campaign.send(link, task["lease"], 0, body(task, 0))["stored"] == 1
        campaign.resume("owner")
        assert campaign.next(link)["lease"] == task["lease"]
        campaign.close("owner")
        assert campaign.next(link)["state"] == "done"
        with pytest.raises(NotNowError, match="closed"):
            campaign.send(link, task["lease"], 1, body(task, 1))
        for change in (
            lambda: campaign.beat(link, task["lease"]),
            lambda: campaign.decline(link, task["lease"], "other"),
            lambda: campaign.problem(link, task["lease"], "too late"),
            lambda: campaign.draft(link, task["lease"], 1, {}),
        ):
            with pytest.raises(NotNowError, match="closed"):
                change()
        with pytest.raises(NotNowError, match="cannot be opened"):
            campaign.open("owner")


def test_a_rater_who_is_left_out_gets_a_sentence(tmp_path: Path) -> None:
    made = make(tmp_path)
    with opened(tmp_path) as campaign:
        one, two, _ = rater_links(campaign, made)
        first, second = campaign.next(one), campaign.next(one)
        assert first == second | {"until": first["until"]}
        finish(campaign, one, first)
        campaign.exclude("rater-1", "careless", "owner")
        with pytest.raises(NotNowError, match="has ended"):
            campaign.next(one)
        with pytest.raises(NotNowError, match="has ended"):
            campaign.send(one, first["lease"], 0, body(first, 0, key="new"))
        again = campaign.next(two)
        assert again["segments"] == first["segments"]


def test_nothing_that_a_rater_gets_names_what_it_is(tmp_path: Path) -> None:
    settings = Settings(
        protocol="esa", raters=Raters(number=2, overlap="50%"),
        checks=Checks(share="40%", repeats="40%"),
    )  # fmt: skip
    made = make(tmp_path, settings)
    with opened(tmp_path) as campaign:
        shapes = set()
        for link in rater_links(campaign, made):
            for task in work(campaign, link):
                own = campaign.mine_one(link, task["lease"])
                text = json.dumps([task, own, campaign.mine(link)])
                for word in ("system-", "doc-", "check", "repeat", "spoil", "overlap", '"order"'):
                    assert word not in text
                shapes.add((tuple(task), len(task["outputs"]), len(task["screens"])))
        assert len(shapes) == 1
