"""Plans that count the raters: second opinions, what money buys, the widest system, stability."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import assay
from assay.errors import InputError, OptionError
from assay.estimation.overlap import Answers, rater_variance
from assay.pay import parse_amount, ratings_for
from assay.planning.pilot import read_pilot
from assay.planning.ratings import plan_comparison, plan_ratings
from assay.planning.results import RatingsPlan
from assay.planning.spread import RaterPart, Spread, opinions_of, share_out
from assay.results import UNPAID, Costs, has_note
from assay.tables.tables import Ratings, TestSet, read_ratings
from assay.views.section import section_of
from assay.worlds.simulate import World, simulate


def pilot_of(world: World, documents: int, twice: int, seed: int = 1) -> tuple[TestSet, Ratings]:
    """Whole documents by one rater each, the first ones by two."""
    rng = np.random.default_rng(seed)
    names = world.test_set.documents["doc"].to_numpy()
    everything = world.rate().frame
    parts = []
    for k, document in enumerate(rng.permutation(names)[:documents].tolist()):
        raters = rng.permutation(world.raters)[: 2 if k < twice else 1].tolist()
        chosen = (pl.col("doc") == document) & pl.col("rater").is_in(raters)
        parts.append(everything.filter(chosen))
    rated = read_ratings(pl.concat(parts), world.test_set, better="lower", range=(0.0, 25.0))
    return world.test_set, rated


@pytest.fixture(scope="module")
def world() -> World:
    return simulate(documents=60, systems=4, raters=8, metrics={"m": 0.5}, rng=3)


class TestPilot:
    def test_rater_part_by_hand(self) -> None:
        # Five documents of two segments, rated by x and y; a sixth by x alone.
        rng = np.random.default_rng(1)
        x = rng.normal(size=12, scale=3).round(2)
        y = (x + rng.normal(size=12)).round(2)
        rows = [("A", k // 2, k, "x", x[k]) for k in range(12)]
        rows += [("A", k // 2, k, "y", y[k]) for k in range(10)]
        frame = pl.DataFrame(rows, ["system", "doc", "seg", "rater", "score"], orient="row")
        test_set = assay.read_scores(frame.select("system", "doc", "seg").unique(), metrics=[])
        pilot = read_pilot((test_set, read_ratings(frame, test_set)), 0.95)
        assert pilot.raters is not None
        gaps = (x - y)[:10]
        e = gaps.reshape(5, 2).sum(axis=1)
        assert pilot.raters.variance == pytest.approx((e**2).sum() / 2 / 10)
        assert (pilot.raters.degrees, pilot.raters.task) == (5, 2)
        assert pilot.raters.noise == pytest.approx((gaps**2).sum() / 2 / 10)
        assert pilot.opinions == pytest.approx(1 / np.mean([0.5] * 10 + [1, 1]))
        assert pilot.ratings_per_output == pytest.approx(22 / 12)
        tasks = frame.with_columns(task=pl.col("seg").cast(pl.String))
        by_segment = read_pilot((test_set, read_ratings(tasks, test_set)), 0.95)
        assert by_segment.raters is not None
        assert by_segment.raters.variance == pytest.approx(pilot.raters.noise)

    def test_noise_is_at_most_what_the_means_of_raters_leave(self) -> None:
        # Two raters 10 apart on every output: u is no more than 2 s^2 of means of two ratings.
        middle, gap = np.arange(12) / 10, np.tile([5.0, -5.0], 6)
        rows = [("A", k, "x", middle[k] + gap[k]) for k in range(12)]
        rows += [("A", k, "y", middle[k] - gap[k]) for k in range(12)]
        frame = pl.DataFrame(rows, ["system", "seg", "rater", "score"], orient="row")
        test_set = assay.read_scores(frame.select("system", "seg").unique(), metrics=[])
        pilot = read_pilot((test_set, read_ratings(frame, test_set)), 0.95)
        assert pilot.raters is not None
        assert pilot.raters.noise == pytest.approx(2 * middle.var(ddof=1))

    def test_single_ratings_spread_more_than_means(self, world: World) -> None:
        test_set = world.test_set
        both = world.rate(raters=world.raters[:2])
        alone = [read_pilot((test_set, world.rate(raters=name)), 0.95) for name in world.raters[:2]]
        mean = read_pilot((test_set, both), 0.95)
        single = np.sqrt(np.mean([pilot.sd**2 for pilot in alone]))
        assert mean.sd == pytest.approx(single, rel=0.03)
        assert both.matrix(test_set).std(axis=1, ddof=1).mean() < 0.9 * single
        assert (mean.opinions, alone[0].raters) == (2, None)

    @pytest.mark.parametrize("differences", [False, True])
    def test_notes_have_the_numbers_of_the_plan(self, world: World, differences: bool) -> None:
        both = world.test_set, world.rate(raters=world.raters[:2])
        pilot = read_pilot(both, 0.95, differences=differences)
        notes = {note.code: str(note) for note in pilot.notes}
        what = "differences of single ratings" if differences else "single ratings"
        interval = f"95% interval {pilot.low:.3g} to {pilot.high:.3g}"
        assert f"pilot: {what} have sd {pilot.sd:.4g}, {interval}" in notes["pilot-sd"]
        assert f"correlation {pilot.correlation:.2f} with" in notes["pilot-correlation"]

    def test_nothing_rated_twice(self, world: World) -> None:
        plan = plan_ratings(pilot=pilot_of(world, 20, 0), half_width=0.6)
        assert (plan.raters, plan.splits) == (None, ())
        note = next(note for note in plan.notes if note.code == "raters-unknown")
        assert f"a second opinion on 10% of {plan.needed} segments (those needed), " in note
        (note,) = plan_ratings(population=520, sd=3.0).notes
        assert "10% of 104 segments (20% of the test set), 10 ratings more, would" in note
        assert plan.curve[-1].half_width > 0


class TestSecondOpinions:
    def test_opinions(self) -> None:
        # a share o of outputs with one rater more: 1 / mean(1/k)
        assert opinions_of(0.2) == pytest.approx(1 / (0.8 + 0.2 / 2))
        assert opinions_of(1.5) == pytest.approx(1 / (0.5 / 2 + 0.5 / 3))

    def test_by_hand(self) -> None:
        spread = Spread(1000, 3.0, 0.95, raters=RaterPart(12.0, 20.0, 4.0, task=5.0))
        rows = share_out(
            800,
            spread,
            2,
            Costs(per_rating=0.5, seconds_per_rating=30),
            gap=None,
            overlaps=(0.0, 1.0),
        )
        assert [(row.segments, row.ratings) for row in rows] == [(400, 800), (200, 800)]
        assert [(row.minutes, row.money) for row in rows] == [(400, 400)] * 2
        # v / N + (1/n - 1/N) (v - u): tasks of the pilot's length
        once = np.array([9 * 0.6 / 400, 12 / 1000 + 8 * 0.6 / 400])
        assert spread.precision(400).stderr(np.array(400)) == pytest.approx(np.sqrt(once.sum()))
        degrees = once.sum() ** 2 / (once[0] ** 2 / 399 + once[1] ** 2 / 20)
        width = stats.t.ppf(0.975, degrees) * np.sqrt(once.sum())
        assert rows[0].half_width == pytest.approx(width)
        # 200 segments in tasks of 5, all doubled: 40 tasks more tell of the raters
        twice = np.array([7 * 0.8 / 200, (12 / 1000 + 8 * 0.8 / 200) / 2])
        degrees = twice.sum() ** 2 / (twice[0] ** 2 / 199 + twice[1] ** 2 / 60)
        width = stats.t.ppf(0.975, degrees) * np.sqrt(twice.sum())
        assert rows[1].half_width == pytest.approx(width)
        assert [row.best for row in rows] == [True, False]

    def test_raters_who_differ_by_more_than_scores_do(self) -> None:
        # u (1 - 1/k) = 3 (1 - 1/2) of a variance of 1: one hundredth stays, and metrics may explain
        # 99 % of that. v < u: what is left of v is v / N, for each of k raters.
        spread = Spread(
            100, 1.0, 0.95, correlation=0.5, features=1, raters=RaterPart(2.0, 20.0, 3.0),
            opinions=2.0,
        )  # fmt: skip
        found = spread.precision(10)
        assert found.sd**2 == pytest.approx(0.01)
        assert found.correlation**2 == pytest.approx(0.99)
        assert found.floor**2 == pytest.approx(2.0 / 100 / 2)

    def test_three_raters_double_a_task_once(self) -> None:
        # 200 segments in tasks of 5: 40 tasks more tell of the raters
        raters = RaterPart(12.0, 20.0, 4.0, task=5.0)
        spread = Spread(1000, 3.0, 0.95, raters=raters, opinions=3.0)
        assert spread.precision(200).floor_degrees == pytest.approx(20 + 40)

    def test_two_segments_are_the_fewest(self) -> None:
        spread = Spread(1000, 3.0, 0.95, raters=RaterPart(8, 50, 4.0))
        rows = share_out(4, spread, 2, UNPAID, gap=None, overlaps=(0.0, 1.0))
        assert [(row.overlap, row.segments) for row in rows] == [(0.0, 2)]

    def test_what_is_best(self) -> None:
        # As long as there are new segments they bring more; then second opinions are all there is.
        spread = Spread(1000, 3.0, 0.95, raters=RaterPart(8, 50, 4.0))
        for ratings, best in ((600, 0.0), (2000, 1.0), (5000, 2.0)):
            rows = share_out(ratings, spread, 1, UNPAID, gap=None)
            assert next(row.overlap for row in rows if row.best) == best
        assert share_out(600, Spread(1000, 3.0, 0.95), 1, UNPAID, gap=None) == ()

    def test_the_best_is_the_narrowest(self, world: World) -> None:
        # few tasks tell of the raters, so that a few second opinions narrow the interval a little
        spread = Spread(1000, 3.0, 0.95, raters=RaterPart(8, 5, 4.0))
        rows = share_out(300, spread, 1, UNPAID, gap=None)
        best = next(row for row in rows if row.best)
        assert best.half_width == min(row.half_width for row in rows)
        assert 1 < rows[0].half_width / best.half_width < 1.03
        plan = replace(plan_ratings(pilot=pilot_of(world, 30, 10)), splits=rows)
        said = next(block for block in section_of(plan).blocks if "econd opinions" in str(block))
        assert isinstance(said, str)
        assert said.startswith(f"Second opinions cost no precision: {best.segments} segments with")
        assert f"give ±{best.half_width:.3g}, 300 segments rated once" in said

    def test_errors_are_those_of_campaigns(self) -> None:
        # One or two of 30 raters per document, a quarter of the segments or all: root mean square
        # error of differences against the mean of all raters. 150 campaigns: about 5 %.
        world = simulate(documents=50, systems=4, raters=30, metrics={}, rng=4)
        answers, document = np.moveaxis(world.scores, 2, 0), world.test_set.document
        population = len(document)
        rng = np.random.default_rng(1)
        left, right = np.triu_indices(4, 1)

        def differences(scores: np.ndarray) -> np.ndarray:
            return np.asarray(scores[left] - scores[right])

        truth = differences(answers.mean(axis=0)).mean(axis=1)

        def dealt(raters: int) -> np.ndarray:
            who = np.array([rng.permutation(30)[:raters] for _ in range(50)])[document].T
            return np.array([answers[one, :, np.arange(population)].T for one in who])

        shape = np.indices((2, 4, population)).reshape(3, -1)
        for n in (population // 4, population):
            parts, spreads = [], []
            for _ in range(20):
                two = dealt(2)
                inside = np.isin(shape[2], rng.permutation(population)[:n])
                rater, system, segment = shape[:, inside]
                given = Answers(
                    two.ravel()[inside], system, segment, document[segment], rater
                )  # fmt: skip
                found = rater_variance(given)
                assert found is not None
                parts.append((found.differences, found.alone[1]))
                spreads.append(differences(two[0]).var(axis=1, ddof=1).mean())
            v, u = np.mean(parts, axis=0).tolist()
            sd = float(np.sqrt(np.mean(spreads)))
            spread = Spread(population, sd, 0.95, raters=RaterPart(v, 50.0, u))
            for raters in (1, 2):
                errors = []
                for _ in range(150):
                    drawn = dealt(raters).mean(axis=0)[:, rng.permutation(population)[:n]]
                    errors.append(differences(drawn).mean(axis=1) - truth)
                planned = spread.rated_by(float(raters)).precision(n).stderr(np.array(n))
                assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(planned, rel=0.12)

    def test_in_a_plan(self, world: World) -> None:
        plan = plan_ratings(pilot=pilot_of(world, 30, 10), half_width=0.9, systems=4)
        assert plan.raters is not None
        assert plan.raters.tasks == 10
        assert 10 <= plan.raters.degrees <= 30
        assert [split.overlap for split in plan.splits] == [0.0, 0.1, 0.2, 0.5, 1.0, 2.0]
        assert sum(split.best for split in plan.splits) == 1
        assert all(split.ratings <= (plan.ratings or 0) + 1e-6 for split in plan.splits)
        assert plan.curve[-1].half_width > 0
        text = " ".join(block for block in section_of(plan).blocks if isinstance(block, str))
        assert "second opinions" in text.lower()
        again = RatingsPlan.from_dict(json.loads(json.dumps(plan.to_dict(), allow_nan=False)))
        assert again == plan

    def test_old_results_are_read(self) -> None:
        plan = plan_ratings(population=1400, sd=3, half_width=0.3)
        content = json.loads(json.dumps(plan.to_dict()))
        for name in ("raters", "opinions", "widest", "splits", "spend", "bought"):
            del content[name]
        for name in ("ratings", "stable_order", "stable_pairs"):
            for point in content["curve"]:
                del point[name]
        assert RatingsPlan.from_dict(content).needed == plan.needed


class TestSpending:
    @pytest.mark.parametrize(
        ("text", "ratings"),
        [
            ("40 h", 4800), ("90 min", 180), ("2 hours", 240), ("2000 EUR", 4000),
            ("2,000 EUR", 4000), ("€ 50.50", 101), ("50.5 USD", 101),
            ("1500.500 EUR", 3001), ("1 Hour", 120), ("50€", 100), ("$100", 200),
            ("5000 ratings", 5000),
        ],
    )  # fmt: skip
    def test_amounts(self, text: str, ratings: float) -> None:
        assert ratings_for(
            Costs(per_rating=0.5, seconds_per_rating=30), parse_amount(text)
        ) == pytest.approx(ratings)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            *((text, "is not an amount with its unit; write '40 h'") for text in (
                "2000", "", "EUR", "-3 h", "h 40", "1e9 EUR", "2k EUR", "€5 h", "1,50 EUR",
                "2 000 EUR",
            )),
            *((text, "buys nothing; give more than 0") for text in ("0 h", "0 EUR", "0.000 h")),
            ("1.500 EUR", "may mean 1500 or 1.5; write 1500 if that is meant"),
            ("3 days", "has the unit 'days', which is not known; use h, min, ratings or a curr"),
            ("2000 eur", "has the unit 'eur', which is not known"),
            ("1000 EUR, 8 h", "has two limits, and a plan has one; give the one that binds"),
            ("1000 EUR and 8 h", "has two limits"),
        ],
    )  # fmt: skip
    def test_no_amounts(self, text: str, message: str) -> None:
        with pytest.raises(OptionError, match=message) as refused:
            ratings_for(Costs(per_rating=0.5, seconds_per_rating=30), parse_amount(text))
        assert f"({text})" in str(refused.value)

    def test_the_other_way_round(self) -> None:
        options = {"population": 1400, "sd": 3.0, "systems": 8, "pay": "0.5 EUR per rating"}
        plan = plan_ratings(**options, spend="1216 EUR")  # type: ignore[arg-type]
        assert plan.bought is not None
        assert (plan.bought.n, plan.bought.ratings, plan.bought.money) == (304, 2432, 1216)
        assert plan.bought.half_width == pytest.approx(0.3, abs=0.001)
        assert plan_ratings(**options, half_width=0.3).needed == 304  # type: ignore[arg-type]
        lead = section_of(plan).lead
        assert "1216 EUR buys 2,432 ratings (304 segments x 8 systems" in lead
        assert "intervals of ±0.3" in lead

    def test_a_comparison(self) -> None:
        plan = plan_comparison(
            population=2000, difference_sd=3.0, gap=0.4, pay="60 s per rating", spend="20 h"
        )
        assert plan.bought is not None
        assert (plan.bought.n, plan.bought.minutes) == (600, 1200)
        assert (plan.bought.power or 0) > 0.8

    def test_refusals(self) -> None:
        given = {"population": 1400, "sd": 3.0, "systems": 8}
        with pytest.raises(InputError, match="is a time, and how long a rating takes is not known"):
            plan_ratings(**given, spend="40 h")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="is money, and what a rating costs is not known"):
            plan_ratings(**given, spend="40 EUR")  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="buys 15 ratings, not two segments of all systems"):
            plan_ratings(**given, spend="15 ratings")  # type: ignore[arg-type]


class TestWidest:
    def test_by_hand(self) -> None:
        rng = np.random.default_rng(5)
        scores = {
            name: rng.normal(scale=sd, size=40) for name, sd in zip("ABC", (1, 3, 2), strict=True)
        }
        frame = pl.DataFrame([
            {"system": name, "seg": k, "score": value}
            for name, values in scores.items()
            for k, value in enumerate(values.tolist())
        ])  # fmt: skip
        test_set = assay.read_scores(frame.drop("score"), metrics=[])
        pilot = (test_set, read_ratings(frame, test_set))
        plan = plan_ratings(pilot=pilot, half_width=0.5, population=2000)
        assert plan.widest is not None
        assert plan.widest.name == "B"
        assert plan.widest.sd == pytest.approx(scores["B"].std(ddof=1))
        assert (plan.widest.needed or 0) > (plan.needed or 2000)
        first = frame.filter(pl.col("system") != "C")
        only = (assay.read_scores(first.drop("score"), metrics=[]), read_ratings(first))
        assert read_pilot(only, 0.95).widest == ("B", pytest.approx(scores["B"].std(ddof=1)))
        two = plan_comparison(pilot=pilot, gap=1.0, population=2000)
        assert two.widest is not None
        assert two.widest.name == "B and C"
        assert any(
            "the widest, that of B (sd" in block
            for block in section_of(plan).blocks
            if isinstance(block, str)
        )

    def test_it_brings_more_systems_to_the_target(self) -> None:
        # Pilots of 50 of about 1,300 segments, 8 systems; 40 pilots on 4 worlds. The average
        # plan brings about half of the systems to the target, that for the widest most.
        shares: dict[str, list[float]] = {"average": [], "widest": []}
        for seed in range(4):
            world = simulate(documents=110, systems=8, raters=1, metrics={}, rng=seed)
            scores = world.rate().matrix(world.test_set)
            population = scores.shape[1]
            rng = np.random.default_rng(seed)
            for k in range(10):
                drawn = assay.sample(world.test_set, design="segments", budget=50, rng=k)
                plan = plan_ratings(pilot=(world.test_set, world.rate(drawn)), half_width=0.4)
                assert plan.widest is not None
                for name, n in (("average", plan.needed), ("widest", plan.widest.needed)):
                    size = n or population // 2
                    part = scores[:, rng.permutation(population)[:size]]
                    error = part.std(axis=1, ddof=1) * np.sqrt(1 / size - 1 / population)
                    shares[name].append(float((1.97 * error <= 0.4).mean()))
        assert np.mean(shares["average"]) < 0.65
        assert np.mean(shares["widest"]) > 0.75


class TestStability:
    def test_two_campaigns_agree_as_often_as_planned(self) -> None:
        # Pilots of 12 documents; two campaigns of 200 segments, other raters and segments, on the
        # same test set. 12 worlds x 10: Monte-Carlo sd of the mean about .015.
        said, found = [], []
        for seed in range(12):
            world = simulate(documents=40, systems=5, raters=8, metrics={}, rng=seed)
            answers, document = np.moveaxis(world.scores, 2, 0), world.test_set.document
            population = len(document)
            plan = plan_ratings(pilot=pilot_of(world, 16, 8, seed), sizes=[200], systems=5)
            assert plan.curve[0].stable_pairs is not None
            said.append(plan.curve[0].stable_pairs)
            rng = np.random.default_rng(seed)
            i, j = np.triu_indices(5, 1)
            for _ in range(10):
                means = []
                for _ in range(2):
                    who = rng.integers(8, size=40)[document]
                    scores = answers[who, :, np.arange(population)].T
                    means.append(scores[:, rng.permutation(population)[:200]].mean(axis=1))
                one, other = means
                found.append(((one[i] > one[j]) == (other[i] > other[j])).mean())
        assert np.mean(said) == pytest.approx(np.mean(found), abs=0.06)

    def test_grows_with_the_campaign(self, world: World) -> None:
        plan = plan_ratings(pilot=pilot_of(world, 30, 10), systems=4)
        chances = [point.stable_pairs or 0 for point in plan.curve]
        assert chances[-1] > chances[0]
        assert all((point.stable_order or 0) <= (point.stable_pairs or 0) for point in plan.curve)
        assert plan_ratings(population=100, sd=1.0).curve[0].stable_pairs is None


def test_out_of_reach_with_raters(world: World) -> None:
    plan = plan_ratings(pilot=pilot_of(world, 30, 10), half_width=0.05)
    assert plan.needed is None
    assert has_note(plan.notes, "out-of-reach")
    assert "with one more rater per output" in " ".join(plan.notes)
    assert "are out of reach with 1.3" in section_of(plan).lead


def test_answers_are_no_metrics() -> None:
    # Named, and too few for the check of the tables: it said "12 with metrics (correlation 1.00)".
    rng = np.random.default_rng(2)
    rows = [
        {"system": name, "seg": k, "score": value, "human": 2 * value + 1}
        for name in "AB"
        for k, value in enumerate(rng.normal(size=12).tolist())
    ]
    frame = pl.DataFrame(rows)
    test_set = assay.read_scores(frame.drop("score"), metrics=["human"])
    pilot = (test_set, read_ratings(frame.drop("human"), test_set))
    for call in (
        lambda: plan_comparison(pilot=pilot, gap=1.0),
        lambda: plan_ratings(pilot=pilot, half_width=0.5),
    ):
        with pytest.raises(OptionError, match=r"correlation 1.00\) nearly equal the ratings"):
            call()


class TestPastOneHalf:
    """Without second raters a plan says what `estimate` will: around one half of the test set."""

    @pytest.mark.parametrize("documents", [None, 40])
    @pytest.mark.parametrize("share", [0.45, 0.5, 0.55, 0.8, 1.0])
    def test_plan_and_estimate_agree(self, documents: int | None, share: float) -> None:
        rng, n, systems = np.random.default_rng(5), 400, 3
        document = np.repeat(np.arange(40), 10)
        score = rng.normal(size=(systems, n)) + rng.normal(size=(systems, 1, 40))[..., 0, document]
        score = score + rng.normal(size=n) + rng.normal(size=40)[document]
        names = np.repeat([f"s{k}" for k in range(systems)], n)
        frame = pl.DataFrame({
            "system": names, "seg": np.tile(np.arange(n), systems), "score": score.ravel(),
        })  # fmt: skip
        if documents is not None:
            frame = frame.insert_column(1, pl.Series("doc", np.tile(document, systems)))
        test_set = assay.read_scores(frame.drop("score"), metrics=[])
        rated = frame.filter(pl.col("seg").is_in(rng.permutation(n)[: round(share * n)]))
        ratings = read_ratings(rated, test_set)
        found = assay.estimate(
            test_set, ratings, method="mean", assume=None if share == 1 else "random", interval="t"
        )
        plan = plan_ratings(pilot=(test_set, ratings), sizes=[round(share * n)])
        widths = [(item.high - item.low) / 2 for item in found.systems]
        assert {item.basis for item in found.systems} == {"texts" if share > 0.5 else "answers"}
        assert plan.curve[0].half_width == pytest.approx(float(np.mean(widths)), rel=0.1)
        gaps = plan_comparison(pilot=(test_set, ratings), gap=0.5, sizes=[round(share * n)])
        widths = [(item.high - item.low) / 2 for item in found.differences]
        assert gaps.curve[0].half_width == pytest.approx(float(np.mean(widths)), rel=0.15)


def test_a_plan_for_scores_counts_severity_as_estimate_does(world: World) -> None:
    pilot = pilot_of(world, documents=60, twice=20)
    found = assay.estimate(*pilot, method="mean", interval="t")
    n = world.test_set.segments.height
    plan = plan_ratings(pilot=pilot, sizes=[n])
    assert plan.raters is not None
    pool = np.mean([item.severity_stderr**2 for item in found.systems])
    assert plan.raters.pool == pytest.approx(pool)
    assert pool > 0
    half_width = np.mean([(item.high - item.low) / 2 for item in found.systems])
    assert plan.curve[0].half_width == pytest.approx(float(half_width), rel=0.15)
    two = plan_comparison(pilot=pilot, gap=0.5, sizes=[n])
    assert two.raters is not None
    assert two.raters.pool == 0
