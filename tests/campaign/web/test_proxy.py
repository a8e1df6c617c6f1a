"""The examples in deploy/, tried behind the real proxies where they are installed."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from tests.campaign.served import make
from tests.conftest import ROOT

from assay.campaign.web.access import MOST_BYTES
from assay.campaign.web.app import create_app

DEPLOY = ROOT / "deploy"
HOST = "rate.example.org"
Config = Callable[[Path, str, int, int], list[str]]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def nginx(folder: Path, program: str, port: int, behind: int) -> list[str]:
    """The example with other ports and files, as a command that runs it."""
    site = (DEPLOY / "nginx.conf").read_text()
    for old, new in (
        ("listen 443", f"listen 127.0.0.1:{port}"), ("127.0.0.1:8017;", f"127.0.0.1:{behind};"),
        (f"/etc/letsencrypt/live/{HOST}", str(folder)),
    ):  # fmt: skip
        assert site.count(old), old
        site = site.replace(old, new)
    (folder / "site.conf").write_text(site)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;"
        f" events {{}} http {{ access_log {folder}/access.log; {temporary}"
        f" include {folder}/site.conf; }}"
    )
    return [program, "-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy(folder: Path, program: str, port: int, behind: int) -> list[str]:
    """The same for Caddy, with a certificate that is there."""
    site = (DEPLOY / "Caddyfile").read_text()
    files = f"tls {folder}/fullchain.pem {folder}/privkey.pem\n\trequest_body"
    for old, new in (
        (f"\n{HOST} {{", f"\n{HOST}:{port} {{\n\tbind 127.0.0.1"), ("request_body", files),
        ("127.0.0.1:8017", f"127.0.0.1:{behind}"),
    ):  # fmt: skip
        assert site.count(old), old
        site = site.replace(old, new, 1) if old == "request_body" else site.replace(old, new)
    (folder / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + site)
    return [program, "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


@contextmanager
def behind(folder: Path, name: str, config: Config) -> Iterator[tuple[str, dict[str, str]]]:
    """A campaign behind a proxy: the proxy's address and the tokens."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"deploy/ is not tried behind {name}, which is not installed")
    campaign, tokens = make(folder / "news", "esa")
    certificate = [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
        f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", folder / "privkey.pem",
        "-out", folder / "fullchain.pem",
    ]  # fmt: skip
    subprocess.run(certificate, check=True, capture_output=True)
    port, own = free_port(), free_port()
    app = create_app(campaign, public_url=f"https://{HOST}")
    server = uvicorn.Server(uvicorn.Config(
        app, port=own, log_config=None, log_level="error", access_log=False, lifespan="off",
        proxy_headers=True, forwarded_allow_ips="127.0.0.1",
    ))  # fmt: skip
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    proxy = subprocess.Popen(
        config(folder, program, port, own), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={"HOME": str(folder), "PATH": "/usr/sbin:/usr/bin:/bin"},
    )  # fmt: skip
    try:
        yield f"https://{HOST}:{port}", tokens
    finally:
        proxy.terminate()
        proxy.wait(10)
        server.should_exit = True
        thread.join(10)
        campaign.disconnect()


def client(folder: Path, address: str, source: str = "127.0.0.1") -> httpx.Client:
    """Somebody at an address of their own who knows the proxy's certificate."""
    trusted = ssl.create_default_context(cafile=str(folder / "fullchain.pem"))
    transport = httpx.HTTPTransport(verify=trusted, local_address=source)
    port = address.rpartition(":")[2]
    return httpx.Client(
        base_url=f"https://127.0.0.1:{port}", transport=transport, headers={"Host": HOST}
    )


def ask(one: httpx.Client, method: str, path: str, **more: object) -> httpx.Response:
    return one.request(method, path, extensions={"sni_hostname": HOST}, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "config"), [("nginx", nginx), ("caddy", caddy)])
def test_raters_work_through_the_proxy(tmp_path: Path, name: str, config: Config) -> None:
    with behind(tmp_path, name, config) as (address, tokens), client(tmp_path, address) as one:
        for _ in range(200):
            try:
                if ask(one, "GET", "/readyz").status_code == 200:
                    break
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        reply = ask(one, "GET", f"/r/{tokens['rater-1']}")
        assert (reply.status_code, reply.headers["location"]) == (303, "/rate")
        cookie = reply.headers["set-cookie"]
        assert "Secure" in cookie
        headers = {"X-Assay": "1", "Cookie": cookie.partition(";")[0], "Origin": f"https://{HOST}"}
        task = ask(one, "POST", "/api/next", json={}, headers=headers)
        assert task.json()["state"] == "task"
        elsewhere = headers | {"Origin": "https://elsewhere.example"}
        assert ask(one, "POST", "/api/next", json={}, headers=elsewhere).status_code == 403
        large = b'"' + b"x" * (MOST_BYTES + 1) + b'"'
        kind = headers | {"Content-Type": "application/json"}
        assert ask(one, "POST", "/api/next", content=large, headers=kind).status_code == 413
        # Everybody has an address of their own, and nobody can make one up.
        wrong = [
            ask(one, "GET", f"/r/{'5' * 32}", headers={"X-Forwarded-For": f"10.0.0.{turn}"})
            for turn in range(11)
        ]
        assert [one.status_code for one in wrong] == [401] * 10 + [429]
        with client(tmp_path, address, "127.0.0.2") as other:
            assert ask(other, "GET", f"/r/{'5' * 32}").status_code == 401
    for path in tmp_path.glob("*.log"):
        assert tokens["rater-1"] not in path.read_text()
