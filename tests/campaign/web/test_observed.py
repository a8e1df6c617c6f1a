"""What a server says of its own work: counts, times and a log, and nothing about anybody."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.campaign.served import TEXTS, make, serving
from tests.campaign.web.test_routes import bearer
from tests.campaign.web.test_server import wait_for

from assay.campaign.campaign import Campaign


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def logged(folder: Path, *words: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server in a process of its own: its address, and after the block what it wrote down."""
    port, lines = free_port(), list[dict[str, Any]]()
    command = ["campaign", "serve", str(folder), "--port", str(port), *words]
    server = subprocess.Popen(
        [sys.executable, "-m", "assay", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=dict(os.environ),
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(base_url=address) as client:
            wait_for(client)
        yield address, lines
    finally:
        server.send_signal(signal.SIGTERM)
        _, err = server.communicate(timeout=20)
    lines += [json.loads(line) for line in err.splitlines()]
    assert server.returncode == 0


def values(text: str) -> dict[str, float]:
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def test_counts_and_times_for_those_who_may_look(tmp_path: Path) -> None:
    with serving(*make(tmp_path, "esa")) as served, httpx.Client(base_url=served.url) as client:
        tokens = served.tokens
        for _ in range(3):
            client.post("/api/next", json={}, headers=bearer(tokens, "rater-1"))
        client.get("/not/there")
        client.options("/rate")
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers=bearer(tokens, "rater-1")).status_code == 403
        reply = client.get("/metrics", headers=bearer(tokens, "viewer"))
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = values(reply.text)
    asked = 'assay_requests_total{method="POST",route="/api/next",status="200"}'
    assert found[asked] == 3
    assert found['assay_requests_total{method="GET",route="none",status="404"}'] == 1
    assert found['assay_requests_total{method="other",route="/rate",status="405"}'] == 1
    assert found['assay_requests_total{method="GET",route="/metrics",status="401"}'] == 1
    assert found['assay_request_seconds_count{route="/api/next"}'] == 3
    assert found['assay_request_seconds_bucket{route="/api/next",le="+Inf"}'] == 3
    assert found['assay_request_seconds_sum{route="/api/next"}'] > 0
    assert found['assay_campaigns{state="open"}'] == 1
    assert found['assay_raters{state="active"}'] == 2
    assert found['assay_leases{state="open"}'] == 1
    assert found["assay_screens_sent"] == 0
    need_nothing_about_anybody(reply.text, tokens)


def need_nothing_about_anybody(text: str, tokens: dict[str, str]) -> None:
    private = [*tokens.values(), *tokens, "harbour", "secret-engine", "hidden-doc", "127.0.0.1"]
    private += [word for source, targets in TEXTS["de-en"] for word in (source, *targets)]
    assert [word for word in private if word in text] == []


def test_the_log_is_json_without_tokens_texts_names_or_addresses(tmp_path: Path) -> None:
    campaign, tokens = make(tmp_path, "esa", systems=1)
    campaign.disconnect()
    keys = {"owner": "o", "viewer": "v", "join": "j", "raters": {}, "store": None}
    (tmp_path / "campaign.json").write_text(json.dumps(keys))
    wrong = "5" * 32
    with logged(tmp_path) as (address, lines), httpx.Client(base_url=address) as client:
        client.get(f"/r/{tokens['rater-1']}")
        client.get(f"/r/{wrong}")
        headers = bearer(tokens, "rater-1")
        task = client.post("/api/next", json={}, headers=headers).json()
        path = f"/api/leases/{task['lease']}/problem"
        client.post(path, json={"text": "my remark"}, headers=headers)
        client.post(path, json={"text": "my remark", "and": "more"}, headers=headers)
        client.get("/some/where?else=my-query", headers={"User-Agent": "my browser"})
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as line:
            line.sendall(b"my own protocol\r\n\r\n")
            line.recv(100)
    assert (lines[0]["event"], lines[-1]["event"]) == ("started", "stopped")
    assert all(line["time"].endswith("Z") and line["level"] for line in lines)
    asked = {(line["method"], line["route"], line["status"]) for line in lines if "route" in line}
    assert {
        ("GET", "/r/{token}", 303), ("GET", "/r/{token}", 401), ("POST", "/api/next", 200),
        ("POST", "/api/leases/{lease}/problem", 204), ("GET", "none", 404),
        ("POST", "/api/leases/{lease}/problem", 422),
    } <= asked  # fmt: skip
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    need_nothing_about_anybody(text, tokens)
    more = (wrong, task["lease"], "remark", "my-query", "my browser", "my own")
    assert [word for word in more if word in text] == []


def test_a_failure_is_logged_with_its_place_and_not_with_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(campaign: object, link: object) -> None:
        raise KeyError("what somebody wrote")

    with serving(*make(tmp_path, "esa")) as served:
        monkeypatch.setattr(Campaign, "mine", fail)
        headers = bearer(served.tokens, "rater-1")
        assert httpx.get(f"{served.url}/api/mine", headers=headers).status_code == 503
    fields = [record.fields for record in caplog.records if hasattr(record, "fields")]
    assert fields[0]["kind"] == "KeyError"
    assert fields[0]["where"][-1].endswith(" fail")
    assert fields[1]["status"] == 503
    assert "somebody" not in str(fields)
