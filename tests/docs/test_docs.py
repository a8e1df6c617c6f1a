"""The documentation cannot drift: its code runs, its commands exist, its pages are current."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import ROOT, Ran

from assay.tables.formats import FORMATS
from assay.tables.schema import SCHEMAS

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[object]:
    return [
        pytest.param(match[2], id=f"{page.name}-{number}")
        for page in PAGES
        for number, match in enumerate(BLOCK.finditer(page.read_text("utf-8")))
        if match[1] == language
    ]


@pytest.fixture
def demo_folder(
    tmp_path: Path, run_assay: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.chdir(tmp_path)
    run_assay("demo", "-o", ".")
    return tmp_path


@pytest.mark.parametrize("code", blocks("python"))
def test_python_examples_run(code: str, demo_folder: Path) -> None:
    exec(compile(code, "example", "exec"), {})


@pytest.mark.parametrize("session", blocks("console"))
def test_console_examples_run(
    session: str, demo_folder: Path, run_assay: Callable[..., Ran]
) -> None:
    commands = re.findall(r"^\$ (.*(?:\\\n.*)*)", session, re.MULTILINE)
    assert commands
    for command in commands:
        words = shlex.split(command.replace("\\\n", " "))
        if words[0] != "assay":
            continue  # make, pip and the like are tested by being the way the tests are run
        ran = run_assay(*words[1:])
        assert ran.code == 0, (command, ran.err)


def test_cli_page_is_current() -> None:
    spec = importlib.util.spec_from_file_location("generate_cli", ROOT / "docs" / "generate_cli.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    current = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert current == module.page(), "run: .venv/bin/python docs/generate_cli.py"


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
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), (page.name, target)


def test_no_machine_paths_and_no_registry_addresses() -> None:
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert "://" not in line
        assert line.startswith("#") or re.fullmatch(r"[\w.\-]+==[\w.\-+!]+", line), line


def test_the_readme_shows_what_the_demo_prints(
    demo_folder: Path, run_assay: Callable[..., Ran]
) -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    printed = run_assay("demo", "-o", "demo").out
    for line in printed.splitlines():
        assert line.strip() in page, line
