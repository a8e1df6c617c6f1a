"""Claim: what a campaign acknowledged is there after kill -9, once, and the next start just works.

Ten raters work as fast as they can in a process that is killed after a random time, again and
again; whatever was not acknowledged they send again with the same key. With `--postgres CYCLES` two
processes with five raters each share a PostgreSQL database, and both are killed.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import assay
from assay.campaign.campaign import Campaign, open_campaign
from assay.campaign.contents import Material
from assay.campaign.create import create_campaign
from assay.campaign.records import UnavailableError
from assay.project.settings import Raters, Screen, Settings
from benchmarks.claims import claim, skipped

RATERS, SYSTEMS = 10, "ABC"
WORK = (0.1, 1.5)
"""Seconds of work before a kill, from and to."""
START = 60.0
"""Seconds that a start may take at most."""


@dataclass
class Result:
    """What is left after all kills."""

    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    failed_starts: int = 0
    faults: int = 0
    slowest_start: float = 0.0


def make(folder: Path, store: str | None, segments: int) -> list[str]:
    """A campaign large enough not to end; the tokens of its raters."""
    rows = [
        {"system": system, "seg": str(seg), "source": f"Satz {seg}", "target": f"{system} {seg}"}
        for seg in range(segments)
        for system in SYSTEMS
    ]
    settings = Settings(protocol="da", screen=Screen(outputs=8), raters=Raters(number=RATERS))
    material = Material(settings, folder, assay.read_scores(pl.DataFrame(rows)))
    made = create_campaign(folder, material, store=store, rng=1)
    with open_campaign(store or folder) as campaign:
        campaign.open("owner")
    return [one.token for one in made.links.raters]


def rate(campaign: Campaign, token: str, log: Path) -> None:
    """One rater: first what was not acknowledged, then on; every step is written down."""
    link = campaign.link(token)
    assert link is not None
    with log.open("a", encoding="ascii", buffering=1) as file:
        while True:
            try:
                task = campaign.next(link)
                if task["state"] != "task":
                    time.sleep(0.05)
                    continue
                answers = [
                    {"code": output["code"], "place": segment["place"], "scores": {"score": 50}}
                    for output in task["outputs"]
                    for segment in task["segments"] if segment["rate"]
                ]  # fmt: skip
                # A rater who comes back to a task sends it under the key of the first attempt.
                key = f"key-{task['lease']}"
                body = {"key": key, "timing": {"active_ms": 1}, "answers": answers}
                campaign.send(link, task["lease"], 0, body)
                file.write(f"{task['lease']} {key}\n")
            except UnavailableError:
                time.sleep(0.05)


def serve(place: str, logs: str, first: int, tokens: list[str]) -> None:
    """Work until somebody kills this process."""
    campaign = open_campaign(place)
    print("ready", flush=True)
    for number, token in enumerate(tokens, start=first):
        log = Path(logs) / f"{number}.log"
        threading.Thread(target=rate, args=(campaign, token, log), daemon=True).start()
    sys.stdin.read()


def started(place: str, logs: Path, first: int, tokens: list[str]) -> subprocess.Popen[str]:
    """A process that works."""
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.campaign_kill", "--serve", place, str(logs),
         str(first), *tokens],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def kill_again_and_again(
    folder: Path, store: str | None, cycles: int, *, processes: int = 1, segments: int = 5000,
    seed: int = 1,
) -> Result:  # fmt: skip
    """Start, work, kill; then see what is there."""
    place, logs, found = store or str(folder), folder / "logs", Result()
    logs.mkdir()
    tokens = make(folder, store, segments)
    share = len(tokens) // processes
    moment = random.Random(seed)
    for _ in range(cycles):
        begin = time.perf_counter()
        running = [
            started(place, logs, k * share, tokens[k * share : (k + 1) * share])
            for k in range(processes)
        ]
        for process in running:
            assert process.stdout is not None
            found.failed_starts += process.stdout.readline() != "ready\n"
        found.slowest_start = max(found.slowest_start, time.perf_counter() - begin)
        time.sleep(moment.uniform(*WORK))
        for process in running:
            process.send_signal(signal.SIGKILL)
        for process in running:
            process.communicate()
    compare(place, logs, found)
    return found


def compare(place: str, logs: Path, found: Result) -> None:
    """What was acknowledged against what is stored."""
    told = Counter[str]()
    for log in logs.glob("*.log"):
        lines = log.read_text("ascii").splitlines(keepends=True)
        told.update(line.split()[0] for line in lines if line.endswith("\n"))
    with open_campaign(place) as campaign:
        answers = campaign.collected().answers
        found.faults = len(campaign.integrity())
    stored = Counter((row.lease, row.system, row.seg, row.revision) for row in answers)
    there = {row.lease for row in answers}
    found.acknowledged = len(told)
    found.lost = len(told.keys() - there)
    once = len({(lease, system, seg) for lease, system, seg, _ in stored})
    found.doubled = sum(stored.values()) - once + sum(row.revision > 1 for row in answers)


def report(name: str, cycles: int, found: Result) -> None:
    """The claims of one store."""
    what = f"{name}, {cycles} kills, {found.acknowledged:,} acknowledged answers"
    claim(f"{what}: lost", found.lost, goal=0)
    claim(f"{what}: stored twice", found.doubled, goal=0)
    claim(f"{what}: starts that failed", found.failed_starts, goal=0)
    claim(f"{what}: faults of the store", found.faults, goal=0)
    claim(f"{what}: slowest start", found.slowest_start, goal=START, unit="s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--postgres", type=int, default=20, metavar="CYCLES")
    parser.add_argument("--serve", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        place, logs, first, *tokens = given.serve
        serve(place, logs, int(first), tokens)
        return
    with tempfile.TemporaryDirectory() as folder:
        report("SQLite", given.cycles, kill_again_and_again(Path(folder), None, given.cycles))
    if not given.postgres:
        return
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # it complains about folders of the desktop
        try:
            import pgserver

            server = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        except Exception as error:
            skipped(f"PostgreSQL does not start here ({type(error).__name__}: {error})")
            return
        found = kill_again_and_again(Path(folder), server.get_uri(), given.postgres, processes=2)
        report("PostgreSQL with two processes", given.postgres, found)
        server.cleanup()


if __name__ == "__main__":
    main()
