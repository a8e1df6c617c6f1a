"""What an owner decides on the way: results follow at once, and the report says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.campaign.live.lively import Lively, lively

import assay
from assay.campaign.exchange.export import export_tables
from assay.campaign.live.results import bring_up_to_date, follow_campaign
from assay.campaign.records import NotNowError
from assay.collecting.live import CampaignResults
from assay.errors import OptionError
from assay.project.settings import Pay, Raters, Screen, Settings, Stop
from assay.views.page import make_report
from assay.views.section import Section

CLEAR = {"A": 1.0, "B": 9.0, "C": 20.0}


def section(found: CampaignResults, name: str) -> Section:
    return next(part for part in make_report([found], "").sections if part.name == name)


def until_look(world: Lively, number: int) -> CampaignResults:
    """Work until so many looks took place, and a little beyond."""
    live = follow_campaign(world.campaign)
    found = bring_up_to_date(world.campaign, live)
    while len(found.looks) < number:
        assert found.next_look is not None
        assert world.work(tasks=found.next_look.tasks + 2)
        found = bring_up_to_date(world.campaign, live)
    return found


def test_the_rule_is_changed_and_the_report_says_so(place: Path | str) -> None:
    world = lively(place, systems=CLEAR, documents=30)
    with world.campaign as campaign:
        found = until_look(world, 1)
        while found.goal_met is None:
            found = until_look(world, len(found.looks) + 1)
        met = found.goal_met
        assert (found.next_look, "close the campaign" in found.next[0]) == (None, True)
        campaign.change_rule("budget", None, "the rest is paid for", "owner")
        on = bring_up_to_date(campaign)
        assert (on.goal, on.goal_met) == ("budget", None)
        assert on.next_look is not None
        assert on.next_look.number == met + 1
        assert on.looks == found.looks, "looks that took place stay"
        assert on.how is not None
        assert [(act.what, act.reason) for act in on.how.acts] == [
            ("opened the campaign", None),
            ("changed the stopping rule to continue to the last task", "the rest is paid for"),
        ]
        how = section(on, "how-collected")
        assert any("until the last task" in str(block) for block in how.blocks)
        assert any("the rest is paid for" in str(block) for block in how.blocks)
        campaign.change_rule("ranking", None, "enough", "owner")
        assert bring_up_to_date(campaign).goal_met == met
        assert campaign.rule().goal == "ranking"
        campaign.change_rule("budget", None, "all the same", "owner")
        world.work()
        last = bring_up_to_date(campaign)
        assert last.looks[-1].n == last.total
        assert all(not look.met for look in last.looks[met:-1])
        # What is made anew from the events knows the rule too.
        campaign.rebuild()
        assert campaign.rule().goal == "budget"


def test_a_wanted_width_can_be_changed(tmp_path: Path) -> None:
    world = lively(tmp_path, systems={"A": 3.0}, documents=40, settings=Settings(
        protocol="da", raters=Raters(number=3), stop=Stop(goal="score", target=0.001, looks=5),
    ))  # fmt: skip
    with world.campaign as campaign:
        found = until_look(world, 1)
        assert found.goal_met is None
        campaign.change_rule("score", 50.0, "a rough score will do", "owner")
        wide = bring_up_to_date(campaign)
        assert wide.how is not None
        assert wide.how.target == 50.0
        assert wide.monitoring is not None
        assert wide.monitoring.target == 50.0
        found = until_look(world, 2)
        assert found.goal_met == 2


@pytest.mark.parametrize(
    ("goal", "target", "reason", "said"),
    [
        ("score", 1.0, "why not", "neither the planned goal"),
        ("ranking", 1.0, "why not", "does not go with the goal ranking"),
        ("budget", None, "  ", "is empty"),
    ],
)
def test_what_cannot_be_changed(
    tmp_path: Path, goal: str, target: float | None, reason: str, said: str
) -> None:
    world = lively(tmp_path)
    with world.campaign as campaign:
        with pytest.raises(OptionError, match=said):
            campaign.change_rule(goal, target, reason, "owner")
        assert campaign.rule() == campaign.settings.stop
        campaign.close("owner")
        with pytest.raises(NotNowError, match="closed"):
            campaign.change_rule("budget", None, "late", "owner")


def test_what_was_left_out_is_wanted_again(tmp_path: Path) -> None:
    world = lively(tmp_path, documents=30)
    with world.campaign as campaign:
        found = until_look(world, 1)
        campaign.exclude("rater-2", "quick and careless", "owner")
        after = bring_up_to_date(campaign)
        look = after.next_look
        assert look is not None
        assert look.again > 0
        assert look.missing - look.again == look.n - after.n == look.n - found.n
        assert after.redo == look.again
        lead = section(after, "campaign-results").lead
        assert f"{after.redo:,} of them need another rater since one was excluded." in lead
        assert f"{look.missing:,} to go." in lead
        how = section(after, "how-collected")
        assert any("quick and careless" in str(block) for block in how.blocks)
        names = [getattr(block, "name", "") for block in how.blocks]
        assert names[1:] == ["acts", "left-out", "with-and-without"]
        world.work(raters=[0, 2])
        again = bring_up_to_date(campaign)
        assert again.n == again.total


def test_what_was_rated_behind_an_excluded_rater_is_not_asked_again(tmp_path: Path) -> None:
    """What is to go is what wants answers, not everything behind the first gap."""
    world = lively(tmp_path, documents=30, settings=Settings(
        protocol="da", raters=Raters(number=3, overlap="0%")
    ))  # fmt: skip
    with world.campaign as campaign:
        until_look(world, 1)
        campaign.exclude("rater-2", "careless", "owner")
        look = bring_up_to_date(campaign).next_look
        assert look is not None
        asked = world.test_set.frame["system"].n_unique() * look.missing
        assert look.answers == asked


def test_raters_are_measured_without_those_left_out(tmp_path: Path) -> None:
    dice = np.random.default_rng(9)

    def thinks(system: int, segment: int, rater: int) -> float:
        true = float((7 * segment + 11 * system) % 90)
        return float(dice.integers(0, 100)) if rater == 2 else true + rater

    world = lively(tmp_path, documents=15, thinks=thinks, settings=Settings(
        protocol="da", raters=Raters(number=3, per_task=2, overlap="0%"),
    ))  # fmt: skip
    with world.campaign as campaign:
        world.work()
        everybody = bring_up_to_date(campaign).raters
        campaign.exclude("rater-3", "random scores", "owner")
        found = bring_up_to_date(campaign)
        report = found.raters
        assert everybody is not None
        assert report is not None
        assert everybody.alpha < 0.9 < 0.99 < report.alpha
        assert [item.rater for item in report.raters] == ["rater-1", "rater-2"]
        assert report.outliers == ()
        # The same as the public function says of the exported tables.
        export_tables(campaign.collected(), tmp_path / "out")
        test_set = assay.read_scores(tmp_path / "out" / "scores.tsv")
        ratings = assay.read_ratings(tmp_path / "out" / "ratings.tsv", test_set)
        assert assay.rater_report(test_set, ratings).alpha == pytest.approx(report.alpha)
        (out,) = found.left_out
        assert out.summary is not None
        assert out.summary.rater == "rater-3"
        assert out.summary.correlation < 0.5
        methods = make_report([found], "").methods
        assert "by 2 raters were collected in the browser with Assay (direct assessment)" in methods
        assert "The answers by 1 rater were excluded (rater-3)" in methods
        assert f"{len(found.planned)} looks at the results were planned beforehand" in methods
        assert "without correction" not in methods
        about = make_report([found], "").about
        assert [fact for fact in about if "rater" in fact] == ["2 raters"]
        assert "1 excluded" in about


def test_the_headline_names_the_better_systems(tmp_path: Path) -> None:
    equal = {"A": 5.0, "B": 5.0, "C": 20.0}
    world = lively(tmp_path, systems=equal, documents=30)
    with world.campaign as campaign:
        world.work()
        found = bring_up_to_date(campaign)
        headline = section(found, "campaign-results").headline
        first, second = (item.system for item in found.systems if item.cluster == 1)
        assert {first, second} == {"A", "B"}
        assert headline == (
            f"{first} and {second} are better than C; which of them is best is open."
            f" 2 of 3 pairs are decided after look {len(found.looks)}."
        )


@pytest.mark.parametrize("protocol", ["da", "pairwise"])
def test_what_is_missing_until_a_look_is_counted_in_answers(tmp_path: Path, protocol: str) -> None:
    """A second rater's answer is one more; a comparison is one answer, not two."""
    world = lively(tmp_path, documents=15, settings=Settings(
        protocol=protocol,  # type: ignore[arg-type]
        raters=Raters(number=3, overlap="50%"), pay=Pay(per_rating=1.0, currency="EUR"),
        screen=Screen(sets="order") if protocol == "pairwise" else Screen(),
    ))  # fmt: skip
    with world.campaign as campaign:
        world.work(tasks=4)
        found = bring_up_to_date(campaign)
        look, before = found.next_look, campaign.status()
        assert look is not None
        assert world.work(tasks=look.tasks) == look.tasks
        after = campaign.status()
        assert len(bring_up_to_date(campaign).looks) == 1
        assert after.answers - before.answers == look.answers
        assert after.spent is not None
        assert before.spent is not None
        assert look.cost.startswith(f"{after.spent - before.spent:.0f}")


def test_an_open_pair_needs_a_look_at_least(tmp_path: Path) -> None:
    world = lively(tmp_path, documents=30)
    with world.campaign as campaign:
        found = until_look(world, 1)
        look = found.next_look
        assert look is not None
        assert all(pair.ratings is None or pair.ratings >= look.answers for pair in found.undecided)
        world.work()
        last = bring_up_to_date(campaign)
        assert last.next_look is None
        assert all(pair.ratings is None for pair in last.undecided)
