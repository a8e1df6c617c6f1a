"""Claim: `assay status` on 15,000 ratings of 12 systems takes at most two seconds."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import assay
from benchmarks.claims import claim
from benchmarks.measure import measure_command

SEGMENTS, RATERS = 1136, 12
SETTINGS = """\
protocol = "mqm"
scores = "scores.tsv"
sample = { file = "sample.tsv" }
ratings = ["ratings.tsv"]
pay = { per_rating = 0.12, currency = "EUR" }
"""


def make_project(folder: Path) -> int:
    """A project whose sample is rated, a tenth of the tasks twice; the number of ratings."""
    world = assay.simulate(documents=180, systems=12, rng=1)
    drawn = assay.sample(world.test_set, budget=SEGMENTS, design="rounds", rng=1)
    place = ["system", "doc", "seg"]
    scores = world.rate(drawn).frame.group_by(place).agg(pl.col("score").first())
    rows = assay.assign(drawn, RATERS, overlap=0.1, rng=1).to_frame().join(scores, on=place)
    noise = pl.Series(np.random.default_rng(1).normal(0, 1, rows.height))
    rows = rows.with_columns(score=(pl.col("score") + noise).clip(0, 25))
    world.test_set.write(folder / "scores.tsv")
    drawn.write(folder / "sample.tsv")
    rows.select(*place, "rater", "task", "score").write_csv(folder / "ratings.tsv", separator="\t")
    (folder / "assay.toml").write_text(SETTINGS, encoding="utf-8")
    return rows.height


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        number = make_project(Path(folder))
        os.chdir(folder)
        cost = measure_command([sys.executable, "-m", "assay", "status"], repeats=5)
        os.chdir("/")
    claim(
        f"assay status, {number:,} ratings of 12 systems, start-up included", cost.seconds,
        goal=2, unit="s", peer=f"{cost.mebibytes:.0f} MiB",
    )  # fmt: skip


if __name__ == "__main__":
    main()
