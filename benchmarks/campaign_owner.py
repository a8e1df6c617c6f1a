"""Claim: owners look at a large campaign without waiting, and raters do not notice.

A campaign of 12 systems has 15,000 ratings when the server starts; ten raters go on sending while
an owner's page asks for all its panels. A look falls due on the way. The same again on a server
that computes no results, for comparison, and a campaign with 200,000 ratings whose page is opened.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
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
SYSTEMS, EACH, RATERS = 12, 5, 10
"""Systems, segments of a document, raters."""
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
    """The texts of all systems."""
    rows = [
        {"system": f"system-{name:02}", "doc": f"d{seg // EACH:05}", "seg": f"{seg:06}",
         "source": f"Satz {seg} liegt im Hafen.", "target": f"Sentence {seg} of {name} is in port.",
         "COMET": (7 * seg + 3 * name) % 100 / 100}
        for seg in range(segments) for name in range(SYSTEMS)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def make(folder: Path, segments: int, ratings: int) -> dict[str, Any]:
    """A campaign with so many ratings; its tokens."""
    from assay.campaign.campaign import open_campaign
    from assay.campaign.live.results import bring_up_to_date
    from assay.campaign.making import make_campaign
    from assay.campaign.material import read_material
    from assay.project.settings import Pay, Raters, Settings

    outputs(segments).write_parquet(folder / "scores.parquet")
    settings = Settings(
        name="large", protocol="da", scores="scores.parquet", raters=Raters(number=RATERS),
        pay=Pay(per_rating=0.2, currency="EUR"),
    )  # fmt: skip
    _, keys = make_campaign(read_material(settings, folder), folder, rng=1)
    rng = np.random.default_rng(1)
    with open_campaign(folder) as campaign:
        campaign.open("benchmark")
        links = [campaign.link(token) for token in keys.raters.values()]
        given = 0
        while given < ratings:
            asked = [campaign.later("next", link) for link in links]
            sent = []
            for link, one in zip(links, asked, strict=True):
                task = one.result()
                for screen in range(len(task["screens"])):
                    body = answers(task, screen, rng)
                    given += len(body["answers"])
                    sent.append(campaign.later("send", link, task["lease"], screen, body))
            for one in sent:
                one.result()
            show(f"\r{given:,} of {ratings:,} ratings")
        show("\n")
        bring_up_to_date(campaign)
    return {"owner": keys.owner, "raters": list(keys.raters.values())}


def show(progress: str) -> None:
    """How far it is, where somebody watches: a file or a pipe would keep every step."""
    if sys.stderr.isatty():
        print(progress, end="", file=sys.stderr, flush=True)


def answers(task: dict[str, Any], screen: int, rng: np.random.Generator) -> dict[str, Any]:
    """What a page sends: the later systems are worse."""
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
    """The campaign served in a process of its own, with results computed beside it or not."""
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
    """The owner's page, which asks for panels and for how things stand."""

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
    """The owner: panel after panel, and now and then how things stand."""
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


async def watch(port: int, tokens: dict[str, Any], seconds: float, due: int) -> Watched:
    """Raters and owner side by side; a look is ``due`` at so many tasks."""
    until = time.perf_counter() + seconds
    panels: list[float] = []
    sent: list[tuple[float, float]] = []
    seen: list[tuple[float, int, int]] = []
    raters = [work(Line(port, token), until, sent, k) for k, token in enumerate(tokens["raters"])]
    await asyncio.gather(look(Page(port, tokens["owner"]), until, panels, seen), *raters)
    reached = [at for at, _, beginning in seen if beginning >= due]
    taken = [at for at, looks, _ in seen if looks > seen[0][1]]
    late = taken[0] - reached[0] if taken and reached else float("nan")
    return Watched(panels, [passed for _, passed in sent], late)


def p95(times: Sequence[float]) -> float:
    """The time that 19 in 20 stay below, in milliseconds."""
    return 1000 * float(np.quantile(times, 0.95))


def panels(ratings: int, segments: int, seconds: float) -> None:
    """Panels, looks and submits at a size of everyday."""
    from assay.campaign.campaign import open_campaign
    from assay.campaign.live.results import follow_campaign

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokens = make(folder, segments, ratings)
        with open_campaign(folder, write=False) as campaign:
            plan, found = follow_campaign(campaign).plan, campaign.results()
        assert found is not None
        due = plan.tasks_for(plan.sizes[len(found.looks)])
        with served(folder, results=False) as port:
            still = asyncio.run(watch(port, tokens, seconds, due + 10**9))
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
    """The page of a campaign as large as a shared task's."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokens = make(folder, segments, ratings)
        with served(folder, results=False) as port:
            times = asyncio.run(openings(port, tokens["owner"]))
    claim(f"Owner's page with {ratings:,} ratings x {SYSTEMS} systems: p95", p95(times), goal=300,
          unit="ms", peer=f"the first {1000 * times[0]:.0f} ms, load {os.getloadavg()[0]:.1f}",
          )  # fmt: skip


async def openings(port: int, token: str) -> list[float]:
    """How long the page takes, again and again; the first time everything is counted anew."""
    page, times = Page(port, token), []
    await page.open()
    for _ in range(40):
        begun = time.perf_counter()
        status, _ = await page.get("/c/large")
        assert status == 200
        times.append(time.perf_counter() - begun)
        await asyncio.sleep(0.1)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--ratings", type=int, default=15_000)
    parser.add_argument("--large", type=int, default=200_000, help="ratings; 0: not measured")
    options = parser.parse_args()
    # Three quarters are rated when it starts, and a look is due at four fifths.
    panels(options.ratings, round(options.ratings / SYSTEMS / 0.78 / EACH) * EACH, options.seconds)
    if options.large:
        large(options.large, round(options.large / SYSTEMS / 0.9 / EACH) * EACH)


if __name__ == "__main__":
    main()
