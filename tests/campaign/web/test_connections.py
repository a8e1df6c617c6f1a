"""Connections that send without end, or hardly at all, neither fill the memory nor stay."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from tests.campaign.served import make

from assay.campaign.web import access
from assay.campaign.web import server as own_server
from assay.campaign.web.server import MOST_BYTES, serving

SOON = 0.4


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """An address and a rater's token; requests have to come soon."""
    monkeypatch.setattr(own_server, "MOST_SECONDS", SOON)
    monkeypatch.setattr(access, "MOST_SECONDS", SOON)
    campaign, tokens = make(tmp_path, "esa")
    with serving(campaign) as address:
        yield address, tokens["rater-1"]
    campaign.disconnect()


def said(address: str, *pieces: bytes, pause: float = 0.0) -> bytes:
    """What comes back until the connection is closed."""
    host, port = address.removeprefix("http://").split(":")
    found: list[bytes] = []
    with socket.create_connection((host, int(port)), timeout=10) as sock:

        def listen() -> None:
            with suppress(ConnectionError):
                while piece := sock.recv(65536):
                    found.append(piece)

        listening = threading.Thread(target=listen)
        listening.start()
        with suppress(ConnectionError):
            for piece in pieces:
                sock.sendall(piece)
                time.sleep(pause)
        listening.join()
    return b"".join(found)


def head(token: str, length: str) -> bytes:
    return (
        f"PUT /api/leases/{'a' * 32}/screens/0/draft HTTP/1.1\r\nHost: x\r\n{length}\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n\r\n"
    ).encode()


def test_who_asks_nothing_is_let_go(server: tuple[str, str]) -> None:
    address, _ = server
    begun = time.monotonic()
    assert said(address) == b""
    assert said(address, b"GET /healthz HTTP/1.1\r\n").startswith(b"HTTP/1.1 400")
    asked = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    assert said(address, asked, *([b"\r\n"] * 9), pause=0.2).count(b"200 OK") == 1
    assert time.monotonic() - begun < 8


def test_headers_without_end_are_cut_off(server: tuple[str, str]) -> None:
    address, token = server
    start = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
    chunked = head(token, "Transfer-Encoding: chunked") + b"2\r\n{}\r\n"
    many = b"".join(b"X-%d: %s\r\n" % (number, b"a" * 1000) for number in range(50))
    for first, more in (
        (start, many), (start + b"X-Long: ", b"a" * 50_000), (chunked, b"1;" + b"x" * 50_000),
        (chunked + b"0\r\nX-After: ", b"a" * 50_000),
    ):  # fmt: skip
        reply = said(address, first, *([more] * 30), pause=0.005)
        assert reply.startswith(b"HTTP/1.1 400")
        assert reply.endswith(b"The headers are larger than 64 kB.")
    with httpx.Client(base_url=address) as client:
        assert client.get("/healthz", headers={"X-Long": "a" * (MOST_BYTES // 2)}).is_success


def test_a_body_has_to_come_in_time(server: tuple[str, str]) -> None:
    address, token = server
    for length in ("Content-Length: 250000", "Transfer-Encoding: chunked"):
        begun = time.monotonic()
        pieces = [b"1\r\nx\r\n" if "chunked" in length else b"x"] * 6
        reply = said(address, head(token, length), *pieces, pause=0.1)
        assert reply.startswith(b"HTTP/1.1 422")
        assert "did not come in time" in json.loads(reply.partition(b"\r\n\r\n")[2])["error"]
        assert time.monotonic() - begun < 4
    with httpx.Client(base_url=address) as client:
        headers = {"Authorization": f"Bearer {token}"}
        assert client.post("/api/next", json={}, headers=headers).json()["state"] == "task"
        parts = (b"{", b"}")
        kind = {"Content-Type": "application/json"}
        assert client.post("/api/next", content=iter(parts), headers=headers | kind).is_success
