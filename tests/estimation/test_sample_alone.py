"""A sample carries all that its variance needs: what else is at hand does not change it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import assay
from assay.errors import InputError
from assay.results import has_note
from assay.tables.tables import Ratings, Sample, TestSet, read_sample, read_scores
from assay.worlds.simulate import World

METRICS = ("good", "fair", "third")
DESIGNS = (
    "segments", "docs-prop", "docs-opt", "metrics-prop", "metrics-opt", "documents",
    "fixed-snippets", "snippets", "snippets-linear", "rounds", "balanced", "interleaved",
    "segments|strata:metrics|bin:20|allocation:smoothed|rounding:largest",
)  # fmt: skip
Check = Callable[[Sample, Path], None]
WEIGHTED = ("segments", "documents", "snippets", "rounds", "balanced", "interleaved")
PIECES = ("snippets", "snippets|max:4", "rounds", "rounds|looks:3|max:3")


@pytest.fixture(scope="module")
def world() -> World:
    return assay.simulate(documents=25, systems=4, metrics=dict.fromkeys(METRICS, 0.5), rng=3)


@pytest.fixture(scope="module")
def scores(world: World) -> pl.DataFrame:
    """The metrics of the world, and a weight for every document."""
    weight = (pl.col("doc").rank("dense") % 3 + 1).cast(pl.Float64)
    return world.test_set.frame.with_columns(weight=weight)


def table(scores: pl.DataFrame, **options: object) -> TestSet:
    return read_scores(scores, **({"metrics": METRICS} | options))  # type: ignore[arg-type]


def errors(known: TestSet, ratings: Ratings, sample: Sample) -> dict[str, float]:
    """All standard errors of systems and differences, by name."""
    found = assay.estimate(known, ratings, sample=sample, method="mean", target="answers")
    errors = {item.system: item.stderr for item in found.systems}
    errors |= {"-".join(sorted([item.left, item.right])): item.stderr for item in found.differences}
    return errors


@pytest.fixture(scope="module")
def check_all(scores: pl.DataFrame, world: World) -> Check:
    """The same standard errors, digit for digit, whatever is known of the metrics."""
    known, bare = table(scores), read_scores(scores.drop(METRICS, "weight"))
    others = [
        table(scores, metrics=["third"]),
        table(scores, lower_metrics=["good", "third"]),
        assay.add_history(known, world.rate()),
        table(scores.with_columns(good=pl.col("good").shuffle(1))),
    ]
    fewer = table(scores, exclude=["system-2"])

    def check(sample: Sample, folder: Path) -> None:
        ratings, again = world.rate(sample), read_sample(sample.write(folder / "sample.tsv"))
        expected = errors(known, ratings, sample)
        assert all(np.isfinite(list(expected.values())))
        assert [errors(other, ratings, again) for other in others] == [expected] * len(others)
        assert errors(bare, ratings, sample) == errors(bare, ratings, again) == expected
        left = {name: value for name, value in expected.items() if "system-2" not in name}
        assert errors(fewer, ratings.placed_in(fewer), again.placed_in(fewer)) == left

    return check


@pytest.mark.parametrize("matched", [True, False])
@pytest.mark.parametrize("design", DESIGNS)
def test_every_design(
    design: str, matched: bool, scores: pl.DataFrame, check_all: Check, tmp_path: Path
) -> None:
    known = table(scores)
    drawn = assay.sample(known, budget="30%", design=design, matched=matched, rng=5,
                         allow_unreachable=True)  # fmt: skip
    check_all(drawn, tmp_path)
    more = assay.top_up(known, read_sample(drawn.write(tmp_path / "first.tsv")), budget="45%",
                        rng=6)  # fmt: skip
    check_all(more, tmp_path)


@pytest.mark.parametrize("design", WEIGHTED)
def test_importance(design: str, scores: pl.DataFrame, check_all: Check, tmp_path: Path) -> None:
    drawn = assay.sample(table(scores), budget="30%", design=design, importance="weight", rng=5)
    check_all(drawn, tmp_path)


@pytest.mark.parametrize("design", ["balanced", "metrics-prop", "docs-opt"])
def test_drawn_with_a_history(
    design: str, scores: pl.DataFrame, world: World, check_all: Check, tmp_path: Path
) -> None:
    known = assay.add_history(table(scores), world.rate())
    drawn = assay.sample(known, budget="30%", design=design, rng=5, allow_unreachable=True)
    assert len(drawn.design.parameters["history"]) == 8
    check_all(drawn, tmp_path)
    with pytest.raises(InputError, match="drawn with a history"):
        assay.top_up(table(scores), drawn, budget="40%", rng=2)
    assert len(assay.top_up(known, drawn, budget="40%", rng=2)) > len(drawn)


def test_matched_first_then_apart(scores: pl.DataFrame, check_all: Check, tmp_path: Path) -> None:
    known = table(scores)
    for design in ("metrics-prop", "docs-prop", "snippets", "interleaved"):
        first = assay.sample(known, budget="20%", design=design, rng=5)
        apart = assay.top_up(known, first, budget="35%", matched=False, rng=6)
        check_all(apart, tmp_path)
        more = assay.top_up(known, apart, budget="50%", rng=7)
        check_all(more, tmp_path)


class TestNamesThatAreNotNumbers:
    """Of such segments only the order of the rows tells which are neighbours."""

    @pytest.fixture
    def named(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Names in no order, and a first system without every fourth segment."""
        number = pl.col("seg").cast(pl.Int64)
        lacks = (pl.col("system") == scores["system"][0]) & (number % 4 == 0)
        name = pl.format("s{}-{}", number * 7919 % 97, "seg")
        return scores.filter(~lacks).with_columns(seg=name)

    @pytest.fixture
    def ratings(self, named: pl.DataFrame, world: World) -> pl.DataFrame:
        number = pl.col("seg").cast(pl.Int64)
        name = pl.format("s{}-{}", number * 7919 % 97, "seg")
        rated = world.rate().frame.with_columns(seg=name)
        return rated.join(named, on=["system", "doc", "seg"], how="semi")

    @pytest.mark.parametrize("matched", [True, False])
    @pytest.mark.parametrize("design", PIECES)
    def test_the_sample_knows_neighbours(
        self, design: str, matched: bool, named: pl.DataFrame, ratings: pl.DataFrame, tmp_path: Path
    ) -> None:
        known = table(named)
        others = [
            table(named.sample(fraction=1, shuffle=True, seed=1)),
            table(named.sort("seg", descending=True), metrics=["third"]),
            table(named, exclude=[known.systems[0]]),
        ]

        def found(own: TestSet, sample: Sample) -> dict[str, float]:
            given = assay.read_ratings(ratings, better="lower").placed_in(own)
            return errors(own, given, sample.placed_in(own))

        drawn = assay.sample(known, budget="30%", design=design, matched=matched, rng=5)
        more = assay.top_up(known, drawn, budget="45%", rng=6)
        for sample in (drawn, more):
            expected = found(known, sample)
            again = read_sample(sample.write(tmp_path / "sample.tsv"))
            for own in others:
                stated = found(own, again)
                # Documents in another order are summed in another order.
                assert stated == pytest.approx({name: expected[name] for name in stated}, rel=1e-12)

    @pytest.mark.parametrize("design", PIECES)
    def test_older_files_in_another_order_are_refused(
        self, design: str, named: pl.DataFrame, ratings: pl.DataFrame
    ) -> None:
        known = table(named)
        drawn = assay.sample(known, budget="30%", design=design, rng=5)
        given = assay.read_ratings(ratings, better="lower")
        assert errors(known, given, older(drawn)) == errors(known, given, drawn)
        other = table(named.sample(fraction=1, shuffle=True, seed=1))
        with pytest.raises(InputError, match="positions or snippets than these scores give"):
            errors(other, given, older(drawn))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (pl.lit(1.0), r"position 1 of doc, seg '.+ / .+' stands at another segment"),
            (
                pl.col("position") + 100,
                r"position 10\d of doc, seg '.+' is not a whole number from 1 to",
            ),
            (
                pl.col("position") - 0.5,
                r"position \d+\.5 of doc, seg '.+' is not a whole number from 1 to",
            ),
        ],
    )
    def test_positions_that_do_not_fit_are_refused(
        self, change: pl.Expr, message: str, named: pl.DataFrame, ratings: pl.DataFrame
    ) -> None:
        known = table(named)
        drawn = assay.sample(known, budget="30%", design="snippets", rng=5)
        broken = Sample(drawn.frame.with_columns(change.alias("position")))
        with pytest.raises(InputError, match=message):
            errors(known, assay.read_ratings(ratings, better="lower"), broken)


def test_the_strata_are_those_of_the_plan(scores: pl.DataFrame) -> None:
    # Hand-counted: 25 documents in order; every stratum begins where the ones before it end.
    known = table(scores)
    drawn = assay.sample(known, budget="30%", design="docs-prop", rng=5)
    lengths = dict(zip(known.documents["doc"], known.documents["segments"], strict=True))
    before, starts = 0, {}
    for name, length in lengths.items():
        starts[name] = before
        before += length
    for row in drawn.frame.iter_rows(named=True):
        assert row["stratum_start"] == starts[row["doc"]]
        assert row["stratum_size"] == lengths[row["doc"]]


class TestTopUp:
    @pytest.mark.parametrize("design", ["balanced", "metrics-prop", "metrics-opt"])
    @pytest.mark.parametrize("matched", [True, False])
    def test_other_scores_are_refused(
        self, design: str, matched: bool, scores: pl.DataFrame
    ) -> None:
        drawn = assay.sample(
            table(scores), budget="30%", design=design, matched=matched, rng=5,
            allow_unreachable=True,
        )  # fmt: skip
        for other in (
            table(scores, metrics=["third"]),
            table(scores, lower_metrics=METRICS),
        ):
            with pytest.raises(InputError, match=r"same scores, systems, metrics, directions"):
                assay.top_up(other, drawn, budget="45%", rng=2)

    def test_a_second_time_too(self, scores: pl.DataFrame) -> None:
        known = table(scores)
        drawn = assay.sample(known, budget="20%", design="metrics-prop", rng=5)
        twice = assay.top_up(known, drawn, budget="30%", rng=6)
        with pytest.raises(InputError, match="states other probabilities, strata"):
            assay.top_up(table(scores, metrics=["third"]), twice, budget="45%", rng=2)

    def test_a_system_that_was_not_drawn(self, scores: pl.DataFrame) -> None:
        drawn = assay.sample(table(scores), budget="20%", matched=False, rng=5)
        part = Sample(drawn.frame.filter(pl.col("system") != "system-3"))
        with pytest.raises(InputError, match="no segments for system-3"):
            assay.top_up(table(scores), part, budget="40%")


def older(sample: Sample, **design: str) -> Sample:
    """The sample as an older version wrote it."""
    new = [name for name in ("stratum_start", "stratum_size", "position") if name in sample.frame]
    return Sample(sample.frame.drop(new))


class TestOlderFiles:
    @pytest.mark.parametrize("matched", [True, False])
    @pytest.mark.parametrize("design", DESIGNS)
    def test_they_are_completed(
        self, design: str, matched: bool, scores: pl.DataFrame, world: World
    ) -> None:
        known = table(scores)
        drawn = assay.sample(known, budget="30%", design=design, matched=matched, rng=5,
                             allow_unreachable=True)  # fmt: skip
        ratings, old = world.rate(drawn), older(drawn)
        assert errors(known, ratings, old) == errors(known, ratings, drawn)
        found = assay.estimate(known, ratings, sample=old)
        carries = old.frame.columns != drawn.frame.columns
        assert has_note(found.notes, "sample-derived") == carries
        if not carries:
            return
        more, same = (assay.top_up(known, one, budget="40%", rng=2) for one in (old, drawn))
        assert more.frame.equals(same.frame)

    @pytest.mark.parametrize("design", ["balanced", "metrics-prop", "metrics-opt"])
    def test_other_scores_are_refused(
        self, design: str, scores: pl.DataFrame, world: World
    ) -> None:
        drawn = assay.sample(table(scores), budget="30%", design=design, rng=5,
                             allow_unreachable=True)  # fmt: skip
        for other in (
            table(scores, metrics=["third"]),
            table(scores, lower_metrics=METRICS),
        ):
            with pytest.raises(InputError, match=r"same scores, systems, metrics, directions"):
                assay.estimate(other, world.rate(drawn), sample=older(drawn))

    def test_a_history_that_the_file_does_not_name(
        self, scores: pl.DataFrame, world: World
    ) -> None:
        known = assay.add_history(table(scores), world.rate())
        drawn = assay.sample(known, budget="30%", design="metrics-prop", rng=5)
        line = "|".join(
            part for part in str(drawn.design).split("|") if not part.startswith("history:")
        )
        old = Sample(older(drawn).frame.with_columns(design=pl.lit(line)))
        ratings = world.rate(drawn)
        assert errors(known, ratings, old) == errors(known, ratings, drawn)
        with pytest.raises(InputError, match="and history as when it was drawn"):
            errors(table(scores), ratings, old)
        more = assay.top_up(known, old, budget="40%", rng=2)
        assert "history" in more.design.parameters


def test_strata_that_do_not_fit_are_refused(scores: pl.DataFrame, world: World) -> None:
    known = table(scores)
    drawn = assay.sample(known, budget="30%", design="docs-prop", rng=5)
    for change in (pl.lit(1).alias("stratum_size"), (pl.col("stratum_start") + 500)):
        broken = Sample(drawn.frame.with_columns(change))
        with pytest.raises(InputError, match="strata do not fit"):
            assay.estimate(known, world.rate(drawn), sample=broken)


class TestDomains:
    """Systems that lack segments, and groups: parts of a stratified sample that nobody planned."""

    def test_a_system_that_lacks_segments(self, scores: pl.DataFrame, world: World) -> None:
        # The stated error against the spread of 120 estimates; 20 % is 3 standard errors of it.
        lacks = (pl.col("system") == "system-1") & (pl.col("seg").cast(pl.Int64) % 3 == 0)
        known = table(scores.filter(~lacks))
        ratings = world.rate().placed_in(table(scores))
        ratings = assay.read_ratings(ratings.frame.filter(~lacks), known, better=ratings.better)
        for design in ("metrics-prop", "docs-prop"):
            runs = []
            for draw in range(120):
                drawn = assay.sample(known, budget="30%", design=design, rng=draw)
                found = assay.estimate(
                    known, ratings, sample=drawn, method="mean", target="answers"
                )
                item = next(item for item in found.systems if item.system == "system-1")
                runs.append((item.estimate, item.stderr))
            estimates, stated = np.array(runs).T
            assert np.sqrt((stated**2).mean()) == pytest.approx(estimates.std(), rel=0.2)

    def test_groups(self, scores: pl.DataFrame, world: World) -> None:
        # Four groups of four systems together: 12 % is 3 standard errors of their mean ratio.
        known, ratings = table(scores), world.rate()
        for design in ("metrics-prop", "docs-prop"):
            runs = []
            for draw in range(60):
                drawn = assay.sample(known, budget="30%", design=design, rng=draw)
                found = assay.estimate_by(
                    known, ratings, by="length", sample=drawn, method="mean", target="answers"
                )
                runs.append([(item.estimate, item.stderr) for item in found.estimates])
            estimates, stated = np.moveaxis(np.array(runs), -1, 0)
            ratio = np.sqrt((stated**2).mean(axis=0)) / estimates.std(axis=0)
            assert ratio.mean() == pytest.approx(1.0, abs=0.12)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["metrics-prop", "balanced"])
def test_coverage(design: str) -> None:
    # 4 worlds x 150 draws x 3 systems: the sd of a coverage of .95 is at most .009, as the three
    # systems share a sample.
    hits = []
    for number in range(4):
        world = assay.simulate(documents=60, systems=3, metrics=dict.fromkeys(METRICS, 0.5),
                               rng=number)  # fmt: skip
        bare = read_scores(world.test_set.frame.select("system", "doc", "seg"))
        truth, everything = world.truth(), world.rate().placed_in(bare)
        for draw in range(150):
            drawn = assay.sample(world.test_set, budget="20%", design=design, rng=draw)
            found = assay.estimate(bare, everything, sample=drawn, method="mean", target="answers")
            hits += [item.low <= truth[item.system] <= item.high for item in found.systems]
    assert 0.94 <= np.mean(hits) <= 0.97


@pytest.mark.parametrize(
    ("design", "change", "message"),
    [
        ("balanced", {"position": None}, "has no position for doc, seg '"),
        ("metrics-prop", {"stratum_size": None}, "has no stratum_size for doc, seg '"),
        ("metrics-prop", {"stratum_size": 1000}, "strata do not fit the test set"),
        ("metrics-prop", {"stratum_size": 79}, "strata do not fit the test set"),
    ],
)
def test_a_damaged_file_is_refused(
    design: str, change: dict[str, object], message: str, world: World, scores: pl.DataFrame
) -> None:
    known = table(scores)
    drawn = assay.sample(known, design=design, budget="30%", rng=1)
    (name, value), first = *change.items(), pl.int_range(pl.len()) == 0  # type: ignore[misc]
    damaged = drawn.frame.with_columns(
        pl.when(first).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
    )
    with pytest.raises(InputError, match=message):
        errors(known, world.rate(drawn), read_sample(damaged, known))


@pytest.mark.parametrize("design", ["balanced", "documents", "snippets-linear"])
def test_scores_without_documents_are_refused_where_the_error_rests_on_them(
    design: str, world: World, scores: pl.DataFrame
) -> None:
    unique = scores.with_columns(seg=pl.concat_str("doc", "seg", separator="-"))
    known = table(unique)
    drawn = assay.sample(known, design=design, budget="30%", rng=1)
    ratings = assay.read_ratings(
        world.rate().frame.with_columns(seg=pl.concat_str("doc", "seg", separator="-")), known
    )
    bare = table(unique.drop("doc"))
    with pytest.raises(InputError, match="the scores have no doc column; add one"):
        assay.estimate(bare, ratings, sample=drawn, method="mean")
