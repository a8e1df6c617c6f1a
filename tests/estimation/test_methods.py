"""Estimators with metrics: unbiased, indifferent to sign and scale, and better than the mean."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from assay.designs.base import DesignUnits, find_design
from assay.errors import InputError, OptionError
from assay.estimation.estimate import estimate
from assay.estimation.evaluate import evaluate_estimators, parse_method
from assay.estimation.intervals import INTERVALS
from assay.estimation.kernels import (
    METHODS,
    RIDGE,
    Adjusted,
    Fit,
    Predictors,
    _second_phase,
    adjusted_means,
    fit_ridge,
    make_features,
    with_raters,
)
from assay.results import has_note
from assay.sampling.draw import sample
from assay.tables.tables import TestSet, read_ratings, read_scores
from assay.worlds.simulate import World, simulate


@pytest.fixture(scope="module")
def world() -> World:
    return simulate(documents=60, systems=4, metrics={"good": 0.6, "weak": 0.3}, rng=3)


@pytest.mark.parametrize("design", ["SL", "DB", "WD", "DF", "DB-linear", "docs-prop",
                                    "metrics-prop", "docs-opt", "balanced"])  # fmt: skip
@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_every_design(design: str, method: str, world: World) -> None:
    drawn = sample(world.test_set, budget="30%", design=design, rng=1)
    result = estimate(world.test_set, world.rate(drawn), sample=drawn, method=method)
    truth = world.truth()
    for item in result.systems:
        assert item.low <= item.estimate <= item.high
        assert abs(item.estimate - truth[item.system]) < 6 * item.stderr
    assert result.design == drawn.design.name


@pytest.mark.parametrize("method", [m for m in METHODS if m != "mean"])
def test_sign_and_scale_of_a_metric_do_not_matter(method: str, world: World) -> None:
    drawn = sample(world.test_set, budget="30%", design="SL", rng=1)
    ratings = world.rate(drawn)
    frame = world.test_set.frame
    one, scaled, turned = (
        [item.estimate for item in estimate(table, ratings, sample=drawn, method=method).systems]
        for factor in (1, 1000, -1000)
        for table in [
            read_scores(frame.with_columns(weak=factor * pl.col("weak") + 7),
                        metrics=["good", "weak"])
        ]
    )  # fmt: skip
    assert scaled == pytest.approx(one, rel=1e-9)
    # The paper's mean of metrics takes their signs as they are stated.
    signs_matter = method.startswith("cv-mean")
    assert (turned != pytest.approx(one, rel=1e-3)) == signs_matter
    assert signs_matter or turned == pytest.approx(one, rel=1e-9)


@pytest.mark.parametrize("method", ["cv-mean", "cv-mean-literal"])
def test_the_mean_of_metrics_honours_stated_directions(method: str, world: World) -> None:
    """One of two metrics turned round and declared lower is the same metric."""
    drawn = sample(world.test_set, budget="30%", design="SL", rng=1)
    ratings = world.rate(drawn)
    frame = world.test_set.frame
    given = read_scores(frame, metrics=["good", "weak"])
    turned = read_scores(
        frame.with_columns(weak=-pl.col("weak")), metrics=["good", "weak"], lower_metrics=["weak"]
    )
    one, two = (estimate(table, ratings, sample=drawn, method=method) for table in (given, turned))
    for name in ("estimate", "stderr"):
        values = [[getattr(item, name) for item in result.systems] for result in (one, two)]
        assert values[0] == pytest.approx(values[1])


def test_metrics_make_intervals_narrower(world: World) -> None:
    drawn = sample(world.test_set, budget="30%", design="SL", rng=1)
    ratings = world.rate(drawn)
    with_metrics = estimate(world.test_set, ratings, sample=drawn)
    without = estimate(world.test_set, ratings, sample=drawn, method="mean")
    wide = {item.system: item.stderr for item in without.systems}
    assert all(item.stderr < wide[item.system] for item in with_metrics.systems)
    assert with_metrics.method == "regression"
    assert has_note(with_metrics.notes, "metrics-gain")
    assert with_metrics.metrics == ("good", "weak")


def test_a_useless_metric_is_not_used() -> None:
    world = simulate(documents=30, systems=2, rng=4)
    noise = np.random.default_rng(1).random(world.test_set.frame.height)
    frame = world.test_set.frame.drop("neural", "surface").with_columns(noise=pl.Series(noise))
    test_set = read_scores(frame)
    drawn = sample(test_set, budget=60, design="SL", rng=1)
    ratings = world.rate(drawn)
    plain = estimate(test_set, ratings, sample=drawn, method="mean")
    auto = estimate(test_set, ratings, sample=drawn)
    for left, right in zip(plain.systems, auto.systems, strict=True):
        assert abs(left.estimate - right.estimate) < 0.5 * left.stderr


def test_everything_rated_is_the_mean_whatever_the_method(world: World) -> None:
    for method in METHODS:
        result = estimate(world.test_set, world.rate(), method=method, target="answers")
        truth = world.truth()
        for item in result.systems:
            assert item.estimate == pytest.approx(truth[item.system])
            assert item.low == item.high == item.estimate


def test_wrong_methods(world: World) -> None:
    with pytest.raises(OptionError, match="did you mean 'regression'"):
        estimate(world.test_set, world.rate(), method="regresion")
    bare = read_scores(world.test_set.frame.select("system", "doc", "seg"))
    with pytest.raises(InputError, match="the method cv-knn needs metrics"):
        estimate(bare, world.rate(), method="cv-knn")


def test_constant_and_missing_metrics_are_told(world: World) -> None:
    frame = world.test_set.frame.with_columns(
        flat=pl.lit(1.0), weak=pl.when(pl.col("seg") == "1").then(None).otherwise(pl.col("weak"))
    )
    features = make_features(read_scores(frame))
    assert features is not None
    assert features.metrics == 2
    assert any("flat is constant" in note for note in features.notes)
    assert any("missing values count as average" in note for note in features.notes)


def test_regression_is_nearly_unbiased_over_all_samples() -> None:
    # All 4,368 samples of 5 of 16 with skewed ratings: the bias of order 1/n is taken out, so that
    # less than a tenth of the standard deviation is left; the estimator without it has more.
    rng = np.random.default_rng(1)
    z = rng.normal(size=(16, 1))
    x = np.exp(z[:, 0] + rng.normal(size=16))
    drawn = np.array([np.isin(np.arange(16), chosen) for chosen in combinations(range(16), 5)])
    units = DesignUnits(find_design("segments"), np.full(16, 5 / 16), np.zeros(16, int))
    found = adjusted_means(x, drawn, units, "regression", Predictors(z, 1)).center
    assert abs(found.mean() - x.mean()) < 0.1 * found.std()
    usual = fit_ridge(x, z, drawn * 1.0, RIDGE).center
    assert abs(found.mean() - x.mean()) < 0.5 * abs(usual.mean() - x.mean())


class TestWhenMetricsAreUsed:
    @staticmethod
    def used(x: np.ndarray, z: np.ndarray, n: int, method: str) -> Adjusted:
        """From the first n of all."""
        N = len(x)
        units = DesignUnits(find_design("segments"), np.full(N, n / N), np.zeros(N, int))
        return adjusted_means(
            x, np.arange(N)[None, :] < n, units, method, Predictors(z, z.shape[1])
        )

    @pytest.mark.parametrize(("n", "used"), [(19, False), (20, True)])
    def test_from_twenty_ratings_on(self, n: int, used: bool) -> None:
        z = np.random.default_rng(1).normal(size=(40, 1))
        assert self.used(z[:, 0], z, n, "auto").used.tolist() == [used]
        assert self.used(z[:, 0], z, n, "regression").used.tolist() == [True]

    def test_not_where_they_predict_worse_than_the_mean(self) -> None:
        x = np.tile([1.0, -1.0], 20)  # a metric that has nothing to do with the ratings
        z = np.repeat([1.0, -1.0, 1.0, -1.0], 10)[:, None]
        asked, auto = (self.used(x, z, 24, method) for method in ("regression", "auto"))
        assert asked.unexplained[0] > 1
        assert (asked.used.tolist(), auto.used.tolist()) == ([True], [False])

    @pytest.mark.parametrize(("n", "used"), [(8, False), (10, True)])
    def test_with_a_slope_for_every_other_rating_at_most(self, n: int, used: bool) -> None:
        # Four slopes that the penalty hardly shrinks: 4 > (8 - 1) / 2, 4 < (10 - 1) / 2.
        rng = np.random.default_rng(2)
        found = self.used(rng.normal(size=20), 1e3 * rng.normal(size=(20, 4)), n, "regression")
        assert found.used.tolist() == [used]
        if used:
            assert found.degrees == pytest.approx([n - 1 - 4], abs=1e-3)

    def test_everything_rated_alike_has_no_error(self) -> None:
        found = self.used(np.ones(6), np.arange(6.0)[:, None], 6, "auto")
        assert (found.center.tolist(), found.stderr.tolist()) == ([1.0], [0.0])


def test_raters_join_the_error_by_satterthwaite() -> None:
    one = np.ones(1)
    found = with_raters(Adjusted(one, 3 * one, 10 * one, one, one, one), 16.0, 4.0)
    assert found.stderr == pytest.approx([5.0])
    assert found.degrees == pytest.approx([25**2 / (9**2 / 10 + 16**2 / 4)])


def test_the_second_phase_by_hand() -> None:
    # Cochran (1977), section 12.6: a slope of 2, a feature of variance 5/3 on 4 of 10 segments
    known = np.arange(10) < 4
    feature = np.where(known, np.arange(10.0), 99.0)[:, None]
    fit = Fit(*[np.zeros((1, 10))] * 5)._replace(slopes=np.array([[2.0]]))
    found = _second_phase(fit, Predictors(feature, 0, known=known))
    assert found == pytest.approx(4 * 5 / 3 * (1 / 4 - 1 / 10))
    assert _second_phase(fit, Predictors(feature, 0)) == 0


class TestEvaluate:
    def test_metrics_and_balance_pay(self, world: World) -> None:
        records = list(
            evaluate_estimators(
                world.test_set, world.rate(), sizes=[0.2], draws=150, rng=1,
                methods=["baseline", "regression", "balanced+regression"],
            )
        )  # fmt: skip
        error = {
            method: np.mean([r.error for r in records if r.method == method])
            for method in ("baseline", "regression", "balanced+regression")
        }
        # The metric's r of .6 leaves .64 of the variance, .8 of the error.
        assert error["regression"] < 0.92 * error["baseline"]
        assert error["balanced+regression"] < error["regression"]

    def test_workers_do_not_matter(self, world: World) -> None:
        options = {"methods": ["docs-prop+cv-knn"], "sizes": [0.1], "draws": 5, "rng": 2}
        one = list(evaluate_estimators(world.test_set, world.rate(), **options))  # type: ignore[arg-type]
        two = list(evaluate_estimators(world.test_set, world.rate(), workers=2, **options))  # type: ignore[arg-type]
        assert one == two

    @pytest.mark.slow
    def test_coverage(self, world: World) -> None:
        # 4 systems x 300 draws: the Monte-Carlo sd of a coverage of .95 is .006.
        records = list(
            evaluate_estimators(
                world.test_set, world.rate(), sizes=[0.1, 0.3], draws=300, rng=5,
                methods=["regression", "DB+regression", "docs-prop+regression",
                         "balanced+regression"],
            )
        )  # fmt: skip
        for method in {r.method for r in records}:
            share = np.mean([r.coverage for r in records if r.method == method])
            assert 0.92 < share < 0.985, method

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"draws": 0}, "is not a number of samples"),
            ({"sizes": [0]}, "is not a share"),
            ({"level": 2}, "is not a confidence level"),
            ({"methods": ["SL+magic"]}, "has no estimator 'magic'"),
            ({"methods": ["magic"]}, "is not known"),
        ],
    )
    def test_wrong_options(self, options: dict[str, object], message: str, world: World) -> None:
        with pytest.raises(OptionError, match=message):
            list(evaluate_estimators(world.test_set, world.rate(), **options))  # type: ignore[arg-type]

    def test_everything_must_be_rated(self, world: World) -> None:
        drawn = sample(world.test_set, budget="30%", rng=1)
        with pytest.raises(InputError, match="have no rating"):
            list(evaluate_estimators(world.test_set, world.rate(drawn)))

    def test_incremental_methods_and_single_metrics(self, world: World) -> None:
        methods = ["docs-incr-human", "docs-incr-metrics", "cv-single:weak", "cv-multi-literal"]
        records = list(
            evaluate_estimators(
                world.test_set, world.rate(), sizes=[0.1, 0.3], draws=20, rng=1, methods=methods
            )
        )
        assert len(records) == 4 * 4 * 2
        assert all(0 < record.error < 2 for record in records)
        assert all(
            np.isnan(record.coverage) == record.method.startswith("docs-incr") for record in records
        )

    def test_a_metric_that_is_none(self, world: World) -> None:
        with pytest.raises(OptionError, match="did you mean 'weak'"):
            evaluate_estimators(world.test_set, world.rate(), methods=["cv-single:waek"])

    def test_names(self) -> None:
        assert parse_method("baseline")[1] == "mean"
        assert parse_method("DB")[0].name == "snippets"
        assert parse_method("regression")[0].name == "segments"


def test_ratings_that_are_all_equal_have_no_interval(world: World) -> None:
    test_set: TestSet = world.test_set
    frame = test_set.frame.select("system", "doc", "seg").with_columns(score=pl.lit(0.0))
    drawn = sample(test_set, budget=40, design="SL", rng=1)
    result = estimate(test_set, read_ratings(frame, test_set), sample=drawn)
    assert all(np.isinf(item.high) for item in result.systems)
    assert not any(item.decided for item in result.differences)


class TestIntervals:
    @pytest.mark.parametrize("name", INTERVALS)
    def test_every_interval_holds_the_estimate(self, name: str, world: World) -> None:
        drawn = sample(world.test_set, budget="20%", design="SL", rng=1)
        result = estimate(world.test_set, world.rate(drawn), sample=drawn, interval=name)
        used = "t" if name == "auto" else name
        assert result.interval == used
        for item in result.systems:
            assert item.low <= item.estimate <= item.high
            assert item.interval == used

    def test_guarantees_are_wider_and_betting_the_narrowest(self, world: World) -> None:
        drawn = sample(world.test_set, budget="20%", design="SL", rng=1)
        ratings = world.rate(drawn)
        width = {
            name: np.mean([
                item.high - item.low
                for item in estimate(world.test_set, ratings, sample=drawn, interval=name,
                                     method="mean").systems
            ])
            for name in INTERVALS
        }  # fmt: skip
        assert width["t"] < width["betting"] < min(width["hoeffding"], width["bernstein"])

    def test_everything_rated_has_width_zero(self, world: World) -> None:
        for name in INTERVALS:
            result = estimate(world.test_set, world.rate(), interval=name, target="answers")
            assert all(item.low == item.high for item in result.systems)

    @pytest.mark.parametrize(
        ("design", "options", "message"),
        [
            ("SL", {"interval": "beting"}, "did you mean 'betting'"),
            ("SL", {"interval": "bootstrap"}, "is no longer available: .* use skew-t"),
            ("SL", {"interval": "betting", "method": "regression"}, "is for the mean"),
            ("DB", {"interval": "betting"}, "not for the design snippets"),
            ("docs-prop", {"interval": "skew-t"}, "not for the design segments.strata:documents"),
        ],
    )
    def test_refusals(
        self, design: str, options: dict[str, str], message: str, world: World
    ) -> None:
        drawn = sample(world.test_set, budget="20%", design=design, rng=1)
        with pytest.raises(InputError, match=message):
            estimate(world.test_set, world.rate(drawn), sample=drawn, **options)  # type: ignore[arg-type]

    def test_a_guarantee_needs_a_range(self, world: World) -> None:
        drawn = sample(world.test_set, budget="20%", design="SL", rng=1)
        ratings = read_ratings(world.rate(drawn).frame, world.test_set)
        with pytest.raises(InputError, match="needs the range of the ratings"):
            estimate(world.test_set, ratings, sample=drawn, interval="betting")
