"""A server in a process of its own: stopped, killed or out of room, it loses nothing."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.campaign.served import make, serving
from tests.campaign.store.world import make as make_store
from tests.campaign.store.world import make_scores
from tests.campaign.web.test_routes import bearer
from tests.conftest import fill

from assay.campaign.campaign import open_campaign
from assay.campaign.client import WireClient, WireError
from assay.campaign.web.access import Limit
from assay.project.settings import Raters, Screen, Settings

CODE = """
import sys
from assay.campaign.campaign import open_campaign
from assay.campaign.web import serve, server
server.MOST_SECONDS = int(sys.argv[3])
with open_campaign(sys.argv[1]) as campaign:
    serve(campaign, port=int(sys.argv[2]))
"""
ASKED_TO_STOP = 12
"""Seconds that a server has to end in."""


@contextmanager
def server(
    place: Path | str, most_seconds: int = 8
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server of a campaign, with so long for requests in progress, and its address."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, str(place), str(port), str(most_seconds)],
        stderr=subprocess.DEVNULL,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            wait_for(client)
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def wait_for(client: httpx.Client) -> None:
    for _ in range(300):
        try:
            if client.get("/readyz").is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the server did not start")


class Rater(threading.Thread):
    """Works at the servers in turn, sends again what had no reply, and remembers what had one."""

    def __init__(self, token: str, addresses: Sequence[str], turn: int = 0) -> None:
        super().__init__(daemon=True)
        self.token, self.addresses, self.turn = token, addresses, turn
        self.acknowledged = Counter[tuple[str, int]]()
        self.leaves = threading.Event()
        self.start()

    def run(self) -> None:
        """Until everything is done, or they are told to leave."""
        while not self.leaves.is_set():
            address = self.addresses[self.turn % len(self.addresses)]
            try:
                with WireClient(address, self.token, tries=1) as client:
                    if self.work(client):
                        return
            except (OSError, HTTPException):
                self.turn += 1
                time.sleep(0.05)
            except WireError as refused:
                assert refused.code in (409, 429, 503), refused
                time.sleep(0.1)

    def work(self, client: WireClient) -> bool:
        """Do tasks; whether nothing is left."""
        while not self.leaves.is_set():
            task = client.post("/api/next", {})
            if task["state"] == "done":
                return True
            if task["state"] != "task":
                time.sleep(0.1)
                continue
            for screen in range(len(task["screens"])):
                if screen not in task["sent"]:
                    self.send(client, task, screen)
        return False

    def send(self, client: WireClient, task: dict[str, Any], screen: int) -> None:
        """Send one screen under the key that it always has."""
        answers = [
            {"code": code, "place": segment["place"], "scores": {"score": 50}}
            for code in task["screens"][screen]
            for segment in task["segments"] if segment["rate"]
        ]  # fmt: skip
        body = {"key": f"{task['lease']}-{screen}", "answers": answers}
        reply = client.post(f"/api/leases/{task['lease']}/screens/{screen}/answers", body)
        assert reply["revision"] == 1
        self.acknowledged[task["lease"], screen] += 1


def need_all_there(place: Path | str, raters: Sequence[Rater]) -> None:
    """What was acknowledged is stored, once, and the store is whole."""
    told = {sent for rater in raters for sent in rater.acknowledged}
    with open_campaign(place, write=False) as campaign:
        rows = campaign.collected().answers
        assert campaign.integrity() == ()
    assert told
    assert told <= {(row.lease, row.screen) for row in rows}
    stored = Counter((row.lease, row.code, row.seg) for row in rows)
    assert set(stored.values()) == {1}
    assert {row.revision for row in rows} == {1}
    assert len({(row.rater, row.task) for row in rows}) == len({row.lease for row in rows})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_under_load_ends_it_with_0_and_loses_nothing(tmp_path: Path, number: int) -> None:
    plan = Settings(protocol="da", raters=Raters(number=6), screen=Screen(outputs=1))
    made = make_store(tmp_path, plan, test_set=make_scores(documents=300))
    with open_campaign(tmp_path) as campaign:
        campaign.open("owner")
    with server(tmp_path) as (process, address):
        raters = [Rater(link.token, [address]) for link in made.links.raters]
        while sum(len(rater.acknowledged) for rater in raters) < 30:
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(ASKED_TO_STOP) == 0
    for rater in raters:
        rater.leaves.set()
        rater.join()
    need_all_there(tmp_path, raters)


def test_a_signal_does_not_wait_for_bodies_that_hardly_come(tmp_path: Path) -> None:
    made = make_store(tmp_path, Settings(protocol="da", raters=Raters(number=2)))
    with open_campaign(tmp_path) as campaign:
        campaign.open("owner")
    head = (
        "POST /api/next HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {made.links.raters[0].token}\r\nContent-Length: "
    )
    with server(tmp_path, most_seconds=600) as (process, address), ExitStack() as stack:
        host, port = address.removeprefix("http://").split(":")
        socks = [
            stack.enter_context(socket.create_connection((host, int(port)), timeout=20))
            for _ in range(30)
        ]
        for sock in socks[1:]:
            sock.sendall(f"{head}1000\r\n\r\n{{".encode())
        socks[0].sendall(f"{head}2\r\n\r\n{{".encode())
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        socks[0].sendall(b"}")  # what comes at once is still answered
        assert socks[0].recv(100).startswith(b"HTTP/1.1 200")
        assert process.wait(120) == 0, "it has not waited for ten minutes"


def test_two_servers_share_a_database_and_one_is_killed(postgres: Callable[[], str]) -> None:
    place = postgres()
    plan = Settings(
        protocol="da", raters=Raters(number=20, per_task=2, overlap="10%"), screen=Screen(outputs=1)
    )
    made = make_store(place, plan, test_set=make_scores(documents=30, systems="AB"))
    with open_campaign(place) as campaign:
        campaign.open("owner")
    slug = campaign.slug
    with server(place) as (first, one), server(place) as (_, other):
        tokens = [link.token for link in made.links.raters]
        raters = [Rater(token, [one, other], turn) for turn, token in enumerate(tokens)]
        owners = [WireClient(address, made.links.owner) for address in (one, other)]
        acts: list[tuple[str, dict[str, Any]]] = [
            ("pause", {}), ("resume", {}), ("exclude", {"rater": "rater-3", "reason": "a test"}),
            ("pause", {}), ("resume", {}), ("restore", {"rater": "rater-3"}),
        ]  # fmt: skip
        for turn, (act, body) in enumerate(acts):
            owners[turn % 2].post(f"/c/{slug}/{act}", body)
        while sum(len(rater.acknowledged) for rater in raters) < 60:
            time.sleep(0.05)
        first.kill()
        first.wait()
        for act, body in acts:
            owners[1].post(f"/c/{slug}/{act}", body)
        for rater in raters:
            rater.join(60)
            assert not rater.is_alive()
        status = owners[1].get(f"/api/campaigns/{slug}")
        assert (status["done"], status["waiting"]) == (status["tasks"], 0)
        end = time.monotonic() + 90  # the server that is left takes over the results
        while status["next_look"] is not None or not status["looks"]:
            assert time.monotonic() < end
            time.sleep(0.2)
            status = owners[1].get(f"/api/campaigns/{slug}")
        for owner in owners:
            owner.__exit__()
    need_all_there(place, raters)
    with open_campaign(place, write=False) as campaign:
        events = [one for one in campaign.collected().events if one["kind"] == "look"]
    assert [one["subject"] for one in events] == [str(look["number"]) for look in status["looks"]]
    assert len(events) == 5


def test_a_full_disk_is_503_and_reading_goes_on(
    small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = make(small_disk, "esa", copies=3)
    with serving(*made) as served, httpx.Client(base_url=served.url) as client:
        served.app.state.visits.requests = Limit(rate=1e6, burst=10**6)
        one, owner = (bearer(served.tokens, who) for who in ("rater-1", "owner"))
        task = client.post("/api/next", json={}, headers=one).json()
        path = f"/api/leases/{task['lease']}"
        assert client.post(f"{path}/problem", json={"text": "first"}, headers=one).is_success
        fill(small_disk)
        told = 1
        for _ in range(2000):  # what was set aside for the store is used up first
            reply = client.post(f"{path}/problem", json={"text": "x" * 4000}, headers=one)
            if reply.status_code != 204:
                break
            told += 1
        assert reply.status_code == 503
        assert int(reply.headers["retry-after"]) > 0
        assert "will be sent again" in reply.json()["error"]
        assert client.get("/api/mine", headers=one).status_code == 200
        assert client.get("/api/campaigns", headers=owner).status_code == 200
        assert client.get(f"/api/campaigns/{served.campaign.slug}", headers=owner).is_success
        reasons = [record.fields["reason"] for record in caplog.records if "reason" in
                   getattr(record, "fields", {})]  # fmt: skip
        assert "full" in reasons[0]
        (small_disk / "filling").unlink()
        assert client.post(f"{path}/problem", json={"text": "last"}, headers=one).is_success
        events = served.campaign.collected().events
        assert sum(event["kind"] == "problem" for event in events) == told + 1
        assert served.campaign.integrity() == ()
