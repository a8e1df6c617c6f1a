"""Who may ask what, what is refused, and how."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from sqlalchemy import create_engine
from tests.campaign.served import Served, make, serving

from assay.campaign.campaign import Campaign
from assay.campaign.web.access import MOST_BYTES, MOST_KEPT, Limit, Needs, is_upload
from assay.project.settings import Crowd

FORGED = "x" * 22


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(*make(tmp_path_factory.mktemp("web"), "esa")) as served:
        served.app.state.visits.requests = Limit(rate=1e6, burst=10**6)
        yield served


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.url) as client:
        yield client


def bearer(tokens: dict[str, str], who: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {tokens[who]}"}


def needs(route: APIRoute) -> Needs | None:
    found = [part.call for part in route.dependant.dependencies if isinstance(part.call, Needs)]
    return found[0] if len(found) == 1 else None


def routes(router: Any) -> list[Any]:
    """Every route, also of the routers that an application has included."""
    found = []
    for route in router.routes:
        inner = getattr(route, "original_router", None)
        found += [route] if inner is None else routes(inner)
    return found


def filled(path: str, slug: str) -> str:
    values = {
        "slug": slug,
        "act": "pause",
        "lease": "a" * 32,
        "screen": "0",
        "code": "abc",
        "token": FORGED,
        "path": "main.js",
        "upload": "0" * 32,
        "name": "raters",
        "table": "ratings",
        "number": "1",
    }
    for name, value in values.items():
        path = path.replace("{" + name + "}", value).replace("{" + name + ":path}", value)
    return path


def test_every_route_declares_its_roles(served: Served) -> None:
    found = routes(served.app)
    assert len(found) > 20
    assert [route for route in found if not isinstance(route, APIRoute)] == []
    assert [route.path for route in found if needs(route) is None] == []


def test_without_a_link_401_and_with_the_wrong_one_403(
    served: Served, client: httpx.Client
) -> None:
    tokens = served.tokens
    slug = served.campaign.slug
    for route in routes(served.app):
        roles = needs(route).roles
        if not roles:
            continue
        for method in route.methods:
            path = filled(route.path, slug)
            body: dict[str, Any] = {"json": {}} if method != "GET" else {}
            if is_upload({"method": method, "path": path}):
                client.headers["Content-Type"] = "application/octet-stream"
                body = {"content": b"x"}
            for headers, wanted in (
                ({"X-Assay": "1"}, 401),
                ({"Authorization": f"Bearer {FORGED}"}, 401),
                (bearer(tokens, "owner" if "rater" in roles else "rater-1"), 403),
            ):
                served.app.state.visits.wrong.buckets.clear()
                reply = client.request(method, path, headers=headers, **body)
                assert reply.status_code == wanted, (method, path, headers)
            client.headers.pop("Content-Type", None)


def test_a_link_becomes_a_cookie_and_leaves_the_address(
    served: Served, client: httpx.Client
) -> None:
    tokens = served.tokens
    reply = client.get(f"/r/{tokens['rater-1']}")
    assert (reply.status_code, reply.headers["location"]) == (303, "/rate")
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert client.get("/rate").status_code == 200
    assert client.post("/api/next", json={}).status_code == 403, "without the pages' own header"
    headers = {"X-Assay": "1"}
    assert client.post("/api/next", json={}, headers=headers).json()["state"] == "task"
    for forged in (
        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "null"},
        {"Origin": "https://elsewhere.example"}, {"Origin": f"{served.url}0"},
        {"Origin": "http://[not-an-address"}, {"Origin": ""},
    ):  # fmt: skip
        reply = client.post("/api/next", json={}, headers=headers | forged)
        assert reply.status_code == 403, forged
        assert "browser" in reply.json()["error"]
    for known in ("Basic bmFtZTp3b3Jk", "Bearer", "Negotiate x"):  # browsers add these themselves
        reply = client.post("/api/next", json={}, headers={"Authorization": known})
        assert reply.status_code == 403, known
    client.cookies.clear()
    assert client.get(f"/r/{FORGED}").status_code == 401
    assert client.get("/rate").status_code == 401
    slug = served.campaign.slug
    assert client.get(f"/r/{tokens['owner']}").headers["location"] == f"/c/{slug}"
    assert client.get("/").headers["location"] == f"/c/{slug}"
    client.cookies.clear()


def test_another_method_is_told_which_there_are(client: httpx.Client) -> None:
    for method, path, there in (("GET", "/api/next", "POST"), ("PATCH", "/rate", "GET")):
        reply = client.request(method, path, json={}, headers={"X-Assay": "1"})
        assert (reply.status_code, reply.headers["allow"]) == (405, there)
        assert reply.json()["error"] == "this address is asked in another way"


def test_headers_are_on_every_reply(client: httpx.Client) -> None:
    for path in ("/rate", "/healthz", "/nowhere", "/api/mine", "/static/main.js"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == ("no-cache" if "static" in path else "no-store")


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{}", "text/plain", 415),
        (b"x" * (MOST_BYTES + 1), "application/json", 413),
        (b"{", "application/json", 422),
        (b'{"more": 1}', "application/json", 422),
        (b"\xff\xfe", "application/json", 422),
        (b"[" * 100_000, "application/json", 422),
        (b"null", "application/json", 422),
    ],
)  # fmt: skip
def test_bodies_that_are_refused(
    served: Served, client: httpx.Client, content: bytes, kind: str, status: int
) -> None:
    tokens = served.tokens
    headers = bearer(tokens, "rater-1") | {"Content-Type": kind}
    reply = client.post("/api/next", content=content, headers=headers)
    assert reply.status_code == status
    assert reply.json()["error"]


def test_a_body_without_a_length_is_cut_off(served: Served, client: httpx.Client) -> None:
    tokens = served.tokens
    headers = bearer(tokens, "rater-1") | {"Content-Type": "application/json"}
    parts = (b" " * 10_000 for _ in range(40))
    assert client.post("/api/next", content=parts, headers=headers).status_code == 413


@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("depth", [39, 40, 300, 900])
def test_what_is_kept_can_be_read_again_however_deep_it_is(
    served: Served, client: httpx.Client, begin: str, end: str, depth: int
) -> None:
    headers = bearer(served.tokens, "rater-1") | {"Content-Type": "application/json"}
    lease = client.post("/api/next", json={}, headers=headers).json()["lease"]
    path = f"/api/leases/{lease}/screens/0/draft"
    assert client.put(path, json={"body": {}}, headers=headers).is_success
    deep = begin * (depth - 1) + "[]" + end * (depth - 1)
    reply = client.put(path, content=f'{{"body": {{"x": {deep}}}}}', headers=headers)
    assert reply.status_code == (204 if depth < 40 else 422)
    assert depth < 40 or reply.json()["errors"] == [
        {"path": "body", "message": "is more than 40 lists and objects deep"}
    ]
    task = client.post("/api/next", json={}, headers=headers)
    assert task.json()["drafts"]["0"].keys() == ({"x"} if depth < 40 else set())
    assert client.get(f"/api/mine/{lease}", headers=headers).status_code == 200


def test_a_refusal_is_not_longer_than_what_was_sent(served: Served, client: httpx.Client) -> None:
    headers = bearer(served.tokens, "rater-2")
    task = client.post("/api/next", json={}, headers=headers).json()
    path = f"/api/leases/{task['lease']}/screens/0/answers"
    rated = {"code": task["screens"][0][0], "place": 0}
    places = [one["place"] for one in task["segments"] if one["rate"]]
    marks = [{f"s{number}": 1 for number in range(20)}] * 900
    for body, listed in (
        ({"key": "k", "answers": [rated | {"place": one, "spans": marks} for one in places]}, 101),
        ({"key": "k", "answers": [{"x" * 200_000: 1}]}, 2),
        ({"key": "k", "answers": [], "timing": {"y" * 200_000: 1}}, 1),
        ({"key": "k", "answers": []} | {f"z{number}": 1 for number in range(9000)}, 101),
    ):
        reply = client.post(path, json=body, headers=headers)
        assert reply.status_code == 422
        assert len(reply.json()["errors"]) == listed
        assert len(reply.content) < 50_000
    assert reply.json()["errors"][-1] == {
        "path": "z8999", "message": "is wrong too, like 8,899 more; mend these first"
    }  # fmt: skip


def forged_answers(task: dict[str, Any]) -> list[Any]:
    code, place = task["screens"][0][0], next(s["place"] for s in task["segments"] if s["rate"])
    good = {"code": code, "place": place, "scores": {"score": 50}}
    span = {"side": "target", "start": 0, "end": 5000, "severity": "minor"}
    return [
        [], [None], "text", [good, good],
        [good | {"scores": {"score": 9999}}], [good | {"scores": {"score": "seventy"}}],
        [good | {"scores": {"score": float("nan")}}], [good | {"code": "another"}],
        [good | {"spans": [span]}], [good | {"spans": [span | {"start": -1}]}],
        [good | {"extra": 1}], [good | {"comment": "a\0b"}], [good | {"comment": "\ud800"}],
        [good | {"place": 10**30}],
    ]  # fmt: skip


def test_forged_answers_are_422_with_paths_and_leave_nothing(
    served: Served,
    client: httpx.Client,
) -> None:
    tokens = served.tokens
    headers = bearer(tokens, "rater-2") | {"Content-Type": "application/json"}
    task = client.post("/api/next", json={}, headers=headers).json()
    address = f"/api/leases/{task['lease']}/screens/0/answers"
    for number, answers in enumerate(forged_answers(task)):
        body = json.dumps({"key": f"forged-{number}", "answers": answers})
        reply = client.post(address, content=body, headers=headers)
        assert reply.status_code == 422, (answers, reply.text)
        assert all(set(error) == {"path", "message"} for error in reply.json()["errors"])
    assert client.get("/api/mine", headers=headers).json() == []
    for path in (f"/api/leases/{'0' * 32}/screens/0/answers", "/api/leases/../screens/0/answers"):
        reply = client.post(path, json={"key": "k" * 10, "answers": []}, headers=headers)
        assert reply.status_code == 404
    foreign = client.post("/api/next", json={}, headers=bearer(tokens, "rater-1")).json()["lease"]
    for path in (f"/api/mine/{foreign}", f"/api/mine/{'0' * 32}"):
        assert client.get(path, headers=headers).json() == {
            "error": "nothing of yours has this name"
        }


def test_limits_are_per_link_and_wrong_tokens_run_out(tmp_path: Path) -> None:
    with serving(*make(tmp_path, "esa")) as served, httpx.Client(base_url=served.url) as client:
        tokens = served.tokens
        visits = served.app.state.visits
        visits.requests.clock = visits.wrong.clock = lambda: 0.0
        first = [
            client.get("/api/mine", headers=bearer(tokens, "rater-1")).status_code
            for _ in range(75)
        ]
        assert first == [200] * 60 + [429] * 15
        assert client.get("/api/mine", headers=bearer(tokens, "rater-2")).status_code == 200
        wrong = [
            client.get("/api/mine", headers={"Authorization": f"Bearer {FORGED}"})
            for _ in range(11)
        ]
        assert [reply.status_code for reply in wrong] == [401] * 10 + [429]
        assert int(wrong[-1].headers["retry-after"]) > 0


def test_a_limit_forgets_those_who_came_long_ago() -> None:
    now = [0.0]
    limit = Limit(rate=1, burst=1, clock=lambda: now[0])
    for number in range(MOST_KEPT):
        limit.spend(str(number))
    now[0] = 10.0
    limit.spend("one more")
    assert list(limit.buckets) == ["one more"]


def test_openapi_lists_every_route_and_refusal(served: Served, client: httpx.Client) -> None:
    schema = client.get("/openapi.json").json()
    for route in routes(served.app):
        if not route.include_in_schema:
            continue
        for method in route.methods:
            listed = schema["paths"][route.path.replace(":path", "")][method.lower()]["responses"]
            assert {"429", "503"} <= set(listed)
            if needs(route).roles:
                assert {"401", "403"} <= set(listed)
    assert "Refusal" in schema["components"]["schemas"]


def test_an_owner_steers_and_a_viewer_only_looks(served: Served, client: httpx.Client) -> None:
    tokens = served.tokens
    slug = served.campaign.slug
    assert (
        client.post(f"/c/{slug}/pause", json={}, headers=bearer(tokens, "viewer")).status_code
        == 403
    )
    assert (
        client.post(f"/c/{slug}/pause", json={}, headers=bearer(tokens, "owner")).json()["state"]
        == "paused"
    )
    waiting = client.post("/api/next", json={}, headers=bearer(tokens, "rater-1")).json()
    assert waiting["state"] == "paused"
    assert (
        client.post(f"/c/{slug}/resume", json={}, headers=bearer(tokens, "owner")).json()["state"]
        == "open"
    )
    assert (
        client.get("/api/campaigns", headers=bearer(tokens, "viewer")).json()[0]["role"] == "viewer"
    )
    assert client.get("/api/campaigns/another", headers=bearer(tokens, "owner")).status_code == 404


def test_an_unknown_failure_is_503(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(*make(tmp_path, "esa")) as served:
        monkeypatch.setattr(Campaign, "mine", lambda *_: 1 / 0)
        headers = bearer(served.tokens, "rater-1")
        reply = httpx.get(f"{served.url}/api/mine", headers=headers)
    assert reply.status_code == 503
    assert "retry-after" in reply.headers
    assert "content-security-policy" in reply.headers
    assert "division" not in reply.text


def test_where_the_database_is_stays_with_whoever_runs_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(*make(tmp_path, "esa")) as served:
        lost = create_engine("postgresql+psycopg://hidden-user@127.0.0.1:1/hidden-name")
        own = bearer(served.tokens, "rater-1")
        assert httpx.get(f"{served.url}/api/mine", headers=own).is_success
        monkeypatch.setattr(served.campaign, "readers", lost)
        reply = httpx.get(f"{served.url}/api/mine", headers=own)
        monkeypatch.undo()
    assert reply.status_code == 503
    assert "127.0.0.1" not in reply.text
    assert "hidden" not in reply.text
    reasons = [getattr(record, "fields", {}).get("reason", "") for record in caplog.records]
    assert any("127.0.0.1" in reason for reason in reasons)


def test_whoever_has_the_join_link_agrees_and_becomes_a_rater(tmp_path: Path) -> None:
    (tmp_path / "consent.md").write_text("We **store** your answers.")
    crowd = Crowd(keep=("STUDY_ID",), done="https://platform.example/done")
    made = make(tmp_path, "esa", consent="consent.md", crowd=crowd)
    with serving(*made) as served, httpx.Client(base_url=served.url) as client:
        slug = served.campaign.slug
        assert client.get(f"/api/join/{slug}").status_code == 401
        reply = client.get(f"/r/{served.tokens['join']}?PROLIFIC_PID=p1&STUDY_ID=s")
        assert reply.headers["location"] == f"/join/{slug}?PROLIFIC_PID=p1&STUDY_ID=s"
        assert client.get(reply.headers["location"]).status_code == 200
        assert client.get(f"/api/join/{slug}").json()["consent"] == "We **store** your answers."
        assert client.get("/api/join/another").status_code == 404
        ours = {"X-Assay": "1"}
        body = {"params": {"PROLIFIC_PID": "p1", "STUDY_ID": "s"}, "consent": False}
        assert client.post(f"/api/join/{slug}", json=body, headers=ours).status_code == 422
        body["consent"] = True
        assert client.post(f"/api/join/{slug}", json=body, headers=ours).json() == {"next": "/rate"}
        assert client.post("/api/next", json={}, headers=ours).json()["state"] == "task"
        assert client.get("/finish").status_code == 409
        served.campaign.close("owner")
        assert client.get("/finish").json() == {"address": "https://platform.example/done"}
