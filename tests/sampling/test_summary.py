"""What a sample says of itself, and how that is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Ran

import assay
from assay.results import has_note
from assay.sampling.summary import SampleSummary
from assay.views.page import read_result
from assay.views.section import Table, section_of
from assay.worlds.simulate import World


@pytest.fixture(scope="module")
def world() -> World:
    return assay.simulate(systems=3, documents=25, texts=True, rng=4)


@pytest.mark.parametrize(
    ("design", "matched"), [("snippets", True), ("balanced", True), ("segments", False)]
)
def test_a_saved_summary_comes_back(world: World, design: str, matched: bool) -> None:
    drawn = assay.sample(world.test_set, budget="20%", design=design, matched=matched, rng=1)
    summary = assay.summarise(world.test_set, drawn)
    saved = json.loads(json.dumps(summary.to_dict()))
    assert SampleSummary.from_dict(saved) == summary
    assert {"n", "population", "design", "seed", "min_probability", "max_probability",
            "length_bins", "context_segments"} <= set(saved)  # fmt: skip


def test_the_section_says_what_was_drawn(world: World) -> None:
    drawn = assay.sample(world.test_set, budget="20%", design="snippets", rng=1)
    summary = assay.summarise(world.test_set, drawn)
    section = section_of(summary)
    assert section.stage == "sample"
    assert f"{summary.n} of {summary.population} segments in {summary.snippets} snippets" in (
        section.lead
    )
    assert f"every segment had the same probability, {summary.min_probability:.4g}" in section.lead
    shares = next(block for block in section.blocks if isinstance(block, Table))
    assert [column.name for column in shares.columns] == ["by", "group", "test set", "sample"]
    texts = " ".join(block for block in section.blocks if isinstance(block, str))
    assert f"{summary.outputs} outputs to rate" in texts
    assert f"{summary.design_effect:.2f} times that of a simple random sample" in texts
    assert f"Design: {summary.parameters}." in texts


def test_unequal_probabilities_and_unmatched_samples_are_named(world: World) -> None:
    drawn = assay.sample(world.test_set, budget="20%", design="balanced", matched=False, rng=1)
    lead = section_of(assay.summarise(world.test_set, drawn)).lead
    assert "separately (balanced); the sample keeps their probabilities (0." in lead


def test_snippets_of_unmatched_samples_are_counted_in_all(world: World) -> None:
    drawn = assay.sample(world.test_set, budget="20%", design="snippets", matched=False, rng=1)
    summary = assay.summarise(world.test_set, drawn)
    total = drawn.frame.select("system", "snippet").n_unique()
    lead = section_of(summary).lead
    assert lead.startswith(f"{summary.n} of {summary.population} segments were drawn for each")
    assert f"(snippets, {total} snippets in all)" in lead


def test_the_table_and_the_result_are_two_files(
    world: World, tmp_path: Path, run_assay: Callable[..., Ran]
) -> None:
    scores = world.test_set.write(tmp_path / "scores.tsv")
    table, result, figure = (tmp_path / name for name in ("s.tsv", "s.json", "s.svg"))
    ran = run_assay(
        "sample", scores, "--budget", "20%", "--seed", 1, "-o", table, "--save", result,
        "--figure", figure,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert f"written to {table}" in ran.out
    assert f"assay report {result} makes a page of it" in ran.out
    assert "metrics: neural, surface" in ran.err
    assert "<svg" in figure.read_text()
    drawn = assay.read_sample(table, world.test_set)
    assert read_result(result) == assay.summarise(assay.read_scores(scores), drawn)
    ran = run_assay("sample", scores, "--budget", "20%", "--save", tmp_path / "s.txt")
    assert (ran.code, "--save" in ran.err) == (2, True)


def test_rounds_of_single_segments_say_what_helps() -> None:
    world = assay.simulate(documents=60, rng=1)
    drawn = assay.sample(world.test_set, budget="25%", design="rounds", rng=1)
    (note,) = (
        note for note in assay.summarise(world.test_set, drawn).notes
        if note.code == "single-segments"
    )  # fmt: skip
    assert "rounds|looks:2" in note
    other = assay.sample(world.test_set, budget="25%", design="rounds|looks:2", rng=1)
    pieces = len(other) / other.frame["snippet"].n_unique()
    assert f"have {pieces:.1f} segments instead of 1.0" in note
    for design in ("rounds|looks:2", "rounds|max:1", "segments"):
        found = assay.sample(world.test_set, budget="25%", design=design, rng=1)
        assert not has_note(assay.summarise(world.test_set, found).notes, "single-segments")
