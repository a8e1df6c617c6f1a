"""The raters' part of an error: by hand, against known raters, and against real ones."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay.errors import InputError, OptionError
from assay.estimation.overlap import (
    Answers,
    LastingTaste,
    Overlap,
    RaterVariance,
    Severities,
    SeverityVariance,
    rater_notes,
    rater_variance,
    raters_by_system,
)
from assay.results import has_note
from assay.tables.tables import Ratings, TestSet, read_ratings, read_scores


def rows(x: np.ndarray, task: np.ndarray) -> RaterVariance | None:
    """Of raters x systems x segments, NaN where nothing was said."""
    rater, system, segment = (values[~np.isnan(x)] for values in np.indices(x.shape))
    return rater_variance(Answers(x[~np.isnan(x)], system, segment, task[segment], rater))


class TestByHand:
    def test_tasks_are_summed_before_they_are_squared(self) -> None:
        x = np.array([[[1.0, 2.0, 5.0, 4.0]], [[0.0, 1.0, 6.0, 4.0]]])
        found = rows(x, np.array([0, 0, 1, 1]))
        assert found is not None
        assert found.scores == pytest.approx((2**2 + 1**2) / 2 / 4)
        assert found.alone[0] == pytest.approx((1 + 1 + 1 + 0) / 2 / 4)
        assert (found.degrees, found.tasks) == (2, 2)

    def test_differences_are_the_mean_over_pairs(self) -> None:
        x = np.random.default_rng(1).normal(size=(2, 5, 12))
        task = np.repeat(np.arange(4), 3)
        found = rows(x, task)
        assert found is not None
        e = (x[0] - x[1]).reshape(5, 4, 3).sum(axis=2)
        pairs = [((e[i] - e[j]) ** 2).sum() / 2 / 12 for i, j in combinations(range(5), 2)]
        assert found.differences == pytest.approx(np.mean(pairs))

    def test_three_raters_use_the_variance_between_them(self) -> None:
        x = np.random.default_rng(2).normal(size=(3, 1, 8))
        task = np.repeat(np.arange(4), 2)
        found = rows(x, task)
        assert found is not None
        sums = x.reshape(3, 4, 2).sum(axis=2)
        assert found.scores == pytest.approx(sums.var(axis=0, ddof=1).sum() / 8)
        assert found.differences == pytest.approx(2 * found.scores)  # of two systems like this one
        assert found.degrees == 8

    def test_degrees_of_systems_that_vary_apart_are_those_of_every_task_and_contrast(self) -> None:
        # Two raters of one segment in each of three tasks, 2 apart on one system and -1 on the
        # others: S = [[1, -.5, -.5], ...], so T (tr S)^2 / (tr S^2 - (tr S)^2 / T) T^2 / (T - 1)
        # / (T + 2) = 3 x 9 / ((4.5 - 3) x .9) = 20, of which T (K - 1) = 6 are possible.
        x = np.zeros((2, 3, 3))
        x[0] = 3 * np.eye(3) - 1
        found = rows(x, np.arange(3))
        assert found is not None
        assert (found.degrees, found.tasks) == (pytest.approx(6), 3)
        # Two tasks tell nothing of that.
        less = rows(x[:, :, :2], np.arange(2))
        assert less is not None
        assert (less.degrees, less.tasks) == (2, 2)

    def test_degrees_of_systems_that_vary_partly_together(self) -> None:
        # S = [[12, -6, -6], [-6, 4, 2], [-6, 2, 4]] / 8 over four tasks. tr S^2 without its bias is
        # f^2 / (f - 1) / (f + 2) (tr S^2 - (tr S)^2 / f), f = 4 (Srivastava 2005).
        x = np.zeros((2, 3, 4))
        x[0] = np.array([[2, -1, -1]] * 3 + [[0, 1, -1]]).T
        found = rows(x, np.arange(4))
        assert found is not None
        square = 16 / 3 / 6 * (328 / 64 - 2.5**2 / 4)
        assert found.degrees == pytest.approx(4 * 2.5**2 / square)

    def test_outputs_with_one_rater_say_nothing(self) -> None:
        x = np.random.default_rng(3).normal(size=(2, 3, 6))
        task = np.repeat(np.arange(3), 2)
        whole = rows(x, task)
        x = np.concatenate([x, np.full((2, 3, 4), np.nan)], axis=2)
        x[0, :, 6:] = 9.0
        assert rows(x, np.repeat(np.arange(5), 2)) == whole
        assert rows(x[:1], np.repeat(np.arange(5), 2)) is None


NOBODY = Severities(SeverityVariance(0.0, 1.0), *[np.zeros(0, dtype=int)] * 5)


def overlap_with(v: float, alone: float, share: np.ndarray, raters: int = 4) -> Overlap:
    """Scores and differences have this variance over raters, by tasks and by segments alone."""
    variance = RaterVariance(v, 2 * v, 9.0, 5, (alone, 2 * alone))
    return Overlap(variance, share, (2.0, 8.0), raters, NOBODY, None)


class TestParts:
    def test_what_raters_add_to_the_sampling_variance(self) -> None:
        # v/N + (1/n - 1/N) (v - u), for ratings that vary twice as much as typical ones (2)
        x, once = np.array([0.0, 4, 0, 4]), np.ones((2, 4))  # a variance of 16/3
        wanted = (5 / 10 + (1 / 4 - 1 / 10) * (5 - 2)) * 16 / 3
        assert overlap_with(5, 2, once).part(0, 0, x, 10) == pytest.approx(wanted / 2)
        # A difference: twice v and u, its own typical variance.
        assert overlap_with(5, 2, once).part(0, 1, x, 10) == pytest.approx(2 * wanted / 8)
        # Outputs with two raters count half, with one once.
        mixed = np.array([[0.5] * 4, [1.0] * 4])
        assert overlap_with(5, 2, mixed).part(0, 1, x, 10) == pytest.approx(2 * wanted / 8 * 0.75)

    def test_raters_who_differ_less_by_tasks_than_by_segments(self) -> None:
        share = np.ones((1, 2))
        assert overlap_with(2, 5, share).part(0, 0, np.array([1.0, 3]), 10) == pytest.approx(0.2)
        assert overlap_with(2, 5, share[:, :1]).part(0, 0, np.array([1.0]), 10) == 0

    @pytest.mark.parametrize(
        ("rater", "scale", "wanted"),
        [
            # 4 (sum over raters of weights squared - scale x sum over their tasks)
            ([0, 0], 1.0, 4 * (1 - 0.5)),
            ([0, 1], 0.5, 4 * (0.5 - 0.25)),
            ([0, 1], 2.0, 0.0),  # the variance over tasks has more than all of it
        ],
    )
    def test_severities_by_hand(self, rater: list[int], scale: float, wanted: float) -> None:
        two = np.arange(2)
        known = Severities(
            SeverityVariance(4.0, 3.0),
            np.zeros(2, dtype=int),
            two,
            np.array(rater),
            two,
            np.ones(2),
        )
        assert known.part(0, np.array([0.5, 0.5]), scale) == pytest.approx(wanted)

    def test_notes_from_the_third_rater_and_the_third_error_on(self) -> None:
        share, severity = np.ones((1, 2)), SeverityVariance(1.0, 2.0)
        for raters, few in ((3, True), (4, False)):
            notes = rater_notes(overlap_with(2, 1, share, raters), severity)
            assert has_note(notes, "few-raters") is few
        calm = overlap_with(2, 1, share, 3)
        assert not has_note(rater_notes(calm, SeverityVariance(0.0, 2.0)), "few-raters")
        for errors, clear in ((3.0, False), (3.1, True)):
            keen = calm._replace(taste=LastingTaste(1.0, errors))
            assert has_note(rater_notes(keen, severity), "lasting-taste") is clear

    @pytest.mark.parametrize(("ratings", "warned"), [(2, True), (1, False)])
    def test_raters_with_a_system_each_and_two_ratings(self, ratings: int, warned: bool) -> None:
        rows = [("A", k, "x", 1.0) for k in range(2)] + [("B", k, "y", 1.0) for k in range(ratings)]
        frame = pl.DataFrame(rows, ["system", "seg", "rater", "score"], orient="row")
        assert has_note(raters_by_system(read_ratings(frame)), "raters-by-system") is warned


def test_unbiased_against_raters_whose_taste_is_known() -> None:
    # v of a difference: 2 (noise^2 + 8 taste^2) = 2 (1 + 8 / 4) = 6. 300 runs: the Monte-Carlo
    # error of the mean is 6 sqrt(2 / (12 x 5 x 300)) = .063.
    rng, task, found = np.random.default_rng(2), np.repeat(np.arange(12), 8), []
    for _ in range(300):
        taste = rng.normal(scale=0.5, size=(2, 6, 12))[:, :, task]
        one = rows(rng.normal(size=(2, 6, 96)) + taste, task)
        assert one is not None
        found.append((one.differences, one.alone[1], one.degrees))
    v, alone, degrees = np.mean(found, axis=0)
    assert v == pytest.approx(6, abs=0.19)
    assert alone == pytest.approx(2 * 1.25, abs=0.05)
    assert 12 < degrees <= 60


DOCUMENTS, LENGTH, SYSTEMS, RATERS = 40, 10, 6, 6


def campaign(rng: np.random.Generator, doubled: int) -> tuple[pl.DataFrame, np.ndarray]:
    """One rater per document, a second for some, and the scores that all raters would give.

    Raters differ in severity, in their taste for systems, and in both once more in every document.
    """
    document = np.repeat(np.arange(DOCUMENTS), LENGTH)
    segments = len(document)
    x = rng.normal(0, 0.3, (SYSTEMS, 1)) + rng.normal(0, 1, segments)
    x = x + rng.normal(0, 1.2, (SYSTEMS, segments)) + rng.normal(0, 0.7, DOCUMENTS)[document]
    answers = x + rng.normal(0, 0.8, (RATERS, 1, 1)) + rng.normal(0, 0.3, (RATERS, SYSTEMS, 1))
    answers = answers + rng.normal(0, 0.4, (RATERS, SYSTEMS, DOCUMENTS))[:, :, document]
    answers = answers + rng.normal(0, 1, (RATERS, SYSTEMS, segments))
    first = rng.integers(RATERS, size=DOCUMENTS)
    second = (first + rng.integers(1, RATERS, size=DOCUMENTS)) % RATERS
    twice = np.isin(document, rng.permutation(DOCUMENTS)[:doubled])
    tables = []
    for rater, rated in ((first, np.full(segments, True)), (second, twice)):
        place = np.flatnonzero(rated)
        who = rater[document[place]]
        tables.append(pl.DataFrame({
            "system": np.repeat([f"s{k}" for k in range(SYSTEMS)], len(place)),
            "doc": np.tile(document[place], SYSTEMS), "seg": np.tile(place, SYSTEMS),
            "rater": np.tile(who, SYSTEMS), "score": answers[who, :, place].T.ravel(),
        }))  # fmt: skip
    return pl.concat(tables), answers.mean(axis=(0, 2))


def placed(frame: pl.DataFrame, better: str = "higher") -> tuple[TestSet, Ratings]:
    test_set = read_scores(frame.select("system", "doc", "seg").unique(maintain_order=True))
    return test_set, read_ratings(frame, test_set, better=better)  # type: ignore[arg-type]


class TestWhatAnAnswerIsFor:
    def test_second_raters_make_it_one_for_raters(self) -> None:
        frame, _ = campaign(np.random.default_rng(1), doubled=8)
        found = assay.estimate(*placed(frame))
        assert found.target == "raters"
        assert has_note(found.notes, "for-raters")
        assert all(item.basis == "raters" and item.rater_stderr > 0 for item in found.systems)
        assert all(item.low < item.high and item.p > 0 for item in found.differences)
        # Everything is rated: the whole error is the raters'.
        assert found.systems[0].stderr == pytest.approx(found.systems[0].rater_stderr)

    def test_two_doubled_tasks_are_the_fewest(self) -> None:
        for doubled, target in ((1, "answers"), (2, "raters")):
            frame, _ = campaign(np.random.default_rng(1), doubled)
            assert assay.estimate(*placed(frame)).target == target

    def test_without_them_more_than_half_makes_it_one_for_texts(self) -> None:
        frame, _ = campaign(np.random.default_rng(1), doubled=0)
        found = assay.estimate(*placed(frame))
        assert found.target == "answers"
        assert has_note(found.notes, "raters-unknown")
        assert has_note(found.notes, "texts-for-raters")
        asked = assay.estimate(*placed(frame), target="texts")
        assert [item.low for item in found.systems] == [item.low for item in asked.systems]
        assert {item.basis for item in found.systems} == {"texts"}
        with pytest.raises(InputError, match="the target raters needs at least 2 tasks"):
            assay.estimate(*placed(frame), target="raters")

    def test_half_or_less_is_one_for_these_answers(self) -> None:
        frame, _ = campaign(np.random.default_rng(1), doubled=0)
        test_set, ratings = placed(frame)
        drawn = assay.sample(test_set, budget="40%", design="segments", rng=1)
        found = assay.estimate(test_set, ratings, sample=drawn)
        named = assay.estimate(test_set, ratings, sample=drawn, target="answers")
        assert found.systems == named.systems
        assert has_note(named.notes, "for-answers")

    def test_a_task_column_says_what_was_done_in_one_go(self) -> None:
        frame, _ = campaign(np.random.default_rng(1), doubled=8)
        by_segment = frame.with_columns(task=pl.col("seg").cast(pl.String))
        wide = assay.estimate(*placed(frame)).differences
        narrow = assay.estimate(*placed(by_segment)).differences
        # Taste goes through documents, so errors by segments are too small.
        assert np.mean([item.stderr for item in narrow]) < np.mean([item.stderr for item in wide])

    def test_every_method_has_it(self) -> None:
        world = assay.simulate(documents=20, systems=3, rng=1)
        drawn = assay.sample(world.test_set, budget="40%", rng=2)
        for method in ("mean", "regression", "cv-single", "cv-multi", "cv-knn"):
            found = assay.estimate(world.test_set, world.rate(drawn), sample=drawn, method=method)
            assert all(item.rater_stderr > 0 for item in found.differences)

    def test_former_names(self) -> None:
        frame, _ = campaign(np.random.default_rng(1), doubled=0)
        with pytest.raises(OptionError, match="is now called texts"):
            assay.estimate(*placed(frame), target="new-documents")
        found = assay.estimate(*placed(frame), target="texts").to_dict()
        assert assay.Estimates.from_dict(found | {"target": "new-documents"}).target == "texts"


def test_verdicts_together_are_fewer() -> None:
    world = assay.simulate(documents=30, systems=8, rng=1)
    drawn = assay.sample(world.test_set, budget="20%", rng=2)
    each = assay.estimate(world.test_set, world.rate(drawn), sample=drawn)
    together = assay.estimate(world.test_set, world.rate(drawn), sample=drawn, family=True)
    assert sum(item.decided for item in together.differences) < sum(
        item.decided for item in each.differences
    )
    assert "|family|" in together.signature


def covered(
    test_set: TestSet, ratings: Ratings, share: float, truth: dict[str, float],
    rng: np.random.Generator,
) -> list[bool]:  # fmt: skip
    """Which differences hold the truth, where this share of the segments is a sample."""
    drawn = None
    if share < 1:
        drawn = assay.sample(test_set, budget=f"{share:.0%}", design="segments", rng=rng)
    found = assay.estimate(test_set, ratings, sample=drawn)
    return [d.low <= truth[d.left] - truth[d.right] <= d.high for d in found.differences]


@pytest.mark.slow
def test_coverage_of_the_mean_of_all_raters() -> None:
    """Six raters of different taste and severity, a tenth of the documents doubled.

    120 campaigns x 15 differences that share raters: the Monte-Carlo error is .008. Without the
    raters' part coverage was 90, 71 and 0 %.
    """
    rng = np.random.default_rng(5)
    hits: dict[float, list[bool]] = {0.4: [], 0.8: [], 1.0: []}
    for _ in range(120):
        frame, means = campaign(rng, doubled=4)
        test_set, ratings = placed(frame)
        truth = {f"s{k}": mean for k, mean in enumerate(means)}
        for share, held in hits.items():
            held += covered(test_set, ratings, share, truth, rng)
    for share, held in hits.items():
        assert np.mean(held) == pytest.approx(0.955, abs=0.025), share


@pytest.mark.slow
def test_coverage_of_real_raters(shared_data: Path) -> None:
    """Three named raters on every segment: one per document, six of thirty documents doubled.

    The truth is the mean of all three. 100 draws x 45 differences: Monte-Carlo error about .01. At
    100 % the rater is one of the three whose mean is the truth, so coverage is above the level.
    """
    frame = pl.read_parquet(shared_data / "wmt23_sxs_ende_raters.parquet").select(
        "system", "doc", pl.col("doc_seg").cast(pl.String).alias("seg"), "rater",
        pl.col("mqm").alias("score"),
    )  # fmt: skip
    truth = dict(frame.group_by("system").agg(pl.col("score").mean()).iter_rows())
    test_set, _ = placed(frame, "lower")
    raters = dict(frame.group_by("doc").agg(pl.col("rater").unique().sort()).iter_rows())
    rng = np.random.default_rng(7)
    hits: dict[float, list[bool]] = {0.25: [], 0.5: [], 1.0: []}
    for _ in range(100):
        twice = set(rng.permutation(sorted(raters))[:6].tolist())
        order = {doc: rng.permutation(names) for doc, names in sorted(raters.items())}
        chosen = [(doc, name) for doc in order for name in order[doc][: 1 + (doc in twice)]]
        who = pl.DataFrame(chosen, schema=["doc", "rater"], orient="row")
        ratings = read_ratings(frame.join(who, on=["doc", "rater"]), test_set, better="lower")
        for share, held in hits.items():
            held += covered(test_set, ratings, share, truth, rng)
    for share, held in hits.items():
        assert 0.925 <= np.mean(held) <= 0.99, share


def test_two_rounds_of_the_same_outputs_never_decide_against_each_other() -> None:
    """Self-made: the same outputs rated by two sets of raters, everything rated, no overlap."""
    against = decided = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        frame, _ = campaign(rng, doubled=DOCUMENTS)
        one = frame.unique(["system", "doc", "seg"], keep="first", maintain_order=True)
        other = frame.unique(["system", "doc", "seg"], keep="last", maintain_order=True)
        rounds = [assay.estimate(*placed(part)) for part in (one, other)]
        pairs = [{frozenset((d.left, d.right)): d for d in r.differences} for r in rounds]
        for key, left in pairs[0].items():
            right = pairs[1][key]
            decided += left.decided + right.decided
            against += left.decided and right.decided and left.left != right.left
    assert decided > 20
    assert against == 0


def test_one_raters_column_of_everything(shared_data: Path) -> None:
    """WMT20 en-de, each of three raters' columns alone: verdicts agree with the other columns."""
    columns = ("mqm_r1", "mqm_r2", "mqm_r3")
    frame = pl.read_parquet(shared_data / "wmt20_mqm_ende.parquet").rename({"doc_seg": "seg"})
    frame = frame.filter(pl.all_horizontal(pl.col(name).is_finite() for name in columns))
    test_set = read_scores(frame.select("system", "doc", "seg"))
    found = []
    for name in columns:
        scores = frame.select("system", "doc", "seg", pl.col(name).alias("score"))
        found.append(assay.estimate(test_set, read_ratings(scores, test_set, better="lower")))
    assert all(item.low < item.high for one in found for item in one.systems)
    assert max(item.cluster for one in found for item in one.systems) < 8
    agree = [
        {item.system: item.estimate for item in other.systems}[item.left]
        < {item.system: item.estimate for item in other.systems}[item.right]
        for one in found for other in found if other is not one
        for item in one.differences if item.decided
    ]  # fmt: skip
    assert np.mean(agree) >= 0.97


@pytest.mark.slow
def test_two_rounds_of_esa_ratings(shared_data: Path) -> None:
    """ESA23 en-de rated twice, everything once in each round: no pair is decided both ways.

    As certainties, 7 of the 78 pairs had opposite signs in the two rounds.
    """
    logs = pl.read_parquet(shared_data / "esa23_ende_annotations.parquet").filter(
        (pl.col("itemtype") == "TGT") & ~pl.col("docscore")
    )
    columns = {"annotator": "rater", "doc_id": "doc"}
    logs = logs.with_columns(pl.col("system", "annotator", "doc_id", "protocol").cast(pl.String))
    logs = logs.filter(~pl.col("system").str.contains("tutorial")).rename(columns)
    key, decided = ["system", "doc", "seg"], []
    rounds = [
        logs.filter(pl.col("protocol") == name)
        .with_columns(seg=pl.col("item").rank("dense").over("rater", "system", "doc"))
        .group_by(key).agg(pl.col("score").cast(pl.Float64).mean(), pl.col("rater").first())
        for name in ("ESA-1", "ESA-2")
    ]  # fmt: skip
    both = rounds[0].select(key).join(rounds[1].select(key), on=key).sort(key)
    against = 0
    for pair in combinations(sorted(both["system"].unique()), 2):
        rows = both.filter(pl.col("system").is_in(pair))
        rows = rows.filter(pl.len().over("doc", "seg") == 2)
        found = []
        for one in rounds:
            test_set = read_scores(rows)
            ratings = read_ratings(one.join(rows, on=key), test_set)
            found.append(assay.estimate(test_set, ratings, method="mean").differences[0])
        decided += [item.decided for item in found]
        against += all(item.decided for item in found) and found[0].left != found[1].left
    assert sum(decided) > 40
    assert against == 0
