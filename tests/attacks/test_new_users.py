"""What a new user meets: messages that name the cause, and counts of what was used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.attacks.bounded import run_assay_bounded

import assay
from assay.errors import InputError


def test_ratings_outside_the_sample_are_no_work_of_it() -> None:
    world = assay.simulate(documents=20, systems=2, raters=1, rng=1)
    drawn = assay.sample(world.test_set, budget="20%", rng=7)
    everything = assay.sample(world.test_set, budget="100%", rng=7)
    some = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    more = assay.estimate(world.test_set, world.rate(everything), sample=drawn)
    assert more.ratings == some.ratings > 0


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


def test_a_link_to_itself_and_a_device_are_sentences(tmp_path: Path) -> None:
    (link := tmp_path / "x.tsv").symlink_to(link)
    for words, says in (
        (("convert", link, tmp_path / "y.tsv", "--from", "ratings", "--to", "ratings"), "x.tsv"),
        (("check", "/dev/null", "--kind", "ratings"), "is a device"),
        (
            ("check", link, "--kind", "ratings", "--columns", "seg=a,seg=b"),
            "contradicts an earlier",
        ),
        (("--limits", "rows=1,rows=2", "check", link, "--kind", "ratings"), "names it again"),
    ):
        ran = run_assay_bounded(*words)
        assert ran.refused(), ran
        assert says in ran.out + ran.err
        assert "cannot be read: /dev" not in ran.out


def test_a_tiny_share_of_a_large_test_set_is_a_sentence() -> None:
    rows = pl.DataFrame({"seg": range(100_000)}).with_columns(
        doc=pl.format("d{}", pl.col("seg") // 20), m=pl.col("seg") % 7 + 0.5
    )
    both = [rows.with_columns(system=pl.lit(name)) for name in "AB"]
    test_set = assay.read_scores(pl.concat(both))
    with pytest.raises(InputError, match="draw more segments, or choose the design segments"):
        assay.sample(test_set, budget=5, rng=1)
    assert assay.sample(test_set, budget=5, design="segments", rng=1).frame.height > 0


@pytest.mark.parametrize("design", ["rounds|looks:1e9", "rounds|looks:2|looks:3"])
def test_a_design_that_cannot_be(design: str) -> None:
    world = assay.simulate(documents=5, systems=2, rng=1)
    with pytest.raises(InputError, match="give 1000 or fewer|twice"):
        assay.sample(world.test_set, budget="50%", design=design, rng=1)


def test_a_limit_that_no_text_reaches() -> None:
    rows = pl.DataFrame({"system": ["A"], "seg": [1], "score": [1.0]})
    with assay.limits(assay.FileLimits(name=10**18, cell=10**18, bytes=10**18)):
        assert assay.read_ratings(rows).frame.height == 1


def test_a_file_of_a_translation_tool_is_sent_to_its_command(tmp_path: Path) -> None:
    file = tmp_path / "manual.docx.sdlxliff"
    file.write_text("<xliff/>", encoding="utf-8")
    with pytest.raises(InputError, match="`assay effort` reads those"):
        assay.read_ratings(file)
