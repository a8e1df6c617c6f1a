"""The owner's pages: what they show, to whom, and what an owner does there."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from tests.campaign.served import Served, make, serving

from assay.campaign.keys import Keys, read_keys, write_keys
from assay.campaign.live.results import bring_up_to_date
from assay.campaign.store.unit import Link
from assay.campaign.web.access import Limit
from assay.campaign.web.rendering import LONG_NAME, environment
from assay.project.settings import Checks, Pay, Raters

PAGES = ("", "/raters", "/browse", "/events", "/settings")
PANELS = ("head", "results", "progress", "raters", "looks", "checks", "audit")
OWNERS = ("/events", "/settings", "/panel/audit", "/export", "/export/ratings", "/links")


def rate(served: Served, who: str, tasks: int = 1, score: float = 70, **more: Any) -> None:
    """Do tasks as a rater's page would."""
    link = served.campaign.link(served.tokens[who])
    assert isinstance(link, Link)
    for _ in range(tasks):
        task = served.campaign.next(link)
        if task["state"] != "task":
            return
        for screen, codes in enumerate(task["screens"]):
            answers = [
                {"code": code, "place": segment["place"], "scores": {"score": score}, **more}
                for code in codes
                for segment in task["segments"]
                if segment["rate"]
            ]
            body = {"key": f"key-{screen}", "timing": {"active_ms": 20_000}, "answers": answers}
            served.campaign.send(link, task["lease"], screen, body)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = make(
        tmp_path, "esa", copies=3, raters=Raters(number=3, overlap="100%"),
        pay=Pay(per_rating=0.25, currency="EUR"), checks=Checks(share="30%"),
    )  # fmt: skip
    with serving(*made) as served:
        served.app.state.visits.requests = Limit(rate=1e6, burst=10**6)
        yield served


def client(served: Served, who: str = "owner") -> httpx.Client:
    headers = {"Authorization": f"Bearer {served.tokens[who]}"}
    address = f"{served.url}/c/{served.campaign.slug}"
    return httpx.Client(base_url=address, headers=headers, timeout=60)


def test_an_owner_sees_all_pages_and_a_viewer_results_alone(served: Served) -> None:
    rate(served, "rater-1", 2)
    address = f"{served.url}/c/{served.campaign.slug}"
    with client(served) as owner, client(served, "viewer") as viewer:
        for path in (*PAGES, *(f"/panel/{name}" for name in PANELS), "/report", "/export"):
            assert owner.get(address + path).status_code == 200, path
        for path in (*PAGES, *(f"/panel/{name}" for name in PANELS), *OWNERS, "/report"):
            wanted = 403 if path in OWNERS else 200
            assert viewer.get(address + path).status_code == wanted, path
        seen = viewer.get("/raters").text
        assert "rater-1" in seen
        for word in (">Exclude<", "EUR", "<dialog", "Pause", "/settings"):
            assert word in owner.get("/raters").text
            assert word not in seen
        for act in ("exclude", "message", "links", "raters", "pause"):
            assert viewer.post(f"/{act}", json={}).status_code == 403


def test_a_browser_is_told_in_a_page_and_a_script_in_json(served: Served) -> None:
    address = f"{served.url}/c/{served.campaign.slug}"
    shown = httpx.get(address, headers={"Accept": "text/html"})
    assert (shown.status_code, "again.js" in shown.text) == (401, True)
    assert httpx.get(address).json()["error"]
    with client(served) as owner:
        other = owner.get(f"{served.url}/c/another", headers={"Accept": "text/html"})
        assert (other.status_code, "again.js" in other.text) == (404, False)


def test_a_panel_is_sent_again_only_where_something_changed(served: Served) -> None:
    with client(served) as owner:
        first = owner.get("/panel/raters")
        known = {"If-None-Match": first.headers["etag"]}
        again = owner.get("/panel/raters", headers=known)
        assert (again.status_code, again.content) == (304, b"")
        rate(served, "rater-2")
        changed = owner.get("/panel/raters", headers=known)
        assert changed.status_code == 200
        assert changed.headers["etag"] != first.headers["etag"]
        assert owner.get("/panel/nothing").status_code == 404


def test_whoever_is_left_out_stays_on_the_list_with_the_reason(served: Served) -> None:
    rate(served, "rater-1")
    with client(served) as owner:
        body = {"rater": "rater-1", "reason": "<b>at random</b>"}
        assert owner.post("/exclude", json=body).json()["raters"][0]["state"] == "excluded"
        assert "excluded" in owner.get("/panel/raters").text
        listed = owner.get("/panel/audit").text
        assert "excluded rater-1" in listed
        assert "&lt;b&gt;at random&lt;/b&gt;" in listed, "texts are never markup"
        assert "<b>owner</b>" in listed, "who did it is said by role"
        assert owner.post("/restore", json={"rater": "rater-1"}).status_code == 200
        assert "restored rater-1" in owner.get("/events").text
        forgeries: list[dict[str, Any]] = [
            {"rater": "nobody", "reason": "x"}, {"rater": "rater-1"},
            {"rater": "rater-1", "reason": " "}, {"rater": 7, "reason": "x"},
        ]  # fmt: skip
        for forged in forgeries:
            assert owner.post("/exclude", json=forged).status_code == 422


def test_the_checks_of_an_excluded_rater_stay_in_view(served: Served) -> None:
    rate(served, "rater-1", 20)
    known = {one.rater: one for one in served.campaign.status().raters}["rater-1"]
    assert known.checks > known.checks_passed == 0
    with client(served) as owner:
        owner.post("/exclude", json={"rater": "rater-1", "reason": "careless"})
        assert f">0/{known.checks}<" in owner.get("/panel/raters").text
        panel = owner.get("/panel/checks").text
        assert f"Excluded raters passed 0 of {known.checks}." in panel
        assert "0 checks passed" not in panel


def test_a_long_name_is_whole_where_it_is_pointed_at() -> None:
    assert environment().from_string("{{ name|name }}").render(name="x" * LONG_NAME) == (
        "x" * LONG_NAME
    )
    long = f"<{'x' * LONG_NAME}"
    shown = environment().from_string("{{ name|name }}").render(name=long)
    assert shown.startswith(f'<span title="&lt;{"x" * LONG_NAME}">&lt;xxx')
    assert "…" in shown


def test_a_rater_reads_a_message_once(served: Served) -> None:
    with client(served) as owner, httpx.Client(base_url=served.url) as rater:
        rater.headers["Authorization"] = f"Bearer {served.tokens['rater-2']}"
        sent = {"rater": "rater-2", "text": "Please mark missing words too."}
        assert owner.post("/message", json=sent).status_code == 204
        [message] = rater.get("/api/messages").json()
        assert message["text"] == sent["text"]
        rater.headers["Authorization"] = f"Bearer {served.tokens['rater-1']}"
        assert rater.get("/api/messages").json() == []
        read = f"/api/messages/{message['id']}/read"
        assert rater.post(read, json={}).status_code == 404, "another rater's"
        rater.headers["Authorization"] = f"Bearer {served.tokens['rater-2']}"
        assert rater.post(read, json={}).status_code == 204
        assert rater.get("/api/messages").json() == []
        listed = owner.get("/events").text
        assert sent["text"] in listed
        assert "read the message" in listed
        for forged in ({"rater": "rater-2", "text": " "}, {"rater": "rater-2", "text": "x" * 2001}):
            assert owner.post("/message", json=forged).status_code == 422


def test_new_links_are_shown_once_and_kept_where_links_are_kept(served: Served) -> None:
    folder = served.campaign.folder
    assert folder is not None
    with client(served) as owner:
        refused = owner.get("/links")
        assert (refused.status_code, "does not keep the links" in refused.text) == (404, True)
        raters = {"rater-1": served.tokens["rater-1"], "=rater": "token"}
        write_keys(folder, Keys("o", "v", "j", raters, public="https://example.org"))
        [new] = owner.post("/links", json={"rater": "rater-1"}).json()["links"]
        more = owner.post("/raters", json={"number": 2}).json()["links"]
        assert new["link"].startswith("https://example.org/r/")
        assert served.campaign.link(served.tokens["rater-1"]) is None, "the earlier link has ended"
        for one in (new, *more):
            token = one["link"].rpartition("/")[2]
            assert served.campaign.link(token).rater == one["rater"]
            assert read_keys(folder).raters[one["rater"]] == token
        kept = owner.get("/links").json()
        assert kept["viewer"] == "https://example.org/r/v"
        assert {"rater-1": new["link"]}.items() <= {
            one["rater"]: one["link"] for one in kept["raters"]
        }.items()  # fmt: skip
        for forged in ({"number": 0}, {"number": 201}, {"number": "2"}, {}):
            assert owner.post("/raters", json=forged).status_code == 422
        assert owner.post("/links", json={"rater": "nobody"}).status_code == 422


def test_an_owner_tries_the_raters_page_on_a_copy(served: Served) -> None:
    before = served.campaign.status()
    with client(served) as owner, client(served, "viewer") as viewer:
        assert viewer.get("/preview").status_code == 403
        assert owner.post("/preview/api/next", json={}).status_code == 404, "there is no copy yet"
        entered = owner.get("/preview")
        assert (entered.status_code, entered.headers["location"]) == (
            303, f"/c/{served.campaign.slug}/preview/rate",
        )  # fmt: skip
        assert "data-preview" in owner.get("/preview/rate").text
        task = owner.post("/preview/api/next", json={}).json()
        assert task["state"] == "task"
        assert "secret-engine" not in str(task)
        refused = owner.post(f"/preview/api/leases/{task['lease']}/screens/0/answers", json={})
        assert refused.status_code == 422
        drafted = owner.put(
            f"/preview/api/leases/{task['lease']}/screens/0/draft", json={"body": {"a": 1}}
        )
        assert drafted.status_code == 204
        assert viewer.post("/preview/api/next", json={}).status_code == 403
        again = owner.get("/preview"), owner.post("/preview/api/next", json={}).json()
        assert again[1]["lease"] != task["lease"], "a new copy"
        cookies = {"assay": served.tokens["owner"]}
        headers = {"X-Assay": "1"}
        with httpx.Client(base_url=owner.base_url, cookies=cookies, headers=headers) as browser:
            assert browser.post("/preview/api/next", json={}).json()["state"] == "task"
    after = served.campaign.status()
    assert (after.answers, after.raters) == (before.answers, before.raters)


def test_the_rule_is_changed_with_a_reason(served: Served) -> None:
    with client(served) as owner, client(served, "viewer") as viewer:
        change = {"goal": "budget", "reason": "all of it is paid"}
        assert viewer.post("/rule", json=change).status_code == 403
        for forged in ({"goal": "budget"}, {**change, "goal": "best"}, {**change, "target": 1}):
            assert owner.post("/rule", json=forged).status_code == 422
        assert "rule: ranking" in owner.get("/panel/head").text
        assert owner.post("/rule", json=change).json()["state"] == "open"
        assert "rule: until the last task" in owner.get("/panel/head").text
        events = owner.get("/events").text
        assert "changed the stopping rule to continue to the last task" in events
        assert "all of it is paid" in events
        owner.post("/close", json={})
        assert owner.post("/rule", json=change).status_code == 409


def test_answers_are_found_by_rater_system_and_document(served: Served) -> None:
    span = {"side": "target", "start": 0, "end": 2, "severity": "major"}
    rate(served, "rater-1", 1, 40, spans=[span], comment="<i>odd</i>")
    rate(served, "rater-2", 1, 90)
    with client(served) as owner:
        every = owner.get("/browse").text
        assert '<mark class="major" title="major">' in every
        assert "&lt;i&gt;odd&lt;/i&gt;" in every
        mine = owner.get("/browse", params={"rater": "rater-2"}).text
        assert "<b>90</b>" in mine
        assert "<b>40</b>" not in mine
        one = owner.get("/browse", params={"system": "secret-engine-1"}).text
        assert one.count("<span>secret-engine-1</span>") == one.count('class="output"') > 0
        assert owner.get("/browse", params={"doc": "hidden-doc-0"}).text.count("<mark") > 0
        assert "No answers match" in owner.get("/browse", params={"doc": "nowhere"}).text
        assert owner.get("/browse", params={"before": "x"}).status_code == 422


def test_older_answers_are_a_page_away(served: Served) -> None:
    for who in ("rater-1", "rater-2", "rater-3"):
        rate(served, who, 20)
    seen: list[str] = []
    with client(served) as owner:
        address = "/browse"
        while address:
            text = owner.get(address).text
            seen += [text]
            older = text.partition('href="?before=')[2].partition('"')[0]
            address = f"/browse?before={older}" if older else ""
    shown = sum(text.count('class="output') for text in seen)
    answers = [one for one in served.campaign.collected().answers if one.kind != "tutorial"]
    assert shown == len({one.number for one in answers}) > 30


def test_tables_come_alone_or_all_in_one_file(served: Served) -> None:
    rate(served, "rater-1", 2)
    with client(served) as owner:
        table = owner.get("/export/ratings")
        ratings = pl.read_csv(io.BytesIO(table.content), separator="\t")
        assert {"system", "seg", "rater", "score"} <= set(ratings.columns)
        assert ratings.height > 0
        assert "attachment" in table.headers["content-disposition"]
        archive = zipfile.ZipFile(io.BytesIO(owner.get("/export").content))
        stems = {Path(name).stem for name in archive.namelist()}
        assert {"ratings", "scores", "raters", "events", "assay"} <= stems
        for name in ("judgments", "nothing", "..%2f..%2fcampaign"):
            assert owner.get(f"/export/{name}").status_code == 404


def test_the_report_is_a_page_of_its_own_that_can_do_nothing_in_our_name(served: Served) -> None:
    rate(served, "rater-1", 2)
    with client(served) as owner:
        page = owner.get("/report")
    policy = page.headers["content-security-policy"]
    assert "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy
    assert "harbour news" in page.text


def test_nothing_can_be_stored_is_said_in_red(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client(served) as owner:
        before = owner.get("/panel/head")
        assert "Answers cannot be stored" not in before.text
        monkeypatch.setattr(served.campaign.writer, "failing", True)
        known = {"If-None-Match": before.headers["etag"]}
        assert "Answers cannot be stored" in owner.get("/panel/head", headers=known).text


def test_results_are_those_that_were_computed_and_say_when(served: Served) -> None:
    for who in ("rater-1", "rater-2", "rater-3"):
        rate(served, who, 20)
    with client(served, "viewer") as viewer:
        before = viewer.get("/panel/results")
        assert "Scores appear once" in before.text
        found = bring_up_to_date(served.campaign)
        known = {"If-None-Match": before.headers["etag"]}
        shown = viewer.get("/panel/results", headers=known).text
        assert f'datetime="{found.as_of[:19]}' in shown
        for item in found.systems:
            assert item.system in shown
            assert f"{item.estimate:,.1f}" in shown
        assert shown.count("<circle") == len(found.systems) == 3
        looks = viewer.get("/panel/looks").text
        assert looks.count('class="taken"') == len(found.looks) > 0
        people = viewer.get("/panel/raters").text
        assert found.raters is not None
        assert all(f"±{one.stderr:,.1f}" in people for one in found.raters.raters)
        report = viewer.get("/report").text
    assert all(item.system in report for item in found.systems)
    assert "harbour news" in report
