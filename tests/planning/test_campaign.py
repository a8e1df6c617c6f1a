"""The plan of a campaign: what a budget finds, and what a goal takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.errors import InputError, OptionError
from assay.planning.campaign import CampaignPlan, plan_campaign
from assay.planning.spread import typical_spread
from assay.results import has_note
from assay.views.section import section_of


def test_a_budget_buys_segments_of_all_systems() -> None:
    plan = plan_campaign(2, 1814, budget="300 EUR", pay="0.12 EUR per rating")
    first, half, twice = plan.choices
    assert (plan.needed, first.segments, first.ratings) == (1136, 1136, 2499)
    assert (half.segments, twice.segments, twice.opinions) == (568, 625, 2.0)
    assert first.finds < twice.finds < half.finds
    assert first.money == pytest.approx(299.88)
    said = section_of(plan)
    assert said.lead.startswith(
        "300 EUR buys 2,499 ratings: 2 systems x 1,136 segments once + 10% twice. A difference of"
        " 1.4 is detected with 80% probability. Half of it detects 2.1; a second opinion on"
        " everything instead of new segments detects 1.5."
    )
    assert type(plan).from_dict(plan.to_dict()) == plan


@pytest.mark.parametrize(
    ("budget", "segments"),
    [("15000 ratings", 1136), ("2,640 ratings", 200), ("20 hours", 136), ("100", 100),
     ("10%", 181), ("360 EUR", 136)],
)  # fmt: skip
def test_all_kinds_of_budget(budget: str, segments: int) -> None:
    plan = plan_campaign(12, 1814, budget=budget, pay="18 EUR per hour, 40 s per rating")
    assert plan.needed == segments


def test_what_is_found_is_found_with_that_probability() -> None:
    """Simulated: differences with the variances that are taken as typical."""
    plan = plan_campaign(2, 2000, budget="400", protocol="esa")
    choice, spread, rng = plan.choices[0], typical_spread("esa"), np.random.default_rng(1)
    raters, n, tasks = spread.pair_raters, 400, 80
    opinion = raters.noise
    taste = (raters.variance - raters.noise) / raters.task  # of a task's mean
    own = spread.pair_sd**2 - opinion
    runs = 4000
    text = rng.normal(0, np.sqrt(own * (1 - n / 2000) / n), runs)
    rated = rng.normal(0, np.sqrt((opinion / n + taste * raters.task / n) / 1.05), runs)
    found = np.abs(choice.finds + text + rated) > 1.96 * np.sqrt(text.var() + rated.var())
    assert found.mean() == pytest.approx(0.8, abs=0.03)
    assert tasks == n / raters.task


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 12), st.integers(50, 3000), st.floats(0.5, 9))
def test_goals_and_budgets_agree(systems: int, segments: int, difference: float) -> None:
    plan = plan_campaign(systems, segments, decide=difference)
    if plan.needed is None:
        assert has_note(plan.notes, "out-of-reach")
        return
    assert plan.choices[0].finds <= difference
    again = plan_campaign(systems, segments, budget=str(plan.needed))
    assert again.choices[0].finds == plan.choices[0].finds
    if plan.needed > 2:
        fewer = plan_campaign(systems, segments, budget=str(plan.needed - 1))
        assert fewer.choices[0].finds > difference


def test_half_width_and_shares() -> None:
    plan = plan_campaign(3, 1000, half_width=2)
    assert plan.choices[0].half_width <= 2
    assert "Intervals of ±2 take" in section_of(plan).lead
    shares = plan_campaign(3, 1000)
    assert [choice.segments for choice in shares.choices] == [100, 250, 500, 1000]
    assert shares.needed is None
    assert section_of(shares).lead.startswith("3 systems x 1,000 segments")


def test_more_than_everything() -> None:
    plan = plan_campaign(3, 300, budget="1500 ratings")
    assert plan.choices[0].opinions == pytest.approx(5 / 3)
    assert plan.overlap == pytest.approx(2 / 3, abs=1e-5)
    plan = plan_campaign(3, 300, budget="9000 ratings")
    assert (plan.overlap, plan.choices[0].ratings) == (1, 1800)
    assert has_note(plan.notes, "budget-left")


def test_checks_are_paid_and_find_nothing() -> None:
    pay = {"pay": "0.5 EUR per rating"}
    plain = plan_campaign(2, 1000, budget="400 ratings", overlap=0, **pay)
    plan = plan_campaign(2, 1000, budget="500 ratings", overlap=0, checks=0.25, **pay)
    assert (plan.needed, plan.choices[0].ratings) == (plain.needed, 400) == (200, 400)
    assert (plan.choices[0].money, plain.choices[0].money) == (250, 200)
    assert plan.choices[0].finds == plain.choices[0].finds
    assert "checks:0.25" in plan.signature
    assert "checks" not in plain.signature
    paid = plan_campaign(2, 1000, budget="250 EUR", overlap=0, checks=0.25, **pay)
    assert paid.needed == 200
    assert "buys 400 ratings and 25% more as checks:" in section_of(paid).lead


def test_one_rater_and_one_system() -> None:
    alone = plan_campaign(2, 500, budget="100", raters=1)
    assert alone.overlap == 0
    assert has_note(alone.notes, "no-overlap")
    assert not any(choice.what == "second-opinions" for choice in alone.choices)
    one = plan_campaign(1, 500, budget="100")
    assert np.isnan(one.choices[0].finds)
    assert "difference" not in section_of(one).lead


def test_a_pilot_says_how_scores_vary() -> None:
    world = assay.simulate(documents=40, systems=3, rng=3)
    drawn = assay.sample(world.test_set, budget="40%", rng=1)
    doubled = (world.test_set, world.rate(drawn, raters=["rater-1", "rater-2"]))
    plan = plan_campaign(3, 600, budget="200", pilot=doubled)
    assert plan.source == "pilot"
    assert plan.protocol is None
    single = (world.test_set, world.rate(drawn, raters=["rater-1"]))
    assert has_note(plan_campaign(3, 600, decide=0.5, pilot=single).notes, "raters-typical")


def test_scales_are_followed() -> None:
    hundred, six = typical_spread("esa"), typical_spread("sqm")
    assert six.sd == pytest.approx(hundred.sd * 0.06)
    assert typical_spread("scale", (0, 50)).sd == pytest.approx(hundred.sd / 2)
    plan = plan_campaign(2, 1000, budget="100", protocol="mqm")
    assert "mqm" in plan.signature
    assert has_note(plan.notes, "typical-spread")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"budget": "300 EUR", "decide": 2}, "is a second goal next to `budget`"),
        ({"budget": "300 EUR"}, "what a rating costs is not known"),
        ({"budget": "3 h"}, "how long a rating takes is not known"),
        ({"budget": "3 ratings"}, "not two segments of all systems; give enough for 5"),
        ({"budget": "3000"}, "exceeds the 1,000 segments"),
        ({"budget": "soon"}, "is not an amount"),
        ({"decide": -1}, "is not a positive"),
        ({"half_width": 0}, "is not a positive"),
        ({"overlap": 2}, "is not a share"),
        ({"checks": 1.5}, "is not a share"),
        ({"raters": 2, "per_output": 3}, "exceeds the 2 raters"),
        ({"protocol": "pairwise"}, "has no ratings to plan"),
        ({"level": 1.5}, "level"),
        ({"pay": "a lot"}, "is not a price"),
    ],
)
def test_refusals(options: dict[str, object], fault: str) -> None:
    with pytest.raises((InputError, OptionError), match=fault):
        plan_campaign(2, 1000, **options)  # type: ignore[arg-type]


def test_the_least_budget_that_is_named_is_enough() -> None:
    # Two segments x 3 systems x 1.1 raters, a quarter more for checks: 6.6 x 1.25 = 8.25
    with pytest.raises(OptionError, match=r"give enough for 9 ratings$"):
        plan_campaign(3, 100, budget="8 ratings", checks=0.25)
    plan = plan_campaign(3, 100, budget="9 ratings", checks=0.25)
    assert plan.needed == 2
    assert [choice.what for choice in plan.choices] == ["plan"]  # half of it is one segment


def test_as_many_raters_as_an_output_has_leave_no_second_opinions() -> None:
    both = plan_campaign(3, 100, per_output=2, raters=2, budget="330 ratings")
    assert (both.overlap, has_note(both.notes, "no-overlap")) == (0, False)
    assert both.needed == 330 // (3 * 2)
    one = plan_campaign(3, 100, raters=1, budget="330 ratings")
    assert (one.needed, has_note(one.notes, "no-overlap")) == (100, True)


def test_to_frame() -> None:
    plan = plan_campaign(2, 1000, budget="300")
    assert isinstance(plan, CampaignPlan)
    assert plan.to_frame()["what"].to_list() == ["plan", "half", "second-opinions"]
