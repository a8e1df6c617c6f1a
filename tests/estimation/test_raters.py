"""Raters: severity recovered, agreement, outliers, checks, and what cannot be told apart."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay.errors import InputError, OptionError
from assay.estimation.raters import RaterSummary, rater_report
from assay.estimation.severity import exclude_raters, remove_severity
from assay.results import has_note
from assay.tables.tables import Ratings, TestSet, read_ratings, read_scores
from assay.views.monitoring import raters_section
from assay.views.section import Table
from assay.worlds.simulate import World, simulate


def tables(rows: list[tuple[str, int, str, float]], **options: object) -> tuple[TestSet, Ratings]:
    """System, segment, rater, score."""
    frame = pl.DataFrame(rows, schema=["system", "seg", "rater", "score"], orient="row")
    test_set = read_scores(frame.select("system", "seg").unique(maintain_order=True))
    return test_set, read_ratings(frame, test_set, better="lower", **options)  # type: ignore[arg-type]


def moved(world: World, by: dict[str, float]) -> Ratings:
    """All ratings of a world with each rater's scores moved by a known amount."""
    ratings = world.rate()
    change = pl.col("rater").replace_strict(by, return_dtype=pl.Float64)
    return replace(ratings, frame=ratings.frame.with_columns(pl.col("score") + change), range=None)


class TestByHand:
    ROWS = (("A", 1, "x", 1.0), ("A", 1, "y", 3.0), ("A", 2, "x", 2.0), ("A", 2, "y", 6.0),
            ("A", 3, "x", 0.0))  # fmt: skip

    def test_severity(self) -> None:
        report = rater_report(*tables(list(self.ROWS)))
        x, y = report.raters
        # y - x = 2 and 4 on the common outputs: 3 apart; weighted 3 : 2 the mean is 0
        assert (x.severity, y.severity) == pytest.approx((-1.2, 1.8))
        assert (x.n, x.mean, x.overlap) == (3, 1.0, 2)
        assert x.spread == pytest.approx(1.0)
        assert (x.lowest, x.highest, y.highest) == pytest.approx((1 / 3, 0, 0.5))
        assert (report.outputs, report.overlapping, report.ratings) == (3, 2, 5)
        assert (report.model, report.identified, report.groups) == ("output", True, (("x", "y"),))
        # units 1,3 and 2,6: variances 2 and 8; all four: mean 3, variance 14/3; 1 - 5 / (14/3)
        assert report.alpha == pytest.approx(1 - 5 / (14 / 3))
        assert np.isnan(x.correlation)  # two common outputs say nothing
        assert np.isnan(report.mean_correlation)

    def test_removal(self) -> None:
        test_set, ratings = tables(list(self.ROWS))
        found = remove_severity(test_set, ratings)
        assert found.frame["score"].to_list() == pytest.approx([2.2, 1.2, 3.2, 4.2, 1.2])
        assert found.frame["score"].mean() == pytest.approx(ratings.frame["score"].mean())
        assert found.better == "lower"
        assert "severity of 2 raters removed" in found.notes[-1]
        assert "moved by -1.8 to +1.2, grand mean kept" in found.notes[-1]

    def test_higher_scores_are_lenient_where_higher_is_better(self) -> None:
        test_set, ratings = tables(list(self.ROWS))
        turned = replace(ratings, better="higher")
        assert [item.severity for item in rater_report(test_set, turned).raters] == pytest.approx(
            [1.2, -1.8]
        )
        assert (
            remove_severity(test_set, turned).frame["score"].to_list()
            == remove_severity(test_set, ratings).frame["score"].to_list()
        )

    def test_range(self) -> None:
        test_set, ratings = tables([*self.ROWS, ("A", 4, "y", 0.0)], range=(0, 25))
        found = remove_severity(test_set, ratings)
        assert found.range is None
        assert "some scores now lie outside the range 0 to 25" in found.notes
        assert found.placed_in(test_set).frame["score"].min() < 0  # type: ignore[operator]
        report = rater_report(test_set, ratings)
        assert report.raters[1].lowest == pytest.approx(1 / 3)
        assert report.raters[1].highest == 0

    def test_results(self) -> None:
        report = rater_report(*tables(list(self.ROWS)))
        content = json.loads(json.dumps(report.to_dict(), allow_nan=False))
        assert content["kind"] == "raters"
        assert content["raters"][0]["rater"] == "x"
        assert content["raters"][0]["seconds"] is None
        assert "3.5 robust standard deviations" in content["rule"]
        assert content["signature"].startswith("raters|rater+output|raters:2|n:5|overlap:2/3|")
        frame = report.to_frame()
        assert frame.height == 2
        assert frame.schema["correlation"] == pl.Float64


class TestModels:
    def test_via_segments(self) -> None:
        # x rates A, B and y rates B, C of other outputs of the same segments
        rows = [("ABC"[s], g, r, g + 2.0 * s + (5.0 if r == "y" else 0.0))
                for g in range(6) for s, r in ((g % 3, "x"), ((g + 1) % 3, "y"))]  # fmt: skip
        report = rater_report(*tables(rows))
        assert report.model == "segment"
        assert [item.severity for item in report.raters] == pytest.approx([-2.5, 2.5])
        assert report.overlapping == 0
        assert report.notes[-1].startswith("not enough common outputs: score = segment + system")
        assert np.isnan(report.alpha)

    def test_via_systems(self) -> None:
        rows = [(s, 2 * g + (r == "y"), r, {"A": 1.0, "B": 4.0}[s] + (3.0 if r == "y" else 0.0))
                for g in range(5) for s in "AB" for r in "xy"]  # fmt: skip
        report = rater_report(*tables(rows))
        assert (report.model, report.identified) == ("system", True)
        assert [item.severity for item in report.raters] == pytest.approx([-1.5, 1.5])
        assert "random part of all" in report.notes[-1]

    def test_not_identified(self) -> None:
        # x and y share outputs of A; z alone rated B, on other segments
        rows = [("A", g, r, g + (2.0 if r == "y" else 0.0)) for g in range(4) for r in "xy"]
        rows += [("B", 10 + g, "z", 9.0 + g) for g in range(4)]
        test_set, ratings = tables(rows)
        report = rater_report(test_set, ratings)
        assert not report.identified
        assert report.groups == (("x", "y"), ("z",))
        assert report.notes[-1] == (
            "severity cannot be compared between groups of raters that share nothing: {x, y}; {z}"
        )
        assert [item.severity for item in report.raters[:2]] == pytest.approx([-1, 1])
        assert np.isnan(report.raters[2].severity)
        assert [item.group for item in report.raters] == [1, 1, 2]
        found = remove_severity(test_set, ratings)
        assert "removed inside the groups only" in found.notes[-1]
        assert found.frame.filter(rater="z")["score"].to_list() == [9, 10, 11, 12]

    def test_nothing_shared(self) -> None:
        rows = [("A", 1, "x", 1.0), ("A", 2, "x", 2.0), ("B", 3, "y", 1.0), ("B", 4, "y", 2.0)]
        test_set, ratings = tables(rows)
        assert rater_report(test_set, ratings).groups == (("x",), ("y",))
        with pytest.raises(InputError, match="severity cannot be removed: no two raters"):
            remove_severity(test_set, ratings)

    def test_one_rater(self) -> None:
        report = rater_report(*tables([("A", 1, "x", 1.0), ("A", 2, "x", 2.0)]))
        assert report.notes == ("one rater: nothing to compare with",)
        assert np.isnan(report.raters[0].severity)


class TestSimulated:
    """The twin of the check on real data."""

    BY = {"rater-1": -1.5, "rater-2": 0.0, "rater-3": 0.5, "rater-4": 4.0}  # noqa: RUF012

    def test_known_severity_is_recovered(self) -> None:
        world = simulate(documents=40, systems=4, raters=4, rng=3)
        own = {
            item.rater: item.severity for item in self.report(world, dict.fromkeys(self.BY, 0.0))
        }
        found = {item.rater: item.severity for item in self.report(world, self.BY)}
        mean = np.mean(list(self.BY.values()))
        for rater, by in self.BY.items():
            assert found[rater] - own[rater] == pytest.approx(by - mean)
            # the raters' own severity has an sd of 7 % of the mean score of 2.4 (en-de)
            assert found[rater] == pytest.approx(by - mean, abs=0.6)

    def report(self, world: World, by: dict[str, float]) -> tuple[RaterSummary, ...]:
        return rater_report(world.test_set, moved(world, by)).raters

    def test_severity_from_little_overlap_is_within_its_error(self) -> None:
        # every output has one rater, one in ten has all; |error| <= 3.5 standard errors
        world = simulate(documents=60, systems=4, raters=4, rng=5)
        whole = moved(world, self.BY)
        full = {item.rater: item.severity for item in rater_report(world.test_set, whole).raters}
        lot = np.random.default_rng(1).integers(0, 4, world.segments.height)
        seg = pl.col("seg").cast(pl.Int64)
        mine = pl.col("rater") == pl.Series([f"rater-{i + 1}" for i in lot]).gather(
            whole.frame.select(seg - 1).to_series()
        )
        part = replace(whole, frame=whole.frame.filter(mine | (seg % 10 == 0)))
        report = rater_report(world.test_set, part)
        assert report.overlapping == 4 * (world.segments.height // 10)
        errors = [abs(item.severity - full[item.rater]) / item.stderr for item in report.raters]
        assert max(errors) < 3.5
        assert max(item.stderr for item in report.raters) < 0.4
        kept = remove_severity(world.test_set, part)
        assert kept.frame["score"].mean() == pytest.approx(part.frame["score"].mean())
        assert report.alpha < rater_report(world.test_set, kept).alpha

    def test_removal_leaves_no_severity(self) -> None:
        world = simulate(documents=10, systems=3, raters=4, rng=4)
        kept = remove_severity(world.test_set, moved(world, self.BY))
        again = rater_report(world.test_set, kept)
        assert [item.severity for item in again.raters] == pytest.approx([0, 0, 0, 0], abs=1e-9)

    def test_outliers(self) -> None:
        world = simulate(documents=30, systems=3, raters=7, rng=6)
        by = dict.fromkeys(world.raters, 0.0) | {"rater-2": 9.0}
        given = moved(world, by)
        rng = np.random.default_rng(2)
        who = pl.col("rater")
        frame = given.frame.with_columns(
            pl.when(who == "rater-5").then(pl.lit(pl.Series(rng.permutation(given.frame["score"]))))
            .when(who == "rater-7").then(2.0).otherwise(pl.col("score")).alias("score"),
            pl.when(who == "rater-3").then(2.0).otherwise(30 + pl.Series(rng.random(len(given))))
            .alias("seconds"),
        )  # fmt: skip
        report = rater_report(world.test_set, replace(given, frame=frame))
        reasons = {item.rater: item.reasons for item in report.raters}
        assert "severe" in reasons["rater-2"]
        assert reasons["rater-3"] == ("fast",)
        assert "disagrees" in reasons["rater-5"]
        assert "constant" in reasons["rater-7"]
        assert report.outliers == ("rater-2", "rater-3", "rater-5", "rater-7")
        assert report.raters[2].seconds == 2.0

    def test_honest_raters_are_left_alone(self) -> None:
        flagged = 0
        for seed in range(20):
            world = simulate(documents=15, systems=3, raters=6, rng=seed)
            flagged += len(rater_report(world.test_set, world.rate()).outliers)
        # the rule flags few of 120 honest raters, whose severities really differ
        assert flagged <= 12


class TestExclusion:
    def test_counts_and_keeps(self) -> None:
        world = simulate(documents=3, raters=3, rng=1)
        ratings = world.rate()
        found = exclude_raters(ratings, ["rater-1", "rater-3"])
        assert found.raters == ("rater-2",)
        share = len(ratings) // 3
        assert found.notes[-1] == (
            f"{2 * share} of {3 * share} ratings left out: those of rater-1, rater-3"
        )
        assert exclude_raters(ratings, []) is ratings
        assert exclude_raters(ratings, "rater-2").raters == ("rater-1", "rater-3")

    def test_refusals(self) -> None:
        ratings = simulate(documents=3, raters=2, rng=1).rate()
        refusal = r"raters \(rater-9\) is not a rater.*raters are rater-1"
        with pytest.raises(OptionError, match=refusal):
            exclude_raters(ratings, ["rater-9"])
        with pytest.raises(OptionError, match="leaves no rater; keep at least one"):
            exclude_raters(ratings, ["rater-1", "rater-2"])


class TestRefusals:
    def test_no_names(self) -> None:
        test_set, ratings = tables([("A", 1, "x", 1.0)])
        bare = replace(ratings, frame=ratings.frame.drop("rater"))
        for call in (lambda: rater_report(test_set, bare), lambda: exclude_raters(bare, ["x"])):
            with pytest.raises(InputError, match="do not say who gave them; add a column rater"):
                call()

    def test_no_scores(self) -> None:
        test_set, ratings = tables([("A", 1, "x", 1.0)])
        empty = replace(ratings, frame=ratings.frame.with_columns(score=pl.lit(None, pl.Float64)))
        with pytest.raises(InputError, match="no row has a score"):
            rater_report(test_set, empty)

    def test_other_things(self) -> None:
        test_set, ratings = tables([("A", 1, "x", 1.0)])
        with pytest.raises(
            InputError, match="expected a TestSet, found Ratings; read it with assay.read_scores"
        ):
            rater_report(ratings, ratings)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="expected Ratings"):
            rater_report(test_set, test_set)  # type: ignore[arg-type]

    def test_unrated_rows_stay_unrated(self) -> None:
        test_set, ratings = tables(list(TestByHand.ROWS))
        frame = ratings.frame.with_columns(
            score=pl.when(pl.col("seg") == "3").then(None).otherwise(pl.col("score"))
        )
        found = remove_severity(test_set, replace(ratings, frame=frame))
        assert found.unrated == 1
        assert rater_report(test_set, replace(ratings, frame=frame)).ratings == 4


def test_wmt23_raters(shared_data: Path) -> None:
    test_set = read_scores(
        shared_data / "wmt23_mqm_zhen.parquet", columns={"seg": "seg_id"}, metrics=["COMET"]
    )
    ratings = read_ratings(
        shared_data / "wmt23_mqm_zhen_raters.parquet",
        test_set,
        columns={"seg": "seg_id", "score": "mqm"},
        better="lower",
    )
    report = rater_report(test_set, ratings)
    # 18 segments of 16 systems have all eight raters, the others have one
    assert (len(report.raters), report.overlapping, report.outputs) == (8, 288, 18829)
    assert (report.model, report.identified, report.pairs) == ("output", True, 28)
    assert 0.5 < report.alpha < 0.65
    assert 0.55 < report.mean_correlation < 0.65
    by_severity = sorted(report.raters, key=lambda item: item.severity)
    assert (by_severity[0].rater, by_severity[-1].rater) == ("rater5", "rater6")
    assert by_severity[-1].severity - by_severity[0].severity > 3
    kept = remove_severity(test_set, ratings)
    assert kept.frame["score"].mean() == pytest.approx(ratings.frame["score"].mean())
    assert rater_report(test_set, kept).alpha > report.alpha


def campaign(check: dict[str, float]) -> tuple[TestSet, Ratings]:
    """Segment k scored k by all raters; controls of the first six, moved by so much per rater."""
    rows = [("A", k, rater, float(k), None) for k in range(12) for rater in check]
    rows += [("A", k, rater, k + by, "bad") for rater, by in check.items() for k in range(6)]
    names = ["system", "seg", "rater", "score", "check"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    test_set = read_scores(pl.DataFrame({"system": ["A"] * 12, "seg": range(12)}))
    return test_set, read_ratings(frame, test_set, better="lower")


def test_checks_are_counted_and_used_for_nothing_else() -> None:
    test_set, ratings = campaign({"x": 3.0, "y": 0.0, "z": -2.0})
    report = assay.rater_report(test_set, ratings)
    assert [(r.checks, r.passed) for r in report.raters] == [(6, 6), (6, 0), (6, 0)]
    assert report.outliers == ("y", "z")
    assert report.raters[1].reasons == ("checks",)
    assert "attention checks passed" in report.rule
    assert "18 attention checks are left out of all estimates" in report.notes
    assert [r.n for r in report.raters] == [12, 12, 12]
    assert [r.severity for r in report.raters] == pytest.approx([0, 0, 0])
    result = assay.estimate(test_set, ratings)
    assert result.systems[0].estimate == 5.5
    assert "18 attention checks are left out of all estimates" in result.notes


def test_where_higher_is_better_a_control_must_be_lower() -> None:
    test_set, ratings = campaign({"x": 3.0, "z": -2.0})
    turned = read_ratings(ratings.frame, test_set, better="higher")
    found = assay.rater_report(test_set, turned).raters
    assert [(r.checks, r.passed) for r in found] == [(6, 0), (6, 6)]


def test_a_check_without_its_output_is_said() -> None:
    test_set, ratings = campaign({"x": 3.0, "z": 3.0})
    frame = ratings.frame.filter(~((pl.col("seg") == "0") & pl.col("check").is_null()))
    report = assay.rater_report(test_set, read_ratings(frame, test_set, better="lower"))
    assert [r.checks for r in report.raters] == [5, 5]
    assert any(
        "for 2 of 12 attention checks the same rater did not score" in x for x in report.notes
    )


@pytest.mark.parametrize("word", ["", "0", "False", "no", None])
def test_words_for_no_check(word: str | None) -> None:
    rows = {"system": ["A"], "seg": [1], "rater": ["x"], "score": [1.0], "check": [word]}
    ratings = read_ratings(pl.DataFrame(rows, schema_overrides={"check": pl.String}))
    assert (ratings.genuine.height, ratings.controls.height) == (1, 0)


def test_an_output_twice_without_a_check_is_a_repeat() -> None:
    rows = {"system": ["A"] * 3, "seg": [1] * 3, "rater": ["x"] * 3, "score": [1.0, 2.0, 9.0]}
    ratings = read_ratings(pl.DataFrame(rows | {"check": ["no", "", "bad"]}))
    assert ratings.genuine["score"].to_list() == [1.0]
    assert ratings.controls["score"].to_list() == [9.0]
    assert ratings.genuine_repeats["score"].to_list() == [2.0]


def test_raters_agree_with_themselves() -> None:
    """Two raters rate ten outputs; x rates four of them again, one point off, y two, the same."""
    test_set = read_scores(pl.DataFrame({"system": ["A"] * 10, "seg": range(10)}))
    first = [("A", str(k), r, float(k % 5)) for r in "xy" for k in range(10)]
    later = [("A", str(k), "x", k % 5 + 1.0) for k in range(4)]
    later += [("A", str(k), "y", float(k % 5)) for k in (3, 4)]
    schema = ["system", "seg", "rater", "score"]
    frame = pl.DataFrame([*first, *later], schema=schema, orient="row")
    ratings = read_ratings(frame, test_set)
    assert ratings.frame.height == 20
    (note,) = [note for note in ratings.notes if note.code == "repeated-ratings"]
    assert "6 rows rate an output again" in note
    assert "2 of them are equal to another row" in note
    report = rater_report(test_set, ratings)
    assert [(r.rater, r.repeats, r.self_difference) for r in report.raters] == [
        ("x", 4, 1.0), ("y", 2, 0.0),
    ]  # fmt: skip
    # By hand: D_o the mean variance inside the six pairs, D_e the variance of the twelve values.
    values = [0, 1, 1, 2, 2, 3, 3, 4, 3, 3, 4, 4]
    assert report.repeats == 6
    assert report.self_alpha == pytest.approx(1 - (4 * 0.5 / 6) / np.var(values, ddof=1))
    assert "themselves on 6 repeats" in str(raters_section(report).blocks)
    # The same from ratings that were read by themselves, of all raters or of one.
    alone = read_ratings(frame)
    assert rater_report(test_set, alone).repeats == 6
    only_y = replace(alone, frame=alone.frame.filter(rater="y"))
    assert rater_report(test_set, only_y).repeats == 2


def test_scores_by_each_rater_alone() -> None:
    world = assay.simulate(documents=30, systems=2, raters=3, rng=1)
    sample = assay.sample(world.test_set, design="segments", budget="40%", rng=2)
    ratings = world.rate(sample)
    few = ratings.frame.filter(
        (pl.col("rater") != "rater-3") | (pl.int_range(pl.len()).over("rater", "system") < 5)
    )
    given = read_ratings(few, world.test_set, better="lower")
    found = assay.rater_report(world.test_set, given, sample=sample).estimates
    assert list(dict.fromkeys(item.rater for item in found)) == [None, "rater-1", "rater-2"]
    pooled = assay.estimate(world.test_set, given, sample=sample, target="answers")
    for item in (item for item in found if item.rater is None):
        same = next(x for x in pooled.systems if x.system == item.system)
        assert (item.estimate, item.low) == (same.estimate, same.low)
    alone = assay.exclude_raters(given, ["rater-2", "rater-3"])
    one = assay.estimate(world.test_set, alone, sample=sample, target="answers")
    for item in (item for item in found if item.rater == "rater-1"):
        same = next(x for x in one.systems if x.system == item.system)
        assert (item.estimate, item.low) == pytest.approx((same.estimate, same.low))
    without = assay.rater_report(world.test_set, given)
    assert without.estimates == ()
    assert any("they need the sample" in line for line in without.notes)


def test_skipped_rows_are_counted() -> None:
    rows = {"system": ["A"] * 4, "seg": [1, 2, 1, 2], "rater": ["x", "x", "y", "y"]}
    test_set = read_scores(pl.DataFrame({"system": ["A"] * 2, "seg": [1, 2]}))
    frame = pl.DataFrame(rows | {"score": [1.0, None, 2.0, 3.0]})
    report = assay.rater_report(test_set, read_ratings(frame, test_set))
    assert [r.skipped for r in report.raters] == [1, 0]
    assert not np.isnan(report.raters[0].mean)


def test_the_screen_says_what_columns_and_intervals_are() -> None:
    world = assay.simulate(documents=10, systems=2, rng=1)
    section = raters_section(assay.rater_report(world.test_set, world.rate()))
    first, across = (block for block in section.shown_in("terminal") if isinstance(block, Table))
    assert "s.e." in [column.name for column in first.columns]
    assert any("s.e.: its standard error" in str(block) for block in section.blocks)
    assert "intervals for these answers alone" in across.caption


def test_raters_of_one_system_each_are_warned_about() -> None:
    rows = [(system, seg, f"of {system}", float(seg % 3)) for system in "AB" for seg in range(10)]
    apart = assay.estimate(*tables(rows))
    assert has_note(apart.notes, "raters-by-system")
    for other in (
        [(system, seg, "x", score) for system, seg, _, score in rows],
        [(system, seg, f"{system}{seg}", score) for system, seg, _, score in rows],
    ):
        assert not has_note(assay.estimate(*tables(other)).notes, "raters-by-system")


def test_a_row_called_a_repeat_is_never_the_first_answer() -> None:
    frame = pl.DataFrame(
        [("A", "1", "x", 9.0, "1"), ("A", "1", "x", 5.0, ""), ("A", "2", "x", 4.0, "yes"),
         ("A", "2", "y", 7.0, "0")],
        schema=["system", "seg", "rater", "score", "repeat"], orient="row",
    )  # fmt: skip
    ratings = read_ratings(frame)
    assert ratings.frame["score"].to_list() == [5.0, 7.0]
    assert ratings.repeats["score"].to_list() == [9.0, 4.0]
    again = ratings.placed_in(read_scores(frame.select("system", "seg").unique()))
    assert again.frame["score"].to_list() == [5.0, 7.0]
    assert again.repeats["score"].to_list() == [9.0]
