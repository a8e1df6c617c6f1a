"""Claim: whatever a file holds, every command answers or refuses, in bounded time and memory.

Every reader and every command get files changed at random, with options that fit or do not. A case
is known by the seed and its number. Those that fail are kept in `.bench/fuzz`, each with its files
and the command to run it again.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import os
import re
import resource
import shlex
import shutil
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.main import get_command

from assay.cli import COMMANDS, make_app
from benchmarks.claims import claim
from benchmarks.fuzz_cases import Case, make_case, make_corpus, read_corpus

SECONDS, MEGABYTES = 30.0, 2000
"""What a case may take: seconds of the processor, as other work on the machine does not count."""
PATIENCE = 4 * SECONDS
"""Seconds by the clock after which a worker is ended."""
KEPT = Path(".bench/fuzz")
THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Variables for the number of threads: the workers share the cores."""
UNCAUGHT = re.compile(r"Traceback \(|panicked at|should not have happened|RUST_BACKTRACE")
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Outcome:
    """What became of a case; ``fault`` says what was wrong, if anything."""

    number: int
    command: str
    reader: str
    code: int | None
    fault: str = ""
    said: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0


def call(words: Sequence[str]) -> tuple[int, str, str]:
    """Run the command line in this process: exit code, output, errors."""
    from assay import cli

    out, err = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(stream, "utf-8", write_through=True) for stream in (out, err)]
    with (
        redirect_stdout(streams[0]), redirect_stderr(streams[1]),
        patch.object(sys, "argv", ["assay", *words]), patch.object(cli, "make_app", _built),
    ):  # fmt: skip
        try:
            cli.main()
            code: object = 0
        except SystemExit as stop:
            code = stop.code
        except BaseException:  # not even the door caught it
            code = 1
            traceback.print_exc()
    texts = [stream.getvalue().decode("utf-8", "replace") for stream in (out, err)]
    return code if isinstance(code, int) else 0, texts[0], texts[1]


def _built(names: Sequence[str] = tuple(COMMANDS)) -> Any:
    return _command(tuple(names))


@cache
def _command(names: tuple[str, ...]) -> Any:
    """The command line with these commands, built once: that takes longer than most cases."""
    return get_command(make_app(names))


def find_fault(words: Sequence[str], code: int, out: str, err: str) -> str:
    """What is wrong with an answer, in a word or two."""
    if UNCAUGHT.search(out + err):
        return "traceback"
    if "the memory ran out" in err:
        return "over 2 GB"
    if code not in (0, 2):
        return f"exit {code}"
    if code == 2 and not (out + err).strip():
        return "no sentence"
    if re.search(r"\w+\.py:\d+: \w*Warning", err):
        return "warning"
    if "--json" in words:
        return "" if _is_object(out) else "no JSON"
    return "control characters" if CONTROLS.search(out + err) else ""


def _is_object(text: str) -> bool:
    def refuse(name: str) -> float:
        raise ValueError(name)

    try:
        return isinstance(json.loads(text, parse_constant=refuse), dict)
    except ValueError:
        return False


def run_case(number: int, case: Case, folder: Path) -> Outcome:
    """Run one case in an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    case.write(folder)
    os.chdir(folder)
    _below(folder)  # what was said while the files were made
    Path("/proc/self/clear_refs").write_text("5")  # the most memory is counted from here
    began = time.process_time()
    code, out, err = call(case.words)
    seconds, megabytes = time.process_time() - began, memory("VmHWM")
    err += _below(folder)
    fault = find_fault(case.words, code, out, err)
    fault = "over 2 GB" if megabytes > MEGABYTES else "over 30 s" if seconds > SECONDS else fault
    said = (out + err)[-3000:] if fault else ""
    return Outcome(number, case.command, case.reader, code, fault, said, seconds, megabytes)


def memory(name: str) -> float:
    """A number of megabytes that the system keeps of this process."""
    found = re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) / 1000 if found else 0.0


def _below(folder: Path) -> str:
    """What libraries wrote to stderr themselves, and nothing of it for the next case."""
    path = folder.with_suffix(".stderr")
    if not path.exists():
        return ""
    text = path.read_text("utf-8", "replace")
    os.truncate(path, 0)
    return text


def serve(pipe: Connection, seed: int, corpus: Path, folder: Path) -> None:
    """A worker: runs the cases it is told, and dies alone where one takes it along."""
    below = os.open(folder.with_suffix(".stderr"), os.O_CREAT | os.O_RDWR | os.O_APPEND)
    os.dup2(below, 2)
    warnings.simplefilter("always", RuntimeWarning)
    files = read_corpus(corpus)
    for module in ("scipy.stats", "sklearn.neighbors", "matplotlib.pyplot", "sacrebleu", "docx"):
        __import__(module)
    most = int((memory("VmSize") + MEGABYTES) * 1e6)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    pipe.send(None)
    while True:
        number = pipe.recv()
        pipe.send(run_case(number, make_case(seed, number, files), folder))


def drive(
    numbers: Iterator[int], seed: int, corpus: Path, folder: Path,
    work: Callable[[Connection, int, Path, Path], None] = serve, seconds: float = PATIENCE,
) -> Iterator[Outcome]:  # fmt: skip
    """Run cases in a process of its own, and in a new one after each that it did not survive."""
    spawn, process = multiprocessing.get_context("spawn"), None
    try:
        for number in numbers:
            if process is None:
                pipe, end = spawn.Pipe()
                process = spawn.Process(target=work, args=(end, seed, corpus, folder), daemon=True)
                process.start()
                end.close()
                pipe.recv()
            pipe.send(number)
            try:
                if pipe.poll(seconds):
                    yield pipe.recv()
                    continue
                fault = f"over {seconds:g} s"
                process.kill()
            except (EOFError, ConnectionError):
                fault = "abort"
            process.join()
            yield Outcome(number, "", "", process.exitcode, fault, _below(folder), seconds)
            process = None
    finally:
        if process is not None:
            process.kill()


def fuzz(seed: int, *, minutes: float, cases: int, workers: int = 2) -> list[Outcome]:
    """Run so many cases, or as many as fit into the time; what fails is kept with its files."""
    began, lock, numbers = time.monotonic(), threading.Lock(), iter(range(cases))
    found: list[Outcome] = []

    def shared() -> Iterator[int]:
        while time.monotonic() - began < 60 * minutes:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            yield number

    def one(worker: int) -> None:
        for outcome in drive(shared(), seed, corpus, base / f"worker-{worker}"):
            if outcome.fault:
                case = make_case(seed, outcome.number, files)
                outcome = replace(outcome, command=case.command, reader=case.reader)
                keep(seed, outcome, case)
            found.append(outcome)
            if len(found) % 1000 == 0:
                print(
                    f"{len(found):,} cases in {(time.monotonic() - began) / 60:.1f} min", flush=True
                )

    with (
        patch.dict(os.environ, dict.fromkeys(THREADS, "1")), tempfile.TemporaryDirectory() as name,
        ThreadPoolExecutor(workers) as pool,
    ):  # fmt: skip
        base, corpus = Path(name), Path(name) / "corpus"
        make = multiprocessing.get_context("spawn").Process(target=make_corpus, args=(corpus, call))
        make.start()
        make.join()
        files = read_corpus(corpus)
        list(pool.map(one, range(workers)))
    return sorted(found, key=lambda outcome: outcome.number)


def keep(seed: int, outcome: Outcome, case: Case) -> None:
    """Save a case that failed: its files, and how to run it again."""
    folder = KEPT / f"{seed}-{outcome.number}"
    shutil.rmtree(folder, ignore_errors=True)
    case.write(folder)
    text = (
        f"{outcome.fault}\ncase {outcome.number} of seed {seed}; to run it again, in this folder:\n"
    )
    text += f"assay --debug {shlex.join(case.words)}\n\n{outcome.said}"
    (folder / "FAULT.txt").write_text(text, "utf-8", "backslashreplace")


def show(found: Sequence[Outcome]) -> None:
    """Print how often everything was tried, and what came of it."""
    for what in ("command", "reader"):
        print(f"\ncases by {what}: all, exit 0, exit 2, failed, mean ms, slowest s")
        for name in sorted({getattr(one, what) for one in found}):
            rows = [one for one in found if getattr(one, what) == name]
            codes, faults = Counter(one.code for one in rows), sum(bool(one.fault) for one in rows)
            seconds = [one.seconds for one in rows]
            print(
                f"  {name:18} {len(rows):6} {codes[0]:6} {codes[2]:6} {faults:4}"
                f" {1000 * sum(seconds) / len(rows):6.0f} {max(seconds):6.1f}"
            )
    slow = sorted(found, key=lambda one: -one.seconds)[:5]
    print("slowest:", *(f"{one.number} ({one.command}, {one.seconds:.1f} s)" for one in slow))
    for one in found:
        if one.fault:
            last = next(iter(one.said.strip().splitlines()[-1:]), "")
            print(f"FAULT {one.number} {one.fault}: {one.command} ({one.reader}): {last[:300]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    began = time.monotonic()
    found = fuzz(given.seed, minutes=given.minutes, cases=given.cases, workers=given.workers)
    show(found)
    faults = Counter(one.fault for one in found if one.fault)
    peer = f"{len(found):,} cases, seed {given.seed}, {(time.monotonic() - began) / 60:.0f} min"
    claim(
        "mutated files in every reader and command: tracebacks, aborts and other faults",
        faults.total(), goal=0, unit="cases", peer=peer,
    )  # fmt: skip
    claim("the slowest of them", max(one.seconds for one in found), goal=SECONDS, unit="s")
    claim("the largest of them", max(one.megabytes for one in found), goal=MEGABYTES, unit="MB")
    print(*(f"{name}: {count}" for name, count in faults.items()), sep="\n")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
