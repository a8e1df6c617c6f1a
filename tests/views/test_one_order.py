"""A page has one verdict per pair and one clustering; what does not hold says so first."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import assay
from assay.results import Result, has_note
from assay.views.html import html
from assay.views.markup import markdown
from assay.views.page import make_report
from assay.views.section import Figure, section_of, show

CLOSE = {"a": 1.0, "b": 1.15, "c": 1.25, "d": 1.35, "e": 1.5, "f": 2.5}


@pytest.fixture(scope="module")
def world() -> assay.World:
    return assay.simulate(systems=CLOSE, documents=30, rng=4)


def clusters(result: Result) -> dict[str, int]:
    return {item.system: item.cluster for item in result.systems}  # type: ignore[attr-defined]


def test_the_page_has_one_verdict_and_folds_the_others(world: assay.World) -> None:
    ratings = world.rate()
    estimates = assay.estimate(world.test_set, ratings)
    ranking = assay.rank_ratings(ratings, rng=1)
    audit = assay.audit_ratings(ratings, world.test_set, rng=1)
    assert clusters(ranking) != clusters(estimates) == clusters(audit)
    report = make_report([ranking, audit, estimates], "Report")
    by_name = {part.name: part for part in report.sections}
    assert by_name["ranking"].folded
    assert not by_name["audit"].folded
    assert report.answers == (by_name["estimates"],)
    page = html(report)
    assert page.count("<summary><h2>By another rule: Ranking by mean") == 1
    # Practice inside the audit is another rule, too, with the reason.
    assert page.count("<summary>By another rule: WMT practice (wilcoxon mean)</summary>") == 1
    assert "which treat outputs as independent" in page
    text = markdown(report)
    assert (
        "the page's verdict, which follows differences of estimates, each at the 95% level" in text
    )
    # The rule is named where verdicts are drawn or listed.
    assert len(re.findall("each at the 95% level", page)) >= 4


def test_without_estimates_the_audit_has_the_verdict(world: assay.World) -> None:
    ratings = world.rate()
    found = [
        assay.rank_ratings(ratings, rng=1),
        assay.audit_ratings(ratings, world.test_set, rng=1),
    ]
    by_name = {part.name: part for part in make_report(found, "").sections}
    assert by_name["ranking"].folded
    assert not by_name["audit"].folded


def test_other_answers_and_other_test_sets_are_not_folded(world: assay.World) -> None:
    estimates = assay.estimate(world.test_set, world.rate())
    judged = assay.rank(world.judge(2000, rng=1), rng=1)
    other = assay.simulate(systems=CLOSE, documents=12, rng=9)
    twice = [estimates, judged, assay.estimate(other.test_set, other.rate())]
    assert not any(part.folded for part in make_report(twice, "").sections)


def test_family_is_said_wherever_verdicts_are_shown(world: assay.World) -> None:
    ratings = world.rate()
    each, family = (assay.estimate(world.test_set, ratings, family=f) for f in (False, True))
    assert sum(d.decided for d in family.differences) < sum(d.decided for d in each.differences)
    section = section_of(family)
    captions = [block.caption for block in section.blocks if hasattr(block, "caption")]
    assert sum("all together at the 95% level (Holm)" in text for text in captions) == 3
    assert "all together at the 95% level (Holm)" in section.lead
    audit = section_of(assay.audit_ratings(ratings, world.test_set, family=True, rng=1))
    assert not any("each by itself" in str(block) for block in (audit.lead, *audit.blocks))
    judged = world.judge(3000, rng=1)
    one, all_ = (assay.audit_judgments(judged, family=f, rng=1) for f in (False, True))
    assert [pair.decided for pair in all_.pairs] == [pair.decided_holm for pair in one.pairs]
    decided = {(pair.left, pair.right) for pair in all_.pairs if pair.decided}
    number = clusters(all_)
    apart = {(p.left, p.right) for p in all_.pairs if number[p.left] != number[p.right]}
    assert apart <= decided


def test_differences_and_estimates_agree_or_say_why(world: assay.World) -> None:
    drawn = assay.sample(world.test_set, budget="30%", rng=7)
    ratings = world.rate(drawn)
    scores = {}
    for method in ("mean", "regression"):
        result = assay.estimate(world.test_set, ratings, sample=drawn, method=method)
        score = {item.system: item.estimate for item in result.systems}
        gaps = [abs(d.difference - score[d.left] + score[d.right]) for d in result.differences]
        caption = next(
            block.caption for block in section_of(result).blocks
            if getattr(block, "name", "") == "differences"
        )  # fmt: skip
        scores[method] = max(gaps)
        assert ("may differ slightly from the difference of the two estimates" in caption) == (
            max(gaps) > 1e-9
        )
    assert scores["mean"] < 1e-9 < scores["regression"]


def test_ranks_that_do_not_follow_the_estimates_say_so() -> None:
    # B has easy segments of its own; on the common ones it is worse than A.
    rng = np.random.default_rng(1)
    rows = []
    for k in range(40):
        hard = rng.normal(5 if k < 20 else 1, 0.1)
        rows.append({"system": "A", "seg": str(k), "score": hard if k < 30 else None})
        rows.append({"system": "B", "seg": str(k), "score": hard + 0.3 if k >= 10 else None})
    frame = pl.DataFrame(rows)
    test_set = assay.read_scores(frame.select("system", "seg"))
    ratings = assay.read_ratings(frame.drop_nulls(), test_set, better="lower")
    result = assay.estimate(test_set, ratings, assume="random")
    first, second = result.systems
    assert (first.system, first.estimate > second.estimate) == ("A", True)
    assert has_note(result.notes, "order-by-differences")
    scores = section_of(result).blocks[0]
    assert "Ranks follow the differences" in scores.caption  # type: ignore[union-attr]


def test_nothing_is_drawn_as_decided_by_an_interval_of_width_zero(world: assay.World) -> None:
    result = assay.estimate(world.test_set, world.rate(), target="answers")
    # As a former version saved it.
    old = replace(
        result, differences=tuple(replace(d, decided=True, p=0.0) for d in result.differences)
    )
    verdicts = section_of(old).verdicts
    assert verdicts is not None
    assert not any(verdicts.winners.values())
    figure = next(
        block for block in section_of(old).blocks
        if isinstance(block, Figure) and block.name == "decided"
    )  # fmt: skip
    (squares,) = figure.draw().axes[0].collections
    assert not squares.get_paths()


@pytest.fixture(scope="module")
def skipped() -> tuple[assay.World, assay.Sample, assay.Ratings]:
    """A campaign in which the hardest third of what was drawn was left out."""
    world = assay.simulate(systems={"good": 1.0, "bad": 2.0}, documents=40, rng=3)
    drawn = assay.sample(world.test_set, budget="50%", design="segments", rng=7)
    ratings = world.rate(drawn)
    key = ["doc", "seg"]
    mean = ratings.frame.group_by(key).agg(pl.col("score").mean().alias("_hard"))
    easy = mean.filter(pl.col("_hard") <= pl.col("_hard").quantile(2 / 3)).select(key)
    return world, drawn, replace(ratings, frame=ratings.frame.join(easy, on=key, how="semi"))


def test_intervals_that_do_not_hold_say_so_everywhere(
    skipped: tuple[assay.World, assay.Sample, assay.Ratings], capsys: pytest.CaptureFixture[str]
) -> None:
    world, drawn, ratings = skipped
    result = assay.estimate(world.test_set, ratings, sample=drawn)
    truth = world.truth()
    assert not all(item.low <= truth[item.system] <= item.high for item in result.systems)
    saved = json.loads(json.dumps(result.to_dict()))
    assert "intervals-do-not-hold" in [note["code"] for note in saved["notes"]]
    assert saved["comparison"]["holds"] is False
    audit = assay.audit_ratings(ratings, world.test_set, sample=drawn, rng=1)
    assert has_note(audit.notes, "intervals-do-not-hold")
    for found in (result, audit):
        section = section_of(found)
        assert section.said.startswith("These intervals and verdicts do not hold")
        page = html(make_report(found, ""))
        assert "do not hold" in page[: page.index("</header>")]  # the first screen
        assert "interval (does not hold)" in page
        assert "95% interval<" not in page  # no heading
    show(section_of(result))
    printed = capsys.readouterr().out
    assert printed.startswith("These intervals and verdicts do not hold")
    assert "95% interval" not in printed
    assert "interval (does not hold)" in printed
    whole = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    assert whole.comparison is not None
    assert whole.comparison.holds
    assert "95% interval<" in html(make_report(whole, ""))
