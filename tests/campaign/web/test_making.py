"""Campaigns from uploaded files: what they are taken for, what is refused, and what is made."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from tests.campaign.served import make, serving
from tests.campaign.web.test_hub import Several

from assay.campaign.hub import open_hub
from assay.campaign.uploads import MOST_UPLOADS, begin_upload
from assay.campaign.web import server
from assay.campaign.web.access import MOST_UPLOADED
from assay.project.project import open_project

ROWS = [
    {
        "SentenceID": seg, "Model": model, "Article": f"a{seg // 5}", "COMET": 0.8 + seg / 1000,
        "Quelle": f"Der Satz Nummer {seg} steht hier.",
        "Hypothesis text": f"Sentence number {seg} stands here, said {model}.",
    }
    for seg in range(20) for model in ("Alpha", "Beta", "Gamma")
]  # fmt: skip
TARGET = {"columns": {"target": "Hypothesis text"}}
WANTED = {"protocol": "esa", "raters": 2, "overlap": 10}
BOMB = b"""<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;">]><worksheet><sheetData><row><c><v>&c;</v></c></row></sheetData>
</worksheet>"""


def workbook(rows: list[dict[str, Any]] = ROWS) -> bytes:
    content = io.BytesIO()
    pl.DataFrame(rows).write_excel(content)
    return content.getvalue()


def packed(files: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", kind) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return content.getvalue()


def with_part(content: bytes, part: str, body: bytes) -> bytes:
    """A workbook with another part in place of its own."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return packed(files | {part: body})


class Maker:
    """Whoever runs a server, with files in their hands."""

    def __init__(self, several: Several) -> None:
        self.hub = several.hub
        self.client = several.client
        assert several.hub.keys is not None
        assert several.hub.folder is not None
        self.folder = several.hub.folder
        self.headers = {"Authorization": f"Bearer {several.hub.keys.owner}"}
        self.id = self.post("/api/uploads", {}).json()["upload"]

    def post(self, path: str, body: Any) -> httpx.Response:
        return self.client.post(path, json=body, headers=self.headers)

    def put(self, name: str, content: Any, **headers: str) -> httpx.Response:
        headers = self.headers | {"Content-Type": "application/octet-stream"} | headers
        path = f"/api/uploads/{self.id}/files/{name}"
        return self.client.put(path, content=content, headers=headers)

    def look(self, **said: Any) -> dict[str, Any]:
        reply = self.post(f"/api/uploads/{self.id}/table", said)
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    def make(self, name: str = "news", table: Any = TARGET, **more: Any) -> httpx.Response:
        body = {"upload": self.id, "name": name, "table": table, **WANTED, **more}
        return self.post("/api/campaigns", body)

    @property
    def visible(self) -> list[str]:
        """What was written, but for the uploads and the keys of the server."""
        own = {".uploads", "hub.json", "campaign.lock"}
        return sorted(path.name for path in self.folder.iterdir() if path.name not in own)


@pytest.fixture
def maker(tmp_path: Path) -> Iterator[Maker]:
    home = tmp_path / "home"
    home.mkdir()
    with ExitStack() as stack:
        hub = stack.enter_context(open_hub(home, "http://127.0.0.1:1"))
        address = stack.enter_context(server.serving(hub))
        yield Maker(
            Several(hub, {}, stack.enter_context(httpx.Client(base_url=address, timeout=60)))
        )


def test_from_a_workbook_with_foreign_names_to_a_rater_who_rates(
    maker: Maker, run_assay: Callable[..., Any]
) -> None:
    assert maker.put("My news.xlsx", workbook()).status_code == 200
    seen = maker.look()
    assert seen["table"]["roles"] == {
        "system": "Model", "seg": "SentenceID", "doc": "Article", "source": "Quelle"
    }  # fmt: skip
    assert seen["table"]["examples"]["SentenceID"] == "0"
    assert [one["path"] for one in seen["problems"]] == ["columns.target"]
    seen = maker.look(**TARGET, exclude=["Gamma"])
    assert seen["problems"] == seen["questions"] == []
    assert (seen["summary"]["systems"], seen["summary"]["segments"]) == (["Alpha", "Beta"], 20)
    money = {"per_rating": 0.12, "currency": "EUR", "budget": "3 EUR"}
    plan = maker.post("/api/plans", WANTED | money | {"systems": 2, "segments": 20}).json()
    assert plan["needed"] == 11
    assert plan["lead"].startswith("3 EUR buys 24 ratings: 2 systems x 11 segments")
    made = maker.make(
        table={**TARGET, "exclude": ["Gamma"]}, languages=["de", "en"], **money
    )  # fmt: skip
    assert made.status_code == 201, made.text
    (one,) = made.json()["campaigns"]
    assert one["slug"] == "news"
    assert len(one["links"]["raters"]) == 2
    assert not list((maker.folder / ".uploads").iterdir()), "the upload is used up"

    project = open_project(maker.folder / "news")
    assert project.settings.protocol == "esa"
    assert project.settings.screen.languages == ("de", "en")
    assert (project.settings.sample.design, project.settings.sample.budget) == ("rounds", "11")
    checked = run_assay("campaign", "check", project.folder / "assay.toml", "--json")
    assert json.loads(checked.out)["ok"], "the command line goes on in the folder"
    token = one["links"]["raters"][0]["token"]
    opened = maker.post("/c/news/open", {})
    assert opened.json()["state"] == "open"
    rater = {"Authorization": f"Bearer {token}"}
    task = maker.client.post("/api/next", json={}, headers=rater)
    assert task.json()["languages"] == {"source": "de", "target": "en"}
    for secret in ("Alpha", "Beta", "SentenceID", "COMET", '"a0"'):
        assert secret not in task.text.replace("said Alpha", "").replace("said Beta", "")


def test_a_column_for_each_system_and_texts_in_an_archive(maker: Maker) -> None:
    wide = [
        {"id": k, "Source": f"Ein Satz mit der Nummer {k}.", "left": f"A sentence numbered {k}.",
         "right": f"One phrase with number {k}."}
        for k in range(6)
    ]  # fmt: skip
    maker.put("wide.csv", pl.DataFrame(wide).write_csv().encode())
    assert maker.look()["questions"], "nobody knows what left and right are"
    seen = maker.look(wide=["left", "right"])
    assert seen["summary"]["systems"] == ["left", "right"]
    assert maker.client.delete(
        f"/api/uploads/{maker.id}/files/wide.csv",
        headers=maker.headers | {"Content-Type": "application/json"},
    ).json() == {"files": []}
    texts = {
        f"set/{name}": "\n".join(f"{name} {k} says so" for k in range(5)).encode()
        for name in ("source.txt", "sys-a.txt", "sys-b.txt")
    }
    junk = {"__MACOSX/set/._source.txt": b"x", "set/.DS_Store": b"\0"}
    assert maker.put("texts.zip", packed(texts | junk)).status_code == 200
    seen = maker.look()
    assert seen["table"] is None
    assert (seen["summary"]["systems"], seen["summary"]["segments"]) == (["sys-a", "sys-b"], 5)
    assert maker.make(table={}, protocol="pairwise", outputs=2).status_code == 201


def test_one_campaign_for_each_language_pair(maker: Maker) -> None:
    rows = [row | {"lp": pair} for pair in ("de-en", "en-cs") for row in ROWS]
    maker.put("both.parquet", parquet(rows))
    assert maker.look(**TARGET)["summary"]["pairs"] == ["de-en", "en-cs"]
    made = maker.make(by="lp").json()["campaigns"]
    assert [one["slug"] for one in made] == ["news-de-en", "news-en-cs"]
    assert [one["outputs"] for one in made] == [60, 60]
    assert maker.visible == ["news-de-en", "news-en-cs"]
    seen = maker.client.get("/campaigns", headers=maker.headers).text
    assert "New campaign" in seen
    assert seen.index("news de-en") < seen.index("news en-cs")
    assert seen.count(">draft<") == 2


def parquet(rows: list[dict[str, Any]]) -> bytes:
    content = io.BytesIO()
    pl.DataFrame(rows).write_parquet(content)
    return content.getvalue()


BAD = {
    "empty.csv": (b"  \n", "is empty"),
    "program.csv": (b"MZ\x90\0\x03", "neither a table nor a text"),
    "page.csv": (b"<html><body>a,b</body></html>", "neither a table nor a text"),
    "greek.csv": ("seg,μήκος\n1,2".encode("cp1253"), "neither a table nor a text"),
    "text.xlsx": (b"seg,system\n1,A\n", "is named .xlsx but is a text file"),
    "notes.zzzz": (b"seg,system\n1,A\n", "has an unknown ending"),
    "letter.docx": (packed({"[Content_Types].xml": b"", "word/document.xml": b""}), "a document"),
    "cut.zip": (packed({"a.csv": b"x,y\n" * 99})[:-30], "is damaged or incomplete"),
    "bomb.zip": (packed({"a.csv": bytes(300_000_000)}), "unpacks to more than the limit of 256 MB"),
    "nested.zip": (packed({"b.zip": packed({"a.csv": b"x,y\n1,2"})}), "contains an archive"),
    "twice.zip": (packed({"a/t.csv": b"x,y\n1,2", "b/t.csv": b"x,y\n1,2"}), "two files t.csv"),
    "nothing.zip": (packed({".hidden": b"x"}), "has no files"),
    "mixed.zip": (packed({"good.csv": b"x,y\n1,2", "bad.exe": b"\0\0"}), "neither a table"),
    "many.zip": (packed({f"{k}.csv": b"x,y\n1,2" for k in range(301)}), "has 301 files"),
    "up.zip": (packed({"../../up.csv": b"x,y\n1,2"}), "has no files"),
}


def test_files_that_are_nothing_are_refused_with_a_sentence(maker: Maker) -> None:
    for name, (content, sentence) in BAD.items():
        reply = maker.put(name, content)
        assert reply.status_code == 422, (name, reply.text)
        assert sentence in reply.json()["error"], name
        assert str(maker.folder) not in reply.text
    place = maker.folder / ".uploads" / maker.id
    assert [path for path in place.rglob("*") if path.is_file()] == [], "nothing of it stays"
    assert maker.visible == []
    assert maker.look() == {
        "files": [], "table": None, "summary": None, "questions": [], "problems": []
    }  # fmt: skip


def test_what_is_too_large_never_gets_in(maker: Maker) -> None:
    for size in (MOST_UPLOADED + 1, 200_000_000):  # the length alone is enough
        connection = HTTPConnection(maker.client.base_url.host, maker.client.base_url.port)
        connection.putrequest("PUT", f"/api/uploads/{maker.id}/files/big.csv")
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        for name, value in (maker.headers | headers).items():
            connection.putheader(name, value)
        connection.endheaders()
        reply = connection.getresponse()
        assert (reply.status, b"the body is larger than 64 MB" in reply.read()) == (413, True)
        connection.close()

    def pieces() -> Iterator[bytes]:
        yield from (b"a,b\n" * 250_000 for _ in range(66 * 1024**2 // 1_000_000))

    assert maker.put("big.csv", pieces()).status_code == 413, "also where no length is said"
    assert maker.post("/api/campaigns", {"x": "y" * 300_000}).status_code == 413
    assert maker.look()["files"] == []


def test_a_workbook_that_is_a_bomb_is_a_problem_of_the_file(maker: Maker) -> None:
    sheet = "xl/worksheets/sheet1.xml"
    far = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>'
    )
    for body, words in ((BOMB, "damaged"), (far, "limit"), (b" " * 300_000_000, "limit")):
        assert maker.put("book.xlsx", with_part(workbook(), sheet, body)).status_code == 200
        (problem,) = maker.look()["problems"]
        assert words in problem["message"], problem
        assert str(maker.folder) not in problem["message"]
        assert maker.make().status_code == 422
    assert maker.visible == []


def test_what_the_columns_do_not_tell_is_asked_at_its_field(maker: Maker) -> None:
    rows = [row | {"Engine": row["Model"] + "!", "Model": row["Model"]} for row in ROWS]
    rows = [row | {"Engine": ["x", "y"][k % 2]} for k, row in enumerate(rows)]
    maker.put("a.csv", pl.DataFrame(rows).write_csv().encode())
    seen = maker.look()
    assert [one["path"] for one in seen["questions"]] == ["columns.system"]
    assert maker.make().status_code == 422
    assert maker.look(columns={"system": "Model", **TARGET["columns"]})["summary"] is not None
    assert maker.look(columns={"system": "nobody"})["problems"], "a column that is not there"
    no_document = maker.look(columns={"system": "Model", "doc": "", **TARGET["columns"]})
    assert no_document["summary"]["documents"] is None
    maker.put("b.csv", b"other,names\n1,2\n")
    assert "different columns" in maker.look()["problems"][0]["message"]


def test_faults_are_told_by_their_fields_and_nothing_is_written(maker: Maker) -> None:
    maker.put("a.xlsx", workbook())
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"per_task": 3}, "raters.per_task"),
        ({"budget": "3 EUR"}, "budget"),
        ({"budget": "a lot"}, "budget"),
        ({"protocol": "pairwise", "budget": "3 EUR"}, "budget"),
        ({"protocol": "pairwise", "budget": "21"}, "budget"),
        ({"per_rating": 1, "per_hour": 2, "currency": "EUR"}, "pay.per_hour"),
        ({"by": "lp"}, "by"),
        ({"languages": ["de", "not a language"]}, "screen.languages"),
        ({"languages": ["", "en"]}, "give both languages, or neither"),
        ({"raters": 0}, "raters"),
        ({"name": " "}, "name"),
        ({"nonsense": 1}, "nonsense"),
    ]
    for given, path in wrong:
        reply = maker.make(**{"name": "news", **given})
        assert reply.status_code == 422, (given, reply.text)
        assert any(
            one["path"].startswith(path) or path in one["message"]
            for one in reply.json()["errors"]
        ), reply.text  # fmt: skip
        assert maker.visible == []
    assert maker.make().status_code == 201
    maker.id = maker.post("/api/uploads", {}).json()["upload"]
    maker.put("a.xlsx", workbook())
    again = maker.make()
    assert again.status_code == 422
    assert "choose another name" in again.json()["error"]
    assert maker.visible == ["news"]


@pytest.mark.parametrize("sign", ["\U00020000", "中", "ß"])
def test_a_name_that_no_folder_can_have_is_shortened_for_it(maker: Maker, sign: str) -> None:
    maker.put("a.xlsx", workbook())
    made = maker.make(name=80 * sign)
    assert made.status_code == 201, made.text
    (campaign,) = made.json()["campaigns"]
    assert campaign["name"] == 80 * sign
    assert maker.visible == [campaign["slug"]]
    assert maker.client.get(f"/api/campaigns/{campaign['slug']}", headers=maker.headers).is_success


def test_only_whoever_runs_the_server_makes_campaigns(maker: Maker, tmp_path: Path) -> None:
    maker.put("a.xlsx", workbook())
    (made,) = maker.make().json()["campaigns"]
    links = made["links"]
    paths = ("/api/uploads", f"/api/uploads/{maker.id}/table", "/api/plans", "/api/campaigns")
    for link in (links["owner"], links["viewer"], links["join"], links["raters"][0]["link"]):
        headers = {"Authorization": f"Bearer {link.rpartition('/')[2]}"}
        for path in paths:
            assert maker.client.post(path, json={}, headers=headers).status_code == 403
        assert maker.client.get("/campaigns/new", headers=headers).status_code == 403
        mine = headers | {"Content-Type": "application/octet-stream"}
        path = f"/api/uploads/{maker.id}/files/a.csv"
        assert maker.client.put(path, content=b"x", headers=mine).status_code == 403
    with serving(*make(tmp_path / "one", "esa")) as alone:
        own = {"Authorization": f"Bearer {alone.tokens['owner']}"}
        assert httpx.post(f"{alone.url}/api/uploads", json={}, headers=own).status_code == 403


def test_a_page_of_another_site_cannot_upload(maker: Maker) -> None:
    maker.client.get(f"/r/{maker.headers['Authorization'].removeprefix('Bearer ')}")
    path = f"/api/uploads/{maker.id}/files/a.csv"
    body = {"content": b"seg,system\n1,A\n"}
    octets = {"Content-Type": "application/octet-stream"}
    assert maker.client.put(path, headers=octets, **body).status_code == 403
    own = octets | {"X-Assay": "1"}
    for forged in ({"Origin": "https://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert maker.client.put(path, headers=own | forged, **body).status_code == 403
    for kind in ("multipart/form-data; boundary=x", "text/plain", "application/json"):
        wrong = own | {"Content-Type": kind}
        assert maker.client.put(path, headers=wrong, **body).status_code == 415
    assert maker.client.put(path, headers=own, **body).status_code == 200


def test_forgotten_uploads_make_room(tmp_path: Path) -> None:
    first = begin_upload(tmp_path)
    for _ in range(MOST_UPLOADS):
        begin_upload(tmp_path)
    assert not first.folder.exists()
    assert len(list((tmp_path / ".uploads").iterdir())) == MOST_UPLOADS


def test_forged_addresses_are_not_there(maker: Maker) -> None:
    for name in ("0" * 32, "x", "..", "%2e%2e%2f"):
        path = f"/api/uploads/{name}/table"
        assert maker.post(path, {}).status_code in (404, 405), name
    for name in ("..%2fup.csv", ".hidden.csv", "a%00b.csv", "a%0ab.csv"):
        assert maker.put(name, b"seg,system\n1,A\n").status_code in (404, 415, 422), name
