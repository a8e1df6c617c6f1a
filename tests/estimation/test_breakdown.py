"""Scores by group: by hand, the whole as one group, coverage, error categories."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from tests.estimation.test_edges import drawn, tables

import assay
from assay.errors import InputError, OptionError
from assay.formats.mqm import Weights, mqm_scores
from assay.tables.answers import read_errors
from assay.tables.tables import TestSet, read_ratings, read_scores

T2 = 4.302652729911275
"""The .975 quantile of Student's t with 2 degrees of freedom."""


def grouped(column: list[str | None]) -> tuple[TestSet, assay.Ratings]:
    scores = {"A": [1.0, 2.0, 6.0, 9.0, 5.0, 7.0], "B": [2.0, 3.0, 7.5, 9.0, 5.0, 7.0]}
    test_set, ratings = tables(scores)
    kinds = pl.Series("kind", [*column, *column], dtype=pl.String)
    return read_scores(test_set.frame.with_columns(kinds)), ratings


def test_by_hand() -> None:
    test_set, ratings = grouped(["x", "x", "x", "x", "y", "y"])
    found = assay.estimate_by(
        test_set, ratings, by="kind", sample=drawn([1, 2, 3, 5], 6), target="answers"
    )
    first = found.estimates[0]
    # 1, 2, 6 of 4 in group x: mean 3, s^2 = 7, stderr sqrt(7/3 (1 - 3/4))
    assert (first.group, first.system, first.estimate) == ("x", "A", 3)
    assert first.stderr == pytest.approx(np.sqrt(7 / 12))
    assert first.high - 3 == pytest.approx(T2 * np.sqrt(7 / 12))
    assert (first.n, first.population) == (3, 4)
    alone = found.estimates[2]
    assert (alone.group, alone.estimate, alone.n) == ("y", 5, 1)
    assert np.isinf(alone.high)
    assert [(g.group, g.population, g.pairs) for g in found.groups] == [("x", 4, 1), ("y", 2, 1)]
    # differences -1, -1, -1.5: mean -7/6, s^2 = 1/12; 7/6 > 4.3 sqrt(1/12/3/4)
    assert [g.decided for g in found.groups] == [1, 0]
    assert found.intervals == 2
    assert any("2 intervals are shown" in line for line in found.notes)
    assert any("2 of 4 have no interval" in line for line in found.notes)
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("design", ["segments", "snippets", "balanced", "docs-prop", "documents"])
def test_one_group_of_everything_is_the_estimate(design: str) -> None:
    world = assay.simulate(documents=20, systems=2, rng=3)
    sample = assay.sample(world.test_set, design=design, budget="30%", rng=1)
    frame = world.test_set.frame.with_columns(kind=pl.lit("all"))
    test_set = read_scores(frame, metrics=world.test_set.metrics)
    ratings = world.rate(sample)
    whole = assay.estimate(test_set, ratings, sample=sample)
    found = assay.estimate_by(test_set, ratings, by="kind", sample=sample)
    for item in found.estimates:
        same = next(x for x in whole.systems if x.system == item.system)
        assert item.estimate == pytest.approx(same.estimate)
        assert item.stderr == pytest.approx(same.stderr, rel=0.02)


def test_groups_add_up_and_a_group_rated_fully_is_certain() -> None:
    test_set, ratings = grouped(["x", "x", "y", "y", "y", None])
    found = assay.estimate_by(test_set, ratings, by="kind", target="answers")
    assert [g.group for g in found.groups] == ["x", "y", "(missing)"]
    assert sum(g.population for g in found.groups) == 6
    assert [(e.estimate, e.low, e.high) for e in found.estimates[:2]] == [
        (1.5, 1.5, 1.5), (2.5, 2.5, 2.5),
    ]  # fmt: skip
    assert any("1 segments have no kind" in line for line in found.notes)


def test_length_bands() -> None:
    rows = {"system": ["A"] * 8, "seg": range(8), "words": [1, 2, 3, 4, 5, 6, 7, 30]}
    test_set = read_scores(pl.DataFrame(rows))
    scores = pl.DataFrame(
        {"system": ["A"] * 8, "seg": range(8), "score": [float(i) for i in range(8)]}
    )
    found = assay.estimate_by(test_set, read_ratings(scores, test_set), by="length")
    assert [g.group for g in found.groups] == ["1–2 words", "3–4 words", "5–6 words", "7–30 words"]
    texts = test_set.frame.drop("words").with_columns(source=pl.lit("one two  three"))
    found = assay.estimate_by(read_scores(texts), read_ratings(scores), by="length")
    assert [g.group for g in found.groups] == ["3 words"]
    with pytest.raises(InputError, match="needs a words or source column"):
        assay.estimate_by(read_scores(texts.drop("source")), read_ratings(scores), by="length")


def test_refusals() -> None:
    test_set, ratings = grouped(["x"] * 6)
    with pytest.raises(OptionError, match="did you mean 'kind'"):
        assay.estimate_by(test_set, ratings, by="kinds")
    with pytest.raises(InputError, match="`errors` and `by` category go together"):
        assay.estimate_by(test_set, ratings, by="category")
    with pytest.raises(InputError, match="needs a doc column"):
        assay.estimate_by(test_set, ratings, by="document")
    mixed = read_scores(test_set.frame.with_columns(kind=pl.col("system")))
    with pytest.raises(OptionError, match="differs between the systems of 6 segments"):
        assay.estimate_by(mixed, ratings, by="kind")


@pytest.mark.slow
def test_coverage_in_domains() -> None:
    """4 domains x 200 draws: the Monte-Carlo sd of a coverage of .95 is under .01 (800 intervals).

    Skewed scores in groups of about 40 ratings cost some points, see docs/estimation.md.
    """
    world = assay.simulate(documents=60, systems=1, rng=8)
    everything = world.rate()
    truth = everything.matrix(world.test_set)[0]
    domain = world.test_set.segments["domain"].to_numpy()
    hits = []
    for seed in range(200):
        sample = assay.sample(world.test_set, design="segments", budget="25%", rng=seed)
        # Ratings outside the sample are not used.
        found = assay.estimate_by(world.test_set, everything, by="domain", sample=sample)
        hits += [e.low <= truth[domain == e.group].mean() <= e.high for e in found.estimates]
    assert 0.91 <= np.mean(hits) <= 0.98


class TestCategories:
    def errors(self, rows: list[tuple[str, int, str, str, str]]) -> assay.Errors:
        names = ["system", "seg", "rater", "category", "severity"]
        return read_errors(pl.DataFrame(rows, schema=names, orient="row"))

    def test_by_hand(self) -> None:
        cells = [("A", s, r) for s in (1, 2) for r in ("p", "q")]
        frame = pl.DataFrame(cells, schema=["system", "seg", "rater"], orient="row")
        test_set = read_scores(pl.DataFrame({"system": ["A"] * 3, "seg": [1, 2, 3]}))
        ratings = read_ratings(frame.with_columns(score=pl.lit(1.0)), test_set, better="lower")
        marked = self.errors(
            [
                ("A", 1, "p", "Style", "major"), ("A", 1, "p", "Style", "minor"),
                ("A", 2, "q", "Accuracy/Omission", "minor"), ("A", 2, "p", "No-error", "No-error"),
                ("A", 3, "p", "Style", "minor"),
            ]
        )  # fmt: skip
        found = assay.estimate_by(
            test_set, ratings, by="category", assume="random", errors=marked, target="answers"
        )
        style, omission = found.estimates
        # style: 6 and 0 by the raters of segment 1, none on segment 2: (3 + 0) / 2
        assert (style.group, style.estimate, style.n, style.population) == ("Style", 1.5, 2, 3)
        assert style.stderr == pytest.approx(np.sqrt(4.5 / 2 / 3))
        assert (omission.group, omission.estimate) == ("Accuracy/Omission", 0.25)
        assert found.better == "lower"
        assert "1 errors belong to outputs without a rating and are not used" in found.notes

    def test_penalties_add_up_to_the_score(self) -> None:
        world = assay.simulate(documents=15, systems=2, rng=3)
        sample = assay.sample(world.test_set, design="segments", budget="40%", rng=1)
        marked = world.mark(sample)
        scores = mqm_scores(marked.frame, Weights(cap=None))
        ratings = read_ratings(scores, world.test_set, better="lower")
        whole = assay.estimate(world.test_set, ratings, sample=sample, method="mean")
        found = assay.estimate_by(
            world.test_set, ratings, by="category", sample=sample, method="mean", errors=marked
        )
        for item in whole.systems:
            parts = [e.estimate for e in found.estimates if e.system == item.system]
            assert sum(parts) == pytest.approx(item.estimate)

    def test_an_unknown_severity_is_refused(self) -> None:
        test_set, ratings = tables({"A": [1.0, 2.0]})
        marked = read_errors(
            pl.DataFrame({"system": ["A"], "seg": [1], "category": ["x"], "severity": ["huge"]})
        )
        with pytest.raises(InputError, match="severities without a weight: huge"):
            assay.estimate_by(test_set, ratings, by="category", errors=marked)
