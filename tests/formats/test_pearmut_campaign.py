"""Pearmut campaigns: what is written, and that the answers to it find their way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assay.errors import OptionError, TableError
from assay.formats.catalogue import Options, load_format, save_format
from assay.tables.answers import read_errors
from assay.tables.tables import read_ratings, read_scores

SCORES = pl.DataFrame(
    [
        ("A", "tea#1", "2", "Drink.", "Trink.", None),
        ("A", "tea#1", "1", "Hot 🍵", "Heiß 🍵", "Heiß"),
        ("B", "tea#1", "1", "Hot 🍵", "ساخن", "Heiß"),
        ("B", "tea#1", "2", "Drink.", 'Trink "jetzt"\n!', None),
        ("A", "100%", "1", "Stop", "Halt", None),
        ("B", "100%", "1", "Stop", "Stopp", None),
        ("A", "100%", "2", "Go", "Los", None),
    ],
    schema=["system", "doc", "seg", "source", "target", "reference"],
    orient="row",
)


def written(path: Path, frame: pl.DataFrame, options: Options | None = None) -> Any:
    assert save_format(frame, path, "pearmut-campaign", "scores", options) == [path]
    return json.loads(path.read_text("utf-8"))


def test_the_campaign(tmp_path: Path) -> None:
    campaign = written(tmp_path / "tea.json", SCORES)
    assert campaign == {
        "campaign_id": "tea",
        "info": {"assignment": "task-based", "protocol": "ESA"},
        "data": [
            [
                [
                    {
                        "item_id": "tea%231#1",
                        "src": "Hot 🍵",
                        "ref": "Heiß",
                        "tgt": {"A": "Heiß 🍵", "B": "ساخن"},
                    },
                    {
                        "item_id": "tea%231#2",
                        "src": "Drink.",
                        "tgt": {"A": "Trink.", "B": 'Trink "jetzt"\n!'},
                    },
                ],
                [
                    {"item_id": "100%25#1", "src": "Stop", "tgt": {"A": "Halt"}},
                    {"item_id": "100%25#2", "src": "Go", "tgt": {"A": "Los"}},
                ],
                [{"item_id": "100%25#1", "src": "Stop", "tgt": {"B": "Stopp"}}],
            ]
        ],
    }


def test_every_document_has_the_same_systems_throughout(tmp_path: Path) -> None:
    for task in written(tmp_path / "c.json", SCORES)["data"]:
        for document in task:
            assert len({tuple(item["tgt"]) for item in document}) == 1


def test_answers_come_back_to_their_segments(tmp_path: Path) -> None:
    campaign = written(tmp_path / "c.json", SCORES)
    scores = iter(range(100))
    with (tmp_path / "answers.jsonl").open("w") as file:
        for number, document in enumerate(campaign["data"][0]):
            marked = [{"start_i": 0, "end_i": 1, "category": None, "severity": "minor"}]
            answers = [
                {system: {"score": next(scores), "error_spans": marked} for system in item["tgt"]}
                for item in document
            ]
            line = {"annotation": answers, "item": document, "user_id": "u", "item_i": number}
            file.write(json.dumps(line) + "\n")
    test_set = read_scores(SCORES, metrics=())
    raw = load_format(tmp_path / "answers.jsonl", "pearmut", "ratings")
    ratings = read_ratings(raw, test_set)
    key = ["system", "doc", "seg"]
    assert_frame_equal(ratings.frame.select(key), SCORES.select(key), check_row_order=False)
    errors = read_errors(load_format(tmp_path / "answers.jsonl", "pearmut", "errors"), test_set)
    assert set(zip(errors.frame["start"], errors.frame["end"], strict=True)) == {(0, 2)}


def test_segments_without_documents(tmp_path: Path) -> None:
    frame = SCORES.head(2).with_columns(seg=pl.Series(["a#1", "b"])).drop("doc")
    campaign = written(tmp_path / "c.json", frame)
    assert [[item["item_id"] for item in part] for part in campaign["data"][0]] == [
        ["a%231"],
        ["b"],
    ]


def test_one_language_pair(tmp_path: Path) -> None:
    frame = SCORES.with_columns(lp=pl.Series(["en-de", "en-fr"] + ["en-de"] * 5))
    with pytest.raises(OptionError, match="the table has en-de, en-fr; pearmut takes one"):
        written(tmp_path / "c.json", frame)
    with pytest.raises(OptionError, match="lp .en-xx. is not in the scores table; choose from"):
        written(tmp_path / "c.json", frame, Options(lp="en-xx"))
    campaign = written(tmp_path / "c.json", frame, Options(lp="en-fr"))
    assert campaign["data"][0][0][0]["tgt"] == {"A": "Heiß 🍵"}


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (SCORES.drop("source"), "no source column, and pearmut shows raters the texts"),
        (SCORES.drop("source", "target"), "no source and no target column"),
        (
            SCORES.with_columns(target=pl.Series([None, "x"] + ["y"] * 5)),
            "line 1, column target: has no text",
        ),
        (
            SCORES.with_columns(source=pl.lit(None, pl.String)),
            "segment '1' has no text in any row",
        ),
        (SCORES.with_columns(system=pl.lit("7")).unique(["doc", "seg"]), "of digits only"),
        (SCORES.with_columns(seg=pl.lit("1")), "is already in line 1"),
        (SCORES.drop("system"), "column 'system' is missing"),
    ],
)
def test_tables_that_make_no_campaign(tmp_path: Path, frame: pl.DataFrame, message: str) -> None:
    with pytest.raises(TableError, match=message):
        written(tmp_path / "c.json", frame)
    assert list(tmp_path.iterdir()) == []
