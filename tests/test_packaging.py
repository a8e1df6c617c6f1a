"""What is published: built as pip builds it, installed without extras, and run from elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from email.parser import Parser
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

pytestmark = pytest.mark.slow


def not_declared(wheel: Path) -> set[str]:
    """The modules installed here that pip would not have installed with the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        todo = _needs(Parser().parsestr(archive.read(name).decode()).get_all("Requires-Dist", []))
    wanted: set[str] = set()
    while todo:
        name = canonicalize_name(todo.pop())
        if name not in wanted:
            wanted.add(name)
            todo += _needs(metadata.requires(name) or [])
    return {
        module
        for module, owners in metadata.packages_distributions().items()
        if not wanted & {canonicalize_name(owner) for owner in owners}
    }


def _needs(lines: list[str]) -> list[str]:
    needs = map(Requirement, lines)
    return [need.name for need in needs if not need.marker or need.marker.evaluate({"extra": ""})]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel, which is built from the sdist, and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def bare(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``assay`` of an environment with the wheel and the core dependencies only.

    The dependencies are those installed here, so that no network is needed; a hook makes impossible
    to import what pip would not have installed with the wheel.
    """
    (wheel,) = built.glob("*.whl")
    hidden = not_declared(wheel)
    assert {"docx", "blingfire", "pytest"} <= hidden
    folder = tmp_path_factory.mktemp("bare") / "venv"
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    inside = Path(
        sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    )
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(folder), "install", "--quiet", "--no-deps",
         "--no-index", "--disable-pip-version-check", str(wheel)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    # Plain paths come after the environment's own, so that the wheel is found first.
    others = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (inside / "dependencies.pth").write_text("\n".join(others) + "\nimport no_extras\n")
    (inside / "no_extras.py").write_text(
        "import sys\n"
        f"for name in {sorted(hidden)!r}:\n"
        "    sys.modules[name] = None\n"  # `import name` raises ImportError
    )
    return binaries / "assay"


def run(program: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the installed command as a user would: elsewhere, and not with this source tree."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(program), *arguments], cwd=cwd, env=clean, capture_output=True, text=True,
        encoding="utf-8",
    )  # fmt: skip


def test_the_wheel_holds_everything_the_source_has(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "assay").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "assay/py.typed" in source
    assert any(name.endswith((".html", ".j2", ".css", ".txt")) for name in source), "no data files"
    assert source <= inside, sorted(source - inside)
    foreign = {name for name in inside - source if ".dist-info/" not in name}
    assert not foreign, foreign


def test_the_sdist_holds_what_the_tests_need(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        inside = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    needed = ("Makefile", "constraints.txt", "mkdocs.yml", "CONTRIBUTING.md", "docs/cli.md")
    assert {*needed, "tests/conftest.py", "benchmarks/__init__.py"} <= inside


def test_the_installed_command_is_the_wheel(bare: Path, tmp_path: Path) -> None:
    where = subprocess.run(
        [str(bare.with_name("python")), "-c", "import assay; print(assay.__file__)"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert Path(where.strip()).is_relative_to(bare.parent.parent)


def test_the_demo_runs_without_extras(bare: Path, tmp_path: Path) -> None:
    assert run(bare, "--version", cwd=tmp_path).stdout.startswith("assay ")
    done = run(bare, "demo", "-o", "x", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "report: x" in done.stdout
    assert (tmp_path / "x" / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize("words", ["serve", "campaign new plan.toml", "campaign status ."])
def test_collecting_in_a_browser_needs_an_extra(bare: Path, tmp_path: Path, words: str) -> None:
    done = run(bare, *words.split(), cwd=tmp_path)
    assert done.returncode == 1
    assert "pip install 'mt-assay[campaign]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["book.docx", "book.txt"])
def test_what_needs_an_extra_says_so(bare: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("A text. It has two sentences.\n" * 300)
    done = run(bare, "kits", "find", name, cwd=tmp_path)
    assert done.returncode == 1
    assert "pip install 'mt-assay[kits]'" in done.stderr
    assert "Traceback" not in done.stderr
