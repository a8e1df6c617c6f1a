"""Appraise batches: what is written, and that the results find their way back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.errors import OptionError, TableError
from assay.formats.catalogue import Options, load_format, save_format
from assay.tables.tables import read_ratings, read_scores

SCORES = pl.DataFrame(
    [
        ("A", "tea", 2, "Drink.", "Trink."),
        ("A", "tea", 1, "Hot 🍵", 'Heiß "🍵"\n'),
        ("B", "tea", 1, "Hot 🍵", "ساخن"),
        ("B", "end", 1, "Stop", "Halt"),
    ],
    schema=["system", "doc", "seg", "source", "target"],
    orient="row",
)
EN_DE = Options(lp="en-de")


def written(path: Path, frame: pl.DataFrame, options: Options | None = EN_DE) -> Any:
    assert save_format(frame, path, "appraise-batches", "scores", options) == [path]
    return json.loads(path.read_text("utf-8"))


def test_the_batches(tmp_path: Path) -> None:
    shown = [
        (0, 0, 1, "tea", "A", "Hot 🍵", 'Heiß "🍵"\n'),
        (0, 1, 2, "tea", "A", "Drink.", "Trink."),
        (1, 2, 1, "tea", "B", "Hot 🍵", "ساخن"),
        (2, 3, 1, "end", "B", "Stop", "Halt"),
    ]
    assert written(tmp_path / "b.json", SCORES) == [
        {
            "items": [
                {
                    "_block": block,
                    "_item": item,
                    "itemID": seg,
                    "itemType": "TGT",
                    "sourceID": "en-de",
                    "sourceText": source,
                    "targetID": system,
                    "targetText": target,
                    "documentID": doc,
                    "isCompleteDocument": False,
                }
                for block, item, seg, doc, system, source, target in shown
            ],
            "task": {
                "batchNo": 1,
                "randomSeed": 0,
                "requiredAnnotations": 1,
                "sourceLanguage": "en",
                "targetLanguage": "de",
            },
        }
    ]


def test_documents_stay_whole_in_tasks_of_a_hundred(tmp_path: Path) -> None:
    sizes = {"a": 60, "b": 30, "c": 20, "d": 130, "e": 1}
    rows = [(doc, seg) for doc, size in sizes.items() for seg in range(1, size + 1)]
    frame = pl.DataFrame(rows, schema=["doc", "seg"], orient="row").with_columns(
        system=pl.lit("A"), source=pl.lit("s"), target=pl.lit("t")
    )
    batches = written(tmp_path / "b.json", frame)
    found = [list(dict.fromkeys(i["documentID"] for i in batch["items"])) for batch in batches]
    assert found == [["a", "b"], ["c"], ["d"], ["e"]]
    assert [batch["task"]["batchNo"] for batch in batches] == [1, 2, 3, 4]
    assert [item["_item"] for item in batches[1]["items"]] == list(range(20))


def test_results_come_back_to_their_segments(tmp_path: Path) -> None:
    batches = written(tmp_path / "b.json", SCORES)
    with (tmp_path / "r.csv").open("w", newline="") as file:
        for item in batches[0]["items"]:
            shown = (item["targetID"], item["itemID"], item["itemType"], "eng", "deu", 50)
            where = (item["documentID"], item["isCompleteDocument"])
            csv.writer(file).writerow(("u", *shown, *where, "[]", 1.0, 3.5))
    raw = load_format(tmp_path / "r.csv", "appraise", "ratings")
    ratings = read_ratings(raw, read_scores(SCORES, metrics=()))
    key = ["system", "doc", "seg"]
    expected = SCORES.with_columns(pl.col("seg").cast(pl.String)).select(key).rows()
    assert sorted(ratings.frame.select(key).rows()) == sorted(expected)


def test_the_languages_may_stand_in_the_table(tmp_path: Path) -> None:
    frame = SCORES.with_columns(lp=pl.lit("zh-en_GB"))
    task = written(tmp_path / "b.json", frame, None)[0]["task"]
    assert (task["sourceLanguage"], task["targetLanguage"]) == ("zh", "en_GB")


@pytest.mark.parametrize("lp", [None, "ende", "-de", "en-"])
def test_the_languages_must_be_known(tmp_path: Path, lp: str | None) -> None:
    with pytest.raises(OptionError, match="does not name two languages; Appraise needs them"):
        written(tmp_path / "b.json", SCORES, Options(lp=lp))


def test_segments_without_documents(tmp_path: Path) -> None:
    items = written(tmp_path / "b.json", SCORES.head(2).drop("doc"))[0]["items"]
    assert [(item["itemID"], item["documentID"]) for item in items] == [(1, "1"), (2, "2")]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (SCORES.drop("target"), "no target column, and Appraise shows raters the texts"),
        (SCORES.with_columns(pl.format("s{}", "seg").alias("seg")), "'s1' is not a whole number"),
        (SCORES.with_columns(pl.format("0{}", "seg").alias("seg")), "'01' is not a whole number"),
        (SCORES.with_columns(target=pl.lit(None, pl.String)), "needs a target in every row"),
    ],
)
def test_tables_that_make_no_batches(tmp_path: Path, frame: pl.DataFrame, message: str) -> None:
    with pytest.raises(TableError, match=message):
        written(tmp_path / "b.json", frame)
    assert list(tmp_path.iterdir()) == []
