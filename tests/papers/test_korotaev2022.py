"""korotaev2022: every printed cell, on self-made files and, where they are, the authors'."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran
from tests.kits.corpora import make_corpus

from assay.errors import InputError, MissingExtraError, OptionError
from assay.papers import korotaev2022_work as module
from assay.papers.cells import Cell, Reproduction
from assay.papers.korotaev2022 import start
from assay.papers.korotaev2022_data import CORPUS, SEGMENTS, read_folder
from assay.papers.korotaev2022_numbers import (
    DOCUMENTS,
    ENGINES,
    PLACES,
    RELATIVE,
    TABLE_1,
    WORDS,
)
from assay.papers.korotaev2022_work import Work, do_work
from assay.stats.random import as_rng
from assay.worlds.editing import EditingWorld

Run = Callable[..., Ran]
ASSIGNED = [
    (f"Editor {number}", doc, engine)
    for number, order in enumerate(permutations(ENGINES), start=1)
    for doc, engine in zip(DOCUMENTS, order, strict=True)
]
BACK = {"doc": "document", "system": "engine", "seconds": "edit_time_s", "words": "src_words"}


def segments(seed: int) -> pl.DataFrame:
    """Six simulated editors in the form of the file; the human translation is far better."""
    world = EditingWorld({"Amazon": 6.0, "Google": 6.0, "Human": -5.0}, cell=1.0, noise=20.0)
    frame = world.edits(ASSIGNED, rng=seed).frame.with_columns(pl.lit(20.0).alias("words"))
    return frame.drop("position").rename(BACK)


def put(folder: Path, name: str, frame: pl.DataFrame) -> None:
    (folder / name).write_bytes(gzip.compress(frame.write_csv(separator="\t").encode()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("effectiff")
    paragraphs = [f"{text} {text}" for text in make_corpus(40, seed=4) for _ in range(2)]
    put(path, CORPUS, pl.DataFrame({"par": range(len(paragraphs)), "text": paragraphs}))
    put(path, SEGMENTS, segments(5))
    return path


@pytest.fixture(scope="module")
def result(folder: Path) -> Reproduction:
    study = start(folder, draws=3, rng=1, figures=True)
    return study.finish(study.run())


def find(result: Reproduction, table: str, row: str, column: str) -> Cell:
    (cell,) = [c for c in result.tables[table] if (c.row, c.column) == (row, column)]
    return cell


def test_printed_numbers_have_the_papers_shape() -> None:
    assert [len(row) for row in TABLE_1.values()] == [9] * 3
    for column in (1, 2):  # distances and segments average 1; time as mean speed over speed not
        for names in (DOCUMENTS.values(), ENGINES):
            assert sum(RELATIVE[name][column] for name in names) == pytest.approx(3, abs=1e-6)
    for places in PLACES.values():
        assert places[0] + 2 * places[1] + 3 * places[2] == places[3]
        assert sum(places[:3]) == 6


def test_every_cell_is_there(result: Reproduction) -> None:
    cells = {name: len(found) for name, found in result.tables.items()}
    assert cells["Table 1"] == 27
    assert cells["Table 2"] == cells["Table 3"] == cells["Table 2, as described"] == 9
    assert cells["Figure 1"] == cells["Figure 3"] == cells["footnote 4"] == 3
    assert cells["Figure 2"] == 10
    assert cells["Figure 4"] == cells["Figure 4, as described"] == 18
    assert cells["Table 4"] == cells["Table 4, as described"] == 12
    assert cells["H1"] == 2 + 9 * 5
    assert all(cell.matches for cell in result.tables["footnote 4"])
    assert sum(note.startswith("reading:") for note in result.notes) == 4


def test_tables_2_and_3_by_hand(result: Reproduction, folder: Path) -> None:
    edits = read_folder(folder).edits
    assert edits is not None
    frame = edits.frame
    speeds = {}
    for engine in ENGINES:
        own = frame.filter(pl.col("system") == engine)
        speeds[engine] = own["words"].sum() / own["seconds"].sum()
    mean = sum(speeds.values()) / 3
    for engine, speed in speeds.items():
        assert find(result, "Table 3", engine, "time").ours == pytest.approx(mean / speed)
    totals = {
        doc: 6 * WORDS[name] / frame.filter(pl.col("doc") == doc)["seconds"].sum()
        for doc, name in DOCUMENTS.items()
    }
    for doc, name in DOCUMENTS.items():
        expected = sum(totals.values()) / 3 / totals[doc]
        assert find(result, "Table 2", name, "time").ours == pytest.approx(expected)
    changed = frame.select("system", (pl.col("mt") != pl.col("edited")).alias("changed"))
    shares = dict(changed.group_by("system").agg(pl.col("changed").mean()).iter_rows())
    for engine in ENGINES:
        ours = find(result, "Table 3", engine, "segments").ours
        assert ours == pytest.approx(3 * shares[engine] / sum(shares.values()), abs=2e-3)


def test_sums_are_those_of_the_tables(result: Reproduction) -> None:
    for figure, table in (("Figure 1", "Table 2"), ("Figure 3", "Table 3")):
        for cell in result.tables[figure]:
            parts = [c.ours or 0.0 for c in result.tables[table] if c.row == cell.row]
            assert cell.ours == pytest.approx(sum(parts))
    for cell in result.tables["Figure 2"]:
        if cell.column == "mean":
            assert cell.ours == pytest.approx((find(result, "Figure 1", cell.row, "sum").ours or 0) / 3)  # noqa: E501  # fmt: skip


def test_a_far_better_human_translation_is_found(result: Reproduction) -> None:
    assert find(result, "H2", "proved", "1: yes").matches
    assert find(result, "H2", "least effort", "editors").ours == 6
    assert find(result, "Table 4", "Human", "score").matches
    assert find(result, "H1", "rejected", "1: yes").matches
    assert {cell.note for cell in result.tables["section 4.3"]} == {"undetermined"}


def test_other_corpora_do_not_match(result: Reproduction) -> None:
    off = [cell for cell in result.tables["Table 1"] if not cell.matches]
    assert "another corpus or another kit" in {cell.note for cell in off}
    assert not find(result, "section 3.2", "corpus", "knee").matches


def test_figures(folder: Path, result: Reproduction) -> None:
    drawn = start(folder, draws=3, figures=True).draw(result)
    assert sorted(drawn) == [
        *(f"korotaev2022_figure{k}" for k in (1, 2, 3, 4)), "korotaev2022_pieces",
    ]  # fmt: skip
    bars = drawn["korotaev2022_figure1"].axes[0].patches
    assert len(bars) == 9 + 3  # three measures of three documents, and the legend's
    heights = [cell.ours for cell in result.tables["Table 2"]]
    assert [bar.get_height() for bar in bars[:9]] == pytest.approx(heights)


def test_without_data_the_cells_say_which_file_they_need(tmp_path: Path) -> None:
    study = start(tmp_path, draws=2, rng=1, figures=True)
    assert study.steps == 1
    found = study.finish(study.run())
    missing = [cell for cell in found.cells if cell.outcome == "no data"]
    assert {cell.table for cell in missing} == {
        "Table 1", "Table 2", "Table 3", "Table 4", "section 3.2", "Figure 1", "Figure 2",
        "Figure 3", "H1", "H2",
    }  # fmt: skip
    for cell in missing:
        assert (CORPUS if cell.table in ("Table 1", "section 3.2") else SEGMENTS) in cell.note
    assert any(note.startswith(f"no {CORPUS}") for note in found.notes)
    assert found.tables["beyond"]
    assert study.draw(found) == {}


def test_without_the_extra_the_edits_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise MissingExtraError("cutting text", "kits")

    monkeypatch.setattr(module, "read_pieces", refuse)
    study = start(folder, draws=2, rng=1)
    found = study.finish(study.run())
    assert all("kits" in cell.note for cell in found.tables["Table 1"])
    assert find(found, "Table 4", "Human", "score").ours == 6


@pytest.mark.slow
def test_the_same_on_any_number_of_workers(tmp_path: Path) -> None:
    one, two = (
        study.finish(study.run()).cells
        for study in (start(tmp_path, draws=12, rng=7, workers=k) for k in (1, 2))
    )
    assert one == two
    values = do_work(Work("chance", 2), as_rng(3)).values
    assert all(set(found.tolist()) <= {0.0, 1.0} for found in values.values())


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        start(tmp_path / "none")
    with pytest.raises(OptionError, match="draws"):
        start(tmp_path, draws=1)
    other = segments(1).with_columns(pl.col("engine").replace("Google", "Bing"))
    put(tmp_path, SEGMENTS, other)
    with pytest.raises(InputError, match=r"engine is not Amazon, Google, Human .*Bing, Google"):
        start(tmp_path)
    put(tmp_path, SEGMENTS, other.drop("engine"))
    with pytest.raises(InputError, match="engine"):
        start(tmp_path)


def test_command(folder: Path, run_assay: Run, tmp_path: Path) -> None:
    ran = run_assay(
        "reproduce", "korotaev2022", "--data", folder, "--draws", 2, "--figures", tmp_path / "f",
        "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["paper"] == "korotaev2022"
    assert len(list((tmp_path / "f").iterdir())) == 10
    assert "reading: Table 4" in ran.err


def test_real_data(shared_data: Path) -> None:
    study = start(shared_data, draws=2, rng=13)
    found = study.finish(study.run())
    off = {(c.row, c.column): c.note for c in found.tables["Table 1"] if not c.matches}
    assert off == {
        ("Doc I", "Flesch"): "one syllable",
        ("Doc II", "Dale-Chall"): "one difficult word",
        ("Doc II", "type-token ratio"): "one type",
    }
    for table in ("Table 2", "Table 3", "Table 4", "Figure 1", "Figure 3", "H1", "H2"):
        assert not [cell for cell in found.tables[table] if cell.matches is False], table
    for column in ("pieces", "knee"):
        assert find(found, "section 3.2", "corpus", column).matches
    assert find(found, "section 3.2", "closest three of all", "are Doc I-III").ours == 1
    assert find(found, "section 3.2", "DBSCAN, radius 0.14", "are Doc I-III").matches
    assert find(found, "section 3.2", "closest three within limits", "are Doc I-III").ours == 1
    described = {
        c.row: c.ours for c in found.tables["Table 4, as described"] if c.column == "score"
    }
    assert described == {"Amazon": 15, "Google": 15, "Human": 6}
    sums = {(c.row, c.column): c.ours or 0.0 for c in found.tables["readings"]}
    whole, without = "section 3.5, all editors", "section 3.5, without Editor 2"
    assert sums[whole, "Amazon, sum"] < sums[whole, "Google, sum"]
    assert sums[without, "Amazon, sum"] > sums[without, "Google, sum"]
    assert {cell.note for cell in found.tables["section 4.3"]} == {"undetermined"}
