"""saldias2022: every printed cell, on a simulated world always and on WMT's data where it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.conftest import Ran

import assay
from assay.errors import InputError, OptionError
from assay.estimation.trials import EvaluationRecord
from assay.papers.compare import PrintedCell, Reproduction, read_printed
from assay.papers.reproduce import start_paper
from assay.papers.saldias2022.draws import OTHER_MEANS, UNEVEN, RaterRun, known_systems, try_means
from assay.papers.saldias2022.ours import Saldias2022
from assay.papers.saldias2022.ratings import DEVELOPMENT, read_folder
from assay.papers.saldias2022.tally import METHODS, TABLES, MethodTrial, TrialKey, summarise
from assay.stats.bounds import hoeffding_bound

Run = Callable[..., Ran]
start = partial(start_paper, "saldias2022")
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


def small(folder: Path, *, methods: tuple[str, ...] = (), **options: object) -> Saldias2022:
    """A few methods, so that it takes no time."""
    work = start(folder, draws=6, **options)  # type: ignore[arg-type]
    wanted = methods or ("baseline", "docs-prop", "cv-mean")
    runs = [run._replace(methods=wanted) for run in work.runs]
    return replace(work, runs=tuple(runs))


@pytest.fixture
def made(folder: Path) -> Reproduction:
    work = small(folder)
    return work.finish(work.run())


def cell(result: Reproduction, table: str, row: str, column: str) -> PrintedCell:
    found = [c for c in result.tables if (c.table, c.row, c.column) == (table, row, column)]
    assert len(found) == 1, (table, row, column)
    return found[0]


PRINTED = {item.number: item.value for item in read_printed("saldias2022")}


def test_printed_numbers_agree_with_each_other() -> None:
    for lp in ("EnDe", "ZhEn"):
        base = PRINTED[f"{lp} baseline error"]
        for method in METHODS:
            error, sdev, win = (PRINTED[f"{lp} {method} {w}"] for w in ("error", "sdev", "win"))
            assert 0.6 < sdev / error < 0.8
            assert (win > 50) == (error < base), (lp, method)
        raters = [PRINTED[f"{lp} rater{k} rater error"] for k in range(1, 7)]
        assert np.mean(raters) == pytest.approx(PRINTED[f"{lp} avgs rater error"], abs=0.006)
        # Every segment has three raters.
        rated = [PRINTED[f"{lp} rater{k} segs"] for k in range(1, 7)]
        assert sum(rated) == 3 * PRINTED[f"{lp} corpus segs"]
    # "error reductions of 14% and 23%" (section 4.2)
    for lp, gain in (("EnDe", 14), ("ZhEn", 23)):
        ratio = PRINTED[f"{lp} docs-prop+cv-knn error"] / PRINTED[f"{lp} baseline error"]
        assert round(100 * (1 - ratio)) == gain
    rows = read_printed("saldias2022")
    sizes = Counter((n.table, n.row.split()[0]) for n in rows if n.column == "MQM")
    assert sizes == {("Table 8", "EnDe"): 10, ("Table 8", "ZhEn"): 10, ("Table 11", "EnDe"): 17,
                     ("Table 11", "ZhEn"): 15, ("Table 11", "EnRu"): 16}  # fmt: skip
    for (table, lp), size in sizes.items():
        scores = [n.value for n in rows if n.table == table and n.row.startswith(lp)]
        assert len(scores) == size
        assert scores == sorted(scores, reverse=lp == "EnRu")  # of EnRu 100 is best
    for lp in ("EnDe", "ZhEn"):
        r = [n.value for n in rows if n.table == "Table 9" and n.row.startswith(lp)][:-1]
        assert (r, len(r)) == (sorted(r, reverse=True), 10)


def test_printed_bound_is_hoeffdings() -> None:
    # By hand at 700 segments, R = 4, n = 70: 4 sqrt(.9014 log(40) / 140).
    assert hoeffding_bound(70, 700, 4.0, 0.95) == pytest.approx(0.616, abs=0.001)
    assert sum(item.table == "Table 5" for item in read_printed("saldias2022")) == 36


def test_every_printed_number_has_its_place(made: Reproduction) -> None:
    keys = Counter((c.table, c.row, c.column) for c in made.tables)
    assert set(keys.values()) == {1}
    assert all(keys[n.table, n.row, n.column] == 1 for n in read_printed("saldias2022"))
    assert {f"Table {k}" for k in range(1, 13)} <= {c.table for c in made.tables}
    assert sum(made.counts.values()) == len(PRINTED) == 260
    # A number that is printed more than once has one outcome.
    outcomes = {(c.number, c.outcome, c.reason) for c in made.tables if c.number}
    assert len(outcomes) == 260


def doing_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Outcomes of error, sdev and wins where every method is the mean of a random sample."""
    real = assay.evaluate_estimators

    def nothing(*data: Any, methods: Sequence[str], **given: Any) -> Iterator[EvaluationRecord]:
        records = list(real(*data, methods=["baseline"] * len(methods), **given))
        each = len(records) // len(methods)
        for place, record in enumerate(records):
            yield replace(record, method=methods[place // each])

    monkeypatch.setattr(assay, "evaluate_estimators", nothing)
    work = start(folder, draws=100)
    names = ("baseline", *METHODS.values())
    runs = [run._replace(methods=names) for run in work.runs if run.source.year == 20]
    runs = [run for run in runs if run.trial.rater != "mean"]
    data = work.data._replace(development={})  # no bounds, no other means
    result = work.finish(replace(work, runs=tuple(runs), data=data).run())
    cells = [c for table in TABLES for c in result.table(table) if c.number]
    outcomes = {c.number: c.outcome for c in cells if not c.row.endswith("baseline")}
    assert len(outcomes) == 2 * len(METHODS) * 3
    return {**outcomes}


def test_a_method_that_does_nothing_fails_the_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for lp in ("ende", "zhen"):
        written(tmp_path, f"wmt20_mqm_{lp}.parquet", documents=14)
    outcomes = Counter(doing_nothing(tmp_path, monkeypatch).values())
    assert outcomes["equal"] <= 1
    assert outcomes["different"] >= 40  # of 66, with a third of the paper's simulations


@pytest.mark.slow
def test_on_real_data_too(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = doing_nothing(shared_data, monkeypatch)
    assert Counter(outcomes.values())["equal"] <= 1
    errors = [outcome for number, outcome in outcomes.items() if number.endswith(" error")]
    assert Counter(errors)["different"] >= 20  # of 22 gains


def test_missing_files_are_named(made: Reproduction) -> None:
    absent = cell(made, "Table 1", "ZhEn docs-prop", "abs error")
    assert (absent.ours, absent.matches) == (None, None)
    assert absent.reason == "needs wmt20_mqm_zhen.parquet"
    for place, needs in (
        (("Table 6", "EnRu baseline", "sdev"), "wmt21_mqm_enru.parquet"),
        (("Table 7", "EnDe rater1", "segs"), "wmt20_mqm_ende_raters.parquet"),
        (("Table 8", "EnDe OPPO", "MQM"), "OPPO in wmt20_mqm_ende.parquet"),
        (("Table 9", "EnDe prism", "r"), "prism in wmt20_mqm_ende.parquet"),
        (("Table 5", "ZhEn 10 % best", "cal"), "wmt20_mqm_zhen.parquet"),
        (("Table 11", "ZhEn SMU", "MQM"), "wmt21_mqm_zhen.parquet"),
    ):
        assert cell(made, *place).reason == f"needs {needs}"


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
    stand_in = cell(made, "Table 9", "EnDe BLEURT-extended", "r")
    assert (stand_in.outcome, stand_in.note) == ("no data", "BLEURT-20 in its place")
    own = frame.filter(pl.col("system") != "Human-A.0")
    gaps = own.group_by("system").agg(
        gap=(pl.col("mqm_r1").mean() - (pl.col("mqm_r2") + pl.col("mqm_r3")).mean() / 2).abs()
    )
    error = cell(made, "Table 12", "EnDe mqm_r1", "abs error")
    assert error.ours == pytest.approx(float(np.mean(gaps["gap"].to_numpy())))


def test_results_are_means_over_simulations(folder: Path) -> None:
    work = small(folder)
    steps = list(work.run())
    assert len(steps) == work.steps
    result = work.finish(steps)
    errors = {
        method: [r.error for run, r in steps
                 if run is not None and run.trial.rater != "mean" and r.method == method]
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
    assert (win.outcome, win.reason) == ("cannot tell", "of 6 draws; the paper's are of 100")


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
    work = small(folder, methods=("baseline",))
    result = work.finish(work.run())
    docs = [cell(result, "Table 7", f"EnDe rater{k}", "docs").ours for k in (1, 2)]
    assert docs == [12, 6]
    assert cell(result, "Table 7", "EnDe rater3", "docs").ours is None
    assert [run.trial.rater for run in work.runs] == ["ann", "bob", "mean"]
    assert cell(result, "Table 12", "EnDe rater1", "abs error").matches is not None


def test_other_years_follow_table_6(tmp_path: Path) -> None:
    written(tmp_path, "wmt23_mqm_zhen.parquet", profile="zh-en")
    work = small(tmp_path, methods=("baseline", "docs-prop+cv-knn"))
    result = work.finish(work.run())
    found = cell(result, "Table 6", "WMT23 zh-en docs-prop+cv-knn", "gain %")
    assert found.paper is None
    assert found.ours is not None
    absent = cell(result, "Table 1", "EnDe baseline", "sdev")
    assert absent.reason == "needs wmt20_mqm_ende.parquet"
    assert work.runs[0].trial.test_set.metrics == ("BLEURT-20", "COMET")
    assert "Human-A.0" not in work.runs[0].trial.test_set.systems


def test_test_data_without_metrics_or_documents_serves_the_baseline(tmp_path: Path) -> None:
    """As WMT21 zh-en: rated in part, no documents, no metrics of human translations."""
    frame = written(tmp_path, "wmt20_mqm_zhen.parquet")
    names = {"eTranslation.7": "SMU", "Online-A.15": "MiSS", "Human-B.0": "ref-A",
             "Human-A.0": "ref-B"}  # fmt: skip
    rated = pl.col("seg_id").cast(pl.Int64) % 2 == 0
    frame = frame.with_columns(
        system=pl.col("system").replace(names), mqm=pl.when(rated).then(pl.col("mqm"))
    )
    gone = ["doc", "BLEURT-20", "COMET", "mqm_r1", "mqm_r2", "mqm_r3"]
    frame.drop(gone).write_parquet(tmp_path / "wmt21_mqm_zhen.parquet")
    (tmp_path / "wmt20_mqm_zhen.parquet").unlink()
    work = start(tmp_path, draws=4)
    (run,) = work.runs
    assert (run.methods, run.trial.test_set.systems) == (("baseline",), ("SMU", "MiSS", "ref-A"))
    result = work.finish(work.run())
    errors = cell(result, "Table 6", "ZhEn baseline", "abs error")
    assert (errors.ours or 0) > 0
    best = cell(result, "Table 6", "ZhEn docs-prop+cv-knn", "abs error")
    assert best.reason == "needs doc, BLEURT-20 and COMET-MQM_2021 in wmt21_mqm_zhen.parquet"
    segments = frame.filter(pl.col("system") == "SMU")["seg_id"]
    sizes = [cell(result, "Table 10", f"ZhEn {who}", "segs").ours for who in ("rater", "corpus")]
    assert sizes == [sum(int(seg) % 2 == 0 for seg in segments), len(segments)]
    assert cell(result, "Table 10", "ZhEn rater", "docs").reason == (
        "needs doc in wmt21_mqm_zhen.parquet"
    )
    mean = frame.filter(pl.col("system") == "SMU")["mqm"].mean()
    assert cell(result, "Table 11", "ZhEn SMU", "MQM").ours == pytest.approx(mean)
    assert cell(result, "Table 11", "ZhEn ref-B", "MQM").ours == pytest.approx(0.91)


def test_new_files_change_no_number_of_the_old(folder: Path) -> None:
    before = small(folder, methods=("baseline",))
    old = before.finish(before.run())
    frame = pl.read_parquet(folder / "wmt20_mqm_ende.parquet")
    frame.write_parquet(folder / "wmt21_mqm_ende.parquet")
    after = small(folder, methods=("baseline",))
    new = {(c.table, c.row, c.column): c for c in after.finish(after.run()).tables}
    places = [(c.table, c.row, c.column) for c in old.tables]
    kept = [c for c in old.tables if c.ours is not None and c.table != "other means"]
    assert len(places) == len(set(places))
    assert all(new[c.table, c.row, c.column].ours == c.ours for c in kept)


def test_other_means_stand_beside_equation_1(folder: Path) -> None:
    work = small(folder, methods=("baseline", "docs-opt", "docs-incr-human"))
    result = work.finish(work.run())
    rows = {c.row for c in result.table("other means")}
    tried = {f"EnDe {method}, {name}" for method in UNEVEN for name in OTHER_MEANS}
    assert rows == tried | {
        "EnDe docs-opt, equation 1", "EnDe docs-incr-human, equation 1",
    }  # fmt: skip
    used = cell(result, "Table 2", "EnDe docs-incr-human", "gain %").ours
    assert cell(result, "other means", "EnDe docs-incr-human, equation 1", "gain %").ours == used


def test_other_means_by_hand(folder: Path) -> None:
    """All drawn: every mean is the truth; of one document in two, the other counts as 0."""
    data = read_folder(folder)
    known = known_systems("EnDe", data.development["EnDe"].raters)[0]
    for method in UNEVEN:
        _, whole = try_means(known, method, (1.0,), 2, np.random.default_rng(1))
        assert [trial.error for trial in whole] == pytest.approx([0, 0])
    _, few = try_means(known, "docs-incr-human", (0.02,), 50, np.random.default_rng(1))
    plain, letter = few
    assert (plain.method, letter.method) == tuple(f"docs-incr-human, {n}" for n in OTHER_MEANS)
    assert letter.bias < -0.5 * known.x.mean() < plain.bias  # two or three of twelve documents


def test_errors_of_nested_samples_add_up() -> None:
    """Two sizes of an incremental run share their draws: their errors are not independent."""

    keys = [TrialKey("r", "A", size) for size in (0.1, 0.2)]
    tally = {
        method: {key: MethodTrial(key, method, 100, 1.0, 1.0, 0.0) for key in keys}
        for method in ("baseline", "docs-incr-human")
    }
    single, nested = (summarise(tally, name) for name in tally)
    assert single is not None
    assert nested is not None
    assert single.error_noise == pytest.approx(0.1 / 2**0.5)
    assert nested.error_noise == pytest.approx(0.1)


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
    results = [work.finish(work.run()) for work in (one, two, other)]
    assert results[0] == results[1]
    assert results[0].tables != results[2].tables


@pytest.mark.slow
def test_workers_change_nothing(folder: Path) -> None:
    one, two = (small(folder, rng=3, workers=workers) for workers in (1, 2))
    assert one.finish(one.run()).tables == two.finish(two.run()).tables


def test_refusals(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        start(tmp_path / "nowhere")
    with pytest.raises(OptionError, match=r"draws \(0\) is not a number of draws"):
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
    with pytest.raises(InputError, match="is not a Parquet file"):
        start(folder)


@pytest.mark.slow
def test_command(tmp_path: Path, run_assay: Run) -> None:
    written(tmp_path, "wmt20_mqm_ende.parquet", documents=6)
    written(tmp_path, "wmt22_mqm_ende.parquet", documents=6)
    output, figures = tmp_path / "out.json", tmp_path / "figures"
    ran = run_assay("reproduce", "saldias2022", "--data", tmp_path, "--draws", 2, "-o", output,
                    "--figures", figures)  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.out.index("printed numbers by table") < ran.out.index("saldias2022, Table 5")
    assert "needs wmt20_mqm_zhen.parquet" in ran.out
    names = {path.stem for path in figures.iterdir()}
    assert names == {f"saldias2022_figure{k}" for k in (2, 3, 4, 5, 6)}
    assert json.loads(output.read_text("utf-8"))["kind"] == "reproduction"


@pytest.mark.slow
def test_documents_gain_in_a_world_where_they_differ(tmp_path: Path) -> None:
    # The twin of the test on real data: scores that differ by document reward docs-prop.
    written(tmp_path, "wmt20_mqm_zhen.parquet", profile="zh-en", documents=60)
    work = small(tmp_path, methods=("baseline", "docs-prop", "cv-mean"))
    work = replace(work, request=work.request._replace(draws=40))
    result = work.finish(work.run())
    for method in ("docs-prop", "cv-mean"):
        gain = cell(result, "Table 1" if method == "docs-prop" else "Table 3",
                    f"ZhEn {method}", "gain %")  # fmt: skip
        assert gain.ours is not None
        assert gain.error is not None
        assert gain.ours > 2 * gain.error, method


@pytest.fixture(scope="module")
def real(shared_data: Path) -> Reproduction:
    work = start(shared_data, draws=10)
    runs = [run for run in work.runs if run.source.year in (20, 21)]
    runs = [run._replace(methods=_few(run)) for run in runs if run.trial.rater != "mean"]
    work = replace(work, runs=tuple(runs))
    return work.finish(work.run())


def _few(run: RaterRun) -> tuple[str, ...]:
    return ("baseline", "docs-prop", "cv-mean") if run.source.year == 20 else ("baseline",)


@pytest.mark.slow
def test_real_description_equals_the_paper(real: Reproduction) -> None:
    assert [c.outcome for c in real.table("Table 8")] == ["equal"] * 20
    scores = [c for c in real.table("Table 11") if not c.row.startswith("EnRu")]
    assert [c.outcome for c in scores] == ["equal"] * 32
    sizes = [c for c in real.table("Table 10") if c.outcome != "no data"]
    assert [c.outcome for c in sizes] == ["equal"] * 6
    for lp in ("EnDe", "ZhEn"):
        for column in ("segs", "docs"):
            assert cell(real, "Table 7", f"{lp} corpus", column).matches is True
    assert all(c.matches for c in real.table("Table 5") if c.column == "t")


@pytest.mark.slow
def test_real_errors_are_near_the_papers(real: Reproduction) -> None:
    for lp in ("EnDe", "ZhEn"):
        for method in ("baseline", "docs-prop"):
            found = cell(real, "Table 1", f"{lp} {method}", "abs error")
            assert found.ours == pytest.approx(found.paper, abs=0.025), (lp, method)
        gain = cell(real, "Table 1", f"{lp} docs-prop", "gain %")
        assert gain.ours == pytest.approx(gain.paper, abs=10)
        test = cell(real, "Table 6", f"{lp} baseline", "abs error")
        assert test.outcome in ("equal", "cannot tell"), test
        assert test.ours == pytest.approx(test.paper, rel=0.06)


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
