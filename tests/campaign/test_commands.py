"""``assay campaign`` and ``assay serve``, as a script would use them."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from tests.conftest import Ran

import assay
from assay.campaign.client import WireClient, WireError
from assay.campaign.hub import open_hub

Run = Callable[..., Ran]


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    world = assay.simulate(systems=2, documents=[4, 4], texts=True, rng=1)
    path = tmp_path / "scores.tsv"
    world.test_set.write(path)
    return path


@pytest.fixture
def made(scores: Path, run_assay: Run) -> Path:
    """A campaign of two raters."""
    folder = scores.parent / "news"
    ran = run_assay("campaign", "new", scores, "--protocol", "esa", "--raters", 2, "-o", folder,
                    "--seed", 1)  # fmt: skip
    assert ran.code == 0, ran.err
    return folder


def said(ran: Ran) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(*words: object) -> Iterator[dict[str, Any]]:
    """A server in a process of its own; gives what it printed."""
    command = [
        sys.executable,
        "-m",
        "assay",
        *map(str, words),
        "--port",
        str(free_port()),
        "--json",
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert server.stdout is not None
    try:
        text = ""
        while not text.endswith("\n}\n"):
            line = server.stdout.readline()
            assert line, "the server stopped"
            text += line
        found = json.loads(text)
        with WireClient(found["address"], "nobody") as client:
            client.get("/healthz")
        yield found
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(20)
        server.stdout.close()
        assert code == 0


def rate(address: str, token: str) -> int:
    """Do one task; how many answers were stored."""
    stored = 0
    with WireClient(address, token) as client:
        task = client.post("/api/next", {})
        places = [segment["place"] for segment in task["segments"] if segment["rate"]]
        for screen, codes in enumerate(task["screens"]):
            answers = [
                {"code": code, "place": place, "scores": {"score": 90}, "no_error": True}
                for code in codes for place in places
            ]  # fmt: skip
            path = f"/api/leases/{task['lease']}/screens/{screen}/answers"
            body = {"key": f"screen-{screen}-of-it", "answers": answers}
            reply = client.post(path, body)
            assert client.post(path, body) == reply
            stored += reply["stored"]
    return stored


def test_a_campaign_from_a_table_of_outputs(scores: Path, run_assay: Run) -> None:
    folder = scores.parent / "news"
    words = ["campaign", "new", scores, "--protocol", "da", "--raters", "Ada,Ben", "-o", folder]
    found = said(run_assay(*words, "--json"))
    assert {"dir", "tasks", "outputs", "merged", "checks", "links"} <= set(found)
    assert found["outputs"] + found["merged"] >= 16
    assert {"owner", "viewer", "raters"} <= set(found["links"])
    assert [rater["rater"] for rater in found["links"]["raters"]] == ["Ada", "Ben"]
    assert found["links"]["raters"][0]["link"].startswith("http://127.0.0.1:8017/r/")
    assert stat.S_IMODE((folder / "campaign.json").stat().st_mode) == 0o600
    assert said(run_assay("campaign", "links", folder, "--json"))["links"] == found["links"]
    again = run_assay(*words)
    assert again.code == 2
    assert "is there already" in again.err


def test_shares_are_written_as_in_a_plan(scores: Path, run_assay: Run) -> None:
    words = ["campaign", "new", scores, "--protocol", "da", "--seed", 1, "--raters", 2, "--json"]
    made = []
    for place, shares in enumerate((("50%", "25%"), (".5", "0.25"))):
        more = ["--checks", shares[0], "--repeats", shares[1], "-o", scores.parent / str(place)]
        made.append(said(run_assay(*words, *more)))
    assert made[0]["checks"] == made[1]["checks"] > 0
    odd = run_assay(*words, "--checks", "many", "-o", scores.parent / "odd")
    assert odd.code == 2
    assert "give a share such as 10% or 0.1" in odd.err


def test_a_campaign_for_each_language_pair_on_one_server(
    scores: Path, tmp_path: Path, run_assay: Run
) -> None:
    frame = pl.read_csv(scores, separator="\t")
    pairs = [frame.with_columns(lp=pl.lit(pair)) for pair in ("en-cs", "en-de")]
    both = tmp_path / "both.tsv"
    pl.concat(pairs).write_csv(both, separator="\t")
    made = run_assay(
        "campaign", "new", both, "--protocol", "da", "--raters", 2, "--by", "lp", "-o",
        tmp_path / "all", "--json",
    )  # fmt: skip
    assert made.code == 0, made.err
    found = json.loads(made.out)["campaigns"]
    assert [Path(one["dir"]).name for one in found] == ["en-cs", "en-de"]
    assert {one["outputs"] for one in found} == {frame.height}
    with open_hub(tmp_path / "all", "http://127.0.0.1:1") as hub:
        assert sorted(hub.campaigns) == ["both-en-cs", "both-en-de"]
    again = run_assay("campaign", "new", both, "--protocol", "da", "--by", "nothing")
    assert again.code == 2
    assert "is not a column of the scores" in again.err


def test_a_campaign_from_a_plan(scores: Path, run_assay: Run) -> None:
    plan = scores.parent / "assay.toml"
    plan.write_text('protocol = "da"\nscores = "scores.tsv"\nraters = { number = 2 }\n')
    assert run_assay("campaign", "check", plan).code == 0
    found = said(run_assay("campaign", "new", plan, "--raters", 3, "--json"))
    assert len(found["links"]["raters"]) == 3
    assert Path(found["dir"]) == scores.parent
    checked = said(run_assay("campaign", "check", scores.parent, "--json"))
    assert checked["ok"] is True
    assert (found["protocol"], checked["table"]) == ("da", "campaign")


def test_a_served_campaign_takes_answers_and_orders(made: Path, run_assay: Run) -> None:
    with served("campaign", "serve", made) as server:
        raters = server["links"]["raters"]
        count = rate(server["address"], raters[0]["token"])
        status = said(run_assay("campaign", "status", made, "--json"))
        assert {
            "state", "answers", "beginning", "waiting", "looks", "next_look", "systems", "raters",
            "spent",
        } <= set(status)  # fmt: skip
        assert (status["state"], status["answers"]) == ("open", count)
        second = run_assay("campaign", "serve", made, "--port", free_port())
        assert second.code == 2
        assert "works on the campaign" in second.err
        paused = said(run_assay("campaign", "pause", made, "--reason", "lunch", "--json"))
        assert paused["state"] == "paused"
        with WireClient(server["address"], raters[1]["token"]) as client:
            assert client.post("/api/next", {})["state"] == "paused"
        assert said(run_assay("campaign", "resume", made, "--json"))["state"] == "open"
        out = ("exclude", made, "rater-2", "--reason", "at random", "--json")
        assert said(run_assay("campaign", *out))["raters"][1]["state"] == "excluded"
        back = said(run_assay("campaign", "restore", made, "rater-2", "--json"))
        assert back["raters"][1]["state"] == "active"
        nobody = run_assay("campaign", "exclude", made, "rater-9", "--reason", "gone")
        assert nobody.code == 2
        assert "is not a rater of this campaign" in nobody.err
        copy = made.parent / "copy.db"
        assert said(run_assay("campaign", "backup", made, "-o", copy, "--json")) == {
            "written": [str(copy)]
        }
    assert copy.stat().st_size > 0
    exported = said(run_assay("campaign", "export", made, "--json"))
    assert exported["rows"] > 0
    tables = made / "tables"
    assert str(tables / "ratings.tsv") in exported["written"]
    ratings = pl.read_csv(tables / "ratings.tsv", separator="\t")
    assert (ratings.height, set(ratings["score"])) == (count, {90.0})
    ran = run_assay("estimate", tables / "scores.tsv", tables / "ratings.tsv", "--sample",
                    tables / "sample.tsv", "--method", "mean")  # fmt: skip
    assert ran.code == 0, ran.err


def test_on_a_terminal_closing_asks(
    made: Path, run_assay: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(getattr(sys, stream), "isatty", lambda: True)
    asked: list[str] = []

    def refuse(question: str, **more: object) -> None:
        asked.append(question)
        raise typer.Abort

    monkeypatch.setattr(typer, "confirm", refuse)
    assert run_assay("campaign", "close", made).code != 0
    assert asked == ["A closed campaign cannot be opened again. Close it?"]
    assert said(run_assay("campaign", "status", made, "--json"))["state"] != "closed"
    assert run_assay("campaign", "close", made, "--yes").code == 0
    assert said(run_assay("campaign", "status", made, "--json"))["state"] == "closed"
    assert len(asked) == 1


def test_a_campaign_from_a_table_is_called_after_its_folder(
    scores: Path, tmp_path: Path, run_assay: Run
) -> None:
    target = tmp_path / "spring news"
    words = ("campaign", "new", scores, "--protocol", "da", "--raters", 2, "-o", target)
    ran = run_assay(*words)
    assert ran.code == 0
    assert "A draft: `assay serve" in ran.out + ran.err
    assert said(run_assay("campaign", "status", target, "--json"))["name"] == "spring news"


def test_a_table_is_no_saved_design_of_kits(scores: Path, tmp_path: Path, run_assay: Run) -> None:
    ran = run_assay("campaign", "new", scores, "--protocol", "post-edit", "--kit-design", scores,
                    "-o", tmp_path / "kits")  # fmt: skip
    assert ran.code == 2
    assert "--save design.json" in ran.err


def test_without_a_server_orders_are_carried_out_here(made: Path, run_assay: Run) -> None:
    for act, state in (("open", "open"), ("pause", "paused"), ("resume", "open")):
        assert said(run_assay("campaign", act, made, "--json"))["state"] == state
    assert run_assay("campaign", "rebuild", made).code == 0
    words = ("campaign", "exclude", made, "rater-2", "--reason", "at random", "--json")
    states = {one["rater"]: one["state"] for one in said(run_assay(*words))["raters"]}
    assert states == {"rater-1": "active", "rater-2": "excluded"}
    back = said(run_assay("campaign", "restore", made, "rater-2", "--json"))
    assert {one["state"] for one in back["raters"]} == {"active"}
    assert said(run_assay("campaign", "close", made, "--json"))["state"] == "closed"
    opened = run_assay("campaign", "open", made)
    assert opened.code == 1
    assert "cannot be opened" in opened.err


def test_the_rule_is_changed_and_reported(made: Path, tmp_path: Path, run_assay: Run) -> None:
    """Without a server, and asking one that runs."""
    change = ("campaign", "rule", made, "budget", "--json", "--reason")
    run_assay("campaign", "open", made)
    assert said(run_assay(*change, "the rest is paid"))["state"] == "open"
    back = ("campaign", "rule", made, "ranking", "--reason", "enough")
    with served("campaign", "serve", made, "--port", free_port(), "--json"):
        assert run_assay(*back).code == 0
        refused = run_assay(*back[:3], "score", "--reason", "why not")
        assert (refused.code, "neither the planned goal" in refused.err) == (2, True)
    page = tmp_path / "report.md"
    assert run_assay("report", made, "-o", page).code == 0
    text = page.read_text("utf-8")
    for part in ("How the answers were collected", "the rest is paid", "enough", "No result yet"):
        assert part in text


def test_export_for_other_tools(made: Path, run_assay: Run) -> None:
    ran = said(run_assay("campaign", "export", made, "--format", "pearmut", "--json"))
    assert ran["tables"] == {"campaign.json": 16, "annotations.jsonl": 0}
    assert (made / "pearmut" / "campaign.json").is_file()
    for words, fault in (
        (("--format", "xliff"), "--format (xliff) holds post-edited outputs"),
        (("--format", "pearmut", "--tables", "ratings"), "--tables (ratings) applies to tables"),
        (("--lp", "en-de"), "--lp (en-de) needs --format"),
        (("--format", "pearmud"), "did you mean 'pearmut'"),
    ):
        ran = run_assay("campaign", "export", made, *words)
        assert (ran.code, ran.out) == (2, "")
        assert fault in ran.err


def test_import_from_other_tools(made: Path, run_assay: Run) -> None:
    said(run_assay("campaign", "export", made, "--format", "pearmut", "--json"))
    campaign = json.loads((made / "pearmut" / "campaign.json").read_text("utf-8"))
    document = campaign["data"][0][0]
    given = [{name: {"score": 7, "error_spans": []} for name in one["tgt"]} for one in document]
    line = {"user_id": "rater-1", "item_i": 0, "item": document, "annotation": given}
    path = made / "annotations.jsonl"
    path.write_text(json.dumps(line))
    found = said(run_assay("campaign", "import", made, path, "--format", "pearmut", "--json"))
    assert (found["kind"], found["raters"]) == ("campaign-import", ["rater-1"])
    status = said(run_assay("campaign", "status", made, "--json"))
    assert status["answers"] == found["answers"] == sum(map(len, given))
    path.write_text(json.dumps(line)[:-20])
    for words, fault in (
        ((path, "--format", "pearmut"), "is not JSON"),
        ((path,), "choose from pearmut, appraise, label-studio"),
        ((path, "--format", "xliff"), "choose from pearmut, appraise, label-studio"),
    ):
        ran = run_assay("campaign", "import", made, *words)
        assert (ran.code, ran.out) == (2, "")
        assert fault in ran.err


def test_forgetting_a_person(made: Path, run_assay: Run) -> None:
    forgotten = said(run_assay("campaign", "forget", made, "rater-2", "--json"))
    assert forgotten == {"rater": "forgotten-2"}
    found = said(run_assay("campaign", "links", made, "--json"))
    assert [one["rater"] for one in found["links"]["raters"]] == ["rater-1"]


def test_the_short_form_makes_and_serves(scores: Path) -> None:
    folder = scores.parent
    plan = 'protocol = "da"\nscores = "scores.tsv"\nraters = { number = 2 }\n'
    (folder / "assay.toml").write_text(plan)
    with served("serve", folder) as first:
        assert rate_one_score(first)["stored"] > 0
        token = first["links"]["raters"][0]["token"]
    with served("serve", folder) as again:
        assert again["links"]["raters"][0]["token"] == token
        stranger = WireClient(again["address"], "no-such-token")
        with stranger, pytest.raises(WireError, match="401"):
            stranger.post("/api/next", {})


def test_a_preview_is_a_copy_to_try(made: Path, run_assay: Run) -> None:
    with served("campaign", "preview", made) as copy:
        assert rate(copy["address"], copy["link"].rsplit("/", 1)[1]) > 0
    assert said(run_assay("campaign", "status", made, "--json"))["answers"] == 0


def rate_one_score(server: dict[str, Any]) -> dict[str, Any]:
    with WireClient(server["address"], server["links"]["raters"][0]["token"]) as client:
        task = client.post("/api/next", {})
        places = [segment["place"] for segment in task["segments"] if segment["rate"]]
        answers = [
            {"code": code, "place": place, "scores": {"score": 5}}
            for code in task["screens"][0] for place in places
        ]  # fmt: skip
        path = f"/api/leases/{task['lease']}/screens/0/answers"
        reply: dict[str, Any] = client.post(path, {"key": "a-key-of-my-own", "answers": answers})
        return reply


def test_a_rehearsal(made: Path, run_assay: Run) -> None:
    words = ("campaign", "simulate", made, "--raters", 3, "--leaving", 1, "--seed", 1, "--json")
    found = said(run_assay(*words))
    assert len(found["raters"]) == 3
    status = said(run_assay("campaign", "status", made, "--json"))
    assert status["done"] == status["tasks"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("status", "nowhere"), "name the folder of a campaign"),
        (("links", "."), "name the folder of a campaign"),
        (("export", "nowhere"), "name the folder of a campaign"),
        (("new", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_what_is_not_there(
    words: tuple[str, ...], part: str, run_assay: Run, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run_assay("campaign", *words)
    assert ran.code == 2
    assert part in ran.err
    assert not list(tmp_path.iterdir())


def test_a_port_that_is_taken(made: Path, run_assay: Run) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ran = run_assay("campaign", "serve", made, "--port", port)
    assert ran.code == 2
    assert f"--port ({port}) cannot be used" in ran.err


def test_the_missing_extra_is_explained(monkeypatch: Any, run_assay: Run, tmp_path: Path) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        "assay.cli.campaign.find_spec",
        lambda name: None if name == "fastapi" else found(name),
    )
    for words in (("campaign", "status", tmp_path), ("serve", tmp_path)):
        ran = run_assay(*words)
        assert ran.code == 1
        assert "pip install 'mt-assay[campaign]'" in ran.err
