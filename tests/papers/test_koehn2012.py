"""koehn2012: every printed cell, on simulated campaigns always and on WMT12's data where it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.conftest import Ran

from assay.errors import InputError, OptionError
from assay.papers.compare import PrintedCell, Reproduction, compare, read_printed
from assay.papers.koehn2012.campaigns import (
    FILE,
    SIZES,
    VARIANTS,
    judge_ranges,
    rank_systems,
    read_campaigns,
    real_tasks,
    simulate_errors,
    simulate_ranges,
    simulate_variant,
    uniform_distance,
)
from assay.papers.koehn2012.ours import (
    error_numbers,
    needs,
    range_numbers,
    ranking_numbers,
    sigma_numbers,
)
from assay.papers.reproduce import start_paper
from assay.stats.random import as_rng
from assay.views.papers import draw_reproduction

Run = Callable[..., Ran]
Step = tuple[tuple[Any, ...], Any]
start = partial(start_paper, "koehn2012")


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
def records(folder: Path) -> list[Step]:
    return list(start(folder, draws=2, rng=1).run())


@pytest.fixture(scope="module")
def result(folder: Path, records: list[Step]) -> Reproduction:
    return start(folder, draws=2, rng=1, figures=True).finish(records)


def find(result: Reproduction, table: str, row: str, column: str) -> PrintedCell:
    (cell,) = [c for c in result.table(table) if (c.row, c.column) == (row, column)]
    return cell


def test_printed_numbers_have_the_papers_shape() -> None:
    assert len(needs()) == 60
    assert needs()[-1] == (15, 12.0, 0.9, 500_000)
    for table, systems in (("Table 2", 13), ("Table 3", 15)):
        lines = [n for n in read_printed("koehn2012") if n.table == table]
        scores = [n.value for n in lines if n.column == "score"]
        assert len(scores) == systems
        # scores average .5 with 1/(n-1), not with 1/n
        assert np.mean(scores) == pytest.approx(0.5, abs=2e-3)


def test_blanks_count_as_best_or_are_dropped(tmp_path: Path) -> None:
    rows = {
        "lp": ["x-y"] * 3, "ranking": [1] * 3, "segment": [1] * 3, "judge": ["j"] * 3,
        "slot": [1, 2, 3], "system": ["A", "B", "C"], "rank": [2, -1, 1],
    }  # fmt: skip
    pl.DataFrame(rows).write_parquet(tmp_path / FILE)
    found = read_campaigns(tmp_path)["x-y"]
    assert found.judgments.frame.select("left", "right", "winner").rows() == [
        ("A", "B", "right"), ("A", "C", "right"), ("B", "C", "left"),
    ]  # fmt: skip
    assert len(found.without_blanks) == 1
    assert found.blanks == 1


def test_ranges_judged_by_hand() -> None:
    """Three systems, best first: the second and third exchanged in two clusters."""
    size, missed, clusters, torn = judge_ranges(np.array([1, 3, 2]), np.array([1, 3, 2]))
    assert (size, clusters) == (1, 3)
    assert missed == pytest.approx(200 / 3)
    assert torn == pytest.approx(200 / 3)
    assert judge_ranges(np.array([1, 1, 1]), np.array([3, 3, 3])).tolist() == [3, 0, 1, 0]


def test_distance_from_uniform_is_that_of_scipy() -> None:
    from scipy.stats import kstest

    values = np.random.default_rng(1).random(12)
    inner = np.sort(values)[1:-1]
    low, width = values.min(), np.ptp(values)
    expected = kstest((inner - low) / width, "uniform").statistic
    assert uniform_distance(values) == pytest.approx(expected)


def test_every_cell_is_there(result: Reproduction) -> None:
    cells = Counter(cell.table for cell in result.tables)
    assert cells["Table 1"] == 40
    assert cells["Table 1, literal"] == 20
    assert cells["Table 4"] == cells["Table 4, shares"] == 60
    assert cells["Figure 3"] == cells["Figure 3, sigma 10"] == 4 * len(SIZES)
    assert cells["Table 2"] == 3 * 13 + 2
    assert cells["Table 3"] == 3 * 15 + 2
    assert cells["beyond"] == 2 * len(VARIANTS) * 6
    assert len([note for note in result.notes if note.code.startswith("reading-")]) == 7


def test_table_4_is_marked_by_its_own_grid(result: Reproduction) -> None:
    """Exact, the same in every run: the planned number lies between the neighbours, or not."""
    table = result.table("Table 4")
    assert sum(cell.outcome == "equal" for cell in table) == 53
    assert sum(cell.outcome == "different" for cell in table) == 7
    off = find(result, "Table 4", "10 systems, sigma 8", "50%")
    assert off.outcome == "different"
    assert off.ours == pytest.approx(2905, abs=1)  # the grid has 3,000 and 5,000 around 4,000
    assert off.reason == "below the paper's grid around it, 3,000 to 5,000"
    share = find(result, "Table 4, shares", "15 systems, sigma 10", "80%").ours
    assert share == pytest.approx(0.8, abs=2e-3)
    cell = find(result, "section 6", "15 systems, sigma 10", "share % at 13,000")
    assert (cell.outcome, cell.ours) == ("different", pytest.approx(54.6, abs=0.1))
    literal = [c.ours for c in result.table("readings") if c.row.startswith("sigma^2")]
    assert literal == pytest.approx([0.827, 0.906, 0.933, 0.968], abs=1e-3)


def test_two_campaigns_tell_nothing(result: Reproduction) -> None:
    simulated = [cell for cell in result.table("Table 1") if cell.row.startswith("bootstrap")]
    known = [cell for cell in simulated if "violations" in cell.column]
    assert {cell.outcome for cell in known} == {"cannot tell"}


def test_sigma_of_simulated_campaigns(result: Reproduction) -> None:
    for lp in ("en-cs", "fr-en"):
        for column in ("sigma by curve", "sigma by likelihood"):
            assert find(result, "Figure 2", lp, column).ours == pytest.approx(8, rel=0.35)


def test_figures(result: Reproduction) -> None:
    drawn = draw_reproduction(result)
    assert sorted(drawn) == [f"koehn2012_figure{k}" for k in (1, 2, 3)]


def test_a_pair_that_is_missing_has_no_data(records: list[Step], folder: Path) -> None:
    work = start(folder, draws=2, rng=1)
    found = work.finish([step for step in records if step[0] != ("pair", "en-cs")])
    missing = [cell for cell in found.tables if cell.outcome == "no data"]
    assert {cell.table for cell in missing} == {"Table 2", "Figure 2"}
    assert {cell.reason for cell in missing if cell.table == "Table 2"} == {
        f"needs en-cs in {FILE}"
    }
    assert {cell.outcome for cell in found.table("Table 3")} <= {"equal", "different"}


def test_the_same_seed_gives_the_same_record() -> None:
    one, other = (simulate_variant(3, VARIANTS[0], 1000, as_rng(4)) for _ in range(2))
    for name, values in one.items():
        assert values.tolist() == other[name].tolist()


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"no parquet", "is not a Parquet file"), ({"lp": ["x"]}, "ranking: the column is missing"),
     ({"lp": ["x"], "ranking": [1], "segment": [1], "judge": ["j"], "slot": [1], "system": ["s"],
       "rank": ["first"]}, "ranks that are not numbers")],
)  # fmt: skip
def test_files_that_are_wrong(content: object, message: str, tmp_path: Path) -> None:
    if isinstance(content, bytes):
        (tmp_path / FILE).write_bytes(content)
    else:
        pl.DataFrame(content).write_parquet(tmp_path / FILE)
    with pytest.raises(InputError, match=message):
        start(tmp_path)


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        start(tmp_path / "none")
    with pytest.raises(OptionError, match="draws"):
        start(tmp_path, draws=1)


def test_other_systems_are_not_compared(tmp_path: Path) -> None:
    screens(6, 300, 8.0, "en-cs", 3).write_parquet(tmp_path / FILE)
    (task,) = real_tasks(read_campaigns(tmp_path))
    ours = ranking_numbers({"en-cs": task.do(as_rng(1))})
    assert len(ours) == 3 * 13 + 2
    assert all("the paper's 13 systems" in number.needs for number in ours.values())


def test_ranges_are_the_papers_bootstrap_and_nothing_else(tmp_path: Path) -> None:
    """Whole sets drawn anew, however few they are: what else is unsure widens no range here."""
    screens(6, 12, 20.0, "en-cs", 3).write_parquet(tmp_path / FILE)
    table = read_campaigns(tmp_path)["en-cs"].judgments
    systems, sets = table.systems, table.frame["set"].unique(maintain_order=True).to_list()
    rows = {name: part.select("left", "right", "winner").rows()
            for (name,), part in table.frame.group_by("set")}  # fmt: skip
    ranks = []
    for drawn in as_rng(1).integers(len(sets), size=(1000, len(sets)), dtype=np.int32):
        wins = Counter[tuple[str, str]]()
        for left, right, winner in (row for k in drawn for row in rows[sets[k]]):
            if winner != "tie":
                wins[(left, right) if winner == "left" else (right, left)] += 1
        ratio = {(a, b): wins[a, b] / (wins[a, b] + wins[b, a]) for a, b in [*wins]}
        ratio |= {(b, a): 1 - share for (a, b), share in ratio.items()}
        score = [np.mean([v for (a, _), v in ratio.items() if a == name]) for name in systems]
        ranks.append([1 + sum(other > own + 1e-9 for other in score) for own in score])
    found = {item.system: item for item in rank_systems(table, as_rng(1)).systems}
    for name, had in zip(systems, np.array(ranks).T, strict=True):
        low, high = found[name].first, found[name].last
        assert np.mean((low <= had) & (had <= high)) >= 0.95
        for first in range(1, len(systems) + 1):  # and no shorter range does
            assert np.mean((first <= had) & (had < first + high - low)) < 0.95


@pytest.mark.slow
def test_command(folder: Path, run_assay: Run, tmp_path: Path) -> None:
    ran = run_assay(
        "reproduce", "koehn2012", "--data", folder, "--draws", 2, "--figures", tmp_path / "f",
        "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["paper"] == "koehn2012"
    assert len(list((tmp_path / "f").iterdir())) == 6
    assert "reading-sign-test" in {note["code"] for note in json.loads(ran.out)["notes"]}


@pytest.mark.slow
def test_simulated_tables_match_the_paper() -> None:
    """24 campaigns resampled: sizes vary by .12, clusters by .25; 1000 for the rest."""
    rngs = as_rng(13).spawn(3)
    pool = {
        ("ranges",): simulate_ranges(24, rngs[0]),
        ("errors", 10.0): simulate_errors(1000, 10.0, 2, rngs[1]),
        ("errors", 20.0): simulate_errors(1000, 20.0, 2, rngs[2]),
    }
    printed = {item.number: item.value for item in read_printed("koehn2012")}
    for number, ours in range_numbers(pool).items():
        assert ours.value is not None
        if number.endswith("size"):
            near = 0.1 if number.startswith("pairwise") else 0.36
            assert abs(ours.value - printed[number]) < near, number
        elif number.endswith(" clusters"):
            assert abs(ours.value - printed[number]) < 0.75, number
    for k, size in enumerate(SIZES):
        literal = pool["ranges",]["literal"][:, k, 0].mean()
        assert literal < printed[f"bootstrap {size} size"] - 0.15
    for number, ours in error_numbers(pool).items():
        if number in printed and not number.startswith("lopez"):
            assert ours.value == pytest.approx(printed[number], abs=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("judgments", [10_000, 30_000])
def test_sets_of_five_say_less_than_sets_of_two(judgments: int) -> None:
    one, two = (
        simulate_variant(120, variant, judgments, as_rng(13))["expected-win error %"].mean()
        for variant in VARIANTS[:2]
    )  # fmt: skip
    assert one > 1.15 * two  # ten judgments of a set of 5 say less than ten sets of 2


@pytest.mark.slow
def test_real_data(shared_data: Path) -> None:
    data = read_campaigns(shared_data)
    assert len(data) == 8
    tasks = zip(real_tasks(data), as_rng(13).spawn(8), strict=True)
    real = {task.key[1]: task.do(rng) for task, rng in tasks if task.key[1] in ("en-cs", "fr-en")}
    ours = ranking_numbers(real) | sigma_numbers(real)
    found = compare("koehn2012", ours, notes=(), request=start(shared_data, draws=2).request)
    for table in ("Table 2", "Table 3"):
        scores = [cell for cell in found.table(table) if cell.column == "score"]
        assert {cell.outcome for cell in scores} == {"equal"}
        ends = [cell for cell in found.table(table) if cell.column in ("first", "last")]
        assert all(abs((cell.ours or 0) - (cell.paper or 0)) <= 1 for cell in ends)
        assert sum(cell.outcome == "different" for cell in ends) <= 4
        assert find(found, table, "en-cs" if table == "Table 2" else "fr-en", "clusters").matches
    for lp, campaign in real.items():
        assert find(found, "Figure 2", lp, "sigma by curve").outcome == "equal"
        assert campaign.shift > 0.003
