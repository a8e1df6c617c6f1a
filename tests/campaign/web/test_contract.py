"""The wire as scripts know it: every route, body, reply and status that they may rely on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.campaign.served import make, serving

from assay.campaign.web.access import Limit
from assay.project.settings import Scale

TASK = {
    "state", "lease", "until", "kind", "protocol", "scales", "severities", "categories",
    "languages", "segments", "outputs", "screens", "drafts", "progress",
}  # fmt: skip
STATUS = {
    "state", "answers", "beginning", "waiting", "looks", "next_look", "systems", "raters", "spent",
}  # fmt: skip
TIMING = {
    "opened": "2026-05-01T10:00:00Z", "first": "2026-05-01T10:00:02Z",
    "sent": "2026-05-01T10:00:30Z", "active_ms": 28000, "idle_ms": 2000, "away": 1,
}  # fmt: skip
PLANS: dict[str, dict[str, Any]] = {
    "da": {}, "sqm": {"outputs": 3}, "xsts": {},
    "scale": {"scales": (Scale("adequacy", 0, 10, 0.5), Scale("fluency", 1, 4))},
    "esa": {"outputs": 2}, "mqm": {}, "pairwise": {}, "ranking": {"outputs": 3}, "post-edit": {},
}  # fmt: skip


class Script:
    """Whoever has a token, and expects a status."""

    def __init__(self, client: httpx.Client, token: str) -> None:
        self.client, self.headers = client, {"Authorization": f"Bearer {token}"}

    def send(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        reply = self.client.request(method, path, json=body, headers=self.headers)
        assert reply.status_code == status, (method, path, body, reply.text)
        is_json = "json" in reply.headers.get("content-type", "")
        return reply.json() if is_json else reply.content


def answers_to(task: dict[str, Any], screen: int) -> list[dict[str, Any]]:
    """What a script that was told the wire and nothing else would send."""
    codes = task["screens"][screen]
    if task["protocol"] == "pairwise":
        return [{"winner": codes[0], "strength": 1, "reason": "it is clearer"}]
    if task["protocol"] == "ranking":
        return [{"ranks": {code: min(place, 2) for place, code in enumerate(codes, start=1)}}]
    texts = {output["code"]: output["texts"] for output in task["outputs"]}
    rated = [(k, segment) for k, segment in enumerate(task["segments"]) if segment["rate"]]
    found = []
    for code in codes:
        for number, segment in rated:
            answer: dict[str, Any] = {"code": code, "place": segment["place"]}
            if task["protocol"] == "post-edit":
                edited = texts[code][number] + " Yes."
                answer |= {"edited": edited, "keys": {"letter": 3}, "pauses": {}, "sessions": []}
            else:
                answer |= {"skipped": None, "comment": "seen", "spans": []}
                answer["scores"] = {one["name"]: one["high"] for one in task["scales"]}
                if task["severities"] and number % 2 == 0:
                    answer["spans"] = marks(task, segment["source"], texts[code][number])
                if not task["severities"]:
                    del answer["spans"]
                if not task["scales"]:
                    del answer["scores"]
            found.append(answer)
    return found


def marks(task: dict[str, Any], source: str, target: str) -> list[dict[str, Any]]:
    category = task["categories"][0] if task["categories"] else None
    return [
        {"side": side, "start": 0, "end": len(text.split()[0]),
         "severity": task["severities"][0]["name"], "category": category, "origin": None}
        for side, text in (("source", source), ("target", target))
    ]  # fmt: skip


@pytest.mark.parametrize("protocol", PLANS)
def test_a_script_that_knows_the_wire_alone(protocol: str, tmp_path: Path) -> None:
    made = make(tmp_path, protocol, **PLANS[protocol])
    with serving(*made) as served, httpx.Client(base_url=served.url) as client:
        served.app.state.visits.requests = Limit(rate=1e6, burst=10**6)
        tokens, slug = served.tokens, served.campaign.slug
        rater, other, owner = (
            Script(client, tokens[who]) for who in ("rater-1", "rater-2", "owner")
        )
        task = rater.send("POST", "/api/next", {})
        assert set(task) >= TASK
        assert (task["state"], task["kind"]) == ("task", "rate")
        assert task["protocol"] == ("scale" if protocol in ("da", "sqm", "xsts") else protocol)
        assert set(task["languages"]) == {"source", "target"}
        assert set(task["progress"]) == {"done", "minutes"}
        for one in task["segments"]:
            assert set(one) == {"place", "rate", "source", "media"}
        for one in task["outputs"]:
            assert set(one) == {"code", "label", "texts", "spans"}
            assert len(one["texts"]) == len(one["spans"]) == len(task["segments"])
        lease = f"/api/leases/{task['lease']}"
        rater.send("PUT", f"{lease}/screens/0/draft", {"body": {"half": "done"}}, 204)
        assert rater.send("POST", "/api/next", {})["drafts"] == {"0": {"half": "done"}}
        rater.send("POST", f"{lease}/beat", {}, 204)
        rater.send("POST", f"{lease}/problem", {"text": "The source is cut off."}, 204)
        for screen in range(len(task["screens"])):
            body = {"key": str(screen), "timing": TIMING, "answers": answers_to(task, screen)}
            path = f"{lease}/screens/{screen}/answers"
            other.send("POST", path, body, 404)
            rater.send("POST", path, body | {"answers": "all"}, 422)
            reply = rater.send("POST", path, body)
            assert (set(reply), reply["revision"]) == ({"stored", "revision", "next"}, 1)
            assert rater.send("POST", path, body) == reply
            last = screen + 1 == len(task["screens"])
            assert reply["next"] in (("task", "done") if last else ("screen",))
        assert rater.send("POST", path, body | {"key": "again"})["revision"] == 2
        assert [one["lease"] for one in rater.send("GET", "/api/mine")] == [task["lease"]]
        assert rater.send("GET", f"/api/mine/{task['lease']}")["answers"]
        other.send("GET", f"/api/mine/{task['lease']}", status=404)
        given_back = other.send("POST", "/api/next", {})["lease"]
        reason = {"reason": "I cannot judge this language"}
        other.send("POST", f"/api/leases/{given_back}/decline", reason, 204)
        while (task := rater.send("POST", "/api/next", {}))["state"] == "task":
            for screen in range(len(task["screens"])):
                path = f"/api/leases/{task['lease']}/screens/{screen}/answers"
                body = {"key": "one", "timing": {}, "answers": answers_to(task, screen)}
                rater.send("POST", path, body | {"key": str(screen)})
        assert task["state"] == "done"
        assert set(rater.send("GET", "/finish")) == {"code"}
        status = owner.send("GET", f"/api/campaigns/{slug}")
        assert set(status) >= STATUS
        assert status["answers"] > 0
        assert owner.send("POST", f"/c/{slug}/close", {})["state"] == "closed"
        rater.send("POST", path, body | {"key": "late"}, 409)


def test_what_owners_and_strangers_get(tmp_path: Path) -> None:
    made = make(tmp_path, "esa")
    with serving(*made) as served, httpx.Client(base_url=served.url) as client:
        slug, tokens = served.campaign.slug, served.tokens
        rater, owner, nobody = (
            Script(client, token) for token in (tokens["rater-1"], tokens["owner"], "0" * 32)
        )
        nobody.send("POST", "/api/next", {}, 401)
        owner.send("POST", "/api/next", {}, 403)
        rater.send("GET", f"/api/campaigns/{slug}", status=403)
        rater.send("GET", "/finish", status=409)
        rater.send("POST", "/api/next", {"more": 1}, 422)
        rater.send("GET", "/media/nothing", status=404)
        for panel in ("results", "progress", "raters", "looks", "checks", "audit"):
            path = f"/c/{slug}/panel/{panel}"
            tag = {"If-None-Match": client.get(path, headers=owner.headers).headers["etag"]}
            assert client.get(path, headers=owner.headers | tag).status_code == 304
            rater.send("GET", path, status=403)
        for page in (f"/c/{slug}", f"/c/{slug}/browse"):
            owner.send("GET", page)
        owner.send("GET", "/", status=303)
        for table in ("sample", "scores", "raters", "events"):
            assert owner.send("GET", f"/c/{slug}/export/{table}")
        for act, body in (
            ("pause", {"reason": "lunch"}), ("resume", {}),
            ("exclude", {"rater": "rater-2", "reason": "at random"}),
            ("restore", {"rater": "rater-2"}),
        ):  # fmt: skip
            assert set(owner.send("POST", f"/c/{slug}/{act}", body)) >= STATUS
        owner.send("POST", f"/c/{slug}/message", {"rater": "rater-1", "text": "Thanks!"}, 204)
        more = owner.send("POST", f"/c/{slug}/raters", {"number": 2})["links"]
        assert [set(one) for one in more] == [{"rater", "link"}] * 2
        [new] = owner.send("POST", f"/c/{slug}/links", {"rater": "rater-1"})["links"]
        rater.send("POST", "/api/next", {}, 401)
        again = Script(client, new["link"].rsplit("/", 1)[1])
        assert again.send("POST", "/api/next", {})["state"] == "task"
