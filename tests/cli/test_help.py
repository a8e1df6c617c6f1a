"""What the command line says about itself: the pipeline, the help, completion, the version."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer
from tests.conftest import ROOT, Demo, Ran
from tests.sheets import rate_sheet

import assay
from assay.cli import PANELS, PIPELINE, Stages, make_app
from assay.cli.options import MOST_SHOWN, SHOWN

Run = Callable[..., Ran]
WIDEST = 100


def every_command() -> Iterator[tuple[str, str]]:
    """Name and help of all commands, those inside ``plan`` and ``kits`` included."""
    root = typer.main.get_command(make_app())
    assert isinstance(root, Stages)
    for name, command in root.commands.items():
        inside = getattr(command, "commands", None)
        if inside is None:
            yield name, command.help or ""
        else:
            yield from ((f"{name} {inner}", each.help or "") for inner, each in inside.items())


HELP = dict(every_command())


def fresh(*arguments: str, **environment: str) -> str:
    """What a new process prints, with nothing imported before it."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


def test_nothing_typed_shows_the_pipeline(run_assay: Run) -> None:
    ran = run_assay()
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == PIPELINE + "\n"
    assert max(map(len, PIPELINE.splitlines())) <= WIDEST


def test_every_command_of_the_pipeline_runs(
    tmp_path: Path, demo: Demo, run_assay: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the demo's folder, with its scores as somebody's outputs and filled-in sheets."""
    monkeypatch.setattr("typer.launch", lambda _: 0)
    shutil.copytree(demo.folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    Path("scores.tsv").rename("outputs.csv")
    text = Path("outputs.csv").read_text("utf-8")
    Path("outputs.csv").write_text(text.replace(",", ";").replace("\t", ","), encoding="utf-8")
    commands = re.findall(r"(?:assay [a-z]+|cd mine)[^\n]*", PIPELINE.partition("Usage")[0])
    assert len(commands) == 12
    for command in commands:
        words = shlex.split(command)
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
            for name in ("judgments.tsv", "edits.tsv"):
                Path(name).write_bytes((demo.folder / name).read_bytes())
            continue
        if "answers/*.xlsx" in words:
            for name in ("Ada", "Ben"):
                rate_sheet(Path("sheets", f"{name}.xlsx"), Path("answers", f"{name}.xlsx"))
        ran = run_assay(*words[1:])
        assert ran.code == 0, (command, ran.err)
    assert Path("report.html").is_file()


@pytest.mark.parametrize("name", HELP)
def test_the_short_help_has_eight_options_at_most(name: str, run_assay: Run) -> None:
    short = run_assay(*name.split(), "--help").out
    whole = run_assay(*name.split(), "--help-all").out
    option = re.compile(r"^│ (?:\*  |   )?(--[a-z-]+)", re.MULTILINE)
    shown, known = option.findall(short), option.findall(whole)
    assert len(shown) <= MOST_SHOWN
    assert {*shown} <= {*known}
    assert "--help" in known
    if len(known) - 1 > len(shown):
        assert f"{len(known) - 1 - len(shown)} more option" in short
        assert f"assay {name} --help-all" in short


def test_options_of_the_short_help_are_there() -> None:
    root = typer.main.get_command(make_app())
    for words, listed in SHOWN.items():
        command = root
        for word in words.split():
            command = command.commands[word]  # type: ignore[attr-defined]
        known = {item.name for item in command.params}
        assert {*listed.split()} <= known, words
        assert len(listed.split()) <= MOST_SHOWN


def test_the_help_lists_the_stages_in_the_order_of_use(run_assay: Run) -> None:
    code, out, _ = run_assay("--help")
    assert code == 0
    places = [out.index(f"─ {title} ─") for title in PANELS]
    assert places == sorted(places)
    places = [out.index(f"│ {name} ") for names in PANELS.values() for name in names]
    assert places == sorted(places)


def test_the_list_of_commands_is_the_same_without_their_parameters() -> None:
    whole, listed = (typer.main.get_group(app) for app in (make_app(), make_app(listed=True)))
    helps = [
        {
            name: (inspect.cleandoc(one.help or ""), one.rich_help_panel)  # type: ignore[attr-defined]
            for name, one in root.commands.items()
        }
        for root in (whole, listed)
    ]
    assert helps[0] == helps[1]
    assert not any(one.params[:-1] for one in listed.commands.values())


def test_every_command_stands_in_one_panel() -> None:
    listed = [name for names in PANELS.values() for name in names]
    assert len(listed) == len(set(listed))
    assert set(listed) == {name.split()[0] for name in HELP}


@pytest.mark.parametrize("name", HELP)
def test_every_help_is_a_sentence_with_an_example(name: str) -> None:
    first = HELP[name].splitlines()[0]
    assert first[0].isupper()
    assert HELP[name].split("\n\n")[0].endswith("."), first
    examples = re.findall(r"^Example: assay (.+)$", HELP[name], re.MULTILINE)
    assert examples
    assert all(example.startswith(name) for example in examples), examples


def test_every_command_is_on_the_page() -> None:
    page = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert set(re.findall(r"^## assay (.+)$", page, re.MULTILINE)) == set(HELP)


def test_version(run_assay: Run) -> None:
    assert run_assay("--version").out == f"assay {assay.__version__}\n"
    assert fresh("-m", "assay", "--version") == f"assay {assay.__version__}\n"


def test_an_unknown_command_is_refused(run_assay: Run) -> None:
    ran = run_assay("bogus")
    assert ran.code == 2
    assert "No such command" in ran.err


@pytest.mark.parametrize("arguments", [[], ["--help"], ["estimate", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = f"""
import sys
sys.argv = ["assay", *{arguments!r}]
from assay.cli import main
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
heavy = {{"numpy", "polars", "scipy", "matplotlib", "sklearn", "joblib", "lxml", "jinja2"}}
print("loaded:", sorted(heavy & set(sys.modules)))
"""
    assert fresh("-c", code).splitlines()[-1] == "loaded: []"


def test_a_command_loads_no_other() -> None:
    code = """
import sys
sys.argv = ["assay", "estimate", "--help"]
from assay.cli import main
try:
    main()
except SystemExit:
    pass
print("loaded:", sorted(name for name in sys.modules if name.startswith("assay.cli.")))
"""
    loaded = fresh("-c", code).splitlines()[-1]
    shared = ["options", "reading", "running"]
    assert loaded == f"loaded: {[f'assay.cli.{name}' for name in ['estimation', *shared]]}"


def test_the_shell_completes_commands_and_options() -> None:
    def completed(words: str) -> list[str]:
        place = str(len(words.split(" ")) - 1)
        return fresh(
            "-m", "assay", _ASSAY_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=place
        ).split()

    assert completed("assay es") == ["estimate"]
    assert completed("assay plan ed") == ["editors"]
    assert "--budget" in completed("assay sample --bu")
    assert "complete -o default -F _assay_completion assay" in fresh(
        "-m", "assay", _ASSAY_COMPLETE="source_bash"
    )
