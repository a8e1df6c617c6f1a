"""Simulated editors: the moments that were asked for, and texts that fit them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from assay.tables.answers import edit_distance
from assay.worlds.editing import EditingWorld

KITS = [(f"E{e:03d}", f"d{d}", "AB"[(e + d) % 2]) for e in range(150) for d in range(2)]


def test_moments() -> None:
    world = EditingWorld(systems={"A": 0.0, "B": 4.0}, segments=20, documents={"d1": 10.0})
    frame = world.values(KITS, rng=1)
    value = pl.col("value")
    cells = frame.group_by("editor", "doc", "system").agg(value.mean(), value.var().alias("within"))
    doc = cells.group_by("doc").agg(value.mean()).sort("doc")["value"]
    # 150 editors: standard error of the documents' difference about 0.6 with shared editors
    assert doc[1] - doc[0] == pytest.approx(10, abs=3)
    by = cells.with_columns(value - value.mean().over("doc"))
    means = by.group_by("system").agg(value.mean()).sort("system")["value"]
    assert means[1] - means[0] == pytest.approx(4, abs=2.5)
    # Within a cell: noise plus segments.
    assert cells["within"].mean() == pytest.approx(79.5 + 9.6, rel=0.15)
    by = by.with_columns(value - value.mean().over("system"))
    both = by.pivot("doc", index="editor", values="value").drop("editor").to_numpy()
    # Standard error of a covariance of 26.4 from 150 pairs with variances of 39: 3.9.
    assert np.cov(both.T)[0, 1] == pytest.approx(26.4, abs=12)


def test_effects_are_shared() -> None:
    world = EditingWorld(systems={"A": 0.0, "B": 0.0}, editor=0, cell=0, noise=0, segments=5)
    frame = world.values(KITS[:8], rng=2)
    spread = frame.group_by("doc", "seg").agg(pl.col("value").n_unique())
    assert set(spread["value"]) == {1}


def test_texts_have_about_the_effort() -> None:
    world = EditingWorld(systems={"A": 20.0, "B": 30.0}, segments=6)
    values = world.values(KITS[:8], rng=3)["value"]
    edits = world.edits(KITS[:8], rng=3).frame
    for value, mt, edited in zip(values, edits["mt"], edits["edited"], strict=True):
        assert edit_distance(mt, edited) == pytest.approx(min(max(value, 0), 100), abs=2)
    assert (edits["seconds"] >= 0).all()
    assert edits["position"].to_list()[:12] == [1] * 6 + [2] * 6


def test_seeds() -> None:
    world = EditingWorld(systems={"A": 0.0, "B": 0.0}, segments=3)
    first, again = (world.edits(KITS[:4], rng=0).frame for _ in range(2))
    assert first.equals(again)
    assert not first.equals(world.edits(KITS[:4], rng=1).frame)
