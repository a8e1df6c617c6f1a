"""Claim: owners look at a large campaign without waiting, and raters do not notice.

A campaign of 12 systems has 15,000 ratings when the server starts; ten raters go on sending while
an owner's page asks for all its panels. A look falls due soon after. For comparison, the same from
the same beginning on a server that computes no results. Then the page of a campaign with 200,000
ratings is opened, first as soon as its server answers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from benchmarks.campaign_load import PORTS, Line, wait_for
from benchmarks.claims import claim

PANELS = ("head", "results", "progress", "raters", "looks", "checks")
SYSTEMS, EACH, RATERS, OVERLAP = 12, 5, 10, 0.1
"""Systems, segments of a document, raters, share of the tasks that two raters do."""
BEGUN = 0.78
"""The share of the tasks that are done when a server starts; a look is due at four fifths."""
PAUSE = 0.5
"""Seconds between two answers of a rater, who is quicker than any person."""
LOOKED = 0.25
"""Seconds between two panels that the owner's page asks for."""


class Watched(NamedTuple):
    """What was measured while raters sent."""

    panels: list[float]
    submits: list[float]
    late: float
    """Seconds from the answer that made a look due to its result."""


def outputs(segments: int) -> pl.DataFrame:
    """Make the outputs of all systems."""
    rows = [
        {"system": f"system-{name:02}", "doc": f"d{seg // EACH:05}", "seg": f"{seg:06}",
         "source": f"Satz {seg} liegt im Hafen.", "target": f"Sentence {seg} of {name} is in port.",
         "COMET": (7 * seg + 3 * name) % 100 / 100}
        for seg in range(segments) for name in range(SYSTEMS)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def make(folder: Path, segments: int, ratings: int) -> dict[str, Any]:
    """Make a campaign with so many ratings; its tokens."""
    from assay.campaign.campaign import open_campaign
    from assay.campaign.create import make_campaign, read_material
    from assay.campaign.live.results import bring_up_to_date
    from assay.campaign.store.answers import send
    from assay.campaign.store.tasks import next_task
    from assay.project.settings import Pay, Raters, Settings

    outputs(segments).write_parquet(folder / "scores.parquet")
    settings = Settings(
        name="large", protocol="da", scores="scores.parquet",
        raters=Raters(number=RATERS, overlap=f"{OVERLAP:.0%}"),
        pay=Pay(per_rating=0.2, currency="EUR"),
    )  # fmt: skip
    _, keys = make_campaign(read_material(settings, folder), folder, rng=1)
    rng = np.random.default_rng(1)
    with open_campaign(folder) as campaign:
        campaign.open("benchmark")
        links = [campaign.link(token) for token in keys.raters.values()]
        given = 0
        while given < ratings:
            asked = [campaign.later(next_task, link) for link in links]
            sent = []
            for link, one in zip(links, asked, strict=True):
                task = one.result()
                for screen in range(len(task["screens"])):
                    body = answers(task, screen, rng)
                    given += len(body["answers"])
                    sent.append(campaign.later(send, link, task["lease"], screen, body))
            for one in sent:
                one.result()
            show(f"\r{given:,} of {ratings:,} ratings")
        show("\n")
        bring_up_to_date(campaign)
    return {"owner": keys.owner, "raters": list(keys.raters.values())}


def show(progress: str) -> None:
    """Show progress on a terminal; a file or a pipe would keep every step."""
    if sys.stderr.isatty():
        print(progress, end="", file=sys.stderr, flush=True)


def answers(task: dict[str, Any], screen: int, rng: np.random.Generator) -> dict[str, Any]:
    """Answer a screen as a page would; later systems are worse."""
    texts = {one["code"]: one["texts"] for one in task["outputs"]}
    given = []
    for code in task["screens"][screen]:
        for segment in task["segments"]:
            text = texts[code][segment["place"]]
            if segment["rate"] and text is not None:
                worse = 3 * int(text.split(" of ")[1].split()[0])
                score = float(np.clip(round(80 - worse + rng.normal(0, 10)), 0, 100))
                given.append({"code": code, "place": segment["place"], "scores": {"score": score}})
    return {"key": os.urandom(8).hex(), "timing": {"active_ms": 9000}, "answers": given}


@contextmanager
def served(folder: Path, *, results: bool = True) -> Iterator[int]:
    """Serve a campaign in another process, with or without computing results."""
    port = next(PORTS)
    program = "from assay.campaign.live import refresh\n"
    if not results:
        program += "refresh.Refresher.start = refresh.Refresher.stop = lambda self: None\n"
    program += (
        "from assay.campaign.campaign import open_campaign\n"
        "from assay.campaign.web import serve\n"
        f"with open_campaign({str(folder)!r}) as campaign: serve(campaign, port={port})\n"
    )
    server = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield port
    finally:
        server.terminate()
        server.wait(20)


class Page(Line):
    """The owner's page, which asks for panels and for the status."""

    async def get(self, path: str) -> tuple[int, bytes]:
        """A request and its reply."""
        head = (
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/html\r\n"
            f"Authorization: Bearer {self.token}\r\n\r\n"
        )
        self.writer.write(head.encode())
        return await self._reply()


async def work(line: Line, until: float, sent: list[tuple[float, float]], seed: int) -> None:
    """One rater: a task after the other, with a breath between answers."""
    rng = np.random.default_rng(seed)
    await line.open()
    while time.perf_counter() < until:
        task = await line.post("/api/next", {})
        if task["state"] != "task":
            return
        for screen in range(len(task["screens"])):
            await asyncio.sleep(float(rng.uniform(0.5, 1.5)) * PAUSE)
            begun = time.perf_counter()
            path = f"/api/leases/{task['lease']}/screens/{screen}/answers"
            await line.post(path, answers(task, screen, rng))
            sent.append((time.perf_counter(), time.perf_counter() - begun))


async def look(
    page: Page, until: float, panels: list[float], seen: list[tuple[float, int, int]]
) -> None:
    """The owner: a panel, then the status, again and again."""
    await page.open()
    number = 0
    while time.perf_counter() < until:
        begun = time.perf_counter()
        await page.get(f"/c/large/panel/{PANELS[number % len(PANELS)]}")
        panels.append(time.perf_counter() - begun)
        number += 1
        _, body = await page.get("/api/campaigns/large")
        status = json.loads(body)
        seen.append((time.perf_counter(), len(status["looks"]), status["beginning"]))
        await asyncio.sleep(LOOKED)


async def watch(port: int, tokens: dict[str, Any], seconds: float, due: int | None) -> Watched:
    """Raters and owner side by side; a look is ``due`` when so many tasks are complete."""
    until = time.perf_counter() + seconds
    panels: list[float] = []
    sent: list[tuple[float, float]] = []
    seen: list[tuple[float, int, int]] = []
    raters = [work(Line(port, token), until, sent, k) for k, token in enumerate(tokens["raters"])]
    await asyncio.gather(look(Page(port, tokens["owner"]), until, panels, seen), *raters)
    if due is None:
        return Watched(panels, [passed for _, passed in sent], float("nan"))
    reached = [at for at, _, beginning in seen if beginning >= due]
    taken = [at for at, looks, _ in seen if looks > seen[0][1]]
    if not taken or not reached or seen[0][2] >= due:
        raise RuntimeError(
            f"no look fell due while it was watched: {seen[0][2]} tasks were complete at the start"
            f" and {seen[-1][2]} at the end, and it was due at {due}; choose other --seconds"
        )
    return Watched(panels, [passed for _, passed in sent], taken[0] - reached[0])


def p95(times: Sequence[float]) -> float:
    """The 95th percentile, in milliseconds."""
    return 1000 * float(np.quantile(times, 0.95))


def panels(ratings: int, segments: int, seconds: float) -> None:
    """Measure panels, a look and answers at an everyday size."""
    from assay.campaign.campaign import open_campaign
    from assay.campaign.live.results import follow_campaign

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokens = make(folder, segments, ratings)
        with open_campaign(folder, write=False) as campaign:
            plan, found = follow_campaign(campaign).plan, campaign.results()
        assert found is not None
        due = plan.tasks_for(plan.sizes[len(found.looks)])
        again = shutil.copytree(folder, folder / "again")
        with served(again, results=False) as port:
            still = asyncio.run(watch(port, tokens, seconds, None))
        with served(folder) as port:
            time.sleep(5)
            live = asyncio.run(watch(port, tokens, 2 * seconds, due))
    what = f"{ratings:,} ratings x {SYSTEMS} systems, {RATERS} raters sending"
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    claim(f"Owner's panels, {what}: p95", p95(live.panels), goal=100, unit="ms",
          peer=f"median {1000 * np.median(live.panels):.0f} ms, {len(live.panels)} panels, {load}",
          )  # fmt: skip
    claim("Owner's page, the same: from a look that is due to its result", live.late, goal=3,
          unit="s", peer=load)  # fmt: skip
    claim("Answers of raters, the same: p95, against a server without results",
          p95(live.submits) / p95(still.submits), goal=1.2, unit="times",
          peer=f"{p95(live.submits):.0f} and {p95(still.submits):.0f} ms,"
               f" {len(live.submits)} and {len(still.submits)} answers, {load}",
          )  # fmt: skip


def large(ratings: int, segments: int) -> None:
    """Measure the page of a campaign as large as a shared task's."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokens = make(folder, segments, ratings)
        with served(folder, results=False) as port:
            times = asyncio.run(openings(port, tokens["owner"]))
    what = f"Owner's page with {ratings:,} ratings x {SYSTEMS} systems"
    load = f"load {os.getloadavg()[0]:.1f}"
    claim(f"{what}: opened as soon as the server answers", 1000 * times[0], goal=300, unit="ms",
          peer=load)  # fmt: skip
    claim(f"{what}: p95", p95(times[1:]), goal=300, unit="ms", peer=load)


async def openings(port: int, token: str) -> list[float]:
    """How long the page takes, again and again; the server has counted nothing before the first."""
    page, times = Page(port, token), []
    await page.open()
    for _ in range(40):
        begun = time.perf_counter()
        status, _ = await page.get("/c/large")
        assert status == 200
        times.append(time.perf_counter() - begun)
        await asyncio.sleep(0.1)
    return times


def segments_for(ratings: int) -> int:
    """The segments of a campaign of which so many ratings complete the share ``BEGUN``."""
    return round(ratings / SYSTEMS / BEGUN / (1 + OVERLAP) / EACH) * EACH


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--ratings", type=int, default=15_000)
    parser.add_argument("--large", type=int, default=200_000, help="ratings; 0: not measured")
    options = parser.parse_args()
    panels(options.ratings, segments_for(options.ratings), options.seconds)
    if options.large:
        large(options.large, segments_for(options.large))


if __name__ == "__main__":
    main()
