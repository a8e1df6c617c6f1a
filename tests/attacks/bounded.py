"""Run something in a process of its own, with its time and its memory measured and bounded."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

GUARD = 8 << 30
"""Address space that no process gets: a bomb that goes off must not take the machine with it."""
HANGS = 20
"""Times its seconds of the processor that a process may take on a busy machine."""
NO_ANSWER = ("Traceback", "panicked", "RUST_BACKTRACE", "Aborted", "memory allocation")
"""What stands on stderr where a fault was not caught."""


class Bounded(NamedTuple):
    """What a process did: exit code (negative: the signal), output, seconds and peak memory.

    ``seconds`` are those of the processor: other work on the machine does not count.
    """

    code: int
    out: str
    err: str
    seconds: float
    megabytes: float

    def refused(self) -> bool:
        """Whether it ended with a sentence and exit code 2."""
        said = self.out + self.err
        return self.code == 2 and bool(said.strip()) and not any(w in said for w in NO_ANSWER)


def run_bounded(
    command: Sequence[object], *, seconds: float = 30, cwd: Path | None = None,
    stdin: bytes | int | None = None, env: dict[str, str] | None = None,
) -> Bounded:  # fmt: skip
    """Run a command; it is killed (exit code -9) when it has used its seconds, or hangs."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.monotonic()
        process = subprocess.Popen(
            [os.fspath(part) if isinstance(part, Path) else str(part) for part in command],
            stdin=stdin if isinstance(stdin, int) else subprocess.PIPE, stdout=out, stderr=err,
            cwd=cwd, env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (GUARD, GUARD)),
        )  # fmt: skip
        if process.stdin is not None:
            process.stdin.write(stdin if isinstance(stdin, bytes) else b"")
            process.stdin.close()
        peak = used = 0.0
        while process.poll() is None:
            peak, used = max(peak, _megabytes(process.pid)), max(used, _seconds(process.pid))
            if used > seconds or time.monotonic() - began > HANGS * seconds:
                process.send_signal(signal.SIGKILL)
                process.wait()
            time.sleep(0.01)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    return Bounded(process.returncode, texts[0], texts[1], used, peak)


def run_assay_bounded(
    *arguments: object, seconds: float = 30, cwd: Path | None = None,
    stdin: bytes | int | None = None, env: dict[str, str] | None = None,
) -> Bounded:  # fmt: skip
    """Run the command line."""
    command = [sys.executable, "-m", "assay", *arguments]
    return run_bounded(command, seconds=seconds, cwd=cwd, stdin=stdin, env=env)


class Opened(NamedTuple):
    """What `assay.check` says of a file, and the seconds of the processor that it took."""

    ok: bool
    messages: list[str]
    seconds: float


CHECK = """
import json, sys, time
import assay

for path, kind, form in json.load(sys.stdin):
    before = time.process_time()
    checked = assay.check(path, kind=kind, format=form)
    messages = [problem.message for problem in checked.problems]
    print(json.dumps([checked.ok, messages, time.process_time() - before]))
"""


def check_bounded(
    files: Mapping[str, tuple[Path, str, str | None]], *, seconds: float = 100
) -> tuple[dict[str, Opened], Bounded]:
    """Check files (path, kind, format) in one process, one after the other.

    Its peak of memory bounds that of each of them.
    """
    asked = json.dumps([(str(path), kind, form) for path, kind, form in files.values()])
    ran = run_bounded([sys.executable, "-c", CHECK], stdin=asked.encode(), seconds=seconds)
    assert ran.code == 0, ran.err
    assert not ran.err
    answers = (Opened(*json.loads(line)) for line in ran.out.splitlines())
    return dict(zip(files, answers, strict=True)), ran


def _megabytes(pid: int) -> float:
    """The most memory that a process has had so far, without what its parent had."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) / 1024


def _seconds(pid: int) -> float:
    """The processor time that a process has used so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
