"""A campaign of judgments under the loupe."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import assay
from assay.errors import InputError, OptionError
from assay.results import has_note
from assay.stats.intervals import holm


@pytest.fixture(scope="module")
def judgments() -> assay.Judgments:
    return assay.simulate(systems=6, documents=60, rng=1).judge(4000, rng=2)


def test_a_simulated_campaign(judgments: assay.Judgments) -> None:
    found = assay.audit_judgments(judgments, rng=1)
    assert (found.coverage.answers, found.matched.pairs, found.matched.never) == (4000, 15, 0)
    assert found.matched.least is not None
    assert found.matched.least <= (found.matched.typical or 0) <= (found.matched.most or 0)
    assert sum(pair.n for pair in found.pairs) == 4000
    ranking = assay.rank(judgments)
    assert [item.score for item in found.systems] == [item.score for item in ranking.systems]
    assert found.unit == "segment"
    assert found.power.found_by is not None
    signs = assay.rank(judgments, ranges="sign")
    assert found.power.found_by["sign"] == signs.significant_pairs / signs.pairs
    plan = assay.plan_judgments(pilot=judgments, sides=2)
    assert found.power.needed_by == plan.needed_by
    assert found.to_dict()["kind"] == "audit"
    assert found == assay.audit_judgments(judgments, rng=1)
    assert assay.Audit.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_family_decides_by_holm_and_places_systems_by_what_is_decided() -> None:
    table = assay.simulate(systems=8, documents=40, rng=3).judge(1500, rng=2)
    each, family = (assay.audit_judgments(table, family=held, rng=1) for held in (False, True))
    assert [pair.p_holm for pair in family.pairs] == holm(
        np.array([pair.p for pair in family.pairs])
    ).tolist()
    decided = {frozenset((pair.left, pair.right)) for pair in family.pairs if pair.decided}
    assert 0 < len(decided) < sum(pair.decided for pair in each.pairs)
    assert all(pair.p_holm <= 0.05 for pair in family.pairs if pair.decided)
    # Ranges and clusters leave open what the pairs leave open, as those of an estimate do.
    for item in family.systems:
        above = sum(pair.better != item.system for pair in family.pairs
                    if pair.decided and item.system in (pair.left, pair.right))  # fmt: skip
        assert item.low_rank == 1 + above
    clusters = [item.cluster for item in family.systems]
    for one, other in combinations(family.systems, 2):
        if one.cluster != other.cluster:
            assert frozenset((one.system, other.system)) in decided
    assert max(clusters) <= max(item.cluster for item in each.systems)
    assert any("all together at the 95% level (Holm)" in line for line in family.findings)


def test_single_judgments_are_too_sure(judgments: assay.Judgments) -> None:
    """With segments as units ranges cannot be shorter, on average, than with single judgments."""
    found = assay.audit_judgments(judgments, rng=1)
    ours = sum(item.high_rank - item.low_rank for item in found.systems)
    usual = sum(item.practice_high_rank - item.practice_low_rank for item in found.systems)
    assert usual <= ours


def test_counts_by_hand() -> None:
    rows = [("A", "B", "left")] * 9 + [("B", "A", "left")] + [("B", "C", "left")] * 6 + [
        ("C", "B", "tie")] * 2 + [("C", "B", "left")] * 2  # fmt: skip
    frame = pl.DataFrame(rows, schema=["left", "right", "winner"], orient="row")
    found = assay.audit_judgments(assay.read_judgments(frame), rng=1)
    assert (found.matched.never, found.matched.least, found.matched.most) == (1, 0, 10)
    pair = next(item for item in found.pairs if {item.left, item.right} == {"A", "B"})
    assert (pair.left, pair.wins, pair.losses, pair.ties) == ("A", 9, 1, 0)
    assert found.raters is None
    assert any("1 of 3 pairs were never compared" in line for line in found.findings)
    assert found.coverage.segments is None


def test_agreement_by_hand() -> None:
    rows = [
        ("1", "x", "A", "B", "left"),
        ("1", "y", "B", "A", "right"),
        ("2", "x", "A", "B", "tie"),
        ("2", "y", "A", "B", "tie"),
        ("3", "x", "A", "B", "right"),
        ("3", "x", "B", "A", "left"),
    ]
    schema = ["seg", "rater", "left", "right", "winner"]
    found = assay.audit_judgments(
        assay.read_judgments(pl.DataFrame(rows, schema=schema, orient="row")), rng=1
    )
    assert found.raters is not None
    assert (found.raters.overlapping, found.raters.alpha) == (2, 1.0)
    assert found.raters.repeated == 1


def test_systems_never_connected_are_refused() -> None:
    rows = [("A", "B", "left")] * 8 + [("C", "D", "left")] * 7
    frame = pl.DataFrame(rows, schema=["left", "right", "winner"], orient="row")
    with pytest.raises(InputError, match=r"2 groups never compared with each other: A, B \| C, D"):
        assay.audit_judgments(assay.read_judgments(frame), rng=1)


def test_published(judgments: assay.Judgments) -> None:
    order = [item.system for item in assay.rank(judgments, rng=1).systems]
    table = pl.DataFrame({"system": order[::-1], "rank": range(1, 7)})
    found = assay.audit_judgments(judgments, published=table, rng=1)
    straight = assay.audit_judgments(judgments, rng=1)
    assert found.published.contradicted == straight.published.hold > 0
    assert found.published.hold == 0
    with pytest.raises(OptionError, match="did you mean 'system-1'"):
        assay.audit_judgments(
            judgments, published=pl.DataFrame({"better": ["sytem-1"], "worse": ["system-2"]})
        )


def test_scores_show_what_was_judged(judgments: assay.Judgments) -> None:
    world = assay.simulate(systems=6, documents=60, rng=1)
    found = assay.audit_judgments(judgments, world.test_set, rng=1)
    assert found.coverage.of_segments == world.test_set.segments.height
    assert found.coverage.of_documents == 60
    assert found.representation
    bare = assay.read_judgments(judgments.frame.select("left", "right", "winner"))
    with pytest.raises(InputError, match="do not name segments"):
        assay.audit_judgments(bare, world.test_set, rng=1)
    other = assay.simulate(systems=6, documents=5, rng=1)
    with pytest.raises(InputError, match="is not in the scores"):
        assay.audit_judgments(judgments, other.test_set, rng=1)


def test_one_system_far_behind_does_not_make_the_plan_too_short() -> None:
    """It makes sigma look small; the plan goes by what the pilot says of each system."""
    even = assay.simulate_judgments([10 * k / 9 for k in range(10)], 30_000, rng=2)
    found = assay.audit_judgments(even, rng=1)
    assert found.power.needed_by_curve is None
    assert not has_note(found.notes, "uneven-systems")
    outlier = assay.simulate_judgments([0.0, 9.2, 9.4, 9.6, 9.8, 10.0], 4000, rng=1)
    found = assay.audit_judgments(outlier, rng=1)
    by_sigma = assay.plan_judgments(6, sigma=assay.fit_sigma(outlier).sigma, sides=2).needed
    assert found.power.needed_by["sign"] > 1.2 * by_sigma  # type: ignore[operator, index]


def test_wrong_tables_are_refused() -> None:
    with pytest.raises(InputError, match="expected Judgments"):
        assay.audit_judgments(assay.simulate(rng=1).rate())  # type: ignore[arg-type]


def test_power_of_a_decided_pair_is_that_of_its_z(judgments: assay.Judgments) -> None:
    pair = next(item for item in assay.audit_judgments(judgments, rng=1).pairs if item.p < 0.04)
    z = pair.difference / pair.stderr
    assert stats.norm.isf(pair.p / 2) == pytest.approx(z, abs=0.05)
    assert pair.power == pytest.approx(stats.norm.cdf(z - stats.norm.isf(0.025)))
    assert pair.power > 0.5


def test_wmt12_french_english(shared_data: Path) -> None:
    frame = pl.read_parquet(shared_data / "wmt12_pairs.parquet").with_columns(
        pl.col("lp", "judge", "system1", "system2", "outcome").cast(pl.String)
    )
    frame = frame.filter((pl.col("lp") == "fr-en") & ~pl.col("has_blank"))
    table = frame.select(
        set="ranking", seg="segment", rater="judge", left="system1", right="system2",
        winner=pl.col("outcome").replace_strict({"<": "left", ">": "right", "=": "tie"}),
    )  # fmt: skip
    found = assay.audit_judgments(assay.read_judgments(table), rng=1)
    assert found.coverage.systems == 15
    assert found.published.claims == 105
    # 77 one-sided and with raters taken to be alike, as in the paper.
    assert 58 <= found.published.hold <= 70
    assert found.published.contradicted == 0
    assert found.systems[0].system == "LIMSI-Ncode-Constrained-Primary"
    assert found.systems[-1].system == "onlineE"
    assert found.power.sigma == pytest.approx(9.4, abs=0.5)
    assert found.matched.never == 0
