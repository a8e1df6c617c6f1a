"""Counts that grow with the answers are what a count from the beginning finds."""

from __future__ import annotations

from pathlib import Path

from tests.campaign.store.world import HandClock, body, finish, make, opened, rater_links

from assay.campaign.campaign import open_campaign
from assay.project.settings import Checks, Pay, Raters, Settings


def test_counting_on_and_counting_anew_agree(place: Path | str) -> None:
    settings = Settings(
        protocol="esa", raters=Raters(number=3, overlap="50%"), pay=Pay(per_rating=0.5),
        checks=Checks(share="30%", repeats="30%"),
    )  # fmt: skip
    made = make(place, settings)
    with opened(place, HandClock()) as campaign:
        links = rater_links(campaign, made)
        for turn in range(6):
            task = campaign.next(links[turn % 3])
            if task["state"] != "task":
                continue
            finish(campaign, links[turn % 3], task)
            again = body(task, 0, key=f"again-{turn}", score=20)
            campaign.send(links[turn % 3], task["lease"], 0, again)
            if turn == 4:
                campaign.exclude("rater-2", "at random", "owner")
            grown = campaign.status()
            with open_campaign(place, write=False) as anew:
                assert anew.status() == grown
        assert grown.answers == sum(rater.answers for rater in grown.raters) > 0
        assert grown.spent == 0.5 * grown.answers
        first = grown.raters[0]
        assert first.due == 0.5 * first.answers
        assert first.median_seconds == 1.0, "the median of first answers, not of corrections"
