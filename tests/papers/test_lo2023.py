"""lo2023: every printed cell, on self-made data always and on WMT's where it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.conftest import Ran

from assay.errors import InputError, OptionError
from assay.papers.compare import PrintedCell, Reproduction, read_printed
from assay.papers.lo2023.scores import pairs_of
from assay.papers.reproduce import reproduce, start_paper
from assay.results import has_note
from papers.wmt_files import SYSTEMS, annotate, by_document, made

Run = Callable[..., Ran]
start = partial(start_paper, "lo2023")

# Rows x columns of Tables 1-4 and 6-8 as printed; Tables 1 and 2 have a dash each.
PRINTED = {"Table 1": 9 * 4 - 1, "Table 2": 11 * 4 - 1, "Table 3": 7 * 4, "Table 4": 15 * 6,
           "Table 6": 9, "Table 7": 43, "Table 8": 12}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pairs of WMT20 and one of WMT22 whose answers are known by hand."""
    # km-en, by segments: 6, 4 and 2 of 8 segments, so a coverage of exactly 50 %; the reference
    # is annotated too and must not count. A leads on what is drawn, B on the whole.
    scores = {"A": [1.0] * 4 + [0.0] * 4, "B": [0.6] * 8, "C": [0.1] * 8}
    km = made("km-en", [8], scores=scores)
    segments = {"A": [1, 2, 3, 4, 5, 6], "B": [1, 2, 3, 4], "C": [7, 8], "Human": [1]}
    annotate(km, "da_annotated", segments).write_parquet(tmp_path / "wmt20_metrics_km-en.parquet")
    # cs-en, by whole documents: four of six for every system, which keeps the order.
    flat = {"A": [0.9] * 30, "B": [0.5] * 30, "C": [0.1] * 30}
    cs = made("cs-en", [5] * 6, scores=flat)
    drawn = [*range(1, 6), *range(16, 31)]
    cs = annotate(cs, "da_annotated", dict.fromkeys("ABC", drawn))
    cs.write_parquet(tmp_path / "wmt20_metrics_cs-en.parquet")
    by_document(cs).write_parquet(tmp_path / "wmt20_docmetrics.parquet")
    # en-de, by fixed snippets: ten segments of a document of 20 and all of one of 5, of 25 + 75.
    de = made("en-de", [5, 20, 75], seed=3).with_columns(sentBLEU=1 - pl.col("chrF"))
    planned = {system: [*range(1, 6), *range(11, 21)] for system in SYSTEMS}
    annotate(de, "df_selected", planned).write_parquet(tmp_path / "wmt22_metrics_en-de.parquet")
    return tmp_path


@pytest.fixture
def made_result(folder: Path) -> Reproduction:
    return reproduce("lo2023", folder, draws=60)


def cell(result: Reproduction, table: str, row: str, column: str = "coverage") -> PrintedCell:
    found = [c for c in result.tables if (c.table, c.row, c.column) == (table, row, column)]
    assert len(found) == 1
    return found[0]


def test_every_printed_number_appears_exactly_once(made_result: Reproduction) -> None:
    keys = Counter((c.table, c.row, c.column) for c in made_result.tables)
    assert set(keys.values()) == {1}
    printed = read_printed("lo2023")
    assert Counter(item.table for item in printed) == PRINTED
    assert all(keys[item.table, item.row, item.column] == 1 for item in printed)
    assert sum(c.number != "" for c in made_result.tables) == len(printed)
    assert all(c.paper is None for c in made_result.tables if not c.number)
    assert sum(made_result.counts.values()) == len(printed)


def test_printed_numbers_add_up_as_in_the_paper() -> None:
    assert [len(pairs_of(design)) for design in ("SL", "WD", "DF")] == [9, 43, 12]
    printed = read_printed("lo2023")
    for table in ("Table 1", "Table 2"):
        years: Counter[str] = Counter()
        for item in printed:
            if item.table == table and item.row.startswith("WMT"):
                years[item.column] += int(item.value)
            if item.table == table and item.row == "total":
                assert item.value == years[item.column]
    sums: Counter[str] = Counter()
    for item in printed:
        if item.table == "Table 4":
            sums[item.row] += int(item.value)
    assert {r: n for r, n in sums.items() if not 99 <= n <= 102} == {"uk-cs DB": 104}


def test_coverage_by_hand(made_result: Reproduction) -> None:
    assert cell(made_result, "Table 6", "WMT20 km-en").ours == pytest.approx(50)
    assert cell(made_result, "Table 6", "WMT20 km-en").matches is False
    assert cell(made_result, "Table 7", "WMT20 cs-en").ours == pytest.approx(100 * 20 / 30)
    assert cell(made_result, "Table 8", "WMT22 en-de").ours == pytest.approx(15)
    assert "planned" in cell(made_result, "Table 8", "WMT22 en-de").reason
    absent = cell(made_result, "Table 6", "WMT19 de-cs")
    assert (absent.ours, absent.matches) == (None, None)
    assert absent.reason == "needs wmt19_metrics_de-cs.parquet"


def test_real_samples_by_hand(made_result: Reproduction) -> None:
    segments = cell(made_result, "Table 1", "WMT20", "chrF")
    assert (segments.paper, segments.paper_of, segments.ours, segments.ours_of) == (1, 3, 1, 1)
    assert segments.matches is None
    assert segments.note == "1 of 3 pairs present; the paper leaves 0 to 1 on these"
    # Whole documents: 13 of 15 leave nothing to say about a single pair.
    documents = cell(made_result, "Table 2", "WMT20", "chrF")
    assert (documents.ours, documents.ours_of) == (0, 1)
    by_document = cell(made_result, "Table 2", "WMT20", "COMET-20")
    assert (by_document.ours, by_document.ours_of, by_document.paper_of) == (0, 1, 15)
    assert segments.outcome == "no data"
    assert segments.reason == "needs wmt20_metrics_{iu-en,ps-en}.parquet"
    lacking = cell(made_result, "Table 1", "WMT20", "YiSi-1")
    assert "YiSi-1 in wmt20_metrics_km-en.parquet" in lacking.reason


def test_scores_of_documents_serve_whole_documents_only(made_result: Reproduction) -> None:
    assert cell(made_result, "Table 2", "WD best", "COMET-20").ours is not None
    assert cell(made_result, "Table 2", "DB best", "COMET-20").ours is None
    assert has_note(made_result.notes, "documents-only")


def test_scores_of_documents_rank_as_their_segments_do(folder: Path) -> None:
    whole = reproduce("lo2023", folder, draws=26)
    (folder / "wmt20_metrics_cs-en.parquet").unlink()
    documents = reproduce("lo2023", folder, draws=26)
    for table, row in (("Table 2", "WMT20"), ("Table 2", "WD median")):
        assert (cell(whole, table, row, "chrF").ours
                == cell(documents, table, row, "chrF").ours)  # fmt: skip
    assert (cell(whole, "Table 7", "WMT20 cs-en").ours
            == cell(documents, "Table 7", "WMT20 cs-en").ours)  # fmt: skip


def test_lengths_by_hand(made_result: Reproduction) -> None:
    full = [cell(made_result, "Table 4", "en-de full", c).ours for c in ("0-9", "20+", "50+")]
    assert full == pytest.approx([5, 20, 75])
    drawn = [cell(made_result, "Table 4", "en-de DF", c).ours for c in ("0-9", "20+", "50+")]
    assert drawn == pytest.approx([100 / 3, 200 / 3, 0])
    # Snippets in proportion to length mirror the test set in every draw, up to rounding.
    for row in ("en-de DB", "en-de DB ours"):
        mirrored = [cell(made_result, "Table 4", row, c).ours for c in ("0-9", "20+", "50+")]
        assert mirrored == pytest.approx([5, 20, 75], abs=1.0)


def test_best_median_worst_are_of_thirteen_runs(folder: Path) -> None:
    work = start(folder, draws=39, rng=5)
    steps = list(work.run())
    assert len(steps) == work.steps
    result = work.finish(steps)
    runs = [record for run, record in steps
            if (run.metric, run.design, run.of) == ("chrF", "SL", "SL")]  # fmt: skip
    assert [record.name for record in runs] == ["WMT20 km-en"]
    changed = runs[0].changed.astype(float)
    found = [cell(result, "Table 1", f"SL {name}", "chrF") for name in ("best", "median", "worst")]
    first = changed[:13]
    assert [c.ours for c in found] == [first.min(), np.median(first), first.max()]
    assert found[1].error == pytest.approx(np.median(changed.reshape(3, 13), axis=1).std(ddof=1))
    mean = cell(result, "Table 1", "SL mean", "chrF")
    assert mean.ours == pytest.approx(changed.mean())
    assert mean.error == pytest.approx(changed.std(ddof=1) / 39**0.5)


def test_counts_over_all_pairs_are_compared(tmp_path: Path) -> None:
    for pair in pairs_of("SL", 20):
        # Three clear systems: no sample changes their order, and the paper says 2 of 3.
        flat = {name: [level] * 40 for name, level in (("A", 0.9), ("B", 0.5), ("C", 0.1))}
        frame = made(pair.lp, [40], scores=flat).rename({"chrF": "COMET"})
        frame = annotate(frame, "da_annotated", {name: list(range(1, 20)) for name in SYSTEMS})
        frame.write_parquet(tmp_path / pair.file)
    result = reproduce("lo2023", tmp_path, draws=26)
    for row in ("WMT20", "total", "SL best"):
        c = cell(result, "Table 1", row, "COMET-20")
        assert (c.ours, c.ours_of, c.matches, bool(c.reason)) == (0, 3, False, True)
    assert cell(result, "Table 1", "SL mean", "COMET-20").ours == 0


def test_the_same_seed_gives_the_same_cells(folder: Path) -> None:
    one, two = (reproduce("lo2023", folder, draws=20, rng=0) for _ in range(2))
    assert one == two
    assert one.seed == 0
    other = reproduce("lo2023", folder, draws=20, rng=1)
    assert one.tables != other.tables


@pytest.mark.slow
def test_workers_change_nothing(folder: Path) -> None:
    assert (reproduce("lo2023", folder, draws=20, rng=3)
            == reproduce("lo2023", folder, draws=20, rng=3, workers=2))  # fmt: skip


def test_frame_and_dict(made_result: Reproduction) -> None:
    frame = made_result.to_frame()
    assert frame.height == len(made_result.tables)
    said = made_result.to_dict()
    assert (said["kind"], said["paper"], said["seed"]) == ("reproduction", "lo2023", 13)
    tables = said["tables"]
    assert isinstance(tables, list)
    wanted = {"table", "row", "column", "paper", "ours", "error", "matches", "outcome", "reason"}
    assert all(wanted <= set(item) for item in tables)
    json.dumps(said, allow_nan=False)
    assert made_result.signature.startswith("reproduction|lo2023|draws:60|seed:13|v:")


def test_a_pair_that_is_not_in_the_paper_is_left_out(folder: Path) -> None:
    made("de-fr", [4]).write_parquet(folder / "wmt20_metrics_de-fr.parquet")
    (note,) = [n for n in start(folder, draws=1).data.notes if n.code == "pairs-not-used"]
    assert note.endswith("WMT20 de-fr")


def test_a_single_document_has_no_whole_documents_to_draw(folder: Path) -> None:
    segments = {system: [1, 2, 3] for system in SYSTEMS}
    frame = annotate(made("en-cs", [12]), "da_annotated", segments)
    frame.write_parquet(folder / "wmt20_metrics_en-cs.parquet")
    result = reproduce("lo2023", folder, draws=5)
    assert cell(result, "Table 2", "WMT20", "chrF").ours_of == 2
    assert cell(result, "Table 2", "WD best", "chrF").ours_of == 1
    assert cell(result, "Table 2", "DB best", "chrF").ours_of == 2


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda frame: frame.drop("system"), "system"),
        (lambda frame: frame.drop("seg_id"), "seg_id"),
        (lambda frame: frame.drop("doc"), "doc: the column is missing"),
        (lambda frame: frame.drop("chrF"), "none of the paper's metrics is here: COMET-20"),
    ],
)
def test_a_file_without_its_columns_is_refused(
    spoil: Callable[[pl.DataFrame], pl.DataFrame], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "wmt20_metrics_cs-en.parquet"
    spoil(made("cs-en", [3, 4])).write_parquet(path)
    with pytest.raises(InputError, match=message) as raised:
        start(tmp_path)
    assert path.name in str(raised.value)


def test_documents_without_their_columns_are_refused(folder: Path) -> None:
    path = folder / "wmt20_docmetrics.parquet"
    pl.read_parquet(path).drop("n_da", "n_segs").write_parquet(path)
    with pytest.raises(InputError, match="n_segs: the column is missing"):
        start(folder)
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"docmetrics.parquet: is not a Parquet file"):
        start(folder)


def test_refusals(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        start(tmp_path / "nowhere")
    with pytest.raises(OptionError, match=r"draws \(0\) is not a number of draws"):
        start(folder, draws=0)
    with pytest.raises(OptionError, match=r"paper \(lo2022\) is not known \(did you mean 'lo2023'"):
        reproduce("lo2022", folder)


def test_command(folder: Path, tmp_path: Path, run_assay: Run) -> None:
    output, figures = tmp_path / "out.json", tmp_path / "new" / "figures"
    ran = run_assay("reproduce", "lo2023", "--data", folder, "--draws", 15, "-o", output,
                    "--figures", figures)  # fmt: skip
    assert ran.code == 0, ran.err
    assert all(f"lo2023, {table}" in ran.out for table in (*PRINTED, "beyond", "budgets"))
    assert "needs wmt19_metrics_de-cs.parquet" in ran.out
    names = sorted(path.name for path in figures.iterdir())
    assert names == ["lo2023_lengths.png", "lo2023_lengths.svg",
                     "lo2023_stability.png", "lo2023_stability.svg"]  # fmt: skip
    saved = json.loads(output.read_text("utf-8"))
    assert saved["kind"] == "reproduction"
    ran = run_assay("reproduce", "lo2023", "--data", folder, "--draws", 15, "--json")
    said = json.loads(ran.out)
    assert (said["draws"], said["seed"]) == (15, 13)
    assert {c["table"] for c in said["tables"]} == {*PRINTED, "beyond"}


def test_command_refuses(folder: Path, tmp_path: Path, run_assay: Run) -> None:
    for arguments, message in (
        (("reproduce", "koehn", "--data", folder), "choose from koehn2012, korotaev2022, lo2023"),
        (("reproduce", "lo2023", "--data", tmp_path / "nowhere"), "is not a folder"),
        (("reproduce", "lo2023", "--data", folder, "--draws", -1), "draws (-1)"),
        (("reproduce", "lo2023", "--data", folder, "--draws", 2, "--figures",
          folder / "wmt20_docmetrics.parquet"), "name a folder"),
    ):  # fmt: skip
        ran = run_assay(*arguments)
        assert ran.code == 2
        assert message in ran.err
        assert "Traceback" not in ran.err


def test_matching_keeps_more_rankings_where_segments_differ_in_difficulty(tmp_path: Path) -> None:
    # What the systems share (how hard a document is) cancels in a matched sample only.
    rng = np.random.default_rng(7)
    hard = np.repeat(rng.normal(0, 0.2, 40), 5) + rng.normal(0, 0.2, 200)
    scores = {name: (0.5 + 0.02 * place + hard + rng.normal(0, 0.05, 200)).tolist()
              for place, name in enumerate("ABC")}  # fmt: skip
    made("en-de", [5] * 40, scores=scores).write_parquet(tmp_path / "wmt20_metrics_en-de.parquet")
    result = reproduce("lo2023", tmp_path, draws=400)
    for design in ("WD", "SL", "DB-linear", "DB ours"):
        loose = cell(result, "beyond", f"{design} unmatched", "changed")
        tight = cell(result, "beyond", f"{design} matched", "changed")
        assert loose.ours is not None
        assert tight.ours is not None
        assert loose.error is not None
        assert loose.ours > tight.ours + 4 * 2**0.5 * loose.error, design
        assert loose.ours_of == 1


@pytest.fixture(scope="module")
def real(shared_data: Path) -> Reproduction:
    return reproduce("lo2023", shared_data, draws=52)


@pytest.mark.slow
def test_real_coverage_equals_the_paper(real: Reproduction) -> None:
    coverage = [c for c in real.tables if c.column == "coverage" and c.ours is not None]
    here = [c for c in coverage if c.row.startswith("WMT20")]
    assert len(here) >= 12
    for c in here:
        assert c.ours == pytest.approx(c.paper, abs=0.01), c.row
        assert c.matches is True
    assert cell(real, "Table 7", "WMT22 uk-en").matches is True


@pytest.mark.slow
def test_real_samples_change_rankings_as_in_the_paper(real: Reproduction) -> None:
    found = {
        (table, metric): (c.ours, c.ours_of)
        for table in ("Table 1", "Table 2")
        for metric in ("COMET-20", "YiSi-1", "sentBLEU", "chrF")
        for c in [cell(real, table, "WMT20", metric)]
    }
    assert found["Table 1", "chrF"] == (0, 1)
    assert found["Table 2", "chrF"] == (9, 11)
    assert found["Table 2", "YiSi-1"] == (10, 11)
    assert found["Table 2", "sentBLEU"] == (9, 11)
    assert found["Table 2", "COMET-20"] == (9, 11)
    changes = [c for t in ("Table 1", "Table 2", "Table 3") for c in real.table(t)]
    assert not [c for c in changes if c.matches is False]


@pytest.mark.slow
def test_real_lengths_equal_the_paper(real: Reproduction) -> None:
    for lp in ("en-de", "zh-en", "sah-ru"):
        for sample in ("full", "DB"):
            for column in ("0-9", "10+", "20+", "30+", "40+", "50+"):
                assert cell(real, "Table 4", f"{lp} {sample}", column).matches is True


@pytest.mark.slow
def test_matching_makes_most_of_the_difference(real: Reproduction) -> None:
    def changed(row: str, column: str = "changed") -> tuple[float, float]:
        c = cell(real, "beyond", row, column)
        assert c.ours is not None
        assert c.error is not None
        return c.ours, c.error

    (loose, a), (tight, b) = changed("WD unmatched"), changed("WD matched")
    (ours, c), (linear, d) = changed("DB ours matched"), changed("DB-linear matched")
    assert loose - tight > 2.5 - 3 * np.hypot(a, b)
    assert tight - ours < loose - tight
    assert linear - ours > -3 * np.hypot(c, d)
    assert ours <= 0.55 * 11 + 3 * c
    flips, error = changed("DB ours matched", "significant flips")
    assert flips <= 0.2 + 3 * error
    assert changed("WD unmatched", "significant flips")[0] > 2
