"""Answers that were read before are not read again, and say the same as if they were."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.campaign.store.world import body, make, opened, rater_links, work

from assay.campaign.store import collected
from assay.campaign.store.collected import KnownAnswers, read_answers
from assay.project.settings import Checks, Raters, Settings


@pytest.mark.parametrize("few", [0, 500], ids=["whole-tables", "by-number"])
def test_known_answers_equal_those_read_anew(
    place: Path | str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After corrections, checks, an exclusion, and a rater who is forgotten."""
    monkeypatch.setattr(collected, "FEW_ANSWERS", few)
    settings = Settings(
        protocol="esa", raters=Raters(number=3, overlap="50%"),
        checks=Checks(share="20%", repeats="20%"),
    )  # fmt: skip
    made = make(place, settings)
    known: KnownAnswers = {}
    with opened(place) as campaign:
        links = rater_links(campaign, made)

        def read() -> None:
            with campaign.moment() as db:
                kept = read_answers(db, known=known)
                anew = read_answers(db)
            assert kept.answers == anew.answers

        for turn in range(9):
            work(campaign, links[turn % 3], most=1)
            read()
        assert known
        task = campaign.next(links[0])
        campaign.send(links[0], task["lease"], 0, body(task, 0))
        read()
        campaign.send(links[0], task["lease"], 0, body(task, 0, key="two", score=10))
        read()
        campaign.exclude(made.links.raters[1].rater, "careless", "owner")
        read()
        campaign.forget(made.links.raters[2].rater)
        read()
        campaign.restore(made.links.raters[1].rater, "owner")
        for turn in range(6):
            work(campaign, links[turn % 2], most=1)
        read()
