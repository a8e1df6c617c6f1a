"""Answers of other tools, brought into a campaign."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.campaign.store.world import HandClock, make, opened, rater_links, work

import assay
from assay.campaign.campaign import Campaign
from assay.campaign.exchange.export import tables_of
from assay.campaign.exchange.imports import READERS, import_answers
from assay.campaign.exchange.tools import export_format
from assay.collecting.results import Imported
from assay.errors import AssayError, OptionError, TableError
from assay.project.settings import Checks, Raters, Screen, Settings

FILES = {
    "pearmut": "annotations.jsonl", "appraise": "results.csv", "label-studio": "tasks.json",
}  # fmt: skip
SETTINGS = Settings(
    name="tea", protocol="esa", raters=Raters(number=3, overlap="20%"),
    screen=Screen(languages=("de", "en")), checks=Checks(share="20%", repeats="20%"),
)  # fmt: skip
KEY = ["system", "doc", "seg", "rater"]


def texts() -> assay.TestSet:
    """Two documents, an emoji, a line break, and two identical outputs."""
    outputs = {
        "1": ("Hot 🍵 tea\nin the house", "Warm tea"), "2": ("Yes.", "Yes."),
        "3": ("The end", "Over"), "4": ("A ship", "One ship"),
    }  # fmt: skip
    return assay.read_scores(pl.DataFrame([
        {"system": system, "doc": "d" if seg < "3" else "e", "seg": seg, "source": f"Quelle {seg}",
         "target": text}
        for seg, both in outputs.items() for system, text in zip("AB", both, strict=True)
    ]))  # fmt: skip


def campaign(folder: Path, settings: Settings = SETTINGS) -> Campaign:
    """A campaign without answers; always the same one."""
    folder.mkdir()
    make(folder, settings, test_set=texts())
    return opened(folder, HandClock())


def answered(folder: Path, settings: Settings = SETTINGS) -> Campaign:
    """The same campaign, worked through in the browser."""
    folder.mkdir()
    made = make(folder, settings, test_set=texts())
    found = opened(folder, HandClock())
    for link in rater_links(found, made):
        work(found, link)
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The exports of an answered campaign, by format."""
    folder = tmp_path_factory.mktemp("exports")
    with answered(folder / "campaign") as done:
        gathered = done.collected()
        for format in FILES:
            export_format(gathered, SETTINGS, folder / format, format)
        for name, frame in tables_of(gathered).items():
            frame.write_parquet(folder / f"{name}.parquet")
    return folder


def everything(campaign: Campaign) -> tuple[object, ...]:
    """All that could have changed."""
    gathered = campaign.collected()
    return gathered.answers, gathered.events, gathered.raters


def genuine(frame: pl.DataFrame, *more: str) -> list[tuple[Any, ...]]:
    for name in ("check", "repeat"):
        if name in frame.columns:
            frame = frame.filter(pl.col(name).is_null())
    return sorted(frame.select(*KEY, *more).rows())


@pytest.mark.parametrize("format", FILES)
def test_what_was_exported_comes_back_equal(format: str, files: Path, tmp_path: Path) -> None:
    with campaign(tmp_path / "again") as again:
        made = import_answers(again, files / format / FILES[format], format)
        assert Imported.from_dict(made.to_dict()) == made
        assert (made.same, made.changed, made.new_raters) == (0, 0, ())
        gathered, status = again.collected(), again.status()
        assert again.integrity() == ()
    tables = tables_of(gathered)
    ratings, errors = (pl.read_parquet(files / f"{name}.parquet") for name in ("ratings", "errors"))
    assert genuine(tables["ratings"], "score", "seconds") == genuine(ratings, "score", "seconds")
    place = ("category", "severity", "side", "start", "end")
    assert genuine(tables["errors"], *place) == genuine(errors, *place)
    assert status.beginning == status.tasks
    assert set(tables["ratings"]["reason"]) == {"imported"}
    assert set(tables["ratings"]["software"]) == {format}
    assert tables["ratings"]["sent"][0].startswith("2027-01-15T08:00")  # the hand clock's day
    (event,) = (event for event in gathered.events if event["kind"] == "imported")
    assert (event["actor"], event["subject"], event["body"]["file"]) == (
        "owner", format, FILES[format]
    )  # fmt: skip


def test_estimates_are_the_same(files: Path, tmp_path: Path) -> None:
    with campaign(tmp_path / "again") as again:
        import_answers(again, files / "pearmut" / FILES["pearmut"], "pearmut")
        tables = tables_of(again.collected())
    before = pl.read_parquet(files / "ratings.parquet")
    found = [
        assay.estimate(texts(), assay.read_ratings(frame.select(
            *KEY, "score", *[name for name in ("check", "repeat") if name in frame.columns]
        )))
        for frame in (before, tables["ratings"])
    ]  # fmt: skip
    assert [row.estimate for row in found[0].systems] == [row.estimate for row in found[1].systems]


def test_the_same_file_again_adds_nothing(files: Path, tmp_path: Path) -> None:
    path = files / "label-studio" / "tasks.json"
    with campaign(tmp_path / "again") as again:
        first = import_answers(again, path, "label-studio")
        second = import_answers(again, path, "label-studio")
        assert (second.answers, second.same, second.tasks) == (0, first.answers, 0)
        done = [rater.done for rater in again.status().raters]
        again.rebuild()
        assert [rater.done for rater in again.status().raters] == done


def test_answers_of_the_browser_are_not_changed(files: Path, tmp_path: Path) -> None:
    path = files / "pearmut" / FILES["pearmut"]
    with answered(tmp_path / "same") as there:
        assert import_answers(there, path, "pearmut").answers == 0
        before = everything(there)
        text = path.read_text("utf-8").replace('"score": 60.0', '"score": 61', 1)
        (tmp_path / "other.jsonl").write_text(text, "utf-8")
        with pytest.raises(TableError, match="already answered this differently"):
            import_answers(there, tmp_path / "other.jsonl", "pearmut")
        assert everything(there) == before


def test_a_part_comes_first_and_the_rest_later(files: Path, tmp_path: Path) -> None:
    lines = (files / "pearmut" / FILES["pearmut"]).read_text("utf-8").splitlines(keepends=True)
    mine = [line for line in lines if '"user_id": "rater-1"' in line]
    part, whole = tmp_path / "part.jsonl", tmp_path / "whole.jsonl"
    part.write_text(mine[0], "utf-8")
    whole.write_text("".join(mine).replace('"score": 60.0', '"score": 20', 1), "utf-8")
    with campaign(tmp_path / "again") as again:
        first = import_answers(again, part, "pearmut")
        assert (first.tasks, again.status().done) == (0, 0)
        second = import_answers(again, whole, "pearmut")
        assert (second.changed, second.tasks > 0) == (1, True)
        scores = tables_of(again.collected())["ratings"]
        assert sorted(set(scores["revision"])) == [1, 2]
        assert sorted(set(scores["score"])) == [20, 60]


def test_people_the_campaign_did_not_have(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    text = (files / "pearmut" / FILES["pearmut"]).read_text("utf-8")
    path.write_text(text.replace('"rater-1"', '"=Ann"'), "utf-8")
    with campaign(tmp_path / "again") as again:
        made = import_answers(again, path, "pearmut")
        assert made.new_raters == ("=Ann",)
        assert "=Ann" in [rater.rater for rater in again.status().raters]
        again.exclude("=Ann", "elsewhere", "owner")
        assert "=Ann" not in tables_of(again.collected())["ratings"]["rater"]
    with campaign(tmp_path / "other") as again:
        again.exclude("rater-1", "elsewhere", "owner")
        with pytest.raises(OptionError, match=r"rater \(rater-1\) is left out of this campaign"):
            import_answers(again, files / "pearmut" / FILES["pearmut"], "pearmut")
        again.restore("rater-1", "owner")
        again.close("owner")
        with pytest.raises(AssayError, match="closed and takes no more answers"):
            import_answers(again, files / "pearmut" / FILES["pearmut"], "pearmut")


def changed(line: dict[str, Any], **change: Any) -> dict[str, Any]:
    return line | change


Change = Callable[[dict[str, Any]], Any]


def item(line: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = line["item"][0]
    return found


def spans(line: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(iter(line["annotation"][0].values()))
    return found


def other_text(line: dict[str, Any]) -> None:
    item(line)["tgt"] = dict.fromkeys(item(line)["tgt"], "something else")


def rename(line: dict[str, Any]) -> None:
    item(line)["tgt"]["AA"] = "x"
    line["annotation"][0]["AA"] = {"score": 1, "error_spans": []}


FAULTS: dict[str, tuple[Change, str]] = {
    "another code": (lambda line: item(line).update(item_id="d#99"), "about segment '99' of 'd'"),
    "another system": (rename, "'AA' is not a system of this campaign"),
    "another text": (other_text, "is 'something else', in the campaign it is '"),
    "another source": (lambda line: item(line).update(src="?"), "the source of .* is '\\?', in"),
    "a score": (lambda line: spans(line).update(score=9999), "is 9999; give a number from 0"),
    "a severity": (
        lambda line: spans(line).update(
            error_spans=[{"start_i": 0, "end_i": 1, "severity": "huge", "category": None}]
        ), "severity is 'huge'; choose from minor, major",
    ),
    "a span": (
        lambda line: spans(line).update(
            error_spans=[{"start_i": 0, "end_i": 99, "severity": "minor", "category": None}]
        ), "the span 0 to 99 does not lie in the target",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_does_not_fit_leaves_nothing(fault: str, files: Path, tmp_path: Path) -> None:
    change, message = FAULTS[fault]
    lines = (files / "pearmut" / FILES["pearmut"]).read_text("utf-8").splitlines()
    entry = json.loads(lines[0])
    change(entry)
    path = tmp_path / "file.jsonl"
    path.write_text("\n".join([json.dumps(entry), *lines[1:]]), "utf-8")
    with campaign(tmp_path / "again") as again:
        before = everything(again)
        with pytest.raises(TableError, match=message) as error:
            import_answers(again, path, "pearmut")
        assert error.value.problems[0].line == 1
        assert everything(again) == before


def test_marks_of_appraise_are_utf16_and_outside_is_named(files: Path, tmp_path: Path) -> None:
    text = (files / "appraise" / "results.csv").read_text("utf-8")
    rows = list(csv.reader(text.splitlines()))
    row = next(row for row in rows if row[1:3] == ["A", "1"] and row[3] == "TGT")
    tea = [{"start_i": 4, "end_i": 5, "severity": "Minor", "error_type": "x"}]
    row[9] = json.dumps(tea)
    path = tmp_path / "results.csv"

    def write() -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([row])

    write()
    with campaign(tmp_path / "again") as again:
        import_answers(again, path, "appraise")
        errors = tables_of(again.collected())["errors"]
        assert errors.select("severity", "start", "end").rows() == [("minor", 4, 5)]
        row[0], row[9] = "Eva", json.dumps([{"start_i": 4, "end_i": 900, "severity": "minor"}])
        write()
        with pytest.raises(TableError, match="beyond the end of the text"):
            import_answers(again, path, "appraise")
        row[9] = "[]"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([row, [*row[:3], "TGT", *row[4:7], "elsewhere", *row[8:]]])
        with pytest.raises(TableError, match="does not ask about segment '1' of 'elsewhere'"):
            import_answers(again, path, "appraise")


def test_a_mark_that_cuts_a_character_holds_all_of_it(files: Path, tmp_path: Path) -> None:
    tasks = json.loads((files / "label-studio" / "tasks.json").read_text("utf-8"))
    task = next(task for task in tasks if task["data"]["target"].startswith("Hot"))
    task["data"].pop("check", None)
    task["data"]["target"] = "Hot 🍵 tea in the house"  # white space is no other text
    task["annotations"] = [task["annotations"][0]]
    task["annotations"][0]["result"][1]["value"] |= {"start": 4, "end": 4}
    task["annotations"][0]["result"][2]["value"] |= {"start": 4, "end": 4}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([task]), "utf-8")
    with campaign(tmp_path / "again") as again:
        import_answers(again, path, "label-studio")
        (row,) = tables_of(again.collected())["errors"].to_dicts()
    assert (row["start"], row["end"], row["missing"]) == (4, 4, True)


def test_twice_in_one_file(files: Path, tmp_path: Path) -> None:
    tasks = json.loads((files / "label-studio" / "tasks.json").read_text("utf-8"))
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([tasks[0], tasks[0]]), "utf-8")
    with (
        campaign(tmp_path / "again") as again,
        pytest.raises(TableError, match="answered this twice, first in line 1; keep one"),
    ):
        import_answers(again, path, "label-studio")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": 1}', "PK\x03\x04", "a,b\n1,2"])
@pytest.mark.parametrize("format", READERS)
def test_what_no_tool_wrote(format: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    with campaign(tmp_path / "again") as again, pytest.raises(TableError):
        import_answers(again, path, format)


def test_formats_and_protocols_that_cannot_be_brought_in(tmp_path: Path) -> None:
    with campaign(tmp_path / "again") as again:
        with pytest.raises(OptionError, match="choose from pearmut, appraise, label-studio"):
            import_answers(again, tmp_path / "x", "xliff")
        with pytest.raises(AssayError, match="no such file|does not exist"):
            import_answers(again, tmp_path / "x", "pearmut")
    pairs = Settings(protocol="pairwise", raters=Raters(number=2))
    with (
        campaign(tmp_path / "pairs", pairs) as again,
        pytest.raises(OptionError, match="holds ratings, not the answers to pairwise"),
    ):
        import_answers(again, tmp_path / "x", "label-studio")
