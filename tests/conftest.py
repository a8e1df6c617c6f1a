"""Fixtures for all tests."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from tests.counting import CountedLines

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent

# The shell without windows shows a page with a quarter of the work.
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))),
    None,
)

# Before numpy and polars are loaded: the tests run as many processes as there are cores, and
# threads that wait for a core make a small product take thirty times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")
# Collecting makes many objects that stay and little waste.
gc.set_threshold(50_000)
# A disk in memory where there is room on one: campaigns wait for the disk after every answer.
MEMORY_DISK, ROOM = Path("/dev/shm"), 8 << 30
if os.access(MEMORY_DISK, os.W_OK) and shutil.disk_usage(MEMORY_DISK).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY_DISK))

# The same examples on every machine: a failure anybody sees is one everybody can repeat.
settings.register_profile(
    "assay",
    deadline=None,
    derandomize=True,
    max_examples=int(os.environ.get("ASSAY_EXAMPLES", "60")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("assay")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CountedLines(config), "counted-lines")


def pytest_collection_finish() -> None:
    """Keep what was collected out of every later search for garbage: it stays to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real WMT data beside the checkout, or a skip that says so."""
    folder = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "wmt20_mqm_ende.parquet").is_file():
        pytest.skip(f"real data not found in {folder}; set ASSAY_DATA to the folder that has it")
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of pages."""
    if CHROMIUM is None:
        pytest.skip("SKIPPED: no chromium, so pages are not tested in a browser")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield started
        started.close()


class Ran(NamedTuple):
    """What a command did: its exit code, stdout and stderr."""

    code: int
    out: str
    err: str


def exit_code(*arguments: object) -> int:
    """Run the command line in this process, as the console script does."""
    from assay.cli import main

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["assay", *map(str, arguments)])
        try:
            main()
        except SystemExit as stop:
            return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


@pytest.fixture
def run_assay(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """A command, its exit code and what it printed."""

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        code = exit_code(*arguments)
        return Ran(code, *capsys.readouterr())

    return run


class Demo(NamedTuple):
    """The folder that `assay demo` wrote, and what it printed."""

    folder: Path
    out: str


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo, run once; a test that changes its files takes a copy."""
    inside, out = tmp_path_factory.mktemp("demo"), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        patch.chdir(inside)
        assert exit_code("demo", "-o", "demo") == 0
    return Demo(inside / "demo", out.getvalue())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with room for little."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("a full disk is tried on a small tmpfs, which only root on Linux can mount")
    folder = tmp_path / "small"
    folder.mkdir()
    mount = [shutil.which("mount") or "mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a full disk is tried on a small tmpfs, which cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], capture_output=True, check=True)


def fill(folder: Path) -> None:
    """Leave no room on a small disk; removing the file ``filling`` makes some."""
    with (folder / "filling").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
