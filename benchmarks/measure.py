"""Wall time and peak memory of a piece of work, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Cost", "measure", "measure_command"]

_PROBE = """
import time
def peak():  # not getrusage: its maximum is inherited from the parent process
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
{setup}
base = peak()
start = time.perf_counter()
{work}
print(time.perf_counter() - start, peak() - base)
"""

# A small process in between: a child's greatest memory counts that of its parent before it starts.
_LAUNCH = """
import resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
seconds = time.perf_counter() - start
if done.returncode:
    sys.exit(done.stderr)
print(seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@dataclass(frozen=True)
class Cost:
    """Seconds (best of the repeats) and mebibytes above what the imports took (largest)."""

    seconds: float
    mebibytes: float


def measure(work: str, setup: str = "", repeats: int = 3) -> Cost:
    """Run Python code in fresh processes; imports and other preparation go into ``setup``."""
    code = _PROBE.format(setup=setup, work=work)
    found = []
    for _ in range(repeats):
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        seconds, kibibytes = done.stdout.split()[-2:]
        found.append((float(seconds), int(kibibytes) / 1024))
        time.sleep(0.1)
    return Cost(min(s for s, _ in found), max(m for _, m in found))


def measure_command(command: Sequence[str], repeats: int = 3) -> Cost:
    """Run a command; all of its memory counts, that of the interpreter and imports included."""
    found = []
    for _ in range(repeats):
        done = subprocess.run(
            [sys.executable, "-c", _LAUNCH, *command], check=True, capture_output=True, text=True
        )
        seconds, kibibytes = done.stdout.split()
        found.append((float(seconds), int(kibibytes) / 1024))
    return Cost(min(s for s, _ in found), max(m for _, m in found))
