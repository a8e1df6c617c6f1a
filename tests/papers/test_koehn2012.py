"""koehn2012: every printed cell, on simulated campaigns always and on WMT12's data where it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.conftest import Ran

from assay.errors import InputError, OptionError
from assay.papers.cells import Cell, Reproduction
from assay.papers.koehn2012 import start
from assay.papers.koehn2012_data import FILE, read_folder
from assay.papers.koehn2012_numbers import SIZES, printed_needs, printed_ranking
from assay.papers.koehn2012_tables import ranking_cells
from assay.papers.koehn2012_work import (
    VARIANTS,
    Record,
    Work,
    do_work,
    uniform_distance,
)
from assay.papers.koehn2012_work import _judged as judged
from assay.stats.random import as_rng

Run = Callable[..., Ran]


def screens(systems: int, count: int, sigma: float, lp: str, seed: int) -> pl.DataFrame:
    """A simulated campaign in the form of the file; now and then an output is left blank."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(10, 0, systems)
    shown = rng.permuted(np.broadcast_to(np.arange(systems), (count, systems)), axis=1)[:, :5]
    seen = quality[shown] + sigma * rng.standard_normal(shown.shape)
    ranks = 1 + np.argsort(np.argsort(-seen, axis=1), axis=1)
    ranks[rng.random(ranks.shape) < 0.01] = -1
    return pl.DataFrame(
        {
            "lp": [lp] * shown.size,
            "ranking": np.repeat(np.arange(count), 5) + 100_000 * seed,
            "segment": np.repeat(np.arange(count) % 300, 5),
            "judge": np.repeat([f"judge{k % 9}" for k in range(count)], 5),
            "slot": np.tile(np.arange(1, 6), count),
            "system": [f"s{k:02}" for k in shown.ravel()],
            "rank": ranks.ravel(),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wmt12")
    parts = [screens(13, 1200, 8.0, "en-cs", 1), screens(15, 1200, 8.0, "fr-en", 2)]
    pl.concat(parts).write_parquet(path / FILE)
    return path


@pytest.fixture(scope="module")
def records(folder: Path) -> list[Record]:
    return list(start(folder, draws=2, rng=1).run())


@pytest.fixture(scope="module")
def result(folder: Path, records: list[Record]) -> Reproduction:
    return start(folder, draws=2, rng=1, figures=True).finish(records)


def find(result: Reproduction, table: str, row: str, column: str) -> Cell:
    (cell,) = [c for c in result.tables[table] if (c.row, c.column) == (row, column)]
    return cell


def test_printed_numbers_have_the_papers_shape() -> None:
    needs = list(printed_needs())
    assert len(needs) == 60
    assert needs[-1] == (15, 12.0, 0.9, 500_000)
    assert [len(printed_ranking(lp)) for lp in ("en-cs", "fr-en")] == [13, 15]
    for lp in ("en-cs", "fr-en"):  # scores average .5 with 1/(n-1), not with 1/n
        assert np.mean([line.score for line in printed_ranking(lp)]) == pytest.approx(0.5, abs=2e-3)


def test_blanks_count_as_best_or_are_dropped(tmp_path: Path) -> None:
    rows = {
        "lp": ["x-y"] * 3, "ranking": [1] * 3, "segment": [1] * 3, "judge": ["j"] * 3,
        "slot": [1, 2, 3], "system": ["A", "B", "C"], "rank": [2, -1, 1],
    }  # fmt: skip
    pl.DataFrame(rows).write_parquet(tmp_path / FILE)
    found = read_folder(tmp_path)["x-y"]
    assert found.judgments.frame.select("left", "right", "winner").rows() == [
        ("A", "B", "right"), ("A", "C", "right"), ("B", "C", "left"),
    ]  # fmt: skip
    assert len(found.without_blanks) == 1
    assert found.blanks == 1


def test_ranges_judged_by_hand() -> None:
    """Three systems, best first: the second and third exchanged in two clusters."""
    size, missed, clusters, torn = judged(np.array([1, 3, 2]), np.array([1, 3, 2]))
    assert (size, clusters) == (1, 3)
    assert missed == pytest.approx(200 / 3)
    assert torn == pytest.approx(200 / 3)
    assert judged(np.array([1, 1, 1]), np.array([3, 3, 3])).tolist() == [3, 0, 1, 0]


def test_distance_from_uniform_is_that_of_scipy() -> None:
    from scipy.stats import kstest

    values = np.random.default_rng(1).random(12)
    inner = np.sort(values)[1:-1]
    low, width = values.min(), np.ptp(values)
    expected = kstest((inner - low) / width, "uniform").statistic
    assert uniform_distance(values) == pytest.approx(expected)


def test_every_cell_is_there(result: Reproduction) -> None:
    cells = {name: len(found) for name, found in result.tables.items()}
    assert cells["Table 1"] == 40
    assert cells["Table 1, literal"] == 20
    assert cells["Table 4"] == cells["Table 4, judgments"] == 60
    assert cells["Figure 3"] == cells["Figure 3, sigma 10"] == 4 * len(SIZES)
    assert cells["Table 2"] == 3 * 13 + 2
    assert cells["Table 3"] == 3 * 15 + 2
    assert cells["beyond"] == 2 * len(VARIANTS) * 6
    assert len([note for note in result.notes if note.startswith("reading:")]) == 5


def test_what_needs_no_draws(result: Reproduction) -> None:
    """Table 4 is exact: it is the same in every run."""
    table = result.tables["Table 4"]
    assert sum(cell.matches is True for cell in table) == 59
    (off,) = [cell for cell in table if not cell.matches]
    assert (off.row, off.column) == ("10 systems, sigma 8", "50%")
    assert off.ours == pytest.approx(0.561, abs=5e-4)
    assert find(result, "Table 4", "15 systems, sigma 10", "80%").ours == pytest.approx(
        0.8, abs=2e-3
    )
    cell = find(result, "readings", "section 6, 15 systems, sigma 10", "share at 13,000")
    assert cell.ours == pytest.approx(0.546, abs=1e-3)
    literal = [c.ours for c in result.tables["readings"] if c.row.startswith("sigma^2")]
    assert literal == pytest.approx([0.827, 0.906, 0.933, 0.968], abs=1e-3)


def test_sigma_of_simulated_campaigns(result: Reproduction) -> None:
    for lp in ("en-cs", "fr-en"):
        for column in ("by curve", "by likelihood"):
            assert find(result, "Figure 2", lp, column).ours == pytest.approx(8, rel=0.35)


def test_figures(folder: Path, result: Reproduction) -> None:
    drawn = start(folder, draws=2, rng=1, figures=True).draw(result)
    assert sorted(drawn) == [f"koehn2012_figure{k}" for k in (1, 2, 3)]


def test_without_data_what_is_simulated_stays(records: list[Record], tmp_path: Path) -> None:
    study = start(tmp_path, draws=2, rng=1)
    simulated = [record for record in records if record.real is None]
    assert study.steps == len(simulated)
    found = study.finish(simulated)
    missing = [cell for cell in found.cells if cell.outcome == "no data"]
    assert {cell.table for cell in missing} == {"Table 2", "Table 3", "Figure 2"}
    assert all(FILE in cell.note for cell in missing)
    assert found.tables["Table 1"]


def test_the_same_seed_gives_the_same_record() -> None:
    work = Work("beyond", 3, judgments=1000)
    one, other = (do_work(work, as_rng(4)).values for _ in range(2))
    for name, values in one.items():
        assert values.tolist() == other[name].tolist()


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"no parquet", "is no parquet file"), ({"lp": ["x"]}, "has no column ranking, segment"),
     ({"lp": ["x"], "ranking": [1], "segment": [1], "judge": ["j"], "slot": [1], "system": ["s"],
       "rank": ["first"]}, "ranks that are no numbers")],
)  # fmt: skip
def test_files_that_are_wrong(content: object, message: str, tmp_path: Path) -> None:
    if isinstance(content, bytes):
        (tmp_path / FILE).write_bytes(content)
    else:
        pl.DataFrame(content).write_parquet(tmp_path / FILE)
    with pytest.raises(InputError, match=message):
        start(tmp_path)


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        start(tmp_path / "none")
    with pytest.raises(OptionError, match="draws"):
        start(tmp_path, draws=1)


def test_other_systems_are_not_compared(tmp_path: Path) -> None:
    screens(6, 300, 8.0, "en-cs", 3).write_parquet(tmp_path / FILE)
    campaign = read_folder(tmp_path)["en-cs"]
    found = do_work(Work("pair", campaign=campaign), as_rng(1)).real
    assert found is not None
    cells = [cell for cell in ranking_cells({"en-cs": found}) if cell.table == "Table 2"]
    assert all("other systems" in cell.note for cell in cells)


@pytest.mark.slow
def test_command(folder: Path, run_assay: Run, tmp_path: Path) -> None:
    ran = run_assay(
        "reproduce", "koehn2012", "--data", folder, "--draws", 2, "--figures", tmp_path / "f",
        "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["paper"] == "koehn2012"
    assert len(list((tmp_path / "f").iterdir())) == 6
    assert "reading: the sign test is one-sided" in ran.err


@pytest.mark.slow
def test_simulated_tables_match_the_paper(tmp_path: Path) -> None:
    """60 campaigns resampled: sizes vary by .08, clusters by .16; 1500 for the rest."""
    study = start(tmp_path, draws=60, rng=13)
    found = study.finish(study.run())
    for cell in found.tables["Table 1"]:
        assert cell.ours is not None
        assert cell.paper is not None
        if cell.row.startswith("pairwise") and cell.column == "size":
            assert abs(cell.ours - cell.paper) < 0.09, cell
        elif cell.column in ("size", "clusters"):
            near = 0.25 if cell.column == "size" else 0.5
            assert abs(cell.ours - cell.paper) < near, cell
    for cell in found.tables["Table 1, literal"]:
        if cell.column == "size":
            assert cell.paper is not None
            assert cell.ours is not None
            assert cell.ours < cell.paper - 0.25
    for cell in found.tables["Figure 3"]:
        if cell.paper is not None and not cell.row.startswith("lopez"):
            assert cell.ours == pytest.approx(cell.paper, abs=0.4)
    for k in (10_000, 30_000):  # ten judgments of a set of 5 say less than ten sets of 2
        sets = find(found, "beyond", f"the paper's model, {k:,}", "expected-win error %").ours
        pairs = find(found, "beyond", f"sets of 2, {k:,}", "expected-win error %").ours
        assert sets is not None
        assert pairs is not None
        assert sets > 1.15 * pairs


@pytest.mark.slow
def test_real_data(shared_data: Path) -> None:
    study = start(shared_data, draws=2, rng=13)
    found = study.finish(study.run())
    for table in ("Table 2", "Table 3"):
        scores = [cell for cell in found.tables[table] if cell.column == "score"]
        assert all(cell.matches for cell in scores)
        ends = [cell for cell in found.tables[table] if cell.column in ("first", "last")]
        assert all(cell.matches for cell in ends)
        assert sum(cell.ours != cell.paper for cell in ends) <= 5
        (clusters,) = [cell for cell in found.tables[table] if cell.column == "clusters"]
        assert clusters.matches
    sigmas = [
        c
        for c in found.tables["Figure 2"]
        if c.column == "by curve" and c.row in ("en-cs", "fr-en")
    ]
    assert all(cell.matches for cell in sigmas)
    shifts = [c.ours for c in found.tables["readings"] if c.column == "largest shift"]
    assert all(shift is not None and shift > 0.003 for shift in shifts)
