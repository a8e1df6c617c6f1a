"""``assay check`` and ``assay convert``, and how the command line reads and names things."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Ran

from assay.cli import files as command_files
from assay.errors import InputError, OptionError
from assay.formats.catalogue import FORMATS
from assay.tables import files
from assay.tables.answers import Judgments, Ratings

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
    error = OptionError("budget", 900, "exceeds the 710 segments", "give at most 710")
    assert str(error.renamed("--budget")) == (
        "--budget (900) exceeds the 710 segments; give at most 710"
    )


def answers(path: Path, **given: str | None) -> Judgments | Ratings:
    usual = dict.fromkeys(("columns", "exclude", "only", "lp"))
    return command_files.read_answers(path, **{**usual, **given})  # type: ignore[arg-type]


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
    table = files.load(_written(tmp_path / "r.tsv"), text=lambda name: name != "score").frame
    path = files.save(table, tmp_path / f"copy{ending}")
    loads = []
    load_file = files._load_file

    def counted(path: Path, text: Callable[[str], bool]) -> files.Raw:
        loads.append(path)
        return load_file(path, text)

    monkeypatch.setattr(files, "_load_file", counted)
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
    assert files.column_names(path) == files.load(path, text=lambda _: True).frame.columns


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
    assert "--format (google-mqm) is about a pilot" in ran.err


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
    assert "--only (domain=sports) is in no row" in ran.err


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
    assert "has another source in one file than in another" in run_assay("effort", path, other).err
