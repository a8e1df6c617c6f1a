"""A server in a process of its own: it stops when asked, and what it acknowledged is there."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from tests.campaign.served import make

from assay.campaign.campaign import open_campaign

CODE = """
import sys
from assay.campaign.campaign import open_campaign
from assay.campaign.web import serve
with open_campaign(sys.argv[1]) as campaign:
    serve(campaign, port=int(sys.argv[2]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_0_and_keeps_what_was_sent(tmp_path: Path, number: int) -> None:
    campaign, tokens = make(tmp_path, "esa", systems=1)
    campaign.disconnect()
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", CODE, str(tmp_path), str(port)])
    headers = {"Authorization": f"Bearer {tokens['rater-1']}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as client:
        wait_for(client)
        task = client.post("/api/next", json={}).json()
        place = next(one["place"] for one in task["segments"] if one["rate"])
        answer = {"code": task["screens"][0][0], "place": place, "scores": {"score": 50}}
        body = {"key": "key-0001", "answers": [answer]}
        sent = client.post(f"/api/leases/{task['lease']}/screens/0/answers", json=body)
        assert sent.json()["stored"] == 1
    process.send_signal(number)
    assert process.wait(15) == 0
    with open_campaign(tmp_path, write=False) as campaign:
        assert campaign.status().answers == 1


def wait_for(client: httpx.Client) -> None:
    for _ in range(300):
        try:
            if client.get("/readyz").is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the server did not start")
