"""Files as users have them: guessed, shown, asked about, and read as one table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.conftest import Ran

import assay
from assay.tables.typed_files import save

Run = Callable[..., Ran]


@pytest.fixture
def ratings() -> pl.DataFrame:
    """Two systems, two raters who overlap on a third of the sentences, under others' names."""
    rng = np.random.default_rng(5)
    rows = [
        {
            "SentenceID": seg,
            "Model": system,
            "Annotator": rater,
            "ESA score": int(np.clip(70 + 12 * (system == "B") + rng.normal(0, 8), 0, 100)),
        }
        for seg in range(60)
        for system in "AB"
        for rater in ("Anna", "Ben")
        if seg < 20 or (seg < 40) == (rater == "Anna")
    ]
    return pl.DataFrame(rows)


def estimated(run_assay: Run, *arguments: object) -> tuple[dict[str, float], str]:
    ran = run_assay("estimate", *arguments, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert found["target"] == "texts"
    return {item["system"]: item["estimate"] for item in found["systems"]}, ran.err


def test_ratings_alone_under_other_names(
    ratings: pl.DataFrame, tmp_path: Path, run_assay: Run
) -> None:
    save(ratings, tmp_path / "ratings.xlsx")
    found, said = estimated(run_assay, tmp_path / "ratings.xlsx")
    per_output = ratings.group_by("Model", "SentenceID").agg(pl.col("ESA score").mean())
    means = dict(per_output.group_by("Model").agg(pl.col("ESA score").mean()).rows())
    assert found == pytest.approx(means)
    assert said.count("\n") == 1
    assert "seg <- SentenceID, rater <- Annotator, score <- ESA score" in said


def test_the_same_wide_long_and_in_files(
    ratings: pl.DataFrame, tmp_path: Path, run_assay: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(ratings, "all.csv")
    wide = ratings.pivot("Annotator", index=["SentenceID", "Model"], values="ESA score")
    save(wide.rename({"Anna": "Rater Anna", "Ben": "Rater Ben"}), "wide.xlsx")
    for name, part in ratings.group_by("Annotator"):
        save(part, f"batch-{name[0]}.xlsx")
        save(part.drop("Annotator"), f"sheet-{name[0]}.xlsx")
    whole, _ = estimated(run_assay, "all.csv")
    for files in (["wide.xlsx"], ["batch-*.xlsx"], ["batch-Anna.xlsx", "batch-Ben.xlsx"],
                  ["sheet-*.xlsx"]):  # fmt: skip
        again, _ = estimated(run_assay, *files)
        assert again == pytest.approx(whole), files
    _, said = estimated(run_assay, "wide.xlsx")
    assert "a column per rater: Rater Anna, Rater Ben" in said


def test_batches_with_our_names_are_one_table(
    ratings: pl.DataFrame, tmp_path: Path, run_assay: Run
) -> None:
    own = ratings.rename(
        {"SentenceID": "seg", "Model": "system", "Annotator": "rater", "ESA score": "score"}
    )
    save(own, tmp_path / "all.tsv")
    files = [tmp_path / f"{name}.tsv" for name in ("Anna", "Ben")]
    for path in files:
        save(own.filter(pl.col("rater") == path.stem), path)
    whole, said = estimated(run_assay, tmp_path / "all.tsv")
    assert said == ""
    assert estimated(run_assay, *files) == (pytest.approx(whole), "")


def test_a_rating_in_two_files_is_a_fault(
    ratings: pl.DataFrame, tmp_path: Path, run_assay: Run
) -> None:
    save(ratings[:20], tmp_path / "one.csv")
    save(ratings[18:], tmp_path / "two.csv")
    ran = run_assay("estimate", tmp_path / "one.csv", tmp_path / "two.csv")
    assert ran.code == 2
    assert "2 problems" in ran.err
    assert "one.csv too; give each rating once" in ran.err


def test_scores_of_our_own_and_ratings_of_others(tmp_path: Path, run_assay: Run) -> None:
    world = assay.simulate(documents=8, systems=3, rng=1)
    world.test_set.write(tmp_path / "scores.tsv")
    ratings = world.rate()
    ratings.write(tmp_path / "ratings.tsv")
    theirs = {"seg": "Segment no.", "doc": "Document", "system": "Engine", "score": "ESA"}
    save(ratings.frame.rename(theirs), tmp_path / "theirs.xlsx")
    own = run_assay("estimate", tmp_path / "scores.tsv", tmp_path / "ratings.tsv", "--json")
    other = run_assay("estimate", tmp_path / "scores.tsv", tmp_path / "theirs.xlsx", "--json")
    assert (own.code, own.err) == (0, "")
    assert other.code == 0, other.err
    assert json.loads(own.out)["systems"] == json.loads(other.out)["systems"]
    assert other.err.count("\n") == 1
    assert "doc <- Document, seg <- Segment no." in other.err


def test_our_own_names_never_run_the_guesser(
    tmp_path: Path, run_assay: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = assay.simulate(documents=8, systems=2, rng=1)
    world.test_set.write(tmp_path / "scores.tsv")
    world.rate().write(tmp_path / "ratings.tsv")
    monkeypatch.setattr("assay.tables.guess.guess", None)
    for files in (["scores.tsv", "ratings.tsv"], ["ratings.tsv"]):
        assert run_assay("estimate", *(tmp_path / name for name in files)).code == 0


def test_questions_name_the_option_and_columns_answer_them(
    ratings: pl.DataFrame, tmp_path: Path, run_assay: Run
) -> None:
    wide = ratings.pivot("Annotator", index=["SentenceID", "Model"], values="ESA score")
    save(wide, tmp_path / "wide.csv")
    ran = run_assay("estimate", tmp_path / "wide.csv")
    assert ran.code == 2
    assert "--columns (rater=Anna+Ben or score=Anna or score=Ben)" in ran.err
    found, said = estimated(run_assay, tmp_path / "wide.csv", "--columns", "rater=Anna+Ben")
    assert found.keys() == {"A", "B"}
    assert "a column per rater: Anna, Ben" in said


def test_the_direction_of_mqm_is_asked(
    ratings: pl.DataFrame, tmp_path: Path, run_assay: Run
) -> None:
    save(ratings.rename({"ESA score": "MQM score"}), tmp_path / "mqm.csv")
    ran = run_assay("estimate", tmp_path / "mqm.csv")
    assert ran.code == 2
    assert "--better (lower or higher)" in ran.err
    for better in ("lower", "higher"):
        assert run_assay("estimate", tmp_path / "mqm.csv", "--better", better).code == 0


def test_a_check_guesses_the_kind(ratings: pl.DataFrame, tmp_path: Path, run_assay: Run) -> None:
    save(ratings, tmp_path / "r.xlsx")
    ran = run_assay("check", tmp_path / "r.xlsx")
    assert ran.code == 0
    assert "read as ratings; columns: system <- Model, seg <- SentenceID" in ran.err
    assert "a valid ratings table with 160 rows" in ran.out
    save(pl.DataFrame({"x": [1, 2], "y": ["a", "b"]}), tmp_path / "odd.csv")
    ran = run_assay("check", tmp_path / "odd.csv")
    assert ran.code == 2
    assert "--kind (scores or ratings" in ran.err


def test_a_pattern_without_files(tmp_path: Path, run_assay: Run) -> None:
    ran = run_assay("estimate", tmp_path / "none-*.xlsx")
    assert ran.code == 2
    assert "matches no file" in ran.err


def test_attention_checks_among_the_items_are_asked_about(
    ratings: pl.DataFrame, tmp_path: Path, run_assay: Run
) -> None:
    marked = ratings.with_columns(itemType=pl.Series((["TGT"] * 9 + ["BAD"]) * 16))
    save(marked, tmp_path / "r.csv")
    ran = run_assay("estimate", tmp_path / "r.csv")
    assert ran.code == 2
    assert "--only (itemType=TGT)" in ran.err
    kept, _ = estimated(run_assay, tmp_path / "r.csv", "--only", "itemType=TGT")
    save(marked.filter(pl.col("itemType") == "TGT").drop("itemType"), tmp_path / "kept.csv")
    assert kept == pytest.approx(estimated(run_assay, tmp_path / "kept.csv")[0])


def test_a_test_set_of_other_names_wherever_one_is_read(tmp_path: Path, run_assay: Run) -> None:
    world = assay.simulate(documents=20, systems=3, texts=True, rng=1)
    names = {"system": "Model", "doc": "document_id", "seg": "segment_id", "target": "Translation"}
    frame = world.test_set.frame.rename(names).with_columns(doc_seg=pl.int_range(pl.len()))
    save(frame, tmp_path / "outputs.csv")
    ran = run_assay(
        "sample", tmp_path / "outputs.csv", "--budget", "30%", "--seed", 1,
        "-o", tmp_path / "sample.tsv",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "system <- Model, doc <- document_id, seg <- segment_id" in ran.err
    assert "not metrics (counts): doc_seg" in ran.err
    ran = run_assay(
        "collect", tmp_path / "outputs.csv", "--sample", tmp_path / "sample.tsv", "--sheets", "csv",
        "--raters", "Ada,Ben", "-o", tmp_path / "sheets",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert (tmp_path / "sheets" / "Ada.csv").exists()
    for command in (("check", tmp_path), ("sample", tmp_path, "--budget", "9")):
        ran = run_assay(*command)
        assert (ran.code, "a project of it with `assay new`" in ran.err) == (2, True)
