"""Nothing that a rater gets tells what is being shown, or what anybody else thinks of it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, Self

import httpx
import numpy as np
import polars as pl
import pytest
from tests.campaign.served import Served, serving
from tests.campaign.web.test_routes import bearer, filled, needs, routes

import assay
from assay.campaign.campaign import open_campaign
from assay.campaign.contents import Material
from assay.campaign.create import create_campaign
from assay.campaign.simulated.raters import answer_screen
from assay.campaign.web.access import Limit
from assay.project.settings import Checks, Raters, Screen, Settings

HIDDEN = "hidden-"
"""Everything that a rater must not see has this in it: names, ids, others' words."""
OTHERS_SCORE = 37
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
"""Has the score in it once an hour and once a minute."""
TELLING = ("check", "repeat", "spoil", "overlap", "expired", "qualify", "stratum", "probability",
           "position", "passed", "block", "excluded", "late")  # fmt: skip
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(32)


def hidden_scores() -> assay.TestSet:
    rows = [
        {
            "system": f"{HIDDEN}engine-{system}", "doc": f"{HIDDEN}doc-{doc}",
            "seg": f"{HIDDEN}seg-{doc}-{seg}", "source": f"Satz {seg} im Text {doc} ist kurz",
            "target": f"sentence {seg} of text {doc}\nis {'very ' * system}short and in {system}",
            "media": f"{HIDDEN}picture-{doc}.png", "metric": 0.25 * system,
        }
        for doc in range(4)
        for seg in range(3)
        for system in range(3)
    ]  # fmt: skip
    return assay.read_scores(pl.DataFrame(rows), metrics=["metric"])


def hidden_campaign(folder: Path, protocol: Any) -> tuple[Any, dict[str, str]]:
    test_set = hidden_scores()
    for doc in range(4):
        (folder / f"{HIDDEN}picture-{doc}.png").write_bytes(PICTURE + bytes([doc]))
    marks = None
    if protocol == "esa":
        marks = assay.read_errors(test_set.frame.select(
            "system", "doc", "seg", category=pl.lit("any"), severity=pl.lit("minor"), start=0, end=8
        ), test_set)  # fmt: skip
    plan = Settings(
        protocol=protocol, screen=Screen(outputs=3 if protocol != "post-edit" else 1),
        checks=Checks(share="40%", repeats="40%") if protocol == "esa" else Checks(),
        raters=Raters(names=(f"{HIDDEN}one", f"{HIDDEN}two"), overlap="100%"),
    )  # fmt: skip
    made = create_campaign(folder, Material(plan, folder, test_set, errors=marks), rng=7)
    campaign = open_campaign(folder)
    campaign.open("owner")
    return campaign, {link.rater: link.token for link in made.links.raters}


def answered(task: dict[str, Any], screen: int, score: int, comment: str) -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    answers = answer_screen(task, screen, lambda source, text: 0.3, rng, 5)
    for answer in answers:
        answer["comment"] = comment
        if "scores" in answer:
            answer["scores"] = {"score": score}
    return answers


class Rater:
    """Works, and keeps everything that came back."""

    def __init__(self, served: Served, name: str, score: int = 50) -> None:
        self.client = httpx.Client(base_url=served.url, headers=bearer(served.tokens, name))
        self.served, self.name, self.score = served, name, score
        self.replies: list[httpx.Response] = []
        self.tasks: list[dict[str, Any]] = []
        self.sent: list[tuple[Any, ...]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        self.replies.append(self.client.request(method, path, json=body))
        kind = self.replies[-1].headers.get("content-type", "")
        return self.replies[-1].json() if kind == "application/json" else None

    def do_a_task(self) -> bool:
        task = self.ask("POST", "/api/next", {})
        if task["state"] != "task":
            return False
        self.tasks.append(task)
        first = len(self.replies)
        for screen in range(len(task["screens"])):
            answers = answered(task, screen, self.score, f"{self.name} said so")
            address = f"/api/leases/{task['lease']}/screens/{screen}"
            self.ask("PUT", f"{address}/draft", {"body": {"half": 1}})
            body = {"key": f"key-of-{screen}", "answers": answers}
            reply = self.ask("POST", f"{address}/answers", body)
            assert reply.get("stored") == len(answers), reply
        self.sent.append(tuple(sorted(reply.status_code for reply in self.replies[first:])))
        return True

    def walk(self, route: Any) -> None:
        """Ask a route for whatever it may have for this rater."""
        task = self.tasks[-1]
        media = next(code for one in task["segments"] for code in one["media"])
        path = route.path.replace("{lease}", task["lease"]).replace("{code}", media)
        path = path.replace("{token}", self.served.tokens[self.name])
        for method in route.methods:
            body = None if method == "GET" else {}
            self.ask(method, filled(path, self.served.campaign.slug), body)


def shape(value: Any) -> Any:
    """A reply without its words and numbers."""
    if isinstance(value, dict):
        return {key: shape(part) for key, part in value.items()}
    return [shape(part) for part in value] if isinstance(value, list) else type(value).__name__


@pytest.mark.parametrize("protocol", ["esa", "ranking", "post-edit"])
def test_every_route_and_every_task(tmp_path: Path, protocol: str) -> None:
    with serving(*hidden_campaign(tmp_path, protocol)) as served:
        served.app.state.visits.requests = Limit(rate=1e6, burst=10**6)
        with Rater(served, f"{HIDDEN}two", OTHERS_SCORE) as two:
            while two.do_a_task():
                pass
        with Rater(served, f"{HIDDEN}one", 64) as one:
            while one.do_a_task():
                if len(one.tasks) in (1, 7):
                    for route in routes(served.app):
                        one.walk(route)
        kinds = Counter(row.kind for row in served.campaign.collected().answers)
    assert protocol != "esa" or min(kinds["check"], kinds["repeat"]) > 4
    own = json.dumps(f"{HIDDEN}one said so")[1:-1]
    for reply in one.replies:
        headers = str([item for item in reply.headers.multi_items() if item[0] != "set-cookie"])
        for text in (reply.text.replace(own, ""), str(reply.url), headers):
            assert HIDDEN not in text, reply.url
        if "json" in reply.headers.get("content-type", "") and "openapi" not in str(reply.url):
            text = TIME.sub("", reply.text)
            found = [word for word in TELLING if word in text]
            assert found == [], text
            assert f": {OTHERS_SCORE}" not in text
            assert f":{OTHERS_SCORE}" not in text
    need_alike(one)


def need_alike(rater: Rater) -> None:
    """A task that comes a second time has the shape and the size of the first."""
    assert len(set(rater.sent)) == 1, "as many requests for every task"
    seen: dict[str, dict[str, Any]] = {}
    for task in rater.tasks:
        rated = [one["source"] for one in task["segments"] if one["rate"]]
        first = seen.setdefault(json.dumps(rated), task)
        assert shape(task) == shape(first)
        spans = [[len(cell) for cell in one["spans"]] for one in task["outputs"]]
        assert max(map(max, spans)) == max(map(max, [
            [len(cell) for cell in one["spans"]] for one in first["outputs"]
        ]))  # fmt: skip
        sizes = [
            [text.count("\n") for one in shown["outputs"] for text in one["texts"] if text]
            for shown in (first, task)
        ]
        assert sizes[0] == sizes[1]
        assert abs(len(json.dumps(task)) - len(json.dumps(first))) < 0.1 * len(json.dumps(task))


def test_forgery_of_what_another_rater_has(tmp_path: Path) -> None:
    """Every route that names a lease answers for another's as it does for none."""
    with serving(*hidden_campaign(tmp_path, "esa")) as served:
        served.app.state.visits.requests = Limit(rate=1e6, burst=10**6)
        with Rater(served, f"{HIDDEN}one") as one:
            one.do_a_task()
        theirs = one.tasks[0]
        body = {"key": "a-key-of-two", "answers": answered(theirs, 0, 5, "")}
        bodies = {"answers": body, "draft": {"body": {}}, "decline": {"reason": "other"},
                  "problem": {"text": "odd"}, "beat": {}}  # fmt: skip
        asked = [r for r in routes(served.app) if "{lease}" in r.path and "rater" in needs(r).roles]
        assert len(asked) >= 6
        with Rater(served, f"{HIDDEN}two") as two:
            for route in asked:
                replies = []
                for lease in (theirs["lease"], "0" * 32):
                    path = route.path.replace("{lease}", lease).replace("{screen}", "0")
                    (method,) = route.methods
                    two.ask(method, path, bodies.get(path.rpartition("/")[2]))
                    replies.append((two.replies[-1].status_code, two.replies[-1].content))
                assert replies[0] == replies[1]
                assert replies[0][0] == 404
        rows = served.campaign.collected()
        assert {row.rater for row in rows.answers} == {f"{HIDDEN}one"}
        refused = [event for event in rows.events if event["kind"] == "refused"]
        assert len(refused) == 10
