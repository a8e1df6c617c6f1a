"""Small files that took minutes: many systems, metrics, documents, paragraphs, long segments."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay.effort.hter import segment_hter
from assay.errors import InputError
from assay.kits.corpus import read_text
from assay.stats.power import detectable_shift, detectable_shifts, power_of
from assay.stats.progress import silent
from assay.tables.tables import Ratings, TestSet


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Seconds of this process, whatever else the machine does."""
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds


def campaign(
    systems: int, documents: int, segments: int, metrics: int = 1
) -> tuple[TestSet, Ratings]:
    rng = np.random.default_rng(1)
    size = systems * documents * segments
    frame = pl.DataFrame({
        "system": np.repeat([f"S{k}" for k in range(systems)], documents * segments),
        "doc": np.tile(np.repeat([f"d{k}" for k in range(documents)], segments), systems),
        "seg": [str(k) for k in np.tile(np.arange(segments), systems * documents)],
    })  # fmt: skip
    values = rng.standard_normal((size, metrics))
    scores = frame.with_columns(pl.Series(f"m{k}", values[:, k]) for k in range(metrics))
    with assay.limits(assay.FileLimits(metrics=max(200, metrics))):
        test_set = assay.read_scores(scores)
    rated = frame.with_columns(score=pl.Series(rng.integers(0, 20, size).astype(float)))
    return test_set, assay.read_ratings(rated, test_set)


def test_metrics_by_the_thousand() -> None:
    """They took 5 GB: products of all features were held for every segment."""
    test_set, ratings = campaign(2, 5, 8, metrics=2000)
    with within(10):
        assert len(assay.estimate(test_set, ratings).systems) == 2


def test_documents_by_the_thousand() -> None:
    test_set, ratings = campaign(2, 3000, 2)
    with within(10):
        found = assay.estimate(test_set, ratings, by="doc")
    assert found.breakdown is not None
    assert len(found.breakdown.groups) == 3000


@pytest.mark.slow
def test_very_many_systems(tmp_path: Path) -> None:
    """Three hundred take six times as long, too long for a test; the pairs are what counts."""
    test_set, ratings = campaign(120, 5, 4)
    found = assay.estimate(test_set, ratings)
    assert "composite-left-out" in [note.code for note in found.notes]
    plain = assay.estimate(*campaign(61, 5, 4), method="mean")
    assert "composite-left-out" not in [note.code for note in plain.notes]
    with within(8):
        assay.write_report([found], tmp_path / "report.html")
    with within(8):
        assert len(assay.audit_ratings(ratings, test_set).pairs) == 120 * 119 // 2


def test_powers_of_very_many_pairs_are_those_of_each() -> None:
    rng = np.random.default_rng(1)
    shift, degrees = np.abs(rng.normal(0, 4, 5000)), rng.uniform(2, 200, 5000)
    some = power_of(shift[:50], degrees[:50], 0.95)
    assert power_of(shift, degrees, 0.95)[:50] == pytest.approx(some, abs=2e-3)
    each = [detectable_shift(value, 0.95, 0.8) for value in degrees[:20]]
    assert detectable_shifts(degrees, 0.95, 0.8)[:20] == pytest.approx(each, rel=1e-3)


def test_long_shuffled_segments_are_counted_without_shifts() -> None:
    words = [f"w{k}" for k in range(1000)]
    mixed = np.random.default_rng(1).permutation(words).tolist()
    with within(5):
        (value,), notes = segment_hter([(" ".join(words), " ".join(mixed))], silent)
    assert 50 < value <= 100
    assert "hter-no-shifts" in [note.code for note in notes]


@pytest.mark.parametrize("space", ["\n", "\u3000", "\t "])
def test_words_between_other_spaces_are_words(space: str) -> None:
    words = [f"w{k}" for k in range(600)]
    mixed = np.random.default_rng(1).permutation(words).tolist()
    with within(5):
        _, notes = segment_hter([(space.join(words), space.join(mixed))], silent)
    assert "hter-no-shifts" in [note.code for note in notes]


def test_long_segments_with_few_changes_are_counted_with_shifts() -> None:
    """Paragraphs that were hardly edited have the same HTER as before there was a limit."""
    words = [f"w{k}" for k in range(400)]
    moved = [*words[:100], *words[105:130], *words[100:105], *words[130:-1], "else"]
    with within(5):
        values, notes = segment_hter(
            [(" ".join(moved), " ".join(words)), ("a " * 2000, "a " * 2000)], silent
        )
    assert values == [pytest.approx(100 * 2 / 400), 0.0]  # one shift, one word replaced
    assert [note.code for note in notes] == ["hter-words"]


def test_spaces_and_brackets_are_read_once(tmp_path: Path) -> None:
    """A search for spaces began anew at every one of them."""
    path = tmp_path / "spaces.txt"
    path.write_text("A start." + " " * 200_000 + "x (" + "2001 " * 40_000 + " [1" + " " * 100_000)
    with within(5):
        read_text(path, clean=["citations", "notes", "addresses"])


def test_citations_notes_and_addresses_are_still_found(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("A claim  (Smith 2012: 34) and another [12, 13] at  https://a.example stands.")
    (found,) = read_text(path, clean=["citations", "notes", "addresses"])
    assert found.paragraphs == ("A claim and another at stands.",)


def test_paragraphs_by_the_million_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_text("a.\n" * 1_000_001)
    with within(10), pytest.raises(InputError, match="1,000,001 paragraphs"):
        read_text(path)
