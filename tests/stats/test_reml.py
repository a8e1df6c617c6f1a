"""The mixed model: by hand, against statsmodels, and on degenerate data."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from assay.stats.reml import MixedDesign, _at_rest, fit_without_each


def _layout(editors: int, documents: int, segments: int) -> tuple[np.ndarray, list[np.ndarray]]:
    grid = np.indices((editors, documents, segments)).reshape(3, -1)
    editor, document, segment = grid
    system = (editor + document) % documents
    fixed = np.hstack([np.eye(documents)[system], np.eye(documents)[document][:, 1:]])
    return fixed, [editor, document * segments + segment, editor * documents + document]


def _draw(
    factors: list[np.ndarray], variances: list[float], rng: np.random.Generator
) -> np.ndarray:
    y = rng.normal(0, 1, len(factors[0]))
    for codes, variance in zip(factors, variances, strict=True):
        y += rng.normal(0, np.sqrt(variance), codes.max() + 1)[codes]
    return y


def test_balanced_one_way_has_the_estimates_of_the_analysis_of_variance() -> None:
    rng = np.random.default_rng(4)
    group = np.repeat(np.arange(8), 5)
    y = rng.normal(0, 1, 40) + rng.normal(0, 3, 8)[group]
    means = y.reshape(8, 5).mean(axis=1)
    within = float(np.mean(y.reshape(8, 5).var(axis=1, ddof=1)))
    between = float(means.var(ddof=1)) - within / 5
    fit = MixedDesign(np.ones((40, 1)), [group]).fit(y)
    assert fit.residual == pytest.approx(within, rel=1e-4)
    assert fit.components[0] == pytest.approx(between, rel=1e-4)
    assert fit.contrast(np.ones(1)) == pytest.approx((y.mean(), np.sqrt(means.var(ddof=1) / 8)))


def _oracle(y: np.ndarray, fixed: np.ndarray, factors: list[np.ndarray]) -> tuple[object, ...]:
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

    columns = [[f"{k}" for k in range(codes.max() + 1)] for codes in factors]
    dense = [np.eye(codes.max() + 1)[codes] for codes in factors]
    spec = VCSpec(["a", "b", "c"], [[names] for names in columns], [[m] for m in dense])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixedLM(y, fixed, groups=np.zeros(len(y)), exog_re=None, exog_vc=spec)
        fit = model.fit(reml=True)
    return fit.fe_params, fit.bse_fe, fit.vcomp, fit.scale, fit.converged


def test_equals_statsmodels() -> None:
    """statsmodels 0.15.0, MixedLM with three variance components, where it converges."""
    checked = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        fixed, factors = _layout(6, 3, 8)
        y = _draw(factors, [1.0, 0.5, 0.4], rng)
        fit = MixedDesign(fixed, factors).fit(y)
        beta, errors, components, scale, converged = _oracle(y, fixed, factors)
        if not converged:
            continue
        checked += 1
        np.testing.assert_allclose(fit.coefficients, beta, atol=1e-3)
        np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), errors, atol=1e-3)
        np.testing.assert_allclose(fit.components, components, atol=1e-3)
        assert fit.residual == pytest.approx(scale, abs=1e-3)
    assert checked >= 2


@pytest.mark.slow
def test_equals_statsmodels_on_the_edit_distances(shared_data: Path) -> None:
    from assay.tables.answers import edit_distance

    frame = pl.read_csv(shared_data / "effectiff_segments.tsv.gz", separator="\t", quote_char=None)
    y = np.array([edit_distance(a, b) for a, b in zip(frame["mt"], frame["edited"], strict=True)])
    codes = [
        frame.select(pl.struct(names).rank("dense")).to_series().to_numpy().astype(int) - 1
        for names in (["editor"], ["document", "seg"], ["editor", "document"])
    ]
    engine = frame["engine"].rank("dense").to_numpy() - 1
    document = frame["document"].rank("dense").to_numpy() - 1
    fixed = np.hstack([np.eye(3)[engine], np.eye(3)[document][:, 1:]])
    fit = MixedDesign(fixed, codes).fit(y)
    beta, errors, components, scale, converged = _oracle(y, fixed, codes)
    assert converged
    np.testing.assert_allclose(fit.coefficients, beta, atol=1e-3)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), errors, atol=1e-3)
    np.testing.assert_allclose(fit.components, components, rtol=1e-3)
    assert fit.residual == pytest.approx(scale, rel=1e-3)


@given(
    seed=st.integers(0, 500),
    scale=st.floats(0.01, 100),
    shift=st.floats(-50, 50),
)
def test_units_do_not_matter(seed: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    fixed, factors = _layout(4, 2, 4)
    y = _draw(factors, [1.0, 0.3, 0.3], rng)
    design = MixedDesign(fixed, factors)
    plain, other = design.fit(y), design.fit(scale * y + shift)
    weights = np.array([1.0, -1.0, 0.0])
    value, error = plain.contrast(weights)
    got, got_error = other.contrast(weights)
    assert got == pytest.approx(scale * value, rel=1e-2, abs=1e-6 * scale)
    assert got_error == pytest.approx(scale * error, rel=1e-2)


def test_a_component_that_is_not_there_is_nought() -> None:
    rng = np.random.default_rng(0)
    fixed, factors = _layout(6, 3, 10)
    y = rng.normal(0, 1, len(fixed))
    y -= y.reshape(6, 3, 10).mean(axis=2).repeat(10)
    fit = MixedDesign(fixed, factors).fit(y)
    assert fit.components[2] == pytest.approx(0, abs=1e-9)


def test_a_response_that_the_fixed_part_explains() -> None:
    """No spread at all: no crash, and no spread invented from rounding."""
    fixed, factors = _layout(4, 2, 5)
    for noise in (0.0, 1e-14):
        y = fixed @ np.array([3.0, 1.0, -2.0])
        y = y + noise * np.random.default_rng(1).normal(size=len(y))
        fit = MixedDesign(fixed, factors).fit(y)
        np.testing.assert_allclose(fit.coefficients, [3.0, 1.0, -2.0], atol=1e-9)
        assert fit.residual == 0
        assert not fit.covariance.any()
        assert fit.loglik == np.inf


def test_loads_make_up_the_variance() -> None:
    """A coefficient is a sum of responses; its variance that of the effects by their loads."""
    fixed, factors = _layout(5, 3, 4)
    rows = np.random.default_rng(4).random(len(fixed)) < 0.8
    fixed, factors = fixed[rows], [codes[rows] for codes in factors]
    y = _draw(factors, [1.0, 0.5, 0.4], np.random.default_rng(2))
    fit = MixedDesign(fixed, factors).fit(y, ratios=np.array([0.7, 0.3, 0.2]))
    indicators = [np.eye(codes.max() + 1)[codes] for codes in factors]
    v = np.eye(len(y)) + sum(g * z @ z.T for g, z in zip(fit.ratios, indicators, strict=True))
    inner = np.linalg.solve(v, fixed)
    weights = inner @ np.linalg.inv(fixed.T @ inner)
    for z, loads in zip(indicators, fit.loads, strict=True):
        np.testing.assert_allclose(loads, z.T @ weights, atol=1e-9)


@pytest.mark.parametrize(("slope", "rest"), [(1e-4, True), (1.0, False), (np.nan, False)])
def test_a_search_must_end_on_the_flat(slope: float, rest: bool) -> None:
    found = optimize.OptimizeResult(x=np.array([0.4, 0.0]), jac=np.array([slope, 3.0]))
    # The second ratio cannot fall below nought, whatever its slope.
    assert _at_rest(found) == rest


@pytest.mark.parametrize("seed", [8, 9, 12, 56])
def test_large_components_are_found_from_any_start(seed: int) -> None:
    """A search that gained next to nothing once ended far from the top, at the wrong components."""
    fixed, factors = _layout(24, 3, 8)
    design = MixedDesign(fixed, factors)
    for variances in ([12.0, 1.2, 0.1], [40.0, 1.0, 0.1]):
        y = _draw(factors, variances, np.random.default_rng(seed))
        fit = design.fit(y)
        for ratios in (np.array(variances), fit.ratios * 1.1, fit.ratios * 0.9):
            assert design.fit(y, ratios=ratios).loglik <= fit.loglik + 1e-6


def test_given_ratios_are_kept() -> None:
    fixed, factors = _layout(4, 2, 5)
    y = _draw(factors, [1.0, 1.0, 1.0], np.random.default_rng(1))
    design = MixedDesign(fixed, factors)
    free = design.fit(y)
    held = design.fit(y, ratios=free.ratios)
    np.testing.assert_allclose(held.coefficients, free.coefficients)
    other = design.fit(y, ratios=free.ratios + 1)
    assert other.loglik < free.loglik
    np.testing.assert_allclose(other.components, other.residual * (free.ratios + 1))


@pytest.mark.parametrize(
    "ratios", [[1.0, 0.5, 0.3], [0.0, 0.4, 0.2], [2.0, 0.0, 0.0], [1.0, 0.5, 0.3, 0.7]]
)
def test_leaving_out_groups_equals_fits_without_them(ratios: list[float]) -> None:
    fixed, factors = _layout(5, 3, 4)
    factors = [*factors, factors[1] // 4][: len(ratios)]  # segments lie in documents
    y = 7 + _draw(factors, [1.0] * len(ratios), np.random.default_rng(3))
    kept = np.array(ratios)
    coefficients, covariances = fit_without_each(y, fixed, tuple(factors), kept)
    for gone in range(5):
        rows = factors[0] != gone
        fit = MixedDesign(fixed[rows], [codes[rows] for codes in factors]).fit(y[rows], ratios=kept)
        np.testing.assert_allclose(coefficients[gone], fit.coefficients, rtol=1e-8)
        np.testing.assert_allclose(covariances[gone], fit.covariance, rtol=1e-8)
