"""``assay new``: a project from whatever there is; right or asked, and nothing half-written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.conftest import Ran
from tests.tables.guess_cases import AFTER, BEFORE, Case

import assay
from assay.project.project import open_project
from assay.tables.typed_files import save

Run = Callable[..., Ran]
CASES = [*BEFORE, *AFTER]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def outputs() -> pl.DataFrame:
    """What an organiser has: other names, counts, and a number nobody knows."""
    rows = [
        {
            "seg_id": seg, "document_id": f"d{seg // 4}", "Model": model,
            "Source": f"Source {seg}.", "Output": f"{model} says {seg}.", "src_chars": 20 + seg,
            "COMET": 0.5 + 0.01 * seg, "TER": 40 + seg, "quality": 0.123 * seg,
        }
        for seg in range(1, 13) for model in ("A", "B", "C")
    ]  # fmt: skip
    return pl.DataFrame(rows)


def test_what_was_guessed_is_shown(run_assay: Run) -> None:
    save(outputs(), "outputs.csv")
    ran = run_assay("new", "demo", "--from", "outputs.csv")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == [
        "  3 systems, 12 segments in 4 documents, with sources and outputs.   Columns: system <-"
        " Model, doc <- document_id, seg <- seg_id, source <- Source, target <- Output.",
        "  Metrics: COMET, TER (less is better).   Not metrics (counts): src_chars.   Not sure: is"
        " `quality` a metric? (--metrics)",
        "  wrote demo/assay.toml, demo/scores.tsv; say how it will be rated: assay new demo"
        " --protocol esa",
    ]
    settings = open_project("demo").settings
    assert (settings.name, settings.scores) == ("demo", "scores.tsv")
    assert settings.metrics == ("COMET", "TER")
    assert settings.lower_metrics == ("TER",)
    table = assay.read_scores("demo/scores.tsv", metrics=settings.metrics)
    assert len(table) == 36
    assert "src_chars" in table.frame.columns


def test_a_project_from_files_to_a_sample(run_assay: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    save(outputs(), "outputs.xlsx")
    said = ("--protocol", "esa", "--pay", "0.12 EUR per rating", "--raters", "Ada,Ben")
    assert run_assay("new", "demo", "--from", "outputs.xlsx", *said).code == 0
    settings = open_project("demo").settings
    assert settings.protocol == "esa"
    assert settings.raters.names == ("Ada", "Ben")
    assert (settings.pay.per_rating, settings.pay.currency) == (0.12, "EUR")
    monkeypatch.chdir("demo")
    ran = run_assay("sample", "--budget", "50%", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["n"] in (5, 6, 7)
    ran = run_assay("collect", "--sheets", "csv")
    assert ran.code == 0, ran.err
    assert {path.name for path in Path("sheets").iterdir()} == {
        "Ada.csv", "Ben.csv", "instructions.txt",
    }  # fmt: skip


def test_settings_are_changed_and_comments_kept(run_assay: Run) -> None:
    save(outputs(), "outputs.csv")
    run_assay("new", "demo", "--from", "outputs.csv")
    with Path("demo/assay.toml").open("a", encoding="utf-8") as file:
        file.write("# rated in May\n")
    ran = run_assay("new", "demo", "--protocol", "mqm", "--better", "lower")
    assert ran.code == 0, ran.err
    assert "in it, assay plan says how much to rate" in ran.out
    assert "# rated in May" in Path("demo/assay.toml").read_text("utf-8")
    settings = open_project("demo").settings
    assert (settings.protocol, settings.better) == ("mqm", "lower")
    assert run_assay("new", "demo", "--pay", "12 EUR per hour").code == 0
    assert run_assay("new", "demo", "--pay", "0.1 EUR per rating").code == 0
    assert open_project("demo").settings.pay.per_hour is None


def test_nothing_is_written_over(run_assay: Run) -> None:
    save(outputs(), "outputs.csv")
    run_assay("new", "demo", "--from", "outputs.csv")
    before = Path("demo/assay.toml").read_bytes()
    ran = run_assay("new", "demo", "--from", "outputs.csv", "--protocol", "da")
    assert ran.code == 2
    assert "has scores already; give --replace to start over" in ran.err
    assert Path("demo/assay.toml").read_bytes() == before
    ran = run_assay("new", "demo", "--from", "outputs.csv", "--protocol", "da", "--replace")
    assert ran.code == 0, ran.err
    assert open_project("demo").settings.protocol == "da"


def test_what_a_project_lacks_is_added(run_assay: Run) -> None:
    rows = {"system": ["A", "B"], "seg": [1, 1], "rater": ["x"] * 2, "score": [70, 60]}
    save(pl.DataFrame(rows), "mine.tsv")
    save(outputs().select("Model", "seg_id", "COMET", "Output"), "outputs.csv")
    assert run_assay("new", "demo", "--from", "mine.tsv", "--protocol", "da").code == 0
    with Path("demo/assay.toml").open("a", encoding="utf-8") as file:
        file.write("# rated in May\n")
    ran = run_assay("new", "demo", "--from", "outputs.csv")
    assert ran.code == 0, ran.err
    settings = open_project("demo").settings
    assert (settings.scores, settings.protocol) == ("scores.tsv", "da")
    assert settings.ratings == ("ratings.tsv",)
    assert "# rated in May" in Path("demo/assay.toml").read_text("utf-8")
    assert run_assay("new", "demo", "--from", "mine.tsv").code == 2


def test_other_raters_keep_what_was_said_of_them(run_assay: Run) -> None:
    Path("assay.toml").write_text("raters = { number = 2, overlap = '20%' }\n", "utf-8")
    assert run_assay("new", ".", "--raters", "Ada,Ben,Cem").code == 0
    raters = open_project(".").settings.raters
    assert (raters.names, raters.overlap) == (("Ada", "Ben", "Cem"), "20%")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("demo",), "is not a project yet; say with --from what to make it of"),
        (("demo", "other"), "is a second folder; name files with --from"),
        (("demo", "--from", "nothing.csv"), "nothing.csv"),
        (("demo", "--from", "broken.csv"), "is already in line 2; remove one"),
        (("demo", "--from", "empty"), "has no table; expected tables, or text files"),
        (("demo", "--from", "mqm.csv"), "--better (lower or higher), or with --protocol mqm"),
        (("demo", "--from", "outputs.csv", "--pay", "much"), "--pay"),
        (("demo", "--from", "outputs.csv", "--metrics", "COMIT"), "did you mean 'COMET'?"),
        (("demo", "--from", "outputs.csv", "--lower-metrics", "COMIT"), "did you mean 'COMET'?"),
        (("demo", "--from", "text.txt"), "give the folder that holds all of them"),
        (("demo", "--from", "*.tsv"), "matches no file"),
        (("text.txt", "--from", "outputs.csv"), "is a file; name a folder for the project"),
        (("demo", "--from", "outputs.csv", "mine.csv"), "are scores with different columns"),
    ],
)
def test_a_fault_leaves_nothing_behind(
    arguments: tuple[str, ...], said: str, run_assay: Run
) -> None:
    save(outputs(), "outputs.csv")
    save(outputs().drop("TER"), "mine.csv")
    twice = pl.concat([outputs(), outputs()[:3]])
    save(twice, "broken.csv")
    save(outputs().select("seg_id", "Model", pl.col("TER").alias("MQM score")), "mqm.csv")
    Path("text.txt").write_text("One.\nTwo.\n", encoding="utf-8")
    Path("empty").mkdir()
    before = {*Path().rglob("*")}
    ran = run_assay("new", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert {*Path().rglob("*")} == before


def test_a_folder_of_texts(run_assay: Run) -> None:
    folder = Path("texts")
    folder.mkdir()
    for name in ("newstest-src.en", "newstest-ref.de", "newstest.A.12.txt", "newstest.B.7.txt"):
        (folder / name).write_text("One.\nTwo.\nThree.\n", encoding="utf-8")
    (folder / "newstest.docs").write_text("news a\nnews a\nnews b\n", encoding="utf-8")
    ran = run_assay("new", "demo", "--from", "texts")
    assert ran.code == 0, ran.err
    assert "2 systems, 3 segments in 2 documents, with sources and outputs and refer" in ran.out
    settings = open_project("demo").settings
    assert settings.screen.languages == ("en", "de")
    frame = assay.read_scores("demo/scores.tsv").frame
    assert frame["system"].unique(maintain_order=True).to_list() == ["A", "B"]
    assert frame["doc"].to_list() == ["a", "a", "b"] * 2


def test_a_wmt_folder(run_assay: Run) -> None:
    world = assay.simulate(documents=4, systems=2, texts=True, rng=1)
    world.test_set.write("scores.tsv")
    ran = run_assay(
        "convert", "scores.tsv", "wmt", "--from", "scores", "--to", "mt-metrics-eval", "--lp",
        "en-de",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    ran = run_assay("new", "demo", "--from", "wmt")
    assert ran.code == 0, ran.err
    test_set = assay.read_scores("demo/scores.tsv")
    assert len(test_set) == len(world.test_set)
    assert {*test_set.metrics} == {*world.test_set.metrics}


def test_scores_and_ratings_in_files_of_several(run_assay: Run) -> None:
    save(outputs(), "outputs.csv")
    for rater in ("anna", "ben"):
        rated = outputs().select(
            pl.col("seg_id").alias("Segment no."), pl.col("document_id").alias("Document"),
            pl.col("Model").alias("Engine"),
            (pl.col("seg_id") * 7 % 11 + 60 + len(rater)).alias("Rating"),
        )  # fmt: skip
        save(rated, f"{rater}.xlsx")
    ran = run_assay("new", "demo", "--from", "outputs.csv", "anna.xlsx", "ben.xlsx", "--json")
    assert ran.code == 0, ran.err
    tables = {item["table"]: item for item in json.loads(ran.out)["tables"]}
    assert tables["scores"]["rows"] == 36
    assert tables["ratings"]["rows"] == 72
    ratings = assay.read_ratings("demo/ratings.tsv", assay.read_scores("demo/scores.tsv"))
    assert ratings.raters == ("anna", "ben")


def test_our_own_table_in_the_folder_is_referred_to(run_assay: Run) -> None:
    world = assay.simulate(documents=4, systems=2, rng=1)
    Path("data").mkdir()
    world.test_set.write("data/all.tsv")
    ran = run_assay("new", ".", "--from", "data/all.tsv")
    assert ran.code == 0, ran.err
    assert open_project(".").settings.scores == "data/all.tsv"
    assert not Path("scores.tsv").exists()
    assert run_assay("sample", "--budget", "20%").code == 0


def test_repeats_are_kept(run_assay: Run) -> None:
    rows = {"system": ["A", "B", "A"], "seg": [1, 1, 1], "rater": ["x"] * 3, "score": [70, 60, 66]}
    save(pl.DataFrame(rows), "mine.tsv")
    assert run_assay("new", "demo", "--from", "mine.tsv").code == 0
    assert pl.read_csv("demo/ratings.tsv", separator="\t").height == 3


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_other_peoples_tables(case: Case, run_assay: Run) -> None:
    """Right or asked: what is asked names an option, what is guessed is what is written."""
    save(case.frame, "theirs.csv")
    ran = run_assay("new", "demo", "--from", "theirs.csv", "--better", "higher")
    if ran.code == 2:
        assert case.asks is not None, ran.err
        assert any(option in ran.err for option in ("--columns", "--kind", "--only")), ran.err
        assert not Path("demo").exists()
        return
    assert ran.code == 0, ran.err
    assert case.kind is not None
    written = pl.read_csv(f"demo/{case.kind}.tsv", separator="\t", infer_schema=False)
    assert {*case.columns} <= {*written.columns}
    if case.kind == "scores":
        assert open_project("demo").settings.metrics == tuple(case.metrics)


RATED = [case for case in CASES if case.kind in ("ratings", "judgments") and case.asks is None]


@pytest.mark.parametrize("command", ["rank", "raters", "audit"])
@pytest.mark.parametrize("case", RATED, ids=lambda case: case.name)
def test_answers_under_other_names(case: Case, command: str, run_assay: Run) -> None:
    """A command that reads answers takes them as they are, or says what they lack."""
    if command == "raters" and case.kind == "judgments":
        return
    save(case.frame, "theirs.csv")
    ran = run_assay(command, "theirs.csv", "--json")
    assert "should not have happened" not in ran.err
    if ran.code == 0:
        assert json.loads(ran.out)["kind"]
        assert "theirs.csv: read as" in ran.err or {*case.columns} <= {*case.frame.columns}
    else:
        assert ran.code == 2
        told = ("--better", "rater", "at least two", "system", "one system", "segments")
        assert any(word in ran.err for word in told), ran.err


def texts_with(metrics: pl.DataFrame) -> None:
    """A folder of texts, and a table of metrics beside it."""
    Path("texts").mkdir()
    for name in ("source", "ours", "theirs"):
        lines = "".join(f"{name} says {line}.\n" for line in range(1, 5))
        Path(f"texts/{name}.txt").write_text(lines, encoding="utf-8")
    save(metrics, "metrics.csv")


def test_metrics_join_the_texts_that_they_are_about(run_assay: Run) -> None:
    rows = [(s, n, n / 10) for s in ("theirs", "ours") for n in range(1, 5)]
    texts_with(pl.DataFrame(rows, schema=["Model", "Segment no.", "COMET"], orient="row"))
    ran = run_assay("new", "demo", "--from", "texts", "metrics.csv", "--protocol", "esa")
    assert ran.code == 0, ran.err
    assert "2 systems, 4 segments, with sources and outputs" in ran.out
    assert "Metrics: COMET." in ran.out
    table = assay.read_scores("demo/scores.tsv").frame
    assert table["COMET"].to_list() == [0.1, 0.2, 0.3, 0.4] * 2
    assert table.filter(system="ours")["target"][1] == "ours says 2."
    Path("metrics.csv").rename("texts/metrics.csv")  # among the texts they are found, too
    assert "Metrics: COMET." in run_assay("new", "again", "--from", "texts").out


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("ours", 1, 0.1), ("ourz", 2, 0.2)], "1 row of 2 are about outputs that texts does not"),
        ([("ours", 9, 0.1)], "such as system and seg ours, 9; name systems and segments alike"),
    ],
)
def test_metrics_of_other_outputs_are_refused(
    rows: list[tuple[object, ...]], words: str, run_assay: Run
) -> None:
    texts_with(pl.DataFrame(rows, schema=["Model", "Segment no.", "COMET"], orient="row"))
    ran = run_assay("new", "demo", "--from", "texts", "metrics.csv")
    assert ran.code == 2
    assert words in ran.err
    assert not Path("demo").exists()
