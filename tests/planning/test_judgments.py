"""``assay.plan_judgments`` and ``assay plan judgments``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import assay
from assay.errors import InputError, OptionError
from assay.planning.model import JudgmentsModel, _first, significant_share, votes
from assay.ranking.pairs import sign_test
from assay.ranking.power import judgments_for, pooled_share, sign_share
from assay.ranking.sigma import pilot_strengths
from assay.ranking.strengths import Strengths
from assay.results import has_note
from assay.views.section import section_of

PAY = "0.1 EUR per judgment, 8 s per judgment"


def test_by_the_paper_and_by_theory() -> None:
    """koehn2012, Table 4: 15 systems, sigma 10: 12k, 40k, 80k, 350k."""
    plan = assay.plan_judgments(15, sigma=10.0, sides=1)
    assert plan.needed == plan.needed_by["sign"]
    for point, paper in zip(plan.curve, (12e3, 40e3, 80e3, 350e3), strict=True):
        assert point.sign == pytest.approx(paper, rel=0.2)
    assert plan.needed_by["sign"] / plan.needed_by["pooled"] > 3.5  # type: ignore[operator]
    assert plan.to_frame()["share"].to_list() == [0.5, 0.7, 0.8, 0.9]
    assert plan.minutes is None


def test_minutes_and_money() -> None:
    plan = assay.plan_judgments(
        6, sigma=8.0, significant=0.7, test="pooled", pay="0.1 EUR per judgment, 6 s per judgment",
    )  # fmt: skip
    assert plan.needed == plan.needed_by["pooled"]
    assert plan.minutes == pytest.approx(plan.needed / 10)
    assert plan.money == pytest.approx(plan.needed / 10)


@pytest.fixture
def few_campaigns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the simulated campaigns: plans of one seed share them, and compare as well."""
    monkeypatch.setattr("assay.planning.model.SIMULATED_CAMPAIGNS", 25)


@pytest.mark.slow
def test_clusters_and_ranges(few_campaigns: None) -> None:
    few, many = (assay.plan_judgments(8, sigma=5.0, clusters=c, rng=1) for c in (2, 5))
    assert few.needed < many.needed  # type: ignore[operator]
    assert few.needed_by["pooled"] <= few.needed  # type: ignore[operator]
    narrow = assay.plan_judgments(8, sigma=5.0, range_size=2, rng=1)
    assert narrow.needed > few.needed  # type: ignore[operator]
    out = assay.plan_judgments(8, sigma=50.0, clusters=8, rng=1)
    assert out.needed is None
    assert out.notes[-1].code == "out-of-reach"


def test_pilot() -> None:
    pilot = assay.simulate_judgments(
        [0.0, 2.0, 3.0, 5.0, 8.0, 10.0], 4000, tie=2.0, segments=100, segment_share=0.4, rng=3
    )
    plan = assay.plan_judgments(pilot=pilot)
    assert plan.source == "pilot"
    assert plan.judged == 4000
    assert plan.tie_share == pytest.approx((pilot.frame["winner"] == "tie").mean())
    assert plan.sigma_interval is not None
    assert plan.needed_range is not None
    low, high = plan.needed_range
    assert low <= plan.needed  # type: ignore[operator]
    assert high is None or plan.needed <= high  # type: ignore[operator]
    assert plan.curve[-1].more_sign == plan.curve[-1].sign - 4000  # type: ignore[operator]
    assert plan.block_effect > 1
    assert plan.votes is not None
    assert 0 < plan.votes.worth < 1
    by_hand = assay.plan_judgments(pilot=pilot, sigma=10.0)
    assert (by_hand.sigma, by_hand.sigma_interval) == (10.0, None)


def test_votes_without_segment_effects_are_worth_as_much() -> None:
    """Sets of a segment have nothing in common: the worth is 1, give or take chance."""
    pilot = assay.simulate_judgments(6, 20_000, segments=400, rng=1)
    found = votes(pilot)
    assert found is not None
    assert found.per_segment == pytest.approx(5, abs=0.1)
    assert found.agreement < 0.03
    assert votes(assay.simulate_judgments(6, 300, rng=1)) is None
    assert votes(assay.read_judgments(pilot.frame.drop("seg"))) is None
    single = votes(assay.read_judgments(pilot.frame.drop("set")))
    assert single is not None
    assert single.per_segment > found.per_segment


@pytest.mark.parametrize(
    ("winners", "agreement", "worth"),
    [
        # r = (|sums of segments|^2 - |votes|^2) / pairs / (|votes|^2 / sets); (1 - r) / (1 + 2r)
        (["left", "left", "right", "right"], 1.0, 0.0),
        (["left", "left", "right", "right", "left", "right"], 1 / 3, (2 / 3) / (5 / 3)),
        (["left", "right", "left", "right"], 0.0, 1.0),  # below 0 by chance alone
    ],
)
def test_votes_by_hand(winners: list[str], agreement: float, worth: float) -> None:
    rows = [
        {"left": "A", "right": "B", "winner": winner, "seg": k // 2}
        for k, winner in enumerate(winners)
    ]
    found = votes(assay.read_judgments(pl.DataFrame(rows)))
    assert found is not None
    assert (found.agreement, found.per_segment) == (pytest.approx(agreement), 2)
    assert found.worth == pytest.approx(worth)


def test_what_is_collected_has_ties_and_what_segments_repeat() -> None:
    model = JudgmentsModel(6, 10.0, 5, 0.05, tie_share=0.2, block_effect=1.5)
    assert (model.collected(80, "sign"), model.collected(80, "pooled")) == (100, 150)
    assert (model.untied(100, "sign"), model.untied(150, "pooled")) == pytest.approx((80, 80))
    # Where nothing differs, 5 % of the pairs come out either way.
    assert model._replace(sigma=float("inf")).expected(500) == {"sign": 0.1, "pooled": 0.1}


def test_a_goal_is_reached_between_the_sizes_tried() -> None:
    curve, steps = np.array([1.0, 2.0, 3.0]), np.log([10, 100, 1000])
    wanted = {1.0: 10, 2.5: np.sqrt(100 * 1000), 3.0: 1000, 3 + 1e-12: 1000, 4.0: np.inf}
    for goal, judgments in wanted.items():
        assert _first(curve, steps, goal) == pytest.approx(judgments)


def test_a_p_of_exactly_the_level_is_significant() -> None:
    rows = [{"left": "A", "right": "B", "winner": "left" if k < 8 else "right"} for k in range(10)]
    pilot = assay.read_judgments(pl.DataFrame(rows))
    # P(X >= 8) of 10 tosses: (45 + 10 + 1) / 1024
    p = float(sign_test(np.array([[0, 8], [2, 0]]))[0, 1])
    assert p == pytest.approx(56 / 1024)
    assert significant_share(pilot, "sign", alpha=p) == 1.0
    assert significant_share(pilot, "sign", alpha=55 / 1024) == 0.0


def test_a_warning_where_systems_are_not_spread_evenly() -> None:
    even = assay.simulate_judgments([10 * k / 9 for k in range(10)], 30_000, rng=1)
    assert not has_note(assay.plan_judgments(pilot=even).notes, "uneven-systems")
    outlier = assay.simulate_judgments([0.0, 9.2, 9.4, 9.6, 9.8, 10.0], 4000, rng=1)
    plan = assay.plan_judgments(pilot=outlier)
    # What the pilot says of its systems is planned by; sigma alone would ask for too few.
    assert not has_note(plan.notes, "uneven-systems")
    by_sigma = assay.plan_judgments(pilot=outlier, sigma=plan.sigma)
    assert plan.needed > by_sigma.needed  # type: ignore[operator]


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({}, InputError, "neither `sigma` nor `pilot`"),
        ({"sigma": 10.0}, InputError, "`systems` is not given"),
        ({"systems": 1, "sigma": 10.0}, OptionError, "systems"),
        ({"systems": 4, "sigma": 10.0, "per_set": 5}, OptionError, "per_set"),
        ({"systems": 9, "sigma": -1.0}, OptionError, "sigma"),
        (
            {"systems": 9, "sigma": 9.0, "significant": 1.0},
            OptionError,
            "is not between 0 and 1",
        ),
        ({"systems": 9, "sigma": 9.0, "clusters": 10}, OptionError, "clusters"),
        ({"systems": 9, "sigma": 9.0, "clusters": 2, "range_size": 3}, InputError, "one goal"),
        ({"systems": 9, "sigma": 9.0, "test": "t"}, OptionError, "choose sign or pooled"),
        (
            {"systems": 9, "sigma": 9.0, "level": 0.05},
            OptionError,
            "not between 0.5 and 1",
        ),
    ],
)
def test_refusals(options: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        assay.plan_judgments(**options)


def test_command(run_assay: Callable[..., Any], tmp_path: Path, few_campaigns: None) -> None:
    ran = run_assay("plan", "judgments", "--systems", 15, "--sigma", 10, "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert (result["kind"], result["needed"], result["systems"]) == ("plan-judgments", 114012, 15)
    file = tmp_path / "judgments.tsv"
    assay.simulate_judgments(6, 2000, segments=50, segment_share=0.3, rng=1).write(file)
    saved = tmp_path / "plan.json"
    ran = run_assay("plan", "judgments", "--pilot", file, "--pay", PAY, "-o", saved)
    assert ran.code == 0, ran.err
    for words in (
        "more, sign test",
        "so far should decide",
        "on new segments",
        " h (by sign",
    ):
        assert words in ran.out
    plan = assay.plan_judgments(pilot=assay.read_judgments(file), pay=PAY)
    assert type(plan).from_dict(json.loads(saved.read_text("utf-8"))) == plan
    assert json.loads(saved.read_text("utf-8"))["source"] == "pilot"
    ran = run_assay("plan", "judgments", "--systems", 8, "--sigma", 5, "--clusters", 3, "--seed", 1)
    assert "3 clusters with " in ran.out
    ran = run_assay("plan", "judgments", "--systems", 8, "--sigma", 5, "--exclude", "A")
    assert ran.code == 2
    assert "needs a pilot" in ran.err


def test_wmt13(shared_data: Path) -> None:
    """fr-en of WMT13: 90 % by sign test takes about 124,000 judgments more."""
    frame = pl.read_parquet(shared_data / "wmt13_pairs_fren.parquet").filter(~pl.col("duplicate"))
    text = {"<": "left", ">": "right", "=": "tie"}
    columns = {"left": "system1", "right": "system2", "set": "ranking", "seg": "segment"}
    rows = frame.select(
        *(pl.col(old).cast(pl.String).alias(new) for new, old in columns.items()),
        pl.col("outcome").cast(pl.String).replace(text).alias("winner"),
    )
    pilot = assay.read_judgments(rows)
    plan = assay.plan_judgments(pilot=pilot, sigma=assay.fit_sigma(pilot).sigma, sides=1)
    assert plan.curve[-1].more_sign == pytest.approx(124_000, rel=0.1)
    assert plan.reached is not None
    assert plan.reached["sign"] == pytest.approx(0.83, abs=0.03)
    assert 0.87 <= plan.reached["pooled"] <= 0.92


def test_out_of_reach_is_not_advice_to_plan_with_another_sigma() -> None:
    """One system far off, the rest all but equal: both were said in one breath."""
    uneven = assay.simulate_judgments([0.0, *[10.0] * 7], 2000, sigma=3.0, rng=1)
    plan = assay.plan_judgments(pilot=uneven, significant=0.999, sigma=None)
    codes = {note.code for note in plan.notes}
    assert not {"out-of-reach", "uneven-systems"} <= codes
    assert (plan.needed is None) <= (plan.needed_by_curve is None)


def test_two_sided_tests_take_more() -> None:
    one, two = (assay.plan_judgments(10, sigma=8.0, sides=sides) for sides in (1, 2))  # type: ignore[arg-type]
    assert two.needed > 1.1 * one.needed  # type: ignore[operator]
    strict = assay.plan_judgments(10, sigma=8.0, level=0.975, sides=1)
    assert two.needed == strict.needed
    assert "sides:2" in two.signature
    with pytest.raises(OptionError, match="sides"):
        assay.plan_judgments(10, sigma=8.0, sides=3)  # type: ignore[arg-type]


def test_what_there_is_to_spend_decides_so_many_pairs() -> None:
    plan = assay.plan_judgments(15, sigma=10, pay="9 s per judgment", spend="200 h", sides=1)
    assert plan.bought == 80_000
    assert plan.brings is not None
    assert plan.brings["sign"] == pytest.approx(0.8, abs=0.001)
    shown = [str(block) for block in section_of(plan).blocks]
    assert any("200 h buys 80,000 judgments. They decide 80%" in line for line in shown)
    money = assay.plan_judgments(15, sigma=10, pay="0.25 EUR per judgment", spend="2000 EUR")
    assert money.bought == 8000
    assert assay.plan_judgments(15, sigma=10, spend="500 judgments").bought == 500
    refused = {
        "40 h": "is a time, and how long", "9 EUR": "is money, and what a rating",
        "9 judgments": "a screen has 10", "90 ratings": "judgments",
    }  # fmt: skip
    for spend, match in refused.items():
        with pytest.raises(InputError, match=match):
            assay.plan_judgments(15, sigma=10, spend=spend)


def test_a_pilot_is_counted_in_what_money_brings() -> None:
    pilot = assay.simulate_judgments(8, 1000, rng=1)
    plan = assay.plan_judgments(pilot=pilot, spend="3000 judgments")
    more = assay.plan_judgments(pilot=pilot, spend="6000 judgments")
    assert plan.reached is not None
    assert plan.brings is not None
    assert more.brings is not None
    assert plan.reached["sign"] < plan.brings["sign"] < more.brings["sign"]


@pytest.mark.parametrize("kind", ["even", "outliers"])
def test_plans_from_a_pilot_reach_what_they_promise(kind: str) -> None:
    # Plans for 70 % took outliers for the spread of all systems and reached 45 %. Standard errors
    # over 40 pilots are 2 points.
    reached = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        quality = rng.uniform(0, 10, 10)
        if kind == "outliers":
            quality = np.r_[rng.uniform(6, 10, 8), rng.uniform(-12, -8, 2)]
        pilot = assay.simulate_judgments(quality.tolist(), 1000, sigma=8, rng=seed)
        needed = judgments_for(0.7, 10, pilot_strengths(pilot))
        reached.append(sign_share(10, Strengths(quality[None, :] / 8), needed))
    assert np.mean(reached) == pytest.approx(0.7, abs=0.05)


def test_shares_of_strengths_are_those_of_the_model() -> None:
    # Qualities that are drawn evenly are what the model has; 2,000 draws of 8 systems.
    drawn = Strengths(np.random.default_rng(1).uniform(0, 1, (2000, 8)))
    assert sign_share(8, drawn, 4000) == pytest.approx(sign_share(8, 10.0, 4000), abs=0.01)
    assert pooled_share(8, drawn, 4000) == pytest.approx(pooled_share(8, 10.0, 4000), abs=0.01)


def test_a_pilot_with_outliers_is_planned_by_the_others() -> None:
    rng = np.random.default_rng(3)
    quality = np.r_[rng.uniform(6, 10, 8), rng.uniform(-12, -8, 2)]
    pilot = assay.simulate_judgments(quality.tolist(), 1000, sigma=8, rng=3)
    plan = assay.plan_judgments(pilot=pilot, significant=0.7)
    assert plan.needed is not None
    assert plan.needed_range is not None
    low, high = plan.needed_range
    assert low is not None
    assert low < plan.needed
    assert high is None or high > plan.needed
    by_sigma = assay.plan_judgments(10, sigma=plan.sigma, significant=0.7).needed
    assert by_sigma is not None
    assert plan.needed > 2 * by_sigma
