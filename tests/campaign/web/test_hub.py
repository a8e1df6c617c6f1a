"""Several campaigns behind one server: every link opens its own, and only that."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.campaign.served import scores

from assay.campaign.campaign import open_campaign
from assay.campaign.contents import Material
from assay.campaign.create import create_campaign
from assay.campaign.hub import Hub, is_hub, open_hub
from assay.campaign.keys import Keys, read_hub_keys, read_keys, write_keys
from assay.campaign.web.server import serving
from assay.errors import InputError
from assay.project.settings import Raters, Settings


@dataclass
class Several:
    """A hub that answers at an address; the keys of its campaigns by folder."""

    hub: Hub
    keys: dict[str, Keys]
    client: httpx.Client

    def ask(self, token: str, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"}
        sent = {} if method == "GET" else {"json": body or {}}
        return self.client.request(method, path, headers=headers, **sent)


def add(folder: Path, name: str, pair: str = "de-en") -> None:
    folder.mkdir(parents=True)
    settings = Settings(name=name, protocol="esa", raters=Raters(number=1))
    links = create_campaign(folder, Material(settings, folder, scores(pair)), rng=7).links
    raters = {one.rater: one.token for one in links.raters}
    write_keys(folder, Keys(links.owner, links.viewer, links.join, raters))


@pytest.fixture
def several(tmp_path: Path) -> Iterator[Several]:
    for name in ("a", "b"):
        add(tmp_path / name, f"news {name}")
    add(tmp_path / "c", "news a")
    with open_hub(tmp_path, "http://127.0.0.1:1") as hub, serving(hub) as address:
        keys = {name: read_keys(tmp_path / name) for name in ("a", "b", "c")}
        with httpx.Client(base_url=address) as client:
            yield Several(hub, keys, client)


def test_every_campaign_has_a_slug_of_its_own(several: Several) -> None:
    assert list(several.hub.campaigns) == ["news-a", "news-b", "news-a-2"]
    assert several.hub.keys is not None
    seen = several.ask(several.hub.keys.owner, "GET", "/api/campaigns").json()
    assert [one["slug"] for one in seen] == list(several.hub.campaigns)
    assert {one["role"] for one in seen} == {"owner"}
    own = several.ask(several.keys["c"].viewer, "GET", "/api/campaigns").json()
    assert [(one["slug"], one["role"]) for one in own] == [("news-a-2", "viewer")]


def test_a_link_of_one_campaign_is_not_there_at_another(several: Several) -> None:
    first, second = several.keys["a"], several.keys["b"]
    for token in (first.owner, first.viewer, first.raters["rater-1"], first.join):
        assert several.ask(token, "GET", "/api/campaigns/news-b").status_code == 404
        assert several.ask(token, "GET", "/api/campaigns/nothing").status_code == 404
        assert several.ask(token, "POST", "/c/news-b/open").status_code == 404
        assert several.ask(token, "GET", "/api/join/news-b").status_code == 404
    assert several.ask(first.raters["rater-1"], "GET", "/api/campaigns/news-a").status_code == 403
    assert several.ask(first.owner, "POST", "/c/news-a/open").json()["state"] == "open"
    assert several.ask(second.owner, "GET", "/api/campaigns/news-b").json()["state"] == "draft"
    assert several.ask(second.owner, "POST", "/c/news-b/open").status_code == 200
    lease = several.ask(first.raters["rater-1"], "POST", "/api/next").json()["lease"]
    other = several.ask(second.raters["rater-1"], "POST", f"/api/leases/{lease}/beat")
    assert other.status_code == 404
    done = several.hub.campaigns["news-b"].status()
    assert [one.open for one in done.raters] == [0]


def test_the_owner_of_the_server_owns_them_all_and_rates_none(several: Several) -> None:
    assert several.hub.keys is not None
    token = several.hub.keys.owner
    entered = several.client.get(f"/r/{token}")
    assert (entered.status_code, entered.headers["location"]) == (303, "/campaigns")
    several.client.cookies.clear()
    for slug in several.hub.campaigns:
        assert several.ask(token, "POST", f"/c/{slug}/open").json()["state"] == "open"
        acts = [event for event in several.hub.campaigns[slug].events() if event.kind == "state"]
        assert {event.actor for event in acts} == {"owner"}
    assert several.ask(token, "POST", "/api/next").status_code == 403
    assert several.ask(token, "GET", "/api/campaigns/nothing").status_code == 404


def test_links_end_at_once_and_new_ones_work(several: Several) -> None:
    rater = several.keys["b"].raters["rater-1"]
    assert several.ask(rater, "GET", "/api/mine").status_code == 200
    new = several.hub.campaigns["news-b"].new_link("rater-1")
    assert several.ask(rater, "GET", "/api/mine").status_code == 401
    assert several.ask(new, "GET", "/api/mine").status_code == 200


def test_a_link_that_ends_while_its_rater_works_ends_for_every_request(several: Several) -> None:
    campaign, rater = several.hub.campaigns["news-b"], several.keys["b"].raters["rater-1"]
    campaign.open("owner")
    task = several.ask(rater, "POST", "/api/next").json()
    new = campaign.new_link("rater-1")
    lease = f"/api/leases/{task['lease']}"
    requests = {
        "/api/next": ("POST", {}),
        f"{lease}/screens/0/draft": ("PUT", {"body": {}}),
        f"{lease}/screens/0/answers": ("POST", {"key": "one", "answers": []}),
        f"{lease}/beat": ("POST", {}),
        f"{lease}/problem": ("POST", {"text": "odd"}),
    }
    for path, (method, sent) in requests.items():
        assert several.ask(rater, method, path, sent).status_code == 401, path
    assert [one.answers for one in campaign.status().raters] == [0]
    assert several.ask(new, "POST", "/api/next").json()["lease"] == task["lease"]


def test_each_says_where_it_is_served_and_is_let_go(tmp_path: Path) -> None:
    add(tmp_path / "a", "news")
    with open_hub(tmp_path, "http://127.0.0.1:1", "https://rate.example"):
        keys = read_keys(tmp_path / "a")
        assert (keys.served, keys.public) == ("http://127.0.0.1:1", "https://rate.example")
        assert stat.S_IMODE((tmp_path / "hub.json").stat().st_mode) == 0o600
        with pytest.raises(InputError, match="works on the campaign"):
            open_campaign(tmp_path / "a")
        with pytest.raises(InputError, match="works on the campaign"), open_hub(tmp_path, "x"):
            pass
        token = read_hub_keys(tmp_path).owner
    assert read_keys(tmp_path / "a").served is None
    assert read_hub_keys(tmp_path).served is None
    with open_hub(tmp_path, "http://127.0.0.1:1") as hub:
        assert hub.keys is not None
        assert hub.keys.owner == token, "the link is good for as long as the folder is there"
    open_campaign(tmp_path / "a").disconnect()


def test_what_is_a_folder_of_campaigns(tmp_path: Path) -> None:
    assert is_hub(tmp_path)
    add(tmp_path / "one", "news")
    assert is_hub(tmp_path)
    assert not is_hub(tmp_path / "one")
    assert not is_hub(tmp_path / "nothing")
    other = tmp_path / "papers"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    assert not is_hub(other)
    (other / "hub.json").write_text(json.dumps({"owner": "x"}))
    assert is_hub(other)
