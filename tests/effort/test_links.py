"""Missing documents: what editors' own work no longer tells is not taken from elsewhere."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import assay
from assay.results import has_note
from assay.worlds.editing import EditingWorld

SYSTEMS = {"Human": 0.0, "DeepX": 3.0, "GooX": 6.0}
KITS = [
    (f"E{editor}", f"d{(editor + place) % 3}", list(SYSTEMS)[(editor + 2 * place) % 3])
    for editor in range(6)
    for place in range(3)
]


def slow(edits: assay.Edits, editor: str, times: float) -> assay.Edits:
    frame = edits.frame.with_columns(
        pl.when(pl.col("editor") == editor)
        .then(pl.col("seconds") * times)
        .otherwise(pl.col("seconds"))
        .alias("seconds")
    )
    return assay.read_edits(frame)


@pytest.mark.parametrize("times", [2.0, 8.0])
def test_a_slow_editor_who_misses_a_document_does_not_turn_the_verdict(times: float) -> None:
    """One editor dropped out, another sent two of three documents back and is slow."""
    edits = slow(EditingWorld(SYSTEMS).edits(KITS, rng=1), "E1", times)
    gone = (pl.col("editor") == "E0") | ((pl.col("editor") == "E1") & (pl.col("system") == "DeepX"))
    result = assay.effort(assay.read_edits(edits.frame.filter(~gone)), measures=["time"], rng=1)
    for item in result.differences:
        assert item.verdict == "undetermined" or item.verdict.startswith(
            min((item.left, item.right), key=SYSTEMS.__getitem__)
        ), item
    for system in result.systems:
        assert not system.measures["time"].mean < 0
        assert system.hours_low is None or not system.hours_low > (system.hours_high or np.inf)


def test_what_no_editor_links_is_undetermined() -> None:
    """Nobody edited both A and C, nor B and C: C against the others rests on editors alone."""
    kits = [("E1", "d1", "A"), ("E1", "d2", "B"), ("E2", "d1", "B"), ("E2", "d2", "A"),
            ("E3", "d1", "A"), ("E3", "d2", "B"), ("E4", "d1", "C"), ("E4", "d2", "C"),
            ("E5", "d1", "C"), ("E5", "d2", "C")]  # fmt: skip
    result = assay.effort(EditingWorld({"A": 0.0, "B": 2.0, "C": 30.0}).edits(kits, rng=1), rng=1)
    found = {(i.left, i.right): i for i in result.differences if i.measure == "distance"}
    assert np.isnan(found["A", "C"].difference)
    assert found["A", "C"].verdict == found["B", "C"].verdict == "undetermined"
    assert np.isfinite(found["A", "B"].p)
    assert has_note(result.warnings, "not-linked")
    assert result.to_dict()["differences"]
