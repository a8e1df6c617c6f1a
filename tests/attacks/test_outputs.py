"""The old file or the new one, never half: writers that are killed, and a disk that is full."""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from lxml import etree
from tests.attacks.writing import FIGURES, REPORTS, SIZES, TABLES, writers
from tests.conftest import ROOT, fill

import assay
from assay.cli.demo import demo
from assay.errors import InputError
from assay.tables.load import library_errors, load, write_bytes
from assay.views.page import write_parts

KILLS = int(os.environ.get("ASSAY_KILLS", "3"))
"""More of them in a long run: ASSAY_KILLS=100."""


def check_whole(path: Path) -> None:
    """Fail where a file is not one of the two that were written."""
    data = path.read_bytes()
    if path.name in TABLES:
        frame = load(path, text=lambda _: True).frame
        assert frame.height in SIZES
        assert frame["n"].cast(int).to_list() == list(range(frame.height))
    elif path.suffix == ".json":
        assert json.loads(data)["kind"]
    elif path.suffix == ".svg":
        assert etree.fromstring(data).tag.endswith("svg")
    elif path.suffix in (".pdf", ".png"):
        assert data.rstrip().endswith(b"%%EOF" if path.suffix == ".pdf" else b"IEND\xaeB`\x82")
    else:
        end = "</html>" if path.suffix == ".html" else f"computed with Assay {assay.__version__}."
        assert data.decode().rstrip().endswith(end)


@pytest.mark.parametrize("number", range(KILLS))
def test_kill_9_leaves_whole_files(number: int, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.attacks.writing", str(tmp_path)], cwd=ROOT,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"all written\n"
        time.sleep(random.Random(number).uniform(0, 1.0))
    finally:
        process.kill()
        process.communicate()
    names = [path for path in tmp_path.iterdir() if not path.name.startswith(".")]
    assert {path.name for path in names} == {"r.json", *TABLES, *FIGURES, *REPORTS}
    for path in names:
        check_whole(path)


def test_a_full_disk_is_a_sentence_and_the_old_file_stays(small_disk: Path) -> None:
    found = writers(small_disk)
    for name, write in found.items():
        (small_disk / name).write_text("old")
        fill(small_disk)
        with pytest.raises(InputError, match="cannot be written .No space left on device.; check"):
            write(1)
        assert (small_disk / name).read_text() == "old"
        (small_disk / "filling").unlink()
    assert {path.name for path in small_disk.iterdir()} == set(found)


def test_a_full_disk_holds_no_half_sheets(small_disk: Path) -> None:
    # The library of workbooks left it to a traceback.
    world = assay.simulate(documents=6, systems=2, texts=True, rng=1)
    plan = assay.assign(world.test_set, ["Ada", "Ben"], rng=1)
    fill(small_disk)
    for kind in ("xlsx", "csv", "pearmut"):
        with pytest.raises(InputError, match="cannot be written .No space left on device.; check"):
            assay.write_sheets(world.test_set, plan, small_disk / "sheets", format=kind)
        assert [path.name for path in small_disk.iterdir()] == ["filling"]


def test_a_read_only_disk_is_a_sentence(small_disk: Path) -> None:
    (small_disk / "t.tsv").write_text("old")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for write in writers(small_disk).values():
        with pytest.raises(InputError, match=r"cannot be written .Read-only file system.; check"):
            write(1)
    assert (small_disk / "t.tsv").read_text() == "old"


def test_what_cannot_be_made_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a read-only disk, where the second fault hid the sentence about the first.
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", "hidden")

    monkeypatch.setattr("assay.tables.load.os.open", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(InputError, match="t.tsv.*\n.*cannot be written .Read-only file system."):
        write_bytes(tmp_path / "t.tsv", b"new")


def test_interrupted_parts_and_demos_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A demo that was stopped left files that the next one, in the same folder, refused.
    world = assay.simulate(documents=6, systems=2, rng=1)
    plan = assay.plan_ratings(population=500, half_width=0.1, sd=1.0)
    calls = itertools.count()

    def interrupted(path: Path, data: bytes) -> Path:
        if next(calls) == 2:
            raise KeyboardInterrupt
        path.write_bytes(data)
        return path

    with monkeypatch.context() as patch:
        patch.setattr("assay.views.page.write_bytes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_parts(plan, tmp_path / "parts")
    with monkeypatch.context() as patch:
        run = SimpleNamespace(tables={"scores": world.test_set}, results={"plan": plan})
        patch.setattr("assay.cli.demo._run", lambda *_: run)
        patch.setattr("assay.cli.demo.save_json", lambda _, path: interrupted(path, b""))
        calls = itertools.count(2)
        with pytest.raises(KeyboardInterrupt):
            demo(output=tmp_path / "demo")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_never_began_is_closed_in_silence(tmp_path: Path) -> None:
    # Ctrl-C between two instructions closed it with an exit that was taken for a damaged file.
    began = library_errors(tmp_path / "t.tsv")
    began.__enter__()
    began.gen.close()  # type: ignore[attr-defined]
