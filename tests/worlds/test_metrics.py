"""Simulated metrics meet the correlation asked for."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.moments import moments
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import OptionError
from assay.worlds.latent import SCALES, greatest_correlation, metric
from assay.worlds.simulate import simulate


def inside(x: np.ndarray, y: np.ndarray) -> float:
    """Correlation inside systems, systems pooled, averaged over raters: written out."""
    found = []
    for rater in range(y.shape[2]):
        a = np.concatenate([row - row.mean() for row in x])
        b = np.concatenate([row - row.mean() for row in y[:, :, rater]])
        found.append(a @ b / np.sqrt((a @ a) * (b @ b)))
    return float(np.mean(found))


def small(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(3, 40))
    y = np.maximum(0, -quality[:, :, None] + rng.normal(size=(3, 40, 2)))
    return quality, rng.normal(size=(3, 40)), y


@given(st.integers(0, 1000), st.floats(0, 0.95))
def test_the_correlation_is_met_exactly(seed: int, part: float) -> None:
    quality, error, y = small(seed)
    wanted = part * greatest_correlation(y)
    found = metric(quality, error, y, wanted)
    assert inside(found, y) == pytest.approx(-wanted, abs=1e-9)


def test_the_greatest_correlation_is_that_of_the_mean_rating() -> None:
    _, _, y = small(3)
    centred = y - y.mean(axis=1, keepdims=True)
    mean = (centred / np.sqrt((centred**2).sum(axis=(0, 1)))).mean(axis=2)
    assert inside(mean, y) == pytest.approx(greatest_correlation(y))


def test_one_rater_can_be_met_up_to_one() -> None:
    _, _, y = small(4)
    assert greatest_correlation(y[:, :, :1]) == pytest.approx(1)


def test_worlds_have_the_metrics_asked_for() -> None:
    wanted = {"weak": 0.1, "fair": 0.35, "good": 0.6, "none": 0.0}
    world = simulate(systems=6, documents=60, metrics=wanted, rng=5)
    values = {name: world.test_set.matrix(name) for name in wanted}
    assert world.test_set.metrics == tuple(wanted)
    found = moments(world.scores, world.segments["doc"].to_numpy(), metrics=values)
    for name, r in wanted.items():
        assert inside(values[name], world.scores) == pytest.approx(-r, abs=1e-9)
        # the mean of each system's own correlation differs a little from the pooled one
        assert found.metrics[name]["within_r"] == pytest.approx(-r, abs=0.02)
        assert found.metrics[name]["document_icc"] > 0.03
    for x, (mean, sd) in zip(values.values(), SCALES, strict=True):
        assert x.mean() == pytest.approx(mean, abs=0.01 * sd)
        assert x.std(axis=1).mean() == pytest.approx(sd)


def test_a_metric_tells_good_from_bad_systems() -> None:
    world = simulate(systems={"good": 0.8, "bad": 5.0}, documents=60, metrics={"m": 0.5}, rng=6)
    good, bad = world.test_set.matrix("m").mean(axis=1)
    assert good > bad


def test_metrics_share_part_of_their_error() -> None:
    world = simulate(documents=80, metrics={"a": 0.3, "b": 0.3}, rng=7)
    a, b = (world.test_set.matrix(name).ravel() for name in "ab")
    assert 0.3 < np.corrcoef(a, b)[0, 1] < 0.8


def test_no_metrics() -> None:
    assert simulate(documents=5, metrics={}, rng=8).test_set.metrics == ()


def test_messages() -> None:
    with pytest.raises(OptionError, match=r"metrics \(0.95\) cannot be the correlation of 'm'"):
        simulate(documents=10, metrics={"m": 0.95}, rng=9)
    with pytest.raises(OptionError, match=r"metrics \(-0.2\) .*; give 0 or more and less than 0"):
        simulate(documents=10, metrics={"m": -0.2}, rng=9)
    with pytest.raises(OptionError, match=r"metrics \(words\) is the name of another column"):
        simulate(documents=10, metrics={"words": 0.2}, rng=9)
