"""The target texts: by hand, its refusals, and coverage over drawn sets of documents."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import special, stats

import assay
from assay.designs.base import DesignUnits, find_design
from assay.designs.plan import Layout
from assay.designs.snippets import TilesPlan
from assay.errors import InputError, OptionError
from assay.estimation.kernels import Predictors, adjusted_mean, make_features
from assay.estimation.texts import document_parts, documents_error
from assay.tables.tables import read_ratings, read_scores


@pytest.fixture(scope="module")
def world() -> assay.World:
    return assay.simulate(documents=25, systems=3, rng=2)


def test_a_census_by_hand(world: assay.World) -> None:
    result = assay.estimate(world.test_set, world.rate(), target="texts")
    frame = world.rate().frame.group_by("system", "doc", "seg").agg(pl.col("score").mean())
    for item in result.systems:
        own = frame.filter(pl.col("system") == item.system)
        mean = own["score"].mean()
        totals = own.group_by("doc").agg((pl.col("score") - mean).sum())["score"].to_numpy()
        stderr = np.sqrt(25 / 24 * (totals**2).sum()) / own.height
        assert item.stderr == pytest.approx(stderr, rel=1e-9)
        margin = special.stdtrit(24, 0.975) * stderr
        assert (item.low, item.high) == pytest.approx((mean - margin, mean + margin))
    assert result.target == "texts"
    assert "|for-texts|" in result.signature
    assert result.to_dict()["target"] == "texts"
    assert any("new documents like the 25 rated" in note for note in result.notes)
    assert {item.degrees for item in result.differences} == {24.0}


def test_wider_than_for_the_test_set_and_the_same_estimate(world: assay.World) -> None:
    drawn = assay.sample(world.test_set, budget="30%", rng=3)
    here = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    new = assay.estimate(
        world.test_set, world.rate(drawn), sample=drawn, target="texts"
    )  # fmt: skip
    wide = {item.system: item for item in new.systems}
    for item in here.systems:
        assert wide[item.system].estimate == item.estimate
        assert wide[item.system].stderr > item.stderr
    assert assay.compare_two(new, "system-1", "system-2").needed is None
    assert "four times as many documents" in " ".join(new.next)


def test_groups(world: assay.World) -> None:
    drawn = assay.sample(world.test_set, budget="30%", rng=3)
    found = assay.estimate_by(
        world.test_set, world.rate(drawn), by="domain", sample=drawn, target="texts"
    )
    assert all(np.isfinite(item.stderr) for item in found.estimates)
    assert "|for-texts|" in found.signature
    single = assay.estimate_by(
        world.test_set, world.rate(drawn), by="document", sample=drawn, target="texts"
    )
    assert all(np.isnan(item.stderr) for item in single.estimates)


def test_refusals(world: assay.World) -> None:
    ratings = world.rate()
    with pytest.raises(OptionError, match="is now called texts"):
        assay.estimate(world.test_set, ratings, target="new-documents")
    with pytest.raises(InputError, match="skew-t interval is not for the target texts"):
        assay.estimate(world.test_set, ratings, target="texts", interval="skew-t")
    bare = read_scores(pl.DataFrame({"system": ["A", "A"], "seg": [1, 2]}))
    scores = pl.DataFrame({"system": ["A", "A"], "seg": [1, 2], "score": [1.0, 2.0]})
    # Without documents, segments are the texts: the t interval of scipy.
    found = assay.estimate(bare, read_ratings(scores, bare), target="texts").systems[0]
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, 1, 1.5, 0.5))
    one = read_scores(pl.DataFrame({"system": ["A"] * 2, "doc": ["d"] * 2, "seg": [1, 2]}))
    with pytest.raises(InputError, match="all ratings of A are from 1 document"):
        assay.estimate(one, read_ratings(scores, one), target="texts")


@pytest.mark.slow
def test_coverage_over_sets_of_documents() -> None:
    """40 of 3,000 documents, 1,500 times: 95 % up to two points.

    The Monte-Carlo standard error is .6 points; skewed scores take up to one off.
    """
    world = assay.simulate(documents=3000, systems=2, rng=1)
    test_set = world.test_set
    scores, features = world.rate().matrix(test_set), make_features(test_set)
    assert features is not None
    lengths = test_set.documents["segments"].to_numpy().astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    rng = np.random.default_rng(5)
    gap, apart = scores[0] - scores[1], features.values[0] - features.values[1]
    hits: dict[str, list[bool]] = {"census": [], "snippets": [], "difference": []}
    for _ in range(1500):
        own = rng.choice(len(lengths), 40, replace=False)
        at = np.concatenate([np.arange(starts[d], starts[d] + lengths[d]) for d in own])
        layout = Layout(lengths[own])
        plan = TilesPlan(layout, round(0.3 * len(at)), 10)
        drawn = plan.draw(rng, 1).masks(len(at))[0]
        everything = np.ones(len(at), bool)
        for name, x, z, mask in (
            ("census", scores[0], features.values[0], everything),
            ("snippets", scores[0], features.values[0], drawn),
            ("difference", gap, apart, drawn),
        ):
            pi = np.ones(len(at)) if mask.all() else plan.probabilities()
            units = DesignUnits(find_design("snippets"), pi, layout.document)
            known = Predictors(z[at], features.metrics)
            found, fit = adjusted_mean(x[at], mask, units, "auto", known)
            center = found.center[0]
            count = len(lengths[own])
            parts = document_parts(x[at], mask, fit, pi, layout.document, count)
            held = len(np.unique(layout.document[mask]))
            stderr, degrees = documents_error(parts, held)
            margin = special.stdtrit(degrees, 0.975) * stderr
            hits[name].append(abs(center - x.mean()) <= margin)
    for name, shares in hits.items():
        print(name, np.mean(shares))
        assert 0.93 <= np.mean(shares) <= 0.97, (name, np.mean(shares))
