"""The documentation cannot drift: its code runs, its commands exist, its pages are current."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import pkgutil
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.conftest import ROOT, Demo, Ran
from tests.sheets import rate_sheet

import assay
from assay.formats.catalogue import FORMATS
from assay.tables.schemas import SCHEMAS

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[object]:
    return [
        pytest.param(match[2], id=f"{page.name}-{number}")
        for page in PAGES
        if (page.name, language) != ("README.md", "console")  # its commands build on each other
        for number, match in enumerate(BLOCK.finditer(page.read_text("utf-8")))
        if match[1] == language
    ]


@pytest.fixture
def demo_folder(demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what the demo writes for every example, which may change it."""
    shutil.copytree(demo.folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("code", blocks("python"))
def test_python_examples_run(code: str, demo_folder: Path) -> None:
    exec(compile(code, "example", "exec"), {})


def test_the_commands_of_the_readme_work_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_assay: Callable[..., Ran]
) -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    world = assay.simulate(documents=20, systems=3, texts=True, rng=1)
    world.test_set.frame.rename({"system": "Model", "seg": "SegmentID"}).write_csv("outputs.csv")
    commands = re.findall(r"^\$ (.+)$", "".join(code for code in consoles(page)), re.MULTILINE)
    assert [words.split()[1] for words in commands if words.startswith("assay")] == [
        "new", "plan", "sample", "collect", "collect", "status", "report",
    ]  # fmt: skip
    for command in commands:
        words = shlex.split(command)
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
            continue
        if "answers/*.xlsx" in words:
            for name in ("Ada", "Ben"):
                rate_sheet(Path("sheets", f"{name}.xlsx"), Path("answers", f"{name}.xlsx"))
        ran = run_assay(*words[1:])
        assert ran.code == 0, (command, ran.err)
    assert "system-1" in Path("report.html").read_text("utf-8")


def consoles(page: str) -> list[str]:
    return [match[2] for match in BLOCK.finditer(page) if match[1] == "console"]


@pytest.mark.parametrize("session", blocks("console"))
def test_console_examples_run(
    session: str, demo_folder: Path, run_assay: Callable[..., Ran]
) -> None:
    commands = re.findall(r"^\$ ((?:.*\\\n)*.*)", session, re.MULTILINE)
    assert commands
    for command in commands:
        words = shlex.split(command.replace("\\\n", " "))
        if words[0] != "assay":
            continue  # make, pip and the like are tested by being the way the tests are run
        ran = run_assay(*words[1:])
        assert ran.code == 0, (command, ran.err)


@pytest.mark.parametrize("name", ["cli", "api", "project"])
def test_generated_pages_are_current(name: str) -> None:
    module = generator(name)
    current = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    assert current == module.page(), f"run: .venv/bin/python docs/generate_{name}.py"


def generator(name: str) -> ModuleType:
    path = ROOT / "docs" / f"generate_{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", [name for name in assay.__all__ if name != "__version__"])
def test_every_public_name_is_explained(name: str) -> None:
    item = getattr(assay, name)
    text = inspect.getdoc(item) or ""
    assert text.split("\n\n")[0].endswith("."), "the first paragraph is no sentence"
    if inspect.isfunction(item):
        # pytest runs the examples themselves (--doctest-modules).
        examples = doctest.DocTestParser().get_examples(text)
        assert examples, "there is no example"
        assert any(example.want for example in examples), "the example shows no answer"


def test_every_table_and_column_is_documented() -> None:
    page = (ROOT / "docs" / "tables.md").read_text("utf-8")
    for schema in SCHEMAS.values():
        assert f"**{schema.kind}**" in page
        for name in schema.names:
            assert f"`{name}`" in page, name


def test_every_format_is_documented() -> None:
    page = (ROOT / "docs" / "formats.md").read_text("utf-8")
    for name in FORMATS:
        assert f"`{name}`" in page, name


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, *TUTORIALS, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), (page.name, target)


def test_no_machine_paths_and_no_registry_addresses() -> None:
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert "://" not in line
        assert line.startswith("#") or re.fullmatch(r"[\w.\-]+==[\w.\-+!]+", line), line


def test_the_readme_shows_what_the_demo_prints(demo: Demo) -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    for line in demo.out.splitlines():
        assert line.strip() in page, line


def test_files_named_for_contributors_exist() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"(?<![\w/.])(?:\w+/)+\w+\.(?:py|md)\b", page)
    assert len(named) > 8
    for name in named:
        assert (ROOT / name).is_file() or (ROOT / "src" / "assay" / name).is_file(), name
    tree = re.findall(r"^  ([\w/.]+)  ", page, re.MULTILINE)
    assert len(tree) > 10
    assert all((ROOT / "src" / "assay" / name).exists() for name in tree), tree


def test_every_function_that_the_methods_page_names_is_there() -> None:
    page = (ROOT / "docs" / "methods.md").read_text("utf-8")
    rooms = [path.name for path in (ROOT / "src" / "assay").iterdir() if path.is_dir()]
    named = re.findall(rf"`((?:{'|'.join(rooms)})\.[\w.]+)`", page)
    assert len(named) > 40
    for name in named:
        assert pkgutil.resolve_name(f"assay.{name}") is not None, name
