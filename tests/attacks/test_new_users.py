"""What a new user meets: messages that name the cause, and counts of what was used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay.errors import InputError


def test_ratings_outside_the_sample_are_no_work_of_it() -> None:
    world = assay.simulate(documents=20, systems=2, raters=1, rng=1)
    drawn = assay.sample(world.test_set, budget="20%", rng=7)
    everything = assay.sample(world.test_set, budget="100%", rng=7)
    some = assay.estimate(world.test_set, world.rate(drawn, rng=1), sample=drawn)
    more = assay.estimate(world.test_set, world.rate(everything, rng=1), sample=drawn)
    assert more.ratings == some.ratings == 2 * drawn.n


def test_the_answer_among_many_metrics_is_named() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(2, 1000))
    columns = {"system": ["A"] * 500 + ["B"] * 500, "seg": [*range(500)] * 2}
    scores = {f"m{i}": rng.normal(size=1000) for i in range(12)}
    scores |= {"half": noise[0], "other": noise[1]}
    test_set = assay.read_scores(pl.DataFrame(columns | scores))
    ratings = pl.DataFrame(columns | {"score": noise.sum(axis=0)})
    with pytest.raises(InputError, match=r"(half, other|other, half), m\d+\) and 11 more together"):
        assay.read_ratings(ratings, test_set)


def test_an_empty_column_of_a_workbook_is_read_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    pl.DataFrame({"system": ["A"], "seg": [1], "score": [1.0], "note": [None]}).write_excel(path)
    ran = subprocess.run(
        [sys.executable, "-m", "assay", "check", str(path), "--kind", "ratings"],
        capture_output=True, check=True, text=True,
    )  # fmt: skip
    assert ran.stderr == ""
