"""Claim: `assay --help` answers in under half a second; the libraries it rests on stand beside."""

from __future__ import annotations

import sys

from benchmarks.claims import claim
from benchmarks.measure import measure_command

LIBRARIES = "import numpy, polars, scipy.special, typer, rich.table"


def main() -> None:
    python = [sys.executable, "-c"]
    bare = measure_command([*python, "pass"], repeats=5)
    libraries = measure_command([*python, LIBRARIES], repeats=5)
    package = measure_command([*python, "import assay"], repeats=5)
    cost = measure_command([sys.executable, "-m", "assay", "--help"], repeats=5)
    for label, one in {
        "Python": bare, "import assay": package, "numpy, polars, scipy, typer, rich": libraries,
    }.items():  # fmt: skip
        print(f"{label:34} {one.seconds:.2f} s {one.mebibytes:4.0f} MiB")
    claim(
        "assay --help", cost.seconds, goal=0.5, unit="s",
        peer=f"Python alone {bare.seconds:.2f} s, numpy, polars, scipy, typer and rich imported"
        f" {libraries.seconds:.2f} s",
    )  # fmt: skip


if __name__ == "__main__":
    main()
