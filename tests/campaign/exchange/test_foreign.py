"""Campaigns that were prepared for another tool, collected here, written for it and read back."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

import httpx
import polars as pl
import pytest
from tests.campaign.exchange.gathered import SETTINGS, tea
from tests.campaign.store.world import work
from tests.campaign.test_commands import Run

import assay
from assay.campaign.campaign import open_campaign
from assay.campaign.exchange.imports import foreign_outputs, foreign_settings
from assay.campaign.exchange.tools import export_format
from assay.campaign.keys import read_keys
from assay.errors import InputError
from assay.formats.pearmut import read_campaign

PEARMUT: dict[str, Any] = {
    "campaign_id": "wmt_en-cs",
    "info": {"assignment": "task-based", "protocol": "ESA", "users": ["ann", "ben"]},
    "data_welcome": [[{"src": "Try.", "tgt": {"one": "Zkus."}, "item_id": "w#1"}]],
    "data": [
        [[
            {"src": "Hello.", "tgt": {"one": "Ahoj.", "two": "Dobrý den."}, "item_id": "d#1"},
            {"src": "Bye.", "tgt": {"one": "Sbohem.", "two": "Nashledanou."}, "item_id": "d#2"},
        ]],
        [[{"src": "Yes.", "tgt": {"one": "Ano.", "two": "Jo."}, "item_id": "e#1"}]],
    ],
}  # fmt: skip
ITEMS = [("1", "one", "Ahoj."), ("1", "two", "Dobrý den."), ("2", "one", "Ano."),
         ("2", "two", "Jo.")]  # fmt: skip
APPRAISE: list[dict[str, Any]] = [
    {
        "task": {"sourceLanguage": "eng", "targetLanguage": "ces", "requiredAnnotations": 2},
        "items": [
            {"itemID": int(seg), "itemType": "TGT", "documentID": "d#" + system,
             "targetID": system, "sourceText": f"Source {seg}", "targetText": text,
             "isCompleteDocument": False}
            for seg, system, text in ITEMS
        ],
    }
]  # fmt: skip


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Any], Path]:
    def write(content: Any) -> Path:
        path = tmp_path / "theirs.json"
        path.write_text(json.dumps(content, ensure_ascii=False), "utf-8")
        return path

    return write


def done(run_assay: Run, *words: object) -> str:
    """What a command prints that works."""
    ran = run_assay(*words)
    assert ran.code == 0, ran.err
    return ran.out


def test_what_a_campaign_of_pearmut_asks(written: Callable[[Any], Path]) -> None:
    path = written(PEARMUT)
    assert foreign_settings(path, "pearmut") == {
        "name": "wmt_en-cs", "protocol": "esa", "raters.names": ["ann", "ben"],
    }  # fmt: skip
    outputs = assay.read_scores(foreign_outputs(path, "pearmut"))
    assert (outputs.systems, outputs.segments.height) == (("one", "two"), 3)
    assert any("data_welcome" in str(note) for note in outputs.notes)
    sliders = [{"name": "Fluency", "min": 0, "max": 5, "step": 1}]
    info = {"protocol": "DA", "sliders": sliders, "users": 4}
    said = foreign_settings(written(PEARMUT | {"info": info}), "pearmut")
    assert (said["protocol"], said["raters.number"]) == ("scale", 4)
    assert said["scales"] == [{"name": "Fluency", "low": 0, "high": 5, "step": 1}]
    info = {"protocol": "MQM", "mqm_categories": {"Style": [], "Accuracy": ["Omission"]}}
    said = foreign_settings(written(PEARMUT | {"info": info}), "pearmut")
    assert said["categories"] == ["Style", "Accuracy/Omission"]


def test_what_batches_of_appraise_ask(written: Callable[[Any], Path]) -> None:
    assert foreign_settings(written(APPRAISE), "appraise-batches") == {
        "name": "theirs", "raters.per_task": 2, "raters.number": 2,
        "screen.languages": ["eng", "ces"],
    }  # fmt: skip


@pytest.mark.parametrize("content", [[], {}, {"data": 1}, [1], "text", {"data": [], "info": []}])
@pytest.mark.parametrize("origin", ["pearmut", "appraise-batches"])
def test_what_is_no_campaign(content: Any, origin: Any, written: Callable[[Any], Path]) -> None:
    path = written(content)
    with pytest.raises(InputError):
        foreign_outputs(path, origin)
    with pytest.raises(InputError):
        foreign_settings(path, origin)


@pytest.mark.parametrize(
    ("origin", "content", "format", "file"),
    [
        ("pearmut", PEARMUT, "pearmut", "annotations.jsonl"),
        ("appraise-batches", APPRAISE, "appraise", "results.csv"),
        ("pearmut", PEARMUT, "label-studio", "tasks.json"),
    ],
)
def test_created_collected_exported_and_read_back(
    origin: str, content: Any, format: str, file: str, written: Callable[[Any], Path],
    tmp_path: Path, run_assay: Run,
) -> None:  # fmt: skip
    path, made = written(content), tmp_path / "made"
    new = ["campaign", "new", "--from", origin, path, "--protocol", "esa", "-o"]
    more = ["--raters", "ann,ben", "--languages", "eng,ces", "--overlap", "0", "--json"]
    found = json.loads(done(run_assay, *new, made, *more))
    assert [one["rater"] for one in found["links"]["raters"]] == ["ann", "ben"]
    tokens = read_keys(made).raters.values()
    with open_campaign(made) as campaign:
        campaign.open("owner")
        for token in tokens:
            link = campaign.link(token)
            assert link is not None
            work(campaign, link)
        assert campaign.status().done == found["tasks"]
    done(run_assay, "campaign", "export", made, "--format", format, "-o", tmp_path / "out")
    again = tmp_path / "again"
    done(run_assay, *new, again, *more)
    answers = tmp_path / "out" / file
    said = done(run_assay, "campaign", "import", again, answers, "--format", format, "--json")
    assert json.loads(said)["answers"] > 0
    for folder in (made, again):
        done(run_assay, "campaign", "export", folder, "-o", folder / "tables")
    one, two = (
        pl.read_csv(folder / "tables" / "ratings.tsv", separator="\t")
        .select("system", "doc", "seg", "rater", "score").sort("system", "doc", "seg", "rater")
        for folder in (made, again)
    )  # fmt: skip
    assert one.equals(two)
    assert one.height == len(one.unique(["system", "doc", "seg", "rater"]))


def test_a_campaign_for_each_pair_of_the_batches(
    written: Callable[[Any], Path], tmp_path: Path, run_assay: Run
) -> None:
    task = APPRAISE[0]["task"] | {"targetLanguage": "deu"}
    both = [*APPRAISE, {"task": task, "items": APPRAISE[0]["items"]}]
    found = json.loads(done(
        run_assay, "campaign", "new", "--from", "appraise-batches", written(both), "--by", "lp",
        "--protocol", "da", "-o", tmp_path / "both", "--json",
    ))  # fmt: skip
    assert [Path(one["dir"]).name for one in found["campaigns"]] == ["eng-ces", "eng-deu"]
    assert [one["outputs"] for one in found["campaigns"]] == [4, 4]


def test_what_is_missing_in_a_file_of_batches_is_asked_for(
    written: Callable[[Any], Path], tmp_path: Path, run_assay: Run
) -> None:
    refused = run_assay(
        "campaign", "new", "--from", "appraise-batches", written(APPRAISE), "-o", tmp_path / "made"
    )
    assert refused.code == 2
    assert "protocol" in refused.err
    assert not (tmp_path / "made").exists()


# --- pearmut itself -------------------------------------------------------------------------------


@contextmanager
def pearmut(folder: Path, campaign: Path) -> Iterator[tuple[str, str]]:
    """Pearmut with this campaign; its address and the owner's token."""
    command = os.environ.get("ASSAY_PEARMUT") or which("pearmut")
    if command is None:
        pytest.skip("SKIPPED: pearmut is not installed, which needs Python 3.12")
    added = subprocess.run(
        [command, "add", str(campaign)], cwd=folder, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert added.returncode == 0, added.stderr
    token = re.search(r"token=(\w+)", added.stdout)
    assert token is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with subprocess.Popen(
        [command, "run", "--port", port], cwd=folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            yield f"http://127.0.0.1:{port}", token[1]
        finally:
            process.terminate()


def test_pearmut_opens_what_is_written_for_it(tmp_path: Path) -> None:
    export_format(tea(), SETTINGS, tmp_path / "out", "pearmut")
    written = tmp_path / "out" / "campaign.json"
    name = read_campaign(written)["campaign_id"]
    with pearmut(tmp_path, written) as (address, token):
        answers = tmp_path / "data" / "annotations" / f"{name}.jsonl"
        answers.write_bytes((tmp_path / "out" / "annotations.jsonl").read_bytes())
        progress = json.loads((tmp_path / "data" / "progress" / f"{name}.json").read_text())
        (user,) = progress
        with httpx.Client(base_url=address, timeout=30) as client:
            for _ in range(100):
                try:
                    client.get("/")
                    break
                except httpx.TransportError:
                    time.sleep(0.2)
            asked = {"campaign_id": name, "user_id": user}
            item = client.post("/get-next-item", json=asked)
            assert item.status_code == 200
            texts = {text for one in item.json()["payload"] for text in one["tgt"].values()}
            assert texts <= {"Heißer 🍵\nim Haus", "Warmer Tee im Haus", "Ja.", "Jawohl!",
                             "=Summe", "Das Ende"}  # fmt: skip
            scores = client.post(
                "/dashboard-results", json={"campaign_id": name, "token": token}
            ).json()
    # Pearmut keeps one score of an output: the one that came last.
    assert {one["model"]: one["count"] for one in scores} == {"A": 2, "B": 3}
