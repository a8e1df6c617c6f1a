"""The process that computes results next to a server; it reads stores and writes nothing itself.

Every input line names the campaigns to follow. For each campaign that has changed, a look or a
result goes out, which the server stores and confirms. A separate process takes no time from raters'
requests; it ends with its server.
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
    basis_of,
    compute,
    follow_campaign,
    next_due,
    sets_to_show,
)
from assay.campaign.store import looking
from assay.errors import AssayError

MIN_SECONDS_BETWEEN_RESULTS = 5.0
"""Seconds between two results of a campaign; looks and decisions of people do not wait."""
NICENESS = 5


class FollowedCampaign:
    """One campaign whose results are computed."""

    def __init__(self, place: str) -> None:
        self._held = ExitStack()
        campaign = self._held.enter_context(open_campaign(place, write=False))
        self._alone = self._held.enter_context(campaign.alone_with_results())
        self._live: Live = follow_campaign(campaign)
        self._seen = ""
        self._computed = -MIN_SECONDS_BETWEEN_RESULTS
        with campaign.moment() as db:
            row = looking.read_live(db)
        self._basis = "" if row is None else row.basis

    def close(self) -> None:
        """Close the store."""
        self._held.close()

    def news(self) -> Iterator[dict[str, Any]]:
        """What the server should store: looks that are due, then the result if it changed."""
        if not self._alone():
            return
        with self._live.campaign.moment() as db:
            mark = looking.read_mark(db)
        if mark == self._seen:
            return
        if mark.partition(":")[2] != self._seen.partition(":")[2]:  # a person decided something
            self._computed = -MIN_SECONDS_BETWEEN_RESULTS
        while (due := next_due(self._live)) is not None:
            yield {"look": due.stored()}
            self._computed = -MIN_SECONDS_BETWEEN_RESULTS
        if time.monotonic() - self._computed < MIN_SECONDS_BETWEEN_RESULTS:
            return
        self._computed = time.monotonic()
        self._seen = mark
        if (basis := basis_of(self._live)) != self._basis:
            result = json.dumps(compute(self._live).to_dict())
            yield {"basis": basis, "result": result, "sets": sets_to_show(self._live)}
            self._basis = basis


def follow(requests: TextIO, replies: TextIO) -> None:
    """Answer every request line until the input ends."""
    watched: dict[str, FollowedCampaign] = {}
    for line in requests:
        places = json.loads(line)
        for slug in [slug for slug in watched if slug not in places]:
            watched.pop(slug).close()
        for slug, place in places.items():
            try:
                if slug not in watched:
                    watched[slug] = FollowedCampaign(place)
                for news in watched[slug].news():
                    _reply(replies, {"slug": slug, **news})
                    if not requests.readline():
                        return
            except AssayError as error:
                _reply(replies, {"slug": slug, "fault": str(error)})
                requests.readline()
        _reply(replies, {"done": True})


def _reply(replies: TextIO, message: dict[str, Any]) -> None:
    replies.write(json.dumps(message) + "\n")
    replies.flush()


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    follow(sys.stdin, sys.stdout)
