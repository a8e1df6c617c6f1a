"""A small campaign, a clock that tests move, and raters who answer everything."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import polars as pl

import assay
from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.contents import Material
from assay.campaign.create import create_campaign
from assay.campaign.store.clock import Clock
from assay.campaign.store.unit import Link
from assay.collecting.results import Created
from assay.project.settings import Raters, Settings
from assay.tables.tables import TestSet

MINUTE = 60_000


class HandClock(Clock):
    """Time stands still until a test moves it."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 1_800_000_000_000

    def _read(self) -> int:
        return self.time

    def pass_minutes(self, minutes: float) -> None:
        self.time += round(minutes * MINUTE)


def make_scores(
    documents: int = 4, segments: int = 3, systems: str = "ABC", same: bool = False
) -> TestSet:
    """Texts that differ by system, or not."""
    rows = [
        {
            "system": f"system-{name}", "doc": f"doc-{doc}", "seg": str(doc * segments + seg + 1),
            "source": f"Die Quelle {doc} hat den Satz {seg}",
            "target": f"the text {doc} has sentence {seg} as {'all' if same else name * 3} say it",
        }
        for doc in range(documents)
        for seg in range(segments)
        for name in systems
    ]  # fmt: skip
    return assay.read_scores(pl.DataFrame(rows))


def make(place: Path | str, settings: Settings | None = None, **more: Any) -> Created:
    """A campaign in a folder, or in an empty database."""
    folder = Path(tempfile.mkdtemp()) if isinstance(place, str) else place
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(place, str):
        more["store"] = place
    settings = settings or Settings(protocol="esa", raters=Raters(number=3, overlap="0%"))
    scores = more.pop("test_set", None) or make_scores()
    store, rng = more.pop("store", None), more.pop("rng", 7)
    return create_campaign(folder, Material(settings, folder, scores, **more), store=store, rng=rng)


def opened(place: Path | str, clock: Clock | None = None) -> Campaign:
    """The campaign, running."""
    campaign = open_campaign(place, clock=clock or HandClock())
    campaign.open("owner")
    return campaign


def rater_links(campaign: Campaign, made: Created) -> list[Link]:
    """The raters' links."""
    found = [campaign.link(one.token) for one in made.links.raters]
    return [link for link in found if link is not None]


def answers(reply: dict[str, Any], screen: int, score: float = 60) -> list[dict[str, Any]]:
    """Complete answers to a screen of ESA."""
    outputs = {output["code"]: output for output in reply["outputs"]}
    return [
        {"code": code, "place": segment["place"], "scores": {"score": score}, "spans": [
            {"side": "target", "start": 0, "end": 3, "severity": "minor"}
        ]}
        for code in reply["screens"][screen]
        for segment in reply["segments"]
        if segment["rate"] and outputs[code]["texts"][segment["place"]] is not None
    ]  # fmt: skip


def body(reply: dict[str, Any], screen: int, key: str = "one", **more: Any) -> dict[str, Any]:
    """What a page sends."""
    return {"key": f"{key}-{screen}", "timing": {"active_ms": 1000}, "answers": answers(
        reply, screen, **more
    )}  # fmt: skip


def finish(campaign: Campaign, link: Link, reply: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Send all screens of a task; the last reply."""
    sent: dict[str, Any] = {}
    for screen in range(len(reply["screens"])):
        sent = campaign.send(link, reply["lease"], screen, body(reply, screen, **more))
    return sent


def work(campaign: Campaign, link: Link, most: int = 1000) -> list[dict[str, Any]]:
    """Do tasks until there are none; what was shown."""
    done = []
    for _ in range(most):
        reply = campaign.next(link)
        if reply["state"] != "task":
            break
        finish(campaign, link, reply)
        done.append(reply)
    return done
