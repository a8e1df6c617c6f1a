"""Estimators over *all* samples that a design can draw: unbiased, by enumeration.

A design's draws depend on random numbers through finitely many outcomes. ``Scripted`` stands in
for the generator and hands out the middles of the cells in which the outcome is the same, so that
the samples, all equally likely, are the whole distribution and not a simulation of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import combinations, permutations, product

import numpy as np
import pytest

from assay.designs.balanced import BalancedPlan
from assay.designs.base import DesignUnits, Strata, collapsed_variance, find_design, simple_variance
from assay.designs.documents import DocumentsPlan
from assay.designs.plan import DrawPlan, Layout
from assay.designs.segments import StratifiedPlan
from assay.designs.snippets import CircularPlan, TilesPlan
from assay.estimation.kernels import RIDGE, Predictors, adjusted_means, fit_ridge

SIMPLE, STRATIFIED = find_design("segments"), find_design("docs-prop")


class Scripted:
    """Hands out prepared random numbers, one array per call."""

    def __init__(self, *arrays: np.ndarray) -> None:
        self.arrays = list(arrays)

    def random(self, shape: object = None) -> np.ndarray:
        found = self.arrays.pop(0)
        wanted = shape if isinstance(shape, tuple) else (shape,)
        assert found.shape == wanted
        return found


def middles(cells: int) -> np.ndarray:
    return (np.arange(cells) + 0.5) / cells


def population(size: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Skewed ratings and a metric that goes with them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(size, 1))
    return np.exp(0.6 * z[:, 0] + 0.6 * rng.normal(size=size)), z


def simple(size: int, n: int) -> np.ndarray:
    return np.array([np.isin(np.arange(size), chosen) for chosen in combinations(range(size), n)])


def inside(stratum: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """All choices of so many from each stratum."""
    groups = [np.flatnonzero(stratum == k) for k in range(len(counts))]
    chosen = product(*(combinations(own, int(n)) for own, n in zip(groups, counts, strict=True)))
    return np.array([np.isin(np.arange(len(stratum)), sum(parts, ())) for parts in chosen])


def drawn_by(plan: DrawPlan, size: int, columns: Iterator[tuple[np.ndarray, ...]]) -> np.ndarray:
    """The samples for all scripts, one row each."""
    arrays = [np.array(column) for column in zip(*columns, strict=True)]
    return plan.draw(Scripted(*arrays), len(arrays[0])).masks(size)  # type: ignore[arg-type]


def circular(lengths: list[int], n: int) -> tuple[DrawPlan, np.ndarray]:
    """Window sizes by a systematic start with denominator N; starts uniform in each document."""
    layout = Layout(np.array(lengths))
    plan = CircularPlan(layout, n, 99)
    flat = np.full(len(lengths), 0.5)  # lengths differ, so ties are never broken
    scripts = (
        (flat, start, np.array(places))
        for start in middles(layout.population)
        for places in product(*(middles(length) for length in lengths))
    )
    return plan, drawn_by(plan, layout.population, scripts)


def tiles(lengths: list[int], n: int) -> tuple[DrawPlan, np.ndarray]:
    """m or m + 1 tiles by a start with denominator N, longer ones by 6ths (tiles are 2 or 3)."""
    layout = Layout(np.array(lengths))
    plan = TilesPlan(layout, n, 99)
    assert plan.m == 2
    flat, six = np.full(len(lengths), 0.5), [np.array(own) for own in product(middles(6), repeat=2)]
    scripts = (
        (flat, few, longer, tile, shift)
        for few, longer in product(middles(layout.population), middles(6))
        for tile, shift in product(six, six)
    )
    return plan, drawn_by(plan, layout.population, scripts)


def documents(lengths: list[int], n: int) -> tuple[DrawPlan, np.ndarray]:
    layout = Layout(np.array(lengths))
    plan = DocumentsPlan(layout, n)
    orders = ((np.array(order) / 10,) for order in permutations(range(len(lengths))))
    return plan, drawn_by(plan, layout.population, orders)


def stratified(sizes: list[int], n: int) -> tuple[DrawPlan, list[tuple[float, np.ndarray]]]:
    """Random rounding: all orders of the strata and all cells of the start, with their share."""
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    plan = StratifiedPlan(stratum, np.array(sizes) * n / sum(sizes))
    orders = [np.argsort(order) / 10.0 for order in permutations(range(len(sizes)))]
    scripts = [(order, start) for order in orders for start in middles(sum(sizes))]
    keys, starts = (np.array(column) for column in zip(*scripts, strict=True))
    counts = plan.counts(Scripted(keys, starts), len(scripts))  # type: ignore[arg-type]
    return plan, [(1 / len(counts), inside(stratum, row)) for row in counts]


def expectation(parts: list[tuple[float, np.ndarray]]) -> float:
    """Of values that are equally likely inside every part."""
    return float(sum(share * values.mean() for share, values in parts))


class TestTheMean:
    def test_simple_random_and_its_variance(self) -> None:
        x, _ = population(10)
        drawn = simple(10, 4)
        units = DesignUnits(SIMPLE, np.full(10, 0.4), np.zeros(10, int))
        found = adjusted_means(x, drawn, units, "mean")
        assert found.center.mean() == pytest.approx(x.mean(), abs=1e-12)
        assert (found.stderr**2).mean() == pytest.approx(found.center.var(), abs=1e-12)

    def test_stratified_with_fixed_rounding_and_its_variance(self) -> None:
        x, _ = population(12)
        stratum = np.repeat([0, 1, 2], [6, 4, 2])
        plan = StratifiedPlan(stratum, np.array([3.0, 2.0, 2.0]), "largest")
        drawn = inside(stratum, np.array([3, 2, 2]))
        units = DesignUnits(STRATIFIED, plan.probabilities(), stratum, None, Strata.known(stratum))
        found = adjusted_means(x, drawn, units, "mean")
        assert found.center.mean() == pytest.approx(x.mean(), abs=1e-12)
        assert (found.stderr**2).mean() == pytest.approx(found.center.var(), abs=1e-12)

    def test_stratified_with_random_rounding(self) -> None:
        x, _ = population(12)
        plan, parts = stratified([5, 4, 3], 4)
        stratum = np.repeat([0, 1, 2], [5, 4, 3])
        units = DesignUnits(STRATIFIED, plan.probabilities(), stratum, None, Strata.known(stratum))
        means = [(s, adjusted_means(x, drawn, units, "mean").center) for s, drawn in parts]
        assert expectation(means) == pytest.approx(x.mean(), abs=1e-12)

    def test_circular_snippets(self) -> None:
        x, _ = population(12)
        plan, drawn = circular([3, 4, 5], 7)
        assert (drawn.sum(axis=1) == 7).all()
        units = DesignUnits(SIMPLE, plan.probabilities(), np.zeros(12, int))
        found = adjusted_means(x, drawn, units, "mean").center
        assert found.mean() == pytest.approx(x.mean(), abs=1e-12)

    @pytest.mark.parametrize("make", ["tiles", "documents"])
    def test_a_ratio_where_the_size_varies(self, make: str) -> None:
        """The total is unbiased exactly; the mean, a ratio, up to sd * cv(size).

        The bound is that of Hartley and Ross (1954): bias(y/w) = -cov(y/w, w) / E w.
        """
        plan, drawn = tiles([3, 4], 3) if make == "tiles" else documents([2, 3, 4, 6], 6)
        x, _ = population(drawn.shape[1])
        pi = plan.probabilities()
        assert drawn.mean(axis=0) == pytest.approx(pi, abs=1e-12)
        drawn = drawn[drawn.any(axis=1)] if make == "documents" else drawn
        total = (drawn / pi) @ x / len(x)
        assert total.mean() == pytest.approx(x.mean(), abs=1e-12)
        units = DesignUnits(find_design("documents"), pi, np.zeros(len(x), int))
        found = adjusted_means(x, drawn, units, "mean").center
        size = (drawn / pi).sum(axis=1)
        assert abs(found.mean() - x.mean()) <= found.std() * size.std() / size.mean() + 1e-12

    def test_balanced_over_many_draws(self) -> None:
        """20,000 draws; the tolerance is four Monte-Carlo standard errors."""
        x, z = population(14)
        plan = BalancedPlan(np.repeat([0, 1], 7), z[:, 0], 5, 2.0, np.ones(14))
        drawn = plan.draw(np.random.default_rng(1), 20_000).masks(14)
        total = (drawn / plan.probabilities()) @ x / 14
        assert abs(total.mean() - x.mean()) < 4 * total.std() / np.sqrt(20_000)
        design, document = find_design("balanced"), np.repeat([0, 1], 7)
        units = DesignUnits(design, plan.probabilities(), document, z[:, 0])
        found = adjusted_means(x, drawn, units, "mean").center
        size = (drawn / plan.probabilities()).sum(axis=1)
        room = found.std() * (size.std() / size.mean() + 4 / np.sqrt(20_000))
        assert abs(found.mean() - x.mean()) < room


class TestRegression:
    """The bias is at most 5 % of the standard deviation, over all samples."""

    def check(self, drawn: np.ndarray, pi: np.ndarray, x: np.ndarray, z: np.ndarray) -> None:
        units = DesignUnits(SIMPLE, pi, np.zeros(len(x), int))
        found = adjusted_means(x, drawn, units, "regression", Predictors(z, 1))
        assert found.used.all()
        assert abs(found.center.mean() - x.mean()) <= 0.05 * found.center.std()

    def test_simple_random(self) -> None:
        x, z = population(14)
        self.check(simple(14, 6), np.full(14, 6 / 14), x, z)

    def test_stratified_with_random_rounding(self) -> None:
        x, z = population(12)
        plan, parts = stratified([5, 4, 3], 6)
        units = DesignUnits(SIMPLE, plan.probabilities(), np.zeros(12, int))
        found = [
            (s, adjusted_means(x, drawn, units, "regression", Predictors(z, 1)).center)
            for s, drawn in parts
        ]
        mean = expectation(found)
        sd = np.sqrt(expectation([(s, (values - mean) ** 2) for s, values in found]))
        assert abs(mean - x.mean()) <= 0.05 * sd

    def test_circular_snippets(self) -> None:
        x, z = population(15)
        plan, drawn = circular([4, 5, 6], 8)
        self.check(drawn, plan.probabilities(), x, z)

    def test_balanced_over_many_draws(self) -> None:
        """With 8 of 20 it is 6.6 %: a ratio as well as a regression, of order 1/n both."""
        x, z = population(40)
        plan = BalancedPlan(np.repeat([0, 1], 20), z[:, 0], 16, 2.0, np.ones(40))
        drawn = plan.draw(np.random.default_rng(1), 20_000).masks(40)
        self.check(drawn, plan.probabilities(), x, z)


def test_regression_by_hand() -> None:
    """Every step written out for one sample with unequal probabilities."""
    x, z = population(8, seed=4)
    pi = np.array([0.3, 0.4, 0.5, 0.6, 0.6, 0.6, 0.5, 0.5])
    s = [0, 2, 3, 5, 7]
    drawn = np.isin(np.arange(8), s)[None, :]
    units = DesignUnits(SIMPLE, pi, np.zeros(8, int))
    found = adjusted_means(x, drawn, units, "regression", Predictors(z, 1))
    w = 1 / pi[s] / (1 / pi[s]).sum()
    z_mean, x_mean = w @ z[s, 0], w @ x[s]
    square = w @ (z[s, 0] - z_mean) ** 2 + RIDGE / 5
    slope = w @ ((z[s, 0] - z_mean) * (x[s] - x_mean)) / square
    usual = x_mean + slope * (z[:, 0].mean() - z_mean)
    e = x[s] - x_mean - slope * (z[s, 0] - z_mean)
    h = w * (1 + (z[s, 0] - z_mean) ** 2 / square)
    without = e / (1 - h)
    center = usual + ((1 / pi[s] - 1) * (without - e)).sum() / 8
    assert found.center[0] == pytest.approx(center, abs=1e-12)
    middle = w @ without
    variance = 5 / 4 * ((w * (without - middle)) ** 2).sum() * (1 - 5 / 8)
    assert found.stderr[0] == pytest.approx(np.sqrt(variance), abs=1e-12)


def test_stratified_standard_error_is_that_of_samplics() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("samplics")
        from samplics.estimation import TaylorEstimator
        from samplics.utils.types import PopParam

        x, _ = population(60)
        sizes, counts = np.array([30, 20, 10]), np.array([9, 6, 4])
        stratum = np.repeat([0, 1, 2], sizes)
        rng = np.random.default_rng(2)
        at = np.concatenate([
            rng.choice(np.flatnonzero(stratum == k), counts[k], replace=False) for k in range(3)
        ])  # fmt: skip
        theirs = TaylorEstimator(PopParam.mean)
        theirs.estimate(
            y=x[at], samp_weight=(sizes / counts)[stratum[at]], stratum=stratum[at],
            fpc={k: float(1 - counts[k] / sizes[k]) for k in range(3)},
        )  # fmt: skip
    drawn = np.isin(np.arange(60), at)
    pi, strata = (counts / sizes)[stratum], Strata.known(stratum)
    units = DesignUnits(STRATIFIED, pi, stratum, strata=strata)
    ours = adjusted_means(x, drawn[None, :], units, "mean")
    assert ours.center[0] == pytest.approx(theirs.point_est, abs=1e-9)
    assert ours.stderr[0] == pytest.approx(theirs.stderror, abs=1e-9)
    by_hand = sum(
        (sizes[k] / 60) ** 2 * (1 - counts[k] / sizes[k]) * x[at][stratum[at] == k].var(ddof=1)
        / counts[k] for k in range(3)
    )  # fmt: skip
    found = collapsed_variance(x[None, :], drawn[None, :], Strata.known(stratum))
    assert found[0] == pytest.approx(by_hand)


def test_slopes_are_those_of_statsmodels() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(3)
    x, z = rng.gamma(1, 2, 30), rng.normal(size=(30, 3))
    weights = np.where(rng.random(30) < 0.7, 1 / rng.uniform(0.2, 1, 30), 0.0)
    at = weights > 0
    theirs = api.WLS(x[at], api.add_constant(z[at]), weights=weights[at]).fit()
    ours = fit_ridge(x, z, weights[None, :], 0.0)
    assert ours.slopes[0] == pytest.approx(theirs.params[1:], abs=1e-9)
    assert ours.center[0] == pytest.approx(
        theirs.predict(np.concatenate([[1.0], z.mean(axis=0)]))[0], abs=1e-9
    )


def test_the_variance_of_a_simple_sample_with_equal_weights_is_cochrans() -> None:
    x, _ = population(9)
    drawn = simple(9, 3)
    found = simple_variance(np.tile(x, (len(drawn), 1)), drawn, np.full(9, 3.0))
    assert found.mean() == pytest.approx(x.var(ddof=1) / 3 * (1 - 3 / 9), abs=1e-12)
