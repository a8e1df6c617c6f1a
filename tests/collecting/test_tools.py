"""Task lists for annotation tools: blind, as planned, and read back through the key."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy import stats

import assay
from assay.collecting.sheets import MAKERS
from assay.errors import InputError, OptionError
from assay.results import has_note

TOOLS = list(MAKERS)
SYSTEMS = {"Zebra-MT": 1.0, "Quokka": 2.0, "Wombat-9": 3.0}
Made = tuple[assay.WrittenSheets, assay.Assignment, pl.DataFrame]


def make(folder: Path, tool: str, *, documents: int = 12, **options: Any) -> Made:
    world = assay.simulate(documents=documents, systems=SYSTEMS, texts=True, rng=1)
    frame = world.test_set.frame.with_columns(lp=pl.lit("eng-deu"))
    texts = assay.read_scores(frame)
    plan = assay.assign(texts, ["Ada", "Ben"], rng=1, **options)
    written = assay.write_sheets(texts, plan, folder / "tasks", format=tool)
    key = pl.read_csv(written.key, separator="\t", infer_schema=False)
    return written, plan, key


def scores(key: pl.DataFrame) -> dict[str, float]:
    """What the raters would answer, by code."""
    return {code: float(10 + k % 80) for k, code in enumerate(key["code"])}


def answer(path: Path, tool: str, given: dict[str, float], user: str) -> Any:
    """What the tool exports once a rater has answered."""
    tasks = json.loads(path.read_text("utf-8"))
    if tool == "label-studio":
        return [
            {**task, "annotations": [{"completed_by": 7, "result": [{
                "from_name": "score", "to_name": "target", "type": "number",
                "value": {"number": given[label_code(task)]},
            }]}]}
            for task in tasks if label_code(task) in given
        ]  # fmt: skip
    if tool == "appraise":
        rows = []
        for number, item in enumerate(tasks[0]["items"]):
            place = item["targetID"].removeprefix("out-")
            code = f"{item['documentID']}-{item['itemID']:04d}-{place}"
            if code in given:
                rows.append(
                    [
                        user,
                        item["targetID"],
                        item["itemID"],
                        "TGT",
                        "eng",
                        "deu",
                        given[code],
                        item["documentID"],
                        "False",
                        "[]",
                        number,
                        number + 9,
                    ]
                )
        return rows  # fmt: skip
    lines = []
    for number, screen in enumerate(tasks["data"][0]):
        marked = [
            {name: {"score": given[code]} for name in item["tgt"]
             if (code := f"{item['item_id']}-{name.removeprefix('out-')}") in given}
            for item in screen
        ]  # fmt: skip
        lines.append({"user_id": user, "item_i": number, "item": screen, "annotation": marked})
    return lines


def label_code(task: dict[str, Any]) -> str:
    data = task["data"]
    return f"{data['seg']}-{data['system'].removeprefix('out-')}"


def save(exported: Any, path: Path, tool: str) -> Path:
    if tool == "appraise":
        text = io.StringIO()
        csv.writer(text).writerows(exported)
        path.write_text(text.getvalue(), encoding="utf-8")
    elif tool == "pearmut":
        path.write_text("".join(json.dumps(line) + "\n" for line in exported), encoding="utf-8")
    else:
        path.write_text(json.dumps(exported), encoding="utf-8")
    return path


@pytest.mark.parametrize("tool", TOOLS)
def test_no_file_names_a_system(tmp_path: Path, tool: str) -> None:
    written, plan, key = make(tmp_path, tool)
    assert sorted(file.name for file in written.files) == ["Ada.json", "Ben.json",
                                                           "instructions.txt"]  # fmt: skip
    for file in written.files:
        text = file.read_text("utf-8")
        assert not any(name in text for name in SYSTEMS)
        assert not any(doc in text for doc in key["doc"].unique())
    assert len({load.outputs for load in plan.loads}) <= 2
    twice = Counter(zip(key["doc"], key["seg"], key["system"], strict=True))
    shared = sum(count > 1 for count in twice.values()) / len(twice)
    assert 0 < shared < 0.25


def test_no_place_tells_systems_apart_in_1000_segments(tmp_path: Path) -> None:
    _, _, key = make(tmp_path, "label-studio", documents=110)
    places = key["code"].str.split("-").list.last().cast(int)
    table = pl.DataFrame({"system": key["system"], "place": places})
    counts = table.group_by("system", "place").len().pivot("place", index="system", values="len")
    assert counts.drop("system").to_numpy().sum() > 3000
    assert stats.chi2_contingency(counts.drop("system").to_numpy()).pvalue > 0.001


@pytest.mark.parametrize("tool", TOOLS)
def test_answers_come_back_through_the_key(tmp_path: Path, tool: str) -> None:
    written, _, key = make(tmp_path, tool, checks=0.05)
    given = scores(key)
    files = [
        save(answer(path, tool, given, f"user-{k}"), tmp_path / f"out-{k}.txt", tool)
        for k, path in enumerate(written.files[:2])
    ]
    ratings = assay.collect_sheets(written.key, files, format=tool)
    wanted = {
        (row["rater"], row["doc"], row["seg"], row["system"], row["check"] is not None):
        given[row["code"]]
        for row in key.iter_rows(named=True)
    }  # fmt: skip
    found = {
        (row["rater"], row["doc"], row["seg"], row["system"], row["check"] is not None):
        row["score"]
        for row in ratings.frame.iter_rows(named=True)
    }  # fmt: skip
    assert found == wanted
    alone = assay.collect_sheets(written.key, files[:1], format=tool)
    assert has_note(alone.notes, "sheets-missing")
    before = files[0].rename(tmp_path / "before.txt")
    files[0].write_bytes(before.read_bytes())
    again = assay.collect_sheets(written.key, files, earlier=[before], format=tool)
    assert again.frame.equals(ratings.frame)


ALTERATIONS = {
    "another campaign": "is not in this key",
    "a code changed": "is not in this key",
    "answered twice": "is answered twice|appears|twice",
    "the same file again": "is already answered in another file",
    "too high": "is outside the scale",
    "negative": "is outside the scale",
    "not answered": "no output has a score|no annotation|no answer|nothing|is empty",
    "torn": ".",
    "text for a score": "not a number|good",
    "another tool": ".",
    "empty": ".",
    "not a file": "there is no such file",
}


@pytest.mark.parametrize("what", ALTERATIONS)
@pytest.mark.parametrize("tool", TOOLS)
def test_what_was_altered_is_refused(tmp_path: Path, tool: str, what: str) -> None:
    written, _, key = make(tmp_path, tool)
    given = scores(key)
    codes = list(key.filter(pl.col("rater") == "Ada")["code"])
    if what == "too high":
        given[codes[0]] = 101
    elif what == "negative":
        given[codes[0]] = -1
    elif what == "not answered":
        given = {}
    exported = answer(written.files[0], tool, given, "user")
    path = save(exported, tmp_path / "out.txt", tool)
    text = path.read_text("utf-8")
    files, prefix = [path], codes[0].partition("-")[0]
    if what == "another campaign":
        path.write_text(text.replace(prefix, "q00000"), encoding="utf-8")
    elif what == "a code changed":
        path.write_text(text.replace("out-1", "out-9"), encoding="utf-8")
    elif what == "answered twice":
        doubled = [*exported, exported[0]]
        if tool == "pearmut":
            doubled[-1] = {**exported[0], "user_id": "another"}
        elif tool == "appraise":
            doubled[-1] = ["another", *exported[0][1:]]
        save(doubled, path, tool)
    elif what == "the same file again":
        again = tmp_path / "again.txt"
        again.write_text(text, encoding="utf-8")
        files = [path, again]
    elif what == "torn":
        path.write_text(text[: len(text) // 2 - 3], encoding="utf-8")
    elif what == "text for a score":
        first = str(given[codes[0]])
        path.write_text(text.replace(first, '"good"', 1), encoding="utf-8")
    elif what == "another tool":
        path.write_text("code,score\nq1-01-0001-1,5\n", encoding="utf-8")
    elif what == "empty":
        path.write_text("", encoding="utf-8")
    elif what == "not a file":
        files = [tmp_path / "gone.txt"]
    with pytest.raises(InputError, match=ALTERATIONS[what]):
        assay.collect_sheets(written.key, files, format=tool)


def test_what_is_refused_at_once(tmp_path: Path) -> None:
    written, _, _ = make(tmp_path, "pearmut")
    with pytest.raises(OptionError, match="format"):
        assay.collect_sheets(written.key, [written.files[0]], format="mqm")
    world = assay.simulate(documents=3, systems=2, texts=True, rng=1)
    plan = assay.assign(world.test_set, 2, rng=1)
    with pytest.raises(InputError, match="Appraise needs languages"):
        assay.write_sheets(world.test_set, plan, tmp_path / "none", format="appraise")
    assert not (tmp_path / "none").exists()
