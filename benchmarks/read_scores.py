"""Claim: a scores table of 1,000,000 rows x 20 metrics is read and fully checked in at most
three times polars' bare read of the same file, within four times the table's size in memory.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.claims import claim
from benchmarks.measure import measure

ROWS, METRICS = 1_000_000, 20


def make_table(rows: int, metrics: int) -> pl.DataFrame:
    """A table like WMT's: 20 systems, documents of 25 segments, metrics with six digits."""
    rng = np.random.default_rng(1)
    systems, row = 20, np.arange(rows)
    segment = row // systems
    frame = pl.DataFrame({"system": row % systems, "doc": segment // 25, "seg": segment % 25 + 1})
    names = pl.col("system"), pl.col("doc")
    frame = frame.with_columns(pl.format("system-{}", names[0]), pl.format("doc-{}", names[1]))
    return frame.with_columns(
        pl.Series(f"metric{i}", rng.normal(0.5, 0.2, rows).round(6)) for i in range(metrics)
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.tsv"
        make_table(ROWS, METRICS).write_csv(path, separator="\t")
        bare = measure(f"pl.read_csv({str(path)!r}, separator='\\t')", "import polars as pl")
        ours = measure(
            f"read_scores({str(path)!r})", "from assay.tables.test_set import read_scores"
        )
        from assay.tables.tables import read_scores

        size = read_scores(path).frame.estimated_size("mb")
        file_size = path.stat().st_size / 2**20
    print(f"{ROWS:,} rows x {METRICS} metrics, {file_size:.0f} MiB of text")
    print(f"polars bare read     {bare.seconds:6.2f} s  {bare.mebibytes:7.0f} MiB")
    print(f"read_scores, checked {ours.seconds:6.2f} s  {ours.mebibytes:7.0f} MiB")
    what = f"reading and checking scores, {ROWS:,} rows x {METRICS} metrics"
    claim(
        f"{what}: time against polars' bare read", ours.seconds / bare.seconds, goal=3,
        unit="times", peer=f"{ours.seconds:.2f} s, polars {bare.seconds:.2f} s",
    )  # fmt: skip
    claim(
        f"{what}: memory against the table's size", ours.mebibytes / size, goal=4, unit="times",
        peer=f"{ours.mebibytes:.0f} MiB, the table {size:.0f} MiB",
    )  # fmt: skip


if __name__ == "__main__":
    main()
