"""Run benchmarks one after the other, each in a process of its own, and write the page of results.

python -m benchmarks [SCRIPT ...] [--full] [--out docs]
python -m benchmarks fuzz --minutes 10    (one script may be given its own options)
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import benchmarks
from benchmarks.claims import RECORD, Claim
from benchmarks.page import Outcome, load, machine, page, save

TOOLS = (
    "__main__", "claims", "environment", "fuzz_cases", "honesty_judgments", "honesty_looks",
    "measure", "moments", "mutations", "page",
)  # fmt: skip
"""Modules that are no benchmarks, but parts of some or of this."""
FULL: dict[str, tuple[str, ...]] = {
    "adaptive_budget": ("--draws", "2000"),
    "best_system": ("--runs", "2400", "--sets", "5,3,2"),
    "bounds": ("--draws", "300"),
    "differences": ("--draws", "300"),
    "effort_coverage": ("--runs", "2000"),
    "estimators": ("--draws", "500"),
    "evaluate_speed": ("--draws", "200", "--loops", "5"),
    "fuzz": ("--minutes", "10"),
    "honesty_composite": ("--draws", "200"),
    "intervals": ("--draws", "2000"),
    "pooled_test": ("--runs", "200"),
    "prediction_powered": ("--draws", "4000"),
    "rank_ranges": ("--runs", "2000"),
    "stopping": ("--draws", "500"),
    "subset_selection": ("--worlds", "100"),
    "worlds_moments": ("--worlds", "100"),
}
"""Arguments for as many draws as the pages of docs/ state numbers from."""


def scripts() -> list[str]:
    """All benchmarks there are."""
    found = (item.name for item in pkgutil.iter_modules(benchmarks.__path__))
    return sorted(name for name in found if name not in TOOLS)


def run(script: str, arguments: Sequence[str] = ()) -> Outcome:
    """Run one script; what it prints passes through, what it claims is read from its record."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.jsonl"
        record.touch()
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{script}", *arguments],
            env={**os.environ, RECORD: str(record)},
            check=False,
        )
        seconds = time.perf_counter() - start
        lines = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    return Outcome(
        claims=tuple(Claim(**line["claim"]) for line in lines if "claim" in line),
        skipped=tuple(line["skipped"] for line in lines if "skipped" in line),
        failed=done.returncode != 0,
        seconds=round(seconds, 1),
        arguments=tuple(arguments),
        machine=machine(),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; 1 where a script failed (a goal that is not kept is no failure)."""
    known = scripts()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help=", ".join(known))
    parser.add_argument("--full", action="store_true", help="with as many draws as docs/ state")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="folder of the page")
    given, own = parser.parse_known_args(arguments)
    if own and len(given.scripts) != 1:
        parser.error(f"{' '.join(own)}: name the one script that this is for")
    if unknown := [name for name in given.scripts if name not in known]:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    stored = given.out / "benchmarks.json"
    outcomes = {name: found for name, found in load(stored).items() if name in known}
    wanted = given.scripts or known
    for place, script in enumerate(wanted, 1):
        print(f"\n== {place}/{len(wanted)} {script} ==", flush=True)
        outcomes[script] = run(script, own or (FULL.get(script, ()) if given.full else ()))
        print(f"-- {outcomes[script].seconds:.0f} s", flush=True)
        # After every script, so that a run that is interrupted loses nothing.
        save(outcomes, stored)
        (given.out / "benchmarks.md").write_text(page(outcomes, FULL), "utf-8")
    failed = [name for name in wanted if outcomes[name].failed]
    missed = [c for name in wanted for c in outcomes[name].claims if c.kept is False]
    print(f"\n{len(wanted)} scripts run, {len(missed)} goals not kept: {given.out}/benchmarks.md")
    for one in missed:
        print(f"  {one}")
    if failed:
        print(f"FAILED: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
