"""One door: whatever stops a command ends in one sentence and the right exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.conftest import Ran

import assay
from assay.cli import WRITTEN, make_app

Run = Callable[..., Ran]
CHILD = (sys.executable, "-m", "assay")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("campaign")
    world = assay.simulate(documents=8, systems=2, rng=1)
    world.test_set.write(folder / "scores.tsv")
    sample = assay.sample(world.test_set, budget="50%", rng=1)
    sample.write(folder / "sample.tsv")
    world.rate(sample).write(folder / "ratings.tsv")
    world.judge(100, per_set=2, rng=1).write(folder / "judgments.tsv")
    return folder


@pytest.fixture
def inside(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(campaign)
    return campaign


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr("assay.tables.answers.read_judgments", fail)


class Panic(BaseException):
    """What a reader written in Rust raises is no Exception."""


@pytest.mark.parametrize(
    "error",
    [ZeroDivisionError("division\nby zero"), KeyError("x"), RecursionError("deep"), Panic("broken"),
     AssertionError(), UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates")],
)  # fmt: skip
def test_anything_unexpected_is_one_sentence(
    error: BaseException, run_assay: Run, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, error)
    ran = run_assay("rank", "judgments.tsv")
    assert ran.code == 1
    assert ran.err.startswith(f"assay: this should not have happened ({type(error).__name__}: ")
    assert ran.err.endswith("with the command and the output of --debug\n")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    for words in (("--debug", "rank", "judgments.tsv"), ("rank", "judgments.tsv", "--debug")):
        ran = run_assay(*words)
        assert ran.code == 1
        assert "Traceback (most recent call last)" in ran.err


def test_no_memory_and_a_failing_system_are_sentences(
    run_assay: Run, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, MemoryError())
    ran = run_assay("rank", "judgments.tsv")
    assert (ran.code, ran.err.startswith("assay: the memory ran out; ")) == (1, True)
    failing(monkeypatch, PermissionError(13, "Permission denied", "some/file"))
    ran = run_assay("rank", "judgments.tsv")
    assert (ran.code, ran.err) == (1, "assay: some/file: Permission denied\n")


@pytest.mark.parametrize(
    ("words", "code", "said", "problems"),
    [
        (("rank", "nothing.tsv"), 2, "nothing.tsv: 1 problem", 1),
        (("rank", "scores.tsv"), 2, "neither a table of judgments", 0),
        (("rank", "judgments.tsv", "--level", "2"), 2, "--level (2.0) is not a confidence", 0),
        (("rank", "judgments.tsv", "--bogus"), 2, "No such option: --bogus", 0),
        (("rank",), 2, "Missing argument", 0),
        (("bogus",), 2, "No such command 'bogus'", 0),
    ],
)
def test_with_json_an_error_is_one_object(
    words: tuple[str, ...], code: int, said: str, problems: int, run_assay: Run, inside: Path
) -> None:
    ran = run_assay(*words, "--json")
    assert ran.code == code
    found = json.loads(ran.out)
    assert set(found) == {"error", "problems"}
    assert said in found["error"]
    assert len(found["problems"]) == problems
    assert all({"line", "column", "value", "message"} == set(item) for item in found["problems"])
    assert "assay" in ran.err


def test_an_unexpected_error_is_an_object_too(
    run_assay: Run, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, ZeroDivisionError("x"))
    ran = run_assay("rank", "judgments.tsv", "--json")
    assert ran.code == 1
    assert "ZeroDivisionError" in json.loads(ran.out)["error"]


def child(words: str, folder: Path, **given: Any) -> subprocess.CompletedProcess[bytes]:
    done: subprocess.CompletedProcess[bytes] = subprocess.run(
        ["/bin/sh", "-c", words, *CHILD], cwd=folder, capture_output=True, timeout=60, check=False,
        **given,
    )  # fmt: skip
    return done


ASSAY = '"$0" "$@" rank judgments.tsv --ranges sign'


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (f"{ASSAY} >&-", 1, "assay: standard output: is closed; "),
        (f"{ASSAY} >/dev/full", 1, "standard output: cannot be written (No space left on device)"),
        (f"{ASSAY} --json >/dev/full", 1, "standard output: cannot be written"),
        (f"({ASSAY} 2>err; echo $? >code) | true; cat err >&2; exit $(cat code)", 0, ""),
        (f"{ASSAY} --json 2>&-", 0, ""),
    ],
)
def test_streams_that_nobody_takes(words: str, code: int, said: str, campaign: Path) -> None:
    done = child(words, campaign)
    lines = done.stderr.decode().splitlines()
    assert done.returncode == code, lines
    assert not [line for line in lines if "Traceback" in line or "Exception ignored" in line]
    own = [line for line in lines if line.startswith("assay: ")]
    assert len(own) == bool(said)
    assert said in "".join(own)


def test_names_are_utf8_whatever_the_console(campaign: Path, tmp_path: Path) -> None:
    path = tmp_path / "judgments.tsv"
    rows = "".join("系统甲\t系统乙\tleft\n系统甲\t系统乙\tright\n" for _ in range(20))
    path.write_text("left\tright\twinner\n" + rows, "utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    for words in (ASSAY, f"{ASSAY} --json"):
        done = child(words, tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        assert "系统甲" in done.stdout.decode("utf-8")
        assert "系统乙" in done.stdout.decode("utf-8")


def working(session: int) -> int:
    """How many processes of a session have worked for longer than their imports take."""
    count = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("utf-8").rpartition(")")[2].split()
        except OSError:  # it ended
            continue
        seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        count += int(fields[3]) == session and seconds > 1.2
    return count


def interrupted(words: tuple[str, ...], folder: Path, processes: int) -> tuple[int, str]:
    """Run a command that Ctrl-C reaches, with all its processes, once so many are at work.

    Where there is no /proc to see them in, after five seconds.
    """
    process = subprocess.Popen(
        [*CHILD, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + (60 if Path("/proc/self/stat").exists() else 5)
    while working(process.pid) < processes and time.monotonic() < end:
        time.sleep(0.1)
    try:
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return process.returncode, said.decode()


LONG = ("stability", "scores.tsv", "--designs", "balanced,snippets", "--budget", "30%",
        "--metric", "neural", "--draws", "1000000")  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize(("more", "processes"), [((), 1), (("--workers", "2"), 2)])
def test_ctrl_c_is_quiet(more: tuple[str, ...], processes: int, campaign: Path) -> None:
    code, said = interrupted((*LONG, *more), campaign, processes)
    # Python itself may end by the signal, which a shell calls 130 too.
    assert code in (130, -signal.SIGINT), said
    assert said == ""


@pytest.mark.parametrize("place", ["assay.cli", "assay.cli.ranking", "assay.tables.load"])
def test_ctrl_c_while_loading_is_quiet(place: str, campaign: Path) -> None:
    """An interrupt at the import of a module, wherever the machine happens to be."""
    code = (
        "import runpy, sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {place!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "sys.argv = ['assay', 'rank', 'judgments.tsv']\n"
        "runpy.run_module('assay', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=campaign, capture_output=True, timeout=60, check=False
    )
    assert done.returncode in (130, -signal.SIGINT)
    assert done.stderr == b""


# --- inputs and outputs --------------------------------------------------------------------------


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, name))
    if words and not hasattr(command, "commands"):
        yield " ".join(words), command


READ = {
    "scores", "ratings", "file", "source", "judgments", "table", "tables", "edits", "results",
    "corpus", "design", "texts", "key", "files", "answers", "data",
    "--sample", "--scores", "--history", "--top-up", "--errors", "--earlier", "--published",
    "--pilot", "--ratings", "--kits", "--judgments", "--data", "--truth", "--instructions",
    "folder", "plan", "more", "--from", "--before", "--after", "--marks", "--kit-design",
}  # fmt: skip


def test_every_path_of_every_command_is_read_or_written() -> None:
    app = typer.main.get_command(make_app())
    unknown = set()
    for words, command in commands(app):
        for item in command.params:
            if "pathlib.Path" in str(getattr(item, "type_descriptor", "")):
                name = max(item.opts, key=len)
                if name not in WRITTEN | READ:
                    unknown.add(f"{words} {name}")
    assert not unknown, "say in cli.WRITTEN if a command writes it"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, campaign: Path) -> Path:
    for path in campaign.glob("*.tsv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "soft.json").symlink_to("ratings.tsv")
    os.link(tmp_path / "ratings.tsv", tmp_path / "hard.json")
    os.link(tmp_path / "sample.tsv", tmp_path / "hard.tsv")
    (tmp_path / "soft.tsv").symlink_to("sample.tsv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "sample scores.tsv --budget 20% --history ratings.tsv -o ratings.tsv",
        "sample scores.tsv --budget 20% -o ./scores.tsv",
        "sample scores.tsv --budget 90% --top-up sample.tsv -o hard.tsv",
        "sample scores.tsv --budget 90% --top-up sample.tsv -o soft.tsv",
        "convert scores.tsv sample.tsv --from scores --to ratings --sample sample.tsv",
        "convert scores.tsv soft.tsv --from scores --to ratings --sample sample.tsv",
        "convert scores.tsv hard.tsv --from scores --to ratings --sample sample.tsv",
        "convert scores.tsv scores.tsv --from scores --to scores",
        "estimate scores.tsv ratings.tsv --sample sample.tsv -o soft.json",
        "estimate scores.tsv ratings.tsv --sample sample.tsv -o hard.json",
        "estimate scores.tsv ratings.tsv --history soft.json -o ratings.tsv",
        "rank judgments.tsv -o judgments.tsv",
        "audit scores.tsv ratings.tsv -o hard.json",
        "report ratings.tsv -o hard.json",
        "report sample.tsv --parts soft.tsv",
        "stability scores.tsv --budget 20% --metric neural --figure scores.tsv",
        "check ratings.tsv --kind ratings --scores scores.tsv -o soft.json",
        "kits collect sample.tsv ratings.tsv -o soft.json",
        "kits find scores.tsv --texts scores.tsv",
        "kits build sample.tsv scores.tsv -o new --key scores.tsv",
    ],
)
def test_no_command_writes_over_what_it_reads(words: str, files: Path, run_assay: Run) -> None:
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    ran = run_assay(*words.split())
    assert ran.code == 2
    assert "is an input file; name another file" in ran.err
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_two_outputs_are_two_files(files: Path, run_assay: Run) -> None:
    ran = run_assay(
        *["sample", "scores.tsv", "--budget", "20%", "-o", "a.json", "--save", "./a.json"]
    )
    assert (ran.code, "--save (a.json) is written already" in ran.err) == (2, True)
    assert not (files / "a.json").exists()


def test_a_device_may_be_written_again_and_again(files: Path, run_assay: Run) -> None:
    draw = ("sample", "scores.tsv", "--budget", "20%", "--history", "ratings.tsv")
    ran = run_assay(*draw, "-o", "/dev/null", "--figure", "/dev/null")
    assert "is written already" not in ran.err
