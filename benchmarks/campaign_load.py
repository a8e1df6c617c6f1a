"""Claim: many raters at once are answered quickly, each answer on disk before the reply.

50 raters share 4,000 documents, 10 raters 400; each asks for a task, sends it and asks again, over
127.0.0.1. The client writes HTTP itself, as HTTP libraries cost more than the server. If pearmut is
on the PATH, from its own environment, it does the same work in the same run; it has no limit of
requests and does not wait for the disk.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import polars as pl

from benchmarks.claims import claim, skipped

PEARMUT_SUBMITS, PEARMUT_P95 = 6.0, 8.1
"""Of pearmut 1.1.6 with 50 raters and 4,000 documents, measured on a machine like this one."""
PEER = "load"
LIMIT_PAUSE = 0.02
PORTS = itertools.count(18_230)


class Line:
    """One connection of one rater, kept open."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token

    async def open(self) -> None:
        """Connect."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """A request and its reply; one that came too soon is sent again."""
        data = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        while True:
            self.writer.write(head.encode() + data)
            status, reply = await self._reply()
            if status != 429:
                break
            await asyncio.sleep(LIMIT_PAUSE)
        if status >= 300:
            raise RuntimeError(f"{path}: {status} {reply!r}")
        return json.loads(reply)

    async def _reply(self) -> tuple[int, bytes]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        _, _, rest = head.partition(b"content-length:")
        length = int(rest.partition(b"\r\n")[0] or 0)
        return int(head[9:12]), await self.reader.readexactly(length)


Rate = Callable[[Line, float, list[float]], Awaitable[None]]


async def rate(line: Line, until: float, times: list[float]) -> None:
    """One rater: ask, send, ask again."""
    await line.open()
    while time.perf_counter() < until:
        task = await line.post("/api/next", {})
        if task["state"] != "task":
            return
        (codes,) = task["screens"]
        place = next(segment["place"] for segment in task["segments"] if segment["rate"])
        answers = [{"code": codes[0], "place": place, "scores": {"score": 71}}]
        path = f"/api/leases/{task['lease']}/screens/0/answers"
        sent = time.perf_counter()
        await line.post(path, {"key": os.urandom(8).hex(), "answers": answers})
        times.append(time.perf_counter() - sent)
    line.writer.close()


async def rate_at_peer(line: Line, until: float, times: list[float]) -> None:
    """The same at pearmut, which knows users by their name."""
    await line.open()
    who = {"campaign_id": PEER, "user_id": line.token}
    while time.perf_counter() < until:
        item = await line.post("/get-next-item", who)
        if item.get("status") != "ok":
            return
        payload = {"annotation": [{"engine": {"score": 71, "error_spans": []}}]}
        sent = time.perf_counter()
        await line.post("/log-response", {**who, "item_i": item["info"]["item_i"],
                                          "payload": payload})  # fmt: skip
        times.append(time.perf_counter() - sent)
    line.writer.close()


async def load(
    ports: Sequence[int], tokens: Sequence[str], seconds: float, one: Rate = rate
) -> list[float]:
    """Let raters work for so many seconds; the time of every answer."""
    times: list[float] = []
    lines = [Line(port, token) for port, token in zip(itertools.cycle(ports), tokens)]
    until = time.perf_counter() + seconds
    await asyncio.gather(*(one(line, until, times) for line in lines))
    return times


def make(folder: Path, raters: int, documents: int, store: str | None) -> list[str]:
    """Make a campaign of documents with one output each; the tokens of its raters."""
    rows = {
        "system": ["engine"] * documents, "doc": [f"d{k}" for k in range(documents)],
        "seg": ["1"] * documents, "source": [f"Satz {k} liegt im Hafen." for k in range(documents)],
        "target": [f"Sentence {k} is in port." for k in range(documents)],
    }  # fmt: skip
    pl.DataFrame(rows).write_parquet(folder / "scores.parquet")
    words = ["new", str(folder / "scores.parquet"), "--protocol", "da", "--overlap", "0",
             "--raters", str(raters), "-o", str(folder), "--json"]  # fmt: skip
    made = json.loads(command(*words, *(["--store", store] if store else [])))
    return [rater["token"] for rater in made["links"]["raters"]]


def command(*words: str) -> str:
    """Run a command of ``assay campaign``; what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "assay", "campaign", *words],
        check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return done.stdout


def cpu_seconds(process: int) -> float:
    """The processor time that a process has used, NaN where the system does not say."""
    stat = Path(f"/proc/{process}/stat")
    if not stat.exists():
        return float("nan")
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(folder: Path) -> Iterator[tuple[int, int]]:
    """Serve a campaign in another process; its port and process number."""
    port = next(PORTS)
    words = ["serve", str(folder), "--port", str(port), "--json"]
    server = subprocess.Popen(
        [sys.executable, "-m", "assay", "campaign", *words], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        server.stdout.readline()
        wait_for(port)
        yield port, server.pid
    finally:
        server.terminate()
        server.wait(20)


def wait_for(port: int) -> None:
    """Wait until a server listens on a port."""
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the server did not start")


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Start PostgreSQL from the wheel pgserver; the address of an empty database."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pgserver

        server = pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def measure(
    raters: int, documents: int, seconds: float, *, store: str | None = None, workers: int = 1
) -> tuple[float, float]:
    """Answers a second and their 95th percentile, of new servers."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        tokens = make(Path(name), raters, documents, store)
        servers = [stack.enter_context(served(Path(name))) for _ in range(workers)]
        what = "PostgreSQL" if store else "SQLite"
        return report(what, raters, documents, servers, tokens, seconds)


def report(
    what: str, raters: int, documents: int, servers: Sequence[tuple[int, int]],
    tokens: Sequence[str], seconds: float, one: Rate = rate,
) -> tuple[float, float]:  # fmt: skip
    """Print and return answers a second and their 95th percentile while raters work."""
    before = sum(cpu_seconds(process) for _, process in servers)
    started = time.perf_counter()
    times = asyncio.run(load([port for port, _ in servers], tokens, seconds, one))
    passed = time.perf_counter() - started
    cost = sum(cpu_seconds(process) for _, process in servers) - before
    speed, p95 = len(times) / passed, float(np.quantile(times, 0.95))
    print(
        f"{raters:3} raters, {documents:,} documents, {len(servers)} server(s)"
        f" {what:10} {speed:6.1f} answers/s"
        f"  median {np.median(times) * 1000:5.0f} ms  p95 {p95 * 1000:5.0f} ms  n {len(times):,}"
        f"  processor {1000 * cost / len(times):.1f} ms an answer"
        f"  (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)",
        flush=True,
    )
    return speed, p95


def measure_peer(raters: int, documents: int, seconds: float) -> tuple[float, float] | None:
    """Measure the same of pearmut, if it is installed."""
    program = which("pearmut")
    if program is None:
        return None
    users = [f"user-{number}" for number in range(raters)]
    data = [
        [{"src": f"Satz {k} liegt im Hafen.", "tgt": {"engine": f"Sentence {k} is in port."}}]
        for k in range(documents)
    ]
    info = {"assignment": "single-stream", "protocol": "DA", "users": users, "shuffle": False}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "campaign.json"
        path.write_text(json.dumps({"campaign_id": PEER, "info": info, "data": data}))
        within = {"env": os.environ | {"PEARMUT_ROOT": name}, "cwd": name}
        subprocess.run([program, "add", path], check=True, stdout=subprocess.DEVNULL, **within)
        port = next(PORTS)
        # Not `pearmut run`, which listens at every address of the machine.
        server = subprocess.Popen(
            [Path(program).parent / "python", "-m", "uvicorn", "pearmut.app:app", "--host",
             "127.0.0.1", "--port", str(port), "--log-level", "warning"], **within,
        )  # fmt: skip
        try:
            wait_for(port)
            own = [(port, server.pid)]
            return report("pearmut", raters, documents, own, users, seconds, rate_at_peer)
        finally:
            server.terminate()
            server.wait(20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--documents", type=int, default=4000)
    options = parser.parse_args()
    speed, p95 = measure(options.raters, options.documents, options.seconds)
    other = measure_peer(options.raters, options.documents, options.seconds)
    how = "in the same run" if other else "measured earlier, as it is not installed here"
    other = other or (PEARMUT_SUBMITS, PEARMUT_P95)
    peer = f"pearmut {other[0]:.1f} answers/s, p95 {other[1]:.2g} s, {how}"
    claim(
        "Campaign, 50 raters x 4,000 documents: answers a second, times pearmut's",
        speed / other[0], goal=20, at_most=False, unit="times", peer=peer,
    )  # fmt: skip
    claim(
        "Campaign, the same: p95 of an answer, as a share of pearmut's", p95 / other[1],
        goal=1 / 15, peer=peer,
    )  # fmt: skip
    small, _ = measure(10, 400, min(options.seconds, 4.0))
    less = measure_peer(10, 400, min(options.seconds, 4.0))
    asked = "a link may ask 60 times at once, then 20 times a second"
    if less is None:
        claim("Campaign, 10 raters x 400 documents: answers a second", small, unit="/s", peer=asked)
    else:
        claim(
            "Campaign, 10 raters x 400 documents: answers a second, times pearmut's",
            small / less[0], goal=5, at_most=False, unit="times",
            peer=f"pearmut {less[0]:.1f} answers/s: it rewrites one file for each, which is small"
                 f" here, does not wait for the disk and has no limit; here {asked}",
        )  # fmt: skip
    try:
        with tempfile.TemporaryDirectory() as name, postgres(Path(name)) as address:
            both, _ = measure(options.raters, options.documents, options.seconds, store=address,
                              workers=2)  # fmt: skip
    except ImportError:
        skipped("PostgreSQL could not be started: pgserver is not installed")
        return
    claim("Campaign, the same on PostgreSQL with 2 workers: answers a second", both, unit="/s",
          peer=f"SQLite with one {speed:.0f}/s")  # fmt: skip


if __name__ == "__main__":
    main()
