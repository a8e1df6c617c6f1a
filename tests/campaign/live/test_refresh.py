"""A process of its own keeps results current, whoever ends it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.campaign.live.lively import lively

from assay.campaign.hub import Hub, hub_of
from assay.campaign.live import refresh
from assay.campaign.live.process import FollowedCampaign
from assay.campaign.live.refresh import Refresher, results_kept_current


def until(true: Callable[[], object]) -> None:
    """Wait; the limit only ends a hang.

    The process leaves the processor to others: on a busy machine it takes ten times as long.
    """
    end = time.monotonic() + 600
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_process_computes_what_the_server_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "LONGEST_PAUSE", 0.2)
    world = lively(tmp_path)
    with world.campaign as campaign, results_kept_current(hub_of(campaign), every=0.1) as own:
        until(campaign.results)
        first = campaign.results()
        assert first is not None
        assert first.looks == ()
        world.work(tasks=40)
        until(lambda: campaign.status().looks)
        assert campaign.status().looks[0]["number"] == 1
        process = own.process
        assert process is not None
        os.kill(process, signal.SIGKILL)
        assert campaign.results() is not None  # what was stored goes on being served
        world.work()
        until(lambda: len(campaign.status().looks) == 5)
        assert own.started == 2
        until(lambda: campaign.results().n == campaign.results().total)  # type: ignore[union-attr]
        process = own.process
    assert process is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_what_an_owner_decides_does_not_wait(tmp_path: Path) -> None:
    world = lively(tmp_path)
    with world.campaign as campaign:
        followed = FollowedCampaign(campaign.place.address)
        assert any("result" in news for news in followed.news())
        world.work(tasks=2)
        assert list(followed.news()) == [], "answers alone wait for the pause to end"
        campaign.pause("owner", "lunch")
        (news,) = followed.news()
        assert '"lunch"' in news["result"]
        followed.close()


def test_of_two_servers_one_computes(
    postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.campaign.campaign import open_campaign

    monkeypatch.setattr(refresh, "LONGEST_PAUSE", 0.2)
    place = postgres()
    world = lively(place)
    with world.campaign as campaign, open_campaign(place) as other:
        one = results_kept_current(hub_of(campaign), every=0.1)
        two = results_kept_current(hub_of(other), every=0.1)
        with one as first, two as second:
            world.work()
            until(lambda: len(campaign.status().looks) == 5)
            until(lambda: first.process and second.process)
            os.kill(first.process, signal.SIGKILL)  # type: ignore[arg-type]
            campaign.exclude("rater-3", "left", "owner")
            until(lambda: campaign.results().left_out)  # type: ignore[union-attr]
        events = [one for one in campaign.collected().events if one["kind"] == "look"]
        assert [one["subject"] for one in events] == ["1", "2", "3", "4", "5"]


def test_a_process_that_ended_while_it_waited_is_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refresh, "LONGEST_PAUSE", 0.2)
    rounds: list[int] = []
    ask = Refresher._ask

    def counted(self: Refresher) -> None:
        ask(self)
        rounds.append(self.started)

    monkeypatch.setattr(Refresher, "_ask", counted)
    with results_kept_current(Hub(), every=0.5) as own:
        until(lambda: rounds)
        os.kill(own.process, signal.SIGKILL)  # type: ignore[arg-type]
        until(lambda: rounds[-1] == 2)
