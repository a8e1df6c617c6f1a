"""saldias2022: every printed cell, on a simulated world always and on WMT's data where it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.conftest import Ran

import assay
from assay.errors import InputError, OptionError
from assay.papers.cells import Cell, Reproduction
from assay.papers.saldias2022 import Study, start
from assay.papers.saldias2022_data import DEVELOPMENT, read_folder
from assay.papers.saldias2022_numbers import (
    CORRELATIONS,
    METHODS,
    RATER_ERRORS,
    RATER_SIZES,
    RESULTS,
    SYSTEM_SCORES,
    printed_bounds,
    printed_results,
)
from assay.stats.bounds import hoeffding_bound

Run = Callable[..., Ran]
NAMES = ("eTranslation.7", "Online-A.15", "Human-B.0")


def written(
    folder: Path, name: str, *, profile: str = "en-de", seed: int = 3, documents: int = 12
) -> pl.DataFrame:
    """A simulated world in the form of the files, with a reference that no metric scores."""
    world = assay.simulate(
        profile=profile, systems=len(NAMES), documents=documents,
        metrics={"BLEURT-20": 0.5, "COMET": 0.45, "chrF": 0.2}, rng=seed,
    )  # fmt: skip
    frame = world.test_set.frame.select(
        "system", "doc", "BLEURT-20", "COMET", "chrF",
        seg_id=pl.col("seg").cast(pl.Int32),
    )  # fmt: skip
    system, segment = world.test_set.positions
    singles = {f"mqm_r{k + 1}": world.scores[system, segment, k] for k in range(3)}
    frame = frame.with_columns(**{key: pl.Series(v) for key, v in singles.items()})
    frame = frame.with_columns(
        system=pl.col("system").replace(dict(zip(world.systems, NAMES, strict=True))),
        mqm=pl.mean_horizontal(*singles),
        hyp_chars=pl.Series(np.random.default_rng(seed).integers(20, 200, frame.height)),
    ).with_columns(is_human=pl.col("system").str.starts_with("Human"))
    reference = frame.filter(pl.col("system") == NAMES[-1]).with_columns(
        pl.lit(None, pl.Float64).alias(metric) for metric in ("BLEURT-20", "COMET", "chrF")
    )
    reference = reference.with_columns(system=pl.lit("Human-A.0"), mqm=pl.lit(0.91))
    whole = pl.concat([frame, reference.select(frame.columns)])
    whole.write_parquet(folder / name)
    return whole


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path, "wmt20_mqm_ende.parquet")
    return tmp_path


def small(folder: Path, *, methods: tuple[str, ...] = (), **options: object) -> Study:
    """A study of a few methods, so that it takes no time."""
    study = start(folder, draws=6, **options)  # type: ignore[arg-type]
    wanted = methods or ("baseline", "docs-prop", "cv-mean")
    runs = [run._replace(methods=wanted) for run in study.runs]
    return replace(study, runs=tuple(runs))


@pytest.fixture
def made(folder: Path) -> Reproduction:
    study = small(folder)
    return study.finish(study.run())


def cell(result: Reproduction, table: str, row: str, column: str) -> Cell:
    found = [c for c in result.cells if (c.table, c.row, c.column) == (table, row, column)]
    assert len(found) == 1, (table, row, column)
    return found[0]


def test_printed_numbers_hang_together() -> None:
    seen: dict[tuple[str, str], object] = {}
    for table in RESULTS:
        for lp, method, result in printed_results(table):
            assert seen.setdefault((lp, method), result) == result  # the same in every table
            assert method in (*METHODS, "baseline")
            assert 0.6 < result.sdev / result.error < 0.8
            base = seen[lp, "baseline"]
            if result.win is not None:
                better = result.error < base.error  # type: ignore[attr-defined]
                assert (result.win > 50) == better, (lp, method)
    assert len(seen) == 2 * (len(METHODS) + 1)
    for lp, errors in RATER_ERRORS.items():
        raters = [v for name, v in errors.items() if name != "avgs"]
        assert np.mean(raters) == pytest.approx(errors["avgs"], abs=0.006), lp
    # "error reductions of 14% and 23%" (section 4.2)
    for lp, gain in (("EnDe", 14), ("ZhEn", 23)):
        rows = {m: r for own, m, r in printed_results("Table 4") if own == lp}
        ratio = rows["docs-prop+cv-knn"].error / rows["baseline"].error
        assert round(100 * (1 - ratio)) == gain
    for lp, sizes in RATER_SIZES.items():
        # Every segment has three raters.
        total = sum(n for name, (n, _) in sizes.items() if name != "corpus")
        assert total == 3 * sizes["corpus"][0], lp
    assert [len(scores) for scores in SYSTEM_SCORES.values()] == [10, 10]
    for scores in SYSTEM_SCORES.values():
        assert list(scores.values()) == sorted(scores.values())
    for printed in CORRELATIONS.values():
        r = list(printed.values())[:-1]
        assert r == sorted(r, reverse=True)
        assert len(r) == 10


def test_printed_bound_is_hoeffdings() -> None:
    # By hand at 700 segments, R = 4, n = 70: 4 sqrt(.9014 log(40) / 140).
    assert hoeffding_bound(70, 700, 4.0, 0.95) == pytest.approx(0.616, abs=0.001)
    assert len(list(printed_bounds())) == 12


def test_every_printed_cell_appears_exactly_once(made: Reproduction) -> None:
    keys = Counter((c.table, c.row, c.column) for c in made.cells)
    assert set(keys.values()) == {1}
    for table in RESULTS:
        for lp, method, result in printed_results(table):
            columns = ("abs error", "sdev", *(("gain %", "win %") if result.win else ()))
            assert all(keys[table, f"{lp} {method}", column] == 1 for column in columns)
    for lp, percent, estimator, *_ in printed_bounds():
        for column in ("cal", "slack", "t"):
            assert keys["Table 5", f"{lp} {percent} % {estimator}", column] == 1
    tables = {c.table for c in made.cells}
    assert {f"Table {k}" for k in (1, 2, 3, 4, 5, 6, 7, 8, 9, 12)} <= tables
    assert sum(made.counts().values()) == len(made.cells)


def test_missing_files_are_named(made: Reproduction) -> None:
    absent = cell(made, "Table 1", "ZhEn docs-prop", "abs error")
    assert (absent.ours, absent.matches) == (None, None)
    assert absent.note == "needs wmt20_mqm_zhen.parquet"
    assert cell(made, "Table 6", "EnRu baseline", "sdev").note == "needs wmt21_mqm_enru.parquet"
    rater = cell(made, "Table 7", "EnDe rater1", "segs")
    assert rater.note == "needs wmt20_mqm_ende_raters.parquet"
    assert cell(made, "Table 8", "EnDe OPPO", "MQM").note == "needs OPPO in wmt20_mqm_ende.parquet"
    assert "needs prism in" in cell(made, "Table 9", "EnDe prism", "r").note
    assert cell(made, "Table 5", "ZhEn 10 % best", "cal").note == "needs wmt20_mqm_zhen.parquet"


def test_description_by_hand(folder: Path, made: Reproduction) -> None:
    frame = pl.read_parquet(folder / "wmt20_mqm_ende.parquet")
    assert cell(made, "Table 8", "EnDe Human-A", "MQM").matches is True
    online = frame.filter(pl.col("system") == "Online-A.15")
    expected = float(np.mean(online["mqm"].to_numpy()))
    assert cell(made, "Table 8", "EnDe Online-A", "MQM").ours == pytest.approx(expected)
    machines = frame.filter(~pl.col("is_human"))
    r = [
        np.corrcoef(part["COMET"], part[f"mqm_r{k}"])[0, 1]
        for _, part in machines.group_by("system")
        for k in (1, 2, 3)
    ]
    found = cell(made, "Table 9", "EnDe COMET", "r")
    assert found.ours == pytest.approx(abs(np.mean(r)))
    assert cell(made, "Table 9", "EnDe BLEURT-extended", "r").note == "BLEURT-20 in its place"
    own = frame.filter(pl.col("system") != "Human-A.0")
    gaps = own.group_by("system").agg(
        gap=(pl.col("mqm_r1").mean() - (pl.col("mqm_r2") + pl.col("mqm_r3")).mean() / 2).abs()
    )
    error = cell(made, "Table 12", "EnDe mqm_r1", "abs error")
    assert error.ours == pytest.approx(float(np.mean(gaps["gap"].to_numpy())))


def test_results_are_means_over_simulations(folder: Path) -> None:
    study = small(folder)
    steps = list(study.run())
    assert len(steps) == study.steps
    result = study.finish(steps)
    errors = {
        method: [r.error for run, r in steps
                 if run is not None and run.rater != "mean" and r.method == method]
        for method in ("baseline", "docs-prop")
    }  # fmt: skip
    assert len(errors["baseline"]) == 3 * 3 * 10  # raters, systems but the reference, sizes
    base = cell(result, "Table 1", "EnDe baseline", "abs error")
    assert base.ours == pytest.approx(np.mean(errors["baseline"]))
    ratio = np.mean(errors["docs-prop"]) / np.mean(errors["baseline"])
    gain = cell(result, "Table 1", "EnDe docs-prop", "gain %")
    assert gain.ours == pytest.approx(100 * (1 - ratio))
    assert gain.paper == pytest.approx(100 * (1 - 0.158 / 0.171))
    wins = np.less(errors["docs-prop"], errors["baseline"])
    win = cell(result, "Table 1", "EnDe docs-prop", "win %")
    assert win.ours == pytest.approx(100 * wins.mean())
    assert (win.matches, "6 draws" in win.note) == (None, True)


def test_named_raters_are_used(folder: Path) -> None:
    frame = pl.read_parquet(folder / "wmt20_mqm_ende.parquet")
    documents = frame["doc"].unique(maintain_order=True).to_list()
    parts = [
        frame.filter(pl.col("doc").is_in(documents[:upto])).select(
            "system", "doc", "seg_id", rater=pl.lit(name), mqm=pl.col(column)
        )
        for name, column, upto in (("ann", "mqm_r1", 12), ("bob", "mqm_r2", 6))
    ]
    pl.concat(parts).write_parquet(folder / "wmt20_mqm_ende_raters.parquet")
    study = small(folder, methods=("baseline",))
    result = study.finish(study.run())
    docs = [cell(result, "Table 7", f"EnDe rater{k}", "docs").ours for k in (1, 2)]
    assert docs == [12, 6]
    assert cell(result, "Table 7", "EnDe rater3", "docs").ours is None
    assert [run.rater for run in study.runs] == ["ann", "bob", "mean"]
    assert cell(result, "Table 12", "EnDe rater1", "abs error").matches is not None


def test_other_years_follow_table_6(tmp_path: Path) -> None:
    written(tmp_path, "wmt23_mqm_zhen.parquet", profile="zh-en")
    study = small(tmp_path, methods=("baseline", "docs-prop+cv-knn"))
    result = study.finish(study.run())
    found = cell(result, "Table 6", "WMT23 zh-en docs-prop+cv-knn", "gain %")
    assert found.paper is None
    assert found.ours is not None
    assert cell(result, "Table 1", "EnDe baseline", "sdev").note == "needs wmt20_mqm_ende.parquet"
    assert study.runs[0].trial.test_set.metrics == ("BLEURT-20", "COMET")
    assert "Human-A.0" not in study.runs[0].trial.test_set.systems


def test_bounds_hold_and_add_up(made: Reproduction) -> None:
    for percent in (10, 30, 50):
        row = f"EnDe {percent} % base"
        assert cell(made, "Table 5", row, "t").matches is True
        assert cell(made, "Table 5", row, "cal, Hoeffding R=25").ours == 100
        slack = cell(made, "Table 5", row, "slack").ours
        assert slack is not None
    wide = [cell(made, "Table 5", f"EnDe {p} % best", "t, Hoeffding R=25").ours for p in (10, 50)]
    assert wide[0] > wide[1] > 0  # type: ignore[operator]


def test_the_same_seed_gives_the_same_cells(folder: Path) -> None:
    one, two, other = (small(folder, methods=("baseline",), rng=seed) for seed in (0, 0, 1))
    results = [study.finish(study.run()) for study in (one, two, other)]
    assert results[0] == results[1]
    assert results[0].cells != results[2].cells


@pytest.mark.slow
def test_workers_change_nothing(folder: Path) -> None:
    one, two = (small(folder, rng=3, workers=workers) for workers in (1, 2))
    assert one.finish(one.run()) == two.finish(two.run())


def test_refusals(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="has no file of MQM ratings"):
        start(tmp_path / "none")
    with pytest.raises(InputError, match="is no folder"):
        start(tmp_path / "nowhere")
    with pytest.raises(OptionError, match=r"draws \(0\) is no number of samples"):
        start(folder, draws=0)
    path = folder / "wmt20_mqm_ende.parquet"
    whole = pl.read_parquet(path)
    whole.drop("doc", "mqm").write_parquet(path)
    with pytest.raises(InputError, match="doc: the column is missing") as raised:
        start(folder)
    assert path.name in str(raised.value)
    whole.drop("BLEURT-20", "COMET", "chrF").write_parquet(path)
    with pytest.raises(InputError, match="no system has both ratings and metrics"):
        start(folder)
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="is no Parquet file"):
        start(folder)


def test_frame_and_dict(made: Reproduction) -> None:
    assert made.to_frame().height == len(made.cells)
    said = made.to_dict()
    assert (said["kind"], said["paper"], said["seed"]) == ("reproduction", "saldias2022", 13)
    tables = said["tables"]
    assert isinstance(tables, list)
    wanted = {"table", "row", "column", "paper", "ours", "error", "matches", "note"}
    assert all(wanted <= set(item) for item in tables)
    json.dumps(said, allow_nan=False)


@pytest.mark.slow
def test_command(tmp_path: Path, run_assay: Run) -> None:
    written(tmp_path, "wmt20_mqm_ende.parquet", documents=6)
    written(tmp_path, "wmt22_mqm_ende.parquet", documents=6)
    output, figures = tmp_path / "out.json", tmp_path / "figures"
    ran = run_assay("reproduce", "saldias2022", "--data", tmp_path, "--draws", 2, "-o", output,
                    "--figures", figures)  # fmt: skip
    assert ran.code == 0, ran.err
    assert "saldias2022, Table 5" in ran.out
    assert "needs wmt20_mqm_zhen.parquet" in ran.out
    names = {path.stem for path in figures.iterdir()}
    assert names == {f"saldias2022_figure{k}" for k in (2, 3, 4, 5, 6)}
    assert json.loads(output.read_text("utf-8"))["kind"] == "reproduction"


@pytest.mark.slow
def test_documents_gain_in_a_world_where_they_differ(tmp_path: Path) -> None:
    # The twin of the test on real data: scores that differ by document reward docs-prop.
    written(tmp_path, "wmt20_mqm_zhen.parquet", profile="zh-en", documents=60)
    study = small(tmp_path, methods=("baseline", "docs-prop", "cv-mean"))
    study = replace(study, draws=40)
    result = study.finish(study.run())
    for method in ("docs-prop", "cv-mean"):
        gain = cell(result, "Table 1" if method == "docs-prop" else "Table 3",
                    f"ZhEn {method}", "gain %")  # fmt: skip
        assert gain.ours is not None
        assert gain.error is not None
        assert gain.ours > 2 * gain.error, method


@pytest.fixture(scope="module")
def real(shared_data: Path) -> Reproduction:
    study = start(shared_data, draws=10)
    wanted = ("baseline", "docs-prop", "cv-mean")
    runs = [run._replace(methods=wanted) for run in study.runs if run.rater != "mean"]
    runs = [run for run in runs if run.source.year == 20]
    study = replace(study, runs=tuple(runs))
    return study.finish(study.run())


@pytest.mark.slow
def test_real_description_equals_the_paper(real: Reproduction) -> None:
    assert all(c.matches for c in real.tables["Table 8"])
    assert len(real.tables["Table 8"]) == 20
    for lp in ("EnDe", "ZhEn"):
        for column in ("segs", "docs"):
            assert cell(real, "Table 7", f"{lp} corpus", column).matches is True
    assert all(c.matches for c in real.tables["Table 5"] if c.column == "t")


@pytest.mark.slow
def test_real_errors_are_near_the_papers(real: Reproduction) -> None:
    for lp in ("EnDe", "ZhEn"):
        for method in ("baseline", "docs-prop"):
            found = cell(real, "Table 1", f"{lp} {method}", "abs error")
            assert found.matches is True, (lp, method, found.ours)
        gain = cell(real, "Table 1", f"{lp} docs-prop", "gain %")
        assert gain.matches is True


@pytest.mark.slow
def test_real_reference_is_left_out(shared_data: Path) -> None:
    data = read_folder(shared_data)
    for source in DEVELOPMENT:
        corpus = data.development[source.name]
        assert corpus.left_out == ("Human-A.0",)
        assert len(corpus.raters) == 3
        assert all(len(trial.test_set.systems) == 9 for trial in corpus.raters)
        assert corpus.metrics[0] == "BLEURT-20"
        assert len(corpus.metrics) <= 10
