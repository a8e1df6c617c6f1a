"""Claim: of a Parquet file with a history of evaluations, one language pair is read in a fraction
of the time and memory of the whole; and a sweep over all pairs never holds more than a few.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.claims import claim
from benchmarks.measure import Cost, measure

ROWS, PAIRS, SYSTEMS, METRICS = 10_000_000, 50, 20, 8
GROUP = 200_000
"""Rows written at a time, which become the file's row groups."""


def write_history(path: Path, *, by_pair: bool) -> None:
    """Language pairs after each other, as files are usually put together, or all mixed."""
    import pyarrow.parquet as pq

    rng, writer = np.random.default_rng(1), None
    for start in range(0, ROWS, GROUP):
        row = np.arange(start, start + GROUP)
        pair = row // (ROWS // PAIRS) if by_pair else row % PAIRS
        within = row % (ROWS // PAIRS) if by_pair else row // PAIRS
        segment = within // SYSTEMS
        frame = pl.DataFrame(
            {"pair": pair, "number": within % SYSTEMS, "document": segment // 25,
             "seg": segment % 25 + 1}
        )  # fmt: skip
        named = frame.select(
            pl.format("p{}-en", "pair").alias("lp"),
            pl.format("system-{}", "number").alias("system"),
            pl.format("doc-{}", "document").alias("doc"),
            pl.col("seg"),
        ).with_columns(
            pl.Series(f"metric{i}", rng.normal(0.5, 0.2, GROUP).round(4)) for i in range(METRICS)
        )
        table = named.to_arrow()
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    assert writer is not None
    writer.close()


READ = "import polars as pl; from assay.tables.test_set import read_parts, read_scores"


def main() -> None:
    print(f"{ROWS:,} rows, {PAIRS} language pairs, {METRICS} metrics")
    costs: dict[str, Cost] = {}
    for by_pair in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "history.parquet"
            write_history(path, by_pair=by_pair)
            size = path.stat().st_size / 2**20
            print(f"{'pair after pair' if by_pair else 'pairs mixed'}, a file of {size:.0f} MiB")
            for what, work in _works(repr(str(path)), everything=by_pair).items():
                once = what.startswith("all")
                costs[what] = measure(work, READ, repeats=1 if once else 3)
                _show(what, costs[what])
        if by_pair:
            whole, one = costs["all rows, one metric"], costs["one pair, one metric"]
            claim(
                f"one of {PAIRS} language pairs of {ROWS:,} rows, one metric", one.seconds,
                unit="s", peer=f"all rows {whole.seconds / one.seconds:.0f} times as long",
            )  # fmt: skip
            claim(
                "memory for it", one.mebibytes, unit="MiB",
                peer=f"all rows {whole.mebibytes / one.mebibytes:.0f} times as much",
            )  # fmt: skip


def _works(file: str, *, everything: bool) -> dict[str, str]:
    """What is measured, as code."""
    one, lean = "only={'lp': 'p7-en'}", "metrics=['metric0'], keep=[]"
    whole = {
        "all rows, bare polars": f"pl.read_parquet({file})",
        "all rows, one metric": f"read_scores({file}, {lean})",
    }
    return (whole if everything else {}) | {
        "one pair": f"read_scores({file}, {one})",
        "one pair, one metric": f"read_scores({file}, {one}, {lean})",
        "names of the pairs": f"len(read_parts({file}, 'lp'))",
        "all pairs, one by one": f"for part in read_parts({file}, 'lp', {lean}).values(): pass",
    }


def _show(what: str, cost: Cost) -> None:
    print(f"  {what:24s} {cost.seconds:7.2f} s  {cost.mebibytes:7.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
