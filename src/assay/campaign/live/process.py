"""The process that computes results beside a server; it reads stores and writes nothing itself.

Every line that comes in names the campaigns to look after. For each of them that has changed, a
look or a result goes out, which the server stores and confirms. In a process of its own it takes
no time from raters who send; it ends with its server.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, TextIO

from assay.campaign.campaign import open_campaign
from assay.campaign.live.results import (
    Live,
    compute,
    follow_campaign,
    next_due,
    sets_to_show,
    standing_mark,
)
from assay.campaign.store import looking
from assay.errors import AssayError

AT_MOST_EVERY = 5.0
"""Seconds between two results of a campaign; looks and decisions of people do not wait for that."""
NICE = 5


class FollowedCampaign:
    """One campaign that is looked after."""

    def __init__(self, place: str) -> None:
        self._held = ExitStack()
        campaign = self._held.enter_context(open_campaign(place, write=False))
        self._alone = self._held.enter_context(campaign.alone_with_results())
        self._live: Live = follow_campaign(campaign)
        self._seen = ""
        self._computed = -AT_MOST_EVERY
        with campaign.moment() as db:
            row = looking.read_live(db)
        self._basis = "" if row is None else row.basis

    def close(self) -> None:
        """Let go of the store."""
        self._held.close()

    def news(self) -> Iterator[dict[str, Any]]:
        """What is to be stored: looks that are due, then the result if it is another by now."""
        if not self._alone():
            return
        with self._live.campaign.moment() as db:
            mark = looking.read_mark(db)
        if mark == self._seen:
            return
        if mark.partition(":")[2] != self._seen.partition(":")[2]:  # somebody decided something
            self._computed = -AT_MOST_EVERY
        while (due := next_due(self._live)) is not None:
            yield {"look": due.stored()}
            self._computed = -AT_MOST_EVERY
        if time.monotonic() - self._computed < AT_MOST_EVERY:
            return
        self._computed = time.monotonic()
        self._seen = mark
        if (basis := standing_mark(self._live)) != self._basis:
            result = json.dumps(compute(self._live).to_dict())
            yield {"basis": basis, "result": result, "sets": sets_to_show(self._live)}
            self._basis = basis


def look_after(asked: TextIO, told: TextIO) -> None:
    """Answer every line until there are no more."""
    watched: dict[str, FollowedCampaign] = {}
    for line in asked:
        places = json.loads(line)
        for slug in [slug for slug in watched if slug not in places]:
            watched.pop(slug).close()
        for slug, place in places.items():
            try:
                if slug not in watched:
                    watched[slug] = FollowedCampaign(place)
                for news in watched[slug].news():
                    _tell(told, {"slug": slug, **news})
                    if not asked.readline():
                        return
            except AssayError as error:
                _tell(told, {"slug": slug, "fault": str(error)})
                asked.readline()
        _tell(told, {"done": True})


def _tell(told: TextIO, message: dict[str, Any]) -> None:
    told.write(json.dumps(message) + "\n")
    told.flush()


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(NICE)
    look_after(sys.stdin, sys.stdout)
