"""``assay check`` and ``assay convert``, and how the command line reads and names things."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Ran
from tests.house import in_room, nodes

from assay.cli import files as command_files
from assay.errors import InputError, OptionError, Problem, TableError
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
