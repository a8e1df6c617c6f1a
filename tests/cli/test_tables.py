"""``assay check`` and ``assay convert``, and how the command line reads and names things."""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Demo, Ran
from tests.house import in_room, nodes

import assay.tables.load as loading
from assay.cli import Reading
from assay.cli.reading import read_answers
from assay.errors import InputError, OptionError, Problem, TableError
from assay.formats.catalogue import FORMATS
from assay.tables.answers import Judgments
from assay.tables.load import column_names
from assay.tables.tables import Ratings
from assay.tables.typed_files import save

Run = Callable[..., Ran]
RATINGS = "system\tseg\tscore\nA\t1\t3\nB\t1\t4\n"
JUDGMENTS = "left\tright\twinner\nA\tB\tleft\nB\tC\ttie\n"


def test_a_check_is_saved_like_any_result(run_assay: Run, tmp_path: Path) -> None:
    (tmp_path / "r.tsv").write_text(RATINGS.replace("4", "x"))
    saved = tmp_path / "check.json"
    ran = run_assay("check", tmp_path / "r.tsv", "--kind", "ratings", "--save", saved)
    assert ran.code == 2
    assert "1 problem" in ran.out
    assert "'x' is not a number" in ran.out
    assert json.loads(saved.read_text())["problems"][0]["line"] == 3


def test_formats_are_listed(run_assay: Run) -> None:
    ran = run_assay("convert", "--list-formats")
    assert ran.code == 0
    assert all(name in ran.out for name in FORMATS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "poem", "--to", "ratings"], "assay: --from (poem) is not known"),
        (["--from", "ratings", "--to", "poem"], "assay: --to (poem) is not known"),
        (["--from", "ratings", "--to", "ratings", "--human-scores", "z"], "assay: --human-scores"),
        (["--from", "ratings", "--to", "ratings", "--weights", "a"], "assay: --weights (a) is not"),
    ],
)
def test_errors_name_the_option(
    run_assay: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "r.tsv").write_text(RATINGS)
    ran = run_assay("convert", tmp_path / "r.tsv", tmp_path / "x.tsv", *arguments)
    assert ran.code == 2
    assert message in ran.err


def test_an_error_under_another_name() -> None:
    naming = {"budget": "--budget", "range": "--range"}.get
    error = OptionError("budget", 900, "exceeds the 710 segments", "see `range` and `assume`")
    assert str(error.renamed(naming)) == (
        "--budget (900) exceeds the 710 segments; see --range and `assume`"
    )
    table = TableError("a.tsv", [Problem("give `range`", 3)]).renamed(naming)
    assert str(table) == "a.tsv: 1 problem\n  line 3: give --range"
    assert table.problems[0].line == 3


def test_remedies_name_the_option(run_assay: Run, tmp_path: Path) -> None:
    path, scores = tmp_path / "r.tsv", tmp_path / "s.tsv"
    path.write_text(RATINGS.replace("score", "mqm"))
    scores.write_text("system\tseg\nA\t1\nA\t2\nB\t1\nB\t2\n")
    for flags in ((), ("--json",)):
        ran = run_assay("check", path, "--kind", "ratings", *flags)
        assert "map it with --columns (score=YOURS)" in ran.out
    ran = run_assay("estimate", scores, path)
    assert "map it with --columns (score=YOURS)" in ran.err
    path.write_text("system\tseg\tscore\nA\t1\t3\nB\t1\t4\n")
    ran = run_assay("estimate", scores, path)
    assert "(--sample), or say that they are a simple random sample (--assume random)" in ran.err


def test_arguments_in_messages_are_arguments() -> None:
    """What stands in backticks in a message of the library is a parameter of some function."""
    known = {arg.arg for _, node in nodes(ast.arguments) for arg in (*node.args, *node.kwonlyargs)}
    quoted = {
        name
        for path, node in nodes(ast.Constant)
        if isinstance(node.value, str) and not in_room(path, "cli")
        for name in re.findall(r"(?<!`)(?<!:)`(\w+)`(?!`)", node.value)
    }
    assert {"columns", "range", "only", "sample"} <= quoted
    assert quoted <= known


def answers(path: Path, **given: str | None) -> Judgments | Ratings:
    return read_answers(path, "judgments", "ratings", read=Reading(**given))


def test_answers_are_what_the_file_has(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(JUDGMENTS)
    found = answers(path, exclude="C")
    assert isinstance(found, Judgments)
    assert found.systems == ("A", "B")
    path.write_text(RATINGS.replace("score", "mqm"))
    ratings = answers(path, columns="score=mqm", exclude="A")
    assert isinstance(ratings, Ratings)
    assert ratings.frame["system"].to_list() == ["B"]
    with pytest.raises(OptionError, match="exclude .C. is not among the rated systems"):
        answers(path, columns="score=mqm", exclude="C")
    with pytest.raises(InputError, match="neither a table of judgments"):
        answers(path)


@pytest.mark.parametrize("ending", [".tsv", ".jsonl", ".xlsx", ".parquet"])
def test_answers_are_parsed_once(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = loading.load(_written(tmp_path / "r.tsv"), text=lambda name: name != "score").frame
    path = save(table, tmp_path / f"copy{ending}")
    loads = []
    load_file = loading._load_file

    def counted(path: Path, text: Callable[[str], bool]) -> loading.Raw:
        loads.append(path)
        return load_file(path, text)

    monkeypatch.setattr(loading, "_load_file", counted)
    assert len(answers(path)) == 2
    assert len(loads) == (0 if ending == ".parquet" else 1)


def _written(path: Path) -> Path:
    path.write_text(RATINGS)
    return path


@pytest.mark.parametrize(
    "header", ["system\tseg", "  system \tseg", '"system"\t"seg"', "systém\tseg", "system\t"]
)
def test_the_header_alone_gives_the_columns_of_the_whole(tmp_path: Path, header: str) -> None:
    path = tmp_path / "x.tsv"
    path.write_text(f"{header}\nA\t1\n")
    assert column_names(path) == loading.load(path, text=lambda _: True).frame.columns


FIXTURES = Path(__file__).parents[1] / "formats" / "fixtures"


def test_other_tools_answers_are_read_where_they_are_used(run_assay: Run, tmp_path: Path) -> None:
    rnk, table = FIXTURES / "wmt12_rnk.txt", tmp_path / "judgments.tsv"
    assert run_assay("convert", rnk, table, "--from", "wmt-rnk", "--to", "judgments").code == 0
    one = ["--lp", "Czech-English", "--seed", "1"]
    for command in (["rank", *one], ["audit", *one]):
        direct = run_assay(*command, rnk, "--format", "wmt-rnk", "--json")
        assert direct.code == 0, direct.err
        known = json.loads(run_assay(*command, table, "--json").out)
        assert json.loads(direct.out)["systems"] == known["systems"]
    plan = ["plan", "judgments", *one, "--json", "--pilot"]
    ran, same = run_assay(*plan, rnk, "--format", "wmt-rnk"), run_assay(*plan, table)
    assert (ran.code, ran.out, ran.err) == (same.code, same.out, same.err)
    ran = run_assay("rank", rnk, "--format", "xliff")
    assert ran.code == 2
    assert "--format (xliff) holds no judgments or ratings; choose from" in ran.err
    ran = run_assay("plan", "ratings", "--population", "100", "--sd", "1", "--format", "google-mqm")
    assert ran.code == 2
    assert "--format (google-mqm) needs a pilot" in ran.err


def test_part_of_a_table_is_checked(run_assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "edits.tsv"
    path.write_text(
        "system\tdoc\tseg\teditor\tmt\tedited\tdomain\n"
        "A\td\t1\tE\ta\tb\tnews\nA\td\t1\tE\ta\tb\ttalk\n"
    )
    assert run_assay("check", path, "--kind", "edits").code == 2
    ran = run_assay("check", path, "--kind", "edits", "--only", "domain=news", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["rows"] == 1
    ran = run_assay("effort", path, "--only", "domain=news")
    assert "only one system ('A')" in ran.err
    ran = run_assay("effort", path, "--only", "domain=sports")
    assert "--only (domain=sports) matches no row" in ran.err


def test_two_sources_under_one_key(run_assay: Run, tmp_path: Path) -> None:
    path, other = tmp_path / "edits.tsv", tmp_path / "more.tsv"
    header = "system\tdoc\tseg\teditor\tsource\tmt\tedited\n"
    path.write_text(f"{header}A\td\t1\tE\tein Haus\ta\tb\nB\td\t1\tF\tein Hund\ta\tb\n")
    ran = run_assay("check", path, "--kind", "edits", "--json")
    assert ran.code == 2
    (problem,) = json.loads(ran.out)["problems"]
    assert (problem["line"], problem["column"]) == (3, "source")
    assert "'ein Hund' is not the source that this segment has" in problem["message"]
    path.write_text(f"{header}A\td\t1\tE\tein  Haus\ta\tb\nB\td\t1\tF\tein Haus \ta\tb\n")
    assert run_assay("check", path, "--kind", "edits").code == 0
    other.write_text(f"{header}A\td\t1\tG\tein Hund\ta\tb\n")
    assert "has different sources in two files" in run_assay("effort", path, other).err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["plan", "ratings", "--population", "90", "--sd", "1"], "needs a pilot"),
        (["plan", "comparison", "--population", "90", "--difference-sd", "1", "--gap", "1"],
         "needs a pilot"),
        (["effort", "edits.tsv"], "needs --ratings; give --ratings too"),
        (["sample", "scores.tsv", "--budget", "5"], "needs --history; give --history too"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_a_direction_that_nothing_reads_is_refused(
    command: list[str], message: str, better: str, run_assay: Run
) -> None:
    ran = run_assay(*command, "--better", better)
    assert ran.code == 2
    assert f"--better ({better}) {message}" in ran.err


def test_the_half_width_is_checked_before_the_work(run_assay: Run) -> None:
    ran = run_assay("evaluate", "no.tsv", "no.tsv", "--half-width", "-1")
    assert "half_width (-1" in ran.err.replace("--half-width", "half_width")


def test_only_reports_are_written_over(run_assay: Run, tmp_path: Path) -> None:
    path, saved = tmp_path / "ratings.tsv", tmp_path / "check.json"
    path.write_text(RATINGS)
    assert run_assay("check", path, "--kind", "ratings", "-o", saved).code == 0
    for name in ("report.html", "report.md", "report.tex"):
        report = tmp_path / name
        for _ in range(2):
            assert run_assay("report", saved, "-o", report).code == 0
        report.write_text("my own page\n")
        ran = run_assay("report", saved, "-o", report)
        assert ran.code == 2
        assert "exists and is not a report by Assay; name another file" in ran.err
        assert report.read_text() == "my own page\n"


def test_a_demo_writes_over_nothing_but_a_demo(run_assay: Run, demo: Demo, tmp_path: Path) -> None:
    refused = "exists and is not as a demo wrote it; name another folder"
    mine = tmp_path / "scores.tsv"
    mine.write_text("mine\n")
    assert refused in run_assay("demo", "-o", tmp_path).err
    assert mine.read_text() == "mine\n"
    mine.unlink()
    shutil.copytree(demo.folder, tmp_path, dirs_exist_ok=True)
    assert run_assay("demo", "-o", tmp_path, "--seed", "2").code == 0  # a demo over a demo
    ratings = tmp_path / "ratings.tsv"
    ratings.write_text("my own ratings\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    ran = run_assay("demo", "-o", tmp_path)
    assert (ran.code, f"{ratings} {refused}" in ran.err) == (2, True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
