"""korotaev2022: every printed cell, on self-made files and, where they are, the authors'."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran
from tests.kits.corpora import make_corpus

import assay
from assay.effort.results import editor_ratios
from assay.errors import InputError, MissingExtraError, OptionError
from assay.papers.compare import PrintedCell, Reproduction, read_printed
from assay.papers.korotaev2022.editing import (
    CORPUS,
    DOCUMENTS,
    ENGINES,
    SEGMENTS,
    read_folder,
    simulate_chance,
)
from assay.papers.reproduce import start_paper
from assay.stats.random import as_rng
from assay.views.papers import draw_reproduction
from assay.worlds.editing import EditingWorld

Run = Callable[..., Ran]
start = partial(start_paper, "korotaev2022")
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
    work = start(folder, draws=3, rng=1, figures=True)
    return work.finish(work.run())


def find(result: Reproduction, table: str, row: str, column: str) -> PrintedCell:
    (cell,) = [c for c in result.table(table) if (c.row, c.column) == (row, column)]
    return cell


PRINTED = {item.number: item.value for item in read_printed("korotaev2022")}


def test_printed_numbers_have_the_papers_shape() -> None:
    assert len(PRINTED) == 27 + 1 + 9 + 9 + 12
    for column in ("distance", "segments"):  # average 1; time as mean speed over speed does not
        for names in (DOCUMENTS.values(), ENGINES):
            total = sum(PRINTED[f"{name} {column}"] for name in names)
            assert total == pytest.approx(3, abs=1e-6)
    for name in ENGINES:
        *places, score = (PRINTED[f"{name} {c}"] for c in ("least", "middle", "most", "score"))
        assert places[0] + 2 * places[1] + 3 * places[2] == score
        assert sum(places) == 6


def test_footnote_4_by_hand() -> None:
    """The paper's example of a ratio to mean, which rests on no data."""
    cells = pl.DataFrame({"editor": ["X"] * 3, "changed": [45.0, 32.0, 15.0]})
    ratios = editor_ratios(cells, ["changed"])["changed"]
    assert ratios == pytest.approx([1.467391304, 1.043478261, 0.489130435], abs=1e-9)


def test_every_cell_is_there(result: Reproduction) -> None:
    cells = Counter(cell.table for cell in result.tables)
    assert cells["Table 1"] == 27
    assert cells["Table 2"] == cells["Table 3"] == cells["Table 2, as described"] == 9
    assert cells["Figure 1"] == cells["Figure 3"] == 3
    assert cells["Figure 2"] == 10
    assert cells["Figure 4"] == cells["Figure 4, as described"] == 18
    assert cells["Table 4"] == cells["Table 4, as described"] == 12
    assert cells["H1"] == 2 + 9 * 5
    codes = {note.code for note in result.notes}
    assert {"reading-pooled", "reading-rounded", "reading-places", "reading-knee"} <= codes


def test_tables_2_and_3_by_hand(result: Reproduction, folder: Path) -> None:
    edits = read_folder(folder).edits
    assert edits is not None
    frame = edits.frame
    speeds = {}
    for engine in ENGINES:
        own = frame.filter(pl.col("system") == engine)
        # Seconds of an editor's document are whole.
        seconds = own.group_by("editor").agg(pl.col("seconds").sum().round(0))["seconds"].sum()
        speeds[engine] = own["words"].sum() / seconds
    whole = frame.group_by("editor", "doc").agg(pl.col("seconds").sum().round(0))
    mean = sum(speeds.values()) / 3
    for engine, speed in speeds.items():
        assert find(result, "Table 3", engine, "time").ours == pytest.approx(mean / speed)
    totals = {
        doc: 6 * PRINTED[f"{name} words"] / whole.filter(pl.col("doc") == doc)["seconds"].sum()
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
        assert result.table(figure)
        for cell in result.table(figure):
            parts = [c.ours or 0.0 for c in result.table(table) if c.row == cell.row]
            assert parts
            assert cell.ours == pytest.approx(sum(parts))
    means = [cell for cell in result.table("Figure 2") if cell.column == "mean"]
    assert len(means) == 3
    for cell in means:
        whole = find(result, "Figure 1", cell.row, "sum").ours
        assert whole is not None
        assert cell.ours == pytest.approx(whole / 3)


def test_a_far_better_human_translation_is_found(result: Reproduction) -> None:
    assert find(result, "H2", "proved", "1: yes").ours == 1
    assert find(result, "H2", "least effort", "editors").ours == 6
    assert find(result, "Table 4", "Human", "score").matches
    assert find(result, "H1", "rejected", "1: yes").ours == 0
    assert {cell.note for cell in result.table("section 4.3")} == {"undetermined"}


def test_other_corpora_do_not_match(result: Reproduction) -> None:
    off = [cell for cell in result.table("Table 1") if cell.outcome == "different"]
    assert {cell.reason for cell in off} == {"another corpus or another kit"}
    knee = find(result, "section 3.2", "corpus", "knee")
    assert knee.ours != knee.paper


def test_figures(folder: Path, result: Reproduction) -> None:
    drawn = draw_reproduction(result)
    assert sorted(drawn) == [
        *(f"korotaev2022_figure{k}" for k in (1, 2, 3, 4)), "korotaev2022_pieces",
    ]  # fmt: skip
    bars = drawn["korotaev2022_figure1"].axes[0].patches
    assert len(bars) == 9 + 3  # three measures of three documents, and the legend's
    heights = [cell.ours for cell in result.table("Table 2")]
    assert [bar.get_height() for bar in bars[:9]] == pytest.approx(heights)
    figure = drawn["korotaev2022_figure4"].axes[0]
    assert "mean speed over speed" in figure.get_ylabel()
    totals = sorted(cell.ours or 0.0 for cell in result.table("Figure 4"))
    drawn_totals = sorted(bar.get_height() for bar in figure.patches if bar.get_height())
    assert drawn_totals == pytest.approx(totals)


def test_each_file_serves_its_own_tables(folder: Path, tmp_path: Path) -> None:
    (tmp_path / SEGMENTS).write_bytes((folder / SEGMENTS).read_bytes())
    work = start(tmp_path, draws=2, rng=1)
    result = work.finish(work.run())
    missing = {cell.table for cell in result.tables if cell.outcome == "no data"}
    assert missing == {"Table 1", "section 3.2"}
    assert {cell.reason for cell in result.table("Table 1")} == {f"needs {CORPUS}"}
    assert not {note.code for note in result.notes} & {"reading-knee", "reading-closest"}
    assert sorted(draw_reproduction(result)) == [f"korotaev2022_figure{k}" for k in (1, 2, 3, 4)]


def test_without_the_extra_the_edits_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise MissingExtraError("cutting text", "kits")

    monkeypatch.setattr(assay, "read_pieces", refuse)
    work = start(folder, draws=2, rng=1)
    result = work.finish(work.run())
    assert all("kits" in cell.reason for cell in result.table("Table 1"))
    assert find(result, "Table 4", "Human", "score").ours == 6


@pytest.mark.slow
def test_the_same_on_any_number_of_workers(folder: Path, tmp_path: Path) -> None:
    (tmp_path / SEGMENTS).write_bytes((folder / SEGMENTS).read_bytes())
    one, two = (
        work.finish(work.run()).tables
        for work in (start(tmp_path, draws=12, rng=7, workers=k) for k in (1, 2))
    )
    assert one == two
    values = simulate_chance(2, as_rng(3))
    assert all(set(found.tolist()) <= {0.0, 1.0} for found in values.values())


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
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
    said = json.loads(ran.out)
    assert said["paper"] == "korotaev2022"
    assert "reading-places" in {note["code"] for note in said["notes"]}
    assert len(list((tmp_path / "f").iterdir())) == 10


@pytest.mark.slow
def test_real_data(shared_data: Path) -> None:
    work = start(shared_data, draws=2, rng=13)
    result = work.finish(work.run())
    off = {(c.row, c.column): c.reason for c in result.tables if c.outcome == "different"}
    assert off == {
        ("Doc I", "Flesch"): "one syllable",
        ("Doc II", "Dale-Chall"): "one difficult word",
        ("Doc II", "type-token ratio"): "one type",
    }
    assert result.counts == {"equal": 55, "different": 3, "cannot tell": 0, "no data": 0}
    knee = find(result, "section 3.2", "corpus", "knee")
    assert knee.ours == pytest.approx(knee.paper, abs=1e-12)
    for row in ("closest three of all", "DBSCAN, radius 0.14", "closest three within limits"):
        assert find(result, "section 3.2", row, "are Doc I-III").ours == 1
    described = {
        c.row: c.ours for c in result.table("Table 4, as described") if c.column == "score"
    }
    assert described == {"Amazon": 15, "Google": 15, "Human": 6}
    sums = {(c.row, c.column): c.ours or 0.0 for c in result.table("readings")}
    whole, without = "section 3.5, all editors", "section 3.5, without Editor 2"
    assert sums[whole, "Amazon, sum"] < sums[whole, "Google, sum"]
    assert sums[without, "Amazon, sum"] > sums[without, "Google, sum"]
    assert {cell.note for cell in result.table("section 4.3")} == {"undetermined"}
